#![forbid(unsafe_code)]

fn main() {
    sutura_afl::fuzz(sutura_fuzz::harness::Harness::Artifact);
}
