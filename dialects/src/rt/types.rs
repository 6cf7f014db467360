//! `!rt.buffer<T, [d0, …]>`: memory that kernels are launched on.

use std::fmt::{self, Write};

use sutura_ir::asm::parse::ParamParser;
use sutura_ir::diagnostics::Reported;
use sutura_ir::ext::ParamValue;
use sutura_ir::{Context, Type};

use crate::complex::{is_computed, part_type};
use crate::r#dyn::attr::{parse_known_dims, print_dims};
use crate::r#dyn::poly::Poly;

/// Alignment in bytes of every buffer: a cache line, and the widest vector register.
pub const ALIGNMENT: i64 = 64;

/// Contiguous, row-major memory aligned to [`ALIGNMENT`] bytes; sizes are over the symbols of the program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BufferType {
    /// Element type.
    pub elem: Type,
    /// Sizes.
    pub dims: Vec<Poly>,
}

impl BufferType {
    /// A buffer type.
    pub fn new(elem: Type, dims: Vec<Poly>) -> Self {
        Self { elem, dims }
    }

    /// The buffer type `ty`, if it is one.
    pub fn of(cx: &Context, ty: Type) -> Option<&Self> {
        cx.type_as::<Self>(ty)
    }

    /// Number of elements.
    pub fn elements(&self) -> Poly {
        Poly::product(&self.dims)
    }

    /// Number of numbers: the parts of complex elements.
    pub fn numbers(&self, cx: &Context) -> Poly {
        self.elements().scale(if part_type(cx, self.elem).is_some() { 2 } else { 1 })
    }

    /// Bytes of one element in memory: sub-byte types take one.
    pub fn element_bytes(&self, cx: &Context) -> i64 {
        // The verifier admits only types of a known width; a complex number has two parts.
        let (parts, elem) = part_type(cx, self.elem).map_or((1, self.elem), |part| (2, part));
        cx.bit_width(elem).map_or(1, |bits| parts * i64::from(bits.div_ceil(8)))
    }

    /// Number of bytes, without padding.
    pub fn bytes(&self, cx: &Context) -> Poly {
        self.elements().scale(self.element_bytes(cx))
    }
}

impl ParamValue for BufferType {
    const NAME: &'static str = "rt.buffer";

    fn print(&self, cx: &Context, out: &mut dyn Write) -> fmt::Result {
        write!(out, "<{}, ", sutura_ir::asm::print::type_text(cx, self.elem))?;
        print_dims(&self.dims.iter().cloned().map(Some).collect::<Vec<_>>(), out)?;
        out.write_char('>')
    }

    fn verify(&self, cx: &Context) -> Result<(), String> {
        let bits = self.elem.is_int_index_or_float(cx).then(|| cx.bit_width(self.elem)).flatten();
        match bits {
            Some(1 | 2 | 4 | 8 | 16 | 32 | 64) => Ok(()),
            None if is_computed(cx, self.elem) => Ok(()),
            _ => Err(
                "elements of a buffer are integers or floats of 1, 2, 4, 8, 16, 32 or 64 bits, complex<f32> or complex<f64>"
                    .to_string(),
            ),
        }
    }
}

pub(super) fn parse_buffer(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    p.punct("<")?;
    let elem = p.ty()?;
    p.punct(",")?;
    let dims = parse_known_dims(p)?;
    p.punct(">")?;
    let (start, buffer) = (p.start(), BufferType { elem, dims });
    buffer.verify(p.cx()).map_err(|message| p.error_at(start, &message))?;
    Ok(p.cx().ext_type(buffer))
}
