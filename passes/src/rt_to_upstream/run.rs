//! `sutura_run`: buffers, launches through the runtime's table, choice of versions. Actions are prepared ([`prepare`]), which computes
//! their numbers, then performed ([`perform`], [`control`]).

mod control;
mod invoked;
mod perform;
mod prepare;

use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_ir::{Block, OpRef, OpView, Type, Value};

use super::checker::{Checker, Dims};
use super::emit::{Emit, ptr_type};
use super::interface::Kernel;
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
const ENTER_SLOT: i32 = 9;
const LEAVE_SLOT: i32 = 10;
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
    Invoke(ReadyInvoke),
    /// The numbers of the two slots.
    Exchange([i32; 2]),
    Expect {
        list: Word,
        elem: Type,
        check: Value,
        /// The size of each dimension, and the one that a 0 copies.
        sizes: Vec<(Value, Value)>,
    },
    /// The list, and what it gets.
    WriteSizes(Word, Vec<Value>),
    /// Nothing to do but to decide.
    ReadSizes,
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

/// A call of a recursive function.
struct ReadyInvoke {
    function: usize,
    /// Its inputs, then its outputs, and how many inputs there are.
    buffers: Vec<Word>,
    inputs: usize,
    /// Sizes of the inputs, one after the other.
    dims: Vec<Value>,
    symbols: usize,
    output_dims: usize,
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
    /// The addresses of all constants.
    constants: Value,
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
        Action::Call(_) | Action::Invoke(_) | Action::Compare(..) | Action::While(..) => true,
        // To look at memory of a device may fail.
        Action::If(..) => on_device,
        _ => false,
    };
    let fails = program.actions.iter().any(|action| action.any(&may_end));
    let fail = fails.then(|| failure_block(e, table));
    let calls = program.actions.iter().any(|action| action.any(&|action| matches!(action, Action::Invoke(_))));
    let fail_check = (calls || !program.info.decisions.is_empty()).then(|| failed_check_block(e, table));
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
    let inputs = (inputs, 0, program.info.inputs.iter().map(|p| p.value).collect::<Vec<_>>());
    let outputs = (outputs, 0, program.info.outputs.iter().map(|p| p.value).collect());
    let own_constants = (constants, program.before.constants, program.constants.iter().map(|c| c.buffer()).collect());
    let arrays = [inputs, outputs, own_constants];
    let many_buffers = arrays.iter().map(|(.., values)| values.len()).sum::<usize>() > MANY;
    for (array, first, values) in arrays {
        for (i, value) in values.into_iter().enumerate() {
            let index = (first + i) as i32;
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
    for list in &program.size_lists {
        let count = buffer_type(list.op_ref(), list.list()).dims.first().and_then(Poly::as_const).unwrap_or(1);
        addresses.insert(list.list(), Address::Known(e.alloca(Type::I64, count)));
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
        constants,
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
        Action::Invoke(invoke) => (invoke.op.op_ref().operands().count(), invoked::numbers_of(invoke)),
        _ => {
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
        let decides = |action: &Action<'_>| action.decides().is_some_and(|op| program.decision(op).is_some());
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
            if let Some(op) = action.decides() {
                self.decide(op)?;
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

    /// Reads and checks the sizes that an op has decided.
    fn decide(&mut self, op: OpRef<'_>) -> Result<(), String> {
        let program = self.program;
        let (Some((index, decision, _)), Some(fail)) = (program.decision(op), self.fail_check) else {
            return Ok(());
        };
        let list = decision.list.ok_or_else(|| "sizes are decided that no list tells".to_owned())?;
        let list = self.address(list)?;
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
}
