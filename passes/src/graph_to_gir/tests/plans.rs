//! Plans in files of schedules.

use sutura_ir::{Context, Module, Type};

use super::agree_on_all_levels;
use crate::graph_to_gir::plan_file::Step;
use crate::graph_to_gir::schedule_file::{Attached, attach, text as schedules};
use crate::stitch::alternatives::{Change, sites};
use crate::stitch::replan::model_of;
use crate::testing::{any, context, copy, function, run, tensor, text};

/// A product, and two functions of each number of it.
fn activated(cx: &Context) -> Module {
    let types = [&["M", "24"][..], &["24", "40"]].map(|sizes| tensor(cx, sizes, Type::F32));
    function(cx, &[("M", any())], &types, |g, args| {
        let product = g.product(args[0], args[1], false, false)?;
        let tanh = g.map(product, |s, x| s.math("math.tanh", x))?;
        Ok(vec![g.map(tanh, |s, x| s.abs(x))?])
    })
}

fn stitched(cx: &Context, module: &Module) -> Module {
    let mut module = copy(cx, module);
    run(cx, &mut module, "builtin.module(func.func(canonicalize,stitch))").expect("it is stitched");
    module
}

fn attached(cx: &Context, module: &mut Module, file: &str) -> Result<Attached, String> {
    let file = sutura_dialects::text::parse_text(cx, "file.mlir", file).expect("it is valid");
    attach(cx, module.body_mut(), file.body()).map_err(|error| error.message.clone())
}

#[test]
fn a_file_leads_to_the_plan_that_it_was_written_for() {
    let cx = context();
    let before = activated(&cx);
    let mut module = stitched(&cx, &before);
    let mut steps = Vec::new();
    for _ in 0..2 {
        let site = sites(&cx, module.body(), Change::Cut).expect("no machine").remove(0);
        let model = model_of(&cx, module.body()).expect("no machine");
        let regions = (site.function, &site.regions[..]);
        steps.push(Step::take(&cx, module.body_mut(), regions, &site.others[0].kernels, &model).expect("it is legal"));
    }
    let mut scheduled = copy(&cx, &module);
    run(&cx, &mut scheduled, "builtin.module(schedule-regions)").expect("rules write schedules");
    let file = schedules(&cx, scheduled.body(), &steps).expect("it is written");
    assert_eq!(file.matches("schedule.plan [").count(), 2, "{file}");
    let mut given = stitched(&cx, &before);
    let found = attached(&cx, &mut given, &file).expect("it fits");
    assert_eq!((found.steps, found.unused_steps.len(), found.unused.len()), (steps, 0, 0));
    assert_eq!(text(&cx, &given), text(&cx, &scheduled));
    run(&cx, &mut given, "builtin.module(convert-graph-to-gir)").expect("it is lowered");
    agree_on_all_levels(&cx, &before, &given, &[&[("M", 0)], &[("M", 1)], &[("M", 7)]]);
}

#[test]
fn steps_that_do_not_fit_are_told_or_refused() {
    let cx = context();
    let module = stitched(&cx, &activated(&cx));
    let mut scheduled = copy(&cx, &module);
    run(&cx, &mut scheduled, "builtin.module(schedule-regions)").expect("rules write schedules");
    let file = schedules(&cx, scheduled.body(), &[]).expect("it is written");
    let algorithm = file.split("schedule.region \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a name");
    let step = |algorithm: &str, place: &str, kernels: &str| {
        format!("schedule.plan [\"{algorithm}\"] of [\"{place}\"] = [{kernels}]\n")
    };
    for absent in [step("x", "@main 0", "array<i64: 0>"), step(algorithm, "@main 9", "array<i64: 0>")] {
        let mut given = module.clone();
        let found = attached(&cx, &mut given, &absent).expect("it is well formed");
        assert_eq!((found.steps.len(), found.unused_steps), (0, vec![1]));
        assert_eq!(text(&cx, &given), text(&cx, &module));
    }
    let mut given = module.clone();
    let many: Vec<String> = (0..100).map(|i| i.to_string()).collect();
    let step = step(algorithm, "@main 0", &format!("array<i64: {}>", many.join(", ")));
    let why = attached(&cx, &mut given, &step).expect_err("there are fewer");
    assert!(why.contains("asks for kernels that cannot be made: the regions have "), "{why}");
    assert_eq!(text(&cx, &given), text(&cx, &module));
}
