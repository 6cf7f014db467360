//! Features of x86-64 processors: LLVM's names, and what `cpuid` and the system say of them.

/// The answer of `cpuid` to one question; zeros where the processor has no such leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) eax: u32,
    pub(crate) ebx: u32,
    pub(crate) ecx: u32,
    pub(crate) edx: u32,
}

impl Leaf {
    fn register(&self, number: u32) -> u32 {
        match number {
            0 => self.eax,
            1 => self.ebx,
            2 => self.ecx,
            _ => self.edx,
        }
    }
}

/// What is asked: leaf and sub-leaf.
pub(crate) const QUESTIONS: [(u32, u32); 7] =
    [(1, 0), (7, 0), (7, 1), (0xd, 1), (0x14, 0), (0x8000_0001, 0), (0x8000_0008, 0)];

/// A processor, as it was recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// The answers to [`QUESTIONS`].
    pub(crate) leaves: [Leaf; QUESTIONS.len()],
    /// Which registers the system saves (`xgetbv` of register 0); zero where there is no such instruction.
    pub(crate) saved: u64,
}

/// Where a bit is: the number of a question, and a register of the answer (eax, ebx, ecx, edx).
type Place = (usize, u32);

const BASIC_C: Place = (0, 2);
const BASIC_D: Place = (0, 3);
const MORE_B: Place = (1, 1);
const MORE_C: Place = (1, 2);
const MORE_D: Place = (1, 3);
const LATER_A: Place = (2, 0);
const LATER_D: Place = (2, 3);
const STATE_A: Place = (3, 0);
const TRACE_B: Place = (4, 1);
const AMD_C: Place = (5, 2);
const AMD_B: Place = (6, 1);

/// What the system has to save for a feature: the bits of [`Facts::saved`].
const NOTHING: u64 = 0;
/// Any: `xsave` itself is enabled.
const X87: u64 = 1;
const YMM: u64 = 0b110;
const ZMM: u64 = 0b1110_0110;
const TILES: u64 = 3 << 17;

