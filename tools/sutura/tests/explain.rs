//! What `sutura compile` says of its work: remarks, and the report.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sutura(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.current_dir(folder).args(args).env("NO_COLOR", "1");
    command.output().expect("the tool was built")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Compiles a model of `tests/data` to a stage; what it says on stderr.
fn compiles(folder: &Path, model: &str, args: &[&str]) -> String {
    let path = data(model);
    let output = sutura(folder, &[&["compile", path.to_str().unwrap()], args].concat());
    assert!(output.status.success(), "{args:?}\n{}", stderr(&output));
    stderr(&output)
}

/// The same, which must fail with this exit code and these words.
fn refuses(folder: &Path, model: &str, args: &[&str], code: i32, words: &str) -> String {
    let path = data(model);
    let output = sutura(folder, &[&["compile", path.to_str().unwrap()], args].concat());
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{text}");
    assert!(text.contains(words), "{args:?}: no {words:?} in\n{text}");
    text
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Names of the files in a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

const GIR: &[&str] = &["--emit", "gir", "-o", "gir.mlir"];

#[test]
fn remarks_say_what_each_pass_did_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let shown = compiles(folder.path(), "softmax_graph.mlir", &[GIR, &["-q", "--remarks"]].concat());
    let stitched = shown.lines().find(|l| l.contains("[stitch, passed]")).unwrap();
    assert!(stitched.contains("softmax_graph.mlir:7:"), "{stitched}");
    assert!(stitched.contains("a region of the family 'row' with 4 ops"), "{stitched}");
    assert!(shown.contains("[stitch, analysis] plan of @softmax: 1 region"), "{shown}");
    assert!(shown.contains("[convert-graph-to-gir, passed]"), "{shown}");
    // The same as text in a file, where stderr is left to other things.
    let quiet = compiles(folder.path(), "softmax_graph.mlir", &[GIR, &["-q", "--remarks=said.txt"]].concat());
    assert_eq!(quiet, "");
    assert_eq!(std::fs::read_to_string(folder.path().join("said.txt")).unwrap(), shown);
}

#[test]
fn remarks_in_json_are_those_of_sutura_opt() {
    let folder = tempfile::tempdir().unwrap();
    compiles(folder.path(), "softmax_graph.mlir", &[GIR, &["-q", "--remarks=said.json"]].concat());
    let text = std::fs::read_to_string(folder.path().join("said.json")).unwrap();
    let values: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let stitched = values.iter().find(|v| v["pass"] == "stitch" && v["kind"] == "passed").unwrap();
    assert_eq!(stitched["location"]["line"], 7);
    assert!(stitched["message"].as_str().unwrap().contains("'row'"));
    assert!(stitched["name"].is_null());
    // As messages of the tool they have a level as well.
    let args = [GIR, &["-q", "--remarks", "--message-format=json"]].concat();
    let lines = compiles(folder.path(), "softmax_graph.mlir", &args);
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["level"], "remark");
}

#[test]
fn remarks_that_cannot_be_written_are_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("taken")).unwrap();
    let args = |to: &'static str| [GIR, &[to]].concat();
    let model = "softmax_graph.mlir";
    let said = refuses(folder.path(), model, &args("--remarks=no/where.txt"), 5, "there is no folder `no`");
    assert!(!said.contains("stitch"), "{said}");
    refuses(folder.path(), model, &args("--remarks=taken"), 5, "`taken` is a folder");
    refuses(folder.path(), model, &args("--remarks=/proc/said.txt"), 5, "cannot write `/proc/said.txt`");
    assert_eq!(files(folder.path()), ["taken"]);
}

/// The page about a model of `tests/data`, compiled to an artifact.
fn page(folder: &Path, model: &str, args: &[&str]) -> String {
    let output = ["-q", "-o", "out.sutura", "--report", "out.html"];
    assert_eq!(compiles(folder, model, &[&output, args].concat()), "");
    std::fs::read_to_string(folder.join("out.html")).unwrap()
}

