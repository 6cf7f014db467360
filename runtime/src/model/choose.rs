//! Of an artifact for several machines, the variant that runs here.

use crate::artifact::Artifact;
use crate::cpu;
use crate::device::{Backend, DeviceInfo, Devices, cuda};
use crate::error::{Error, Result};
use crate::manifest::{Device, Manifest};
use crate::options::{Options, PROCESSOR};

/// Selects the variant for the device that is asked for; else the first whose machine is there. Of those for one device it is
/// the one for the newest processor.
pub(super) fn choose(artifact: &mut Artifact, options: &Options) -> Result<()> {
    if artifact.variants().len() > 1 {
        let variants: Vec<&Manifest> = artifact.variants().collect();
        let chosen = match (&options.opened, &options.device) {
            (Some(device), _) => for_device(&variants, device.info())?,
            (None, Some(name)) if name == PROCESSOR => for_processor(&variants)?,
            (None, Some(name)) => for_device(&variants, Devices::find().select(name)?.info())?,
            (None, None) => first_that_runs(&variants)?,
        };
        artifact.select(chosen);
    }
    Ok(())
}

/// The first variant without a device that runs here.
fn for_processor(variants: &[&Manifest]) -> Result<usize> {
    let mut refused = None;
    for (number, variant) in variants.iter().enumerate().filter(|(_, variant)| variant.device.is_none()) {
        match cpu::check(&variant.target) {
            Ok(()) => return Ok(number),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| not_for_processor(variants.iter().map(|variant| made_for(variant)))))
}

/// The error for a model that is to run on the processor and has code for devices only.
pub(super) fn not_for_processor(made_for: impl Iterator<Item = String>) -> Error {
    let wanted = made_for.collect::<Vec<_>>().join(", ");
    let is = "is the processor; compile the model for it too".to_owned();
    Error::WrongDevice { wanted, device: PROCESSOR.to_owned(), is }
}

fn for_device(variants: &[&Manifest], info: &DeviceInfo) -> Result<usize> {
    best(variants, info).ok_or_else(|| {
        let made_for: Vec<String> = variants.iter().map(|variant| made_for(variant)).collect();
        let is = format!("is none of them: it is {} of {}", info.target, info.backend.name());
        Error::WrongDevice { wanted: made_for.join(", "), device: info.name.clone(), is }
    })
}

/// The variant for the newest processor of those that run on a device, and of like ones the first.
fn best(variants: &[&Manifest], info: &DeviceInfo) -> Option<usize> {
    let mut best: Option<(usize, u32)> = None;
    for (number, variant) in variants.iter().enumerate() {
        let Some(wanted) = variant.device.as_ref().filter(|wanted| runs_on(wanted, info).is_ok()) else { continue };
        let newness = wanted.chip.as_deref().and_then(cuda::capability).unwrap_or(0);
        if best.is_none_or(|(_, other)| newness > other) {
            best = Some((number, newness));
        }
    }
    best.map(|(number, _)| number)
}

fn first_that_runs(variants: &[&Manifest]) -> Result<usize> {
    let devices = Devices::find();
    let mut reasons = Vec::new();
    for (number, variant) in variants.iter().enumerate() {
        let Some(wanted) = &variant.device else {
            match cpu::check(&variant.target) {
                Ok(()) => return Ok(number),
                Err(error) => reasons.push(format!("{}: {error}", made_for(variant))),
            }
            continue;
        };
        match devices.select(&wanted.backend) {
            Ok(found) if found.problem().is_some() => {
                reasons.push(format!("{}: {}", made_for(variant), found.problem().unwrap_or_default()));
            }
            Ok(found) => match runs_on(wanted, found.info()) {
                Ok(()) => return Ok(best(variants, found.info()).unwrap_or(number)),
                Err(is) => reasons.push(format!("{}: `{}` {is}", made_for(variant), found.info().name)),
            },
            Err(_) => reasons.push(format!("{}: there is no such device", made_for(variant))),
        }
    }
    Err(Error::NoVariant { reasons })
}

