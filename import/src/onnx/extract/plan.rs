//! Which part of a graph lies between names, whatever the graph is made of.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_ir::diagnostics::did_you_mean;

/// A graph as far as names tell.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Values that a caller gives, in order.
    pub inputs: Vec<String>,
    /// Values that are there: weights, and inputs with a default.
    pub weights: Vec<String>,
    /// Values that a caller gets, in order.
    pub outputs: Vec<String>,
    /// Operations, in an order in which values are made before they are used.
    pub nodes: Vec<OutlineNode>,
}

/// An operation of an [`Outline`].
#[derive(Clone, Debug, Default)]
pub struct OutlineNode {
    /// As messages name it.
    pub label: String,
    /// Values that it reads, also deep inside.
    pub needs: Vec<String>,
    /// Values that it makes.
    pub gives: Vec<String>,
    /// Values inside it, which nobody outside can use.
    pub inside: Vec<String>,
}

/// What gives a name its value.
#[derive(Clone, Copy)]
enum Giver {
    Input,
    Weight,
    Node(usize),
}

impl Outline {
    fn givers(&self) -> FxHashMap<&str, Giver> {
        let mut givers: FxHashMap<&str, Giver> = FxHashMap::default();
        givers.extend(self.inputs.iter().map(|name| (name.as_str(), Giver::Input)));
        givers.extend(self.weights.iter().map(|name| (name.as_str(), Giver::Weight)));
        for (i, node) in self.nodes.iter().enumerate() {
            givers.extend(node.gives.iter().map(|name| (name.as_str(), Giver::Node(i))));
        }
        givers.remove("");
        givers
    }

    /// The names of a list, each of which the graph must have. A name may hold a comma; what is no name is a list with commas.
    ///
    /// # Errors
    /// A name that the graph does not have, or that is there twice.
    pub fn resolve(&self, given: &[String]) -> Result<Vec<String>, CutError> {
        let givers = self.givers();
        let mut names: Vec<String> = Vec::new();
        for text in given {
            let parts =
                if givers.contains_key(text.as_str()) { vec![text.as_str()] } else { text.split(',').collect() };
            for name in parts {
                if !givers.contains_key(name) {
                    return Err(self.unknown(name, &givers));
                }
                if names.iter().any(|other| other == name) {
                    return Err(CutError::Twice(name.to_owned()));
                }
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn unknown(&self, name: &str, givers: &FxHashMap<&str, Giver>) -> CutError {
        if let Some(node) = self.nodes.iter().find(|node| node.inside.iter().any(|inner| inner == name)) {
            return CutError::Inside { name: name.to_owned(), node: node.label.clone() };
        }
        let mut known: Vec<&str> = givers.keys().copied().collect();
        known.sort_unstable();
        CutError::Unknown { name: name.to_owned(), suggestion: did_you_mean(name, known).map(str::to_owned) }
    }
}

/// The values that a model is cut at.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// Inputs of the new model; none stands for those inputs of the old one that the outputs need.
    pub from: Vec<String>,
    /// Outputs of the new model; none stands for those of the old one.
    pub to: Vec<String>,
}

/// Why nothing lies between the names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutError {
    /// A name that the model does not have.
    Unknown { name: String, suggestion: Option<String> },
    /// A name of a value in a graph of a node.
    Inside { name: String, node: String },
    /// The same name twice.
    Twice(String),
    /// A name that is an output and needs no node: an input or a weight.
    NotComputed(String),
    /// Inputs of the model that the outputs need, and that are not named; each with an output that needs it.
    Missing(Vec<(String, String)>),
    /// An output that depends on no input.
    Independent(String),
    /// An input on which no output depends.
    Unused(String),
    /// The type of a value that becomes an input or output, which nothing tells.
    NoType { name: String, why: String },
}

impl fmt::Display for CutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, .. } => write!(f, "the model has no value `{name}`"),
            Self::Inside { name, node } => {
                write!(f, "`{name}` is a value inside {node}, and a model is cut at values of its outermost graph")
            }
            Self::Twice(name) => write!(f, "`{name}` is named twice"),
            Self::NotComputed(name) => write!(f, "no operation computes `{name}`, so it cannot be an output"),
            Self::Missing(missing) => {
                let list: Vec<String> =
                    missing.iter().map(|(input, output)| format!("`{input}`, on which `{output}` depends")).collect();
                write!(f, "--from lacks {}", list.join("; "))
            }
            Self::Independent(name) => write!(f, "`{name}` depends on none of the inputs"),
            Self::Unused(name) => write!(f, "none of the outputs depends on `{name}`"),
            Self::NoType { name, why } => write!(f, "the type of `{name}` is not known: {why}"),
        }
    }
}

