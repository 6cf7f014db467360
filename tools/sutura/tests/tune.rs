//! `sutura compile --tune`: choices that are measured once, and kept.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use sutura_runtime::device::Devices;
use sutura_runtime::{Model, Tensor};

fn sutura(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.current_dir(folder).args(args).env("NO_COLOR", "1");
    command.output().expect("the tool was built")
}

/// Compiles `m.mlir`; what is said on stderr.
fn compiles(folder: &Path, args: &[&str]) -> String {
    let told = if args.contains(&"-q") { &[][..] } else { &["-v"] };
    let output = sutura(folder, &[&["compile", "m.mlir", "--tune", "--tune-cache=c.json"], told, args].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{args:?}\n{said}");
    said
}

/// The same, which must fail with this exit code and these words before any stage.
fn refuses(folder: &Path, args: &[&str], code: i32, words: &str) {
    let output = sutura(folder, &[&["compile", "m.mlir"], args].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{said}");
    assert!(said.contains(words) && !said.contains("stitch"), "{args:?}: no {words:?} in\n{said}");
}

/// A product of 48 columns with a constant, and one of an input.
fn folder() -> tempfile::TempDir {
    let row = |i: i32| (0..48).map(|j| format!("{}.5", (i * 7 + j * 3) % 11 - 5)).collect::<Vec<_>>().join(", ");
    let rows: Vec<String> = (0..48).map(|i| format!("[{}]", row(i))).collect();
    let m = "tensor<?x48xf32, #dyn.shape<[M, 48]>>";
    let product = |result: &str, left: &str, right: &str| {
        format!(
            "  {result} = graph.compute ins({left}, {right} : {m}, tensor<48x48xf32>) -> {m} {{
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  }} {{
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }}\n"
        )
    };
    let text = format!(
        "func.func @products(%x: {m}, %w: tensor<48x48xf32>) -> {m} {{
  %M = dyn.symbol \"M\" {{range = [0, 4096], likely = [120]}} : index
  %v = graph.constant dense<[{}]> : tensor<48x48xf32>\n{}{}  return %y : {m}\n}}\n",
        rows.join(", "),
        product("%h", "%x", "%v"),
        product("%y", "%h", "%w"),
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.mlir"), text).unwrap();
    folder
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn cache(folder: &Path) -> Value {
    serde_json::from_str(&read(folder, "c.json")).unwrap()
}

/// The schedules that were measured of each region of the only machine.
fn schedules(cache: &Value) -> Vec<Vec<String>> {
    let kernels = cache["machines"][0]["kernels"].as_object().unwrap();
    let schedules = |entry: &Value| entry["nanoseconds"].as_object().unwrap().keys().cloned().collect();
    kernels.iter().filter(|(key, _)| !key.starts_with("plan ")).map(|(_, entry)| schedules(entry)).collect()
}

/// Changes the cache, and writes it.
fn change(folder: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = cache(folder);
    change(&mut value);
    std::fs::write(folder.join("c.json"), value.to_string()).unwrap();
}

/// Says of all entries for schedules, or for plans, that this one was taken.
fn order_of(folder: &Path, plans: bool, taken: &str) {
    change(folder, |cache| {
        let kernels = cache["machines"][0]["kernels"].as_object_mut().unwrap();
        let wanted = kernels.iter_mut().filter(|(key, _)| key.starts_with("plan ") == plans);
        wanted.for_each(|(_, entry)| entry["taken"] = taken.into());
    });
}

fn order(folder: &Path, schedule: &str) {
    order_of(folder, false, schedule);
}

