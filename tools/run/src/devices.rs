//! `sutura devices`: what kernels could run on here.

use serde_json::{Value, json};
use sutura_runtime::device::{Devices, Found};

use crate::failure::Failure;
use crate::files;
use crate::talk::Talk;

/// The name of this machine's processor among the devices.
const CPU: &str = "cpu";

pub fn devices(talk: &Talk) -> Result<(), Failure> {
    let devices = Devices::find();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let text: String = if talk.is_json() {
        let cpu = json!({"result": "device", "id": CPU, "architecture": std::env::consts::ARCH, "threads": threads});
        let lines = std::iter::once(cpu).chain(devices.all().iter().map(as_json));
        lines.map(|line| format!("{}\n", sutura_visible::json(&line.to_string()))).collect()
    } else {
        let cpu = format!("{CPU:<9} this machine's processor: {}, {threads} threads\n", std::env::consts::ARCH);
        let text = devices.all().iter().map(describe).fold(cpu, |text, device| text + &device);
        sutura_visible::visible(&text).into_owned()
    };
    for reason in devices.absent() {
        talk.note(reason);
    }
    files::write("-".as_ref(), text.as_bytes())
}

fn describe(found: &Found) -> String {
    let (info, limits) = (found.info(), &found.info().limits);
    let mut text = format!("{:<9} {}: {}, target {}\n", found.id(), info.name, info.kind.name(), info.target);
    let mut line = |name: &str, value: String| text.push_str(&format!("{:<9} {name:<10} {value}\n", ""));
    if let Some(problem) = found.problem() {
        line("unusable", problem.to_owned());
    }
    line("driver", format!("{}; {}", info.driver, info.api));
    line("groups", format!("of at most {} threads; at most {} in a launch", limits.threads_per_group, limits.groups));
    line("shared", format!("{} bytes per group", limits.shared_bytes_per_group));
    let (least, most) = limits.subgroup_range;
    let range = if least == most { String::new() } else { format!("; {least} to {most} where a kernel asks") };
    line("subgroups", format!("of {} threads{range}", limits.subgroup));
    if let Some(units) = limits.units {
        line("units", units.to_string());
    }
    line("memory", format!("{} bytes; at most {} at once", limits.memory_bytes, limits.allocation_bytes));
    line("features", info.features.iter().copied().collect::<Vec<_>>().join(" "));
    text
}

fn as_json(found: &Found) -> Value {
    let (info, limits) = (found.info(), &found.info().limits);
    json!({
        "result": "device",
        "id": found.id(),
        "name": info.name,
        "kind": info.kind.name(),
        "target": info.target,
        "driver": info.driver,
        "api": info.api,
        "problem": found.problem(),
        "limits": {
            "threads_per_group": limits.threads_per_group,
            "groups": limits.groups,
            "shared_bytes_per_group": limits.shared_bytes_per_group,
            "subgroup": limits.subgroup,
            "subgroup_range": [limits.subgroup_range.0, limits.subgroup_range.1],
            "units": limits.units,
            "memory_bytes": limits.memory_bytes,
            "allocation_bytes": limits.allocation_bytes,
        },
        "features": info.features,
    })
}