#[test]
fn a_report_shows_every_level_the_plan_and_what_kernels_cost() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(folder.path(), "softmax_graph.mlir", &["--report-sizes", "rows=4096,cols=1024"]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{page}");
    for level in ["graph", "dyn", "fusion", "gir", "mlir", "llvm"] {
        assert!(page.contains(&format!("<summary>{level} – ")), "{level}");
    }
    assert!(!page.contains("<summary>asm"), "nobody asked for it");
    // 16 MiB read, 16 MiB written: as formulas, and counted.
    assert!(page.contains("<code>4*cols*rows</code>") || page.contains("<code>4*rows*cols</code>"), "{page}");
    assert!(page.contains("32.0 MiB that must be moved"), "{page}");
    assert!(page.contains("given with --report-sizes"), "{page}");
    assert!(page.contains("version 1 of 2, taken") && page.contains("not taken at these sizes"), "{page}");
    assert!(page.contains("reduce max") && page.contains("subf, exp"), "{page}");
    assert!(page.contains("not measured"), "{page}");
    // The schedule that a rule wrote, its price, and that of the best other one.
    assert!(page.contains("by the rule row") && page.contains("#schedule.tree&lt;"), "{page}");
    assert!(page.contains("no other is known at these sizes"), "{page}");
    let others = self::page(folder.path(), "softmax_graph.mlir", &["--report-sizes", "rows=4,cols=100000"]);
    assert!(others.contains("predicted ") && others.contains("runner-up resident="), "{others}");
    // The planner's remark on the region, with what it costs.
    assert!(page.contains("plan of @softmax: 1 region"), "{page}");
    // Longer rows take the other version.
    let long = self::page(folder.path(), "softmax_graph.mlir", &["--report-sizes", "cols=500000", "--report-asm"]);
    assert!(long.contains("version 2 of 2, taken"), "{long}");
    assert!(long.contains("assumed: nothing is declared"), "{long}");
    assert!(long.contains("<summary>asm – assembly") && long.contains("vmulps"), "{long}");
}

#[test]
fn remarks_and_reports_name_operators_and_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(folder.path(), "named_softmax.mlir", &["--remarks=said.txt"]);
    let said = std::fs::read_to_string(folder.path().join("said.txt")).unwrap();
    let stitched = said.lines().find(|l| l.contains("[stitch, passed]")).unwrap_or_else(|| panic!("{said}"));
    assert!(stitched.starts_with("/layer/Softmax: remark:"), "{stitched}");
    assert!(stitched.ends_with("; it computes my_softmax '/layer/Softmax'"), "{stitched}");
    let expanded = said.lines().find(|l| l.contains("[expand-operators, passed]")).unwrap_or_else(|| panic!("{said}"));
    assert!(expanded.ends_with("@my_softmax is expanded once"), "{expanded}");
    assert!(
        page.contains("my_softmax '/layer/Softmax'") || page.contains("my_softmax &#39;/layer/Softmax&#39;"),
        "{page}"
    );
}

#[test]
fn a_report_holds_measured_times_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = ["--report-sizes", "rows=64,cols=100", "--report-measure", "--remarks=said.txt"];
    let page = page(folder.path(), "softmax_graph.mlir", &sizes);
    assert!(page.contains(" % of the limit") && page.contains("least of "), "{page}");
    assert!(!page.contains("not measured"), "the only launch that is taken was: {page}");
    let said = std::fs::read_to_string(folder.path().join("said.txt")).unwrap();
    let words = said.lines().find(|l| l.contains("[report, analysis] @")).unwrap_or_else(|| panic!("{said}"));
    assert!(words.contains(": predicted ") && words.contains(" us, measured "), "{words}");
    let on_fibers = ["--report-sizes", "rows=4,cols=100", "--report-measure", "--remarks=f.txt", "--target=cpu_fibers"];
    let page = self::page(folder.path(), "softmax_graph.mlir", &on_fibers);
    assert!(!page.contains("not measured"), "the only launch that is taken was: {page}");
    let said = std::fs::read_to_string(folder.path().join("f.txt")).unwrap();
    assert!(said.lines().any(|l| l.contains("[report, analysis] @") && l.contains(" on cpu-fibers), ")), "{said}");
    let args = ["-o", "a.mlir", "--emit=gir", "--report", "a.html", "--report-measure"];
    refuses(folder.path(), "softmax_graph.mlir", &args, 2, "--emit stops before there is one");
}

