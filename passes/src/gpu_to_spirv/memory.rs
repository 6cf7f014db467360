//! Addresses and accesses: numbers for buffers, places in an array of scalars for what a workgroup shares.

use sutura_dialects::llvm::types::ArrayType;
use sutura_dialects::llvm::{
    AddressOfOp, AtomicBinOp, AtomicOrdering, AtomicRMWOp, DYNAMIC_INDEX, GEPOp, LoadOp, StoreOp,
};
use sutura_dialects::spirv::types::pointer;
use sutura_dialects::spirv::{MemoryAccess, MemorySemantics, Scope, StorageClass};
use sutura_ir::asm::print::type_text;
use sutura_ir::{Attr, OpRef, OpView, Type, Value};

use super::kernel::{Lowered, Lowering, unsupported};
use super::types::{GLOBAL, SHARED, in_memory, space, stride};

/// A place in a variable of the workgroup.
#[derive(Clone)]
pub(super) struct SharedAddress {
    variable: String,
    /// Number of the scalar, of 32 bits; `None` for the first.
    index: Option<Value>,
}

/// How a value lies in memory.
struct Access {
    /// Type in SPIR-V.
    value: Type,
    /// Type in memory.
    memory: Type,
    flags: MemoryAccess,
    alignment: i64,
}

impl Lowering<'_, '_> {
    pub(super) fn memory_op(&mut self, op: OpRef<'_>) -> Lowered {
        match op.name_str() {
            "llvm.getelementptr" => self.element_address(GEPOp::from_ref(op)),
            "llvm.mlir.addressof" => self.address_of(op),
            "llvm.load" => self.load(op),
            "llvm.store" => self.store(op),
            "llvm.atomicrmw" => self.atomic(AtomicRMWOp::from_ref(op)),
            "llvm.ptrtoint" | "llvm.inttoptr" => {
                let (address, to) = (self.operand(op, 0)?, self.ty(op, op.result(0))?);
                let value = self.e.cast("spirv.UConvert", address, to);
                self.set_result(op, value);
                Ok(())
            }
            "llvm.mlir.zero" if space(op.cx, op.ty(op.result(0))) == Some(GLOBAL) => {
                let null = self.e.int(0, Type::I64);
                self.set_result(op, null);
                Ok(())
            }
            "llvm.mlir.undef" | "llvm.mlir.poison" => {
                let ty = self.ty(op, op.result(0))?;
                let value = self.e.value("spirv.Undef", &[], ty, &[]);
                self.set_result(op, value);
                Ok(())
            }
            _ => Err(unsupported(op)),
        }
    }

    fn address_of(&mut self, op: OpRef<'_>) -> Lowered {
        let name = op.as_::<AddressOfOp<'_>>().map_or("", |address| address.global_name());
        if self.e.module.shared(name).is_none() {
            return Err(Box::new(
                op.error(format!("refers to @{name}, which the module of the kernel does not define")),
            ));
        }
        self.shared.insert(op.result(0), SharedAddress { variable: name.to_owned(), index: None });
        Ok(())
    }

    // ---- addresses

    /// What the indices count, each with the type that it steps over.
    fn steps(gep: GEPOp<'_>) -> Lowered<Vec<(Step, Type)>> {
        let (op, cx) = (gep.op_ref(), gep.op_ref().cx);
        let mut dynamic = gep.dynamic_indices();
        let (mut steps, mut ty) = (Vec::new(), gep.elem_type());
        for (depth, index) in gep.raw_constant_indices().into_iter().enumerate() {
            if depth > 0 {
                let Some(array) = cx.type_as::<ArrayType>(ty) else {
                    let error = op.error(format!("leads into '{}'", type_text(cx, ty)));
                    return Err(Box::new(error.help("only arrays can be stepped into")));
                };
                ty = array.elem;
            }
            let step = match (index == DYNAMIC_INDEX).then(|| dynamic.next()).flatten() {
                Some(value) => Step::Dynamic(value),
                None => Step::Constant(i64::from(index)),
            };
            steps.push((step, ty));
        }
        Ok(steps)
    }

    fn element_address(&mut self, gep: GEPOp<'_>) -> Lowered {
        let op = gep.op_ref();
        match space(op.cx, op.ty(gep.base())) {
            Some(GLOBAL) => {
                let mut address = self.get(op, gep.base())?;
                for (step, ty) in Self::steps(gep)? {
                    let bytes = stride(op.cx, ty).map_err(|message| op.error(message))? as i64;
                    address = self.advance(op, Some(address), step, bytes, Type::I64)?.unwrap_or(address);
                }
                self.set_result(op, address);
            }
            Some(SHARED) => {
                let mut address = self.shared_address(op, gep.base())?;
                let shared = self.e.module.shared(&address.variable).expect("found when its address was taken");
                let elem_bytes = stride(op.cx, shared.elem).map_err(|message| op.error(message))?;
                for (step, ty) in Self::steps(gep)? {
                    let bytes = stride(op.cx, ty).map_err(|message| op.error(message))?;
                    if bytes % elem_bytes != 0 {
                        let (ty, elem) = (type_text(op.cx, ty), type_text(op.cx, shared.elem));
                        let error = op.error(format!("steps by '{ty}' through a variable of '{elem}'"));
                        return Err(Box::new(error.help("count elements of the variable's own type")));
                    }
                    let count = (bytes / elem_bytes) as i64;
                    address.index = self.advance(op, address.index, step, count, Type::I32)?;
                }
                self.shared.insert(op.result(0), address);
            }
            _ => {
                self.ty(op, op.result(0))?;
                return Err(unsupported(op));
            }
        }
        Ok(())
    }

