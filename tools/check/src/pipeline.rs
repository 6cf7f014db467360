//! Runs a pipeline pass by pass, and the program around each pass.

use sutura_interp::InterpError;
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::diagnostics::codes;
use sutura_ir::pass::{Event, OpPassManager, PassError, PassInstance, PipelineReport, RunConfig, run_pipeline};
use sutura_ir::rewriter::clone_body;
use sutura_ir::{Context, Diagnostic, Loc, Module};

use crate::CheckOptions;
use crate::function::{find, public_functions};
use crate::inputs::{Input, plan};
use crate::outcome::{Outcome, Verdict, cannot_run, judge, run};

/// What was compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// Functions compared at least once.
    pub functions: usize,
    /// Comparisons: a function on an input around a pass.
    pub comparisons: usize,
}

/// A pass that changed the meaning of a program.
#[derive(Debug)]
pub struct Change {
    /// The pass.
    pub pass: String,
    /// A pipeline that runs this pass only, with its options, where it ran.
    pub pipeline: String,
    /// The function that changed.
    pub function: String,
    /// The input that shows it.
    pub input: Input,
    /// The input's values in short.
    pub arguments: Vec<String>,
    /// What is different, such as `result 0`, and how.
    pub difference: String,
    /// The module as the pass got it.
    pub before: Module,
}

impl Change {
    /// The change as an error with its details as notes.
    pub fn diagnostic(&self, cx: &Context) -> Diagnostic {
        let loc = find(cx, &self.before, &self.function).map_or(self.before.op_ref(cx).loc(), |f| f.loc());
        let message = format!("pass '{}' changed the meaning of @{}", self.pass, self.function);
        let mut error = Diagnostic::error(loc, message).code(codes::CHANGED).note(loc, self.difference.clone());
        error = error.note(loc, format!("input: {}", self.input));
        for argument in &self.arguments {
            error = error.note(loc, argument.clone());
        }
        error
    }
}

/// Why a checked run ended early.
#[derive(Debug)]
pub enum CheckError {
    /// A pass failed, as reported.
    Pass(PassError),
    /// A pass changed the meaning of the program.
    Changed(Box<Change>),
}

/// Runs `manager` on `module` and compares what its public functions do before and after each pass. Results may differ
/// by what rounding does to sums in another order.
///
/// Warnings say what cannot be compared; a run that compares nothing ends with one.
///
/// # Errors
/// When a pass fails, or changed what a function does; `module` is then as the pass left it.
pub fn check_pipeline(
    cx: &Context,
    module: &mut Module,
    manager: &OpPassManager,
    config: &RunConfig,
    options: &CheckOptions,
    sink: &mut dyn FnMut(Event),
) -> (PipelineReport, Result<Checked, CheckError>) {
    let mut checker = Checker::start(cx, module, options, sink);
    let mut report = PipelineReport::default();
    for (path, pass) in manager.passes() {
        let mut single = match alone(&path, pass) {
            Ok(single) => single,
            Err(message) => {
                sink(Event::Diagnostic(Diagnostic::error(module.op_ref(cx).loc(), message)));
                return (report, Err(CheckError::Pass(PassError::Internal)));
            }
        };
        let before = copy(cx, module);
        let (one, result) = run_pipeline(cx, module, &mut single, config, sink);
        report.records.extend(one.records);
        report.failure = one.failure;
        report.add_traced(&one.traced);
        if let Err(error) = result {
            return (report, Err(CheckError::Pass(error)));
        }
        let argument = pass.info().argument;
        if let Err(found) = checker.compare(argument, module, &before, sink) {
            let (function, input, difference) = *found;
            let (pass, pipeline, arguments) = (argument.to_string(), single.to_string(), input.describe(cx));
            let change = Change { pass, pipeline, function, input, arguments, difference, before };
            return (report, Err(CheckError::Changed(Box::new(change))));
        }
    }
    (report, Ok(checker.finish(module, sink)))
}

