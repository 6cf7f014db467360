//! The program as the two functions need it: checks, launches with their kernels, order of the workspace.

use rustc_hash::FxHashMap;
use sutura_dialects::r#dyn::facts::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::func::FuncOp;
use sutura_dialects::gir::checks::{DataCheck, DataCheckKind};
use sutura_dialects::routines::table::Routine;
use sutura_dialects::rt::{
    ALIGNMENT, AllocOp, BufferType, CallOp, Check, Condition, ConstantOp, CopyOp, Decision, ExchangeOp, ExpectOp,
    GROUPS_ATTR, IfOp, InvokeOp, KernelSignature, LaunchOp, Launchable, PARTS_ATTR, PackedOp, Phases, Port,
    ProgramInfo, ReadSizesOp, SelectOp, SizeListOp, Solution, Step, ViewOp, WhileOp, WriteSizesOp, planned_bytes,
    root_buffer,
};
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::{BlockRef, OpRef, OpView, Type, Value};

use super::checks::{SizeCheck, size_checks};
use super::emit::ptr_type;
use super::interface::{CheckKind, CheckText, Constant, Function, HostInterface, Kernel, Placed, Tensor};
use super::packed::{self, Dispatcher};

/// What a launch runs.
pub(super) struct Launch<'a> {
    pub(super) op: LaunchOp<'a>,
    pub(super) signature: KernelSignature,
    pub(super) dims: Vec<Poly>,
    pub(super) groups: Poly,
    /// Scalar operations of all groups.
    pub(super) work: Poly,
    /// The program's number of the kernel's first check of data.
    pub(super) first_check: i64,
    /// For a kernel of a device: how many groups a block of its threads takes at a time.
    pub(super) groups_of_block: Option<i64>,
    /// The kernels whose groups it runs, where they are several.
    pub(super) parts: Vec<String>,
}

/// A call of a routine.
pub(super) struct Call<'a> {
    pub(super) op: CallOp<'a>,
    pub(super) routine: &'static Routine,
    pub(super) params: Vec<Vec<Poly>>,
}

/// A call of a recursive function, by its number.
pub(super) struct Invoke<'a> {
    pub(super) op: InvokeOp<'a>,
    pub(super) function: usize,
    /// Numbers of its symbols, and of the dims of its outputs.
    pub(super) symbols: usize,
    pub(super) output_dims: usize,
}

/// How many of what is in one list for all programs of the module come before those of a program.
#[derive(Clone, Copy, Default)]
pub(super) struct Before {
    pub(super) constants: usize,
    pub(super) checks: usize,
    pub(super) data_checks: usize,
    /// Programs.
    programs: usize,
}

/// What a program finds in the module around it.
#[derive(Clone, Copy)]
pub(super) struct Around<'m, 'a> {
    pub(super) kernels: &'m Kernels<'a>,
    /// The recursive functions.
    pub(super) functions: &'m [OpRef<'a>],
}

