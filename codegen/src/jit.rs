//! Loads objects in process, by LLVM's ORC.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Mutex;

use llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::orc2::LLVMOrcExecutionSessionSetErrorReporter;
use llvm_sys::orc2::lljit::{
    LLVMOrcCreateLLJIT, LLVMOrcDisposeLLJIT, LLVMOrcLLJITAddObjectFile, LLVMOrcLLJITGetExecutionSession,
    LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup, LLVMOrcLLJITRef,
};

use crate::diagnostic::lock;
use crate::error::{Error, Stage};
use crate::llvm::consumed;
use crate::symbols;
use crate::target::{c_string, initialize_targets};
use crate::worker::{Confined, run};

/// Code in this process, loaded from the same objects that [`link_shared`](crate::link_shared) takes. Dropped, it takes its
/// code with it.
pub struct Jit {
    session: Confined<Session>,
}

struct Session {
    raw: LLVMOrcLLJITRef,
    /// What ORC reported; its session holds a pointer to it, so it is boxed and freed after the session.
    reported: Box<Mutex<Vec<String>>>,
}

// SAFETY: ORC's session locks its own state and has no affinity to a thread; `Confined` lends it to one at a time.
unsafe impl Send for Session {}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the session is owned and disposed of once; the reporter's data is still alive. The error, if any, says
        // that memory could not be given back, which nobody can act on here.
        let _ = unsafe { consumed(LLVMOrcDisposeLLJIT(self.raw)) };
    }
}

impl Jit {
    /// An empty session for this machine.
    ///
    /// # Errors
    /// `Llvm` when ORC does not support this machine.
    pub fn new() -> Result<Self, Error> {
        Ok(Self { session: Confined::new(run(Stage::Jit, Session::new)??) })
    }

    /// Adds an object. Its references may go to itself, to the C functions that kernels may call, and nowhere else.
    ///
    /// # Errors
    /// `Object`, `Undefined`, or `Llvm` when a symbol is already defined.
    pub fn add_object(&mut self, object: &[u8]) -> Result<(), Error> {
        symbols::check_defined([object])?;
        let object = object.to_owned();
        self.session.with(Stage::Jit, move |session| session.add_object(&object))
    }

    /// The address of a function or a variable; it is linked on the first look-up. Valid until the `Jit` is dropped.
    ///
    /// # Errors
    /// `NoSymbol`, or `Llvm` when linking fails.
    pub fn symbol(&mut self, name: &str) -> Result<*const c_void, Error> {
        let name = name.to_owned();
        let address = self.session.with(Stage::Jit, move |session| session.symbol(&name))?;
        Ok(ptr::with_exposed_provenance(address))
    }
}

impl Session {
    fn new() -> Result<Self, Error> {
        initialize_targets();
        let mut raw = ptr::null_mut();
        // SAFETY: the out pointer is valid; a null builder asks for ORC's defaults.
        let created = unsafe { consumed(LLVMOrcCreateLLJIT(&raw mut raw, ptr::null_mut())) };
        created.map_err(|message| Error::Llvm { stage: Stage::Jit, message })?;
        let session = Self { raw, reported: Box::default() };
        let user_data = (&raw const *session.reported).cast_mut().cast::<c_void>();
        // SAFETY: the session is alive and the reporter's data lives longer.
        unsafe {
            LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(raw), report, user_data);
        }
        Ok(session)
    }

    fn add_object(&mut self, object: &[u8]) -> Result<(), Error> {
        // SAFETY: LLVM copies the bytes into the buffer, and ORC takes the buffer over, also when it fails.
        let added = unsafe {
            let name = c"sutura.o".as_ptr();
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object.as_ptr().cast(), object.len(), name);
            consumed(LLVMOrcLLJITAddObjectFile(self.raw, LLVMOrcLLJITGetMainJITDylib(self.raw), buffer))
        };
        added.map_err(|message| self.failed(message))
    }

    fn symbol(&mut self, name: &str) -> Result<usize, Error> {
        let c_name = c_string(name, "a symbol's name")?;
        let mut address = 0;
        // SAFETY: the session is alive, the out pointer valid, the name NUL-terminated.
        let found = unsafe { consumed(LLVMOrcLLJITLookup(self.raw, &raw mut address, c_name.as_ptr())) };
        match found {
            Ok(()) => usize::try_from(address).map_err(|_| Error::NoSymbol { name: name.to_owned() }),
            Err(message) if message.contains("Symbols not found") => Err(Error::NoSymbol { name: name.to_owned() }),
            Err(message) => Err(self.failed(message)),
        }
    }

    /// ORC's error with what it reported aside, which is often the cause.
    fn failed(&self, message: String) -> Error {
        let mut messages = std::mem::take(&mut *lock(&self.reported));
        messages.insert(0, message);
        Error::Llvm { stage: Stage::Jit, message: messages.join("; ") }
    }
}

extern "C" fn report(user_data: *mut c_void, error: LLVMErrorRef) {
    if error.is_null() {
        return;
    }
    // SAFETY: ORC hands the error over; taking its message consumes it. `user_data` is the box of the `Session`.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        lock(&*user_data.cast::<Mutex<Vec<String>>>()).push(text);
    }
}
