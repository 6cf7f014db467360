//! `files HARNESS`: the same for what reads files without a compiler; it is small, and so it is fast.
#![forbid(unsafe_code)]

use sutura_fuzz_files::Planted;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(harness) = sutura_fuzz_files::harness(&name) else { panic!("there is no harness `{name}`") };
    let planted = Planted::from_env();
    afl::fuzz(true, |input| {
        if let Err(law) = harness(input, planted) {
            panic!("{law}");
        }
    });
}
