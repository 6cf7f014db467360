//! Operators of a user: declared in files beside the library, and named by nodes of a model.

use std::fmt;
use std::path::{Path, PathBuf};

use sutura_dialects::graph::operator::{LibraryError, Literal as Declared, OnnxForm, from_text, own_from_file};
use sutura_ir::{Context, Module};

use super::model::AttributeKind;
use super::schema::{self, Arity, AttributeRule, Formal, Interface, Operator, Presence};

/// Operators that files declare for nodes of models. They are interned: what is read once stays.
pub struct Extension {
    /// Names of the files, and what is in them.
    texts: Vec<(String, String)>,
    forms: &'static [OnnxForm],
    operators: Vec<Operator>,
}

/// Why files are no extension.
#[derive(Debug, thiserror::Error)]
pub enum ExtensionError {
    /// A file does not declare operators.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A file declares what models mean by a name already.
    #[error("`{}` declares `{operator}` for models, {why}", .path.display())]
    Known {
        /// Which file.
        path: PathBuf,
        /// The operator of the model, with its domain.
        operator: String,
        /// Who declares it.
        why: &'static str,
    },
    /// Two files declare operators by one name.
    #[error("`{}` declares @{operator}, which another file declares too", .path.display())]
    Twice {
        /// The second file.
        path: PathBuf,
        /// Its name in the text.
        operator: String,
    },
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.texts.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Extension").field("files", &names).finish_non_exhaustive()
    }
}

impl PartialEq for Extension {
    /// Whether both are the same files, read once.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Extension {
    /// Reads files of declarations; what is wrong in one has its place in `cx`.
    ///
    /// # Errors
    /// When a file cannot be read, holds anything but declarations of operators, or declares what has a meaning already: an operator
    /// of the library, one of ONNX, or one of another file.
    pub fn read(cx: &Context, paths: &[PathBuf]) -> Result<&'static Self, ExtensionError> {
        let (mut texts, mut forms): (Vec<(String, String)>, Vec<OnnxForm>) = (Vec::new(), Vec::new());
        for path in paths {
            let own = own_from_file(cx, path)?;
            let before = forms.len();
            for form in own.forms {
                check(&form, &forms[..before], path)?;
                forms.push(form);
            }
            texts.push((path.display().to_string(), own.text));
        }
        let forms: &'static [OnnxForm] = Box::leak(forms.into_boxed_slice());
        Ok(Box::leak(Box::new(Self { texts, forms, operators: operators(forms) })))
    }

    /// The operator of that name, if a file declares one.
    pub(super) fn operator(&self, domain: &str, name: &str) -> Option<&Operator> {
        self.operators.iter().find(|operator| operator.domain == domain && operator.name == name)
    }

    /// Every form of an operator, in the order of the files.
    pub(super) fn forms_of(&self, domain: &str, op: &str) -> impl Iterator<Item = &'static OnnxForm> {
        self.forms.iter().filter(move |form| form.domain == domain && form.op == op)
    }

    /// The declarations, with those of the library that they apply.
    pub(super) fn modules(&self, cx: &Context) -> Vec<Module> {
        let module = |(name, text): &(String, String)| from_text(cx, name, text).expect("it was read before");
        self.texts.iter().map(module).collect()
    }
}

/// Refuses a form that gives a name another meaning; `others` are those of files before.
fn check(form: &OnnxForm, others: &[OnnxForm], path: &Path) -> Result<(), ExtensionError> {
    let operator = format!("{}.{}", form.domain, form.op);
    let operator = operator.trim_start_matches('.').to_owned();
    let path = path.to_owned();
    if schema::operator(&form.domain, &form.op).is_some() {
        return Err(ExtensionError::Known {
            path,
            operator,
            why: "which has a meaning already; give yours a domain of its own",
        });
    }
    if let Some(other) = others.iter().find(|other| other.operator == form.operator) {
        return Err(ExtensionError::Twice { path, operator: other.operator.clone() });
    }
    if others.iter().any(|other| other.domain == form.domain && other.op == form.op) {
        return Err(ExtensionError::Known { path, operator, why: "which another file declares too" });
    }
    Ok(())
}

