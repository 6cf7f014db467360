//! Wrong use, wrong data and wrong files: each is an error of its own kind that names what is wrong.

mod common;

use common::{inputs, load, manifest};
use sutura_runtime::manifest::{Dim, Manifest, Symbol};
use sutura_runtime::{Artifact, ElementType, Error, ErrorKind, Model, Options, ShapeProblem, Tensor, artifact, npy};

fn model() -> Model {
    load(&[], Options::new().threads(1)).unwrap()
}

/// The error of running `x` and `bias` of these dims.
fn run_error(x: &[i64], bias: &[i64]) -> Error {
    let tensor = |dims| Tensor::zeros(ElementType::F32, dims).unwrap();
    model().run(&[tensor(x), tensor(bias)]).unwrap_err()
}

#[track_caller]
fn assert_error(error: &Error, kind: ErrorKind, message: &str) {
    assert_eq!(error.to_string(), message);
    assert_eq!(error.kind(), kind);
}

#[test]
fn wrong_number_of_inputs() {
    let error = model().run(&inputs(2, 2)[..1]).unwrap_err();
    assert_error(&error, ErrorKind::Usage, "the model has 2 inputs (`x`, `bias`), but 1 was given");
}

#[test]
fn wrong_rank() {
    let error = run_error(&[2, 2, 2], &[2]);
    assert_error(&error, ErrorKind::Input, "input `x` has rank 3, but the model needs rank 2: [rows, cols]");
}

#[test]
fn wrong_element_type() {
    let bias = Tensor::zeros(ElementType::I64, &[2]).unwrap();
    let [x, _] = inputs(2, 2);
    let error = model().run(&[x, bias]).unwrap_err();
    assert_error(&error, ErrorKind::Input, "input `bias` has element type i64, but the model needs f32");
}

#[test]
fn inconsistent_named_dim() {
    let error = run_error(&[2, 128], &[64]);
    assert_error(
        &error,
        ErrorKind::Input,
        "dimension `cols` is inconsistent: input `bias` dimension 0 is 64, but input `x` dimension 1 is 128",
    );
    assert!(matches!(error, Error::Shape(ShapeProblem::Inconsistent { left_value: 64, right_value: 128, .. })));
}

#[test]
fn dim_out_of_range() {
    let error = run_error(&[5001, 1], &[1]);
    assert_error(
        &error,
        ErrorKind::Input,
        "dimension `rows` is out of range: input `x` dimension 0 is 5001, above 5000; \
         the model was compiled for [0, 5000]",
    );
}

#[test]
fn dim_not_divisible() {
    let error = run_error(&[1, 101], &[101]);
    assert_error(
        &error,
        ErrorKind::Input,
        "dimension `cols` must be a multiple of 2, but input `x` dimension 1 is 101",
    );
}

#[test]
fn inputs_by_name() {
    let model = model();
    let [x, bias] = inputs(2, 3);
    let bound = model.bind(&[("bias", bias.view()), ("x", x.view())]).unwrap();
    assert_eq!((bound[0].dims(), bound[1].dims()), (x.dims(), bias.dims()));
    let error = |named: &[(&str, _)]| model.bind(named).unwrap_err();
    assert_error(&error(&[("x", x.view())]), ErrorKind::Usage, "input `bias` is missing");
    assert_error(
        &error(&[("x", x.view()), ("bais", bias.view())]),
        ErrorKind::Usage,
        "the model has no input `bais` (did you mean `bias`?); its inputs are `x`, `bias`",
    );
    assert_error(
        &error(&[("whatever", x.view())]),
        ErrorKind::Usage,
        "the model has no input `whatever`; its inputs are `x`, `bias`",
    );
    assert_error(&error(&[("x", x.view()), ("x", x.view())]), ErrorKind::Usage, "input `x` is given twice");
}

#[test]
fn code_of_another_interface_version() {
    let error = load(&["TEST_ABI=1"], Options::new()).unwrap_err();
    assert_error(
        &error,
        ErrorKind::Unsupported,
        "the model's code has interface version 1, this runtime has version 8; compile the model again",
    );
}

#[test]
fn code_without_an_export() {
    let error = load(&["TEST_NO_RUN"], Options::new()).unwrap_err();
    assert_error(&error, ErrorKind::Corrupt, "the model's code has no symbol `sutura_run`");
}