/// What a program does, in order.
pub(super) enum Action<'a> {
    Launch(Box<Launch<'a>>),
    /// Launches whose groups run as those of one.
    Packed(Vec<Launch<'a>>),
    Copy(CopyOp<'a>),
    /// Two temporaries change their memory.
    Exchange(ExchangeOp<'a>),
    Call(Box<Call<'a>>),
    /// A call of a recursive function.
    Invoke(Invoke<'a>),
    /// A list of sizes is looked at, with the program's number of that check.
    Expect(ExpectOp<'a>, i64),
    /// Sizes of a view are compared, with the program's number of that check.
    Compare(ViewOp<'a>, i64),
    /// Sizes are written to a list of the host.
    WriteSizes(WriteSizesOp<'a>),
    /// Sizes are read from such a list, which decides them.
    ReadSizes(ReadSizesOp<'a>),
    /// Versions with their guards; the last one's is empty.
    Select(Vec<(Vec<Poly>, Vec<Action<'a>>)>),
    /// A condition in memory, and what is done where it holds and where it does not.
    If(Value, [Vec<Action<'a>>; 2]),
    /// A condition in memory, what makes it, and what is done where it holds.
    While(Value, [Vec<Action<'a>>; 2]),
}

impl<'a> Action<'a> {
    /// The lists of actions in it.
    pub(super) fn inside(&self) -> Vec<&[Action<'a>]> {
        match self {
            Self::Select(versions) => versions.iter().map(|(_, inside)| &inside[..]).collect(),
            Self::If(_, sides) | Self::While(_, sides) => sides.iter().map(|inside| &inside[..]).collect(),
            _ => Vec::new(),
        }
    }

    /// The op, where it may decide sizes.
    pub(super) fn decides(&self) -> Option<OpRef<'a>> {
        match self {
            Self::Call(call) => Some(call.op.op_ref()),
            Self::ReadSizes(read) => Some(read.op_ref()),
            _ => None,
        }
    }

    /// Whether this holds of it or of one in it.
    pub(super) fn any(&self, holds: &dyn Fn(&Self) -> bool) -> bool {
        holds(self) || self.inside().into_iter().flatten().any(|action| action.any(holds))
    }
}

/// A temporary.
pub(super) struct Temporary {
    pub(super) value: Value,
    /// Bytes, rounded up to the alignment.
    pub(super) bytes: Poly,
    /// Numbers of those that it lies after.
    pub(super) after: Vec<usize>,
}

impl Temporary {
    fn placed(&self) -> Placed {
        Placed { bytes: self.bytes.clone(), after: self.after.clone() }
    }
}

pub(super) struct Program<'a> {
    pub(super) info: ProgramInfo<'a>,
    pub(super) facts: Facts,
    /// How the symbols are solved, with the checks of the model.
    solution: Solution,
    /// The most that the dims of all outputs may be.
    pub(super) planned_dims: Vec<Poly>,
    /// Checks that the host needs beyond those.
    pub(super) size_checks: Vec<SizeCheck>,
    pub(super) actions: Vec<Action<'a>>,
    /// Functions for launches that run together.
    pub(super) dispatchers: Vec<Dispatcher>,
    pub(super) temporaries: Vec<Temporary>,
    /// Lists of sizes of the host.
    pub(super) size_lists: Vec<SizeListOp<'a>>,
    pub(super) constants: Vec<ConstantOp<'a>>,
    /// What is checked of data, launch by launch.
    pub(super) data_checks: Vec<DataCheck>,
    /// The kernels run on a device, and all buffers are its memory.
    pub(super) on_device: bool,
    pub(super) before: Before,
}

/// Finds kernels by name.
pub(super) type Kernels<'a> = FxHashMap<&'a str, OpRef<'a>>;

impl<'a> Program<'a> {
    /// Reads a program, in front of whose parts stand those of others.
    pub(super) fn read(op: OpRef<'a>, around: Around<'_, 'a>, before: Before) -> Result<Self, Diagnostic> {
        let info = ProgramInfo::read(op).map_err(|message| op.error(message))?;
        let facts = info.facts().map_err(|e| op.error(e))?;
        let solution = Solution::of(&info).map_err(|e| op.error(e))?;
        let most = |size: &Poly| solution.phases.most(size).map_err(|reason| unbounded(op, &reason));
        let dims = info.outputs.iter().flat_map(|port| &port.ty.dims);
        let planned_dims = dims.map(most).collect::<Result<Vec<_>, _>>()?;
        let mut actions = actions(info.block, around)?;
        let mut data_checks = Numbered { before: before.data_checks, checks: Vec::new() };
        number_checks(&mut actions, &mut data_checks);
        let temporaries = temporaries(&info, &solution.phases)?;
        let constants = info.block.ops().filter_map(|op| op.as_::<ConstantOp<'_>>()).collect();
        let size_lists = info.block.ops().filter_map(|op| op.as_::<SizeListOp<'_>>()).collect();
        let on_device = one_place(op, &actions)?;
        let dispatchers =
            if on_device { Vec::new() } else { packed::collect(&actions, around.kernels, before.programs) };
        let mut program = Self {
            info,
            facts,
            solution,
            planned_dims,
            size_checks: Vec::new(),
            actions,
            dispatchers,
            temporaries,
            size_lists,
            constants,
            data_checks: data_checks.checks,
            on_device,
            before,
        };
        program.size_checks = size_checks(&program);
        Ok(program)
    }

    /// The buffer that a value is a view of.
    pub(super) fn root(&self, value: Value) -> Value {
        root_buffer(self.info.op.cx, self.info.block.body, value)
    }

    /// When symbols are known.
    pub(super) fn phases(&self) -> &Phases {
        &self.solution.phases
    }

    /// What is solved and checked before the run (0), or after that many calls that decide sizes.
    pub(super) fn steps(&self, phase: usize) -> &[Step] {
        match phase {
            0 => &self.solution.steps,
            _ => &self.solution.late[phase - 1],
        }
    }

    /// The checks of a phase, in order.
    fn checks(&self, phase: usize) -> impl Iterator<Item = &Check> {
        let checks = self.steps(phase).iter().filter_map(|step| match step {
            Step::Check(check) => Some(check),
            Step::Solve { .. } => None,
        });
        checks.chain(self.size_checks.iter().filter(move |c| c.phase == phase).map(|c| &c.check))
    }

    /// How many checks there are before those of a phase, those of other programs counted.
    pub(super) fn first_check(&self, phase: usize) -> i64 {
        (0..phase).map(|before| self.checks(before).count() as i64).sum::<i64>() + self.before.checks as i64
    }

    /// What stands in front of the parts of the program after this one.
    pub(super) fn behind(&self) -> Before {
        let checks: usize = (0..=self.info.decisions.len()).map(|phase| self.checks(phase).count()).sum();
        Before {
            constants: self.before.constants + self.constants.len(),
            checks: self.before.checks + checks,
            data_checks: self.before.data_checks + self.data_checks.len(),
            programs: self.before.programs + 1,
        }
    }

    /// Number of an op among those that decide sizes, and for how many of each there is place.
    pub(super) fn decision(&self, op: OpRef<'_>) -> Option<(usize, &Decision, &[Poly])> {
        let index = self.info.decisions.iter().position(|decision| decision.op == op.op)?;
        Some((index, &self.info.decisions[index], &self.solution.places[index]))
    }

    /// The kernels that are launched, in the order of the artifact's list.
    pub(super) fn kernels(&self) -> Vec<Kernel> {
        let mut kernels = Vec::new();
        collect_kernels(&self.actions, None, &self.dispatchers, &mut kernels);
        kernels
    }

    /// The routines that are called, each once.
    pub(super) fn routines(&self) -> Vec<&'static Routine> {
        let mut routines = Vec::new();
        collect_routines(&self.actions, &mut routines);
        routines
    }

    pub(super) fn interface(&self) -> HostInterface {
        let tensor = |port: &sutura_dialects::rt::Port| Tensor { name: port.name.clone(), ty: port.ty.clone() };
        let constant = |c: &ConstantOp<'_>| Constant { name: c.name().to_owned(), elements: c.elements() };
        let checks = (0..=self.info.decisions.len()).flat_map(|phase| self.checks(phase));
        let (inputs, reserves) = self.info.inputs.split_at(self.info.inputs.len() - reserved(&self.info));
        let grows = |check: &Check| reserves.iter().filter_map(reserved_symbol).find(|name| is_place(check, name));
        let check = |check: &Check| CheckText { reserve: grows(check).map(str::to_owned), ..check_text(check) };
        let symbols = self.info.symbols.iter().enumerate();
        let decided = symbols.filter(|(i, _)| !self.phases().is_told(*i)).map(|(_, symbol)| symbol.name.clone());
        let kernels = self.kernels();
        HostInterface {
            model: self.info.name.to_owned(),
            symbols: self.info.symbols.clone(),
            inputs: inputs.iter().map(tensor).collect(),
            reserves: reserves.iter().map(tensor).collect(),
            outputs: self.info.outputs.iter().map(tensor).collect(),
            constants: self.constants.iter().map(constant).collect(),
            checks: checks.map(check).collect(),
            kernels,
            data_checks: self.data_checks.clone(),
            routines: self.routines().into_iter().map(Routine::symbol).collect(),
            decided: decided.collect(),
            temporaries: self.temporaries.iter().map(Temporary::placed).collect(),
            functions: Vec::new(),
        }
    }

    /// Adds to the interface of the model what a function is.
    pub(super) fn add_to(&self, interface: &mut HostInterface) {
        let own = self.interface();
        for constant in own.constants {
            let mut name = format!("{}.{}", self.info.name, constant.name);
            while interface.constants.iter().any(|known| known.name == name) {
                name.push('_');
            }
            interface.constants.push(Constant { name, elements: constant.elements });
        }
        // What fails in a call is no check of the model's own inputs.
        let of = |words: String| if words.is_empty() { words } else { format!("{words} of `{}`", self.info.name) };
        let own_words = |check: CheckText| CheckText { left: of(check.left), reserve: None, ..check };
        interface.checks.extend(own.checks.into_iter().map(own_words));
        for kernel in own.kernels {
            if !interface.kernels.iter().any(|known| known.symbol == kernel.symbol) {
                interface.kernels.push(kernel);
            }
        }
        interface.data_checks.extend(own.data_checks);
        for routine in own.routines {
            if !interface.routines.contains(&routine) {
                interface.routines.push(routine);
            }
        }
        interface.functions.push(Function { name: self.info.name.to_owned(), temporaries: own.temporaries });
    }

    /// What a function cannot be called for.
    pub(super) fn no_function(&self) -> Option<Diagnostic> {
        let reserves = reserved(&self.info);
        (reserves > 0).then(|| {
            let error = self.info.op.error("makes a number of the data a size in a function that invokes itself");
            error.help("let `graph.decide_size` stand outside the recursive function")
        })
    }
}

/// Checks of data with their numbers among those of the module.
struct Numbered {
    before: usize,
    checks: Vec<DataCheck>,
}

impl Numbered {
    /// The number of the next one.
    fn next(&self) -> i64 {
        (self.before + self.checks.len()) as i64
    }
}

/// The symbol of an input without elements that could say how many places there are.
fn reserved_symbol(port: &Port) -> Option<&str> {
    match &port.ty.dims[..] {
        [places, none] if none.is_zero() => places.as_symbol(),
        _ => None,
    }
}

/// How many of the last inputs only say how many places there are for what data decide.
fn reserved(info: &ProgramInfo<'_>) -> usize {
    let mentions = |port: &Port, name: &str| port.ty.dims.iter().any(|size| size.mentions(name));
    let is_bound = |name: &str| {
        let most = info.decisions.iter().flat_map(|decision| &decision.most);
        most.clone().any(|most| most.as_symbol() == Some(name))
    };
    let is_reserve = |port: &&Port| {
        reserved_symbol(port)
            .is_some_and(|name| is_bound(name) && info.inputs.iter().filter(|other| mentions(other, name)).count() == 1)
    };
    info.inputs.iter().rev().take_while(is_reserve).count()
}

/// Whether the check says that there is place, for as many as the symbol says, for a size that data decide.
fn is_place(check: &Check, name: &str) -> bool {
    matches!(check.condition, Condition::AtLeast(_))
        && check.quantity.dim.is_none()
        && check.quantity.plus.mentions(name)
}

fn collect_routines(actions: &[Action<'_>], routines: &mut Vec<&'static Routine>) {
    for action in actions {
        if let Action::Call(call) = action
            && !routines.iter().any(|known| known.symbol() == call.routine.symbol())
        {
            routines.push(call.routine);
        }
        action.inside().into_iter().for_each(|inside| collect_routines(inside, routines));
    }
}

/// Gives every launch numbers for the checks of its kernel, in the order of the program: what a run reports is then what
/// would have gone wrong first.
fn number_checks(actions: &mut [Action<'_>], checks: &mut Numbered) {
    for action in actions {
        match action {
            Action::Launch(launch) => number_checks_of(launch, checks),
            Action::Packed(launches) => launches.iter_mut().for_each(|launch| number_checks_of(launch, checks)),
            Action::Copy(_)
            | Action::Exchange(_)
            | Action::Call(_)
            | Action::Invoke(_)
            | Action::WriteSizes(_)
            | Action::ReadSizes(_) => {}
            Action::Expect(expect, number) => {
                *number = checks.next();
                checks.checks.push(DataCheck { kind: DataCheckKind::Size, what: expect.what().to_owned() });
            }
            Action::Compare(view, number) => {
                *number = checks.next();
                checks
                    .checks
                    .push(DataCheck { kind: DataCheckKind::Dim, what: view.checked().unwrap_or_default().to_owned() });
            }
            Action::Select(versions) => versions.iter_mut().for_each(|(_, inside)| number_checks(inside, checks)),
            Action::If(_, sides) | Action::While(_, sides) => {
                sides.iter_mut().for_each(|inside| number_checks(inside, checks))
            }
        }
    }
}

fn number_checks_of(launch: &mut Launch<'_>, checks: &mut Numbered) {
    launch.first_check = checks.next();
    checks.checks.extend(launch.op.data_checks(&launch.signature));
}

pub(super) fn buffer_type(op: OpRef<'_>, value: Value) -> &BufferType {
    BufferType::of(op.cx, op.ty(value)).expect("the declaration says a buffer")
}

fn actions<'a>(block: BlockRef<'a>, around: Around<'_, 'a>) -> Result<Vec<Action<'a>>, Diagnostic> {
    let mut actions = Vec::new();
    for op in block.ops() {
        if let Some(launch) = op.as_::<LaunchOp<'_>>() {
            actions.push(Action::Launch(Box::new(read_launch(launch, around.kernels)?)));
        } else if let Some(packed) = op.as_::<PackedOp<'_>>() {
            let launches = packed.launches().entry().into_iter().flat_map(|block| block.ops());
            let launches = launches.filter_map(|op| op.as_::<LaunchOp<'_>>()).map(|op| read_launch(op, around.kernels));
            actions.push(Action::Packed(launches.collect::<Result<_, _>>()?));
        } else if let Some(copy) = op.as_::<CopyOp<'_>>() {
            actions.push(Action::Copy(copy));
        } else if let Some(exchange) = op.as_::<ExchangeOp<'_>>() {
            actions.push(Action::Exchange(exchange));
        } else if let Some(call) = op.as_::<CallOp<'_>>() {
            let routine = call.declaration().map_err(|message| op.error(message))?;
            let params = call.numbers(routine).map_err(|message| op.error(message))?;
            actions.push(Action::Call(Box::new(Call { op: call, routine, params })));
        } else if let Some(write) = op.as_::<WriteSizesOp<'_>>() {
            actions.push(Action::WriteSizes(write));
        } else if let Some(read) = op.as_::<ReadSizesOp<'_>>() {
            actions.push(Action::ReadSizes(read));
        } else if let Some(expect) = op.as_::<ExpectOp<'_>>() {
            actions.push(Action::Expect(expect, 0));
        } else if let Some(view) = op.as_::<ViewOp<'_>>().filter(|view| view.checked().is_some()) {
            actions.push(Action::Compare(view, 0));
        } else if let Some(this) = op.as_::<IfOp<'_>>() {
            actions.push(Action::If(this.condition(), sides(op, around)?));
        } else if let Some(this) = op.as_::<WhileOp<'_>>() {
            actions.push(Action::While(this.condition(), sides(op, around)?));
        } else if let Some(invoke) = op.as_::<InvokeOp<'_>>() {
            actions.push(Action::Invoke(read_invoke(invoke, around.functions)?));
        } else if let Some(select) = op.as_::<SelectOp<'_>>() {
            let mut guards = select.guards().into_iter();
            let versions = select.versions().map(|region| {
                let inside = region.entry().map_or(Ok(Vec::new()), |block| actions_of(block, around))?;
                Ok((guards.next().unwrap_or_default(), inside))
            });
            actions.push(Action::Select(versions.collect::<Result<_, Diagnostic>>()?));
        }
    }
    Ok(actions)
}

/// The actions of both regions.
fn sides<'a>(op: OpRef<'a>, around: Around<'_, 'a>) -> Result<[Vec<Action<'a>>; 2], Diagnostic> {
    let side =
        |i: usize| op.region(i).and_then(|r| r.entry()).map_or(Ok(Vec::new()), |block| actions_of(block, around));
    Ok([side(0)?, side(1)?])
}

fn actions_of<'a>(block: BlockRef<'a>, around: Around<'_, 'a>) -> Result<Vec<Action<'a>>, Diagnostic> {
    actions(block, around)
}