impl CutError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { suggestion, .. } => suggestion.as_ref().map(|close| format!("did you mean `{close}`?")),
            Self::Inside { .. } => Some("name an input or output of that node".to_owned()),
            Self::Missing(missing) => {
                let names: Vec<&str> = missing.iter().map(|(input, _)| input.as_str()).collect();
                Some(format!("add `--from {}`, or values that lie between", names.join(",")))
            }
            Self::Independent(_) | Self::Unused(_) => Some("leave it out".to_owned()),
            Self::NoType { .. } => {
                Some("state it in the model's value_info, as `onnx.shape_inference.infer_shapes` does".to_owned())
            }
            Self::Twice(_) | Self::NotComputed(_) => None,
        }
    }
}

/// The part of a graph between names.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its inputs, in order.
    pub from: Vec<String>,
    /// Its outputs, in order.
    pub to: Vec<String>,
    /// Which nodes are kept.
    pub nodes: Vec<bool>,
    /// The values on the way.
    pub kept: FxHashSet<String>,
}

impl Plan {
    /// The part that a cut makes.
    ///
    /// # Errors
    /// When names are wrong, or nothing lies between them.
    pub fn new(graph: &Outline, cut: &Cut) -> Result<Self, CutError> {
        let givers = graph.givers();
        let from = graph.resolve(&cut.from)?;
        let to = if cut.to.is_empty() { graph.outputs.clone() } else { graph.resolve(&cut.to)? };
        let mut search = Search {
            graph,
            givers: &givers,
            from: from.iter().map(String::as_str).collect(),
            nodes: vec![false; graph.nodes.len()],
            seen: FxHashSet::default(),
            missing: Vec::new(),
        };
        for name in &to {
            if !matches!(givers.get(name.as_str()), Some(Giver::Node(_))) || from.contains(name) {
                return Err(CutError::NotComputed(name.clone()));
            }
            search.from_output(name);
        }
        let missing = std::mem::take(&mut search.missing);
        let nodes = search.nodes;
        let seen: FxHashSet<String> = search.seen.into_iter().map(str::to_owned).collect();
        let from = match (cut.from.is_empty(), missing.is_empty()) {
            (true, _) => {
                let wanted = graph.inputs.iter().filter(|input| missing.iter().any(|(name, _)| name == *input));
                wanted.cloned().collect()
            }
            (false, true) => from,
            (false, false) => return Err(CutError::Missing(missing)),
        };
        if let Some(unused) = from.iter().find(|name| !seen.contains(*name)) {
            return Err(CutError::Unused(unused.clone()));
        }
        let plan = Self { nodes, kept: seen, from, to };
        plan.depends(graph)?;
        Ok(plan)
    }

    /// Refuses outputs that no input has a say in.
    fn depends(&self, graph: &Outline) -> Result<(), CutError> {
        let mut reached: FxHashSet<&str> = self.from.iter().map(String::as_str).collect();
        for (node, _) in graph.nodes.iter().zip(&self.nodes).filter(|(_, kept)| **kept) {
            if node.needs.iter().any(|name| reached.contains(name.as_str())) {
                reached.extend(node.gives.iter().map(String::as_str));
            }
        }
        match self.to.iter().find(|name| !reached.contains(name.as_str())) {
            Some(name) => Err(CutError::Independent(name.clone())),
            None => Ok(()),
        }
    }
}

/// The way back from outputs.
struct Search<'g> {
    graph: &'g Outline,
    givers: &'g FxHashMap<&'g str, Giver>,
    from: FxHashSet<&'g str>,
    nodes: Vec<bool>,
    seen: FxHashSet<&'g str>,
    /// Inputs of the model on the way, each with an output that needs it.
    missing: Vec<(String, String)>,
}

impl<'g> Search<'g> {
    fn from_output(&mut self, output: &str) {
        let Some((name, _)) = self.givers.get_key_value(output) else { return };
        let mut pending = vec![*name];
        while let Some(name) = pending.pop() {
            if !self.seen.insert(name) || self.from.contains(name) {
                continue;
            }
            match self.givers.get(name) {
                Some(Giver::Node(node)) => {
                    if !std::mem::replace(&mut self.nodes[*node], true) {
                        // The first input is looked at first, so that inputs come in a natural order.
                        pending.extend(self.graph.nodes[*node].needs.iter().map(String::as_str).rev());
                    }
                }
                Some(Giver::Input) => self.missing.push((name.to_owned(), output.to_owned())),
                Some(Giver::Weight) | None => {}
            }
        }
    }
}
