//! A function as host program: buffers for its tensors, launches for its regions.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use sutura_dialects::r#dyn::attr::{SIZES, symbolic_shape};
use sutura_dialects::r#dyn::facts::Contradiction;
use sutura_dialects::r#dyn::ops::{EqualOp, SymbolOp};
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::r#dyn::{Bounds, Facts, SymbolInfo};
use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::shape_fn::{told_by_routines, told_in_run, used_symbols};
use sutura_dialects::graph::{ApplyOp, BitcastOp, ConstantOp, FusionOp, ReshapeOp, RoutineOp, ShapeEnv, described};
use sutura_dialects::routines::table::{Arguments, Routine, Typed};
use sutura_dialects::rt::{
    BufferType, Constraint, ConstraintKind, ProgramBuilder, ProgramHeader, Symbol, ViewOp, launch, packed,
};
use sutura_dialects::scf::ForOp;
use sutura_dialects::tensor::CastOp;
use sutura_ir::asm::print::type_text;
use sutura_ir::diagnostics::codes;
use sutura_ir::ext::ParamValue;
use sutura_ir::symbols::Visibility;
use sutura_ir::{Attr, BlockRef, Body, Builder, Context, Diagnostic, Loc, Op, OpRef, OpView, Rewriter, Type, Value};

use super::Config;
use super::kernel::{Built, Kernel, beyond};
use super::region::{Arg, FusedRegion, Lowered, Step};
use super::search::{self, Found};
use super::{control, fallback, likely, traces};
use crate::region::Family;
use crate::region::cost::value_text;
use crate::stitch::is_compute;

/// Discardable attribute of a function's arguments and results: the model's name of the tensor.
pub const NAME_ATTR: &str = "graph.name";

/// Converts a function.
///
/// # Errors
/// All that cannot be converted.
pub(super) fn convert<'c, 'a>(
    cx: &'c Context,
    function: OpRef<'a>,
    config: &'a Config,
) -> Result<Converted<'c>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let Some(entry) = function.region(0).and_then(|r| r.entry()) else {
        return Err(vec![function.error("is a declaration, which cannot become a program")]);
    };
    let facts = facts_of(entry).map_err(|(op, contradiction)| vec![op.error(contradiction)])?;
    if let Some(error) = unknown_property(function, entry) {
        return Err(vec![error]);
    }
    let told = entry.ops().next().map(told_in_run).unwrap_or_default();
    let outer = control::outer_symbols(entry);
    let at = fallback::At::of(function);
    let (mut regions, mut remarks, mut missed) = (HashMap::new(), Vec::new(), Vec::new());
    for op in entry.ops() {
        if let Some(fusion) = op.as_::<FusionOp<'_>>() {
            let inputs = op.operands().try_for_each(|v| buffer(op, op.body, v).map(drop));
            let found = inputs.and_then(|()| match (fusion.trace(), fusion.schedule()) {
                (Some(trace), _) => traces::followed(&at, op, trace, config).map(|(_, found)| found),
                (None, Some(tree)) => fallback::followed(&at, op, tree, config),
                (None, None) => match search::best(op, config) {
                    Ok(found) => fallback::proved(&at, found, config),
                    Err(error) => fallback::unfit(&at, op, config, error),
                },
            });
            let found = found.and_then(|found| check_sizes(&found.0).map(|()| found));
            match found {
                Ok((Found { region, lowered, remark }, why)) => {
                    missed.extend(why.into_iter().map(|text| (op.loc(), text)));
                    let said = lowered.remarks.iter().cloned().chain(remark).chain(likely::said(&region));
                    remarks.extend(said.map(|text| (op.loc(), text)));
                    regions.insert(op.op, (region, lowered));
                }
                Err(error) => errors.push(*error),
            }
        } else if let Some(function) = op.interface::<dyn RoutineOp>() {
            match called(op, function) {
                Ok(routine) => {
                    remarks.push((op.loc(), format!("the routine '{}' of the runtime computes it", routine.symbol())))
                }
                Err(error) => errors.push(*error),
            }
        } else if op.as_::<ReshapeOp<'_>>().is_some_and(|reshape| reshape.shape().is_some() && !is_told(reshape, &told))
        {
            errors.push(
                op.error("takes its shape from data: nothing says before the run that it is what the program needs")
                    .help("sizes must be constants or follow from shapes; run 'propagate-shapes' before this pass"),
            );
        } else if control::is_control(op) {
            errors.extend(control::check(function, op).err().map(|error| *error));
        } else if !is_known(op) && !control::is_edge(op) {
            errors.push(misplaced(op));
        }
    }
    if errors.is_empty() {
        let behind = control::symbols_behind(entry);
        let is_told = |name: &Arc<str>| told.contains(name) || !outer.contains(name) || behind.contains(name);
        errors.extend(facts.symbols().find(|(name, _)| !is_told(name)).map(|(name, _)| untold(entry, name)));
    }
    let in_order = entry.ops().filter_map(|op| regions.get(&op.op));
    let conditions = in_order.flat_map(|(region, lowered)| conditions(region, lowered)).collect();
    let header = match header(function, entry, &facts, &outer) {
        Ok(header) => Some(ProgramHeader { constraints: [header.constraints, conditions].concat(), ..header }),
        Err(error) => {
            errors.push(*error);
            None
        }
    };
    match header {
        Some(header) if errors.is_empty() => {
            let converted =
                Assembly::new(cx, function, entry, header, facts).run(regions).map_err(|error| vec![*error])?;
            Ok(Converted { remarks, missed, ..converted })
        }
        _ => Err(errors),
    }
}

