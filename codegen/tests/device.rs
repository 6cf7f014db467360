//! Kernels for GPUs of NVIDIA and AMD, from the gir that the CPU's come from: PTX that NVIDIA's assembler takes, code
//! objects that load, and in them the instructions that good code has.

mod support;

use std::path::PathBuf;
use std::process::Command;

use sutura_codegen::{Assembler, Error, Target, emit_device_assembly, emit_device_llvm_ir, emit_hsaco};
use sutura_mlir_link as _;

use support::lowered;

const SOFTMAX: &str = include_str!("../../lit-tests/gir_to_gpu/softmax.mlir");
const SHUFFLES: &str = include_str!("data/device/shuffles.mlir");

/// The passes behind the one that makes device code of gir.
fn pipeline(vendor: &str, subgroup: u32) -> String {
    let (first, last) = match vendor {
        "nvvm" => (String::new(), "convert-gpu-to-nvvm".to_owned()),
        _ => (format!("{{subgroup={subgroup}}}"), format!("convert-gpu-to-rocdl{{subgroup={subgroup}}}")),
    };
    let threads = format!("gir-unit-threads{{subgroup={subgroup}}}");
    format!(
        "builtin.module({threads},convert-gir-to-gpu{first},gpu.module(gpu.func(expand-math,canonicalize,cse)),{last})"
    )
}

fn ptx(text: &str, chip: &str) -> String {
    let (target, mut warnings) = (Target::nvidia(chip).expect("a processor"), Vec::new());
    let text = lowered(text, &pipeline("nvvm", 32));
    let ptx = emit_device_assembly(&text, "kernels.mlir", &target, &mut warnings).expect("PTX");
    assert_eq!(warnings, []);
    ptx
}

fn count(text: &str, what: &str) -> usize {
    text.lines().filter(|line| line.contains(what)).count()
}

/// What `ptxas -v` says of PTX; `None`, with the reason printed, where it is not there and need not be.
fn assembled(ptx: &str, chip: &str) -> Option<String> {
    match Assembler::find() {
        Ok(assembler) => {
            assert!(!assembler.assemble(ptx, chip).expect("it takes the PTX").is_empty());
            Some(assembler.resources(ptx, chip).expect("it takes the PTX"))
        }
        Err(error) => {
            sutura_skip::skipped(sutura_skip::Need::Ptxas, error);
            None
        }
    }
}

fn number_before(text: &str, word: &str) -> u32 {
    let before = text.split(word).next().unwrap_or_default().trim_end();
    before.rsplit([' ', ',']).next().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("no number before {word:?}"))
}

/// A row in registers of 512 threads: vectors of four, shuffles and one barrier for each way to hand over.
#[test]
fn nvidia_code_is_vectorised_and_does_not_spill() {
    for chip in ["sm_80", "sm_90", "sm_100"] {
        let ptx = ptx(SOFTMAX, chip);
        assert!(ptx.contains(".visible .entry softmax(") && ptx.contains(".reqntid 512"), "{ptx}");
        // Later architectures take floats in pairs.
        let wide =
            |access: &str| ["v4.b32", "v2.b64"].map(|kind| count(&ptx, &format!("{access}.{kind}"))).iter().sum();
        let (loads, stores): (usize, usize) = (wide("ld.global.nc"), wide("st.global"));
        assert!(loads >= 4, "loads of 16 bytes by the read-only path\n{ptx}");
        assert!(stores >= 4, "stores of 16 bytes\n{ptx}");
        assert!(count(&ptx, "shfl.sync.bfly.b32") >= 18, "five shuffles in a warp, four among warps\n{ptx}");
        // The first reduction waits for readers of the group before and for its own writers, the second for its writers; in the
        // copy for vectors of four and in that for single columns.
        assert_eq!(count(&ptx, "bar.sync") + count(&ptx, "barrier.sync"), 6, "{ptx}");
        assert_eq!(count(&ptx, "call"), 0, "nothing of a library is needed\n{ptx}");
        if let Some(said) = assembled(&ptx, chip) {
            assert!(said.contains("0 bytes spill stores, 0 bytes spill loads"), "{said}");
            assert!(number_before(&said, " registers") <= 72, "{said}");
        }
    }
}

