//! `fold-launches`: launches whose inputs are all constants run at compile time, in the interpreter.
//!
//! This is how weights get packed: the kernel that packs them is an ordinary kernel, and when what it packs is constant
//! its result is a constant of the artifact. What would grow beyond what `policy.rs` allows is left to run time.

mod policy;

use std::collections::{BTreeSet, HashMap, HashSet};

use bytes::Bytes;
use indexmap::IndexSet;
use policy::Budget;
use sutura_dialects::gir::interp::{InPlace, run_kernel_in_place};
use sutura_dialects::gir::kernel::{KernelInfo, Mode};
use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::rt::{
    AllocOp, BufferType, CallOp, ConstantOp, CopyOp, ExpectOp, LaunchOp, PackedOp, ProgramOp, ViewOp,
};
use sutura_dialects::target::machine_in;
use sutura_interp::DType;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Attr, AttrData, Body, Context, Loc, Op, OpRef, OpView, Rewriter, Room, Value};

/// `fold-launches`
pub static FOLD_LAUNCHES: PassInfo = PassInfo {
    name: "FoldLaunches",
    argument: "fold-launches",
    summary: "Run launches whose inputs are all constants at compile time",
    description: "An `rt.launch` of a `gir.kernel` that reads only constants, with constant sizes, and writes temporaries \
                  that nothing else writes, is run by the interpreter; the temporaries become constants. Launches whose \
                  results are much larger than the constants that they read, or that compute much, stay. Constants that \
                  nothing uses any more, and kernels that only such launches used, are removed.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-folded", description: "launches run" },
        StatisticInfo { name: "num-bytes", description: "bytes of new constants" },
    ],
    create,
};

struct FoldLaunches;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(FoldLaunches))
}

/// A launch that can be run now.
struct Candidate {
    launch: Op,
    kernel: Op,
    dims: Vec<i64>,
    args: Vec<Arg>,
}

/// What a launch does with a buffer.
enum Arg {
    /// Reads these elements.
    Constant(Attr),
    /// Writes this temporary.
    Temporary(Op),
}

impl Arg {
    fn temporary(&self) -> Option<Op> {
        match self {
            Self::Constant(_) => None,
            Self::Temporary(alloc) => Some(*alloc),
        }
    }
}

impl Pass for FoldLaunches {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let programs: Vec<Op> =
            run.body.preorder().filter(|op| OpRef::new(cx, run.body, *op).is::<ProgramOp>()).collect();
        let kernels = Kernels::beside(cx, run.body);
        let machine = machine_in(cx, run.body).map(|machine| machine.map(|op| op.op));
        let machine = machine.map_err(|message| run.diags.error(run.header.loc, message))?;
        let (mut folded, mut removed) = (IndexSet::new(), false);
        for program in programs {
            let view = OpRef::new(cx, run.body, program);
            let mut at = Place { program, machine, budget: Budget::of(view), names: Names::of(view) };
            let mut left = Vec::new();
            // What one launch makes constant those behind it may read.
            for launch in launches(view) {
                let program = OpRef::new(cx, run.body, program);
                let launch = OpRef::new(cx, program.inside(), launch).as_::<LaunchOp>().expect("it is a launch");
                let found = candidate(&kernels, launch);
                match found.and_then(|found| Ok((at.budget.allows(program, machine, &found).map_err(Some)?, found))) {
                    Ok((share, candidate)) => {
                        folded.insert(candidate.kernel);
                        let bytes = fold(run, &mut at, &candidate)?;
                        at.budget.spend(share, bytes);
                    }
                    Err(Some(why)) => left.push((launch.op_ref().loc(), left_over(launch, &why))),
                    Err(None) => {}
                }
            }
            left.extend(in_versions(&kernels, OpRef::new(cx, run.body, program)));
            left.into_iter().for_each(|(loc, remark)| run.missed(loc, remark));
            removed |= remove_unused_constants(cx, run.body.nested_mut(program).expect("a program is isolated"));
        }
        remove_unused(cx, run.body, &folded);
        Ok(PreservedAnalyses::unless(removed || !folded.is_empty()))
    }
}

/// What the work on one program needs.
struct Place {
    program: Op,
    machine: Option<Op>,
    budget: Budget,
    names: Names,
}

/// Kernels beside the programs, by name.
struct Kernels {
    infos: HashMap<String, Kernel>,
}

/// What of a kernel is looked at often.
struct Kernel {
    op: Op,
    modes: Vec<Mode>,
}