/// Memory has no properties but sizes, and what another one means of the elements is not known here.
fn unknown_property(function: OpRef<'_>, entry: BlockRef<'_>) -> Option<Diagnostic> {
    let cx = function.cx;
    let values = || entry.args().iter().copied().chain(entry.ops().flat_map(OpRef::results));
    let of = |value: Value| {
        let other = cx.properties(entry.body.ty(value)).into_iter().find(|e| cx.str(e.name) != SIZES)?;
        Some((value, cx.str(other.name)))
    };
    let (value, property) = values().find_map(of)?;
    let at = entry.body.defining_op(value).map_or(function, |op| OpRef::new(cx, entry.body, op));
    let message = format!(
        "{} has the property '{property}' in its type, which memory has not",
        value_text(cx, entry.body, value)
    );
    Some(at.error(message).help("a pass that knows the property must carry it out before"))
}

/// What is known of the sizes of a function; of those that it only uses, what is known of any.
fn facts_of(entry: BlockRef<'_>) -> Result<Facts, (OpRef<'_>, Contradiction)> {
    let mut facts = Facts::new();
    for symbol in entry.ops().filter_map(|op| op.as_::<SymbolOp<'_>>()) {
        facts.define(symbol.name(), symbol.info());
    }
    for name in used_symbols(entry.cx, entry.body) {
        if !facts.is_defined(&name) {
            facts.define(&name, SymbolInfo::default());
        }
    }
    facts.assume_stated(entry)?;
    Ok(facts)
}

