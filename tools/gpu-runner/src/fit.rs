//! The artifact that fits a device.

use std::path::{Path, PathBuf};

use sutura_runtime::device::{Backend, Device, DeviceInfo};
use sutura_runtime::{Artifact, Model, Options, manifest};

use crate::{Failure, Result};

/// Loads the artifact of a workload that fits the device best: of the artifacts in `BUNDLE/artifacts/*/NAME.sutura`.
/// Returns also what it was compiled for.
pub(crate) fn load(bundle: &Path, name: &str, device: &Device, options: Options) -> Result<(Model, String)> {
    let info = device.info();
    let file = format!("{name}.sutura");
    let (mut best, mut others): (Option<(u64, Artifact)>, Vec<String>) = (None, Vec::new());
    for path in candidates(&bundle.join("artifacts"), &file)? {
        let artifact = Artifact::open(&path)?;
        let target = artifact.manifest().target.description.clone();
        match artifact.manifest().device.as_ref().and_then(|wanted| fitness(wanted, info)) {
            Some(fitness) if best.as_ref().is_none_or(|(so_far, _)| fitness > *so_far) => {
                best = Some((fitness, artifact));
            }
            Some(_) => {}
            None => others.push(target),
        }
    }
    let Some((_, artifact)) = best else {
        let (backend, target) = (info.backend, &info.target);
        let there = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
        return Err(Failure::NoDevice(format!(
            "no artifact of `{name}` fits {} ({backend}, {target}): the bundle has {there}; make one with `cargo xtask \
             gpu-bundle --targets` for this device",
            info.name
        )));
    };
    let target = artifact.manifest().target.description.clone();
    Ok((Model::from_artifact(artifact, options.on(device))?, target))
}

/// The files of a name in all folders, sorted.
fn candidates(artifacts: &Path, file: &str) -> Result<Vec<PathBuf>> {
    let unreadable = |error| Failure::File(format!("cannot read `{}`: {error}", artifacts.display()));
    let mut found = Vec::new();
    for folder in std::fs::read_dir(artifacts).map_err(unreadable)? {
        let path = folder.map_err(unreadable)?.path().join(file);
        if path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// How well code fits a device; none where it cannot run there.
fn fitness(wanted: &manifest::Device, info: &DeviceInfo) -> Option<u64> {
    if wanted.backend != info.backend.name() {
        return None;
    }
    match (info.backend, &wanted.chip) {
        (Backend::Cuda, Some(chip)) => {
            let capability = |text: &str| text.strip_prefix("sm_")?.trim_end_matches(char::is_alphabetic).parse().ok();
            let (made, has): (u64, u64) = (capability(chip)?, capability(&info.target)?);
            // Of PTX the driver makes code for newer hardware too, unless it is bound to one.
            let bound = chip.ends_with(char::is_alphabetic);
            (made == has || made < has && !bound).then_some(2 * made + u64::from(bound))
        }
        (Backend::Rocm, Some(chip)) => (info.target.split(':').next() == Some(chip.as_str())).then_some(1),
        (_, Some(chip)) => (info.target == *chip).then_some(1),
        (_, None) => {
            let (least, most) = info.limits.subgroup_range;
            let own = wanted.subgroup == info.limits.subgroup || info.backend == Backend::Fibers;
            (own || (least..=most).contains(&wanted.subgroup)).then_some(1 + u64::from(own))
        }
    }
}

#[cfg(test)]
mod tests {
    use sutura_runtime::device::{DeviceKind, Limits};

    use super::*;

    fn fits(made: (&str, Option<&str>, u32), has: (Backend, &str, u32)) -> Option<u64> {
        let wanted = manifest::Device { backend: made.0.into(), chip: made.1.map(str::to_owned), subgroup: made.2 };
        let limits = Limits {
            threads_per_group: 1024,
            groups: 65535,
            shared_bytes_per_group: 32768,
            subgroup: has.2,
            subgroup_range: (has.2, 32),
            units: None,
            memory_bytes: 1 << 30,
            allocation_bytes: 1 << 30,
        };
        let info = DeviceInfo {
            backend: has.0,
            name: "device".into(),
            kind: DeviceKind::Discrete,
            driver: "driver".into(),
            api: "api".into(),
            target: has.1.into(),
            limits,
            features: Default::default(),
        };
        fitness(&wanted, &info)
    }

    #[test]
    fn the_newest_code_that_a_device_can_run() {
        let nvidia = |made, has| fits(("cuda", Some(made), 32), (Backend::Cuda, has, 32));
        assert!(nvidia("sm_80", "sm_90") < nvidia("sm_90", "sm_90"));
        assert!(nvidia("sm_90", "sm_90") < nvidia("sm_90a", "sm_90"));
        assert!(nvidia("sm_80", "sm_120") < nvidia("sm_100", "sm_120"));
        assert!(nvidia("sm_80", "sm_89").is_some());
        assert_eq!(
            (nvidia("sm_90", "sm_89"), nvidia("sm_90a", "sm_100"), nvidia("sm_80", "unknown")),
            (None, None, None)
        );
        let amd = |has| fits(("rocm", Some("gfx942"), 64), (Backend::Rocm, has, 64));
        assert!(amd("gfx942:sramecc+:xnack-").is_some() && amd("gfx942").is_some());
        assert_eq!((amd("gfx90a:sramecc+:xnack-"), amd("gfx9")), (None, None));
        let vulkan = |made, has| fits(("vulkan", None, made), (Backend::Vulkan, "vulkan", has));
        assert!(vulkan(32, 8) < vulkan(8, 8));
        assert_eq!(vulkan(64, 32), None);
        assert!(fits(("cpu-fibers", None, 32), (Backend::Fibers, "fibers", 1)).is_some());
        assert_eq!(fits(("cuda", Some("sm_80"), 32), (Backend::Rocm, "gfx942", 64)), None);
    }
}
