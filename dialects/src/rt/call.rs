//! `rt.call`: a library routine of the runtime. What is known of it comes from the table of routines.

use sutura_interp::{DType, Fault, Flow, Frame, InterpError, Tensor};
use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::constraints::*;
use sutura_ir::diagnostics::{Diagnostic, Diagnostics, Reported};
use sutura_ir::interfaces::{Effect, EffectKind, Effects, MemoryEffects};
use sutura_ir::op_def::Verify;
use sutura_ir::{Attr, Context, OpRef, OpView, Type, Value, op};

use super::constraints::AnyBuffer;
use super::interp::{decided, size, sized};
use super::kernel::named;
use super::types::BufferType;
use crate::r#dyn::attr::{known_dims, parse_known_dims, shape_attr};
use crate::r#dyn::facts::Facts;
use crate::r#dyn::poly::Poly;
use crate::routines::table::{Arguments, Capability, Elem, Routine, Typed};
use crate::routines::{self};

/// Calls a library routine of the runtime and waits for it.
///
/// Name and version are an entry of the table of routines (`docs/routines.md`), which says what it reads and writes, what
/// its parameters are, and how much scratch memory it needs; `scratch` has bytes with undefined contents. A parameter is a
/// list of sizes over the program's symbols.
///
/// A parameter that the routine decides is a size that its data tell; the last output is a list of all such sizes, which the host
/// reads after the call. Symbols that nothing else tells have their values from there on; what is known already is compared.
/// Buffers with such sizes have place for the most that they may be, and lie at its front. What is decided in a condition or a loop is
/// known in it alone, behind the call.
///
/// ```mlir
/// rt.call "sort" version 1 ins(%x) outs(%y) scratch(%w) params(axis [1], descending [0])
///     : !rt.buffer<f32, [B, 256]>, !rt.buffer<f32, [B, 256]>, !rt.buffer<i8, [12288*min(B, 16)]>
/// ```
#[op(
    "rt.call",
    traits(AttrSizedOperandSegments),
    parents("rt.program", "rt.if", "rt.while"),
    format = "$routine `version` $version `ins` `(` $inputs `)` `outs` `(` $outputs `)` (`scratch` `(` $scratch^ `)`)? \
              custom<Params>($params) attr-dict `:` type(operands)",
    verify
)]
pub struct CallOp {
    /// The routine's name.
    routine: Attr<StrAttr>,
    /// Its version.
    version: Attr<I64Attr>,
    /// What it reads.
    inputs: Operands<AnyBuffer>,
    /// What it writes.
    outputs: Operands<AnyBuffer>,
    /// Bytes that it may use.
    scratch: OptOperand<AnyBuffer>,
    /// A list of sizes for each of its parameters.
    params: Attr<DictionaryAttr>,
    /// What messages call the op that it computes.
    what: OptAttr<StrAttr>,
}

impl CallOp<'_> {
    /// The routine's declaration.
    ///
    /// # Errors
    /// Says what the table has instead.
    pub fn declaration(&self) -> Result<&'static Routine, String> {
        routines::find(self.routine(), self.version())
    }

    /// The numbers of each parameter, in the order of the declaration.
    ///
    /// # Errors
    /// Names a parameter that is missing or malformed, or that the routine does not have.
    pub fn numbers(&self, routine: &Routine) -> Result<Vec<Vec<Poly>>, String> {
        let (cx, dict) = (self.op_ref().cx, self.params_attr());
        let other = cx.entries(dict).iter().map(|e| cx.str(e.name)).find(|name| routine.param(name).is_none());
        if let Some(name) = other {
            let known: Vec<&str> = routine.params.iter().map(|param| param.name).collect();
            return Err(format!(
                "gives the parameter '{name}', which the routine does not have; it has {}",
                known.join(", ")
            ));
        }
        let numbers = routine.params.iter().map(|param| {
            let entry = cx.entry(dict, cx.ident(param.name));
            let entry = entry.ok_or_else(|| format!("does not give the parameter '{}'", param.name))?;
            known_dims(cx, entry).ok_or_else(|| format!("gives no list of sizes as parameter '{}'", param.name))
        });
        numbers.collect()
    }

    /// The parameters that the routine decides, each with the most that it is, where that can be computed.
    pub fn bounds(&self, routine: &Routine, params: &[Vec<Poly>]) -> Vec<(usize, Option<Poly>)> {
        let op = self.op_ref();
        let inputs: Vec<&BufferType> = self.inputs().map(|v| buffer(op, v)).collect();
        let typed: Vec<Typed<'_, Poly, Type>> = inputs.iter().map(|ty| typed(op, ty)).collect();
        let arguments = Arguments { inputs: &typed, params };
        if arguments.check(routine, &|_, _| true).is_err() {
            return Vec::new();
        }
        routine.decided().map(|(param, bound)| (param, arguments.size(routine, bound))).collect()
    }
}

