//! `fold-launches`: launches whose inputs are all constants run at compile time, in the interpreter.
//!
//! This is how weights get packed: the kernel that packs them is an ordinary kernel, and when what it packs is constant
//! its result is a constant of the artifact.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use sutura_dialects::gir::interp::{Options, run_kernel_op};
use sutura_dialects::gir::kernel::{KernelInfo, Mode};
use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::rt::{AllocOp, BufferType, ConstantOp, CopyOp, ExpectOp, LaunchOp, PackedOp, ProgramOp, ViewOp};
use sutura_dialects::target::machine_in;
use sutura_interp::{Buffer, DType};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Attr, Body, Context, Loc, Op, OpRef, OpView, Rewriter, Value};

/// `fold-launches`
pub static FOLD_LAUNCHES: PassInfo = PassInfo {
    name: "FoldLaunches",
    argument: "fold-launches",
    summary: "Run launches whose inputs are all constants at compile time",
    description: "An `rt.launch` of a `gir.kernel` that reads only constants, with constant sizes, and writes temporaries \
                  that nothing else writes, is run by the interpreter; the temporaries become constants. Constants that \
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

impl Pass for FoldLaunches {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let programs: Vec<Op> =
            run.body.preorder().filter(|op| OpRef::new(cx, run.body, *op).is::<ProgramOp>()).collect();
        let (mut folded, mut removed) = (IndexSet::new(), false);
        for program in programs {
            // What one launch makes constant the next may read, so they are taken one at a time, in order.
            while let Some(candidate) = find(OpRef::new(cx, run.body, program)) {
                folded.insert(candidate.kernel);
                fold(run, program, &candidate)?;
            }
            for (loc, remark) in left_over(OpRef::new(cx, run.body, program)) {
                run.missed(loc, remark);
            }
            removed |= remove_unused_constants(cx, run.body.nested_mut(program).expect("a program is isolated"));
        }
        for kernel in &folded {
            remove_if_unused(cx, run.body, *kernel);
        }
        Ok(PreservedAnalyses::unless(removed || !folded.is_empty()))
    }
}

/// The first launch of the program that can be run.
fn find(program: OpRef<'_>) -> Option<Candidate> {
    let entry = program.region(0)?.entry()?;
    let launches = entry.ops().flat_map(|op| match op.as_::<PackedOp>() {
        Some(packed) => packed.launches().entry().into_iter().flat_map(|block| block.ops()).collect(),
        None => vec![op],
    });
    launches.filter_map(|op| op.as_::<LaunchOp>()).find_map(|launch| candidate(program, launch).ok())
}

/// Launches that read only constants and yet remain, with the reason.
fn left_over(program: OpRef<'_>) -> Vec<(Loc, String)> {
    let mut remarks = Vec::new();
    program.walk(&mut |op| {
        let Some(launch) = op.as_::<LaunchOp>() else { return };
        let why = match candidate(program, launch) {
            Err(Some(why)) => why,
            // Those outside versions have been run.
            Ok(_) => "it stands in a version that is chosen at run time",
            Err(None) => return,
        };
        let message = format!("the launch of @{} reads only constants, but runs at run time: {why}", launch.callee());
        remarks.push((op.loc(), message));
    });
    remarks
}

/// What running the launch takes.
///
/// # Errors
/// Why it cannot be run, unless that is because it reads what is not constant.
fn candidate(program: OpRef<'_>, launch: LaunchOp<'_>) -> Result<Candidate, Option<&'static str>> {
    let op = launch.op_ref();
    let kernel = kernel_called(program, launch.callee()).ok_or(None)?;
    let info = KernelInfo::read(kernel).map_err(|_| None)?;
    let modes = info.views.iter().map(|(_, _, mode)| *mode);
    let args: Vec<(Option<OpRef<'_>>, Mode)> =
        launch.buffers().map(|buffer| behind_views(op, buffer)).zip(modes).collect();
    if args.iter().any(|(source, mode)| *mode != Mode::Out && !source.is_some_and(|s| s.is::<ConstantOp>())) {
        return Err(None);
    }
    let args = args.into_iter().map(|(source, mode)| argument(program, op, source, mode)).collect::<Result<_, _>>()?;
    let dims: Option<Vec<i64>> = launch.dims().iter().map(|d| d.as_const()).collect();
    Ok(Candidate { launch: op.op, kernel: kernel.op, dims: dims.ok_or(Some("its sizes are not constant"))?, args })
}

