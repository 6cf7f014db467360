//! Checks that this machine has what a model was compiled for, before any of its code runs.
//!
//! The manifest holds LLVM's feature string. Every `+feature` in it must be known here and present on the machine: an
//! unknown one is refused, because code that uses it would end in an illegal instruction somewhere in the middle of a
//! run.

#![allow(unsafe_code)]

mod arm;
mod riscv;
mod x86;

pub use x86::CpuidBit;

use crate::error::{Error, Result};
use crate::manifest::Target;

/// Checks the architecture, the operating system and every required feature.
/// Asks the system for the matrix unit's registers where a feature needs them.
pub(crate) fn check(target: &Target) -> Result<()> {
    check_machine(&target.triple)?;
    let mut missing = missing(&Facts::read(), &target.features)?;
    let tiles = required(&target.features)?.iter().any(|feature| feature.starts_with("amx-"));
    if missing.is_empty() && tiles && !x86::permit_tiles() {
        missing.push("permission to use AMX tiles".to_owned());
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::MissingCpuFeatures { target: format!("`{}`", target.description), missing })
}

/// The required features that a processor does not have.
fn missing(facts: &Facts, features: &str) -> Result<Vec<String>> {
    let mut missing = Vec::new();
    for feature in required(features)? {
        match facts.has(feature) {
            Some(true) => {}
            Some(false) => missing.push(feature.to_owned()),
            None => return Err(Error::UnknownCpuFeature { feature: feature.to_owned() }),
        }
    }
    Ok(missing)
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
    const PREFIXES: [&str; 9] =
        ["fuse-", "prefer-", "fast-", "slow-", "false-deps-", "no-bypass-", "tuning", "inline-asm-", "use-"];
    const NAMES: [&str; 8] = [
        "relax",
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

/// What is known of a processor. What it has follows from this alone, so that tests can ask of any.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "a machine is of one architecture"))]
enum Facts {
    X86(x86::Facts),
    Arm(arm::Facts),
    Riscv(riscv::Facts),
    /// An architecture of which no feature is known.
    Other,
}

impl Facts {
    /// Those of this machine.
    fn read() -> Self {
        #[cfg(target_arch = "x86_64")]
        return Self::X86(x86::read());
        #[cfg(all(target_arch = "aarch64", target_os = "linux"))]
        return Self::Arm(arm::read());
        #[cfg(all(target_arch = "riscv64", target_os = "linux"))]
        return Self::Riscv(riscv::read());
        #[expect(unreachable_code, reason = "one of the lines above may be there")]
        Self::Other
    }

    /// Whether the machine and the system have a feature with LLVM's name; none if this crate does not know the name.
    fn has(&self, feature: &str) -> Option<bool> {
        match self {
            Self::X86(facts) => facts.has(feature),
            Self::Arm(facts) => facts.has(feature),
            Self::Riscv(facts) => facts.has(feature),
            Self::Other => None,
        }
    }
}

/// An entry of the auxiliary vector, which the kernel puts beside the program's arguments; 0 where there is none.
#[cfg(all(any(target_arch = "aarch64", target_arch = "riscv64"), target_os = "linux"))]
fn auxiliary(entry: libc::c_ulong) -> u64 {
    // SAFETY: any number may be asked for.
    unsafe { libc::getauxval(entry) }
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

#[cfg(test)]
mod any_machine {
    use super::*;

    #[test]
    fn features_are_those_of_the_architecture() {
        let arm = Facts::Arm(arm::Facts { hwcap: 0x1011_9fff, hwcap2: 0 });
        assert!(missing(&arm, "+neon,+dotprod,+fullfp16,+fuse-aes,-sve").unwrap().is_empty());
        assert_eq!(missing(&arm, "+neon,+sve,+i8mm").unwrap(), ["sve", "i8mm"]);
        let riscv = Facts::Riscv(riscv::Facts { hwcap: 0x112d, extensions: 0 });
        assert_eq!(missing(&riscv, "+64bit,+m,+relax,+v").unwrap(), ["v"]);
        for (facts, feature) in
            [(arm, "avx2"), (riscv, "neon"), (Facts::X86(x86::Facts::default()), "sve"), (Facts::Other, "neon")]
        {
            let error = missing(&facts, &format!("+{feature}")).unwrap_err();
            assert!(matches!(&error, Error::UnknownCpuFeature { feature: named } if named == feature), "{error}");
        }
        assert!(missing(&Facts::Other, "").unwrap().is_empty());
    }
}
