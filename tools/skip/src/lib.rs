//! Tests that need what not every machine has: a device, a tool, an instruction. libtest knows no test that turns out not to
//! be one, so it counts them as passed; here they say so. `cargo xtask test` counts them as skipped, and demands all that
//! `cargo xtask setup` installs: a test whose need is demanded fails instead.
#![forbid(unsafe_code)]

use std::env;
use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;

/// The variable that names the file in which skips are noted, a line each.
pub const NOTES: &str = "SUTURA_SKIPS";

/// What a test may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A device of Vulkan.
    Devices,
    /// LLVM's tools: `mlir-opt`, `FileCheck`, `llc`.
    Llvm,
    /// LLVM's lit.
    Lit,
    /// `spirv-val` and its like.
    Spirv,
    /// NVIDIA's assembler and disassembler.
    Ptxas,
    /// `python3`
    Python,
    /// Compilers of C for other processors, and `qemu-user`, which runs what they make.
    Cross,
    /// `clang`, which nothing installs.
    Clang,
    /// An extension of the processor, which nothing installs.
    Processor,
    /// Namespaces of the kernel, in which a folder is the whole system.
    Namespaces,
}

impl Need {
    /// The variable that is `1` where tests with this need must run.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Devices => "SUTURA_REQUIRE_DEVICES",
            Self::Llvm => "SUTURA_REQUIRE_LLVM",
            Self::Lit => "SUTURA_REQUIRE_LIT",
            Self::Spirv => "SUTURA_REQUIRE_SPIRV",
            Self::Ptxas => "SUTURA_REQUIRE_PTXAS",
            Self::Python => "SUTURA_REQUIRE_PYTHON",
            Self::Cross => "SUTURA_REQUIRE_CROSS",
            Self::Clang => "SUTURA_REQUIRE_CLANG",
            Self::Processor => "SUTURA_REQUIRE_PROCESSOR",
            Self::Namespaces => "SUTURA_REQUIRE_NAMESPACES",
        }
    }
}

/// Says that the test that is running, or a part of it, is not made, and why.
///
/// # Panics
/// Where the need is demanded.
#[track_caller]
pub fn skipped(need: Need, why: impl fmt::Display) {
    let variable = need.variable();
    let demanded = env::var_os(variable).is_some_and(|value| value == "1");
    assert!(!demanded, "{why}; run `cargo xtask setup`, or unset {variable}");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let program = env::current_exe().ok();
    let program =
        program.as_ref().and_then(|path| path.file_stem()).map_or("a program".into(), |name| name.to_string_lossy());
    if let Some(file) = env::var_os(NOTES) {
        // Whole lines at once, as many tests write.
        let line = format!("{program}\t{test}\t{}\n", why.to_string().replace(['\n', '\t'], " "));
        let written =
            OpenOptions::new().create(true).append(true).open(&file).and_then(|mut f| f.write_all(line.as_bytes()));
        assert!(written.is_ok(), "cannot note in {} that {test} is skipped: {why}", file.to_string_lossy());
    }
    // Past the harness, which shows no output of tests that pass.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
}