/// Whoever makes an artifact's hashes anew can join a manifest with code of another model: the code is not called.
#[test]
fn code_for_another_manifest() {
    let host = common::host(&[]);
    type Change = fn(&mut Manifest);
    let changes: [(Change, &str); 13] = [
        (|m| drop(m.outputs.pop()), "the code has 2, the manifest 1 output"),
        (|m| m.outputs.swap(0, 1), "outputs, number 0: `f32[s0,s1]` in the code, `f32[s0]` in the manifest"),
        (|m| drop(m.inputs.pop()), "the code has 2, the manifest 1 input"),
        (|m| m.inputs[0].element_type = ElementType::I8, "inputs, number 0: `f32[s0,s1]` in the code, `i8[s0,s1]` in"),
        (|m| m.inputs[1].dims[0] = Dim::Const(1), "inputs, number 1: `f32[s1]` in the code, `f32[1]` in the manifest"),
        (|m| m.inputs[1].dims[0] = Dim::Expr("cols".into()), "`f32[s1]` in the code, `f32[?]` in the manifest"),
        (|m| m.outputs[1].dims.clear(), "outputs, number 1: `f32[s0]` in the code, `f32[]` in the manifest"),
        (|m| m.symbols.swap(0, 1), "inputs, number 0: `f32[s0,s1]` in the code, `f32[s1,s0]` in the manifest"),
        (
            |m| m.symbols.push(Symbol { name: "more".into(), ..m.symbols[0].clone() }),
            "symbols: `2` in the code, `3` in",
        ),
        (|m| m.constants[0].element_type = ElementType::I32, "constants: `f32[1]` in the code, `i32[1]` in"),
        (|m| drop(m.checks.pop()), "checks: `3` in the code, `2` in the manifest"),
        (|m| m.data_checks.clear(), "data_checks: `2` in the code, `0` in the manifest"),
        (|m| drop(m.kernels.pop()), "the code has 2, the manifest 1 kernel"),
    ];
    for (change, words) in changes {
        let mut manifest = manifest();
        change(&mut manifest);
        let artifact = Artifact::from_bytes("test", &common::pack(&manifest, &host)).unwrap();
        let error = Model::from_artifact(artifact, Options::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    for text in ["", "symbols 2", "something else", &(manifest().interface_text() + "; more 1")] {
        let error = load(&[&format!("TEST_INTERFACE=\"{text}\"")], Options::new()).unwrap_err();
        assert!(error.to_string().starts_with("cannot load the model's code: `host.so` is not for"), "{error}");
    }
}

#[test]
fn code_that_is_cut_off() {
    let host = common::host(&[]);
    for length in [0, 1, 63, 64, 100, 1000, host.len() / 4, host.len() / 2] {
        let artifact = Artifact::from_bytes("test", &common::pack(&manifest(), &host[..length])).unwrap();
        let error = Model::from_artifact(artifact, Options::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{length}: {error}");
    }
}

#[test]
fn code_that_breaks_its_contract() {
    let ran = |macros: &[&str], dims: (i64, i64)| {
        load(macros, Options::new().threads(1)).unwrap().run(&inputs(dims.0, dims.1)).unwrap_err()
    };
    for (macros, words) in [
        ("TEST_BAD_OUTPUT", "it computed 4 as dimension 1 of output `y`"),
        ("TEST_BAD_CHECK", "`sutura_shapes` returned 17, but the manifest has 3 checks"),
        ("TEST_BAD_WORKSPACE", "it asked for a workspace of -1 bytes"),
    ] {
        let error = ran(&[macros], (2, 3));
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.to_string().contains(words), "{error}");
    }
    let error = ran(&["TEST_NO_CHECKS"], (5001, 1));
    assert!(error.to_string().contains("it accepted the value 5001 for the dimension `rows`"), "{error}");
    let [x, _] = inputs(2, 3);
    let error =
        load(&["TEST_NO_CHECKS"], Options::new()).unwrap().run(&[x, inputs(1, 9).into_iter().next_back().unwrap()]);
    assert!(error.unwrap_err().to_string().contains("it accepted 9 as dimension 0 of input `bias`"));
}

#[test]
fn code_that_fails() {
    let error = load(&["TEST_FAIL=-3"], Options::new()).unwrap().run(&inputs(1, 1)).unwrap_err();
    assert_error(&error, ErrorKind::Internal, "the model's code failed with code -3");
}

#[test]
fn an_undeclared_machine_runs_nothing() {
    let mut manifest = manifest();
    let load = |manifest: &_| {
        // No code at all: the machine is checked before the code is touched.
        let bytes = common::pack(manifest, b"");
        Model::from_artifact(Artifact::from_bytes("test", &bytes).unwrap(), Options::new()).unwrap_err()
    };
    manifest.target.features = "+hyperdrive".into();
    assert!(matches!(load(&manifest), Error::UnknownCpuFeature { .. }));
    manifest.target.features.clear();
    manifest.target.triple = "riscv64-unknown-linux-gnu".into();
    assert!(matches!(load(&manifest), Error::WrongMachine { .. }));
    manifest.target.triple = common::manifest().target.triple;
    manifest.routines = vec!["gemm".into(), "conv".into()];
    assert_error(
        &load(&manifest),
        ErrorKind::Unsupported,
        "the model calls a routine that this runtime does not have: `gemm`, `conv`; a newer runtime may, or the application can \
         register it",
    );
    manifest.routines.clear();
    assert!(matches!(load(&manifest), Error::Load { .. }));
}

#[test]
fn files_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.sutura");
    let error = Model::load(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::System);
    assert!(error.to_string().starts_with("cannot read `"), "{error}");

    let bytes = common::pack(&manifest(), &common::host(&[]));
    for length in [0, 1, 3, 4, 29, 35, 43, 64, 100, 1000, bytes.len() / 2, bytes.len() - 22, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        let error = Model::load(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{length}: {error}");
    }
    let error = Model::load(folder.path()).unwrap_err();
    assert!(error.to_string().contains("is a folder, not a file"), "{error}");
}

#[test]
fn nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("absent/model.sutura");
    let manifest = manifest();
    let contents = artifact::Contents { manifest: &manifest, host: b"", device: None, constants: &[&[0; 4]] };
    let error = artifact::write(&path, &contents).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::System);
    assert!(error.to_string().contains("absent/model.sutura"), "{error}");
    // A folder stands where the file should go, so the last step fails.
    let path = folder.path().join("taken");
    std::fs::create_dir(&path).unwrap();
    assert!(artifact::write(&path, &contents).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn npy_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let [x, _] = inputs(3, 4);
    npy::write(&path, &x).unwrap();
    let back = npy::read(&path).unwrap();
    assert_eq!((back.dims(), back.bytes()), (x.dims(), x.bytes()));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let error = npy::read(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().contains("f32[3, 4] has 48 bytes, but the file holds 47"), "{error}");
}

/// Whatever threads find first, the report is that of the lowest position.
#[test]
fn wrong_indices_fail_the_run_by_the_lowest_position() {
    for threads in [1, 2, 2, 3] {
        let model = load(&["TEST_REPORT=0"], Options::new().threads(threads)).unwrap();
        let error = model.run(&inputs(40, 2)).unwrap_err();
        let message = "gather `rows`: element 1 of its indices is 41, which is not in [-40, 39]";
        assert_error(&error, ErrorKind::Input, message);
        // A run that finds nothing wrong is not touched by the one before.
        model.run(&inputs(1, 2)).unwrap();
    }
    let unknown = load(&["TEST_REPORT=2"], Options::new()).unwrap().run(&inputs(2, 1)).unwrap_err();
    assert!(matches!(&unknown, Error::Contract(why) if why.contains("check 2 of data, of 2")), "{unknown}");
}

/// A division by zero is an error of the input, with the element where that is known.
#[test]
fn divisions_by_zero_fail_the_run() {
    for threads in [1, 2] {
        for (macros, place) in [(&["TEST_REPORT=1"][..], " at element 1"), (&["TEST_REPORT=1", "TEST_NOWHERE"], "")] {
            let model = load(macros, Options::new().threads(threads)).unwrap();
            let error = model.run(&inputs(40, 2)).unwrap_err();
            assert_error(&error, ErrorKind::Input, &format!("div `mean`: divides by zero{place}"));
        }
    }
}
