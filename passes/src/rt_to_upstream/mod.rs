//! `convert-rt-to-llvm`: a host program becomes the functions that a model's shared object exports.
//!
//! The interface is that of the runtime, version [`ABI_VERSION`]: `sutura_abi_version`, `sutura_shapes` and `sutura_run`
//! in upstream operations, and the variable `sutura_interface`. What the artifact's manifest says is left on the module, see
//! [`HostInterface`].

mod checker;
mod checks;
mod emit;
mod interface;
mod interface_text;
mod packed;
mod program;
mod run;
mod shapes;
mod sizes;
#[cfg(test)]
mod tests;

use sutura_dialects::gpu::{GPUFuncOp, GPUModuleOp};
use sutura_dialects::rt::{ExpectOp, InvokeOp, ProgramOp, ReadSizesOp};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Body, Builder, Context, Loc, Op, OpRef, OpState, OpView, Rewriter, Type, Value};

use emit::{Emit, ptr_type};
pub use interface::{CheckKind, CheckText, Constant, Function, HOST_ATTR, HostInterface, Kernel, Placed, Tensor};
use packed::Dispatcher;
use program::{Around, Before, Kernels, Program};

/// Version of the runtime's interface that the functions follow.
pub const ABI_VERSION: i64 = 8;

/// The function that solves and checks the sizes of a model.
const SHAPES: &str = "sutura_shapes";
/// The function that runs it.
const RUN: &str = "sutura_run";

/// The same two of a recursive function.
fn function_names(number: usize) -> [String; 2] {
    [SHAPES, RUN].map(|name| format!("{name}_of{number}"))
}

/// The function that tells the outputs' dims after a run in which data have decided sizes.
const OUTPUT_DIMS: &str = "sutura_output_dims";

/// `convert-rt-to-llvm`
pub static CONVERT_RT_TO_LLVM: PassInfo = PassInfo {
    name: "ConvertRtToLlvm",
    argument: "convert-rt-to-llvm",
    summary: "Lower the host program to the functions that the runtime calls",
    description: "The `rt.program` of the module becomes `sutura_abi_version`, `sutura_shapes` and `sutura_run` in \
                  upstream operations, and `sutura_interface`, which says what they were generated for; the kernels that \
                  it launches are functions by then, of the processor or in one `gpu.module`, and its temporaries have \
                  their places (`plan-buffers`). With kernels of a device all buffers are memory of the device. Names, \
                  types, checks and constants are left on the module as the attribute `rt.host`. Private programs are \
                  recursive functions (`inline-programs`): each becomes the like two functions, which are called \
                  with memory of their own from the runtime.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "grain-work",
        kind: OptionKind::Int(1, 1 << 40),
        default: "32768",
        help: "scalar operations that are worth handing to another thread",
    }],
    statistics: &[
        StatisticInfo { name: "num-checks", description: "checks on the dims of the inputs" },
        StatisticInfo { name: "num-kernels", description: "kernels that are launched" },
    ],
    create,
};

struct ConvertRtToLlvm {
    grain_work: i64,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(ConvertRtToLlvm { grain_work: options.int("grain-work") }))
}

impl Pass for ConvertRtToLlvm {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        crate::elided::refuse_elided(run)?;
        if let Some(error) = not_on_a_device(run.cx, run.body) {
            run.diags.report(error);
            return Err(PassError::Unsupported);
        }
        let (op, lowered) = match self.lower(run) {
            Ok(lowered) => lowered,
            Err(diagnostic) => {
                run.diags.report(diagnostic);
                return Err(PassError::Failed);
            }
        };
        run.count("num-checks", lowered.interface.checks.len() as u64);
        let (loc, interface) = (run.body.loc(op), &lowered.interface);
        let own = |kernel: &&Kernel| kernel.parts.is_empty() || kernel.groups_of_block.is_some();
        let kernels = interface.kernels.iter().filter(own).count();
        let checks = interface.checks.len();
        run.count("num-kernels", kernels as u64);
        run.passed(loc, format!("the program is host functions now, with {checks} checks and {kernels} kernels"));
        let mut rewriter = Rewriter::new(run.cx, run.body);
        rewriter.set_before(op);
        for (state, body) in lowered.exports {
            rewriter.create_isolated(state, Box::new(body));
        }
        rewriter.erase_op(op);
        lowered.functions.iter().filter(|function| **function != op).for_each(|function| rewriter.erase_op(*function));
        let interface = lowered.interface.to_attr(run.cx);
        run.header.attrs = run.cx.with_entry(run.header.attrs, run.cx.ident(HOST_ATTR), Some(interface));
        Ok(PreservedAnalyses::none())
    }
}

