//! `attach-target`: the module is compiled for a machine.
//!
//! The first pass of a compilation: those after it ask the module's `target.machine` for register tiles, the width of
//! vectors and intrinsics. Descriptions in files are read by tools, which attach them in the same way.

use sutura_dialects::target::{Finder, embedded_names};
use sutura_ir::Loc;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::{Diagnostic, did_you_mean};
use sutura_ir::pass::{Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun};

/// `attach-target`
pub static ATTACH_TARGET: PassInfo = PassInfo {
    name: "AttachTarget",
    argument: "attach-target",
    summary: "Put the description of a machine into the module",
    description: "Puts the built-in `target.machine` called `name` at the start of the module. One that is there already \
                  stays if it is the same, and is an error otherwise. Passes read no files: `sutura compile --target-file` \
                  attaches a description of one's own, and a module may hold one from the start.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "name",
        kind: OptionKind::Text,
        default: "",
        help: "name of a built-in description, such as `x86_avx512`; must be given",
    }],
    statistics: &[],
    create,
};

struct AttachTarget {
    name: String,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let name = options.text("name");
    if embedded_names().any(|n| n == name) {
        return Ok(Box::new(AttachTarget { name: name.to_owned() }));
    }
    let known = embedded_names().collect::<Vec<_>>().join("`, `");
    Err(match did_you_mean(name, embedded_names()) {
        _ if name.is_empty() => format!("option `name` must be given: one of `{known}`"),
        Some(close) => format!("there is no built-in target `{name}`; did you mean `{close}`?"),
        None => format!("there is no built-in target `{name}`; the built-in ones are `{known}`"),
    })
}

impl Pass for AttachTarget {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let found = Finder::default().find(run.cx, &self.name);
        let target = found.map_err(|e| run.diags.report(Diagnostic::error(Loc::UNKNOWN, e.to_string())))?;
        let loc = run.header.loc;
        target.attach(run.cx, run.body).map_err(|diagnostic| run.diags.report(*diagnostic))?;
        run.passed(loc, format!("the machine '{}' is described in the module", self.name));
        Ok(PreservedAnalyses::none())
    }
}
