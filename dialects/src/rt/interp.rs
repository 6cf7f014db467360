//! Interpretation: a program is called with tensors and gives tensors; kernels are called by name with buffers and sizes.

use std::collections::HashMap;
use std::sync::Arc;

use crate::rt::{AllocOp, CallOp, ConstantOp, CopyOp, IfOp, InvokeOp, ReturnOp, WhileOp};

use smallvec::SmallVec;
use sutura_interp::{
    Callable, DType, Fault, FaultKind, Flow, Frame, InterpError, Interpret, Layout, MemRef, Scalar, Tensor, Value,
    Values,
};
use sutura_ir::{Context, DialectBuilder, Op, OpRef, OpView};

use super::bind::{Check, Condition, Solution};
use super::liveness::root_buffer;
use super::lowered;
use super::ops::{ExchangeOp, ExpectOp, LaunchOp, PackedOp, ReadSizesOp, SelectOp, SizeListOp, ViewOp, WriteSizesOp};
use super::program::{Port, ProgramInfo, Symbol};
use super::types::BufferType;
use crate::r#dyn::poly::Poly;
use crate::gir::interp::{Counters, Settings};

/// The programs that are being run, innermost last.
#[derive(Default)]
struct Running(Vec<Run>);

struct Run {
    /// The symbols, how their values are found, and how many inputs there are.
    symbols: Vec<Symbol>,
    solution: Arc<Solution>,
    inputs: usize,
    /// What decides sizes, in order.
    decisions: Vec<Op>,
    /// Values of the symbols that are known so far.
    values: Vec<Option<i64>>,
    /// Temporaries that have their place in a workspace.
    places: HashMap<Op, MemRef>,
    /// Of temporaries that have changed their memory that which they have now.
    moved: HashMap<sutura_ir::Value, Arc<MemRef>>,
}

type Hook = fn(OpRef<'_>, &mut Frame<'_>) -> Result<Flow, InterpError>;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<ReturnOp<'_>, dyn Interpret>(&(end as Hook))
        .op_interface::<ConstantOp<'_>, dyn Interpret>(&(constant as Hook))
        .op_interface::<AllocOp<'_>, dyn Interpret>(&(alloc as Hook))
        .op_interface::<ViewOp<'_>, dyn Interpret>(&(view as Hook))
        .op_interface::<LaunchOp<'_>, dyn Interpret>(&(launch as Hook))
        .op_interface::<CallOp<'_>, dyn Interpret>(&(super::call::interpret as Hook))
        .op_interface::<PackedOp<'_>, dyn Interpret>(&(packed as Hook))
        .op_interface::<CopyOp<'_>, dyn Interpret>(&(copy as Hook))
        .op_interface::<ExchangeOp<'_>, dyn Interpret>(&(exchange as Hook))
        .op_interface::<SelectOp<'_>, dyn Interpret>(&(select as Hook))
        .op_interface::<ExpectOp<'_>, dyn Interpret>(&(expect as Hook))
        .op_interface::<SizeListOp<'_>, dyn Interpret>(&(alloc as Hook))
        .op_interface::<WriteSizesOp<'_>, dyn Interpret>(&(write_sizes as Hook))
        .op_interface::<ReadSizesOp<'_>, dyn Interpret>(&(read_sizes as Hook))
        .op_interface::<InvokeOp<'_>, dyn Interpret>(&(super::control::invoke as Hook))
        .op_interface::<IfOp<'_>, dyn Interpret>(&(super::control::if_ as Hook))
        .op_interface::<WhileOp<'_>, dyn Interpret>(&(super::control::while_ as Hook));
}

/// `rt.program` as callee: tensors in, tensors out.
pub(super) struct CallProgram;

impl Callable for CallProgram {
    fn call(&self, op: OpRef<'_>, args: Values, frame: &mut Frame<'_>) -> Result<Values, InterpError> {
        let program = ProgramInfo::read(op).map_err(Fault::invalid_ir)?;
        let (solution, values) = solve(&program, &args)?;
        let decisions = program.decisions.iter().map(|decision| decision.op).collect();
        let symbols = program.symbols.clone();
        let mut own = Run {
            symbols,
            solution: Arc::new(solution),
            inputs: args.len(),
            decisions,
            values,
            places: HashMap::new(),
            moved: HashMap::new(),
        };
        if program.planned {
            own.places = lowered::place(&program, &own.solution.phases, &|name| own.value(name), frame)?;
        }
        frame.extension::<Running>().0.push(own);
        let result = run(&program, args, frame);
        frame.extension::<Running>().0.pop();
        result
    }
}

impl Run {
    fn value(&self, name: &str) -> Option<i64> {
        self.values[self.symbols.iter().position(|symbol| symbol.name == name)?]
    }
}

