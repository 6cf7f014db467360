//! `sutura check`: can this model be compiled?

use crate::cli::{CheckArgs, CompileArgs};
use crate::compile;
use crate::failure::Failure;
use crate::files::say;
use crate::talk::Talk;

/// Does what `compile` does up to code generation.
pub(crate) fn check(args: &CheckArgs, talk: &Talk) -> Result<(), Failure> {
    let ops = compile::check(&args.as_compilation(), &talk.without_stages())?;
    if talk.is_quiet() {
        return Ok(());
    }
    let targets = match &args.target[..] {
        [] if args.target_file.is_some() => "the machine that is described".to_owned(),
        [] => "this machine".to_owned(),
        names => names.join(", "),
    };
    let noun = if ops == 1 { "operation" } else { "operations" };
    say(&format!("`{}`: {ops} {noun}, all supported on {targets}", args.model.display()))
}

impl CheckArgs {
    /// The compilation that is checked.
    pub(crate) fn as_compilation(&self) -> CompileArgs {
        CompileArgs {
            model: self.model.clone(),
            target: self.target.clone(),
            target_file: self.target_file.clone(),
            dims: self.dims.clone(),
            reproducer: self.reproducer.clone(),
            reading: self.reading.clone(),
            ..CompileArgs::default()
        }
    }
}
