//! Types of elements: one table that says what each level does with them.
//!
//! A tensor's elements are *stored* in the type that it names. Functions of elements are of *scalars*: integers are signless
//! there, as in `arith`, and the op says whether it takes them as unsigned. Kernels read memory as the *memory* type, which a
//! machine can load; `legalize-elements` puts it in the place of the others.

use sutura_ir::types::{FloatKind, Signedness, TypeData};
use sutura_ir::{Context, Type};

/// What an element of a type is and becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementPolicy {
    /// The type, as the IR writes it.
    pub name: &'static str,
    /// The type.
    pub stored: TypeData,
    /// The type of one element where functions of elements take and make it.
    pub scalar: TypeData,
    /// The type in which functions of elements are computed.
    pub computed: TypeData,
    /// The type in which elements are accumulated.
    pub accumulated: TypeData,
    /// The type as which kernels load and store it, of complex numbers each part; `None` where nothing is compiled for it.
    pub memory: Option<TypeData>,
    /// An integer without sign.
    pub unsigned: bool,
}

const fn signless(width: u32) -> TypeData {
    TypeData::Integer { width, sign: Signedness::Signless }
}

const fn unsigned(width: u32) -> TypeData {
    TypeData::Integer { width, sign: Signedness::Unsigned }
}

const F32: TypeData = TypeData::Float(FloatKind::F32);

/// An integer of two's complement. One of less than a byte has a byte in memory, of which the low bits count.
const fn int(name: &'static str, width: u32) -> ElementPolicy {
    let ty = signless(width);
    let accumulated = if width > 1 && width < 32 { signless(32) } else { ty };
    let memory = if width == 1 || width >= 8 { ty } else { signless(8) };
    ElementPolicy { name, stored: ty, scalar: ty, computed: ty, accumulated, memory: Some(memory), unsigned: false }
}

const fn uint(name: &'static str, width: u32) -> ElementPolicy {
    ElementPolicy { name, stored: unsigned(width), unsigned: true, ..int(name, width) }
}

/// A float that machines load; a narrow one is computed and accumulated as `f32`, and rounded to nearest even where it is stored.
const fn float(name: &'static str, kind: FloatKind) -> ElementPolicy {
    let ty = TypeData::Float(kind);
    let computed = if matches!(kind, FloatKind::F32 | FloatKind::F64) { ty } else { F32 };
    let accumulated = computed;
    ElementPolicy { name, stored: ty, scalar: ty, computed, accumulated, memory: Some(ty), unsigned: false }
}

/// A float of at most one byte, which kernels read as a byte: of one of less than 8 bits the low bits count.
const fn byte_float(name: &'static str, kind: FloatKind) -> ElementPolicy {
    ElementPolicy { memory: Some(signless(8)), ..float(name, kind) }
}

/// Complex numbers, which kernels read as pairs of their parts, real before imaginary.
const fn complex(name: &'static str, part: Type) -> ElementPolicy {
    let ty = TypeData::Complex(part);
    let kind = if matches!(part, Type::F32) { FloatKind::F32 } else { FloatKind::F64 };
    let memory = Some(TypeData::Float(kind));
    ElementPolicy { name, stored: ty, scalar: ty, computed: ty, accumulated: ty, memory, unsigned: false }
}

/// The table.
pub const ELEMENTS: &[ElementPolicy] = &[
    int("i1", 1),
    int("i2", 2),
    int("i4", 4),
    int("i8", 8),
    int("i16", 16),
    int("i32", 32),
    int("i64", 64),
    uint("ui2", 2),
    uint("ui4", 4),
    uint("ui8", 8),
    uint("ui16", 16),
    uint("ui32", 32),
    uint("ui64", 64),
    byte_float("f4E2M1FN", FloatKind::F4E2M1FN),
    byte_float("f8E4M3FN", FloatKind::F8E4M3FN),
    byte_float("f8E4M3FNUZ", FloatKind::F8E4M3FNUZ),
    byte_float("f8E5M2", FloatKind::F8E5M2),
    byte_float("f8E5M2FNUZ", FloatKind::F8E5M2FNUZ),
    byte_float("f8E8M0FNU", FloatKind::F8E8M0FNU),
    float("bf16", FloatKind::BF16),
    float("f16", FloatKind::F16),
    float("f32", FloatKind::F32),
    float("f64", FloatKind::F64),
    complex("complex<f32>", Type::F32),
    complex("complex<f64>", Type::F64),
];

/// The policy for elements of type `ty`; `None` for a type that is in no table, `index` among them, and quantized ones: they are stored
/// as the row of their storage says and computed with as that of what they express, see [`stored`] and [`crate::quant::numbers`].
pub fn policy(cx: &Context, ty: Type) -> Option<&'static ElementPolicy> {
    let data = cx.type_data(ty);
    ELEMENTS.iter().find(|policy| policy.stored == data)
}

/// The type as which elements of type `ty` are stored where a quantized type names another one.
pub fn stored(cx: &Context, ty: Type) -> Type {
    cx.storage_type(ty).unwrap_or(ty)
}

/// The type of a number that stands for an element of type `elem` where one is written: for a stored integer it is that integer.
pub fn written_type(cx: &Context, elem: Type) -> Type {
    scalar_type(cx, stored(cx, elem))
}

/// Bits of an element where kernels see it: one of 2 to 7 bits has a byte, of which the low bits count.
pub fn memory_bits(cx: &Context, elem: Type) -> Option<u32> {
    let bits = cx.bit_width(elem)?;
    Some(if (2..8).contains(&bits) { 8 } else { bits })
}