/// How symbols are solved, and their values for the shapes of the arguments.
fn solve(program: &ProgramInfo<'_>, args: &Values) -> Result<(Solution, Vec<Option<i64>>), Fault> {
    if args.len() != program.inputs.len() {
        let message = format!("the program takes {} inputs and got {}", program.inputs.len(), args.len());
        return Err(Fault::new(FaultKind::Call, message));
    }
    let mut dims: Vec<Vec<i64>> = Vec::with_capacity(args.len());
    for (port, arg) in program.inputs.iter().zip(args) {
        let tensor = arg.tensor()?;
        let dtype = DType::expect(program.op.cx, port.ty.elem)?;
        if tensor.dtype() != dtype || tensor.rank() != port.ty.dims.len() {
            let name = &port.name;
            let (rank, found) = (port.ty.dims.len(), arg.describe());
            return Err(Fault::type_mismatch(format!("input '{name}' is {dtype} of rank {rank} and got {found}")));
        }
        dims.push(tensor.shape().iter().map(|d| *d as i64).collect());
    }
    let solution = Solution::of(program).map_err(|e| Fault::invalid_ir(e.to_string()))?;
    let dims: Vec<&[i64]> = dims.iter().map(Vec::as_slice).collect();
    let values = solution.solve(&program.symbols, &dims).map_err(|(check, a, b)| failed(check, a, b))?;
    Ok((solution, values))
}

/// An op has decided sizes.
pub(super) fn decided(op: OpRef<'_>, sizes: &[i64], frame: &mut Frame<'_>) -> Result<(), Fault> {
    let running = running(frame)?;
    let index = running.decisions.iter().position(|decision| *decision == op.op);
    let index = index.ok_or_else(|| Fault::invalid_ir("decides sizes of no program"))?;
    let solution = running.solution.clone();
    let about = (&running.symbols[..], running.inputs);
    solution.decide(index, about, sizes, &mut running.values).map_err(|(check, a, b)| failed(check, a, b))
}

fn running<'f>(frame: &'f mut Frame<'_>) -> Result<&'f mut Run, Fault> {
    let running = frame.extension::<Running>().0.last_mut();
    running.ok_or_else(|| Fault::invalid_ir("stands outside a program that is being run"))
}

/// Operand `index` in the memory that it has now.
pub(super) fn held(op: OpRef<'_>, index: usize, frame: &mut Frame<'_>) -> Result<Arc<MemRef>, Fault> {
    let named = frame.memref(index)?;
    let running = running(frame)?;
    if running.moved.is_empty() {
        return Ok(named);
    }
    let root = root_buffer(op.cx, op.body, op.operand(index));
    let Some(now) = running.moved.get(&root) else { return Ok(named) };
    Ok(Arc::new(MemRef { buffer: now.buffer, base: now.base, ..(*named).clone() }))
}

/// Operand `index` with the sizes that its type says: a buffer whose sizes data decide lies at the front of what was allocated.
pub(super) fn sized(op: OpRef<'_>, index: usize, frame: &mut Frame<'_>) -> Result<Arc<MemRef>, Fault> {
    let whole = held(op, index, frame)?;
    if running(frame)?.decisions.is_empty() {
        return Ok(whole);
    }
    let ty = op.operand_types().nth(index).and_then(|ty| BufferType::of(op.cx, ty));
    let shape = shape(ty.ok_or_else(|| Fault::invalid_ir("takes no buffer"))?, frame)?;
    Ok(Arc::new((*whole).clone().with_layout(Layout::row_major(&shape))))
}

fn failed(check: &Check, left: i64, right: i64) -> Fault {
    let words = &check.words;
    let message = match check.condition {
        Condition::Equal(_) | Condition::Compatible(_) => {
            format!("{} is {left}, but {} is {right}", words.left, words.right)
        }
        Condition::AtLeast(_) => format!("{} is {left}, below {}, which is {right}", words.left, words.right),
        Condition::Within(..) => format!("{} is {left}, outside {}", words.left, words.right),
        Condition::MultipleOf(_) => format!("{} is {left}, no multiple of {right}", words.left),
        Condition::Fits => format!("{} does not fit 64 bits", words.left),
    };
    Fault::new(FaultKind::Assertion, message)
}

