//! The operator table: which operators are supported, and what inputs,
//! outputs and attributes each has in which opset.
//!
//! The rows are in `operators.txt`, taken from the ONNX package by
//! `cargo xtask operators` (`import/tools/make_operators.py`).

use std::sync::LazyLock;

use indexmap::IndexMap;

use super::model::{AttributeKind, Node};
use super::tensor::ElementType;

const TABLE: &str = include_str!("operators.txt");

/// A supported operator.
#[derive(Debug)]
pub struct Operator {
    /// Empty for ONNX's own.
    pub domain: &'static str,
    pub name: &'static str,
    /// Ascending by `since`.
    pub versions: Vec<Interface>,
}

/// What an operator looks like from one opset on, until the next.
#[derive(Debug, PartialEq)]
pub struct Interface {
    pub since: i64,
    pub inputs: Vec<Formal>,
    pub outputs: Vec<Formal>,
    pub attributes: Vec<AttributeRule>,
}

/// An input or output.
#[derive(Debug, PartialEq, Eq)]
pub struct Formal {
    pub name: &'static str,
    pub arity: Arity,
    /// Inputs with the same variable have one element type.
    pub type_variable: Option<&'static str>,
    /// The element types that an input may have, where they are few; else empty.
    pub types: Vec<ElementType>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    One,
    Optional,
    /// One or more; only in the last place.
    Variadic,
    /// Any number; only in the last place.
    Any,
}

#[derive(Debug, PartialEq)]
pub struct AttributeRule {
    pub name: &'static str,
    pub kind: AttributeKind,
    pub presence: Presence,
}

#[derive(Debug, PartialEq)]
pub enum Presence {
    Required,
    Optional,
    /// Optional, and of any kind: it says nothing.
    OfAnyKind,
    Default(Literal),
}

/// A default value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    Int(i64),
    Float(f32),
    String(&'static str),
    /// Numbers with commas between.
    Ints(&'static str),
    /// Words with commas between.
    Strings(&'static str),
}

static OPERATORS: LazyLock<IndexMap<&'static str, Operator>> =
    LazyLock::new(|| parse(TABLE).unwrap_or_else(|line| panic!("operators.txt: {line}")));

/// All supported operators.
pub fn operators() -> impl Iterator<Item = &'static Operator> {
    OPERATORS.values()
}

/// The operator called `name` in `domain`, if it is supported.
pub fn operator(domain: &str, name: &str) -> Option<&'static Operator> {
    let found = if domain.is_empty() { OPERATORS.get(name) } else { OPERATORS.get(&*format!("{domain}.{name}")) };
    found.filter(|operator| operator.domain == domain)
}

impl Operator {
    /// The interface in force in `opset`; none if the operator is younger.
    pub fn at(&self, opset: i64) -> Option<&Interface> {
        self.versions.iter().rev().find(|v| v.since <= opset)
    }

    /// The first opset of its domain that has the operator, of those supported.
    pub fn first_opset(&self) -> i64 {
        let first = if self.domain.is_empty() { *super::OPSETS.start() } else { 1 };
        self.versions[0].since.max(first)
    }
}

impl Interface {
    pub fn attribute(&self, name: &str) -> Option<&AttributeRule> {
        self.attributes.iter().find(|a| a.name == name)
    }

    /// The formal of each input of a node: the last one again for those beyond it.
    pub fn formals_of_inputs(&self) -> impl Iterator<Item = &Formal> {
        self.inputs.iter().chain(self.inputs.last().into_iter().cycle())
    }

