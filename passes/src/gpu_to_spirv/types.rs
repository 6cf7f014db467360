//! How values are typed in SPIR-V, and how many bytes they have in memory.

use std::collections::BTreeSet;

use sutura_dialects::llvm::types::{ArrayType, PointerType};
use sutura_ir::asm::print::type_text;
use sutura_ir::{Context, Type, TypeData};

/// Address space of buffers.
pub(crate) const GLOBAL: u32 = 1;
/// Address space of what a workgroup shares.
pub(crate) const SHARED: u32 = 3;
/// Bytes of an address.
const ADDRESS_BYTES: u64 = 8;

/// What a module needs of a device.
#[derive(Default)]
pub(super) struct Needs {
    pub(super) capabilities: BTreeSet<&'static str>,
    /// Widths of the floats that are computed with.
    pub(super) floats: BTreeSet<u32>,
}

impl Needs {
    /// Notes a type of values.
    pub(super) fn value(&mut self, cx: &Context, ty: Type) {
        let capability = match cx.element_type(ty) {
            Type::I8 => "Int8",
            Type::I16 => "Int16",
            Type::F16 => "Float16",
            Type::F64 => "Float64",
            _ => "Int64",
        };
        self.capabilities.insert(capability);
        if let elem @ (Type::F16 | Type::F32 | Type::F64) = cx.element_type(ty) {
            self.floats.insert(cx.bit_width(elem).expect("a float"));
        }
    }

    /// Notes a type of what is read from or written to buffers.
    pub(super) fn in_buffer(&mut self, cx: &Context, ty: Type) {
        self.value(cx, ty);
        match cx.element_type(ty) {
            Type::I8 => self.capabilities.insert("StorageBuffer8BitAccess"),
            Type::I16 | Type::F16 => self.capabilities.insert("StorageBuffer16BitAccess"),
            _ => false,
        };
    }
}

/// The address space of a pointer.
pub(crate) fn space(cx: &Context, ty: Type) -> Option<u32> {
    cx.type_as::<PointerType>(ty).map(|ty| ty.address_space)
}

/// The type that a value has in SPIR-V.
///
/// # Errors
/// Says why it has none.
pub(super) fn converted(cx: &Context, ty: Type) -> Result<Type, String> {
    let text = || type_text(cx, ty);
    if let Some(space) = space(cx, ty) {
        return match space {
            GLOBAL => Ok(Type::I64),
            SHARED => Err(format!(
                "has a value of type '{}' that is no address within a known variable: use 'llvm.getelementptr' on \
                 'llvm.mlir.addressof', in the place where it is accessed",
                text()
            )),
            _ => Err(format!(
                "has a value of type '{}': only address spaces {GLOBAL} (buffers) and {SHARED} (shared) are known",
                text()
            )),
        };
    }
    match cx.type_data(ty) {
        TypeData::Vector { elem, scalable, .. } => {
            let scalable = cx.ints(scalable).contains(&1);
            let elem = converted(cx, elem)?;
            match cx.shape(ty).filter(|_| !scalable) {
                Some([] | [1]) => Ok(elem),
                Some([len @ 2..=4]) => Ok(cx.vector_type(&[*len], elem)),
                _ => Err(format!("has a value of type '{}': vectors have 1 to 4 elements in SPIR-V", text())),
            }
        }
        _ => match ty {
            Type::INDEX => Ok(Type::I64),
            // Its bits: what is computed with it is computed in f32.
            Type::BF16 => Ok(Type::I16),
            Type::I1 | Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::F16 | Type::F32 | Type::F64 => Ok(ty),
            _ => Err(format!("has a value of type '{}', which SPIR-V has not", text())),
        },
    }
}

/// The type of values in memory: truth values are bytes there.
pub(super) fn in_memory(cx: &Context, ty: Type) -> Result<Type, String> {
    match cx.element_type(ty) {
        Type::I1 if cx.shape(ty).is_some() => {
            Err(format!("accesses '{}': truth values in memory are accessed one by one", type_text(cx, ty)))
        }
        Type::I1 => Ok(Type::I8),
        _ => converted(cx, ty),
    }
}

/// Bytes from one value of a type to the next in memory, as LLVM lays them out.
///
/// # Errors
/// Names the type that has no layout here.
pub(crate) fn stride(cx: &Context, ty: Type) -> Result<u64, String> {
    if let Some(array) = cx.type_as::<ArrayType>(ty) {
        return Ok(array.len * stride(cx, array.elem)?);
    }
    if cx.type_as::<PointerType>(ty).is_some() {
        return Ok(ADDRESS_BYTES);
    }
    let bytes = match cx.element_type(ty) {
        Type::I1 if cx.shape(ty).is_none() => Some(1),
        elem => cx.bit_width(elem).filter(|bits| bits % 8 == 0).map(|bits| u64::from(bits) / 8),
    };
    let count = match cx.type_data(ty) {
        TypeData::Vector { .. } => cx.num_elements(ty).map(|count| (count as u64).max(1)),
        _ => Some(1),
    };
    match (bytes, count) {
        (Some(bytes), Some(count)) => Ok((bytes * count).next_power_of_two()),
        _ => Err(format!("counts elements of type '{}', whose size is not known", type_text(cx, ty))),
    }
}

/// The scalar type that a shared variable is an array of, and how many there are.
pub(super) fn flattened(cx: &Context, ty: Type) -> Result<(Type, u64), String> {
    if let Some(array) = cx.type_as::<ArrayType>(ty) {
        let (elem, count) = flattened(cx, array.elem)?;
        return Ok((elem, count * array.len));
    }
    let elem = cx.element_type(ty);
    let bytes = stride(cx, elem)?;
    Ok((in_memory(cx, elem)?, stride(cx, ty)? / bytes))
}
