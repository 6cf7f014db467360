//! What weights cost: those that are packed for the kernels pass through no memory of the compiler's own, and an artifact is not much
//! larger than its model.

mod protobuf;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use protobuf::{field, number};

/// Number of ONNX's element types.
const F32: u64 = 1;
const U8: u64 = 2;

/// A tensor whose elements are in a file.
fn weight(name: &str, element: u64, dims: &[u64], file: &str) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|dim| number(1, *dim)).collect();
    let location = field(13, &[field(1, b"location"), field(2, file.as_bytes())].concat());
    field(5, &[dims, number(2, element), field(8, name.as_bytes()), location, number(14, 1)].concat())
}

/// `y = op(x, ...weights)` with `x` of `batch` rows.
fn model(
    op: &str,
    domain: &str,
    columns: [u64; 2],
    weights: &[(&str, Vec<u8>)],
    attributes: &[(&str, u64)],
) -> Vec<u8> {
    let value = |name: &str, columns: u64| {
        let dims = [field(1, &field(2, b"batch")), field(1, &number(1, columns))].concat();
        [field(1, name.as_bytes()), field(2, &field(1, &[number(1, F32), field(2, &dims)].concat()))].concat()
    };
    let inputs = ["x"].into_iter().chain(weights.iter().map(|(name, _)| *name));
    let mut node: Vec<u8> = inputs.flat_map(|name| field(1, name.as_bytes())).collect();
    node.extend([field(2, b"y"), field(4, op.as_bytes()), field(7, domain.as_bytes())].concat());
    for (name, value) in attributes {
        node.extend(field(5, &[field(1, name.as_bytes()), number(3, *value), number(20, 2)].concat()));
    }
    let mut graph = [field(1, &node), field(2, b"g")].concat();
    weights.iter().for_each(|(_, weight)| graph.extend(weight));
    graph.extend([field(11, &value("x", columns[0])), field(12, &value("y", columns[1]))].concat());
    let opset = |domain: &str, version: u64| field(8, &[field(1, domain.as_bytes()), number(2, version)].concat());
    [number(1, 8), field(7, &graph), opset("", 17), opset("com.microsoft", 1)].concat()
}

/// A file of so many floats, no two in a row alike.
fn floats(path: &Path, count: usize) {
    let mut file = std::io::BufWriter::new(File::create(path).expect("a file"));
    (0..count).for_each(|i| file.write_all(&((i * 7919 % 1013) as f32 * 1e-3).to_le_bytes()).expect("written"));
}

/// The most anonymous memory that compiling the model took, in kB.
fn compile(folder: &Path) -> u64 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.current_dir(folder).args(["compile", "-q", "m.onnx", "-o", "m.sutura"]).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the tool was built");
    let mut most = 0;
    while child.try_wait().expect("a child").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        most = most.max(line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().expect("a child");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    most
}

/// A weight of 64 MiB that is packed takes less of the compiler's own memory than it has bytes. (A page of it that was copied to
/// lanes of 8 bytes and back would take several times as much.)
#[test]
fn one_large_weight_is_not_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    let (rows, columns) = (2048, 8192);
    floats(&folder.path().join("w.bin"), rows * columns);
    let sizes = [rows as u64, columns as u64];
    let bytes = model("MatMul", "", sizes, &[("w", weight("w", F32, &sizes, "w.bin"))], &[]);
    std::fs::write(folder.path().join("m.onnx"), bytes).expect("a file");
    let most = compile(folder.path());
    assert!((1..48 << 10).contains(&most), "{most} kB");
}

/// Weights of 4 bits stay so, where floats in their place would take more than 128 MiB.
#[test]
fn weights_of_4_bits_stay_small() {
    let folder = tempfile::tempdir().expect("a folder");
    let (k, n) = (4096, 10240);
    let (blocks, halves) = (k / 32, k * n / 2);
    let packed: Vec<u8> = (0..halves).map(|i| (i * 31 % 251) as u8).collect();
    std::fs::write(folder.path().join("w.bin"), packed).expect("a file");
    floats(&folder.path().join("s.bin"), (n * blocks) as usize);
    let weights = [("w", weight("w", U8, &[n, blocks, 16], "w.bin")), ("s", weight("s", F32, &[n * blocks], "s.bin"))];
    let bytes =
        model("MatMulNBits", "com.microsoft", [k, n], &weights, &[("K", k), ("N", n), ("bits", 4), ("block_size", 32)]);
    std::fs::write(folder.path().join("m.onnx"), bytes).expect("a file");
    compile(folder.path());
    let stored = halves + 4 * n * blocks;
    let artifact = std::fs::metadata(folder.path().join("m.sutura")).expect("a file").len();
    assert!(artifact < stored + stored / 4, "{artifact} bytes for {stored} of weights");
}

/// Weights that lie in the artifact as they lie in the model are read from there, and another weight is another model.
#[test]
fn the_cache_does_not_keep_weights_of_the_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, columns) = (folder.path().join("w.bin"), 1 << 18);
    floats(&path, columns);
    let sizes = [columns as u64; 2];
    let bytes = model("Add", "", sizes, &[("w", weight("w", F32, &[columns as u64], "w.bin"))], &[]);
    std::fs::write(folder.path().join("m.onnx"), bytes).expect("a file");
    let compile = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
        command.current_dir(folder.path()).env("SUTURA_CACHE_DIR", folder.path().join("cache"));
        let output = command.args(["compile", "-v", "m.onnx", "-o", "m.sutura"]).args(more).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let hit = said.lines().any(|line| line.starts_with("cache "));
        (std::fs::read(folder.path().join("m.sutura")).expect("an artifact"), hit)
    };
    let (plain, _) = compile(&["--no-cache"]);
    assert!(plain.len() > 1 << 20);
    assert_eq!(compile(&[]), (plain.clone(), false));
    let kept = std::fs::read_dir(folder.path().join("cache")).expect("a folder");
    let kept: u64 = kept.map(|entry| entry.expect("an entry").metadata().expect("a file").len()).sum();
    assert!(kept < 200_000, "{kept} bytes");
    assert_eq!(compile(&[]), (plain.clone(), true));
    // One bit of the weight.
    let mut changed = std::fs::read(&path).expect("a file");
    changed[12345] ^= 1;
    std::fs::write(&path, changed).expect("a file");
    let (other, hit) = compile(&[]);
    assert!(!hit && other != plain);
    assert_eq!(compile(&["--no-cache"]).0, other);
}