/// The type of one element of type `elem` in a function of elements.
pub fn scalar_type(cx: &Context, elem: Type) -> Type {
    policy(cx, elem).map_or(elem, |policy| cx.ty(policy.scalar))
}

/// The type in which scalars of elements of type `elem` are accumulated: at least 32 bits wide. `i1` is left as it is.
pub fn accumulator_type(cx: &Context, elem: Type) -> Type {
    policy(cx, elem).map_or(elem, |policy| cx.ty(policy.accumulated))
}

/// Bits of the elements of which vectors of a function of such scalars hold as many as a register does. Those of integers of one width
/// below 32 bits, and no float, are of that width; a truth value has a byte, as in memory. All others have as many elements as
/// vectors of `f32`: 64-bit elements have two registers side by side, which wait less than one (`docs/performance.md`), and
/// numbers of several widths are converted, or are indices beside elements.
pub fn lane_bits(cx: &Context, scalars: impl IntoIterator<Item = Type>) -> u32 {
    const ANY: u32 = 32;
    let mut width = None;
    for ty in scalars {
        match policy(cx, ty).map(|policy| policy.computed) {
            Some(TypeData::Integer { width: bits, .. }) if bits < ANY => {
                let bits = bits.max(8);
                if width.is_some_and(|width| width != bits) {
                    return ANY;
                }
                width = Some(bits);
            }
            Some(_) => return ANY,
            // An index, or no number.
            None => {}
        }
    }
    width.unwrap_or(ANY)
}

/// True for integers without sign.
pub fn is_unsigned(cx: &Context, elem: Type) -> bool {
    policy(cx, elem).is_some_and(|policy| policy.unsigned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complex::part_type;
    use crate::quant::{Affine, Scheme, Storage, UniformType};
    use sutura_ir::asm::print::type_text;

    #[test]
    fn names_are_those_of_the_types() {
        let cx = Context::new(crate::all());
        for row in ELEMENTS {
            assert_eq!(type_text(&cx, cx.ty(row.stored)), row.name);
            assert_eq!(policy(&cx, cx.ty(row.stored)), Some(row));
        }
    }

    #[test]
    fn a_scalar_has_the_bits_of_its_element_and_no_sign() {
        let cx = Context::new(crate::all());
        for row in ELEMENTS {
            let (stored, scalar) = (cx.ty(row.stored), cx.ty(row.scalar));
            assert_eq!(cx.bit_width(stored), cx.bit_width(scalar), "{}", row.name);
            assert!(!is_unsigned(&cx, scalar), "{}", row.name);
            if let Some(part) = part_type(&cx, stored) {
                assert_eq!((scalar, row.memory.map(|memory| cx.ty(memory))), (stored, Some(part)), "{}", row.name);
                continue;
            }
            let memory = row.memory.map(|memory| cx.bit_width(cx.ty(memory)));
            let bytes = cx.bit_width(stored).map(|bits| if bits == 1 { 1 } else { bits.max(8) });
            assert!(memory.is_none_or(|bits| bits == bytes), "{}", row.name);
        }
    }

    #[test]
    fn a_quantized_element_is_stored_as_an_integer_and_has_no_row() {
        let cx = Context::new(crate::all());
        let scheme = Scheme::Tensor(Affine::new(0.5, 3));
        let ty = cx.ext_type(UniformType { storage: Storage::whole(8, false), expressed: Type::F32, scheme });
        assert_eq!((policy(&cx, ty), memory_bits(&cx, ty)), (None, None));
        assert_eq!(type_text(&cx, stored(&cx, ty)), "ui8");
        assert_eq!((written_type(&cx, ty), scalar_type(&cx, ty)), (Type::I8, ty));
        assert_eq!((stored(&cx, Type::F32), written_type(&cx, Type::F32)), (Type::F32, Type::F32));
    }

    #[test]
    fn vectors_hold_as_many_narrow_integers_as_a_register() {
        let cx = Context::new(crate::all());
        let bits = |names: &[&str]| {
            let ty = |name: &&str| {
                ELEMENTS.iter().find(|row| row.name == *name).map_or(Type::INDEX, |row| cx.ty(row.stored))
            };
            lane_bits(&cx, names.iter().map(ty))
        };
        for (names, expected) in [
            (&["i8", "i1", "index"][..], 8),
            (&["i1"], 8),
            (&["ui8"], 8),
            (&["i4", "i8"], 8),
            (&["i16", "i16"], 16),
            (&["i8", "i16"], 32),
            (&["i8", "i64"], 32),
            (&["i8", "f32"], 32),
            (&["f8E5M2"], 32),
            (&["f64"], 32),
            (&["i64"], 32),
            (&["index"], 32),
            (&[], 32),
        ] {
            assert_eq!(bits(names), expected, "{names:?}");
        }
    }

    #[test]
    fn the_table_of_the_documentation_is_this_one() {
        let cx = Context::new(crate::all());
        let name = |ty: TypeData| format!("`{}`", type_text(&cx, cx.ty(ty)));
        let row = |row: &ElementPolicy| {
            let pair = if part_type(&cx, cx.ty(row.stored)).is_some() { "pairs of " } else { "" };
            let memory = row.memory.map_or("nothing is compiled".to_owned(), |memory| pair.to_owned() + &name(memory));
            let types = [row.stored, row.scalar, row.computed, row.accumulated].map(name);
            format!("| {} | {memory} |", types.join(" | "))
        };
        let rows: Vec<String> = ELEMENTS.iter().map(row).collect();
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join("docs/sutura.md");
        let page = std::fs::read_to_string(path).expect("the page is there");
        assert!(page.contains(&rows.join("\n")), "docs/sutura.md must hold\n{}", rows.join("\n"));
    }
}
