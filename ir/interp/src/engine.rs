//! The interpreter and what dialects implement for it.

use std::any::{Any, TypeId};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use sutura_ir::op_ref::lookup_symbol;
use sutura_ir::{Attr, Block, Body, Context, Ident, Module, Op, OpRef};

use crate::code::{Code, decode};
use crate::error::{Fault, FaultKind, InterpError};
use crate::frame::Frame;
use crate::memory::Memory;
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
/// `d.op_interface::<AddIOp<'_>, dyn Interpret>(&ADDI)`.
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

/// Looks at what the function that is called does, op by op; not at what runs inside its ops.
pub trait Observer: Send {
    /// Before an op runs: its operands are there.
    ///
    /// # Errors
    /// What ends the run.
    fn before(&mut self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<(), InterpError>;

    /// After it ran: its results are there, and [`Frame::retell`] puts others in their place.
    ///
    /// # Errors
    /// What ends the run.
    fn after(&mut self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<(), InterpError>;
}

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

/// What all frames of a run share.
pub(crate) struct State {
    pub(crate) memory: Memory,
    pub(crate) extensions: FxHashMap<TypeId, Box<dyn Any + Send>>,
    /// Decoded blocks, by their body's address and their number.
    pub(crate) code: FxHashMap<(usize, usize), Arc<Code>>,
    pub(crate) symbols: FxHashMap<(usize, Ident), Option<Op>>,
    pub(crate) natives: FxHashMap<Ident, Arc<NativeFn>>,
    pub(crate) constants: FxHashMap<Attr, Value>,
    pub(crate) resources: FxHashMap<Ident, Tensor>,
    /// Environments of finished frames, kept for their allocations.
    pub(crate) spare: Vec<Vec<Option<Value>>>,
    pub(crate) observer: Option<Box<dyn Observer>>,
    pub(crate) limits: Limits,
    pub(crate) steps: u64,
    pub(crate) depth: u32,
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
            code: FxHashMap::default(),
            symbols: FxHashMap::default(),
            natives: FxHashMap::default(),
            constants: FxHashMap::default(),
            resources: FxHashMap::default(),
            spare: Vec::new(),
            observer: None,
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

    /// Lets somebody look at the function that is called next.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.state.observer = Some(observer);
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
            let mut frame = Frame::outermost(root, body, state);
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

pub(crate) fn extension<T: Default + Send + 'static>(state: &mut State) -> &mut T {
    let entry = state.extensions.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(T::default()));
    entry.downcast_mut().expect("stored under its own type")
}

impl State {
    /// The op that defines `name` in `table`; looked up once.
    pub(crate) fn symbol<'a>(&mut self, table: OpRef<'a>, name: Ident) -> Option<OpRef<'a>> {
        let inside = table.inside();
        let key = (std::ptr::from_ref(inside) as usize, name);
        let op = *self.symbols.entry(key).or_insert_with(|| lookup_symbol(table, name).map(|found| found.op));
        op.map(|op| OpRef::new(table.cx, inside, op))
    }

    /// A block, decoded once.
    pub(crate) fn code(&mut self, cx: &Context, body: &Body, block: Block) -> Arc<Code> {
        let key = (std::ptr::from_ref(body) as usize, block.index());
        self.code.entry(key).or_insert_with(|| Arc::new(decode(cx, body, block))).clone()
    }
}
