//! What goes wrong while kernels run, and that it stays so.

use sutura_runtime::ErrorKind;
use sutura_runtime::device::DeviceError;

use super::fake::{
    Clean, Cuda, Family, Hip, contexts, fail, fail_after, floats, kernel, open, open_named, ramp, violations,
};

/// A kernel that writes beyond its buffer ends all work on the device; everything says so, and says what to do.
#[test]
fn illegal_addresses() {
    for (family, name) in [(Cuda, "cuda:4"), (Hip, "rocm:3")] {
        let device = open_named(name);
        let affine = kernel(&device, family, "affine");
        let mut stream = device.stream().unwrap();
        let mut other = device.stream().unwrap();
        let x = floats(&mut stream, &device, &ramp(64));
        // SAFETY: the driver that stands in checks what kernels access.
        unsafe { stream.launch(&affine, 1, 0, &[x.address(), x.address() + 4, 64]) }.unwrap();
        let error = stream.synchronize().unwrap_err();
        let expected = match family {
            Cuda => {
                "device `Fake Crash A` does no more work for this process, told by cuStreamSynchronize: \
                 CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered; a kernel accessed memory that is \
                 not its own: check the arguments and sizes of its launch; compute-sanitizer finds the kernel, and \
                 CUDA_LAUNCH_BLOCKING=1 its launch; then start the process again"
            }
            Hip => {
                "device `Fake Crash` does no more work for this process, told by hipStreamSynchronize: hipErrorIllegalAddress \
                 (700): an illegal memory access was encountered; a kernel accessed memory that is not its own: check the \
                 arguments and sizes of its launch; AMD_SERIALIZE_KERNEL=3 with AMD_LOG_LEVEL=3 shows the kernel's launch; \
                 then start the process again"
            }
        };
        assert_eq!((error.to_string().as_str(), error.kind()), (expected, ErrorKind::System));
        // The stream says the same of everything from now on.
        assert_eq!(stream.synchronize().unwrap_err(), error);
        assert_eq!(stream.upload(&x, 0, &[1]).unwrap_err(), error);
        assert_eq!(stream.download(&x, 0, &mut [1]).unwrap_err(), error);
        assert_eq!(stream.record().unwrap_err(), error);
        // SAFETY: it is refused.
        assert_eq!(unsafe { stream.launch(&affine, 1, 0, &[x.address(), x.address(), 1]) }.unwrap_err(), error);
        // Of other streams, and of the device, the driver says it.
        assert!(matches!(other.upload(&x, 0, &[1]), Err(DeviceError::Crashed { .. })));
        assert!(matches!(device.allocate(256), Err(DeviceError::Crashed { .. })));
        assert!(matches!(device.stream(), Err(DeviceError::Crashed { .. })));
        // Dropping everything goes on without a word.
        drop((stream, other, x, affine, device));
        assert_eq!((violations(), contexts()), (String::new(), 0));
    }
}

/// A call that fails is an error of its stream from then on; other streams go on.
#[test]
fn failed_calls_stay_with_their_stream() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let affine = kernel(&device, family, "affine");
        let x = floats(&mut device.stream().unwrap(), &device, &ramp(64));
        for (cuda, hip) in [
            ("cuLaunchKernel", "hipModuleLaunchKernel"),
            ("cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync"),
            ("cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync"),
            ("cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync"),
            ("cuEventRecord", "hipEventRecord"),
            ("cuStreamSynchronize", "hipStreamSynchronize"),
        ] {
            let call = family.either(cuda, hip);
            let mut stream = device.stream().unwrap();
            fail(call, 1);
            let mut work = || {
                // SAFETY: one element each, in a buffer that lives until the end.
                unsafe { stream.launch(&affine, 1, 0, &[x.address(), x.address(), 1]) }?;
                stream.upload(&x, 0, &[0; 8])?;
                stream.copy((&x, 0), (&x, 128), 64)?;
                stream.record()?;
                stream.download(&x, 0, &mut [0; 8])?;
                stream.synchronize()
            };
            let error = work().unwrap_err();
            let name = family.either("CUDA_ERROR_INVALID_VALUE", "hipErrorInvalidValue");
            let expected =
                format!("the driver of device `{}` failed in {call}: {name} (1): invalid argument", device.info().name);
            assert_eq!(error.to_string(), expected);
            assert_eq!(work().unwrap_err(), error, "{call}");
            assert_eq!(stream.synchronize().unwrap_err(), error, "{call}");
        }
        device.stream().unwrap().synchronize().unwrap();
    }
}

/// An upload that fails halfway: what was enqueued before still has its memory.
#[test]
fn uploads_that_fail_halfway() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let mut stream = device.stream().unwrap();
        let buffer = device.allocate(9 << 20).unwrap();
        // The second slot of the ring.
        fail_after(family.either("cuMemHostAlloc", "hipHostMalloc"), 1, 2);
        let error = stream.upload(&buffer, 0, &vec![1; 9 << 20]).unwrap_err();
        assert!(error.to_string().contains("(2): out of memory"), "{error}");
        drop(buffer);
        assert_eq!(violations(), "");
        assert_eq!(device.allocated_bytes(), 9 << 20);
        stream.synchronize().unwrap();
        assert_eq!(device.allocated_bytes(), 0);
    }
}

#[test]
fn devices_that_do_not_open() {
    let _clean = Clean;
    fail("cuDevicePrimaryCtxRetain", 2);
    let error = super::fake::devices().open("cuda").unwrap_err().to_string();
    assert!(error.contains("cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY (2)"), "{error}");
    let device = open(Cuda);
    fail("cuStreamCreate", 999);
    let error = device.stream().unwrap_err().to_string();
    assert!(error.ends_with("cuStreamCreate: an error that it has no name for (999)"), "{error}");
    fail("cuCtxPushCurrent_v2", 201);
    assert!(device.allocate(1).is_err());
}
