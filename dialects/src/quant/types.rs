//! Types of numbers that are stored as integers: what they hold, their checks and their text.

use std::fmt::{self, Write};

use sutura_ir::asm::print::{attr_text, type_text};
use sutura_ir::ext::ParamValue;
use sutura_ir::float;
use sutura_ir::types::{FloatKind, MAX_RANK, Signedness, TypeData};
use sutura_ir::{Context, Type};

/// The most bits that a stored integer has.
pub const MAX_STORAGE_BITS: u32 = 32;

/// The integers as which numbers are stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Storage {
    /// Bits, from 1 to [`MAX_STORAGE_BITS`].
    pub width: u32,
    /// Integers with a sign.
    pub signed: bool,
    /// The least that quantisation makes.
    pub min: i64,
    /// The greatest that it makes.
    pub max: i64,
}

impl Storage {
    /// All integers of that width and sign.
    pub fn whole(width: u32, signed: bool) -> Self {
        let (min, max) = if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) };
        Self { width, signed, min, max }
    }

    /// The type of a stored element: without sign, `uiN`.
    pub fn element(&self) -> TypeData {
        let sign = if self.signed { Signedness::Signless } else { Signedness::Unsigned };
        TypeData::Integer { width: self.width, sign }
    }

    /// True for an integer of this width and sign.
    pub fn holds(&self, value: i64) -> bool {
        let whole = Self::whole(self.width, self.signed);
        (whole.min..=whole.max).contains(&value)
    }

    /// Checks width and bounds.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn verify(&self) -> Result<(), String> {
        verify_width(self.width)?;
        let whole = Self::whole(self.width, self.signed);
        if !self.holds(self.min) {
            return Err(format!("illegal storage type minimum: {}, {self} holds {whole:#}", self.min));
        }
        if !self.holds(self.max) {
            return Err(format!("illegal storage type maximum: {}, {self} holds {whole:#}", self.max));
        }
        if self.min >= self.max {
            return Err(format!("illegal storage min and storage max: ({}:{})", self.min, self.max));
        }
        Ok(())
    }

    fn print(&self, out: &mut dyn Write) -> fmt::Result {
        write!(out, "{self}")?;
        if *self == Self::whole(self.width, self.signed) { Ok(()) } else { write!(out, "<{}:{}>", self.min, self.max) }
    }
}

/// The type, or the bounds (`{:#}`).
impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.alternate() {
            true => write!(f, "{} to {}", self.min, self.max),
            false => write!(f, "{}{}", if self.signed { 'i' } else { 'u' }, self.width),
        }
    }
}

/// What a stored integer expresses: `(stored - zero) * scale`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Affine {
    scale: u64,
    /// The stored integer that expresses zero.
    pub zero: i64,
}

impl Affine {
    /// With this scale and zero point.
    pub fn new(scale: f64, zero: i64) -> Self {
        Self { scale: scale.to_bits(), zero }
    }

    /// What the distance between neighbouring integers expresses.
    pub fn scale(&self) -> f64 {
        f64::from_bits(self.scale)
    }
}

/// Which elements of a tensor have which scale and zero point.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Scheme {
    /// All have the same.
    Tensor(Affine),
    /// Elements of one index along a dimension have the same.
    Axis {
        /// The dimension.
        axis: usize,
        /// One per index.
        affine: Vec<Affine>,
    },
    /// Blocks of elements have the same.
    Blocks {
        /// Dimensions, each with the size of blocks along it. Along others a block reaches from end to end.
        sizes: Vec<(usize, i64)>,
        /// How many blocks there are along each dimension.
        counts: Vec<i64>,
        /// One per block, row-major.
        affine: Vec<Affine>,
    },
}

impl Scheme {
    /// All scales and zero points.
    pub fn affine(&self) -> &[Affine] {
        match self {
            Self::Tensor(affine) => std::slice::from_ref(affine),
            Self::Axis { affine, .. } | Self::Blocks { affine, .. } => affine,
        }
    }
}

/// `!quant.uniform<…>`: a number that is stored as an integer, with scales and zero points that say what it expresses.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct UniformType {
    /// As what it is stored.
    pub storage: Storage,
    /// The type of the number that it expresses.
    pub expressed: Type,
    /// Scales and zero points.
    pub scheme: Scheme,
}

/// `!quant.any<…>`: a number that is stored as an integer, of which nothing says what it expresses.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AnyType {
    /// As what it is stored.
    pub storage: Storage,
    /// The type of the number that it expresses.
    pub expressed: Option<Type>,
}

