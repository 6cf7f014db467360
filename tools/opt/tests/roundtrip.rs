//! The round-trip law: whatever part of a file in `lit-tests/` is valid, its generic and its custom form parse back to it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libtest_mimic::{Arguments, Failed, Trial};
use sutura_ir::pass::PassRegistry;
use sutura_opt::{Io, Opt, Status};

/// What parts programs, and files in a file.
const MARKERS: [&str; 2] = ["// -----", "//---"];

fn main() -> std::process::ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit-tests");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    assert!(files.len() > 30, "only {} files in {}", files.len(), root.display());
    let trial = |file: PathBuf| {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        Trial::test(name, move || check(&file))
    };
    libtest_mimic::run(&Arguments::from_args(), files.into_iter().map(trial).collect()).exit_code()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of tests") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "mlir") {
            files.push(path);
        }
    }
}

/// Every part that is read without an error must come back; a file whose name does not say that it is wrong has one.
fn check(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let mut valid = 0;
    for (index, part) in parts(&text).into_iter().enumerate() {
        if run(&part, &[]).0 != Status::Ok {
            continue;
        }
        valid += 1;
        for extra in [None, Some("--discard-value-names"), Some("--print-local-scope")] {
            let args: Vec<&str> = ["--verify-roundtrip"].into_iter().chain(extra).collect();
            let (status, stderr) = run(&part, &args);
            if status != Status::Ok {
                return Err(format!("part {index} with {extra:?}: {status:?}\n{stderr}").into());
            }
        }
    }
    let is_wrong = ["invalid", "diagnostics"].iter().any(|word| file.to_string_lossy().contains(word));
    // Files that only refer to others have no operations, which is valid too.
    if valid == 0 && !is_wrong {
        return Err(format!("no part of {} is read", file.display()).into());
    }
    Ok(())
}

/// The texts between markers, without the markers' lines.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in text.lines() {
        if MARKERS.iter().any(|marker| line.starts_with(marker)) {
            parts.push(String::new());
            continue;
        }
        let part = parts.last_mut().expect("there is a first part");
        part.push_str(line);
        part.push('\n');
    }
    parts
}

fn run(text: &str, extra: &[&str]) -> (Status, String) {
    static OPT: OnceLock<Opt<fn() -> sutura_ir::Registry>> = OnceLock::new();
    let opt = OPT.get_or_init(|| {
        let mut passes = PassRegistry::new();
        sutura_passes::register(&mut passes);
        Opt { registry: sutura_dialects::all, passes }
    });
    let mut args = vec!["--allow-unregistered-dialect".to_string()];
    args.extend(extra.iter().map(|e| (*e).to_string()));
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let io = Io {
        args: &args,
        stdin: &mut text.as_bytes(),
        cwd: Path::new("."),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
    };
    let status = opt.run(io);
    (status, String::from_utf8_lossy(&stderr).into_owned())
}
