//! The engine: runs blocks op by op, each through the hook that its dialect attached.

use std::any::{Any, TypeId};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use sutura_ir::body::Value as SsaValue;
use sutura_ir::op_ref::lookup_symbol;
use sutura_ir::{Attr, AttrData, Block, Body, Context, Ident, Module, Op, OpName, OpRef, Region, RegionRef, Type};

use crate::error::{Fault, FaultKind, InterpError};
use crate::memory::{MemRef, Memory};
use crate::tensor::Tensor;
use crate::value::Value;

/// Values handed to a block or back from a region.
pub type Values = SmallVec<[Value; 2]>;

/// Where execution goes after an op.
#[derive(Clone, Debug)]
pub enum Flow {
    /// To the next op of the block.
    Next,
    /// To a block of the same region, with its arguments.
    Branch(Block, Values),
    /// Out of the region, handing values to the op around it: to the caller for a function's region.
    Yield(Values),
}

/// What an op does when the program runs. Attached to ops as an interface:
/// `d.interface::<dyn Interpret>("arith.addi", &ADDI)`.
pub trait Interpret: Send + Sync {
    /// Reads operands from `frame`, sets every result, and says where to go.
    ///
    /// # Errors
    /// Any fault of the program; never panics on what the verifier accepts.
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError>;
}

impl<F> Interpret for F
where
    F: Fn(OpRef<'_>, &mut Frame<'_>) -> Result<Flow, InterpError> + Send + Sync,
{
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
        self(op, frame)
    }
}

/// How a symbol op is called, where that is not "run the first region with the arguments". An interface.
pub trait Callable: Send + Sync {
    /// Runs `op`, the definition of the symbol, on behalf of `frame`'s op.
    ///
    /// # Errors
    /// Any fault of the program.
    fn call(&self, op: OpRef<'_>, args: Values, frame: &mut Frame<'_>) -> Result<Values, InterpError>;
}

/// A function that stands for a declaration without a body.
pub type NativeFn = dyn Fn(&mut Memory, &[Value]) -> Result<Vec<Value>, Fault> + Send + Sync;

/// What a run may use before it is stopped with an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Ops that may be executed.
    pub steps: u64,
    /// Regions and calls that may be active at once.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 1 << 40, depth: 1000 }
    }
}

/// Stack for a run: the depth limit times far more than one level of engine and hook takes in an unoptimised build.
/// Only what is touched is ever backed by memory.
const STACK_BYTES_PER_LEVEL: usize = 64 << 10;

enum Hook {
    Unknown,
    None,
    Some(&'static dyn Interpret),
}

/// What all frames of a run share.
struct State {
    memory: Memory,
    extensions: FxHashMap<TypeId, Box<dyn Any + Send>>,
    hooks: Vec<Hook>,
    symbols: FxHashMap<(usize, Ident), Option<Op>>,
    natives: FxHashMap<Ident, Arc<NativeFn>>,
    constants: FxHashMap<Attr, Value>,
    resources: FxHashMap<Ident, Tensor>,
    /// Environments of finished frames, kept for their allocations.
    spare: Vec<Vec<Option<Value>>>,
    limits: Limits,
    steps: u64,
    depth: u32,
}

/// Runs functions of a module. Memory, extensions and counters live as long as the interpreter, over several calls.
pub struct Interpreter<'m> {
    cx: &'m Context,
    module: &'m Module,
    state: State,
}

impl<'m> Interpreter<'m> {
    /// An interpreter of `module`, which should be verified.
    pub fn new(cx: &'m Context, module: &'m Module) -> Self {
        let state = State {
            memory: Memory::default(),
            extensions: FxHashMap::default(),
            hooks: Vec::new(),
            symbols: FxHashMap::default(),
            natives: FxHashMap::default(),
            constants: FxHashMap::default(),
            resources: FxHashMap::default(),
            spare: Vec::new(),
            limits: Limits::default(),
            steps: 0,
            depth: 0,
        };
        Self { cx, module, state }
    }

    /// Sets what a run may use.
    pub fn set_limits(&mut self, limits: Limits) {
        self.state.limits = limits;
    }

    /// Gives the declaration `@name` a meaning.
    pub fn define(
        &mut self,
        name: &str,
        function: impl Fn(&mut Memory, &[Value]) -> Result<Vec<Value>, Fault> + Send + Sync + 'static,
    ) {
        self.state.natives.insert(self.cx.ident(name), Arc::new(function));
    }