/// Parameters as the op has them.
pub(super) fn params_attr(cx: &Context, routine: &Routine, params: &[Vec<Poly>]) -> Attr {
    let entries = routine.params.iter().zip(params);
    let entries: Vec<_> = entries.map(|(param, sizes)| named(cx, param.name, shape_attr(cx, sizes))).collect();
    cx.dict(&entries)
}

// ---- text

/// `params(axis [1], descending [0, 1])`
pub(super) const PARAMS: DirectiveDef = DirectiveDef { parse: parse_params, print: print_params };

fn parse_params(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let mut entries = Vec::new();
    if p.opt_keyword("params") {
        p.punct("(")?;
        while !p.opt_punct(")") {
            if !entries.is_empty() {
                p.punct(",")?;
            }
            let (loc, name) = (p.loc(), p.any_keyword()?);
            let sizes = parse_known_dims(p)?;
            let entry = named(p.cx(), &name, shape_attr(p.cx(), &sizes));
            if entries.iter().any(|e: &sutura_ir::NamedAttr| e.name == entry.name) {
                return Err(p.error_at(loc, &format!("the parameter '{name}' is given twice")));
            }
            entries.push(entry);
        }
    }
    let value = p.cx().dict(&entries);
    parts.set_prop(p.cx(), "params", value);
    Ok(())
}

fn print_params(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let entries = op.prop("params").map(|dict| op.cx.entries(dict)).unwrap_or_default();
    if entries.is_empty() {
        return;
    }
    p.text("params(");
    p.list(entries, |p, entry| {
        p.text(&format!("{} [", p.cx().str(entry.name)));
        p.list(known_dims(p.cx(), entry.value).unwrap_or_default(), |p, size| p.text(&size.to_string()));
        p.text("]");
    });
    p.text(")");
}

// ---- checks

impl Verify for CallOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = CallOp::from_ref(op);
        let known = this.declaration().and_then(|routine| this.numbers(routine).map(|_| routine));
        known.map(drop).map_err(|message| diags.report(op.error(message)))
    }
}

/// Checks a call against the routine's declaration.
pub(super) fn verify(facts: &Facts, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let this = CallOp::from_ref(op);
    let checked = this.declaration().and_then(|routine| {
        let params = this.numbers(routine)?;
        fits(facts, this, routine, &params).map_err(|reason| format!("the routine '{}' {reason}", routine.name))
    });
    checked.map_err(|message| op.error(message))
}

fn buffer(op: OpRef<'_>, value: Value) -> &BufferType {
    BufferType::of(op.cx, op.ty(value)).expect("the declaration says a buffer")
}

fn typed<'a>(op: OpRef<'_>, ty: &'a BufferType) -> Typed<'a, Poly, Type> {
    Typed { elem: ty.elem, is_float: ty.elem.is_float(op.cx), dims: &ty.dims }
}