#[test]
fn what_was_measured_is_not_measured_again() {
    let folder = folder();
    let folder = folder.path();
    let said = compiles(folder, &["-o", "a.sutura", "--remarks=a.txt"]);
    assert!(said.contains("tune       2 measured, 0 known before"), "{said}");
    let remarks = read(folder, "a.txt");
    let tuned: Vec<&str> = remarks.lines().filter(|l| l.contains("[tune, passed] takes the schedule")).collect();
    assert_eq!(tuned.len(), 2, "{remarks}");
    for remark in tuned {
        assert!(remark.contains("m.mlir:") && remark.contains("one thread at M=120:"), "{remark}");
        assert!(remark.contains("(predicted ") && remark.ends_with("; measured now"), "{remark}");
    }
    let first = read(folder, "c.json");
    assert!(schedules(&cache(folder)).iter().all(|all| all.len() > 1), "{first}");
    let said = compiles(folder, &["-o", "b.sutura", "--remarks=b.txt"]);
    assert!(said.contains("tune       0 measured, 2 known before"), "{said}");
    assert_eq!(read(folder, "b.txt").matches("; known from before").count(), 2);
    assert_eq!(read(folder, "c.json"), first);
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert!(bytes("a.sutura") == bytes("b.sutura"), "the same choices make the same artifact");
}

#[test]
fn kernels_have_the_schedules_of_the_cache() {
    let folder = folder();
    let folder = folder.path();
    let kernels = |name: &str| {
        compiles(folder, &["-q", "--emit=gir", "-o", name]);
        read(folder, name)
    };
    kernels("measured.mlir");
    let schedules = schedules(&cache(folder)).remove(0);
    let made: Vec<String> = schedules
        .iter()
        .map(|schedule| {
            order(folder, schedule);
            let text = kernels("ordered.mlir");
            if let Some(tile) = schedule.strip_prefix("tile=") {
                let extents = format!("[{}]", tile.replace('x', ", "));
                assert!(text.contains(&extents), "{schedule}: {text}");
            }
            text
        })
        .collect();
    assert!(made.windows(2).all(|pair| pair[0] != pair[1]), "{schedules:?}");
}

/// What is measured is a schedule as people write them: a file of it serves where nothing is measured.
#[test]
fn what_is_taken_can_be_saved_and_used_again() {
    let folder = folder();
    let folder = folder.path();
    compiles(folder, &["-q", "--emit=gir", "-o", "measured.mlir"]);
    for schedule in schedules(&cache(folder)).remove(0) {
        order(folder, &schedule);
        compiles(folder, &["-q", "--emit=schedule", "-o", "schedules.mlir"]);
        compiles(folder, &["-q", "--emit=gir", "-o", "tuned.mlir"]);
        let given = sutura(
            folder,
            &["compile", "m.mlir", "--emit=gir", "-o", "given.mlir", "--schedule=schedules.mlir", "--search=off"],
        );
        assert!(given.status.success(), "{schedule}: {}", String::from_utf8_lossy(&given.stderr));
        assert!(read(folder, "given.mlir") == read(folder, "tuned.mlir"), "{schedule}");
    }
}

#[test]
fn a_schedule_that_the_region_does_not_have_is_measured_anew() {
    let folder = folder();
    let folder = folder.path();
    compiles(folder, &["-q", "--emit=gir", "-o", "a.mlir"]);
    order(folder, "tile=5x5");
    let said = compiles(folder, &["--emit=gir", "-o", "b.mlir"]);
    assert!(said.contains("the cache says \"tile=5x5\" of the kernel blake3:"), "{said}");
    assert!(said.contains("2 measured, 0 known before"), "{said}");
    assert!(!read(folder, "c.json").contains("5x5"));
}

#[test]
fn choices_for_another_machine_are_left_alone() {
    let folder = folder();
    let folder = folder.path();
    compiles(folder, &["-q", "--emit=gir", "-o", "a.mlir"]);
    for (field, words) in [
        ("name", "2 choices for another machine (other, "),
        ("compiler", "for another version of sutura"),
        ("description", "for other numbers of the machine"),
        ("features", "for other features of the machine"),
    ] {
        change(folder, |cache| {
            cache["machines"].as_array_mut().unwrap().truncate(1);
            cache["machines"][0]["machine"][field] = "other".into();
        });
        let said = compiles(folder, &["--emit=gir", "-o", "b.mlir"]);
        assert!(said.contains(words) && said.contains("not used"), "{field}: {said}");
        assert!(said.contains("2 measured, 0 known before"), "{field}: {said}");
        assert_eq!(cache(folder)["machines"].as_array().unwrap().len(), 2, "{field}");
        // What is left is that of this machine.
        change(folder, |cache| {
            cache["machines"].as_array_mut().unwrap().retain(|held| held["machine"][field] != "other");
        });
    }
}

