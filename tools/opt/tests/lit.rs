//! The files in `lit-tests/`, each a test, with `sutura-opt` and FileCheck in this process.

use std::path::Path;
use std::process::ExitCode;

use sutura_ir::pass::PassRegistry;
use sutura_lit::{Call, Tools};
use sutura_opt::{Io, Opt};

fn main() -> ExitCode {
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let opt = Opt { registry: sutura_dialects::all, passes };
    let run = move |call: &mut Call<'_>| {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut stdin = call.stdin;
        let io = Io {
            args: call.args,
            stdin: &mut stdin,
            cwd: call.cwd,
            stdout: &mut stdout,
            stderr: &mut stderr,
            color: false,
        };
        let status = opt.run(io);
        // Writing to what lit collects cannot fail.
        let _ = call.stdout.write_all(&stdout).and_then(|()| call.stderr.write_all(&stderr));
        status as i32
    };
    let tools = Tools::standard().with("sutura-opt", run);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit-tests");
    match sutura_lit::mimic::trials(&root, tools, &[]) {
        Ok(trials) => libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit_code(),
        Err(error) => {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
