//! Threads on which MLIR and LLVM run, so that an LLVM fatal error is an error value.
//!
//! LLVM reports some errors (an instruction that cannot be selected, say) by calling a handler that must not return: it is
//! compiled without exceptions, so nothing can unwind through it. Each step therefore runs on a thread of its own which
//! owns all that the step touches. On a fatal error the handler hands over the message and parks that thread for ever: the
//! thread and what it owns are lost, the process goes on. The thread's large stack is for MLIR's recursive parser.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::sync::Once;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use llvm_sys::error_handling::LLVMInstallFatalErrorHandler;

use crate::error::{Error, Stage};

/// Reserved, not used, until something nests deep.
const STACK_BYTES: usize = 64 << 20;
/// `EX_SOFTWARE`: the exit status when LLVM fails fatally on a thread that is not ours.
const INTERNAL_ERROR: i32 = 70;

type Report = Box<dyn FnOnce(String)>;

thread_local! {
    /// Tells the thread that waits for this one about a fatal error.
    static REPORT_FATAL: RefCell<Option<Report>> = const { RefCell::new(None) };
}

enum Outcome<T> {
    Done(T),
    Fatal(String),
}

/// Runs `step` on a thread of its own and waits for it. A panic in `step` goes on in the caller.
pub(crate) fn run<T: Send + 'static>(stage: Stage, step: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    install_handler();
    let (outcome, received) = channel();
    let body = move || {
        let fatal: Sender<Outcome<T>> = outcome.clone();
        REPORT_FATAL.set(Some(Box::new(move |message| {
            // The receiver waits for as long as this thread runs.
            let _ = fatal.send(Outcome::Fatal(message));
        })));
        let value = step();
        REPORT_FATAL.set(None);
        let _ = outcome.send(Outcome::Done(value));
    };
    let name = format!("sutura: {stage}");
    let spawned = thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(body);
    let thread = spawned.map_err(|source| Error::Thread { stage, source })?;
    match received.recv() {
        Ok(Outcome::Done(value)) => {
            // It has sent its value and only ends now.
            let _ = thread.join();
            Ok(value)
        }
        Ok(Outcome::Fatal(message)) => Err(Error::Fatal { stage, message }),
        Err(_) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => Err(Error::Fatal { stage, message: "the worker thread ended without a result".to_owned() }),
        },
    }
}

fn install_handler() {
    static INSTALL: Once = Once::new();
    // SAFETY: the handler is a plain function that never returns; `Once` keeps threads from installing it at once.
    INSTALL.call_once(|| unsafe { LLVMInstallFatalErrorHandler(Some(on_fatal_error)) });
}

extern "C" fn on_fatal_error(reason: *const c_char) {
    let message = if reason.is_null() {
        "no reason given".to_owned()
    } else {
        // SAFETY: LLVM passes a NUL-terminated string.
        unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned()
    };
    match REPORT_FATAL.take() {
        Some(report) => report(message),
        None => {
            eprintln!("internal error: LLVM cannot continue: {message}");
            std::process::exit(INTERNAL_ERROR);
        }
    }
    loop {
        thread::park();
    }
}

/// A foreign object that is only touched on worker threads, one at a time, and is lost with its thread on a fatal error.
pub(crate) struct Confined<T>(Option<T>);

impl<T: Send + 'static> Confined<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Runs `step` on the object on a worker thread.
    pub(crate) fn with<R: Send + 'static>(
        &mut self,
        stage: Stage,
        step: impl FnOnce(&mut T) -> Result<R, Error> + Send + 'static,
    ) -> Result<R, Error> {
        let mut value = self.0.take().ok_or(Error::Lost { stage })?;
        let (value, result) = run(stage, move || {
            let result = step(&mut value);
            (value, result)
        })?;
        self.0 = Some(value);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fatal_error_is_a_value_and_loses_the_object() {
        let mut object = Confined::new(1);
        let error = object.with(Stage::Emit, |_| -> Result<(), Error> {
            on_fatal_error(c"out of registers".as_ptr());
            unreachable!("the handler does not return")
        });
        assert!(matches!(error, Err(Error::Fatal { stage: Stage::Emit, message }) if message == "out of registers"));
        let again = object.with(Stage::Emit, |value| Ok(*value));
        assert!(matches!(again, Err(Error::Lost { stage: Stage::Emit })));
    }

    #[test]
    fn an_error_keeps_the_object() {
        let mut object = Confined::new(7);
        let error: Result<(), Error> = object.with(Stage::Emit, |_| Err(Error::Nul { what: "a name" }));
        assert!(matches!(error, Err(Error::Nul { .. })));
        assert_eq!(object.with(Stage::Emit, |value| Ok(*value)).unwrap(), 7);
    }

    #[test]
    #[should_panic(expected = "a bug in a step")]
    fn a_panic_goes_on_in_the_caller() {
        let _ = run(Stage::Emit, || panic!("a bug in a step"));
    }
}
