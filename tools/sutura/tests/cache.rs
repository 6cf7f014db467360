//! The cache of what was compiled: what it gives is what compiling gives, whatever happens to it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

/// A folder with a cache of its own.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn cache(&self) -> PathBuf {
        self.path("cache/sutura")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
        command.args(args).current_dir(self.0.path());
        command
            .env_remove("SUTURA_CACHE_DIR")
            .env_remove("SUTURA_CACHE_SIZE")
            .env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    /// What is said.
    fn says(&self, args: &[&str]) -> String {
        said(&self.command(args).output().unwrap())
    }

    /// Compiles a model to `a.sutura`: its bytes, and what is said.
    fn compile(&self, model: &Path, more: &[&str]) -> (Vec<u8>, String) {
        let said = self.says(&[&["compile", model.to_str().unwrap(), "-o", "a.sutura", "-v"], more].concat());
        (fs::read(self.path("a.sutura")).unwrap(), said)
    }

    /// The files of the cache that are called so, sorted.
    fn entries(&self, kind: &str) -> Vec<PathBuf> {
        let Ok(listed) = fs::read_dir(self.cache()) else { return Vec::new() };
        let mut found: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
        found.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with(kind));
        found.sort();
        found
    }
}

fn said(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Whether the program was known.
fn is_hit(said: &str) -> bool {
    let stage = |name: &str| said.lines().any(|line| line.starts_with(name));
    assert_ne!(stage("cache "), stage("write "), "{said}");
    stage("cache ")
}

#[test]
fn hits_and_misses_give_the_same_bytes_at_any_number_of_threads() {
    let place = Place::new();
    let rows = model("rows.mlir");
    let (plain, said) = place.compile(&rows, &["--no-cache", "--threads", "1"]);
    assert!(!is_hit(&said) && place.entries("").is_empty());
    let (first, said) = place.compile(&rows, &["--threads", "2"]);
    assert!(!is_hit(&said) && said.contains("the cache had 0 of"), "{said}");
    let (second, said) = place.compile(&rows, &[]);
    assert!(is_hit(&said), "{said}");
    assert!(plain == first && first == second);
    // The program is forgotten, its kernels are not.
    place.entries("program").iter().for_each(|path| fs::remove_file(path).unwrap());
    let (third, said) = place.compile(&rows, &[]);
    let batches = place.entries("batch").len();
    assert!(batches > 0 && said.contains(&format!("the cache had {batches} of {batches} batches")), "{said}");
    assert!(third == plain);
    // Nobody else may read or write it: what is in it is run.
    assert_eq!(fs::metadata(place.cache()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn other_flags_and_models_miss() {
    let place = Place::new();
    let rows = model("rows.mlir");
    place.compile(&rows, &[]);
    let others: [&[&str]; 6] = [
        &["--no-fusion"],
        &["--fast-math"],
        &["--precision=bf16"],
        &["--target", "x86_64"],
        &["--search=off"],
        &["--dim", "N=1..64"],
    ];
    for more in others {
        let mut command = place.command(&[&["compile", rows.to_str().unwrap(), "-o", "b.sutura", "-v"], more].concat());
        let output = command.output().unwrap();
        // Some of these are refused for this model or machine; none is taken from the cache.
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.lines().any(|line| line.starts_with("cache ")), "{more:?}: {said}");
    }
    let changed = place.path("rows.mlir");
    fs::write(&changed, format!("{}// changed\n", fs::read_to_string(&rows).unwrap())).unwrap();
    let (_, said) = place.compile(&changed, &[]);
    assert!(!is_hit(&said));
    let (_, said) = place.compile(&rows, &["--search", "predict", "--precision", "full"]);
    assert!(is_hit(&said), "what is the default is no other flag: {said}");
}

#[test]
fn a_damaged_entry_is_told_of_and_made_again() {
    let place = Place::new();
    let rows = model("rows.mlir");
    let (whole, _) = place.compile(&rows, &[]);
    let damages: [fn(&mut Vec<u8>); 4] = [
        // Any part: what it is, whose it is, its hash, what it holds.
        |bytes| bytes[3] ^= 1,
        |bytes| bytes[20] ^= 1,
        |bytes| *bytes.last_mut().unwrap() ^= 1,
        |bytes| bytes.truncate(bytes.len() / 2),
    ];
    for damage in damages.iter().chain([&((|bytes| bytes.clear()) as fn(&mut Vec<u8>))]) {
        for path in place.entries("") {
            let mut bytes = fs::read(&path).unwrap();
            damage(&mut bytes);
            fs::write(&path, bytes).unwrap();
        }
        let (again, said) = place.compile(&rows, &[]);
        assert!(!is_hit(&said) && again == whole);
        let warnings = said.matches("is damaged: it is not used, and made again").count();
        assert_eq!(warnings, place.entries("").len(), "{said}");
        let (again, said) = place.compile(&rows, &[]);
        assert!(is_hit(&said) && again == whole);
    }
}

#[test]
fn an_entry_under_the_name_of_another_is_none() {
    let place = Place::new();
    let (rows, product) = (model("rows.mlir"), model("product.mlir"));
    let (of_rows, _) = place.compile(&rows, &[]);
    let of_rows_entry = place.entries("program").remove(0);
    let (of_product, _) = place.compile(&product, &[]);
    let mut both = place.entries("program");
    both.retain(|path| *path != of_rows_entry);
    fs::copy(&both[0], &of_rows_entry).unwrap();
    let (again, said) = place.compile(&rows, &[]);
    assert!(said.contains("is damaged") && again == of_rows && again != of_product, "{said}");
}

#[test]
fn without_a_place_to_write_models_compile() {
    let place = Place::new();
    let rows = model("rows.mlir");
    let (whole, _) = place.compile(&rows, &["--no-cache"]);
    // A file where the folder is to be.
    fs::write(place.path("cache"), "").unwrap();
    let (bytes, said) = place.compile(&rows, &[]);
    assert!(bytes == whole && said.contains("nothing is kept in the cache"), "{said}");
    assert_eq!(said.matches("nothing is kept in the cache").count(), 1, "{said}");
    let quiet = place.says(&["compile", rows.to_str().unwrap(), "-o", "a.sutura"]);
    assert_eq!(quiet, "", "it is no warning");
    fs::remove_file(place.path("cache")).unwrap();
    // A disk without place.
    let mut full = place.command(&["compile", rows.to_str().unwrap(), "-o", "a.sutura", "-v"]);
    if Path::new("/dev/full").exists() {
        fs::create_dir_all(place.path("cache")).unwrap();
        std::os::unix::fs::symlink("/dev/full", place.cache()).unwrap();
        let output = said_of(&mut full);
        assert!(output.contains("nothing is cached: `") && output.contains("is no folder"), "{output}");
        assert!(fs::read(place.path("a.sutura")).unwrap() == whole);
    }
}

fn said_of(command: &mut Command) -> String {
    said(&command.output().unwrap())
}

#[test]
fn a_folder_that_others_may_write_to_is_not_used() {
    let place = Place::new();
    let rows = model("rows.mlir");
    place.compile(&rows, &[]);
    fs::set_permissions(place.cache(), fs::Permissions::from_mode(0o777)).unwrap();
    let (_, said) = place.compile(&rows, &[]);
    assert!(!is_hit(&said) && said.contains("warning: nothing is cached: others may write to `"), "{said}");
}

#[test]
fn the_environment_says_where_and_how_much() {
    let place = Place::new();
    let rows = model("rows.mlir");
    let args = ["compile", rows.to_str().unwrap(), "-o", "a.sutura", "-v"];
    let own = place.path("own");
    said_of(place.command(&args).env("SUTURA_CACHE_DIR", &own));
    assert!(place.entries("").is_empty() && fs::read_dir(&own).unwrap().count() > 1);
    let none = said_of(place.command(&args).env("SUTURA_CACHE_DIR", ""));
    assert!(none.contains("nothing is cached: SUTURA_CACHE_DIR is empty") && place.entries("").is_empty(), "{none}");
    let impossible = said_of(place.command(&args).env("SUTURA_CACHE_DIR", "/dev/null/own"));
    let why = "warning: nothing is cached: SUTURA_CACHE_DIR: cannot make the folder `/dev/null/own`";
    assert!(impossible.contains(why), "{impossible}");
    let wrong = said_of(place.command(&args).env("SUTURA_CACHE_SIZE", "much"));
    assert!(wrong.contains("warning: nothing is cached: SUTURA_CACHE_SIZE: "), "{wrong}");
    let relative = said_of(place.command(&args).env("XDG_CACHE_HOME", "here").env("HOME", place.path("home")));
    assert!(!is_hit(&relative) && place.path("home/.cache/sutura").is_dir() && !place.path("here").exists());
    let nowhere = said_of(place.command(&args).env_remove("XDG_CACHE_HOME").env_remove("HOME"));
    assert!(nowhere.contains("neither XDG_CACHE_HOME nor HOME is an absolute path"), "{nowhere}");
}

#[test]
fn what_was_not_used_for_longest_goes_first() {
    let place = Place::new();
    let (rows, product) = (model("rows.mlir"), model("product.mlir"));
    place.compile(&rows, &[]);
    let of_rows = place.entries("");
    let size = |paths: &[PathBuf]| paths.iter().map(|path| fs::metadata(path).unwrap().len()).sum::<u64>();
    // All of it, long ago; somebody began to write another one then.
    let unfinished = place.cache().join(".sutura-left");
    fs::write(&unfinished, "half").unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(1_000_000);
    let times = fs::FileTimes::new().set_modified(long_ago).set_accessed(long_ago);
    for path in of_rows.iter().chain([&unfinished]) {
        fs::File::options().write(true).open(path).unwrap().set_times(times).unwrap();
    }
    let limit = (size(&of_rows) * 3 / 2).to_string();
    let args = ["compile", product.to_str().unwrap(), "-o", "b.sutura"];
    said_of(place.command(&args).env("SUTURA_CACHE_SIZE", &limit));
    let left = place.entries("");
    assert!(size(&left) <= limit.parse().unwrap() && !unfinished.exists());
    assert!(left.iter().filter(|path| of_rows.contains(path)).count() < of_rows.len());
    let (_, said) = place.compile(&product, &[]);
    assert!(is_hit(&said), "what was made last stays: {said}");
}

#[test]
fn processes_share_a_cache() {
    let place = Place::new();
    let rows = model("rows.mlir");
    let (whole, _) = place.compile(&rows, &["--no-cache"]);
    let start = |number: usize| {
        let output = format!("{number}.sutura");
        let mut command = place.command(&["compile", rows.to_str().unwrap(), "-o", &output, "-q"]);
        (output, command.spawn().unwrap())
    };
    for (output, mut process) in (0..4).map(start).collect::<Vec<_>>() {
        assert!(process.wait().unwrap().success());
        assert!(fs::read(place.path(&output)).unwrap() == whole);
    }
    let (bytes, said) = place.compile(&rows, &[]);
    assert!(is_hit(&said) && bytes == whole);
    assert!(place.entries(".").is_empty());
}

#[test]
fn a_model_with_warnings_is_compiled_each_time_so_that_they_are_seen() {
    let place = Place::new();
    let path = place.path("warned.mlir");
    fs::write(&path, fs::read_to_string(model("rows.mlir")).unwrap()).unwrap();
    let args = ["compile", path.to_str().unwrap(), "-o", "a.sutura", "--likely", "nothing=3"];
    let once = place.command(&args).output().unwrap();
    let twice = place.command(&args).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&once.stderr), String::from_utf8_lossy(&twice.stderr));
}

#[test]
fn a_model_that_is_run_is_compiled_once() {
    let place = Place::new();
    let rows = model("rows.mlir");
    let run = ["run", rows.to_str().unwrap(), "-v"];
    let first = place.says(&run);
    assert!(!is_hit(&first), "{first}");
    assert_eq!(place.entries("program").len(), 1);
    let second = place.says(&run);
    assert!(is_hit(&second), "{second}");
}
