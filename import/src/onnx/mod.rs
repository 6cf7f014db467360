//! ONNX files to a checked, typed model.
//!
//! Reading goes in three steps, each of which reports all its problems at
//! once:
//!
//! 1. [`OnnxModel::read`] decodes the protobuf, typed tensors and external
//!    data, and checks that the graph is well formed ([`OnnxError`] if not).
//!    Weights stay slices of the file, which is read once.
//! 2. [`typed_nodes`] checks every node against the operator table of the
//!    model's opset and gives it as an [`Op`], which is the same whatever the
//!    opset: attributes that became inputs, defaults that moved and constants
//!    given as nodes are all resolved.
//! 3. [`import`] turns the nodes into `graph` ops, with symbolic shapes.
//!
//! The protobuf decoder (`proto.rs`) is generated; see `import/protogen`.

mod convert;
mod decode;
mod error;
mod extension;
mod external;
mod extract;
mod functions;
mod given;
mod model;
mod named;
mod op;
mod operators;
#[rustfmt::skip]
#[allow(unreachable_pub, clippy::all)]
mod proto;
mod reader;
pub mod schema;
mod sniff;
mod support;
mod survey;
mod tensor;
mod tensor_file;
#[cfg(test)]
mod tests;
mod typing;
mod validate;
mod window;

pub use convert::{NAME, import, import_with};
pub use error::{OnnxError, Problem};
pub use extension::{Extension, ExtensionError};
pub use external::{MapFile, Origin};
pub use extract::{Cut, CutError, ExtractError, Extracted, Outline, OutlineNode, Plan, extract};
pub use given::GivenShape;
pub use model::{Attribute, AttributeKind, Dim, FunctionName, Graph, Node, OnnxModel, ValueInfo, ValueType};
pub use named::{NamedInput, NamedNumber, Permutations};
pub use op::{Binary, Compare, Extremum, Op, PadMode, Param, Pool, Reduction, Rounding, Slice, Unary};
pub use operators::Conversion;
pub use sniff::FileKind;
pub use support::{TypedNode, Unsupported, UnsupportedOps, check_supported, typed_nodes};
pub use survey::{UsedOperator, used_operators};
pub use tensor::{ElementType, Scalar, Tensor, TensorData};
pub use tensor_file::{tensor_file_head, tensor_from_file};
pub use window::{Padding, Window};

/// IR versions this importer reads: to ONNX 1.23. Those before 3 name no opset, and have the first one.
pub const IR_VERSIONS: std::ops::RangeInclusive<i64> = 1..=14;

/// Opsets of the default domain this importer reads.
pub const OPSETS: std::ops::RangeInclusive<i64> = 1..=28;
