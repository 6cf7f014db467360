//! A kernel's body as instructions for one launch: sizes evaluated, names resolved to slots, uses counted, intrinsics
//! replaced by what they mean.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use smallvec::SmallVec;
use sutura_interp::num::Kernel;
use sutura_interp::{DType, Fault, InterpError, Scalar};
use sutura_ir::affine::AffineExpr;
use sutura_ir::{BlockRef, Context, OpRef, Type, Value};

use super::memory::Along;
use super::numeric::{binary_op, combine, element_function};
use super::tile::{Combine, ScanRun};
use crate::r#dyn::poly::Poly;
use crate::gir::checks::DataCheck;
use crate::gir::constraints::{Axis, Scope};
use crate::gir::ops::*;
use crate::gir::types::{SliceType, Space, TileType, ViewType};

/// Index of a value of a unit.
pub(super) type Slot = usize;
/// Index of a space.
pub(super) type SpaceId = usize;
/// Number of a check among those of the kernel.
pub(super) type CheckId = usize;

/// An instruction.
pub(super) struct Inst<'a> {
    /// The operation it comes from.
    pub(super) at: OpRef<'a>,
    pub(super) what: What,
    /// Values that nothing needs afterwards.
    pub(super) frees: SmallVec<[Slot; 2]>,
}

/// Extents of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    pub(super) rows: usize,
    pub(super) cols: usize,
}

/// Where a move takes elements from and to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub(super) from: SpaceId,
    pub(super) to: SpaceId,
    /// Bytes of an element.
    pub(super) bytes: u64,
}

/// What an instruction does.
pub(super) enum What {
    Constant {
        value: i64,
        out: Slot,
    },
    /// The least of some expressions.
    Index {
        exprs: SmallVec<[AffineExpr; 2]>,
        dims: usize,
        args: SmallVec<[Slot; 4]>,
        out: Slot,
    },
    For(Box<For>),
    Yield {
        args: Vec<Slot>,
    },
    Slice(Box<SliceInst>),
    Load {
        slice: Slot,
        pad: Option<Scalar>,
        route: Route,
        out: Slot,
    },
    Store {
        tile: Slot,
        slice: Slot,
        route: Route,
    },
    AsyncCopy {
        from: Slot,
        to: Slot,
        zeros: bool,
        route: Route,
    },
    AsyncCommit,
    AsyncWait {
        pending: usize,
    },
    Move {
        tile: Slot,
        route: Route,
        out: Slot,
    },
    Alloc {
        dims: SmallVec<[i64; 4]>,
        dtype: DType,
        space: SpaceId,
        group: bool,
        out: Slot,
    },
    Identity {
        view: Slot,
        dims: SmallVec<[i64; 4]>,
        out: Slot,
    },
    Fill {
        value: Scalar,
        extents: Extents,
        out: Slot,
    },
    Iota {
        axis: Axis,
        base: Slot,
        dtype: DType,
        extents: Extents,
        out: Slot,
    },
    Map {
        kernel: Kernel,
        args: SmallVec<[Slot; 3]>,
        flops: u64,
        out: Slot,
    },
    Reduce {
        combine: Combine,
        axis: Axis,
        group: Option<Kernel>,
        operand: Slot,
        out: Slot,
    },
    Scan {
        combine: Combine,
        run: ScanRun,
        operand: Slot,
        out: Slot,
    },
    Broadcast {
        operand: Slot,
        like: Slot,
        out: Slot,
    },
    Transpose {
        operand: Slot,
        out: Slot,
    },
    GatherRows {
        view: Slot,
        indices: Slot,
        offset: Slot,
        extents: Extents,
        route: Route,
        out: Slot,
    },
    Pick {
        tile: Slot,
        size: Slot,
        position: Slot,
        check: CheckId,
        out: Slot,
    },
    Divisor {
        operand: Slot,
        /// Position of the first element, and distances of rows and columns.
        position: Option<[Slot; 3]>,
        check: CheckId,
        out: Slot,
    },
    Contract {
        lhs: Slot,
        rhs: Slot,
        acc: Slot,
        /// Whether integers of each factor have no sign.
        unsigned: [bool; 2],
        /// Places that lie side by side in each column of the right factor.
        interleave: usize,
        out: Slot,
    },
    /// Binds operands and results of an intrinsic's body, and a tile to its home.
    Copy {
        from: Slot,
        out: Slot,
    },
    Sync,
}

