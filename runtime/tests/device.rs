//! Devices: memory, copies, launches in order, and what is refused. The kernels are in `data/device_kernels.mlir`.
//!
//! Where there is no device the tests say so and pass, unless `SUTURA_REQUIRE_DEVICES=1`; then they fail.

#![allow(unsafe_code)]

use std::sync::OnceLock;
use std::time::Duration;

use sutura_runtime::device::{ALIGNMENT, Buffer, Device, DeviceError, Devices, Kernel, KernelOptions, Module, Stream};
use sutura_runtime::{Error, ErrorKind};

const KERNELS: &[u8] = include_bytes!("data/device_kernels.spv");

/// The device that tests run on; without one the test is skipped.
fn device() -> Option<&'static Device> {
    static DEVICE: OnceLock<Result<Device, String>> = OnceLock::new();
    let device = DEVICE.get_or_init(|| {
        let devices = Devices::find();
        devices.open("lavapipe").or_else(|_| devices.open("vulkan")).map_err(|error| error.to_string())
    });
    device.as_ref().map_err(|error| sutura_skip::skipped(sutura_skip::Need::Devices, error)).ok()
}

macro_rules! device_or_return {
    () => {
        match device() {
            Some(device) => device,
            None => return,
        }
    };
}

fn kernel(device: &Device, name: &str) -> Kernel {
    device.load(KERNELS).unwrap().kernel(name).unwrap()
}

fn floats(device: &Device, values: &[f32]) -> Buffer {
    let buffer = device.allocate(size_of_val(values) as u64).unwrap();
    let mut stream = device.stream().unwrap();
    stream.upload(&buffer, 0, bytemuck::cast_slice(values)).unwrap();
    stream.synchronize().unwrap();
    buffer
}

fn read(stream: &mut Stream, buffer: &Buffer) -> Vec<f32> {
    let mut values = vec![f32::NAN; (buffer.bytes() / 4) as usize];
    stream.download(buffer, 0, bytemuck::cast_slice_mut(&mut values)).unwrap();
    values
}

/// Launches `affine` or `reverse`, which take two buffers and a count.
#[track_caller]
fn launch(stream: &mut Stream, kernel: &Kernel, groups: u64, x: &Buffer, y: &Buffer, count: u64) {
    // SAFETY: callers give buffers of at least `count` elements or runs, which live until they synchronize.
    unsafe { stream.launch(kernel, groups, 0, &[x.address(), y.address(), count]) }.unwrap();
}

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32 * 0.5 - 7.0).collect()
}

/// Different everywhere, and not repeating soon.
fn noise(n: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..n).map(|_| next()).collect()
}

