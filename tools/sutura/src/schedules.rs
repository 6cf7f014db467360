//! `--schedule FILE` and `--emit=schedule`: schedules of regions, in a file.

use std::path::Path;

use sutura_passes::graph_to_gir::plan_file::Step;
use sutura_passes::graph_to_gir::schedule_file::{self, Attached};

use crate::failure::Failure;
use crate::input;
use crate::pipeline::{Compilation, Program, SCHEDULE};
use crate::talk::Talk;

/// Gives a program the plan of a file, and its regions the schedules and traces; the steps to the plan.
///
/// # Errors
/// When the file is malformed, or when nothing of it is for a region.
pub(crate) fn attach(
    compilation: &Compilation,
    program: &mut Program,
    path: &Path,
    talk: &Talk,
) -> Result<Vec<Step>, Failure> {
    let name = path.display();
    if program.fusions() == 0 {
        return Err(Failure::usage("--schedule is for fused regions, and the program has none"));
    }
    let text = input::ir_text(path)?;
    let file = compilation.parse_beside(&text, path, talk)?;
    let cx = &compilation.cx;
    let attached = schedule_file::attach(cx, program.module.body_mut(), file.module.body());
    let Attached { steps, unused_steps, regions, unused, unused_traces } = attached.map_err(|error| {
        compilation.tell(&error, talk);
        Failure::input(format!("`{name}` holds no schedules that can be used"))
    })?;
    if regions == 0 && steps.is_empty() {
        return Err(Failure::input(format!("`{name}` has a schedule for no region of the program")).hint(
            "write the file anew with `--emit=schedule` and the same flags: what regions compute may have changed",
        ));
    }
    for number in &unused_steps {
        talk.warning(&format!(
            "`{name}`: the regions of step {number} of its plan are not there, or compute something else: it is not taken"
        ));
    }
    for (_, algorithm) in &unused {
        talk.warning(&format!("`{name}`: no region has the algorithm '{algorithm}': its schedule is not used"));
    }
    for (_, algorithm) in &unused_traces {
        let what = format!("no region has the algorithm '{algorithm}', or the roles of its trace");
        talk.warning(&format!("`{name}`: {what}: the trace is not used"));
    }
    if !steps.is_empty() {
        // There are others now.
        let module = std::mem::replace(&mut program.module, sutura_ir::Module::new(cx, sutura_ir::Loc::UNKNOWN));
        *program = compilation.program(module).at(program.level());
        talk.note(&format!("schedule   {} steps to the plan of `{name}`", steps.len()));
    }
    talk.note(&format!("schedule   {regions} regions run as `{name}` says"));
    Ok(steps)
}

/// The schedules of a program's regions as a file: those that it has, and those that rules write; and the steps that led to these
/// regions.
///
/// # Errors
/// When a schedule cannot be written.
pub(crate) fn text(
    compilation: &Compilation,
    program: &Program,
    steps: &[Step],
    talk: &Talk,
) -> Result<String, Failure> {
    let scheduled = written(compilation, program, talk)?;
    schedule_file::text(&compilation.cx, scheduled.module.body(), steps).map_err(Failure::input)
}

/// A copy of a program whose regions have their schedules as attributes.
///
/// # Errors
/// When a schedule cannot be written.
pub(crate) fn written(compilation: &Compilation, program: &Program, talk: &Talk) -> Result<Program, Failure> {
    compilation.run(&SCHEDULE, compilation.program(program.module.clone()), talk)
}
