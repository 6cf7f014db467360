//! Access to one node's operands and parameters, with the defaults of its
//! operator's version and constants looked up.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    error::{Reason, unsupported},
    extension::Extension,
    model::{Attribute, Graph, Node},
    op::Param,
    schema::{Interface, Literal, Presence, numbers},
    support::{TypedGraph, typed_graph},
    tensor::{Scalar, Tensor},
};

/// What is known about a graph's values while its nodes are gone through.
pub(super) struct Values<'m, 'o> {
    /// Operators of a user that nodes may be.
    pub(super) extension: Option<&'static Extension>,
    /// Those of the graph around this one.
    outer: Option<&'o Values<'m, 'o>>,
    /// Names that this graph defines, whatever they are outside.
    own: FxHashSet<&'m str>,
    /// Initializers and the results of constant nodes.
    constants: FxHashMap<&'m str, Cow<'m, Tensor>>,
    used: FxHashSet<&'m str>,
}

impl<'m, 'o> Values<'m, 'o> {
    /// Those of a graph in another one, or of a model with these operators of a user.
    pub(super) fn new(
        graph: &'m Graph,
        outer: Option<&'o Values<'m, 'o>>,
        extension: Option<&'static Extension>,
    ) -> Self {
        let weights = graph.initializers.iter();
        let mut used = FxHashSet::default();
        collect_uses(graph, &mut used);
        let mut own = FxHashSet::default();
        if outer.is_some() {
            own.extend(graph.inputs.iter().map(|info| info.name.as_str()));
            own.extend(graph.nodes.iter().flat_map(|node| node.outputs.iter().flatten().map(String::as_str)));
        }
        let constants = weights.map(|(n, t)| (n.as_str(), Cow::Borrowed(t))).collect();
        Self { extension, outer, own, constants, used }
    }

    pub(super) fn constant(&self, name: &str) -> Option<&Tensor> {
        match self.constants.get(name) {
            Some(tensor) => Some(tensor),
            None if self.own.contains(name) => None,
            None => self.outer?.constant(name),
        }
    }

    pub(super) fn define(&mut self, name: &'m str, value: Tensor) {
        self.constants.insert(name, Cow::Owned(value));
    }

    /// Makes `name` another name of `source`, if that is a constant.
    pub(super) fn alias(&mut self, name: &'m str, source: &str) {
        if let Some(value) = self.constant(source) {
            let value = Cow::Owned(value.clone());
            self.constants.insert(name, value);
        }
    }

    /// Whether a node or the graph's outputs use the value.
    fn is_used(&self, name: &str) -> bool {
        self.used.contains(name)
    }
}

fn collect_uses<'m>(graph: &'m Graph, used: &mut FxHashSet<&'m str>) {
    used.extend(graph.outputs.iter().map(|o| o.name.as_str()));
    for node in &graph.nodes {
        used.extend(node.inputs.iter().flatten().map(String::as_str));
        for subgraph in node.attributes.values().flat_map(|a| a.graphs()) {
            collect_uses(subgraph, used);
        }
    }
}

/// A node that fits `interface`. Failures are reasons why it is refused.
pub(super) struct NodeReader<'m, 'a> {
    pub(super) node: &'m Node,
    pub(super) interface: &'static Interface,
    pub(super) values: &'a Values<'m, 'a>,
}

