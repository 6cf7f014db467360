//! The typed model: what an ONNX file says, decoded and checked.

use std::{fmt, path::Path};

use bytes::Bytes;
use indexmap::IndexMap;

use super::{
    decode,
    error::OnnxError,
    extension::Extension,
    external::Origin,
    tensor::{ElementType, Tensor},
};

/// A model that follows ONNX's rules. Whether its operators are supported is
/// another question: see [`check_supported`](super::check_supported).
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxModel {
    pub ir_version: i64,
    pub producer: String,
    /// Operator set version per domain; the default domain is the empty name
    /// and is always there.
    pub opsets: IndexMap<String, i64>,
    pub graph: Graph,
    /// Functions that the model defines itself. Their nodes stand in the graph, in the place of each call.
    pub functions: Vec<FunctionName>,
    /// Operators of a user that its nodes may be.
    pub extension: Option<&'static Extension>,
    /// What was accepted though it is odd, and what was made of it.
    pub warnings: Vec<super::Problem>,
}

/// A graph; names are unique in it and defined before they are used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    pub name: String,
    /// As listed in the file, so with inputs that an initializer gives a
    /// value: see [`Graph::runtime_inputs`].
    pub inputs: Vec<ValueInfo>,
    pub outputs: Vec<ValueInfo>,
    /// Types of inner values, where the file states them.
    pub value_info: Vec<ValueInfo>,
    pub initializers: IndexMap<String, Tensor>,
    /// Names only; the importer supports none.
    pub sparse_initializers: Vec<String>,
    /// In topological order.
    pub nodes: Vec<Node>,
}

impl Graph {
    /// The inputs that a caller must give: those without an initializer.
    pub fn runtime_inputs(&self) -> impl Iterator<Item = &ValueInfo> {
        self.inputs.iter().filter(|i| !self.initializers.contains_key(&i.name))
    }
}

/// A named value and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueInfo {
    pub name: String,
    pub ty: ValueType,
}

/// The type of a value as far as the file states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// Without a shape the rank is unknown too.
    Tensor { element: ElementType, shape: Option<Vec<Dim>> },
    /// Tensors of one type of elements. How many, and their types, is no part of the model: see [`OnnxModel::give_shapes`].
    Sequence { of: Box<ValueType>, tensors: Option<Vec<ValueType>> },
    /// A value or nothing. Whether it is there is no part of the model either.
    Optional { of: Box<ValueType>, there: Option<bool> },
    /// `map`, `sparse tensor` or `opaque`.
    Other(&'static str),
    /// Not stated.
    Unknown,
}

impl ValueType {
    /// What a value of the type is, in words.
    pub fn kind(&self) -> String {
        match self {
            Self::Tensor { .. } => "a tensor".to_owned(),
            Self::Sequence { .. } => "a sequence".to_owned(),
            Self::Optional { .. } => "an optional".to_owned(),
            Self::Other(kind) => format!("a value of kind {kind}"),
            Self::Unknown => "a value of an unknown type".to_owned(),
        }
    }
}

/// One dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dim {
    Known(u64),
    /// The same name means the same size everywhere in the model.
    Named(String),
    /// Dynamic, equal to nothing else.
    Unknown,
}

/// Identity of a model-local function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionName {
    pub domain: String,
    pub name: String,
    /// Which of several functions of that name; empty in most models.
    pub overload: String,
}

/// An operator applied to values.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// May be empty and, against ONNX's rules, not unique.
    pub name: String,
    /// Position in its graph.
    pub index: usize,
    pub op_type: String,
    /// Empty for ONNX's own operators.
    pub domain: String,
    /// Version of the operators of the domain: that of the model, or of the function that has the node; none where neither says it.
    pub opset: Option<i64>,
    /// None where an optional input is left out.
    pub inputs: Vec<Option<String>>,
    /// None where an optional output is left out.
    pub outputs: Vec<Option<String>>,
    pub attributes: IndexMap<String, Attribute>,
}

impl Node {
    /// Its name as the place of operations that are made for it: [`Self::label`] where it has none.
    pub fn place(&self) -> String {
        if self.name.is_empty() { self.label() } else { self.name.clone() }
    }

