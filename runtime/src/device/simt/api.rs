//! The functions of CUDA's driver interface and of HIP that are used: both have the same ones under other names. Signatures
//! and names are those of `cuda.h` (CUDA 12.4) and of `hip_runtime_api.h` (ROCm 5 to 7); functions with `_v2` are what
//! `cuda.h` means by the name without.
//!
//! Handles and addresses are 64-bit integers here, as are the pointers that the headers have for them.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use libloading::Library;

const _: () = assert!(size_of::<*const c_void>() == 8, "handles of drivers are taken for 64-bit integers");

/// An object of a driver: a stream, an event, a module. 0 is none.
pub(crate) type Handle = u64;

/// Zero is success; the numbers of both are the same where both have the error.
pub(crate) type Status = c_int;
pub(crate) const OUT_OF_MEMORY: Status = 2;
pub(crate) const NOT_READY: Status = 600;

/// A call that failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    pub(crate) call: &'static str,
    pub(crate) status: Status,
}

/// Whose functions they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Cuda,
    Hip,
}

pub(crate) fn check(call: &'static str, status: Status) -> Result<(), Failure> {
    if status == 0 { Ok(()) } else { Err(Failure { call, status }) }
}

/// The function of a name, or why there is none.
///
/// # Safety
/// `F` is the type of that function.
pub(crate) unsafe fn symbol<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
    // SAFETY: the caller's promise.
    let symbol = unsafe { library.get::<F>(name.as_bytes()) };
    symbol.map(|symbol| *symbol).map_err(|_| format!("its library lacks {name}"))
}

/// A table of functions, each of which gets a method that checks its result.
macro_rules! functions {
    ($(#[$note:meta])* $table:ident, $names:ident:
     $($(#[$doc:meta])* $function:ident = $cuda:literal or $hip:literal ($($argument:ident: $type:ty),*);)*) => {
        $(#[$note])*
        pub(crate) struct $table {
            names: $names,
            $($function: unsafe extern "C" fn($($type),*) -> Status,)*
        }

        struct $names {
            $($function: &'static str,)*
        }

        impl $table {
            /// Takes the functions from a library, which must stay loaded, or says which is missing.
            ///
            /// # Safety
            /// The library must be what `family` says.
            pub(crate) unsafe fn load(library: &Library, family: Family) -> Result<Self, String> {
                let names = match family {
                    Family::Cuda => $names { $($function: $cuda,)* },
                    Family::Hip => $names { $($function: $hip,)* },
                };
                // SAFETY: the headers have these names with these types, but for handles as above.
                unsafe { Ok(Self { $($function: symbol(library, names.$function)?,)* names }) }
            }

            $($(#[$doc])*
            ///
            /// # Safety
            /// As the function of the driver says: handles are live, pointers are valid for what it does, and the
            /// device is current where it has to be.
            #[allow(clippy::too_many_arguments, reason = "it has as many as the driver's function")]
            pub(crate) unsafe fn $function(&self, $($argument: $type),*) -> Result<(), Failure> {
                // SAFETY: the caller's promise.
                check(self.names.$function, unsafe { (self.$function)($($argument),*) })
            })*
        }
    };
}

functions! {
    /// What every driver that can be used has.
    Functions, FunctionNames:
    device_count = "cuDeviceGetCount" or "hipGetDeviceCount" (count: *mut c_int);
    /// The device of a number from 0 on.
    device = "cuDeviceGet" or "hipDeviceGet" (device: *mut c_int, ordinal: c_int);
    device_name = "cuDeviceGetName" or "hipDeviceGetName" (name: *mut c_char, bytes: c_int, device: c_int);
    device_memory = "cuDeviceTotalMem_v2" or "hipDeviceTotalMem" (bytes: *mut usize, device: c_int);
    device_attribute = "cuDeviceGetAttribute" or "hipDeviceGetAttribute"
        (value: *mut c_int, attribute: c_int, device: c_int);
    allocate = "cuMemAlloc_v2" or "hipMalloc" (address: *mut u64, bytes: usize);
    free = "cuMemFree_v2" or "hipFree" (address: u64);
    allocate_host = "cuMemHostAlloc" or "hipHostMalloc" (pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
    free_host = "cuMemFreeHost" or "hipHostFree" (pointer: *mut c_void);
    copy_to_device = "cuMemcpyHtoDAsync_v2" or "hipMemcpyHtoDAsync"
        (to: u64, from: *const c_void, bytes: usize, stream: Handle);
    copy_to_host = "cuMemcpyDtoHAsync_v2" or "hipMemcpyDtoHAsync"
        (to: *mut c_void, from: u64, bytes: usize, stream: Handle);
    copy_on_device = "cuMemcpyDtoDAsync_v2" or "hipMemcpyDtoDAsync" (to: u64, from: u64, bytes: usize, stream: Handle);
    create_stream = "cuStreamCreate" or "hipStreamCreateWithFlags" (stream: *mut Handle, flags: c_uint);
    destroy_stream = "cuStreamDestroy_v2" or "hipStreamDestroy" (stream: Handle);
    synchronize_stream = "cuStreamSynchronize" or "hipStreamSynchronize" (stream: Handle);
    create_event = "cuEventCreate" or "hipEventCreateWithFlags" (event: *mut Handle, flags: c_uint);
    destroy_event = "cuEventDestroy_v2" or "hipEventDestroy" (event: Handle);
    record_event = "cuEventRecord" or "hipEventRecord" (event: Handle, stream: Handle);
    query_event = "cuEventQuery" or "hipEventQuery" (event: Handle);
    synchronize_event = "cuEventSynchronize" or "hipEventSynchronize" (event: Handle);
    elapsed = "cuEventElapsedTime" or "hipEventElapsedTime" (milliseconds: *mut f32, start: Handle, end: Handle);
    unload = "cuModuleUnload" or "hipModuleUnload" (module: Handle);
    function = "cuModuleGetFunction" or "hipModuleGetFunction"
        (function: *mut Handle, module: Handle, name: *const c_char);
    function_attribute = "cuFuncGetAttribute" or "hipFuncGetAttribute"
        (value: *mut c_int, attribute: c_int, function: Handle);
    /// The most blocks of a kernel that a multiprocessor has at once.
    occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor" or "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor"
        (blocks: *mut c_int, function: Handle, threads: c_int, dynamic_shared: usize);
    launch = "cuLaunchKernel" or "hipModuleLaunchKernel"
        (function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
         block_z: c_uint, dynamic_shared: c_uint, stream: Handle, arguments: *mut *mut c_void, extra: *mut *mut c_void);
}

functions! {
    /// Graphs: since CUDA 11.4 and ROCm 5.3.
    GraphFunctions, GraphFunctionNames:
    begin_capture = "cuStreamBeginCapture_v2" or "hipStreamBeginCapture" (stream: Handle, mode: c_int);
    end_capture = "cuStreamEndCapture" or "hipStreamEndCapture" (stream: Handle, graph: *mut Handle);
    instantiate = "cuGraphInstantiateWithFlags" or "hipGraphInstantiateWithFlags"
        (executable: *mut Handle, graph: Handle, flags: c_ulonglong);
    launch = "cuGraphLaunch" or "hipGraphLaunch" (executable: Handle, stream: Handle);
    destroy_executable = "cuGraphExecDestroy" or "hipGraphExecDestroy" (executable: Handle);
    destroy = "cuGraphDestroy" or "hipGraphDestroy" (graph: Handle);
}