/// `!quant.calibrated<…>`: a float of which bounds are known, before a type is chosen to store it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CalibratedType {
    /// The type of the number.
    pub expressed: Type,
    min: u64,
    max: u64,
}

impl CalibratedType {
    /// With these bounds.
    pub fn new(expressed: Type, min: f64, max: f64) -> Self {
        Self { expressed, min: min.to_bits(), max: max.to_bits() }
    }

    /// The bounds.
    pub fn bounds(&self) -> (f64, f64) {
        (f64::from_bits(self.min), f64::from_bits(self.max))
    }
}

/// Checks the bits of a stored integer.
pub(super) fn verify_width(width: u32) -> Result<(), String> {
    match (1..=MAX_STORAGE_BITS).contains(&width) {
        true => Ok(()),
        false => Err(format!("illegal storage type size: {width}, it must be 1 to {MAX_STORAGE_BITS}")),
    }
}

/// Checks that numbers of the type may be expressed.
pub(super) fn verify_expressed(cx: &Context, expressed: Type) -> Result<(), String> {
    match expressed.is_float(cx) {
        true => Ok(()),
        false => Err(format!("expressed type must be a float, not {}", type_text(cx, expressed))),
    }
}

/// Checks that a scale is a positive number of the expressed type.
pub(super) fn verify_scale(cx: &Context, expressed: Type, scale: f64) -> Result<(), String> {
    let (low, high) = match cx.float_kind(expressed) {
        None | Some(FloatKind::F80 | FloatKind::F128) => (f64::from_bits(1), f64::MAX),
        // It has no zero, so that its first code is a number.
        Some(kind @ FloatKind::F8E8M0FNU) => (float::to_f64(kind, 0), float::largest(kind)),
        Some(kind) => (float::to_f64(kind, 1), float::largest(kind)),
    };
    if (low..=high).contains(&scale) {
        return Ok(());
    }
    let expressed = type_text(cx, expressed);
    Err(format!("scale {scale:e} out of expressed type range [{low:e}, {high:e}] of {expressed}"))
}

/// Checks that a zero point can be stored.
pub(super) fn verify_zero(storage: Storage, zero: i64) -> Result<(), String> {
    let whole = Storage::whole(storage.width, storage.signed);
    if storage.holds(zero) { Ok(()) } else { Err(format!("zero point {zero} does not fit {storage}, {whole:#}")) }
}

/// Checks a dimension and the size of blocks along it.
pub(super) fn verify_block(earlier: &[(usize, i64)], dim: usize, size: i64) -> Result<(), String> {
    if dim >= MAX_RANK {
        return Err(format!("illegal quantized dimension: {dim}, a type has at most {MAX_RANK}"));
    }
    if size <= 0 {
        return Err(format!("illegal block size: {size}"));
    }
    match earlier.iter().any(|(other, _)| *other == dim) {
        true => Err(format!("dimension {dim} has two block sizes")),
        false => Ok(()),
    }
}

/// The scale as the expressed type holds it.
pub(super) fn rounded(cx: &Context, expressed: Type, scale: f64) -> f64 {
    match cx.float_kind(expressed) {
        None | Some(FloatKind::F80 | FloatKind::F128) => scale,
        Some(kind) => float::to_f64(kind, float::from_f64(kind, scale)),
    }
}

/// A number as upstream writes one of type `ty`, without the type.
fn print_number(cx: &Context, value: f64, ty: Type, out: &mut dyn Write) -> fmt::Result {
    let text = attr_text(cx, cx.float_attr(value, ty));
    out.write_str(text.split(" : ").next().unwrap_or_default())
}

fn print_affine(cx: &Context, affine: &Affine, ty: Type, out: &mut dyn Write) -> fmt::Result {
    print_number(cx, affine.scale(), ty, out)?;
    if affine.zero == 0 { Ok(()) } else { write!(out, ":{}", affine.zero) }
}

impl UniformType {
    /// The type in which scales of blocks are written; those of others are written as `f64`.
    fn scale_type(&self, cx: &Context) -> Type {
        let wide = matches!(cx.float_kind(self.expressed), None | Some(FloatKind::F80 | FloatKind::F128));
        if wide || !matches!(self.scheme, Scheme::Blocks { .. }) { Type::F64 } else { self.expressed }
    }