impl Kernels {
    fn beside(cx: &Context, module: &Body) -> Self {
        let ops = module.entry_block().into_iter().flat_map(|block| module.ops(block));
        let ops = ops.map(|op| OpRef::new(cx, module, op)).filter(|op| op.is::<KernelOp>());
        let info = |op: OpRef<'_>| {
            let modes = KernelInfo::read(op).ok()?.views.iter().map(|(_, _, mode)| *mode).collect();
            Some(Kernel { op: op.op, modes })
        };
        let infos = ops.filter_map(|op| Some((op.symbol_name()?.to_owned(), info(op)?)));
        Self { infos: infos.collect() }
    }

    fn called(&self, callee: &str) -> Option<&Kernel> {
        self.infos.get(callee)
    }
}

/// Launches of the program that are made at every run, in order.
fn launches(program: OpRef<'_>) -> Vec<Op> {
    let entry = program.region(0).and_then(|region| region.entry());
    let ops = entry.into_iter().flat_map(|entry| entry.ops()).flat_map(|op| match op.as_::<PackedOp>() {
        Some(packed) => packed.launches().entry().into_iter().flat_map(|block| block.ops()).collect(),
        None => vec![op],
    });
    ops.filter(|op| op.is::<LaunchOp>()).map(|op| op.op).collect()
}

/// Says that a launch reads only constants and yet remains, with the reason.
fn left_over(launch: LaunchOp<'_>, why: &str) -> String {
    format!("the launch of @{} reads only constants, but runs at run time: {why}", launch.callee())
}

/// The same of launches in versions.
fn in_versions(kernels: &Kernels, program: OpRef<'_>) -> Vec<(Loc, String)> {
    let mut remarks = Vec::new();
    let at_every_run: HashSet<Op> = launches(program).into_iter().collect();
    program.walk(&mut |op| {
        let Some(launch) = op.as_::<LaunchOp>().filter(|_| !at_every_run.contains(&op.op)) else { return };
        let why = match candidate(kernels, launch) {
            Err(Some(why)) => why,
            Ok(_) => "it stands in a version that is chosen at run time".to_owned(),
            Err(None) => return,
        };
        remarks.push((op.loc(), left_over(launch, &why)));
    });
    remarks
}

/// What running the launch takes.
///
/// # Errors
/// Why it cannot be run, unless that is because it reads what is not constant.
fn candidate(kernels: &Kernels, launch: LaunchOp<'_>) -> Result<Candidate, Option<String>> {
    let op = launch.op_ref();
    let kernel = kernels.called(launch.callee()).ok_or(None)?;
    let args: Vec<(Option<OpRef<'_>>, Mode)> =
        launch.buffers().map(|buffer| behind_views(op, buffer)).zip(kernel.modes.iter().copied()).collect();
    if args.iter().any(|(source, mode)| *mode != Mode::Out && !source.is_some_and(|s| s.is::<ConstantOp>())) {
        return Err(None);
    }
    let args = args.into_iter().map(|(source, mode)| argument(kernels, op, source, mode));
    let args = args.collect::<Result<_, _>>().map_err(|why| Some(why.to_owned()))?;
    let dims: Option<Vec<i64>> = launch.dims().iter().map(|d| d.as_const()).collect();
    let dims = dims.ok_or_else(|| Some("its sizes are not constant".to_owned()))?;
    Ok(Candidate { launch: op.op, kernel: kernel.op, dims, args })
}

fn argument(kernels: &Kernels, launch: OpRef<'_>, source: Option<OpRef<'_>>, mode: Mode) -> Result<Arg, &'static str> {
    if let Some(constant) = source.and_then(|s| s.as_::<ConstantOp>()) {
        return if mode == Mode::In { Ok(Arg::Constant(constant.elements())) } else { Err("it changes a constant") };
    }
    let alloc = source.and_then(|s| s.as_::<AllocOp>()).ok_or("it writes an output of the program")?;
    let op = alloc.op_ref();
    let size = BufferType::of(op.cx, op.ty(alloc.buffer())).and_then(|ty| ty.elements().as_const());
    size.ok_or("the size of what it writes is not constant")?;
    if writers(kernels, op, alloc.buffer()) != [launch.op] {
        return Err("what it writes is written elsewhere too, or has its place in a workspace");
    }
    Ok(Arg::Temporary(op.op))
}

