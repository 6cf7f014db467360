//! The machine that code is generated for: triple, processor, features, and LLVM's target machine made of them.

use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::Once;

use llvm_sys::core::LLVMDisposeMessage;
use llvm_sys::target::{
    LLVM_InitializeAllAsmParsers, LLVM_InitializeAllAsmPrinters, LLVM_InitializeAllTargetInfos,
    LLVM_InitializeAllTargetMCs, LLVM_InitializeAllTargets,
};
use llvm_sys::target_machine::{
    LLVMCodeGenOptLevel, LLVMCodeModel, LLVMCreateTargetMachine, LLVMDisposeTargetMachine, LLVMGetDefaultTargetTriple,
    LLVMGetHostCPUFeatures, LLVMGetTargetFromTriple, LLVMNormalizeTargetTriple, LLVMRelocMode, LLVMTargetMachineRef,
};

use crate::error::{Error, Stage};

/// What code is generated for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Such as `x86_64-unknown-linux-gnu`.
    pub triple: String,
    /// The processor, which sets the baseline of features and the scheduling model. [`Target::new`] takes the
    /// architecture's generic one.
    pub cpu: String,
    /// LLVM's feature string, such as `+avx2,+fma,-prefer-256-bit`. May be empty.
    pub features: String,
}

impl Target {
    /// The architecture's generic processor with `features` on top.
    pub fn new(triple: impl Into<String>, features: impl Into<String>) -> Self {
        let triple = triple.into();
        let cpu = generic_cpu(&triple).to_owned();
        Self { triple, cpu, features: features.into() }
    }

    /// This machine with all its features. The processor stays generic: a virtual machine may have a name that belies its
    /// features.
    pub fn host() -> Self {
        Self::new(host_triple(), host_features())
    }

    /// Checks what LLVM would only warn of: the architecture, the processor and each feature must be known.
    ///
    /// # Errors
    /// `Architecture`, `Cpu`, `Feature` or `FeatureSign`, with the closest known name.
    pub fn check(&self) -> Result<(), Error> {
        let subtarget = subtarget(&self.triple)?;
        if !subtarget.cpus.contains(&self.cpu.as_str()) {
            let suggestion = closest(&self.cpu, subtarget.cpus);
            return Err(Error::Cpu { triple: self.triple.clone(), cpu: self.cpu.clone(), suggestion });
        }
        self.features.split(',').filter(|feature| !feature.is_empty()).try_for_each(|signed| {
            let Some(feature) = signed.strip_prefix(['+', '-']) else {
                return Err(Error::FeatureSign { feature: signed.to_owned() });
            };
            if subtarget.features.contains(&feature) {
                return Ok(());
            }
            let suggestion = closest(feature, subtarget.features);
            Err(Error::Feature { triple: self.triple.clone(), feature: feature.to_owned(), suggestion })
        })
    }
}

/// This machine's triple.
pub fn host_triple() -> String {
    // SAFETY: LLVM returns an owned message, which `owned_message` frees; normalising takes it while it lives.
    unsafe { owned_message(LLVMNormalizeTargetTriple(OwnedMessage(LLVMGetDefaultTargetTriple()).0)) }
}

/// The features that this machine's processor reports, sorted, such as `+avx,+avx2,+sse4.2`.
///
/// On x86 the preferred vector width is added, which no feature bit tells: 512 bits from the processors on that came after
/// the first AVX-512 ones (those lower their clock for wide vectors), told by AVX512-VBMI2.
pub fn host_features() -> String {
    // SAFETY: LLVM returns an owned message, which `owned_message` frees.
    let reported = unsafe { owned_message(LLVMGetHostCPUFeatures()) };
    let known = subtarget(&host_triple()).map_or(&[] as &[&str], |subtarget| subtarget.features);
    with_vector_width(reported.split(',').filter_map(|signed| signed.strip_prefix('+')), known)
}

fn with_vector_width<'a>(reported: impl Iterator<Item = &'a str>, known: &[&str]) -> String {
    let mut features: Vec<&str> = reported.filter(|feature| known.contains(feature)).collect();
    features.sort_unstable();
    let mut signed: Vec<String> = features.iter().map(|feature| format!("+{feature}")).collect();
    if features.contains(&"avx512f") {
        let sign = if features.contains(&"avx512vbmi2") { '-' } else { '+' };
        signed.push(format!("{sign}prefer-256-bit"));
    }
    signed.join(",")
}

/// The processors and features that LLVM knows for one architecture, sorted.
struct Subtarget {
    architecture: &'static str,
    cpus: &'static [&'static str],
    features: &'static [&'static str],
}

/// Written by the build script from LLVM's own lists.
static SUBTARGETS: &[Subtarget] = include!(concat!(env!("OUT_DIR"), "/subtargets.rs"));

fn subtarget(triple: &str) -> Result<&'static Subtarget, Error> {
    let architecture = triple.split('-').next().unwrap_or_default();
    SUBTARGETS.iter().find(|subtarget| subtarget.architecture == architecture).ok_or_else(|| Error::Architecture {
        triple: triple.to_owned(),
        known: SUBTARGETS.iter().map(|subtarget| subtarget.architecture).collect::<Vec<_>>().join(", "),
    })
}

/// LLVM's `generic` for x86 lacks what every 64-bit processor has.
fn generic_cpu(triple: &str) -> &'static str {
    match triple.split('-').next() {
        Some("x86_64") => "x86-64",
        Some("nvptx64") => "sm_75",
        Some("riscv64") => "generic-rv64",
        _ => "generic",
    }
}

