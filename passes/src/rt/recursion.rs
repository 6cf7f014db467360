//! Programs that are invoked while they run: which of a circle stay programs, and what invokes them must keep to.
//!
//! A recursive function reaches the host program as several programs, because each side of a condition is one. All of a circle but
//! one can stand in the place of what invokes them, so one stays: where the circle is entered. Its sizes are solved and checked
//! when it is called, as those of a model are before a run, so only what its caller has done already must be known here: memory for
//! its outputs.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::r#dyn::{Facts, Instance, Poly};
use sutura_dialects::rt::{BufferType, InvokeOp, ProgramInfo, ProgramOp, Solution};
use sutura_ir::asm::print::type_text;
use sutura_ir::{Body, Context, Diagnostic, Op, OpRef, OpView};

use super::inline::{invocations, programs};

/// The programs of a module in an order in which one after the other gets what it invokes.
pub(super) struct Order {
    /// Those that are invoked before those that invoke them, circles left out.
    pub(super) programs: Vec<Op>,
    /// The names of those that stay programs.
    pub(super) recursive: BTreeSet<String>,
}

impl Order {
    pub(super) fn of(cx: &Context, module: &Body) -> Self {
        let all = programs(module).map(|op| OpRef::new(cx, module, op)).filter(|op| op.is::<ProgramOp<'_>>());
        let all: Vec<OpRef<'_>> = all.collect();
        let by_name = all.iter().filter_map(|op| Some((op.symbol_name()?, *op))).collect();
        let mut order = Self { programs: Vec::new(), recursive: BTreeSet::new() };
        let mut follow = Follow { by_name: &by_name, path: Vec::new(), done: FxHashSet::default(), order: &mut order };
        let private = |op: &OpRef<'_>| ProgramOp::from_ref(*op).private();
        // From outside, so that a circle stays what its callers know.
        let (inner, outer): (Vec<OpRef<'_>>, Vec<OpRef<'_>>) = all.iter().copied().partition(|op| private(op));
        outer.into_iter().chain(inner).for_each(|program| follow.visit(program));
        order
    }
}

struct Follow<'o, 'a> {
    by_name: &'o FxHashMap<&'a str, OpRef<'a>>,
    path: Vec<Op>,
    done: FxHashSet<Op>,
    order: &'o mut Order,
}

impl<'a> Follow<'_, 'a> {
    fn visit(&mut self, program: OpRef<'a>) {
        if self.done.contains(&program.op) {
            return;
        }
        self.path.push(program.op);
        let body = program.inside();
        for op in invocations(program.cx, body) {
            let name = InvokeOp::from_ref(OpRef::new(program.cx, body, op)).callee();
            let Some(callee) = self.by_name.get(name) else { continue };
            if self.path.contains(&callee.op) {
                self.order.recursive.insert(name.to_owned());
            } else {
                self.visit(*callee);
            }
        }
        self.path.pop();
        self.done.insert(program.op);
        self.order.programs.push(program.op);
    }
}

/// The programs that those run which are there for others than programs, these among them.
pub(super) fn reached(cx: &Context, module: &Body) -> FxHashSet<Op> {
    let all: Vec<OpRef<'_>> = programs(module).map(|op| OpRef::new(cx, module, op)).collect();
    let all: Vec<&OpRef<'_>> = all.iter().filter(|op| op.is::<ProgramOp<'_>>()).collect();
    let mut open: Vec<&OpRef<'_>> = all.iter().copied().filter(|op| !ProgramOp::from_ref(**op).private()).collect();
    let mut reached = FxHashSet::default();
    while let Some(program) = open.pop() {
        if !reached.insert(program.op) {
            continue;
        }
        let body = program.inside();
        for op in invocations(cx, body) {
            let name = InvokeOp::from_ref(OpRef::new(cx, body, op)).callee();
            open.extend(all.iter().filter(|op| op.symbol_name() == Some(name)));
        }
    }
    reached
}

