//! Checks that this machine has what a model was compiled for, before any of its code runs.
//!
//! The manifest holds LLVM's feature string. Every `+feature` in it must be known here and present on the machine: an unknown one
//! is refused, because code that uses it would end in an illegal instruction somewhere in the middle of a run.

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
    use std::arch::is_x86_feature_detected as has;
    macro_rules! table {
        ($($llvm:literal => $rust:tt),* $(,)?) => {
            match feature {
                $($llvm => has!($rust),)*
                // Part of every x86-64 processor.
                "64bit" | "cmov" | "cx8" | "fxsr" | "mmx" | "nopl" | "x87" => true,
                // Only says that 512-bit registers may be used, which avx512f implies on this machine.
                "evex512" => has!("avx512f"),
                "crc32" => has!("sse4.2"),
                "sahf" => extended(0x8000_0001).ecx & 1 != 0,
                "prfchw" => extended(0x8000_0001).ecx >> 8 & 1 != 0,
                "fsgsbase" => leaf(7, 0).ebx & 1 != 0,
                "clflushopt" => leaf(7, 0).ebx >> 23 & 1 != 0,
                "clwb" => leaf(7, 0).ebx >> 24 & 1 != 0,
                "cldemote" => leaf(7, 0).ecx >> 25 & 1 != 0,
                "movdiri" => leaf(7, 0).ecx >> 27 & 1 != 0,
                "movdir64b" => leaf(7, 0).ecx >> 28 & 1 != 0,
                "serialize" => leaf(7, 0).edx >> 14 & 1 != 0,
                "amx-bf16" => tiles() && leaf(7, 0).edx >> 22 & 1 != 0,
                "amx-tile" => tiles() && leaf(7, 0).edx >> 24 & 1 != 0,
                "amx-int8" => tiles() && leaf(7, 0).edx >> 25 & 1 != 0,
                "amx-fp16" => tiles() && leaf(7, 1).eax >> 21 & 1 != 0,
                "amx-complex" => tiles() && leaf(7, 1).edx >> 8 & 1 != 0,
                _ => return None,
            }
        };
    }
    Some(table! {
        "adx" => "adx", "aes" => "aes", "avx" => "avx", "avx2" => "avx2",
        "avx512bf16" => "avx512bf16", "avx512bitalg" => "avx512bitalg", "avx512bw" => "avx512bw", "avx512cd" => "avx512cd",
        "avx512dq" => "avx512dq", "avx512f" => "avx512f", "avx512fp16" => "avx512fp16", "avx512ifma" => "avx512ifma",
        "avx512vbmi" => "avx512vbmi", "avx512vbmi2" => "avx512vbmi2", "avx512vl" => "avx512vl", "avx512vnni" => "avx512vnni",
        "avx512vp2intersect" => "avx512vp2intersect", "avx512vpopcntdq" => "avx512vpopcntdq",
        "avxifma" => "avxifma", "avxneconvert" => "avxneconvert", "avxvnni" => "avxvnni",
        "avxvnniint16" => "avxvnniint16", "avxvnniint8" => "avxvnniint8",
        "bmi" => "bmi1", "bmi2" => "bmi2", "cx16" => "cmpxchg16b", "f16c" => "f16c", "fma" => "fma",
        "gfni" => "gfni", "lzcnt" => "lzcnt", "movbe" => "movbe", "pclmul" => "pclmulqdq", "popcnt" => "popcnt",
        "rdrnd" => "rdrand", "rdseed" => "rdseed", "rtm" => "rtm", "sha" => "sha", "sha512" => "sha512",
        "sm3" => "sm3", "sm4" => "sm4", "sse" => "sse", "sse2" => "sse2", "sse3" => "sse3", "sse4.1" => "sse4.1",
        "sse4.2" => "sse4.2", "sse4a" => "sse4a", "ssse3" => "ssse3", "tbm" => "tbm", "vaes" => "vaes",
        "vpclmulqdq" => "vpclmulqdq", "xsave" => "xsave", "xsavec" => "xsavec", "xsaveopt" => "xsaveopt", "xsaves" => "xsaves",
    })
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
    if number > __cpuid(0).eax || (sub > 0 && sub > __cpuid_count(number, 0).eax) {
        return NONE;
    }
    __cpuid_count(number, sub)
}

#[cfg(target_arch = "x86_64")]
fn extended(number: u32) -> CpuidResult {
    use std::arch::x86_64::__cpuid;
    const NONE: CpuidResult = CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 };
    if number > __cpuid(0x8000_0000).eax { NONE } else { __cpuid(number) }
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
}
