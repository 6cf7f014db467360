//! `inline-programs`: the bodies of programs in the place of what invokes them.
//!
//! Kernels stay what they are, so that a program that is invoked often costs its launches and no code. Sizes of the body are
//! over the caller's symbols then, and its temporaries are planned with the caller's. What is recursive stays a program of its own
//! ([`super::recursion`]).

use std::collections::BTreeSet;

use super::recursion::{self, Order};
use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::r#dyn::attr::map_sizes;
use sutura_dialects::r#dyn::facts::MAX_DIM;
use sutura_dialects::r#dyn::{Facts, Instance, Poly};
use sutura_dialects::rt::{
    AllocOp, BufferType, ConstantOp, ConstraintKind, InvokeOp, MOST_NESTED, Port, ProgramInfo, ProgramOp, ReturnOp,
    SizeListOp, Solution, Symbol, ViewOp, WhileOp, nesting, read_symbol,
};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::asm::print::type_text;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::rewriter::IrMapping;
use sutura_ir::{Attr, Block, Body, Context, Diagnostic, Op, OpRef, OpView, Rewriter, Value};

/// `inline-programs`
pub static INLINE_PROGRAMS: PassInfo = PassInfo {
    name: "InlinePrograms",
    argument: "inline-programs",
    summary: "Put the bodies of programs in the place of what invokes them",
    description: "Replaces each `rt.invoke` by the body of the program that it names, from the bottom up; sizes become \
                  those of the caller, and sizes that data decide in it symbols of the caller's own. Sizes of inputs that nothing proves to be what the program takes are compared \
                  when the run comes there (`rt.view` that is `checked`). Kernels are shared, constants are kept once. \
                  Private programs are erased then. Of programs that invoke each other in a circle one stays, with \
                  what invokes it: it is a recursive function of the host program, whose sizes are solved and checked \
                  in each call. A program whose further conditions on sizes are not known to hold is an error.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-inlined", description: "invocations that were replaced" },
        StatisticInfo { name: "num-erased", description: "private programs that were erased" },
        StatisticInfo { name: "num-recursive", description: "programs that are invoked while they run" },
    ],
    create: |_: &PassOptions| Ok(Box::new(InlinePrograms)),
};

/// Ops of all bodies that may be put in: programs that invoke two others twice each grow without bound.
const MOST_OPS: usize = 1 << 20;

struct InlinePrograms;

impl Pass for InlinePrograms {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let Order { programs: order, recursive } = Order::of(cx, run.body);
        let (mut inlined, mut added) = (0, 0);
        for program in order {
            let done = run.body.nested_beside(program, |body, around| {
                let header = OpRef::new(cx, around, program);
                inline_into(cx, body, header, (around, &recursive), &mut added)
            });
            match done.unwrap_or_else(|| Ok(Inlined::default())) {
                Ok(Inlined { count, decided, replaced }) => {
                    if count > 0 {
                        let view = OpRef::new(cx, run.body, program);
                        let (loc, name) = (view.loc(), view.symbol_name().unwrap_or_default().to_owned());
                        run.passed(loc, format!("@{name}: {count} programs that it invokes are part of it"));
                        // The new temporaries have no place yet.
                        let symbols = ProgramOp::from_ref(OpRef::new(cx, run.body, program)).symbols().to_vec();
                        let gone =
                            |symbol: &Attr| read_symbol(cx, *symbol).is_some_and(|(name, _)| replaced.contains(&name));
                        let symbols = symbols.into_iter().chain(decided.iter().map(|symbol| symbol.write(cx)));
                        let symbols = symbols.filter(|symbol| !gone(symbol));
                        let symbols = cx.array_attr(&symbols.collect::<Vec<_>>());
                        let mut rw = Rewriter::new(cx, run.body);
                        rw.set_prop(program, "planned", None);
                        rw.set_prop(program, "symbols", Some(symbols));
                    }
                    inlined += count;
                }
                Err(error) => {
                    run.diags.report(error);
                    return Err(PassError::Unsupported);
                }
            }
        }
        if let Some(error) = recursion::misfit(cx, run.body) {
            run.diags.report(error);
            return Err(PassError::Unsupported);
        }
        let reached = recursion::reached(cx, run.body);
        let private = |op: &Op| OpRef::new(cx, run.body, *op).as_::<ProgramOp<'_>>().is_some_and(|p| p.private());
        let private: Vec<Op> = programs(run.body).filter(private).filter(|op| !reached.contains(op)).collect();
        let stay: Vec<Op> = programs(run.body).filter(|op| reached.contains(op)).collect();
        for op in stay {
            let view = OpRef::new(cx, run.body, op);
            let (loc, name) = (view.loc(), view.symbol_name().unwrap_or_default().to_owned());
            if recursive.contains(&name) {
                run.passed(loc, format!("@{name} runs while it runs, and stays a function of the host program"));
            }
        }
        run.count("num-recursive", recursive.len() as u64);
        let mut rewriter = Rewriter::new(cx, run.body);
        private.iter().for_each(|op| rewriter.erase_op(*op));
        run.count("num-inlined", inlined);
        run.count("num-erased", private.len() as u64);
        Ok(PreservedAnalyses::unless(inlined > 0 || !private.is_empty()))
    }
}

