//! `sutura_run`: buffers, launches through the runtime's table, choice of versions.

use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::routines::table::{Arguments, ELEMENTS, Typed};
use sutura_dialects::rt::{BufferType, CopyOp, ExchangeOp, ExpectOp, ViewOp};
use sutura_ir::{Block, OpView, Type, Value};

use super::checker::{Checker, Dims};
use super::emit::{Emit, Pred, ptr_type};
use super::interface::Kernel;
use super::interface_text::{self, symbol_variable};
use super::packed;
use super::program::{Action, Call, Launch, Program, buffer_type};
use super::shapes::workspace;
use super::sizes::{MANY, Sizes};

/// Where the runtime's table has its parts, in pointers: the versions (two times 32 bits) come before the context.
const CONTEXT_SLOT: i32 = 1;
const PARALLEL_FOR_SLOT: i32 = 2;
const CALL_SLOT: i32 = 3;
const REPORT_SLOT: i32 = 4;
const LAUNCH_SLOT: i32 = 5;
const COPY_SLOT: i32 = 6;
const REPORTS_SLOT: i32 = 7;
const LOOK_SLOT: i32 = 8;
/// The word of 32 bits that says whether anything was reported.
const REPORTED_WORD: i32 = 1;

/// What a run that ends with a report returns. The report tells.
const REPORTED: i64 = 1;

/// An action with all its numbers computed, ready to stand in a conditional.
enum Ready {
    Launch {
        kernel: String,
        buffers: Vec<Word>,
        /// The program's number of the first check of data, where there is one.
        checks: Option<Value>,
        dims: Vec<Value>,
        groups: Value,
        grain: Value,
    },
    /// On the device: number of the kernel, then addresses and sizes.
    Enqueue {
        kernel: Value,
        words: Vec<Word>,
        count: Value,
        groups: Value,
    },
    Copy {
        from: Word,
        to: Word,
        bytes: Value,
    },
    /// A routine with all that it is told, and the name by which it is called.
    Call {
        symbol: Value,
        buffers: Vec<Word>,
        numbers: Vec<Value>,
    },
    /// The numbers of the two slots.
    Exchange([i32; 2]),
    Expect {
        list: Word,
        elem: Type,
        check: Value,
        /// The size of each dimension, and the one that a 0 copies.
        sizes: Vec<(Value, Value)>,
    },
    /// Each dimension as it is and as it must be, and the number of the check.
    Compare {
        check: Value,
        sizes: Vec<(Value, Value)>,
    },
    Select(Vec<(Option<Value>, Vec<Ready>)>),
    /// The address of the condition, and both sides.
    If(Word, [Vec<Ready>; 2]),
    /// The address of the condition, what makes it, and what follows where it holds.
    While(Word, [Vec<Ready>; 2]),
}

/// What an action is given: known when it is prepared, or read from a slot when it is performed.
#[derive(Clone, Copy)]
enum Word {
    Known(Value),
    Slot(i32),
}

/// Where the address of a buffer is.
#[derive(Clone, Copy)]
enum Address {
    Known(Value),
    /// An element of an array in memory.
    Element(Value, i32),
    /// In this slot, because the temporary changes its memory.
    Slot(i32),
}

struct Run<'p, 'a, 'e, 'x, 'b> {
    program: &'p Program<'a>,
    /// The artifact's list, by whose numbers a device's kernels are launched.
    kernels: Vec<Kernel>,
    sizes: Sizes<'p>,
    e: &'e mut Emit<'x, 'b>,
    /// Addresses of buffers that are no view.
    addresses: FxHashMap<Value, Address>,
    table: Value,
    context: Value,
    /// What launches a kernel: `parallel_for`, or on a device `launch`.
    start: Value,
    /// What copies on a device.
    copy: Option<Value>,
    /// Where kernels of a device report what is wrong with data, if any of them looks.
    reports: Option<Value>,
    /// Arrays on the stack for the arguments of one launch; a launch is over when the next begins.
    buffer_array: Value,
    dim_array: Value,
    /// An array on the stack for the addresses of temporaries that change their memory.
    slots: Option<Value>,
    /// Where the symbols' values are.
    symbols: Value,
    /// Where a routine that fails goes, with what it returned.
    fail: Option<Block>,
    /// Where a failed check of sizes that data have decided goes, with its code and two values.
    fail_check: Option<Block>,
    grain_work: i64,
}

