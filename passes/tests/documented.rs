//! `docs/passes.md` says what the generic passes and those on graphs say of themselves. `UPDATE_DOCS=1 cargo test -p
//! sutura-passes --test documented` writes it.

use std::fmt::Write;
use std::path::Path;

use sutura_dialects::text::parse_text;
use sutura_ir::Context;
use sutura_ir::diagnostics::Diagnostics;
use sutura_ir::pass::{Anchor, Event, OptionKind, PassInfo, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_passes::channels_last::CHANNELS_LAST;
use sutura_passes::check_combiners::CHECK_COMBINERS;
use sutura_passes::expand_operators::EXPAND_OPERATORS;
use sutura_passes::fold_into_weights::FOLD_INTO_WEIGHTS;
use sutura_passes::fold_padding::FOLD_PADDING;
use sutura_passes::graph_operator_rewrite::GRAPH_OPERATOR_REWRITE;
use sutura_passes::graph_property_rewrite::GRAPH_PROPERTY_REWRITE;
use sutura_passes::integer_products::INTEGER_PRODUCTS;
use sutura_passes::legalize_elements::LEGALIZE_ELEMENTS;
use sutura_passes::lower_quant_ops::LOWER_QUANT_OPS;
use sutura_passes::mask_ranges::MASK_RANGES;
use sutura_passes::narrow_products::NARROW_PRODUCTS;
use sutura_passes::outline_regions::OUTLINE_REGIONS;
use sutura_passes::propagate_reshapes::PROPAGATE_RESHAPES;
use sutura_passes::raise_attention::RAISE_ATTENTION;
use sutura_passes::refine_fusion_plan::REFINE_FUSION_PLAN;
use sutura_passes::scalars_to_tensors::SCALARS_TO_TENSORS;
use sutura_passes::scf_for_to_while::SCF_FOR_TO_WHILE;
use sutura_passes::split_complex::SPLIT_COMPLEX;
use sutura_passes::split_products::SPLIT_PRODUCTS;
use sutura_passes::stitch::STITCH;
use sutura_passes::winograd::WINOGRAD;

const HEAD: &str = "# Generic passes

<!-- Written from the declarations of the passes by `UPDATE_DOCS=1 cargo test -p sutura-passes --test documented`. -->

These passes know no dialect: they ask operations through traits and interfaces (`ir/src/interfaces`), which dialects attach,
also late and from other crates. Each runs alone, `sutura-opt FILE --NAME=option=value`, or in a pipeline,
`--pass-pipeline='builtin.module(func.func(NAME{option=value}))'`. Tests, which are also examples, are in
`lit-tests/passes/NAME/`. `--mlir-pass-statistics` shows the statistics, `--remarks` what a pass did, and what it did not do and why.
";

const ON_GRAPHS: &str = "
# Passes on graphs

Before regions are made, in the order in which `sutura compile` runs them: those on conditions and loops before shape propagation
(`docs/functions.md`), the others after it, and last `check-combiners`, which only tests what a program declares. They run alone too, on a module or a function; tests are in `lit-tests/NAME/`, with `_` for `-`.
";

fn option_kind(kind: OptionKind) -> String {
    match kind {
        OptionKind::Bool => "true or false".to_string(),
        OptionKind::Int(least, most) => format!("{least} to {most}"),
        OptionKind::Choice(words) => words.join(", "),
        OptionKind::Text => "text".to_string(),
        OptionKind::List => "a list with commas".to_string(),
        OptionKind::Pipeline => "passes".to_string(),
    }
}

fn describe(pass: &PassInfo, out: &mut String) {
    let _ = write!(out, "\n## `{}`\n\n{}. {}\n", pass.argument, pass.summary, pass.description);
    if let Anchor::Op(op) = pass.anchor {
        let _ = write!(out, "\nRuns on `{op}`.\n");
    }
    if !pass.options.is_empty() {
        out.push_str("\n| option | takes | default | |\n|---|---|---|---|\n");
    }
    for option in pass.options {
        let default = if option.default.is_empty() { String::new() } else { format!("`{}`", option.default) };
        let _ = writeln!(out, "| `{}` | {} | {default} | {} |", option.name, option_kind(option.kind), option.help);
    }
    if !pass.statistics.is_empty() {
        out.push_str("\n| statistic | |\n|---|---|\n");
    }
    for statistic in pass.statistics {
        let _ = writeln!(out, "| `{}` | {} |", statistic.name, statistic.description);
    }
}

/// What each rule saves, by what the pass remarks of the functions of a test.
fn gains(root: &Path) -> String {
    let cx = Context::new(sutura_dialects::all());
    let name = "lit-tests/graph_property_rewrite/gains.mlir";
    let source = std::fs::read_to_string(root.join(name)).expect("the test is there");
    let mut module = parse_text(&cx, name, &source).unwrap_or_else(|e| panic!("{e}"));
    let mut registry = PassRegistry::new();
    sutura_passes::register(&mut registry);
    let pipeline = "builtin.module(graph-property-rewrite{fast-math=fast})";
    let mut manager =
        parse_pipeline(&cx, &registry, "test", pipeline, &mut Diagnostics::default()).expect("a pipeline");
    let mut rows: Vec<String> = Vec::new();
    let (_, result) = run_pipeline(&cx, &mut module, &mut manager, &RunConfig::default(), &mut |event| {
        if let Event::Diagnostic(diagnostic) = event {
            rows.extend(row(&diagnostic.message).filter(|row| !rows.contains(row)));
        }
    });
    assert!(result.is_ok(), "the pass runs");
    let head = "What rules save for each of `N` numbers, as remarks say it of `lit-tests/graph_property_rewrite/gains.mlir`; an \
                operation is one that takes as long as an addition:\n\n| rule | operations before | after |\n|---|---|---|\n";
    format!("\n{head}{}", rows.concat())
}

/// `RULE: W operations and B bytes become W operations and B bytes`, as a row.
fn row(remark: &str) -> Option<String> {
    let (rule, change) = remark.split_once(": ")?;
    let (before, after) = change.split_once(" become ")?;
    let operations = |price: &str| price.split_once(" operations").map(|(work, _)| work.to_string());
    Some(format!("| `{rule}` | {} | {} |\n", operations(before)?, operations(after)?))
}

#[test]
fn docs_are_up_to_date() {
    let mut text = HEAD.to_string();
    let mut passes = sutura_passes::generic::ALL.to_vec();
    passes.sort_by_key(|p| p.argument);
    passes.iter().for_each(|pass| describe(pass, &mut text));
    text.push_str(ON_GRAPHS);
    let on_graphs = [
        &SCF_FOR_TO_WHILE,
        &SCALARS_TO_TENSORS,
        &OUTLINE_REGIONS,
        &GRAPH_OPERATOR_REWRITE,
        &RAISE_ATTENTION,
        &EXPAND_OPERATORS,
        &INTEGER_PRODUCTS,
        &GRAPH_PROPERTY_REWRITE,
        &FOLD_INTO_WEIGHTS,
        &LOWER_QUANT_OPS,
        &SPLIT_COMPLEX,
        &LEGALIZE_ELEMENTS,
        &FOLD_PADDING,
        &NARROW_PRODUCTS,
        &SPLIT_PRODUCTS,
        &CHANNELS_LAST,
        &WINOGRAD,
        &PROPAGATE_RESHAPES,
        &MASK_RANGES,
        &STITCH,
        &REFINE_FUSION_PLAN,
        &CHECK_COMBINERS,
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    for pass in on_graphs {
        describe(pass, &mut text);
        if pass.argument == GRAPH_PROPERTY_REWRITE.argument {
            text.push_str(&gains(root));
        }
    }
    let page = root.join("docs/passes.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&page, &text).expect("the page is written");
    }
    let written = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(written == text, "docs/passes.md is out of date: run with UPDATE_DOCS=1");
    let generic = passes.iter().map(|pass| (pass.argument, Path::new("passes").join(pass.argument)));
    let of_graphs = on_graphs.iter().map(|pass| (pass.argument, pass.argument.replace('-', "_").into()));
    for (name, folder) in generic.chain(of_graphs) {
        let tests = root.join("lit-tests").join(folder);
        assert!(tests.is_dir(), "`{name}` has no tests in {}", tests.display());
    }
}
