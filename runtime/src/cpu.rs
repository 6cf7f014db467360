//! Checks that this machine has what a model was compiled for, before any of its code runs.
//!
//! The manifest holds LLVM's feature string. Every `+feature` in it must be known here and present on the machine: an
//! unknown one is refused, because code that uses it would end in an illegal instruction somewhere in the middle of a
//! run.

#![allow(unsafe_code)]

use crate::error::{Error, Result};
use crate::manifest::Target;

/// Checks the architecture, the operating system and every required feature.
/// Asks the system for the matrix unit's registers where a feature needs them.
pub(crate) fn check(target: &Target) -> Result<()> {
    check_machine(&target.triple)?;
    let mut missing = Vec::new();
    let mut tiles = false;
    for feature in required(&target.features)? {
        match probe(feature) {
            Some(true) => tiles |= feature.starts_with("amx-"),
            Some(false) => missing.push(feature.to_owned()),
            None => return Err(Error::UnknownCpuFeature { feature: feature.to_owned() }),
        }
    }
    if tiles && !permit_tiles() {
        missing.push("permission to use AMX tiles".to_owned());
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::MissingCpuFeatures { target: format!("`{}`", target.description), missing })
}

fn check_machine(triple: &str) -> Result<()> {
    let machine = std::env::consts::ARCH;
    let mut parts = triple.split('-');
    if parts.next() == Some(machine) && parts.any(|part| part.starts_with(std::env::consts::OS)) {
        return Ok(());
    }
    Err(Error::WrongMachine { triple: triple.to_owned(), machine: format!("{machine} {}", std::env::consts::OS) })
}

/// The features that the code uses: those with a `+` that are not mere advice to the optimizer.
fn required(features: &str) -> Result<Vec<&str>> {
    let mut required = Vec::new();
    for entry in features.split(',').map(str::trim).filter(|e| !e.is_empty()) {
        match entry.split_at_checked(1) {
            Some(("+", feature)) if is_advice(feature) => {}
            Some(("+", feature)) => required.push(feature),
            Some(("-", _)) => {}
            _ => return Err(Error::UnknownCpuFeature { feature: entry.to_owned() }),
        }
    }
    Ok(required)
}

/// LLVM's tuning flags, which change the choice of instructions but need none.
fn is_advice(feature: &str) -> bool {
    const PREFIXES: [&str; 8] =
        ["prefer-", "fast-", "slow-", "false-deps-", "no-bypass-", "tuning", "inline-asm-", "use-"];
    const NAMES: [&str; 7] = [
        "allow-light-256-bit",
        "branchfusion",
        "idivl-to-divb",
        "idivq-to-divl",
        "macrofusion",
        "sbb-dep-breaking",
        "vzeroupper",
    ];
    PREFIXES.iter().any(|p| feature.starts_with(p)) || NAMES.contains(&feature)
}

/// Whether the machine and the system have a feature with LLVM's name; none if this crate does not know the name.
#[cfg(target_arch = "x86_64")]
fn probe(feature: &str) -> Option<bool> {
    match feature {
        // Part of every x86-64 processor.
        "64bit" | "cmov" | "cx8" | "fxsr" | "mmx" | "nopl" | "x87" => Some(true),
        // Only says that 512-bit registers may be used, which no processor so far refuses.
        "evex512" => probe("avx512f"),
        "crc32" => probe("sse4.2"),
        _ if feature.starts_with("amx-") => bit(feature).map(|present| present && tiles()),
        _ => detected(feature).or_else(|| bit(feature)),
    }
}

