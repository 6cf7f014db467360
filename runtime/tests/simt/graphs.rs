//! Sequences of launches that are recorded once and replayed.

use sutura_runtime::ErrorKind;
use sutura_runtime::device::{Buffer, Device, DeviceError, Devices, Graph, Stream};

use super::fake::{
    Clean, Cuda, Family, Hip, affine, calls, fail, floats, kernel, live, open, open_named, ramp, read, set_version,
    violations,
};

/// Records `y = affine(x)`, `x = y`.
fn record(device: &Device, family: Family, stream: &mut Stream, x: &Buffer, y: &Buffer) -> Graph {
    let affine = kernel(device, family, "affine");
    stream.begin_capture().unwrap();
    // SAFETY: both have 64 elements, and are kept by the graph.
    unsafe { stream.launch(&affine, 1, 0, &[x.address(), y.address(), 64]) }.unwrap();
    stream.copy((y, 0), (x, 0), 256).unwrap();
    stream.end_capture(&[x, y]).unwrap()
}

#[test]
fn a_graph_is_replayed() {
    for (family, version) in [(Cuda, 12_040), (Cuda, 11_030), (Hip, 60_200_000), (Hip, 50_400_000)] {
        let _clean = Clean;
        set_version(family, version);
        let device = open(family);
        let native = device.info().features.contains("graphs");
        assert_eq!(native, matches!(version, 12_040 | 60_200_000));
        let mut stream = device.stream().unwrap();
        let mut expected = ramp(64);
        let (x, y) = (floats(&mut stream, &device, &expected), floats(&mut stream, &device, &[0.0; 64]));
        let graph = record(&device, family, &mut stream, &x, &y);
        assert_eq!((graph.commands(), graph.is_native()), (2, native));
        // Recording does nothing.
        assert_eq!(read(&mut stream, &x), expected);
        let launches = calls(family.either("cuLaunchKernel", "hipModuleLaunchKernel"));
        for _ in 0..600 {
            // SAFETY: the graph keeps its buffers.
            unsafe { stream.replay(&graph) }.unwrap();
        }
        let launched = calls(family.either("cuLaunchKernel", "hipModuleLaunchKernel")) - launches;
        assert_eq!(launched, if native { 0 } else { 600 });
        for _ in 0..600 {
            expected = affine(&expected);
        }
        assert_eq!(read(&mut stream, &x), expected);
        // Another stream can replay it as well.
        let mut second = device.stream().unwrap();
        // SAFETY: as above; the other stream's work is done.
        unsafe { second.replay(&graph.clone()) }.unwrap();
        assert_eq!(read(&mut second, &y), affine(&expected));
    }
}

/// What a graph uses lives as long as it and its launches, and no longer.
#[test]
fn graphs_keep_what_they_use() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let pool = device.pool();
        let mut stream = device.stream().unwrap();
        let out = floats(&mut stream, &device, &[0.0; 64]);
        let graph = {
            let (x, y) = (pool.allocate(256).unwrap(), pool.allocate(256).unwrap());
            stream.upload(&x, 0, bytemuck::cast_slice(&ramp(64))).unwrap();
            let affine = kernel(&device, family, "affine");
            stream.begin_capture().unwrap();
            // SAFETY: both have 64 elements, and are kept by the graph.
            unsafe { stream.launch(&affine, 1, 0, &[x.address(), y.address(), 64]) }.unwrap();
            stream.copy((&y, 0), (&out, 0), 256).unwrap();
            stream.end_capture(&[&x, &y]).unwrap()
        };
        stream.synchronize().unwrap();
        assert_eq!(pool.stats().used_bytes, 512, "the graph has the buffers");
        // SAFETY: the graph keeps its buffers.
        unsafe { stream.replay(&graph) }.unwrap();
        drop(graph);
        assert_eq!(violations(), "");
        assert_eq!(read(&mut stream, &out), affine(&ramp(64)));
        assert_eq!(pool.stats().used_bytes, 0);
    }
}

