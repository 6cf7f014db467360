//! Whether everything in a model can be compiled, and its nodes as [`Op`]s.

use std::fmt;

use indexmap::IndexMap;

use super::{
    error::{Reason, unsupported as refusal},
    extension::Extension,
    model::{Graph, Node, OnnxModel, ValueInfo, ValueType},
    op::Op,
    reader::{NodeReader, Values},
    schema::{self, Interface},
    tensor::{ElementType, Scalar},
    typing,
};

/// Least similarity (Jaro-Winkler) at which another operator's name is offered.
const SIMILAR: f64 = 0.85;

/// A node in the form that does not depend on the opset.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedNode<'m> {
    pub node: &'m Node,
    /// The operator, as it is in the model's opset.
    pub interface: &'static Interface,
    pub op: Op<'m>,
}

impl<'m> TypedNode<'m> {
    /// Names of the results that [`Op`] describes; an unused one may have
    /// none.
    pub fn outputs(&self) -> impl Iterator<Item = Option<&'m str>> + use<'m> {
        let n = match self.op {
            Op::Split { parts, .. } => parts,
            Op::Named { results, .. } => results,
            Op::Converted(ref conversion) => conversion.results(),
            _ => 1,
        };
        self.node.outputs.iter().take(n).map(Option::as_deref)
    }
}

/// Something in a model that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What it is: a node by its name, an input, output or weight.
    pub node: String,
    /// Empty for what is not a node.
    pub op_type: String,
    /// Empty for ONNX's own operators.
    pub domain: String,
    pub reason: String,
    pub hint: Option<String>,
    /// Whether the model is wrong, rather than beyond what is supported.
    pub invalid: bool,
}

/// All that cannot be compiled in a model, as an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct UnsupportedOps(pub Vec<Unsupported>);

impl UnsupportedOps {
    /// Whether the model breaks ONNX's rules.
    pub fn is_invalid(&self) -> bool {
        self.0.iter().any(|u| u.invalid)
    }
}

impl fmt::Display for UnsupportedOps {
    /// What is wrong first. Like reasons together, with every node's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |invalid| self.0.iter().filter(move |u| u.invalid == invalid);
        let unsupported = of(false).next().is_some();
        if self.is_invalid() {
            write!(f, "the model is not valid:")?;
            list(of(true), f)?;
            if unsupported {
                writeln!(f)?;
            }
        }
        if unsupported {
            write!(f, "the model uses what is not supported:")?;
            list(of(false), f)?;
        }
        Ok(())
    }
}

fn list<'u>(found: impl Iterator<Item = &'u Unsupported>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut groups: IndexMap<_, Vec<&str>> = IndexMap::new();
    for u in found {
        let key = (&u.domain, &u.op_type, &u.reason, &u.hint);
        groups.entry(key).or_default().push(&u.node);
    }
    for ((domain, op_type, reason, hint), nodes) in groups {
        write!(f, "\n  ")?;
        match (domain.as_str(), op_type.as_str()) {
            (_, "") => {}
            ("", op) => write!(f, "{op}: ")?,
            (domain, op) => write!(f, "{domain}.{op}: ")?,
        }
        write!(f, "{}: {reason}", nodes.join(", "))?;
        if let Some(hint) = hint {
            write!(f, "\n    hint: {hint}")?;
        }
    }
    Ok(())
}

/// Lists everything in the model that cannot be compiled.
pub fn check_supported(model: &OnnxModel) -> Vec<Unsupported> {
    match typed_nodes(model) {
        Ok(_) => Vec::new(),
        Err(UnsupportedOps(list)) => list,
    }
}

/// The nodes of the main graph in order, or everything that is not supported.
pub fn typed_nodes(model: &OnnxModel) -> Result<Vec<TypedNode<'_>>, UnsupportedOps> {
    let mut unsupported = outer_values(model);
    let typed = typed_graph(&model.graph, None, model.extension);
    unsupported.extend(typed.problems);
    if unsupported.is_empty() { Ok(typed.nodes) } else { Err(UnsupportedOps(unsupported)) }
}