/// What the standard library knows; it also asks whether the system saves the registers.
#[cfg(target_arch = "x86_64")]
fn detected(feature: &str) -> Option<bool> {
    use std::arch::is_x86_feature_detected as has;
    macro_rules! table {
        ([$($same:tt)*] [$($llvm:literal = $rust:tt)*]) => {
            match feature {
                $($same => has!($same),)*
                $($llvm => has!($rust),)*
                _ => return None,
            }
        };
    }
    Some(table!([
        "adx" "aes" "avx" "avx2" "avx512bf16" "avx512bitalg" "avx512bw" "avx512cd" "avx512dq" "avx512f" "avx512fp16"
        "avx512ifma" "avx512vbmi" "avx512vbmi2" "avx512vl" "avx512vnni" "avx512vp2intersect" "avx512vpopcntdq"
        "avxifma" "avxneconvert" "avxvnni" "avxvnniint16" "avxvnniint8" "bmi2" "f16c" "fma" "gfni" "lzcnt" "movbe"
        "popcnt" "rdseed" "rtm" "sha" "sha512" "sm3" "sm4" "sse" "sse2" "sse3" "sse4.1" "sse4.2" "sse4a" "ssse3" "tbm"
        "vaes" "vpclmulqdq" "xsave" "xsavec" "xsaveopt" "xsaves"
    ] [
        "bmi" = "bmi1" "cx16" = "cmpxchg16b" "pclmul" = "pclmulqdq" "rdrnd" = "rdrand"
    ]))
}

/// The registers that `cpuid` answers in.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
enum Register {
    Eax,
    Ebx,
    Ecx,
    Edx,
}

/// Features that need nothing of the system but (for the tiles) what [`tiles`] asks: LLVM's name, leaf, sub-leaf,
/// register, bit. From the processor manuals' descriptions of `cpuid`.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const BITS: &[(&str, u32, u32, Register, u32)] = &[
    ("fsgsbase",   7, 0, Register::Ebx, 0),
    ("sgx",        7, 0, Register::Ebx, 2),
    ("invpcid",    7, 0, Register::Ebx, 10),
    ("clflushopt", 7, 0, Register::Ebx, 23),
    ("clwb",       7, 0, Register::Ebx, 24),
    ("pku",        7, 0, Register::Ecx, 4),
    ("waitpkg",    7, 0, Register::Ecx, 5),
    ("shstk",      7, 0, Register::Ecx, 7),
    ("rdpid",      7, 0, Register::Ecx, 22),
    ("cldemote",   7, 0, Register::Ecx, 25),
    ("movdiri",    7, 0, Register::Ecx, 27),
    ("movdir64b",  7, 0, Register::Ecx, 28),
    ("enqcmd",     7, 0, Register::Ecx, 29),
    ("uintr",      7, 0, Register::Edx, 5),
    ("serialize",  7, 0, Register::Edx, 14),
    ("tsxldtrk",   7, 0, Register::Edx, 16),
    ("pconfig",    7, 0, Register::Edx, 18),
    ("amx-bf16",   7, 0, Register::Edx, 22),
    ("amx-tile",   7, 0, Register::Edx, 24),
    ("amx-int8",   7, 0, Register::Edx, 25),
    ("cmpccxadd",  7, 1, Register::Eax, 7),
    ("amx-fp16",   7, 1, Register::Eax, 21),
    ("hreset",     7, 1, Register::Eax, 22),
    ("amx-complex", 7, 1, Register::Edx, 8),
    ("prefetchi",  7, 1, Register::Edx, 14),
    ("ptwrite",    0x14, 0, Register::Ebx, 4),
    ("sahf",       0x8000_0001, 0, Register::Ecx, 0),
    ("prfchw",     0x8000_0001, 0, Register::Ecx, 8),
    ("mwaitx",     0x8000_0001, 0, Register::Ecx, 29),
    ("clzero",     0x8000_0008, 0, Register::Ebx, 0),
    ("rdpru",      0x8000_0008, 0, Register::Ebx, 4),
    ("wbnoinvd",   0x8000_0008, 0, Register::Ebx, 9),
];

/// Looks a feature up in [`BITS`]; none if it is not there.
#[cfg(target_arch = "x86_64")]
fn bit(feature: &str) -> Option<bool> {
    let (_, number, sub, register, bit) = BITS.iter().find(|(name, ..)| *name == feature)?;
    let answer = leaf(*number, *sub);
    let value = match register {
        Register::Eax => answer.eax,
        Register::Ebx => answer.ebx,
        Register::Ecx => answer.ecx,
        Register::Edx => answer.edx,
    };
    Some(value >> bit & 1 != 0)
}

#[cfg(not(target_arch = "x86_64"))]
fn probe(_feature: &str) -> Option<bool> {
    None
}

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::CpuidResult;

