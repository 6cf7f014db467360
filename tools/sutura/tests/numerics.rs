//! `sutura debug numerics`: a planted error is named where it arises, and right programs are right at other sizes and seeds.
//!
//! `data/numerics/make_numerics.py` makes the models.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sutura_ir::diagnostics::Exit;

/// Twenty programs: the model, the node whose result is changed, and sizes.
const PROGRAMS: [(&str, &str, &str); 20] = [
    ("elementwise", "n_s", "a=3"),
    ("reductions", "n_m", "a=3,b=5"),
    ("matmul", "n_h", "a=3"),
    ("matmul_f16", "n_t", "a=3"),
    ("matmul_bf16", "n_h", "a=2"),
    ("convolution", "n_c", "n=1"),
    ("softmax", "n_p", "a=3"),
    ("layernorm", "n_n", "a=2,s=3"),
    ("layernorm_f16", "n_n", "a=3"),
    ("instancenorm", "n_n", "n=2"),
    ("attention", "n_s", "b=1,s=4"),
    ("gather", "n_e", "a=2,b=3"),
    ("lstm", "n_h", "s=3,b=1"),
    ("gru", "n_h", "s=2,b=2"),
    ("scan", "n_sf", "t=3,b=2"),
    ("casts", "n_f", "a=3"),
    ("integers", "n_d", "a=3"),
    ("quantized", "n_q", "a=2"),
    ("where", "n_c", "a=3"),
    ("slices", "n_t", "a=3"),
];

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/numerics").join(format!("{name}.onnx"))
}

/// The exit code of a run, and what it said on stderr.
fn numerics(name: &str, args: &[&str]) -> (Exit, String) {
    let path = model(name);
    let head = ["sutura", "debug", "numerics", path.to_str().unwrap()];
    sutura_cli::run(&[&head, args].concat())
}

#[test]
fn a_planted_error_is_named_in_twenty_of_twenty_programs() {
    let missed: Vec<String> = PROGRAMS
        .par_iter()
        .filter_map(|(name, node, dims)| {
            let (exit, said) = numerics(name, &["--dim", dims, "--seed", "5", "--plant-error", node]);
            let named = said.contains(&format!("the compiled form of node `{node}` ("));
            (exit != Exit::Mismatch || !named).then(|| format!("{name}: {exit:?}: {said}"))
        })
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn right_programs_are_right() {
    let refused: Vec<String> = PROGRAMS
        .par_iter()
        .filter_map(|(name, _, dims)| {
            let (exit, said) = numerics(name, &["--dim", dims, "--seed", "1", "-q"]);
            (exit != Exit::Ok).then(|| format!("{name}: {exit:?}: {said}"))
        })
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let (exit, said) = numerics("attention", &["--dim", "b=1,s=4", "--no-fusion", "-q"]);
    assert_eq!(exit, Exit::Ok, "{said}");
}

/// How many programs have every node and other sizes looked at: all take minutes, and few do here.
fn looked_at() -> usize {
    let wanted = std::env::var("SUTURA_NUMERICS_PROGRAMS").ok();
    wanted.map_or(2, |number| number.parse().expect("SUTURA_NUMERICS_PROGRAMS is a number"))
}

/// Every node of programs, and other sizes and seeds.
#[test]
fn every_node_and_other_sizes() {
    for (name, _, dims) in PROGRAMS.iter().take(looked_at()) {
        for (seed, scale) in [("2", 1), ("3", 7), ("4", 33)] {
            let sizes: Vec<String> = dims
                .split(',')
                .map(|dim| dim.split_once('=').unwrap().0)
                .enumerate()
                .map(|(i, symbol)| format!("{symbol}={}", scale + 2 * i))
                .collect();
            let (exit, said) = numerics(name, &["--dim", &sizes.join(","), "--seed", seed, "-q"]);
            assert_eq!(exit, Exit::Ok, "{name} at {sizes:?}: {said}");
        }
        let text = sutura_import::onnx::OnnxModel::read(&model(name)).unwrap();
        for node in &text.graph.nodes {
            let (exit, said) = numerics(name, &["--dim", dims, "--plant-error", &node.name]);
            assert_eq!(exit, Exit::Mismatch, "{name}, {}: {said}", node.name);
            assert!(said.contains(&format!("the compiled form of node `{}` (", node.name)), "{name}: {said}");
        }
    }
}

#[test]
fn the_operation_is_kept_with_all_that_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let (exit, said) = numerics("matmul", &["--dim", "a=2", "--plant-error", "n_hb", "-o", kept.to_str().unwrap()]);
    assert_eq!(exit, Exit::Mismatch, "{said}");
    let file = |name: &str| kept.join(name).to_str().unwrap().to_owned();
    // The one-operation model makes of its inputs what was expected, and not what the changed program made.
    let run = |expected: &str| {
        let input = format!("h=@{}", file("input-h.npy"));
        let expected = format!("hb=@{}", file(expected));
        sutura_cli::run(&["sutura", "run", "-q", &file("op.onnx"), "-i", &input, "--expected", &expected])
    };
    assert_eq!(run("expected.npy").0, Exit::Ok);
    assert_eq!(run("found.npy").0, Exit::Mismatch);
    assert_eq!(std::fs::read_to_string(kept.join("inputs.txt")).unwrap(), "input-h.npy\th\n");
}

