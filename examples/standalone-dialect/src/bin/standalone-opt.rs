//! `sutura-opt` with the dialect and the pass of this crate.

fn main() -> std::process::ExitCode {
    sutura_opt::main(standalone_dialect::registry, standalone_dialect::passes())
}