    /// `base + index * scale`; `None` is zero.
    fn advance(
        &mut self,
        op: OpRef<'_>,
        base: Option<Value>,
        step: Step,
        scale: i64,
        ty: Type,
    ) -> Lowered<Option<Value>> {
        let offset = match step {
            Step::Constant(0) => return Ok(base),
            Step::Constant(index) => self.e.int(index * scale, ty),
            Step::Dynamic(index) => {
                let index = self.get(op, index)?;
                // Indices are signed; in 32 bits their lower half is all that matters.
                let index = self.e.cast("spirv.SConvert", index, ty);
                if scale == 1 {
                    index
                } else {
                    let scale = self.e.int(scale, ty);
                    self.e.same("spirv.IMul", &[index, scale])
                }
            }
        };
        Ok(Some(match base {
            Some(base) => self.e.same("spirv.IAdd", &[base, offset]),
            None => offset,
        }))
    }

    fn shared_address(&mut self, op: OpRef<'_>, pointer: Value) -> Lowered<SharedAddress> {
        match self.shared.get(&pointer) {
            Some(address) => Ok(address.clone()),
            // The type has no conversion, and its error says what to do.
            None => self.ty(op, pointer).and(Err(unsupported(op))),
        }
    }

    // ---- accesses

    fn access(&mut self, op: OpRef<'_>, ty: Type) -> Lowered<Access> {
        let (value, memory) = (self.converted(op, ty)?, in_memory(op.cx, ty).map_err(|message| op.error(message))?);
        let natural = stride(op.cx, ty).map_err(|message| op.error(message))? as i64;
        let alignment = op.prop("alignment").and_then(|a| op.cx.as_int(a)).unwrap_or(natural);
        let scalar = stride(op.cx, op.cx.element_type(ty)).map_err(|message| op.error(message))? as i64;
        if alignment < scalar || alignment.count_ones() != 1 {
            let error = op.error(format!("has alignment {alignment}"));
            return Err(Box::new(error.help(format!("Vulkan needs a power of two of at least {scalar} here"))));
        }
        if op.prop("ordering").and_then(|a| op.cx.as_int(a)).is_some_and(|ordering| ordering != 0) {
            return Err(Box::new(op.error("is atomic, which is not supported")));
        }
        let volatile = op.prop("volatile_").is_some();
        let flags = if volatile { MemoryAccess::VOLATILE } else { MemoryAccess::NONE };
        Ok(Access { value, memory, flags, alignment })
    }

    fn load(&mut self, op: OpRef<'_>) -> Lowered {
        let load = LoadOp::from_ref(op);
        let access = self.access(op, op.ty(op.result(0)))?;
        let value = match space(op.cx, op.ty(load.addr())) {
            Some(SHARED) => {
                let address = self.shared_address(op, load.addr())?;
                let mut elements = Vec::new();
                for place in self.shared_places(op, &address, access.memory)? {
                    let props = self.volatile(access.flags);
                    let elem = self.pointee(place);
                    let element = self.e.value("spirv.Load", &[place], elem, &props);
                    elements.push(self.e.bitcast(element, op.cx.element_type(access.memory)));
                }
                self.e.construct(&elements)
            }
            _ => {
                let address = self.get(op, load.addr())?;
                self.load_at(address, access.memory, access.alignment, access.flags)
            }
        };
        let value = self.loaded(value, access.value);
        self.set_result(op, value);
        Ok(())
    }

    fn store(&mut self, op: OpRef<'_>) -> Lowered {
        let store = StoreOp::from_ref(op);
        let access = self.access(op, op.ty(store.stored()))?;
        let value = self.get(op, store.stored())?;
        let value = self.storable(value, access.memory);
        match space(op.cx, op.ty(store.addr())) {
            Some(SHARED) => {
                let address = self.shared_address(op, store.addr())?;
                let places = self.shared_places(op, &address, access.memory)?;
                for (place, element) in places.into_iter().zip(self.e.elements(value)) {
                    let props = self.volatile(access.flags);
                    let elem = self.pointee(place);
                    let element = self.e.bitcast(element, elem);
                    self.e.op("spirv.Store", &[place, element], &[], &props);
                }
            }
            _ => {
                let address = self.get(op, store.addr())?;
                let ptr = self.buffer_pointer(address, access.memory);
                let props = self.aligned(access.alignment, access.flags);
                self.e.op("spirv.Store", &[ptr, value], &[], &props);
            }
        }
        Ok(())
    }