/// The binary of the other tests is what its source says, and valid.
#[test]
fn the_binary_is_made_from_its_source() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let tool = |program: &str, arguments: &[&str]| {
        let output = std::process::Command::new(program).args(arguments).current_dir(data).output();
        match output {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                sutura_skip::skipped(sutura_skip::Need::Spirv, format!("{program} is not installed"));
                None
            }
            output => Some(output.unwrap()),
        }
    };
    let flags = ["--no-implicit-module", "--serialize-spirv", "device_kernels.mlir"];
    if let Some(output) = tool("mlir-translate-22", &flags) {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout == KERNELS, "device_kernels.spv is not up to date; its README.md says how to make it");
    }
    if let Some(output) = tool("spirv-val", &["--target-env", "vulkan1.2", "device_kernels.spv"]) {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn threads_may_have_them() {
    fn shared<T: Send + Sync>() {}
    fn moved<T: Send>() {}
    shared::<(Device, Buffer, Module, Kernel, Devices, sutura_runtime::device::Pool)>();
    moved::<Stream>();
}

#[test]
fn elementwise_over_any_size_and_grid() {
    let device = device_or_return!();
    let affine = kernel(device, "affine");
    let mut stream = device.stream().unwrap();
    for (n, groups) in [(0, 1), (1, 1), (63, 1), (64, 3), (65, 1), (1000, 16), (1000, 2), (100_003, 7)] {
        let x = floats(device, &ramp(n + 5));
        let y = floats(device, &vec![-1.0; n + 5]);
        launch(&mut stream, &affine, groups, &x, &y, n as u64);
        let found = read(&mut stream, &y);
        let expected: Vec<f32> = ramp(n).iter().map(|x| 2.0 * x + 1.0).chain([-1.0; 5]).collect();
        assert_eq!(found, expected, "{n} elements, {groups} groups");
    }
}

#[test]
fn workgroup_memory_with_barriers() {
    let device = device_or_return!();
    let reverse = kernel(device, "reverse");
    assert_eq!((reverse.info().threads_per_group, reverse.info().shared_bytes), (64, 256));
    let mut stream = device.stream().unwrap();
    for (runs, groups) in [(1, 1), (37, 5), (5, 37)] {
        let values = ramp(runs * 64);
        let (x, y) = (floats(device, &values), floats(device, &vec![0.0; runs * 64]));
        launch(&mut stream, &reverse, groups, &x, &y, runs as u64);
        let expected: Vec<f32> = values.chunks(64).flat_map(|run| run.iter().rev().copied()).collect();
        assert_eq!(read(&mut stream, &y), expected);
    }
}

/// Each launch reads what the one before wrote; more launches than a batch of commands holds.
#[test]
fn launches_are_done_in_order() {
    let device = device_or_return!();
    let (affine, reverse) = (kernel(device, "affine"), kernel(device, "reverse"));
    let mut stream = device.stream().unwrap();
    let n = 64 * 40;
    let mut expected = ramp(n);
    let (x, y) = (floats(device, &expected), floats(device, &vec![0.0; n]));
    for _ in 0..12 {
        launch(&mut stream, &affine, 3, &x, &y, n as u64);
        launch(&mut stream, &reverse, 4, &y, &x, 40);
        expected.iter_mut().for_each(|x| *x = 2.0 * *x + 1.0);
        expected = expected.chunks(64).flat_map(|run| run.iter().rev().copied()).collect();
    }
    assert_eq!(read(&mut stream, &x), expected);
}

/// Argument blocks stay as they were until their launch is done, however many follow.
#[test]
fn many_launches_keep_their_arguments() {
    let device = device_or_return!();
    let affine = kernel(device, "affine");
    let mut stream = device.stream().unwrap();
    let n = 3000;
    let (x, y) = (floats(device, &ramp(n)), floats(device, &vec![0.0; n]));
    for i in 0..n as u64 {
        // SAFETY: one element each, within both buffers, which live until the download below.
        unsafe { stream.launch(&affine, 1, 0, &[x.address() + 4 * i, y.address() + 4 * i, 1]) }.unwrap();
    }
    let expected: Vec<f32> = ramp(n).iter().map(|x| 2.0 * x + 1.0).collect();
    assert_eq!(read(&mut stream, &y), expected);
}

#[test]
fn copies_of_odd_sizes_and_places() {
    let device = device_or_return!();
    let mut stream = device.stream().unwrap();
    // More than one staging block, and not a whole number of them.
    let all = noise((9 << 20) + 3);
    let buffer = device.allocate(all.len() as u64).unwrap();
    stream.upload(&buffer, 0, &all).unwrap();
    let mut back = vec![0; all.len()];
    stream.download(&buffer, 0, &mut back).unwrap();
    assert!(back == all);
    let mut expected = all;
    for (offset, bytes) in [(0, 1), (1, 1), (7, 13), (4095, 4099), ((4 << 20) - 1, 5), ((9 << 20) + 2, 1)] {
        let new: Vec<u8> = expected[offset..][..bytes].iter().map(|byte| !byte).collect();
        stream.upload(&buffer, offset as u64, &new).unwrap();
        expected[offset..][..bytes].copy_from_slice(&new);
        let mut part = vec![0; bytes];
        stream.download(&buffer, offset as u64, &mut part).unwrap();
        assert_eq!(part, new);
    }
    stream.download(&buffer, 0, &mut back).unwrap();
    assert!(back == expected);

    let other = device.allocate(1000).unwrap();
    stream.upload(&other, 0, &[9; 1000]).unwrap();
    stream.copy((&buffer, 4093), (&other, 11), 501).unwrap();
    // Within one buffer, side by side.
    stream.copy((&other, 11), (&other, 512), 488).unwrap();
    let mut part = vec![0; 1000];
    stream.download(&other, 0, &mut part).unwrap();
    let copied = &expected[4093..][..501];
    assert_eq!((&part[..11], &part[11..512], &part[512..]), (&[9; 11][..], copied, &copied[..488]));
}

/// What is uploaded may change, and buffers, kernels and modules may go, before the work is done.
#[test]
fn work_keeps_what_it_uses() {
    let device = device_or_return!();
    let mut stream = device.stream().unwrap();
    let (x, y) = (floats(device, &[0.0; 64]), floats(device, &[0.0; 64]));
    let mut values = ramp(64);
    stream.upload(&x, 0, bytemuck::cast_slice(&values)).unwrap();
    values.fill(f32::NAN);
    {
        let temporary = device.allocate(256).unwrap();
        stream.copy((&x, 0), (&temporary, 0), 256).unwrap();
        stream.copy((&temporary, 0), (&y, 0), 256).unwrap();
        launch(&mut stream, &kernel(device, "affine"), 1, &y, &x, 64);
    }
    let expected: Vec<f32> = ramp(64).iter().map(|x| 2.0 * x + 1.0).collect();
    assert_eq!(read(&mut stream, &x), expected);
}

#[test]
fn dropping_a_stream_waits_for_its_work() {
    let device = device_or_return!();
    let (x, y) = (floats(device, &ramp(640)), floats(device, &[0.0; 640]));
    let mut stream = device.stream().unwrap();
    launch(&mut stream, &kernel(device, "reverse"), 1, &x, &y, 10);
    drop(stream);
    let found = read(&mut device.stream().unwrap(), &y);
    assert_eq!(found[..3], ramp(640)[61..64].iter().rev().copied().collect::<Vec<_>>());
}

#[test]
fn pools_reuse_memory() {
    let device = device_or_return!();
    let pool = device.pool();
    let first = pool.allocate(5000).unwrap();
    let address = first.address();
    assert_eq!((first.bytes(), address % ALIGNMENT), (5000, 0));
    assert_eq!(pool.stats().used_bytes, 5120);
    drop(first);
    assert_eq!((pool.stats().used_bytes, pool.stats().cached_bytes), (0, 5120));
    let second = pool.allocate(5100).unwrap();
    assert_eq!(second.address(), address);
    let third = pool.allocate(5100).unwrap();
    assert_ne!(third.address(), address);
    let stats = pool.stats();
    assert_eq!((stats.reused, stats.allocated, stats.peak_bytes, stats.cached_bytes), (1, 2, 10240, 0));
    drop(third);
    assert_eq!(pool.trim(), 5120);
    assert_eq!(pool.stats().cached_bytes, 0);

    // What a stream still copies is not reused.
    let mut stream = device.stream().unwrap();
    stream.upload(&second, 0, &[1; 100]).unwrap();
    drop(second);
    assert_eq!(pool.stats().cached_bytes, 0);
    stream.synchronize().unwrap();
    assert_eq!(pool.stats().cached_bytes, 5120);

    // A buffer that outlives its pool is freed.
    let last = pool.allocate(10).unwrap();
    drop(pool);
    stream.upload(&last, 0, &[1; 10]).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn memory_is_counted_and_freed() {
    if device().is_none() {
        return;
    }
    // Its own, as other tests allocate at the same time.
    let device = Devices::find().open("vulkan").unwrap();
    let buffers: Vec<Buffer> = (1..100).map(|n| device.allocate(n * 100).unwrap()).collect();
    assert_eq!(device.allocated_bytes(), 495_000);
    let mut addresses: Vec<u64> = buffers.iter().map(Buffer::address).collect();
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), 99);
    assert!(addresses.iter().all(|address| address % ALIGNMENT == 0));
    drop(buffers);
    assert_eq!(device.allocated_bytes(), 0);
}

