//! Checks of descriptions.

use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::{Verify, VerifyRegions};
use sutura_ir::{OpRef, OpView};

use super::constraints::{Class, Owner};
use super::instances;
use super::ops::{IntrinsicOp, MachineOp, ProcessorOp, SpaceOp};
use crate::gir::types::TileType;

fn ensure(holds: bool, op: OpRef<'_>, diags: &mut Diagnostics, message: impl Fn() -> String) -> Result<(), Reported> {
    if holds { Ok(()) } else { Err(diags.report(op.error(message()))) }
}

/// Features of a list as LLVM spells it.
pub(super) fn feature_list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|f| !f.is_empty())
}

impl Verify for MachineOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = MachineOp::from_ref(op);
        ensure(!this.triple().is_empty(), op, diags, || "needs a triple".to_string())?;
        for feature in feature_list(this.features()) {
            let known = feature.len() > 1 && feature.starts_with(['+', '-']);
            ensure(known, op, diags, || format!("feature '{feature}' must begin with '+' or '-'"))?;
        }
        let times = [("launch_ns", this.launch_ns()), ("call_ns", this.call_ns()), ("line_ps", this.line_ps())];
        let numbers = times.into_iter().chain([("gflops", this.gflops()), ("gops", this.gops())]);
        for (name, value) in numbers {
            ensure(value.is_none_or(|v| v > 0), op, diags, || format!("'{name}' must be positive"))?;
        }
        Ok(())
    }
}

impl VerifyRegions for MachineOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(entry) = MachineOp::from_ref(op).body().entry() else {
            return Err(diags.report(op.error("describes no spaces")));
        };
        for inner in entry.ops() {
            let known = inner.is::<SpaceOp>() || inner.is::<IntrinsicOp>() || inner.is::<ProcessorOp>();
            ensure(known, inner, diags, || "is no part of a machine, which has spaces and intrinsics".to_string())?;
        }
        let processors = entry.ops().filter(|o| o.is::<ProcessorOp>()).count();
        ensure(processors <= 1, op, diags, || format!("has {processors} kinds of processors; there may be one"))?;
        for intrinsic in entry.ops().filter(|o| o.is::<IntrinsicOp>()) {
            let args = intrinsic.region(0).and_then(|r| r.entry()).map_or(&[][..], |e| e.args());
            for ty in args.iter().map(|v| intrinsic.inside().ty(*v)) {
                let Some(tile) = op.cx.type_as::<TileType>(ty) else { continue };
                let declared = space_in(op, &tile.space).is_some();
                let message = || format!("takes a tile in space '{}', which the machine does not have", tile.space);
                ensure(declared, intrinsic, diags, message)?;
            }
            let crowded = crowded(op, intrinsic);
            ensure(crowded.is_none(), intrinsic, diags, || crowded.clone().unwrap_or_default())?;
        }
        let drams = entry.ops().filter_map(|o| o.as_::<SpaceOp>()).filter(|s| s.class() == Class::Dram).count();
        ensure(drams == 1, op, diags, || format!("has {drams} spaces of class dram; there must be one"))
    }
}

impl Verify for ProcessorOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = ProcessorOp::from_ref(op);
        let numbers = [
            ("count", Some(this.count())),
            ("parts", Some(this.parts())),
            ("registers", Some(this.registers())),
            ("granule", Some(this.granule())),
            ("threads", Some(this.threads())),
            ("blocks", Some(this.blocks())),
            ("barriers", this.barriers()),
            ("bytes", Some(this.bytes())),
            ("reserved", this.reserved()),
        ];
        for (name, value) in numbers {
            ensure(value.is_none_or(|v| v > 0), op, diags, || format!("'{name}' must be positive"))?;
        }
        Ok(())
    }
}

