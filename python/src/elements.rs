//! Element types as NumPy and DLPack number them.

use std::ffi::{c_int, c_long};

use numpy::npyffi::NPY_TYPES;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use sutura_runtime::ElementType;

use crate::dlpack::DataType;

/// The element type of a dtype, with NumPy's own numbers or by its name, as `ml_dtypes` gives them. An error says why a dtype has
/// none.
pub(crate) fn of_dtype(dtype: &Bound<'_, PyArrayDescr>) -> Result<ElementType, String> {
    let found = of_number(dtype.num()).or_else(|| of_ml_dtype(dtype));
    let Some(element_type) = found else {
        return Err(format!("has NumPy's dtype {}, which no model has", shown(dtype)));
    };
    if dtype.is_native_byteorder() == Some(false) {
        return Err(format!(
            "has the dtype {}, whose bytes are in another order than this machine's; x.astype(\"{}\") converts it",
            shown(dtype),
            numpy_name(element_type).unwrap_or_default()
        ));
    }
    Ok(element_type)
}

fn shown(dtype: &Bound<'_, PyArrayDescr>) -> String {
    dtype.str().map_or_else(|_| "?".to_owned(), |text| text.to_string_lossy().into_owned())
}

fn of_number(number: c_int) -> Option<ElementType> {
    const NUMBERS: [(NPY_TYPES, ElementType); 14] = [
        (NPY_TYPES::NPY_BOOL, ElementType::Bool),
        (NPY_TYPES::NPY_BYTE, ElementType::I8),
        (NPY_TYPES::NPY_UBYTE, ElementType::U8),
        (NPY_TYPES::NPY_SHORT, ElementType::I16),
        (NPY_TYPES::NPY_USHORT, ElementType::U16),
        (NPY_TYPES::NPY_INT, ElementType::I32),
        (NPY_TYPES::NPY_UINT, ElementType::U32),
        (NPY_TYPES::NPY_LONGLONG, ElementType::I64),
        (NPY_TYPES::NPY_ULONGLONG, ElementType::U64),
        (NPY_TYPES::NPY_HALF, ElementType::F16),
        (NPY_TYPES::NPY_FLOAT, ElementType::F32),
        (NPY_TYPES::NPY_DOUBLE, ElementType::F64),
        (NPY_TYPES::NPY_CFLOAT, ElementType::C64),
        (NPY_TYPES::NPY_CDOUBLE, ElementType::C128),
    ];
    let long = size_of::<c_long>() == 8;
    if number == NPY_TYPES::NPY_LONG as c_int {
        return Some(if long { ElementType::I64 } else { ElementType::I32 });
    }
    if number == NPY_TYPES::NPY_ULONG as c_int {
        return Some(if long { ElementType::U64 } else { ElementType::U32 });
    }
    NUMBERS.iter().find(|(known, _)| *known as c_int == number).map(|(_, element_type)| *element_type)
}

/// Types that extend NumPy have numbers from 256 on, in the order in which they are registered.
fn of_ml_dtype(dtype: &Bound<'_, PyArrayDescr>) -> Option<ElementType> {
    if dtype.num() < NPY_TYPES::NPY_USERDEF as c_int {
        return None;
    }
    let name = dtype.getattr("name").ok()?.extract::<String>().ok()?;
    let found = ElementType::ALL.into_iter().find(|known| numpy_name(*known) == Some(name.as_str()))?;
    (found.bytes() == dtype.itemsize()).then_some(found)
}

/// NumPy's name, or that of `ml_dtypes`.
pub(crate) fn numpy_name(element_type: ElementType) -> Option<&'static str> {
    Some(match element_type {
        ElementType::Bool => "bool",
        ElementType::I8 => "int8",
        ElementType::U8 => "uint8",
        ElementType::I16 => "int16",
        ElementType::U16 => "uint16",
        ElementType::I32 => "int32",
        ElementType::U32 => "uint32",
        ElementType::I64 => "int64",
        ElementType::U64 => "uint64",
        ElementType::F16 => "float16",
        ElementType::F32 => "float32",
        ElementType::F64 => "float64",
        ElementType::C64 => "complex64",
        ElementType::C128 => "complex128",
        ElementType::BF16 => "bfloat16",
        ElementType::F8E4M3FN => "float8_e4m3fn",
        ElementType::F8E5M2 => "float8_e5m2",
        ElementType::F8E4M3FNUZ => "float8_e4m3fnuz",
        ElementType::F8E5M2FNUZ => "float8_e5m2fnuz",
        ElementType::F8E8M0FNU => "float8_e8m0fnu",
        ElementType::F4E2M1FN => "float4_e2m1fn",
        ElementType::I2 => "int2",
        ElementType::U2 => "uint2",
        ElementType::I4 => "int4",
        ElementType::U4 => "uint4",
    })
}

/// The dtype of an element type. An error where `ml_dtypes` is missing and adds it.
pub(crate) fn dtype(py: Python<'_>, element_type: ElementType) -> PyResult<Bound<'_, PyArrayDescr>> {
    let dtype = py.import("sutura._values")?.call_method1("numpy_dtype", (element_type.name(),))?;
    Ok(dtype.cast_into::<PyArrayDescr>()?)
}

/// DLPack's kinds of numbers.
mod code {
    pub(super) const INT: u8 = 0;
    pub(super) const UINT: u8 = 1;
    pub(super) const FLOAT: u8 = 2;
    pub(super) const BFLOAT: u8 = 4;
    pub(super) const COMPLEX: u8 = 5;
    pub(super) const BOOL: u8 = 6;
    pub(super) const FLOAT8_E4M3FN: u8 = 10;
    pub(super) const FLOAT8_E4M3FNUZ: u8 = 11;
    pub(super) const FLOAT8_E5M2: u8 = 12;
    pub(super) const FLOAT8_E5M2FNUZ: u8 = 13;
    pub(super) const FLOAT8_E8M0FNU: u8 = 14;
}

/// DLPack's type of elements; none for those of less than a byte, which it packs.
pub(crate) fn to_dlpack(element_type: ElementType) -> Option<DataType> {
    let code = match element_type {
        ElementType::Bool => code::BOOL,
        ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64 => code::INT,
        ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => code::UINT,
        ElementType::F16 | ElementType::F32 | ElementType::F64 => code::FLOAT,
        ElementType::BF16 => code::BFLOAT,
        ElementType::C64 | ElementType::C128 => code::COMPLEX,
        ElementType::F8E4M3FN => code::FLOAT8_E4M3FN,
        ElementType::F8E4M3FNUZ => code::FLOAT8_E4M3FNUZ,
        ElementType::F8E5M2 => code::FLOAT8_E5M2,
        ElementType::F8E5M2FNUZ => code::FLOAT8_E5M2FNUZ,
        ElementType::F8E8M0FNU => code::FLOAT8_E8M0FNU,
        ElementType::F4E2M1FN | ElementType::I2 | ElementType::U2 | ElementType::I4 | ElementType::U4 => return None,
    };
    Some(DataType { code, bits: element_type.bits() as u8, lanes: 1 })
}

pub(crate) fn of_dlpack(wanted: DataType) -> Option<ElementType> {
    ElementType::ALL.into_iter().find(|known| to_dlpack(*known) == Some(wanted))
}