/// A manager with one pass, where it stands in a larger one.
fn alone(path: &[&str], pass: &PassInstance) -> Result<OpPassManager, String> {
    let (innermost, around) = path.split_last().expect("a pass has a manager");
    let mut manager = OpPassManager::new(*innermost);
    manager.add(pass.again()?)?;
    for anchor in around.iter().rev() {
        let mut outer = OpPassManager::new(*anchor);
        outer.add_nested(manager);
        manager = outer;
    }
    Ok(manager)
}

/// A deep copy, resources included.
fn copy(cx: &Context, module: &Module) -> Module {
    let mut copy = Module::from_root(clone_body(cx, module.root())).expect("a copy of a module");
    *copy.text_mut() = module.text().clone();
    copy
}

/// A function, the input on which it differs, and the difference in words.
type Found = Box<(String, Input, String)>;

/// A function that can be run.
struct Watched {
    name: String,
    /// Inputs, with what the function did on each; `None` where it is undefined or stops itself.
    runs: Vec<(Input, Option<Outcome>)>,
    comparisons: usize,
}

struct Checker<'c> {
    cx: &'c Context,
    options: &'c CheckOptions,
    watched: Vec<Watched>,
    checked: Checked,
}

impl<'c> Checker<'c> {
    fn start(cx: &'c Context, module: &Module, options: &'c CheckOptions, sink: &mut dyn FnMut(Event)) -> Self {
        let mut checker = Self { cx, options, watched: Vec::new(), checked: Checked::default() };
        let (functions, left_out) = public_functions(cx, module);
        for reason in left_out {
            checker.warn(module, "", codes::NOT_CHECKED, reason, sink);
        }
        for name in functions {
            match checker.watch(module, &name) {
                Ok((watched, remarks)) => {
                    checker.watched.push(watched);
                    let loc = checker.loc(module, &name);
                    let say = |text| sink(Event::Diagnostic(Diagnostic::remark(loc, format!("@{name}: {text}"))));
                    remarks.into_iter().for_each(say);
                }
                Err(reason) => {
                    checker.warn(module, &name, codes::NOT_CHECKED, format!("@{name} is not checked: {reason}"), sink);
                }
            }
        }
        checker
    }

    fn loc(&self, module: &Module, function: &str) -> Loc {
        find(self.cx, module, function).map_or(module.op_ref(self.cx).loc(), |f| f.loc())
    }

    fn warn(&self, module: &Module, function: &str, code: &'static str, message: String, sink: &mut dyn FnMut(Event)) {
        let loc = self.loc(module, function);
        sink(Event::Diagnostic(Diagnostic::warning(loc, message).code(code)));
    }

    /// Runs a function on inputs made for it; with what is not tried, in words.
    fn watch(&self, module: &Module, name: &str) -> Result<(Watched, Vec<String>), String> {
        let function = find(self.cx, module, name).ok_or("there is no such function with a body")?;
        let plan = plan(function, self.options)?;
        let mut remarks: Vec<String> = plan.left_out.into_iter().collect();
        let (mut runs, mut beyond, mut lastly) = (Vec::new(), 0, None);
        for input in plan.inputs {
            let outcome = match run(self.cx, module, name, &input, self.options) {
                Ok(outcome) => Some(outcome),
                Err(error) => {
                    beyond += usize::from(cannot_run(error.kind()));
                    lastly = Some(error);
                    None
                }
            };
            runs.push((input, outcome));
        }
        let lastly = lastly.map(|error| self.words(&error)).unwrap_or_default();
        if runs.iter().all(|(_, outcome)| outcome.is_none()) {
            return Err(format!("it has a result on none of {} inputs, lastly: {lastly}", runs.len()));
        }
        if beyond > 0 {
            remarks.push(format!("{beyond} of {} inputs cannot be run, lastly: {lastly}", runs.len()));
        }
        Ok((Watched { name: name.to_string(), runs, comparisons: 0 }, remarks))
    }

    fn words(&self, error: &InterpError) -> String {
        error.render(self.cx)
    }

