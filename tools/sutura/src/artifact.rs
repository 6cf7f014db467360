//! The artifact: the manifest from the program's interface, constants from their attributes.

use std::borrow::Cow;
use std::path::Path;

use sutura_codegen as codegen;
use sutura_dialects::gir::checks as gir;
use sutura_ir::asm::Resource;
use sutura_ir::types::{FloatKind, Signedness, TypeData};
use sutura_ir::{Attr, AttrData, Context, Module, Type};
use sutura_passes::rt_to_upstream::{self as host, HostInterface};
use sutura_runtime::artifact::{Contents, write_through};
use sutura_runtime::manifest::{
    Check, CheckKind, Constant, DataCheck, DataCheckKind, Device, Dim, FORMAT, Function, Kernel, Manifest, Math,
    Symbol, Target, Temporary, Tool, Value,
};
use sutura_runtime::{ElementType, abi};

use crate::cache::{Recorded, Recorder};
use crate::costs::Costs;
use crate::failure::{Failure, Kind};
use crate::files::uninterrupted;
use crate::machine::Machine;
use crate::pipeline::Compilation;

/// What is written for one machine.
pub(crate) struct Part<'a> {
    /// The machine.
    pub(crate) name: &'a str,
    /// Has the constants.
    pub(crate) module: &'a Module,
    pub(crate) interface: &'a HostInterface,
    pub(crate) host: &'a [u8],
    pub(crate) device: Option<&'a [u8]>,
    pub(crate) manifest: &'a Manifest,
}

/// Writes the artifact. Nothing is written where a file of the model changed meanwhile.
pub(crate) fn write(path: &Path, compilation: &Compilation, parts: &[Part<'_>]) -> Result<Recorded, Failure> {
    let cx = &compilation.cx;
    let owned =
        parts.iter().map(|part| all_constants(cx, part.module, part.interface)).collect::<Result<Vec<_>, _>>()?;
    let borrowed: Vec<Vec<&[u8]>> = owned.iter().map(|all| all.iter().map(Cow::as_ref).collect()).collect();
    let contents = parts.iter().zip(&borrowed).map(|(part, constants)| {
        let Part { manifest, host, device, .. } = *part;
        (part.name, Contents { manifest, host, device, constants })
    });
    let contents: Vec<(&str, Contents<'_>)> = contents.collect();
    let _guard = uninterrupted();
    let (mut changed, mut recorded) = (None, None);
    let ready = |recorder: Recorder<'_>| {
        recorded = Some(recorder.finish()?);
        compilation.files.check().map_err(|what| {
            changed = Some(Failure::new(Kind::System, what).hint("compile it again"));
            std::io::Error::other("the model changed")
        })
    };
    let written = write_through(path, &contents, |file| Recorder::new(file, &compilation.files), ready);
    if let Some(failure) = changed {
        return Err(failure);
    }
    written?;
    recorded.ok_or_else(|| Failure::internal("an artifact was written without a record"))
}

/// The bytes of all constants, in order.
pub(crate) fn all_constants<'m>(
    cx: &'m Context,
    module: &'m Module,
    interface: &HostInterface,
) -> Result<Vec<Cow<'m, [u8]>>, Failure> {
    interface.constants.iter().map(|constant| bytes(cx, module, constant)).collect()
}

