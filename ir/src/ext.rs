//! Types and attributes that dialects define: Rust values behind one vtable.
//!
//! `#[ty]` and `#[attr]` declare one by its parameters; where its text needs more than a format, [`ParamValue`] is implemented
//! by hand and the parser is given to [`crate::DialectBuilder::ty`] or [`crate::DialectBuilder::attr`].

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::asm::parse::ParamParser;
use crate::asm::print::{attr_text, type_text};
use crate::attrs::Attr;
use crate::context::Context;
use crate::diagnostics::{Diagnostic, Reported};
use crate::types::{Type, TypeData};

/// A dialect's type or attribute as a Rust value: `#[derive(Clone, PartialEq, Eq, Hash, Debug)]` plus this.
///
/// The value is immutable once interned, and two handles are equal exactly when the values are.
pub trait ParamValue: Any + Send + Sync + fmt::Debug + Eq + Hash {
    /// Full name, such as `gir.tile`.
    const NAME: &'static str;

    /// Writes what stands between the angle brackets, brackets included; nothing for a parameterless one.
    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result;

    /// Checks the parameters against each other.
    fn verify(&self, _cx: &Context) -> Result<(), String> {
        Ok(())
    }

    /// The builtin type as which elements of this type are held where they are data; `None` for what is no type of elements.
    fn storage(&self) -> Option<TypeData> {
        None
    }

    /// The property of tensor types that it is; see [`crate::properties`].
    const PROPERTY: Option<&'static str> = None;

    /// Checks that the value can be a property of a tensor of this shape and element type.
    ///
    /// # Errors
    /// Says what does not fit.
    fn verify_encoding(&self, _cx: &Context, _shape: &[i64], _elem: Type) -> Result<(), String> {
        Ok(())
    }

    /// Whether values with this property and with that one may be of one type: where both say something, they say the same.
    fn agrees(&self, other: &Self) -> bool {
        self == other
    }
}

/// Checks of parameters against each other; named in `#[ty(…, verify)]` and `#[attr(…, verify)]`.
pub trait VerifyParams {
    /// Checks the parameters.
    ///
    /// # Errors
    /// Says what does not fit.
    fn verify_params(&self, cx: &Context) -> Result<(), String>;
}

/// What is declared of a type or attribute, for documentation.
#[derive(Clone, Copy, Debug)]
pub struct ParamDef {
    /// Full name, `dialect.mnemonic`.
    pub name: &'static str,
    /// First line of the documentation.
    pub summary: &'static str,
    /// The whole documentation, Markdown.
    pub description: &'static str,
    /// Format of the parameters.
    pub format: &'static str,
    /// The parameters.
    pub params: &'static [ParamInfo],
}

impl ParamDef {
    /// The name without the dialect.
    pub fn mnemonic(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, mnemonic)| mnemonic)
    }

    /// The dialect.
    pub fn dialect(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(dialect, _)| dialect)
    }
}

/// A declared parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// Name.
    pub name: &'static str,
    /// Its Rust type.
    pub ty: &'static str,
    /// Documentation, in one line.
    pub description: &'static str,
    /// It may be absent.
    pub optional: bool,
}

/// A type declared with `#[ty]`.
pub trait DialectType: ParamValue {
    /// The declaration.
    const DEF: ParamDef;

    /// Parses what follows the name.
    ///
    /// # Errors
    /// When it is malformed.
    fn parse(p: &mut dyn ParamParser) -> Result<Type, Reported>;
}

/// An attribute declared with `#[attr]`.
pub trait DialectAttr: ParamValue {
    /// The declaration.
    const DEF: ParamDef;

    /// Parses what follows the name.
    ///
    /// # Errors
    /// When it is malformed.
    fn parse(p: &mut dyn ParamParser) -> Result<Attr, Reported>;
}

/// A parameter of a type or attribute, as text.
pub trait Param: Sized {
    /// What it is, in words: completes "expected …".
    const WHAT: &'static str;

    /// Reads one, if one is next; else consumes and reports nothing.
    ///
    /// # Errors
    /// When it is malformed.
    fn opt_parse(p: &mut dyn ParamParser) -> Result<Option<Self>, Reported>;

    /// Writes it so that it is read back as the same.
    ///
    /// # Errors
    /// When `out` fails.
    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result;

    /// Reads one.
    ///
    /// # Errors
    /// When none is next, or it is malformed.
    fn parse(p: &mut dyn ParamParser) -> Result<Self, Reported> {
        match Self::opt_parse(p)? {
            Some(value) => Ok(value),
            None => Err(p.error(&format!("expected {}", Self::WHAT))),
        }
    }
}

impl Param for Type {
    const WHAT: &'static str = "a type";
    fn opt_parse(p: &mut dyn ParamParser) -> Result<Option<Self>, Reported> {
        p.opt_type()
    }
    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_str(&type_text(cx, *self))
    }
}

impl Param for Attr {
    const WHAT: &'static str = "an attribute";
    fn opt_parse(p: &mut dyn ParamParser) -> Result<Option<Self>, Reported> {
        p.opt_attr(None)
    }
    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_str(&attr_text(cx, *self))
    }
}

