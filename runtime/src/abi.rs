//! The binary interface between generated code and the runtime, version [`VERSION`].
//!
//! `include/sutura_abi.h` says the same in C; a test compiles a `host.so` against it and compares the layouts.
//! Any change here is a new version: the loader refuses every other one. Sizes that data decide, and calls of functions, came
//! without one: code without them is as before, and a runtime that does not know them refuses the manifest.
//!
//! A `host.so` exports three functions and a variable:
//!
//! | symbol | type | does |
//! |---|---|---|
//! | `sutura_abi_version` | [`AbiVersionFn`] | returns [`VERSION`] |
//! | `sutura_shapes` | [`ShapesFn`] | solves the symbols from the inputs' dims, checks them, gives the outputs' dims |
//! | `sutura_run` | [`RunFn`] | runs the model: launches kernels through the table it is given |
//! | `sutura_output_dims` | [`OutputDimsFn`] | only where data decide sizes: gives the outputs' dims after a run |
//!
//! | `sutura_interface` | text, ended by a zero byte | says what the others were generated for |
//!
//! The text is that of [`Manifest::interface_text`](crate::Manifest::interface_text), such as
//! `symbols 1; inputs f32[s0,4]; outputs f32[s0,?]; constants f32[4,8]; checks 1; data_checks 0; kernels -`: element types
//! and dims of tensors, where `s0` is the first symbol and `?` a size that the code computes; for each kernel `-`, or for one
//! of a device how many groups a block of its threads takes. The loader calls nothing where it is not what the manifest says.
//!
//! None of the functions keeps state: one loaded `host.so` serves any number of calls at the same time.

use std::ffi::{c_char, c_void};
use std::sync::atomic::AtomicU32;

/// Version of everything in this module.
pub const VERSION: u32 = 8;

/// Alignment in bytes of every buffer that generated code sees: inputs, outputs, constants and workspace.
/// A cache line and the widest vector register.
pub const ALIGNMENT: usize = 64;

/// Highest tensor rank that the runtime accepts, a sanity limit on files.
pub const MAX_RANK: usize = 64;

/// Name of the export of type [`AbiVersionFn`].
pub const ABI_VERSION_SYMBOL: &str = "sutura_abi_version";
/// Name of the variable that says what the code was generated for.
pub const INTERFACE_SYMBOL: &str = "sutura_interface";
/// Name of the export of type [`ShapesFn`].
pub const SHAPES_SYMBOL: &str = "sutura_shapes";
/// Name of the export of type [`RunFn`].
pub const RUN_SYMBOL: &str = "sutura_run";
/// Name of [`OutputDimsFn`].
pub const OUTPUT_DIMS_SYMBOL: &str = "sutura_output_dims";

/// One kernel: does the groups `begin..end` of a region's linear group ids.
///
/// `bufs` are contiguous row-major buffers, aligned to [`ALIGNMENT`]; `dims` the region's dims in declaration order.
/// Groups are independent: the runtime may run any split of them on any threads, in any order.
pub type KernelFn = unsafe extern "C" fn(bufs: *const *mut c_void, dims: *const i64, begin: i64, end: i64);

/// A library routine that a model calls by name (see [`SuturaRt::call`]). Returns 0, or an error code of its own.
pub type RoutineFn = unsafe extern "C" fn(bufs: *const *mut c_void, dims: *const i64, n_bufs: i32, n_dims: i32) -> i32;

