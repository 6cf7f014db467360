//! Reproducers of errors of sutura itself: what the step that failed began with, for `sutura-opt` or for MLIR's tools.

use std::path::PathBuf;

use sutura_opt::reproducer::{Reproducer, said, write_temporary};

use crate::cli::{Command, CompileArgs};
use crate::compile;
use crate::files;
use crate::pipeline::Begun;
use crate::talk::Talk;

/// Writes a reproducer of a command that has just failed, and says where: into a new file among the temporary ones, or where
/// the command line says.
pub(crate) fn keep(command: &Command, talk: &Talk) {
    let args = match command {
        Command::Compile(args) => args,
        Command::Check(args) => &args.as_compilation(),
        _ => return,
    };
    // Nothing is kept of work that goes well; so the work is done again. Panics have been told of already.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let begun = compile::until_failure(args);
    std::panic::set_hook(hook);
    let shown = args.model.display();
    let Some(begun) = begun else {
        return talk.always(&format!("it happens before there is a program: `{shown}` itself shows it"));
    };
    let (text, with) = match begun {
        Begun::Passes { program, pipeline } => {
            (Reproducer { pipeline, disable_threading: false, verify_each: true }.file(&program), None)
        }
        Begun::Code(text) => (text, Some("it is what MLIR gets")),
    };
    match write(args, &text) {
        Ok(path) => talk.always(&match with {
            None => said(&path),
            Some(what) => format!("a reproducer is in `{}`: {what}", path.display()),
        }),
        Err(message) => talk.warning(&message),
    }
}

fn write(args: &CompileArgs, text: &str) -> Result<PathBuf, String> {
    match &args.reproducer {
        Some(path) => files::write(path, text.as_bytes()).map(|()| path.clone()).map_err(|failure| failure.message),
        None => write_temporary("sutura", &args.model.display().to_string(), None, text),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use sutura_ir::analysis::PreservedAnalyses;
    use sutura_ir::diagnostics::Exit;
    use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassRegistry, PassResult, PassRun};
    use sutura_ir::{Builder, OpState};
    use sutura_opt::{Io, Opt};

    use crate::pipeline::PLANTED;

    /// A pass that ends as its name says.
    struct Ends(&'static str);

    impl Pass for Ends {
        fn run(&self, run: &mut PassRun<'_>) -> PassResult {
            let loc = run.header.loc;
            match self.0 {
                "panics" => panic!("the pass fell over"),
                "breaks" => {
                    let block = run.body.entry_block().expect("a block");
                    Builder::at_end(run.cx, run.body, block).create(OpState::new(run.cx.op_name("arith.addi"), loc));
                    Ok(PreservedAnalyses::none())
                }
                "refuses" => {
                    run.diags.error(loc, "this is not supported");
                    Err(PassError::Unsupported)
                }
                _ => Err(run.diags.error(loc, "the input is wrong").into()),
            }
        }
    }

    macro_rules! ends {
        ($name:ident, $argument:literal) => {
            static $name: PassInfo = PassInfo {
                name: "Ends",
                argument: concat!("test-", $argument),
                summary: "",
                description: "",
                anchor: Anchor::Any,
                options: &[],
                statistics: &[],
                create: |_: &PassOptions| Ok(Box::new(Ends($argument))),
            };
        };
    }
    ends!(PANICS, "panics");
    ends!(BREAKS, "breaks");
    ends!(REFUSES, "refuses");
    ends!(FAILS, "fails");

    /// Runs a command with a pass that is planted into a stage.
    fn with(pass: &'static PassInfo, args: &[&str]) -> (Exit, String) {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/softmax_graph.mlir");
        PLANTED.set(Some(pass));
        let done = crate::run(&[args, &[model.to_str().expect("UTF-8")]].concat());
        PLANTED.set(None);
        done
    }

    fn noted(said: &str) -> Option<PathBuf> {
        Some(said.split_once("a reproducer is in `")?.1.split_once('`')?.0.into())
    }

    /// How `sutura-opt` with the planted pass ends on a reproducer.
    fn again(pass: &'static PassInfo, path: &Path) -> Exit {
        let mut passes = PassRegistry::new();
        sutura_passes::register(&mut passes);
        passes.add(pass);
        let args = ["--run-reproducer".to_owned(), path.display().to_string()];
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let io = Io {
            args: &args,
            stdin: &mut std::io::empty(),
            cwd: Path::new(""),
            stdout: &mut out,
            stderr: &mut err,
            color: false,
        };
        Opt { registry: sutura_dialects::all, passes }.run(io)
    }

    #[test]
    fn errors_of_sutura_leave_what_shows_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let (own, product) = (folder.path().join("own.mlir"), folder.path().join("x.sutura"));
        let (own_text, product) = (own.to_str().expect("UTF-8"), product.to_str().expect("UTF-8"));
        for (pass, exit) in [(&PANICS, Exit::Internal), (&BREAKS, Exit::Verification)] {
            let (ended, said) = with(pass, &["sutura", "check", "-q"]);
            assert_eq!(ended, exit, "{said}");
            let path = noted(&said).unwrap_or_else(|| panic!("a reproducer: {said}"));
            assert!(path.starts_with(std::env::temp_dir()), "{said}");
            assert_eq!(again(pass, &path), exit, "{said}");
            std::fs::remove_file(&path).expect("it is there");
            let (ended, said) = with(pass, &["sutura", "compile", "-q", "-o", product, "--reproducer", own_text]);
            assert_eq!((ended, noted(&said)), (exit, Some(own.clone())), "{said}");
            assert_eq!(again(pass, &own), exit, "{said}");
            std::fs::remove_file(&own).expect("it is there");
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0);
    }

    #[test]
    fn errors_of_the_model_leave_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = folder.path().join("own.mlir");
        for (pass, exit) in [(&FAILS, Exit::Input), (&REFUSES, Exit::Unsupported)] {
            let (ended, said) = with(pass, &["sutura", "check", "--reproducer", own.to_str().expect("UTF-8")]);
            assert_eq!((ended, noted(&said)), (exit, None), "{said}");
            assert!(!own.exists());
        }
    }
}