#[test]
fn a_profile_of_runs_shows_what_kernels_take() {
    let folder = tempfile::tempdir().unwrap();
    compiles(folder.path(), "softmax_graph.mlir", &["-q", "-o", "out.sutura"]);
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
        let args = [&["run", "out.sutura", "-i", "64x100xf32=0.5"], args].concat();
        command.current_dir(folder.path()).args(args).env("NO_COLOR", "1").output().unwrap()
    };
    let output = run(&["--profile", "--repeat", "3", "--threads", "1"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("least of 3 runs"), "{text}");
    let line = text.lines().find(|l| l.starts_with("softmax_row")).unwrap_or_else(|| panic!("{text}"));
    // Its name, one launch a run, two times and two percentages.
    assert_eq!(line.split_whitespace().nth(1), Some("1"), "{text}");
    assert!(line.matches('%').count() == 2 && line.ends_with("bandwidth"), "{text}");
    assert!(text.contains("kernel ") && text.contains("between launches"), "{text}");
    assert!(!String::from_utf8(run(&[]).stdout).unwrap().contains("between launches"));
    assert_eq!(run(&["--target-file=a.mlir"]).status.code(), Some(2), "only --profile compares");
    assert_eq!(run(&["--profile", "--target-file=a.mlir"]).status.code(), Some(5), "there is no such file");
}

#[test]
fn a_report_is_one_page_that_fetches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(folder.path(), "softmax_graph.mlir", &[]);
    assert!(page.contains("default-src 'none'"), "{page}");
    for outside in ["src=\"", "@import", "url(", "<link", "<iframe", " fetch(", ".fetch("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let links = page.match_indices("href=\"").map(|(at, found)| &page[at + found.len()..]);
    assert!(links.clone().count() > 4 && links.into_iter().all(|l| l.starts_with('#')), "links stay on the page");
    // Operations hold `<` and `&`: only the page's own elements are elements.
    assert!(page.contains("#dyn.shape&lt;[rows, cols]&gt;"), "{page}");
    assert!(!page.contains("shape<["), "{page}");
}

#[test]
fn a_report_of_a_part_shows_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    compiles(folder.path(), "softmax_graph.mlir", &["--emit=fusion", "-o", "f.mlir", "--report=part.html", "-q"]);
    let page = std::fs::read_to_string(folder.path().join("part.html")).unwrap();
    assert!(page.contains("<td>fusion, as --emit says</td>"), "{page}");
    assert!(page.contains("<summary>fusion") && !page.contains("<summary>gir"), "{page}");
    assert!(page.contains("There is no host program"), "{page}");
    // From the level of kernels on there is no plan.
    let page = self::page(folder.path(), "softmax.mlir", &[]);
    assert!(page.contains("There is no plan") && page.contains("<summary>gir"), "{page}");
    assert!(page.contains("float operations</th>") && page.contains(" predicted on one thread"), "{page}");
    let page = self::page(folder.path(), "rows.mlir", &[]);
    assert!(page.contains("it is no tile program") && page.contains("<summary>llvm"), "{page}");
}

#[test]
fn sizes_of_a_report_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |sizes: &str, words: &str| {
        let args = ["-o", "out.sutura", "--report", "out.html", "--report-sizes", sizes];
        refuses(folder.path(), "softmax_graph.mlir", &args, 2, words);
    };
    refused("row=4", "`row`, which is no size of the model");
    refused("row=4", "did you mean `rows`?");
    refused("zzzzzz=4", "its sizes are `rows`, `cols`");
    refused("cols=0", "gives `cols` as 0, but it is 1 to 1000000");
    refused("cols", "expected NAME=VALUE");
    refused("cols=-1", "a value of 0 or more");
    refuses(folder.path(), "softmax_graph.mlir", &["-o", "o.sutura", "--report-sizes=rows=1"], 2, "--report");
    assert_eq!(files(folder.path()), [""; 0], "nothing is left of a compilation that was refused");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |report: &str, code: i32, words: &str| {
        let args = ["-o", "out.sutura", "--report", report];
        let said = refuses(folder.path(), "softmax_graph.mlir", &args, code, words);
        assert!(!said.contains("stitch"), "{said}");
    };
    refused("no/where.html", 5, "there is no folder `no`");
    refused("/proc/report.html", 5, "cannot write `/proc/report.html`");
    refused("out.sutura", 2, "two things would be written to `out.sutura`");
    refused("-", 2, "not to stdout");
    assert_eq!(files(folder.path()), [""; 0]);
}

