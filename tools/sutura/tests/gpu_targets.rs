//! Whole models, compiled for GPUs: one source for every vendor, and what is refused.
//!
//! PTX is assembled where `SUTURA_PTXAS` or `PATH` has NVIDIA's assembler, SPIR-V is validated by `spirv-val`; without them
//! the code is only made, and the test says so.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sutura_runtime::device::Devices;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).join(format!("{name}.onnx"))
}

fn sutura(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.args(args).env("NO_COLOR", "1");
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Compiles an example for a target.
fn compiled(name: &str, target: &str, emit: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("code");
    let mut command = sutura(&["compile", "--target", target, &format!("--emit={emit}"), "-o"]);
    let output = command.arg(&out).arg(example(name)).output().unwrap();
    assert!(output.status.success(), "{name} for {target}: {}", stderr(&output));
    std::fs::read(out).unwrap()
}

/// Runs a tool with a file that holds `input`; what it says, or `None` where it is not installed.
fn tool(program: &str, args: &[&str], input: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("input"), folder.path().join("output"));
    std::fs::write(&file, input).unwrap();
    let mut command = Command::new(program);
    command.args(args).arg(&file);
    if program.ends_with("ptxas") {
        command.arg("-o").arg(&out);
    }
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{program}: {}", stderr(&output));
            Some(stderr(&output))
        }
        Err(error) => {
            let need = match program {
                "spirv-val" | "spirv-dis" => sutura_skip::Need::Spirv,
                tool if tool.contains("llvm") || tool.contains("llc") => sutura_skip::Need::Llvm,
                _ => sutura_skip::Need::Ptxas,
            };
            sutura_skip::skipped(need, format!("{program}: {error}"));
            None
        }
    }
}

/// Bytes that a kernel may spill at most: `ptxas` prefers a few, outside of inner loops, to one block less on a multiprocessor.
const SPILLED: u32 = 32;

/// Three vendors from one model, kernels of large sizes with indices of 32 and of 64 bits: PTX that assembles with hardly a spill, code objects, SPIR-V that is valid.
fn for_every_vendor(name: &str, kernels: usize) {
    let ptxas = std::env::var("SUTURA_PTXAS").unwrap_or_else(|_| "ptxas".to_owned());
    let ptx = compiled(name, "cuda:sm_80", "ptx");
    let text = String::from_utf8(ptx.clone()).unwrap();
    assert_eq!(text.matches(".visible .entry").count(), kernels, "{name}: kernels");
    assert!(!text.contains("call.uni"), "{name}: no library is needed");
    if let Some(said) = tool(&ptxas, &["-v", "-arch=sm_80"], &ptx) {
        let spills = said.lines().filter_map(|line| line.split_once(" bytes spill stores"));
        let spills: Vec<u32> = spills.map(|(line, _)| line.rsplit(", ").next().unwrap().parse().unwrap()).collect();
        assert_eq!(spills.len(), kernels, "{name}:\n{said}");
        assert!(spills.iter().all(|bytes| *bytes <= SPILLED), "{name}:\n{said}");
    }
    for chip in ["gfx942", "rocm:gfx1100"] {
        let object = compiled(name, chip, "hsaco");
        assert_eq!(object[..4], *b"\x7fELF");
    }
    for target in ["vulkan", "lavapipe"] {
        let spirv = compiled(name, target, "spirv");
        assert_eq!(spirv[..4], [3, 2, 0x23, 7]);
        tool("spirv-val", &["--target-env", "vulkan1.2"], &spirv);
    }
}

#[test]
fn an_encoder_layer_for_every_vendor() {
    for_every_vendor("encoder", 26);
}

#[test]
fn a_small_cnn_for_every_vendor() {
    for_every_vendor("cnn", 50);
}

#[test]
fn a_perceptron_for_every_vendor() {
    for_every_vendor("mlp", 7);
}

/// What the compiler says, with its exit code.
fn refused(args: &[&str]) -> (String, Option<i32>) {
    let output = sutura(&["compile"]).args(args).arg(example("mlp")).output().unwrap();
    assert!(!output.status.success());
    (stderr(&output), output.status.code())
}