fn argument(
    program: OpRef<'_>,
    launch: OpRef<'_>,
    source: Option<OpRef<'_>>,
    mode: Mode,
) -> Result<Arg, Option<&'static str>> {
    if let Some(constant) = source.and_then(|s| s.as_::<ConstantOp>()) {
        return if mode == Mode::In {
            Ok(Arg::Constant(constant.elements()))
        } else {
            Err(Some("it changes a constant"))
        };
    }
    let alloc = source.and_then(|s| s.as_::<AllocOp>()).ok_or(Some("it writes an output of the program"))?;
    let op = alloc.op_ref();
    let size = BufferType::of(op.cx, op.ty(alloc.buffer())).and_then(|ty| ty.elements().as_const());
    size.ok_or(Some("the size of what it writes is not constant"))?;
    if writers(program, op, alloc.buffer()) != [launch.op] {
        return Err(Some("what it writes is written elsewhere too, or has its place in a workspace"));
    }
    Ok(Arg::Temporary(op.op))
}

/// The kernel of this name beside the program.
fn kernel_called<'a>(program: OpRef<'a>, callee: &str) -> Option<OpRef<'a>> {
    let block = program.body.op_block(program.op)?;
    let found = program.body.ops(block).map(|op| program.at(op)).find(|op| op.symbol_name() == Some(callee))?;
    found.is::<KernelOp>().then_some(found)
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
fn writers(program: OpRef<'_>, alloc: OpRef<'_>, buffer: Value) -> Vec<Op> {
    let (mut writers, mut pending) = (Vec::new(), vec![buffer]);
    while let Some(value) = pending.pop() {
        for user in alloc.body.uses(value) {
            let op = alloc.at(user.owner);
            if let Some(view) = op.as_::<ViewOp>() {
                pending.push(view.result());
            } else if !only_reads(program, op, user.index) && !writers.contains(&user.owner) {
                writers.push(user.owner);
            }
        }
    }
    writers
}

/// True for a copy of this operand, and for a launch that takes it as input.
fn only_reads(program: OpRef<'_>, op: OpRef<'_>, operand: usize) -> bool {
    if op.is::<CopyOp>() {
        return operand == 0;
    }
    if op.is::<ExpectOp>() {
        return true;
    }
    let kernel = op.as_::<LaunchOp>().and_then(|launch| kernel_called(program, launch.callee()));
    let info = kernel.and_then(|kernel| KernelInfo::read(kernel).ok());
    info.is_some_and(|info| info.views.get(operand).is_some_and(|(_, _, mode)| *mode == Mode::In))
}

