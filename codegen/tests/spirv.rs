//! Kernels for GPUs, lowered to the spirv dialect, become SPIR-V that Khronos' validator accepts for Vulkan 1.2.

mod support;

use std::io::Write;
use std::process::{Command, Stdio};

use sutura_codegen::{Error, MlirModule, emit_spirv};
use sutura_mlir_link as _;

use support::lowered;

const PIPELINE: &str =
    "builtin.module(gpu.module(gpu.func(expand-math,canonicalize,cse)),convert-gpu-to-spirv{float-controls=CONTROLS})";

/// The first word of SPIR-V, and its version 1.5.
const MAGIC: [u8; 8] = [3, 2, 0x23, 7, 0, 5, 1, 0];

fn spirv_dialect(text: &str, float_controls: bool) -> String {
    lowered(text, &PIPELINE.replace("CONTROLS", if float_controls { "true" } else { "false" }))
}

fn binary(text: &str, float_controls: bool) -> Vec<u8> {
    let mut warnings = Vec::new();
    let bytes = emit_spirv(&spirv_dialect(text, float_controls), "kernels.mlir", &mut warnings).expect("SPIR-V");
    assert_eq!(warnings, []);
    bytes
}

/// Runs a tool on a binary, its standard input; `None`, with the reason printed, where it is not installed and need not be.
fn tool(name: &str, args: &[&str], input: &[u8]) -> Option<String> {
    let mut command = Command::new(name);
    command.args(args).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            sutura_skip::skipped(sutura_skip::Need::Spirv, format!("{name}: {error}"));
            return None;
        }
    };
    child.stdin.take().expect("piped").write_all(input).expect("it reads its input");
    let output = child.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{name} refuses it\n{errors}{said}");
    Some(said)
}

fn check(text: &str) {
    for float_controls in [true, false] {
        let bytes = binary(text, float_controls);
        assert_eq!(bytes[..8], MAGIC);
        tool("spirv-val", &["--target-env", "vulkan1.2"], &bytes);
    }
}

#[test]
fn elementwise_is_valid() {
    check(include_str!("data/spirv/elementwise.mlir"));
}

#[test]
fn softmax_with_shuffles_and_shared_memory_is_valid() {
    check(include_str!("data/spirv/softmax.mlir"));
}

#[test]
fn integers_are_valid() {
    check(include_str!("data/spirv/integers.mlir"));
}

#[test]
fn nested_control_flow_is_valid() {
    check(include_str!("data/spirv/control.mlir"));
}

#[test]
fn narrow_types_are_valid() {
    check(include_str!("data/spirv/narrow.mlir"));
}

#[test]
fn numbers_made_of_several_operations_are_valid() {
    check(include_str!("data/spirv/numbers.mlir"));
}

#[test]
fn what_is_written_is_said() {
    let bytes = binary(include_str!("data/spirv/elementwise.mlir"), true);
    let Some(text) = tool("spirv-dis", &["--no-color"], &bytes) else { return };
    for line in [
        "OpMemoryModel PhysicalStorageBuffer64 GLSL450",
        "OpEntryPoint GLCompute %axpy \"axpy\" %__push_constant__",
        "OpExecutionMode %axpy LocalSize 64 1 1",
        "OpExecutionMode %axpy RoundingModeRTE 32",
        "NoContraction",
        "Aligned 16",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    assert!(!text.contains("Binding") && !text.contains("DescriptorSet"), "{text}");
    let plain = tool("spirv-dis", &["--no-color"], &binary(include_str!("data/spirv/elementwise.mlir"), false));
    assert!(!plain.expect("it ran before").contains("RoundingModeRTE"));
}

#[test]
fn the_same_bytes_each_time() {
    let text = spirv_dialect(include_str!("data/spirv/softmax.mlir"), true);
    let bytes = |_| emit_spirv(&text, "kernels.mlir", &mut Vec::new()).expect("SPIR-V");
    assert!((0..3).map(bytes).collect::<Vec<_>>().windows(2).all(|pair| pair[0] == pair[1]));
}

/// The error for a text.
fn refused(text: &str) -> Error {
    emit_spirv(text, "kernels.mlir", &mut Vec::new()).expect_err("it is wrong")
}

#[test]
fn one_module_with_a_version_is_wanted() {
    assert!(matches!(refused("module {}"), Error::SpirvModules { count: 0 }));
    let module =
        |name: &str| format!("spirv.module @{name} Logical GLSL450 requires #spirv.vce<v1.0, [Shader], []> {{}}\n");
    let two = format!("module {{\n{}{}}}", module("a"), module("b"));
    assert!(matches!(refused(&two), Error::SpirvModules { count: 2 }));
    assert!(matches!(refused("module { spirv.module Logical GLSL450 {} }"), Error::SpirvVersion));
    let one = format!("module {{\n{}}}", module("a"));
    let bytes = MlirModule::parse(&one, "one.mlir").and_then(|module| module.into_spirv(&mut Vec::new()));
    assert_eq!(bytes.expect("SPIR-V")[..4], MAGIC[..4]);
}

#[test]
fn what_mlir_refuses_is_an_error_with_its_reason() {
    let text = "module { spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Shadow], []> {} }";
    let Error::Rejected { diagnostics, .. } = refused(text) else { panic!("another error") };
    assert!(diagnostics.iter().any(|diagnostic| diagnostic.message.contains("Shadow")), "{diagnostics:?}");
}
