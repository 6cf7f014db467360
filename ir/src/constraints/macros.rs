//! Macros that declare constraints.

/// Declares type constraints: for each a Rust type that names it in `Operand<…>` and `Res<…>`.
///
/// `name = "description", |cx, ty| condition;`, and `only TYPE` before the semicolon when a single type fulfils it.
#[macro_export]
macro_rules! type_constraints {
    ($(
        $(#[$doc:meta])* $vis:vis $name:ident = $description:expr,
        |$cx:pat_param, $ty:pat_param| $check:expr $(, only $only:expr)?;
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        $vis enum $name {}

        impl $crate::op_def::TypeConstraintDef for $name {
            const CONSTRAINT: $crate::op_def::TypeConstraint = $crate::op_def::TypeConstraint {
                name: stringify!($name),
                description: $description,
                check: |$cx: &$crate::Context, $ty: $crate::Type| $check,
                only: {
                    #[allow(unused_mut, unused_assignments)]
                    let mut only: Option<$crate::Type> = None;
                    $(only = Some($only);)?
                    only
                },
            };
        }
    )*};
}

/// Declares attribute constraints: for each a Rust type that names it in `Attr<…>` and `OptAttr<…>`.
///
/// `name = "description", syntax;`, then how it is read, which also is the condition (`None` for an attribute that does
/// not fulfil it), and how it is made: `get |cx, attr| -> Type { … } set |cx, value: Type| { … }`. The types may use
/// the lifetime `'a` of the context.
#[macro_export]
macro_rules! attr_constraints {
    ($(
        $(#[$doc:meta])* $vis:vis $name:ident = $description:expr, $syntax:expr;
        get |$gcx:pat_param, $attr:pat_param| -> $get:ty $read:block
        set |$scx:pat_param, $value:ident: $set:ty| $make:block
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        $vis enum $name {}

        impl $crate::op_def::AttrConstraintDef for $name {
            type Get<'a> = $get;
            type Set<'a> = $set;
            const CONSTRAINT: $crate::op_def::AttrConstraint = $crate::op_def::AttrConstraint {
                name: stringify!($name),
                description: $description,
                check: |cx, attr| <$name as $crate::op_def::AttrConstraintDef>::get(cx, attr).is_some(),
                syntax: $syntax,
            };
            #[allow(clippy::needless_lifetimes, clippy::extra_unused_lifetimes)]
            fn get<'a>($gcx: &'a $crate::Context, $attr: $crate::Attr) -> Option<$get> $read
            #[allow(clippy::needless_lifetimes, clippy::extra_unused_lifetimes)]
            fn set<'a>($scx: &'a $crate::Context, $value: $set) -> $crate::Attr $make
        }
    )*};
}

/// Declares an enumeration held in an integer attribute and written as a keyword; it is its own constraint.
///
/// `pub enum Name(TYPE) = "description" { Case = 0 => "keyword", … }`
#[macro_export]
macro_rules! keyword_attrs {
    ($(
        $(#[$doc:meta])* $vis:vis enum $name:ident($ty:expr) = $description:expr;
        { $($(#[$case_doc:meta])* $case:ident = $value:literal => $keyword:literal,)* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        $vis enum $name {
            $($(#[$case_doc])* $case = $value,)*
        }

        impl $name {
            /// Every case, in order of declaration.
            $vis const ALL: &'static [Self] = &[$(Self::$case),*];

            /// The case that the text writes `keyword`.
            #[allow(dead_code, unreachable_pub)]
            $vis fn from_keyword(keyword: &str) -> Option<Self> {
                match keyword {
                    $($keyword => Some(Self::$case),)*
                    _ => None,
                }
            }

            /// How the text writes it.
            #[allow(dead_code, unreachable_pub)]
            $vis fn keyword(self) -> &'static str {
                match self {
                    $(Self::$case => $keyword,)*
                }
            }

            /// The case of this number.
            #[allow(dead_code, unreachable_pub)]
            $vis fn from_int(value: i64) -> Option<Self> {
                match value {
                    $($value => Some(Self::$case),)*
                    _ => None,
                }
            }
        }

        impl $crate::op_def::AttrConstraintDef for $name {
            type Get<'a> = Self;
            type Set<'a> = Self;
            const CONSTRAINT: $crate::op_def::AttrConstraint = $crate::op_def::AttrConstraint {
                name: stringify!($name),
                description: $description,
                check: |cx, attr| <$name as $crate::op_def::AttrConstraintDef>::get(cx, attr).is_some(),
                syntax: $crate::op_def::AttrSyntax::Keyword($ty, &[$(($keyword, $value)),*]),
            };
            fn get(cx: &$crate::Context, attr: $crate::Attr) -> Option<Self> {
                match cx.attr_data(attr) {
                    $crate::AttrData::Integer { ty, value } if ty == $ty => Self::from_int(value),
                    _ => None,
                }
            }
            fn set(cx: &$crate::Context, value: Self) -> $crate::Attr {
                cx.int_attr(value as i64, $ty)
            }
        }
    )*};
}