/// LLVM's name, place, bit, and what is saved. From the processor manuals' descriptions of `cpuid`.
#[rustfmt::skip]
const FEATURES: &[(&str, Place, u32, u64)] = &[
    ("sse3",       BASIC_C, 0,  NOTHING), ("pclmul",    BASIC_C, 1,  NOTHING), ("ssse3",      BASIC_C, 9,  NOTHING),
    ("fma",        BASIC_C, 12, YMM),     ("cx16",      BASIC_C, 13, NOTHING), ("sse4.1",     BASIC_C, 19, NOTHING),
    ("sse4.2",     BASIC_C, 20, NOTHING), ("movbe",     BASIC_C, 22, NOTHING), ("popcnt",     BASIC_C, 23, NOTHING),
    ("aes",        BASIC_C, 25, NOTHING), ("xsave",     BASIC_C, 26, X87),     ("avx",        BASIC_C, 28, YMM),
    ("f16c",       BASIC_C, 29, YMM),     ("rdrnd",     BASIC_C, 30, NOTHING), ("sse",        BASIC_D, 25, NOTHING),
    ("sse2",       BASIC_D, 26, NOTHING),
    ("fsgsbase",   MORE_B,  0,  NOTHING), ("sgx",       MORE_B,  2,  NOTHING), ("bmi",        MORE_B,  3,  NOTHING),
    ("avx2",       MORE_B,  5,  YMM),     ("bmi2",      MORE_B,  8,  NOTHING), ("invpcid",    MORE_B,  10, NOTHING),
    ("rtm",        MORE_B,  11, NOTHING), ("avx512f",   MORE_B,  16, ZMM),     ("avx512dq",   MORE_B,  17, ZMM),
    ("rdseed",     MORE_B,  18, NOTHING), ("adx",       MORE_B,  19, NOTHING), ("avx512ifma", MORE_B,  21, ZMM),
    ("clflushopt", MORE_B,  23, NOTHING), ("clwb",      MORE_B,  24, NOTHING), ("avx512cd",   MORE_B,  28, ZMM),
    ("sha",        MORE_B,  29, NOTHING), ("avx512bw",  MORE_B,  30, ZMM),     ("avx512vl",   MORE_B,  31, ZMM),
    ("avx512vbmi", MORE_C,  1,  ZMM),     ("pku",       MORE_C,  4,  NOTHING), ("waitpkg",    MORE_C,  5,  NOTHING),
    ("avx512vbmi2", MORE_C, 6,  ZMM),     ("shstk",     MORE_C,  7,  NOTHING), ("gfni",       MORE_C,  8,  NOTHING),
    ("vaes",       MORE_C,  9,  YMM),     ("vpclmulqdq", MORE_C, 10, YMM),     ("avx512vnni", MORE_C,  11, ZMM),
    ("avx512bitalg", MORE_C, 12, ZMM),    ("avx512vpopcntdq", MORE_C, 14, ZMM), ("rdpid",     MORE_C,  22, NOTHING),
    ("cldemote",   MORE_C,  25, NOTHING), ("movdiri",   MORE_C,  27, NOTHING), ("movdir64b",  MORE_C,  28, NOTHING),
    ("enqcmd",     MORE_C,  29, NOTHING),
    ("uintr",      MORE_D,  5,  NOTHING), ("avx512vp2intersect", MORE_D, 8, ZMM), ("serialize", MORE_D, 14, NOTHING),
    ("tsxldtrk",   MORE_D,  16, NOTHING), ("pconfig",   MORE_D,  18, NOTHING), ("amx-bf16",   MORE_D,  22, TILES),
    ("avx512fp16", MORE_D,  23, ZMM),     ("amx-tile",  MORE_D,  24, TILES),   ("amx-int8",   MORE_D,  25, TILES),
    ("sha512",     LATER_A, 0,  YMM),     ("sm3",       LATER_A, 1,  YMM),     ("sm4",        LATER_A, 2,  YMM),
    ("avxvnni",    LATER_A, 4,  YMM),     ("avx512bf16", LATER_A, 5, ZMM),     ("cmpccxadd",  LATER_A, 7,  NOTHING),
    ("amx-fp16",   LATER_A, 21, TILES),   ("hreset",    LATER_A, 22, NOTHING), ("avxifma",    LATER_A, 23, YMM),
    ("avxvnniint8", LATER_D, 4, YMM),     ("avxneconvert", LATER_D, 5, YMM),   ("amx-complex", LATER_D, 8, TILES),
    ("avxvnniint16", LATER_D, 10, YMM),   ("prefetchi", LATER_D, 14, NOTHING),
    ("xsaveopt",   STATE_A, 0,  X87),     ("xsavec",    STATE_A, 1,  X87),     ("xsaves",     STATE_A, 3,  X87),
    ("ptwrite",    TRACE_B, 4,  NOTHING),
    ("sahf",       AMD_C,   0,  NOTHING), ("lzcnt",     AMD_C,   5,  NOTHING), ("sse4a",      AMD_C,   6,  NOTHING),
    ("prfchw",     AMD_C,   8,  NOTHING), ("tbm",       AMD_C,   21, NOTHING), ("mwaitx",     AMD_C,   29, NOTHING),
    ("clzero",     AMD_B,   0,  NOTHING), ("rdpru",     AMD_B,   4,  NOTHING), ("wbnoinvd",   AMD_B,   9,  NOTHING),
];

/// Where `cpuid` tells of a feature, for code that asks it without this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuidBit {
    /// LLVM's name of the feature.
    pub name: &'static str,
    /// Leaf and sub-leaf.
    pub leaf: (u32, u32),
    /// Register of the answer: 0 to 3 are eax, ebx, ecx and edx.
    pub register: u32,
    /// Number of the bit, from the low end.
    pub bit: u32,
    /// Bits that `xgetbv` of register 0 must have: what the system has to save.
    pub saved: u64,
}

