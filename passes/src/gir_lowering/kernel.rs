//! One kernel: from a grid of groups to a function over a range of linear group numbers.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashSet;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::elements;
use sutura_dialects::gir::bounds::Bounds;
use sutura_dialects::gir::checks::DataCheck;
use sutura_dialects::gir::constraints::{Axis, Scope};
use sutura_dialects::gir::kernel::KernelInfo;
use sutura_dialects::gir::ops::{ForOp, HomeOp, SliceOp};
use sutura_dialects::gir::types::{TileType, ViewType};
use sutura_dialects::llvm::{LoopAnnotation, LoopUnroll};
use sutura_ir::{Attr, Body, Builder, Loc, Op, OpRef, OpState, Type, Value};

use super::cpu::existing_rows::{Existing, LeftRows};
use super::cpu::pipeline::Host;
use super::cpu::stream::Ahead;
use super::emit::{Emit, Pred};
use super::gpu::GpuState;
use super::gpu::sweep::Kept;
use super::hazards::Hazards;
use super::machine::Machine;
use super::memory::{AxisVal, Origin, SliceVal, ViewVal, Window, stored};
use super::report::Reporter;
use super::strip::{NodeId, Sink, Strips};
use super::tile::RegTile;

/// What a value of the kernel has become.
#[derive(Clone)]
pub(super) enum Held {
    Index(Value),
    View(ViewVal),
    Slice(SliceVal),
    Tile(RegTile),
    Strip(NodeId),
    /// A left factor whose contraction reads those rows that exist.
    LeftRows(LeftRows),
}

/// Where and why a kernel cannot be lowered.
pub(super) struct Unsupported<'a> {
    pub(super) op: OpRef<'a>,
    pub(super) message: String,
}

pub(super) type Lowered<'a, T> = Result<T, Unsupported<'a>>;

/// State of one kernel's lowering.
pub(super) struct Lowering<'a, 'e> {
    pub(super) e: Emit<'e>,
    pub(super) machine: &'a Machine,
    pub(super) kernel: &'a KernelInfo<'a>,
    pub(super) bounds: Bounds<'a>,
    pub(super) held: HashMap<Value, Held>,
    pub(super) strips: Strips,
    pub(super) pending: Vec<Sink>,
    /// How many rows of a contraction exist, or columns, where not all may.
    pub(super) existing: HashMap<(Op, Axis), Existing>,
    /// What was stored, and what outlasts a loop.
    pub(super) hazards: Hazards,
    /// Operations that have been lowered; others are still to come.
    pub(super) done: FxHashSet<Op>,
    /// In this copy of the body every window at an offset of `judged` is full.
    pub(super) assume_full: bool,
    /// Offsets of windows of which a group knows before it starts whether all that they name exists.
    pub(super) judged: HashSet<Value>,
    /// For what stores say of the caches, whether they go past them, known once per launch.
    pub(super) streams: HashMap<Attr, Value>,
    /// Those of them of which some loop makes use.
    pub(super) streamed: Vec<Value>,
    /// Rows that the next group reads elsewhere.
    pub(super) ahead: Vec<Ahead>,
    /// Loops around what reads them, and the block in which it stands: that of a group, or of a row of it.
    pub(super) ahead_depth: usize,
    pub(super) rows_block: Option<sutura_ir::Block>,
    /// Some loop has asked for the next group's rows.
    pub(super) asked: bool,
    /// True at run time when this call runs another group, or another row of the group, after this one.
    pub(super) next_group: Option<Value>,
    /// The body is lowered once, not also for groups with partial windows.
    pub(super) one_copy: bool,
    /// A loop of this group that can take what the group before stores.
    pub(super) host: Option<Host>,
    /// Tiles that live in a row of an output, by their nodes.
    pub(super) homes: HashMap<NodeId, HomeOp<'a>>,
    /// What is said of the kernel, with its place.
    pub(super) notes: Vec<(Loc, String)>,
    /// Where checks of data are told.
    pub(super) reporter: Reporter,
    /// What the kernel checks of data.
    pub(super) checks: Vec<DataCheck>,
    /// Values of the sizes, by name.
    pub(super) dims: HashMap<String, Value>,
    /// Sizes that the function computes before its groups, and the operation before which it does.
    sizes: HashMap<Poly, Value>,
    sizes_mark: Option<Op>,
    /// First operation of the function that is not an allocation: scratch is allocated before it.
    pub(super) entry_mark: Op,
    /// Memory of the group's allocations.
    pub(super) allocs: HashMap<Value, Value>,
    /// Bytes that further scratch may take.
    scratch_left: i64,
    /// Where a GPU is lowered for.
    pub(super) gpu: Option<GpuState>,
    /// On a GPU, what threads have in registers.
    pub(super) kept: Kept,
    /// On a GPU, memory of the block in which a value of the kernel is kept, whatever copy of the body computes it.
    pub(super) kept_arrays: HashMap<Value, Scratch>,
}

