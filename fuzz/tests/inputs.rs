//! Inputs repeat, findings are found, and a few inputs of each target pass.

use std::path::Path;

use sutura_fuzz::corpus::Corpus;
use sutura_fuzz::drive::try_input;
use sutura_fuzz::mutate::tokens;
use sutura_fuzz::targets::Target;
use sutura_ir::Context;

fn corpus() -> Corpus {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    Corpus::read(root).expect("tests to start from")
}

#[test]
fn inputs_follow_from_seed_and_number() {
    let (one, two) = (corpus(), corpus());
    assert!(one.texts.len() > 100 && one.checks.len() > 100 && one.types.len() > 50 && one.attrs.len() > 50);
    for target in Target::ALL {
        let all: Vec<String> = (0..20).map(|i| target.input(&one, 3, i)).collect();
        let again: Vec<String> = (0..20).rev().map(|i| target.input(&two, 3, i)).rev().collect();
        assert_eq!(all, again, "{}", target.name());
        let mut different = all;
        different.sort();
        different.dedup();
        assert!(different.len() > 15, "{}: {} of 20", target.name(), different.len());
    }
}

#[test]
fn tokens_are_the_text() {
    for text in corpus().texts.iter().chain([&"\"open".to_string(), &"%".to_string(), &"ä€".to_string()]) {
        assert_eq!(tokens(text).concat(), *text);
    }
}

#[test]
fn the_first_inputs_pass() {
    let corpus = corpus();
    for target in Target::ALL {
        let cx = Context::new(sutura_dialects::all());
        for index in 0..10 {
            let text = target.input(&corpus, 1, index);
            assert_eq!(try_input(target, &cx, &text), Ok(()), "{} {index}", target.name());
        }
    }
}

#[test]
fn generated_modules_are_read_and_partly_right() {
    let corpus = corpus();
    let cx = Context::new(sutura_dialects::all());
    let reads = |text: String| {
        let source = cx.sources().add("m", text).expect("a source");
        let mut diags = sutura_ir::Diagnostics::default();
        sutura_grammar::parse_module(&cx, &source, &sutura_grammar::ParseOptions::default(), &mut diags).is_ok()
    };
    let read = (0..200).filter(|i| reads(Target::Verify.input(&corpus, 5, *i))).count();
    assert!(read > 20, "only {read} of 200 random modules get as far as the verifier");
}
