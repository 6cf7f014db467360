//! `sutura-opt` in this process, as a tool of lit tests.

use sutura_ir::pass::PassRegistry;
use sutura_lit::{Call, Tools};
use sutura_opt::{Io, Opt};

/// lit's own tools, and `sutura-opt` with all dialects and passes.
pub(crate) fn tools() -> Tools {
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let opt = Opt { registry: sutura_dialects::all, passes };
    Tools::standard().with("sutura-opt", move |call: &mut Call<'_>| {
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
    })
}
