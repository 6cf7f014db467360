//! What is legal after a conversion.

use indexmap::IndexMap;

use crate::op_def::OpView;
use crate::op_ref::OpRef;

/// A condition on an op.
type Check<'t> = Box<dyn Fn(OpRef<'_>) -> bool + Send + Sync + 't>;

enum Rule<'t> {
    Legal,
    Illegal,
    Dynamic(Check<'t>),
}

/// What a target says of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Legality {
    /// It may stay; `recursively` says that all inside it may, too.
    Legal {
        /// What is inside is not looked at.
        recursively: bool,
    },
    /// It, or its dialect, is declared illegal.
    Illegal,
    /// It is legal under a condition that it does not fulfil.
    DynamicallyIllegal,
    /// The target says nothing. A partial conversion lets it stay when no pattern applies, a full one does not.
    Unknown,
}

/// Which ops are legal after a conversion. What is said of an op counts before what is said of its dialect.
///
/// Conditions may borrow, usually the type converter: `'t` is how long.
#[derive(Default)]
pub struct ConversionTarget<'t> {
    ops: IndexMap<String, Rule<'t>>,
    dialects: IndexMap<String, Rule<'t>>,
    unknown: Option<Check<'t>>,
    recursive: IndexMap<String, Option<Check<'t>>>,
}

impl<'t> ConversionTarget<'t> {
    /// Nothing is known of any op.
    pub fn new() -> Self {
        Self::default()
    }

    /// All ops of the dialect are legal.
    pub fn legal_dialect(&mut self, name: &str) -> &mut Self {
        self.dialects.insert(name.to_string(), Rule::Legal);
        self
    }

    /// No op of the dialect is legal.
    pub fn illegal_dialect(&mut self, name: &str) -> &mut Self {
        self.dialects.insert(name.to_string(), Rule::Illegal);
        self
    }

    /// Ops of the dialect that fulfil `check` are legal.
    pub fn dynamically_legal_dialect(
        &mut self,
        name: &str,
        check: impl Fn(OpRef<'_>) -> bool + Send + Sync + 't,
    ) -> &mut Self {
        self.dialects.insert(name.to_string(), Rule::Dynamic(Box::new(check)));
        self
    }

    /// The op is legal.
    pub fn legal_op<'a, T: OpView<'a>>(&mut self) -> &mut Self {
        self.ops.insert(T::def().name.to_string(), Rule::Legal);
        self
    }

    /// The op is not legal.
    pub fn illegal_op<'a, T: OpView<'a>>(&mut self) -> &mut Self {
        self.ops.insert(T::def().name.to_string(), Rule::Illegal);
        self
    }

    /// The op is legal when it fulfils `check`.
    pub fn dynamically_legal_op<'a, T: OpView<'a>>(
        &mut self,
        check: impl Fn(OpRef<'_>) -> bool + Send + Sync + 't,
    ) -> &mut Self {
        self.ops.insert(T::def().name.to_string(), Rule::Dynamic(Box::new(check)));
        self
    }

    /// Ops of which nothing else is said are legal when they fulfil `check`.
    pub fn dynamically_legal_unknown(&mut self, check: impl Fn(OpRef<'_>) -> bool + Send + Sync + 't) -> &mut Self {
        self.unknown = Some(Box::new(check));
        self
    }

    /// What is inside the op is not looked at when the op itself is legal.
    pub fn recursively_legal_op<'a, T: OpView<'a>>(&mut self) -> &mut Self {
        self.recursive.insert(T::def().name.to_string(), None);
        self
    }

    /// What is inside the op is not looked at when the op itself is legal and fulfils `check`.
    pub fn recursively_legal_op_if<'a, T: OpView<'a>>(
        &mut self,
        check: impl Fn(OpRef<'_>) -> bool + Send + Sync + 't,
    ) -> &mut Self {
        self.recursive.insert(T::def().name.to_string(), Some(Box::new(check)));
        self
    }

    /// What the target says of an op.
    pub fn legality(&self, op: OpRef<'_>) -> Legality {
        let name = op.name_str();
        let rule = self.ops.get(name).or_else(|| self.dialects.get(op.name().dialect(op.cx)));
        let legal = match (rule, &self.unknown) {
            (Some(Rule::Legal), _) => true,
            (Some(Rule::Illegal), _) => return Legality::Illegal,
            (Some(Rule::Dynamic(check)), _) | (None, Some(check)) => check(op),
            (None, None) => return Legality::Unknown,
        };
        if !legal {
            return Legality::DynamicallyIllegal;
        }
        let recursively = self.recursive.get(name).is_some_and(|check| check.as_ref().is_none_or(|check| check(op)));
        Legality::Legal { recursively }
    }

    /// What is legal, in words.
    pub(super) fn describe(&self) -> String {
        let some = |rules: &IndexMap<String, Rule<'_>>, dynamic: bool| -> Vec<String> {
            let wanted =
                |rule: &Rule<'_>| if dynamic { matches!(rule, Rule::Dynamic(_)) } else { matches!(rule, Rule::Legal) };
            rules.iter().filter(|(_, rule)| wanted(rule)).map(|(name, _)| format!("'{name}'")).collect()
        };
        let mut parts = Vec::new();
        for (what, rules) in [("dialect", &self.dialects), ("operation", &self.ops)] {
            for (dynamic, condition) in [(false, ""), (true, " on a condition")] {
                let names = some(rules, dynamic);
                match names.len() {
                    0 => {}
                    1 => parts.push(format!("{what} {}{condition}", names[0])),
                    _ => parts.push(format!("{what}s {}{condition}", names.join(", "))),
                }
            }
        }
        if self.unknown.is_some() {
            parts.push("any other operation on a condition".to_string());
        }
        if parts.is_empty() {
            "nothing is declared legal".to_string()
        } else {
            format!("legal are: {}", parts.join("; "))
        }
    }
}
