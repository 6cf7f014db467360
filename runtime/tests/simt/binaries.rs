//! Code: what is found in it, and that bytes that are none are refused with a reason.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use proptest::prelude::*;
use sutura_runtime::ErrorKind;
use sutura_runtime::device::{Device, DeviceError, KernelOptions};

use super::fake::{CUBIN, Clean, Cuda, Family, HSACO, Hip, PTX, fail, noise, open, open_named};

/// Why a device does not take code.
#[track_caller]
fn refused(device: &Device, binary: &[u8]) -> String {
    let error = device.load(binary).unwrap_err();
    let prefix = format!("device `{}` cannot load the binary: ", device.info().name);
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    error.to_string().strip_prefix(&prefix).unwrap().to_owned()
}

fn ptx(rest: &str) -> Vec<u8> {
    format!(".version 7.0\n.target sm_75\n.address_size 64\n{rest}").into_bytes()
}

#[test]
fn text_cubins_and_code_objects_say_the_same() {
    let _clean = Clean;
    let all = [(Cuda, PTX), (Cuda, CUBIN), (Hip, HSACO)].map(|(family, binary)| {
        let device = open(family);
        let module = device.load(binary).unwrap();
        let two = module.kernel("reverse").unwrap();
        let mut stream = device.stream().unwrap();
        // SAFETY: it is refused.
        let error = unsafe { stream.launch(&two, 1, 0, &[1, 2]) }.unwrap_err();
        assert!(matches!(error, DeviceError::ArgumentCount { arguments: 2, expected: 3, .. }), "{error}");
        module.kernels().to_vec()
    });
    let facts: Vec<_> = all[0].iter().map(|k| (k.name.as_str(), k.threads_per_group, k.shared_bytes)).collect();
    assert_eq!(facts, [("affine", 64, 0), ("reverse", 64, 256)]);
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
}

/// Runs a tool in a folder. False if it is not installed.
fn tool(folder: &Path, program: &str, arguments: &[&str]) -> bool {
    match Command::new(program).args(arguments).current_dir(folder).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            sutura_skip::skipped(sutura_skip::Need::Llvm, format!("{program} is not installed"));
            false
        }
        output => {
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            true
        }
    }
}

/// Where LLVM's tools are, the code object is made anew from its source, and is the same to the runtime.
#[test]
fn the_code_object_is_made_from_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/gpu_kernels.ll");
    let flags = ["-O3", "-mcpu=gfx942", "-filetype=obj", source, "-o", "k.o"];
    if tool(folder.path(), "llc-22", &flags) && tool(folder.path(), "ld.lld-22", &["-shared", "k.o", "-o", "k.hsaco"]) {
        let device = open(Hip);
        let new = std::fs::read(folder.path().join("k.hsaco")).unwrap();
        assert_eq!(device.load(&new).unwrap().kernels(), device.load(HSACO).unwrap().kernels());
    }
}

/// PTX as LLVM writes it: attributes of pointers, declarations of functions, shared memory before the kernels.
#[test]
fn text_that_llvm_writes() {
    let source = r#"
        target triple = "nvptx64-nvidia-cuda"
        @run = internal addrspace(3) global [64 x float] poison, align 16
        declare i32 @helper(i32)
        define ptx_kernel void @affine(ptr addrspace(1) noalias align 16 %x, ptr addrspace(1) %y, i64 %n) "nvvm.reqntid"="64" {
          ret void
        }
        define ptx_kernel void @open(ptr addrspace(1) %x) {
          %a = call i32 @helper(i32 1)
          %slot = getelementptr float, ptr addrspace(3) @run, i32 %a
          store float 1.0, ptr addrspace(3) %slot
          ret void
        }
        define ptx_kernel void @narrow(ptr addrspace(1) %x, i32 %n) "nvvm.maxntid"="32,4" {
          ret void
        }
    "#;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ll"), source).unwrap();
    if !tool(folder.path(), "llc-22", &["-mcpu=sm_80", "k.ll", "-o", "k.ptx"]) {
        return;
    }
    let _clean = Clean;
    let device = open(Cuda);
    let module = device.load(&std::fs::read(folder.path().join("k.ptx")).unwrap()).unwrap();
    let facts: Vec<_> = module.kernels().iter().map(|k| (k.name.as_str(), k.threads_per_group)).collect();
    assert_eq!(facts, [("affine", 64), ("open", 0), ("narrow", 128)]);
    let affine = module.kernel("affine").unwrap();
    let mut stream = device.stream().unwrap();
    // SAFETY: it is refused.
    let error = unsafe { stream.launch(&affine, 1, 0, &[1]) }.unwrap_err();
    assert!(matches!(error, DeviceError::ArgumentCount { expected: 3, .. }), "{error}");
    assert!(module.kernel("narrow").unwrap_err().to_string().contains("parameter 1 of kernel `narrow` has 4 bytes"));
}

