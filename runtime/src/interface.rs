//! What code and manifest must agree on before the code is called: the lengths of all arrays that it is given, and the
//! sizes of what they point to.

use std::iter;

use crate::artifact;
use crate::error::{Error, Result, count};
use crate::manifest::{Dim, Kernel, Manifest, Value};

impl Manifest {
    /// The text that code for this manifest exports as `sutura_interface`, see [`abi`](crate::abi).
    pub fn interface_text(&self) -> String {
        let sections = sections(self).into_iter().map(|(name, words)| {
            let words = iter::once(name.to_owned()).chain(words);
            words.collect::<Vec<_>>().join(" ")
        });
        sections.collect::<Vec<_>>().join("; ")
    }

    /// An error where the code was generated for something else.
    pub(crate) fn check_interface(&self, code: &str) -> Result<()> {
        let mut found = code.split("; ");
        for (name, wanted) in sections(self) {
            let section = found.next().unwrap_or_default();
            let mut words = section.split(' ');
            if words.next() != Some(name) {
                return Err(differs(format!("the code says `{section}` where its {name} should stand")));
            }
            let words: Vec<&str> = words.collect();
            if words.len() != wanted.len() {
                let (code, manifest) = (words.len(), count(wanted.len(), name.trim_end_matches('s')));
                return Err(differs(format!("the code has {code}, the manifest {manifest}")));
            }
            if let Some(at) = (0..words.len()).find(|at| words[*at] != wanted[*at]) {
                let place = if words.len() == 1 { name.to_owned() } else { format!("{name}, number {at}") };
                let (code, manifest) = (words[at], &wanted[at]);
                return Err(differs(format!("{place}: `{code}` in the code, `{manifest}` in the manifest")));
            }
        }
        match found.next() {
            Some(rest) => Err(differs(format!("the code also says `{rest}`"))),
            None => Ok(()),
        }
    }
}

fn differs(how: String) -> Error {
    Error::Load { reason: format!("`{}` is not for this manifest: {how}", artifact::HOST) }
}

fn sections(manifest: &Manifest) -> Vec<(&'static str, Vec<String>)> {
    let values = |values: &[Value]| values.iter().map(|v| value(manifest, v)).collect();
    let constants = manifest.constants.iter().map(|c| typed(c.element_type.name(), c.dims.iter().map(i64::to_string)));
    let kernel = |k: &Kernel| k.groups_of_block.map_or_else(|| "-".to_owned(), |groups| groups.to_string());
    let number = |n: usize| vec![n.to_string()];
    let symbol = |name: &String| manifest.symbols.iter().position(|symbol| symbol.name == *name);
    let decided: Vec<String> = manifest.decided.iter().filter_map(symbol).map(|number| format!("s{number}")).collect();
    let mut sections = vec![
        ("symbols", number(manifest.symbols.len())),
        ("inputs", values(&[&manifest.inputs[..], &manifest.reserves].concat())),
        ("outputs", values(&manifest.outputs)),
        ("constants", constants.collect()),
        ("checks", number(manifest.checks.len())),
        ("data_checks", number(manifest.data_checks.len())),
        ("kernels", manifest.kernels.iter().map(kernel).collect()),
    ];
    sections.extend((!decided.is_empty()).then_some(("decided", decided)));
    let functions = manifest.functions.len();
    sections.extend((functions > 0).then(|| ("functions", number(functions))));
    sections
}

fn value(manifest: &Manifest, value: &Value) -> String {
    let dim = |dim: &Dim| match dim {
        Dim::Const(n) => n.to_string(),
        Dim::Symbol(name) => {
            let number = manifest.symbols.iter().position(|symbol| symbol.name == *name);
            number.map_or_else(|| "?".to_owned(), |number| format!("s{number}"))
        }
        Dim::Expr(_) => "?".to_owned(),
    };
    typed(value.element_type.name(), value.dims.iter().map(dim))
}

fn typed(element: &str, dims: impl Iterator<Item = String>) -> String {
    format!("{element}[{}]", dims.collect::<Vec<_>>().join(","))
}