/// The known name closest to `name`, if one is close enough to be meant.
fn closest(name: &str, known: &[&str]) -> Option<String> {
    let (score, best) = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), *candidate))
        .min_by_key(|(distance, _)| *distance)?;
    (score <= 1 + name.len() / 4).then(|| best.to_owned())
}

/// LLVM's target machine.
pub(crate) struct TargetMachine(LLVMTargetMachineRef);

impl TargetMachine {
    /// `stage` is named when LLVM refuses.
    pub(crate) fn new(target: &Target, level: LLVMCodeGenOptLevel, stage: Stage) -> Result<Self, Error> {
        target.check()?;
        initialize_targets();
        let triple = c_string(&target.triple, "the target triple")?;
        let cpu = c_string(&target.cpu, "the processor's name")?;
        let features = c_string(&target.features, "the feature string")?;
        let (mut found, mut message) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the strings are NUL-terminated and both out pointers are valid; on failure LLVM hands over a message.
        if unsafe { LLVMGetTargetFromTriple(triple.as_ptr(), &raw mut found, &raw mut message) } != 0 {
            // SAFETY: see above.
            let message = unsafe { owned_message(message) };
            return Err(Error::Triple { triple: target.triple.clone(), message });
        }
        let (reloc, model) = (LLVMRelocMode::LLVMRelocPIC, LLVMCodeModel::LLVMCodeModelDefault);
        // SAFETY: `found` is a registered target and the strings are NUL-terminated; LLVM copies them.
        let machine = unsafe {
            LLVMCreateTargetMachine(found, triple.as_ptr(), cpu.as_ptr(), features.as_ptr(), level, reloc, model)
        };
        if machine.is_null() {
            let message = format!("no target machine for `{}`", target.triple);
            return Err(Error::Llvm { stage, message });
        }
        Ok(Self(machine))
    }

    pub(crate) fn raw(&self) -> LLVMTargetMachineRef {
        self.0
    }
}

impl Drop for TargetMachine {
    fn drop(&mut self) {
        // SAFETY: the machine was created in `new` and is disposed of once.
        unsafe { LLVMDisposeTargetMachine(self.0) }
    }
}

/// Registers every target that LLVM was built with. Idempotent.
pub(crate) fn initialize_targets() {
    static INITIALIZE: Once = Once::new();
    // SAFETY: the functions only register targets; `Once` keeps threads from running them at once.
    INITIALIZE.call_once(|| unsafe {
        LLVM_InitializeAllTargetInfos();
        LLVM_InitializeAllTargets();
        LLVM_InitializeAllTargetMCs();
        LLVM_InitializeAllAsmPrinters();
        LLVM_InitializeAllAsmParsers();
    });
}

pub(crate) fn c_string(text: &str, what: &'static str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::Nul { what })
}

/// A message that LLVM allocated; dropped, it is given back.
struct OwnedMessage(*mut std::ffi::c_char);

impl Drop for OwnedMessage {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: by `owned_message`'s contract the message is LLVM's and ours to free.
            unsafe { LLVMDisposeMessage(self.0) }
        }
    }
}

/// Copies a message that LLVM allocated and frees it.
///
/// # Safety
/// `message` must be null or a NUL-terminated string that LLVM handed over.
pub(crate) unsafe fn owned_message(message: *mut std::ffi::c_char) -> String {
    let message = OwnedMessage(message);
    if message.0.is_null() {
        return String::new();
    }
    // SAFETY: not null, and NUL-terminated by the contract.
    unsafe { CStr::from_ptr(message.0) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: &str = "x86_64-unknown-linux-gnu";

    #[test]
    fn the_host_is_a_target_that_passes_its_own_check() {
        let host = Target::host();
        host.check().unwrap();
        assert!(!host.features.is_empty(), "every supported host reports some feature");
    }

    #[test]
    fn unknown_names_get_the_closest_known_one() {
        let error = Target::new(LINUX, "+avx2,+avx512ff").check().unwrap_err();
        let expected = format!("unknown feature `avx512ff` for `{LINUX}`; did you mean `avx512f`?");
        assert_eq!(error.to_string(), expected);
        let mut target = Target::new(LINUX, "");
        target.cpu = "skylak".to_owned();
        let expected = format!("unknown processor `skylak` for `{LINUX}`; did you mean `skylake`?");
        assert_eq!(target.check().unwrap_err().to_string(), expected);
    }

    #[test]
    fn malformed_features_and_unknown_architectures_are_errors() {
        assert!(matches!(Target::new(LINUX, "avx2").check(), Err(Error::FeatureSign { .. })));
        assert!(matches!(Target::new(LINUX, "+zzzzzz").check(), Err(Error::Feature { suggestion: None, .. })));
        assert!(matches!(Target::new("pdp11-dec-unix", "").check(), Err(Error::Architecture { .. })));
        assert!(Target::new(LINUX, "").check().is_ok());
    }

    #[test]
    fn every_architecture_has_a_generic_processor() {
        for subtarget in SUBTARGETS {
            Target::new(format!("{}-unknown-unknown", subtarget.architecture), "").check().unwrap();
        }
    }

    #[test]
    fn wide_vectors_are_preferred_from_the_second_avx512_generation_on() {
        let known = ["avx2", "avx512f", "avx512vbmi2", "prefer-256-bit"];
        let features = |reported: &[&str]| with_vector_width(reported.iter().copied(), &known);
        assert_eq!(features(&["avx512vbmi2", "avx512f", "unheard-of"]), "+avx512f,+avx512vbmi2,-prefer-256-bit");
        assert_eq!(features(&["avx512f"]), "+avx512f,+prefer-256-bit");
        assert_eq!(features(&["avx2"]), "+avx2");
    }
}
