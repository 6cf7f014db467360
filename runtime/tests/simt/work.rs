//! Memory, copies, launches, events.

use std::time::Duration;

use sutura_runtime::ErrorKind;
use sutura_runtime::device::{ALIGNMENT, DeviceError, Kernel, KernelOptions, Stream};

use super::fake::{
    CUBIN, Clean, Cuda, Family, Hip, affine, calls, fail, floats, kernel, live, noise, open, open_named, ramp, read,
    violations,
};

/// Launches `affine` or `reverse`.
fn launch(
    stream: &mut Stream,
    kernel: &Kernel,
    groups: u64,
    shared: u32,
    arguments: &[u64],
) -> Result<(), DeviceError> {
    // SAFETY: the driver that stands in checks what kernels access.
    unsafe { stream.launch(kernel, groups, shared, arguments) }
}

#[test]
fn launches_in_order() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let module = device.load(family.kernels()).unwrap();
        let names: Vec<_> = module.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["affine", "reverse"]);
        let (one, two) = (module.kernel("affine").unwrap(), module.kernel("reverse").unwrap());
        drop(module);
        assert_eq!((one.info().threads_per_group, one.info().shared_bytes), (64, 0));
        assert_eq!((two.info().threads_per_group, two.info().shared_bytes), (64, 256));
        let mut stream = device.stream().unwrap();
        let mut expected = ramp(64 * 40);
        let x = floats(&mut stream, &device, &expected);
        let y = floats(&mut stream, &device, &vec![0.0; 64 * 40]);
        // More than are kept between two marks.
        for _ in 0..300 {
            launch(&mut stream, &one, 3, 0, &[x.address(), y.address(), 64 * 40]).unwrap();
            launch(&mut stream, &two, 4, 0, &[y.address(), x.address(), 40]).unwrap();
            expected = affine(&expected).chunks(64).flat_map(|run| run.iter().rev().copied()).collect();
        }
        assert_eq!(read(&mut stream, &x), expected);
    }
}

/// Uploads and downloads that are larger than the ring of pinned memory, and of odd sizes and places.
#[test]
fn copies_through_the_ring() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let mut stream = device.stream().unwrap();
        let mut all = noise((41 << 20) + 3);
        let buffer = device.allocate(all.len() as u64).unwrap();
        let mut given = all.clone();
        stream.upload(&buffer, 0, &given).unwrap();
        // What was uploaded may change at once.
        given.fill(0);
        let mut back = vec![0; all.len()];
        stream.download(&buffer, 0, &mut back).unwrap();
        assert!(back == all);
        let host = family.either("cuMemHostAlloc", "hipHostMalloc");
        assert_eq!(calls(host), 4, "the ring does not grow");
        let m = 1 << 20;
        for (offset, bytes) in
            [(0, 1), (1, 1), (4095, 4099), (4 * m - 1, 5), (7, 4 * m), (1, 12 * m + 1), (41 * m + 2, 1)]
        {
            let new: Vec<u8> = all[offset..][..bytes].iter().map(|byte| !byte).collect();
            stream.upload(&buffer, offset as u64, &new).unwrap();
            all[offset..][..bytes].copy_from_slice(&new);
            let mut part = vec![0; bytes];
            stream.download(&buffer, offset as u64, &mut part).unwrap();
            assert!(part == new, "{offset} {bytes}");
        }
        // Small uploads share slots, and run through the ring many times.
        for at in 0..3000 {
            let new = noise(at % 7000 + 1);
            stream.upload(&buffer, at as u64 * 1000, &new).unwrap();
            all[at * 1000..][..new.len()].copy_from_slice(&new);
        }
        stream.download(&buffer, 0, &mut back).unwrap();
        assert!(back == all);
        let other = device.allocate(1000).unwrap();
        stream.copy((&buffer, 4093), (&other, 11), 501).unwrap();
        let mut part = vec![0; 501];
        stream.download(&other, 11, &mut part).unwrap();
        assert_eq!(part, all[4093..][..501]);
    }
}

#[test]
fn work_keeps_what_it_uses() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let mut stream = device.stream().unwrap();
        let x = floats(&mut stream, &device, &ramp(64));
        let y = floats(&mut stream, &device, &[0.0; 64]);
        {
            let temporary = device.allocate(256).unwrap();
            stream.copy((&x, 0), (&temporary, 0), 256).unwrap();
            stream.copy((&temporary, 0), (&y, 0), 256).unwrap();
            let kernel = kernel(&device, family, "affine");
            launch(&mut stream, &kernel, 1, 0, &[y.address(), x.address(), 64]).unwrap();
        }
        assert_eq!(violations(), "");
        assert_eq!(read(&mut stream, &x), affine(&ramp(64)));
        // Dropping a stream waits for its work.
        {
            let temporary = device.allocate(256).unwrap();
            stream.copy((&temporary, 0), (&y, 0), 256).unwrap();
        }
        drop(stream);
    }
}