impl<'m> NodeReader<'m, '_> {
    /// An input that may be left out.
    pub(super) fn optional(&self, index: usize) -> Option<&'m str> {
        self.node.inputs.get(index)?.as_deref()
    }

    pub(super) fn input(&self, index: usize) -> Result<&'m str, Reason> {
        self.optional(index).ok_or_else(|| match self.interface.inputs.get(index) {
            Some(formal) => format!("has no input `{}`", formal.name).into(),
            None => format!("has no input {index}").into(),
        })
    }

    pub(super) fn inputs(&self) -> Vec<&'m str> {
        self.node.inputs.iter().flatten().map(String::as_str).collect()
    }

    /// Fails if one of the outputs from `first` on is used.
    pub(super) fn outputs_unused_from(&self, first: usize) -> Result<(), Reason> {
        let rest = self.node.outputs.iter().enumerate().skip(first);
        for (i, name) in rest.filter_map(|(i, o)| Some((i, o.as_deref()?))) {
            if self.values.is_used(name) {
                let formal = self.interface.outputs.get(i).map_or("", |f| f.name);
                return Err(unsupported(format!("output `{formal}` (`{name}`) is not supported")));
            }
        }
        Ok(())
    }

    /// Whether an output has a name, and something uses it.
    pub(super) fn output_used(&self, index: usize) -> bool {
        self.node.outputs.get(index).and_then(Option::as_deref).is_some_and(|name| self.values.is_used(name))
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&'m Attribute> {
        self.node.attributes.get(name)
    }

    /// A graph that the node has, with its nodes read.
    pub(super) fn graph(&self, name: &str) -> Result<TypedGraph<'m>, Reason> {
        match self.attribute(name) {
            Some(Attribute::Graph(graph)) => Ok(typed_graph(graph, Some(self.values), self.values.extension)),
            _ => Err(format!("has no attribute `{name}`").into()),
        }
    }

    fn default(&self, name: &str) -> Option<Literal> {
        match self.interface.attribute(name)?.presence {
            Presence::Default(literal) => Some(literal),
            _ => None,
        }
    }

    /// None if the attribute is left out and has no default, or does not exist
    /// in this version.
    pub(super) fn optional_int(&self, name: &str) -> Option<i64> {
        match (self.attribute(name), self.default(name)) {
            (Some(Attribute::Int(v)), _) => Some(*v),
            (None, Some(Literal::Int(v))) => Some(v),
            _ => None,
        }
    }

    pub(super) fn int(&self, name: &str) -> Result<i64, Reason> {
        self.optional_int(name).ok_or_else(|| format!("has no attribute `{name}`").into())
    }

    /// An int used as a truth value; false in versions that lack it.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Reason> {
        match self.optional_int(name).unwrap_or(0) {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("attribute `{name}` is {other}, it must be 0 or 1").into()),
        }
    }

    pub(super) fn float(&self, name: &str) -> Result<f32, Reason> {
        match (self.attribute(name), self.default(name)) {
            (Some(Attribute::Float(v)), _) => Ok(*v),
            (None, Some(Literal::Float(v))) => Ok(v),
            _ => Err(format!("has no attribute `{name}`").into()),
        }
    }

    /// None in versions that lack the attribute.
    pub(super) fn string(&self, name: &str) -> Result<Option<&'m str>, Reason> {
        match (self.attribute(name), self.default(name)) {
            (Some(Attribute::String(bytes)), _) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(format!("attribute `{name}` is not UTF-8").into()),
            },
            (None, Some(Literal::String(text))) => Ok(Some(text)),
            _ => Ok(None),
        }
    }

    pub(super) fn ints(&self, name: &str) -> Option<&'m [i64]> {
        match self.attribute(name)? {
            Attribute::Ints(values) => Some(values),
            _ => None,
        }
    }

    /// A list of floats.
    pub(super) fn floats(&self, name: &str) -> Result<Vec<f64>, Reason> {
        match self.attribute(name) {
            Some(Attribute::Floats(values)) => Ok(values.iter().map(|v| f64::from(*v)).collect()),
            _ => Err(format!("has no attribute `{name}`").into()),
        }
    }

    /// None if the attribute is left out and has no default.
    pub(super) fn optional_ints(&self, name: &str) -> Option<Vec<i64>> {
        match (self.ints(name), self.default(name)) {
            (Some(values), _) => Some(values.to_vec()),
            (None, Some(Literal::Ints(text))) => numbers(text),
            _ => None,
        }
    }

    /// A list of integers that is an attribute in old versions and an input in
    /// new ones.
    pub(super) fn ints_param(&self, name: &str) -> Result<Option<Param<'m, Vec<i64>>>, Reason> {
        if self.interface.attribute(name).is_some() {
            return Ok(self.ints(name).map(|v| Param::Known(v.to_vec())));
        }
        let index = self.interface.inputs.iter().position(|f| f.name == name);
        let Some(value) = index.and_then(|i| self.optional(i)) else {
            return Ok(None);
        };
        let Some(tensor) = self.values.constant(value) else {
            return Ok(Some(Param::Value(value)));
        };
        match tensor.ints() {
            Some(ints) if tensor.dims.len() <= 1 => Ok(Some(Param::Known(ints))),
            _ => Err(format!(
                "input `{name}` must be a list of integers, but `{value}` is a constant of type \
                 {} and shape {:?}",
                tensor.element, tensor.dims
            )
            .into()),
        }
    }

    /// Like [`Self::ints_param`], where being left out is an error.
    pub(super) fn required_ints_param(&self, name: &str) -> Result<Param<'m, Vec<i64>>, Reason> {
        let param = self.ints_param(name)?;
        let value = self.interface.inputs.iter().position(|f| f.name == name).and_then(|i| self.optional(i));
        if let Some(value) = value
            && let Some(tensor) = self.values.constant(value).filter(|tensor| tensor.dims.len() != 1)
        {
            return Err(format!("`{name}` must be a list, but `{value}` has shape {:?}", tensor.dims).into());
        }
        param.ok_or_else(|| format!("has no `{name}`").into())
    }

    /// Like [`Self::ints_param`], where a value computed at run time is an
    /// error.
    pub(super) fn known_ints(&self, name: &str) -> Result<Option<Vec<i64>>, Reason> {
        match self.ints_param(name)? {
            None => Ok(None),
            Some(Param::Known(ints)) => Ok(Some(ints)),
            Some(Param::Value(value)) => {
                Err(unsupported(format!("`{name}` is computed at run time (`{value}`); it must be a constant")))
            }
        }
    }

    /// Input `index` as a number.
    pub(super) fn scalar_param(&self, index: usize) -> Result<Option<Param<'m, Scalar>>, Reason> {
        let Some(value) = self.optional(index) else {
            return Ok(None);
        };
        let Some(tensor) = self.values.constant(value) else {
            return Ok(Some(Param::Value(value)));
        };
        match tensor.scalar() {
            Some(scalar) => Ok(Some(Param::Known(scalar))),
            None => Err(format!(
                "input {index} must be one number, but `{value}` is a constant of type {} and \
                 shape {:?}",
                tensor.element, tensor.dims
            )
            .into()),
        }
    }
}