#[test]
fn a_cache_that_is_none_is_refused_and_stays_as_it_is() {
    let folder = folder();
    let folder = folder.path();
    let machine = r#"{"name":"a","triple":"b","features":"c","description":"d","compiler":"e"}"#;
    let held = format!(r#"{{"machine":{machine},"kernels":{{}}}}"#);
    for (text, words) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{\"format\": \"sutura-tune\", \"ver", "at line 1 column"),
        ("[1]", "it does not say that its format is \"sutura-tune\""),
        (r#"{"format":"sutura-tune","version":0}"#, "it is of version 0, and this sutura reads and writes version 4"),
        (r#"{"format":"sutura-tune"}"#, "it is of version null"),
        (r#"{"format":"sutura-tune","version":4,"machines":[],"more":1}"#, "unknown field `more`"),
        (
            &format!(r#"{{"format":"sutura-tune","version":4,"machines":[{held},{held}]}}"#),
            "it lists the machine `a` twice",
        ),
    ] {
        std::fs::write(folder.join("c.json"), text).unwrap();
        refuses(folder, &["-o", "a.sutura", "--tune", "--tune-cache=c.json"], 1, words);
        refuses(folder, &["-o", "a.sutura", "--tune", "--tune-cache=c.json"], 1, "`c.json` cannot be used as a cache");
        assert_eq!(read(folder, "c.json"), text);
    }
}

#[test]
fn what_cannot_be_tuned_is_refused_before_the_work() {
    let folder = folder();
    let folder = folder.path();
    std::fs::create_dir(folder.join("taken")).unwrap();
    let out = |more: &[&'static str]| [&["-o", "a.sutura"], more].concat();
    refuses(folder, &out(&["--tune", "--tune-cache=no/where.json"]), 5, "there is no folder `no`");
    refuses(folder, &out(&["--tune", "--tune-cache=taken"]), 5, "`taken` is a folder");
    refuses(folder, &out(&["--tune", "--tune-cache=a.sutura"]), 2, "two things would be written to `a.sutura`");
    refuses(folder, &out(&["--tune", "--tune-cache=-"]), 2, "not to stdout");
    refuses(folder, &out(&["--tune-cache=c.json"]), 2, "--tune");
    refuses(
        folder,
        &out(&["--tune", "--target=aarch64"]),
        2,
        "whose architecture is x86_64, and the target is `aarch64`",
    );
    refuses(folder, &out(&["--tune", "--tune-threads=0"]), 2, "0 is not in 1..=1024");
    refuses(folder, &out(&["--tune-threads=2"]), 2, "--tune");
    if Devices::find().open("cuda").is_err() {
        refuses(folder, &out(&["--tune", "--target=cuda:sm_80"]), 2, "--tune measures on a device that runs `sm_80`: ");
    }
    refuses(folder, &["--tune", "--emit=fusion", "-o", "f.mlir"], 2, "--emit stops before that");
    let shown = sutura(folder, &["target", "show", "aarch64"]);
    std::fs::write(folder.join("other.mlir"), shown.stdout).unwrap();
    let args = out(&["--tune", "--target-file=other.mlir"]);
    refuses(folder, &args, 2, "--tune measures on this machine, whose architecture is x86_64");
    refuses(folder, &out(&["--tune-sizes=M=3"]), 2, "--tune");
    refuses(folder, &out(&["--tune", "--tune-sizes=M"]), 2, "expected NAME=VALUE");
    let mut left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["m.mlir", "other.mlir", "taken"]);
}

/// A device of the processor's, which every machine has.
#[test]
fn devices_are_measured_too() {
    let folder = squares();
    let folder = folder.path();
    let said = compiles(folder, &["-o", "a.sutura", "--remarks=a.txt", "--target=cpu_fibers"]);
    assert!(said.contains("tune       1 measured, 0 known before"), "{said}");
    let remarks = read(folder, "a.txt");
    assert_eq!(remarks.matches("; the device ").count(), 1, "{remarks}");
    let name = cache(folder)["machines"][0]["machine"]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("cpu_fibers on "), "{name}");
    let said = compiles(folder, &["-o", "b.sutura", "--target=cpu_fibers"]);
    assert!(said.contains("tune       0 measured, 1 known before"), "{said}");
}

#[test]
fn threads_have_choices_of_their_own() {
    let folder = folder();
    let folder = folder.path();
    compiles(folder, &["-q", "--emit=gir", "-o", "a.mlir"]);
    let said = compiles(folder, &["--emit=gir", "-o", "b.mlir", "--tune-threads=2", "--remarks=b.txt"]);
    assert!(said.contains("tune       2 measured, 0 known before"), "{said}");
    assert_eq!(read(folder, "b.txt").matches("; 2 threads at M=120: ").count(), 2);
    let said = compiles(folder, &["--emit=gir", "-o", "c.mlir", "--tune-threads=2"]);
    assert!(said.contains("tune       0 measured, 2 known before"), "{said}");
}

#[test]
fn sizes_to_measure_at_are_those_of_the_model() {
    let folder = folder();
    let folder = folder.path();
    let sizes = |value: &str| {
        let flag = format!("--tune-sizes=M={value}");
        compiles(folder, &["--emit=gir", "-o", "a.mlir", "--remarks=a.txt", &flag])
    };
    // Other sizes are another measurement, which does not take the place of the first.
    for (value, words) in [("3", "2 measured, 0 known"), ("40", "2 measured, 0 known"), ("3", "0 measured, 2 known")] {
        let said = sizes(value);
        assert!(said.contains(words), "{value}: {said}");
        assert_eq!(read(folder, "a.txt").matches(&format!("one thread at M={value}: ")).count(), 2);
    }
    assert_eq!(schedules(&cache(folder)).len(), 4);
    for (given, words) in [
        ("K=3", "--tune-sizes gives `K`, which is no size of the model"),
        ("M=5000", "--tune-sizes gives `M` as 5000, but it is 0 to 4096"),
    ] {
        let output = sutura(folder, &["compile", "m.mlir", "-o", "b.sutura", "--tune", "--tune-sizes", given]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(words), "{said}");
    }
}

/// Squares of the elements of a matrix.
fn squares() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ty = "tensor<?x?xf32, #dyn.shape<[M, N]>>";
    let text = format!(
        "func.func @f(%x: {ty}) -> {ty} {{
  %M = dyn.symbol \"M\" {{likely = [8]}} : index
  %N = dyn.symbol \"N\" {{likely = [5000]}} : index
  %y = graph.compute ins(%x : {ty}) -> {ty} {{
    iterators = #graph.iterators<[parallel, parallel]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
  }} {{
  ^bb0(%a: f32):
    %p = arith.mulf %a, %a : f32
    graph.yield %p : f32
  }}
  return %y : {ty}\n}}\n"
    );
    std::fs::write(folder.path().join("m.mlir"), text).unwrap();
    folder
}

