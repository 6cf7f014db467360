//! The layers of the workspace: `ir ← grammar ← dialects ← {passes, import} ← codegen ← tools`; the runtime stands alone.

use serde_json::Value;

use crate::Failure;

/// A crate and the crates of the workspace that it may depend on, by name without `sutura-`. Tests may use more.
const LAYERS: &[(&str, &[&str])] = &[
    ("arena", &[]),
    ("macros", &[]),
    ("visible", &[]),
    ("input", &[]),
    ("output", &["visible"]),
    ("skip", &[]),
    ("ir", &["arena", "macros", "visible"]),
    ("interp", &["ir", "macros"]),
    ("grammar", &["ir", "macros"]),
    ("dialects", &["input", "ir", "macros", "interp", "grammar"]),
    ("passes", &["ir", "macros", "interp", "grammar", "dialects"]),
    ("import", &["input", "ir", "macros", "interp", "grammar", "dialects"]),
    ("mlir-link", &[]),
    ("codegen", &["mlir-link", "ir", "grammar", "dialects", "passes"]),
    ("runtime", &[]),
    ("capi", &["runtime"]),
    ("python", &["visible", "runtime"]),
    ("gpu-runner", &["runtime"]),
    ("tensors", &["input", "output", "import", "runtime"]),
    ("run", &["input", "output", "visible", "ir", "dialects", "runtime", "tensors"]),
    ("filecheck", &["input", "visible"]),
    ("check", &["ir", "interp", "grammar", "dialects", "passes"]),
    ("reduce", &["input", "output", "visible", "ir", "grammar", "dialects", "passes", "check"]),
    ("fmt", &["input", "output", "visible", "ir", "grammar", "dialects"]),
    (
        "opt",
        &[
            "input", "output", "visible", "ir", "macros", "interp", "grammar", "dialects", "passes", "check", "fmt",
            "reduce",
        ],
    ),
    (
        "lit",
        &[
            "input",
            "output",
            "visible",
            "ir",
            "macros",
            "interp",
            "grammar",
            "dialects",
            "passes",
            "check",
            "reduce",
            "filecheck",
            "opt",
        ],
    ),
    (
        "sutura",
        &[
            "input",
            "output",
            "run",
            "visible",
            "ir",
            "macros",
            "interp",
            "grammar",
            "dialects",
            "passes",
            "import",
            "codegen",
            "mlir-link",
            "runtime",
            "tensors",
            "check",
            "fmt",
            "reduce",
            "opt",
            "filecheck",
            "lit",
        ],
    ),
    ("fuzz-files", &["runtime", "filecheck"]),
    ("fuzz", &["ir", "interp", "grammar", "dialects", "passes", "import", "fmt", "fuzz-files"]),
    ("xtask", &[]),
];

/// Crates that link LLVM, and the only crate that may name them.
const LLVM_BINDINGS: [&str; 3] = ["llvm-sys", "melior", "mlir-sys"];
const LLVM_USER: &str = "codegen";

/// The workspace's packages in `cargo metadata`.
pub(crate) fn packages(metadata: &Value) -> Result<&Vec<Value>, Failure> {
    metadata["packages"].as_array().ok_or_else(|| "cargo metadata lists no packages".to_owned())
}

/// Every dependency that crosses the layers, and every crate that no layer knows.
pub(crate) fn problems(metadata: &Value) -> Result<Vec<String>, Failure> {
    let packages = packages(metadata)?;
    let members: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut problems = Vec::new();
    for package in packages {
        let name = package["name"].as_str().ok_or("cargo metadata has a package without a name")?;
        let Some((crate_name, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == short(name)) else {
            problems.push(format!("{name}: no layer knows this crate; add it to xtask/src/tidy/layers.rs"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let wanted = dependency["name"].as_str().unwrap_or_default();
            let for_tests = dependency["kind"].as_str() == Some("dev");
            if LLVM_BINDINGS.contains(&wanted) && *crate_name != LLVM_USER {
                problems.push(format!("{name}: only sutura-{LLVM_USER} may depend on {wanted}"));
            }
            if members.contains(&wanted) && !for_tests && !allowed.contains(&short(wanted)) {
                problems.push(format!("{name}: must not depend on {wanted}: it is not in a layer below"));
            }
        }
    }
    Ok(problems)
}

fn short(name: &str) -> &str {
    name.strip_prefix("sutura-").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with(name: &str, dependencies: &Value) -> Value {
        let other = |name: &str| json!({"name": name, "dependencies": []});
        json!({"packages": [
            {"name": name, "dependencies": dependencies},
            other("sutura-ir"), other("sutura-passes"), other("sutura-codegen"),
        ]})
    }

    #[test]
    fn a_dependency_on_a_higher_layer_is_a_problem() {
        let metadata = with("sutura-grammar", &json!([{"name": "sutura-passes", "kind": null}, {"name": "sutura-ir"}]));
        let found = problems(&metadata).unwrap();
        assert_eq!(found, ["sutura-grammar: must not depend on sutura-passes: it is not in a layer below"]);
    }

    #[test]
    fn tests_may_use_higher_layers_but_nobody_else_llvm() {
        let metadata = with("sutura-opt", &json!([{"name": "sutura-codegen", "kind": "dev"}, {"name": "melior"}]));
        assert_eq!(problems(&metadata).unwrap(), ["sutura-opt: only sutura-codegen may depend on melior"]);
    }

    #[test]
    fn unknown_crates_are_a_problem() {
        let found = problems(&with("sutura-surprise", &json!([]))).unwrap();
        assert!(found.len() == 1 && found[0].starts_with("sutura-surprise: no layer"), "{found:?}");
    }

    #[test]
    fn layers_are_listed_from_the_bottom_up() {
        for (at, (name, allowed)) in LAYERS.iter().enumerate() {
            for below in *allowed {
                assert!(LAYERS[..at].iter().any(|(layer, _)| layer == below), "{name} is listed before {below}");
            }
        }
    }
}