/// Bytes that all scratch of one kernel may take on a thread's stack.
const SCRATCH_LIMIT: i64 = 1 << 20;

/// Sizes that a sum may have before it becomes one number, see `one_number`.
pub(super) const MANY_TERMS: usize = 4;

/// Memory of the calling thread, or of the block.
#[derive(Clone, Copy)]
pub(super) struct Scratch {
    pub(super) ptr: Value,
    /// How many elements fit.
    pub(super) elems: i64,
}

/// What a kernel becomes: the state of a `func.func` and its body, and what is said of it, with its place.
pub(super) struct Function {
    pub(super) state: OpState,
    pub(super) body: Body,
    pub(super) notes: Vec<(Loc, String)>,
}

/// Lowers one kernel into a function.
pub(super) fn lower_kernel<'a>(kernel: &'a KernelInfo<'a>, name: &str, machine: &'a Machine) -> Lowered<'a, Function> {
    let cx = kernel.op.cx;
    let loc = kernel.op.loc();
    let ptr = super::emit::ptr_type(cx);
    let inputs = [ptr, ptr, Type::I64, Type::I64];
    let state = OpState::new(cx.op_name("func.func"), loc)
        .prop(cx.ident("sym_name"), cx.string_attr(name))
        .prop(cx.ident("function_type"), cx.type_attr(cx.function_type(&inputs, &[])));
    let mut body = Body::new(1);
    let region = body.region();
    let mut builder = Builder::new(cx, &mut body);
    let entry = builder.create_block(region, &inputs.map(|ty| (ty, loc)));
    builder.set_to_end(entry);
    let args: Vec<Value> = builder.body().block_args(entry).to_vec();
    let widths = machine.lanes.of_elements(lane_bits(kernel.op, machine));
    let e = Emit { b: &mut builder, loc, lanes: widths.register, widths, spread: None };
    let reporter = Reporter::Table { buffers: args[0], views: kernel.views.len() as i64 };
    let mut lowering = Lowering::new(e, machine, kernel, reporter);
    lowering.function(&args)?;
    let notes = lowering.notes;
    Ok(Function { state, body, notes })
}

/// Bits of the elements that vectors of a kernel are made for. Tiles in registers have the columns of vectors of `f32`.
fn lane_bits(kernel: OpRef<'_>, machine: &Machine) -> u32 {
    let (mut elems, mut tiled) = (FxHashSet::default(), false);
    kernel.walk(&mut |op| {
        for ty in op.result_types() {
            let tile = op.cx.type_as::<TileType>(ty);
            elems.insert(tile.map_or(ty, |tile| tile.elem));
            tiled |= tile.is_some_and(|tile| tile.cols.as_const() != Some(1) && machine.in_registers(tile));
        }
    });
    elements::lane_bits(kernel.cx, elems.into_iter().chain(tiled.then_some(Type::F32)))
}

impl<'a, 'e> Lowering<'a, 'e> {
    /// Nothing lowered yet; `e` emits into the entry of the function.
    pub(super) fn new(mut e: Emit<'e>, machine: &'a Machine, kernel: &'a KernelInfo<'a>, reporter: Reporter) -> Self {
        let zero = e.i64(0);
        let entry_mark = e.b.body().defining_op(zero).expect("a constant is an op");
        Self {
            e,
            machine,
            kernel,
            bounds: Bounds::of_kernel(kernel),
            held: HashMap::new(),
            strips: Strips::default(),
            pending: Vec::new(),
            existing: HashMap::new(),
            hazards: Hazards::default(),
            done: FxHashSet::default(),
            assume_full: false,
            judged: HashSet::new(),
            streams: HashMap::new(),
            streamed: Vec::new(),
            ahead: Vec::new(),
            ahead_depth: 0,
            rows_block: None,
            asked: false,
            next_group: None,
            one_copy: false,
            host: None,
            homes: HashMap::new(),
            notes: Vec::new(),
            reporter,
            checks: DataCheck::all_of(kernel.op),
            dims: HashMap::new(),
            sizes: HashMap::new(),
            sizes_mark: None,
            entry_mark,
            allocs: HashMap::new(),
            scratch_left: SCRATCH_LIMIT,
            gpu: None,
            kept: Kept::default(),
            kept_arrays: HashMap::new(),
        }
    }
}