impl Param for bool {
    const WHAT: &'static str = "'true' or 'false'";
    fn opt_parse(p: &mut dyn ParamParser) -> Result<Option<Self>, Reported> {
        Ok(if p.opt_keyword("true") { Some(true) } else { p.opt_keyword("false").then_some(false) })
    }
    fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl Param for String {
    const WHAT: &'static str = "a string";
    fn opt_parse(p: &mut dyn ParamParser) -> Result<Option<Self>, Reported> {
        p.opt_string()
    }
    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_str(&attr_text(cx, cx.string_attr(self)))
    }
}

macro_rules! int_params {
    ($($ty:ident)*) => {$(
        impl Param for $ty {
            const WHAT: &'static str = "an integer";
            fn opt_parse(p: &mut dyn ParamParser) -> Result<Option<Self>, Reported> {
                let loc = p.loc();
                let Some(value) = p.opt_int()? else { return Ok(None) };
                match Self::try_from(value) {
                    Ok(value) => Ok(Some(value)),
                    Err(_) => Err(p.error_at(loc, concat!("the integer does not fit ", stringify!($ty)))),
                }
            }
            fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
                write!(out, "{self}")
            }
        }
    )*};
}
int_params! { i8 i16 i32 i64 u8 u16 u32 usize }

impl<T: Param> Param for Vec<T> {
    const WHAT: &'static str = "a list in brackets";
    fn opt_parse(p: &mut dyn ParamParser) -> Result<Option<Self>, Reported> {
        if !p.opt_punct("[") {
            return Ok(None);
        }
        let mut items = Self::new();
        while !p.opt_punct("]") {
            if !items.is_empty() {
                p.punct(",")?;
            }
            items.push(T::parse(p)?);
        }
        Ok(Some(items))
    }
    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_char('[')?;
        for (i, item) in self.iter().enumerate() {
            if i > 0 {
                out.write_str(", ")?;
            }
            item.print(cx, out)?;
        }
        out.write_char(']')
    }
}

/// Object-safe face of [`ParamValue`].
pub(crate) trait DynParam: Any + Send + Sync + fmt::Debug {
    fn name(&self) -> &'static str;
    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result;
    fn verify(&self, cx: &Context) -> Result<(), String>;
    fn storage(&self) -> Option<TypeData>;
    fn property(&self) -> Option<&'static str>;
    fn verify_encoding(&self, cx: &Context, shape: &[i64], elem: Type) -> Result<(), String>;
    fn dyn_agrees(&self, other: &dyn DynParam) -> bool;
    fn dyn_eq(&self, other: &dyn DynParam) -> bool;
    fn dyn_hash(&self, state: &mut dyn Hasher);
    fn as_any(&self) -> &dyn Any;
}

impl<T: ParamValue> DynParam for T {
    fn name(&self) -> &'static str {
        T::NAME
    }
    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        ParamValue::print(self, cx, out)
    }
    fn verify(&self, cx: &Context) -> Result<(), String> {
        ParamValue::verify(self, cx)
    }
    fn storage(&self) -> Option<TypeData> {
        ParamValue::storage(self)
    }
    fn property(&self) -> Option<&'static str> {
        T::PROPERTY
    }
    fn verify_encoding(&self, cx: &Context, shape: &[i64], elem: Type) -> Result<(), String> {
        ParamValue::verify_encoding(self, cx, shape, elem)
    }
    fn dyn_agrees(&self, other: &dyn DynParam) -> bool {
        other.as_any().downcast_ref::<T>().is_some_and(|other| self.agrees(other))
    }
    fn dyn_eq(&self, other: &dyn DynParam) -> bool {
        other.as_any().downcast_ref::<T>().is_some_and(|o| o == self)
    }
    fn dyn_hash(&self, mut state: &mut dyn Hasher) {
        T::NAME.hash(&mut state);
        self.hash(&mut state);
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

macro_rules! ext_storage {
    ($($name:ident)*) => {$(
        /// Shared storage of one dialect-defined value.
        #[derive(Clone, Debug)]
        pub(crate) struct $name(Arc<dyn DynParam>);

        impl $name {
            pub(crate) fn new<T: ParamValue>(value: T) -> Self {
                Self(Arc::new(value))
            }
            pub(crate) fn get<T: ParamValue>(&self) -> Option<&T> {
                (*self.0).as_any().downcast_ref()
            }
            pub(crate) fn name(&self) -> &'static str {
                self.0.name()
            }
            pub(crate) fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
                self.0.print(cx, out)
            }
            pub(crate) fn verify(&self, cx: &Context) -> Result<(), String> {
                self.0.verify(cx)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.0.dyn_eq(&*other.0)
            }
        }
        impl Eq for $name {}
        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.dyn_hash(state);
            }
        }
    )*};
}
ext_storage! { ExtType ExtAttr }

impl ExtType {
    pub(crate) fn storage(&self) -> Option<TypeData> {
        self.0.storage()
    }
}

impl ExtAttr {
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        self.0.dyn_agrees(&*other.0)
    }

    pub(crate) fn property(&self) -> Option<&'static str> {
        self.0.property()
    }

    pub(crate) fn verify_encoding(&self, cx: &Context, shape: &[i64], elem: Type) -> Result<(), String> {
        self.0.verify_encoding(cx, shape, elem)
    }
}

/// Why a dialect's type or attribute could not be parsed.
pub type ParamResult<T> = Result<T, Diagnostic>;