pub(super) struct For {
    pub(super) lo: Slot,
    pub(super) hi: Slot,
    pub(super) inits: Vec<Slot>,
    pub(super) index: Slot,
    pub(super) args: Vec<Slot>,
    pub(super) results: Vec<Slot>,
    pub(super) body: usize,
}

pub(super) struct SliceInst {
    pub(super) view: Slot,
    pub(super) offsets: SmallVec<[Slot; 4]>,
    pub(super) row: Option<Along>,
    pub(super) col: Option<Along>,
    /// Dims along which it may lie outside.
    pub(super) clips: SmallVec<[usize; 2]>,
    pub(super) extents: Extents,
    pub(super) out: Slot,
}

/// Instructions that run one after another.
#[derive(Default)]
pub(super) struct Code<'a> {
    pub(super) insts: Vec<Inst<'a>>,
    /// Arguments that the body does not use.
    pub(super) unused: Vec<Slot>,
}

/// What a slot's value takes of a space while it lives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) space: SpaceId,
    pub(super) bytes: u64,
}

/// A kernel's body for one launch.
pub(super) struct Compiled<'a> {
    /// The kernel's own block first.
    pub(super) blocks: Vec<Code<'a>>,
    pub(super) costs: Vec<Cost>,
    pub(super) spaces: IndexSet<Space>,
    /// Slots of the kernel's arguments, in their order.
    pub(super) args: Vec<Slot>,
    pub(super) checks: IndexSet<DataCheck>,
}

/// Compiles the body of a kernel for the given sizes; `intrinsics` are those of the target.
pub(super) fn compile<'a>(
    entry: BlockRef<'a>,
    dims: &IndexMap<Arc<str>, i64>,
    intrinsics: &HashMap<&'a str, OpRef<'a>>,
) -> Result<Compiled<'a>, InterpError> {
    let mut compiler = Compiler {
        cx: entry.cx,
        dims,
        intrinsics,
        active: Vec::new(),
        slots: HashMap::new(),
        out: Compiled {
            blocks: vec![Code::default()],
            costs: Vec::new(),
            spaces: IndexSet::new(),
            args: Vec::new(),
            checks: IndexSet::new(),
        },
    };
    compiler.out.args = entry.args().iter().map(|v| compiler.define(entry.body.ty(*v), *v)).collect();
    let args = compiler.out.args.clone();
    compiler.block(entry, 0, &args)?;
    Ok(compiler.out)
}

struct Compiler<'c, 'a> {
    cx: &'a Context,
    dims: &'c IndexMap<Arc<str>, i64>,
    intrinsics: &'c HashMap<&'a str, OpRef<'a>>,
    /// Intrinsics being expanded.
    active: Vec<&'a str>,
    slots: HashMap<Value, Slot>,
    out: Compiled<'a>,
}