#[test]
fn a_machine_is_measured_and_compiled_for() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = sutura(folder.path(), args);
        assert!(output.status.success(), "{args:?}\n{}", stderr(&output));
        (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output))
    };
    let (_, said) = run(&["target", "probe", "-o", "mine.mlir", "--name", "mine"]);
    assert!(said.contains("Gflop/s by 1 thread") && said.contains("a launch on 1 thread"), "{said}");
    let (shown, _) = run(&["target", "show", "--target-file", "mine.mlir"]);
    assert!(shown.contains("target.machine @mine") && shown.contains("call_ns = "), "{shown}");
    let page = page(folder.path(), "softmax_graph.mlir", &["--target-file", "mine.mlir"]);
    assert!(page.contains("<td>mine (x86_64"), "{page}");
    let refused = |args: &[&str], code: i32, words: &str| {
        let output = sutura(folder.path(), &[&["target", "probe"], args].concat());
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    };
    refused(&["--name", "1 2"], 2, "`1 2` is no name for a machine");
    refused(&["-o", "no/mine.mlir"], 5, "there is no folder `no`");
    assert_eq!(files(folder.path()), ["mine.mlir", "out.html", "out.sutura"]);
}

#[test]
fn launches_that_are_packed_count_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let page = |sizes: &str| {
        let args = ["--emit=mlir", "-o", "out.mlir", "--report=out.html", "--report-sizes", sizes, "-q"];
        compiles(folder.path(), "../../../../lit-tests/rt/packed.mlir", &args);
        std::fs::read_to_string(folder.path().join("out.html")).unwrap()
    };
    let (long, short) = (page("A=8"), page("A=7"));
    assert!(long.contains("At these sizes: 2 launches,"), "{long}");
    assert!(short.contains("At these sizes: 1 launch,"), "{short}");
    assert_eq!(long.matches("one launch with the one above").count(), 2);
}

/// Two products of one left factor, which are one launch.
fn two_products() -> String {
    let m = "tensor<?x48xf32, #dyn.shape<[M, 48]>>";
    let product = |result: &str, right: &str| {
        format!(
            "  {result} = graph.compute ins(%x, {right} : {m}, tensor<48x48xf32>) -> {m} {{
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  }} {{
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }}\n"
        )
    };
    format!(
        "func.func @two(%x: {m}, %v: tensor<48x48xf32>, %w: tensor<48x48xf32>) -> ({m}, {m}) {{
  %M = dyn.symbol \"M\" : index\n{}{}  return %y, %z : {m}, {m}\n}}\n",
        product("%y", "%v"),
        product("%z", "%w")
    )
}

#[test]
fn packed_launches_are_compared_with_the_limit_of_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = sutura(folder.path(), args);
        assert!(output.status.success(), "{args:?}\n{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    std::fs::write(folder.path().join("two.mlir"), two_products()).unwrap();
    run(&[
        "compile",
        "two.mlir",
        "-q",
        "-o",
        "two.sutura",
        "--report=r.html",
        "--report-measure",
        "--report-sizes=M=60",
    ]);
    let page = std::fs::read_to_string(folder.path().join("r.html")).unwrap();
    let measured = page.split("with those that join it").next().unwrap();
    assert!(measured.len() < page.len() && measured.ends_with(" % of the limit<br><span class=\"faint\">"), "{page}");
    let inputs = ["-i", "60x48xf32=0.5", "-i", "48x48xf32=0.5", "-i", "48x48xf32=1"];
    let text = run(&[&["run", "two.sutura", "--profile", "--repeat=3", "--threads=1"], &inputs[..]].concat());
    // What packs the factors is launched together too, and may take longer.
    let together = |line: &str| line.contains(" + ") && line.matches('%').count() == 2;
    assert!(text.lines().any(|line| together(line) && line.ends_with("arithmetic")), "{text}");
}

/// `x / 3`: a product only if the user allows it.
const THIRD: &str = "
#id = affine_map<(d0) -> (d0)>
func.func @third(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol \"N\" : index
  %y = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>>
      {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %c = arith.constant 3.0 : f32
    %v = arith.divf %e, %c : f32
    graph.yield %v : f32
  }
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}
";

