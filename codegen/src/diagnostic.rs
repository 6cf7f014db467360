//! MLIR's and LLVM's diagnostics as plain values.

use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mlir_sys::{
    MlirContext, MlirDiagnostic, MlirDiagnosticHandlerID, MlirLocation, MlirLogicalResult, MlirStringRef,
    mlirContextAttachDiagnosticHandler, mlirContextDetachDiagnosticHandler, mlirDiagnosticGetLocation,
    mlirDiagnosticGetNote, mlirDiagnosticGetNumNotes, mlirDiagnosticGetSeverity, mlirDiagnosticPrint,
    mlirIdentifierStr, mlirLocationCallSiteGetCallee, mlirLocationFileLineColRangeGetFilename,
    mlirLocationFileLineColRangeGetStartColumn, mlirLocationFileLineColRangeGetStartLine,
    mlirLocationFusedGetLocations, mlirLocationFusedGetNumLocations, mlirLocationIsACallSite,
    mlirLocationIsAFileLineColRange, mlirLocationIsAFused, mlirLocationIsAName, mlirLocationNameGetChildLoc,
    mlirLocationNameGetName,
};

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
    Note,
    Remark,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
            Severity::Remark => "remark",
        })
    }
}

/// A place in a source file. Where the text that MLIR got had `loc(…)`, it is the place that this names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in bytes.
    pub column: u32,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One message with its notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// Absent for what has no place in a file.
    pub location: Option<SourceLocation>,
    /// What the operation is called, such as the node of a model that it comes from, if its location says that.
    pub name: Option<String>,
    pub message: String,
    pub notes: Vec<Diagnostic>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.location, &self.name) {
            (Some(location), _) => write!(formatter, "{location}: ")?,
            (None, Some(name)) => write!(formatter, "`{name}`: ")?,
            (None, None) => {}
        }
        write!(formatter, "{}: {}", self.severity, self.message)?;
        for note in &self.notes {
            write!(formatter, "\n  {note}")?;
        }
        Ok(())
    }
}

/// Collects the diagnostics of an MLIR context from [`attach`](Self::attach) until it is dropped, so that none reaches
/// stderr.
pub(crate) struct Collector {
    context: MlirContext,
    id: MlirDiagnosticHandlerID,
    collected: Arc<Mutex<Vec<Diagnostic>>>,
}

impl Collector {
    /// # Safety
    /// `context` must be valid for as long as the collector lives.
    pub(crate) unsafe fn attach(context: MlirContext) -> Self {
        let collected = Arc::new(Mutex::new(Vec::new()));
        let user_data = Arc::into_raw(Arc::clone(&collected)) as *mut c_void;
        // SAFETY: the caller vouches for `context`. MLIR owns the counted reference in `user_data` until it calls `release`.
        let id = unsafe { mlirContextAttachDiagnosticHandler(context, Some(collect), user_data, Some(release)) };
        Self { context, id, collected }
    }

    /// What was collected since the last call.
    pub(crate) fn take(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *lock(&self.collected))
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        // SAFETY: the context is valid by `attach`'s contract and the handler is detached once.
        unsafe { mlirContextDetachDiagnosticHandler(self.context, self.id) }
    }
}

/// A poisoned lock is no obstacle: the vector is whole between pushes.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn collect(diagnostic: MlirDiagnostic, user_data: *mut c_void) -> MlirLogicalResult {
    // SAFETY: `user_data` is the reference that `Collector::attach` gave, still owned by MLIR; the diagnostic is valid
    // during this call.
    let (collected, diagnostic) = unsafe { (&*user_data.cast::<Mutex<Vec<Diagnostic>>>(), read(diagnostic)) };
    lock(collected).push(diagnostic);
    MlirLogicalResult { value: 1 }
}

