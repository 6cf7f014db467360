//! Data that is checked as kernels run: wrong indices and divisions by zero, told alike by the processor and by devices.
//!
//! Where there is no device the tests say so and pass, unless `SUTURA_REQUIRE_DEVICES=1`; then they fail.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sutura_runtime::device::Devices;
use sutura_runtime::{Tensor, npy};

/// What models are compiled for, and the device of it, if it is one.
const PLACES: [(&str, Option<&str>); 3] =
    [("host", None), ("lavapipe", Some("lavapipe")), ("cpu_fibers", Some("cpu-fibers"))];

/// A model, compiled for a place.
struct Compiled {
    folder: tempfile::TempDir,
    artifact: PathBuf,
    on_processor: bool,
}

impl Compiled {
    /// The model for every place that there is.
    fn for_all(model: &str) -> Vec<Self> {
        PLACES.into_iter().filter_map(|(target, device)| Self::for_target(model, target, device)).collect()
    }

    fn for_target(model: &str, target: &str, device: Option<&str>) -> Option<Self> {
        if let Some(error) = device.and_then(|device| Devices::find().open(device).err()) {
            sutura_skip::skipped(sutura_skip::Need::Devices, error);
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let artifact = folder.path().join(format!("{target}.sutura"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/{model}.mlir"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
        let done = command.arg("compile").arg(source).args(["--target", target, "-o"]).arg(&artifact).output().unwrap();
        assert!(done.status.success(), "{model} for {target}: {}", String::from_utf8_lossy(&done.stderr));
        Some(Self { folder, artifact, on_processor: device.is_none() })
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
        command.current_dir(self.folder.path()).env("NO_COLOR", "1").arg("run").arg(&self.artifact).args(args);
        command.output().unwrap()
    }

    fn succeeds(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// Fails alike at every number of threads, where that is something to choose.
    fn fails(&self, args: &[&str], words: &str) {
        let threads: &[&[&str]] = if self.on_processor { &[&["--threads", "1"], &["--threads", "2"]] } else { &[&[]] };
        for threads in threads {
            let output = self.run(&[args, threads].concat());
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{}: {args:?}: {text}", self.artifact.display());
            assert!(text.contains(words), "{}: {args:?}: no {words:?} in\n{text}", self.artifact.display());
        }
    }
}

/// An index that is none is an error of the input, told by the lowest element whatever the threads do.
#[test]
fn wrong_indices_are_told_with_their_place() {
    for model in Compiled::for_all("embedding") {
        let good = ["-i", "table=2x4xf32=1,2,3,4,5,6,7,8", "-i", "ids=3xi32=-1,0,1"];
        let text = model.succeeds(&good);
        assert!(text.contains("[10.0, 12.0, 14.0, 16.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0]"), "{text}");
        for (table, ids, words) in [
            ("table=2x4xf32=1", "ids=3xi32=0,1,2", "element 2 of its indices is 2, which is not in [-2, 1]"),
            ("table=2x4xf32=1", "ids=1000xi32=-3", "element 0 of its indices is -3, which is not in [-2, 1]"),
            ("table=2x4xf32=1", "ids=4xi32=1,-2147483648,5,9", "element 1 of its indices is -2147483648,"),
            (
                "table=0x4xf32=1",
                "ids=1xi32=0",
                "element 0 of its indices is 0, and the dimension that it indexes is empty",
            ),
        ] {
            model.fails(&["-i", table, "-i", ids], &format!("graph.gather 'words': {words}"));
        }
        model.succeeds(&["-i", "table=0x4xf32=1", "-i", "ids=0xi32=1"]);
    }
}

/// One kernel for both lookups: each launch says what its own is called.
#[test]
fn launches_of_one_kernel_tell_their_own_names() {
    for model in Compiled::for_all("lookups") {
        let tables = |v: i64, w: i64| [format!("table={v}x4xf32=1"), format!("other={w}x4xf32=1")];
        let args = |tables: &[String; 2]| {
            ["-i", &tables[0], "-i", &tables[1], "-i", "ids=1xi32=2"].map(str::to_owned).to_vec()
        };
        let listed = |args: &[String], words: Option<&str>| {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            match words {
                Some(words) => model.fails(&args, words),
                None => drop(model.succeeds(&args)),
            }
        };
        listed(&args(&tables(3, 3)), None);
        listed(
            &args(&tables(2, 3)),
            Some("graph.gather 'words': element 0 of its indices is 2, which is not in [-2, 1]"),
        );
        listed(
            &args(&tables(3, 2)),
            Some("graph.gather 'places': element 0 of its indices is 2, which is not in [-2, 1]"),
        );
    }
}

/// Lanes behind the last element of a vector are not divided by what they hold.
#[test]
fn integers_are_divided_at_any_length() {
    for model in Compiled::for_all("divide") {
        for n in [1, 5, 16, 21] {
            let (x, y) = (format!("x={n}xi32=7"), format!("y={n}xi32=2"));
            model.succeeds(&["-i", &x, "-i", &y, "--expected", &format!("{n}xi32=4")]);
        }
        // The quotient that does not fit is no error.
        let least = ["-i", "x=5xi32=-2147483648", "-i", "y=5xi32=-1", "--expected", "5xi32=-2147483648"];
        model.succeeds(&least);
    }
}

/// A division by zero is an error of the input, told by the lowest element whatever the threads do.
#[test]
fn divisions_by_zero_are_told_with_their_place() {
    for model in Compiled::for_all("divide") {
        // Fibers check every access, which takes time.
        let many = if model.artifact.ends_with("cpu_fibers.sutura") { 4_000 } else { 400_000 };
        for (n, at) in [(1, vec![0]), (21, vec![20]), (21, vec![17, 3]), (many, vec![many - 1, many / 5, many / 2])] {
            let write = |name: &str, of: &dyn Fn(usize) -> i32| {
                let numbers: Vec<i32> = (0..n).map(of).collect();
                let tensor = Tensor::from_slice(&[n as i64], &numbers).unwrap();
                npy::write(model.folder.path().join(name), &tensor).unwrap();
            };
            write("x.npy", &|_| 7);
            write("y.npy", &|i| if at.contains(&i) { 0 } else { 3 });
            let place = at.iter().min().unwrap();
            let words = format!("graph.compute '%r': divides by zero at element {place}");
            model.fails(&["-i", "x=@x.npy", "-i", "y=@y.npy"], &words);
        }
    }
}