impl Verify for SpaceOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = SpaceOp::from_ref(op);
        let sizes =
            [("bytes", this.bytes()), ("gbps", this.gbps()), ("vector", this.vector()), ("stream", this.stream())];
        for (name, value) in sizes {
            ensure(value.is_none_or(|v| v > 0), op, diags, || format!("'{name}' must be positive"))?;
        }
        let power = this.align().is_none_or(|a| a > 0 && a.count_ones() == 1);
        ensure(power, op, diags, || "'align' must be a power of two".to_string())?;
        let one_kind = !(this.cached() && this.managed());
        ensure(one_kind, op, diags, || "is either cached or managed".to_string())?;
        let past_caches = this.stream().is_none() || this.class() == Class::Dram;
        ensure(past_caches, op, diags, || "only main memory has 'stream'".to_string())?;
        match this.class() {
            Class::Reg => {
                let whole = match (this.bytes(), this.vector()) {
                    (Some(bytes), Some(vector)) => bytes % vector == 0,
                    _ => this.vector().is_none(),
                };
                ensure(whole, op, diags, || "'bytes' must be a multiple of 'vector'".to_string())?;
                ensure(this.bytes().is_some(), op, diags, || "registers have a number of bytes".to_string())
            }
            Class::Sram => ensure(this.bytes().is_some(), op, diags, || "needs 'bytes'".to_string()),
            Class::Dram => ensure(this.owner() == Owner::All, op, diags, || "main memory belongs to all".to_string()),
        }
    }
}

impl VerifyRegions for IntrinsicOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(entry) = IntrinsicOp::from_ref(op).body().entry() else {
            return Err(diags.report(op.error("needs a body: its meaning")));
        };
        let choices = instances::choices(op).map_err(|message| diags.report(op.error(message)))?;
        for (i, arg) in entry.args().iter().enumerate() {
            let constant = choices.iter().all(|choice| {
                let ty = instances::chosen(op.cx, entry.body.ty(*arg), choice);
                op.cx.type_as::<TileType>(ty).is_some_and(|t| t.extents().is_some())
            });
            ensure(constant, op, diags, || {
                format!("operand {i} must be a tile of constant extents, or of such that 'extents' lists values for")
            })?;
        }
        let yields = entry.terminator().is_some_and(|t| t.is::<crate::gir::ops::YieldOp>());
        ensure(yields, op, diags, || "the body must end with 'gir.yield'".to_string())
    }
}

/// What `emit` calls multiplications of vectors. They take the places of a sum in turn, and of each factor one place lies in registers.
const IN_TURN: &str = "vector.fma";

/// Bytes of the tiles of an intrinsic in a space of no stated size, at most.
const MOST_BYTES: u64 = 1 << 30;

/// Says in which space the tiles that an intrinsic takes at a time have no room. Whatever is computed from their extents is
/// a small number where they have.
fn crowded(machine: OpRef<'_>, intrinsic: OpRef<'_>) -> Option<String> {
    let in_turn = IntrinsicOp::from_ref(intrinsic).emit() == IN_TURN;
    let at_a_time = |operand: usize, tile: &TileType| match operand {
        0 | 1 if in_turn => {
            let places = if operand == 0 { &tile.cols } else { &tile.rows };
            let places = places.as_const().and_then(|places| u64::try_from(places).ok());
            tile.bytes(machine.cx) / places.unwrap_or(1).max(1)
        }
        _ => tile.bytes(machine.cx),
    };
    instances::signatures(intrinsic).iter().find_map(|(operands, _)| {
        let tiles =
            || operands.iter().enumerate().filter_map(|(i, ty)| Some((i, machine.cx.type_as::<TileType>(*ty)?)));
        tiles().find_map(|(_, tile)| {
            let space = space_in(machine, &tile.space)?;
            let stated = space.bytes().and_then(|bytes| u64::try_from(bytes).ok());
            let all = tiles().filter(|(_, other)| other.space == tile.space);
            let needed = all.fold(0, |sum: u64, (i, other)| sum.saturating_add(at_a_time(i, other)));
            let room = stated.unwrap_or(MOST_BYTES);
            (needed > room)
                .then(|| format!("takes tiles of {needed} bytes in space '{}', which has room for {room}", tile.space))
        })
    })
}

/// The space `name` of a machine.
pub(super) fn space_in<'a>(machine: OpRef<'a>, name: &str) -> Option<SpaceOp<'a>> {
    let entry = machine.region(0)?.entry()?;
    entry.ops().find(|op| op.is::<SpaceOp>() && op.symbol_name() == Some(name)).map(SpaceOp::from_ref)
}
