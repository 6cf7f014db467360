//! `sutura check`: can this model be compiled?

use sutura_import::onnx::{UnsupportedOps, check_supported};

use crate::cli::CheckArgs;
use crate::failure::Failure;
use crate::files::say;
use crate::input::{self, Input};
use crate::pipeline::Compilation;
use crate::talk::Talk;

pub(crate) fn check(args: &CheckArgs, talk: &Talk) -> Result<(), Failure> {
    match input::read(&args.model, &args.reading)?.input {
        Input::Onnx(model) => {
            let unsupported = check_supported(&model);
            if !unsupported.is_empty() {
                return Err(UnsupportedOps(unsupported).into());
            }
            let nodes = model.graph.nodes.len();
            say(&format!("`{}`: all {nodes} nodes are supported", args.model.display()))
        }
        Input::Text(text) => {
            let compilation = Compilation::new();
            let module = compilation.parse(&text, &args.model, talk)?;
            let ops = module.count_ops();
            say(&format!("`{}`: {ops} operations, correct ({} level)", args.model.display(), module.level().name()))
        }
    }
}