impl<'a> Lowering<'a, '_> {
    pub(super) fn fail<T>(&self, op: OpRef<'a>, message: impl Into<String>) -> Lowered<'a, T> {
        Err(Unsupported { op, message: message.into() })
    }

    /// Turns a message without place into an error at `op`.
    pub(super) fn at<T>(&self, op: OpRef<'a>, result: Result<T, String>) -> Lowered<'a, T> {
        result.map_err(|message| Unsupported { op, message })
    }

    fn function(&mut self, args: &[Value]) -> Lowered<'a, ()> {
        if self.kernel.units > 1 {
            return self.fail(self.kernel.op, format!("runs on {} units, and a CPU group has one", self.kernel.units));
        }
        let op = self.kernel.op;
        let loaded = |e: &mut Emit<'_>, base: Value, index: usize, elem: Type| {
            let at = e.i64(index as i64);
            let ptr = e.gep(base, at, elem);
            e.load(ptr, elem)
        };
        for (i, (value, dim)) in self.kernel.dims.iter().enumerate() {
            let size = match dim.min == dim.max {
                true => self.e.i64(dim.min),
                false => loaded(&mut self.e, args[1], i, Type::I64),
            };
            self.dims.insert(dim.name.clone(), size);
            self.held.insert(*value, Held::Index(size));
        }
        let ptr_type = self.e.ptr_type();
        for (i, (value, ty, _)) in self.kernel.views.iter().enumerate() {
            let at = self.e.i64(i as i64);
            let slot = self.e.gep(args[0], at, ptr_type);
            let align = self.e.cx().int_attr(8, Type::I64);
            let ptr = self.e.op1("llvm.load", &[slot], ptr_type, &[("alignment", align)]);
            let view = self.view(ptr, ty);
            let view = self.at(op, view)?;
            self.held.insert(*value, Held::View(view));
        }
        self.find_streams()?;
        let one = self.e.i64(1);
        self.mark_sizes(one);
        self.groups(args[2], args[3], one)?;
        self.end_streams()?;
        self.e.op("func.return", &[], &[], &[]);
        Ok(())
    }

    /// Sizes that are asked for from now on are computed before `value`.
    pub(super) fn mark_sizes(&mut self, value: Value) {
        self.sizes_mark = self.e.b.body().defining_op(value);
    }

    /// Whether positions below zero, or past the end, cannot be ruled out.
    pub(super) fn open_ends(&mut self, offset: Value, size: &Poly, extent: &Poly, step: i64) -> (bool, bool) {
        let Some(at) = self.bounds.expr(offset) else { return (true, true) };
        let last = at.add(&extent.sub(&1.into()).scale(step));
        let room = size.sub(&1.into()).sub(&last);
        (!self.bounds.never_negative(&at), !self.bounds.never_negative(&room))
    }

    // ---- sizes and memory

    /// Value of a size over the kernel's dims; equal sizes are one value.
    pub(super) fn size(&mut self, poly: &Poly) -> Result<Value, String> {
        if let Some(value) = self.sizes.get(poly) {
            return Ok(*value);
        }
        let Some(mark) = self.sizes_mark else { return self.new_size(poly) };
        let point = self.e.b.insert_point();
        self.e.b.set_before(mark);
        let value = self.new_size(poly);
        self.e.b.set_insert_point(point);
        self.sizes.insert(poly.clone(), value.clone()?);
        value
    }

    fn new_size(&mut self, poly: &Poly) -> Result<Value, String> {
        let dims = &self.dims;
        let value = self.e.poly(poly, &|name| dims.get(name).copied())?;
        Ok(if poly.terms().count() > MANY_TERMS { self.one_number(value) } else { value })
    }

    /// A sum of many sizes, hidden from LLVM behind a `freeze`. LLVM's loop strength reduction would try the terms of the sum in
    /// each loop that uses it, which took 67 s for a concatenation of 500 tensors of different sizes.
    pub(super) fn one_number(&mut self, sum: Value) -> Value {
        if self.gpu.is_some() { sum } else { self.e.op1("llvm.freeze", &[sum], Type::I64, &[]) }
    }

    pub(super) fn view(&mut self, ptr: Value, ty: &ViewType) -> Result<ViewVal, String> {
        let dims = ty.dims.iter().map(|d| self.size(d)).collect::<Result<Vec<_>, _>>()?;
        let strides = ty.element_strides();
        let known = strides.iter().map(Poly::as_const).collect();
        let strides = strides.iter().map(|s| self.size(s)).collect::<Result<Vec<_>, _>>()?;
        Ok(ViewVal { ptr, elem: ty.elem, dims, strides, known, ty: ty.clone() })
    }

    /// Memory of the calling thread, from the start of the function on, that holds this many elements at most; `None`
    /// when that many are not known to be few enough.
    pub(super) fn scratch(&mut self, elems: &Poly, elem: Type, owner: Scope) -> Option<Scratch> {
        let most = self.bounds.most(elems);
        if self.gpu.is_some() {
            let elems = i64::try_from(most).ok()?.max(0);
            let point = self.e.b.insert_point();
            self.e.b.set_before(self.entry_mark);
            let ptr = self.in_block(elems, elem, owner);
            self.e.b.set_insert_point(point);
            return Some(Scratch { ptr: ptr?, elems });
        }
        let size = self.e.cx().bit_width(elem).map_or(8, |b| i64::from(b.div_ceil(8)));
        let elems = i64::try_from(most).ok()?.max(0);
        let left = self.scratch_left.checked_sub(elems.checked_mul(size)?)?;
        self.scratch_left = (left >= 0).then_some(left)?;
        let point = self.e.b.insert_point();
        self.e.b.set_before(self.entry_mark);
        let count = self.e.i64(elems);
        let cx = self.e.cx();
        let props = [("alignment", cx.int_attr(64, Type::I64)), ("elem_type", cx.type_attr(stored(elem)))];
        let ptr_type = self.e.ptr_type();
        let ptr = self.e.op1("llvm.alloca", &[count], ptr_type, &props);
        self.e.b.set_insert_point(point);
        Some(Scratch { ptr, elems })
    }

    /// Scratch for what a value of the kernel is; on a GPU copies of the body, of which one runs, have the same.
    pub(super) fn scratch_of(&mut self, value: Value, elems: &Poly, elem: Type) -> Option<Scratch> {
        if self.gpu.is_none() {
            return self.scratch(elems, elem, Scope::Unit);
        }
        let known = self.kept_arrays.get(&value).copied();
        let scratch = known.or_else(|| self.scratch(elems, elem, Scope::Unit))?;
        self.kept_arrays.insert(value, scratch);
        Some(scratch)
    }

    pub(super) fn index(&self, value: Value) -> Value {
        match self.held.get(&value) {
            Some(Held::Index(v)) => *v,
            _ => unreachable!("operands are lowered before their users, and the declaration says an index"),
        }
    }

    /// A slice with the windows that could not be ruled out.
    pub(super) fn slice(&mut self, slice: &SliceOp<'a>) -> Lowered<'a, SliceVal> {
        use sutura_ir::OpView;
        let op = slice.op_ref();
        let Some(Held::View(view)) = self.held.get(&slice.view()).cloned() else {
            return self.fail(op, "the view is not memory that this kernel knows");
        };
        let offsets: Vec<Value> = slice.offsets().collect();
        let mut base = view.ptr;
        for (offset, stride) in offsets.iter().zip(&view.strides) {
            let at = self.index(*offset);
            let elements = self.e.muli(at, *stride);
            base = self.e.gep(base, elements, stored(view.elem));
        }
        let single = AxisVal { stride: None, step: None, window: Window::FULL };
        let origin = Some(Origin { root: view.ptr, slice: slice.slice(), writes: 0 });
        let mut value = SliceVal { base, elem: view.elem, row: single, col: single, origin, exists: None };
        for (dim, extent, step) in slice_axes(slice) {
            let axis = self.axis(op, &view, offsets[dim], (dim, &extent, step))?;
            if slice.col_dim() == Some(dim as i64) { value.col = axis } else { value.row = axis }
        }
        let clips = slice.clips().unwrap_or_default();
        for (dim, offset) in offsets.iter().enumerate() {
            if clips.contains(&(dim as i64)) {
                value.exists = self.fixed_dim(*offset, &view, dim, value.exists);
            }
        }
        // A processor takes long over an address that is no memory, even where a mask leaves all of it out.
        if let Some(exists) = value.exists {
            value.base = self.e.select(exists, value.base, view.ptr);
        }
        Ok(value)
    }

    fn axis(
        &mut self,
        op: OpRef<'a>,
        view: &ViewVal,
        offset: Value,
        (dim, extent, step): (usize, &Poly, i64),
    ) -> Lowered<'a, AxisVal> {
        let steps = self.e.i64(step);
        let stride = self.e.muli(view.strides[dim], steps);
        let mut window = Window::FULL;
        let (below, above) = self.open_ends(offset, &view.ty.dims[dim], extent, step);
        let assumed = self.assume_full && self.judged.contains(&offset);
        let at = self.index(offset);
        if below && !assumed {
            let zero = self.e.i64(0);
            let missing = self.e.subi(zero, at);
            let up = self.e.i64(step - 1);
            let missing = self.e.addi(missing, up);
            let first = self.e.floordiv(missing, step);
            window.lo = Some(self.e.maxi(first, zero));
        }
        if above && !assumed {
            let room = self.e.subi(view.dims[dim], at);
            let up = self.e.i64(step - 1);
            let room = self.e.addi(room, up);
            let count = self.e.floordiv(room, step);
            let size = self.size(extent);
            let (size, zero) = (self.at(op, size)?, self.e.i64(0));
            let count = self.e.maxi(count, zero);
            window.hi = Some(self.e.mini(count, size));
        }
        Ok(AxisVal { stride: Some(stride), step: view.known[dim].and_then(|stride| stride.checked_mul(step)), window })
    }

    /// Adds to `exists` that a fixed offset lies inside the view, unless that is proven.
    fn fixed_dim(&mut self, offset: Value, view: &ViewVal, dim: usize, exists: Option<Value>) -> Option<Value> {
        let (below, above) = self.open_ends(offset, &view.ty.dims[dim], &1.into(), 1);
        let at = self.index(offset);
        let mut exists = exists;
        if below {
            let zero = self.e.i64(0);
            let inside = self.e.cmpi(Pred::Sge, at, zero);
            exists = Some(self.e.both(exists, inside));
        }
        if above {
            let inside = self.e.cmpi(Pred::Slt, at, view.dims[dim]);
            exists = Some(self.e.both(exists, inside));
        }
        exists
    }

    // ---- blocks and loops

    /// Lowers the operations of a block, its terminator left out.
    pub(super) fn block(&mut self, body: &'a Body, block: sutura_ir::Block) -> Lowered<'a, ()> {
        let ops: Vec<Op> = body.ops(block).collect();
        self.ops(body, &ops)
    }

    pub(super) fn ops(&mut self, body: &'a Body, ops: &[Op]) -> Lowered<'a, ()> {
        for op in ops {
            let op = OpRef::new(self.kernel.op.cx, body, *op);
            if op.name_str() != "gir.yield" {
                self.e.loc = op.loc();
                self.op(op)?;
            }
            self.done.insert(op.op);
        }
        Ok(())
    }

    /// A loop: carried tiles travel as their registers.
    pub(super) fn for_loop(&mut self, this: &ForOp<'a>) -> Lowered<'a, ()> {
        use sutura_ir::OpView;
        let op = this.op_ref();
        let mut tiles = Vec::new();
        for init in this.inits() {
            tiles.push(self.tile(op, init)?);
        }
        self.flush(op)?;
        let counted = self.existing.clone();
        self.count_rows(this)?;
        let (before, inside) = self.before_loop(this);
        let (hi, one, lo_outside) = (self.index(this.hi()), self.e.i64(1), self.index(this.lo()));
        let lo = self.start_of_loop(lo_outside);
        self.held.insert(this.lo(), Held::Index(lo));
        let inits: Vec<Value> = tiles.iter().flat_map(RegTile::values).collect();
        let types: Vec<Type> = inits.iter().map(|v| self.e.ty(*v)).collect();
        let mut state = OpState::new(self.e.cx().op_name("scf.for"), self.e.loc).regions(1);
        state.operands.extend([lo, hi, one]);
        state.operands.extend_from_slice(&inits);
        state.result_types.extend_from_slice(&types);
        if let Some(trips) = this.unroll() {
            let annotation = LoopAnnotation { unroll: LoopUnroll::by(trips as i32) };
            state = state.attr(self.e.cx().ident("loop_annotation"), self.e.cx().ext_attr(annotation));
        }
        let loop_op = self.e.b.create(state);
        let region = self.e.b.body().regions(loop_op).next().expect("made with a region");
        let mut args = vec![(Type::I64, self.e.loc)];
        args.extend(types.iter().map(|t| (*t, self.e.loc)));
        let block = self.e.b.create_block(region, &args);
        let point = self.e.b.set_insert_point(sutura_ir::builder::InsertPoint::End(block));
        let values: Vec<Value> = self.e.b.body().block_args(block).to_vec();
        let entry = this.body().entry().expect("verified");
        self.held.insert(entry.args()[0], Held::Index(values[0]));
        self.hold_tiles(&tiles, &entry.args()[1..], &values[1..]);
        self.strips.depth += 1;
        self.enter_loop(inside);
        let uneven = self.enter_uneven(entry.args()[0]);
        let next_group = self.next_group;
        self.find_ahead_in_rows(this, values[0], hi)?;
        self.block(entry.body, entry.block)?;
        self.flush(op)?;
        // What a row of this loop is followed by is known in it alone.
        self.next_group = next_group;
        if self.rows_block == Some(entry.block) {
            self.ahead.clear();
            self.rows_block = None;
        }
        let mut next = Vec::new();
        for yielded in entry.terminator().expect("verified").operands() {
            next.extend(self.tile(op, yielded)?.values());
        }
        self.flush(op)?;
        self.leave_uneven(uneven);
        self.leave_loop(before);
        self.strips.depth -= 1;
        self.existing = counted;
        self.held.insert(this.lo(), Held::Index(lo_outside));
        if next.len() != inits.len() {
            return self.fail(op, "a carried tile changes the way it is held");
        }
        self.e.op("scf.yield", &next, &[], &[]);
        self.e.b.set_insert_point(point);
        if this.unroll().is_none() {
            self.e.keep_rolled(loop_op);
        }
        let results: Vec<Value> = self.e.b.body().results(loop_op).collect();
        let kernel_results: Vec<Value> = op.results().collect();
        self.hold_tiles(&tiles, &kernel_results, &results);
        Ok(())
    }

    /// Where a loop starts. What outer loops move is one number in it: LLVM's loop strength reduction would try its terms for each
    /// address of the loop, which takes longer than all else that it does to a kernel.
    fn start_of_loop(&mut self, lo: Value) -> Value {
        let constant = sutura_ir::registry::constant_of(self.e.b.body(), self.e.cx(), lo).is_some();
        if constant || self.strips.depth == 0 { lo } else { self.one_number(lo) }
    }

    fn hold_tiles(&mut self, forms: &[RegTile], values: &[Value], registers: &[Value]) {
        let mut rest = registers;
        for (form, value) in forms.iter().zip(values) {
            let (mine, others) = rest.split_at(form.values().len());
            self.held.insert(*value, Held::Tile(form.with_values(form.elem, mine)));
            rest = others;
        }
    }
}

/// The dimensions along which a slice has extent, with extents and steps: rows first.
pub(super) fn slice_axes(slice: &SliceOp<'_>) -> Vec<(usize, Poly, i64)> {
    use sutura_ir::OpView;
    let op = slice.op_ref();
    let ty = op
        .cx
        .type_as::<sutura_dialects::gir::types::SliceType>(op.ty(slice.slice()))
        .expect("the declaration says a slice");
    let rows = slice.row_dim().map(|d| (d as usize, ty.rows.clone(), slice.row_step()));
    let cols = slice.col_dim().map(|d| (d as usize, ty.cols.clone(), slice.col_step()));
    rows.into_iter().chain(cols).collect()
}
