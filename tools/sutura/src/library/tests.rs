//! Headers and refusals, without a compiler.

use sutura_runtime::manifest::{
    Constant, Dim, ExcessPrecision, FORMAT, Function, Manifest, Math, Symbol, Target, Tool, Value,
};
use sutura_runtime::{ElementType, abi};

use super::*;

/// A model with one input and one output `[batch, 4]`.
pub(super) fn manifest() -> Manifest {
    let value = |name: &str| Value {
        name: name.into(),
        element_type: ElementType::F32,
        dims: vec![Dim::Symbol("batch".into()), Dim::Const(4)],
    };
    Manifest {
        format: FORMAT,
        abi: abi::VERSION,
        tool: Tool { name: "sutura".into(), version: "0".into() },
        target: Target {
            triple: "x86_64-unknown-linux-gnu".into(),
            features: String::new(),
            description: "x86_64".into(),
            description_hash: "none".into(),
        },
        device: None,
        math: Math { fast_math: vec![], precision: None, excess_precision: ExcessPrecision::Fused, portable: false },
        model: "sample".into(),
        symbols: vec![Symbol { name: "batch".into(), min: 0, max: 16, div: 1, likely: vec![1] }],
        inputs: vec![value("x")],
        reserves: vec![],
        outputs: vec![value("y")],
        constants: Vec::<Constant>::new(),
        checks: Vec::new(),
        data_checks: vec![],
        routines: Vec::new(),
        decided: Vec::new(),
        temporaries: vec![],
        functions: vec![],
        kernels: Vec::new(),
        source_hash: "none".into(),
    }
}

#[test]
fn what_only_the_runtime_can_do_is_refused_by_name() {
    let refused = |change: fn(&mut Manifest), words: &str| {
        let mut manifest = manifest();
        change(&mut manifest);
        let failure = Library::of(&manifest, None).err().expect("it is refused");
        assert_eq!(failure.kind, Kind::Unsupported);
        assert!(failure.message.contains(words), "{}", failure.message);
        assert!(failure.hint.is_some());
    };
    refused(|m| m.routines = vec!["sort/1".into(), "fft/1".into()], "`sort/1`, `fft/1`");
    refused(|m| m.functions = vec![Function { name: "fib".into(), temporaries: vec![] }], "`fib`");
    refused(|m| m.decided = vec!["batch".into()], "`batch`");
    Library::of(&manifest(), None).expect("it is not refused");
}

#[test]
fn registers_of_amx_are_asked_for_where_they_are_used() {
    let asks = |features: &str| {
        let mut manifest = manifest();
        manifest.target.features = features.into();
        let text = super::glue::glue(&manifest, &super::names::Names::new(&manifest, None), "i", ("d", &[], 0));
        text.contains("@sutura.wants.tiles = internal constant i1 true")
    };
    assert!(asks("+avx512f,+amx-int8,+amx-tile"));
    assert!(!asks("+avx512f,-amx-int8"));
}

#[test]
fn the_interface_changes_with_what_callers_rely_on() {
    let interface = |change: fn(&mut Manifest)| {
        let mut manifest = manifest();
        change(&mut manifest);
        Library::of(&manifest, None).expect("a library").interface()
    };
    let plain = interface(|_| ());
    assert_eq!(plain, interface(|m| m.source_hash = "another".into()));
    assert_ne!(plain, interface(|m| m.inputs[0].element_type = ElementType::I32));
    assert_ne!(plain, interface(|m| m.inputs[0].dims[1] = Dim::Const(5)));
    assert_ne!(plain, interface(|m| m.inputs[0].name = "z".into()));
    assert_ne!(plain, interface(|m| m.outputs.clear()));
    assert_ne!(
        plain,
        interface(|m| {
            let value = m.outputs.pop().expect("an output");
            m.inputs.push(value);
        })
    );
}
