//! `sutura target`

use crate::cli::{TargetArgs, TargetCommand};
use crate::failure::Failure;
use crate::files::say;
use crate::machine::{self, Machine};

pub(crate) fn target(args: &TargetArgs) -> Result<(), Failure> {
    match args.command {
        TargetCommand::List => {
            let host = Machine::host().ok().map(|m| m.name);
            for (name, summary) in machine::list() {
                let mark = if host == Some(name) { "  (this machine)" } else { "" };
                say(&format!("{name:<12} {summary}{mark}"))?;
            }
            Ok(())
        }
        TargetCommand::Host => {
            let host = Machine::host()?;
            say(&format!("description: {}", host.name))?;
            say(&format!("triple:      {}", host.target.triple))?;
            say(&format!("vectors:     {} bytes", host.vector_bytes))?;
            say(&format!("features:    {}", host.target.features))
        }
    }
}
