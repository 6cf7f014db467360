//! Launching a kernel: from Rust, and as a symbol that interpreted programs call.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::gir::ops::KernelOp;

use indexmap::IndexMap;
use smallvec::SmallVec;
use sutura_interp::{
    Buffer, Callable, DType, Fault, FaultKind, Frame, InterpError, MemRef, Tensor, Value as Data, Values,
};
use sutura_ir::registry::DialectBuilder;
use sutura_ir::{Context, Module, OpRef, Value};

use super::code::{Compiled, compile};
use super::counters::Counters;
use super::elements::InPlace;
use super::machine::{Launch, Machine, SpaceLimit, Val};
use super::memory::{Memory, View};
use super::moves;
use crate::r#dyn::poly::Poly;
use crate::gir::asm::DimDecl;
use crate::gir::kernel::{KernelInfo, Mode};
use crate::gir::types::ViewType;
use crate::target::machine_of;
use crate::target::ops::{IntrinsicOp, SpaceOp};

/// How a kernel is run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Decides the order of groups, and of the units between syncs.
    pub seed: u64,
    /// Operations that all units together may execute.
    pub steps: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, steps: 1 << 40 }
    }
}

/// What launches within one interpreter use; its extension storage holds it, beside the [`Counters`] of all of them.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// For every launch.
    pub options: Options,
    /// For the next launch alone: what messages call what its kernel checks of data, by check. Without any, as the kernel calls
    /// it.
    pub check_names: Vec<String>,
}

/// Runs the kernel `name` (`program::kernel` for one in a program) on flat row-major buffers, one per view, and the
/// values of its dims, in the order of its header. What it writes is in `buffers` afterwards; a fault leaves them as
/// they were.
///
/// # Errors
/// When there is no such kernel, arguments do not fit, or the kernel faults or breaks one of the rules that the
/// verifier proves.
pub fn run_kernel(
    cx: &Context,
    module: &Module,
    name: &str,
    buffers: &mut [Buffer],
    dims: &[i64],
) -> Result<Counters, InterpError> {
    let root = module.op_ref(cx);
    let machine = machine_of(root).map_err(Fault::invalid_ir)?;
    let find = |at: Option<OpRef<'_>>, part: &str| {
        let entry = at?.region(0)?.entry()?;
        entry.ops().find(|op| op.symbol_name() == Some(part)).map(|op| op.op)
    };
    let mut kernel = Some(root);
    for part in name.split("::") {
        kernel = kernel.and_then(|at| Some(OpRef::new(cx, at.inside(), find(Some(at), part)?)));
    }
    let Some(kernel) = kernel else {
        return Err(Fault::new(FaultKind::Call, format!("no kernel @{name} is defined")).into());
    };
    run_kernel_op(kernel, machine, buffers, dims, &Options::default()).map(|(counters, _)| counters)
}

/// Runs a kernel on the target `machine`, where one is described. Returns also how many operations were executed. See
/// [`run_kernel`].
///
/// # Errors
/// As [`run_kernel`].
pub fn run_kernel_op(
    kernel: OpRef<'_>,
    machine: Option<OpRef<'_>>,
    buffers: &mut [Buffer],
    dims: &[i64],
    options: &Options,
) -> Result<(Counters, u64), InterpError> {
    let ran = header(kernel).and_then(|info| launch(&info, machine, (buffers, dims), options, &[]));
    ran.map_err(|stop| stop.at(kernel))
}

/// Runs a kernel that has only `in` and `out` views on what lies in its caller's memory, which is neither copied in nor out. After a
/// fault nothing is known of what it wrote. See [`run_kernel_op`].
///
/// # Errors
/// As [`run_kernel`].
pub fn run_kernel_in_place<'m>(
    kernel: OpRef<'_>,
    machine: Option<OpRef<'_>>,
    given: Vec<InPlace<'m>>,
    dims: &[i64],
) -> Result<(), InterpError> {
    let ran = header(kernel).and_then(|info| {
        let mut given = given.into_iter();
        let of_view = |memory: &mut Memory<'m>, view: ViewParam| {
            let wrong = || Fault::new(FaultKind::Call, format!("{} is not given what it needs", view.name));
            let given = given.next().ok_or_else(wrong)?;
            let (dtype, mode) = match given {
                InPlace::Constant { dtype, .. } => (dtype, Mode::In),
                InPlace::Room { dtype, .. } => (dtype, Mode::Out),
            };
            let cell =
                (mode == view.mode && dtype == view.dtype).then(|| memory.add_in_place(view.name.clone(), given));
            cell.flatten().ok_or_else(wrong)
        };
        run_on(&info, machine, dims, &Options::default(), (&[], true), of_view).map(|_| ())
    });
    ran.map_err(|stop| stop.at(kernel))
}

