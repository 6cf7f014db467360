//! `sutura doctor`: whether what compiling and running need is there.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, json};
use sutura_ir::Context;
use sutura_run::run::{Models, Ready};
use sutura_runtime::device::Devices;
use sutura_runtime::{Options, Tensor};

use crate::cli::CompileArgs;
use crate::compile;
use crate::failure::{Failure, Kind};
use crate::files::{TemporaryFolder, say};
use crate::machine::Wanted;
use crate::model::Compiled;
use crate::talk::Talk;

/// A program that is compiled and run: each element and itself.
const PROGRAM: &str = "#i = affine_map<(d0) -> (d0)>
!t = tensor<?xf32, #dyn.shape<[n]>>
func.func @doctor(%x: !t) -> !t {
  %y = graph.compute ins(%x : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    graph.yield %s : f32
  }
  func.return %y : !t
}
";

/// How something is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// There.
    Ok,
    /// Not there, and only some things need it.
    Absent,
    /// Needed, and missing or broken.
    Broken,
}

struct Finding {
    what: &'static str,
    state: State,
    words: String,
}

impl Finding {
    fn of(what: &'static str, found: Result<String, String>, otherwise: State) -> Self {
        let state = if found.is_ok() { State::Ok } else { otherwise };
        Self { what, state, words: found.unwrap_or_else(|why| why) }
    }
}

/// Looks at everything, says what it finds, and fails if something that is needed is broken.
pub(crate) fn doctor(talk: &Talk) -> Result<(), Failure> {
    let mut findings = vec![
        Finding::of("version", Ok(env!("CARGO_PKG_VERSION").to_owned()), State::Ok),
        Finding::of("host", host(talk), State::Broken),
        Finding::of("linker", linker(), State::Broken),
        Finding::of("temporary", temporary(), State::Broken),
        Finding::of("proc", proc_files(), State::Absent),
        Finding::of("compile", compiled(talk), State::Broken),
    ];
    findings.extend(devices());
    findings.push(Finding::of("ptxas", ptxas(), State::Absent));
    findings.push(Finding::of("onnxruntime", onnxruntime(), State::Absent));
    findings.iter().try_for_each(|finding| tell(finding, talk))?;
    let broken: Vec<&str> = findings.iter().filter(|f| f.state == State::Broken).map(|f| f.what).collect();
    match &broken[..] {
        [] => Ok(()),
        names => Err(Failure::new(Kind::System, format!("sutura does not work here: {}", names.join(", ")))
            .hint("`cargo xtask setup` installs what it is built with")),
    }
}

fn tell(finding: &Finding, talk: &Talk) -> Result<(), Failure> {
    let state = match finding.state {
        State::Ok => "ok",
        State::Absent => "absent",
        State::Broken => "broken",
    };
    if talk.is_json() {
        let fields = [("what", json!(finding.what)), ("state", json!(state)), ("words", json!(finding.words))];
        return talk.result("doctor", Map::from_iter(fields.map(|(name, value)| (name.to_owned(), value))));
    }
    say(&format!("{:<12} {state:<7} {}", finding.what, finding.words))
}

fn host(talk: &Talk) -> Result<String, String> {
    let cx = Context::new(sutura_dialects::all());
    let (machine, _) = Wanted::default().host(&cx, talk).map_err(|failure| failure.message)?;
    Ok(machine.summary())
}

fn linker() -> Result<String, String> {
    match sutura_codegen::Linker::find().map_err(|error| error.to_string())? {
        sutura_codegen::Linker::Lld(path) => Ok(format!("{}", path.display())),
        sutura_codegen::Linker::Cc(path) => Ok(format!("{}, because there is no ld.lld", path.display())),
    }
}

fn temporary() -> Result<String, String> {
    let folder = TemporaryFolder::new().map_err(|failure| failure.message)?;
    std::fs::write(folder.path().join("file"), b"sutura").map_err(|e| format!("cannot be written to: {e}"))?;
    Ok(format!("{}", std::env::temp_dir().display()))
}

fn proc_files() -> Result<String, String> {
    match Path::new("/proc/self/status").exists() {
        true => Ok("mounted".to_owned()),
        false => Err("/proc is not mounted".to_owned()),
    }
}

/// Compiles a small program and runs it.
fn compiled(talk: &Talk) -> Result<String, String> {
    let work = || -> Result<(), Failure> {
        let folder = TemporaryFolder::new()?;
        let (model, output) = (folder.path().join("doctor.mlir"), folder.path().join("doctor.sutura"));
        std::fs::write(&model, PROGRAM).map_err(|e| Failure::io("write", &model, &e))?;
        let args = CompileArgs { model, output: Some(output.clone()), ..CompileArgs::default() };
        compile::compile(&args, &talk.muted().without_stages())?;
        let ready: Ready = Compiled::default().artifact(&output, &[], talk)?;
        let result = ready.load(Options::new())?.run(&[Tensor::from_slice(&[2], &[1.0f32, -3.0])?])?;
        match result[0].as_slice::<f32>() {
            Some([2.0, -6.0]) => Ok(()),
            other => Err(Failure::internal(format!("a small program computes {other:?} in the place of [2.0, -6.0]"))),
        }
    };
    work().map(|()| "a small program is compiled and computes what it should".to_owned()).map_err(|f| f.message)
}

fn devices() -> Vec<Finding> {
    let devices = Devices::find();
    let found = devices.all().iter().map(|found| match found.problem() {
        Some(problem) => Finding::of("device", Err(format!("{}: {problem}", found.id())), State::Absent),
        None => Finding::of("device", Ok(format!("{}: {}", found.id(), found.info().name)), State::Absent),
    });
    let absent = devices.absent().iter().map(|why| Finding::of("device", Err(why.to_string()), State::Absent));
    found.chain(absent).collect()
}

fn ptxas() -> Result<String, String> {
    sutura_codegen::Assembler::find().map(|_| "found".to_owned()).map_err(|error| error.to_string())
}

fn onnxruntime() -> Result<String, String> {
    let script = "import onnxruntime; print(onnxruntime.__version__)";
    let output = Command::new("python3").args(["-c", script]).output().map_err(|e| format!("python3: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err("python3 has no onnxruntime, which `sutura bench` compares with".to_owned()),
    }
}
