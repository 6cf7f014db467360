//! The scalar functions that tile operations apply.

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal => $scalar:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)*
        }

        impl $name {
            /// Every kind, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Spelling in the text form.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Name of the scalar operation that it applies to each element.
            pub fn scalar_op(self) -> &'static str {
                match self { $(Self::$variant => $scalar,)* }
            }

            /// The kind spelt `text`.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|k| k.as_str() == text)
            }

            /// The kind that applies the scalar operation `name`.
            pub fn of_scalar_op(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|k| k.scalar_op() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

kinds! {
    /// Functions of one element.
    UnaryKind {
        /// Negation.
        Neg = "neg" => "arith.negf",
        /// Absolute value.
        Abs = "abs" => "math.absf",
        /// Absolute value of an integer.
        AbsI = "absi" => "math.absi",
        /// e to the x.
        Exp = "exp" => "math.exp",
        /// 2 to the x.
        Exp2 = "exp2" => "math.exp2",
        /// e to the x, less one.
        Expm1 = "expm1" => "math.expm1",
        /// Natural logarithm.
        Log = "log" => "math.log",
        /// Natural logarithm of one more.
        Log1p = "log1p" => "math.log1p",
        /// Logarithm to base 10.
        Log10 = "log10" => "math.log10",
        /// Logarithm to base 2.
        Log2 = "log2" => "math.log2",
        /// Hyperbolic tangent.
        Tanh = "tanh" => "math.tanh",
        /// Error function.
        Erf = "erf" => "math.erf",
        /// Square root.
        Sqrt = "sqrt" => "math.sqrt",
        /// Reciprocal of the square root.
        Rsqrt = "rsqrt" => "math.rsqrt",
        /// Sine.
        Sin = "sin" => "math.sin",
        /// Cosine.
        Cos = "cos" => "math.cos",
        /// Tangent.
        Tan = "tan" => "math.tan",
        /// Arctangent.
        Atan = "atan" => "math.atan",
        /// Cube root.
        Cbrt = "cbrt" => "math.cbrt",
        /// Largest integer not above.
        Floor = "floor" => "math.floor",
        /// Smallest integer not below.
        Ceil = "ceil" => "math.ceil",
        /// Nearest integer, ties to even.
        RoundEven = "roundeven" => "math.roundeven",
        /// Nearest integer, ties away from zero.
        Round = "round" => "math.round",
        /// Integer part.
        Trunc = "trunc" => "math.trunc",
    }
}

kinds! {
    /// Functions of two elements.
    BinaryKind {
        /// Float sum.
        Add = "add" => "arith.addf",
        /// Float difference.
        Sub = "sub" => "arith.subf",
        /// Float product.
        Mul = "mul" => "arith.mulf",
        /// Float quotient.
        Div = "div" => "arith.divf",
        /// Float remainder, sign of the dividend.
        Rem = "rem" => "arith.remf",
        /// Larger float, NaN if either is.
        Max = "max" => "arith.maximumf",
        /// Smaller float, NaN if either is.
        Min = "min" => "arith.minimumf",
        /// Larger float, the other if one is NaN.
        MaxNum = "maxnum" => "arith.maxnumf",
        /// Smaller float, the other if one is NaN.
        MinNum = "minnum" => "arith.minnumf",
        /// Power.
        Pow = "pow" => "math.powf",
        /// Angle of the point whose coordinates are the second and the first.
        Atan2 = "atan2" => "math.atan2",
        /// Magnitude of the first, sign of the second.
        CopySign = "copysign" => "math.copysign",
        /// Integer sum.
        AddI = "addi" => "arith.addi",
        /// Integer difference.
        SubI = "subi" => "arith.subi",
        /// Integer product.
        MulI = "muli" => "arith.muli",
        /// Signed quotient, rounded to zero; it wraps where it does not fit.
        DivSI = "divsi" => "arith.divsi",
        /// Signed quotient, rounded down; it wraps where it does not fit.
        FloorDivSI = "floordivsi" => "arith.floordivsi",
        /// Signed remainder.
        RemSI = "remsi" => "arith.remsi",
        /// Unsigned quotient, rounded down.
        DivUI = "divui" => "arith.divui",
        /// Unsigned remainder.
        RemUI = "remui" => "arith.remui",
        /// Larger signed integer.
        MaxSI = "maxsi" => "arith.maxsi",
        /// Smaller signed integer.
        MinSI = "minsi" => "arith.minsi",
        /// Larger unsigned integer.
        MaxUI = "maxui" => "arith.maxui",
        /// Smaller unsigned integer.
        MinUI = "minui" => "arith.minui",
        /// Bitwise and.
        And = "and" => "arith.andi",
        /// Bitwise or.
        Or = "or" => "arith.ori",
        /// Bitwise exclusive or.
        Xor = "xor" => "arith.xori",
        /// Bits moved up; undefined by the width or more.
        ShL = "shl" => "arith.shli",
        /// Bits moved down, copies of the sign behind them; undefined by the width or more.
        ShRSI = "shrsi" => "arith.shrsi",
        /// Bits moved down, zeros behind them; undefined by the width or more.
        ShRUI = "shrui" => "arith.shrui",
    }
}

kinds! {
    /// Functions of three elements.
    TernaryKind {
        /// The second where the first is true, else the third.
        Select = "select" => "arith.select",
        /// First times second plus third, rounded once.
        Fma = "fma" => "math.fma",
    }
}

kinds! {
    /// Conversions of an element to another type.
    CastKind {
        /// Float to a wider float.
        ExtF = "extf" => "arith.extf",
        /// Float to a narrower float, nearest even.
        TruncF = "truncf" => "arith.truncf",
        /// Signed integer to float.
        SIToFP = "sitofp" => "arith.sitofp",
        /// Unsigned integer to float.
        UIToFP = "uitofp" => "arith.uitofp",
        /// Float to signed integer, rounded to zero.
        FPToSI = "fptosi" => "arith.fptosi",
        /// Float to unsigned integer, rounded to zero.
        FPToUI = "fptoui" => "arith.fptoui",
        /// Sign extension.
        ExtSI = "extsi" => "arith.extsi",
        /// Zero extension.
        ExtUI = "extui" => "arith.extui",
        /// Truncation.
        TruncI = "trunci" => "arith.trunci",
        /// To or from `index`.
        IndexCast = "index_cast" => "arith.index_cast",
        /// Same bits, other type.
        Bitcast = "bitcast" => "arith.bitcast",
    }
}

kinds! {
    /// What a reduction combines with; sums and products start at the neutral element, extremes at the other end of
    /// the type's range.
    Combiner {
        /// Float sum.
        Add = "add" => "arith.addf",
        /// Float product.
        Mul = "mul" => "arith.mulf",
        /// Largest float, NaN if one is.
        Max = "max" => "arith.maximumf",
        /// Smallest float, NaN if one is.
        Min = "min" => "arith.minimumf",
        /// Integer sum.
        AddI = "addi" => "arith.addi",
        /// Integer product.
        MulI = "muli" => "arith.muli",
        /// Largest signed integer.
        MaxSI = "maxsi" => "arith.maxsi",
        /// Smallest signed integer.
        MinSI = "minsi" => "arith.minsi",
        /// Bitwise and.
        And = "and" => "arith.andi",
        /// Bitwise or.
        Or = "or" => "arith.ori",
    }
}

kinds! {
    /// Comparisons; those of integers carry the predicate's name, those of floats have `o` (ordered: false if one is
    /// NaN) or `u` (unordered: true if one is NaN) in front.
    CompareKind {
        /// Equal.
        Eq = "eq" => "cmpi.eq",
        /// Not equal.
        Ne = "ne" => "cmpi.ne",
        /// Less, signed.
        Slt = "slt" => "cmpi.slt",
        /// At most, signed.
        Sle = "sle" => "cmpi.sle",
        /// Greater, signed.
        Sgt = "sgt" => "cmpi.sgt",
        /// At least, signed.
        Sge = "sge" => "cmpi.sge",
        /// Less, unsigned.
        Ult = "ult" => "cmpi.ult",
        /// At most, unsigned.
        Ule = "ule" => "cmpi.ule",
        /// Greater, unsigned.
        Ugt = "ugt" => "cmpi.ugt",
        /// At least, unsigned.
        Uge = "uge" => "cmpi.uge",
        /// Equal, ordered.
        Oeq = "oeq" => "cmpf.oeq",
        /// Greater, ordered.
        Ogt = "ogt" => "cmpf.ogt",
        /// At least, ordered.
        Oge = "oge" => "cmpf.oge",
        /// Less, ordered.
        Olt = "olt" => "cmpf.olt",
        /// At most, ordered.
        Ole = "ole" => "cmpf.ole",
        /// Not equal, ordered.
        One = "one" => "cmpf.one",
        /// Not equal, or unordered.
        Une = "une" => "cmpf.une",
        /// Unordered.
        Uno = "uno" => "cmpf.uno",
    }
}

impl BinaryKind {
    /// True for what is undefined where the second operand is zero.
    pub fn divides_integers(self) -> bool {
        matches!(self, Self::DivSI | Self::FloorDivSI | Self::RemSI | Self::DivUI | Self::RemUI)
    }
}

impl Combiner {
    /// The tile operation that combines two partial results.
    pub fn binary(self) -> BinaryKind {
        BinaryKind::of_scalar_op(self.scalar_op()).expect("every combiner is a binary operation")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_unique() {
        for kind in UnaryKind::ALL {
            assert_eq!(UnaryKind::parse(kind.as_str()), Some(*kind));
            assert_eq!(UnaryKind::of_scalar_op(kind.scalar_op()), Some(*kind));
        }
        for kind in BinaryKind::ALL {
            assert_eq!(BinaryKind::parse(kind.as_str()), Some(*kind));
            assert_eq!(BinaryKind::of_scalar_op(kind.scalar_op()), Some(*kind));
        }
        for kind in Combiner::ALL {
            assert_eq!(kind.binary().scalar_op(), kind.scalar_op());
        }
    }
}