/// Functions that the runtime offers to `sutura_run`. Valid for the duration of that call, on its thread; `report` also on
/// those that run its kernels.
#[repr(C)]
#[derive(Debug)]
pub struct SuturaRt {
    /// [`VERSION`].
    pub abi: u32,
    /// 0 until something is reported (see [`SuturaRt::report`]). A loop whose condition is data ends then, since what it
    /// computes may be nonsense for which it would never end; `sutura_run` may return any code.
    pub reported: AtomicU32,
    /// To be passed back as first argument of each function.
    pub ctx: *mut c_void,
    /// Runs `kernel` over the groups `0..n_groups` and returns when all are done.
    ///
    /// The groups are split into at most as many contiguous chunks as the call may use threads, each of at least
    /// `grain` groups (below 1 counts as 1); a single chunk runs on the calling thread. Nothing is launched when
    /// `n_groups` is 0 or less.
    pub parallel_for: unsafe extern "C" fn(
        ctx: *mut c_void,
        kernel: KernelFn,
        bufs: *const *mut c_void,
        dims: *const i64,
        n_groups: i64,
        grain: i64,
    ),
    /// Calls the library routine with this NUL-terminated name, one that the application registered or one of the runtime's own,
    /// such as `sort/1`, which is called as [`routines`](crate::routines) says. Returns the routine's result, or
    /// [`NO_SUCH_ROUTINE`]. `sutura_run` passes a non-zero result on as its own. The manifest lists all routines that are called,
    /// so that a model is refused when it is loaded where one is missing.
    pub call: unsafe extern "C" fn(
        ctx: *mut c_void,
        routine: *const c_char,
        bufs: *const *mut c_void,
        dims: *const i64,
        n_bufs: i32,
        n_dims: i32,
    ) -> i32,
    /// Tells that a check of data does not hold; `check` is a number of the manifest's `data_checks`. Of a check of kind
    /// `index`, element `position` of a tensor of indices is `index`, where only `size` indices and their negative
    /// counterparts are. Of one of kind `division`, element `position` of a quotient, -1 where that is not known, has the
    /// divisor 0; `index` and `size` mean nothing. A kernel may call it any number of times, from any of the launch's
    /// threads. The run goes on to its end, or to the next iteration of a loop,
    /// with memory-safe nonsense, and fails at its end with the report that comes first by
    /// `check`, then `position`.
    ///
    /// A kernel that checks data finds this table behind its buffers, and behind that, as a number, its first check.
    pub report: unsafe extern "C" fn(ctx: *mut c_void, check: i64, position: i64, index: i64, size: i64),
    /// Enqueues a kernel of the device over the groups `0..n_groups`; `kernel` is a number of the manifest's `kernels`.
    /// `words` are its arguments, 64 bits each: addresses of buffers, then sizes; they are read at once. What is enqueued
    /// later sees what was enqueued before as done. Only for artifacts with device code, whose inputs, outputs, constants
    /// and workspace are addresses of the device. What goes wrong fails the run at its end.
    pub launch: unsafe extern "C" fn(ctx: *mut c_void, kernel: i64, words: *const u64, n_words: i64, n_groups: i64),
    /// Enqueues a copy between memory of the device, like a launch.
    pub copy: unsafe extern "C" fn(ctx: *mut c_void, from: *const c_void, to: *mut c_void, bytes: i64),
    /// Where kernels of the device report what is wrong with data, [`REPORT_WORDS`] words of its memory; null for artifacts
    /// without device code. A kernel that checks data gets this address behind its buffers, and behind its sizes the number
    /// of its first check. It lowers the first word, all ones before the run, to `check << 48 | (position + 1)`; where the
    /// word is that already, it writes index and size to the second and the third. A run that has changed the first word is
    /// repeated with it as it is, and so the report that comes first is complete, whatever order threads ran in.
    pub reports: *mut c_void,
    /// Waits for what was enqueued and returns the byte of the device's memory at this address, which is a condition: 0 or 1. A
    /// number below 0 where something went wrong, or kernels have reported wrong data, so that what follows may be nonsense:
    /// `sutura_run` returns it then. Only for artifacts with device code.
    pub look: unsafe extern "C" fn(ctx: *mut c_void, condition: *const c_void) -> i32,
    /// Begins a call of a recursive function, by its number in the manifest's `functions`: writes to `frame` the address of so many
    /// bytes with any content, which are the call's until [`SuturaRt::leave`]. Returns 0, or a number that `sutura_run` returns
    /// where there are too many calls in each other or too little memory. Only for artifacts without device code.
    pub enter: unsafe extern "C" fn(ctx: *mut c_void, function: i64, bytes: i64, frame: *mut *mut c_void) -> i32,
    /// Ends the call that began last. A run that ends with an error ends all of them.
    pub leave: unsafe extern "C" fn(ctx: *mut c_void),
}

/// Words of 64 bits at [`SuturaRt::reports`].
pub const REPORT_WORDS: usize = 3;
/// Low bits of the first of them, which hold a position and one.
pub const REPORT_POSITION_BITS: u32 = 48;

/// What [`SuturaRt::call`] returns for a name that nobody registered.
pub const NO_SUCH_ROUTINE: i32 = i32::MIN;

/// `sutura_abi_version`: the version of this interface that the code was generated for.
pub type AbiVersionFn = unsafe extern "C" fn() -> u32;

/// `sutura_shapes`: from the dims of all inputs, concatenated (ranks are in the manifest), computes
///
/// (behind them those of the manifest's `reserves`, whose sizes the runtime chooses)
///
/// * `symbols`: the value of each symbol, in the manifest's order;
/// * `output_dims`: the dims of all outputs, concatenated;
/// * `workspace_bytes`: what `sutura_run` needs at these shapes.
///
/// Returns 0; or `1 + i` when the manifest's check `i` does not hold, with the two values that disagreed
/// (or the value and its bound, or the value and its divisor) in `detail[0]` and `detail[1]`.
pub type ShapesFn = unsafe extern "C" fn(
    input_dims: *const i64,
    symbols: *mut i64,
    output_dims: *mut i64,
    workspace_bytes: *mut i64,
    detail: *mut i64,
) -> i32;

/// `sutura_output_dims`, of code whose manifest has `decided` symbols: the dims of all outputs, concatenated, for the values of the
/// symbols that `sutura_run` left.
pub type OutputDimsFn = unsafe extern "C" fn(symbols: *const i64, output_dims: *mut i64);

/// `sutura_run`: computes the outputs from the inputs, with the symbols that `sutura_shapes` gave.
///
/// `outputs` overlap neither each other nor anything else; `constants` are in the manifest's order and read-only;
/// `workspace` has at least the bytes asked for, with any content. Returns 0 or an error code.
///
/// Symbols that data decide (`decided` in the manifest) have in `sutura_shapes` the most that they may be, for which outputs and
/// workspace are large enough. `sutura_run` writes their values to `symbols`; outputs lie at the front of their memory. What it
/// finds wrong with them it reports as check `-(1 + i)`, where `i` is the manifest's, before it returns `1 + i`.
pub type RunFn = unsafe extern "C" fn(
    rt: *const SuturaRt,
    symbols: *const i64,
    inputs: *const *const c_void,
    outputs: *const *mut c_void,
    constants: *const *const c_void,
    workspace: *mut c_void,
) -> i32;
