//! Types of the dialect, read.

use sutura_ir::asm::parse::ParamParser;
use sutura_ir::diagnostics::Reported;
use sutura_ir::ext::ParamValue;
use sutura_ir::types::{FloatKind, MAX_RANK, TypeData};
use sutura_ir::{Loc, Type};

use super::types::{
    Affine, AnyType, CalibratedType, Scheme, Storage, UniformType, rounded, verify_block, verify_expressed,
    verify_scale, verify_width, verify_zero,
};

type Parser<'a> = &'a mut dyn ParamParser;

fn check(p: Parser<'_>, loc: Loc, checked: Result<(), String>) -> Result<(), Reported> {
    checked.map_err(|message| p.error_at(loc, &message))
}

/// `i8`, `u8`, `i8<-8:7>`; `si8` and `ui8` are read too.
fn storage(p: Parser<'_>) -> Result<Storage, Reported> {
    let loc = p.loc();
    let word = p.opt_any_keyword().unwrap_or_default();
    let (signed, digits) = match word.as_bytes() {
        [b's', b'i', ..] => (true, &word[2..]),
        [b'u', b'i', ..] => (false, &word[2..]),
        [b'i', ..] => (true, &word[1..]),
        [b'u', ..] => (false, &word[1..]),
        _ => return Err(p.error_at(loc, "expected a storage type: iN, or uN for integers without sign")),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(p.error_at(loc, &format!("illegal storage type '{word}': expected iN, or uN without sign")));
    }
    // A width beyond u32 is beyond the bound that is checked.
    let width = digits.parse().unwrap_or(u32::MAX);
    check(p, loc, verify_width(width))?;
    let whole = Storage::whole(width, signed);
    if !p.opt_punct("<") {
        return Ok(whole);
    }
    let loc = p.loc();
    let min = p.int()?;
    p.punct(":")?;
    let max = p.int()?;
    p.punct(">")?;
    let storage = Storage { min, max, ..whole };
    check(p, loc, storage.verify())?;
    Ok(storage)
}

fn expressed(p: Parser<'_>) -> Result<Type, Reported> {
    let loc = p.loc();
    // A word alone: bounds may follow in the brackets that other types have.
    let Some(word) = p.opt_any_keyword() else {
        let ty = p.ty()?;
        let checked = verify_expressed(p.cx(), ty);
        check(p, loc, checked)?;
        return Ok(ty);
    };
    match FloatKind::from_keyword(&word) {
        Some(kind) => Ok(p.cx().ty(TypeData::Float(kind))),
        None => Err(p.error_at(loc, &format!("expressed type must be a float, not {word}"))),
    }
}

/// A number with a dot, or the bits of one.
fn number(p: Parser<'_>) -> Result<f64, Reported> {
    let loc = p.loc();
    const WANTED: &str = "expected floating point literal";
    if p.opt_punct("{") {
        return Err(p.error_at(loc, WANTED));
    }
    let value = p.opt_attr(Some(Type::F64))?.and_then(|attr| match p.cx().attr_data(attr) {
        sutura_ir::AttrData::Float { ty: Type::F64, bits } => Some(f64::from_bits(bits)),
        _ => None,
    });
    value.ok_or_else(|| p.error_at(loc, WANTED))
}

/// `scale` or `scale:zero`.
fn affine(p: Parser<'_>, storage: Storage, expressed: Type, in_blocks: bool) -> Result<Affine, Reported> {
    let loc = p.loc();
    let scale = number(p)?;
    let checked = verify_scale(p.cx(), expressed, scale);
    check(p, loc, checked)?;
    // Upstream keeps scales of blocks as numbers of the expressed type.
    let scale = if in_blocks { rounded(p.cx(), expressed, scale) } else { scale };
    if !p.opt_punct(":") {
        return Ok(Affine::new(scale, 0));
    }
    let loc = p.loc();
    let mut zero = p.int()?;
    // Upstream writes zero points of blocks with a sign where they have none.
    if in_blocks && !storage.signed && zero < 0 && Storage::whole(storage.width, true).holds(zero) {
        zero += 1 << storage.width;
    }
    check(p, loc, verify_zero(storage, zero))?;
    Ok(Affine::new(scale, zero))
}