/// A leaf of `cpuid`; zeros where the processor has no such leaf.
#[cfg(target_arch = "x86_64")]
fn leaf(number: u32, sub: u32) -> CpuidResult {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const NONE: CpuidResult = CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 };
    // Ordinary and extended leaves have a first leaf each, which says what the last is.
    let first = number & 0x8000_0000;
    if number > __cpuid(first).eax || (sub > 0 && sub > __cpuid_count(number, 0).eax) {
        return NONE;
    }
    __cpuid_count(number, sub)
}

/// Whether the system saves the tile registers (both components of the extended state).
#[cfg(target_arch = "x86_64")]
fn tiles() -> bool {
    const TILE_STATE: u64 = 3 << 17;
    // cpuid says "osxsave" in this bit; only then is `xgetbv` an instruction.
    if leaf(1, 0).ecx >> 27 & 1 == 0 {
        return false;
    }
    // SAFETY: the processor has `xgetbv` and the system enabled it, as just seen.
    let enabled = unsafe { extended_state() };
    enabled & TILE_STATE == TILE_STATE
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "xsave")]
unsafe fn extended_state() -> u64 {
    // SAFETY: register 0 always exists; the caller knows that the instruction does.
    unsafe { std::arch::x86_64::_xgetbv(0) }
}

/// Linux gives a process the tile registers only when asked; once is enough, also for threads that start later.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn permit_tiles() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const TILE_DATA: libc::c_long = 18;
    // SAFETY: this request takes a number and changes only which registers the process may use.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0 }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn permit_tiles() -> bool {
    false
}

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests {
    use super::*;

    fn target(triple: &str, features: &str) -> Target {
        Target {
            triple: triple.into(),
            features: features.into(),
            description: "test_machine".into(),
            description_hash: String::new(),
        }
    }

    const TRIPLE: &str = "x86_64-unknown-linux-gnu";

    #[test]
    fn the_baseline_is_always_there() {
        check(&target(TRIPLE, "")).unwrap();
        check(&target(TRIPLE, "+sse2,+x87,-avx,-prefer-256-bit,+fast-gather")).unwrap();
        check(&target("x86_64-linux-gnu", "")).unwrap();
    }

    #[test]
    fn an_absent_feature_is_named() {
        // No processor has both of these, which are of different vendors and times.
        let error = check(&target(TRIPLE, "+sse2,+tbm,+avx512vp2intersect")).unwrap_err();
        assert!(matches!(&error, Error::MissingCpuFeatures { missing, .. } if !missing.contains(&"sse2".to_owned())));
        assert!(error.to_string().contains("compiled for `test_machine`, but this machine has no `"), "{error}");
    }

    #[test]
    fn an_unknown_feature_is_refused() {
        for (features, name) in [("+quantum", "quantum"), ("sse2", "sse2"), ("+", "")] {
            let error = check(&target(TRIPLE, features)).unwrap_err();
            assert!(matches!(&error, Error::UnknownCpuFeature { feature } if feature == name), "{error}");
        }
    }

    #[test]
    fn another_machine_is_refused() {
        for triple in ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-msvc", ""] {
            assert!(matches!(check(&target(triple, "")), Err(Error::WrongMachine { .. })), "{triple}");
        }
    }

    /// The kernel may hide a feature, but does not list one that is not there.
    #[test]
    fn what_the_kernel_lists_is_found() {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let flags: Vec<&str> = info.lines().find(|l| l.starts_with("flags")).unwrap().split_whitespace().collect();
        assert!(flags.contains(&"sse2"));
        for (feature, ..) in BITS {
            if flags.contains(&feature.replace('-', "_").as_str()) {
                assert_eq!(probe(feature), Some(true), "{feature}");
            }
        }
    }

    #[test]
    fn every_bit_has_one_meaning() {
        let places: std::collections::HashSet<_> =
            BITS.iter().map(|(_, leaf, sub, register, bit)| (leaf, sub, *register as u8, bit)).collect();
        assert_eq!(places.len(), BITS.len());
        assert!(BITS.iter().all(|(name, ..)| detected(name).is_none()));
    }
}