/// The ops of the module, among them the programs.
pub(super) fn programs(module: &Body) -> impl Iterator<Item = Op> {
    module.entry_block().into_iter().flat_map(|block| module.ops(block).collect::<Vec<_>>())
}

/// The invocations in a body, those in regions too.
pub(super) fn invocations(cx: &Context, body: &Body) -> Vec<Op> {
    body.preorder().filter(|op| OpRef::new(cx, body, *op).is::<InvokeOp<'_>>()).collect()
}

/// What was put into a program.
#[derive(Default)]
struct Inlined {
    /// Invocations that were replaced.
    count: u64,
    /// Symbols that data decide in what stands in their place.
    decided: Vec<Symbol>,
    /// Symbols of sizes that an invocation decided, in whose place stand sizes of the program that it ran.
    replaced: BTreeSet<String>,
}

/// Replaces the invocations of one program but those of recursive ones, which are all that its callees have. `header` has lent its
/// body.
fn inline_into(
    cx: &Context,
    body: &mut Body,
    header: OpRef<'_>,
    (around, recursive): (&Body, &BTreeSet<String>),
    added: &mut usize,
) -> Result<Inlined, Diagnostic> {
    let mut invokes = invocations(cx, body);
    invokes.retain(|op| !recursive.contains(InvokeOp::from_ref(OpRef::new(cx, body, *op)).callee()));
    let mut inlined = Inlined { count: invokes.len() as u64, ..Inlined::default() };
    if invokes.is_empty() {
        return Ok(inlined);
    }
    let mut facts = facts_of(header)?;
    let mut hoisted = FxHashMap::default();
    for &op in &invokes {
        let view = OpRef::new(cx, body, op);
        let name = InvokeOp::from_ref(view).callee();
        let callee = programs(around).map(|op| OpRef::new(cx, around, op)).find(|op| op.symbol_name() == Some(name));
        let callee = callee.ok_or_else(|| view.error(format!("'@{name}' is no program of the module")))?;
        let info = ProgramInfo::read(callee).map_err(|message| callee.error(message))?;
        *added += info.block.body.op_count();
        if *added > MOST_OPS {
            let error = view.error(format!("programs that run others have more than {MOST_OPS} ops together"));
            return Err(error.help("run them in a loop"));
        }
        if nesting(view) + deepest(cx, info.block.body) > MOST_NESTED {
            let error = view.error(format!("makes more than {MOST_NESTED} conditions and loops lie in each other"));
            return Err(error.help("write some of them one after another"));
        }
        let own = decided_symbols(&info, &mut facts).map_err(|message| view.error(message))?;
        let sizes = Sizes::of(InvokeOp::from_ref(view), &info, &facts, &own)?;
        for (name, size) in told_by(cx, body, op, header, (&info, &sizes))? {
            replace(cx, body, &name, &size).map_err(|message| OpRef::new(cx, body, op).error(message))?;
            inlined.replaced.insert(name);
        }
        splice(cx, body, op, &info, &sizes, &mut hoisted)?;
        inlined.decided.extend(own.into_iter().map(|(_, symbol)| symbol));
    }
    Ok(inlined)
}

/// The most conditions and loops of a body that lie in each other.
fn deepest(cx: &Context, body: &Body) -> usize {
    body.preorder().map(|op| nesting(OpRef::new(cx, body, op))).max().unwrap_or(0)
}

/// The symbols that data decide in a program, with symbols of the caller that stand for them at one invocation, which are defined in
/// what it knows.
fn decided_symbols(callee: &ProgramInfo<'_>, caller: &mut Facts) -> Result<Vec<(String, Symbol)>, String> {
    if callee.decisions.is_empty() {
        return Ok(Vec::new());
    }
    let phases = Solution::of(callee).map_err(|error| error.to_string())?.phases;
    let mut decided = Vec::new();
    for (_, symbol) in callee.symbols.iter().enumerate().filter(|(index, _)| !phases.is_told(*index)) {
        let numbered = (1..).map(|n| if n == 1 { symbol.name.clone() } else { format!("{}_{n}", symbol.name) });
        let name = numbered.into_iter().find(|name| !caller.is_defined(name)).expect("there are more names");
        caller.define(&name, symbol.info.clone());
        decided.push((symbol.name.clone(), Symbol { name, info: symbol.info.clone() }));
    }
    Ok(decided)
}

/// The symbols of sizes that an invocation decides, and the sizes that they are once the program stands in its place.
fn told_by(
    cx: &Context,
    body: &Body,
    invoke: Op,
    header: OpRef<'_>,
    (callee, sizes): (&ProgramInfo<'_>, &Sizes<'_>),
) -> Result<Vec<(String, Poly)>, Diagnostic> {
    let op = OpRef::new(cx, body, invoke);
    let this = InvokeOp::from_ref(op);
    let Some(most) = this.most() else { return Ok(Vec::new()) };
    let args = body.entry_block().into_iter().flat_map(|block| body.block_args(block));
    let args: Vec<&BufferType> =
        args.take(inputs_of(header)).filter_map(|arg| BufferType::of(cx, body.ty(*arg))).collect();
    let checks = ProgramInfo::constraints_of(header).map_err(|message| header.error(message))?;
    let types = this.outputs().filter_map(|value| BufferType::of(cx, op.ty(value)));
    let given = types.flat_map(|ty| ty.dims.iter().cloned()).zip(most);
    let mut told: Vec<(String, Poly)> = Vec::new();
    for ((given, most), wanted) in given.zip(callee.outputs.iter().flat_map(|port| &port.ty.dims)) {
        let Some(name) = given.as_symbol().filter(|_| given != most) else { continue };
        if told.iter().any(|(known, _)| known == name) {
            continue;
        }
        let elsewhere = args.iter().any(|ty| ty.dims.iter().any(|size| size.mentions(name)))
            || checks.iter().any(|check| check.left.mentions(name) || check.right.mentions(name));
        let size = sizes.size(wanted).map_err(|message| op.error(message))?;
        if elsewhere || size.mentions(name) {
            return Err(op.error(format!("decides the size {name}, which is known before")));
        }
        told.push((name.to_owned(), size));
    }
    Ok(told)
}

fn inputs_of(header: OpRef<'_>) -> usize {
    header.cx.array(ProgramOp::from_ref(header).input_names_attr()).map_or(0, <[_]>::len)
}

/// Puts a size in the place of a symbol in all of a program.
fn replace(cx: &Context, body: &mut Body, name: &str, size: &Poly) -> Result<(), String> {
    let ops: Vec<Op> = body.preorder().collect();
    let mut rw = Rewriter::new(cx, body);
    let mut exchanged = |old: &Poly| {
        if !old.mentions(name) {
            return Ok(old.clone());
        }
        let new = old.substitute(&|symbol| (symbol == name).then(|| size.clone()));
        if new.excess().is_some() { Err(format!("the size {} gets too large", old.brief())) } else { Ok(new) }
    };
    ops.into_iter().try_for_each(|op| map_op(&mut rw, op, &mut exchanged))
}

/// What the symbols of a program whose body is elsewhere are known to be.
fn facts_of(header: OpRef<'_>) -> Result<Facts, Diagnostic> {
    ProgramOp::from_ref(header).facts().map_err(|message| header.error(message))
}

/// How sizes of a program become those of the one that runs it.
struct Sizes<'f> {
    /// What the program knows of its own.
    own: Facts,
    caller: &'f Facts,
    instance: Instance,
}