fn run(program: &ProgramInfo<'_>, args: Values, frame: &mut Frame<'_>) -> Result<Values, InterpError> {
    let mut buffers = Values::new();
    for arg in &args {
        buffers.push(frame.memory().alloc_from(arg.tensor()?, None)?.into());
    }
    let outputs = program.outputs.iter().map(|port| allocate(port_type(port), program.op.cx, frame));
    let outputs: Vec<MemRef> = outputs.collect::<Result<_, _>>()?;
    buffers.extend(outputs.iter().cloned().map(Value::from));
    let region = program.op.region(0).ok_or_else(|| Fault::invalid_ir("the program has no body"))?;
    // A program that runs while it runs has other buffers.
    frame.run_called(region, buffers)?;
    let mut results = Values::new();
    for (output, port) in outputs.iter().zip(&program.outputs) {
        let shape = shape(&port.ty, frame)?;
        let output = output.clone().with_layout(Layout::row_major(&shape));
        results.push(Value::Tensor(frame.memory().read(&output)?));
    }
    Ok(results)
}

fn port_type(port: &Port) -> &BufferType {
    &port.ty
}

pub(super) fn size(poly: &Poly, frame: &mut Frame<'_>) -> Result<i64, Fault> {
    let running = running(frame)?;
    poly.eval(&|name| running.value(name))
        .ok_or_else(|| Fault::new(FaultKind::Limit, format!("the size {poly} does not fit 64 bits")))
}

fn shape(ty: &BufferType, frame: &mut Frame<'_>) -> Result<SmallVec<[usize; 4]>, Fault> {
    let extent = |poly: &Poly, frame: &mut Frame<'_>| {
        let value = size(poly, frame)?;
        usize::try_from(value).map_err(|_| Fault::shape(format!("the size {poly} is {value}")))
    };
    ty.dims.iter().map(|poly| extent(poly, frame)).collect()
}

/// The most that sizes may be which are not known yet.
fn planned(ty: &BufferType, frame: &mut Frame<'_>) -> Result<BufferType, Fault> {
    let running = running(frame)?;
    let most = |size: &Poly| match size.eval(&|name| running.value(name)) {
        Some(_) => Ok(size.clone()),
        None => running.solution.phases.most(size).map_err(Fault::unsupported),
    };
    Ok(BufferType::new(ty.elem, ty.dims.iter().map(most).collect::<Result<_, Fault>>()?))
}

fn allocate(ty: &BufferType, cx: &Context, frame: &mut Frame<'_>) -> Result<MemRef, Fault> {
    let ty = &planned(ty, frame)?;
    let (dtype, shape) = (DType::expect(cx, ty.elem)?, shape(ty, frame)?);
    frame.memory().alloc(dtype, &shape, None)
}

fn result_buffer<'a>(op: OpRef<'a>) -> Result<&'a BufferType, Fault> {
    let ty = op.result_types().next().and_then(|ty| BufferType::of(op.cx, ty));
    ty.ok_or_else(|| Fault::invalid_ir("gives no buffer"))
}

fn end(_: OpRef<'_>, _: &mut Frame<'_>) -> Result<Flow, InterpError> {
    Ok(Flow::Yield(Values::new()))
}

fn constant(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let value = op.prop("value").ok_or_else(|| Fault::invalid_ir("has no elements"))?;
    let value = frame.constant(value)?;
    let memref = frame.memory().alloc_from(value.tensor()?, None)?;
    frame.set(0, memref)?;
    Ok(Flow::Next)
}

fn alloc(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let placed = frame.extension::<Running>().0.last().and_then(|run| run.places.get(&op.op)).cloned();
    let memref = match placed {
        Some(place) => place,
        None => allocate(result_buffer(op)?, op.cx, frame)?,
    };
    frame.set(0, memref)?;
    Ok(Flow::Next)
}

fn view(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let ty = result_buffer(op)?;
    let front = ViewOp::from_ref(op).front();
    let whole = op.operand_types().next().and_then(|ty| BufferType::of(op.cx, ty));
    let (known, whole_known) = {
        let running = running(frame)?;
        let known = |ty: &BufferType| ty.dims.iter().all(|size| size.eval(&|name| running.value(name)).is_some());
        (known(ty), whole.is_none_or(known))
    };
    // A view of what is not known yet gets its sizes where it is used.
    let (shape, whole) = match known {
        // Of a front the whole may be known later.
        true if front && !whole_known => (shape(ty, frame)?, frame.memref(0)?),
        true => (shape(ty, frame)?, sized(op, 0, frame)?),
        false => (shape(&planned(ty, frame)?, frame)?, frame.memref(0)?),
    };
    let checked = ViewOp::from_ref(op).checked();
    let differs = || whole.sizes().iter().zip(&shape).position(|(given, wanted)| given != wanted);
    if let Some((what, dim)) = checked.and_then(|what| Some((what, differs()?))) {
        let message = crate::show::unequal_size(what, dim as i64, whole.sizes()[dim] as i64, shape[dim] as i64);
        return Err(Fault::new(FaultKind::ShapeMismatch, message).into());
    }
    let dtype = DType::expect(op.cx, result_buffer(op)?.elem)?;
    // Two parts are one complex number.
    let numbers =
        |sizes: &[usize], dtype: DType| sizes.iter().product::<usize>() * if dtype.part().is_some() { 2 } else { 1 };
    if known && !front && numbers(&shape, dtype) != numbers(whole.sizes(), whole.dtype) {
        return Err(Fault::shape(format!("{:?} elements as {:?}", whole.sizes(), &shape[..])).into());
    }
    frame.set(0, MemRef { dtype, ..(*whole).clone().with_layout(Layout::row_major(&shape)) })?;
    Ok(Flow::Next)
}

