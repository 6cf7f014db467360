//! What AMD's GPUs have.

use sutura_dialects::gpu::ShuffleMode;
use sutura_dialects::llvm::AtomicOrdering;
use sutura_dialects::llvm::types::PointerType;
use sutura_dialects::rocdl::{FLAT_WORK_GROUP_SIZE, KERNEL, REQD_WORK_GROUP_SIZE};
use sutura_ir::{Attr, Context, Type, Value};

use super::emit::{Emit, Pred};
use super::{Exchanged, Position, Shuffle, Vendor};

/// The address space of what does not change during a launch.
const CONSTANT: u32 = 4;

/// Where the implicit arguments of a code object of version 5 have the number of workgroups, three of 4 bytes, and their
/// sizes, three of 2 bytes.
const BLOCK_COUNTS: i64 = 0;
const GROUP_SIZES: i64 = 12;

/// Lanes that `ds_swizzle` reaches.
const SWIZZLED: i64 = 32;

pub(super) struct Amd {
    /// Lanes of a wavefront.
    pub(super) wavefront: i64,
}

impl Amd {
    /// A number among the implicit arguments of the launch.
    fn implicit(e: &mut Emit<'_>, at: i64, bytes: i64) -> Value {
        let cx = e.cx();
        let ptr = cx.ext_type(PointerType { address_space: CONSTANT });
        let name = cx.string_attr("llvm.amdgcn.implicitarg.ptr");
        let none = cx.i32_array(&[]);
        let props = [("intrin", name), ("op_bundle_sizes", none), ("operandSegmentSizes", cx.i32_array(&[0, 0]))];
        let base = e.value("llvm.call_intrinsic", &[], ptr, &props);
        let offset = i32::try_from(at).expect("a small offset");
        let props = [("rawConstantIndices", cx.i32_array(&[offset])), ("elem_type", cx.type_attr(Type::I8))];
        let address = e.value("llvm.getelementptr", &[base], ptr, &props);
        let ty = cx.int_type(u32::try_from(bytes * 8).expect("a few bytes"));
        let props = [("alignment", cx.int_attr(bytes, Type::I64)), ("invariant", Attr::UNIT)];
        let value = e.value("llvm.load", &[address], ty, &props);
        if ty == Type::I32 { value } else { e.value("arith.extui", &[value], Type::I32, &[]) }
    }

    fn fence(e: &mut Emit<'_>, ordering: AtomicOrdering) {
        let cx = e.cx();
        let props = [("ordering", cx.int_attr(ordering as i64, Type::I64)), ("syncscope", cx.string_attr("workgroup"))];
        e.op("llvm.fence", &[], &[], &props);
    }

    /// The lane that a value is taken from.
    fn source(&self, e: &mut Emit<'_>, lane: Value, to: &Shuffle) -> Value {
        match to.mode {
            ShuffleMode::Xor => e.word_op("arith.xori", &[lane, to.offset]),
            ShuffleMode::Up => e.word_op("arith.subi", &[lane, to.offset]),
            ShuffleMode::Down => e.word_op("arith.addi", &[lane, to.offset]),
            ShuffleMode::Idx => {
                let zero = e.word(0);
                let mask = e.word_op("arith.subi", &[zero, to.width]);
                let first = e.word_op("arith.andi", &[lane, mask]);
                e.word_op("arith.addi", &[first, to.offset])
            }
        }
    }

    /// True where the lane that a value comes from is among the `width` lanes around this one.
    fn in_reach(&self, e: &mut Emit<'_>, lane: Value, to: &Shuffle) -> Value {
        if matches!(to.mode, ShuffleMode::Xor | ShuffleMode::Idx) {
            return e.compare(Pred::Ult, to.offset, to.width);
        }
        let one = e.word(1);
        let mask = e.word_op("arith.subi", &[to.width, one]);
        let lane = e.word_op("arith.andi", &[lane, mask]);
        if to.mode == ShuffleMode::Up {
            return e.compare(Pred::Uge, lane, to.offset);
        }
        let other = e.word_op("arith.addi", &[lane, to.offset]);
        e.compare(Pred::Ult, other, to.width)
    }
}

impl Vendor for Amd {
    fn along_axis(&self, e: &mut Emit<'_>, what: Position, axis: usize) -> Value {
        let at = i64::try_from(axis).expect("three axes");
        match what {
            Position::GridDim => Self::implicit(e, BLOCK_COUNTS + 4 * at, 4),
            Position::BlockDim => Self::implicit(e, GROUP_SIZES + 2 * at, 2),
            Position::Thread | Position::Block => {
                let register = if what == Position::Thread { "workitem" } else { "workgroup" };
                e.value(&format!("rocdl.{register}.id.{}", ["x", "y", "z"][axis]), &[], Type::I32, &[])
            }
        }
    }

    fn lane(&self, e: &mut Emit<'_>) -> Value {
        let (all, zero) = (e.word(-1), e.word(0));
        let low = e.word_op("rocdl.mbcnt.lo", &[all, zero]);
        if self.wavefront == 32 { low } else { e.word_op("rocdl.mbcnt.hi", &[all, low]) }
    }

    fn subgroup(&self) -> i64 {
        self.wavefront
    }

    /// A barrier alone orders no memory.
    fn barrier(&self, e: &mut Emit<'_>) {
        Self::fence(e, AtomicOrdering::Release);
        e.op("rocdl.s.barrier", &[], &[], &[]);
        Self::fence(e, AtomicOrdering::Acquire);
    }

    fn shuffle(&self, e: &mut Emit<'_>, value: Value, to: &Shuffle, valid: bool) -> Exchanged {
        let turned = e.known(to.offset).filter(|bits| to.mode == ShuffleMode::Xor && (0..SWIZZLED).contains(bits));
        if let Some(bits) = turned.filter(|_| !valid) {
            // Keeps all bits of the lane's number and turns these.
            let pattern = e.word((bits << 10) | (SWIZZLED - 1));
            return Exchanged { value: e.word_op("rocdl.ds_swizzle", &[value, pattern]), valid: None };
        }
        let lane = self.lane(e);
        let source = self.source(e, lane, to);
        let two = e.word(2);
        let address = e.word_op("arith.shli", &[source, two]);
        let value = e.word_op("rocdl.ds_bpermute", &[address, value]);
        let valid = valid.then(|| self.in_reach(e, lane, to));
        Exchanged { value, valid }
    }

    fn kernel_attrs(&self, cx: &Context, block: Option<[i32; 3]>) -> Vec<(&'static str, Attr)> {
        let mut attrs = vec![(KERNEL, Attr::UNIT)];
        if let Some(size) = block {
            let threads: i64 = size.iter().map(|n| i64::from(*n)).product();
            attrs.push((FLAT_WORK_GROUP_SIZE, cx.string_attr(&format!("{threads},{threads}"))));
            attrs.push((REQD_WORK_GROUP_SIZE, cx.i32_array(&size)));
        }
        attrs
    }
}
