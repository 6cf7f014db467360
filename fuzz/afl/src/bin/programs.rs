//! `programs HARNESS`: the loop in which AFL++ gives a harness its inputs. What is linked here holds the compiler.
#![forbid(unsafe_code)]

use sutura_fuzz::harness::{Harness, Planted};

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(harness) = Harness::from_name(&name) else { panic!("there is no harness `{name}`") };
    let planted = Planted::from_env();
    // A panic and a broken law end the process, which AFL++ takes for a crash.
    afl::fuzz(true, |input| {
        if let Err(law) = harness.run(input, planted) {
            panic!("{law}");
        }
    });
}