impl CpuidBit {
    /// That of a feature; none for one that every x86-64 processor has, and for a name that this crate does not know.
    pub fn of(feature: &str) -> Option<Self> {
        let (name, (question, register), bit, saved) = *FEATURES.iter().find(|(name, ..)| *name == feature)?;
        Some(Self { name, leaf: QUESTIONS[question], register, bit, saved })
    }
}

impl Facts {
    /// Whether the processor and the system have a feature with LLVM's name; none if this crate does not know the name.
    pub(crate) fn has(&self, feature: &str) -> Option<bool> {
        match feature {
            // Part of every x86-64 processor.
            "64bit" | "cmov" | "cx8" | "fxsr" | "mmx" | "nopl" | "x87" => return Some(true),
            // Only says that 512-bit registers may be used, which no processor so far refuses.
            "evex512" => return self.has("avx512f"),
            "crc32" => return self.has("sse4.2"),
            _ => {}
        }
        let (_, (leaf, register), bit, saved) = FEATURES.iter().find(|(name, ..)| *name == feature)?;
        let present = self.leaves[*leaf].register(*register) >> bit & 1 != 0;
        Some(present && self.saved & saved == *saved)
    }
}

/// What this machine says.
#[cfg(target_arch = "x86_64")]
pub(super) fn read() -> Facts {
    let leaves = QUESTIONS.map(|(number, sub)| leaf(number, sub));
    // `cpuid` says "osxsave" in this bit; only then is `xgetbv` an instruction.
    let saves = leaves[0].ecx >> 27 & 1 != 0;
    // SAFETY: the processor has `xgetbv` and the system enabled it, as just seen.
    let saved = if saves { unsafe { saved_registers() } } else { 0 };
    Facts { leaves, saved }
}

#[cfg(target_arch = "x86_64")]
fn leaf(number: u32, sub: u32) -> Leaf {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    // Ordinary and extended leaves have a first leaf each, which says what the last is.
    let first = number & 0x8000_0000;
    if number > __cpuid(first).eax || (number == 7 && sub > __cpuid_count(number, 0).eax) {
        return Leaf::default();
    }
    let found = __cpuid_count(number, sub);
    Leaf { eax: found.eax, ebx: found.ebx, ecx: found.ecx, edx: found.edx }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "xsave")]
unsafe fn saved_registers() -> u64 {
    // SAFETY: register 0 always exists; the caller knows that the instruction does.
    unsafe { std::arch::x86_64::_xgetbv(0) }
}

