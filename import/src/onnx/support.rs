//! Whether everything in a model can be compiled, and its nodes as [`Op`]s.

use std::fmt;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use super::{
    error::{Reason, unsupported as refusal},
    model::{Node, OnnxModel, ValueInfo, ValueType},
    op::Op,
    reader::{NodeReader, Values},
    schema::{self, Interface},
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
    let mut values = Values::new(&model.graph);
    let functions = model.functions.iter().map(|f| (f.domain.as_str(), f.name.as_str())).collect();
    let mut nodes = Vec::with_capacity(model.graph.nodes.len());
    for node in &model.graph.nodes {
        match typed_node(node, &model.opsets, &functions, &values) {
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
                unsupported.extend(reasons.map(|reason| Unsupported {
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
    if unsupported.is_empty() { Ok(nodes) } else { Err(UnsupportedOps(unsupported)) }
}

/// `functions` are the model's own, by domain and name; they come before
/// ONNX's operators.
fn typed_node<'m>(
    node: &'m Node,
    opsets: &IndexMap<String, i64>,
    functions: &FxHashSet<(&str, &str)>,
    values: &Values<'m>,
) -> Result<(&'static Interface, Op<'m>), Vec<Reason>> {
    if functions.contains(&(node.domain.as_str(), node.op_type.as_str())) {
        let hint = "inline the model's functions with onnx.inliner.inline_local_functions";
        return Err(vec![Reason { hint: Some(hint.into()), ..refusal("is a function that the model defines") }]);
    }
    let Some(operator) = schema::operator(&node.domain, &node.op_type) else {
        return Err(vec![Reason { hint: hint(node), ..refusal("operator is not supported") }]);
    };
    let Some(&opset) = opsets.get(&node.domain) else {
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
    let entry = |what: &str, name: &str, reason: String| Unsupported {
        node: format!("{what} `{name}`"),
        op_type: String::new(),
        domain: String::new(),
        reason,
        hint: None,
        invalid: false,
    };
    let graph = &model.graph;
    let typed = |what, infos: &[ValueInfo]| {
        let bad = infos.iter().filter_map(|info| {
            let reason = match &info.ty {
                ValueType::Tensor { element, .. } if !element.is_moved() => {
                    format!("tensors of {element} are not supported")
                }
                ValueType::Other(kind) => format!("values of kind {kind} are not supported"),
                _ => return None,
            };
            Some(entry(what, &info.name, reason))
        });
        bad.collect::<Vec<_>>()
    };
    let weights = graph.initializers.iter().filter(|(_, t)| !t.element.is_moved());
    let weights = weights.map(|(name, t)| {
        let reason = format!("tensors of {} are not supported", t.element);
        entry("initializer", name, reason)
    });
    let sparse = graph.sparse_initializers.iter();
    let sparse = sparse.map(|s| entry("initializer", s, "sparse tensors are not supported".into()));
    let mut list = typed("input", &graph.inputs);
    list.extend(typed("output", &graph.outputs));
    list.extend(weights.chain(sparse));
    list
}

fn hint(node: &Node) -> Option<String> {
    let by_domain = match node.domain.as_str() {
        "" => by_operator(&node.op_type),
        "com.microsoft" => Some("made by onnxruntime's optimizer or quantizer; give the model it was made from"),
        "ai.onnx.ml" => Some("classical machine learning is out of scope"),
        "org.pytorch.aten" => Some("export again with a newer opset"),
        _ => None,
    };
    match by_domain {
        Some(hint) => Some(hint.into()),
        None if node.domain.is_empty() => similar(&node.op_type),
        None => None,
    }
}

fn by_operator(op_type: &str) -> Option<&'static str> {
    Some(match op_type {
        "If" | "Loop" | "Scan" => {
            "control flow; if it depends only on shapes, a simplifier such as onnxsim may remove it"
        }
        "StringConcat" | "StringNormalizer" | "StringSplit" | "RegexFullMatch" => {
            "tensors of strings are not supported; a tokenizer belongs before the model"
        }
        _ => return None,
    })
}

fn similar(op_type: &str) -> Option<String> {
    let own = schema::operators().filter(|o| o.domain.is_empty());
    let scored = own.map(|o| (strsim::jaro_winkler(op_type, o.name), o.name));
    let (score, name) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (score >= SIMILAR).then(|| format!("did you mean `{name}`?"))
}