impl<'f> Sizes<'f> {
    fn of(
        invoke: InvokeOp<'_>,
        callee: &ProgramInfo<'_>,
        caller: &'f Facts,
        decided: &[(String, Symbol)],
    ) -> Result<Self, Diagnostic> {
        let op = invoke.op_ref();
        let own = callee.facts().map_err(|e| op.error(e))?;
        let types: Vec<&BufferType> =
            invoke.inputs().map(|v| BufferType::of(op.cx, op.ty(v)).expect("the declaration says a buffer")).collect();
        let formal: Vec<Poly> =
            callee.inputs.iter().flat_map(|port| port.ty.dims.iter().map(|size| own.canonical(size))).collect();
        let actual = types.iter().flat_map(|ty| &ty.dims);
        let mut instance = Instance::of(&formal.iter().zip(actual).collect::<Vec<_>>(), &[]);
        for (name, symbol) in decided {
            instance.define(name, Poly::symbol(&symbol.name));
        }
        let sizes = Self { own, caller, instance };
        sizes.check(op, callee, decided)?;
        Ok(sizes)
    }

    fn size(&self, size: &Poly) -> Result<Poly, String> {
        let own = self.own.canonical(size);
        let found = self.instance.size(&own).filter(|size| size.excess().is_none());
        found.ok_or_else(|| format!("the sizes of its inputs do not tell the size {}", size.brief()))
    }