    /// A word of 64 bits in a buffer, replaced in one step.
    fn atomic(&mut self, atomic: AtomicRMWOp<'_>) -> Lowered {
        let op = atomic.op_ref();
        let name = match atomic.bin_op() {
            AtomicBinOp::Xchg => "spirv.AtomicExchange",
            AtomicBinOp::UMin => "spirv.AtomicUMin",
            _ => return Err(unsupported(op)),
        };
        let in_buffer = space(op.cx, op.ty(atomic.ptr())) == Some(GLOBAL);
        if !in_buffer || op.ty(atomic.val()) != Type::I64 || atomic.ordering() != AtomicOrdering::Monotonic {
            let help = "Vulkan gets 'xchg' and 'umin', 'monotonic', of i64 in buffers";
            return Err(Box::new(op.error("is of a kind that is not supported").help(help)));
        }
        let (address, value) = (self.get(op, atomic.ptr())?, self.get(op, atomic.val())?);
        self.e.module.needs.capabilities.insert("Int64Atomics");
        let ptr = self.buffer_pointer(address, Type::I64);
        let props =
            [("memory_scope", self.e.scope(Scope::Device)), ("semantics", self.cx().ext_attr(MemorySemantics::NONE))];
        let old = self.e.value(name, &[ptr, value], Type::I64, &props);
        self.set_result(op, old);
        Ok(())
    }

    /// Reads a value of a buffer.
    pub(super) fn load_at(&mut self, address: Value, ty: Type, alignment: i64, flags: MemoryAccess) -> Value {
        let ptr = self.buffer_pointer(address, ty);
        let props = self.aligned(alignment, flags);
        self.e.value("spirv.Load", &[ptr], ty, &props)
    }

    fn buffer_pointer(&mut self, address: Value, ty: Type) -> Value {
        let cx = self.e.cx();
        self.e.module.needs.in_buffer(cx, ty);
        let ptr = pointer(cx, ty, StorageClass::PhysicalStorageBuffer);
        self.e.value("spirv.ConvertUToPtr", &[address], ptr, &[])
    }

    fn aligned(&self, alignment: i64, flags: MemoryAccess) -> Vec<(&'static str, Attr)> {
        let flags = flags.with(MemoryAccess::ALIGNED);
        let (access, alignment) = (self.cx().ext_attr(flags), self.cx().int_attr(alignment, Type::I32));
        vec![("memory_access", access), ("alignment", alignment)]
    }

    fn volatile(&self, flags: MemoryAccess) -> Vec<(&'static str, Attr)> {
        if flags == MemoryAccess::NONE { Vec::new() } else { vec![("memory_access", self.cx().ext_attr(flags))] }
    }

    fn pointee(&self, place: Value) -> Type {
        let ty = self.e.ty(place);
        self.cx().type_as::<sutura_dialects::spirv::types::PointerType>(ty).expect("made as a pointer").pointee
    }

    /// The places of the elements of a value in a variable of the workgroup.
    fn shared_places(&mut self, op: OpRef<'_>, address: &SharedAddress, ty: Type) -> Lowered<Vec<Value>> {
        let (cx, elem) = (self.e.cx(), op.cx.element_type(ty));
        let shared = self.e.module.shared(&address.variable).expect("found when its address was taken");
        if op.cx.bit_width(elem) != op.cx.bit_width(shared.elem) {
            let (found, declared) = (type_text(op.cx, elem), type_text(op.cx, shared.elem));
            let error = op.error(format!("accesses '{found}' in a variable of '{declared}'"));
            return Err(Box::new(error.help("declare the variable with elements of the width that is accessed")));
        }
        let ptr = pointer(cx, shared.elem, StorageClass::Workgroup);
        let mut places = Vec::new();
        for number in 0..op.cx.shape(ty).map_or(1, |shape| shape[0]) {
            let index = self.advance(op, address.index, Step::Constant(number), 1, Type::I32)?;
            let index = match index {
                Some(index) => index,
                None => self.e.int(0, Type::I32),
            };
            let base = self.e.address_of(&address.variable, shared.ptr);
            places.push(self.e.value("spirv.AccessChain", &[base, index], ptr, &[]));
        }
        Ok(places)
    }

    /// A value as it is computed with.
    pub(super) fn loaded(&mut self, value: Value, ty: Type) -> Value {
        if ty != Type::I1 {
            return value;
        }
        let zero = self.e.int(0, Type::I8);
        self.e.question("spirv.INotEqual", &[value, zero])
    }

    /// A value as it lies in memory.
    fn storable(&mut self, value: Value, ty: Type) -> Value {
        if self.e.ty(value) != Type::I1 {
            return value;
        }
        let (one, zero) = (self.e.int(1, ty), self.e.int(0, ty));
        self.e.select(value, one, zero)
    }
}

/// An index.
#[derive(Clone, Copy)]
enum Step {
    Constant(i64),
    Dynamic(Value),
}
