//! `sutura-afl HARNESS`: the loop in which AFL++ gives a harness its inputs. One program for all: what it is linked from is large.
#![forbid(unsafe_code)]

use sutura_fuzz::harness::{Harness, Planted};

/// Set, the harness has the fault that was made for it.
const PLANTED: &str = "SUTURA_FUZZ_PLANTED";

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(harness) = Harness::from_name(&name) else { panic!("there is no harness `{name}`") };
    let planted = if std::env::var_os(PLANTED).is_some() { Planted::Yes } else { Planted::No };
    // A panic and a broken law end the process, which AFL++ takes for a crash.
    afl::fuzz(true, |input| {
        if let Err(law) = harness.run(input, planted) {
            panic!("{law}");
        }
    });
}
