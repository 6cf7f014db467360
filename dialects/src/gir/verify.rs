//! Checks of single operations: extents, element types, kinds. What takes a whole kernel is in [`super::kernel`].

use smallvec::{SmallVec, smallvec};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::{InferInput, InferTypes, Verify};
use sutura_ir::{Context, OpRef, OpView, Type, Value};

use super::constraints::Axis;
use super::kinds::{BinaryKind, CastKind, Combiner, CompareKind, TernaryKind, UnaryKind};
use super::ops::*;
use super::types::{SliceType, TileType, ViewType};
use crate::r#dyn::poly::Poly;

/// Reports `message` at `op` unless `holds`.
fn ensure(holds: bool, op: OpRef<'_>, diags: &mut Diagnostics, message: impl Fn() -> String) -> Result<(), Reported> {
    if holds { Ok(()) } else { Err(diags.report(op.error(message()))) }
}

fn tile<'a>(op: OpRef<'a>, value: Value) -> &'a TileType {
    op.cx.type_as::<TileType>(op.ty(value)).expect("the declaration says a tile")
}

fn slice<'a>(op: OpRef<'a>, value: Value) -> &'a SliceType {
    op.cx.type_as::<SliceType>(op.ty(value)).expect("the declaration says a slice")
}

fn view<'a>(op: OpRef<'a>, value: Value) -> &'a ViewType {
    op.cx.type_as::<ViewType>(op.ty(value)).expect("the declaration says a view")
}

/// True for a float element.
fn float(cx: &Context, elem: Type) -> bool {
    elem.is_float(cx)
}

/// True for an integer or index element.
fn integer(cx: &Context, elem: Type) -> bool {
    elem.is_integer(cx) || elem == Type::INDEX
}

impl UnaryKind {
    /// True when the function takes integers.
    pub fn is_integer(self) -> bool {
        self == Self::AbsI
    }
}

impl BinaryKind {
    /// True when the function takes integers.
    pub fn is_integer(self) -> bool {
        use BinaryKind::*;
        let arithmetic = matches!(self, AddI | SubI | MulI | DivSI | FloorDivSI | RemSI | DivUI | RemUI);
        arithmetic || matches!(self, MaxSI | MinSI | MaxUI | MinUI | And | Or | Xor | ShL | ShRSI | ShRUI)
    }
}

impl CompareKind {
    /// True when the comparison takes integers.
    pub fn is_integer(self) -> bool {
        use CompareKind::*;
        matches!(self, Eq | Ne | Slt | Sle | Sgt | Sge | Ult | Ule | Ugt | Uge)
    }
}

fn check_elem(op: OpRef<'_>, diags: &mut Diagnostics, kind: &str, int: bool, elem: Type) -> Result<(), Reported> {
    let fits = if int { integer(op.cx, elem) } else { float(op.cx, elem) };
    let wanted = if int { "integers" } else { "floats" };
    ensure(fits, op, diags, || format!("'{kind}' is a function of {wanted}"))
}

impl Verify for IndexOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let map = op.cx.affine_map_data(IndexOp::from_ref(op).map());
        let (inputs, found) = ((map.dims + map.symbols) as usize, op.num_operands());
        ensure(inputs == found, op, diags, || format!("map takes {inputs} values but {found} are given"))?;
        let results = op.cx.affine_exprs(map.results).len();
        ensure(results >= 1, op, diags, || "map must have a result".to_string())
    }
}

impl InferTypes for ForOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        Ok(input.operands.get(2..).ok_or("a loop has two bounds")?.iter().copied().collect())
    }
}

impl Verify for SliceOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = SliceOp::from_ref(op);
        let (view, slice) = (view(op, this.view()), slice(op, this.slice()));
        let rank = view.dims.len();
        let offsets = this.offsets().count();
        ensure(offsets == rank, op, diags, || format!("a view of rank {rank} takes {rank} offsets, not {offsets}"))?;
        let same = view.space == slice.space && view.elem == slice.elem;
        ensure(same, op, diags, || "a slice has the space and the element type of its view".to_string())?;
        for (name, dim, extent) in [("row", this.row_dim(), &slice.rows), ("column", this.col_dim(), &slice.cols)] {
            let within = dim.is_none_or(|d| (0..rank as i64).contains(&d));
            ensure(within, op, diags, || format!("{name} dimension is not one of the view's {rank}"))?;
            let single = dim.is_some() || extent.as_const() == Some(1);
            ensure(single, op, diags, || format!("without a {name} dimension there is one {name}, not {extent}"))?;
        }
        let distinct = this.row_dim().is_none() || this.row_dim() != this.col_dim();
        ensure(distinct, op, diags, || "rows and columns lie along different dimensions".to_string())?;
        let clips = this.clips().unwrap_or_default();
        let ascending = clips.windows(2).all(|pair| pair[0] < pair[1]);
        let fixed = |d: &i64| (0..rank as i64).contains(d) && ![this.row_dim(), this.col_dim()].contains(&Some(*d));
        ensure(ascending && clips.iter().all(fixed), op, diags, || {
            format!("clips are fixed dimensions of the view's {rank}, ascending")
        })?;
        let forward = this.row_step() >= 1 && this.col_step() >= 1;
        ensure(forward, op, diags, || "steps must be positive".to_string())
    }
}

