//! One run of the tool: input, predicate, reduction, output.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use regex_lite::Regex;
use sutura_check::CheckOptions;
use sutura_input::{text, text_of, utf8};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::diagnostics::{Exit, RenderStyle, render};
use sutura_ir::pass::{Event, PassError, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics, Module, Registry, Severity};

use crate::args::{Args, Interest};
use crate::child::{Child, Ended};
use crate::pipeline::{PipelineTest, Wanted};
use crate::reduce::{ReduceOptions, count, parse, reduce};
use crate::reproducer::{pipeline_of, set_pipeline};

/// Why nothing was reduced: a sentence and the exit code.
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) exit: Exit,
    /// Messages about the input that belong to it, as they are shown.
    said: String,
}

impl Failure {
    pub(crate) fn new(message: String, exit: Exit) -> Self {
        Self { message, exit, said: String::new() }
    }

    /// With what was reported.
    fn with(self, cx: &Context, diags: &Diagnostics) -> Self {
        Self { said: diags.iter().map(|d| render(cx, d, RenderStyle::Plain)).collect(), ..self }
    }

    /// What is shown of it.
    pub(crate) fn told(&self) -> String {
        let message = sutura_visible::message(&self.message);
        format!("{message}\n{}", self.said).trim_end().to_owned()
    }

    /// The system refuses, or what it gives is no text.
    fn io(message: String, error: &std::io::Error) -> Self {
        let is_text = error.kind() != std::io::ErrorKind::InvalidData;
        Self::new(message, if is_text { Exit::System } else { Exit::Input })
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::new(message, Exit::Input)
    }
}

/// Set by the first interrupt: the best so far is written.
static STOP: AtomicBool = AtomicBool::new(false);

/// Ends the reduction at an interrupt, and the process at the second.
fn stop_on_interrupt() {
    sutura_output::on_interrupt(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            let _guard = sutura_output::uninterrupted();
            sutura_output::remove_leftovers();
            std::process::exit(Exit::Interrupted.code().into());
        }
    });
}

/// Reduces; false when an interrupt ended it.
pub(crate) fn run(
    registry: &(impl Fn() -> Registry + Sync),
    passes: &PassRegistry,
    args: &Args,
) -> Result<bool, Failure> {
    let cx = Context::new(registry());
    let mut module = read(&cx, args)?;
    let pipeline = args.pipeline.clone().or_else(|| pipeline_of(&module).map(ToString::to_string));
    if let Interest::RunOnce = args.interest {
        run_once(&cx, passes, &mut module, args, &pipeline.ok_or_else(no_pipeline)?)?;
        return Ok(true);
    }
    stop_on_interrupt();
    if let Interest::Test(command) = &args.interest {
        let child = Child { program: command[0].clone().into(), args: command[1..].to_vec(), timeout: args.timeout };
        let text = module_text(&cx, &module, &PrintOptions::default());
        refuse(&child.run(&[], &text), args.timeout)?;
        work(&cx, &mut module, args, &|cx: &Context, m: &Module| child.succeeds(cx, m));
        finish(&cx, &module, args, &|m| child.succeeds(&cx, m))?;
        return Ok(!STOP.load(Ordering::Relaxed));
    }
    let pipeline = pipeline.ok_or_else(no_pipeline)?;
    check_pipeline_text(&cx, passes, &pipeline)?;
    let mut test =
        PipelineTest { passes, pipeline, wanted: wanted(args)?, allow_unregistered: args.allow_unregistered };
    let crashes = test.fix_on_crash(&cx, &module);
    if !crashes.unwrap_or_else(|| test.holds(&cx, &module, &test.pipeline)) {
        return Err(format!("the input does not fulfil the predicate: {}", what(&args.interest)).into());
    }
    test.fix_on_pass(&cx, &module);
    test.reduce_pipeline(&cx, &module);
    work(&cx, &mut module, args, &|cx: &Context, m: &Module| test.holds(cx, m, &test.pipeline));
    if !STOP.load(Ordering::Relaxed) {
        test.reduce_pipeline(&cx, &module);
    }
    set_pipeline(&mut module, &test.pipeline);
    finish(&cx, &module, args, &|m| test.holds(&cx, m, &test.pipeline))?;
    Ok(!STOP.load(Ordering::Relaxed))
}

fn no_pipeline() -> Failure {
    let message = "a pipeline is needed: `--pass-pipeline=…`, or an `mlir_reproducer` resource in the file";
    Failure::new(message.to_string(), Exit::Usage)
}

fn what(interest: &Interest) -> String {
    match interest {
        Interest::Diagnostic(regex) => format!("no error of the pipeline matches `{regex}`"),
        Interest::Crash | Interest::RunOnce => "the pipeline does not crash, and ends in time".to_string(),
        Interest::Miscompile(seeds) => format!("no pass changes what a function does on inputs of {seeds} seeds"),
        Interest::Test(command) => format!("`{}` does not end with status 0", command.join(" ")),
    }
}

fn refuse(ended: &Ended, timeout: Duration) -> Result<(), Failure> {
    let message = match ended {
        Ended::With(status) if status.success() => return Ok(()),
        Ended::With(status) => {
            let how = status.code().map_or("by a signal".to_string(), |code| format!("with status {code}"));
            format!("the input does not fulfil the predicate: the command ends {how}; 0 says that it does")
        }
        Ended::TooLate => format!("the command does not end within {} s on the input", timeout.as_secs()),
        Ended::NotStarted(error) => format!("{error}; `--test` takes a program, `--test-arg` its arguments"),
    };
    Err(message.into())
}