/// Fills the function, whose arguments are `args`. A launch is split among threads only into parts of at least
/// `grain_work` scalar operations.
pub(super) fn emit(program: &Program<'_>, e: &mut Emit<'_, '_>, args: &[Value], grain_work: i64) -> Result<(), String> {
    let &[table, symbols, inputs, outputs, constants, scratch] = args else {
        return Err("the interface has six arguments".to_owned());
    };
    let ptr = ptr_type(e.cx());
    let on_device = program.on_device;
    let may_end = |action: &Action<'_>| match action {
        Action::Call(_) | Action::Compare(..) | Action::While(..) => true,
        // To look at memory of a device may fail.
        Action::If(..) => on_device,
        _ => false,
    };
    let fails = program.actions.iter().any(|action| action.any(&may_end));
    let fail = fails.then(|| failure_block(e, table));
    let fail_check = (!program.info.decisions.is_empty()).then(|| failed_check_block(e, table));
    let (most_buffers, most_dims) = most_arguments(&program.actions);
    // A device's kernels take both in one array.
    let in_array = if program.on_device { most_buffers + most_dims } else { most_buffers };
    let buffer_array = e.alloca(ptr, in_array.max(1) as i64);
    let dim_array = e.alloca(Type::I64, most_dims.max(1) as i64);
    let context = e.load(table, ptr, CONTEXT_SLOT);
    let start = e.load(table, ptr, if program.on_device { LAUNCH_SLOT } else { PARALLEL_FOR_SLOT });
    let copy = program.on_device.then(|| e.load(table, ptr, COPY_SLOT));
    let reports = (program.on_device && !program.data_checks.is_empty()).then(|| e.load(table, ptr, REPORTS_SLOT));
    let mut sizes = Sizes::new(&program.facts);
    let many_symbols = program.info.symbols.len() > MANY;
    for (i, symbol) in program.info.symbols.iter().enumerate().filter(|(i, _)| program.phases().is_told(*i)) {
        if many_symbols {
            sizes.define_in(&symbol.name, symbols, i as i32);
        } else {
            let value = e.load(symbols, Type::I64, i as i32);
            sizes.define(&symbol.name, value);
        }
    }
    let mut addresses = FxHashMap::default();
    let inputs = (inputs, program.info.inputs.iter().map(|p| p.value).collect::<Vec<_>>());
    let outputs = (outputs, program.info.outputs.iter().map(|p| p.value).collect());
    let constants = (constants, program.constants.iter().map(|c| c.buffer()).collect());
    let arrays = [inputs, outputs, constants];
    let many_buffers = arrays.iter().map(|(_, values)| values.len()).sum::<usize>() > MANY;
    for (array, values) in arrays {
        for (i, value) in values.into_iter().enumerate() {
            let index = i as i32;
            let at =
                if many_buffers { Address::Element(array, index) } else { Address::Known(e.load(array, ptr, index)) };
            addresses.insert(value, at);
        }
    }
    let (offsets, _) = workspace(e, &mut sizes, &program.temporaries)?;
    let moving = moving(&program.actions);
    let slots = (!moving.is_empty()).then(|| e.alloca(ptr, moving.len() as i64));
    for (temporary, offset) in program.temporaries.iter().zip(offsets) {
        let address = e.byte_offset(scratch, offset);
        let slot = slots.zip(moving.iter().position(|value| *value == temporary.value));
        let at = match slot {
            Some((slots, slot)) => {
                e.store(address, slots, slot as i32);
                Address::Slot(slot as i32)
            }
            None => Address::Known(address),
        };
        addresses.insert(temporary.value, at);
    }
    let kernels = program.kernels();
    let run = Run {
        program,
        kernels,
        sizes,
        e,
        addresses,
        table,
        context,
        start,
        copy,
        reports,
        buffer_array,
        dim_array,
        slots,
        symbols,
        fail,
        fail_check,
        grain_work,
    };
    run.body()
}