    /// Gives `dense_resource<key>` its elements.
    pub fn set_resource(&mut self, key: &str, value: Tensor) {
        self.state.resources.insert(self.cx.ident(key), value);
    }

    /// The program's memory, for making memref arguments and reading them back.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.state.memory
    }

    /// The extension storage of type `T`, shared by all hooks of this interpreter.
    pub fn extension<T: Default + Send + 'static>(&mut self) -> &mut T {
        extension(&mut self.state)
    }

    /// Ops executed so far.
    pub fn steps(&self) -> u64 {
        self.state.steps
    }

    /// Calls the function `name` of the module.
    ///
    /// Runs on a thread of its own, whose stack is sized for the depth limit.
    ///
    /// # Errors
    /// When there is no such function, the arguments do not fit, or the program faults.
    pub fn call(&mut self, name: &str, args: &[Value]) -> Result<Vec<Value>, InterpError> {
        let (cx, module, state) = (self.cx, self.module, &mut self.state);
        state.depth = 0;
        let stack = STACK_BYTES_PER_LEVEL * (state.limits.depth as usize + 16);
        let args: Values = args.iter().cloned().collect();
        let name = cx.ident(name);
        let run = move || {
            let root = module.op_ref(cx);
            let body = module.root();
            let mut frame = Frame { cx, root, table: root, state, body, env: Vec::new(), op: module.op() };
            frame.call(name, args).map(|values| values.into_vec())
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("interpreter".to_owned()).stack_size(stack);
            match thread.spawn_scoped(scope, run) {
                Ok(handle) => handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(e) => {
                    let message = format!("no thread for the interpreter could be started: {e}");
                    Err(Fault::new(FaultKind::Limit, message).into())
                }
            }
        })
    }
}

fn extension<T: Default + Send + 'static>(state: &mut State) -> &mut T {
    let entry = state.extensions.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(T::default()));
    entry.downcast_mut().expect("stored under its own type")
}

/// One activation of a body: the values of its SSA names, and access to everything the run shares.
pub struct Frame<'f> {
    cx: &'f Context,
    /// The top-level op.
    root: OpRef<'f>,
    /// The nearest symbol table.
    table: OpRef<'f>,
    state: &'f mut State,
    body: &'f Body,
    env: Vec<Option<Value>>,
    /// The op that is being executed.
    op: Op,
}

