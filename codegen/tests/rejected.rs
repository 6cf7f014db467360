//! Bad input of every kind is an error value with a place and a reason, never an abort or a half-written file.

use std::fs;

use sutura_codegen::{
    Error, Jit, Linker, MlirModule, Severity, SourceLocation, Stage, Target, emit_object, link_shared,
};
use sutura_mlir_link as _;

const LINUX: &str = "x86_64-unknown-linux-gnu";

fn module(body: &str) -> String {
    format!("\"builtin.module\"() ({{^bb0:\n{body}\n}}) : () -> ()\n")
}

fn compile(text: &str) -> Result<Vec<u8>, Error> {
    emit_object(text, "input.mlir", &Target::new(LINUX, ""), &mut Vec::new())
}

/// The stage, the first diagnostic's place and its message.
fn rejection(error: Error) -> (Stage, Option<SourceLocation>, String) {
    match error {
        Error::Rejected { stage, diagnostics } => {
            let first = diagnostics.into_iter().next().unwrap();
            assert_eq!(first.severity, Severity::Error);
            (stage, first.location, first.message)
        }
        other => panic!("{other}"),
    }
}

fn at(line: u32, column: u32) -> Option<SourceLocation> {
    Some(SourceLocation { file: "input.mlir".to_owned(), line, column })
}

#[test]
fn text_that_does_not_parse() {
    let (stage, location, message) = rejection(compile(&module("%0 = \"arith.constant\"(")).unwrap_err());
    assert_eq!((stage, location), (Stage::Parse, at(2, 23)));
    assert!(message.contains("expected"), "{message}");
    for text in ["", "\0", "garbage", "}", "\u{feff}", "\"builtin.module\"() ({"] {
        assert!(matches!(compile(text), Err(Error::Rejected { stage: Stage::Parse, .. })), "{text:?}");
    }
}

#[test]
fn a_module_is_wanted() {
    let text =
        "\"func.func\"() <{function_type = () -> (), sym_name = \"f\", sym_visibility = \"private\"}> ({}) : () -> ()";
    let (stage, _, message) = rejection(compile(text).unwrap_err());
    assert_eq!((stage, message.as_str()), (Stage::Parse, "the text must be one `builtin.module`"));
}

#[test]
fn ops_that_nobody_registered() {
    let (stage, location, message) = rejection(compile(&module("\"nobody.knows\"() : () -> ()")).unwrap_err());
    assert_eq!((stage, location), (Stage::Parse, at(2, 15)));
    assert!(message.contains("unregistered dialect"), "{message}");
    let (stage, _, message) = rejection(compile(&module("\"arith.nonsense\"() : () -> ()")).unwrap_err());
    assert_eq!(stage, Stage::Parse);
    assert!(message.contains("'arith.nonsense'"), "{message}");
}

#[test]
fn what_the_verifier_rejects() {
    let body = "\"func.func\"() <{function_type = (f32) -> f32, sym_name = \"f\"}> ({\n\
                ^bb0(%x: f32):\n\
                \"func.return\"() : () -> ()\n\
                }) : () -> ()";
    let (stage, location, message) = rejection(compile(&module(body)).unwrap_err());
    assert_eq!((stage, location), (Stage::Parse, at(4, 1)));
    assert!(message.contains("has 0 operands, but enclosing function"), "{message}");
}

#[test]
fn locations_in_the_text_lead_back_to_the_source() {
    let body = "\"func.func\"() <{function_type = (f32) -> f32, sym_name = \"f\"}> ({\n\
                ^bb0(%x: f32):\n\
                \"func.return\"() : () -> () loc(fused[\"name\"(\"model.mlir\":7:5), unknown])\n\
                }) : () -> ()";
    let (_, location, _) = rejection(compile(&module(body)).unwrap_err());
    assert_eq!(location, Some(SourceLocation { file: "model.mlir".to_owned(), line: 7, column: 5 }));
}

#[test]
fn what_has_no_place_has_the_name_of_its_operation() {
    let body = "\"func.func\"() <{function_type = (f32) -> f32, sym_name = \"f\"}> ({\n\
                ^bb0(%x: f32):\n\
                \"func.return\"() : () -> () loc(fused[unknown, \"/fc1/Gemm\"(\"child\")])\n\
                }) : () -> ()";
    let error = compile(&module(body)).unwrap_err();
    let [diagnostic] = error.diagnostics() else { panic!("{error}") };
    assert_eq!((&diagnostic.location, diagnostic.name.as_deref()), (&None, Some("/fc1/Gemm")));
    assert!(error.to_string().contains("\n`/fc1/Gemm`: error: "), "{error}");
}

#[test]
fn notes_come_with_their_error() {
    let declared =
        "\"func.func\"() <{function_type = () -> (), sym_name = \"f\", sym_visibility = \"private\"}> ({}) : () -> ()";
    let body = &format!("{declared}\n{declared}");
    let error = compile(&module(body)).unwrap_err();
    let notes: Vec<_> = error.diagnostics().iter().flat_map(|diagnostic| &diagnostic.notes).collect();
    assert!(notes.iter().any(|note| note.severity == Severity::Note && note.location.is_some()), "{error}");
    assert!(error.to_string().contains("\n  input.mlir:"), "{error}");
}

