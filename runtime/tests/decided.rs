//! Models whose data decide a size, with code of the system's C compiler: outputs that are cut, and code that lies.

mod common;

use sutura_runtime::artifact::{Contents, to_bytes};
use sutura_runtime::{Artifact, Error, Model, Options, Result, ShapeProblem, Tensor};

/// Loads the model, with these macros in its code.
fn load(macros: &[&str]) -> Result<Model> {
    let bytes = common::decided(macros);
    Model::from_artifact(Artifact::from_bytes("decided.sutura", &bytes)?, Options::new())
}

fn x() -> Tensor {
    Tensor::from_slice(&[5], &[1.0f32, -1.0, 2.0, 0.0, 3.0]).unwrap()
}

#[test]
fn outputs_are_cut_to_what_was_found() {
    let model = load(&[]).unwrap();
    for _ in 0..2 {
        let y = &model.run(&[x()]).unwrap()[0];
        assert_eq!((y.dims(), y.as_slice::<f32>().unwrap(), y.len()), (&[3][..], &[1.0, 2.0, 3.0][..], 3));
    }
    let none = Tensor::from_slice(&[2], &[0.0f32; 2]).unwrap();
    assert!(model.run(&[none]).unwrap()[0].is_empty());
    let shapes = model.infer_shapes(&[&[5]]).unwrap();
    assert_eq!((shapes.symbols, shapes.outputs), (vec![5, 5], vec![vec![5]]));
}

#[test]
fn memory_of_the_caller_is_told_how_much_is_there() {
    let model = load(&[]).unwrap();
    let mut outputs = model.allocate_outputs(&[&[5]]).unwrap();
    let found = model.run_into(&[x().view()], &mut [outputs[0].view_mut()]).unwrap();
    assert_eq!(found, Some(vec![vec![3]]));
    assert_eq!((outputs[0].dims(), &outputs[0].as_slice::<f32>().unwrap()[..3]), (&[5][..], &[1.0, 2.0, 3.0][..]));
    // A model whose sizes are known tells none.
    let model = common::load(&[], Options::new()).unwrap();
    let inputs = common::inputs(2, 4);
    let mut outputs = model.allocate_outputs(&[&[2, 4], &[4]]).unwrap();
    let mut targets: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
    let views = inputs.each_ref().map(Tensor::view);
    assert_eq!(model.run_into(&views, &mut targets).unwrap(), None);
}

#[test]
fn what_was_found_is_checked() {
    for (found, wrong) in [("6", "6"), ("-1", "-1"), ("1000000", "1000000")] {
        let error = load(&[&format!("TEST_FOUND={found}")]).unwrap().run(&[x()]).unwrap_err();
        assert!(matches!(&error, Error::Contract(what) if what.contains(wrong)), "{error}");
    }
    // The symbol and the dim that it is must be the same.
    let error = load(&["TEST_DIM=2"]).unwrap().run(&[x()]).unwrap_err();
    assert!(error.to_string().contains("it decided 2 as dimension 0 of output `y`"), "{error}");
    let error = load(&["TEST_FAIL"]).unwrap().run(&[x()]).unwrap_err();
    let Error::Shape(ShapeProblem::Inconsistent { left, left_value: 3, right_value: 7, .. }) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(left, "the size that is found");
}

#[test]
fn code_must_be_able_to_tell_dims() {
    let error = load(&["TEST_NO_DIMS"]).unwrap_err();
    assert!(matches!(&error, Error::MissingSymbol { symbol } if symbol == "sutura_output_dims"), "{error}");
    let mut manifest = common::decided_manifest();
    manifest.decided = vec![];
    let host = common::host_of("decided_model.c", &[]);
    let contents = |manifest| Contents { manifest, host: &host, device: None, constants: &[] };
    let bytes = to_bytes(&contents(&manifest)).unwrap();
    let error = Model::from_artifact(Artifact::from_bytes("x.sutura", &bytes).unwrap(), Options::new()).unwrap_err();
    assert!(error.to_string().contains("the code also says `decided s1`"), "{error}");
    manifest.decided = vec!["other".into()];
    assert!(manifest.validate().unwrap_err().contains("data decide `other`, which is no symbol"));
}