unsafe extern "C" fn release(user_data: *mut c_void) {
    // SAFETY: `user_data` came from `Arc::into_raw` in `Collector::attach`, and MLIR calls this once.
    drop(unsafe { Arc::from_raw(user_data.cast::<Mutex<Vec<Diagnostic>>>().cast_const()) });
}

/// # Safety
/// `diagnostic` must be valid.
unsafe fn read(diagnostic: MlirDiagnostic) -> Diagnostic {
    let mut message = String::new();
    // SAFETY: the diagnostic is valid, and `append_text` gets the string that it expects.
    let (severity, (location, name), notes) = unsafe {
        mlirDiagnosticPrint(diagnostic, Some(append_text), (&raw mut message).cast());
        let notes = (0..mlirDiagnosticGetNumNotes(diagnostic)).map(|at| read(mlirDiagnosticGetNote(diagnostic, at)));
        (severity(mlirDiagnosticGetSeverity(diagnostic)), place(mlirDiagnosticGetLocation(diagnostic)), notes.collect())
    };
    Diagnostic { severity, location, name, message, notes }
}

#[allow(non_upper_case_globals)]
fn severity(raw: mlir_sys::MlirDiagnosticSeverity) -> Severity {
    use mlir_sys::{
        MlirDiagnosticSeverity_MlirDiagnosticNote as Note, MlirDiagnosticSeverity_MlirDiagnosticRemark as Remark,
        MlirDiagnosticSeverity_MlirDiagnosticWarning as Warning,
    };
    match raw {
        Warning => Severity::Warning,
        Note => Severity::Note,
        Remark => Severity::Remark,
        // A severity that is not known must not be passed over.
        _ => Severity::Error,
    }
}

/// The first place in a file that a location leads to, in the order in which MLIR composed it, and the first name on the
/// way.
///
/// # Safety
/// `location` must be valid.
unsafe fn place(location: MlirLocation) -> (Option<SourceLocation>, Option<String>) {
    let (mut pending, mut name) = (vec![location], None);
    while let Some(location) = pending.pop() {
        // SAFETY: all pending locations are valid (parts of a location live as long as it), and each function is called on
        // the kind of location that it is for; the buffer has the length that MLIR asks for.
        unsafe {
            if mlirLocationIsAFileLineColRange(location) {
                let place = SourceLocation {
                    file: text(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location))),
                    line: u32::try_from(mlirLocationFileLineColRangeGetStartLine(location)).unwrap_or(0),
                    column: u32::try_from(mlirLocationFileLineColRangeGetStartColumn(location)).unwrap_or(0),
                };
                return (Some(place), name);
            }
            if mlirLocationIsAName(location) {
                name.get_or_insert_with(|| text(mlirIdentifierStr(mlirLocationNameGetName(location))));
                pending.push(mlirLocationNameGetChildLoc(location));
            } else if mlirLocationIsACallSite(location) {
                pending.push(mlirLocationCallSiteGetCallee(location));
            } else if mlirLocationIsAFused(location) {
                let count = mlirLocationFusedGetNumLocations(location) as usize;
                let mut parts = vec![location; count];
                mlirLocationFusedGetLocations(location, parts.as_mut_ptr());
                pending.extend(parts.into_iter().rev());
            }
        }
    }
    (None, name)
}

/// # Safety
/// `string` must be valid.
unsafe fn text(string: MlirStringRef) -> String {
    if string.length == 0 {
        return String::new();
    }
    // SAFETY: the caller vouches for the string, which is not empty, so its pointer is not null.
    let bytes = unsafe { std::slice::from_raw_parts(string.data.cast::<u8>(), string.length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// MLIR's string callback: appends to the `String` behind `user_data`. (melior's own panics on an empty piece, which would
/// abort the process.)
pub(crate) unsafe extern "C" fn append_text(string: MlirStringRef, user_data: *mut c_void) {
    // SAFETY: callers of MLIR's printing functions pass a `String` that they hold mutably, and MLIR a valid string.
    unsafe { (*user_data.cast::<String>()).push_str(&text(string)) }
}
