//! What compiling a model takes, stage by stage.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use allocation_counter::measure;
use prost::Message;
use sutura_import::onnx::{OnnxModel, import};
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::{Context, Diagnostics, Module, work};
use sutura_passes::stages;

use crate::proto::ModelProto;

/// Counts of one stage by what is counted.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

/// Counts by stage, in order.
pub(crate) type Taken = Vec<(&'static str, Counts)>;

/// The stages of a compilation for a machine.
pub(crate) fn compilation(machine: &str) -> Vec<(&'static str, String)> {
    let lower = if machine.starts_with("sm_") { stages::LOWER_FOR_DEVICE } else { stages::LOWER };
    vec![
        ("shapes", format!("attach-target{{name={machine}}},{}", stages::SHAPES)),
        ("stitch", stages::STITCH.to_owned()),
        ("tile", stages::TILE.replace("convert-graph-to-gir", "convert-graph-to-gir{search=predict least-saving=40}")),
        ("tensorize", stages::TENSORIZE.to_owned()),
        ("lower", lower.to_owned()),
    ]
}

/// Compiles a model and counts.
pub(crate) fn taken(
    model: &ModelProto,
    pipeline: &[(&'static str, String)],
    extra: &[&'static sutura_ir::pass::PassInfo],
) -> Taken {
    // Counts are of the process: one compilation at a time, on one thread, of which allocations are counted.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = model.encode_to_vec();
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(64 << 20).build().expect("threads can be made");
    pool.install(|| {
        let cx = Context::new(sutura_dialects::all());
        let mut passes = PassRegistry::new();
        sutura_passes::register(&mut passes);
        extra.iter().for_each(|pass| {
            passes.add(pass);
        });
        let mut module = None;
        let mut taken = vec![("import", counted(|| module = Some(imported(&cx, bytes.clone()))))];
        let mut module = module.expect("it was just made");
        for (stage, text) in pipeline {
            taken.push((stage, counted(|| run(&cx, &passes, &mut module, text))));
        }
        // What a body held is counted when it goes.
        taken.push(("in all", counted(|| drop(module))));
        taken
    })
}

fn counted(work: impl FnOnce()) -> Counts {
    let before = work::counts();
    let allocated = measure(work);
    let mut counts = work::since(&before);
    counts.insert("bytes allocated", allocated.bytes_total);
    counts
}

fn imported(cx: &Context, bytes: Vec<u8>) -> Module {
    let model = OnnxModel::from_bytes(bytes, None).unwrap_or_else(|error| panic!("{error}"));
    let mut diags = Diagnostics::default();
    import(cx, &model, &mut diags).unwrap_or_else(|error| panic!("{error} {diags:?}"))
}

fn run(cx: &Context, passes: &PassRegistry, module: &mut Module, text: &str) {
    let mut diags = Diagnostics::default();
    let text = format!("builtin.module({text})");
    let mut manager =
        parse_pipeline(cx, passes, "the stage", &text, &mut diags).unwrap_or_else(|_| panic!("{diags:?}"));
    let config = RunConfig { verify_each: true, no_remarks: true, ..RunConfig::default() };
    let mut said = Vec::new();
    let (_, result) = run_pipeline(cx, module, &mut manager, &config, &mut |event| said.push(event));
    let errors = said.iter().filter_map(|event| match event {
        Event::Diagnostic(diagnostic) => Some(diagnostic.message.clone()),
        _ => None,
    });
    assert!(result.is_ok(), "{:?}", errors.collect::<Vec<_>>());
}

/// How much more may be done for twice the operators: n log n, and some room.
pub(crate) const MOST: f64 = 2.3;

/// Counts this low say nothing; a size is made in less than a microsecond.
fn few(what: &str) -> u64 {
    if what.starts_with("sizes: ") { 1024 } else { 128 }
}

/// Compares what compiling two models took: what grew by more than `most`.
pub(crate) fn grown(small: &Taken, large: &Taken, most: &dyn Fn(&str) -> f64) -> Vec<String> {
    let mut grown = Vec::new();
    for ((stage, small), (_, large)) in small.iter().zip(large) {
        for (what, large) in large {
            let small = small.get(what).copied().unwrap_or(0);
            if *large as f64 > small as f64 * most(stage) + few(what) as f64 {
                let ratio = *large as f64 / small.max(1) as f64;
                grown.push(format!("{stage}: {what}: {small}, then {large}: {ratio:.2} times"));
            }
        }
    }
    grown
}