fn same_matrix(a: (&Type, &Poly, &Poly), b: (&Type, &Poly, &Poly)) -> bool {
    a == b
}

impl Verify for LoadOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = LoadOp::from_ref(op);
        let (s, t) = (slice(op, this.slice()), tile(op, this.tile()));
        let same = same_matrix((&s.elem, &s.rows, &s.cols), (&t.elem, &t.rows, &t.cols));
        ensure(same, op, diags, || "slice and tile must agree in element type and extents".to_string())?;
        let padded = this.pad().is_none_or(|value| op.cx.attr_type(value) == Some(t.elem));
        ensure(padded, op, diags, || "'pad' must have the tile's element type".to_string())
    }
}

impl Verify for StoreOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = StoreOp::from_ref(op);
        let (s, t) = (slice(op, this.slice()), tile(op, this.tile()));
        let same = same_matrix((&s.elem, &s.rows, &s.cols), (&t.elem, &t.rows, &t.cols));
        ensure(same, op, diags, || "slice and tile must agree in element type and extents".to_string())
    }
}

impl Verify for AsyncCopyOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = AsyncCopyOp::from_ref(op);
        let (a, b) = (slice(op, this.from()), slice(op, this.to()));
        let same = same_matrix((&a.elem, &a.rows, &a.cols), (&b.elem, &b.rows, &b.cols));
        ensure(same, op, diags, || "a copy keeps element type and extents".to_string())
    }
}

/// Most batches that may be on their way: what instructions of devices can name.
const MOST_PENDING: i64 = i32::MAX as i64;

impl Verify for AsyncWaitOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let pending = AsyncWaitOp::from_ref(op).pending();
        let fits = (0..=MOST_PENDING).contains(&pending);
        ensure(fits, op, diags, || format!("lets {pending} batches be on their way: 0 to {MOST_PENDING} are possible"))
    }
}

impl Verify for HomeOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = HomeOp::from_ref(op);
        let (s, t) = (slice(op, this.slice()), tile(op, this.result()));
        let same = same_matrix((&s.elem, &s.rows, &s.cols), (&t.elem, &t.rows, &t.cols));
        ensure(same, op, diags, || "slice and tile must agree in element type and extents".to_string())
    }
}

impl Verify for MoveOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = MoveOp::from_ref(op);
        let (a, b) = (tile(op, this.tile()), tile(op, this.result()));
        let same = same_matrix((&a.elem, &a.rows, &a.cols), (&b.elem, &b.rows, &b.cols));
        ensure(same, op, diags, || "a move keeps element type and extents".to_string())
    }
}

impl Verify for AllocOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let view = view(op, AllocOp::from_ref(op).view());
        ensure(view.strides.is_none(), op, diags, || "an allocation is row-major".to_string())
    }
}

impl Verify for IdentityOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = IdentityOp::from_ref(op);
        let (a, b) = (view(op, this.view()), view(op, this.result()));
        let same = a.space == b.space && a.elem == b.elem;
        ensure(same, op, diags, || "the view keeps its space and element type".to_string())?;
        let row_major = a.strides.is_none() && b.strides.is_none();
        ensure(row_major, op, diags, || "only row-major views can be reshaped".to_string())
    }
}

impl Verify for FillOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = FillOp::from_ref(op);
        let elem = tile(op, this.tile()).elem;
        let ty = op.cx.attr_type(this.constant());
        ensure(ty == Some(elem), op, diags, || "the value must have the tile's element type".to_string())
    }
}

impl Verify for IotaOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let elem = tile(op, IotaOp::from_ref(op).tile()).elem;
        ensure(integer(op.cx, elem), op, diags, || "a tile that counts holds integers".to_string())
    }
}

impl Verify for UnaryOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = UnaryOp::from_ref(op);
        let kind = this.kind();
        check_elem(op, diags, kind.as_str(), kind.is_integer(), tile(op, this.result()).elem)
    }
}