#[test]
fn what_a_target_has_not_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mlp.out");
    let out = out.to_str().unwrap();
    let (said, code) = refused(&["--target", "rocm:gfx942", "--emit=ptx", "-o", out]);
    assert!(said.contains("there is no `ptx` for `gfx942`") && said.contains("`--emit=hsaco`"), "{said}");
    assert_eq!(code, Some(2), "usage");
    let (said, _) = refused(&["--emit=ptx", "-o", out]);
    assert!(said.contains("is a processor: there is no `ptx` for it"), "{said}");
    let (said, _) = refused(&["--target", "cuda:sm_81", "--emit=ptx", "-o", out]);
    assert!(said.contains("there is no target `cuda:sm_81`") && said.contains("did you mean `cuda:sm_80`?"), "{said}");
    if Devices::find().open("cuda").is_err() {
        let (said, _) = refused(&["--target", "sm_80", "--emit=ptx", "--tune", "-o", out]);
        assert!(said.contains("--tune measures on a device that runs `sm_80`: there is no device `cuda`"), "{said}");
    }
    assert!(!Path::new(out).exists());
}

#[test]
fn a_cubin_needs_an_assembler() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mlp.cubin");
    let mut command = sutura(&["compile", "--target", "sm_90", "--emit=cubin", "-o"]);
    command.arg(&out).arg(example("mlp")).env("SUTURA_PTXAS", folder.path().join("none"));
    let output = command.output().unwrap();
    assert!(!output.status.success() && stderr(&output).contains("no `ptxas` found"), "{}", stderr(&output));
    assert!(!out.exists());
}

/// An artifact of the perceptron.
fn artifact(folder: &Path, target: &str) -> PathBuf {
    let out = folder.join(format!("{target}.sutura"));
    let mut command = sutura(&["compile", "--target", target, "-o"]);
    let output = command.arg(&out).arg(example("mlp")).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    out
}

/// What a run that must fail says, with its exit code.
fn fails(artifact: &Path, more: &[&str]) -> (String, Option<i32>) {
    let input = example("mlp").with_file_name("b1").join("x.npy");
    let output = sutura(&["run"]).arg(artifact).args(more).arg(format!("-ix=@{}", input.display())).output().unwrap();
    assert!(!output.status.success());
    (stderr(&output), output.status.code())
}

#[test]
fn an_artifact_runs_only_where_it_belongs() {
    let folder = tempfile::tempdir().unwrap();
    let fibers = artifact(folder.path(), "cpu_fibers");
    let (said, code) = fails(&artifact(folder.path(), "host"), &["--device", "cpu-fibers"]);
    assert!(said.contains("compiled for the processor, and `cpu-fibers` is another device"), "{said}");
    assert_eq!(code, Some(3), "unsupported");
    let (said, _) = fails(&fibers, &["--device", "none-such"]);
    assert!(said.contains("there is no device `none-such`"), "{said}");
    let mut inspect = sutura(&["inspect"]);
    let said = String::from_utf8(inspect.arg(&fibers).output().unwrap().stdout).unwrap();
    assert!(said.contains("device     cpu-fibers, subgroups of 32, "), "{said}");
    // Where there is no GPU of NVIDIA the reason is told; with one, this run succeeds elsewhere.
    let nvidia = artifact(folder.path(), "sm_80");
    let input = example("mlp").with_file_name("b1").join("x.npy");
    let mut command = sutura(&["run"]);
    command.arg(&nvidia).arg(format!("-ix=@{}", input.display())).env("SUTURA_CUDA_LIBRARY", "");
    let said = stderr(&command.output().unwrap());
    assert!(said.contains("there is no device `cuda`") && said.contains("SUTURA_CUDA_LIBRARY is empty"), "{said}");
}