/// `!quant.uniform<…>`
pub(super) fn uniform(p: Parser<'_>) -> Result<Type, Reported> {
    p.punct("<")?;
    let storage = storage(p)?;
    p.punct(":")?;
    let expressed = expressed(p)?;
    let scheme = match p.opt_punct(":") {
        false => {
            p.punct(",")?;
            Scheme::Tensor(affine(p, storage, expressed, false)?)
        }
        true if p.opt_punct("{") => blocks(p, storage, expressed)?,
        true => axis(p, storage, expressed)?,
    };
    p.punct(">")?;
    let ty = UniformType { storage, expressed, scheme };
    let (start, checked) = (p.start(), ty.verify(p.cx()));
    check(p, start, checked)?;
    Ok(p.cx().ext_type(ty))
}

/// A dimension.
fn dimension(p: Parser<'_>) -> Result<usize, Reported> {
    let loc = p.loc();
    let dim = p.int()?;
    let fits = usize::try_from(dim).ok().filter(|dim| *dim < MAX_RANK);
    fits.ok_or_else(|| {
        p.error_at(loc, &format!("illegal quantized dimension: {dim}, it must be at least 0 and below {MAX_RANK}"))
    })
}

/// `1, {2.0:10, 3.0}`
fn axis(p: Parser<'_>, storage: Storage, expressed: Type) -> Result<Scheme, Reported> {
    let axis = dimension(p)?;
    p.punct(",")?;
    let mut all = Vec::new();
    p.punct("{")?;
    loop {
        all.push(affine(p, storage, expressed, false)?);
        if !p.opt_punct(",") {
            break;
        }
    }
    p.punct("}")?;
    Ok(Scheme::Axis { axis, affine: all })
}

/// `0:2, 1:4}, {{…}, {…}}`
fn blocks(p: Parser<'_>, storage: Storage, expressed: Type) -> Result<Scheme, Reported> {
    let mut sizes = Vec::new();
    while !p.opt_punct("}") {
        if !sizes.is_empty() {
            p.punct(",")?;
        }
        let loc = p.loc();
        let dim = dimension(p)?;
        p.punct(":")?;
        let size = p.int()?;
        check(p, loc, verify_block(&sizes, dim, size))?;
        sizes.push((dim, size));
    }
    p.punct(",")?;
    p.punct("{")?;
    let mut reader = Nested { storage, expressed, affine: Vec::new() };
    let counts = reader.list(p, 1)?;
    Ok(Scheme::Blocks { sizes, counts, affine: reader.affine })
}

/// Reads lists of lists of scales.
struct Nested {
    storage: Storage,
    expressed: Type,
    affine: Vec<Affine>,
}

impl Nested {
    /// What follows `{`: the sizes of the lists, outermost first.
    fn list(&mut self, p: Parser<'_>, depth: usize) -> Result<Vec<i64>, Reported> {
        if depth > MAX_RANK {
            return Err(p.error(&format!("scales are nested deeper than a type has dimensions, {MAX_RANK}")));
        }
        let (mut count, mut inner) = (0, None);
        loop {
            let loc = p.loc();
            let sizes = if p.opt_punct("{") {
                self.list(p, depth + 1)?
            } else {
                self.affine.push(affine(p, self.storage, self.expressed, true)?);
                Vec::new()
            };
            if inner.get_or_insert_with(|| sizes.clone()) != &sizes {
                let message = "tensor literal is invalid; ranks are not consistent between elements";
                return Err(p.error_at(loc, message));
            }
            count += 1;
            if !p.opt_punct(",") {
                p.punct("}")?;
                let mut all = vec![count];
                all.extend(inner.unwrap_or_default());
                return Ok(all);
            }
        }
    }
}

/// `!quant.any<…>`
pub(super) fn any(p: Parser<'_>) -> Result<Type, Reported> {
    p.punct("<")?;
    let storage = storage(p)?;
    let expressed = if p.opt_punct(":") { Some(expressed(p)?) } else { None };
    p.punct(">")?;
    Ok(p.cx().ext_type(AnyType { storage, expressed }))
}

/// `!quant.calibrated<f32<-1.0:1.0>>`
pub(super) fn calibrated(p: Parser<'_>) -> Result<Type, Reported> {
    p.punct("<")?;
    let expressed = expressed(p)?;
    p.punct("<")?;
    let loc = p.loc();
    let min = number(p)?;
    p.punct(":")?;
    let max = number(p)?;
    p.punct(">")?;
    p.punct(">")?;
    let ty = CalibratedType::new(expressed, min, max);
    let checked = ty.verify(p.cx());
    check(p, loc, checked)?;
    Ok(p.cx().ext_type(ty))
}