fn fits(facts: &Facts, this: CallOp<'_>, routine: &Routine, params: &[Vec<Poly>]) -> Result<(), String> {
    let op = this.op_ref();
    let inputs: Vec<&BufferType> = this.inputs().map(|v| buffer(op, v)).collect();
    let outputs: Vec<&BufferType> = this.outputs().map(|v| buffer(op, v)).collect();
    let typed: Vec<Typed<'_, Poly, Type>> = inputs.iter().map(|ty| typed(op, ty)).collect();
    let arguments = Arguments { inputs: &typed, params };
    let equal = |a: &Poly, b: &Poly| facts.prove_equal(a, b);
    arguments.check(routine, &equal)?;
    let wanted = routine.outputs_of(inputs.len());
    if wanted.len() != outputs.len() {
        return Err(format!("makes {} outputs, not {}", wanted.len(), outputs.len()));
    }
    for (i, ((elem, rule), output)) in wanted.into_iter().zip(&outputs).enumerate() {
        let elem = match elem {
            None => inputs[i].elem,
            Some(Elem::First) => inputs[0].elem,
            Some(Elem::Int64) => Type::I64,
            Some(Elem::Any | Elem::Float) => output.elem,
        };
        let dims = arguments.dims(routine, rule).ok_or("has an output whose size is too large to be computed")?;
        let same = |dims: &Vec<Poly>| {
            dims.len() == output.dims.len() && dims.iter().zip(&output.dims).all(|(a, b)| equal(a, b))
        };
        if elem != output.elem || !dims.as_ref().is_none_or(same) {
            let dims = dims.unwrap_or_else(|| output.dims.clone());
            let made = crate::show::ty(op.cx, op.cx.ext_type(BufferType::new(elem, dims)));
            let given = crate::show::ty(op.cx, op.cx.ext_type((*output).clone()));
            return Err(format!("makes a {made} as output {i}, not a {given}"));
        }
    }
    let needed = arguments.size(routine, &routine.scratch).ok_or("needs more scratch memory than can be computed")?;
    let given = this.scratch().map(|v| buffer(op, v));
    let enough = match given {
        None => needed.is_zero(),
        Some(ty) => {
            let bytes = ty.bytes(op.cx);
            ty.dims.len() == 1 && (equal(&bytes, &needed) || facts.range(&bytes.sub(&needed)).0 >= 0)
        }
    };
    if enough { Ok(()) } else { Err(format!("needs a list of {needed} bytes as 'scratch'")) }
}

// ---- meaning

/// Inputs are read, outputs written, and scratch memory both.
pub(super) struct CallEffects;

impl MemoryEffects for CallEffects {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        let this = CallOp::from_ref(op);
        let effect = |kind| move |value| Effect { kind, value: Some(value) };
        let read = this.inputs().chain(this.scratch()).map(effect(EffectKind::Read));
        read.chain(this.outputs().chain(this.scratch()).map(effect(EffectKind::Write))).collect()
    }
}

pub(super) fn interpret(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let this = CallOp::from_ref(op);
    let routine = this.declaration().map_err(Fault::invalid_ir)?;
    let mut params = Vec::with_capacity(routine.params.len());
    for (i, sizes) in this.numbers(routine).map_err(Fault::invalid_ir)?.iter().enumerate() {
        if routine.decided().any(|(decided, _)| decided == i) {
            params.push(vec![0]);
            continue;
        }
        params.push(sizes.iter().map(|poly| size(poly, frame)).collect::<Result<Vec<i64>, Fault>>()?);
    }
    let (count, outputs) = (this.inputs().count(), this.outputs().count());
    let mut inputs: Vec<Tensor> = Vec::with_capacity(count);
    for i in 0..count {
        let memref = sized(op, i, frame)?;
        inputs.push(frame.memory().read(&memref)?);
    }
    frame.charge(inputs.iter().map(|input| input.len() as u64).sum())?;
    let elems = (count..count + outputs).map(|i| Ok(frame.memref(i)?.dtype));
    let elems: Vec<DType> = elems.collect::<Result<_, Fault>>()?;
    let made = routines::interpret(routine, &inputs, &params, &elems)?;
    if let Some(sizes) = made.last().filter(|_| routine.decides()) {
        let size = |i| sizes.data().read(i)?.as_i64().ok_or_else(|| Fault::type_mismatch("decides no integer"));
        let sizes: Vec<i64> = (0..sizes.len()).map(size).collect::<Result<_, Fault>>()?;
        decided(op, &sizes, frame)?;
    }
    for (i, made) in (count..).zip(&made) {
        let place = sized(op, i, frame)?;
        frame.memory().write(&place, made)?;
    }
    Ok(Flow::Next)
}

/// True for a call of a routine that works on memory of a device.
pub fn works_on_devices(call: CallOp<'_>) -> bool {
    call.declaration().is_ok_and(|routine| routine.can(Capability::Device))
}