/// Linux gives a process the tile registers only when asked; once is enough, also for threads that start later.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) fn permit_tiles() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const TILE_DATA: libc::c_long = 18;
    // SAFETY: this request takes a number and changes only which registers the process may use.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0 }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(super) fn permit_tiles() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A processor with these features, where the system saves what is said.
    fn recorded(features: &[&str], saved: u64) -> Facts {
        let mut facts = Facts { saved, ..Facts::default() };
        for name in features {
            let (_, (leaf, register), bit, _) = FEATURES.iter().find(|(known, ..)| known == name).unwrap();
            let all = &mut facts.leaves[*leaf];
            let set = match register {
                0 => &mut all.eax,
                1 => &mut all.ebx,
                2 => &mut all.ecx,
                _ => &mut all.edx,
            };
            *set |= 1 << bit;
        }
        facts
    }

    #[test]
    fn recorded_leaves_are_read() {
        // Leaves 1, 7 and 0x80000001 of an AMD EPYC 7763 (Zen 3), as `cpuid -r` prints them.
        let mut zen3 = Facts { saved: 0b111, ..Facts::default() };
        zen3.leaves[0] = Leaf { eax: 0x00a0_0f11, ebx: 0, ecx: 0x7efa_320b, edx: 0x178b_fbff };
        zen3.leaves[1] = Leaf { eax: 0, ebx: 0x219c_97a9, ecx: 0x0040_069c, edx: 0x10 };
        zen3.leaves[5] = Leaf { eax: 0, ebx: 0, ecx: 0x75c2_37ff, edx: 0x2fd3_fbff };
        for feature in
            ["avx2", "fma", "f16c", "bmi", "bmi2", "sha", "vaes", "vpclmulqdq", "sse4a", "lzcnt", "cx16", "pku"]
        {
            assert_eq!(zen3.has(feature), Some(true), "{feature}");
        }
        for feature in ["avx512f", "avx512vl", "amx-tile", "gfni", "tbm", "rtm", "evex512"] {
            assert_eq!(zen3.has(feature), Some(false), "{feature}");
        }
        assert_eq!(zen3.has("quantum"), None);
    }

    #[test]
    fn registers_that_are_not_saved_take_features_away() {
        let all: Vec<&str> = FEATURES.iter().map(|(name, ..)| *name).collect();
        let cases = [
            (0, "avx", false),
            (0, "xsave", false),
            (0, "sse4.2", true),
            (0b111, "avx2", true),
            (0b111, "avx512f", false),
            (0b1110_0111, "avx512f", true),
            (0b1110_0111, "amx-int8", false),
            (0b110_0000_0000_1110_0111, "amx-int8", true),
        ];
        for (saved, feature, expected) in cases {
            assert_eq!(recorded(&all, saved).has(feature), Some(expected), "{feature} {saved:b}");
        }
        assert_eq!(Facts::default().has("sse2"), Some(false));
    }

    #[test]
    fn every_bit_has_one_meaning() {
        for (name, ..) in FEATURES {
            let facts = recorded(&[name], u64::MAX);
            let found: Vec<&str> =
                FEATURES.iter().map(|(name, ..)| *name).filter(|n| facts.has(n) == Some(true)).collect();
            assert_eq!(found, [*name]);
        }
    }

    /// The table says of this machine what the standard library says.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn this_machine_is_seen_as_by_the_standard_library() {
        use std::arch::is_x86_feature_detected as has;
        macro_rules! table {
            ([$($same:tt)*] [$($llvm:literal = $rust:tt)*]) => { [$(($same, has!($same)),)* $(($llvm, has!($rust)),)*] };
        }
        let known = table!([
            "adx" "aes" "avx" "avx2" "avx512bf16" "avx512bitalg" "avx512bw" "avx512cd" "avx512dq" "avx512f" "avx512fp16"
            "avx512ifma" "avx512vbmi" "avx512vbmi2" "avx512vl" "avx512vnni" "avx512vp2intersect" "avx512vpopcntdq"
            "avxifma" "avxneconvert" "avxvnni" "avxvnniint16" "avxvnniint8" "bmi2" "f16c" "fma" "gfni" "lzcnt" "movbe"
            "popcnt" "rdseed" "rtm" "sha" "sha512" "sm3" "sm4" "sse" "sse2" "sse3" "sse4.1" "sse4.2" "sse4a" "ssse3"
            "tbm" "vaes" "vpclmulqdq" "xsave" "xsavec" "xsaveopt" "xsaves"
        ] [
            "bmi" = "bmi1" "cx16" = "cmpxchg16b" "pclmul" = "pclmulqdq" "rdrnd" = "rdrand"
        ]);
        let facts = read();
        for (feature, present) in known {
            assert_eq!(facts.has(feature), Some(present), "{feature}");
        }
    }

    /// The kernel may hide a feature, but does not list one that is not there.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    fn what_the_kernel_lists_is_found() {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let flags: Vec<&str> = info.lines().find(|l| l.starts_with("flags")).unwrap().split_whitespace().collect();
        assert!(flags.contains(&"sse2"));
        let facts = read();
        for (feature, ..) in FEATURES {
            if flags.contains(&feature.replace('-', "_").as_str()) {
                assert_eq!(facts.has(feature), Some(true), "{feature}");
            }
        }
    }
}