impl<'a> Compiler<'_, 'a> {
    // ---- sizes and slots

    fn size(&self, poly: &Poly) -> Result<i64, Fault> {
        poly.eval(&|name| self.dims.get(name).copied())
            .ok_or_else(|| Fault::invalid_ir(format!("the size {poly} has no value: a symbol is no dim of the kernel")))
    }

    fn sizes(&self, polys: &[Poly]) -> Result<SmallVec<[i64; 4]>, Fault> {
        let sizes: SmallVec<[i64; 4]> = polys.iter().map(|p| self.size(p)).collect::<Result<_, _>>()?;
        match sizes.iter().zip(polys).find(|(n, _)| **n < 0) {
            Some((n, poly)) => Err(Fault::shape(format!("the size {poly} is {n}"))),
            None => Ok(sizes),
        }
    }

    fn extents(&self, rows: &Poly, cols: &Poly) -> Result<Extents, Fault> {
        let sizes = self.sizes(&[rows.clone(), cols.clone()])?;
        Ok(Extents { rows: sizes[0] as usize, cols: sizes[1] as usize })
    }

    fn space(&mut self, name: &Space) -> SpaceId {
        match self.out.spaces.get_index_of(&**name) {
            Some(id) => id,
            None => self.out.spaces.insert_full(name.clone()).0,
        }
    }

    /// A slot for a value.
    fn define(&mut self, ty: Type, value: Value) -> Slot {
        let slot = self.anonymous(ty);
        self.slots.insert(value, slot);
        slot
    }

    fn anonymous(&mut self, ty: Type) -> Slot {
        let tile = self.cx.type_as::<TileType>(ty);
        let cost = tile.and_then(|t| {
            let extents = self.extents(&t.rows, &t.cols).ok()?;
            let bytes = (extents.rows * extents.cols * DType::of(self.cx, t.elem)?.bytes()) as u64;
            Some(Cost { space: self.space(&t.space), bytes })
        });
        self.out.costs.push(cost.unwrap_or_default());
        self.out.costs.len() - 1
    }

    fn get(&self, value: Value) -> Result<Slot, Fault> {
        self.slots.get(&value).copied().ok_or_else(|| Fault::invalid_ir("uses a value of outside the kernel"))
    }

    fn all(&self, values: impl IntoIterator<Item = Value>) -> Result<Vec<Slot>, Fault> {
        values.into_iter().map(|v| self.get(v)).collect()
    }

    fn tile(&self, op: OpRef<'a>, value: Value) -> Result<&'a TileType, Fault> {
        self.cx.type_as::<TileType>(op.ty(value)).ok_or_else(|| Fault::invalid_ir("takes a tile"))
    }

    fn dtype(&self, op: OpRef<'a>, value: Value) -> Result<DType, Fault> {
        real(self.cx, self.tile(op, value)?.elem)
    }

    // ---- blocks

    /// Compiles a block into `blocks[id]`. Returns the slots that it uses and does not define.
    fn block(&mut self, block: BlockRef<'a>, id: usize, args: &[Slot]) -> Result<HashSet<Slot>, InterpError> {
        let mut code = Code::default();
        let mut nested: HashMap<usize, HashSet<Slot>> = HashMap::new();
        for op in block.ops() {
            let before = code.insts.len();
            let inner = self.op(op, id, &mut code).map_err(|e| e.at(op))?;
            if let Some(uses) = inner {
                nested.insert(before, uses);
            }
        }
        Ok(self.frees(code, id, args, &nested))
    }

    /// Says after which instruction each value is dead, from the last to the first.
    fn frees(
        &mut self,
        mut code: Code<'a>,
        id: usize,
        args: &[Slot],
        nested: &HashMap<usize, HashSet<Slot>>,
    ) -> HashSet<Slot> {
        let mut own: HashSet<Slot> = args.iter().copied().collect();
        code.insts.iter().for_each(|inst| own.extend(inst.what.defs()));
        let (mut seen, mut outer) = (HashSet::new(), HashSet::new());
        for (i, inst) in code.insts.iter_mut().enumerate().rev() {
            let mut touched: Vec<Slot> = inst.what.uses();
            touched.extend(inst.what.defs());
            // A set's order must not reach the output; frees are independent of each other, and sorted anyway.
            touched.extend(nested.get(&i).into_iter().flatten());
            touched.sort_unstable();
            touched.dedup();
            for slot in touched {
                if !own.contains(&slot) {
                    outer.insert(slot);
                } else if seen.insert(slot) {
                    inst.frees.push(slot);
                }
            }
        }
        code.unused = args.iter().copied().filter(|slot| !seen.contains(slot)).collect();
        self.out.blocks[id] = code;
        outer
    }

    /// Compiles an operation; returns what a nested block uses of outside.
    fn op(&mut self, op: OpRef<'a>, id: usize, code: &mut Code<'a>) -> Result<Option<HashSet<Slot>>, Stop> {
        if let Some(value) = sutura_ir::registry::constant_value(op) {
            let value = self.cx.as_int(value).filter(|_| op.result_types().all(|t| t == Type::INDEX));
            let value = value.ok_or_else(|| Fault::unsupported("only constants of type index stand in a kernel"))?;
            let out = self.define(Type::INDEX, op.result(0));
            push(code, op, What::Constant { value, out });
            return Ok(None);
        }
        if let Some(this) = op.as_::<ForOp<'_>>() {
            return self.for_loop(op, this, code).map(Some);
        }
        if let Some(this) = op.as_::<IntrinsicOp<'_>>() {
            self.intrinsic(op, this, id, code)?;
            return Ok(None);
        }
        if op.is::<AllocOp<'_>>() && id != 0 {
            return Err(Fault::invalid_ir("must stand directly in the kernel's body").into());
        }
        let what = self.simple(op)?;
        push(code, op, what);
        Ok(None)
    }

    fn for_loop(&mut self, op: OpRef<'a>, this: ForOp<'a>, code: &mut Code<'a>) -> Result<HashSet<Slot>, Stop> {
        let entry = this.body().entry().ok_or_else(|| Fault::invalid_ir("has no body"))?;
        let (lo, hi, inits) = (self.get(this.lo())?, self.get(this.hi())?, self.all(this.inits())?);
        let args: Vec<Slot> = entry.args().iter().map(|v| self.define(entry.body.ty(*v), *v)).collect();
        self.out.blocks.push(Code::default());
        let body = self.out.blocks.len() - 1;
        let uses = self.block(entry, body, &args)?;
        let results = op.results().map(|v| self.define(op.ty(v), v)).collect();
        let (index, args) = (args[0], args[1..].to_vec());
        push(code, op, What::For(Box::new(For { lo, hi, inits, index, args, results, body })));
        Ok(uses)
    }

    /// Puts an intrinsic's meaning in its place.
    fn intrinsic(&mut self, op: OpRef<'a>, this: IntrinsicOp<'a>, id: usize, code: &mut Code<'a>) -> Result<(), Stop> {
        let name = this.callee();
        let Some(&meaning) = self.intrinsics.get(name) else {
            let message = format!("the module's target describes no intrinsic @{name}");
            return Err(Fault::new(sutura_interp::FaultKind::Call, message).into());
        };
        if self.active.contains(&name) {
            return Err(Fault::invalid_ir(format!("the meaning of @{name} uses @{name}")).into());
        }
        let entry = meaning.region(0).and_then(|r| r.entry()).ok_or_else(|| Fault::invalid_ir("has no meaning"))?;
        let args = self.all(this.args())?;
        if args.len() != entry.args().len() {
            let message = format!("@{name} takes {} operands, not {}", entry.args().len(), args.len());
            return Err(Fault::invalid_ir(message).into());
        }
        // Values of the intrinsic's body are other values at each place where it is used.
        let outside = std::mem::take(&mut self.slots);
        self.active.push(name);
        for (from, arg) in args.iter().zip(entry.args()) {
            // The operand itself, under another name.
            self.slots.insert(*arg, *from);
        }
        let mut yielded = Vec::new();
        for inner in entry.ops() {
            if inner.is::<YieldOp<'_>>() {
                yielded = self.all(inner.operands())?;
                continue;
            }
            if inner.region(0).is_some() {
                return Err(Fault::unsupported("the meaning of an intrinsic has no loops").into());
            }
            self.op(inner, id, code)?;
        }
        self.active.pop();
        self.slots = outside;
        if yielded.len() != op.num_results() {
            return Err(Fault::invalid_ir(format!("@{name} gives {} results", yielded.len())).into());
        }
        for (result, from) in op.results().zip(yielded) {
            let out = self.define(op.ty(result), result);
            push(code, op, What::Copy { from, out });
        }
        Ok(())
    }
}

