//! Which devices there are, and the one that is meant.

use std::fmt;
use std::path::PathBuf;

use super::driver::Opener;
use super::error::DeviceError;
use super::{Backend, Device, DeviceInfo, DeviceKind, Result, cuda, fibers, hip, vulkan};

/// The name of the first device that is the CPU, seen through Vulkan; the driver calls it by the processor's features.
const LAVAPIPE: &str = "lavapipe";

/// The devices of this machine, of all backends.
#[derive(Debug)]
pub struct Devices {
    found: Vec<Found>,
    absent: Vec<String>,
}

/// A device that could be opened.
pub struct Found {
    pub(super) info: DeviceInfo,
    /// Its number among the devices of its backend.
    pub(super) index: usize,
    /// Why it cannot run models.
    pub(super) problem: Option<String>,
    pub(super) opener: Box<dyn Opener>,
}

/// Libraries of drivers, where they are not those that the system finds. An empty path switches the backend off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Libraries {
    /// Instead of `libcuda.so.1`.
    pub cuda: Option<PathBuf>,
    /// Instead of `libamdhip64.so` of any version.
    pub hip: Option<PathBuf>,
}

impl Libraries {
    /// What `SUTURA_CUDA_LIBRARY` and `SUTURA_HIP_LIBRARY` say.
    pub fn from_env() -> Self {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        Self { cuda: variable(cuda::VARIABLE), hip: variable(hip::VARIABLE) }
    }
}

impl Devices {
    /// Looks for devices. That there are none, or that a backend's library is missing, is no error.
    pub fn find() -> Self {
        Self::find_with(&Libraries::from_env())
    }

    /// As [`Self::find`], with other libraries than the environment says.
    pub fn find_with(libraries: &Libraries) -> Self {
        let mut devices = Self { found: Vec::new(), absent: Vec::new() };
        let gpus = [cuda::find(libraries.cuda.as_deref()), hip::find(libraries.hip.as_deref()), vulkan::find()];
        for found in gpus.into_iter().chain([Ok(vec![fibers::find()])]) {
            match found {
                Ok(found) => devices.found.extend(found),
                Err(reason) => devices.absent.push(reason),
            }
        }
        devices
    }

    /// All devices, those of a backend in the order of their numbers: of CUDA, of ROCm, of Vulkan, fibers.
    pub fn all(&self) -> &[Found] {
        &self.found
    }

    /// For each backend without a device, why there is none.
    pub fn absent(&self) -> &[String] {
        &self.absent
    }

    /// The device of a name: `cuda` (the first), `rocm:1`, `lavapipe` (Vulkan on the CPU), `cpu-fibers`, or a part of its own
    /// name. Of several with one name it is the first, and of backends that have it the first.
    pub fn select(&self, name: &str) -> Result<&Found> {
        let meant: Vec<&Found> = self.found.iter().filter(|found| found.answers_to(name)).collect();
        let usable = meant.iter().copied().find(|found| found.problem.is_none());
        let Some(first) = usable.or(meant.first().copied()) else {
            let known = self.found.iter().map(Found::to_string).collect();
            return Err(DeviceError::Unknown { name: name.to_owned(), known, absent: self.absent.clone() });
        };
        // Backends may have names of their own for the same hardware.
        let other = |found: &&Found| found.info.backend == first.info.backend && found.info.name != first.info.name;
        if is_part_of_name(name) && meant.iter().any(other) {
            let same = meant.iter().filter(|found| found.info.backend == first.info.backend);
            let matches = same.map(|found| found.to_string()).collect();
            return Err(DeviceError::Ambiguous { name: name.to_owned(), matches });
        }
        Ok(first)
    }

    /// Opens the device of a name; see [`Self::select`].
    pub fn open(&self, name: &str) -> Result<Device> {
        self.select(name)?.open()
    }
}

/// Whether a name is neither that of a backend, with or without a number, nor an alias.
fn is_part_of_name(name: &str) -> bool {
    let backend = name.split(':').next().unwrap_or(name);
    let backends = [Backend::Cuda, Backend::Rocm, Backend::Vulkan, Backend::Fibers];
    name != LAVAPIPE && backends.iter().all(|known| known.name() != backend)
}

impl Found {
    /// What the device is.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The name that means this device and no other: `vulkan:0`.
    pub fn id(&self) -> String {
        format!("{}:{}", self.info.backend, self.index)
    }

    /// Why the device cannot run models, if it cannot.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Opens the device.
    pub fn open(&self) -> Result<Device> {
        match &self.problem {
            Some(reason) => Err(DeviceError::Unusable { device: self.info.name.clone(), reason: reason.clone() }),
            None => Ok(Device::new(self.opener.open()?)),
        }
    }