#[test]
fn what_cannot_be_captured() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let mut stream = device.stream().unwrap();
        let x = floats(&mut stream, &device, &ramp(64));
        let affine = kernel(&device, family, "affine");
        let error = stream.end_capture(&[]).unwrap_err();
        assert!(
            error.to_string().ends_with("cannot end a capture: it captures nothing; begin a capture first"),
            "{error}"
        );
        assert_eq!(error.kind(), ErrorKind::Usage);
        let y = floats(&mut stream, &device, &[0.0; 64]);
        let before = record(&device, family, &mut stream, &x, &y);
        stream.begin_capture().unwrap();
        let mut errors = vec![
            stream.begin_capture().unwrap_err(),
            stream.upload(&x, 0, &[1]).unwrap_err(),
            stream.download(&x, 0, &mut [1]).unwrap_err(),
            stream.synchronize().unwrap_err(),
            stream.record().unwrap_err(),
        ];
        // SAFETY: it is refused.
        errors.push(unsafe { stream.replay(&before) }.unwrap_err());
        for error in errors {
            assert!(matches!(error, DeviceError::Capture { .. }), "{error}");
            assert!(error.to_string().contains("it captures a graph, which takes launches"), "{error}");
        }
        // What is wrong with a launch is told when it is recorded.
        // SAFETY: it is refused.
        let error = unsafe { stream.launch(&affine, 1, 0, &[x.address()]) }.unwrap_err();
        assert!(matches!(error, DeviceError::ArgumentCount { .. }), "{error}");
        let empty = stream.end_capture(&[]).unwrap();
        assert_eq!((empty.commands(), empty.is_native()), (0, false));
        // SAFETY: it does nothing.
        unsafe { stream.replay(&empty) }.unwrap();
        // Devices share nothing.
        let mut other = open_named(if family == Cuda { "cuda:1" } else { "rocm:1" }).stream().unwrap();
        // SAFETY: it is refused.
        let error = unsafe { other.replay(&before) }.unwrap_err();
        assert!(matches!(error, DeviceError::OtherDevice { .. }), "{error}");
        assert_eq!(read(&mut stream, &x), ramp(64));
    }
}

/// A capture that the driver refuses leaves the stream as it was.
#[test]
fn captures_that_fail() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let mut stream = device.stream().unwrap();
        let (x, y) = (floats(&mut stream, &device, &ramp(64)), floats(&mut stream, &device, &[0.0; 64]));
        let affine = kernel(&device, family, "affine");
        stream.synchronize().unwrap();
        let before = live();
        for (cuda, hip) in [
            ("cuStreamBeginCapture_v2", "hipStreamBeginCapture"),
            ("cuLaunchKernel", "hipModuleLaunchKernel"),
            ("cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync"),
            ("cuGraphInstantiateWithFlags", "hipGraphInstantiateWithFlags"),
        ] {
            let call = family.either(cuda, hip);
            stream.begin_capture().unwrap();
            // SAFETY: both have 64 elements, and live until the end.
            unsafe { stream.launch(&affine, 1, 0, &[x.address(), y.address(), 64]) }.unwrap();
            stream.copy((&y, 0), (&x, 0), 256).unwrap();
            fail(call, 1);
            let error = stream.end_capture(&[&x, &y]).unwrap_err();
            assert!(matches!(&error, DeviceError::Driver { call: failed, .. } if failed == call), "{error}");
            assert_eq!(live(), before, "{call}");
        }
        let graph = record(&device, family, &mut stream, &x, &y);
        // SAFETY: the graph keeps its buffers.
        unsafe { stream.replay(&graph) }.unwrap();
        assert_eq!(read(&mut stream, &x), super::fake::affine(&ramp(64)));
    }
}

/// Where the driver has no graphs, as with Vulkan, the same is enqueued piece by piece.
#[test]
fn vulkan_replays_what_was_recorded() {
    let Ok(device) = Devices::find().open("lavapipe") else { return };
    let module = device.load(include_bytes!("../data/device_kernels.spv")).unwrap();
    let kernel = module.kernel("affine").unwrap();
    let mut stream = device.stream().unwrap();
    let mut expected = ramp(64);
    let (x, y) = (floats(&mut stream, &device, &expected), floats(&mut stream, &device, &[0.0; 64]));
    stream.begin_capture().unwrap();
    // SAFETY: both have 64 elements, and are kept by the graph.
    unsafe { stream.launch(&kernel, 1, 0, &[x.address(), y.address(), 64]) }.unwrap();
    stream.copy((&y, 0), (&x, 0), 256).unwrap();
    // SAFETY: it is refused.
    let error = unsafe { stream.launch(&kernel, 1, 16, &[x.address(), y.address(), 64]) }.unwrap_err();
    assert!(matches!(error, DeviceError::DynamicShared { .. }), "{error}");
    let graph = stream.end_capture(&[&x, &y]).unwrap();
    assert!(!graph.is_native());
    for _ in 0..5 {
        // SAFETY: the graph keeps its buffers.
        unsafe { stream.replay(&graph) }.unwrap();
        expected = affine(&expected);
    }
    assert_eq!(read(&mut stream, &x), expected);
}