#[test]
fn pools_and_memory() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let pool = device.pool();
        let first = pool.allocate(5000).unwrap();
        let address = first.address();
        assert_eq!(address % ALIGNMENT, 0);
        drop(first);
        let second = pool.allocate(5100).unwrap();
        assert_eq!((second.address(), pool.stats().reused), (address, 1));
        // What a stream still copies is not reused.
        let mut stream = device.stream().unwrap();
        stream.upload(&second, 0, &[1; 100]).unwrap();
        drop(second);
        assert_eq!(pool.stats().cached_bytes, 0);
        stream.synchronize().unwrap();
        assert_eq!(pool.stats().cached_bytes, 5120);
        assert_eq!(device.allocated_bytes(), 5120);
        assert_eq!(pool.trim(), 5120);
        assert_eq!(device.allocated_bytes(), 0);
        let empty = device.allocate(0).unwrap();
        stream.upload(&empty, 0, &[]).unwrap();
        stream.download(&empty, 0, &mut []).unwrap();
    }
}

#[test]
fn memory_that_is_used_up() {
    for (family, name) in [(Cuda, "cuda:3"), (Hip, "rocm:2")] {
        let _clean = Clean;
        let device = open_named(name);
        let pool = device.pool();
        drop(pool.allocate(900 << 10).unwrap());
        // What waits for reuse makes room.
        let large = pool.allocate(1000 << 10).unwrap();
        let error = pool.allocate(100 << 10).unwrap_err();
        assert_eq!(
            error.to_string(),
            "device `Fake Small` has no memory left for 106496 bytes: 1048576 of its 1048576 bytes are allocated by this \
             process; run smaller shapes, or free models and buffers"
        );
        assert_eq!(error.kind(), ErrorKind::System);
        drop(large);
        pool.trim();
        assert!(matches!(device.allocate(2 << 20), Err(DeviceError::TooLarge { limit, .. }) if limit == 1 << 20));
        fail(family.either("cuMemAlloc_v2", "hipMalloc"), 2);
        assert!(matches!(device.allocate(256), Err(DeviceError::OutOfMemory { bytes: 256, .. })));
        // An error of another kind is not taken for it.
        fail(family.either("cuMemAlloc_v2", "hipMalloc"), 1);
        let error = device.allocate(256).unwrap_err().to_string();
        let words = family.either("cuMemAlloc_v2: CUDA_ERROR_INVALID_VALUE (1)", "hipMalloc: hipErrorInvalidValue (1)");
        assert!(error.contains(words), "{error}");
        // Without pinned memory an upload fails, and nothing else.
        let buffer = device.allocate(256).unwrap();
        let mut stream = device.stream().unwrap();
        fail(family.either("cuMemHostAlloc", "hipHostMalloc"), 2);
        assert!(stream.upload(&buffer, 0, &[1]).is_err());
        stream.upload(&buffer, 0, &[1]).unwrap();
        stream.synchronize().unwrap();
    }
}

#[test]
fn events_measure_the_device() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let kernel = kernel(&device, family, "affine");
        let mut stream = device.stream().unwrap();
        let x = floats(&mut stream, &device, &ramp(64));
        let start = stream.record().unwrap();
        for _ in 0..10 {
            launch(&mut stream, &kernel, 1, 0, &[x.address(), x.address(), 64]).unwrap();
        }
        let end = stream.record().unwrap();
        assert_eq!(end.since(&start), None);
        stream.synchronize().unwrap();
        // Each piece of work takes a microsecond; the end itself is one.
        let time = end.since(&start).unwrap();
        assert!(time.abs_diff(Duration::from_micros(11)) < Duration::from_nanos(10), "{time:?}");
        // Backwards there is no time.
        assert_eq!(start.since(&end), None);
        let other = open(family).stream().unwrap().record().unwrap();
        assert_eq!(other.since(&start), None);
        drop(other);
        // Events outlive their stream.
        drop(stream);
        assert_eq!(end.since(&start), Some(time));
    }
}

