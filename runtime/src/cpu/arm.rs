//! Features of 64-bit Arm processors: LLVM's names, and the bits in which the kernel tells a process of them
//! (`arch/arm64/include/uapi/asm/hwcap.h`). They need no `/proc`: the kernel puts them beside the program's arguments.

/// A processor, as it was recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// `AT_HWCAP` of the auxiliary vector.
    pub(crate) hwcap: u64,
    /// `AT_HWCAP2`.
    pub(crate) hwcap2: u64,
}

/// LLVM's name and the bits of `AT_HWCAP` and of `AT_HWCAP2` that all have to be there.
#[rustfmt::skip]
const FEATURES: &[(&str, &[u32], &[u32])] = &[
    ("fp-armv8", &[0], &[]),        ("neon", &[1], &[]),             ("aes", &[3, 4], &[]),
    ("sha2", &[5, 6], &[]),         ("crypto", &[3, 4, 5, 6], &[]),  ("crc", &[7], &[]),
    ("lse", &[8], &[]),             ("fullfp16", &[9, 10], &[]),     ("rdm", &[12], &[]),
    ("jsconv", &[13], &[]),         ("complxnum", &[14], &[]),       ("rcpc", &[15], &[]),
    ("ccpp", &[16], &[]),           ("sha3", &[17, 21], &[]),        ("sm4", &[18, 19], &[]),
    ("dotprod", &[20], &[]),        ("sve", &[22], &[]),             ("fp16fml", &[23], &[]),
    ("dit", &[24], &[]),            ("lse2", &[25], &[]),            ("rcpc-immo", &[26], &[]),
    ("flagm", &[27], &[]),          ("ssbs", &[28], &[]),            ("sb", &[29], &[]),
    ("pauth", &[30, 31], &[]),
    ("ccdp", &[], &[0]),            ("sve2", &[22], &[1]),           ("sve-aes", &[22], &[2, 3]),
    ("sve2-aes", &[22], &[1, 2, 3]), ("sve-bitperm", &[22], &[4]),   ("sve2-bitperm", &[22], &[1, 4]),
    ("sve-sha3", &[22], &[5]),      ("sve2-sha3", &[22], &[1, 5]),   ("sve-sm4", &[22], &[6]),
    ("sve2-sm4", &[22], &[1, 6]),   ("altnzcv", &[], &[7]),          ("fptoint", &[], &[8]),
    ("f32mm", &[22], &[10]),        ("f64mm", &[22], &[11]),         ("i8mm", &[], &[13]),
    ("bf16", &[], &[14]),           ("rand", &[], &[16]),            ("bti", &[], &[17]),
    ("mte", &[], &[18]),            ("sme", &[], &[23]),             ("sme-i16i64", &[], &[23, 24]),
    ("sme-f64f64", &[], &[23, 25]), ("sme-fa64", &[], &[23, 30]),    ("wfxt", &[], &[31]),
    ("cssc", &[], &[34]),           ("sve2p1", &[], &[36]),          ("sme2", &[], &[37]),
    ("sme2p1", &[], &[38]),         ("sme-b16b16", &[], &[41]),      ("sme-f16f16", &[], &[42]),
    ("mops", &[], &[43]),           ("hbc", &[], &[44]),             ("sve-b16b16", &[], &[45]),
    ("rcpc3", &[], &[46]),          ("lse128", &[], &[47]),          ("lut", &[], &[49]),
    ("faminmax", &[], &[50]),
];

/// Versions of the architecture: what each adds to the one before that a program can use.
const VERSIONS: &[(&str, &[&str])] = &[
    ("v8a", &["fp-armv8", "neon"]),
    ("v8.1a", &["crc", "lse", "rdm"]),
    ("v8.2a", &["ccpp"]),
    ("v8.3a", &["rcpc", "pauth", "jsconv", "complxnum"]),
    ("v8.4a", &["dotprod", "dit", "flagm", "lse2", "rcpc-immo"]),
    ("v8.5a", &["altnzcv", "fptoint", "sb", "ssbs", "bti", "ccdp"]),
    ("v9a", &["fullfp16", "sve", "sve2"]),
];

