//! The loop in which AFL++ gives a harness its inputs.
#![forbid(unsafe_code)]

use sutura_fuzz::harness::{Harness, Planted};

/// Set, the harness has the fault that was made for it.
const PLANTED: &str = "SUTURA_FUZZ_PLANTED";

/// Runs a harness on input after input. A panic and a broken law end the process, which AFL++ takes for a crash.
pub fn fuzz(harness: Harness) {
    let planted = if std::env::var_os(PLANTED).is_some() { Planted::Yes } else { Planted::No };
    afl::fuzz(true, |input| {
        if let Err(law) = harness.run(input, planted) {
            panic!("{law}");
        }
    });
}