/// A graph with its nodes in the form that does not depend on the opset.
#[derive(Clone, Debug)]
pub(super) struct TypedGraph<'m> {
    pub(super) graph: &'m Graph,
    pub(super) nodes: Vec<TypedNode<'m>>,
    /// What in it is not supported; a graph in a node may turn out not to be needed.
    pub(super) problems: Vec<Unsupported>,
    /// What the first result is.
    pub(super) first: Origin,
}

/// What a result of a graph is, where its names say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The input of this number.
    Input(usize),
    /// This truth value.
    Constant(bool),
    Other,
}

/// Reads the nodes of a graph, with those around it known.
pub(super) fn typed_graph<'m>(
    graph: &'m Graph,
    outer: Option<&Values<'m, '_>>,
    extension: Option<&'static Extension>,
) -> TypedGraph<'m> {
    let mut problems = if outer.is_some() { weights(graph) } else { Vec::new() };
    let mut values = Values::new(graph, outer, extension);
    let mut nodes = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        match typed_node(node, &values) {
            Ok((interface, op)) => {
                match (&op, node.outputs.first().and_then(Option::as_deref)) {
                    (Op::Constant { value }, Some(name)) => values.define(name, value.clone()),
                    (Op::Identity { x }, Some(name)) => values.alias(name, x),
                    _ => {}
                }
                nodes.push(TypedNode { node, interface, op });
            }
            Err(reasons) => {
                let reasons = reasons.into_iter();
                problems.extend(reasons.map(|reason| Unsupported {
                    node: node.label(),
                    op_type: node.op_type.clone(),
                    domain: node.domain.clone(),
                    reason: reason.text,
                    hint: reason.hint,
                    invalid: reason.invalid,
                }));
            }
        }
    }
    let first = origin(graph, &nodes, &values);
    TypedGraph { graph, nodes, problems, first }
}

/// What the first result of a graph is.
fn origin(graph: &Graph, nodes: &[TypedNode<'_>], values: &Values<'_, '_>) -> Origin {
    let Some(mut name) = graph.outputs.first().map(|info| info.name.as_str()) else { return Origin::Other };
    if let Some(value) = values.constant(name) {
        return match value.scalar() {
            Some(Scalar::Bool(value)) => Origin::Constant(value),
            _ => Origin::Other,
        };
    }
    // Names are defined before they are used, so one way through the nodes suffices.
    for node in nodes.iter().rev() {
        if node.node.outputs.first().and_then(Option::as_deref) == Some(name)
            && let Op::Identity { x } = node.op
        {
            name = x;
        }
    }
    graph.inputs.iter().position(|info| info.name == name).map_or(Origin::Other, Origin::Input)
}

/// The interface of a node's operator in its opset, and what the node says.
fn typed_node<'m>(node: &'m Node, values: &Values<'m, '_>) -> Result<(&'static Interface, Op<'m>), Vec<Reason>> {
    let own = || values.extension?.operator(&node.domain, &node.op_type);
    let Some(operator) = schema::operator(&node.domain, &node.op_type).or_else(own) else {
        return Err(vec![Reason { hint: hint(node), ..refusal("operator is not supported") }]);
    };
    let Some(opset) = node.opset else {
        return Err(vec![format!("is of the domain `{}`, of which the model imports no opset", node.domain).into()]);
    };
    let Some(interface) = operator.at(opset) else {
        let first = operator.first_opset();
        return Err(vec![format!("does not exist in opset {opset}, only from {first} on").into()]);
    };
    let mismatches = interface.mismatches(node);
    if !mismatches.is_empty() {
        return Err(mismatches.into_iter().map(Reason::from).collect());
    }
    let reader = NodeReader { node, interface, values };
    typing::op(&reader).map(|op| (interface, op)).map_err(|reason| vec![reason])
}

/// Inputs, outputs and weights of kinds that are not supported.
fn outer_values(model: &OnnxModel) -> Vec<Unsupported> {
    let graph = &model.graph;
    let mut list = Vec::new();
    for info in graph.runtime_inputs() {
        if let Err(Reason { text, hint, .. }) = input(info) {
            list.push(Unsupported { hint, ..entry("input", &info.name, text) });
        }
    }
    for info in &graph.outputs {
        // Results that are several tensors, or perhaps none, are looked at when they are made.
        let refused = match &info.ty {
            ValueType::Tensor { element, .. } => movable(*element).err(),
            ValueType::Other(_) => Some(format!("is {}, which is not supported", info.ty.kind())),
            _ => None,
        };
        list.extend(refused.map(|reason| entry("output", &info.name, reason)));
    }
    list.extend(weights(graph));
    list
}

