//! Operations that read a register of a device.

/// Declares operations that read a register of 32 bits, each with its name, and what registers all of them.
macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $(
            $(#[$doc])*
            #[op($text, traits(Pure), format = "attr-dict `:` type($res)")]
            pub struct $name {
                /// The number is one of these.
                #[absent]
                range: OptAttr<AnyAttr>,
                res: Res<I32>,
            }
        )*

        pub(super) fn register_registers(d: &mut DialectBuilder<'_>) {
            $(d.op::<$name<'_>>();)*
        }
    };
}

pub(crate) use registers;