#[test]
fn no_bytes_and_no_groups_are_nothing() {
    let device = device_or_return!();
    let mut stream = device.stream().unwrap();
    for empty in [device.allocate(0).unwrap(), device.pool().allocate(0).unwrap()] {
        assert_ne!(empty.address(), 0);
        assert_eq!((empty.bytes(), empty.address() % ALIGNMENT), (0, 0));
        stream.upload(&empty, 0, &[]).unwrap();
        stream.copy((&empty, 0), (&empty, 0), 0).unwrap();
        stream.download(&empty, 0, &mut []).unwrap();
        let error = stream.upload(&empty, 0, &[1]).unwrap_err();
        assert!(matches!(error, DeviceError::OutOfBounds { offset: 0, bytes: 1, size: 0, .. }), "{error}");
    }
    let y = floats(device, &[3.0; 64]);
    launch(&mut stream, &kernel(device, "affine"), 0, &y, &y, 64);
    assert_eq!(read(&mut stream, &y), [3.0; 64]);
    // A stream without work.
    stream.synchronize().unwrap();
    device.stream().unwrap().synchronize().unwrap();
}

#[test]
fn events_measure_the_device() {
    let device = device_or_return!();
    let affine = kernel(device, "affine");
    let n = 1 << 20;
    let (x, y) = (floats(device, &ramp(n)), floats(device, &vec![0.0; n]));
    let mut stream = device.stream().unwrap();
    let host = std::time::Instant::now();
    let mut events = vec![stream.record().unwrap()];
    // More than a batch holds.
    for _ in 0..100 {
        launch(&mut stream, &affine, 8, &x, &y, n as u64);
        events.push(stream.record().unwrap());
    }
    stream.synchronize().unwrap();
    let host = host.elapsed();
    let total = events[100].since(&events[0]).unwrap();
    assert!(total > Duration::ZERO && total <= host, "the device took {total:?}, the host {host:?}");
    let sum: Duration = events.windows(2).map(|pair| pair[1].since(&pair[0]).unwrap()).sum();
    assert!(sum.abs_diff(total) < Duration::from_micros(1), "{sum:?} and {total:?}");
    let later = stream.record().unwrap();
    assert_eq!(later.since(&events[0]), None);
}

