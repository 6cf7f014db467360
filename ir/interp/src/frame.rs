//! Frames: the values of one activation of a body, and how blocks, regions and calls run.

use std::sync::Arc;

use smallvec::SmallVec;
use sutura_ir::body::Value as SsaValue;
use sutura_ir::{Attr, AttrData, Block, Body, Context, Ident, Op, OpName, OpRef, Region, RegionRef, Type};

use crate::code::{Action, Code, Operand, Slot, Step};
use crate::engine::{Callable, Flow, Interpret, State, Values, extension};
use crate::error::{Fault, FaultKind, InterpError};
use crate::memory::{MemRef, Memory};
use crate::scalar::DType;
use crate::tensor::Tensor;
use crate::value::Value;

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
    /// The op that is being executed, and its place in its block.
    op: Op,
    code: Arc<Code>,
    at: usize,
    /// Memory that lives as long as the frame.
    stack: Vec<MemRef>,
}

impl<'f> Frame<'f> {
    /// The frame around the top-level op `root`, which lies in `body`.
    pub(crate) fn outermost(root: OpRef<'f>, body: &'f Body, state: &'f mut State) -> Self {
        Frame {
            cx: root.cx,
            root,
            table: root,
            state,
            body,
            env: Vec::new(),
            op: root.op,
            code: Arc::default(),
            at: 0,
            stack: Vec::new(),
        }
    }

