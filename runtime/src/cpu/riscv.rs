//! Features of 64-bit RISC-V processors: LLVM's names, and what the kernel tells of them: a bit for each letter in
//! `AT_HWCAP`, and the answer to the system call `riscv_hwprobe` (`arch/riscv/include/uapi/asm/hwprobe.h`).

/// A processor, as it was recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// `AT_HWCAP` of the auxiliary vector: bit 0 is `a`, bit 25 `z`.
    pub(crate) hwcap: u64,
    /// What `riscv_hwprobe` answers to `RISCV_HWPROBE_KEY_IMA_EXT_0` for all processors; 0 where the kernel has no such call.
    pub(crate) extensions: u64,
}

/// The names of the bits of [`Facts::extensions`] from bit 3 on, as LLVM has them.
const EXTENSIONS: [&str; 43] = [
    "zba",
    "zbb",
    "zbs",
    "zicboz",
    "zbc",
    "zbkb",
    "zbkc",
    "zbkx",
    "zknd",
    "zkne",
    "zknh",
    "zksed",
    "zksh",
    "zkt",
    "zvbb",
    "zvbc",
    "zvkb",
    "zvkg",
    "zvkned",
    "zvknha",
    "zvknhb",
    "zvksed",
    "zvksh",
    "zvkt",
    "zfh",
    "zfhmin",
    "zihintntl",
    "zvfh",
    "zvfhmin",
    "zfa",
    "ztso",
    "zacas",
    "zicond",
    "zihintpause",
    "zve32x",
    "zve32f",
    "zve64x",
    "zve64f",
    "zve64d",
    "zimop",
    "zca",
    "zcb",
    "zcd",
];

impl Facts {
    /// Whether the processor and the system have a feature with LLVM's name; none if this crate does not know the name.
    pub(crate) fn has(&self, feature: &str) -> Option<bool> {
        match feature {
            // What Linux needs of a 64-bit processor.
            "64bit" | "zicsr" | "zifencei" => return Some(true),
            "zmmul" => return self.has("m"),
            "zaamo" | "zalrsc" => return self.has("a"),
            "b" => return Some(["zba", "zbb", "zbs"].iter().all(|part| self.has(part) == Some(true))),
            "i" | "m" | "a" | "f" | "d" | "c" | "v" => {
                let letter = feature.bytes().next().map_or(0, |byte| byte - b'a');
                return Some(self.hwcap >> letter & 1 != 0);
            }
            // The vectors of `v` have at least this many bits.
            "zvl32b" | "zvl64b" | "zvl128b" => return self.has("v"),
            _ => {}
        }
        let number = EXTENSIONS.iter().position(|name| *name == feature)?;
        let told = self.extensions >> (number + 3) & 1 != 0;
        // Kernels before 6.10 do not tell of the parts of `v`.
        let part = feature.starts_with("zve") && self.has("v") == Some(true);
        Some(told || part)
    }
}

/// What the kernel says of this machine.
#[cfg(all(target_arch = "riscv64", target_os = "linux"))]
pub(super) fn read() -> Facts {
    Facts { hwcap: super::auxiliary(libc::AT_HWCAP), extensions: extensions() }
}

#[cfg(all(target_arch = "riscv64", target_os = "linux"))]
fn extensions() -> u64 {
    const RISCV_HWPROBE: libc::c_long = 258;
    const IMA_EXT_0: i64 = 4;
    #[repr(C)]
    struct Pair {
        key: i64,
        value: u64,
    }
    let mut pair = Pair { key: IMA_EXT_0, value: 0 };
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: one pair of our own is answered; no set of processors means all of them.
    let done = unsafe { libc::syscall(RISCV_HWPROBE, &raw mut pair, 1usize, 0usize, none, 0u32) };
    // A kernel that does not know the question sets the key to -1.
    if done == 0 && pair.key == IMA_EXT_0 { pair.value } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `AT_HWCAP` of a SiFive U74 (VisionFive 2): imafdc.
    const IMAFDC: u64 = 0x112d;
    const V: u64 = 1 << 21;

    #[test]
    fn letters_are_bits() {
        let u74 = Facts { hwcap: IMAFDC, extensions: 0 };
        for feature in ["i", "m", "a", "f", "d", "c", "64bit", "zmmul", "zaamo", "zicsr"] {
            assert_eq!(u74.has(feature), Some(true), "{feature}");
        }
        for feature in ["v", "zvl128b", "zba", "b", "zve64d", "zfh"] {
            assert_eq!(u74.has(feature), Some(false), "{feature}");
        }
        let k1 = Facts { hwcap: IMAFDC | V, extensions: 0b11_1111 };
        for feature in ["v", "zvl128b", "zba", "zbb", "zbs", "b", "zve32x", "zve64d"] {
            assert_eq!(k1.has(feature), Some(true), "{feature}");
        }
        assert_eq!(k1.has("zicboz"), Some(false));
    }

    #[test]
    fn other_names_are_unknown() {
        let all = Facts { hwcap: u64::MAX, extensions: u64::MAX };
        // How long vectors are beyond 128 bits nobody tells.
        for name in ["zvl256b", "e", "q", "quantum", "", "V"] {
            assert_eq!(all.has(name), None, "{name}");
        }
        assert!(EXTENSIONS.iter().all(|name| all.has(name) == Some(true) && Facts::default().has(name) == Some(false)));
        assert_eq!(Facts { hwcap: 0, extensions: 1 << 30 }.has("zvfh"), Some(true));
    }
}
