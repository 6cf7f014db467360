//! AFL++: installed once into the target folder, from crates.io and nowhere else. The crate `cargo-afl` holds AFL++'s sources.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::{Failure, process};

/// Of `cargo-afl`, and of `afl` in fuzz/afl/Cargo.toml, which go together.
const VERSION: &str = "0.18.2";

/// Installed tools.
#[derive(Debug)]
pub(crate) struct Tools {
    /// Has `bin/cargo-afl`, and `share` with AFL++.
    root: PathBuf,
    /// Of the compiler, as `cargo-afl` spells it.
    compiler: String,
    /// What programs are built for.
    host: String,
}

/// Finds the tools, or installs and builds them: half a minute each, the first time.
pub(crate) fn provide() -> Result<Tools, Failure> {
    let here = env::current_dir().map_err(|e| format!("the folder at hand has no name: {e}"))?;
    let about = process::output(Command::new("rustc").arg("-vV"))?;
    let (compiler, host) = compiler(&about).ok_or("`rustc -vV` does not say what it is")?;
    let tools = Tools { root: here.join(process::target_folder()).join("afl-tools"), compiler, host };
    if !tools.cargo_afl().exists() {
        let mut install = process::cargo();
        install.args(["install", "cargo-afl", "--locked", "--version", &format!("={VERSION}"), "--root"]);
        process::run(install.arg(&tools.root).arg("--target-dir").arg(tools.root.join("target")))?;
    }
    if !tools.folder().join("afl-llvm/afl-compiler-rt.o").exists() {
        process::run(tools.command().args(["config", "--build"]))?;
    }
    Ok(tools)
}

/// Version and host of the compiler, from what `rustc -vV` prints.
fn compiler(about: &str) -> Option<(String, String)> {
    let field = |name: &str| about.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let commit = field("commit-hash:").filter(|hash| *hash != "unknown" && hash.len() >= 7);
    let commit = commit.map_or_else(String::new, |hash| format!("-{}", &hash[..7]));
    Some((format!("rustc-{}{commit}", field("release:")?), field("host:")?.to_owned()))
}

impl Tools {
    fn cargo_afl(&self) -> PathBuf {
        self.root.join("bin/cargo-afl")
    }

    /// What `cargo-afl` has built for this compiler.
    fn folder(&self) -> PathBuf {
        self.root.join("share/afl.rs").join(&self.compiler).join(format!("afl.rs-{VERSION}"))
    }

    /// `cargo afl`.
    fn command(&self) -> Command {
        let mut command = Command::new(self.cargo_afl());
        command.arg("afl").env("XDG_DATA_HOME", self.root.join("share"));
        if env::var_os("CARGO").is_none() {
            command.env("CARGO", "cargo");
        }
        command
    }

    /// Builds the programs with counters; gives their folder.
    pub(crate) fn build(&self) -> Result<PathBuf, Failure> {
        let folder = process::target_folder().join("afl");
        let mut build = self.command();
        build.args(["build", "--release", "--locked", "--manifest-path", "fuzz/afl/Cargo.toml"]);
        // With a target named, procedural macros and build scripts go without counters.
        build.args(["--target", &self.host, "--target-dir"]).arg(&folder);
        // More would take twice as long to build, and what is optimised away is no longer counted.
        process::run(build.env("AFL_OPT_LEVEL", "1"))?;
        Ok(folder.join(&self.host).join("release"))
    }

    /// `afl-fuzz`, set up for a machine that others use too, and without a terminal.
    pub(crate) fn fuzz(&self) -> Command {
        let mut command = Command::new(self.folder().join("afl/bin/afl-fuzz"));
        for name in [
            "AFL_NO_UI",
            "AFL_NO_AFFINITY",
            "AFL_SKIP_CPUFREQ",
            // Stored inputs are run three times at first, not forty, where threads make their counts differ.
            "AFL_FAST_CAL",
            "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
            // A stored input that fails is a finding like any other.
            "AFL_CRASHING_SEEDS_AS_NEW_CRASH",
        ] {
            command.env(name, "1");
        }
        // What stays interned from input to input goes after so many.
        command.env("AFL_FUZZER_LOOPCOUNT", "2000");
        // What ran is counted the same each time only without other threads.
        command.env("RAYON_NUM_THREADS", "1").env("RUST_BACKTRACE", "0");
        command
    }
}

/// The version that fuzz/afl asks for.
#[cfg(test)]
fn wanted(manifest: &std::path::Path) -> Option<String> {
    let text = std::fs::read_to_string(manifest).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("afl = \"="))?;
    Some(line.trim_end_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_and_tool_have_one_version() {
        let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/afl/Cargo.toml");
        assert_eq!(wanted(&manifest).as_deref(), Some(VERSION));
    }

    #[test]
    fn the_compiler_is_spelt_as_by_cargo_afl() {
        let about = "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\n\
                     commit-hash: 59807616e1fa2540724bfbac14d7976d7e4a3860\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        let (compiler, host) = compiler(about).unwrap();
        assert_eq!((compiler.as_str(), host.as_str()), ("rustc-1.95.0-5980761", "x86_64-unknown-linux-gnu"));
    }
}