#[test]
fn rows_have_schedules_to_choose_from() {
    let folder = squares();
    let folder = folder.path();
    compiles(folder, &["-o", "a.sutura", "--remarks=a.txt"]);
    let remarks = read(folder, "a.txt");
    let tuned = remarks.lines().find(|l| l.contains("[tune, passed] takes the schedule")).expect("a remark");
    for schedule in ["usual ", "columns=1024 "] {
        assert!(tuned.contains(schedule), "{tuned}");
    }
}

/// A product and the hyperbolic tangent of each number of it, in `m.mlir`: as much to compute in one kernel as in two.
fn activated() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let m = "tensor<?x64xf32, #dyn.shape<[M, 64]>>";
    let text = format!(
        "func.func @f(%x: {m}, %w: tensor<64x64xf32>) -> {m} {{
  %M = dyn.symbol \"M\" {{range = [1, 4096], likely = [24]}} : index
  %h = graph.compute ins(%x, %w : {m}, tensor<64x64xf32>) -> {m} {{
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  }} {{
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }}
  %y = graph.compute ins(%h : {m}) -> {m} {{
    iterators = #graph.iterators<[parallel, parallel]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
  }} {{
  ^bb0(%a: f32):
    %t = math.tanh %a : f32
    graph.yield %t : f32
  }}
  return %y : {m}\n}}\n"
    );
    std::fs::write(folder.path().join("m.mlir"), text).unwrap();
    folder
}