    /// What the program needs of its symbols beyond what its inputs say must be known here.
    fn check(&self, op: OpRef<'_>, callee: &ProgramInfo<'_>, decided: &[(String, Symbol)]) -> Result<(), Diagnostic> {
        let failed = |what: String| {
            let error = op.error(format!("runs '@{}' where nothing guarantees that {what}", callee.name));
            error.help("state it of the sizes of the caller, or run the program outside conditions and loops")
        };
        let broken = |message: String| op.error(format!("cannot run '@{}': {message}", callee.name));
        for constraint in &callee.constraints {
            let (left, right) = (self.size(&constraint.left), self.size(&constraint.right));
            let (left, right) = (left.map_err(broken)?, right.map_err(broken)?);
            let holds = match constraint.kind {
                ConstraintKind::AtLeast => self.caller.prove_non_negative(&left.sub(&right)),
                ConstraintKind::Equal | ConstraintKind::Compatible => self.caller.prove_equal(&left, &right),
            };
            if !holds {
                let relation = if constraint.kind == ConstraintKind::AtLeast { "at least" } else { "equal to" };
                return Err(failed(format!("{} is {relation} {}", left.brief(), right.brief())));
            }
        }
        // What data decide is looked at when they have.
        let told = |symbol: &&Symbol| !decided.iter().any(|(name, _)| *name == symbol.name);
        for symbol in callee.symbols.iter().filter(told) {
            let (name, info) = (&symbol.name, &symbol.info);
            let Ok(value) = self.size(&Poly::symbol(name)) else { continue };
            let low = info.min <= 0 || self.caller.prove_non_negative(&value.sub(&info.min.into()));
            let high = info.max >= MAX_DIM || self.caller.prove_non_negative(&Poly::constant(info.max).sub(&value));
            if !(low && high) {
                return Err(failed(format!("'{name}' = {} is in [{}, {}]", value.brief(), info.min, info.max)));
            }
            if !self.caller.divisible(&value, info.div) {
                return Err(failed(format!("'{name}' = {} is a multiple of {}", value.brief(), info.div)));
            }
        }
        Ok(())
    }
}

