//! What LLVM has no instruction for.

use sutura_dialects::text::parse_text;
use sutura_ir::Context;
use sutura_passes::machine_code::{Processor, missing};

const CONVERSIONS: &str = "func.func @f(%a: f64, %b: vector<8xf32>, %c: vector<8xf16>, %i: i32) {
  %0 = arith.truncf %a : f64 to f16
  %1 = arith.truncf %a : f64 to bf16
  %2 = arith.truncf %b : vector<8xf32> to vector<8xf16>
  %3 = arith.truncf %b : vector<8xf32> to vector<8xbf16>
  %4 = arith.extf %c : vector<8xf16> to vector<8xf32>
  %5 = arith.sitofp %i : i32 to bf16
  %6 = arith.select %true, %c, %c : vector<8xf16>
  %7 = arith.remf %a, %a : f64
  %8 = arith.addf %b, %b : vector<8xf32>
  %9 = arith.truncf %a : f64 to f32
  return
}";

/// Names of results whose operations are refused.
fn refused(text: &str, triple: &str, features: &str) -> Vec<String> {
    let cx = Context::new(sutura_dialects::all());
    let text = text.replace("%0 =", "%true = arith.constant true\n  %0 =");
    let module = parse_text(&cx, "t.mlir", &text).unwrap();
    let found = missing(module.op_ref(&cx), Processor::new(triple, features));
    let line = |loc| cx.file_line_col(loc).map(|(_, line, _)| line).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    found.iter().map(|d| lines[line(d.loc) as usize - 1].trim()[..2].to_string()).collect()
}

#[test]
fn features_decide() {
    let x86 = "x86_64-unknown-linux-gnu";
    assert_eq!(refused(CONVERSIONS, x86, ""), ["%0", "%1", "%2", "%3", "%4", "%5"]);
    assert_eq!(refused(CONVERSIONS, x86, "+avx2,+f16c,-avx512bf16"), ["%0", "%1", "%3", "%5"]);
    assert_eq!(refused(CONVERSIONS, x86, "+f16c,+avx512bf16"), ["%0", "%1"]);
    assert_eq!(refused(CONVERSIONS, x86, "+avx512bf16,+avx512fp16"), ["%1"]);
    assert_eq!(refused(CONVERSIONS, "aarch64-unknown-linux-gnu", "+neon"), [""; 0]);
    let riscv = "riscv64-unknown-linux-gnu";
    assert_eq!(refused(CONVERSIONS, riscv, "+m,+a,+f,+d,+c"), ["%0", "%1", "%2", "%3", "%4", "%5"]);
    assert_eq!(refused(CONVERSIONS, riscv, "+d,+zfhmin,+zfbfmin"), ["%1"]);
}

#[test]
fn small_floats_have_no_arithmetic_and_no_loads() {
    let text = "func.func @f(%a: f32, %p: memref<4xf8E5M2>, %i: index) {
  %0 = arith.truncf %a : f32 to f8E4M3FN
  %1 = arith.extf %0 : f8E4M3FN to f32
  %2 = memref.load %p[%i] : memref<4xf8E5M2>
  return
}";
    assert_eq!(refused(text, "aarch64-unknown-linux-gnu", ""), ["%0", "%1"]);
}