fn push<'a>(code: &mut Code<'a>, at: OpRef<'a>, what: What) {
    code.insts.push(Inst { at, what, frees: SmallVec::new() });
}

/// A fault, with a place if one is known.
enum Stop {
    Fault(Fault),
    Placed(InterpError),
}

impl Stop {
    fn at(self, op: OpRef<'_>) -> InterpError {
        match self {
            Self::Fault(fault) => InterpError::at(op, fault),
            Self::Placed(error) => error,
        }
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<InterpError> for Stop {
    fn from(error: InterpError) -> Self {
        Self::Placed(error)
    }
}

/// The type of elements that kernels compute with: complex numbers are two numbers there.
fn real(cx: &Context, elem: Type) -> Result<DType, Fault> {
    match DType::expect(cx, elem)? {
        DType::Complex(_) => {
            Err(Fault::unsupported("kernels have no complex elements: 'split-complex' makes parts of them"))
        }
        dtype => Ok(dtype),
    }
}

// ---- single operations

impl<'a> Compiler<'_, 'a> {
    fn route(&mut self, from: &Space, to: &Space, elem: Type) -> Result<Route, Fault> {
        let bytes = real(self.cx, elem)?.bytes() as u64;
        Ok(Route { from: self.space(from), to: self.space(to), bytes })
    }

    /// The slot of the one result.
    fn result(&mut self, op: OpRef<'a>) -> Slot {
        self.define(op.ty(op.result(0)), op.result(0))
    }

    /// The slot of a result that is not held anywhere: it is as cheap to make as to keep.
    fn free_result(&mut self, op: OpRef<'a>) -> Slot {
        let slot = self.result(op);
        self.out.costs[slot].bytes = 0;
        slot
    }

    fn simple(&mut self, op: OpRef<'a>) -> Result<What, Fault> {
        if let Some(what) = self.of_memory(op)? {
            return Ok(what);
        }
        if let Some(what) = self.of_elements(op)? {
            return Ok(what);
        }
        if let Some(this) = op.as_::<IndexOp<'_>>() {
            let map = self.cx.affine_map_data(this.map());
            let exprs = self.cx.affine_exprs(map.results).into();
            let args = self.all(this.args())?.into();
            return Ok(What::Index { exprs, dims: map.dims as usize, args, out: self.result(op) });
        }
        if op.is::<YieldOp<'_>>() {
            return Ok(What::Yield { args: self.all(op.operands())? });
        }
        if let Some(this) = op.as_::<PickOp<'_>>() {
            let (tile, size, position) = (self.get(this.tile())?, self.get(this.size())?, self.get(this.position())?);
            let check = self.check(op)?;
            return Ok(What::Pick { tile, size, position, check, out: self.result(op) });
        }
        if op.is::<SyncOp<'_>>() {
            return Ok(What::Sync);
        }
        Err(Fault::unsupported("has no meaning in a kernel"))
    }

    fn check(&mut self, op: OpRef<'a>) -> Result<CheckId, Fault> {
        let check = DataCheck::of(op).ok_or_else(|| Fault::invalid_ir("checks nothing"))?;
        Ok(self.out.checks.insert_full(check).0)
    }

    fn of_memory(&mut self, op: OpRef<'a>) -> Result<Option<What>, Fault> {
        Ok(Some(if let Some(this) = op.as_::<SliceOp<'_>>() {
            self.slice(op, this)?
        } else if let Some(this) = op.as_::<LoadOp<'_>>() {
            let (slice, tile) = (self.slice_type(op, this.slice())?, self.tile(op, this.tile())?);
            let route = self.route(&slice.space, &tile.space, tile.elem)?;
            let number = |value| sutura_interp::constant::constant(self.cx, value)?.scalar();
            let pad = this.pad().map(number).transpose()?;
            What::Load { slice: self.get(this.slice())?, pad, route, out: self.result(op) }
        } else if let Some(this) = op.as_::<StoreOp<'_>>() {
            let (tile, slice) = (self.tile(op, this.tile())?, self.slice_type(op, this.slice())?);
            let route = self.route(&tile.space, &slice.space, tile.elem)?;
            What::Store { tile: self.get(this.tile())?, slice: self.get(this.slice())?, route }
        } else if let Some(this) = op.as_::<AsyncCopyOp<'_>>() {
            let (from, to) = (self.slice_type(op, this.from())?, self.slice_type(op, this.to())?);
            let route = self.route(&from.space, &to.space, to.elem)?;
            What::AsyncCopy { from: self.get(this.from())?, to: self.get(this.to())?, zeros: this.zeros(), route }
        } else if op.is::<AsyncCommitOp<'_>>() {
            What::AsyncCommit
        } else if let Some(this) = op.as_::<AsyncWaitOp<'_>>() {
            What::AsyncWait { pending: usize::try_from(this.pending()).unwrap_or(0) }
        } else if let Some(this) = op.as_::<MoveOp<'_>>() {
            let (from, to) = (self.tile(op, this.tile())?, self.tile(op, this.result())?);
            let route = self.route(&from.space, &to.space, to.elem)?;
            What::Move { tile: self.get(this.tile())?, route, out: self.result(op) }
        } else if let Some(this) = op.as_::<HomeOp<'_>>() {
            What::Copy { from: self.get(this.tile())?, out: self.result(op) }
        } else if let Some(this) = op.as_::<AllocOp<'_>>() {
            let view = self.view(op, this.view())?;
            let (dims, dtype) = (self.sizes(&view.dims)?, real(self.cx, view.elem)?);
            let (space, group) = (self.space(&view.space), this.owner() == Scope::Group);
            What::Alloc { dims, dtype, space, group, out: self.result(op) }
        } else if let Some(this) = op.as_::<IdentityOp<'_>>() {
            let dims = self.sizes(&self.view(op, this.result())?.dims)?;
            What::Identity { view: self.get(this.view())?, dims, out: self.result(op) }
        } else if let Some(this) = op.as_::<GatherRowsOp<'_>>() {
            let (view, tile) = (self.view(op, this.view())?, self.tile(op, this.tile())?);
            let route = self.route(&view.space, &tile.space, tile.elem)?;
            let extents = self.extents(&tile.rows, &tile.cols)?;
            let (view, indices, offset) = (self.get(this.view())?, self.get(this.indices())?, self.get(this.offset())?);
            What::GatherRows { view, indices, offset, extents, route, out: self.result(op) }
        } else {
            return Ok(None);
        }))
    }

    fn view(&self, op: OpRef<'a>, value: Value) -> Result<&'a ViewType, Fault> {
        self.cx.type_as::<ViewType>(op.ty(value)).ok_or_else(|| Fault::invalid_ir("takes a view"))
    }

    fn slice_type(&self, op: OpRef<'a>, value: Value) -> Result<&'a SliceType, Fault> {
        self.cx.type_as::<SliceType>(op.ty(value)).ok_or_else(|| Fault::invalid_ir("takes a slice"))
    }

    fn slice(&mut self, op: OpRef<'a>, this: SliceOp<'a>) -> Result<What, Fault> {
        let ty = self.slice_type(op, this.slice())?;
        let rank = self.view(op, this.view())?.dims.len();
        let along = |dim: Option<i64>, step: i64| match dim.map(usize::try_from) {
            None => Ok(None),
            Some(Ok(dim)) if dim < rank && step >= 1 => Ok(Some(Along { dim, step })),
            Some(_) => Err(Fault::invalid_ir("runs along a dimension that its view has not")),
        };
        let inst = SliceInst {
            view: self.get(this.view())?,
            offsets: self.all(this.offsets())?.into(),
            row: along(this.row_dim(), this.row_step())?,
            col: along(this.col_dim(), this.col_step())?,
            clips: this.clips().unwrap_or_default().iter().filter_map(|d| usize::try_from(*d).ok()).collect(),
            extents: self.extents(&ty.rows, &ty.cols)?,
            out: self.result(op),
        };
        if inst.offsets.len() != rank {
            return Err(Fault::invalid_ir("has not one offset for each dimension of its view"));
        }
        Ok(What::Slice(Box::new(inst)))
    }

    fn of_elements(&mut self, op: OpRef<'a>) -> Result<Option<What>, Fault> {
        Ok(Some(if let Some(this) = op.as_::<FillOp<'_>>() {
            let tile = self.tile(op, this.tile())?;
            let extents = self.extents(&tile.rows, &tile.cols)?;
            let value = sutura_interp::constant::constant(self.cx, this.constant())?.scalar()?;
            What::Fill { value, extents, out: self.free_result(op) }
        } else if let Some(this) = op.as_::<IotaOp<'_>>() {
            let tile = self.tile(op, this.tile())?;
            let (extents, dtype) = (self.extents(&tile.rows, &tile.cols)?, real(self.cx, tile.elem)?);
            What::Iota { axis: this.axis(), base: self.get(this.base())?, dtype, extents, out: self.free_result(op) }
        } else if let Some(this) = op.as_::<ReduceOp<'_>>() {
            let dtype = self.dtype(op, this.operand())?;
            let group = match this.scope() {
                Scope::Unit => None,
                Scope::Group => Some(binary_op(this.combiner().binary()).with_types(&[dtype, dtype], dtype)?),
            };
            let (combine, operand) = (combine(this.combiner(), dtype)?, self.get(this.operand())?);
            What::Reduce { combine, axis: this.axis(), group, operand, out: self.result(op) }
        } else if let Some(this) = op.as_::<ScanOp<'_>>() {
            let combine = combine(this.combiner(), self.dtype(op, this.operand())?)?;
            let run = ScanRun { axis: this.axis(), exclusive: this.exclusive(), reverse: this.reverse() };
            What::Scan { combine, run, operand: self.get(this.operand())?, out: self.result(op) }
        } else if let Some(this) = op.as_::<BroadcastOp<'_>>() {
            let (operand, like) = (self.get(this.operand())?, self.get(this.like())?);
            What::Broadcast { operand, like, out: self.free_result(op) }
        } else if let Some(this) = op.as_::<TransposeOp<'_>>() {
            What::Transpose { operand: self.get(this.operand())?, out: self.result(op) }
        } else if let Some(this) = op.as_::<ContractOp<'_>>() {
            let (lhs, rhs, acc) = (self.get(this.lhs())?, self.get(this.rhs())?, self.get(this.acc())?);
            let unsigned = [this.unsigned_lhs(), this.unsigned_rhs()];
            let interleave = usize::try_from(this.interleave().unwrap_or(1)).unwrap_or(1).max(1);
            What::Contract { lhs, rhs, acc, unsigned, interleave, out: self.result(op) }
        } else if let Some(this) = op.as_::<DivisorOp<'_>>() {
            let position = self.all(this.position())?.try_into().ok();
            What::Divisor { operand: self.get(this.operand())?, position, check: self.check(op)?, out: self.result(op) }
        } else if let Some((num, flops)) = element_function(op) {
            let types: SmallVec<[DType; 3]> = op.operands().map(|v| self.dtype(op, v)).collect::<Result<_, Fault>>()?;
            let kernel = num.with_types(&types, self.dtype(op, op.result(0))?)?;
            What::Map { kernel, args: self.all(op.operands())?.into(), flops, out: self.result(op) }
        } else {
            return Ok(None);
        }))
    }
}