/// Puts a copy of the body of `callee` in the place of `invoke`. `hoisted` has the constants that were put at the entry.
fn splice(
    cx: &Context,
    body: &mut Body,
    invoke: Op,
    callee: &ProgramInfo<'_>,
    sizes: &Sizes<'_>,
    hoisted: &mut FxHashMap<String, Value>,
) -> Result<(), Diagnostic> {
    let in_loop = in_loop(cx, body, invoke);
    let args = arguments(cx, body, invoke, callee, sizes)?;
    let block = body.op_block(invoke).expect("it stands in a block");
    let into = body.block_region(block).expect("the block is in a region");
    let last = body.region_last(into).expect("it holds the invocation");
    let entry = body.entry_block().expect("a program has a block");
    let from = callee.op.region(0).expect("it has a body");
    // Of each temporary, in order, whether nothing is left in it for a later run of the program, or iteration in it.
    let allocs = callee.block.ops().filter(|op| op.is::<AllocOp<'_>>());
    let mut anew = allocs.map(|op| in_loop && !used_in_loop(op)).collect::<Vec<_>>().into_iter();
    let mut rw = Rewriter::new(cx, body);
    let cloned = IrMapping::new().clone_region(cx, from.body, from.region, &mut rw, into);
    cloned.expect("a program uses nothing from outside");
    let copy = rw.body().next_block(last).expect("copied just now");
    let ops: Vec<Op> = block_ops(rw.body(), copy);
    for op in ops {
        instantiate(&mut rw, op, sizes).map_err(|message| rw.op_ref(invoke).error(message))?;
        let view = rw.op_ref(op);
        if view.is::<ReturnOp<'_>>() {
            rw.erase_op(op);
        } else if view.is::<SizeListOp<'_>>() {
            to_entry(&mut rw, entry, op);
        } else if let Some(alloc) = view.as_::<AllocOp<'_>>() {
            let anew = anew.next().unwrap_or(false) || alloc.each_iteration();
            rw.set_prop(op, "each_iteration", anew.then_some(Attr::UNIT));
            // What a plan said is of another workspace.
            rw.set_operands(op, &[]);
            to_entry(&mut rw, entry, op);
        } else if let Some(constant) = view.as_::<ConstantOp<'_>>() {
            let name = format!("{}.{}", callee.name, constant.name());
            match hoisted.get(&name) {
                Some(known) => rw.replace_op(op, &[*known]),
                None => {
                    hoisted.insert(name.clone(), constant.buffer());
                    rw.set_prop(op, "name", Some(cx.string_attr(&name)));
                    to_entry(&mut rw, entry, op);
                }
            }
        }
    }
    rw.inline_block_before(copy, invoke, &args);
    rw.erase_op(invoke);
    Ok(())
}

/// The ops of a block and of the regions in it.
fn block_ops(body: &Body, block: Block) -> Vec<Op> {
    let direct: Vec<Op> = body.ops(block).collect();
    let inside = direct.iter().flat_map(|op| body.preorder_in(*op).collect::<Vec<_>>());
    let mut all: Vec<Op> = direct.iter().copied().chain(inside).collect();
    let mut seen = FxHashSet::default();
    all.retain(|op| seen.insert(*op));
    all
}

fn to_entry(rw: &mut Rewriter<'_>, entry: Block, op: Op) {
    if let Some(first) = rw.body().first_op(entry).filter(|first| *first != op) {
        rw.move_before(op, first);
    }
}