/// The host sees no memory of a device, so what it must look at, or what a routine of the host works on, cannot lie there.
fn not_on_a_device(cx: &Context, module: &Body) -> Option<Diagnostic> {
    let tops = || module.entry_block().into_iter().flat_map(|b| module.ops(b)).map(|op| OpRef::new(cx, module, op));
    if !tops().any(|op| op.is::<GPUModuleOp<'_>>()) {
        return None;
    }
    let inside = tops().filter(|op| op.is::<ProgramOp<'_>>()).filter_map(|op| op.region(0)?.entry());
    if let Some(error) = crate::rt::routine_without_devices(cx, module) {
        return Some(error);
    }
    let mut found = None;
    inside.flat_map(|block| block.ops()).for_each(|op| {
        op.walk(&mut |op| {
            let looks = op.is::<ReadSizesOp<'_>>() || op.is::<ExpectOp<'_>>() || op.is::<InvokeOp<'_>>();
            found = found.or(looks.then_some(op));
        });
    });
    let looks = found?;
    if let Some(invoke) = looks.as_::<InvokeOp<'_>>() {
        let name = invoke.callee();
        let error = looks.error(format!("calls the recursive function '@{name}', which programs for devices do not"));
        return Some(error.help("compile for a processor, or write the recursion as a loop"));
    }
    if !looks.is::<ExpectOp<'_>>() {
        let error = looks.error("decides sizes in the run, which programs for devices do not");
        return Some(error.help("compile for a processor, or let sides and iterations make what has one size"));
    }
    let error = looks.error("looks at a shape that data tells, which on a device the host cannot see");
    Some(error.help("compile for a processor, or make the shape follow from the shapes of the inputs"))
}

struct Lowered {
    functions: Vec<Op>,
    exports: Vec<(OpState, Body)>,
    interface: HostInterface,
}

impl ConvertRtToLlvm {
    /// The programs of the module: the model, then its recursive functions.
    fn programs<'a>(run: &PassRun<'_>, tops: &[OpRef<'a>]) -> Result<(OpRef<'a>, Vec<OpRef<'a>>), Diagnostic> {
        let programs: Vec<OpRef<'a>> = tops.iter().copied().filter(|op| op.is::<ProgramOp<'_>>()).collect();
        let private = |op: &OpRef<'a>| ProgramOp::from_ref(*op).private();
        let model = programs.iter().find(|op| !private(op)).or(programs.first());
        let Some(&model) = model else {
            return Err(Diagnostic::error(run.header.loc, "the module has no 'rt.program' to lower"));
        };
        if let Some(second) = programs.iter().find(|op| op.op != model.op && !private(op)) {
            let error = second.error("is the second program of the module");
            return Err(error.note(model.loc(), "the first one").help("compile each program in a module of its own"));
        }
        // A model that calls itself is one of its functions.
        let calls = |name: Option<&str>| {
            programs.iter().filter_map(|op| op.region(0)?.entry()).any(|block| {
                let inside = block.body.preorder().map(|op| OpRef::new(block.cx, block.body, op));
                inside.filter_map(|op| op.as_::<InvokeOp<'_>>()).any(|invoke| Some(invoke.callee()) == name)
            })
        };
        let functions = programs.iter().copied().filter(|op| op.op != model.op || calls(op.symbol_name()));
        Ok((model, functions.collect()))
    }

    fn lower(&self, run: &PassRun<'_>) -> Result<(Op, Lowered), Diagnostic> {
        let (cx, body) = (run.cx, &*run.body);
        let block = body.entry_block();
        let tops: Vec<OpRef<'_>> =
            block.into_iter().flat_map(|b| body.ops(b)).map(|op| OpRef::new(cx, body, op)).collect();
        let (op, functions) = Self::programs(run, &tops)?;
        let modules = tops.iter().filter(|op| op.is::<GPUModuleOp<'_>>());
        let in_modules = modules.filter_map(|op| op.region(0)?.entry()).flat_map(|block| block.ops());
        let in_modules: Vec<OpRef<'_>> = in_modules.filter(|op| op.is::<GPUFuncOp<'_>>()).collect();
        let named = in_modules.iter().chain(&tops).filter_map(|op| Some((op.symbol_name()?, *op)));
        let kernels: Kernels<'_> = named.collect();
        let needed = ["sutura_abi_version", interface_text::SYMBOL, SHAPES, RUN, OUTPUT_DIMS].map(str::to_owned);
        for name in needed.into_iter().chain((0..functions.len()).flat_map(function_names)) {
            if let Some(taken) = kernels.get(name.as_str()) {
                return Err(taken.error(format!("has the name '{name}', which the host program needs")));
            }
        }
        let around = Around { kernels: &kernels, functions: &functions };
        let program = Program::read(op, around, Before::default())?;
        let mut exports = self.functions(&program).map_err(|message| op.error(message))?;
        let mut interface = program.interface();
        let mut before = program.behind();
        let mut routines = program.routines();
        for (number, op) in functions.iter().enumerate() {
            let program = Program::read(*op, around, before)?;
            if let Some(error) = program.no_function() {
                return Err(error);
            }
            exports.extend(self.function(&program, number).map_err(|message| op.error(message))?);
            program.add_to(&mut interface);
            routines.extend(program.routines());
            before = program.behind();
        }
        let text = interface_text::text(cx, &interface);
        exports.push(interface_text::variable(cx, op.loc(), interface_text::SYMBOL, &text));
        let mut known = std::collections::HashSet::new();
        for routine in routines.into_iter().filter(|routine| known.insert(routine.symbol())) {
            let name = interface_text::symbol_variable(routine);
            if let Some(taken) = kernels.get(name.as_str()) {
                return Err(taken.error(format!("has the name '{name}', which the host program needs")));
            }
            exports.push(interface_text::variable(cx, op.loc(), &name, &routine.symbol()));
        }
        let functions = functions.iter().map(|function| function.op).collect();
        Ok((op.op, Lowered { functions, exports, interface }))
    }

