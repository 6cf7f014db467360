//! The IR core of Sutura: context, types, attributes, bodies of operations, and what works on them.
//!
//! Knows no dialect but `builtin`, does no input or output, and holds no `unsafe` code.
#![forbid(unsafe_code)]

// Lets the declaration macros name this crate from inside it.
extern crate self as sutura_ir;

pub mod affine;
pub mod analysis;
pub mod asm;
pub mod attrs;
pub mod body;
pub mod builder;
pub mod builtin;
pub mod constraints;
pub mod context;
pub mod dense;
pub mod diagnostics;
pub mod doc;
pub mod ext;
pub mod float;
mod handle;
pub mod interfaces;
pub mod listener;
pub mod location;
pub mod op_def;
pub mod op_ref;
pub mod pass;
pub mod pattern;
pub mod properties;
pub mod registry;
pub mod rewrite;
pub mod rewriter;
mod subset;
pub mod symbols;
pub mod trace;
pub mod types;
pub mod verify;
pub mod work;

pub use attrs::{Attr, AttrData, NamedAttr};
pub use body::{Block, Body, Module, Op, Region, Value};
pub use builder::{Builder, OpState};
pub use context::{Context, Ident, LargeBlobs, Room};
pub use diagnostics::{Diagnostic, Diagnostics, Reported, Severity};
pub use location::Loc;
pub use op_def::{OpDef, OpView, Traits, name_of};
pub use op_ref::{BlockRef, OpRef, RegionRef};
pub use registry::{Dialect, DialectBuilder, OpName, Registry, RegistryError};
pub use rewriter::{IrMapping, Rewriter};
pub use types::{DYNAMIC, Type, TypeData};
// What generated code names.
pub use smallvec;
pub use sutura_macros::{attr, op, rewrite, ty};
