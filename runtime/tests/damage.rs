//! Damaged artifacts, files that change while they are used, and paths that are no files: each is an error, at once.

mod common;

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::{expected, inputs};
use sutura_runtime::artifact::{Contents, to_bytes, variants_to_bytes};
use sutura_runtime::manifest::{Constant, Manifest};
use sutura_runtime::{Artifact, ArtifactProblem, ElementType, Error, ErrorKind, Model, Options, Tensor, npy};
use tempfile::TempDir;

/// The numbers of damage: the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % end as u64) as usize
    }
}

/// The model of the tests, and beside its constant another one of so many bytes, of which each is `byte`.
fn manifest_with(more: i64) -> Manifest {
    let mut manifest = common::manifest();
    manifest.constants.push(Constant { name: "more".into(), element_type: ElementType::U8, dims: vec![more] });
    manifest
}

fn artifact_with(more: usize) -> Vec<u8> {
    let manifest = manifest_with(more as i64);
    let host = &common::host_for(&manifest);
    let constants: [&[u8]; 2] = [&common::SCALE.to_ne_bytes(), &vec![7; more]];
    to_bytes(&Contents { manifest: &manifest, host, device: None, constants: &constants }).unwrap()
}

fn of_two_machines() -> Vec<u8> {
    let (first, mut second) = (manifest_with(100), manifest_with(100));
    let host = &common::host_for(&first);
    second.target.description = "another".into();
    let scale = common::SCALE.to_ne_bytes();
    let (all, other): ([&[u8]; 2], [&[u8]; 2]) = ([&scale, &[7; 100]], [&scale, &[8; 100]]);
    let contents = |manifest, constants| Contents { manifest, host, device: None, constants };
    variants_to_bytes(&[("one", contents(&first, &all)), ("two", contents(&second, &other))]).unwrap()
}

/// The places where something else begins: records of the archive, and entries, by what other zip readers say.
fn regions(bytes: &[u8]) -> Vec<(String, std::ops::Range<usize>)> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let (mut regions, mut end) = (Vec::new(), 0);
    for number in 0..archive.len() {
        let entry = archive.by_index_raw(number).unwrap();
        let name = entry.name().unwrap().into_owned();
        let start = entry.data_start().unwrap() as usize;
        regions.push((format!("header of {name}"), end..start));
        end = start + entry.size() as usize;
        regions.push((name, start..end));
    }
    regions.push(("directory".into(), end..bytes.len()));
    regions.retain(|(_, range)| !range.is_empty());
    regions
}

/// What both ways to use a file say of it. The test is in one process, so code of a damaged artifact must not get to run.
fn inspected_and_run(path: &Path) -> [Result<(), String>; 2] {
    let inspected = Artifact::open(path).map(drop);
    let run = Model::load_with(path, Options::new().threads(2)).map(drop);
    for error in [&inspected, &run].into_iter().filter_map(|result| result.as_ref().err()) {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
    [inspected, run].map(|result| result.map_err(|error| error.to_string()))
}

/// 400 damaged artifacts: a flipped bit, or several, or a range of other bytes, in every region of small, mapped, and
/// several-machine ones.
#[test]
fn no_damage_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.sutura");
    let mut random = Random(19);
    let mut damaged = 0;
    for (bytes, rounds) in [(artifact_with(1000), 14), (of_two_machines(), 12), (artifact_with(17 << 20), 8)] {
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(inspected_and_run(&path), [Ok(()), Ok(())]);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        for (name, range) in regions(&bytes) {
            for round in 0..rounds {
                let at = range.start + random.below(range.len());
                let count = [1, 1, 1, 2, 64, 5000][random.below(6)].min(range.end - at);
                let mut wrong = bytes[at..at + count].to_vec();
                match count {
                    1 => wrong[0] ^= 1 << random.below(8),
                    _ => wrong.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1 + random.below(255) as u8)),
                }
                file.write_all_at(&wrong, at as u64).unwrap();
                let found = inspected_and_run(&path);
                file.write_all_at(&bytes[at..at + count], at as u64).unwrap();
                let [inspected, run] = found.map(Result::unwrap_err);
                assert_eq!(inspected, run, "{name}, {count} bytes at {at}, round {round}");
                damaged += 1;
            }
        }
        assert_eq!(inspected_and_run(&path), [Ok(()), Ok(())]);
    }
    assert!(damaged >= 300, "{damaged}");
}

/// It is the hashes that find it.
#[test]
fn trusted_artifacts_are_not_compared_with_their_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.sutura");
    for more in [1000, 17 << 20] {
        let mut bytes = artifact_with(more);
        let scale = common::SCALE.to_ne_bytes();
        let weights = regions(&bytes).into_iter().find(|(name, _)| name == "weights.safetensors").unwrap().1;
        let at = weights.start + bytes[weights].chunks(64).position(|chunk| chunk.starts_with(&scale)).unwrap() * 64;
        bytes[at + 3] ^= 0x80;
        std::fs::write(&path, &bytes).unwrap();
        let error = Model::load(&path).unwrap_err();
        assert!(
            matches!(&error, Error::Artifact { problem: ArtifactProblem::Checksum { entry, .. }, .. } if entry == "weights.safetensors"),
            "{error}"
        );
        let model = Model::load_with(&path, Options::new().trust_artifact(true)).unwrap();
        let outputs = model.run(&inputs(2, 2)).unwrap();
        assert_ne!(outputs[0].bytes(), expected(&inputs(2, 2))[0].bytes());
    }
}