#[test]
fn wrong_names_and_sizes_are_said() {
    let (exit, said) = numerics("matmul", &["--plant-error", "n_hc"]);
    assert_eq!(exit, Exit::Usage, "{said}");
    let (exit, said) = numerics("matmul", &["--dim", "z=3"]);
    assert_eq!(exit, Exit::Usage, "{said}");
    assert!(said.contains("`z`, which is no size"), "{said}");
    let (exit, said) = numerics("no_such_model", &[]);
    assert_eq!(exit, Exit::System, "{said}");
}

#[test]
fn values_are_written_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let dumped = folder.path().join("dumped");
    let (path, to) = (model("matmul"), dumped.to_str().unwrap().to_owned());
    let run = |more: &[&str]| {
        let head = ["sutura", "run", "-q", path.to_str().unwrap(), "--dim", "a=2", "--dump-dir", &to];
        sutura_cli::run(&[&head, more].concat())
    };
    let (exit, said) = run(&["--dump-values=h,r"]);
    assert_eq!(exit, Exit::Ok, "{said}");
    let index = std::fs::read_to_string(dumped.join("index.json")).unwrap();
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    let names: Vec<_> =
        index["values"].as_array().unwrap().iter().map(|v| (v["name"].clone(), v["file"].clone())).collect();
    assert_eq!(names, [("h".into(), "h.npy".into()), ("r".into(), "r.npy".into())]);
    // The second is the first with a bias, cut at zero: it has no negative number, and the first has.
    let least = |name: &str| {
        let tensor = sutura_runtime::npy::read(dumped.join(name)).unwrap();
        assert_eq!(tensor.dims(), [2, 48]);
        tensor.as_slice::<f32>().unwrap().iter().copied().fold(f32::INFINITY, f32::min)
    };
    assert!(least("h.npy") < 0.0 && least("r.npy") == 0.0);
    // Without fusion they are the same but for rounding, and come from more kernels.
    let fused = sutura_runtime::npy::read(dumped.join("r.npy")).unwrap();
    let (exit, said) = run(&["--dump-values=r", "--no-fusion"]);
    assert_eq!(exit, Exit::Ok, "{said}");
    let alone = sutura_runtime::npy::read(dumped.join("r.npy")).unwrap();
    assert!(sutura_runtime::compare::all_close(&alone, &fused, 1e-5, 1e-5).unwrap());
    assert!(kernels(&path, &["--no-fusion"]) > kernels(&path, &[]));
    let (exit, said) = run(&["--dump-values=hh"]);
    assert_eq!(exit, Exit::Usage, "{said}");
    assert!(said.contains("the model has no value `hh`"), "{said}");
}

/// How many kernels a model is compiled to.
fn kernels(model: &Path, more: &[&str]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("m.sutura");
    let head = ["sutura", "compile", "-q", model.to_str().unwrap(), "-o", output.to_str().unwrap()];
    let (exit, said) = sutura_cli::run(&[&head[..], more].concat());
    assert_eq!(exit, Exit::Ok, "{said}");
    sutura_runtime::Artifact::open(&output).unwrap().manifest().kernels.len()
}