/// What an artifact of it computes.
fn numbers(artifact: &Path, rows: usize) -> Vec<f32> {
    let tensor = |rows: usize, factor: usize| {
        let values: Vec<f32> = (0..rows * 64).map(|i| (i * factor % 23) as f32 / 32.0 - 0.3).collect();
        Tensor::from_slice(&[rows as i64, 64], &values).unwrap()
    };
    let outputs = Model::load(artifact).unwrap().run(&[tensor(rows, 7), tensor(64, 5)]).unwrap();
    outputs[0].as_slice::<f32>().unwrap().to_vec()
}

const CUT: &str = "2 kernels (0 | 1)";

#[test]
fn plans_are_measured_before_schedules() {
    let folder = activated();
    let folder = folder.path();
    let said = compiles(folder, &["-o", "a.sutura", "--remarks=a.txt"]);
    assert!(said.contains("plans      1 measured, 0 known before, "), "{said}");
    let remarks = read(folder, "a.txt");
    let told = remarks.lines().find(|l| l.contains("[tune, passed] takes the plan")).expect("a remark");
    assert!(told.contains(" of 2; one thread at M=24: ") && told.ends_with("; measured now"), "{told}");
    assert!(
        told.contains("one kernel ") && told.contains(&format!("{CUT} ")) && told.contains(" (predicted "),
        "{told}"
    );
    let first = read(folder, "c.json");
    let said = compiles(folder, &["-o", "b.sutura", "--remarks=b.txt"]);
    assert!(said.contains("plans      0 measured, 1 known before, "), "{said}");
    assert!(read(folder, "b.txt").contains("[tune, passed] takes the plan"));
    assert_eq!(read(folder, "c.json"), first);
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert!(bytes("a.sutura") == bytes("b.sutura"), "the same choices make the same artifact");
    // Who wants a kernel for each operation gets that.
    let said = compiles(folder, &["-o", "c.sutura", "--no-fusion"]);
    assert!(!said.contains("plans      "), "{said}");
}

