//! What tests of random programs have in common: programs by seed are compiled, run, and compared with the interpreter; those that
//! differ or are refused are kept and summed up.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use sutura_grammar::ParseOptions;
use sutura_interp::{Interpreter, Limits, Tensor as Expected, Value};
use sutura_ir::diagnostics::{Diagnostics, Exit};
use sutura_ir::{Context, Module};
use sutura_runtime::{ElementType, Model, Options, Tensor};

/// What went wrong with one program.
pub(crate) struct Finding {
    pub(crate) seed: u64,
    pub(crate) what: String,
}

/// What is said of a program that is refused, if it is.
pub(crate) type Checked = Result<Option<String>, Finding>;

/// The program of a seed.
pub(crate) struct Case {
    pub(crate) text: String,
    /// Names of the forms in it.
    pub(crate) forms: Vec<&'static str>,
    pub(crate) checked: Checked,
}

/// The seeds `FROM..TO` that the environment names, or the usual ones.
fn seeds(variable: &str, usual: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var(variable) else { return usual };
    let (from, to) = text.split_once("..").unwrap_or_else(|| panic!("{variable} is FROM..TO"));
    from.parse().expect("a number")..to.parse().expect("a number")
}

/// Checks the programs of all seeds, those of `usual` or of the environment's `variable`, and keeps what is wrong in the folder that
/// `variable` with `_KEEP` behind it names.
pub(crate) fn check_all(variable: &str, usual: Range<u64>, mut check: impl FnMut(u64, &Path) -> Case) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut findings, mut refused, mut forms) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let seeds = seeds(variable, usual);
    for seed in seeds.clone() {
        let case = check(seed, folder.path());
        case.forms.iter().for_each(|form| *forms.entry(*form).or_insert(0) += 1);
        if let (Ok(Some(_)) | Err(_), Ok(folder)) = (&case.checked, std::env::var(format!("{variable}_KEEP"))) {
            std::fs::write(Path::new(&folder).join(format!("{seed}.mlir")), &case.text).expect("a folder");
        }
        match case.checked {
            Ok(None) => {}
            Ok(Some(said)) => *refused.entry(said).or_insert(0) += 1,
            Err(finding) => findings.push(finding),
        }
    }
    let mut text = format!("programs {seeds:?}, forms {forms:?}, refused {refused:?}");
    for Finding { seed, what } in &findings {
        let _ = write!(text, "\nseed {seed}: {what}");
    }
    writeln!(std::io::stdout(), "{text}").expect("a summary");
    assert!(findings.is_empty() && refused.is_empty(), "{text}");
}

pub(crate) fn module(cx: &Context, text: &str) -> Module {
    let source = cx.sources().add("random.mlir".to_owned(), text.to_owned()).expect("it is small");
    let mut diags = Diagnostics::default();
    sutura_grammar::parse_module(cx, &source, &ParseOptions::default(), &mut diags)
        .unwrap_or_else(|_| panic!("{:?}\n{text}", diags.iter().map(|d| d.message.clone()).collect::<Vec<_>>()))
}

/// A program as the runtime has it; `Ok(Err(..))` says why it is refused.
pub(crate) fn compiled(text: &str, folder: &Path) -> Result<Result<Model, String>, String> {
    let (model, artifact) = (folder.join("random.mlir"), folder.join("random.sutura"));
    std::fs::write(&model, text).expect("a temporary file");
    let args: [PathBuf; 6] = ["sutura".into(), "compile".into(), "-q".into(), model, "-o".into(), artifact.clone()];
    match sutura_cli::run(&args) {
        (Exit::Ok, _) => {}
        (Exit::Unsupported, said) => return Ok(Err(said)),
        (exit, said) => return Err(format!("exit {exit:?}: {said}")),
    }
    Model::load_with(&artifact, Options::new().threads(2)).map(Ok).map_err(|e| e.to_string())
}

/// A tensor for the runtime.
pub(crate) fn given(elem: ElementType, tensor: &Expected) -> Tensor {
    let dims: Vec<i64> = tensor.shape().iter().map(|size| *size as i64).collect();
    Tensor::from_bytes(elem, &dims, &tensor.data().to_le_bytes().expect("all are set")).expect("as many bytes")
}

/// What `main` makes of values, by the interpreter.
pub(crate) fn interpreted(cx: &Context, module: &Module, values: &[Value]) -> Result<Vec<Value>, String> {
    let mut interpreter = Interpreter::new(cx, module);
    interpreter.set_limits(Limits { steps: 1 << 34, ..Limits::default() });
    interpreter.call("main", values).map_err(|e| format!("the interpreter: {e:?}"))
}