fn fold(run: &mut PassRun<'_>, program: Op, candidate: &Candidate) -> Result<(), PassError> {
    let cx = run.cx;
    let kernel = OpRef::new(cx, run.body, candidate.kernel);
    let inside = run.body.nested(program).expect("a program is isolated");
    let loc = inside.loc(candidate.launch);
    let buffers: Result<Vec<Buffer>, String> = candidate.args.iter().map(|arg| buffer_of(cx, inside, arg)).collect();
    let result = buffers.and_then(|mut buffers| {
        let machine = machine_in(cx, run.body)?;
        run_kernel_op(kernel, machine, &mut buffers, &candidate.dims, &Options::default())
            .map(|_| buffers)
            .map_err(|error| error.to_string())
    });
    let buffers = match result {
        Ok(buffers) => buffers,
        Err(message) => {
            let name = kernel.symbol_name().unwrap_or_default();
            let message = format!("cannot run @{name} at compile time: {message}");
            return Err(run.diags.report(Diagnostic::error(loc, message)).into());
        }
    };
    let name = kernel.symbol_name().unwrap_or_default().to_owned();
    let mut bytes = 0;
    let mut rewriter = Rewriter::new(cx, run.body.nested_mut(program).expect("a program is isolated"));
    erase_launch(&mut rewriter, candidate.launch);
    for (buffer, arg) in buffers.iter().zip(&candidate.args) {
        if let Arg::Temporary(alloc) = arg {
            bytes += replace_alloc(&mut rewriter, *alloc, buffer);
        }
    }
    run.passed(loc, format!("@{name} was run: {bytes} bytes are constant now"));
    run.count("num-folded", 1);
    run.count("num-bytes", bytes);
    Ok(())
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

/// The elements that an argument has before the launch.
fn buffer_of(cx: &Context, program: &Body, arg: &Arg) -> Result<Buffer, String> {
    match arg {
        Arg::Constant(value) => {
            let value = sutura_interp::constant::constant(cx, *value).map_err(|fault| fault.to_string())?;
            Ok(value.tensor().map_err(|fault| fault.to_string())?.data().clone())
        }
        Arg::Temporary(alloc) => {
            let ty = buffer_type(cx, program, *alloc);
            let elements = ty.elements().as_const().and_then(|n| usize::try_from(n).ok());
            let dtype = DType::of(cx, ty.elem).ok_or("its elements are of a type that is not interpreted")?;
            Ok(Buffer::undefined(dtype, elements.ok_or("a temporary has no constant size")?))
        }
    }
}

fn buffer_type<'a>(cx: &'a Context, program: &Body, alloc: Op) -> &'a BufferType {
    BufferType::of(cx, program.ty(program.result(alloc, 0))).expect("the declaration says a buffer")
}

/// Puts a constant in an allocation's place; returns its size in bytes.
fn replace_alloc(rw: &mut Rewriter<'_>, alloc: Op, elements: &Buffer) -> u64 {
    let cx = rw.cx();
    let ty = buffer_type(cx, rw.body(), alloc);
    let shape: Vec<i64> = ty.dims.iter().map(|d| d.as_const().expect("its product is constant")).collect();
    // What the kernel left undefined is never read, so any value will do.
    let words: Vec<u64> = (0..elements.len()).map(|i| elements.get(i).map_or(0, |scalar| scalar.bits())).collect();
    let tensor = cx.tensor_type(&shape, ty.elem, None);
    let value = cx.dense_attr(tensor, &words).expect("one word per element");
    let name = unused_name(cx, rw.body());
    let loc = rw.body().loc(alloc);
    rw.set_before(alloc);
    let constant = ConstantOp::value(rw, loc, &name, value);
    rw.replace_op(alloc, &[constant]);
    elements.len() as u64 * ty.element_bytes(cx).unsigned_abs()
}

/// A name that no constant of the program has.
fn unused_name(cx: &Context, program: &Body) -> String {
    let taken: BTreeSet<&str> = program
        .preorder()
        .filter_map(|op| OpRef::new(cx, program, op).as_::<ConstantOp>().map(|constant| constant.name()))
        .collect();
    (0..).map(|n| format!("folded.{n}")).find(|name| !taken.contains(name.as_str())).expect("there are more names")
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

/// Erases a kernel that no launch of the module names any more.
fn remove_if_unused(cx: &Context, module: &mut Body, kernel: Op) {
    let name = OpRef::new(cx, module, kernel).symbol_name();
    let mut used = false;
    for op in module.preorder() {
        OpRef::new(cx, module, op).walk(&mut |op| {
            used |= op.as_::<LaunchOp>().is_some_and(|launch| Some(launch.callee()) == name);
        });
    }
    if !used {
        Rewriter::new(cx, module).erase_op(kernel);
    }
}
