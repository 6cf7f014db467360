//! The features of x86-64 that a library looks for before it runs: others do not change which instructions the compiler takes.

/// Where CPUID tells of a feature: leaf, subleaf, register (eax, ebx, ecx, edx), bit; and what the system must have enabled.
pub(super) struct Feature {
    pub(super) name: &'static str,
    pub(super) leaf: u32,
    pub(super) subleaf: u32,
    pub(super) register: u32,
    pub(super) bit: u32,
    pub(super) enabled: u32,
}

/// Registers of 128 and 256 bits.
const WIDE: u32 = 0x06;
/// Those of 512 bits and masks too.
const WIDEST: u32 = 0xe6;

const fn feature(name: &'static str, place: (u32, u32, u32, u32), enabled: u32) -> Feature {
    let (leaf, subleaf, register, bit) = place;
    Feature { name, leaf, subleaf, register, bit, enabled }
}

/// By LLVM's names, as Intel's and AMD's manuals number them.
const FEATURES: &[Feature] = &[
    feature("sse3", (1, 0, 2, 0), 0),
    feature("pclmul", (1, 0, 2, 1), 0),
    feature("ssse3", (1, 0, 2, 9), 0),
    feature("cx16", (1, 0, 2, 13), 0),
    feature("sse4.1", (1, 0, 2, 19), 0),
    feature("sse4.2", (1, 0, 2, 20), 0),
    feature("movbe", (1, 0, 2, 22), 0),
    feature("popcnt", (1, 0, 2, 23), 0),
    feature("aes", (1, 0, 2, 25), 0),
    feature("avx", (1, 0, 2, 28), WIDE),
    feature("f16c", (1, 0, 2, 29), WIDE),
    feature("fma", (1, 0, 2, 12), WIDE),
    feature("sahf", (0x8000_0001, 0, 2, 0), 0),
    feature("lzcnt", (0x8000_0001, 0, 2, 5), 0),
    feature("sse4a", (0x8000_0001, 0, 2, 6), 0),
    feature("bmi", (7, 0, 1, 3), 0),
    feature("avx2", (7, 0, 1, 5), WIDE),
    feature("bmi2", (7, 0, 1, 8), 0),
    feature("adx", (7, 0, 1, 19), 0),
    feature("sha", (7, 0, 1, 29), 0),
    feature("avx512f", (7, 0, 1, 16), WIDEST),
    feature("avx512dq", (7, 0, 1, 17), WIDEST),
    feature("avx512ifma", (7, 0, 1, 21), WIDEST),
    feature("avx512cd", (7, 0, 1, 28), WIDEST),
    feature("avx512bw", (7, 0, 1, 30), WIDEST),
    feature("avx512vl", (7, 0, 1, 31), WIDEST),
    feature("avx512vbmi", (7, 0, 2, 1), WIDEST),
    feature("avx512vbmi2", (7, 0, 2, 6), WIDEST),
    feature("gfni", (7, 0, 2, 8), 0),
    feature("vaes", (7, 0, 2, 9), WIDE),
    feature("vpclmulqdq", (7, 0, 2, 10), WIDE),
    feature("avx512vnni", (7, 0, 2, 11), WIDEST),
    feature("avx512bitalg", (7, 0, 2, 12), WIDEST),
    feature("avx512vpopcntdq", (7, 0, 2, 14), WIDEST),
    feature("avx512fp16", (7, 0, 3, 23), WIDEST),
    feature("avxvnni", (7, 1, 0, 4), WIDE),
    feature("avx512bf16", (7, 1, 0, 5), WIDEST),
];

/// Those of a feature string such as `+avx2,+fma,-prefer-256-bit`.
pub(super) fn features(text: &str) -> Vec<&'static Feature> {
    let wanted: Vec<&str> = text.split(',').filter_map(|signed| signed.strip_prefix('+')).collect();
    FEATURES.iter().filter(|feature| wanted.contains(&feature.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_the_features_that_llvm_sees() {
        if !cfg!(target_arch = "x86_64") {
            return;
        }
        let host = sutura_codegen::host_features();
        let found: Vec<&str> = features(&host).iter().map(|feature| feature.name).collect();
        assert!(found.contains(&"sse3"), "{host}");
        assert_eq!(features("+sse3,-avx,+prefer-256-bit").len(), 1);
    }
}
