//! What names of a model stand for: tensors, and lists of them that exist only while the model is imported.

use sutura_ir::{Type, Value};

use super::super::model::Graph;
use super::super::tensor::Tensor;
use super::{Importer, Made, fail, names};

/// What a name stands for.
#[derive(Clone, Debug)]
pub(in super::super) enum Item {
    Tensor(Value),
    Sequence(Sequence),
    /// One that may be nothing.
    Optional(Option<Box<Item>>),
}

/// A list of tensors, whose number is known.
#[derive(Clone, Debug)]
pub(in super::super) struct Sequence {
    /// Type of the elements of each, where one is known.
    pub(in super::super) elem: Option<Type>,
    pub(in super::super) tensors: Vec<Value>,
}

impl Item {
    pub(in super::super) fn kind(&self) -> &'static str {
        match self {
            Self::Tensor(_) => "a tensor",
            Self::Sequence(_) => "a sequence",
            Self::Optional(_) => "an optional",
        }
    }

    /// The tensors in it, in order.
    pub(in super::super) fn tensors(&self) -> Vec<Value> {
        match self {
            Self::Tensor(value) => vec![*value],
            Self::Sequence(sequence) => sequence.tensors.clone(),
            Self::Optional(inner) => inner.iter().flat_map(|inner| inner.tensors()).collect(),
        }
    }

    /// The same with other tensors, of which there are as many.
    pub(in super::super) fn with(&self, tensors: &mut impl Iterator<Item = Value>) -> Self {
        match self {
            Self::Tensor(value) => Self::Tensor(tensors.next().unwrap_or(*value)),
            Self::Sequence(sequence) => Self::Sequence(Sequence {
                elem: sequence.elem,
                tensors: sequence.tensors.iter().map(|value| tensors.next().unwrap_or(*value)).collect(),
            }),
            Self::Optional(inner) => Self::Optional(inner.as_ref().map(|inner| Box::new(inner.with(tensors)))),
        }
    }

    /// Whether another one differs only in its tensors.
    pub(in super::super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tensor(_), Self::Tensor(_)) => true,
            (Self::Sequence(a), Self::Sequence(b)) => a.tensors.len() == b.tensors.len(),
            (Self::Optional(Some(a)), Self::Optional(Some(b))) => a.is_like(b),
            (Self::Optional(a), Self::Optional(b)) => a.is_none() && b.is_none(),
            _ => false,
        }
    }
}

impl<'m> Importer<'m, '_, '_> {
    /// Gives what a name stands for until the end of its graph.
    pub(in super::super) fn bind(&mut self, name: &'m str, item: Item) {
        if let Item::Tensor(value) = item {
            let body = self.g.b.body();
            if body.value_name(value).is_none() && body.defining_op(value).is_some() {
                let ident = names::value_name(self.cx(), name);
                self.g.b.set_value_name(value, ident);
            }
        }
        let before = self.values.insert(name, item);
        if let Some(scope) = self.scopes.last_mut() {
            scope.shadowed.push((name, before));
        }
    }

    /// What `make` makes where these names stand for these values.
    pub(in super::super) fn with_names<T>(
        &mut self,
        names: Vec<(&'m str, Value)>,
        make: impl FnOnce(&mut Self) -> Made<T>,
    ) -> Made<T> {
        let set = |(name, value)| (name, self.values.insert(name, Item::Tensor(value)));
        let before: Vec<(&'m str, Option<Item>)> = names.into_iter().map(set).collect();
        let made = make(self);
        for (name, item) in before {
            match item {
                Some(item) => self.values.insert(name, item),
                None => self.values.swap_remove(name),
            };
        }
        made
    }

    /// What a name stands for; a weight becomes a constant at its first use.
    pub(in super::super) fn item(&mut self, name: &'m str) -> Made<Item> {
        match self.values.get(name) {
            Some(Item::Tensor(_)) | None => Ok(Item::Tensor(self.value(name)?)),
            Some(item) => Ok(item.clone()),
        }
    }

    /// The sequence of that name.
    pub(in super::super) fn sequence(&mut self, name: &'m str) -> Made<Sequence> {
        match self.item(name)? {
            Item::Sequence(sequence) => Ok(sequence),
            item => fail(format!("needs a sequence, and `{name}` is {}", item.kind())),
        }
    }

    /// The tensor that a name stands for, if it was made.
    pub(super) fn tensor_of(&self, name: &str) -> Option<Value> {
        match self.values.get(name)? {
            Item::Tensor(value) => Some(*value),
            _ => None,
        }
    }

    /// The weight of that name, of the graph that is converted or one around it.
    pub(super) fn weight(&self, name: &str) -> Option<&'m Tensor> {
        let graphs = self.scopes.iter().rev().map(|scope| scope.graph).chain([&self.model.graph]);
        let mut weights = graphs.map(|graph: &'m Graph| graph.initializers.get(name));
        weights.find_map(|weight| weight)
    }
}