    /// Runs all functions on the module as `pass` left it.
    fn compare(
        &mut self,
        pass: &str,
        module: &Module,
        before: &Module,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), Found> {
        let options = PrintOptions { generic: true, ..PrintOptions::default() };
        if self.watched.is_empty() || module_text(self.cx, module, &options) == module_text(self.cx, before, &options) {
            self.count_unchanged();
            return Ok(());
        }
        let watched = std::mem::take(&mut self.watched);
        for mut function in watched {
            match self.compare_one(&mut function, module)? {
                None => self.watched.push(function),
                Some(reason) => self.start_anew(pass, &function.name, &reason, module, before, sink),
            }
        }
        Ok(())
    }

    /// A pass that left the text as it is kept every function.
    fn count_unchanged(&mut self) {
        for function in &mut self.watched {
            let ran = function.runs.iter().filter(|(_, outcome)| outcome.is_some()).count();
            self.checked.functions += usize::from(function.comparisons == 0);
            function.comparisons += ran;
            self.checked.comparisons += ran;
        }
    }

    /// Why the function cannot be compared, if it cannot.
    fn compare_one(&mut self, function: &mut Watched, module: &Module) -> Result<Option<String>, Found> {
        let name = function.name.clone();
        if find(self.cx, module, &name).is_none() {
            return Ok(Some("there is no such function any more".to_string()));
        }
        for (input, outcome) in &mut function.runs {
            let after = run(self.cx, module, &name, input, self.options);
            let Some(before) = outcome else {
                *outcome = after.ok();
                continue;
            };
            let after = match after {
                Ok(after) => after,
                Err(error) if cannot_run(error.kind()) => return Ok(Some(self.words(&error))),
                Err(error) => {
                    let message = format!("only the program after the pass fails: {}", self.words(&error));
                    return Err(Box::new((name, input.clone(), message)));
                }
            };
            match judge(before, &after) {
                Verdict::Same => {}
                Verdict::Incomparable(reason) => return Ok(Some(reason)),
                Verdict::Different(what, mismatch) => {
                    let message = format!("{what}, before and after: {mismatch}");
                    return Err(Box::new((name, input.clone(), message)));
                }
            }
            self.checked.comparisons += 1;
            self.checked.functions += usize::from(function.comparisons == 0);
            function.comparisons += 1;
            *outcome = Some(after);
        }
        Ok(None)
    }

    /// A function that is called in another way now is compared from here on, if it can be run.
    fn start_anew(
        &mut self,
        pass: &str,
        name: &str,
        reason: &str,
        module: &Module,
        before: &Module,
        sink: &mut dyn FnMut(Event),
    ) {
        let message = format!("@{name} cannot be compared across pass '{pass}': {reason}");
        let rest = match self.watch(module, name) {
            Ok((watched, _)) => {
                self.watched.push(watched);
                "it is compared again from there on".to_string()
            }
            Err(reason) => format!("nor across the passes after it: {reason}"),
        };
        self.warn(before, name, codes::CHECK_BROKEN_OFF, format!("{message}; {rest}"), sink);
    }

    fn finish(self, module: &Module, sink: &mut dyn FnMut(Event)) -> Checked {
        let loc = module.op_ref(self.cx).loc();
        let Checked { functions, comparisons } = self.checked;
        if comparisons == 0 {
            let message = "no function was compared around any pass: nothing was checked".to_string();
            let help = "public functions are run whose arguments are numbers, tensors, vectors or memrefs";
            sink(Event::Diagnostic(Diagnostic::warning(loc, message).code(codes::NOTHING_CHECKED).help(help)));
        } else {
            let seeds: Vec<String> = self.options.seeds.iter().map(ToString::to_string).collect();
            let message = format!("{functions} functions compared, {comparisons} runs, seeds {}", seeds.join(", "));
            sink(Event::Diagnostic(Diagnostic::remark(loc, message)));
        }
        self.checked
    }
}