#[test]
fn wrong_binaries_are_refused() {
    let _clean = Clean;
    let (cuda, hip) = (open(Cuda), open(Hip));
    assert_eq!(refused(&cuda, b""), "it is empty");
    assert_eq!(refused(&hip, b""), "it is empty");
    assert_eq!(refused(&cuda, b"\0\0\0\0"), "it is neither an ELF file nor PTX: it has no `.version`");
    assert_eq!(refused(&cuda, &noise(100)), "it is neither an ELF file (a cubin) nor text (PTX)");
    assert_eq!(refused(&cuda, &ptx("")), "it has no kernel");
    assert_eq!(refused(&cuda, &CUBIN[..63]), "it ends within the header of ELF; is it cut off?");
    assert_eq!(refused(&cuda, &CUBIN[..4900]), "its sections or segments reach beyond its end; is it cut off?");
    assert!(refused(&cuda, &0xba55_ed50u32.to_le_bytes()).starts_with("it is a fat binary; give the PTX"));
    assert!(refused(&cuda, HSACO).starts_with("it is an ELF file for machine 224 (flags 0x"));
    assert_eq!(refused(&hip, CUBIN), "it is an ELF file for machine 190, but AMD's GPUs are machine 224");
    assert_eq!(refused(&hip, PTX), "it is no ELF file, and so no code object of AMD (HSACO)");
    assert!(refused(&hip, b"__CLANG_OFFLOAD_BUNDLE__").starts_with("it is a bundle;"));
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    assert!(refused(&hip, &program).contains("it is an ELF file for machine"));
    let mut many = CUBIN.to_vec();
    many[60..62].fill(0);
    assert_eq!(refused(&cuda, &many), "it has more than 65279 sections; put its kernels into several files");
    let mut class = CUBIN.to_vec();
    class[4] = 1;
    assert_eq!(refused(&cuda, &class), "it is no ELF of 64 bits in little endian");
}

#[test]
fn code_for_other_hardware() {
    let _clean = Clean;
    let newer = String::from_utf8(PTX.to_vec()).unwrap().replace("sm_75", "sm_90");
    assert_eq!(
        refused(&open_named("cuda:1"), newer.as_bytes()),
        "it is made for sm_90, but the device is sm_75; compile it for sm_75"
    );
    open(Cuda).load(newer.as_bytes()).unwrap();
    assert_eq!(
        refused(&open_named("rocm:1"), HSACO),
        "it is made for gfx942, but the device is gfx1100; compile it for gfx1100"
    );
    fail("cuModuleLoadDataEx", 209);
    assert_eq!(
        refused(&open(Cuda), CUBIN),
        "cuModuleLoadDataEx: CUDA_ERROR_NO_BINARY_FOR_GPU (209): no kernel image is available; compile it for sm_90"
    );
}

/// What the driver's compiler says is passed on.
#[test]
fn text_that_the_driver_does_not_compile() {
    let _clean = Clean;
    let error = refused(&open(Cuda), &ptx(".entry k() .reqntid 1 { bogus; }"));
    assert_eq!(
        error,
        "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed: ptxas application ptx input, \
         line 5; error: Not a name of any known instruction: 'bogus'"
    );
}

#[test]
fn failures_of_loading() {
    let _clean = Clean;
    for family in Family::BOTH {
        let device = open(family);
        for (cuda, hip) in [
            ("cuModuleLoadDataEx", "hipModuleLoadData"),
            ("cuModuleGetFunction", "hipModuleGetFunction"),
            ("cuFuncGetAttribute", "hipFuncGetAttribute"),
        ] {
            let call = family.either(cuda, hip);
            fail(call, 2);
            let error = device.load(family.kernels()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::System);
            assert!(error.to_string().contains(call), "{error}");
        }
        let error = device.load(family.kernels()).unwrap().kernel("afine").unwrap_err();
        assert!(error.to_string().contains("did you mean `affine`"), "{error}");
    }
}

#[test]
fn sizes_of_groups_are_fixed_or_given() {
    let _clean = Clean;
    let device = open(Cuda);
    let text = ptx(
        ".entry open(.param .u64 a) { ret; } .entry heavy() .reqntid 256 { ret; } .entry fixed() .maxntid 32, 2 { ret; }",
    );
    let module = device.load(&text).unwrap();
    let threads: Vec<u32> = module.kernels().iter().map(|kernel| kernel.threads_per_group).collect();
    assert_eq!(threads, [0, 256, 64]);
    let with = |name, threads| module.kernel_with(name, &KernelOptions::default().threads(threads));
    assert_eq!(with("open", 96).unwrap().info().threads_per_group, 96);
    assert_eq!(with("fixed", 64).unwrap().info().threads_per_group, 64);
    let error = module.kernel("open").unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel `open` cannot have groups of unknown size on device `Fake H100`: its binary leaves it open; say it by \
         KernelOptions::threads, or compile it for a fixed size"
    );
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(
        with("fixed", 32).unwrap_err().to_string(),
        "kernel `fixed` cannot have groups of 32 threads on device `Fake H100`: it was compiled for groups of 64"
    );
    assert!(matches!(with("open", 0), Err(DeviceError::GroupThreads { .. })));
    assert!(matches!(with("open", 1025), Err(DeviceError::GroupSize { limit: 1024, .. })));
    // Its registers allow fewer than the device.
    assert!(matches!(module.kernel("heavy"), Err(DeviceError::GroupSize { threads: 256, limit: 128, .. })));
}

