//! Identifiers of C and C++ for names of models and tensors, which may be any text.

use std::collections::HashSet;

use sutura_runtime::Manifest;

/// What an identifier is at most long: compilers take any length, readers do not.
const LONGEST: usize = 48;

/// Words that are no names in C or C++, and what their usual headers define in lower case. Others that are reserved begin with an
/// underscore or have two, which [`identifier`] leaves out.
const TAKEN: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "assert",
    "atomic_cancel",
    "atomic_commit",
    "atomic_noexcept",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "complex",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "contract_assert",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "environ",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "fortran",
    "friend",
    "goto",
    "i386",
    "if",
    "imaginary",
    "inline",
    "int",
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "linux",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "noreturn",
    "not",
    "not_eq",
    "nullptr",
    "offsetof",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "reflexpr",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "setjmp",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "switch",
    "synchronized",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "union",
    "unix",
    "unsigned",
    "using",
    "va_arg",
    "va_end",
    "va_start",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// Names of parameters that are no tensors.
const OWN: &[&str] = &["workspace", "workspace_bytes", "bytes"];

/// The names that a library has in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names {
    /// What its functions begin with.
    pub(super) prefix: String,
    /// The inputs. Their dims are called the same with `_dims` behind.
    pub(super) inputs: Vec<String>,
    /// The outputs.
    pub(super) outputs: Vec<String>,
}

impl Names {
    /// Those of a model, with a prefix that the user gave or the model's name.
    pub(super) fn new(manifest: &Manifest, prefix: Option<&str>) -> Self {
        let prefix = prefix.map_or_else(|| identifier(&manifest.model, "model"), str::to_owned);
        let mut taken: HashSet<String> = OWN.iter().map(|name| (*name).to_owned()).collect();
        let mut unique = |name: &str, role: &str| {
            // Macros are in capitals.
            let plain = identifier(name, role).to_lowercase();
            let numbered = (2..).map(|number: u32| format!("{plain}_{number}"));
            let free = |name: &String| !taken.contains(name) && !taken.contains(&dims(name));
            let found = std::iter::once(plain.clone()).chain(numbered).find(free).unwrap_or(plain);
            taken.extend([dims(&found), found.clone()]);
            found
        };
        let inputs = manifest.inputs.iter().map(|value| unique(&value.name, "input")).collect();
        let outputs = manifest.outputs.iter().map(|value| unique(&value.name, "output")).collect();
        Self { prefix, inputs, outputs }
    }

    /// The name of a function.
    pub(super) fn function(&self, what: &str) -> String {
        format!("{}_{what}", self.prefix)
    }

    /// The functions of the library.
    pub(super) fn functions(&self) -> Vec<String> {
        ["last_error", "output_dims", "workspace_bytes", "run"].map(|what| self.function(what)).to_vec()
    }
}

/// What the dims of a tensor are called.
pub(super) fn dims(name: &str) -> String {
    format!("{name}_dims")
}

/// An identifier that is like `name`; `role` stands in for what has no letters.
fn identifier(name: &str, role: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut found = words.collect::<Vec<_>>().join("_");
    if found.is_empty() || found.starts_with(|c: char| c.is_ascii_digit()) {
        found = format!("{role}_{found}");
    }
    found.truncate(LONGEST);
    let found = found.trim_end_matches('_').to_owned();
    if TAKEN.contains(&found.to_lowercase().as_str()) { format!("{found}_") } else { found }
}

/// A prefix that a user gives.
pub(crate) fn parse_prefix(text: &str) -> Result<String, String> {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !begins || !goes_on || text.contains("__") {
        return Err("expected a name of C: letters, digits and single `_`, beginning with a letter".to_owned());
    }
    if text.len() > 2 * LONGEST {
        return Err(format!("expected at most {} characters", 2 * LONGEST));
    }
    Ok(text.trim_end_matches('_').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_an_identifier() {
        for (name, expected) in [
            ("mlp", "mlp"),
            ("resnet-50.v2", "resnet_50_v2"),
            ("50cent", "model_50cent"),
            ("", "model"),
            ("日本", "model"),
            ("int", "int_"),
            ("INT", "INT_"),
            ("__x86_64__", "x86_64"),
            ("*/ evil(); /*", "evil"),
            ("a\nb\0c", "a_b_c"),
            ("linux", "linux_"),
        ] {
            assert_eq!(identifier(name, "model"), expected, "{name:?}");
        }
        assert_eq!(identifier(&"x".repeat(5000), "model").len(), LONGEST);
    }

    #[test]
    fn names_of_tensors_are_different() {
        let mut manifest = super::super::tests::manifest();
        let value = manifest.inputs[0].clone();
        let named = |name: &str| sutura_runtime::manifest::Value { name: name.into(), ..value.clone() };
        manifest.inputs = ["x", "X", "x.dims", "x dims", "workspace", "", "***", "7"].map(named).to_vec();
        manifest.outputs = ["x", "for", "y"].map(named).to_vec();
        let names = Names::new(&manifest, None);
        let all: Vec<&String> = names.inputs.iter().chain(&names.outputs).collect();
        let with_dims: HashSet<String> = all.iter().flat_map(|name| [(*name).clone(), dims(name)]).collect();
        assert_eq!(with_dims.len(), 2 * all.len(), "{all:?}");
        assert!(with_dims.iter().all(|name| !OWN.contains(&name.as_str()) && !TAKEN.contains(&name.as_str())));
        assert_eq!(names.inputs[..2], ["x", "x_2"]);
        assert_eq!(names.inputs[7], "input_7");
    }

    #[test]
    fn a_prefix_is_an_identifier() {
        assert_eq!(parse_prefix("net_2").unwrap(), "net_2");
        for wrong in ["", "2net", "_net", "a b", "a__b", "a;b", "é"] {
            parse_prefix(wrong).unwrap_err();
        }
        parse_prefix(&"x".repeat(200)).unwrap_err();
    }
}
