//! Element types of tensors, and the Rust types that stand for them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The type of a tensor's elements. Named in the manifest and in messages as the IR names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ElementType {
    /// One byte, 0 or 1 (`i1` in the IR).
    #[serde(rename = "bool")]
    Bool,
    #[serde(rename = "i8")]
    I8,
    #[serde(rename = "u8")]
    U8,
    #[serde(rename = "i16")]
    I16,
    #[serde(rename = "u16")]
    U16,
    #[serde(rename = "i32")]
    I32,
    #[serde(rename = "u32")]
    U32,
    #[serde(rename = "i64")]
    I64,
    #[serde(rename = "u64")]
    U64,
    #[serde(rename = "f8E4M3FN")]
    F8E4M3FN,
    #[serde(rename = "f8E5M2")]
    F8E5M2,
    #[serde(rename = "f16")]
    F16,
    #[serde(rename = "bf16")]
    BF16,
    #[serde(rename = "f32")]
    F32,
    #[serde(rename = "f64")]
    F64,
    #[serde(rename = "f8E4M3FNUZ")]
    F8E4M3FNUZ,
    #[serde(rename = "f8E5M2FNUZ")]
    F8E5M2FNUZ,
    #[serde(rename = "f8E8M0FNU")]
    F8E8M0FNU,
    /// One byte in memory, of which the low bits count; so are the following.
    #[serde(rename = "f4E2M1FN")]
    F4E2M1FN,
    #[serde(rename = "i2")]
    I2,
    #[serde(rename = "u2")]
    U2,
    #[serde(rename = "i4")]
    I4,
    #[serde(rename = "u4")]
    U4,
    /// Two `f32`, real before imaginary part.
    #[serde(rename = "complex<f32>")]
    C64,
    /// Two `f64`, real before imaginary part.
    #[serde(rename = "complex<f64>")]
    C128,
}

impl ElementType {
    /// Every element type, in the order of their codes in the C interface.
    pub const ALL: [Self; 25] = [
        Self::Bool,
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F8E4M3FN,
        Self::F8E5M2,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
        Self::F8E4M3FNUZ,
        Self::F8E5M2FNUZ,
        Self::F8E8M0FNU,
        Self::F4E2M1FN,
        Self::I2,
        Self::U2,
        Self::I4,
        Self::U4,
        Self::C64,
        Self::C128,
    ];

    /// Size of one element in memory, in bytes.
    pub fn bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }

    /// Bits that an element has; in memory, where they are fewer than a byte has, the low ones of a byte. What the others are does
    /// not count.
    pub fn bits(self) -> u32 {
        match self {
            Self::I2 | Self::U2 => 2,
            Self::I4 | Self::U4 | Self::F4E2M1FN => 4,
            Self::Bool | Self::I8 | Self::U8 => 8,
            Self::F8E4M3FN | Self::F8E5M2 | Self::F8E4M3FNUZ | Self::F8E5M2FNUZ | Self::F8E8M0FNU => 8,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 16,
            Self::I32 | Self::U32 | Self::F32 => 32,
            Self::I64 | Self::U64 | Self::F64 | Self::C64 => 64,
            Self::C128 => 128,
        }
    }

    /// The name in the manifest and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F8E4M3FN => "f8E4M3FN",
            Self::F8E5M2 => "f8E5M2",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::F8E4M3FNUZ => "f8E4M3FNUZ",
            Self::F8E5M2FNUZ => "f8E5M2FNUZ",
            Self::F8E8M0FNU => "f8E8M0FNU",
            Self::F4E2M1FN => "f4E2M1FN",
            Self::I2 => "i2",
            Self::U2 => "u2",
            Self::I4 => "i4",
            Self::U4 => "u4",
            Self::C64 => "complex<f32>",
            Self::C128 => "complex<f64>",
        }
    }

    /// The element type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Whether values are floating-point numbers.
    pub fn is_float(self) -> bool {
        self.is_byte_float() || matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// Of complex numbers, the type of both parts.
    pub fn part(self) -> Option<Self> {
        match self {
            Self::C64 => Some(Self::F32),
            Self::C128 => Some(Self::F64),
            _ => None,
        }
    }

    /// Bytes that are turned over together where the order of bytes is another one: those of a number, or of a part.
    pub fn word_bytes(self) -> usize {
        self.part().unwrap_or(self).bytes()
    }

    /// Whether values are floating-point numbers of at most one byte.
    pub fn is_byte_float(self) -> bool {
        matches!(
            self,
            Self::F8E4M3FN | Self::F8E5M2 | Self::F8E4M3FNUZ | Self::F8E5M2FNUZ | Self::F8E8M0FNU | Self::F4E2M1FN
        )
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A Rust type that is an element type. The small floats have none: they are reached as bytes.
pub trait Element: bytemuck::Pod + private::Sealed {
    /// The element type that this Rust type stands for.
    const TYPE: ElementType;
}

mod private {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($rust:ty => $element:ident),* $(,)?) => {
        $(impl private::Sealed for $rust {}
        impl Element for $rust {
            const TYPE: ElementType = ElementType::$element;
        })*
    };
}

elements! {
    i8 => I8, u8 => U8, i16 => I16, u16 => U16, i32 => I32, u32 => U32, i64 => I64, u64 => U64, f32 => F32, f64 => F64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_manifest() {
        for element in ElementType::ALL {
            assert_eq!(ElementType::from_name(element.name()), Some(element));
            let json = serde_json::to_string(&element).unwrap();
            assert_eq!(json, format!("\"{}\"", element.name()));
        }
    }
}
