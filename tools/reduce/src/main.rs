//! `sutura-reduce` with all dialects and passes of Sutura.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use sutura_ir::pass::PassRegistry;

fn main() -> ExitCode {
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    sutura_reduce::main(sutura_dialects::all, passes)
}