fn wanted(args: &Args) -> Result<Wanted, Failure> {
    Ok(match &args.interest {
        Interest::Diagnostic(text) => {
            let regex = Regex::new(text);
            let usage = |e| Failure::new(format!("`--diagnostic`: {e}"), Exit::Usage);
            Wanted::Diagnostic(regex.map_err(usage)?)
        }
        Interest::Miscompile(seeds) => Wanted::Miscompile(CheckOptions::with_seeds(*seeds), None),
        Interest::Crash | Interest::RunOnce | Interest::Test(_) => {
            let program = std::env::current_exe().map_err(|e| format!("this program does not find itself: {e}"))?;
            let mut flags = vec!["--run-once".to_string()];
            if args.allow_unregistered {
                flags.push("--allow-unregistered-dialect".to_string());
            }
            if args.allow_invalid {
                flags.push("--allow-invalid".to_string());
            }
            Wanted::Crash(Child { program, args: flags, timeout: args.timeout }, None)
        }
    })
}

/// What the child process of `--crash` does; how it ends is all that matters.
fn run_once(
    cx: &Context,
    passes: &PassRegistry,
    module: &mut Module,
    args: &Args,
    pipeline: &str,
) -> Result<(), Failure> {
    let manager = parse_pipeline(cx, passes, "<pass-pipeline>", pipeline, &mut Diagnostics::default());
    let mut manager = manager.map_err(|_| "the pipeline is wrong".to_string())?;
    let verify = VerifyOptions { allow_unregistered: args.allow_unregistered };
    let config = RunConfig { verify_each: true, verify, ..RunConfig::default() };
    let mut said = "a pass panicked".to_string();
    let mut sink = |event| match event {
        Event::Diagnostic(d) if d.severity == Severity::Error => said = d.message,
        _ => {}
    };
    let result = run_pipeline(cx, module, &mut manager, &config, &mut sink).1;
    result.map_err(|error| match error {
        // The pass manager reports a panic of a pass as this; the parent compares what it said.
        PassError::Internal => Failure::new(said, Exit::Internal),
        error => format!("the pipeline fails: {error:?}").into(),
    })
}

fn check_pipeline_text(cx: &Context, passes: &PassRegistry, pipeline: &str) -> Result<(), Failure> {
    let mut diags = Diagnostics::default();
    match parse_pipeline(cx, passes, "<pass-pipeline>", pipeline, &mut diags) {
        Ok(_) => Ok(()),
        Err(_) => Err(Failure::new("the pipeline is wrong".to_string(), Exit::Usage).with(cx, &diags)),
    }
}

fn read(cx: &Context, args: &Args) -> Result<Module, Failure> {
    let name = &args.input;
    let bytes = match name.as_str() {
        "-" => text_of(std::io::stdin(), args.max_input),
        name => text(Path::new(name), args.max_input),
    };
    let text = bytes.and_then(utf8).map_err(|error| {
        let exit = if error.is_system() { Exit::System } else { Exit::Input };
        Failure::new(format!("cannot read `{name}`: {}", error.told()), exit)
    })?;
    cx.sources().set_input(name.as_str());
    let source = cx.sources().add(name.as_str(), text).map_err(|e| e.to_string())?;
    let mut diags = Diagnostics::default();
    let options = sutura_grammar::ParseOptions { allow_unregistered: args.allow_unregistered, ..Default::default() };
    let parsed = sutura_grammar::parse_module(cx, &source, &options, &mut diags);
    let verified = parsed.and_then(|module| {
        let options = VerifyOptions { allow_unregistered: args.allow_unregistered };
        if !args.allow_invalid {
            verify(module.op_ref(cx), options, &mut diags)?;
        }
        Ok(module)
    });
    verified.map_err(|_| Failure::from("the input is wrong".to_string()).with(cx, &diags))
}

fn work(cx: &Context, module: &mut Module, args: &Args, holds: &(dyn Fn(&Context, &Module) -> bool + Sync)) {
    let options = ReduceOptions {
        allow_unregistered: args.allow_unregistered,
        allow_invalid: args.allow_invalid,
        max_tests: args.max_tests,
        parallel: args.threads,
        stop: Some(&STOP),
    };
    // Panics of the passes that are tried are what is looked for, or in the way; neither is news.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let say = |line: &str| {
        if !args.quiet {
            let _ = writeln!(std::io::stderr(), "{}", sutura_visible::message(line));
        }
    };
    let done = reduce(cx, module, &holds, &options, &mut |line| say(line));
    std::panic::set_hook(hook);
    let end = match (done.complete, STOP.load(Ordering::Relaxed)) {
        (true, _) => "",
        (false, true) => "; an interrupt ended it",
        (false, false) => "; --max-tests ended it",
    };
    say(&format!("{} operations became {}, {} tests{end}", done.before, done.after, done.tests));
}

/// Writes the result in the nicest form that still shows what is looked for when it is read back.
fn finish(cx: &Context, module: &Module, args: &Args, holds: &dyn Fn(&Module) -> bool) -> Result<(), Failure> {
    let custom = module_text(cx, module, &PrintOptions::default());
    let survives = |text: &str| {
        let back = parse(cx, text, args.allow_unregistered);
        back.is_some_and(|back| count(cx, &back) == count(cx, module) && holds(&back))
    };
    // After an interrupt nobody waits for the predicate; the generic form says all that there is.
    let text = if !STOP.load(Ordering::Relaxed) && survives(&custom) {
        custom
    } else {
        module_text(cx, module, &PrintOptions::generic())
    };
    let result = match &args.output {
        Some(path) if path != "-" => sutura_output::replace(Path::new(path), text.as_bytes()),
        _ => std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()),
    };
    let name = args.output.as_deref().unwrap_or("stdout");
    result.map_err(|e| Failure::io(format!("cannot write `{name}`: {e}"), &e))
}