/// Whether code for a device runs on this one; if not, what this one is.
pub(super) fn runs_on(wanted: &Device, info: &DeviceInfo) -> Result<(), String> {
    if info.backend.name() != wanted.backend {
        return Err(format!("is a device of {}", info.backend.name()));
    }
    if let Some(chip) = &wanted.chip {
        // Behind the name stand features of the device, which code that says nothing of them runs with.
        let own = info.target.split(':').next().unwrap_or_default();
        let fits = if info.backend == Backend::Cuda { cuda::mismatch(chip, own).is_none() } else { chip == own };
        if !fits {
            return Err(format!("is {own}"));
        }
    }
    let (own, (least, most)) = (info.limits.subgroup, info.limits.subgroup_range);
    let can_have = info.backend == Backend::Vulkan && (least..=most).contains(&wanted.subgroup);
    if own == wanted.subgroup || can_have || info.backend == Backend::Fibers {
        return Ok(());
    }
    Err(format!("has subgroups of {own}"))
}

/// What a variant was compiled for.
fn made_for(variant: &Manifest) -> String {
    variant.device.as_ref().map_or_else(|| format!("the processor {}", variant.target.description), device_words)
}

/// A device in words.
pub(super) fn device_words(device: &Device) -> String {
    match &device.chip {
        Some(chip) => format!("{} ({chip})", device.backend),
        None => format!("{} with subgroups of {}", device.backend, device.subgroup),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::info_for_tests as info;
    use crate::manifest::tests::sample;

    fn variant(backend: &str, chip: Option<&str>, subgroup: u32) -> Manifest {
        let device = Device { backend: backend.into(), chip: chip.map(str::to_owned), subgroup };
        Manifest { device: Some(device), ..sample() }
    }

    fn device(backend: Backend, target: &str, subgroup: u32) -> DeviceInfo {
        let mut info = info("GPU");
        (info.backend, info.target) = (backend, target.to_owned());
        (info.limits.subgroup, info.limits.subgroup_range) = (subgroup, (subgroup, subgroup));
        info
    }

    #[test]
    fn the_newest_code_that_a_device_runs_is_chosen() {
        let all = [
            sample(),
            variant("cuda", Some("sm_80"), 32),
            variant("cuda", Some("sm_90"), 32),
            variant("cuda", Some("sm_100"), 32),
            variant("rocm", Some("gfx90a"), 64),
            variant("rocm", Some("gfx942"), 64),
            variant("vulkan", None, 32),
        ];
        let all: Vec<&Manifest> = all.iter().collect();
        let best = |backend, target: &str, subgroup| best(&all, &device(backend, target, subgroup));
        assert_eq!(best(Backend::Cuda, "sm_86", 32), Some(1));
        assert_eq!(best(Backend::Cuda, "sm_90", 32), Some(2));
        assert_eq!(best(Backend::Cuda, "sm_120", 32), Some(3));
        assert_eq!(best(Backend::Cuda, "sm_75", 32), None);
        assert_eq!(best(Backend::Rocm, "gfx942:sramecc+:xnack-", 64), Some(5));
        assert_eq!(best(Backend::Rocm, "gfx1100", 32), None);
        assert_eq!(best(Backend::Vulkan, "vulkan", 32), Some(6));
        assert_eq!(best(Backend::Vulkan, "vulkan", 64), None);
        let special = variant("cuda", Some("sm_90a"), 32);
        let runs = |target| runs_on(special.device.as_ref().unwrap(), &device(Backend::Cuda, target, 32));
        assert_eq!((runs("sm_90"), runs("sm_100")), (Ok(()), Err("is sm_100".to_owned())));
        let error = for_device(&all, &device(Backend::Cuda, "sm_75", 32)).unwrap_err().to_string();
        assert!(error.contains("the processor x86_64, cuda (sm_80), cuda (sm_90)"), "{error}");
        assert!(error.contains("`GPU` is none of them: it is sm_75 of cuda"), "{error}");
    }
}
