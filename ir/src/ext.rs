//! Types and attributes that dialects define: Rust values behind one vtable.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::context::Context;
use crate::diagnostics::Diagnostic;
use crate::types::Type;

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

    /// Checks that the value can be the encoding of a tensor of this shape and element type.
    ///
    /// # Errors
    /// Says what does not fit.
    fn verify_encoding(&self, _cx: &Context, _shape: &[i64], _elem: Type) -> Result<(), String> {
        Ok(())
    }
}

/// Object-safe face of [`ParamValue`].
pub(crate) trait DynParam: Any + Send + Sync + fmt::Debug {
    fn name(&self) -> &'static str;
    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result;
    fn verify(&self, cx: &Context) -> Result<(), String>;
    fn verify_encoding(&self, cx: &Context, shape: &[i64], elem: Type) -> Result<(), String>;
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
    fn verify_encoding(&self, cx: &Context, shape: &[i64], elem: Type) -> Result<(), String> {
        ParamValue::verify_encoding(self, cx, shape, elem)
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

impl ExtAttr {
    pub(crate) fn verify_encoding(&self, cx: &Context, shape: &[i64], elem: Type) -> Result<(), String> {
        self.0.verify_encoding(cx, shape, elem)
    }
}

/// Why a dialect's type or attribute could not be parsed.
pub type ParamResult<T> = Result<T, Diagnostic>;