#[test]
fn wrong_launches() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let (one, two) = (kernel(&device, family, "affine"), kernel(&device, family, "reverse"));
        let mut stream = device.stream().unwrap();
        let x = floats(&mut stream, &device, &ramp(64));
        let address = x.address();
        for arguments in [&[][..], &[address, address], &[address, address, 64, 0]] {
            let error = launch(&mut stream, &one, 1, 0, arguments).unwrap_err();
            let given = arguments.len();
            let plural = if given == 1 { "" } else { "s" };
            assert_eq!(
                error.to_string(),
                format!(
                    "kernel `affine` cannot be launched on device `{}` with {given} argument{plural}: it takes 3; pass the \
                     addresses of its buffers, then its sizes",
                    device.info().name
                )
            );
        }
        let limit = device.info().limits.shared_bytes_per_group;
        let error = launch(&mut stream, &two, 1, limit - 255, &[address, address, 1]).unwrap_err();
        assert!(matches!(error, DeviceError::SharedMemory { .. }), "{error}");
        let error = launch(&mut stream, &one, 1 << 31, 0, &[address, address, 1]).unwrap_err();
        assert!(matches!(error, DeviceError::Grid { .. }), "{error}");
        if family == Hip {
            // Threads of all groups together are counted in 32 bits.
            let error = launch(&mut stream, &one, 1 << 26, 0, &[address, address, 1]).unwrap_err();
            assert!(matches!(error, DeviceError::Grid { limit, .. } if limit == (1 << 26) - 1), "{error}");
        }
        // No groups are nothing.
        launch(&mut stream, &one, 0, 0, &[address, address, 64]).unwrap();
        assert_eq!(read(&mut stream, &x), ramp(64));
        // None of these made the stream fail.
        launch(&mut stream, &one, 1, 0, &[address, address, 64]).unwrap();
        assert_eq!(read(&mut stream, &x), affine(&ramp(64)));
        // Devices share nothing.
        let mut other = open_named(if family == Cuda { "cuda:1" } else { "rocm:1" }).stream().unwrap();
        let error = launch(&mut other, &one, 1, 0, &[address, address, 64]).unwrap_err();
        assert!(matches!(error, DeviceError::OtherDevice { .. }), "{error}");
    }
}

/// More than 48 KiB are asked for once; less are not.
#[test]
fn much_shared_memory_is_asked_for() {
    let _clean = Clean;
    let device = open(Cuda);
    let kernel = kernel(&device, Cuda, "reverse");
    let mut stream = device.stream().unwrap();
    let x = floats(&mut stream, &device, &ramp(64));
    let y = floats(&mut stream, &device, &ramp(64));
    let limit = device.info().limits.shared_bytes_per_group;
    assert_eq!(kernel.resident_groups(49_152 - 256).unwrap(), Some(4));
    for (shared, asked) in [(0, 0), (49_152 - 256, 0), (49_152 - 255, 1), (100_000, 1), (limit - 256, 1), (1, 1)] {
        launch(&mut stream, &kernel, 1, shared, &[x.address(), y.address(), 1]).unwrap();
        assert_eq!(calls("cuFuncSetAttribute"), asked, "{shared}");
    }
    assert_eq!(read(&mut stream, &y)[0], ramp(64)[63]);
    assert_eq!(kernel.resident_groups(0).unwrap(), Some(32));
    fail("cuFuncSetAttribute", 1);
    // Of another module the kernel is another, so it has to be asked for again.
    let again = super::fake::kernel(&device, Cuda, "reverse");
    let error = launch(&mut stream, &again, 1, 60_000, &[x.address(), y.address(), 1]).unwrap_err();
    assert!(error.to_string().contains("cuFuncSetAttribute: CUDA_ERROR_INVALID_VALUE"), "{error}");
    launch(&mut stream, &again, 1, 60_000, &[x.address(), y.address(), 1]).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn subgroups_are_those_of_the_code() {
    let _clean = Clean;
    let with = |family: Family, threads| {
        let device = open(family);
        let module = device.load(family.kernels()).unwrap();
        module.kernel_with("affine", &KernelOptions::default().subgroup(threads)).map(|_| ())
    };
    with(Cuda, 32).unwrap();
    with(Hip, 64).unwrap();
    for (family, threads) in [(Cuda, 64), (Hip, 32), (Cuda, 3)] {
        assert!(matches!(with(family, threads), Err(DeviceError::SubgroupSize { .. })), "{family:?} {threads}");
    }
}

#[test]
fn threads_share_a_device() {
    for family in Family::BOTH {
        let device = open(family);
        let module = device.load(if family == Cuda { CUBIN } else { family.kernels() }).unwrap();
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let (device, module) = (&device, &module);
                scope.spawn(move || {
                    let (kernel, pool) = (module.kernel("affine").unwrap(), device.pool());
                    let mut stream = device.stream().unwrap();
                    for round in 0..20 {
                        let n = 100 * seed + round + 1;
                        let (x, y) = (pool.allocate(4 * n as u64).unwrap(), pool.allocate(4 * n as u64).unwrap());
                        stream.upload(&x, 0, bytemuck::cast_slice(&ramp(n))).unwrap();
                        launch(&mut stream, &kernel, 2, 0, &[x.address(), y.address(), n as u64]).unwrap();
                        assert_eq!(read(&mut stream, &y), affine(&ramp(n)));
                    }
                    drop((stream, pool));
                    assert_eq!(violations(), "");
                    assert_eq!(live(), 0);
                });
            }
        });
    }
}
