//! Attributes of the vector dialect.

sutura_ir::enum_attr! {
    /// How values are combined in a reduction.
    pub enum CombiningKind = "vector.kind", "Kind of combining function for contractions and reductions";
    {
        /// Sum.
        Add => "add",
        /// Product.
        Mul => "mul",
        /// Unsigned minimum.
        MinUI => "minui",
        /// Signed minimum.
        MinSI => "minsi",
        /// Minimum of numbers, NaN ignored.
        MinNumF => "minnumf",
        /// Unsigned maximum.
        MaxUI => "maxui",
        /// Signed maximum.
        MaxSI => "maxsi",
        /// Maximum of numbers, NaN ignored.
        MaxNumF => "maxnumf",
        /// Bitwise and.
        And => "and",
        /// Bitwise or.
        Or => "or",
        /// Bitwise exclusive or.
        Xor => "xor",
        /// Minimum, NaN when one is.
        MinimumF => "minimumf",
        /// Maximum, NaN when one is.
        MaximumF => "maximumf",
    }
}

sutura_ir::enum_attr! {
    /// Whether the result of a contraction has the dimension of an iterator.
    pub enum IteratorType = "vector.iterator_type", "Iterator type";
    {
        /// It has.
        Parallel => "parallel",
        /// It is summed along it.
        Reduction => "reduction",
    }
}

sutura_ir::enum_attr! {
    /// What is written after a printed value.
    pub enum Punctuation = "vector.punctuation", "Punctuation for separating vectors or vector elements";
    {
        /// Nothing.
        NoPunctuation => "no_punctuation",
        /// The end of the line.
        NewLine => "newline",
        /// A comma and a blank.
        Comma => "comma",
        /// `(`
        Open => "open",
        /// `)`
        Close => "close",
    }
}

impl CombiningKind {
    /// True when floats can be combined so.
    pub fn takes_floats(self) -> bool {
        use CombiningKind::{Add, MaxNumF, MaximumF, MinNumF, MinimumF, Mul};
        matches!(self, Add | Mul | MinNumF | MaxNumF | MinimumF | MaximumF)
    }

    /// True when integers can be combined so.
    pub fn takes_integers(self) -> bool {
        use CombiningKind::{MaxNumF, MaximumF, MinNumF, MinimumF};
        !matches!(self, MinNumF | MaxNumF | MinimumF | MaximumF)
    }
}