fn in_loop(cx: &Context, body: &Body, op: Op) -> bool {
    std::iter::successors(OpRef::new(cx, body, op).parent(), |op| op.parent()).any(|op| op.is::<WhileOp<'_>>())
}

/// Whether a loop of the program itself uses a temporary, through views too: then it may hold what one iteration leaves the
/// next.
fn used_in_loop(alloc: OpRef<'_>) -> bool {
    let mut open = vec![alloc.result(0)];
    while let Some(value) = open.pop() {
        for user in alloc.body.uses(value).map(|u| u.owner) {
            if in_loop(alloc.cx, alloc.body, user) || alloc.at(user).is::<WhileOp<'_>>() {
                return true;
            }
            if alloc.at(user).is::<ViewOp<'_>>() {
                open.push(alloc.at(user).result(0));
            }
        }
    }
    false
}

/// Sizes of an op become the caller's, in the types of its results and in what it mentions.
fn instantiate(rw: &mut Rewriter<'_>, op: Op, sizes: &Sizes<'_>) -> Result<(), String> {
    map_op(rw, op, &mut |size| sizes.size(size))
}

/// Other sizes in the types of an op's results and in what it mentions.
fn map_op(rw: &mut Rewriter<'_>, op: Op, to: &mut dyn FnMut(&Poly) -> Result<Poly, String>) -> Result<(), String> {
    let cx = rw.cx();
    let results: Vec<Value> = rw.body().results(op).collect();
    for value in results {
        let Some(ty) = BufferType::of(cx, rw.body().ty(value)) else { continue };
        let dims = ty.dims.iter().map(&mut *to).collect::<Result<Vec<_>, _>>()?;
        if dims != ty.dims {
            let ty = cx.ext_type(BufferType::new(ty.elem, dims));
            rw.set_type(value, ty);
        }
    }
    let props: Vec<_> = cx.entries(rw.body().props(op)).to_vec();
    for prop in props {
        let value = map_sizes(cx, prop.value, &mut |size: &Poly| to(size))?;
        if value != prop.value {
            rw.set_prop(op, cx.str(prop.name), Some(value));
        }
    }
    Ok(())
}

/// The buffers that the program gets, as it sees them: where sizes are not known to be the same they are compared.
fn arguments(
    cx: &Context,
    body: &mut Body,
    invoke: Op,
    callee: &ProgramInfo<'_>,
    sizes: &Sizes<'_>,
) -> Result<Vec<Value>, Diagnostic> {
    let view = InvokeOp::from_ref(OpRef::new(cx, body, invoke));
    let (inputs, outputs): (Vec<Value>, Vec<Value>) = (view.inputs().collect(), view.outputs().collect());
    let loc = body.loc(invoke);
    let mut rw = Rewriter::new(cx, body);
    rw.set_before(invoke);
    let mut args = Vec::new();
    let given = inputs.iter().zip(&callee.inputs).map(|pair| (pair, true));
    for ((value, port), input) in given.chain(outputs.iter().zip(&callee.outputs).map(|pair| (pair, false))) {
        let dims = port.ty.dims.iter().map(|size| sizes.size(size)).collect::<Result<Vec<_>, _>>();
        let dims = dims.map_err(|message| rw.op_ref(invoke).error(message))?;
        let found = BufferType::of(cx, rw.body().ty(*value)).expect("the declaration says a buffer").clone();
        if found.dims == dims {
            args.push(*value);
            continue;
        }
        let same = found.dims.iter().zip(&dims).all(|(a, b)| sizes.caller.prove_equal(a, b));
        if !same && !input {
            let wanted = type_text(cx, cx.ext_type(BufferType::new(found.elem, dims)));
            let message = format!("gives a buffer for output '{}' that is not known to be a {wanted}", port.name);
            return Err(rw.op_ref(invoke).error(message));
        }
        let words = (!same).then(|| words(callee, port));
        let ty = cx.ext_type(BufferType::new(found.elem, dims));
        args.push(ViewOp::value(&mut rw, loc, *value, words.as_deref(), false, ty));
    }
    Ok(args)
}

fn words(callee: &ProgramInfo<'_>, port: &Port) -> String {
    format!("input `{}` of `{}`", port.name, callee.name)
}
