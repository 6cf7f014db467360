//! Which devices there are, and why there are none.

use std::io::Write as _;
use std::process::Command;

use sutura_runtime::device::{Backend, DeviceError, DeviceKind, Devices, Libraries};

use super::fake::{Cuda, Family, Hip, devices, fail, fail_after, path, set_version};

fn with(family: Family, library: &str) -> Libraries {
    let mut libraries = Libraries::default();
    libraries.cuda = Some("".into());
    libraries.hip = Some("".into());
    *(if family == Cuda { &mut libraries.cuda } else { &mut libraries.hip }) = Some(library.into());
    libraries
}

/// Why a family has no devices, if its library is this one.
#[track_caller]
fn absent(family: Family, library: &str) -> String {
    let devices = Devices::find_with(&with(family, library));
    assert!(devices.all().iter().all(|found| !matches!(found.info().backend, Backend::Cuda | Backend::Rocm)));
    devices.absent()[usize::from(family == Hip)].clone()
}

#[test]
fn devices_are_listed_with_their_limits() {
    let devices = devices();
    let ids: Vec<String> = devices.all().iter().map(|found| found.to_string()).collect();
    assert_eq!(ids[..3], ["cuda:0 Fake H100", "cuda:1 Fake T4", "cuda:2 Fake Prohibited"]);
    assert_eq!(ids[7..9], ["rocm:0 Fake MI300X", "rocm:1 Fake Radeon"]);

    let info = devices.select("cuda").unwrap().info();
    assert_eq!((info.backend, info.kind), (Backend::Cuda, DeviceKind::Discrete));
    assert_eq!((info.target.as_str(), info.api.as_str()), ("sm_90", "CUDA 12.4"));
    let limits = &info.limits;
    assert_eq!((limits.threads_per_group, limits.groups), (1024, i32::MAX as u32));
    assert_eq!((limits.shared_bytes_per_group, limits.units), (232_448, Some(132)));
    assert_eq!((limits.subgroup, limits.subgroup_range), (32, (32, 32)));
    assert_eq!((limits.memory_bytes, limits.allocation_bytes), (256 << 20, 256 << 20));
    assert!(["tensor-cores", "clusters", "graphs"].iter().all(|name| info.features.contains(name)));
    let old = devices.select("cuda:1").unwrap().info();
    assert!(old.features.contains("tensor-cores") && !old.features.contains("bfloat16"), "{:?}", old.features);

    let info = devices.select("rocm").unwrap().info();
    assert_eq!((info.target.as_str(), info.api.as_str()), ("gfx942:sramecc+:xnack-", "HIP 6.2"));
    assert_eq!(info.driver, "AMD HIP runtime 6.2.41134");
    assert_eq!((info.limits.subgroup_range, info.limits.shared_bytes_per_group), ((64, 64), 65_536));
    let radeon = devices.select("radeon").unwrap().info();
    assert_eq!((radeon.target.as_str(), radeon.limits.subgroup_range), ("gfx1100", (32, 64)));
}

#[test]
fn names_mean_devices_of_a_backend() {
    let devices = devices();
    let id = |name: &str| devices.select(name).unwrap().id();
    assert_eq!(
        (id("cuda"), id("cuda:1"), id("rocm"), id("rocm:1")),
        ("cuda:0", "cuda:1", "rocm:0", "rocm:1").map_into()
    );
    assert_eq!((id("h100"), id("t4")), ("cuda:0", "cuda:1").map_into());
    // Both backends have one; the first counts.
    assert_eq!(id("fake small"), "cuda:3");
    for name in ["cuda:7", "cuda:x", "rocm:", "hip"] {
        assert!(matches!(devices.select(name), Err(DeviceError::Unknown { .. })), "{name}");
    }
    let error = devices.select("fake crash").unwrap_err();
    let DeviceError::Ambiguous { matches, .. } = error else { panic!("{error}") };
    assert_eq!(matches, ["cuda:4 Fake Crash A", "cuda:5 Fake Crash B", "cuda:6 Fake Crash C"]);
    let error = devices.open("cuda:2").unwrap_err().to_string();
    assert_eq!(
        error,
        "device `Fake Prohibited` cannot run models: its compute mode forbids work; `nvidia-smi -c DEFAULT` allows it"
    );
}

/// Pairs and quadruples of names, owned.
trait MapInto {
    type Owned;
    fn map_into(self) -> Self::Owned;
}

impl MapInto for (&str, &str) {
    type Owned = (String, String);
    fn map_into(self) -> Self::Owned {
        (self.0.into(), self.1.into())
    }
}

impl MapInto for (&str, &str, &str, &str) {
    type Owned = (String, String, String, String);
    fn map_into(self) -> Self::Owned {
        (self.0.into(), self.1.into(), self.2.into(), self.3.into())
    }
}

