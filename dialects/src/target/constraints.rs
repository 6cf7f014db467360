//! What attributes of `target` operations must be.

use sutura_ir::attr_constraints;
use sutura_ir::op_def::AttrSyntax;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $attr:ident, $description:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Spelling in the text form.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// The one spelt `text`.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }

        attr_constraints! {
            $(#[$doc])*
            pub $attr = $description, AttrSyntax::Plain;
            get |cx, attr| -> $name { $name::parse(cx.as_str(attr)?) }
            set |cx, value: $name| { cx.string_attr(value.as_str()) }
        }
    };
}

words! {
    /// Kind of memory.
    Class, ClassAttr, "'reg', 'sram' or 'dram'" {
        /// Registers.
        Reg = "reg",
        /// Memory on the chip: a cache, shared memory, a scratchpad.
        Sram = "sram",
        /// Main memory.
        Dram = "dram",
    }
}

words! {
    /// Who has a space of its own.
    Owner, OwnerAttr, "'unit', 'group' or 'all'" {
        /// Each unit.
        Unit = "unit",
        /// Each group of units.
        Group = "group",
        /// The machine: one space for all.
        All = "all",
    }
}

words! {
    /// The order of an instruction's operands.
    Order, OrderAttr, "'acc, lhs, rhs' or 'acc, rhs, lhs'" {
        /// The accumulator, then the factors.
        LeftFirst = "acc, lhs, rhs",
        /// The accumulator, then the right factor.
        RightFirst = "acc, rhs, lhs",
    }
}
