//! One kernel for the threads of a GPU: its arguments, its groups, and their units.
//!
//! A block runs one group. Where that has several units each is a subgroup; where it has one, a block may take several
//! groups at a time, if a unit has no more threads than a subgroup and needs no memory of the block. The grid is
//! persistent: blocks take one group after the other, as many apart as there are blocks, whatever the launch's size.

use sutura_dialects::gir::checks::DataCheck;
use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::gir::kernel::{KernelInfo, Mode};
use sutura_dialects::gir::ops::{AllocOp, ForOp, ScanOp, TransposeOp};
use sutura_dialects::gpu::MOST_THREADS;
use sutura_dialects::llvm::types::PointerType;
use sutura_ir::{Attr, Body, Builder, NamedAttr, OpRef, OpState, Type, Value};

use super::threads::{GLOBAL, SharedArray, Spread};
use super::waits::Touched;
use crate::gir_lowering::emit::{Emit, Pred};
use crate::gir_lowering::kernel::{Held, Lowered, Lowering, Unsupported};
use crate::gir_lowering::machine::Machine;
use crate::gir_lowering::memory::stored;
use crate::gir_lowering::report::Reporter;

/// Threads, and the memory that they share.
#[derive(Clone, Copy, Debug)]
pub(in crate::gir_lowering) struct Threads {
    /// Threads of a unit, a power of two.
    pub(in crate::gir_lowering) unit: i64,
    /// Threads that run in lockstep, a power of two.
    pub(in crate::gir_lowering) subgroup: i64,
    /// Threads of a block that is made of several units.
    pub(in crate::gir_lowering) packed: i64,
    /// Bytes of memory that a block has.
    pub(in crate::gir_lowering) shared_bytes: i64,
}

/// What the lowering of a kernel for a GPU keeps in mind.
#[derive(Clone, Copy, Debug)]
pub(in crate::gir_lowering) struct GpuState {
    pub(in crate::gir_lowering) threads: Threads,
    /// Groups that a block takes at a time, where each has one unit.
    pub(in crate::gir_lowering) units: i64,
    /// Where a group has several units, subgroups of one block, the number of this thread's.
    pub(in crate::gir_lowering) unit: Option<Value>,
    /// False at run time for a unit that has no group, and only keeps the others company.
    pub(in crate::gir_lowering) alive: Option<Value>,
    /// Memory that the kernel changes, since the block's threads last waited for each other.
    pub(in crate::gir_lowering) touched: Touched,
    /// Loops begin at different columns: one of them may be another thread's than in the loop before.
    pub(in crate::gir_lowering) moves: bool,
}

/// A kernel's function, and the arrays of the block that it names.
pub(in crate::gir_lowering) struct GpuKernel {
    pub(in crate::gir_lowering) state: OpState,
    pub(in crate::gir_lowering) body: Body,
    pub(in crate::gir_lowering) shared: Vec<SharedArray>,
    /// Threads of a block, and groups that it takes at a time.
    pub(in crate::gir_lowering) block: i64,
    pub(in crate::gir_lowering) units: i64,
    /// Units of a group.
    pub(in crate::gir_lowering) of_group: i64,
}

/// Bytes of the widest access: a multiple of them lies before what each unit keeps.
const ACCESS_BYTES: i64 = 16;

/// Types of a kernel's arguments: buffers and sizes. One that checks data has behind its buffers the words in which it reports,
/// and behind its sizes the number of its first check.
fn inputs(kernel: &KernelInfo<'_>) -> Vec<Type> {
    let ptr = kernel.op.cx.ext_type(PointerType { address_space: GLOBAL });
    let hidden = usize::from(checks_data(kernel));
    let (pointers, numbers) = (kernel.views.len() + hidden, kernel.dims.len() + hidden);
    std::iter::repeat_n(ptr, pointers).chain(std::iter::repeat_n(Type::I64, numbers)).collect()
}

fn checks_data(kernel: &KernelInfo<'_>) -> bool {
    !DataCheck::all_of(kernel.op).is_empty()
}