impl What {
    /// Slots that the instruction itself reads.
    fn uses(&self) -> Vec<Slot> {
        match self {
            Self::Constant { .. } | Self::Alloc { .. } | Self::Fill { .. } | Self::Sync => vec![],
            Self::AsyncCommit | Self::AsyncWait { .. } => vec![],
            Self::AsyncCopy { from, to, .. } => vec![*from, *to],
            Self::Index { args, .. } => args.to_vec(),
            Self::For(f) => [&[f.lo, f.hi][..], &f.inits].concat(),
            Self::Yield { args } => args.clone(),
            Self::Slice(s) => [&[s.view][..], &s.offsets].concat(),
            Self::Load { slice, .. } => vec![*slice],
            Self::Store { tile, slice, .. } => vec![*tile, *slice],
            Self::Move { tile, .. } => vec![*tile],
            Self::Identity { view, .. } => vec![*view],
            Self::Iota { base, .. } => vec![*base],
            Self::Map { args, .. } => args.to_vec(),
            Self::Reduce { operand, .. } | Self::Scan { operand, .. } | Self::Transpose { operand, .. } => {
                vec![*operand]
            }
            Self::Broadcast { operand, like, .. } => vec![*operand, *like],
            Self::GatherRows { view, indices, offset, .. } => vec![*view, *indices, *offset],
            Self::Pick { tile, size, position, .. } => vec![*tile, *size, *position],
            Self::Divisor { operand, position, .. } => position.iter().flatten().chain([operand]).copied().collect(),
            Self::Contract { lhs, rhs, acc, .. } => vec![*lhs, *rhs, *acc],
            Self::Copy { from, .. } => vec![*from],
        }
    }

    /// Slots that it sets.
    fn defs(&self) -> Vec<Slot> {
        match self {
            Self::Yield { .. } | Self::Store { .. } | Self::Sync => vec![],
            Self::AsyncCopy { .. } | Self::AsyncCommit | Self::AsyncWait { .. } => vec![],
            Self::For(f) => f.results.clone(),
            Self::Slice(s) => vec![s.out],
            Self::Constant { out, .. }
            | Self::Index { out, .. }
            | Self::Load { out, .. }
            | Self::Move { out, .. }
            | Self::Alloc { out, .. }
            | Self::Identity { out, .. }
            | Self::Fill { out, .. }
            | Self::Iota { out, .. }
            | Self::Map { out, .. }
            | Self::Reduce { out, .. }
            | Self::Scan { out, .. }
            | Self::Broadcast { out, .. }
            | Self::Transpose { out, .. }
            | Self::GatherRows { out, .. }
            | Self::Pick { out, .. }
            | Self::Divisor { out, .. }
            | Self::Contract { out, .. }
            | Self::Copy { out, .. } => vec![*out],
        }
    }
}