fn header(kernel: OpRef<'_>) -> Result<KernelInfo<'_>, Stop> {
    if !kernel.is::<KernelOp<'_>>() {
        return Err(Stop::Header(Fault::new(FaultKind::Call, "is no kernel")));
    }
    Ok(KernelInfo::read(kernel).map_err(Fault::invalid_ir)?)
}

/// Why a launch ended: before its body ran, or in it.
enum Stop {
    Header(Fault),
    Body(InterpError),
}

impl Stop {
    fn at(self, kernel: OpRef<'_>) -> InterpError {
        match self {
            Self::Header(fault) => InterpError::at(kernel, fault),
            Self::Body(error) => error,
        }
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Header(fault)
    }
}

/// Runs a kernel on copies of buffers, which take what it wrote when it ran without fault.
fn launch<'l>(
    info: &KernelInfo<'l>,
    machine: Option<OpRef<'l>>,
    (buffers, dims): (&mut [Buffer], &[i64]),
    options: &Options,
    check_names: &[String],
) -> Result<(Counters, u64), Stop> {
    if buffers.len() != info.views.len() {
        let message = format!("takes {} views and got {} buffers", info.views.len(), buffers.len());
        return Err(Fault::new(FaultKind::Call, message).into());
    }
    let mut given = buffers.iter();
    let of_view = |memory: &mut Memory<'_>, view: ViewParam| {
        let buffer = given.next().expect("as many as views");
        if buffer.dtype() != view.dtype {
            let message = format!("{} holds {} and its buffer {}", view.name, view.dtype, buffer.dtype());
            return Err(Fault::type_mismatch(message));
        }
        Ok(memory.add_param(view.name, buffer, view.mode))
    };
    let (ended, views) = run_on(info, machine, dims, options, (check_names, false), of_view)?;
    for (view, ((_, _, mode), buffer)) in views.iter().zip(info.views.iter().zip(buffers)) {
        if *mode != Mode::In {
            ended.memory.copy_out(view.cell, buffer);
        }
    }
    Ok((ended.counters, ended.steps))
}

/// Runs a kernel on memory in which `of_view` makes a cell for each view. Of one that is run `in_place` nobody counts what it does.
fn run_on<'l, 'm>(
    info: &KernelInfo<'l>,
    machine: Option<OpRef<'l>>,
    dims: &[i64],
    options: &Options,
    (check_names, in_place): (&[String], bool),
    of_view: impl FnMut(&mut Memory<'m>, ViewParam) -> Result<usize, Fault>,
) -> Result<(Ended<'m>, Vec<Rc<View>>), Stop> {
    let kernel = info.op;
    let sizes = bind_dims(info, dims)?;
    let size = |poly: &Poly| {
        let value = poly.eval(&|name| sizes.get(name).copied());
        value.ok_or_else(|| Fault::invalid_ir(format!("the size {poly} has no value")))
    };
    for condition in &info.requires {
        let value = size(condition)?;
        if value < 0 {
            let message = format!("requires {condition} not to be negative, and it is {value}");
            return Err(Fault::new(FaultKind::Assertion, message).into());
        }
    }
    let grid = info.grid.iter().map(|(_, extent)| size(extent)).collect::<Result<Vec<_>, _>>()?;
    let (mut memory, views) = bind_views(info, &size, of_view)?;

    let body = kernel.region(0).and_then(|r| r.entry()).ok_or_else(|| Fault::invalid_ir("has no body"))?;
    let code = compile(body, &sizes, &intrinsics_of(machine)).map_err(Stop::Body)?;
    let limits = limits_of(machine, &code)?;
    let mut args: Vec<Val> = views.iter().map(|v| Val::View(v.clone())).collect();
    args.extend(dims.iter().map(|d| Val::Index(*d)));
    let units = usize::try_from(info.units).map_err(|_| Fault::invalid_ir("has too many units"))?;
    let (seed, budget) = (options.seed, options.steps);
    let launch = Launch { cx: kernel.cx, code: &code, args, grid, units, limits, seed, check_names, budget };
    if in_place && moves::run(&launch, &mut memory).is_ok() {
        views.iter().try_for_each(|view| memory.check_written(view))?;
        return Ok((Ended { memory, counters: Counters::default(), steps: 0 }, views));
    }
    let mut machine = Machine::new(launch, memory);
    machine.run().map_err(Stop::Body)?;
    views.iter().try_for_each(|view| machine.memory.check_written(view))?;
    Ok((Ended { memory: machine.memory, counters: machine.counters, steps: machine.steps }, views))
}

/// What a launch leaves.
struct Ended<'m> {
    memory: Memory<'m>,
    counters: Counters,
    /// Instructions run.
    steps: u64,
}