#[test]
fn threads_share_a_device() {
    let device = device_or_return!();
    let module = device.load(KERNELS).unwrap();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let module = &module;
            scope.spawn(move || {
                let affine = module.kernel("affine").unwrap();
                let pool = device.pool();
                let mut stream = device.stream().unwrap();
                for round in 0..20 {
                    let n = 100 * seed + round + 1;
                    let values: Vec<f32> = ramp(n).iter().map(|x| x + seed as f32).collect();
                    let (x, y) = (pool.allocate(4 * n as u64).unwrap(), pool.allocate(4 * n as u64).unwrap());
                    stream.upload(&x, 0, bytemuck::cast_slice(&values)).unwrap();
                    launch(&mut stream, &affine, 2, &x, &y, n as u64);
                    let expected: Vec<f32> = values.iter().map(|x| 2.0 * x + 1.0).collect();
                    assert_eq!(read(&mut stream, &y), expected);
                }
                assert!(pool.stats().reused > 0);
            });
        }
    });
}

#[test]
fn subgroups_can_be_demanded() {
    let device = device_or_return!();
    let module = device.load(KERNELS).unwrap();
    let with = |threads| module.kernel_with("affine", &KernelOptions::default().subgroup(threads));
    let limits = &device.info().limits;
    let (least, most) = limits.subgroup_range;
    if device.info().features.contains("subgroup-size-control") {
        let affine = with(least).unwrap();
        let mut stream = device.stream().unwrap();
        let (x, y) = (floats(device, &ramp(200)), floats(device, &[0.0; 200]));
        launch(&mut stream, &affine, 1, &x, &y, 200);
        assert_eq!(read(&mut stream, &y)[199], 2.0 * ramp(200)[199] + 1.0);
    }
    for (wanted, words) in [(3, "no power of two"), (0, "no power of two"), (2 * most, "it has")] {
        let error = with(wanted).unwrap_err();
        assert!(matches!(&error, DeviceError::SubgroupSize { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}

/// The error of loading something, as text without the device's name.
#[track_caller]
fn load_error(device: &Device, binary: &[u8]) -> String {
    let error = device.load(binary).unwrap_err();
    let prefix = format!("device `{}` cannot load the binary: ", device.info().name);
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    error.to_string().strip_prefix(&prefix).unwrap().to_owned()
}

#[test]
fn wrong_binaries_are_refused() {
    let device = device_or_return!();
    assert_eq!(load_error(device, b""), "it is empty");
    assert_eq!(load_error(device, b"ELF"), "its 3 bytes are no whole number of 4-byte words; is it cut off?");
    assert_eq!(
        load_error(device, b"\x7fELF\x01\x01\x01\x00"),
        "it is no SPIR-V: it begins with 0x464c457f, not with 0x07230203"
    );
    let swapped: Vec<u8> = KERNELS.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
    assert_eq!(load_error(device, &swapped), "it is SPIR-V in the wrong byte order; write it as little endian");
    assert_eq!(load_error(device, &KERNELS[..16]), "it ends within the header of SPIR-V");
    assert_eq!(load_error(device, &KERNELS[..20]), "it has no entry point");
    let cut = load_error(device, &KERNELS[..KERNELS.len() - 4]);
    assert_eq!(cut, "it ends before its last function; is it cut off?");
    let cut = load_error(device, &KERNELS[..64]);
    assert!(cut.starts_with("its instruction at word ") && cut.ends_with(" is cut off"), "{cut}");
    let mut newer = KERNELS.to_vec();
    newer[5] = 9;
    let text = load_error(device, &newer);
    assert!(text.starts_with("it is SPIR-V 1.9, but the device takes versions up to 1."), "{text}");
}

#[test]
fn what_a_device_lacks_is_said() {
    let device = device_or_return!();
    // OpCapability with a number that nobody knows, behind the header.
    let mut binary = KERNELS[..20].to_vec();
    binary.extend([17 | (2 << 16), 60_000u32].into_iter().flat_map(u32::to_le_bytes));
    binary.extend(&KERNELS[20..]);
    let error = device.load(&binary).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "device `{}` lacks `SPIR-V capability 60000`, which the binary of the kernels `affine`, `reverse` needs; \
             compile the model for this device, or choose another",
            device.info().name
        )
    );
    assert_eq!(Error::from(error).kind(), ErrorKind::Unsupported);
}

#[test]
fn unknown_kernels_are_refused() {
    let device = device_or_return!();
    let module: Module = device.load(KERNELS).unwrap();
    let names: Vec<&str> = module.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["affine", "reverse"]);
    let error = module.kernel("afine").unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "the binary for device `{}` has no kernel `afine` (did you mean `affine`?); its kernels are `affine`, `reverse`",
            device.info().name
        )
    );
}