/// Buffers of a launch are disjoint, and those that only come in are not written: such loads need not see stores.
fn attrs_of_inputs(kernel: &KernelInfo<'_>, inputs: usize) -> Option<Attr> {
    let cx = kernel.op.cx;
    let words = |read_only: bool| {
        let names = ["llvm.noalias", "llvm.readonly"];
        let names = if read_only { &names[..] } else { &names[..1] };
        let entries: Vec<NamedAttr> =
            names.iter().map(|name| NamedAttr { name: cx.ident(name), value: Attr::UNIT }).collect();
        cx.dict(&entries)
    };
    let buffers = kernel.views.iter().map(|(.., mode)| words(*mode == Mode::In));
    let others = std::iter::repeat_n(Attr::EMPTY_DICT, inputs - kernel.views.len());
    sutura_dialects::gpu::arg_attrs(cx, &buffers.chain(others).collect::<Vec<_>>())
}

/// Lowers one kernel into the state of a `gpu.func` and its body.
pub(in crate::gir_lowering) fn lower_kernel<'a>(
    kernel: &'a KernelInfo<'a>,
    name: &str,
    machine: &'a Machine,
    threads: Threads,
) -> Lowered<'a, GpuKernel> {
    let (cx, loc) = (kernel.op.cx, kernel.op.loc());
    let units = units_of_block(kernel, threads);
    let inputs = inputs(kernel);
    let block = threads_of_block(kernel, threads, units)?;
    let size = [block, 1, 1].map(|n| i32::try_from(n).expect("blocks have few threads"));
    let mut state = OpState::new(cx.op_name("gpu.func"), loc)
        .prop(cx.ident("function_type"), cx.type_attr(cx.function_type(&inputs, &[])))
        .prop(cx.ident("known_block_size"), cx.i32_array(&size))
        .attr(cx.ident("sym_name"), cx.string_attr(name))
        .attr(cx.ident(sutura_dialects::gpu::KERNEL), Attr::UNIT)
        .attr(cx.ident(sutura_dialects::gpu::WORKGROUP_ATTRIBUTIONS), cx.int_attr(0, Type::I64));
    if let Some(attrs) = attrs_of_inputs(kernel, inputs.len()) {
        state = state.prop(cx.ident("arg_attrs"), attrs);
    }
    let mut body = Body::new(1);
    let region = body.region();
    let mut builder = Builder::new(cx, &mut body);
    let args: Vec<_> = inputs.iter().map(|ty| (*ty, loc)).collect();
    let entry = builder.create_block(region, &args);
    builder.set_to_end(entry);
    let args: Vec<Value> = builder.body().block_args(entry).to_vec();
    let mut e = Emit { b: &mut builder, loc, lanes: 1, widths: machine.lanes, spread: None };
    let number = e.place("gpu.thread_id");
    let (thread, unit) = if block == threads.unit {
        (number, None)
    } else {
        let size = e.i64(threads.unit);
        let thread = e.op1("arith.remui", &[number, size], Type::I64, &[]);
        (thread, Some(e.op1("arith.divui", &[number, size], Type::I64, &[])))
    };
    e.spread = Some(Spread {
        threads: threads.unit,
        subgroup: threads.subgroup,
        thread,
        shared: Vec::new(),
        prefix: format!("{name}_shared"),
        bytes_left: threads.shared_bytes,
        met: false,
        overflow: false,
        uneven: false,
        parted: false,
    });
    let reporter = match (checks_data(kernel), args.last()) {
        (true, Some(first)) => Reporter::Words { words: args[kernel.views.len()], first: *first },
        // Nothing is reported.
        _ => Reporter::None,
    };
    let mut lowering = Lowering::new(e, machine, kernel, reporter);
    // A block has several groups, or one group several units.
    let (packed, of_group) = if kernel.units == 1 { (unit, None) } else { (None, unit) };
    let touched = Touched::ALL;
    lowering.gpu = Some(GpuState { threads, units, unit: of_group, alive: None, touched, moves: false });
    lowering.gpu_function(&args, packed)?;
    let spread = lowering.e.spread.take().expect("set above");
    if spread.parted {
        let message = "has units that wait for each other, or hand each other values, in a loop whose trips may differ from unit to unit";
        return Err(Unsupported { op: kernel.op, message: message.to_owned() });
    }
    if spread.overflow {
        let message = format!("needs more than the {} bytes of memory that a block has", threads.shared_bytes);
        return Err(Unsupported { op: kernel.op, message });
    }
    Ok(GpuKernel { state, body, shared: spread.shared, block, units, of_group: kernel.units })
}