/// What the artifact says of itself.
pub(crate) fn manifest(
    cx: &Context,
    interface: &HostInterface,
    (machine, target): (&Machine, &codegen::Target),
    source_hash: &str,
    costs: &Costs,
) -> Result<Manifest, Failure> {
    let values = |tensors: &[host::Tensor]| tensors.iter().map(|t| value(cx, t)).collect::<Result<Vec<_>, _>>();
    let symbols = interface.symbols.iter().map(|s| Symbol {
        name: s.name.clone(),
        min: s.info.min,
        max: s.info.max,
        div: s.info.div,
        likely: s.info.likely.clone(),
    });
    let constants = interface.constants.iter().map(|c| {
        let ty = cx.attr_type(c.elements).ok_or_else(|| Failure::internal("a constant has no type"))?;
        let dims = cx.shape(ty).ok_or_else(|| Failure::internal("a constant has no shape"))?.to_vec();
        Ok(Constant { name: c.name.clone(), element_type: element_type(cx, cx.element_type(ty))?, dims })
    });
    let kernels = interface.kernels.iter().map(|k| {
        let launched = if k.parts.is_empty() { vec![k.symbol.clone()] } else { k.parts.clone() };
        let cost = costs.get(&launched);
        Kernel {
            symbol: k.symbol.clone(),
            name: launched.join(" + "),
            guard: k.guard.clone(),
            ops: k.ops.clone(),
            bytes: cost.map(|cost| cost.bytes.clone()),
            flops: cost.and_then(|cost| cost.flops.clone()),
            groups_of_block: k.groups_of_block.and_then(|groups| u32::try_from(groups).ok()),
        }
    });
    Ok(Manifest {
        format: FORMAT,
        abi: abi::VERSION,
        tool: Tool { name: "sutura".into(), version: env!("CARGO_PKG_VERSION").into() },
        target: Target {
            triple: target.triple.clone(),
            features: target.features.clone(),
            description: machine.desc.name.clone(),
            description_hash: machine.description_hash(),
        },
        device: machine.vendor.map(|vendor| Device {
            backend: vendor.backend().into(),
            chip: machine.desc.chip.clone(),
            subgroup: machine.desc.subgroup.and_then(|threads| u32::try_from(threads).ok()).unwrap_or(1),
        }),
        math: Math::default(),
        model: interface.model.clone(),
        symbols: symbols.collect(),
        inputs: values(&interface.inputs)?,
        reserves: values(&interface.reserves)?,
        outputs: values(&interface.outputs)?,
        constants: constants.collect::<Result<_, Failure>>()?,
        checks: interface.checks.iter().map(check).collect(),
        data_checks: interface.data_checks.iter().map(data_check).collect(),
        routines: interface.routines.clone(),
        decided: interface.decided.clone(),
        temporaries: interface.temporaries.iter().map(temporary).collect(),
        functions: interface.functions.iter().map(function).collect(),
        kernels: kernels.collect(),
        source_hash: source_hash.into(),
    })
}

fn temporary(placed: &host::Placed) -> Temporary {
    Temporary { bytes: placed.bytes.to_string(), after: placed.after.clone() }
}

fn function(function: &host::Function) -> Function {
    Function { name: function.name.clone(), temporaries: function.temporaries.iter().map(temporary).collect() }
}

fn data_check(check: &gir::DataCheck) -> DataCheck {
    let kind = match check.kind {
        gir::DataCheckKind::Index => DataCheckKind::Index,
        gir::DataCheckKind::Division => DataCheckKind::Division,
        gir::DataCheckKind::Size => DataCheckKind::Size,
        gir::DataCheckKind::Dim => DataCheckKind::Dim,
    };
    DataCheck { kind, what: check.what.clone() }
}

fn value(cx: &Context, tensor: &host::Tensor) -> Result<Value, Failure> {
    let dims = tensor.ty.dims.iter().map(|size| match (size.as_const(), size.as_symbol()) {
        (Some(n), _) => Dim::Const(n),
        (None, Some(name)) => Dim::Symbol(name.into()),
        (None, None) => Dim::Expr(size.to_string()),
    });
    Ok(Value { name: tensor.name.clone(), element_type: element_type(cx, tensor.ty.elem)?, dims: dims.collect() })
}

fn check(text: &host::CheckText) -> Check {
    let kind = match text.kind {
        host::CheckKind::Equal => CheckKind::Equal,
        host::CheckKind::Range => CheckKind::Range,
        host::CheckKind::Divisible => CheckKind::Divisible,
        host::CheckKind::Constraint => CheckKind::Constraint,
    };
    let (dim, reserve) = (text.dim.clone(), text.reserve.clone());
    Check { kind, dim, left: text.left.clone(), right: text.right.clone(), reserve }
}