/// Values of the dims by name, checked against the header.
fn bind_dims(info: &KernelInfo<'_>, dims: &[i64]) -> Result<IndexMap<Arc<str>, i64>, Fault> {
    if dims.len() != info.dims.len() {
        let message = format!("takes {} sizes and got {}", info.dims.len(), dims.len());
        return Err(Fault::new(FaultKind::Call, message));
    }
    let mut sizes = IndexMap::new();
    for ((_, DimDecl { name, min, max, div }), &value) in info.dims.iter().zip(dims) {
        if !(*min..=*max).contains(&value) || value % (*div).max(1) != 0 {
            let multiple = if *div > 1 { format!(" and a multiple of {div}") } else { String::new() };
            let message = format!("takes '{name}' in [{min}, {max}]{multiple}, not {value}");
            return Err(Fault::new(FaultKind::Assertion, message));
        }
        sizes.insert(name.as_str().into(), value);
    }
    Ok(sizes)
}

fn name_of(kernel: OpRef<'_>, index: usize, value: Value) -> String {
    match kernel.inside().value_name(value) {
        Some(name) => format!("%{}", kernel.cx.str(name)),
        None => format!("view {index}"),
    }
}

/// A view as the kernel declares it.
struct ViewParam {
    name: String,
    dtype: DType,
    mode: Mode,
}

fn bind_views<'m>(
    info: &KernelInfo<'_>,
    size: &dyn Fn(&Poly) -> Result<i64, Fault>,
    mut of_view: impl FnMut(&mut Memory<'m>, ViewParam) -> Result<usize, Fault>,
) -> Result<(Memory<'m>, Vec<Rc<View>>), Fault> {
    let mut memory = Memory::default();
    let mut views = Vec::new();
    for (i, (value, ty, mode)) in info.views.iter().enumerate() {
        let name = name_of(info.op, i, *value);
        let dtype = DType::expect(info.op.cx, ty.elem)?;
        let all = |polys: &[Poly]| polys.iter().map(size).collect::<Result<SmallVec<[i64; 4]>, Fault>>();
        let dims = all(&ty.dims)?;
        let strides = match &ty.strides {
            Some(strides) => all(strides)?,
            None => View::row_major(&dims),
        };
        let cell = of_view(&mut memory, ViewParam { name: name.clone(), dtype, mode: *mode })?;
        let (view, len) = (View { cell, dims, strides }, memory.len(cell));
        // A strided view may leave gaps; a row-major one is the buffer.
        let fits = |reach: usize| if ty.strides.is_some() { reach <= len } else { reach == len };
        if !view.reach().is_some_and(fits) {
            let message = format!("{name} of sizes {:?} does not fit a buffer of {len}", &view.dims[..]);
            return Err(Fault::shape(message));
        }
        views.push(Rc::new(view));
    }
    Ok((memory, views))
}

