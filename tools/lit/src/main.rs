//! `sutura-lit`: see `--help`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use sutura_lit::{Tools, cli};

fn main() -> ExitCode {
    let status = cli::main(std::env::args_os(), &Tools::standard());
    ExitCode::from(u8::try_from(status).unwrap_or(2))
}