/// What makes a buffer, reshapes left out.
fn behind_views<'a>(op: OpRef<'a>, buffer: Value) -> Option<OpRef<'a>> {
    let mut def = op.at(op.body.defining_op(buffer)?);
    while let Some(view) = def.as_::<ViewOp>() {
        def = op.at(op.body.defining_op(view.buffer())?);
    }
    Some(def)
}

/// Every op, other than reshapes, that may write the buffer, in the order of its uses.
fn writers(kernels: &Kernels, alloc: OpRef<'_>, buffer: Value) -> Vec<Op> {
    let (mut writers, mut pending) = (Vec::new(), vec![buffer]);
    while let Some(value) = pending.pop() {
        for user in alloc.body.uses(value) {
            let op = alloc.at(user.owner);
            if let Some(view) = op.as_::<ViewOp>() {
                pending.push(view.result());
            } else if !only_reads(kernels, op, user.index) && !writers.contains(&user.owner) {
                writers.push(user.owner);
            }
        }
    }
    writers
}

/// True for a copy of this operand, and for a launch or a call of a routine that takes it as input.
fn only_reads(kernels: &Kernels, op: OpRef<'_>, operand: usize) -> bool {
    if op.is::<CopyOp>() {
        return operand == 0;
    }
    if op.is::<ExpectOp>() {
        return true;
    }
    if let Some(call) = op.as_::<CallOp>() {
        return operand < call.inputs().count();
    }
    let kernel = op.as_::<LaunchOp>().and_then(|launch| kernels.called(launch.callee()));
    kernel.is_some_and(|kernel| kernel.modes.get(operand) == Some(&Mode::In))
}

/// Puts constants in the place of a launch; returns their bytes.
fn fold(run: &mut PassRun<'_>, at: &mut Place, candidate: &Candidate) -> Result<u64, PassError> {
    let cx = run.cx;
    let kernel = OpRef::new(cx, run.body, candidate.kernel);
    let inside = run.body.nested(at.program).expect("a program is isolated");
    let loc = inside.loc(candidate.launch);
    let machine = at.machine.map(|op| OpRef::new(cx, run.body, op));
    let made = run_kernel(kernel, machine, inside, candidate).map_err(|message| {
        let name = kernel.symbol_name().unwrap_or_default();
        run.diags.report(Diagnostic::error(loc, format!("cannot run @{name} at compile time: {message}")))
    })?;
    let name = kernel.symbol_name().unwrap_or_default().to_owned();
    let mut bytes = 0;
    let mut rewriter = Rewriter::new(cx, run.body.nested_mut(at.program).expect("a program is isolated"));
    erase_launch(&mut rewriter, candidate.launch);
    for Made { alloc, elements } in made {
        bytes += elements.len() as u64;
        replace_alloc(&mut rewriter, alloc, elements, &mut at.names);
    }
    run.passed(loc, format!("@{name} was run: {bytes} bytes are constant now"));
    run.count("num-folded", 1);
    run.count("num-bytes", bytes);
    Ok(bytes)
}

/// Erases a launch, and with the last one of an `rt.packed` that too.
fn erase_launch(rewriter: &mut Rewriter<'_>, launch: Op) {
    let around = rewriter.body().parent_op(launch);
    rewriter.erase_op(launch);
    let Some(packed) = around.map(|op| rewriter.op_ref(op)).and_then(|op| op.as_::<PackedOp>()) else { return };
    if packed.launches().entry().is_none_or(|block| block.ops().next().is_none()) {
        let op = packed.op_ref().op;
        rewriter.erase_op(op);
    }
}

/// A temporary with the elements that a launch gave it.
struct Made {
    alloc: Op,
    elements: Bytes,
}

/// Runs the kernel where its constants lie; what it writes is neither in lanes nor copied, as weights may be larger than memory.
///
/// # Errors
/// Why it cannot be run.
fn run_kernel(
    kernel: OpRef<'_>,
    machine: Option<OpRef<'_>>,
    program: &Body,
    candidate: &Candidate,
) -> Result<Vec<Made>, String> {
    let cx = kernel.cx;
    let mut rooms: Vec<(Op, DType, Box<dyn Room>)> = Vec::new();
    for alloc in candidate.args.iter().filter_map(|arg| arg.temporary()) {
        let ty = buffer_type(cx, program, alloc);
        let dtype = DType::of(cx, ty.elem).ok_or(NOT_INTERPRETED)?;
        let elements = ty.elements().as_const().and_then(|n| usize::try_from(n).ok());
        // What the kernel leaves undefined is never read, so zero will do.
        let bytes = elements.and_then(|n| n.checked_mul(dtype.bytes())).ok_or("a temporary has no constant size")?;
        rooms.push((alloc, dtype, cx.room(bytes)));
    }
    let mut left = rooms.iter_mut();
    let given = candidate.args.iter().map(|arg| match arg {
        Arg::Constant(attr) => constant(cx, *attr),
        Arg::Temporary(_) => {
            let (_, dtype, room) = left.next().expect("there is one for each");
            Ok(InPlace::Room { dtype: *dtype, bytes: (**room).as_mut() })
        }
    });
    let given = given.collect::<Result<Vec<_>, String>>()?;
    run_kernel_in_place(kernel, machine, given, &candidate.dims).map_err(|error| error.to_string())?;
    Ok(rooms.into_iter().map(|(alloc, _, room)| Made { alloc, elements: room.keep() }).collect())
}