fn intrinsics_of(machine: Option<OpRef<'_>>) -> HashMap<&str, OpRef<'_>> {
    let entry = machine.and_then(|m| m.region(0)).and_then(|r| r.entry());
    let ops = entry.into_iter().flat_map(|e| e.ops()).filter(|op| op.is::<IntrinsicOp<'_>>());
    ops.filter_map(|op| Some((op.symbol_name()?, op))).collect()
}

/// What the target says of the spaces that the kernel mentions.
fn limits_of(machine: Option<OpRef<'_>>, code: &Compiled<'_>) -> Result<Vec<Option<SpaceLimit>>, Fault> {
    let Some(machine) = machine else { return Ok(vec![None; code.spaces.len()]) };
    let entry = machine.region(0).and_then(|r| r.entry());
    let spaces: HashMap<&str, SpaceOp<'_>> = entry
        .into_iter()
        .flat_map(|e| e.ops())
        .filter_map(|op| Some((op.symbol_name()?, op.as_::<SpaceOp<'_>>()?)))
        .collect();
    let limit = |name: &Arc<str>| match spaces.get(&**name) {
        Some(space) => Ok(space.limit().map(|bytes| SpaceLimit { bytes, owner: space.owner() })),
        None => {
            let machine = machine.symbol_name().unwrap_or("?");
            Err(Fault::invalid_ir(format!("mentions space '{name}', which the target @{machine} does not have")))
        }
    };
    code.spaces.iter().map(limit).collect()
}

// ---- as a symbol

/// A kernel as a callable: one memref or tensor per view (tensors only for `in` views), then the dims.
struct KernelCall;

impl Callable for KernelCall {
    fn call(&self, op: OpRef<'_>, args: Values, frame: &mut Frame<'_>) -> Result<Values, InterpError> {
        let info = KernelInfo::read(op).map_err(Fault::invalid_ir)?;
        let expected = info.views.len() + info.dims.len();
        if args.len() != expected {
            let message = format!("takes {expected} arguments and got {}", args.len());
            return Err(Fault::new(FaultKind::Call, message).into());
        }
        let (views, dims) = args.split_at(info.views.len());
        check_disjoint(&info, views)?;
        let dims: Vec<i64> = dims.iter().map(Data::as_int).collect::<Result<_, _>>()?;
        let mut buffers = Vec::new();
        for (arg, (_, ty, mode)) in views.iter().zip(&info.views) {
            buffers.push(read_argument(frame, arg, ty, *mode)?);
        }
        let settings = frame.extension::<Settings>();
        let (options, names) = (settings.options, std::mem::take(&mut settings.check_names));
        let machine = machine_of(frame.root()).map_err(Fault::invalid_ir)?;
        let ran = launch(&info, machine, (&mut buffers, &dims), &options, &names);
        let (counters, steps) = ran.map_err(|stop| stop.at(op))?;
        frame.charge(steps)?;
        frame.extension::<Counters>().add(&counters);
        for ((arg, buffer), (_, _, mode)) in views.iter().zip(buffers).zip(&info.views) {
            if *mode != Mode::In {
                let memref = arg.memref()?.clone();
                let value = Tensor::new(memref.sizes(), buffer)?;
                frame.memory().write(&memref, &value)?;
            }
        }
        Ok(Values::new())
    }
}

/// Views that are written share memory with no other.
fn check_disjoint(info: &KernelInfo<'_>, views: &[Data]) -> Result<(), Fault> {
    let memrefs: Vec<Option<&Arc<MemRef>>> = views.iter().map(|v| v.memref().ok()).collect();
    for (i, a) in memrefs.iter().enumerate() {
        for (j, b) in memrefs.iter().enumerate().skip(i + 1) {
            let (Some(a), Some(b)) = (a, b) else { continue };
            let written = info.views[i].2 != Mode::In || info.views[j].2 != Mode::In;
            if a.may_overlap(b) && written {
                return Err(Fault::new(FaultKind::Call, format!("views {i} and {j} share memory that is written")));
            }
        }
    }
    Ok(())
}

fn read_argument(frame: &mut Frame<'_>, arg: &Data, ty: &ViewType, mode: Mode) -> Result<Buffer, Fault> {
    let tensor = match arg {
        Data::Tensor(tensor) if mode == Mode::In => tensor.clone(),
        Data::MemRef(memref) => frame.memory().read(memref)?,
        other => {
            let wanted = if mode == Mode::In { "a memref or a tensor" } else { "a memref" };
            return Err(Fault::type_mismatch(format!("expects {wanted} and got {}", other.describe())));
        }
    };
    for (dim, size) in ty.dims.iter().zip(tensor.shape()) {
        if ty.dims.len() == tensor.rank() && dim.as_const().is_some_and(|d| d != *size as i64) {
            return Err(Fault::shape(format!("a view has size {dim} where its memory has {size}")));
        }
    }
    Ok(tensor.data().clone())
}

pub(in crate::gir) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<KernelOp<'_>, dyn Callable>(&KernelCall);
}