    /// Context.
    pub fn cx(&self) -> &'f Context {
        self.cx
    }

    /// The top-level op of the program.
    pub fn root(&self) -> OpRef<'f> {
        self.root
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
        self.env.get(value.index()).and_then(Option::as_ref).ok_or_else(not_computed)
    }

    /// Operand `index` of the current op.
    ///
    /// # Errors
    /// When it was not computed or does not exist.
    pub fn operand(&self, index: usize) -> Result<&Value, Fault> {
        self.env[self.slot(index)?.value as usize].as_ref().ok_or_else(not_computed)
    }

    /// Operand `index`, moved out when nothing can read it after the current op, so that it may be changed in place.
    ///
    /// # Errors
    /// When it was not computed or does not exist.
    pub fn take(&mut self, index: usize) -> Result<Value, Fault> {
        let Operand { value, last } = self.slot(index)?;
        let slot = &mut self.env[value as usize];
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
        self.take_range(0..self.step().map_or(0, |s| s.operands.len()))
    }

    fn step(&self) -> Option<&Step> {
        self.code.steps.get(self.at)
    }

    fn slot(&self, index: usize) -> Result<Operand, Fault> {
        let operand = self.step().and_then(|s| s.operands.get(index)).copied();
        operand.ok_or_else(|| Fault::invalid_ir(format!("has no operand {index}")))
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
        let slot = self.step().and_then(|s| s.results.get(index)).copied();
        self.bind(slot.ok_or_else(|| Fault::invalid_ir(format!("has no result {index}")))?, value.into())
    }

    /// Sets a value that an op before the current one left open, as it did not know it yet.
    ///
    /// # Errors
    /// When it has a value, or is none of this body.
    pub fn tell(&mut self, value: SsaValue, known: impl Into<Value>) -> Result<(), Fault> {
        match self.env.get_mut(value.index()) {
            Some(slot @ None) => *slot = Some(known.into()),
            _ => return Err(Fault::invalid_ir("tells a value that is known")),
        }
        Ok(())
    }

    /// Like [`Self::tell`], of what is another value each time: a size that an iteration decides anew.
    ///
    /// # Errors
    /// When the value is none of this body.
    pub fn retell(&mut self, value: SsaValue, known: impl Into<Value>) -> Result<(), Fault> {
        match self.env.get_mut(value.index()) {
            Some(slot) => *slot = Some(known.into()),
            None => return Err(Fault::invalid_ir("tells a value that is not there")),
        }
        Ok(())
    }

    /// Sets all results of the current op.
    ///
    /// # Errors
    /// When their number or a type does not fit.
    pub fn set_results(&mut self, values: Values) -> Result<(), Fault> {
        let count = self.step().map_or(0, |s| s.results.len());
        if values.len() != count {
            return Err(Fault::invalid_ir(format!("has {count} results where {} values arrive", values.len())));
        }
        values.into_iter().enumerate().try_for_each(|(i, value)| self.set(i, value))
    }

    fn bind(&mut self, slot: Slot, value: Value) -> Result<(), Fault> {
        slot.check(self.cx, &value)?;
        self.env[slot.value as usize] = Some(value);
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

    /// Allocates a row-major memref that is freed when the function around the current op returns.
    ///
    /// # Errors
    /// When the memory limit would be passed.
    pub fn alloc_on_stack(&mut self, dtype: DType, shape: &[usize], space: Option<Attr>) -> Result<MemRef, Fault> {
        let memref = self.state.memory.alloc(dtype, shape, space)?;
        self.stack.push(memref.clone());
        Ok(memref)
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

    /// As [`Self::run_region`], of a region that is called: it never sees this frame's values, also where it calls itself.
    ///
    /// # Errors
    /// As there.
    pub fn run_called(&mut self, region: RegionRef<'_>, args: Values) -> Result<Values, InterpError> {
        self.enter()?;
        let table = self.table;
        let result = self.run_inside(region, table, args);
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
        let mut inner = Frame {
            cx: self.cx,
            root: self.root,
            table,
            state,
            body: region.body,
            env,
            op,
            code: Arc::default(),
            at: 0,
            stack: Vec::new(),
        };
        let result = inner.run_blocks(region.region, args);
        for memref in std::mem::take(&mut inner.stack) {
            // Freed already only where the program did it, which was its fault then.
            let _ = inner.state.memory.free(&memref);
        }
        let mut env = inner.env;
        env.clear();
        self.state.spare.push(env);
        result
    }

    fn run_blocks(&mut self, region: Region, args: Values) -> Result<Values, InterpError> {
        let outer = (self.op, self.code.clone(), self.at);
        let result = self.run_from(region, args);
        (self.op, self.code, self.at) = outer;
        result
    }

    fn run_from(&mut self, region: Region, mut args: Values) -> Result<Values, InterpError> {
        let mut block = self.body.region_entry(region).ok_or_else(|| Fault::invalid_ir("the region is empty"))?;
        loop {
            match self.run_block(block, args)? {
                Flow::Branch(next, values) => (block, args) = (next, values),
                Flow::Yield(values) => return Ok(values),
                // The end of a block without terminator.
                Flow::Next => return Ok(Values::new()),
            }
        }
    }

    fn run_block(&mut self, block: Block, args: Values) -> Result<Flow, InterpError> {
        let code = self.state.code(self.cx, self.body, block);
        if code.args.len() != args.len() {
            let message = format!("a block takes {} arguments where {} arrive", code.args.len(), args.len());
            return Err(Fault::invalid_ir(message).into());
        }
        for (&slot, value) in code.args.iter().zip(args) {
            self.bind(slot, value)?;
        }
        self.code = code.clone();
        for (at, step) in code.steps.iter().enumerate() {
            (self.op, self.at) = (step.op, at);
            let flow = self.execute(step).map_err(|mut e| {
                e.locate(self.op());
                e
            })?;
            match flow {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn execute(&mut self, step: &Step) -> Result<Flow, InterpError> {
        self.charge(1)?;
        match &step.action {
            Action::Scalar(kernel) => {
                // The types were checked when the kernel was bound to them.
                let value = kernel.eval_bits(self.scalar_bits(step)?)?;
                self.env[step.results[0].value as usize] = Some(Value::Scalar(value));
                Ok(Flow::Next)
            }
            Action::Constant(value) => {
                self.env[step.results[0].value as usize] = Some(Value::Scalar(*value));
                Ok(Flow::Next)
            }
            Action::Hook(hook) if self.state.observer.is_some() && self.state.depth == 1 => self.observed(*hook),
            Action::Hook(hook) => hook.interpret(self.op(), self),
            Action::Missing => Err(no_hook(self.cx, self.body.name(step.op)).into()),
        }
    }

    /// Runs an op of the function that is looked at.
    fn observed(&mut self, hook: &'static dyn Interpret) -> Result<Flow, InterpError> {
        let Some(mut observer) = self.state.observer.take() else { return hook.interpret(self.op(), self) };
        observer.before(self.op(), self)?;
        let flow = hook.interpret(self.op(), self)?;
        observer.after(self.op(), self)?;
        self.state.observer = Some(observer);
        Ok(flow)
    }

    fn scalar_bits(&self, step: &Step) -> Result<[u64; 3], Fault> {
        let mut bits = [0; 3];
        for (bits, operand) in bits.iter_mut().zip(&step.operands) {
            *bits = match &self.env[operand.value as usize] {
                Some(Value::Scalar(s)) => s.bits(),
                Some(other) => return Err(other.scalar().expect_err("no scalar")),
                None => return Err(not_computed()),
            };
        }
        Ok(bits)
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

fn no_hook(cx: &Context, name: OpName) -> Fault {
    let why = if name.def(cx).is_some() { "defines no interpretation for it" } else { "does not register it" };
    Fault::unsupported(format!("cannot be interpreted: dialect '{}' {why}", name.dialect(cx)))
}
