//! Attributes of the arith dialect: predicates, flags, rounding modes.

use sutura_ir::Type;

sutura_ir::keyword_attrs! {
    /// Comparisons of integers.
    pub enum CmpIPredicate(Type::I64) = "allowed 64-bit signless integer cases: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9";
    {
        /// Equal.
        Eq = 0 => "eq",
        /// Not equal.
        Ne = 1 => "ne",
        /// Signed less than.
        Slt = 2 => "slt",
        /// Signed less than or equal.
        Sle = 3 => "sle",
        /// Signed greater than.
        Sgt = 4 => "sgt",
        /// Signed greater than or equal.
        Sge = 5 => "sge",
        /// Unsigned less than.
        Ult = 6 => "ult",
        /// Unsigned less than or equal.
        Ule = 7 => "ule",
        /// Unsigned greater than.
        Ugt = 8 => "ugt",
        /// Unsigned greater than or equal.
        Uge = 9 => "uge",
    }

    /// Comparisons of floats; the ordered ones are false, the unordered ones true when an operand is NaN.
    pub enum CmpFPredicate(Type::I64) =
        "allowed 64-bit signless integer cases: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15";
    {
        /// Never.
        False = 0 => "false",
        /// Ordered and equal.
        Oeq = 1 => "oeq",
        /// Ordered and greater than.
        Ogt = 2 => "ogt",
        /// Ordered and greater than or equal.
        Oge = 3 => "oge",
        /// Ordered and less than.
        Olt = 4 => "olt",
        /// Ordered and less than or equal.
        Ole = 5 => "ole",
        /// Ordered and not equal.
        One = 6 => "one",
        /// Ordered: no operand is NaN.
        Ord = 7 => "ord",
        /// Unordered or equal.
        Ueq = 8 => "ueq",
        /// Unordered or greater than.
        Ugt = 9 => "ugt",
        /// Unordered or greater than or equal.
        Uge = 10 => "uge",
        /// Unordered or less than.
        Ult = 11 => "ult",
        /// Unordered or less than or equal.
        Ule = 12 => "ule",
        /// Unordered or not equal.
        Une = 13 => "une",
        /// Unordered: an operand is NaN.
        Uno = 14 => "uno",
        /// Always.
        True = 15 => "true",
    }

    /// Rounding of floats.
    pub enum RoundingMode(Type::I32) = "Floating point rounding mode";
    {
        /// To the nearest, ties to even.
        ToNearestEven = 0 => "to_nearest_even",
        /// Toward negative infinity.
        Downward = 1 => "downward",
        /// Toward positive infinity.
        Upward = 2 => "upward",
        /// Toward zero.
        TowardZero = 3 => "toward_zero",
        /// To the nearest, ties away from zero.
        ToNearestAway = 4 => "to_nearest_away",
    }
}

sutura_ir::bit_enum_attr! {
    /// What may be assumed about floats, and what may be traded for speed.
    pub struct FastMathFlags = "arith.fastmath", ",", "Floating point fast math flags";
    {
        /// Operations may be reassociated.
        REASSOC = 0 => "reassoc",
        /// No operand or result is NaN.
        NNAN = 1 => "nnan",
        /// No operand or result is infinite.
        NINF = 2 => "ninf",
        /// The sign of a zero does not matter.
        NSZ = 3 => "nsz",
        /// A division may become a multiplication by the reciprocal.
        ARCP = 4 => "arcp",
        /// Operations may be contracted, as multiplication and addition into one.
        CONTRACT = 5 => "contract",
        /// Functions may be approximated.
        AFN = 6 => "afn",
    } all "fast"
}

sutura_ir::bit_enum_attr! {
    /// Which overflows do not happen; one that does makes the result poison.
    pub struct IntegerOverflowFlags = "arith.overflow", ", ", "Integer overflow arith flags";
    {
        /// No signed overflow.
        NSW = 0 => "nsw",
        /// No unsigned overflow.
        NUW = 1 => "nuw",
    }
}

impl CmpIPredicate {
    /// The predicate that holds for `(b, a)` when this one does for `(a, b)`.
    #[must_use]
    pub fn swapped(self) -> Self {
        use CmpIPredicate::*;
        match self {
            Eq | Ne => self,
            Slt => Sgt,
            Sle => Sge,
            Sgt => Slt,
            Sge => Sle,
            Ult => Ugt,
            Ule => Uge,
            Ugt => Ult,
            Uge => Ule,
        }
    }

    /// The predicate that holds when this one does not.
    #[must_use]
    pub fn inverted(self) -> Self {
        use CmpIPredicate::*;
        match self {
            Eq => Ne,
            Ne => Eq,
            Slt => Sge,
            Sle => Sgt,
            Sgt => Sle,
            Sge => Slt,
            Ult => Uge,
            Ule => Ugt,
            Ugt => Ule,
            Uge => Ult,
        }
    }

    /// Compares two integers of `width` bits, given sign-extended.
    pub fn compare(self, a: i64, b: i64, width: u32) -> bool {
        use CmpIPredicate::*;
        let mask = u64::MAX >> (64 - width.clamp(1, 64));
        let (ua, ub) = (a as u64 & mask, b as u64 & mask);
        match self {
            Eq => a == b,
            Ne => a != b,
            Slt => a < b,
            Sle => a <= b,
            Sgt => a > b,
            Sge => a >= b,
            Ult => ua < ub,
            Ule => ua <= ub,
            Ugt => ua > ub,
            Uge => ua >= ub,
        }
    }
}

impl CmpFPredicate {
    /// Compares two floats.
    pub fn compare(self, a: f64, b: f64) -> bool {
        use CmpFPredicate::*;
        let unordered = a.is_nan() || b.is_nan();
        match self {
            False => false,
            Oeq => a == b,
            Ogt => a > b,
            Oge => a >= b,
            Olt => a < b,
            Ole => a <= b,
            One => !unordered && a != b,
            Ord => !unordered,
            Ueq => unordered || a == b,
            Ugt => unordered || a > b,
            Uge => unordered || a >= b,
            Ult => unordered || a < b,
            Ule => unordered || a <= b,
            Une => unordered || a != b,
            Uno => unordered,
            True => true,
        }
    }
}