#[test]
fn every_kind_and_type_of_shuffle_is_assembled() {
    let ptx = ptx(SHUFFLES, "sm_80");
    for kind in ["bfly", "up", "down", "idx"] {
        assert!(ptx.contains(&format!("shfl.sync.{kind}.b32")), "{kind}\n{ptx}");
    }
    assembled(&ptx, "sm_80");
    for (chip, lanes) in [("gfx90a", 64), ("gfx1100", 32)] {
        amd(SHUFFLES, chip, lanes);
    }
}

/// Assembly and code object for a GPU of AMD.
fn amd(text: &str, chip: &str, lanes: u32) -> (String, Vec<u8>) {
    let (target, mut warnings) = (Target::amd(chip).expect("a processor"), Vec::new());
    let text = lowered(text, &pipeline("rocdl", lanes));
    let assembly = emit_device_assembly(&text, "kernels.mlir", &target, &mut warnings).expect("assembly");
    let object = emit_hsaco(&text, "kernels.mlir", &target, &mut warnings).expect("a code object");
    assert_eq!(warnings, []);
    (assembly, object)
}

/// What one of LLVM's tools says of a code object.
fn inspected(tool: &str, args: &[&str], object: &[u8]) -> String {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    std::io::Write::write_all(&mut file, object).expect("written");
    let tool = PathBuf::from(env!("SUTURA_LLVM_BIN")).join(tool);
    let output = Command::new(tool).args(args).arg(file.path()).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn amd_code_is_vectorised_and_does_not_spill() {
    for (chip, lanes, load, store) in [
        ("gfx90a", 64, "global_load_dwordx4", "global_store_dwordx4"),
        ("gfx942", 64, "global_load_dwordx4", "global_store_dwordx4"),
        ("gfx1100", 32, "global_load_b128", "global_store_b128"),
    ] {
        let (assembly, object) = amd(SOFTMAX, chip, lanes);
        for spills in [".sgpr_spill_count: 0", ".vgpr_spill_count: 0", ".max_flat_workgroup_size: 512"] {
            assert!(assembly.contains(spills), "{chip}: no {spills}");
        }
        let code = inspected("llvm-objdump", &["-d"], &object);
        assert!(count(&code, load) >= 4 && count(&code, store) >= 4, "{chip}: accesses of 16 bytes\n{code}");
        assert!(count(&code, "ds_swizzle_b32") >= 16, "{chip}: shuffles\n{code}");
        assert_eq!(count(&code, "s_barrier"), 6, "{chip}\n{code}");
        let notes = inspected("llvm-readelf", &["--notes", "--symbols"], &object);
        for part in ["softmax.kd", &format!("amdhsa--{chip}"), "hidden_block_count_x", "amdhsa.version"] {
            assert!(notes.contains(part), "{chip}: no {part}\n{notes}");
        }
        assert!(inspected("llvm-readelf", &["-h"], &object).contains("ABI Version:                       3"));
    }
}

#[test]
fn the_same_text_gives_the_same_bytes() {
    assert_eq!(amd(SOFTMAX, "gfx942", 64), amd(SOFTMAX, "gfx942", 64));
    assert_eq!(ptx(SOFTMAX, "sm_90"), ptx(SOFTMAX, "sm_90"));
}

#[test]
fn text_with_other_than_one_module_of_device_code_is_an_error() {
    let (target, mut warnings) = (Target::nvidia("sm_80").expect("a processor"), Vec::new());
    for (text, found) in [("module {}", 0), ("module { gpu.module @a {} gpu.module @b {} }", 2)] {
        let error = emit_device_llvm_ir(text, "kernels.mlir", &target, &mut warnings).unwrap_err();
        assert!(matches!(error, Error::DeviceModules { count } if count == found), "{error}");
    }
}

#[test]
fn what_is_left_of_another_dialect_is_named() {
    let (target, mut warnings) = (Target::nvidia("sm_80").expect("a processor"), Vec::new());
    let text = "module { gpu.module @k { llvm.func @k() attributes {nvvm.kernel} { gpu.barrier llvm.return } } }";
    let error = emit_device_assembly(text, "kernels.mlir", &target, &mut warnings).unwrap_err().to_string();
    assert!(error.contains("gpu.barrier"), "{error}");
}