/// The temporaries that change their memory, each once.
fn moving(actions: &[Action<'_>]) -> Vec<Value> {
    fn add(actions: &[Action<'_>], found: &mut IndexSet<Value>) {
        for action in actions {
            if let Action::Exchange(exchange) = action {
                found.extend([exchange.first(), exchange.second()]);
            }
            action.inside().into_iter().for_each(|inside| add(inside, found));
        }
    }
    let mut found = IndexSet::new();
    add(actions, &mut found);
    found.into_iter().collect()
}

/// `^fail(code)`: returns it. Afterwards the builder stands where `in_entry` is.
fn failure_block(e: &mut Emit<'_, '_>, in_entry: Value) -> Block {
    let entry = e.b.body().value_block(in_entry).expect("an argument is of a block");
    let region = e.b.body().region();
    let block = e.b.create_block(region, &[(Type::I32, e.loc)]);
    let args = e.b.body().block_args(block).to_vec();
    e.b.set_to_end(block);
    e.ret(&args);
    e.b.set_to_end(entry);
    block
}

/// `^fail(code, first, second)`: reports the check by its code below zero, with the two values, and returns the code.
fn failed_check_block(e: &mut Emit<'_, '_>, table: Value) -> Block {
    let entry = e.b.body().value_block(table).expect("an argument is of a block");
    let (region, loc) = (e.b.body().region(), e.loc);
    let block = e.b.create_block(region, &[(Type::I32, loc), (Type::I64, loc), (Type::I64, loc)]);
    let args = e.b.body().block_args(block).to_vec();
    e.b.set_to_end(block);
    let (context, report) =
        (e.load(table, ptr_type(e.cx()), CONTEXT_SLOT), e.load(table, ptr_type(e.cx()), REPORT_SLOT));
    let (zero, code) = (e.i64(0), e.value("arith.extsi", &[args[0]], Type::I64, &[]));
    let check = e.int("arith.subi", zero, code);
    e.call_pointer(report, &[context, check, zero, args[1], args[2]]);
    e.ret(&args[..1]);
    e.b.set_to_end(entry);
    block
}

/// Buffers of a launch, and what it needs for reports.
fn buffers_of(launch: &Launch<'_>) -> usize {
    let hidden = if launch.signature.checks.is_empty() { 0 } else { 2 };
    launch.signature.params.len() + hidden
}

/// Of how many numbers a call of a routine is made, see the runtime's `routines`.
fn numbers_of(call: &Call<'_>) -> usize {
    let op = call.op.op_ref();
    let buffers = call.op.inputs().chain(call.op.outputs()).map(|v| 2 + buffer_type(op, v).dims.len());
    let params = call.params.iter().map(|numbers| 1 + numbers.len());
    3 + buffers.sum::<usize>() + usize::from(call.op.scratch().is_some()) + params.sum::<usize>()
}

fn most_arguments(actions: &[Action<'_>]) -> (usize, usize) {
    let each = actions.iter().map(|action| match action {
        Action::Launch(launch) => (buffers_of(launch), launch.dims.len()),
        Action::Packed(launches) => {
            let sum = |of: fn(&Launch<'_>) -> usize| launches.iter().map(of).sum::<usize>();
            (sum(buffers_of), launches.len() + sum(|l| l.dims.len()))
        }
        Action::Call(call) => (call.op.op_ref().operands().count(), numbers_of(call)),
        Action::Copy(_) | Action::Exchange(_) | Action::Expect(..) | Action::Compare(..) => (0, 0),
        Action::Select(_) | Action::If(..) | Action::While(..) => {
            let inside = action.inside().into_iter().map(most_arguments);
            inside.fold((0, 0), |a, b| (a.0.max(b.0), a.1.max(b.1)))
        }
    });
    each.fold((0, 0), |a, b| (a.0.max(b.0), a.1.max(b.1)))
}

impl<'p> Run<'p, '_, '_, '_, '_> {
    fn body(mut self) -> Result<(), String> {
        let program = self.program;
        self.run(&program.actions)?;
        let ok = self.e.i32(0);
        self.e.ret(&[ok]);
        Ok(())
    }

    fn run(&mut self, actions: &'p [Action<'_>]) -> Result<(), String> {
        let program = self.program;
        let decides = |action: &Action<'_>| matches!(action, Action::Call(call) if program.decision(call.op).is_some());
        for action in actions {
            match action {
                // What follows from what is decided in it cannot be computed before.
                Action::If(condition, sides) if action.any(&decides) => {
                    let condition = self.address(*condition)?;
                    self.perform_if(condition, &mut |run, side| run.run_apart(&sides[side]))?;
                }
                Action::While(condition, sides) if action.any(&decides) => {
                    let condition = self.address(*condition)?;
                    self.perform_while(condition, &mut |run, side| run.run_apart(&sides[side]))?;
                }
                _ => {
                    let ready = self.prepare(action)?;
                    self.perform(&ready)?;
                }
            }
            if let Action::Call(call) = action {
                self.decide(call)?;
            }
        }
        Ok(())
    }

    /// Runs what stands in a block that others do not come through: what is computed there is known there alone.
    fn run_apart(&mut self, actions: &'p [Action<'_>]) -> Result<(), String> {
        let around = self.sizes.clone();
        self.run(actions)?;
        self.sizes = around;
        Ok(())
    }

    /// Reads and checks the sizes that a call has decided.
    fn decide(&mut self, call: &Call<'_>) -> Result<(), String> {
        let program = self.program;
        let (Some((index, decision, _)), Some(fail)) = (program.decision(call.op), self.fail_check) else {
            return Ok(());
        };
        let list = self.address(decision.list)?;
        let list = self.word(list);
        let sizes: Vec<Value> = (0..decision.sizes.len()).map(|i| self.e.load(list, Type::I64, i as i32)).collect();
        let dims = Dims::Decided(index, &sizes);
        let (sizes, symbols) = (&mut self.sizes, self.symbols);
        Checker { program, sizes, e: self.e, symbols, dims, fail, checks: 0, applies: None }.phase(index + 1)
    }

    /// What an action prepared now is to be given as the address of a buffer.
    fn address(&mut self, value: Value) -> Result<Word, String> {
        match self.addresses.get(&self.program.root(value)) {
            Some(Address::Known(address)) => Ok(Word::Known(*address)),
            Some(Address::Element(array, index)) => {
                Ok(Word::Known(self.e.load_here(*array, ptr_type(self.e.cx()), *index)))
            }
            Some(Address::Slot(slot)) => Ok(Word::Slot(*slot)),
            None => Err("a buffer is neither argument, constant nor temporary".to_owned()),
        }
    }

    /// The value where the builder stands.
    fn word(&mut self, word: Word) -> Value {
        match (word, self.slots) {
            (Word::Known(value), _) => value,
            (Word::Slot(slot), Some(slots)) => self.e.load_here(slots, ptr_type(self.e.cx()), slot),
            (Word::Slot(_), None) => unreachable!("a temporary in a slot makes the array of slots"),
        }
    }

    fn slot(&self, value: Value) -> Result<i32, String> {
        match self.addresses.get(&value) {
            Some(Address::Slot(slot)) => Ok(*slot),
            _ => Err("a buffer that is no temporary changes its memory".to_owned()),
        }
    }

    fn prepare_exchange(&mut self, exchange: ExchangeOp<'_>) -> Result<Ready, String> {
        Ok(Ready::Exchange([self.slot(exchange.first())?, self.slot(exchange.second())?]))
    }

    fn perform_exchange(&mut self, [first, second]: [i32; 2]) {
        let Some(slots) = self.slots else { return };
        let addresses = [first, second].map(|slot| self.e.load_here(slots, ptr_type(self.e.cx()), slot));
        self.e.store(addresses[0], slots, second);
        self.e.store(addresses[1], slots, first);
    }

    fn prepare(&mut self, action: &'p Action<'_>) -> Result<Ready, String> {
        match action {
            Action::Launch(launch) => self.prepare_launch(launch),
            Action::Packed(launches) if self.program.on_device => {
                let all = launches.iter().map(|launch| self.prepare_launch(launch)).collect::<Result<_, _>>()?;
                Ok(Ready::Select(vec![(None, all)]))
            }
            Action::Packed(launches) => self.prepare_packed(launches),
            Action::Call(call) => self.prepare_call(call),
            Action::Copy(copy) => self.prepare_copy(*copy),
            Action::Exchange(exchange) => self.prepare_exchange(*exchange),
            Action::Expect(expect, number) => self.prepare_expect(*expect, *number),
            Action::Compare(view, number) => self.prepare_compare(*view, *number),
            Action::If(condition, sides) => Ok(Ready::If(self.address(*condition)?, self.prepare_sides(sides)?)),
            Action::While(condition, sides) => Ok(Ready::While(self.address(*condition)?, self.prepare_sides(sides)?)),
            Action::Select(versions) => {
                let mut ready = Vec::with_capacity(versions.len());
                for (i, (guard, inside)) in versions.iter().enumerate() {
                    let condition = if i + 1 < versions.len() { Some(self.sizes.guard(self.e, guard)?) } else { None };
                    let inside = inside.iter().map(|a| self.prepare(a)).collect::<Result<_, _>>()?;
                    ready.push((condition, inside));
                }
                Ok(Ready::Select(ready))
            }
        }
    }

    fn prepare_sides(&mut self, sides: &'p [Vec<Action<'_>>; 2]) -> Result<[Vec<Ready>; 2], String> {
        let mut side = |i: usize| sides[i].iter().map(|action| self.prepare(action)).collect::<Result<Vec<_>, _>>();
        Ok([side(0)?, side(1)?])
    }

    fn prepare_compare(&mut self, view: ViewOp<'_>, number: i64) -> Result<Ready, String> {
        let op = view.op_ref();
        let (from, to) = (&buffer_type(op, view.buffer()).dims, &buffer_type(op, view.result()).dims);
        let check = self.sizes.constant(self.e, number);
        let sizes = from.iter().zip(to);
        let sizes = sizes.map(|(from, to)| Ok((self.sizes.value(self.e, from)?, self.sizes.value(self.e, to)?)));
        Ok(Ready::Compare { check, sizes: sizes.collect::<Result<_, String>>()? })
    }

    /// Reports the first size that is another one, and ends the run: nothing is touched by what goes on with wrong sizes.
    fn perform_compare(&mut self, check: Value, sizes: &[(Value, Value)]) {
        for (dim, (given, wanted)) in sizes.iter().enumerate().filter(|(_, (given, wanted))| given != wanted) {
            let wrong = self.e.compare(Pred::Ne, *given, *wanted);
            let conditional = self.e.begin_if(wrong);
            let report = self.e.load(self.table, ptr_type(self.e.cx()), REPORT_SLOT);
            let position = self.e.i64(dim as i64);
            self.e.call_pointer(report, &[self.context, check, position, *given, *wanted]);
            self.e.end_if(conditional);
            let (right, code) = (self.e.compare(Pred::Eq, *given, *wanted), self.e.i32(REPORTED));
            if let Some(fail) = self.fail {
                self.e.branch_unless(right, fail, &[code]);
            }
        }
    }

    /// What a condition in memory holds now.
    fn condition(&mut self, address: Word) -> Value {
        let address = self.word(address);
        if self.program.on_device {
            return self.condition_on_device(address);
        }
        let byte = self.e.load_here(address, Type::I8, 0);
        let zero = self.e.i8(0);
        self.e.compare(Pred::Ne, byte, zero)
    }

    /// The same in memory of a device, where the runtime looks. What goes wrong ends the run.
    fn condition_on_device(&mut self, address: Value) -> Value {
        let look = self.e.load(self.table, ptr_type(self.e.cx()), LOOK_SLOT);
        let found = self.e.call_pointer_for(look, &[self.context, address], Type::I32);
        let zero = self.e.i32(0);
        let fine = self.e.compare(Pred::Sge, found, zero);
        if let Some(fail) = self.fail {
            self.e.branch_unless(fine, fail, &[found]);
        }
        self.e.compare(Pred::Ne, found, zero)
    }

    /// Blocks, not regions: what stands in them may end the run. `fill` emits the first side for 0, the other for 1.
    fn perform_if(
        &mut self,
        condition: Word,
        fill: &mut dyn FnMut(&mut Self, usize) -> Result<(), String>,
    ) -> Result<(), String> {
        let holds = self.condition(condition);
        let blocks = [self.e.block(self.fail), self.e.block(self.fail)];
        let behind = self.e.block(self.fail);
        self.e.branch_to(holds, blocks);
        for (side, block) in blocks.into_iter().enumerate() {
            self.e.b.set_to_end(block);
            fill(self, side)?;
            self.e.branch(behind);
        }
        self.e.b.set_to_end(behind);
        Ok(())
    }

    /// A loop ends with the run once anything was reported: what follows may be nonsense for which it would never end. `fill` emits
    /// what makes the condition for 0, and what follows where it holds for 1.
    fn perform_while(
        &mut self,
        condition: Word,
        fill: &mut dyn FnMut(&mut Self, usize) -> Result<(), String>,
    ) -> Result<(), String> {
        let [first, inside, behind] = [0; 3].map(|_| self.e.block(self.fail));
        self.e.branch(first);
        self.e.b.set_to_end(first);
        fill(self, 0)?;
        let reported = self.e.load_here(self.table, Type::I32, REPORTED_WORD);
        let (zero, code) = (self.e.i32(0), self.e.i32(REPORTED));
        let fine = self.e.compare(Pred::Eq, reported, zero);
        if let Some(fail) = self.fail {
            self.e.branch_unless(fine, fail, &[code]);
        }
        let holds = self.condition(condition);
        self.e.branch_to(holds, [inside, behind]);
        self.e.b.set_to_end(inside);
        fill(self, 1)?;
        self.e.branch(first);
        self.e.b.set_to_end(behind);
        Ok(())
    }

    fn perform_all(&mut self, actions: &[Ready]) -> Result<(), String> {
        actions.iter().try_for_each(|action| self.perform(action))
    }

    fn prepare_launch(&mut self, launch: &'p Launch<'_>) -> Result<Ready, String> {
        let (buffers, dims) = self.arguments(launch)?;
        let groups = self.sizes.value(self.e, &launch.groups)?;
        if launch.groups_of_block.is_some() {
            let words = self.words(launch, buffers, dims)?;
            let number = self.kernels.iter().position(|kernel| kernel.symbol == launch.op.callee());
            let number = number.ok_or_else(|| format!("@{} is not among the kernels", launch.op.callee()))?;
            let kernel = self.sizes.constant(self.e, number as i64);
            let count = self.sizes.constant(self.e, words.len() as i64);
            return Ok(Ready::Enqueue { kernel, words, count, groups });
        }
        let grain = self.grain(&launch.work, &launch.groups)?;
        let checks = (!launch.signature.checks.is_empty()).then(|| self.sizes.constant(self.e, launch.first_check));
        Ok(Ready::Launch { kernel: launch.op.callee().to_owned(), buffers, checks, dims, groups, grain })
    }

    /// What a kernel of a device is given: buffers and sizes. One that checks data gets the place for its reports behind its
    /// buffers, and behind its sizes the number of its first check.
    fn words(&mut self, launch: &Launch<'_>, buffers: Vec<Word>, dims: Vec<Value>) -> Result<Vec<Word>, String> {
        let dims: Vec<Word> = dims.into_iter().map(Word::Known).collect();
        if launch.signature.checks.is_empty() {
            return Ok([buffers, dims].concat());
        }
        // The runtime reads the number of a check from so many bits.
        if self.program.data_checks.len() > usize::from(u16::MAX) {
            return Err(format!("kernels of a device check data in more than {} ways", u16::MAX));
        }
        let reports = self.reports.ok_or_else(|| format!("@{} has checks that have no number", launch.op.callee()))?;
        let first = self.sizes.constant(self.e, launch.first_check);
        Ok([buffers, vec![Word::Known(reports)], dims, vec![Word::Known(first)]].concat())
    }

    /// Addresses of the buffers, and the sizes.
    fn arguments(&mut self, launch: &'p Launch<'_>) -> Result<(Vec<Word>, Vec<Value>), String> {
        let buffers = launch.op.buffers().map(|b| self.address(b)).collect::<Result<_, _>>()?;
        let dims = launch.dims.iter().map(|d| self.sizes.value(self.e, d)).collect::<Result<_, _>>()?;
        Ok((buffers, dims))
    }

    /// One launch of the function that runs the parts; see [`super::packed`] for what it takes.
    fn prepare_packed(&mut self, launches: &'p [Launch<'_>]) -> Result<Ready, String> {
        let dispatcher = packed::find(&self.program.dispatchers, launches);
        let dispatcher = dispatcher.ok_or_else(|| "no function runs these launches".to_owned())?;
        let (mut buffers, mut dims, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        let (mut work, mut all) = (Poly::default(), Poly::default());
        for launch in launches {
            if !launch.signature.checks.is_empty() {
                return Err(format!(
                    "@{} checks its data, which launches that run together cannot",
                    launch.op.callee()
                ));
            }
            let (own_buffers, own_dims) = self.arguments(launch)?;
            buffers.extend(own_buffers);
            dims.extend(own_dims);
            (work, all) = (work.add(&launch.work), all.add(&launch.groups));
            let own = self.sizes.value(self.e, &launch.groups)?;
            let end = ends.last().map_or(own, |before| self.e.int("arith.addi", *before, own));
            ends.push(end);
        }
        let groups = *ends.last().ok_or_else(|| "'rt.packed' launches nothing".to_owned())?;
        let grain = self.grain(&work, &all)?;
        let dims = [ends, dims].concat();
        Ok(Ready::Launch { kernel: dispatcher.name.clone(), buffers, checks: None, dims, groups, grain })
    }

    /// The fewest of `groups` that are worth a thread: those that together do `grain_work` scalar operations, if all do
    /// `work`.
    fn grain(&mut self, work: &Poly, groups: &Poly) -> Result<Value, String> {
        let one = self.sizes.constant(self.e, 1);
        let per_group = match work.divide_exact(groups) {
            Some(per_group) => {
                if let Some(work) = per_group.as_const() {
                    let grain = self.grain_work / work.max(1);
                    return Ok(self.sizes.constant(self.e, grain.max(1)));
                }
                self.sizes.value(self.e, &per_group)?
            }
            None => {
                let (work, groups) = (self.sizes.value(self.e, work)?, self.sizes.value(self.e, groups)?);
                let groups = self.e.int("arith.maxsi", groups, one);
                self.e.int("arith.divsi", work, groups)
            }
        };
        let per_group = self.e.int("arith.maxsi", per_group, one);
        let grain_work = self.sizes.constant(self.e, self.grain_work);
        let grain = self.e.int("arith.divsi", grain_work, per_group);
        Ok(self.e.int("arith.maxsi", grain, one))
    }

    fn prepare_copy(&mut self, copy: CopyOp<'_>) -> Result<Ready, String> {
        let (from, to) = (self.address(copy.from())?, self.address(copy.to())?);
        let op = sutura_ir::OpView::op_ref(&copy);
        let bytes = self.sizes.value(self.e, &buffer_type(op, copy.from()).bytes(op.cx))?;
        Ok(Ready::Copy { from, to, bytes })
    }

    fn prepare_call(&mut self, call: &Call<'_>) -> Result<Ready, String> {
        let op = call.op.op_ref();
        let (inputs, outputs, scratch) = (call.op.inputs(), call.op.outputs(), call.op.scratch());
        let counts = [inputs.clone().count(), outputs.clone().count(), usize::from(scratch.is_some())];
        let mut numbers: Vec<Poly> = counts.iter().map(|count| Poly::constant(*count as i64)).collect();
        let (params, types) = self.places(call)?;
        for ty in inputs.map(|value| buffer_type(op, value).clone()).chain(types) {
            let name = interface_text::element_name(op.cx, ty.elem);
            let code = ELEMENTS.iter().position(|known| *known == name);
            let code =
                code.ok_or_else(|| format!("the routine '{}' takes no elements of type {name}", call.routine.name))?;
            numbers.extend([code, ty.dims.len()].map(|n| Poly::constant(n as i64)));
            numbers.extend(ty.dims.iter().cloned());
        }
        numbers.extend(scratch.map(|v| buffer_type(op, v).bytes(op.cx)));
        for param in &params {
            numbers.push(Poly::constant(param.len() as i64));
            numbers.extend(param.iter().cloned());
        }
        let numbers = numbers.iter().map(|size| self.sizes.value(self.e, size)).collect::<Result<_, _>>()?;
        let buffers = op.operands().map(|v| self.address(v)).collect::<Result<_, _>>()?;
        let symbol = self.e.address_of(&symbol_variable(call.routine));
        Ok(Ready::Call { symbol, buffers, numbers })
    }

    /// The parameters and the types of outputs that a call is told: what it decides is given as the places that there are.
    fn places(&self, call: &Call<'_>) -> Result<(Vec<Vec<Poly>>, Vec<BufferType>), String> {
        let op = call.op.op_ref();
        let (mut params, outputs) = (call.params.clone(), call.op.outputs().map(|v| buffer_type(op, v).clone()));
        let mut outputs: Vec<BufferType> = outputs.collect();
        let Some((_, decision, places)) = self.program.decision(call.op) else { return Ok((params, outputs)) };
        for (param, places) in decision.params.iter().zip(places) {
            params[*param] = vec![places.clone()];
        }
        let inputs: Vec<&BufferType> = call.op.inputs().map(|v| buffer_type(op, v)).collect();
        let typed = inputs.iter().map(|ty| Typed { elem: ty.elem, is_float: ty.elem.is_float(op.cx), dims: &ty.dims });
        let typed: Vec<Typed<'_, Poly, Type>> = typed.collect();
        let arguments = Arguments { inputs: &typed, params: &params };
        for (output, (_, rule)) in outputs.iter_mut().zip(call.routine.outputs_of(inputs.len())) {
            let dims = arguments.dims(call.routine, rule).ok_or("an output is too large to be computed")?;
            output.dims = dims.unwrap_or_else(|| output.dims.clone());
        }
        Ok((params, outputs))
    }

    /// Ends the run with what the routine returns, unless that is 0.
    fn perform_call(&mut self, symbol: Value, buffers: &[Word], numbers: &[Value]) {
        self.store_words(buffers);
        for (i, number) in numbers.iter().enumerate() {
            self.e.store(*number, self.dim_array, i as i32);
        }
        let call = self.e.load(self.table, ptr_type(self.e.cx()), CALL_SLOT);
        let counts = [buffers.len(), numbers.len()].map(|count| self.e.i32(count as i64));
        let args = [self.context, symbol, self.buffer_array, self.dim_array, counts[0], counts[1]];
        let result = self.e.call_pointer_for(call, &args, Type::I32);
        let zero = self.e.i32(0);
        let fine = self.e.compare(Pred::Eq, result, zero);
        if let Some(fail) = self.fail {
            self.e.branch_unless(fine, fail, &[result]);
        }
    }

    fn prepare_expect(&mut self, expect: ExpectOp<'_>, number: i64) -> Result<Ready, String> {
        let op = sutura_ir::OpView::op_ref(&expect);
        let elem = BufferType::of(op.cx, op.ty(expect.list())).map_or(Type::I64, |ty| ty.elem);
        let (list, check) = (self.address(expect.list())?, self.sizes.constant(self.e, number));
        let sizes = expect.sizes().into_iter().zip(expect.copied());
        let sizes =
            sizes.map(|(wanted, copied)| Ok((self.sizes.value(self.e, &wanted)?, self.sizes.value(self.e, &copied)?)));
        let sizes = sizes.collect::<Result<_, String>>()?;
        Ok(Ready::Expect { list, elem, check, sizes })
    }

    /// Reports each element that asks for another size; the runtime keeps the first.
    fn perform_expect(&mut self, list: Value, elem: Type, check: Value, sizes: &[(Value, Value)]) {
        let (zero, minus) = (self.e.i64(0), self.e.i64(-1));
        let mut open = self.e.truth(true);
        for (i, (wanted, copied)) in sizes.iter().enumerate() {
            let mut given = self.e.load(list, elem, i as i32);
            if elem != Type::I64 {
                given = self.e.value("arith.extsi", &[given], Type::I64, &[]);
            }
            let is_zero = self.e.compare(Pred::Eq, given, zero);
            let is_minus = self.e.compare(Pred::Eq, given, minus);
            let is_open = self.e.and(is_minus, open);
            let meant = self.e.value("arith.select", &[is_zero, *copied, given], Type::I64, &[]);
            let meant = self.e.value("arith.select", &[is_open, *wanted, meant], Type::I64, &[]);
            let no = self.e.truth(false);
            let used = self.e.same(is_minus, no);
            open = self.e.and(open, used);
            let wrong = self.e.compare(Pred::Ne, meant, *wanted);
            let conditional = self.e.begin_if(wrong);
            let ptr = ptr_type(self.e.cx());
            let report = self.e.load(self.table, ptr, REPORT_SLOT);
            let position = self.e.i64(i as i64);
            self.e.call_pointer(report, &[self.context, check, position, given, *wanted]);
            self.e.end_if(conditional);
        }
    }

    /// Fills the array of buffers.
    fn store_words(&mut self, words: &[Word]) {
        for (i, word) in words.iter().enumerate() {
            let value = self.word(*word);
            self.e.store(value, self.buffer_array, i as i32);
        }
    }

    fn perform(&mut self, action: &Ready) -> Result<(), String> {
        match action {
            Ready::Exchange(slots) => self.perform_exchange(*slots),
            Ready::Call { symbol, buffers, numbers } => self.perform_call(*symbol, buffers, numbers),
            Ready::Expect { list, elem, check, sizes } => {
                let list = self.word(*list);
                self.perform_expect(list, *elem, *check, sizes);
            }
            Ready::Launch { kernel, buffers, checks, dims, groups, grain } => {
                self.store_words(buffers);
                if let Some(first) = checks {
                    // What a kernel needs to report what is wrong.
                    self.e.store(self.table, self.buffer_array, buffers.len() as i32);
                    self.e.store(*first, self.buffer_array, buffers.len() as i32 + 1);
                }
                for (i, dim) in dims.iter().enumerate() {
                    self.e.store(*dim, self.dim_array, i as i32);
                }
                let kernel = self.kernel_address(kernel);
                let args = [self.context, kernel, self.buffer_array, self.dim_array, *groups, *grain];
                self.e.call_pointer(self.start, &args);
            }
            Ready::Enqueue { kernel, words, count, groups } => {
                self.store_words(words);
                let args = [self.context, *kernel, self.buffer_array, *count, *groups];
                self.e.call_pointer(self.start, &args);
            }
            Ready::Copy { from, to, bytes } => {
                let (from, to) = (self.word(*from), self.word(*to));
                match self.copy {
                    Some(copy) => self.e.call_pointer(copy, &[self.context, from, to, *bytes]),
                    None => {
                        let volatile = self.e.cx().bool_attr(false);
                        self.e.op("llvm.intr.memcpy", &[to, from, *bytes], &[], &[("isVolatile", volatile)]);
                    }
                }
            }
            Ready::Compare { check, sizes } => self.perform_compare(*check, sizes),
            Ready::Select(versions) => self.select(versions)?,
            Ready::If(condition, sides) => {
                self.perform_if(*condition, &mut |run, side| run.perform_all(&sides[side]))?;
            }
            Ready::While(condition, sides) => {
                self.perform_while(*condition, &mut |run, side| run.perform_all(&sides[side]))?;
            }
        }
        Ok(())
    }

    /// Nested conditionals, one for each guard.
    fn select(&mut self, versions: &[(Option<Value>, Vec<Ready>)]) -> Result<(), String> {
        let mut open = Vec::new();
        for (condition, inside) in versions {
            let conditional = condition.map(|condition| self.e.begin_if(condition));
            self.perform_all(inside)?;
            if let Some(op) = conditional {
                self.e.otherwise(op);
                open.push(op);
            }
        }
        while let Some(op) = open.pop() {
            self.e.end_if(op);
        }
        Ok(())
    }

    fn kernel_address(&mut self, name: &str) -> Value {
        let cx = self.e.cx();
        let ptr = ptr_type(cx);
        let ty = cx.function_type(&[ptr, ptr, Type::I64, Type::I64], &[]);
        let function = self.e.value("func.constant", &[], ty, &[("value", cx.symbol_ref(name))]);
        self.e.value("builtin.unrealized_conversion_cast", &[function], ptr, &[])
    }
}