impl<'f> Frame<'f> {
    /// Context.
    pub fn cx(&self) -> &'f Context {
        self.cx
    }

    /// The op that is being executed.
    pub fn op(&self) -> OpRef<'f> {
        OpRef::new(self.cx, self.body, self.op)
    }

    // ---- values

    /// What an SSA value of this body holds.
    ///
    /// # Errors
    /// When it was not computed: the IR breaks dominance.
    pub fn get(&self, value: SsaValue) -> Result<&Value, Fault> {
        self.env[value.index()].as_ref().ok_or_else(not_computed)
    }

    /// Operand `index` of the current op.
    ///
    /// # Errors
    /// When it was not computed or does not exist.
    pub fn operand(&self, index: usize) -> Result<&Value, Fault> {
        self.get(self.operand_name(index)?)
    }

    /// Operand `index`, moved out when nothing can read it after the current op, so that it may be changed in place.
    ///
    /// # Errors
    /// When it was not computed or does not exist.
    pub fn take(&mut self, index: usize) -> Result<Value, Fault> {
        let value = self.operand_name(index)?;
        let slot = &mut self.env[value.index()];
        // Defined in this block: the next time around it is computed anew.
        let last = self.body.has_one_use(value) && self.body.value_block(value) == self.body.op_block(self.op);
        let taken = if last { slot.take() } else { slot.clone() };
        taken.ok_or_else(not_computed)
    }

    /// Operands in `range`, moved out where [`Frame::take`] would.
    ///
    /// # Errors
    /// When one was not computed or does not exist.
    pub fn take_range(&mut self, range: std::ops::Range<usize>) -> Result<Values, Fault> {
        range.map(|i| self.take(i)).collect()
    }

    /// All operands, moved out where [`Frame::take`] would.
    ///
    /// # Errors
    /// When one was not computed.
    pub fn take_operands(&mut self) -> Result<Values, Fault> {
        self.take_range(0..self.body.num_operands(self.op))
    }

    fn operand_name(&self, index: usize) -> Result<SsaValue, Fault> {
        let mut operands = self.body.operands(self.op);
        operands.nth(index).ok_or_else(|| Fault::invalid_ir(format!("has no operand {index}")))
    }

    /// Integer or index operand, sign-extended.
    ///
    /// # Errors
    /// When it is something else.
    pub fn int(&self, index: usize) -> Result<i64, Fault> {
        self.operand(index)?.as_int()
    }

    /// Integer or index operands in `range`, sign-extended.
    ///
    /// # Errors
    /// When one is something else.
    pub fn ints(&self, range: std::ops::Range<usize>) -> Result<SmallVec<[i64; 4]>, Fault> {
        range.map(|i| self.int(i)).collect()
    }

    /// Tensor operand.
    ///
    /// # Errors
    /// When it is something else.
    pub fn tensor(&self, index: usize) -> Result<&Tensor, Fault> {
        self.operand(index)?.tensor()
    }

    /// Tensor operand, moved out where [`Frame::take`] would.
    ///
    /// # Errors
    /// When it is something else.
    pub fn take_tensor(&mut self, index: usize) -> Result<Tensor, Fault> {
        match self.take(index)? {
            Value::Tensor(tensor) => Ok(tensor),
            other => Err(other.tensor().expect_err("matched above")),
        }
    }

    /// Vector operand.
    ///
    /// # Errors
    /// When it is something else.
    pub fn vector(&self, index: usize) -> Result<&Tensor, Fault> {
        self.operand(index)?.vector()
    }

    /// Memref operand.
    ///
    /// # Errors
    /// When it is something else.
    pub fn memref(&self, index: usize) -> Result<Arc<MemRef>, Fault> {
        self.operand(index)?.memref().cloned()
    }

    /// Sets result `index` of the current op.
    ///
    /// # Errors
    /// When the value does not fit the result's type.
    pub fn set(&mut self, index: usize, value: impl Into<Value>) -> Result<(), Fault> {
        if index >= self.body.num_results(self.op) {
            return Err(Fault::invalid_ir(format!("has no result {index}")));
        }
        self.bind(self.body.result(self.op, index), value.into())
    }

    /// Sets all results of the current op.
    ///
    /// # Errors
    /// When their number or a type does not fit.
    pub fn set_results(&mut self, values: Values) -> Result<(), Fault> {
        let count = self.body.num_results(self.op);
        if values.len() != count {
            return Err(Fault::invalid_ir(format!("has {count} results where {} values arrive", values.len())));
        }
        values.into_iter().enumerate().try_for_each(|(i, value)| self.set(i, value))
    }

    fn bind(&mut self, name: SsaValue, value: Value) -> Result<(), Fault> {
        value.check_type(self.cx, self.body.ty(name))?;
        self.env[name.index()] = Some(value);
        Ok(())
    }

    /// Type of result `index` of the current op.
    ///
    /// # Errors
    /// When it does not exist.
    pub fn result_type(&self, index: usize) -> Result<Type, Fault> {
        self.op().result_types().nth(index).ok_or_else(|| Fault::invalid_ir(format!("has no result {index}")))
    }

    // ---- shared state

    /// The program's memory.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.state.memory
    }

    /// The extension storage of type `T`, made with its default on first use.
    pub fn extension<T: Default + Send + 'static>(&mut self) -> &mut T {
        extension(self.state)
    }

    /// Counts work that a hook does without running ops: `steps` op executions' worth.
    ///
    /// # Errors
    /// When the step limit is passed.
    pub fn charge(&mut self, steps: u64) -> Result<(), Fault> {
        self.state.steps = self.state.steps.saturating_add(steps);
        if self.state.steps > self.state.limits.steps {
            let message = format!("the limit of {} steps was passed", self.state.limits.steps);
            return Err(Fault::new(FaultKind::Limit, message));
        }
        Ok(())
    }

    /// The value of a constant attribute; elements of tensors are decoded once per interpreter.
    ///
    /// # Errors
    /// See [`crate::constant`].
    pub fn constant(&mut self, attr: Attr) -> Result<Value, Fault> {
        if let Some(value) = self.state.constants.get(&attr) {
            return Ok(value.clone());
        }
        let value = match self.cx.attr_data(attr) {
            AttrData::DenseResource { ty, key } if self.state.resources.contains_key(&key) => {
                crate::constant::shaped(self.cx, ty, self.state.resources[&key].clone())?
            }
            _ => crate::constant::constant(self.cx, attr)?,
        };
        if !matches!(value, Value::Scalar(_)) {
            self.state.constants.insert(attr, value.clone());
        }
        Ok(value)
    }

    // ---- control

    /// Runs a region of the current op (or of a symbol op) from its entry block with `args`, and returns what its
    /// terminator hands back.
    ///
    /// A region of this body sees this frame's values; one of another body gets a frame of its own.
    ///
    /// # Errors
    /// Any fault inside; an empty region; arguments that do not fit the entry block.
    pub fn run_region(&mut self, region: RegionRef<'_>, args: Values) -> Result<Values, InterpError> {
        self.enter()?;
        let result = if std::ptr::eq(region.body, self.body) {
            self.run_blocks(region.region, args)
        } else {
            let table = self.table;
            self.run_inside(region, table, args)
        };
        self.state.depth -= 1;
        result
    }

    /// Counts one more active region.
    fn enter(&mut self) -> Result<(), Fault> {
        if self.state.depth >= self.state.limits.depth {
            let message = format!("more than {} regions and calls are active at once", self.state.limits.depth);
            return Err(Fault::new(FaultKind::Limit, message));
        }
        self.state.depth += 1;
        Ok(())
    }

    /// Runs a region of another body in a new frame.
    fn run_inside(&mut self, region: RegionRef<'_>, table: OpRef<'_>, args: Values) -> Result<Values, InterpError> {
        let mut env = self.state.spare.pop().unwrap_or_default();
        env.resize(region.body.value_slots(), None);
        let state = &mut *self.state;
        let op = self.op;
        let mut inner = Frame { cx: self.cx, root: self.root, table, state, body: region.body, env, op };
        let result = inner.run_blocks(region.region, args);
        let mut env = inner.env;
        env.clear();
        self.state.spare.push(env);
        result
    }

    fn run_blocks(&mut self, region: Region, args: Values) -> Result<Values, InterpError> {
        let outer = self.op;
        let mut block = self.body.region_entry(region).ok_or_else(|| Fault::invalid_ir("the region is empty"))?;
        let mut args = args;
        loop {
            self.bind_args(block, args)?;
            match self.run_block(block)? {
                Flow::Branch(next, values) => (block, args) = (next, values),
                Flow::Yield(values) => {
                    self.op = outer;
                    return Ok(values);
                }
                // The end of a block without terminator.
                Flow::Next => {
                    self.op = outer;
                    return Ok(Values::new());
                }
            }
        }
    }

    fn run_block(&mut self, block: Block) -> Result<Flow, InterpError> {
        let mut next = self.body.first_op(block);
        while let Some(op) = next {
            self.op = op;
            let op_ref = OpRef::new(self.cx, self.body, op);
            let flow = self.step(op_ref).map_err(|mut e| {
                e.locate(op_ref);
                e
            })?;
            match flow {
                Flow::Next => next = self.body.next_op(op),
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn step(&mut self, op: OpRef<'_>) -> Result<Flow, InterpError> {
        self.charge(1)?;
        let hook = self.state.hook(self.cx, op.name())?;
        hook.interpret(op, self)
    }

    fn bind_args(&mut self, block: Block, args: Values) -> Result<(), Fault> {
        let names = self.body.block_args(block);
        if names.len() != args.len() {
            let message = format!("a block takes {} arguments where {} arrive", names.len(), args.len());
            return Err(Fault::invalid_ir(message));
        }
        for (&name, value) in names.iter().zip(args) {
            self.bind(name, value)?;
        }
        Ok(())
    }

    /// Calls the symbol `name`, looked up in the nearest symbol table, then in the top-level op.
    ///
    /// # Errors
    /// When it names nothing callable, the arguments do not fit, or the callee faults.
    pub fn call(&mut self, name: Ident, args: Values) -> Result<Values, InterpError> {
        let (callee, table) = self.resolve(&[name])?;
        self.call_op(callee, table, args)
    }

    /// Calls the symbol that a reference attribute (`@f`, `@m::@f`) names.
    ///
    /// # Errors
    /// When it names nothing callable, the arguments do not fit, or the callee faults.
    pub fn call_ref(&mut self, symbol: Attr, args: Values) -> Result<Values, InterpError> {
        let (callee, table) = self.resolve_ref(symbol)?;
        self.call_op(callee, table, args)
    }

    /// The op that a symbol reference names.
    ///
    /// # Errors
    /// When it names nothing.
    pub fn lookup(&mut self, symbol: Attr) -> Result<OpRef<'f>, Fault> {
        self.resolve_ref(symbol).map(|(op, _)| op)
    }

    fn resolve_ref(&mut self, symbol: Attr) -> Result<(OpRef<'f>, OpRef<'f>), Fault> {
        let AttrData::SymbolRef { root, nested } = self.cx.attr_data(symbol) else {
            return Err(Fault::invalid_ir("the callee is no symbol"));
        };
        let mut path: SmallVec<[Ident; 4]> = SmallVec::from_slice(&[root]);
        path.extend_from_slice(self.cx.idents(nested));
        self.resolve(&path)
    }

    /// The op that a path of symbols names, and the table it lies in.
    fn resolve(&mut self, path: &[Ident]) -> Result<(OpRef<'f>, OpRef<'f>), Fault> {
        for table in [self.table, self.root] {
            let (mut at, mut around) = (Some(table), table);
            for &name in path {
                around = at.expect("found by the turn before");
                at = self.state.symbol(around, name);
                if at.is_none() {
                    break;
                }
            }
            if let Some(found) = at {
                return Ok((found, around));
            }
        }
        let text = path.iter().map(|&n| format!("@{}", self.cx.str(n))).collect::<Vec<_>>().join("::");
        Err(Fault::new(FaultKind::Call, format!("no symbol {text} is defined")))
    }

    fn call_op(&mut self, callee: OpRef<'_>, table: OpRef<'_>, args: Values) -> Result<Values, InterpError> {
        let caller = self.op();
        let name = callee.symbol_name().unwrap_or_default();
        let result = match callee.interface::<dyn Callable>() {
            Some(callable) => callable.call(callee, args, self),
            None => self.call_region(callee, table, args),
        };
        result.map_err(|mut e| {
            e.locate(callee);
            e.add_trace(caller.loc(), format!("in the call of @{name}"));
            e
        })
    }

    fn call_region(&mut self, callee: OpRef<'_>, table: OpRef<'_>, args: Values) -> Result<Values, InterpError> {
        let name = callee.symbol_name().unwrap_or_default();
        let Some(entry) = callee.region(0).and_then(|r| r.entry()) else {
            return self.call_native(callee, args);
        };
        if entry.args().len() != args.len() {
            let message = format!("@{name} takes {} arguments and got {}", entry.args().len(), args.len());
            return Err(Fault::new(FaultKind::Call, message).into());
        }
        for (i, (&arg, value)) in entry.args().iter().zip(&args).enumerate() {
            let check = value.check_type(self.cx, entry.body.ty(arg));
            check.map_err(|f| Fault::new(f.kind, format!("argument {i} of @{name}: {f}")))?;
        }
        let region = callee.region(0).expect("has an entry block");
        self.enter()?;
        let result = self.run_inside(region, table, args);
        self.state.depth -= 1;
        result
    }

    fn call_native(&mut self, callee: OpRef<'_>, args: Values) -> Result<Values, InterpError> {
        let name = callee.symbol_name().unwrap_or_default();
        let Some(native) = self.state.natives.get(&self.cx.ident(name)).cloned() else {
            return Err(Fault::new(FaultKind::Call, format!("@{name} has no body to run")).into());
        };
        Ok(native(&mut self.state.memory, &args)?.into())
    }
}

fn not_computed() -> Fault {
    Fault::invalid_ir("uses a value that was not computed")
}

impl State {
    /// The op that defines `name` in `table`; looked up once.
    fn symbol<'a>(&mut self, table: OpRef<'a>, name: Ident) -> Option<OpRef<'a>> {
        let inside = table.inside();
        let key = (std::ptr::from_ref(inside) as usize, name);
        let op = *self.symbols.entry(key).or_insert_with(|| lookup_symbol(table, name).map(|found| found.op));
        op.map(|op| OpRef::new(table.cx, inside, op))
    }

    fn hook(&mut self, cx: &Context, name: OpName) -> Result<&'static dyn Interpret, Fault> {
        let index = name.index() as usize;
        if index >= self.hooks.len() {
            self.hooks.resize_with(index + 1, || Hook::Unknown);
        }
        if let Hook::Unknown = self.hooks[index] {
            let hook = name.info(cx).and_then(|info| info.interface::<dyn Interpret>());
            self.hooks[index] = hook.map_or(Hook::None, Hook::Some);
        }
        match self.hooks[index] {
            Hook::Some(hook) => Ok(hook),
            _ => Err(no_hook(cx, name)),
        }
    }
}

fn no_hook(cx: &Context, name: OpName) -> Fault {
    let why = if name.def(cx).is_some() { "defines no interpretation for it" } else { "does not register it" };
    Fault::unsupported(format!("cannot be interpreted: dialect '{}' {why}", name.dialect(cx)))
}