    fn answers_to(&self, name: &str) -> bool {
        let info = &self.info;
        if name == LAVAPIPE {
            return info.backend == Backend::Vulkan && info.kind == DeviceKind::Cpu;
        }
        if is_part_of_name(name) {
            return !name.is_empty() && info.name.to_lowercase().contains(&name.to_lowercase());
        }
        match name.split_once(':') {
            None => name == info.backend.name(),
            Some((backend, index)) => {
                backend == info.backend.name() && crate::options::whole_number(index) == Some(self.index)
            }
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id(), self.info.name)
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found").field("info", &self.info).field("problem", &self.problem).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::Limits;
    use super::super::driver::Driver;
    use super::*;

    struct Closed;

    impl Opener for Closed {
        fn open(&self) -> Result<Box<dyn Driver>> {
            Err(DeviceError::NoTimestamps { device: "closed".into() })
        }
    }

    /// A GPU of this name, with 1 GiB.
    pub(crate) fn info(name: &str) -> DeviceInfo {
        DeviceInfo {
            backend: Backend::Vulkan,
            name: name.into(),
            kind: DeviceKind::Discrete,
            driver: "driver".into(),
            api: "Vulkan 1.3.0".into(),
            target: "vulkan".into(),
            limits: Limits {
                threads_per_group: 1024,
                groups: 65535,
                shared_bytes_per_group: 32768,
                subgroup: 32,
                subgroup_range: (32, 32),
                units: None,
                memory_bytes: 1 << 30,
                allocation_bytes: 1 << 30,
            },
            features: Default::default(),
        }
    }

    fn devices(all: &[(&str, DeviceKind, bool)]) -> Devices {
        let found = |(index, (name, kind, usable)): (usize, &(&str, DeviceKind, bool))| Found {
            info: DeviceInfo { kind: *kind, ..info(name) },
            index,
            problem: (!usable).then(|| "it lacks `int64`".into()),
            opener: Box::new(Closed),
        };
        Devices { found: all.iter().enumerate().map(found).collect(), absent: vec![] }
    }

    fn three() -> Devices {
        devices(&[
            ("GeForce RTX 4090", DeviceKind::Discrete, true),
            ("GeForce RTX 4070", DeviceKind::Discrete, true),
            ("llvmpipe (LLVM 15.0.6, 256 bits)", DeviceKind::Cpu, true),
        ])
    }

    #[test]
    fn names_mean_devices() {
        let devices = three();
        let id = |name: &str| devices.select(name).unwrap().id();
        assert_eq!(id("vulkan"), "vulkan:0");
        assert_eq!(id("vulkan:1"), "vulkan:1");
        assert_eq!(id("lavapipe"), "vulkan:2");
        assert_eq!(id("rtx 4070"), "vulkan:1");
        assert_eq!(id("4090"), "vulkan:0");
        assert_eq!(id("LLVM"), "vulkan:2");
    }

    #[test]
    fn other_names_are_errors_that_say_what_there_is() {
        let devices = three();
        for name in ["cuda", "vulkan:3", "vulkan:", "vulkan:-1", "vulkan:+1", "vulkan: 1", "vulkan:x", "", "RTX 5090"] {
            let error = devices.select(name).unwrap_err();
            assert!(matches!(&error, DeviceError::Unknown { known, .. } if known.len() == 3), "{name}: {error}");
            assert!(error.to_string().contains("`vulkan:1 GeForce RTX 4070`"), "{error}");
        }
        let error = devices.select("rtx").unwrap_err().to_string();
        assert_eq!(
            error,
            "`rtx` names more than one device: `vulkan:0 GeForce RTX 4090`, `vulkan:1 GeForce RTX 4070`; \
             write more of the name"
        );
        let none = Devices { found: vec![], absent: vec!["no Vulkan: reasons".into()] };
        let error = none.select("vulkan").unwrap_err().to_string();
        assert_eq!(error, "there is no device `vulkan`; there are none; no Vulkan: reasons");
    }

    #[test]
    fn twins_are_no_ambiguity_and_unusable_ones_come_last() {
        let twins = devices(&[("H100", DeviceKind::Discrete, true), ("H100", DeviceKind::Discrete, true)]);
        assert_eq!(twins.select("h100").unwrap().id(), "vulkan:0");
        let old = devices(&[("Old", DeviceKind::Discrete, false), ("New", DeviceKind::Integrated, true)]);
        assert_eq!(old.select("vulkan").unwrap().id(), "vulkan:1");
        let error = old.open("old").unwrap_err().to_string();
        assert_eq!(error, "device `Old` cannot run models: it lacks `int64`");
        assert_eq!(old.open("vulkan:0").unwrap_err().to_string(), error);
    }
}