/// A call of one of the functions that the host program has.
fn read_invoke<'a>(invoke: InvokeOp<'a>, functions: &[OpRef<'a>]) -> Result<Invoke<'a>, Diagnostic> {
    let op = invoke.op_ref();
    let function = functions.iter().position(|function| function.symbol_name() == Some(invoke.callee()));
    let function = function.ok_or_else(|| {
        let error = op.error("runs another program, whose body must stand here");
        error.help("run `inline-programs` before `plan-buffers`")
    })?;
    let info = ProgramInfo::read(functions[function]).map_err(|message| op.error(message))?;
    let output_dims = info.outputs.iter().map(|port| port.ty.dims.len()).sum();
    Ok(Invoke { op: invoke, function, symbols: info.symbols.len(), output_dims })
}

fn read_launch<'a>(launch: LaunchOp<'a>, kernels: &Kernels<'a>) -> Result<Launch<'a>, Diagnostic> {
    let (op, name) = (launch.op_ref(), launch.callee());
    let kernel = kernels.get(name).ok_or_else(|| op.error(format!("'{name}' does not reference a symbol")))?;
    if !matches!(kernel.name_str(), "func.func" | "gpu.func") {
        let error = op.error(format!("'{name}' is a '{}'", kernel.name_str()));
        return Err(error.help("launches of functions of the processor (`convert-gir-to-cpu`) and of kernels in a `gpu.module` (`convert-gir-to-gpu`) can be lowered"));
    }
    let launchable = kernel.interface::<dyn Launchable>();
    let launchable = launchable.ok_or_else(|| op.error(format!("'{name}' is no kernel")))?;
    check_arguments(op, *kernel)?;
    let signature = launchable.signature(*kernel).map_err(|m| op.error(format!("'{name}' {m}")))?;
    let dims = launch.dims();
    let groups = signature.groups(&dims);
    let elements = || {
        let sizes = launch.buffers().map(|b| buffer_type(op, b).elements());
        sizes.fold(Poly::default(), |sum, size| sum.add(&size))
    };
    let work = launch.work().and_then(|w| w.into_iter().next()).unwrap_or_else(elements);
    let groups_of_block = match kernel.name_str() {
        "gpu.func" => Some(groups_of_block(*kernel)?),
        _ => None,
    };
    let parts = kernel.attr(PARTS_ATTR).and_then(|parts| kernel.cx.array(parts)).unwrap_or_default();
    let parts = parts.iter().filter_map(|name| kernel.cx.as_str(*name).map(str::to_owned)).collect();
    Ok(Launch { op: launch, signature, dims, groups, work, first_check: 0, groups_of_block, parts })
}

/// The host program calls a function of the processor with tables of buffers and sizes, and the groups from one to another.
fn check_arguments(launch: OpRef<'_>, kernel: OpRef<'_>) -> Result<(), Diagnostic> {
    let Some(function) = kernel.as_::<FuncOp<'_>>() else { return Ok(()) };
    let ptr = ptr_type(kernel.cx);
    if function.inputs() == [ptr, ptr, Type::I64, Type::I64] && function.results().is_empty() {
        return Ok(());
    }
    let error = launch.error("launches a function whose arguments are not those of a kernel");
    Err(error
        .note(kernel.loc(), "this one")
        .help("a kernel takes `(!llvm.ptr, !llvm.ptr, i64, i64)` and returns nothing"))
}

fn groups_of_block(kernel: OpRef<'_>) -> Result<i64, Diagnostic> {
    let said = kernel.attr(GROUPS_ATTR).and_then(|a| kernel.cx.as_int(a)).filter(|groups| *groups > 0);
    said.ok_or_else(|| {
        kernel.error(format!("has no '{GROUPS_ATTR}', the number of groups that a block takes at a time"))
    })
}

/// Whether all kernels run on a device; a program has one place.
fn one_place(program: OpRef<'_>, actions: &[Action<'_>]) -> Result<bool, Diagnostic> {
    fn launches<'r, 'a>(actions: &'r [Action<'a>], found: &mut Vec<&'r Launch<'a>>) {
        for action in actions {
            match action {
                Action::Launch(launch) => found.push(launch),
                Action::Packed(all) => found.extend(all),
                _ => action.inside().into_iter().for_each(|inside| launches(inside, found)),
            }
        }
    }
    let mut all = Vec::new();
    launches(actions, &mut all);
    let on_device = |launch: &&Launch<'_>| launch.groups_of_block.is_some();
    let (device, processor) = (all.iter().copied().find(on_device), all.iter().copied().find(|l| !on_device(l)));
    match (device, processor) {
        (Some(device), Some(processor)) => {
            let error = program.error("launches kernels of a device and of the processor");
            let error = error.note(device.op.op_ref().loc(), "on the device");
            Err(error.note(processor.op.op_ref().loc(), "on the processor"))
        }
        (device, _) => Ok(device.is_some()),
    }
}

