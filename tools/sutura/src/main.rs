//! The `sutura` tool: see the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    sutura_cli::main()
}