fn large(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("large.sutura");
    std::fs::write(&path, artifact_with(20 << 20)).unwrap();
    path
}

#[test]
fn a_file_that_becomes_shorter_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = large(&folder);
    let model = Model::load(&path).unwrap();
    let inputs = inputs(3, 4);
    let right = model.run(&inputs).unwrap();
    assert_eq!(right[0].bytes(), expected(&inputs)[0].bytes());
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(100).unwrap();
    for _ in 0..2 {
        let error = model.run(&inputs).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("large.sutura` was changed while it was in use: it had 2"), "{error}");
    }
    let mut outputs = right;
    let mut views: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
    model.run_into(&[inputs[0].view(), inputs[1].view()], &mut views).unwrap_err();
    // What was loaded before is still there: only the run is refused.
    assert_eq!(model.manifest().model, "rows");
    assert!(model.artifact().check_unchanged().is_err());
}

/// Whenever it happens: in the code, in the check, between them.
#[test]
fn a_file_that_becomes_shorter_at_any_time_ends_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = large(&folder);
    let whole = std::fs::read(&path).unwrap();
    for round in 0..20 {
        let cut = round * whole.len() / 20;
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let cutter = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(300 * round as u64));
            file.set_len(cut as u64).unwrap();
        });
        let outcome = Model::load(&path).and_then(|model| {
            (0..30).try_for_each(|_| {
                let outputs = model.run(&inputs(50, 40))?;
                assert_eq!(outputs[0].bytes(), expected(&inputs(50, 40))[0].bytes());
                Ok(())
            })
        });
        cutter.join().unwrap();
        if let Err(error) = outcome {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        }
        std::fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn a_file_that_is_written_over_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = large(&folder);
    let model = Model::load(&path).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let other = std::fs::read(&path).unwrap();
    // As `cp` does it.
    std::fs::write(&path, &other).unwrap();
    let error = model.run(&inputs(2, 2)).unwrap_err().to_string();
    assert!(error.contains("somebody wrote into it") && error.contains("with `mv`"), "{error}");
}

/// A small file is read, and what becomes of it then is nobody's concern.
#[test]
fn a_small_file_may_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.sutura");
    std::fs::write(&path, artifact_with(1000)).unwrap();
    let model = Model::load(&path).unwrap();
    std::fs::write(&path, b"").unwrap();
    assert_eq!(model.run(&inputs(2, 2)).unwrap()[0].bytes(), expected(&inputs(2, 2))[0].bytes());
}

/// Pipes, devices, sockets, folders: nothing waits for them, nothing is read from them.
#[test]
fn only_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    std::os::unix::fs::symlink(at("pipe"), at("link")).unwrap();
    let paths = [
        (at("pipe"), "a pipe"),
        (at("link"), "a pipe"),
        (at("socket"), "a socket"),
        (folder.path().to_owned(), "a folder"),
        ("/dev/zero".into(), "a device"),
        ("/dev/null".into(), "a device"),
    ];
    let start = Instant::now();
    for (path, what) in paths {
        let words = format!("it is {what}, not a file");
        let errors = [
            (Artifact::open(&path).map(drop), ErrorKind::Corrupt),
            (Artifact::open_trusted(&path).map(drop), ErrorKind::Corrupt),
            (Model::load(&path).map(drop), ErrorKind::Corrupt),
            (npy::read(&path).map(drop), ErrorKind::Input),
            (npy::read_signature(&path).map(drop), ErrorKind::Input),
        ];
        for (result, kind) in errors {
            let error = result.unwrap_err();
            assert!(error.to_string().contains(&words), "{}: {error}", path.display());
            assert_eq!(error.kind(), kind);
        }
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Drivers' libraries are files too, or devices would never be listed.
#[test]
fn drivers_are_not_looked_for_in_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("libcuda.so.1");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut libraries = sutura_runtime::device::Libraries::default();
    (libraries.cuda, libraries.hip) = (Some(pipe.clone()), Some(pipe));
    let devices = sutura_runtime::device::Devices::find_with(&libraries);
    let absent = devices.absent().join("\n");
    assert_eq!(absent.matches("libcuda.so.1` is a pipe, not a file").count(), 2, "{absent}");
}

/// What is wrong about inputs shows before their data are there.
#[test]
fn inputs_are_accepted_by_type_and_dims() {
    let model = common::load(&[], Options::new()).unwrap();
    let f32 = ElementType::F32;
    let shapes = model.accept(&[("bias", f32, &[5]), ("x", f32, &[3, 5])]).unwrap();
    assert_eq!(shapes.outputs, [vec![3, 5], vec![3]]);
    let words = |named: &[(&str, ElementType, &[i64])]| model.accept(named).unwrap_err().to_string();
    assert!(words(&[("x", f32, &[3, 5])]).contains("input `bias` is missing"));
    assert!(words(&[("x", f32, &[3, 5]), ("bias", ElementType::I8, &[5])]).contains("has element type i8"));
    assert!(words(&[("x", f32, &[3, 5]), ("bias", f32, &[5, 1])]).contains("has rank 2"));
    assert!(words(&[("x", f32, &[3, 5]), ("bias", f32, &[6])]).contains("dimension `cols` is inconsistent"));
    assert!(words(&[("x", f32, &[1 << 40, 5]), ("bias", f32, &[5])]).contains("out of range"));
}
