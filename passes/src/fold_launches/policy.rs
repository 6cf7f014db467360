//! What may be computed at compile time: constants must not grow much, and computing them must not take long, whatever the
//! sizes of the tensors are.

use std::collections::HashSet;

use sutura_dialects::rt::{BufferType, ConstantOp};
use sutura_ir::{Attr, AttrData, Context, Op, OpRef};

use super::{Arg, Candidate};
use crate::gir::cost::KernelCost;

/// How much larger than the constants that it reads, as they are stored, what a launch holds at once may be, those constants among it:
/// what it makes is at most twice as large.
const GROWTH: u64 = 3;
/// The same where the program is small: numbers of 2 bits become floats of 32.
const GROWTH_IF_SMALL: u64 = 17;
/// Launches that grow by more than [`GROWTH`] may make so many bytes together. A quantized model is meant to be small: in a large one
/// the kernels turn weights of 4 or 8 bits into floats at every run.
const SMALL: u64 = 128 << 20;
/// Bytes that any launch may hold.
const FREE: u64 = 1 << 20;
/// How much larger than its first constants all else that is made in a program may be, and bytes that any program may get.
const TOTAL_GROWTH: u64 = 4;
const TOTAL_FREE: u64 = 1 << 20;
/// Operations on numbers for each byte that a launch may hold, and those of any launch.
const FLOPS_PER_BYTE: u64 = 16;
const FREE_FLOPS: u64 = 1 << 22;

/// Bytes of constants that may still be made in a program.
pub(super) struct Budget {
    left: u64,
    /// Of those that grow by more than [`GROWTH`].
    left_if_small: u64,
}

/// From which part of a budget a launch is run.
#[derive(Clone, Copy)]
pub(super) enum Share {
    Any,
    IfSmall,
}

impl Budget {
    pub(super) fn of(program: OpRef<'_>) -> Self {
        let mut seen: HashSet<Attr> = HashSet::new();
        program.walk(&mut |op| seen.extend(op.as_::<ConstantOp<'_>>().map(|constant| constant.elements())));
        let stored = seen.into_iter().map(|attr| stored_bytes(program.cx, attr)).fold(0, u64::saturating_add);
        let left_if_small = stored.saturating_mul(GROWTH_IF_SMALL).saturating_add(TOTAL_FREE).min(SMALL);
        Self { left: stored.saturating_mul(TOTAL_GROWTH).saturating_add(TOTAL_FREE), left_if_small }
    }

    pub(super) fn spend(&mut self, share: Share, bytes: u64) {
        let left = match share {
            Share::Any => &mut self.left,
            Share::IfSmall => &mut self.left_if_small,
        };
        *left = left.saturating_sub(bytes);
    }

    /// Whether a launch may be run now.
    ///
    /// # Errors
    /// Why it stays.
    pub(super) fn allows(
        &self,
        program: OpRef<'_>,
        machine: Option<Op>,
        candidate: &Candidate,
    ) -> Result<Share, String> {
        let cx = program.cx;
        let (mut held, mut made) = (0u64, 0u64);
        let mut read: HashSet<Attr> = HashSet::new();
        for arg in &candidate.args {
            let bytes = match arg {
                Arg::Constant(attr) => {
                    if !read.insert(*attr) {
                        continue;
                    }
                    let AttrData::Dense { ty, .. } = cx.attr_data(*attr) else { continue };
                    let count = cx.num_elements(ty).map_or(u64::MAX, |n| n as u64);
                    count.saturating_mul(u64::from(cx.bit_width(cx.element_type(ty)).unwrap_or(64)).div_ceil(8))
                }
                Arg::Temporary(alloc) => {
                    let inside = program.inside();
                    let ty = BufferType::of(cx, inside.ty(inside.result(*alloc, 0)));
                    let count = ty.and_then(|ty| u64::try_from(ty.elements().as_const()?).ok()).unwrap_or(u64::MAX);
                    let bytes = count.saturating_mul(ty.map_or(8, |ty| ty.element_bytes(cx).unsigned_abs()));
                    made = made.saturating_add(bytes);
                    bytes
                }
            };
            held = held.saturating_add(bytes);
        }
        let stored = read.iter().map(|attr| stored_bytes(cx, *attr)).fold(0, u64::saturating_add);
        let within = |growth: u64| stored.saturating_mul(growth).saturating_add(FREE);
        let (share, left) = match held <= within(GROWTH) {
            true => (Share::Any, self.left),
            false => (Share::IfSmall, self.left_if_small),
        };
        let allowed = within(GROWTH_IF_SMALL);
        if held > allowed {
            return Err(format!("it would hold {held} bytes, more than {allowed} for {stored} bytes of constants"));
        }
        if made > left {
            let of = if let Share::IfSmall = share { " of what grows to more than twice its size" } else { "" };
            return Err(format!("it would make {made} bytes constant, and the program may get {left} more{of}"));
        }
        let flops = flops(program, machine, candidate)?;
        let allowed = held.saturating_mul(FLOPS_PER_BYTE).saturating_add(FREE_FLOPS);
        if flops > allowed {
            return Err(format!("it computes {flops} numbers, more than {allowed} for {held} bytes"));
        }
        Ok(share)
    }
}

/// What is stored for a constant: one element for one that is the same everywhere.
fn stored_bytes(cx: &Context, attr: Attr) -> u64 {
    match cx.attr_data(attr) {
        AttrData::Dense { data, .. } => cx.bytes(data).len() as u64,
        _ => 0,
    }
}

fn flops(program: OpRef<'_>, machine: Option<Op>, candidate: &Candidate) -> Result<u64, String> {
    let (cx, module) = (program.cx, program.body);
    let machine = machine.map(|op| OpRef::new(cx, module, op));
    let cost = KernelCost::of(OpRef::new(cx, module, candidate.kernel), machine)?;
    let at = |name: &str| cost.dims.iter().position(|dim| dim.name == name).map(|i| candidate.dims[i]);
    Ok(cost.at(&at)?.flops)
}
