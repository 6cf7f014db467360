//! Where an invocation stands, barriers, and values handed between the invocations of a subgroup.

use sutura_dialects::gpu::{Dimension, ShuffleMode, ShuffleOp};
use sutura_dialects::spirv::{MemorySemantics, Scope};
use sutura_ir::{OpRef, OpView, Type, Value};

use super::kernel::{Lowered, Lowering, unsupported};

impl Lowering<'_, '_> {
    pub(super) fn lane_op(&mut self, op: OpRef<'_>) -> Lowered {
        let name = match op.name_str() {
            "gpu.thread_id" => return self.along_axis(op, "LocalInvocationId"),
            "gpu.block_id" => return self.along_axis(op, "WorkgroupId"),
            "gpu.grid_dim" => return self.along_axis(op, "NumWorkgroups"),
            "gpu.block_dim" => {
                let size = self.block_size[axis(op)];
                let size = self.e.int(size, Type::I64);
                self.set_result(op, size);
                return Ok(());
            }
            "gpu.lane_id" => "SubgroupLocalInvocationId",
            "gpu.subgroup_id" => "SubgroupId",
            "gpu.subgroup_size" => "SubgroupSize",
            "gpu.shuffle" => return self.shuffle(ShuffleOp::from_ref(op)),
            "gpu.barrier" => {
                self.barrier();
                return Ok(());
            }
            "gpu.return" => {
                self.e.op("spirv.Return", &[], &[], &[]);
                return Ok(());
            }
            _ => return Err(unsupported(op)),
        };
        let number = self.of_subgroup(name);
        let number = self.e.cast("spirv.UConvert", number, Type::I64);
        self.set_result(op, number);
        Ok(())
    }

    fn along_axis(&mut self, op: OpRef<'_>, name: &'static str) -> Lowered {
        let ty = op.cx.vector_type(&[3], Type::I32);
        let all = self.e.built_in(name, ty);
        let one = self.e.extract(all, axis(op) as i64, Type::I32);
        let one = self.e.cast("spirv.UConvert", one, Type::I64);
        self.set_result(op, one);
        Ok(())
    }

    /// A number about the subgroup, of 32 bits.
    fn of_subgroup(&mut self, name: &'static str) -> Value {
        self.e.module.needs.capabilities.insert("GroupNonUniform");
        self.e.built_in(name, Type::I32)
    }

    /// What invocations wrote before, to buffers as to what they share, is seen by all of the workgroup after.
    fn barrier(&mut self) {
        let semantics = MemorySemantics::ACQUIRE_RELEASE
            .with(MemorySemantics::UNIFORM_MEMORY)
            .with(MemorySemantics::WORKGROUP_MEMORY);
        let props = [
            ("execution_scope", self.e.scope(Scope::Workgroup)),
            ("memory_scope", self.e.scope(Scope::Workgroup)),
            ("memory_semantics", self.cx().ext_attr(semantics)),
        ];
        self.e.op("spirv.ControlBarrier", &[], &[], &props);
    }

    fn shuffle(&mut self, source: ShuffleOp<'_>) -> Lowered {
        let op = source.op_ref();
        let ty = self.ty(op, source.exchanged())?;
        let (value, offset, width) = (self.operand(op, 0)?, self.operand(op, 1)?, self.operand(op, 2)?);
        let (name, capability, by) = match source.mode() {
            ShuffleMode::Xor => ("spirv.GroupNonUniformShuffleXor", "GroupNonUniformShuffle", offset),
            ShuffleMode::Up => ("spirv.GroupNonUniformShuffleUp", "GroupNonUniformShuffleRelative", offset),
            ShuffleMode::Down => ("spirv.GroupNonUniformShuffleDown", "GroupNonUniformShuffleRelative", offset),
            ShuffleMode::Idx => {
                // Among the `width` lanes around this one.
                let lane = self.of_subgroup("SubgroupLocalInvocationId");
                let mask = self.e.same("spirv.SNegate", &[width]);
                let first = self.e.same("spirv.BitwiseAnd", &[lane, mask]);
                let lane = self.e.same("spirv.IAdd", &[first, offset]);
                ("spirv.GroupNonUniformShuffle", "GroupNonUniformShuffle", lane)
            }
        };
        self.e.module.needs.capabilities.extend(["GroupNonUniform", capability]);
        let sent = self.packed(value, ty);
        let scope = self.e.scope(Scope::Subgroup);
        let sent_ty = self.e.ty(sent);
        let received = self.e.value(name, &[sent, by], sent_ty, &[("execution_scope", scope)]);
        let received = self.unpacked(received, ty);
        self.set(op.result(0), received);
        if !op.body.is_unused(op.result(1)) {
            let valid = self.in_reach(source.mode(), offset, width);
            self.set(op.result(1), valid);
        }
        Ok(())
    }

    /// True where the other lane is among the `width` lanes around this one.
    fn in_reach(&mut self, mode: ShuffleMode, offset: Value, width: Value) -> Value {
        if matches!(mode, ShuffleMode::Xor | ShuffleMode::Idx) {
            return self.e.question("spirv.ULessThan", &[offset, width]);
        }
        let (lane, one) = (self.of_subgroup("SubgroupLocalInvocationId"), self.e.int(1, Type::I32));
        let mask = self.e.same("spirv.ISub", &[width, one]);
        let lane = self.e.same("spirv.BitwiseAnd", &[lane, mask]);
        if mode == ShuffleMode::Up {
            return self.e.question("spirv.UGreaterThanEqual", &[lane, offset]);
        }
        let other = self.e.same("spirv.IAdd", &[lane, offset]);
        self.e.question("spirv.ULessThan", &[other, width])
    }

    /// A value in pieces of 32 bits: devices need not hand over others.
    fn packed(&mut self, value: Value, ty: Type) -> Value {
        match ty {
            Type::I1 => {
                let (one, zero) = (self.e.int(1, Type::I32), self.e.int(0, Type::I32));
                self.e.select(value, one, zero)
            }
            Type::I64 | Type::F64 => {
                let pair = self.e.cx().vector_type(&[2], Type::I32);
                self.e.bitcast(value, pair)
            }
            Type::F16 => {
                let cx = self.e.cx();
                self.e.module.needs.value(cx, Type::I16);
                let bits = self.e.bitcast(value, Type::I16);
                self.e.cast("spirv.UConvert", bits, Type::I32)
            }
            Type::I8 | Type::I16 => self.e.cast("spirv.UConvert", value, Type::I32),
            _ => value,
        }
    }

    fn unpacked(&mut self, value: Value, ty: Type) -> Value {
        match ty {
            Type::I1 => {
                let zero = self.e.int(0, Type::I32);
                self.e.question("spirv.INotEqual", &[value, zero])
            }
            Type::F16 => {
                let bits = self.e.cast("spirv.UConvert", value, Type::I16);
                self.e.bitcast(bits, ty)
            }
            Type::I8 | Type::I16 => self.e.cast("spirv.UConvert", value, ty),
            _ => self.e.bitcast(value, ty),
        }
    }
}

fn axis(op: OpRef<'_>) -> usize {
    match op.prop("dimension").and_then(|a| op.cx.attr_as::<Dimension>(a)) {
        Some(Dimension::Y) => 1,
        Some(Dimension::Z) => 2,
        _ => 0,
    }
}
