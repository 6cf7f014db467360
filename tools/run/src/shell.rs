//! What a shell and `man` know of a tool: completions and pages, made from its command line.

use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::failure::Failure;
use crate::files;

/// `completions`
#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    /// The shell that the script is for
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `manual`
#[derive(Args, Clone, Debug)]
pub struct ManualArgs {
    /// An existing folder for the pages, one of the tool and one of each command, such as ~/.local/share/man/man1
    pub folder: PathBuf,
}

/// Writes a script for a shell to stdout.
///
/// # Errors
/// When it cannot be written.
pub fn completions(args: &CompletionsArgs, mut tool: Command) -> Result<(), Failure> {
    let (name, mut script) = (tool.get_name().to_owned(), Vec::new());
    generate(args.shell, &mut tool, name, &mut script);
    files::write("-".as_ref(), &script)
}

/// Writes the pages for `man`.
///
/// # Errors
/// When one cannot be written.
pub fn manual(args: &ManualArgs, mut tool: Command) -> Result<(), Failure> {
    tool.build();
    let name = tool.get_name().to_owned();
    page(&args.folder, &name, &tool)?;
    for command in tool.get_subcommands().filter(|command| command.get_name() != "help") {
        page(&args.folder, &format!("{name}-{}", command.get_name()), command)?;
    }
    Ok(())
}

fn page(folder: &Path, name: &str, command: &Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    let path = folder.join(format!("{name}.1"));
    // `man` looks pages up by names with a hyphen.
    let command = command.clone().name(name.to_owned());
    Man::new(command).render(&mut text).map_err(|e| Failure::io("write", &path, &e))?;
    files::write(&path, &text)
}
