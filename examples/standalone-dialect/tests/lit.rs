//! The files in `lit-tests/`, each a test, with the tool in this process.

use sutura_lit::{Call, Tools};
use sutura_opt::{Io, Opt};

fn main() {
    let opt = Opt { registry: standalone_dialect::registry, passes: standalone_dialect::passes() };
    let run = move |call: &mut Call<'_>| {
        let (mut out, mut err, mut stdin) = (Vec::new(), Vec::new(), call.stdin);
        let (args, cwd) = (call.args, call.cwd);
        let status = opt.run(Io { args, stdin: &mut stdin, cwd, stdout: &mut out, stderr: &mut err, color: false });
        // Writing to what lit collects cannot fail.
        let _ = call.stdout.write_all(&out).and_then(|()| call.stderr.write_all(&err));
        status as i32
    };
    let tools = Tools::standard().with("standalone-opt", run);
    let trials = sutura_lit::mimic::trials("lit-tests".as_ref(), tools, &[]).expect("the suite");
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit();
}