/// Whether an input can be one or several arguments, or none.
fn input(info: &ValueInfo) -> Result<(), Reason> {
    let name = &info.name;
    let said = |text: &str, shapes: &[&str]| {
        let shapes: Vec<String> = shapes.iter().map(|shape| format!("`--shape \"{name}={shape}\"`")).collect();
        Err(Reason { hint: Some(format!("say it with {}", shapes.join(" or "))), ..refusal(text) })
    };
    let mut ty = &info.ty;
    if let ValueType::Optional { of, there } = ty {
        match there {
            None if matches!(**of, ValueType::Sequence { .. }) => {
                return said("is an optional, and it is not known whether it is there", &["[[N,3],[4,3]]", "none"]);
            }
            None => return said("is an optional, and it is not known whether it is there", &["[N,3]", "none"]),
            Some(false) => return Ok(()),
            Some(true) => ty = of,
        }
    }
    match ty {
        ValueType::Tensor { element, .. } => movable(*element).map_err(refusal),
        ValueType::Sequence { tensors: None, .. } => {
            said("is a sequence, and it is not known how many tensors it has, and of which shapes", &["[[N,3],[4,3]]"])
        }
        ValueType::Sequence { of, .. } => match &**of {
            ValueType::Tensor { element, .. } => movable(*element).map_err(refusal),
            of => Err(refusal(format!("is a sequence of what is {}, which is not supported", of.kind()))),
        },
        other => Err(refusal(format!("is {}, which is not supported", other.kind()))),
    }
}

fn movable(element: ElementType) -> Result<(), String> {
    if element.is_moved() { Ok(()) } else { Err(format!("tensors of {element} are not supported")) }
}

/// Weights of a graph that are not supported.
fn weights(graph: &Graph) -> Vec<Unsupported> {
    let weights = graph.initializers.iter().filter(|(_, t)| !t.element.is_moved());
    let weights = weights.map(|(name, t)| {
        let reason = format!("tensors of {} are not supported", t.element);
        entry("initializer", name, reason)
    });
    let sparse = graph.sparse_initializers.iter();
    let sparse = sparse.map(|s| entry("initializer", s, "sparse tensors are not supported".into()));
    weights.chain(sparse).collect()
}

fn entry(what: &str, name: &str, reason: String) -> Unsupported {
    Unsupported {
        node: format!("{what} `{name}`"),
        op_type: String::new(),
        domain: String::new(),
        reason,
        hint: None,
        invalid: false,
    }
}

fn hint(node: &Node) -> Option<String> {
    let by_domain = match node.domain.as_str() {
        "" => by_operator(&node.op_type),
        "com.microsoft" => Some("made by onnxruntime's optimizer or quantizer; give the model it was made from"),
        "ai.onnx.ml" => Some("classical machine learning is out of scope"),
        "org.pytorch.aten" => Some("export again with a newer opset"),
        "ai.onnx.preview.training" if node.op_type == "Gradient" => {
            Some("nothing is differentiated; export the model with its gradients")
        }
        domain if domain.starts_with("ai.onnx") => None,
        _ => Some("declare it in a file, and give that with `--operators`"),
    };
    match by_domain {
        Some(hint) => Some(hint.into()),
        None if node.domain.is_empty() => similar(&node.op_type),
        None => None,
    }
}

fn by_operator(op_type: &str) -> Option<&'static str> {
    Some(match op_type {
        "StringConcat" | "StringNormalizer" | "StringSplit" | "RegexFullMatch" => {
            "tensors of strings are not supported; a tokenizer belongs before the model"
        }
        "ImageDecoder" => "images are decoded before the model, which takes their pixels",
        _ => return None,
    })
}

fn similar(op_type: &str) -> Option<String> {
    let own = schema::operators().filter(|o| o.domain.is_empty());
    let scored = own.map(|o| (strsim::jaro_winkler(op_type, o.name), o.name));
    let (score, name) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (score >= SIMILAR).then(|| format!("did you mean `{name}`?"))
}
