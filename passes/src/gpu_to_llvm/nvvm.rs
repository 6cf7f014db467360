//! What NVIDIA's GPUs have.

use sutura_dialects::gpu::ShuffleMode;
use sutura_dialects::llvm::types::StructType;
use sutura_dialects::nvvm::{KERNEL, REQNTID, ShuffleKind};
use sutura_ir::{Attr, Context, Type, Value};

use super::emit::Emit;
use super::{Exchanged, Position, Shuffle, Vendor};

/// Lanes of a warp.
const WARP: i64 = 32;

/// The number of the last lane, and the place of the bits of a lane's number that stay as they are.
const LAST_LANE: i64 = WARP - 1;
const SEGMENT: i64 = 8;

pub(super) struct Nvidia;

impl Vendor for Nvidia {
    fn along_axis(&self, e: &mut Emit<'_>, what: Position, axis: usize) -> Value {
        let register = match what {
            Position::Thread => "tid",
            Position::Block => "ctaid",
            Position::BlockDim => "ntid",
            Position::GridDim => "nctaid",
        };
        let name = format!("nvvm.read.ptx.sreg.{register}.{}", ["x", "y", "z"][axis]);
        e.value(&name, &[], Type::I32, &[])
    }

    fn lane(&self, e: &mut Emit<'_>) -> Value {
        e.value("nvvm.read.ptx.sreg.laneid", &[], Type::I32, &[])
    }

    fn subgroup(&self) -> i64 {
        WARP
    }

    fn barrier(&self, e: &mut Emit<'_>) {
        e.op("nvvm.barrier0", &[], &[], &[]);
    }

    fn shuffle(&self, e: &mut Emit<'_>, value: Value, to: &Shuffle, valid: bool) -> Exchanged {
        let kind = match to.mode {
            ShuffleMode::Xor => ShuffleKind::Bfly,
            ShuffleMode::Up => ShuffleKind::Up,
            ShuffleMode::Down => ShuffleKind::Down,
            ShuffleMode::Idx => ShuffleKind::Idx,
        };
        // Lanes below the first of a segment, or above its last, are none to take from.
        let clamp = if to.mode == ShuffleMode::Up { 0 } else { LAST_LANE };
        let packed = match e.known(to.width) {
            Some(width) => e.word(((WARP - width) << SEGMENT) | clamp),
            None => {
                let (warp, by, clamp) = (e.word(WARP), e.word(SEGMENT), e.word(clamp));
                let rest = e.word_op("arith.subi", &[warp, to.width]);
                let mask = e.word_op("arith.shli", &[rest, by]);
                e.word_op("arith.ori", &[mask, clamp])
            }
        };
        let all = e.word(-1);
        let kind = e.cx().ext_attr(kind);
        let operands = [all, value, to.offset, packed];
        if !valid {
            let value = e.value("nvvm.shfl.sync", &operands, Type::I32, &[("kind", kind)]);
            return Exchanged { value, valid: None };
        }
        let pair = StructType { name: None, fields: Some(vec![Type::I32, Type::I1]), packed: false };
        let pair = e.cx().ext_type(pair);
        let props = [("kind", kind), ("return_value_and_is_valid", Attr::UNIT)];
        let both = e.value("nvvm.shfl.sync", &operands, pair, &props);
        let mut part = |index: i64, ty| {
            let at = e.cx().i64_array(&[index]);
            e.value("llvm.extractvalue", &[both], ty, &[("position", at)])
        };
        Exchanged { value: part(0, Type::I32), valid: Some(part(1, Type::I1)) }
    }

    fn kernel_attrs(&self, cx: &Context, block: Option<[i32; 3]>) -> Vec<(&'static str, Attr)> {
        let size = block.map(|size| (REQNTID, cx.i32_array(&size)));
        std::iter::once((KERNEL, Attr::UNIT)).chain(size).collect()
    }
}