/// What cannot be planned for.
fn unbounded(op: OpRef<'_>, reason: &str) -> Diagnostic {
    op.error(format!("cannot be planned before data decide its sizes: {reason}"))
}

fn temporaries(info: &ProgramInfo<'_>, phases: &Phases) -> Result<Vec<Temporary>, Diagnostic> {
    let mut index: FxHashMap<Value, usize> = FxHashMap::default();
    let mut temporaries = Vec::new();
    for alloc in info.block.ops().filter_map(|op| op.as_::<AllocOp<'_>>()) {
        let op = alloc.op_ref();
        if !info.planned {
            let error = op.error("has no place in the workspace yet");
            return Err(error.help("run `plan-buffers` first"));
        }
        let bytes = planned_bytes(op.cx, buffer_type(op, alloc.buffer()), phases);
        let bytes = bytes.map_err(|reason| unbounded(op, &reason))?.ceildiv(ALIGNMENT).scale(ALIGNMENT);
        let after = alloc.after().filter_map(|v| index.get(&v).copied()).collect();
        index.insert(alloc.buffer(), temporaries.len());
        temporaries.push(Temporary { value: alloc.buffer(), bytes, after });
    }
    Ok(temporaries)
}

fn check_text(check: &Check) -> CheckText {
    let kind = match check.condition {
        Condition::Equal(_) => CheckKind::Equal,
        Condition::Compatible(_) | Condition::AtLeast(_) => CheckKind::Constraint,
        Condition::Within(..) | Condition::Fits => CheckKind::Range,
        Condition::MultipleOf(_) => CheckKind::Divisible,
    };
    let words = &check.words;
    let (dim, left, right) = (words.dim.clone(), words.left.clone(), words.right.clone());
    CheckText { kind, dim, left, right, reserve: None }
}

