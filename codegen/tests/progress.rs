//! How far code generation is. One test, because the counters are those of the process.

use sutura_codegen::{Target, emit_object, progress};
use sutura_mlir_link as _;

#[test]
fn every_function_is_counted_when_it_is_emitted() {
    let function = |number: usize| {
        format!(
            "\"func.func\"() <{{function_type = (i64) -> i64, sym_name = \"f{number}\"}}> ({{\n^bb0(%x: i64):\n  \
             %y = \"arith.muli\"(%x, %x) : (i64, i64) -> i64\n  \"func.return\"(%y) : (i64) -> ()\n}}) : () -> ()\n"
        )
    };
    let body: String = (0..17).map(function).collect();
    let text = format!("\"builtin.module\"() ({{\n{body}}}) : () -> ()\n");
    assert_eq!(progress::emitted(), None);
    emit_object(&text, "many.mlir", &Target::host(), &mut Vec::new()).unwrap();
    assert_eq!(progress::done(), 17);
    // Nothing is at work any more.
    assert_eq!(progress::emitted(), None);
}