#[test]
fn fast_math_is_asked_for_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("third.mlir"), THIRD).unwrap();
    let emitted = |flags: &[&str]| {
        let output =
            sutura(at, &[&["compile", "third.mlir", "--emit", "dyn", "-o", "out.mlir", "--remarks"], flags].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        (std::fs::read_to_string(at.join("out.mlir")).unwrap(), stderr(&output))
    };
    let (exact, said) = emitted(&[]);
    assert!(exact.contains("arith.divf"), "{exact}");
    assert!(said.contains("is left: it needs the fast-math flags `arcp`"), "{said}");
    for flags in ["--fast-math", "--fast-math=reassoc,arcp"] {
        let (fast, said) = emitted(&[flags]);
        assert!(fast.contains("arith.mulf") && !fast.contains("arith.divf"), "{flags}: {fast}");
        assert!(said.contains("x / c = x * (1 / c): 8*N operations"), "{said}");
    }
    for (flags, recorded) in [(&[][..], "[]"), (&["--fast-math=reassoc,arcp"], r#"["reassoc","arcp"]"#)] {
        let output = sutura(at, &[&["compile", "third.mlir", "-o", "third.sutura"], flags].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let shown = sutura(at, &["inspect", "--json", "third.sutura"]);
        let manifest: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
        assert_eq!(manifest["math"]["fast_math"].to_string(), recorded);
    }
    // A word of its own, which `fast` does not mean.
    let output = sutura(at, &["compile", "third.mlir", "-o", "third.sutura", "--fast-math=winograd", "-vv"]);
    assert!(output.status.success() && stderr(&output).contains("channels-last,winograd,"), "{}", stderr(&output));
    let output = sutura(at, &["compile", "third.mlir", "-o", "third.sutura", "--fast-math", "-vv"]);
    assert!(output.status.success() && !stderr(&output).contains("winograd"), "{}", stderr(&output));
    let wrong = sutura(at, &["compile", "third.mlir", "-o", "third.sutura", "--fast-math=quick"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("quick"), "{}", stderr(&wrong));
}

/// The remarks about what kernels take of a target.
fn resources(folder: &Path, target: &str, ptxas: &Path) -> Vec<String> {
    let model = data("softmax_graph.mlir");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.current_dir(folder).env("NO_COLOR", "1").env("SUTURA_PTXAS", ptxas);
    command.args(["compile", model.to_str().unwrap(), "--target", target, "-o", "model.sutura", "-q", "--remarks"]);
    let output = command.args(["--report", "page.html"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    said.lines().filter(|line| line.contains("[resources, analysis] kernel @")).map(str::to_owned).collect()
}

#[test]
fn kernels_of_gpus_say_what_they_take() {
    let folder = tempfile::tempdir().unwrap();
    let said = resources(folder.path(), "gfx90a", Path::new("none"));
    let first = said.iter().find(|line| line.contains("@softmax_row0_i32:")).unwrap();
    for part in [
        ": blocks of ",
        " registers, no spills, ",
        " bytes of the block's memory; a processor holds ",
        " of 2048 threads (",
    ] {
        assert!(first.contains(part), "{part}: {first}");
    }
    // The version with 32-bit indices has a guard, the other is for what is left.
    assert!(first.contains("; runs where ") && first.ends_with(" is at least 0"), "{first}");
    assert!(said.iter().any(|line| line.contains("@softmax_row0: ")), "{said:?}");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    for part in ["<h2 id=\"device\">Device code</h2>", "<code>@softmax_row0_i32</code>", " scalar</span>", "bound by "]
    {
        assert!(page.contains(part), "{part}");
    }
}

/// What is not known says why: without NVIDIA's assembler, and where the driver compiles.
#[test]
fn what_is_not_known_of_kernels_says_why() {
    let folder = tempfile::tempdir().unwrap();
    for (target, why) in [
        ("sm_80", "registers are not known (no `ptxas` found"),
        ("vulkan", "registers are not known (the device's driver compiles SPIR-V), "),
        ("cpu_fibers", "registers are not known (fibers have none), "),
    ] {
        let said = resources(folder.path(), target, Path::new("none"));
        assert!(!said.is_empty() && said.iter().all(|line| line.contains(why)), "{target}: {said:?}");
        assert!(
            said.iter().all(|line| line.contains(": blocks of ") && !line.contains("a processor holds")),
            "{said:?}"
        );
        let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
        assert!(page.contains("not known: "), "{target}");
    }
    // For the processor there is no such thing.
    assert_eq!(resources(folder.path(), "host", Path::new("none")), [""; 0]);
}

#[test]
fn the_assembler_tells_registers_and_occupancy() {
    let named = std::env::var_os("SUTURA_PTXAS").map(PathBuf::from);
    let Some(ptxas) = named.filter(|file| file.is_file()) else {
        return sutura_skip::skipped(sutura_skip::Need::Ptxas, "SUTURA_PTXAS names no assembler");
    };
    let folder = tempfile::tempdir().unwrap();
    let said = resources(folder.path(), "sm_80", &ptxas);
    let first = said.iter().find(|line| line.contains("@softmax_row5_i32: blocks of 512 threads, ")).unwrap();
    assert!(first.contains(" registers, no spills, 256 bytes of the block's memory"), "{first}");
    assert!(first.contains("a processor holds 4 blocks, 2048 of 2048 threads (100 %), bound by threads"), "{first}");
}