#[test]
fn parameters_have_eight_bytes() {
    let _clean = Clean;
    let text = ptx(".entry k(.param .u64 a, .param .b32 b) .reqntid 32 { ret; }");
    let error = open(Cuda).load(&text).unwrap().kernel("k").unwrap_err();
    assert_eq!(
        error.to_string(),
        "device `Fake H100` cannot load the binary: parameter 1 of kernel `k` has 4 bytes, but addresses and sizes have 8"
    );
}

/// Loads bytes that are damaged: they are refused, or are code all the same. Neither is a panic, nor read beyond their end.
fn load_any(device: &Device, binary: &[u8]) {
    // Behind the bytes is nothing that may be read.
    let copy = binary.to_vec().into_boxed_slice();
    if let Ok(module) = device.load(&copy) {
        for kernel in module.kernels() {
            let _ = module.kernel(&kernel.name);
        }
    }
}

#[test]
fn binaries_that_are_cut_off() {
    let _clean = Clean;
    for (family, binary) in [(Cuda, CUBIN), (Hip, HSACO)] {
        let device = open(family);
        for end in 0..binary.len() {
            let error = device.load(&binary[..end]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{end}");
        }
    }
    let device = open(Cuda);
    for end in 0..PTX.len() {
        load_any(&device, &PTX[..end]);
    }
}

/// Drivers trust the sizes in headers, so each that is too large must be found before.
#[test]
fn headers_that_speak_of_more_than_there_is() {
    let _clean = Clean;
    for (family, binary) in [(Cuda, CUBIN), (Hip, HSACO)] {
        let device = open(family);
        let number = |at: usize| u64::from_le_bytes(binary[at..][..8].try_into().unwrap()) as usize;
        let short = |at: usize| usize::from(u16::from_le_bytes(binary[at..][..2].try_into().unwrap()));
        // By the layout of ELF: where the table is, its entries, and where in each the place and the size are.
        for (table, entry, count, place, size) in [(40, 58, 60, 24, 32), (32, 54, 56, 8, 32)] {
            let mut checked = 0;
            for header in (0..short(count)).map(|index| number(table) + index * short(entry)) {
                // The first section is none, and one without bits has no bytes in the file.
                if table == 40 && matches!(binary[header + 4], 0 | 8) {
                    continue;
                }
                for (field, value) in [(size, binary.len() as u64 + 1), (size, u64::MAX), (place, u64::MAX - 7)] {
                    let mut damaged = binary.to_vec();
                    damaged[header + field..][..8].copy_from_slice(&value.to_le_bytes());
                    let reason = refused(&device, &damaged);
                    assert_eq!(reason, "its sections or segments reach beyond its end; is it cut off?");
                    checked += 1;
                }
            }
            assert!(checked > 6, "{checked}");
        }
    }
}

#[test]
fn binaries_with_a_wrong_byte() {
    for (family, binary) in [(Cuda, CUBIN), (Hip, HSACO)] {
        let device = open(family);
        for at in 0..binary.len() {
            for value in [0, 0xff, binary[at] ^ 1, binary[at] ^ 0x80] {
                let mut damaged = binary.to_vec();
                damaged[at] = value;
                load_any(&device, &damaged);
            }
        }
    }
}

/// The first device of a family, opened once.
fn shared(family: Family) -> &'static Device {
    static DEVICES: OnceLock<[Device; 2]> = OnceLock::new();
    &DEVICES.get_or_init(|| Family::BOTH.map(open))[usize::from(family == Hip)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn binaries_with_noise(
        which in 0..3usize,
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let (family, binary) = [(Cuda, CUBIN), (Hip, HSACO), (Cuda, PTX)][which];
        let mut damaged = binary.to_vec();
        for (at, value) in places {
            let at = at.index(damaged.len());
            damaged[at] = value;
        }
        load_any(shared(family), &damaged);
    }

    #[test]
    fn text_of_ptx_in_any_order(words in prop::collection::vec(prop::sample::select(vec![
        ".version", "7.0", ".target", "sm_75", ".entry", "k", "(", ")", "{", "}", ",", ";", ".param", ".u64", ".b8", "[", "]",
        "4", ".reqntid", ".maxntid", ".pragma", "\"", "/*", "*/", "//", "\n", "é", ".align", "0x",
    ]), 0..60)) {
        load_any(shared(Cuda), words.join(" ").as_bytes());
    }
}
