//! A model between names: part of an ONNX file as a file of its own.
//!
//! What is kept is kept byte for byte, also what this importer does not know. Nodes are kept that lie between the names, with the
//! weights, the functions and the descriptions of values that they use; inputs and outputs get types from what the model states
//! and from what its import infers.

mod names;
mod plan;
mod types;
mod weights;
mod wire;

use bytes::Bytes;
use prost::Message;
use rustc_hash::{FxHashMap, FxHashSet};
use sutura_ir::Context;

use super::error::OnnxError;
use super::external::Origin;
use super::model::OnnxModel;
use super::proto::{ModelProto, NodeProto};
pub use plan::{Cut, CutError, Outline, OutlineNode, Plan};
use weights::Weights;
use wire::{Field, fields, push};

/// A part of a model.
#[derive(Debug)]
pub struct Extracted {
    /// The file.
    pub model: Vec<u8>,
    /// Weights that go into the file beside it, in order, if there are any.
    pub data: Vec<Bytes>,
    /// Names of inputs and outputs.
    pub inputs: Vec<String>,
    /// See `inputs`.
    pub outputs: Vec<String>,
    /// How many nodes are kept.
    pub nodes: usize,
}

/// Why there is no part.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// The names are wrong.
    #[error("{0}")]
    Cut(CutError),
    /// The model is.
    #[error(transparent)]
    Model(#[from] OnnxError),
    /// External data cannot be copied.
    #[error("{0}")]
    Data(String),
}

impl From<CutError> for ExtractError {
    fn from(error: CutError) -> Self {
        Self::Cut(error)
    }
}

impl From<prost::DecodeError> for ExtractError {
    fn from(error: prost::DecodeError) -> Self {
        Self::Model(error.into())
    }
}

/// The part of the model in `file`, which was read as `model` from `origin`. External data stay where they are, or are copied into
/// the file `data` beside the part.
///
/// # Errors
/// When the names fit no part, a type is not known, or data cannot be read.
pub fn extract(
    cx: &Context,
    (file, model, origin): (&Bytes, &OnnxModel, &Origin),
    cut: &Cut,
    data: Option<&str>,
) -> Result<Extracted, ExtractError> {
    let message = ModelProto::decode(file.clone())?;
    let graph = message.graph.clone().unwrap_or_default();
    let plan = Plan::new(&names::outline(&graph), cut)?;
    let ends: Vec<String> = plan.from.iter().chain(&plan.to).cloned().collect();
    let described = types::described(cx, &graph, model, &ends)?;
    let nodes = || graph.node.iter().zip(&plan.nodes).filter(|(_, kept)| **kept).map(|(node, _)| node);
    let functions = names::called(nodes(), &message.functions);
    let mut part =
        Part { plan: &plan, described: &described, weights: Weights::new(origin, data), taken: taken(&graph) };
    let (mut made, mut function) = (Vec::new(), 0);
    for field in fields(file)? {
        match field.number {
            GRAPH => push(&mut made, GRAPH, &part.graph(field.content)?),
            FUNCTION => {
                if functions[function] {
                    push(&mut made, FUNCTION, &part.weights.function(field.content)?);
                }
                function += 1;
            }
            // It speaks of names that may be gone.
            TRAINING => {}
            _ => made.extend_from_slice(field.whole),
        }
    }
    let data = part.weights.into_data();
    Ok(Extracted { model: made, data, nodes: nodes().count(), inputs: plan.from, outputs: plan.to })
}

/// Numbers of fields of `ModelProto`.
const GRAPH: u32 = 7;
const TRAINING: u32 = 20;
const FUNCTION: u32 = 25;

/// Every name that the outermost graph uses.
fn taken(graph: &super::proto::GraphProto) -> FxHashSet<String> {
    let names = graph.node.iter().flat_map(|node| node.input.iter().chain(&node.output));
    names.cloned().collect()
}

struct Part<'p> {
    plan: &'p Plan,
    described: &'p FxHashMap<String, Vec<u8>>,
    weights: Weights<'p>,
    /// Names that no new value may have.
    taken: FxHashSet<String>,
}

impl Part<'_> {
    /// The graph, of which the planned part is kept.
    fn graph(&mut self, message: &[u8]) -> Result<Vec<u8>, ExtractError> {
        let (mut made, mut node) = (Vec::new(), 0);
        for name in &self.plan.from {
            push(&mut made, 11, &self.described[name]);
        }
        for name in &self.plan.to {
            push(&mut made, 12, &self.described[name]);
        }
        for field in fields(message)? {
            match field.number {
                1 => {
                    if self.plan.nodes[node] {
                        let content = self.node(field.content)?;
                        push(&mut made, 1, &self.weights.node(&content)?);
                    }
                    node += 1;
                }
                // Initializers, dense and sparse.
                5 if self.keeps(name_of(field.content, 8)?) => push(&mut made, 5, &self.weights.tensor(field.content)?),
                15 => {
                    let values = fields(field.content)?.into_iter().find(|f| f.number == 1);
                    if self.keeps(values.map_or(Ok(""), |f| name_of(f.content, 8))?) {
                        made.extend_from_slice(field.whole);
                    }
                }
                // Inputs that have a value, descriptions, and how values are quantized.
                11 | 13 | 14 if self.keeps(name_of(field.content, 1)?) && !self.is_new(field)? => {
                    made.extend_from_slice(field.whole);
                }
                5 | 11 | 12 | 13 | 14 => {}
                _ => made.extend_from_slice(field.whole),
            }
        }
        Ok(made)
    }

    /// Whether the part uses a value of the old model that it does not get as an input.
    fn keeps(&self, name: &str) -> bool {
        self.plan.kept.contains(name) && !self.plan.from.iter().any(|input| input == name)
    }

    /// Whether a description is of a value that has a new one.
    fn is_new(&self, field: Field<'_>) -> Result<bool, ExtractError> {
        Ok(field.number != 14 && self.described.contains_key(name_of(field.content, 1)?))
    }

    /// A node; an output that is an input of the part, as another output is needed, gets another name.
    fn node(&mut self, message: &[u8]) -> Result<Vec<u8>, ExtractError> {
        let outputs = NodeProto::decode(message)?.output;
        if !outputs.iter().any(|name| self.plan.from.contains(name)) {
            return Ok(message.to_vec());
        }
        let mut made = Vec::new();
        for field in fields(message)? {
            let name = std::str::from_utf8(field.content).unwrap_or_default();
            if field.number == 2 && self.plan.from.iter().any(|input| input == name) {
                let fresh = (1..).map(|i| format!("{name}_unused_{i}")).find(|name| self.taken.insert(name.clone()));
                push(&mut made, 2, fresh.unwrap_or_default().as_bytes());
            } else {
                made.extend_from_slice(field.whole);
            }
        }
        Ok(made)
    }
}

/// The string in the field `number` of a message.
fn name_of(message: &[u8], number: u32) -> Result<&str, ExtractError> {
    let name = fields(message)?.into_iter().rfind(|field| field.number == number);
    Ok(name.and_then(|field| std::str::from_utf8(field.content).ok()).unwrap_or_default())
}