fn collect_kernels(actions: &[Action<'_>], guard: Option<&str>, dispatchers: &[Dispatcher], kernels: &mut Vec<Kernel>) {
    for action in actions {
        match action {
            Action::Launch(launch) => add_kernel(launch, guard, kernels),
            Action::Packed(launches) => {
                launches.iter().for_each(|launch| add_kernel(launch, guard, kernels));
                add_packed(launches, guard, dispatchers, kernels);
            }
            Action::Copy(_)
            | Action::Exchange(_)
            | Action::Call(_)
            | Action::Invoke(_)
            | Action::Expect(..)
            | Action::Compare(..)
            | Action::WriteSizes(_)
            | Action::ReadSizes(_) => {}
            Action::If(_, sides) | Action::While(_, sides) => {
                sides.iter().for_each(|inside| collect_kernels(inside, None, dispatchers, kernels));
            }
            Action::Select(versions) => {
                for (sizes, inside) in versions {
                    let text: Vec<String> = sizes.iter().map(|s| format!("{s} is at least 0")).collect();
                    let text = (!text.is_empty()).then(|| text.join(" and "));
                    collect_kernels(inside, text.as_deref(), dispatchers, kernels);
                }
            }
        }
    }
}

fn add_kernel(launch: &Launch<'_>, guard: Option<&str>, kernels: &mut Vec<Kernel>) {
    let symbol = launch.op.callee().to_owned();
    if !kernels.iter().any(|k| k.symbol == symbol) {
        let ops = launch.signature.ops.clone();
        let (guard, groups_of_block) = (guard.map(str::to_owned), launch.groups_of_block);
        kernels.push(Kernel { symbol, guard, ops, parts: launch.parts.clone(), groups_of_block });
    }
}

/// The function that runs the groups of several kernels.
fn add_packed(launches: &[Launch<'_>], guard: Option<&str>, dispatchers: &[Dispatcher], kernels: &mut Vec<Kernel>) {
    let Some(dispatcher) = packed::find(dispatchers, launches) else { return };
    if kernels.iter().any(|k| k.symbol == dispatcher.name) {
        return;
    }
    let mut ops: Vec<String> = Vec::new();
    for op in launches.iter().flat_map(|launch| &launch.signature.ops) {
        if !ops.contains(op) {
            ops.push(op.clone());
        }
    }
    let parts = launches.iter().map(|launch| launch.op.callee().to_owned()).collect();
    let (symbol, guard) = (dispatcher.name.clone(), guard.map(str::to_owned));
    kernels.push(Kernel { symbol, guard, ops, parts, groups_of_block: None });
}