/// The table of the processor, with the device's own times and the limits of what the model was compiled for.
#[test]
fn launches_on_a_device_are_profiled() {
    let folder = tempfile::tempdir().unwrap();
    let fibers = artifact(folder.path(), "cpu_fibers");
    let input = format!("-ix=@{}", example("mlp").with_file_name("b1").join("x.npy").display());
    let run = |more: &[&str]| sutura(&["run"]).arg(&fibers).arg(&input).args(more).output().unwrap();
    let output = run(&["--profile", "--repeat=3"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("percent of the limit: of cpu_fibers, for moving every tensor once"), "{said}");
    let table: Vec<&str> = said.lines().skip_while(|line| !line.starts_with("kernel ")).skip(1).collect();
    let launches = |line: &&str| line.split_whitespace().nth(1).and_then(|word| word.parse::<u32>().ok());
    assert_eq!(table.iter().filter_map(launches).sum::<u32>(), 3, "{said}");
    assert!(table.iter().any(|line| line.starts_with("transfers, and between launches")), "{said}");
    assert!(!table[0].contains(" 0.00 "), "it took time: {said}");
    // Numbers of another machine.
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets/lavapipe.mlir");
    let said = String::from_utf8(run(&["--profile", "--target-file", machine.to_str().unwrap()]).stdout).unwrap();
    assert!(said.contains("percent of the limit: of lavapipe, for"), "{said}");
}

#[test]
fn a_damaged_artifact_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = artifact(folder.path(), "cpu_fibers");
    let bytes = std::fs::read(&path).unwrap();
    // The index has the name as well.
    let mut places = bytes.windows(10).enumerate().filter(|(_, w)| w == b"device.bin").map(|(at, _)| at);
    let name = places.nth(1).unwrap();
    let mut flipped = bytes.clone();
    flipped[name + 500] ^= 1;
    std::fs::write(&path, flipped).unwrap();
    let (said, code) = fails(&path, &[]);
    assert!(said.contains("device.bin") && said.contains("checksum"), "{said}");
    assert_eq!(code, Some(4), "corrupt");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(fails(&path, &[]).1, Some(4), "corrupt");
}

/// Tile programs as text, without a host program: the gir that the processor's kernels come from too.
#[test]
fn kernels_alone_become_device_code() {
    let folder = tempfile::tempdir().unwrap();
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit-tests/gir_to_cpu/softmax.mlir");
    let out = folder.path().join("softmax.ptx");
    let mut command = sutura(&["compile", "--target", "cuda:sm_90", "--emit=ptx", "-o"]);
    let output = command.arg(&out).arg(&kernels).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(std::fs::read_to_string(&out).unwrap().contains(".visible .entry softmax("));
    let artifact = folder.path().join("softmax.sutura");
    let output = sutura(&["compile", "--target", "cuda:sm_90", "-o"]).arg(&artifact).arg(&kernels).output().unwrap();
    assert!(stderr(&output).contains("cannot become an artifact"), "{}", stderr(&output));
    assert!(!artifact.exists());
}

/// One artifact for several machines: a load takes what is asked for, or the first that is there.
#[test]
fn an_artifact_may_be_for_several_machines() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = folder.path().join("mlp.sutura");
    let compiles = |targets: &str| {
        let output = sutura(&["compile", "--target", targets, "-o"]).arg(&artifact).arg(example("mlp")).output();
        let output = output.unwrap();
        (output.status.code(), stderr(&output))
    };
    let runs = |args: &[&str]| {
        let output = sutura(&["run"]).arg(&artifact).args(["-i", "x=1x64xf32=0.5"]).args(args).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output))
    };
    assert_eq!(compiles("cuda:sm_80,rocm:gfx90a,host,cpu_fibers").0, Some(0));
    let (code, text) = runs(&["--device", "cpu-fibers"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("cpu-fibers"), "{text}");
    // No GPU of these vendors is where tests run, or the first of them is taken.
    let (code, text) = runs(&[]);
    assert_eq!(code, Some(0), "{text}");
    let inspected = sutura(&["inspect"]).arg(&artifact).output().unwrap();
    let text = String::from_utf8_lossy(&inspected.stdout).into_owned();
    assert!(text.starts_with("4 variants\n"), "{text}");
    for words in ["device     cuda sm_80,", "device     rocm gfx90a,", "device     cpu-fibers,"] {
        assert_eq!(text.matches(words).count(), 1, "{text}");
    }
    assert_eq!(compiles("rocm:gfx90a,rocm:gfx942").0, Some(0));
    let (code, text) = runs(&["--device", "cpu-fibers"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("compiled for rocm (gfx90a), rocm (gfx942), and `cpu-fibers` is none of them"), "{text}");
    for (targets, words) in
        [("lavapipe,lavapipe", "two targets are the machine `lavapipe`"), ("host,", "there is no target ``")]
    {
        let (code, text) = compiles(targets);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(words), "{text}");
    }
}
