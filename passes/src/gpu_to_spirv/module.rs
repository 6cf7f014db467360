//! A module of device code as a whole: its variables, its kernels, what it needs.

use rustc_hash::FxHashMap;
use sutura_dialects::gpu::{GPUFuncOp, GPUModuleOp};
use sutura_dialects::llvm::GlobalOp;
use sutura_dialects::spirv::types::{ArrayType, StructType, pointer};
use sutura_dialects::spirv::{
    AddressingModel, EntryPointOp, ExecutionMode, ExecutionModeOp, ExecutionModel, GlobalVariableOp, MemoryModel,
    StorageClass, Vce,
};
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::{Attr, Body, Builder, Context, Loc, OpRef, OpState, OpView, Type};

use super::kernel::{Kernel, convert_kernel};
use super::types::{Needs, SHARED, flattened};

/// The version that Vulkan 1.2 runs.
const VERSION: &str = "v1.5";

/// Name of the variable of the push constants.
const PUSH_CONSTANT: &str = "__push_constant__";

/// A variable that workgroups share: an array of scalars.
#[derive(Clone, Copy)]
pub(super) struct Shared {
    pub(super) elem: Type,
    /// Type of its address.
    pub(super) ptr: Type,
}

/// What kernels of a module have in common.
#[derive(Default)]
pub(super) struct Module {
    pub(super) needs: Needs,
    shared: FxHashMap<String, Shared>,
    /// Variables in order: name, type of the pointer, what the device keeps there.
    variables: Vec<(String, Type, Option<&'static str>)>,
}

impl Module {
    pub(super) fn shared(&self, name: &str) -> Option<Shared> {
        self.shared.get(name).copied()
    }

    fn variable(&mut self, name: String, ty: Type, built_in: Option<&'static str>) {
        if !self.variables.iter().any(|(known, ..)| *known == name) {
            self.variables.push((name, ty, built_in));
        }
    }

    /// The name of the variable for what the device says.
    pub(super) fn built_in(&mut self, name: &'static str, ptr: Type) -> String {
        let variable = format!("__builtin__{name}__");
        self.variable(variable.clone(), ptr, Some(name));
        variable
    }

    /// The name and type of the push constants: the address of the arguments.
    pub(super) fn push_constant(&mut self, cx: &Context) -> (&'static str, Type) {
        let block = cx.ext_type(StructType::block(&[(Type::I64, 0)]));
        let ptr = pointer(cx, block, StorageClass::PushConstant);
        self.variable(PUSH_CONSTANT.to_owned(), ptr, None);
        (PUSH_CONSTANT, ptr)
    }

    fn add_shared(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let (global, cx) = (GlobalOp::from_ref(op), op.cx);
        if global.addr_space() != i64::from(SHARED) {
            let error = op.error(format!("is in address space {}", global.addr_space()));
            return Err(error.help("only variables of workgroups, in address space 3, can be in device code"));
        }
        if global.initial().is_some() || !global.initializer().is_empty() {
            return Err(op.error("has an initial value, which variables of workgroups cannot have"));
        }
        let (elem, count) = flattened(cx, global.global_type()).map_err(|message| op.error(message))?;
        let len = u32::try_from(count).ok().filter(|len| *len > 0);
        let len = len.ok_or_else(|| op.error(format!("has {count} elements: expected 1 to 2^32 - 1")))?;
        self.needs.value(cx, elem);
        let array = cx.ext_type(ArrayType { len, elem, stride: 0 });
        let ptr = pointer(cx, array, StorageClass::Workgroup);
        self.shared.insert(global.sym_name().to_owned(), Shared { elem, ptr });
        self.variable(global.sym_name().to_owned(), ptr, None);
        Ok(())
    }
}

/// A converted module.
pub(super) struct Converted {
    pub(super) state: OpState,
    pub(super) body: Body,
    pub(super) kernels: usize,
}

pub(super) fn convert(op: OpRef<'_>, float_controls: bool) -> Result<Converted, Box<Diagnostic>> {
    let (cx, source) = (op.cx, GPUModuleOp::from_ref(op));
    let mut module = Module::default();
    module.needs.capabilities.extend(["Shader", "PhysicalStorageBufferAddresses", "Int64"]);
    let tops: Vec<OpRef<'_>> = source.body().entry().into_iter().flat_map(|block| block.ops()).collect();
    let mut kernels = Vec::new();
    for top in tops.iter().filter(|top| top.is::<GlobalOp<'_>>()) {
        module.add_shared(*top)?;
    }
    for top in &tops {
        if let Some(kernel) = top.as_::<GPUFuncOp<'_>>() {
            kernels.push(convert_kernel(kernel, &mut module)?);
        } else if !top.is::<GlobalOp<'_>>() {
            let error = top.error("cannot be converted to SPIR-V inside 'gpu.module'");
            return Err(Box::new(error.help("only 'gpu.func' and 'llvm.mlir.global' can stand there")));
        }
    }
    let count = kernels.len();
    let body = assemble(cx, op.loc(), &mut module, kernels, float_controls);
    let vce = Vce {
        version: VERSION.to_owned(),
        capabilities: module.needs.capabilities.iter().map(ToString::to_string).collect(),
        extensions: Vec::new(),
    };
    let state = OpState::new(cx.op_name("spirv.module"), op.loc())
        .prop(cx.ident("addressing_model"), cx.ext_attr(AddressingModel::PhysicalStorageBuffer64))
        .prop(cx.ident("memory_model"), cx.ext_attr(MemoryModel::Glsl450))
        .prop(cx.ident("vce_triple"), cx.ext_attr(vce))
        .prop(cx.ident("sym_name"), cx.string_attr(source.sym_name()));
    Ok(Converted { state, body, kernels: count })
}

/// Variables, then functions, then what is said about them.
fn assemble(cx: &Context, loc: Loc, module: &mut Module, kernels: Vec<Kernel>, float_controls: bool) -> Body {
    let mut body = Body::with_block(1);
    let block = body.entry_block().expect("created with a block");
    let mut b = Builder::at_end(cx, &mut body, block);
    for (name, ty, built_in) in &module.variables {
        GlobalVariableOp::build(&mut b, loc, *ty, name, *built_in);
    }
    let mut said = Vec::new();
    for kernel in kernels {
        b.create_isolated(kernel.state, Box::new(kernel.body));
        said.push((kernel.name, kernel.used, kernel.block_size, kernel.floats));
    }
    for (name, used, ..) in &said {
        let interface: Vec<Attr> = used.iter().map(|name| cx.symbol_ref(name)).collect();
        EntryPointOp::build(&mut b, loc, ExecutionModel::GlCompute, name, &interface);
    }
    for (name, _, block_size, floats) in &said {
        let mut mode = |mode: ExecutionMode, values: &[i64]| {
            let values: Vec<Attr> = values.iter().map(|value| cx.int_attr(*value, Type::I32)).collect();
            ExecutionModeOp::build(&mut b, loc, name, mode, &values);
        };
        mode(ExecutionMode::LocalSize, block_size);
        for width in floats.iter().filter(|_| float_controls) {
            mode(ExecutionMode::SignedZeroInfNanPreserve, &[i64::from(*width)]);
            mode(ExecutionMode::RoundingModeRte, &[i64::from(*width)]);
            module.needs.capabilities.extend(["SignedZeroInfNanPreserve", "RoundingModeRTE"]);
        }
    }
    body
}