impl Verify for BinaryOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = BinaryOp::from_ref(op);
        let kind = this.kind();
        check_elem(op, diags, kind.as_str(), kind.is_integer(), tile(op, this.result()).elem)?;
        let divides = !kind.divides_integers() || holds_no_zero(op, this.rhs());
        ensure(divides, op, diags, || {
            format!("'{kind}' divides by what may be 0: divide by a 'gir.divisor' of it, or by a constant other than 0")
        })
    }
}

impl Verify for TernaryOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = TernaryOp::from_ref(op);
        let (a, result) = (tile(op, this.first()), tile(op, this.result()));
        let extents = a.rows == result.rows && a.cols == result.cols;
        ensure(extents, op, diags, || "all operands must have the same extents".to_string())?;
        match this.kind() {
            TernaryKind::Select => {
                ensure(a.elem == Type::I1, op, diags, || "the first operand of 'select' holds i1".to_string())
            }
            TernaryKind::Fma => {
                let same = a.elem == result.elem;
                ensure(same, op, diags, || "the operands of 'fma' have one element type".to_string())?;
                check_elem(op, diags, "fma", false, result.elem)
            }
        }
    }
}

impl Verify for CompareOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = CompareOp::from_ref(op);
        let kind = this.kind();
        check_elem(op, diags, kind.as_str(), kind.is_integer(), tile(op, this.lhs()).elem)
    }
}

/// The tile type behind an operand of an op whose result types are being inferred.
fn operand_tile<'a>(input: &InferInput<'a>, index: usize) -> Result<&'a TileType, String> {
    let ty = input.operands.get(index).ok_or_else(|| format!("operand {index} is missing"))?;
    input.cx.type_as::<TileType>(*ty).ok_or_else(|| format!("operand {index} is not a tile"))
}

impl InferTypes for CompareOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let lhs = operand_tile(&input, 0)?;
        Ok(smallvec![input.cx.ext_type(lhs.with_elem(Type::I1))])
    }
}

impl CastKind {
    /// True when the kind converts `from` to `to`.
    pub fn converts(self, cx: &Context, from: Type, to: Type) -> bool {
        let (f, i) = (|t| float(cx, t), |t: Type| t.is_integer(cx));
        let width = |t| cx.bit_width(t).unwrap_or(0);
        match self {
            Self::ExtF => f(from) && f(to) && width(from) < width(to),
            Self::TruncF => f(from) && f(to) && width(from) > width(to),
            Self::SIToFP | Self::UIToFP => i(from) && f(to),
            Self::FPToSI | Self::FPToUI => f(from) && i(to),
            Self::ExtSI | Self::ExtUI => i(from) && i(to) && width(from) < width(to),
            Self::TruncI => i(from) && i(to) && width(from) > width(to),
            Self::IndexCast => (from == Type::INDEX && i(to)) || (i(from) && to == Type::INDEX),
            Self::Bitcast => (f(from) || i(from)) && (f(to) || i(to)) && width(from) == width(to),
        }
    }
}

impl Verify for CastOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = CastOp::from_ref(op);
        let (from, to) = (tile(op, this.operand()), tile(op, this.result()));
        let same = *to == from.with_elem(to.elem);
        ensure(same, op, diags, || "a conversion keeps space and extents".to_string())?;
        let fits = this.kind().converts(op.cx, from.elem, to.elem);
        ensure(fits, op, diags, || format!("'{}' does not convert between these element types", this.kind()))
    }
}

/// A tile reduced along an axis.
fn reduced(of: &TileType, axis: Axis) -> TileType {
    match axis {
        Axis::Rows => TileType { rows: 1.into(), ..of.clone() },
        Axis::Cols => TileType { cols: 1.into(), ..of.clone() },
    }
}

impl Verify for ReduceOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = ReduceOp::from_ref(op);
        let kind = this.combiner();
        check_elem(op, diags, kind.as_str(), kind.is_integer(), tile(op, this.operand()).elem)
    }
}

impl Combiner {
    /// True when it combines integers.
    pub fn is_integer(self) -> bool {
        self.binary().is_integer()
    }
}

impl InferTypes for ReduceOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let axis = input.prop("axis").and_then(|a| Axis::parse(input.cx.as_str(a)?)).ok_or("'axis' is missing")?;
        Ok(smallvec![input.cx.ext_type(reduced(operand_tile(&input, 0)?, axis))])
    }
}

impl Verify for ScanOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = ScanOp::from_ref(op);
        let kind = this.combiner();
        check_elem(op, diags, kind.as_str(), kind.is_integer(), tile(op, this.operand()).elem)
    }
}

