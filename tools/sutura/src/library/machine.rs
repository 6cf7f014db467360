//! The features of x86-64 that a library looks for before it runs: those that the runtime looks for.

use sutura_runtime::CpuidBit;

/// Those of a feature string such as `+avx2,+fma,-prefer-256-bit` that a processor may lack, older ones first: the first that is
/// missing is named.
pub(super) fn features(text: &str) -> Vec<CpuidBit> {
    let mut found: Vec<_> = text.split(',').filter_map(|signed| CpuidBit::of(signed.strip_prefix('+')?)).collect();
    found.sort_by_key(|feature| (feature.leaf, feature.register, feature.bit));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_processor_may_lack_is_looked_for() {
        let found: Vec<&str> =
            features("+sse3,-avx,+prefer-256-bit,+64bit,+avxifma,+amx-int8").iter().map(|f| f.name).collect();
        assert_eq!(found, ["sse3", "amx-int8", "avxifma"]);
        if cfg!(target_arch = "x86_64") {
            assert!(features(&sutura_codegen::host_features()).iter().any(|feature| feature.name == "sse3"));
        }
    }
}