    /// Lists of lists of scales, one level per dimension.
    fn print_blocks(&self, cx: &Context, counts: &[i64], affine: &[Affine], out: &mut dyn Write) -> fmt::Result {
        let Some((count, inner)) = counts.split_first() else {
            return print_affine(cx, &affine[0], self.scale_type(cx), out);
        };
        out.write_char('{')?;
        let size = affine.len() / usize::try_from(*count).unwrap_or(1).max(1);
        for (i, part) in affine.chunks(size.max(1)).enumerate() {
            if i > 0 {
                out.write_str(", ")?;
            }
            self.print_blocks(cx, inner, part, out)?;
        }
        out.write_char('}')
    }
}

impl ParamValue for UniformType {
    const NAME: &'static str = "quant.uniform";

    fn print(&self, cx: &Context, out: &mut dyn Write) -> fmt::Result {
        out.write_char('<')?;
        self.storage.print(out)?;
        write!(out, ":{}", type_text(cx, self.expressed))?;
        match &self.scheme {
            Scheme::Tensor(affine) => {
                out.write_str(", ")?;
                print_affine(cx, affine, Type::F64, out)?;
            }
            Scheme::Axis { axis, affine } => {
                write!(out, ":{axis}, {{")?;
                for (i, affine) in affine.iter().enumerate() {
                    if i > 0 {
                        out.write_char(',')?;
                    }
                    print_affine(cx, affine, Type::F64, out)?;
                }
                out.write_char('}')?;
            }
            Scheme::Blocks { sizes, counts, affine } => {
                let sizes: Vec<String> = sizes.iter().map(|(dim, size)| format!("{dim}:{size}")).collect();
                write!(out, ":{{{}}}, ", sizes.join(", "))?;
                self.print_blocks(cx, counts, affine, out)?;
            }
        }
        out.write_char('>')
    }

    fn storage(&self) -> Option<TypeData> {
        Some(self.storage.element())
    }

    fn verify(&self, cx: &Context) -> Result<(), String> {
        self.storage.verify()?;
        verify_expressed(cx, self.expressed)?;
        for affine in self.scheme.affine() {
            verify_scale(cx, self.expressed, affine.scale())?;
            verify_zero(self.storage, affine.zero)?;
        }
        match &self.scheme {
            Scheme::Tensor(_) => Ok(()),
            Scheme::Axis { axis, affine } if affine.is_empty() || *axis >= MAX_RANK => {
                Err(format!("dimension {axis} with {} scales", affine.len()))
            }
            Scheme::Axis { .. } => Ok(()),
            Scheme::Blocks { sizes, counts, affine } => {
                for (i, (dim, size)) in sizes.iter().enumerate() {
                    verify_block(&sizes[..i], *dim, *size)?;
                }
                let product = counts.iter().try_fold(1i64, |product, count| product.checked_mul(*count));
                let fits = !counts.is_empty() && counts.len() <= MAX_RANK && product == Some(affine.len() as i64);
                if fits && !affine.is_empty() { Ok(()) } else { Err("has no scale for each block".to_owned()) }
            }
        }
    }
}

impl ParamValue for AnyType {
    const NAME: &'static str = "quant.any";

    fn print(&self, cx: &Context, out: &mut dyn Write) -> fmt::Result {
        out.write_char('<')?;
        self.storage.print(out)?;
        if let Some(expressed) = self.expressed {
            write!(out, ":{}", type_text(cx, expressed))?;
        }
        out.write_char('>')
    }

    fn storage(&self) -> Option<TypeData> {
        Some(self.storage.element())
    }

    fn verify(&self, cx: &Context) -> Result<(), String> {
        self.storage.verify()?;
        self.expressed.map_or(Ok(()), |expressed| verify_expressed(cx, expressed))
    }
}

impl ParamValue for CalibratedType {
    const NAME: &'static str = "quant.calibrated";

    fn print(&self, cx: &Context, out: &mut dyn Write) -> fmt::Result {
        let (min, max) = self.bounds();
        write!(out, "<{}<", type_text(cx, self.expressed))?;
        print_number(cx, min, Type::F64, out)?;
        out.write_char(':')?;
        print_number(cx, max, Type::F64, out)?;
        out.write_str(">>")
    }

    fn verify(&self, cx: &Context) -> Result<(), String> {
        verify_expressed(cx, self.expressed)?;
        let (min, max) = self.bounds();
        if min < max && min.is_finite() && max.is_finite() {
            Ok(())
        } else {
            Err(format!("illegal min and max: ({min:e}:{max:e})"))
        }
    }
}