    /// `` `/fc1/Gemm` ``, or number and output if it has no name.
    pub fn label(&self) -> String {
        let first = self.outputs.iter().flatten().next();
        match (self.name.as_str(), first) {
            ("", Some(output)) => format!("#{} making `{output}`", self.index),
            ("", None) => format!("#{}", self.index),
            (name, _) => format!("`{name}`"),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} ({})", self.label(), self.op_type)
    }
}

/// A node's parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    Float(f32),
    Int(i64),
    /// Bytes that are UTF-8 by ONNX's rules.
    String(Bytes),
    Tensor(Tensor),
    Graph(Box<Graph>),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
    Strings(Vec<Bytes>),
    Tensors(Vec<Tensor>),
    Graphs(Vec<Graph>),
    /// Kinds whose content is not decoded; the importer supports none.
    Opaque(AttributeKind),
}

/// The kind of an attribute, spelt as ONNX spells it, in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeKind {
    Float,
    Int,
    String,
    Tensor,
    Graph,
    Floats,
    Ints,
    Strings,
    Tensors,
    Graphs,
    SparseTensor,
    SparseTensors,
    TypeProto,
    TypeProtos,
}

/// In the order of ONNX's numbers from 1.
const KINDS: [(AttributeKind, &str); 14] = {
    use AttributeKind::*;
    [
        (Float, "float"),
        (Int, "int"),
        (String, "string"),
        (Tensor, "tensor"),
        (Graph, "graph"),
        (Floats, "floats"),
        (Ints, "ints"),
        (Strings, "strings"),
        (Tensors, "tensors"),
        (Graphs, "graphs"),
        (SparseTensor, "sparse_tensor"),
        (SparseTensors, "sparse_tensors"),
        (TypeProto, "type_proto"),
        (TypeProtos, "type_protos"),
    ]
};

impl AttributeKind {
    pub(super) fn from_code(code: i32) -> Option<Self> {
        let index = usize::try_from(code.checked_sub(1)?).ok()?;
        KINDS.get(index).map(|k| k.0)
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        KINDS.iter().find(|k| k.1 == name).map(|k| k.0)
    }
}

impl fmt::Display for AttributeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KINDS.iter().find(|k| k.0 == *self).map(|k| k.1);
        f.write_str(name.expect("every kind is in the table"))
    }
}

impl Attribute {
    pub fn kind(&self) -> AttributeKind {
        match self {
            Self::Float(_) => AttributeKind::Float,
            Self::Int(_) => AttributeKind::Int,
            Self::String(_) => AttributeKind::String,
            Self::Tensor(_) => AttributeKind::Tensor,
            Self::Graph(_) => AttributeKind::Graph,
            Self::Floats(_) => AttributeKind::Floats,
            Self::Ints(_) => AttributeKind::Ints,
            Self::Strings(_) => AttributeKind::Strings,
            Self::Tensors(_) => AttributeKind::Tensors,
            Self::Graphs(_) => AttributeKind::Graphs,
            Self::Opaque(kind) => *kind,
        }
    }

    /// The subgraphs this attribute holds.
    pub fn graphs(&self) -> &[Graph] {
        match self {
            Self::Graph(graph) => std::slice::from_ref(graph),
            Self::Graphs(graphs) => graphs,
            _ => &[],
        }
    }
}

impl OnnxModel {
    /// Reads and checks the model in `path`; external data are looked for
    /// beside it.
    pub fn read(path: &Path) -> Result<Self, OnnxError> {
        let bytes = sutura_input::regular_bytes(path, sutura_input::PROTOBUF_LIMIT);
        let bytes = bytes.map_err(|source| OnnxError::Read { path: path.to_owned(), source })?;
        decode::model(bytes.into(), Some(&Origin::new(path, &[])?))
    }

    /// Reads and checks a model held in memory. External data are looked for
    /// as its origin says; without one a model that has them is an error.
    pub fn from_bytes(bytes: impl Into<Bytes>, origin: Option<&Origin>) -> Result<Self, OnnxError> {
        decode::model(bytes.into(), origin)
    }

    /// The version of ONNX's own operators.
    pub fn opset(&self) -> i64 {
        self.opsets[""]
    }
}