#[test]
fn ops_that_no_pass_lowers_are_named() {
    let body = "\"func.func\"() <{function_type = (tensor<4xf32>) -> (), sym_name = \"f\"}> ({\n\
                ^bb0(%x: tensor<4xf32>):\n\
                \"func.return\"() : () -> ()\n\
                }) : () -> ()";
    let (stage, location, message) = rejection(compile(&module(body)).unwrap_err());
    assert_eq!((stage, location), (Stage::Translate, at(2, 1)));
    assert!(message.contains("func.func"), "{message}");
}

#[test]
fn pipelines_that_do_not_parse() {
    let mut empty = MlirModule::parse(&module(""), "input.mlir").unwrap();
    for pipeline in ["builtin.module(no-such-pass)", "builtin.module(canonicalize", "", "canonicalize{no-such=1}"] {
        let error = empty.run_pipeline(pipeline).unwrap_err();
        assert!(matches!(&error, Error::Pipeline { message, .. } if !message.is_empty()), "{pipeline}: {error:?}");
    }
    empty.verify().unwrap();
}

#[test]
fn targets_that_do_not_exist() {
    let compile = |target: &Target| emit_object(&module(""), "input.mlir", target, &mut Vec::new()).unwrap_err();
    assert!(matches!(compile(&Target::new(LINUX, "+avx3000")), Error::Feature { .. }));
    assert!(matches!(compile(&Target::new(LINUX, "avx2")), Error::FeatureSign { .. }));
    assert!(matches!(compile(&Target::new("z80-unknown-linux-gnu", "")), Error::Architecture { .. }));
    let mut target = Target::new(LINUX, "");
    target.cpu = "8086\0".to_owned();
    assert!(matches!(compile(&target), Error::Cpu { .. }));
}

#[test]
fn deep_nesting_is_refused_and_the_limit_is_safe() {
    let nested = |levels: usize| {
        let (open, close) = ("\"builtin.module\"() ({^bb0:\n".repeat(levels), "}) : () -> ()\n".repeat(levels));
        format!("{open}{close}")
    };
    assert!(matches!(MlirModule::parse(&nested(100_000), "deep.mlir"), Err(Error::NestedTooDeep { line: 501, .. })));
    MlirModule::parse(&nested(500), "deep.mlir").unwrap().run_pipeline("builtin.module(canonicalize,cse)").unwrap();
}

#[test]
fn fatal_errors_of_llvm_are_values() {
    // The intrinsic needs AVX-512, so the instruction cannot be selected: LLVM's fatal error, not a diagnostic.
    let body = "\"llvm.func\"() <{function_type = !llvm.func<vector<16xf32> (vector<16xf32>)>, linkage = #llvm.linkage<external>, sym_name = \"f\"}> ({\n\
                ^bb0(%x: vector<16xf32>):\n\
                %0 = \"llvm.mlir.constant\"() <{value = 8 : i32}> : () -> i32\n\
                %1 = \"llvm.mlir.constant\"() <{value = -1 : i16}> : () -> i16\n\
                %2 = \"llvm.call_intrinsic\"(%x, %0, %x, %1, %0) <{intrin = \"llvm.x86.avx512.mask.rndscale.ps.512\", op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 5, 0>}> : (vector<16xf32>, i32, vector<16xf32>, i16, i32) -> vector<16xf32>\n\
                \"llvm.return\"(%2) : (vector<16xf32>) -> ()\n\
                }) : () -> ()";
    let error = compile(&module(body)).unwrap_err();
    assert!(matches!(error, Error::Fatal { stage: Stage::Emit, .. }), "{error}");
    let again = emit_object(&module(body), "input.mlir", &Target::new(LINUX, "+avx512f"), &mut Vec::new());
    assert!(again.is_ok(), "{again:?}");
}

#[test]
fn calls_that_nothing_answers() {
    let body = "\"func.func\"() <{function_type = (f32) -> f32, sym_name = \"f\"}> ({\n\
                ^bb0(%x: f32):\n\
                %0 = \"math.exp\"(%x) : (f32) -> f32\n\
                \"func.return\"(%0) : (f32) -> ()\n\
                }) : () -> ()";
    let object = compile(&module(body)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("f.so");
    let error = link_shared(std::slice::from_ref(&object), &out).unwrap_err();
    assert!(matches!(&error, Error::Undefined { symbols } if symbols == &["expf"]), "{error}");
    assert!(!out.exists());
    let error = Jit::new().unwrap().add_object(&object).unwrap_err();
    assert!(matches!(&error, Error::Undefined { symbols } if symbols == &["expf"]), "{error}");
}

#[test]
fn objects_that_are_none_and_symbols_that_are_absent() {
    let folder = tempfile::tempdir().unwrap();
    let error = link_shared(&[b"no object".to_vec()], &folder.path().join("x.so")).unwrap_err();
    assert!(matches!(error, Error::Object { .. }));
    let mut jit = Jit::new().unwrap();
    assert!(matches!(jit.add_object(b"no object"), Err(Error::Object { .. })));
    jit.add_object(&compile(&module("")).unwrap()).unwrap();
    assert!(matches!(jit.symbol("absent"), Err(Error::NoSymbol { name }) if name == "absent"));
}

#[test]
fn a_failed_link_leaves_what_was_there() {
    let object = compile(&module("")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("kept.so");
    fs::write(&out, "before").unwrap();
    let error = Linker::Lld("false".into()).link_shared(std::slice::from_ref(&object), &out).unwrap_err();
    assert!(matches!(error, Error::Linker { .. }), "{error}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "before");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let error = link_shared(&[object], &folder.path().join("absent/x.so")).unwrap_err();
    assert!(matches!(&error, Error::Io { .. }) && error.to_string().contains("absent"), "{error}");
}