/// The interfaces of operators, one for each version that a form begins with.
fn operators(forms: &'static [OnnxForm]) -> Vec<Operator> {
    let mut operators: Vec<Operator> = Vec::new();
    for form in forms {
        if operators.iter().any(|known| known.domain == form.domain && known.name == form.op) {
            continue;
        }
        let own: Vec<&OnnxForm> = forms.iter().filter(|f| f.domain == form.domain && f.op == form.op).collect();
        let mut since: Vec<i64> = own.iter().map(|form| form.since).collect();
        since.sort_unstable();
        since.dedup();
        let version = |since: i64| {
            let of: Vec<&OnnxForm> = own.iter().copied().filter(|f| (f.since..=f.until).contains(&since)).collect();
            interface(since, &of)
        };
        let versions = since.into_iter().map(version).collect();
        operators.push(Operator { domain: &form.domain, name: &form.op, versions });
    }
    operators
}

/// What nodes may have that one of the forms takes.
fn interface(since: i64, forms: &[&'static OnnxForm]) -> Interface {
    let inputs = forms.iter().map(|form| form.inputs).max().unwrap_or(0);
    let formal = |name: &'static str, arity: Arity| Formal { name, arity, type_variable: None, types: Vec::new() };
    let input = |i: usize| {
        let named = forms.iter().find_map(|form| form.input_names.get(i));
        let needs = |form: &&OnnxForm| {
            let left_out = form.absent.iter().map(|(name, _)| name).chain(&form.without);
            form.input_names.get(i).is_some_and(|name| left_out.into_iter().all(|absent| absent != name))
        };
        let arity = match forms.iter().any(|form| form.variadic.is_some()) {
            true => Arity::Variadic,
            false if forms.iter().all(needs) => Arity::One,
            false => Arity::Optional,
        };
        formal(named.map_or("input", String::as_str), arity)
    };
    let variadic = forms.iter().any(|form| form.variadic.is_some());
    let inputs = (0..if variadic { inputs.min(1) } else { inputs }).map(input).collect();
    let results = forms.iter().map(|form| form.results).max().unwrap_or(0);
    let output = |i: usize| formal("result", if i == 0 { Arity::One } else { Arity::Optional });
    let mut attributes: Vec<AttributeRule> = Vec::new();
    for (name, kind, presence) in forms.iter().flat_map(|form| rules(form)) {
        if attributes.iter().all(|rule| rule.name != name) {
            attributes.push(AttributeRule { name, kind, presence });
        }
    }
    Interface { since, inputs, outputs: (0..results).map(output).collect(), attributes }
}

/// The attributes that a form reads, each with its kind. What it ignores may be of any.
fn rules(form: &'static OnnxForm) -> Vec<(&'static str, AttributeKind, Presence)> {
    let mut rules = Vec::new();
    let mut rule = |name: &'static str, kind: AttributeKind| rules.push((name, kind, Presence::Optional));
    for (name, wanted) in &form.with {
        rule(
            name,
            match wanted {
                Declared::Int(_) => AttributeKind::Int,
                Declared::Float(_) => AttributeKind::Float,
                Declared::Text(_) => AttributeKind::String,
                Declared::Ints(_) => AttributeKind::Ints,
            },
        );
    }
    form.choose.iter().for_each(|(name, _)| rule(name, AttributeKind::String));
    for words in &form.words {
        rule(&words.attribute, AttributeKind::Strings);
        words.numbers.iter().for_each(|list| rule(&list.attribute, AttributeKind::Floats));
    }
    form.one_of.iter().for_each(|(name, _)| rule(name, AttributeKind::Int));
    form.least.iter().for_each(|(name, _)| rule(name, AttributeKind::Int));
    for (name, is_int) in &form.attributes {
        rule(name, if *is_int { AttributeKind::Int } else { AttributeKind::Float });
    }
    let ignored = form.ignore.iter().chain(&form.refuse);
    rules.extend(ignored.map(|name| (name.as_str(), AttributeKind::Int, Presence::OfAnyKind)));
    rules
}