/// The routine that computes an op, if all that it is given is known when it is called.
fn called(op: OpRef<'_>, function: &dyn RoutineOp) -> Built<&'static Routine> {
    let mut values = op.operands().chain(op.results());
    values.try_for_each(|value| buffer(op, op.body, value).map(drop))?;
    let call = function.resolved(op, &ShapeEnv::default()).map_err(|message| Box::new(op.error(message)))?;
    match call.known() {
        Some(params) => match params.iter().flatten().find_map(Poly::excess) {
            Some(excess) => Err(beyond(op.loc(), Some(excess))),
            None => Ok(call.routine),
        },
        None => {
            let symbol = call.routine.symbol();
            let error = op.error(format!("gives the routine '{symbol}' a parameter that is not known before the run"));
            Err(Box::new(error.help("run shape propagation before this pass")))
        }
    }
}

/// Nothing that the host computes for a region is beyond what sizes may be.
fn check_sizes(found: &Found<'_>) -> Built<()> {
    let versions = found.lowered.steps.iter().flat_map(|step| &step.versions);
    let sizes = versions.flat_map(|(guard, launches)| guard.iter().chain(launches.iter().map(|launch| &launch.work)));
    let dims = found.lowered.temporaries.iter().flat_map(|view| &view.dims);
    match sizes.chain(dims).find_map(Poly::excess) {
        Some(excess) => Err(beyond(found.region.op.loc(), Some(excess))),
        None => Ok(()),
    }
}

/// True for a reshape all of whose sizes are known before the run.
fn is_told(reshape: ReshapeOp<'_>, told: &BTreeSet<Arc<str>>) -> bool {
    let op = reshape.op_ref();
    let sizes = symbolic_shape(op.cx, op.ty(reshape.result())).unwrap_or_default();
    sizes.iter().all(|size| size.as_ref().is_some_and(|size| size.symbols().is_subset(told)))
}

/// A size depends on data.
fn untold(entry: BlockRef<'_>, name: &str) -> Diagnostic {
    let has = |op: &OpRef<'_>| {
        let sizes = op.results().filter_map(|v| symbolic_shape(op.cx, op.ty(v))).flatten().flatten();
        sizes.into_iter().any(|size| size.mentions(name))
    };
    let symbol = |op: &OpRef<'_>| op.as_::<SymbolOp<'_>>().is_some_and(|s| s.name() == name);
    let place = entry.ops().find(has).or_else(|| entry.ops().find(symbol)).or_else(|| entry.ops().next());
    let message = format!("has the size '{name}', which depends on data: no dim of an input tells it before the run");
    place.map_or_else(|| Diagnostic::error(Loc::UNKNOWN, message.clone()), |op| op.error(&message))
}

fn misplaced(op: OpRef<'_>) -> Diagnostic {
    if is_compute(op) {
        return op.error("is in no region").help("run 'stitch' before this pass");
    }
    let error = op.error("has no place in a host program, which is made of regions, routines, reshapes, constants, calls, conditions and loops");
    if op.is::<CastOp<'_>>() {
        let error = op.error("takes what has no size that is known before the run: what a loop carries, or the sides of a condition make, must keep one size");
        return error.help("write it so that sizes stay the same from one iteration to the next");
    }
    if op.is::<ForOp<'_>>() {
        return error.help("run 'scf-for-to-while' before this pass; the step must be a constant greater than 0");
    }
    if op.is::<ApplyOp<'_>>() {
        return error.help("run 'expand-operators' before this pass, and before 'stitch'");
    }
    error
}

fn is_known(op: OpRef<'_>) -> bool {
    op.is::<SymbolOp<'_>>()
        || op.is::<EqualOp<'_>>()
        || op.is::<ConstantOp<'_>>()
        || op.is::<ReshapeOp<'_>>()
        || op.is::<BitcastOp<'_>>()
        || op.name_str() == "func.return"
}

