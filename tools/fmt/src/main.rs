//! `sutura-fmt`: formats programs of the dialects of this repository.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    sutura_fmt::main(sutura_dialects::all)
}