fn element_type(cx: &Context, ty: Type) -> Result<ElementType, Failure> {
    use ElementType::*;
    let found = match cx.type_data(ty) {
        TypeData::Index => Some(I64),
        TypeData::Complex(Type::F32) => Some(C64),
        TypeData::Complex(Type::F64) => Some(C128),
        TypeData::Float(kind) => match kind {
            FloatKind::F64 => Some(F64),
            FloatKind::F32 => Some(F32),
            FloatKind::F16 => Some(F16),
            FloatKind::BF16 => Some(BF16),
            FloatKind::F8E4M3FN => Some(F8E4M3FN),
            FloatKind::F8E5M2 => Some(F8E5M2),
            FloatKind::F8E4M3FNUZ => Some(F8E4M3FNUZ),
            FloatKind::F8E5M2FNUZ => Some(F8E5M2FNUZ),
            FloatKind::F8E8M0FNU => Some(F8E8M0FNU),
            FloatKind::F4E2M1FN => Some(F4E2M1FN),
            _ => None,
        },
        TypeData::Integer { width, sign } => match (width, sign == Signedness::Unsigned) {
            (1, _) => Some(Bool),
            (2, false) => Some(I2),
            (2, true) => Some(U2),
            (4, false) => Some(I4),
            (4, true) => Some(U4),
            (8, false) => Some(I8),
            (8, true) => Some(U8),
            (16, false) => Some(I16),
            (16, true) => Some(U16),
            (32, false) => Some(I32),
            (32, true) => Some(U32),
            (64, false) => Some(I64),
            (64, true) => Some(U64),
            _ => None,
        },
        _ => None,
    };
    let text = || sutura_ir::asm::print::type_text(cx, ty);
    found
        .ok_or_else(|| Failure::new(Kind::Unsupported, format!("artifacts hold no tensors of element type {}", text())))
}

/// Whether the constants can be stored, without making their bytes.
pub(crate) fn check_constants(cx: &Context, module: &Module, interface: &HostInterface) -> Result<(), Failure> {
    // Those that are one number repeated need a size and no more.
    let repeated = |c: &&host::Constant| matches!(cx.attr_data(c.elements), AttrData::Dense { splat: true, .. });
    interface.constants.iter().filter(|c| !repeated(c)).try_for_each(|c| bytes(cx, module, c).map(drop))
}

/// The bytes of a constant, all elements written out.
fn bytes<'m>(cx: &'m Context, module: &'m Module, constant: &host::Constant) -> Result<Cow<'m, [u8]>, Failure> {
    let elements: Attr = constant.elements;
    let wrong = |why: &str| Failure::input(format!("the constant `{}` {why}", constant.name));
    match cx.attr_data(elements) {
        AttrData::Dense { data, splat: false, .. } => Ok(Cow::Borrowed(cx.bytes(data))),
        AttrData::Dense { ty, data, splat: true } => {
            let sizes = cx.shape(ty).unwrap_or_default().iter();
            let sizes: Option<Vec<usize>> = sizes.map(|size| usize::try_from(*size).ok()).collect();
            let sizes = sizes.ok_or_else(|| wrong("has no static shape"))?;
            let element = cx.bytes(data);
            let length = sizes.iter().try_fold(element.len(), |length, size| length.checked_mul(*size));
            let mut all = Vec::new();
            let Some(length) = length.filter(|length| all.try_reserve_exact(*length).is_ok()) else {
                return Err(wrong("needs more memory than there is, written out"));
            };
            while all.len() < length {
                all.extend_from_slice(element);
            }
            Ok(Cow::Owned(all))
        }
        AttrData::DenseResource { key, .. } => match module.text().dialect_resource("builtin", cx.str(key)) {
            Some(Resource::String(hex)) => {
                let blob = hex.strip_prefix("0x").and_then(decode_hex);
                // The first four bytes say how the rest was aligned.
                let data = blob.filter(|b| b.len() >= 4).map(|mut b| b.split_off(4));
                data.map(Cow::Owned).ok_or_else(|| wrong("lies in a resource that is no hexadecimal blob"))
            }
            _ => Err(wrong("lies in a resource that the file does not hold")),
        },
        _ => Err(wrong("has elements that cannot be stored")),
    }
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}
