//! `cargo xtask setup`: finds out which system packages are missing and installs them.
//!
//! A package counts as there when a file that the build or the tests need from it is there, whoever installed it. So a second
//! run looks at a few files and is done, and systems without apt are told what to provide.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, process};

/// Where the build looks for LLVM, unless `MLIR_SYS_220_PREFIX` says otherwise (`.cargo/config.toml`).
const DEFAULT_PREFIX: &str = "/usr/lib/llvm-22";

/// One Debian package and a file that shows that it is there.
struct Package {
    name: &'static str,
    sign: Sign,
    purpose: &'static str,
}

enum Sign {
    /// A file below LLVM's prefix.
    Llvm(&'static str),
    /// A file in one of the folders where compilers look for headers.
    Header(&'static str),
    /// A program on `PATH`.
    Program(&'static str),
    /// A file in one of the folders where shared libraries are.
    Library(&'static str),
    /// A file of Python's standard library.
    Python(&'static str),
    /// A file that tells Vulkan's loader of a driver, by how its name begins; some have the processor's name in theirs.
    VulkanDriver(&'static str),
}

const PACKAGES: &[Package] = &[
    package("llvm-22-dev", Sign::Llvm("bin/llvm-config"), "LLVM's headers and libraries"),
    package("llvm-22", Sign::Llvm("bin/llc"), "the lists of processors and features"),
    package("llvm-22-tools", Sign::Llvm("bin/FileCheck"), "the reference that our FileCheck is compared with"),
    package("libmlir-22-dev", Sign::Llvm("lib/libMLIRCAPIIR.a"), "MLIR's headers and libraries"),
    package("mlir-22-tools", Sign::Llvm("bin/mlir-opt"), "the reference that our parser and printer are compared with"),
    package("lld-22", Sign::Llvm("bin/ld.lld"), "links compiled models"),
    package("libclang-22-dev", Sign::Llvm("lib/libclang.so"), "the build reads C headers with it"),
    package("libpolly-22-dev", Sign::Llvm("lib/libPolly.a"), "llvm-config wants it for static libraries"),
    package("libzstd-dev", Sign::Header("zstd.h"), "LLVM's static libraries need it"),
    package("zlib1g-dev", Sign::Header("zlib.h"), "LLVM's static libraries need it"),
    package("libxml2-dev", Sign::Header("libxml2/libxml/parser.h"), "LLVM's static libraries need it"),
    package("libz3-dev", Sign::Header("z3.h"), "LLVM's static libraries need it"),
    package("g++", Sign::Program("c++"), "compiles the TableGen bindings"),
    package("libvulkan1", Sign::Library("libvulkan.so.1"), "finds devices of Vulkan"),
    package("mesa-vulkan-drivers", Sign::VulkanDriver("lvp_icd"), "lavapipe, the Vulkan device of tests without a GPU"),
    package("python3", Sign::Program("python3"), "runs the scripts of the GPU bundle in tests"),
    package("python3-venv", Sign::Python("ensurepip/__init__.py"), "makes environments for the tests of Python"),
    package("valgrind", Sign::Program("valgrind"), "looks for wrong memory accesses of the runtime"),
    package("clang", Sign::Program("clang"), "builds in tests what gcc builds"),
    package("gcc-aarch64-linux-gnu", Sign::Program("aarch64-linux-gnu-gcc"), "links static libraries for Arm in tests"),
    package("gcc-riscv64-linux-gnu", Sign::Program("riscv64-linux-gnu-gcc"), "links those for RISC-V"),
    package("libc6-dev-arm64-cross", Sign::Header("../aarch64-linux-gnu/include/stdio.h"), "the C library of Arm"),
    package("libc6-dev-riscv64-cross", Sign::Header("../riscv64-linux-gnu/include/stdio.h"), "the C library of RISC-V"),
    package("qemu-user", Sign::Program("qemu-aarch64"), "runs programs for Arm and RISC-V in tests"),
    package("spirv-tools", Sign::Program("spirv-val"), "checks SPIR-V in tests"),
];

const fn package(name: &'static str, sign: Sign, purpose: &'static str) -> Package {
    Package { name, sign, purpose }
}

/// Where to look; a value so that tests can look elsewhere.
struct System {
    llvm: PathBuf,
    includes: Vec<PathBuf>,
    path: Vec<PathBuf>,
    libraries: Vec<PathBuf>,
    python: Vec<PathBuf>,
    vulkan_drivers: Vec<PathBuf>,
}

impl System {
    fn this() -> Self {
        let llvm = env::var_os("MLIR_SYS_220_PREFIX").map_or_else(|| PathBuf::from(DEFAULT_PREFIX), PathBuf::from);
        let multiarch = format!("/usr/include/{}-linux-gnu", env::consts::ARCH);
        let includes = ["/usr/include", "/usr/local/include", multiarch.as_str()].map(PathBuf::from).to_vec();
        let path = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
        let multiarch = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
        let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib", multiarch.as_str()].map(PathBuf::from);
        let extra = env::split_paths(&env::var_os("LD_LIBRARY_PATH").unwrap_or_default()).collect::<Vec<_>>();
        let libraries = folders.into_iter().chain(extra).collect();
        let vulkan_drivers =
            ["/usr/share", "/usr/local/share", "/etc"].map(|d| Path::new(d).join("vulkan/icd.d")).to_vec();
        let mut python = Command::new("python3");
        python.args(["-c", "import sysconfig; print(sysconfig.get_path('stdlib'), end='')"]);
        let python = process::output(&mut python).map(PathBuf::from).into_iter().collect();
        Self { llvm, includes, path, libraries, python, vulkan_drivers }
    }

    fn missing(&self) -> Vec<&'static Package> {
        PACKAGES.iter().filter(|package| !self.has(&package.sign)).collect()
    }

    fn has(&self, sign: &Sign) -> bool {
        match sign {
            Sign::Llvm(file) => self.llvm.join(file).exists(),
            Sign::Header(file) => self.includes.iter().any(|folder| folder.join(file).exists()),
            Sign::Program(name) => self.has_program(name),
            Sign::Library(file) => self.libraries.iter().any(|folder| folder.join(file).exists()),
            Sign::Python(file) => self.python.iter().any(|folder| folder.join(file).exists()),
            Sign::VulkanDriver(start) => self.vulkan_drivers.iter().any(|folder| {
                let files = fs::read_dir(folder).into_iter().flatten().flatten();
                files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with(start))
            }),
        }
    }

    fn has_program(&self, name: &str) -> bool {
        self.path.iter().any(|folder| folder.join(name).exists())
    }
}

pub(crate) fn run() -> Result<(), Failure> {
    let system = System::this();
    let missing = system.missing();
    if missing.is_empty() {
        println!("setup: nothing is missing (LLVM and MLIR in {})", system.llvm.display());
        return Ok(());
    }
    println!("setup: missing system packages:\n{}", listed(&missing));
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    if system.llvm != Path::new(DEFAULT_PREFIX) {
        return Err(format!("MLIR_SYS_220_PREFIX is {}: complete that installation", system.llvm.display()));
    }
    install(&system, &names)?;
    let left = system.missing();
    if !left.is_empty() {
        return Err(format!("still missing after the installation:\n{}", listed(&left)));
    }
    println!("setup: installed {}", names.join(" "));
    Ok(())
}

fn listed(packages: &[&Package]) -> String {
    packages.iter().map(|package| format!("  {:16} {}", package.name, package.purpose)).collect::<Vec<_>>().join("\n")
}

fn install(system: &System, names: &[&str]) -> Result<(), Failure> {
    if !system.has_program("apt-get") {
        return Err(format!(
            "this system has no apt-get: install LLVM and MLIR 22 with their C API, lld and libclang (Debian's names: {}), \
             and set MLIR_SYS_220_PREFIX, TABLEGEN_220_PREFIX and LLVM_SYS_221_PREFIX to where they are",
            names.join(" ")
        ));
    }
    let root = is_root();
    if !root && !system.has_program("sudo") {
        return Err(format!("not root and no sudo: run as root `apt-get install {}`", names.join(" ")));
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new(if root { "env" } else { "sudo" });
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]).args(arguments);
        command
    };
    process::run(&mut apt(&["update"]))?;
    let mut command = apt(&["install", "-y", "--no-install-recommends"]);
    process::run(command.args(names)).map_err(|failure| {
        format!(
            "{failure}\nDebian 12 has LLVM 22 in its security archive (bookworm-security); on a release without it add the \
             packages of apt.llvm.org for LLVM 22, then run `cargo xtask setup` again"
        )
    })
}

/// Whether this process runs as root: the effective user in the kernel's own words.
fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().nth(1));
    user == Some("0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_by_its_files() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| root.path().join(name);
        let system = System {
            llvm: folder("llvm"),
            includes: vec![folder("include")],
            path: vec![folder("bin")],
            libraries: vec![folder("lib")],
            python: vec![folder("python")],
            vulkan_drivers: vec![folder("icd.d")],
        };
        assert_eq!(system.missing().len(), PACKAGES.len());
        for package in PACKAGES {
            let file = match package.sign {
                Sign::Llvm(file) => folder("llvm").join(file),
                Sign::Header(file) => folder("include").join(file),
                Sign::Program(file) => folder("bin").join(file),
                Sign::Library(file) => folder("lib").join(file),
                Sign::Python(file) => folder("python").join(file),
                Sign::VulkanDriver(start) => folder("icd.d").join(format!("{start}.x86_64.json")),
            };
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            assert!(!system.missing().iter().any(|missing| missing.name == package.name), "{}", package.name);
        }
        assert!(system.missing().is_empty());
    }
}