impl Verify for BroadcastOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = BroadcastOp::from_ref(op);
        let (from, like) = (tile(op, this.operand()), tile(op, this.like()));
        let fits = |a: &Poly, b: &Poly| a == b || a.as_const() == Some(1);
        let extents = fits(&from.rows, &like.rows) && fits(&from.cols, &like.cols);
        ensure(extents, op, diags, || "each extent must be 1 or that of 'like'".to_string())
    }
}

impl InferTypes for BroadcastOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let (from, like) = (operand_tile(&input, 0)?, operand_tile(&input, 1)?);
        Ok(smallvec![input.cx.ext_type(like.with_elem(from.elem))])
    }
}

impl InferTypes for TransposeOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let t = operand_tile(&input, 0)?;
        let turned = TileType { rows: t.cols.clone(), cols: t.rows.clone(), ..t.clone() };
        Ok(smallvec![input.cx.ext_type(turned)])
    }
}

impl Verify for GatherRowsOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = GatherRowsOp::from_ref(op);
        let (view, indices, result) = (view(op, this.view()), tile(op, this.indices()), tile(op, this.tile()));
        ensure(view.dims.len() == 2, op, diags, || "rows are gathered from a view of rank 2".to_string())?;
        ensure(integer(op.cx, indices.elem), op, diags, || "indices must be integers".to_string())?;
        let fits = indices.cols.as_const() == Some(1) && indices.rows == result.rows && view.elem == result.elem;
        ensure(fits, op, diags, || "one index per row of the result, which has the view's element type".to_string())
    }
}

impl Verify for PickOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let index = tile(op, PickOp::from_ref(op).tile());
        ensure(integer(op.cx, index.elem), op, diags, || "an index must be an integer".to_string())?;
        let one = index.extents() == Some((1, 1));
        ensure(one, op, diags, || format!("takes one index, not [{}, {}]", index.rows, index.cols))
    }
}

impl Verify for DivisorOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = DivisorOp::from_ref(op);
        ensure(integer(op.cx, tile(op, this.operand()).elem), op, diags, || "checks integers".to_string())?;
        let count = this.position().count();
        ensure(count == 0 || count == 3, op, diags, || {
            format!("takes a position and two distances behind 'at', not {count} indices")
        })
    }
}

/// True for a tile that is known to hold no 0: what a check gives, or a constant, repeated or moved.
fn holds_no_zero(op: OpRef<'_>, value: Value) -> bool {
    let Some(maker) = op.body.defining_op(value).map(|o| op.at(o)) else { return false };
    if let Some(fill) = maker.as_::<FillOp<'_>>() {
        return op.cx.as_int(fill.constant()).is_some_and(|n| n != 0);
    }
    let repeated = maker.is::<BroadcastOp<'_>>() || maker.is::<MoveOp<'_>>() || maker.is::<HomeOp<'_>>();
    maker.is::<DivisorOp<'_>>() || repeated && holds_no_zero(op, maker.operand(0))
}

impl Verify for ContractOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = ContractOp::from_ref(op);
        let (a, b, acc) = (tile(op, this.lhs()), tile(op, this.rhs()), tile(op, this.acc()));
        let accumulates = match (op.cx.bit_width(a.elem), op.cx.bit_width(b.elem), op.cx.bit_width(acc.elem)) {
            _ if !(a.elem == acc.elem || float(op.cx, a.elem) == float(op.cx, acc.elem)) => false,
            _ if float(op.cx, a.elem) != float(op.cx, b.elem) => false,
            (Some(x), Some(y), Some(sum)) => x.max(y) <= sum && (!float(op.cx, acc.elem) || sum >= 32),
            _ => a.elem == b.elem && b.elem == acc.elem,
        };
        ensure(accumulates, op, diags, || {
            "floats are accumulated in f32 or f64, integers in integers, of at least their width".to_string()
        })?;
        let group = this.interleave().unwrap_or(1);
        ensure(group >= 1, op, diags, || format!("'interleave' is the number of places side by side, not {group}"))?;
        let extents = a.rows == acc.rows && b.cols == acc.cols.scale(group) && a.cols == b.rows.scale(group);
        ensure(extents, op, diags, || {
            let side_by_side = if group > 1 { format!(", {group} places side by side,") } else { String::new() };
            format!(
                "[{}, {}] times [{}, {}]{side_by_side} does not give [{}, {}]",
                a.rows, a.cols, b.rows, b.cols, acc.rows, acc.cols
            )
        })
    }
}
