//! `gpu-runner`: see the library.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    ExitCode::from(sutura_gpu_runner::main(&arguments, &mut std::io::stdout(), &mut std::io::stderr()))
}