#[test]
fn libraries_that_are_not_there_or_wrong() {
    for (family, name, variable) in [(Cuda, "no CUDA", "SUTURA_CUDA_LIBRARY"), (Hip, "no ROCm", "SUTURA_HIP_LIBRARY")] {
        let reason = absent(family, "/nowhere/libgpu.so");
        assert!(reason.starts_with(&format!("{name}: /nowhere/libgpu.so: cannot open shared object file")), "{reason}");
        assert!(reason.ends_with(&format!("or name its library in {variable}")), "{reason}");
        assert_eq!(absent(family, ""), format!("{name}: {variable} is empty, which switches it off"));
        // A library, but not that one.
        let reason = absent(family, "libc.so.6");
        let function = family.either("cuDriverGetVersion", "hipRuntimeGetVersion");
        assert_eq!(reason, format!("{name}: its library lacks {function}"));
    }
    let none = Devices::find_with(&with(Cuda, "/nowhere"));
    let error = none.select("cuda").unwrap_err().to_string();
    assert!(error.contains("there is no device `cuda`") && error.contains("no CUDA: /nowhere"), "{error}");
}

#[test]
fn drivers_that_are_too_old() {
    let library = path().to_str().unwrap();
    set_version(Cuda, 10_020);
    assert_eq!(
        absent(Cuda, library),
        "no CUDA: its driver is too old: it has CUDA 10.2, but 11.0 is needed; update the driver"
    );
    set_version(Hip, 40_520_000);
    assert_eq!(
        absent(Hip, library),
        "no ROCm: its HIP runtime is too old: it has version 4.5.20000, but 5.0 is needed; update ROCm"
    );
}

/// The processor's name is found by either layout of the properties.
#[test]
fn versions_of_hip() {
    for (version, graphs) in [(50_422_804, false), (60_000_000, true), (70_125_424, true)] {
        set_version(Hip, version);
        let devices = devices();
        let info = devices.select("rocm").unwrap().info();
        assert_eq!((info.target.as_str(), info.features.contains("graphs")), ("gfx942:sramecc+:xnack-", graphs));
    }
}

#[test]
fn failures_of_the_driver_are_named() {
    let library = path().to_str().unwrap();
    for (family, init, count) in [(Cuda, "cuInit", "cuDeviceGetCount"), (Hip, "hipInit", "hipGetDeviceCount")] {
        let prefix = family.either("no CUDA", "no ROCm");
        let name = family.either("CUDA_ERROR_NO_DEVICE", "hipErrorNoDevice");
        for call in [init, count] {
            fail(call, 100);
            let reason = absent(family, library);
            assert_eq!(reason, format!("{prefix}: {call}: {name} (100): no CUDA-capable device is detected"));
        }
    }
    fail("cuInit", 804);
    assert_eq!(absent(Cuda, library), "no CUDA: cuInit: an error that it has no name for (804)");
    // A device that does not answer is listed, cannot be opened, and is no harm to the next.
    for (family, call) in [(Cuda, "cuDeviceTotalMem_v2"), (Hip, "hipDeviceGetName")] {
        fail_after(call, 1, 1);
        let devices = devices();
        let second = devices.select(family.either("cuda:1", "rocm:1")).unwrap();
        assert_eq!(second.info().name, "device 1");
        let name = family.either("CUDA_ERROR_INVALID_VALUE", "hipErrorInvalidValue");
        let reason = format!("its driver does not tell what it is: {call}: {name} (1): invalid argument");
        assert_eq!(second.problem(), Some(reason.as_str()));
        assert!(matches!(second.open(), Err(DeviceError::Unusable { .. })));
        assert_eq!(
            devices.select(family.either("cuda:2", "rocm:2")).unwrap().info().name.split(' ').next(),
            Some("Fake")
        );
    }
    // A limit that the driver does not tell makes a device that is listed, and cannot be opened.
    fail_after("hipDeviceGetAttribute", 1, 1);
    let devices = devices();
    let problem = devices.all().iter().find(|found| found.id() == "rocm:0").unwrap().problem().map(str::to_owned);
    assert!(problem.unwrap().contains("does not tell its limits"));
    assert_eq!(devices.select("rocm").unwrap().id(), "rocm:1");
}

/// Lists the devices in a process of its own, which is this test again.
#[test]
fn environment_names_libraries() {
    const CHILD: &str = "SUTURA_TEST_LISTS_DEVICES";
    if std::env::var_os(CHILD).is_some() {
        let (devices, mut out) = (Devices::find(), std::io::stdout());
        let found = devices.all().iter().map(|found| found.to_string());
        found.chain(devices.absent().to_vec()).for_each(|line| writeln!(out, "{line}").unwrap());
        return;
    }
    let listed = |cuda: &str, hip: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "listing::environment_names_libraries", "--nocapture"]).env(CHILD, "1");
        let output = child.env("SUTURA_CUDA_LIBRARY", cuda).env("SUTURA_HIP_LIBRARY", hip).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let library = path().to_str().unwrap();
    let text = listed(library, "");
    assert!(text.contains("cuda:0 Fake H100") && !text.contains("Fake MI300X"), "{text}");
    assert!(text.contains("no ROCm: SUTURA_HIP_LIBRARY is empty"), "{text}");
    let text = listed("/nowhere", library);
    assert!(text.contains("rocm:0 Fake MI300X") && text.contains("no CUDA: /nowhere: "), "{text}");
}