impl Facts {
    /// Whether the processor and the system have a feature with LLVM's name; none if this crate does not know the name.
    pub(crate) fn has(&self, feature: &str) -> Option<bool> {
        if let Some(version) = VERSIONS.iter().position(|(name, _)| *name == feature) {
            let mut all = VERSIONS[..=version].iter().flat_map(|(_, added)| *added);
            return Some(all.all(|feature| self.has(feature) == Some(true)));
        }
        let (_, first, second) = FEATURES.iter().find(|(name, ..)| *name == feature)?;
        let all = |word: u64, bits: &[u32]| bits.iter().all(|bit| word >> bit & 1 != 0);
        Some(all(self.hwcap, first) && all(self.hwcap2, second))
    }
}

/// What the kernel says of this machine.
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
pub(super) fn read() -> Facts {
    Facts { hwcap: super::auxiliary(libc::AT_HWCAP), hwcap2: super::auxiliary(libc::AT_HWCAP2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of the bits in `/proc/cpuinfo`, in their order (`arch/arm64/kernel/cpuinfo.c`).
    const FIRST: &str = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma lrcpc \
        dcpop sha3 sm3 sm4 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm ssbs sb paca pacg";
    const SECOND: &str = "dcpodp sve2 sveaes svepmull svebitperm svesha3 svesm4 flagm2 frint svei8mm svef32mm svef64mm \
        svebf16 i8mm bf16 dgh rng bti mte ecv afp rpres mte3 sme smei16i64 smef64f64 smei8i32 smef16f32 smeb16f32 \
        smef32f32 smefa64 wfxt ebf16 sveebf16 cssc rprfm sve2p1 sme2 sme2p1 smei16i32 smebi32i32 smeb16b16 smef16f16 mops \
        hbc sveb16b16 lrcpc3 lse128";

    /// A machine by the line `Features` of its `/proc/cpuinfo`.
    fn machine(features: &str) -> Facts {
        let mut facts = Facts::default();
        for name in features.split_whitespace() {
            let place = |names: &str| names.split_whitespace().position(|known| known == name);
            match (place(FIRST), place(SECOND)) {
                (Some(bit), _) => facts.hwcap |= 1 << bit,
                (_, Some(bit)) => facts.hwcap2 |= 1 << bit,
                _ => panic!("{name}"),
            }
        }
        facts
    }

    const CORTEX_A72: &str = "fp asimd evtstrm crc32 cpuid";
    const GRAVITON_1: &str = "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid";
    const NEOVERSE_N1: &str = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop \
        asimddp ssbs";
    const NEOVERSE_V1: &str = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma \
        lrcpc dcpop sha3 sm3 sm4 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm ssbs paca pacg dcpodp svei8mm svebf16 \
        i8mm bf16 dgh rng";
    const NEOVERSE_N2: &str = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma \
        lrcpc dcpop sha3 sm3 sm4 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm ssbs sb paca pacg dcpodp sve2 sveaes \
        svepmull svebitperm svesha3 svesm4 flagm2 frint svei8mm svebf16 i8mm bf16 dgh bti";
    const NEOVERSE_V2: &str = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma \
        lrcpc dcpop sha3 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm sb paca pacg dcpodp sve2 sveaes svepmull \
        svebitperm svesha3 flagm2 frint svei8mm svebf16 i8mm bf16 dgh rng bti";
    const APPLE_M1: &str = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma \
        lrcpc dcpop sha3 asimddp sha512 asimdfhm dit uscat ilrcpc flagm ssbs sb paca pacg dcpodp flagm2 frint";

    #[test]
    fn the_bits_of_known_machines() {
        assert_eq!(machine(CORTEX_A72).hwcap, 0x887);
        assert_eq!(machine(GRAVITON_1).hwcap, 0x8ff);
        assert_eq!(machine(NEOVERSE_N1).hwcap, 0x1011_9fff);
    }

    #[test]
    fn machines_have_what_they_are_known_for() {
        let cases: [(&str, &[&str], &[&str]); 7] = [
            (CORTEX_A72, &["neon", "fp-armv8", "crc", "v8a"], &["aes", "sha2", "lse", "rdm", "dotprod", "v8.1a"]),
            (GRAVITON_1, &["neon", "aes", "sha2", "crypto"], &["lse", "fullfp16", "dotprod"]),
            (
                NEOVERSE_N1,
                &["neon", "aes", "lse", "fullfp16", "rdm", "rcpc", "dotprod", "ssbs", "ccpp", "v8.2a"],
                &["jsconv", "sve", "i8mm", "bf16", "pauth", "sha3", "v8.3a"],
            ),
            (
                NEOVERSE_V1,
                &["sve", "i8mm", "bf16", "fp16fml", "sm4", "sha3", "rand", "pauth", "lse2", "v8.4a"],
                &["sve2", "sve2-aes", "bti", "sb", "v8.5a", "v9a"],
            ),
            (
                NEOVERSE_N2,
                &["sve", "sve2", "sve2-sm4", "sve2-bitperm", "bti", "altnzcv", "v9a"],
                &["rand", "sme", "mops"],
            ),
            (
                NEOVERSE_V2,
                &["sve2", "sve2-aes", "sve-aes", "sve2-sha3", "rand", "i8mm"],
                &["sm4", "sve2-sm4", "sme", "mte"],
            ),
            (
                APPLE_M1,
                &["dotprod", "fp16fml", "sha3", "fptoint", "sb", "v8.4a"],
                &["sve", "i8mm", "bf16", "bti", "v8.5a"],
            ),
        ];
        for (features, present, absent) in cases {
            let facts = machine(features);
            for feature in present {
                assert_eq!(facts.has(feature), Some(true), "{feature} of {features}");
            }
            for feature in absent {
                assert_eq!(facts.has(feature), Some(false), "{feature} of {features}");
            }
        }
    }

    #[test]
    fn half_a_feature_is_none() {
        let most = "fp asimd fphp pmull sha1 sha3 sm3 paca sveaes sve2";
        for feature in ["fullfp16", "aes", "sha2", "sha3", "sm4", "pauth", "sve2", "sve2-aes"] {
            assert_eq!(machine(most).has(feature), Some(false), "{feature}");
        }
    }

    #[test]
    fn names_are_known_once_and_others_are_unknown() {
        let names: std::collections::HashSet<&str> = FEATURES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names.len(), FEATURES.len());
        for name in ["quantum", "", "avx2", "NEON", "v8.1", "v10a"] {
            assert_eq!(machine(APPLE_M1).has(name), None, "{name}");
        }
        let all = Facts { hwcap: u64::MAX, hwcap2: u64::MAX };
        assert!(names.iter().all(|name| all.has(name) == Some(true) && Facts::default().has(name) == Some(false)));
    }

    /// The standard library looks at the same machine.
    #[cfg(all(target_arch = "aarch64", target_os = "linux"))]
    #[test]
    fn this_machine_is_seen_as_by_the_standard_library() {
        use std::arch::is_aarch64_feature_detected as has;
        let facts = read();
        let known = [
            ("neon", has!("neon")),
            ("aes", has!("aes")),
            ("sha2", has!("sha2")),
            ("crc", has!("crc")),
            ("lse", has!("lse")),
            ("fullfp16", has!("fp16")),
            ("rdm", has!("rdm")),
            ("dotprod", has!("dotprod")),
            ("i8mm", has!("i8mm")),
            ("bf16", has!("bf16")),
            ("sve", has!("sve")),
            ("sve2", has!("sve2")),
            ("bti", has!("bti")),
            ("rand", has!("rand")),
        ];
        for (feature, present) in known {
            assert_eq!(facts.has(feature), Some(present), "{feature}");
        }
        assert_eq!(facts.has("neon"), Some(true));
    }
}
