//! `sutura-opt` in this process, as a tool of lit tests.

use sutura_ir::Registry;
use sutura_ir::pass::PassRegistry;
use sutura_lit::{Call, Tools};
use sutura_opt::{Io, Opt};

/// Times, which are not the same twice, and numbers of threads that the test names itself.
const ONCE: [&str; 4] = ["timing", "profile-actions-to", "threads", "disable-threading"];

/// lit's own tools, and `sutura-opt` with all dialects and passes.
///
/// It works with one thread and with five, and panics when they do not say and write the same bytes.
pub(crate) fn tools() -> Tools {
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let opt = Opt { registry: sutura_dialects::all as fn() -> Registry, passes };
    Tools::standard().with("sutura-opt", move |call: &mut Call<'_>| {
        let is_once = |arg: &String| ONCE.iter().any(|flag| arg.trim_start_matches('-').contains(flag));
        let done = if call.args.iter().any(is_once) {
            run(&opt, call, &[])
        } else {
            let (one, five) = (run(&opt, call, &["--threads=1"]), run(&opt, call, &["--threads=5"]));
            assert!(
                one == five,
                "it depends on the number of threads: {}\n-- one\n{one}\n-- five\n{five}",
                call.args.join(" ")
            );
            one
        };
        // Writing to what lit collects cannot fail.
        let _ = call.stdout.write_all(&done.stdout).and_then(|()| call.stderr.write_all(&done.stderr));
        done.status
    })
}

#[derive(PartialEq)]
struct Done {
    status: i32,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |bytes| String::from_utf8_lossy(bytes);
        write!(f, "{}{}exit status {}", text(&self.stdout), text(&self.stderr), self.status)
    }
}

fn run(opt: &Opt<fn() -> Registry>, call: &Call<'_>, more: &[&str]) -> Done {
    let args: Vec<String> = call.args.iter().cloned().chain(more.iter().map(ToString::to_string)).collect();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut stdin = call.stdin;
    let io =
        Io { args: &args, stdin: &mut stdin, cwd: call.cwd, stdout: &mut stdout, stderr: &mut stderr, color: false };
    let status = opt.run(io) as i32;
    Done { status, stdout, stderr }
}