    /// Everything in which `node` does not fit this interface.
    pub fn mismatches(&self, node: &Node) -> Vec<String> {
        let since = self.since;
        let mut reasons = Vec::new();
        values("input", &self.inputs, &node.inputs, &mut reasons);
        values("output", &self.outputs, &node.outputs, &mut reasons);
        for (name, value) in &node.attributes {
            match self.attribute(name) {
                None => reasons
                    .push(format!("has attribute `{name}`, which {} version {since} does not have", node.op_type)),
                Some(rule) if rule.kind != value.kind() && rule.presence != Presence::OfAnyKind => {
                    reasons.push(format!("attribute `{name}` is {}, it must be {}", value.kind(), rule.kind))
                }
                Some(_) => {}
            }
        }
        for rule in &self.attributes {
            if rule.presence == Presence::Required && !node.attributes.contains_key(rule.name) {
                reasons.push(format!("has no attribute `{}`", rule.name));
            }
        }
        reasons
    }
}

fn values(what: &str, formals: &[Formal], actual: &[Option<String>], reasons: &mut Vec<String>) {
    let variadic = formals.last().is_some_and(|f| matches!(f.arity, Arity::Variadic | Arity::Any));
    if actual.len() > formals.len() && !variadic {
        reasons.push(format!("has {} {what}s, at most {} are allowed", actual.len(), formals.len()));
    }
    for (i, formal) in formals.iter().enumerate() {
        // Of several results one may be left out.
        let given = match formal.arity {
            Arity::Optional | Arity::Any => true,
            Arity::Variadic if what == "output" => actual.len() > i,
            _ => actual.get(i).is_some_and(Option::is_some),
        };
        if !given {
            reasons.push(format!("has no {what} `{}`", formal.name));
        }
    }
    let any = formals.last().is_some_and(|f| f.arity == Arity::Any);
    let rest = actual.iter().skip(formals.len() - usize::from(any));
    if what == "input" && variadic && rest.clone().any(Option::is_none) {
        reasons.push(format!("leaves out one of its {what}s"));
    }
}

/// Parses the table; the error is the line that does not parse.
fn parse(table: &'static str) -> Result<IndexMap<&'static str, Operator>, &'static str> {
    let mut operators: IndexMap<&str, Operator> = IndexMap::new();
    for line in table.lines().filter(|l| !l.starts_with('#')) {
        let (whole, interface) = row(line).ok_or(line)?;
        let (domain, name) = whole.rsplit_once('.').unwrap_or(("", whole));
        let made = || Operator { domain, name, versions: Vec::new() };
        let operator = operators.entry(whole).or_insert_with(made);
        operator.versions.push(interface);
    }
    Ok(operators)
}

fn row(line: &'static str) -> Option<(&'static str, Interface)> {
    let (head, body) = line.split_once(": ")?;
    let (name, since) = head.split_once(' ')?;
    let (values, attributes) = body.split_once(" | ").unwrap_or((body, ""));
    let (inputs, outputs) = values.split_once("-> ")?;
    let interface = Interface {
        since: since.parse().ok()?,
        inputs: inputs.split_whitespace().map(formal).collect::<Option<_>>()?,
        outputs: outputs.split_whitespace().map(formal).collect::<Option<_>>()?,
        attributes: (attributes.split_whitespace()).map(attribute_rule).collect::<Option<_>>()?,
    };
    Some((name, interface))
}

fn formal(text: &'static str) -> Option<Formal> {
    let (text, types) = text.split_once('=').map_or((text, None), |(text, types)| (text, Some(types)));
    let types = types.into_iter().flat_map(|types| types.split(','));
    let types = types.map(ElementType::from_name).collect::<Option<_>>()?;
    let (text, type_variable) = text.split_once(':').map_or((text, None), |(text, variable)| (text, Some(variable)));
    let (name, arity) = if let Some(name) = text.strip_suffix('?') {
        (name, Arity::Optional)
    } else if let Some(name) = text.strip_suffix("**") {
        (name, Arity::Any)
    } else if let Some(name) = text.strip_suffix('*') {
        (name, Arity::Variadic)
    } else {
        (text, Arity::One)
    };
    Some(Formal { name, arity, type_variable, types })
}

/// Integers with commas between.
pub(super) fn numbers(text: &str) -> Option<Vec<i64>> {
    text.split(',').map(|number| number.parse().ok()).collect()
}

