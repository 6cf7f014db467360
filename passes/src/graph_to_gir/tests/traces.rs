//! Files of traces: what was found for one region is used for others with the same roles.

use sutura_ir::{Context, Module, Type};

use super::agree_on_all_levels;
use crate::graph_to_gir::schedule_file::{Attached, attach, text as schedules};
use crate::testing::{any, context, copy, function, run, tensor};

/// A product of `M` rows.
fn product(cx: &Context, [depth, columns]: [&str; 2], elem: Type, transposed: bool) -> Module {
    let right = if transposed { [columns, depth] } else { [depth, columns] };
    let types = [&["M", depth][..], &right].map(|sizes| tensor(cx, sizes, elem));
    function(cx, &[("M", any())], &types, |g, args| Ok(vec![g.product(args[0], args[1], false, transposed)?]))
}

fn stitched(cx: &Context, module: &Module) -> Module {
    let mut module = copy(cx, module);
    run(cx, &mut module, "builtin.module(func.func(canonicalize,stitch))").expect("it is stitched");
    module
}

/// The names of algorithm and roles of the only region.
fn names(cx: &Context, module: &Module) -> (String, String) {
    let mut module = stitched(cx, module);
    run(cx, &mut module, "builtin.module(schedule-regions)").expect("a rule writes its schedule");
    let text = schedules(cx, module.body(), &[]).expect("it is written");
    let between =
        |start: &str| text.split(start).nth(1).and_then(|rest| rest.split('"').next()).expect("a name").to_owned();
    (between("schedule.region \""), between("roles \""))
}

fn attached(cx: &Context, module: &mut Module, file: &str) -> Result<Attached, String> {
    let file = sutura_dialects::text::parse_text(cx, "file.mlir", file).expect("it is valid");
    attach(cx, module.body_mut(), file.body()).map_err(|error| error.message.clone())
}

fn trace((algorithm, roles): (&str, &str), edits: &str) -> String {
    format!("schedule.trace \"{algorithm}\" roles \"{roles}\" = #schedule.trace<{edits}>\n")
}

#[test]
fn roles_are_what_is_left_without_sizes_and_types() {
    let cx = context();
    let of = |sizes, elem, transposed| names(&cx, &product(&cx, sizes, elem, transposed));
    let (first, second) = (of(["24", "40"], Type::F32, false), of(["7", "90"], Type::F64, false));
    assert_eq!(first.1, second.1);
    assert_ne!(first.0, second.0);
    assert_ne!(first.1, of(["24", "40"], Type::F32, true).1);
}

#[test]
fn a_trace_is_used_at_other_sizes() {
    let cx = context();
    let (algorithm, roles) = names(&cx, &product(&cx, ["24", "40"], Type::F32, false));
    let other = product(&cx, ["9", "70"], Type::F32, false);
    let file = trace((&algorithm, &roles), "retile d0.1 of p:0 by 3");
    let mut module = stitched(&cx, &other);
    let found = attached(&cx, &mut module, &file).expect("it fits");
    assert_eq!((found.regions, found.unused.len(), found.unused_traces.len()), (1, 0, 0));
    let mut written = copy(&cx, &module);
    run(&cx, &mut written, "builtin.module(schedule-regions)").expect("it is legal");
    let text = schedules(&cx, written.body(), &[]).expect("it is written");
    assert!(text.contains("loop d0 by 3 {"), "{text}");
    run(&cx, &mut module, "builtin.module(convert-graph-to-gir)").expect("it is legal");
    agree_on_all_levels(&cx, &other, &module, &[&[("M", 0)], &[("M", 1)], &[("M", 7)], &[("M", 30)]]);
    // Its own algorithm goes before the roles.
    let own = names(&cx, &other).0;
    let file = format!("{file}{}", trace((&own, &roles), "retile d0.1 of p:0 by 6"));
    let mut module = stitched(&cx, &other);
    assert_eq!(attached(&cx, &mut module, &file).expect("both are there").unused_traces.len(), 1);
    run(&cx, &mut module, "builtin.module(schedule-regions)").expect("it is legal");
    assert!(schedules(&cx, module.body(), &[]).expect("it is written").contains("loop d0 by 6 {"));
}

#[test]
fn a_file_says_by_which_edits_a_schedule_differs_from_the_rules() {
    let cx = context();
    let first = product(&cx, ["24", "40"], Type::F32, false);
    let (algorithm, roles) = names(&cx, &first);
    let mut module = stitched(&cx, &first);
    attached(&cx, &mut module, &trace((&algorithm, &roles), "retile d0.1 of p:0 by 3")).expect("it fits");
    run(&cx, &mut module, "builtin.module(schedule-regions)").expect("it is legal");
    let text = schedules(&cx, module.body(), &[]).expect("it is written");
    let line = text.lines().find_map(|line| line.trim().strip_prefix("// schedule.trace")).expect("the edits");
    // The line serves another region.
    let mut other = stitched(&cx, &product(&cx, ["9", "70"], Type::F32, false));
    attached(&cx, &mut other, &format!("schedule.trace{line}")).expect("it fits");
    run(&cx, &mut other, "builtin.module(schedule-regions)").expect("it is legal");
    assert!(schedules(&cx, other.body(), &[]).expect("it is written").contains("loop d0 by 3 {"));
    // What rules write needs no edits.
    let mut usual = stitched(&cx, &first);
    run(&cx, &mut usual, "builtin.module(schedule-regions)").expect("a rule writes it");
    assert!(!schedules(&cx, usual.body(), &[]).expect("it is written").contains("schedule.trace"));
}

#[test]
fn what_a_file_has_twice_is_refused() {
    let cx = context();
    let module = product(&cx, ["24", "40"], Type::F32, false);
    let (algorithm, roles) = names(&cx, &module);
    let tree = "#schedule.tree<version { kernel { loop d0 grid { place p:0 } } }>";
    let schedule = format!("schedule.region \"{algorithm}\" = {tree}\n");
    let edits = "retile d0.1 of p:0 by 3";
    for (file, message) in [
        (
            trace((&algorithm, "x"), edits) + &trace((&algorithm, "y"), edits),
            format!("'schedule.trace' op is a second trace of the algorithm '{algorithm}'"),
        ),
        (
            trace(("x", &roles), edits) + &trace(("y", &roles), edits),
            format!(
                "'schedule.trace' op is a second trace with the roles '{roles}', and @main 0 has the algorithm of neither"
            ),
        ),
        (
            trace(("x", &roles), edits) + &schedule,
            "'schedule.trace' op edits the schedule of @main 0, for which the file has a schedule of its own"
                .to_owned(),
        ),
    ] {
        assert_eq!(attached(&cx, &mut stitched(&cx, &module), &file).map(|found| found.regions), Err(message));
    }
    let unused = attached(&cx, &mut stitched(&cx, &module), &trace(("x", "y"), edits)).expect("it is well formed");
    assert_eq!((unused.regions, unused.unused_traces.len()), (0, 1));
}