#[test]
fn launches_beyond_limits_are_refused() {
    let device = device_or_return!();
    let affine = kernel(device, "affine");
    let mut stream = device.stream().unwrap();
    let limits = &device.info().limits;
    // SAFETY: nothing of this is launched.
    let mut refused =
        |groups, shared, arguments: &[u64]| unsafe { stream.launch(&affine, groups, shared, arguments).unwrap_err() };
    for groups in [u64::from(limits.groups) + 1, u64::MAX] {
        let error = refused(groups, 0, &[0, 0, 0]);
        assert!(matches!(error, DeviceError::Grid { groups: g, .. } if g == groups), "{error}");
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
    let error = refused(1, 0, &[0; 513]).to_string();
    assert!(error.contains("with 513 arguments, the limit is 512"), "{error}");
    let error = refused(1, limits.shared_bytes_per_group + 1, &[0, 0, 0]);
    assert!(matches!(error, DeviceError::SharedMemory { .. }), "{error}");
    let error = refused(1, 4, &[0, 0, 0]).to_string();
    assert!(error.contains("4 bytes of dynamic shared memory: of Vulkan it is fixed"), "{error}");
}

#[test]
fn too_many_bytes_are_refused() {
    let device = device_or_return!();
    let limits = &device.info().limits;
    let pool = device.pool();
    for bytes in [limits.allocation_bytes + 1, u64::MAX] {
        for error in [device.allocate(bytes).unwrap_err(), pool.allocate(bytes).unwrap_err()] {
            assert!(matches!(error, DeviceError::TooLarge { bytes: b, .. } if b == bytes), "{error}");
        }
    }
    assert_eq!(pool.stats(), Default::default());
}

#[test]
fn ranges_outside_buffers_are_refused() {
    let device = device_or_return!();
    let mut stream = device.stream().unwrap();
    let (small, large) = (device.allocate(100).unwrap(), device.allocate(200).unwrap());
    let name = &device.info().name;
    let error = stream.upload(&small, 99, &[0; 2]).unwrap_err();
    let text = format!("cannot upload to bytes 99..101 of a buffer of 100 bytes on device `{name}`");
    assert_eq!(error.to_string(), text);
    assert_eq!(error.kind(), ErrorKind::Usage);
    let error = stream.download(&small, u64::MAX, &mut [0]).unwrap_err().to_string();
    assert!(error.contains("18446744073709551615..18446744073709551616"), "{error}");
    assert!(stream.copy((&large, 0), (&small, 0), 101).is_err());
    assert!(stream.copy((&small, 50), (&large, 0), 51).is_err());
    let error = stream.copy((&large, 0), (&large, 99), 100).unwrap_err();
    assert!(matches!(error, DeviceError::Overlap { from: 0, to: 99, .. }), "{error}");
    stream.copy((&large, 0), (&large, 100), 100).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn devices_share_nothing() {
    let device = device_or_return!();
    let other = Devices::find().open("vulkan").unwrap();
    let mut stream = other.stream().unwrap();
    let buffer = device.allocate(16).unwrap();
    let error = stream.upload(&buffer, 0, &[1]).unwrap_err();
    assert!(matches!(&error, DeviceError::OtherDevice { what, .. } if what == "a buffer of 16 bytes"), "{error}");
    // SAFETY: nothing is launched.
    let error = unsafe { stream.launch(&kernel(device, "affine"), 1, 0, &[]) }.unwrap_err();
    assert!(matches!(&error, DeviceError::OtherDevice { what, .. } if what == "kernel `affine`"), "{error}");
}

/// What was made from a device keeps it open.
#[test]
fn a_device_may_be_dropped_first() {
    if device().is_none() {
        return;
    }
    let device = Devices::find().open("vulkan").unwrap();
    let (affine, mut stream) = (kernel(&device, "affine"), device.stream().unwrap());
    let (x, y) = (floats(&device, &ramp(9)), floats(&device, &[0.0; 9]));
    drop(device);
    launch(&mut stream, &affine, 1, &x, &y, 9);
    assert_eq!(read(&mut stream, &y)[8], -5.0);
}

#[test]
fn devices_are_found_by_name() {
    let device = device_or_return!();
    let devices = Devices::find();
    let found = devices.all().iter().find(|found| found.info().name == device.info().name).unwrap();
    assert_eq!(devices.select(&found.id()).unwrap().info().name, device.info().name);
    assert_eq!(devices.select(&device.info().name).unwrap().info().name, device.info().name);
    let error = devices.open("no such device").unwrap_err().to_string();
    assert!(error.starts_with("there is no device `no such device`; there are `vulkan:0 "), "{error}");
    let info = device.info();
    assert_eq!(info.target, "vulkan");
    let limits = &info.limits;
    assert!(limits.threads_per_group >= 128 && limits.shared_bytes_per_group >= 16384, "{limits:?}");
    assert!(limits.subgroup.is_power_of_two() && limits.groups >= 65535, "{limits:?}");
    assert!(limits.allocation_bytes >= 1 << 30 && limits.memory_bytes >= limits.allocation_bytes, "{limits:?}");
}
