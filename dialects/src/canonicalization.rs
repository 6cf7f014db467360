//! Which patterns canonicalize which ops, as a table.

/// `SubIOp => first, second;`: the functions are patterns of the op, under their own names.
macro_rules! canonicalizes {
    ($($op:ident => $($pattern:ident),*;)*) => {$(
        impl sutura_ir::op_def::Canonicalize for $op<'_> {
            fn patterns(set: &mut sutura_ir::pattern::PatternSet) {
                $(set.add::<$op<'_>>(stringify!($pattern), $pattern);)*
            }
        }
    )*};
}

pub(crate) use canonicalizes;