    fn functions(&self, program: &Program<'_>) -> Result<Vec<(OpState, Body)>, String> {
        let (cx, loc) = (program.info.op.cx, program.info.op.loc());
        let ptr = ptr_type(cx);
        let version = function(cx, loc, "sutura_abi_version", (&[], &[Type::I32]), |e, _| {
            let version = e.i32(ABI_VERSION);
            e.ret(&[version]);
            Ok(())
        })?;
        let mut functions = vec![version];
        functions.extend(self.shapes_and_run(program, [SHAPES, RUN])?);
        if !program.info.decisions.is_empty() {
            let inputs = (&[ptr; 2][..], &[][..]);
            let emit = |e: &mut Emit<'_, '_>, args: &[Value]| shapes::emit_output_dims(program, e, args);
            functions.push(function(cx, loc, OUTPUT_DIMS, inputs, emit)?);
        }
        functions.extend(Self::dispatchers(program)?);
        Ok(functions)
    }

    /// What a recursive function becomes: as a model, but for its names.
    fn function(&self, program: &Program<'_>, number: usize) -> Result<Vec<(OpState, Body)>, String> {
        let names = function_names(number);
        let mut functions = self.shapes_and_run(program, [&names[0], &names[1]])?;
        functions.extend(Self::dispatchers(program)?);
        Ok(functions)
    }

    fn shapes_and_run(&self, program: &Program<'_>, names: [&str; 2]) -> Result<Vec<(OpState, Body)>, String> {
        let (cx, loc) = (program.info.op.cx, program.info.op.loc());
        let ptr = ptr_type(cx);
        let shapes = (&[ptr; 5][..], &[Type::I32][..]);
        let shapes = function(cx, loc, names[0], shapes, |e, args| shapes::emit(program, e, args))?;
        let run = (&[ptr; 6][..], &[Type::I32][..]);
        let run = function(cx, loc, names[1], run, |e, args| run::emit(program, e, args, self.grain_work))?;
        Ok(vec![shapes, run])
    }

    fn dispatchers(program: &Program<'_>) -> Result<Vec<(OpState, Body)>, String> {
        let (cx, loc) = (program.info.op.cx, program.info.op.loc());
        let inputs = Dispatcher::inputs(ptr_type(cx));
        let each = program.dispatchers.iter();
        each.map(|dispatcher| function(cx, loc, &dispatcher.name, (&inputs, &[]), |e, args| dispatcher.emit(e, args)))
            .collect()
    }
}

/// A function of these arguments and results; `fill` builds into its entry block.
fn function(
    cx: &Context,
    loc: Loc,
    name: &str,
    (inputs, results): (&[Type], &[Type]),
    fill: impl FnOnce(&mut Emit<'_, '_>, &[Value]) -> Result<(), String>,
) -> Result<(OpState, Body), String> {
    let state = OpState::new(cx.op_name("func.func"), loc)
        .prop(cx.ident("sym_name"), cx.string_attr(name))
        .prop(cx.ident("function_type"), cx.type_attr(cx.function_type(inputs, results)));
    let mut body = Body::new(1);
    let region = body.region();
    let mut builder = Builder::new(cx, &mut body);
    let args: Vec<(Type, Loc)> = inputs.iter().map(|ty| (*ty, loc)).collect();
    let entry = builder.create_block(region, &args);
    builder.set_to_end(entry);
    let args = builder.body().block_args(entry).to_vec();
    fill(&mut Emit { b: &mut builder, loc }, &args)?;
    Ok((state, body))
}
