//! Interned handles: 4-byte copies, equal when what they stand for is. They have no order: which of two texts was interned
//! first depends on threads.

/// Declares interned handle types: a `NonZeroU32`, so that `Option` of one is as small.
macro_rules! interned_handle {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name(std::num::NonZeroU32);

        impl $name {
            /// The handle of slot `index` of the context's table.
            pub(crate) const fn from_index(index: u32) -> Self {
                match std::num::NonZeroU32::new(index.wrapping_add(1)) {
                    Some(n) => Self(n),
                    None => panic!("interned storage is full"),
                }
            }

            /// Slot of the context's table.
            pub const fn index(self) -> u32 {
                self.0.get() - 1
            }
        }
    )*};
}
pub(crate) use interned_handle;