fn attribute_rule(text: &'static str) -> Option<AttributeRule> {
    let (name, rest) = text.split_once(':')?;
    let (kind, presence) = if let Some(kind) = rest.strip_suffix('!') {
        (AttributeKind::from_name(kind)?, Presence::Required)
    } else if let Some((kind, value)) = rest.split_once('=') {
        let kind = AttributeKind::from_name(kind)?;
        let literal = match kind {
            AttributeKind::Int => Literal::Int(value.parse().ok()?),
            AttributeKind::Float => Literal::Float(value.parse().ok()?),
            AttributeKind::String => Literal::String(value),
            AttributeKind::Strings => Literal::Strings(value),
            AttributeKind::Ints if numbers(value).is_some() => Literal::Ints(value),
            _ => return None,
        };
        (kind, Presence::Default(literal))
    } else {
        (AttributeKind::from_name(rest)?, Presence::Optional)
    };
    Some(AttributeRule { name, kind, presence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx::OPSETS;

    #[test]
    fn table_parses_and_is_ordered() {
        for operator in operators() {
            let since: Vec<_> = operator.versions.iter().map(|v| v.since).collect();
            assert!(since.is_sorted_by(|a, b| a < b), "{}: {since:?}", operator.name);
            assert!(operator.at(*OPSETS.end()).is_some());
            for version in &operator.versions {
                let inner = version.inputs.split_last().map_or(&[][..], |l| l.1);
                assert!(inner.iter().all(|f| !matches!(f.arity, Arity::Variadic | Arity::Any)));
            }
        }
        assert!(operators().count() >= 60);
    }

    #[test]
    fn lookup_follows_the_opset() {
        let squeeze = operator("", "Squeeze").unwrap();
        assert_eq!(squeeze.at(12).unwrap().inputs.len(), 1);
        assert_eq!(squeeze.at(13).unwrap().inputs.len(), 2);
        assert_eq!(operator("", "Gelu").unwrap().at(19), None);
        assert_eq!(operator("", "Gelu").unwrap().first_opset(), 20);
        assert_eq!(operator("", "Abs").unwrap().first_opset(), 1);
        let axis = |opset| &operator("", "Softmax").unwrap().at(opset).unwrap().attributes[0].presence;
        assert_eq!(axis(12), &Presence::Default(Literal::Int(1)));
        assert_eq!(axis(13), &Presence::Default(Literal::Int(-1)));
        assert!(operator("", "NoSuchOp").is_none());
        assert!(operator("com.microsoft", "Abs").is_none());
        assert_eq!(operator("com.microsoft", "FusedMatMul").unwrap().first_opset(), 1);
        let variables = |name| operator("", name).unwrap().at(23).unwrap().inputs.iter().map(|f| f.type_variable);
        assert!(variables("Where").eq([None, Some("T"), Some("T")]));
        assert!(variables("RMSNormalization").eq([None, None]));
        assert!(variables("Concat").eq([Some("T")]));
        let types = |name| operator("", name).unwrap().at(23).unwrap().inputs.iter().map(|f| &f.types[..]);
        assert!(types("Where").eq([&[ElementType::Bool][..], &[], &[]]));
        assert!(types("Gather").eq([&[][..], &[ElementType::I32, ElementType::I64]]));
    }

    #[test]
    fn bad_rows_are_refused() {
        for bad in [
            "",
            "Abs",
            "Abs x: X -> Y",
            "Abs 1: X",
            "Abs 1: X=i65 -> Y",
            "Abs 1: X= -> Y",
            "Abs 1: X -> Y | axis",
            "Abs 1: X -> Y | axis:whole",
            "Abs 1: X -> Y | axis:int=one",
            "Abs 1: X -> Y | axes:ints=1,x",
        ] {
            assert_eq!(row(bad), None, "{bad}");
        }
    }
}
