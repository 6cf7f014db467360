//! LSTM, GRU and RNN of ONNX: compiled once, run at several numbers of steps and samples against onnxruntime, without steps and samples
//! at all, refused on wrong sizes, and named where reports and remarks speak of them.
//!
//! `data/recurrent/make_recurrent.py` makes models and outputs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sutura_runtime::{Model, Options, Tensor};

fn sutura(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.env("NO_COLOR", "1").args(args).output().unwrap()
}

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recurrent").join(name);
    path.to_str().unwrap().to_owned()
}

fn compiled(folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let artifact = folder.join(format!("{name}.sutura"));
    let model = data(&format!("{name}.onnx"));
    let done = sutura(&[&["compile", "-q", &model, "-o", artifact.to_str().unwrap()], more].concat());
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    artifact
}

#[test]
fn they_compute_what_onnxruntime_does() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["lstm", "lstm_plain", "gru", "gru_before", "rnn"] {
        let artifact = compiled(folder.path(), name, &[]);
        for (sizes, threads) in [("1x1", "1"), ("4x3", "1"), ("4x3", "2"), ("9x2", "2")] {
            let (inputs, expected) = (data(&format!("{name}_{sizes}.npz")), data(&format!("{name}_{sizes}_out.npz")));
            let done = sutura(&[
                "run",
                artifact.to_str().unwrap(),
                "--threads",
                threads,
                "--inputs",
                &inputs,
                "--expected-outputs",
                &expected,
                "--atol",
                "2e-6",
                "--rtol",
                "0",
            ]);
            let said = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
            assert!(done.status.success(), "{name} at {sizes}, {threads} threads: {said}");
        }
    }
}

fn ones(dims: &[i64]) -> Tensor {
    Tensor::from_slice(dims, &vec![1.0_f32; dims.iter().product::<i64>() as usize]).unwrap()
}

fn lengths(values: &[i32]) -> Tensor {
    Tensor::from_slice(&[values.len() as i64], values).unwrap()
}

/// Without steps the last state is the first one; a sample without steps keeps it, and its outputs are 0.
#[test]
fn nothing_to_do_leaves_the_state() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::load_with(compiled(folder.path(), "lstm", &[]), Options::new().threads(2)).unwrap();
    let run = |steps: i64, ends: &[i32]| {
        let samples = ends.len() as i64;
        let state = || ones(&[2, samples, 6]);
        model.run(&[ones(&[steps, samples, 5]), lengths(ends), state(), state()]).unwrap()
    };
    for outputs in [run(0, &[0, 0, 0]), run(3, &[])] {
        assert!(outputs[0].as_slice::<f32>().unwrap().is_empty());
        assert!(outputs[1..].iter().all(|state| state.as_slice::<f32>().unwrap().iter().all(|x| *x == 1.0)));
    }
    let outputs = run(3, &[0, 3]);
    let numbers = outputs[0].as_slice::<f32>().unwrap();
    for (i, row) in numbers.chunks(6).enumerate() {
        let first = i % 2 == 0;
        assert_eq!(row.iter().all(|x| *x == 0.0), first, "sample {} of row {i}: {row:?}", i % 2);
    }
    let last = outputs[2].as_slice::<f32>().unwrap();
    assert!(last[..6].iter().all(|x| *x == 1.0) && last[6..12].iter().all(|x| *x != 1.0), "{last:?}");
}

#[test]
fn wrong_sizes_are_errors_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::load_with(compiled(folder.path(), "gru", &[]), Options::new().threads(1)).unwrap();
    let run = |x: &[i64], ends: &[i32], state: &[i64]| model.run(&[ones(x), lengths(ends), ones(state)]);
    assert!(run(&[2, 3, 5], &[2, 1, 2], &[1, 3, 6]).is_ok());
    for (x, ends, state) in [
        ([2, 3, 5], &[2, 1][..], [1, 3, 6]),
        ([2, 3, 5], &[2, 1, 2], [1, 2, 6]),
        ([2, 3, 5], &[2, 1, 2], [2, 3, 6]),
        ([2, 3, 4], &[2, 1, 2], [1, 3, 6]),
    ] {
        let error = run(&x, ends, &state).unwrap_err().to_string();
        let said = error.contains("is inconsistent") || error.contains("must be");
        assert!(said, "{x:?}, {} lengths, {state:?}: {error}", ends.len());
    }
}

/// The model's node and its operator, where remarks and the report's plan speak of regions.
#[test]
fn reports_and_remarks_name_the_operator_and_the_node() {
    let folder = tempfile::tempdir().unwrap();
    let (page, remarks) = (folder.path().join("page.html"), folder.path().join("remarks.txt"));
    let said = format!("--remarks={}", remarks.to_str().unwrap());
    compiled(folder.path(), "lstm", &["--report", page.to_str().unwrap(), &said]);
    let remarks = std::fs::read_to_string(remarks).unwrap();
    assert!(remarks.contains("@lstm is expanded once"), "{remarks}");
    assert!(remarks.contains("it computes lstm '/encoder/LSTM'"), "{remarks}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("lstm '/encoder/LSTM'"), "{page}");
}