/// What an invocation that stays does not keep to.
pub(super) fn misfit(cx: &Context, module: &Body) -> Option<Diagnostic> {
    let all = || programs(module).map(|op| OpRef::new(cx, module, op)).filter(|op| op.is::<ProgramOp<'_>>());
    all().find_map(|program| {
        let body = program.inside();
        let invokes = invocations(cx, body);
        if invokes.is_empty() {
            return None;
        }
        let known = ProgramOp::from_ref(program).facts().map_err(|message| program.error(message));
        let known = match known {
            Ok(known) => known,
            Err(error) => return Some(error),
        };
        invokes.into_iter().find_map(|op| {
            let op = OpRef::new(cx, body, op);
            let invoke = InvokeOp::from_ref(op);
            let callee = all().find(|callee| callee.symbol_name() == Some(invoke.callee()));
            let fits = match callee {
                Some(callee) => fits(invoke, callee, &known),
                None => Err(op.error(format!("'@{}' is no program of the module", invoke.callee()))),
            };
            fits.err()
        })
    })
}

/// Sizes of results are those that the sizes of arguments tell.
fn fits(invoke: InvokeOp<'_>, callee: OpRef<'_>, caller: &Facts) -> Result<(), Diagnostic> {
    let (op, cx) = (invoke.op_ref(), callee.cx);
    let info = ProgramInfo::read(callee).map_err(|message| callee.error(message))?;
    let solution = Solution::of(&info).map_err(|error| callee.error(error))?;
    let told = |size: &Poly| {
        let mut told = true;
        size.each_symbol(&mut |name| told &= info.symbol_index(name).is_none_or(|i| solution.phases.is_told(i)));
        told
    };
    let decided = info.outputs.iter().find(|port| !port.ty.dims.iter().all(told));
    if let Some(port) = decided.or_else(|| info.outputs.first().filter(|_| invoke.most().is_some())) {
        let what = format!("runs '@{}' again, whose output '{}' has a size that the run decides", info.name, port.name);
        let error = op.error(what).note(callee.loc(), "the program");
        return Err(error.help("let the sizes of what a recursive function returns follow from those of its arguments"));
    }
    let own = info.facts().map_err(|error| callee.error(error))?;
    let given: Vec<&BufferType> = invoke.inputs().filter_map(|v| BufferType::of(cx, op.ty(v))).collect();
    let actual: Vec<&Poly> = given.iter().flat_map(|ty| &ty.dims).collect();
    // As they are written, or as the program knows them to be.
    let ways = [Box::new(|size: &Poly| size.clone()) as Box<dyn Fn(&Poly) -> Poly>, Box::new(|s| own.canonical(s))];
    let instances = ways.iter().map(|way| {
        let formal: Vec<Poly> = info.inputs.iter().flat_map(|port| port.ty.dims.iter().map(way)).collect();
        let pairs: Vec<(&Poly, &Poly)> = formal.iter().zip(actual.iter().copied()).collect();
        (way, Instance::of(&pairs, &[]))
    });
    let instances: Vec<_> = instances.collect();
    for (value, port) in invoke.outputs().zip(&info.outputs) {
        let Some(found) = BufferType::of(cx, op.ty(value)) else { continue };
        let is = |size: &Poly, found: &Poly| {
            let mut made = instances.iter().filter_map(|(way, instance)| instance.size(&way(size)));
            made.any(|size| caller.prove_equal(&size, found))
        };
        if !port.ty.dims.iter().zip(&found.dims).all(|(size, found)| is(size, found)) {
            let (found, wanted) = (type_text(cx, op.ty(value)), type_text(cx, cx.ext_type(port.ty.clone())));
            let what = format!("gives a {found} to '@{}' for output '{}'", info.name, port.name);
            let error = op.error(format!("{what}, and nothing guarantees that this is its {wanted}"));
            let error = error.note(callee.loc(), "the program");
            return Err(error.help("state sizes of results in the type of the recursive function as it makes them"));
        }
    }
    Ok(())
}