/// Threads of a block: of the units of one group, or of the groups that it takes at a time.
fn threads_of_block<'a>(kernel: &'a KernelInfo<'a>, threads: Threads, units: i64) -> Lowered<'a, i64> {
    let fail = |message: String| Err(Unsupported { op: kernel.op, message });
    if kernel.units > 1 && threads.unit > threads.subgroup {
        return fail(format!(
            "has groups of {} units, each of which is a subgroup at most: {} threads of {}",
            kernel.units, threads.unit, threads.subgroup
        ));
    }
    let block = threads.unit.saturating_mul(units).saturating_mul(kernel.units);
    if block > MOST_THREADS {
        let (units, most) = (kernel.units, MOST_THREADS);
        return fail(format!("has groups of {units} units of {} threads; a block has at most {most}", threads.unit));
    }
    Ok(block)
}

/// Several units share a block where none of them waits for its own threads alone.
fn units_of_block(kernel: &KernelInfo<'_>, threads: Threads) -> i64 {
    if kernel.units > 1 {
        return 1;
    }
    let body = kernel.op.inside();
    let waits = body.preorder().any(|op| {
        let op = OpRef::new(kernel.op.cx, body, op);
        // Loops may run differently often in units of one subgroup, whose threads hand values to each other.
        let hands_over = op.is::<ForOp>() || op.is::<ScanOp>();
        op.is::<AllocOp>() || op.is::<TransposeOp>() || (hands_over && threads.unit < threads.subgroup)
    });
    let reads_back = kernel.views.iter().any(|(_, _, mode)| *mode == Mode::InOut);
    if threads.unit > threads.subgroup || waits || reads_back { 1 } else { (threads.packed / threads.unit).max(1) }
}