/// Together the launches count as one.
fn packed(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let before = frame.extension::<Counters>().launches;
    frame.run_region(PackedOp::from_ref(op).launches(), Values::new())?;
    let counters = frame.extension::<Counters>();
    counters.launches = counters.launches.min(before + 1);
    Ok(Flow::Next)
}

fn launch(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let launch = LaunchOp::from_ref(op);
    let buffers: Vec<Arc<MemRef>> = (0..op.num_operands()).map(|i| sized(op, i, frame)).collect::<Result<_, _>>()?;
    let dims: Vec<i64> = launch.dims().iter().map(|dim| size(dim, frame)).collect::<Result<_, _>>()?;
    let callee = frame.lookup(launch.kernel())?;
    frame.extension::<Settings>().check_names = launch.check_names();
    if let Some(signature) = lowered::lowered_signature(callee)? {
        lowered::call(launch.kernel(), &signature, &buffers, &dims, frame)?;
        return Ok(Flow::Next);
    }
    let buffers = buffers.into_iter().map(Value::MemRef);
    let args: Values = buffers.chain(dims.into_iter().map(Value::index)).collect();
    frame.call_ref(launch.kernel(), args)?;
    Ok(Flow::Next)
}

fn copy(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (from, to): (Arc<MemRef>, Arc<MemRef>) = (sized(op, 0, frame)?, sized(op, 1, frame)?);
    let contents = frame.memory().read(&from)?.reshape(to.sizes())?;
    frame.memory().write(&to, &contents)?;
    Ok(Flow::Next)
}

/// Names change places: what is a view of one of them is found by its root where it is used.
fn exchange(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let this = ExchangeOp::from_ref(op);
    let (first, second) = (held(op, 0, frame)?, held(op, 1, frame)?);
    let moved = &mut running(frame)?.moved;
    moved.insert(this.first(), second);
    moved.insert(this.second(), first);
    Ok(Flow::Next)
}

fn expect(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let this = ExpectOp::from_ref(op);
    let list = held(op, 0, frame)?;
    let asked = frame.memory().read(&list)?;
    let mut open = true;
    for (i, (wanted, copied)) in this.sizes().iter().zip(this.copied()).enumerate() {
        let (wanted, copied) = (size(wanted, frame)?, size(&copied, frame)?);
        let given = asked.data().read(i)?.as_i64().ok_or_else(|| Fault::type_mismatch("expects integers"))?;
        let meant = match given {
            0 => copied,
            -1 if std::mem::take(&mut open) => wanted,
            given => given,
        };
        if meant != wanted {
            let message = crate::show::wrong_size(this.what(), i as i64, given, wanted);
            return Err(Fault::new(FaultKind::ShapeMismatch, message).into());
        }
    }
    Ok(Flow::Next)
}

fn write_sizes(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let sizes = WriteSizesOp::from_ref(op).sizes();
    let sizes: Vec<i64> = sizes.iter().map(|poly| size(poly, frame)).collect::<Result<_, Fault>>()?;
    let scalars = sizes.iter().map(|size| Scalar::int(*size, DType::I64));
    let (list, sizes) = (frame.memref(0)?, Tensor::from_scalars(DType::I64, &[sizes.len()], scalars)?);
    frame.memory().write(&list, &sizes)?;
    Ok(Flow::Next)
}

fn read_sizes(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let list = frame.memref(0)?;
    let found = frame.memory().read(&list)?;
    let size = |i| found.data().read(i)?.as_i64().ok_or_else(|| Fault::type_mismatch("reads no integer"));
    let sizes: Vec<i64> = (0..found.len()).map(size).collect::<Result<_, Fault>>()?;
    decided(op, &sizes, frame)?;
    Ok(Flow::Next)
}

fn select(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let select = SelectOp::from_ref(op);
    let guards = select.guards();
    let mut chosen = guards.len();
    'guards: for (i, guard) in guards.iter().enumerate() {
        for poly in guard {
            if size(poly, frame)? < 0 {
                continue 'guards;
            }
        }
        chosen = i;
        break;
    }
    let version = op.region(chosen).ok_or_else(|| Fault::invalid_ir("has fewer versions than guards"))?;
    frame.run_region(version, Values::new())?;
    Ok(Flow::Next)
}