const NOT_INTERPRETED: &str = "its elements are of a type that is not interpreted";

fn constant(cx: &Context, attr: Attr) -> Result<InPlace<'_>, String> {
    let AttrData::Dense { ty, data, .. } = cx.attr_data(attr) else {
        let fault = sutura_interp::constant::constant(cx, attr).err();
        return Err(fault.map_or_else(|| NOT_INTERPRETED.to_owned(), |fault| fault.to_string()));
    };
    let dtype = DType::of(cx, cx.element_type(ty)).ok_or(NOT_INTERPRETED)?;
    let len = cx.num_elements(ty).ok_or("a constant has no constant size")?;
    Ok(InPlace::Constant { dtype, bytes: cx.bytes(data), len })
}

fn buffer_type<'a>(cx: &'a Context, program: &Body, alloc: Op) -> &'a BufferType {
    BufferType::of(cx, program.ty(program.result(alloc, 0))).expect("the declaration says a buffer")
}

/// Puts a constant in an allocation's place.
fn replace_alloc(rw: &mut Rewriter<'_>, alloc: Op, elements: Bytes, names: &mut Names) {
    let cx = rw.cx();
    let ty = buffer_type(cx, rw.body(), alloc);
    let shape: Vec<i64> = ty.dims.iter().map(|d| d.as_const().expect("its product is constant")).collect();
    let tensor = cx.tensor_type(&shape, ty.elem, None);
    let value = cx.dense_of_bytes(tensor, elements).expect("the bytes of its elements");
    let name = names.another();
    let loc = rw.body().loc(alloc);
    rw.set_before(alloc);
    let constant = ConstantOp::value(rw, loc, &name, value);
    rw.replace_op(alloc, &[constant]);
}

/// Names for new constants of a program.
struct Names {
    taken: BTreeSet<String>,
    next: u64,
}

impl Names {
    fn of(program: OpRef<'_>) -> Self {
        let mut taken = BTreeSet::new();
        program.walk(&mut |op| taken.extend(op.as_::<ConstantOp>().map(|constant| constant.name().to_owned())));
        Self { taken, next: 0 }
    }

    /// A name that no constant of the program has.
    fn another(&mut self) -> String {
        loop {
            let name = format!("folded.{}", self.next);
            self.next += 1;
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }
}

/// Erases constants that nothing uses, and views of them that nothing uses; true when there was one.
fn remove_unused_constants(cx: &Context, program: &mut Body) -> bool {
    let mut removed = false;
    let ops: Vec<Op> = program.preorder().collect();
    let mut rewriter = Rewriter::new(cx, program);
    for op in ops.into_iter().rev() {
        let view = rewriter.op_ref(op);
        if (view.is::<ConstantOp>() || view.is::<ViewOp>()) && view.body.is_unused(view.result(0)) {
            rewriter.erase_op(op);
            removed = true;
        }
    }
    removed
}

/// Erases those of some kernels that no launch of the module names any more.
fn remove_unused(cx: &Context, module: &mut Body, kernels: &IndexSet<Op>) {
    if kernels.is_empty() {
        return;
    }
    let mut used: BTreeSet<String> = BTreeSet::new();
    for op in module.preorder() {
        OpRef::new(cx, module, op).walk(&mut |op| {
            used.extend(op.as_::<LaunchOp>().map(|launch| launch.callee().to_owned()));
        });
    }
    for kernel in kernels {
        let name = OpRef::new(cx, module, *kernel).symbol_name();
        if name.is_none_or(|name| !used.contains(name)) {
            Rewriter::new(cx, module).erase_op(*kernel);
        }
    }
}
