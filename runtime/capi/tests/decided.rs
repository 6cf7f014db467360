//! The C interface where data decide dims of outputs.

#![allow(unsafe_code)]

#[path = "../../tests/common/mod.rs"]
mod common;

use std::ffi::{CStr, CString};
use std::ptr::null_mut;

use sutura_rt::{SuturaModel, SuturaTensor, sutura_last_error, sutura_model_close, sutura_model_open};
use sutura_rt::{sutura_model_output_dims, sutura_model_run, sutura_model_run_dims};

/// Memory that is aligned as outputs must be.
#[repr(align(64))]
struct Aligned([f32; 5]);

fn last_error() -> String {
    // SAFETY: a C string until the next error.
    unsafe { CStr::from_ptr(sutura_last_error()) }.to_string_lossy().into_owned()
}

#[test]
fn dims_are_told_after_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decided.sutura");
    std::fs::write(&path, common::decided(&[])).unwrap();
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let mut model: *mut SuturaModel = null_mut();
    // SAFETY: a C string and a place for the model.
    assert_eq!(unsafe { sutura_model_open(path.as_ptr(), 1, &raw mut model) }, 0, "{}", last_error());
    let (mut x, mut y) = ([1.0f32, -1.0, 2.0, 0.0, 3.0], Aligned([0.0; 5]));
    let dims = [5i64];
    let tensor = |data: *mut f32| SuturaTensor { data: data.cast(), dims: dims.as_ptr(), rank: 1, element_type: 13 };
    let (input, output) = (tensor(x.as_mut_ptr()), tensor(y.0.as_mut_ptr()));
    let mut found = [-1i64];
    // SAFETY: one input and one output of rank 1, with five numbers each, and room for one dim.
    unsafe {
        assert_eq!(sutura_model_output_dims(model, &raw const input, 1, 0, found.as_mut_ptr()), 0, "{}", last_error());
        assert_eq!(found, [5]);
        assert_eq!(sutura_model_run(model, &raw const input, 1, &raw const output, 1), 2);
        assert!(last_error().contains("sutura_model_run_dims"), "{}", last_error());
        let run = |dims| sutura_model_run_dims(model, &raw const input, 1, &raw const output, 1, dims);
        assert_eq!(run(null_mut()), 2);
        assert!(last_error().contains("dims"), "{}", last_error());
        assert_eq!(run(found.as_mut_ptr()), 0, "{}", last_error());
        sutura_model_close(model);
    }
    assert_eq!((found, &y.0[..3]), ([3], &[1.0, 2.0, 3.0][..]));
}