/// Whatever is taken, the artifact computes what the one that was not tuned does, and a file of it makes the same kernels.
#[test]
fn the_plan_that_is_taken_is_made_and_saved() {
    let folder = activated();
    let folder = folder.path();
    compiles(folder, &["-q", "--emit=gir", "-o", "measured.mlir"]);
    let run = |args: &[&str]| {
        let output = sutura(folder, args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["compile", "m.mlir", "-o", "plain.sutura"]);
    for (plan, changed) in [("one kernel", "0 changed"), (CUT, "1 changed")] {
        order_of(folder, true, plan);
        let said = compiles(folder, &["-o", "tuned.sutura", "--report=r.html"]);
        assert!(said.contains(&format!("plans      0 measured, 1 known before, {changed}")), "{said}");
        assert_eq!(read(folder, "r.html").contains("measured to be faster apart"), plan == CUT);
        for rows in [1, 24, 37] {
            let of = |name: &str| numbers(&folder.join(name), rows);
            let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5;
            let (plain, tuned) = (of("plain.sutura"), of("tuned.sutura"));
            assert!(plain.len() == 64 * rows && plain.iter().zip(&tuned).all(near), "{plan} at {rows}");
        }
        compiles(folder, &["-q", "--emit=gir", "-o", "tuned.mlir"]);
        compiles(folder, &["-q", "--emit=schedule", "-o", "s.mlir"]);
        assert_eq!(read(folder, "s.mlir").contains("schedule.plan ["), plan == CUT);
        run(&["compile", "m.mlir", "--emit=gir", "-o", "given.mlir", "--schedule=s.mlir", "--search=off"]);
        assert!(read(folder, "given.mlir") == read(folder, "tuned.mlir"), "{plan}");
        // What was given is written again, with its steps.
        run(&["compile", "m.mlir", "--emit=schedule", "-o", "s2.mlir", "--schedule=s.mlir"]);
        assert_eq!(read(folder, "s2.mlir"), read(folder, "s.mlir"));
        // Schedules that are measured decide how many versions a kernel has, so kernels are told apart by their bodies.
        let tuned = read(folder, "tuned.mlir");
        let multiplies = |body: &str| ["gir.contract", "gir.intrinsic", "\"mul\""].iter().any(|op| body.contains(op));
        let mut alone = tuned.split("gir.kernel").filter(|body| body.contains("\"tanh\"") && !multiplies(body));
        assert_eq!(alone.next().is_some(), plan == CUT, "{plan}\n{tuned}");
    }
}

/// Of a program whose operations are regions of their own.
#[test]
fn regions_become_one_where_that_is_faster() {
    let folder = activated();
    let folder = folder.path();
    let run = |args: &[&str]| {
        let output = sutura(folder, args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {said}");
        said
    };
    run(&["compile", "m.mlir", "--no-fusion", "--emit=fusion", "-o", "apart.mlir"]);
    std::fs::rename(folder.join("m.mlir"), folder.join("graph.mlir")).unwrap();
    std::fs::rename(folder.join("apart.mlir"), folder.join("m.mlir")).unwrap();
    // The one that they become could be cut, which is measured once they do.
    for _ in 0..2 {
        compiles(folder, &["-q", "--emit=gir", "-o", "measured.mlir"]);
        order_of(folder, true, "one kernel");
    }
    let said = compiles(folder, &["-o", "tuned.sutura", "--remarks=a.txt"]);
    assert!(said.contains("plans      0 measured, 2 known before, 1 changed"), "{said}");
    assert!(read(folder, "a.txt").contains(CUT), "{}", read(folder, "a.txt"));
    run(&["compile", "m.mlir", "-o", "plain.sutura"]);
    let (plain, tuned) = (numbers(&folder.join("plain.sutura"), 37), numbers(&folder.join("tuned.sutura"), 37));
    assert!(plain.len() == 64 * 37 && plain.iter().zip(&tuned).all(|(a, b)| (a - b).abs() <= 1e-5));
    compiles(folder, &["-q", "--emit=gir", "-o", "tuned.mlir"]);
    compiles(folder, &["-q", "--emit=schedule", "-o", "s.mlir"]);
    let said = run(&["compile", "m.mlir", "--emit=gir", "-o", "given.mlir", "--schedule=s.mlir", "--search=off"]);
    assert!(said.contains("1 steps to the plan of `s.mlir`"), "{said}");
    assert!(read(folder, "given.mlir") == read(folder, "tuned.mlir"));
    // Where operations are stitched already there is nothing to join.
    let said = run(&["compile", "graph.mlir", "--emit=gir", "-o", "other.mlir", "--schedule=s.mlir"]);
    assert!(said.contains("the regions of step 1 of its plan are not there, or compute something else"), "{said}");
}

#[test]
fn a_plan_that_there_is_not_is_measured_anew() {
    let folder = activated();
    let folder = folder.path();
    compiles(folder, &["-q", "--emit=gir", "-o", "a.mlir"]);
    order_of(folder, true, "7 kernels");
    let said = compiles(folder, &["--emit=gir", "-o", "b.mlir"]);
    assert!(said.contains("the cache says \"7 kernels\" of the plan blake3:"), "{said}");
    assert!(said.contains("plans      1 measured, 0 known before"), "{said}");
    assert!(!read(folder, "c.json").contains("7 kernels"));
}

#[test]
fn plans_are_measured_on_devices_and_threads() {
    let folder = activated();
    let folder = folder.path();
    for (flag, place) in [("--tune-threads=2", "2 threads at M=24: "), ("--target=cpu_fibers", "the device ")] {
        let said = compiles(folder, &["-o", "a.sutura", "--remarks=a.txt", flag]);
        assert!(said.contains("plans      1 measured, 0 known before"), "{said}");
        let remarks = read(folder, "a.txt");
        let told = remarks.lines().find(|l| l.contains("[tune, passed] takes the plan")).expect("a remark");
        assert!(told.contains(place), "{told}");
    }
}