impl<'a> Lowering<'a, '_> {
    fn gpu_function(&mut self, args: &[Value], unit: Option<Value>) -> Lowered<'a, ()> {
        let op = self.kernel.op;
        let (pointers, rest) = args.split_at(self.kernel.views.len());
        let sizes = &rest[usize::from(!self.checks.is_empty())..];
        for ((value, dim), size) in self.kernel.dims.iter().zip(sizes) {
            let size = if dim.min == dim.max { self.e.i64(dim.min) } else { *size };
            self.dims.insert(dim.name.clone(), size);
            self.held.insert(*value, Held::Index(size));
        }
        for ((value, ty, _), ptr) in self.kernel.views.iter().zip(pointers) {
            let view = self.view(*ptr, ty);
            let view = self.at(op, view)?;
            self.held.insert(*value, Held::View(view));
        }
        let one = self.e.i64(1);
        self.mark_sizes(one);
        let moves = self.windows_begin_late();
        self.gpu.as_mut().expect("a GPU is lowered for").moves = moves;
        self.widths(unit, one)?;
        self.e.op("gpu.return", &[], &[], &[]);
        Ok(())
    }

    /// The groups with vectors as wide as the sizes allow, of which some only the launch knows.
    fn widths(&mut self, unit: Option<Value>, one: Value) -> Lowered<'a, ()> {
        let width = self.width();
        let mut all = None;
        for size in &width.multiples {
            let size = self.size(size);
            let (size, lanes, zero) = (self.at(self.kernel.op, size)?, self.e.i64(width.lanes), self.e.i64(0));
            let rest = self.e.op1("arith.remui", &[size, lanes], Type::I64, &[]);
            let whole = self.e.cmpi(Pred::Eq, rest, zero);
            all = Some(self.e.both(all, whole));
        }
        let Some(all) = all else {
            self.e.lanes = width.lanes;
            return self.persistent_groups(unit, one);
        };
        let mut state = OpState::new(self.e.cx().op_name("scf.if"), self.e.loc).regions(2);
        state.operands.push(all);
        let if_op = self.e.b.create(state);
        let regions: Vec<_> = self.e.b.body().regions(if_op).collect();
        let (point, outside, done) = (self.e.b.insert_point(), self.held.clone(), self.done.clone());
        for (region, lanes) in regions.into_iter().zip([width.lanes, 1]) {
            let block = self.e.b.create_block(region, &[]);
            self.e.b.set_to_end(block);
            self.e.lanes = lanes;
            self.begin_copy(&outside, &done);
            self.persistent_groups(unit, one)?;
            self.e.op("scf.yield", &[], &[], &[]);
        }
        self.e.b.set_insert_point(point);
        Ok(())
    }

    /// The loop over the groups of a block, or of each of its units.
    fn persistent_groups(&mut self, unit: Option<Value>, one: Value) -> Lowered<'a, ()> {
        let op = self.kernel.op;
        let mut extents = Vec::new();
        for (_, extent) in &self.kernel.grid {
            let extent = self.size(extent);
            extents.push(self.at(op, extent)?);
        }
        let groups = extents.iter().copied().reduce(|a, b| self.e.muli(a, b)).unwrap_or(one);
        let (block, blocks) = (self.e.place("gpu.block_id"), self.e.place("gpu.grid_dim"));
        let units = self.e.i64(self.gpu.expect("a GPU is lowered for").units);
        let (first, step) = match unit {
            None => (block, blocks),
            Some(_) => (self.e.muli(block, units), self.e.muli(blocks, units)),
        };
        let mut state = OpState::new(self.e.cx().op_name("scf.for"), self.e.loc).regions(1);
        state.operands.extend([first, groups, step]);
        let for_op = self.e.b.create(state);
        let region = self.e.b.body().regions(for_op).next().expect("made with a region");
        let body = self.e.b.create_block(region, &[(Type::I64, self.e.loc)]);
        let point = self.e.b.set_insert_point(sutura_ir::builder::InsertPoint::End(body));
        let mut group = self.e.b.body().block_args(body)[0];
        self.enter_loop(Touched::ALL);
        if let Some(unit) = unit {
            // All units go on to the end, so that threads that hand each other values meet.
            let wanted = self.e.addi(group, unit);
            let alive = self.e.cmpi(Pred::Slt, wanted, groups);
            let last = self.e.subi(groups, one);
            group = self.e.mini(wanted, last);
            self.gpu.as_mut().expect("a GPU is lowered for").alive = Some(alive);
        }
        for ((value, _), index) in self.kernel.grid.iter().zip(self.grid_indices(group, &extents, one)) {
            self.held.insert(*value, Held::Index(index));
        }
        self.group_body()?;
        self.leave_loop(Touched::ALL);
        self.e.op("scf.yield", &[], &[], &[]);
        self.e.b.set_insert_point(point);
        Ok(())
    }

    /// An array of the block: one for the group, or one for each unit of it. `None` where it does not fit.
    pub(in crate::gir_lowering) fn in_block(&mut self, elems: i64, elem: Type, owner: Scope) -> Option<Value> {
        let gpu = self.gpu.expect("a GPU is lowered for");
        // Groups that share a block would write over what others keep.
        if gpu.units > 1 {
            return None;
        }
        let Some(unit) = gpu.unit.filter(|_| owner == Scope::Unit) else { return self.e.shared_array(elem, elems) };
        let aligned = ACCESS_BYTES / self.e.bytes(elem).clamp(1, ACCESS_BYTES);
        let elems = elems.checked_add(aligned - 1)? / aligned * aligned;
        let all = self.e.shared_array(elem, elems.checked_mul(self.kernel.units)?)?;
        let elems = self.e.i64(elems);
        let before = self.e.muli(unit, elems);
        Some(self.e.gep(all, before, stored(elem)))
    }

    /// Whether a group is lowered twice, once for full windows: where units of a subgroup could part, they may not.
    pub(in crate::gir_lowering) fn may_part(&self) -> bool {
        self.gpu.is_none_or(|gpu| gpu.threads.unit >= gpu.threads.subgroup)
    }
}
