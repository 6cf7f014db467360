//! Types of elements, as the generator uses them: those of the table for which something is compiled.

use sutura_dialects::elements::{ELEMENTS, ElementPolicy};
use sutura_interp::random::Random;
use sutura_interp::{DType, Scalar};
use sutura_ir::Type;
use sutura_ir::types::{FloatKind, TypeData};

/// A type of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Elem(&'static ElementPolicy);

/// What its values are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Int {
        width: u32,
        unsigned: bool,
    },
    Float(FloatKind),
    /// With parts of this type.
    Complex(FloatKind),
}

impl Elem {
    /// All that are compiled.
    pub(crate) fn all() -> Vec<Self> {
        let compiled = ELEMENTS.iter().filter(|policy| policy.memory.is_some() && kind(policy).is_some());
        compiled.map(Elem).collect()
    }

    /// The one of a name.
    pub(crate) fn named(name: &str) -> Self {
        Self::all().into_iter().find(|elem| elem.name() == name).expect("a type of the table")
    }

    /// The type as text, of a tensor's elements.
    pub(crate) fn name(self) -> &'static str {
        self.0.name
    }

    /// The type as text, of a number.
    pub(crate) fn scalar(self) -> &'static str {
        let own = |policy: &&ElementPolicy| policy.stored == self.0.scalar;
        ELEMENTS.iter().find(own).expect("scalars are elements too").name
    }

    pub(crate) fn kind(self) -> Kind {
        kind(self.0).expect("only such are taken")
    }

    /// The type of the parts of a complex one, else this one.
    pub(crate) fn part(self) -> Self {
        match self.kind() {
            Kind::Complex(kind) => Self::named(kind.keyword()),
            Kind::Int { .. } | Kind::Float(_) => self,
        }
    }

    /// How many parts it has.
    pub(crate) fn parts(self) -> u8 {
        if matches!(self.kind(), Kind::Complex(_)) { 2 } else { 1 }
    }

    /// Whether its arithmetic rounds.
    pub(crate) fn rounds(self) -> bool {
        !matches!(self.kind(), Kind::Int { .. })
    }

    pub(crate) fn is_unsigned(self) -> bool {
        self.0.unsigned
    }

    pub(crate) fn dtype(self) -> DType {
        match self.kind() {
            Kind::Int { width, unsigned } => DType::Int { width: width as u8, unsigned },
            Kind::Float(kind) => DType::Float(kind),
            Kind::Complex(kind) => DType::Complex(kind),
        }
    }

    /// Has powers of two only: no zero, no sign, nothing to compute with.
    pub(crate) fn is_power(self) -> bool {
        self.kind() == Kind::Float(FloatKind::F8E8M0FNU)
    }

    /// From 1 to the next number.
    pub(crate) fn epsilon(self) -> f64 {
        let (Kind::Float(kind) | Kind::Complex(kind)) = self.kind() else { return 0.0 };
        let one = Scalar::float(1.0, kind);
        Scalar::from_bits(DType::Float(kind), one.bits() + 1).as_f64().map_or(0.0, |next| next - 1.0)
    }

    /// A bound of which twice is still a number.
    pub(crate) fn most(self) -> f64 {
        let (Kind::Float(kind) | Kind::Complex(kind)) = self.kind() else { return f64::INFINITY };
        let exact = |e: &i32| Scalar::float(2f64.powi(*e), kind).as_f64() == Some(2f64.powi(*e));
        let exponent = (0..100).take_while(exact).last().unwrap_or(0);
        2f64.powi(exponent - 1)
    }

    /// A random element. Floats, and parts of complex numbers, are quarters up to 2, as near as the type has them.
    pub(crate) fn random(self, random: &mut Random) -> Scalar {
        match self.kind() {
            Kind::Int { .. } => random.scalar(self.dtype()),
            Kind::Float(kind) if self.is_power() => Scalar::float(2f64.powi(random.range(-2, 3) as i32), kind),
            Kind::Float(kind) => Scalar::float(random.range(-8, 8) as f64 / 4.0, kind),
            Kind::Complex(kind) => {
                let mut part = || Scalar::float(random.range(-8, 8) as f64 / 4.0, kind).bits();
                Scalar::complex(kind, [part(), part()])
            }
        }
    }
}

fn kind(policy: &ElementPolicy) -> Option<Kind> {
    match policy.stored {
        TypeData::Integer { width, .. } => Some(Kind::Int { width, unsigned: policy.unsigned }),
        TypeData::Float(kind) => Some(Kind::Float(kind)),
        TypeData::Complex(Type::F32) => Some(Kind::Complex(FloatKind::F32)),
        TypeData::Complex(Type::F64) => Some(Kind::Complex(FloatKind::F64)),
        _ => None,
    }
}
