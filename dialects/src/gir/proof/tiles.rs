//! What an operation makes of what is known of its operands' windows.

use sutura_ir::{OpRef, Value};

use super::Prover;
use super::window::{Limit, Rect, Span, TileFacts};
use crate::gir::constraints::Axis;
use crate::gir::ops::*;
use crate::gir::types::TileType;

impl<'a> Prover<'a> {
    fn facts_of(&self, op: OpRef<'a>, value: Value) -> Result<&TileFacts, String> {
        let known = self.tiles.get(&value);
        known.ok_or_else(|| format!("takes a tile of which nothing is known: {}", self.show(op, value)))
    }

    fn tile_type(&self, op: OpRef<'a>, value: Value) -> Result<&'a TileType, String> {
        op.cx.type_as::<TileType>(op.ty(value)).ok_or_else(|| "takes a tile".to_string())
    }

    /// What is known of the tile that `op` computes; `None` for an operation that computes none.
    pub(super) fn tile_of(&mut self, op: OpRef<'a>) -> Result<Option<TileFacts>, String> {
        if let Some(this) = op.as_::<LoadOp<'_>>() {
            let slice = self.slice_of(op, this.slice())?;
            if slice.clipped && this.pad().is_none() {
                return Err("has no number for what does not exist, and its slice has clips".to_string());
            }
            let window = if this.pad().is_some() { Rect::default() } else { slice.window.clone() };
            return Ok(Some(TileFacts::of(window)));
        }
        if op.is::<FillOp<'_>>() || op.is::<IotaOp<'_>>() {
            return Ok(Some(TileFacts::everywhere()));
        }
        if let Some(this) = op.as_::<MoveOp<'_>>() {
            return Ok(Some(self.facts_of(op, this.tile())?.clone()));
        }
        if let Some(this) = op.as_::<HomeOp<'_>>() {
            return Ok(Some(self.facts_of(op, this.tile())?.clone()));
        }
        if let Some(this) = op.as_::<ReduceOp<'_>>() {
            return self.reduced(op, this).map(Some);
        }
        if let Some(this) = op.as_::<ScanOp<'_>>() {
            let tile = self.facts_of(op, this.operand())?.clone();
            tile.need(&tile.window, "combines")?;
            return Ok(Some(tile));
        }
        if let Some(this) = op.as_::<BroadcastOp<'_>>() {
            return self.broadcast(op, this).map(Some);
        }
        if let Some(this) = op.as_::<TransposeOp<'_>>() {
            let TileFacts { window, everywhere, defined } = self.facts_of(op, this.operand())?;
            let everywhere = *everywhere;
            return Ok(Some(TileFacts { window: window.turned(), everywhere, defined: defined.turned() }));
        }
        if let Some(this) = op.as_::<GatherRowsOp<'_>>() {
            return self.gathered(op, this).map(Some);
        }
        if let Some(this) = op.as_::<ContractOp<'_>>() {
            return self.contracted(op, this).map(Some);
        }
        if let Some(this) = op.as_::<PickOp<'_>>() {
            let tile = self.facts_of(op, this.tile())?;
            tile.need(&tile.window, "picks")?;
            self.index(op, this.size())?;
            self.index(op, this.position())?;
            return Ok(None);
        }
        if let Some(this) = op.as_::<DivisorOp<'_>>() {
            let tile = self.facts_of(op, this.operand())?.clone();
            tile.need(&tile.window, "divides by")?;
            for index in this.position() {
                self.index(op, index)?;
            }
            return Ok(Some(tile));
        }
        let elementwise = op.is::<UnaryOp<'_>>()
            || op.is::<BinaryOp<'_>>()
            || op.is::<TernaryOp<'_>>()
            || op.is::<CompareOp<'_>>()
            || op.is::<CastOp<'_>>();
        if !elementwise {
            return Ok(None);
        }
        let operands: Vec<&TileFacts> = op.operands().map(|v| self.facts_of(op, v)).collect::<Result<_, _>>()?;
        TileFacts::common(operands).map(Some)
    }

    fn reduced(&self, op: OpRef<'a>, this: ReduceOp<'a>) -> Result<TileFacts, String> {
        let tile = self.facts_of(op, this.operand())?;
        tile.need(&tile.window, "combines")?;
        let mut window = tile.window.clone();
        match this.axis() {
            Axis::Rows => window.rows = Span::default(),
            Axis::Cols => window.cols = Span::default(),
        }
        Ok(TileFacts { everywhere: tile.everywhere, ..TileFacts::of(window) })
    }

    fn broadcast(&mut self, op: OpRef<'a>, this: BroadcastOp<'a>) -> Result<TileFacts, String> {
        let (from, to) = (self.tile_type(op, this.operand())?, self.tile_type(op, this.like())?);
        let (same_rows, same_cols) = (from.rows == to.rows, from.cols == to.cols);
        let (operand, like) = (self.facts_of(op, this.operand())?.clone(), self.facts_of(op, this.like())?.clone());
        let mut spread = |same: bool, span: Span| match (same, span.0.is_empty()) {
            (true, _) | (_, true) => span,
            // One row that may not exist, repeated.
            (false, false) => {
                self.unknowns += 1;
                Span([Limit::Unknown(self.unknowns)].into())
            }
        };
        let exists =
            Rect { rows: spread(same_rows, operand.defined.rows), cols: spread(same_cols, operand.defined.cols) };
        Ok(TileFacts { defined: like.window.and(&exists), window: like.window, everywhere: like.everywhere })
    }

    fn gathered(&mut self, op: OpRef<'a>, this: GatherRowsOp<'a>) -> Result<TileFacts, String> {
        let indices = self.facts_of(op, this.indices())?.clone();
        indices.need(&indices.window, "reads rows at")?;
        let view = self.view_type(op, this.view())?;
        let extent = &self.tile_type(op, this.tile())?.cols;
        let offset = self.index(op, this.offset())?;
        let cols = Span::clip(&self.bounds, &offset, 1, extent, &view.dims[1]);
        Ok(TileFacts::of(Rect { rows: indices.window.rows, cols }))
    }

    fn contracted(&self, op: OpRef<'a>, this: ContractOp<'a>) -> Result<TileFacts, String> {
        let (a, b) = (self.facts_of(op, this.lhs())?, self.facts_of(op, this.rhs())?);
        a.need(&a.window, "multiplies")?;
        b.need(&b.window, "multiplies")?;
        if this.interleave().is_some() && b.window != Rect::default() {
            return Err(format!(
                "takes a right factor with places side by side that is not proven whole: ({})",
                b.window
            ));
        }
        if !a.everywhere && !b.everywhere && a.window.cols != b.window.rows {
            let (a, b) = (&a.window.cols, &b.window.rows);
            return Err(format!("takes operands whose windows along k are not proven equal: ({a}) and ({b})"));
        }
        let window = Rect { rows: a.window.rows.clone(), cols: b.window.cols.clone() };
        let product = TileFacts { everywhere: a.everywhere && b.everywhere, ..TileFacts::of(window) };
        TileFacts::common([&product, self.facts_of(op, this.acc())?])
    }
}