/// What an op makes a view of.
fn viewed(op: OpRef<'_>) -> Option<Value> {
    let reshape = op.as_::<ReshapeOp<'_>>().map(|reshape| reshape.input());
    reshape.or_else(|| Some(op.as_::<BitcastOp<'_>>()?.input()))
}

/// A buffer for a tensor.
pub(super) fn buffer(op: OpRef<'_>, body: &Body, value: Value) -> Built<BufferType> {
    let Some(shape) = symbolic_shape(op.cx, body.ty(value)) else {
        let (name, ty) = (value_text(op.cx, body, value), type_text(op.cx, body.ty(value)));
        let message = format!("{name} cannot be kept in memory: {ty} is no tensor of known rank");
        return Err(Box::new(op.error(message)));
    };
    let dims: Option<Vec<Poly>> = shape.into_iter().collect();
    match dims {
        Some(dims) => {
            let ty = BufferType::new(op.cx.element_type(body.ty(value)), dims);
            let refused = |why: String| {
                let message = format!("{} cannot be kept in memory: {why}", value_text(op.cx, body, value));
                Box::new(op.error(message))
            };
            ty.verify(op.cx).map_err(refused)?;
            let bytes = op.cx.bit_width(ty.elem).map_or(1, |bits| i64::from(bits.div_ceil(8)));
            match Poly::product(&ty.dims).mul(&bytes.into()).excess() {
                Some(excess) => {
                    let why = format!("its size in bytes is too large to be computed: {excess}");
                    Err(Box::new(refused(why).code(codes::SIZE_BEYOND)))
                }
                None => Ok(ty),
            }
        }
        None => {
            let message = format!("a size of {} is not known", value_text(op.cx, body, value));
            Err(Box::new(op.error(message).help("run shape propagation before this pass")))
        }
    }
}

fn header(function: OpRef<'_>, entry: BlockRef<'_>, facts: &Facts, outer: &BTreeSet<Arc<str>>) -> Built<ProgramHeader> {
    let cx = function.cx;
    let func = function.as_::<FuncOp<'_>>().expect("a function");
    let name_in = |list: Option<&[Attr]>, i: usize| {
        let entry = cx.entry(*list?.get(i)?, cx.ident(NAME_ATTR))?;
        cx.as_str(entry).map(str::to_owned)
    };
    let own_name = |v: Value| entry.body.value_name(v).map(|n| cx.str(n).to_owned());
    let mut inputs = Vec::new();
    for (i, arg) in entry.args().iter().enumerate() {
        let name = name_in(func.arg_attrs(), i).or_else(|| own_name(*arg)).unwrap_or_else(|| format!("arg{i}"));
        inputs.push((name, buffer(function, entry.body, *arg)?));
    }
    let mut outputs = Vec::new();
    for (i, value) in entry.terminator().into_iter().flat_map(OpRef::operands).enumerate() {
        let name = name_in(func.res_attrs(), i).unwrap_or_else(|| format!("result{i}"));
        outputs.push((name, buffer(function, entry.body, value)?));
    }
    let symbol =
        |(name, info): (&std::sync::Arc<str>, &SymbolInfo)| Symbol { name: name.to_string(), info: info.clone() };
    Ok(ProgramHeader {
        name: function.symbol_name().unwrap_or_default().to_owned(),
        symbols: facts.symbols().filter(|(name, _)| outer.contains(*name)).map(symbol).collect(),
        inputs,
        outputs,
        constraints: entry.ops().filter_map(|op| Some(constraint(&op.as_::<EqualOp<'_>>()?))).collect(),
        private: Visibility::of(function) == Visibility::Private,
    })
}

/// What a region's kernels need of sizes, for the host to check.
fn conditions(region: &FusedRegion<'_>, lowered: &Lowered) -> Vec<Constraint> {
    let of = |size: &Poly| Constraint {
        left_words: Some(format!("{} (what {} needs of sizes)", size.brief(), described(region.op))),
        ..Constraint::new(ConstraintKind::AtLeast, size.clone(), Poly::default())
    };
    lowered.conditions.iter().map(of).collect()
}

fn constraint(equal: &EqualOp<'_>) -> Constraint {
    // The lesser of a size and 0 is 0: that is how a program says that the size is not negative.
    if let Some(size) = equal.lhs().ordered().filter(|_| equal.rhs().is_zero()) {
        let words = equal.source().map(str::to_owned);
        return Constraint { left_words: words, ..Constraint::new(ConstraintKind::AtLeast, size, Poly::default()) };
    }
    let mut constraint = Constraint::new(ConstraintKind::Compatible, equal.lhs().clone(), equal.rhs().clone());
    if let Some(source) = equal.source() {
        constraint.left_words = Some(format!("{} ({source})", equal.lhs().brief()));
    }
    constraint
}

/// A program and its kernels, independent of the function from which they come.
pub(super) struct Converted<'c> {
    kernels: Vec<(String, Kernel)>,
    pub(super) program: ProgramBuilder<'c>,
    launches: u64,
    shared: u64,
    /// Calls of routines.
    calls: u64,
    /// What lowering and search say of regions.
    pub(super) remarks: Vec<(Loc, String)>,
    /// Schemes that were not taken, and why.
    pub(super) missed: Vec<(Loc, String)>,
}

impl Converted<'_> {
    /// Puts kernels and program in place of the function `op`. Returns the program, and what is counted.
    pub(super) fn insert(self, cx: &Context, body: &mut Body, op: Op) -> (Op, Vec<(&'static str, u64)>) {
        let loc = body.loc(op);
        let mut counts = vec![
            ("num-kernels", self.kernels.len() as u64),
            ("num-launches", self.launches),
            ("num-shared", self.shared),
        ];
        if self.calls > 0 {
            counts.push(("num-calls", self.calls));
        }
        let mut rw = Rewriter::new(cx, body);
        rw.set_before(op);
        for (name, kernel) in self.kernels {
            let (state, inside) = kernel.named(cx, &name);
            rw.create_isolated(state, inside);
        }
        let program = self.program.finish(&mut rw, loc);
        rw.erase_op(op);
        (program, counts)
    }
}

/// A launch in the program.
struct Call {
    kernel: String,
    /// What messages call what the kernel checks of data, where they do not call it as the kernel does.
    checks: Vec<String>,
    dims: Vec<Poly>,
    buffers: Vec<Value>,
    work: Poly,
    /// It runs at once with the one before it.
    beside: bool,
}

fn emit_calls(b: &mut Builder<'_>, loc: Loc, calls: &[Call]) {
    let one = |b: &mut Builder<'_>, Call { kernel, checks, dims, buffers, work, .. }: &Call| {
        launch(b, loc, kernel, (buffers, dims), Some(work), checks);
    };
    for together in calls.chunk_by(|_, next| next.beside) {
        match together {
            [call] => one(b, call),
            calls => packed(b, loc, |b| calls.iter().for_each(|call| one(b, call))),
        }
    }
}

/// A kernel's name, and what messages call what it checks of data.
struct Named {
    name: String,
    checks: Vec<String>,
}

/// Makes the program of a function.
pub(super) struct Assembly<'a, 'c> {
    pub(super) function: OpRef<'a>,
    entry: BlockRef<'a>,
    /// Output that a value of a region is written to.
    pub(super) placed: HashMap<Value, usize>,
    pub(super) buffers: HashMap<Value, Value>,
    by_key: HashMap<String, Named>,
    /// What is known of sizes, and the symbols that are known so far.
    pub(super) facts: Facts,
    pub(super) known: BTreeSet<Arc<str>>,
    /// The most that sizes are which one region of a condition or a loop knows.
    pub(super) bounds: Bounds,
    /// Types of values of such regions, and of which buffers others are the front.
    pub(super) types: HashMap<Value, BufferType>,
    pub(super) fronts: HashMap<Value, Value>,
    pub(super) converted: Converted<'c>,
}

impl<'a, 'c> Assembly<'a, 'c> {
    fn new(cx: &'c Context, function: OpRef<'a>, entry: BlockRef<'a>, header: ProgramHeader, facts: Facts) -> Self {
        let program = ProgramBuilder::new(cx, header);
        let buffers = entry.args().iter().enumerate().map(|(i, arg)| (*arg, program.input(i))).collect();
        let converted =
            Converted { kernels: vec![], program, launches: 0, shared: 0, calls: 0, remarks: vec![], missed: vec![] };
        let (placed, by_key, types, fronts) = (HashMap::new(), HashMap::new(), HashMap::new(), HashMap::new());
        let known = entry.ops().next().map(told_by_routines).unwrap_or_default();
        let bounds = Bounds::default();
        Self { function, entry, placed, buffers, by_key, facts, known, bounds, types, fronts, converted }
    }

    fn run(mut self, mut regions: HashMap<Op, (FusedRegion<'a>, Lowered)>) -> Built<Converted<'c>> {
        self.place_outputs(&regions);
        let mut constants = 0;
        for op in self.entry.ops() {
            if let Some(constant) = op.as_::<ConstantOp<'_>>() {
                let name = format!("constant{constants}");
                constants += 1;
                let buffer = self.converted.program.constant(op.loc(), &name, op.prop("value").expect("verified"));
                self.buffers.insert(constant.result(), buffer);
            } else if let Some(reshape) = op.as_::<ReshapeOp<'_>>() {
                self.expect(reshape);
                let ty = buffer(op, op.body, reshape.result())?;
                let from = self.buffers[&reshape.input()];
                let view = self.converted.program.view(op.loc(), from, ty);
                self.buffers.insert(reshape.result(), view);
            } else if let Some(cast) = op.as_::<BitcastOp<'_>>() {
                let ty = buffer(op, op.body, cast.result())?;
                let view = self.converted.program.view(op.loc(), self.buffers[&cast.input()], ty);
                self.buffers.insert(cast.result(), view);
            } else if let Some((region, lowered)) = regions.remove(&op.op) {
                self.region(&region, lowered)?;
            } else if let Some(function) = op.interface::<dyn RoutineOp>() {
                self.routine(op, function)?;
            } else if control::is_control(op) {
                self.control(op)?;
            } else if op.name_str() == "func.return" {
                self.copy_outputs(op);
            }
        }
        Ok(self.converted)
    }

    /// What a shape operand asks for is looked at when it is there.
    fn expect(&mut self, reshape: ReshapeOp<'a>) {
        let (op, Some(shape)) = (reshape.op_ref(), reshape.shape()) else { return };
        let sizes = |value| symbolic_shape(op.cx, op.ty(value)).unwrap_or_default().into_iter().flatten();
        let (from, to): (Vec<Poly>, Vec<Poly>) = (sizes(reshape.input()).collect(), sizes(reshape.result()).collect());
        // A 0 is itself, or copies the size of the input; where that has no such dimension it is wrong.
        let copied = |i: usize| match reshape.allowzero() {
            true => Poly::default(),
            false => from.get(i).cloned().unwrap_or_else(|| Poly::constant(-1)),
        };
        let copied: Vec<Poly> = (0..to.len()).map(copied).collect();
        let list = self.buffers[&shape];
        self.converted.program.expect(op.loc(), list, &described(op), &to, &copied);
    }

    /// What a value is a view of: the same memory in another shape, or as other elements.
    fn base(&self, value: Value) -> Value {
        let mut value = value;
        while let Some(source) = self.entry.body.defining_op(value).and_then(|o| viewed(self.function_op(o))) {
            value = source;
        }
        value
    }

    fn function_op(&self, op: Op) -> OpRef<'a> {
        OpRef::new(self.function.cx, self.entry.body, op)
    }

    /// The first result of a region that is the same value as `value`, a result of a region.
    fn first_result(&self, regions: &HashMap<Op, (FusedRegion<'a>, Lowered)>, value: Value) -> Option<Value> {
        let op = self.entry.body.defining_op(value)?;
        let op_ref = self.function_op(op);
        if op_ref.interface::<dyn RoutineOp>().is_some() || control::is_control(op_ref) {
            return Some(value);
        }
        let (region, _) = regions.get(&op)?;
        let at = self.function_op(op).results().position(|r| r == value)?;
        let first = region.yielded.iter().position(|y| *y == region.yielded[at])?;
        Some(self.function_op(op).result(first))
    }

    /// Decides which results of regions and routines are made in the memory of outputs.
    fn place_outputs(&mut self, regions: &HashMap<Op, (FusedRegion<'a>, Lowered)>) {
        let returned: Vec<Value> = self.entry.terminator().into_iter().flat_map(OpRef::operands).collect();
        for (i, value) in returned.into_iter().enumerate() {
            if let Some(first) = self.first_result(regions, self.base(value)) {
                self.placed.entry(first).or_insert(i);
            }
        }
    }

    fn region(&mut self, region: &FusedRegion<'a>, lowered: Lowered) -> Built<()> {
        let (op, loc) = (region.op, region.op.loc());
        let program = &mut self.converted.program;
        let mut inside: HashMap<Value, Value> = HashMap::new();
        for (arg, operand) in region.inputs.iter().zip(op.operands()) {
            inside.insert(*arg, self.buffers[&operand]);
        }
        for (yielded, result) in region.yielded.iter().zip(op.results()) {
            if let Some(known) = inside.get(yielded) {
                self.buffers.insert(result, *known);
                continue;
            }
            let buffer = place(program, &self.placed, op, result)?;
            inside.insert(*yielded, buffer);
            self.buffers.insert(result, buffer);
        }
        let temporaries: Vec<Value> = lowered
            .temporaries
            .into_iter()
            .map(|view| program.alloc(loc, BufferType::new(view.elem, view.dims)))
            .collect();
        let buffer = |arg: &Arg| match arg {
            Arg::Tensor(value) => inside[value],
            Arg::Temporary(i) => temporaries[*i],
        };
        for (from, to) in &lowered.copies {
            self.converted.program.copy(loc, buffer(from), buffer(to));
        }
        for step in lowered.steps {
            self.launch(region, step, &buffer);
        }
        Ok(())
    }

    /// A call of the routine that computes an op.
    fn routine(&mut self, op: OpRef<'a>, function: &dyn RoutineOp) -> Built<()> {
        let broken = |message: String| Box::new(op.error(message));
        let call = function.resolved(op, &ShapeEnv::default()).map_err(broken)?;
        let params = call.known().ok_or_else(|| broken("has parameters that are not known".to_owned()))?;
        let types = op.operands().map(|v| buffer(op, op.body, v)).collect::<Built<Vec<BufferType>>>()?;
        let typed = types.iter().map(|ty| Typed { elem: ty.elem, is_float: ty.elem.is_float(op.cx), dims: &ty.dims });
        let typed: Vec<Typed<'_, Poly, Type>> = typed.collect();
        let bytes = Arguments { inputs: &typed, params: &params }.size(call.routine, &call.routine.scratch);
        let bytes = bytes.filter(|bytes| bytes.excess().is_none()).ok_or_else(|| {
            Box::new(
                op.error("needs scratch memory of a size that is too large to be computed").code(codes::SIZE_BEYOND),
            )
        })?;
        let fits = op.results().map(|result| self.fits_output(op, result)).collect::<Built<Vec<bool>>>()?;
        let program = &mut self.converted.program;
        let inputs: Vec<Value> = op.operands().map(|v| self.buffers[&v]).collect();
        let mut outputs = Vec::with_capacity(op.num_results());
        let decides = call.routine.decided().count();
        for (result, fits) in op.results().zip(fits) {
            // Before a size is decided there is place for the most that it may be: memory of other dims may have less.
            let own = decides > 0 && !fits;
            let placed = if own { &HashMap::new() } else { &self.placed };
            let buffer = place(program, placed, op, result)?;
            outputs.push(buffer);
            self.buffers.insert(result, buffer);
        }
        if decides > 0 {
            outputs.push(program.alloc(op.loc(), BufferType::new(Type::I64, vec![Poly::from(decides as i64)])));
        }
        let scratch = (!bytes.is_zero()).then(|| program.alloc(op.loc(), BufferType::new(Type::I8, vec![bytes])));
        let what = (decides > 0).then(|| described(op));
        program.call(op.loc(), (call.routine, &params, what.as_deref()), &inputs, &outputs, scratch);
        self.converted.calls += 1;
        Ok(())
    }

    /// Whether the output in whose memory a result would be made has the result's type.
    fn fits_output(&self, op: OpRef<'_>, result: Value) -> Built<bool> {
        let ty = buffer(op, op.body, result)?;
        let program = &self.converted.program;
        Ok(self.placed.get(&result).is_some_and(|output| *program.ty(program.output(*output)) == ty))
    }

    fn launch(&mut self, region: &FusedRegion<'a>, step: Step, buffer: &dyn Fn(&Arg) -> Value) {
        let loc = region.op.loc();
        let (mut guards, mut versions) = (Vec::new(), Vec::new());
        for (guard, launches) in step.versions {
            let mut calls = Vec::new();
            for launch in launches {
                let dims: Vec<Poly> = launch.kernel.dims.iter().map(|name| Poly::symbol(name)).collect();
                let buffers: Vec<Value> = launch.args.iter().map(buffer).collect();
                let (kernel, checks) = self.name(region, launch.kernel);
                calls.push(Call { kernel, checks, dims, buffers, work: launch.work, beside: launch.beside });
            }
            versions.push(calls);
            guards.push(guard);
        }
        guards.pop();
        let launches = |calls: &Vec<Call>| calls.iter().filter(|call| !call.beside).count();
        self.converted.launches += versions.iter().map(launches).max().unwrap_or(0) as u64;
        let program = &mut self.converted.program;
        match &versions[..] {
            [calls] => emit_calls(&mut program.at_end(), loc, calls),
            versions => program.select(loc, &guards, |i, b| emit_calls(b, loc, &versions[i])),
        }
    }

    /// Name of a kernel: that of one that is the same but for the names of sizes and of what is checked of data, if there is one.
    /// Then also the latter, where they differ.
    fn name(&mut self, region: &FusedRegion<'a>, mut kernel: Kernel) -> (String, Vec<String>) {
        let cx = self.function.cx;
        let (key, checks) = (kernel.key(cx), kernel.checks(cx).into_iter().map(|check| check.what).collect());
        if let Some(known) = self.by_key.get(&key) {
            self.converted.shared += 1;
            return (known.name.clone(), if known.checks == checks { Vec::new() } else { checks });
        }
        let rule = region.family().map_or("kernel", Family::name);
        let function = self.function.symbol_name().unwrap_or_default();
        let candidates = (self.converted.kernels.len()..).map(|n| format!("{function}_{rule}{n}"));
        let name = candidates.into_iter().find(|name| !self.is_taken(name)).expect("there are more names");
        self.by_key.insert(key, Named { name: name.clone(), checks });
        self.converted.kernels.push((name.clone(), kernel));
        (name, Vec::new())
    }

    /// True when a symbol beside the function, or a kernel of it, has this name.
    fn is_taken(&self, name: &str) -> bool {
        let (cx, body) = (self.function.cx, self.function.body);
        let mut beside = body.op_block(self.function.op).into_iter().flat_map(|block| body.ops(block));
        beside.any(|op| OpRef::new(cx, body, op).symbol_name() == Some(name))
            || self.converted.kernels.iter().any(|(kernel, _)| kernel == name)
    }

    /// Outputs that are not made in place: inputs, constants, and what is returned twice.
    fn copy_outputs(&mut self, end: OpRef<'a>) {
        for (i, value) in end.operands().enumerate() {
            let program = &mut self.converted.program;
            let (from, to) = (self.buffers[&value], program.output(i));
            let base = root_buffer(program, from);
            if base != to {
                program.copy(end.loc(), from, to);
            }
        }
    }
}

/// Where a result of an op is made: an output, or memory of its own.
pub(super) fn place(
    program: &mut ProgramBuilder<'_>,
    placed: &HashMap<Value, usize>,
    op: OpRef<'_>,
    result: Value,
) -> Built<Value> {
    let ty = buffer(op, op.body, result)?;
    Ok(match placed.get(&result) {
        Some(output) if *program.ty(program.output(*output)) == ty => program.output(*output),
        Some(output) => program.view(op.loc(), program.output(*output), ty),
        None => program.alloc(op.loc(), ty),
    })
}

/// The buffer that `value` is a view of.
fn root_buffer(program: &mut ProgramBuilder<'_>, value: Value) -> Value {
    let b = program.at_end();
    let mut value = value;
    while let Some(view) = b.body().defining_op(value).and_then(|op| b.op_ref(op).as_::<ViewOp<'_>>()) {
        value = view.buffer();
    }
    value
}
