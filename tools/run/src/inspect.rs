//! `sutura inspect`: what an artifact says about itself.

use serde_json::Map;
use sutura_runtime::manifest::{Dim, Value};
use sutura_runtime::{Artifact, Manifest};

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::files;
use crate::memory;
use crate::talk::Talk;

pub fn inspect(args: &InspectArgs, talk: &Talk) -> Result<(), Failure> {
    let mut artifact = Artifact::open(&args.artifact)?;
    let mut texts = Vec::new();
    let count = artifact.variants().len();
    for variant in 0..count {
        artifact.select(variant);
        texts.push(match args.json || talk.is_json() {
            true => json(&artifact)?,
            false => describe(&artifact, &args.sizes)?,
        });
    }
    if talk.is_json() && !args.json {
        let manifests = texts.iter().map(|text| serde_json::from_str::<serde_json::Value>(text));
        let manifests = manifests.collect::<Result<Vec<_>, _>>().map_err(Failure::internal)?;
        return talk.result("inspect", Map::from_iter([("variants".to_owned(), manifests.into())]));
    }
    let text = match (&texts[..], args.json) {
        ([one], _) => one.clone(),
        // What a variant says ends its last line.
        (several, true) => format!("[\n{}]\n", several.join(",")),
        (several, false) => format!("{} variants\n\n{}", several.len(), several.join("\n")),
    };
    files::write("-".as_ref(), text.as_bytes())
}

fn json(artifact: &Artifact) -> Result<String, Failure> {
    let text = String::from_utf8(artifact.manifest().to_json()).map_err(|e| Failure::internal(e.to_string()))?;
    Ok(sutura_visible::json(&text).into_owned())
}

fn describe(artifact: &Artifact, sizes: &[(String, i64)]) -> Result<String, Failure> {
    let (manifest, code_bytes) = (artifact.manifest(), artifact.host().len());
    let weight_bytes = artifact.constants().map(<[u8]>::len).sum::<usize>();
    let mut text = format!("{}\n\n", sutura_visible::line(&manifest.signature()));
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<10} {}\n", sutura_visible::line(&value)));
    line("compiled", format!("by {} {}", manifest.tool.name, manifest.tool.version));
    line("source", manifest.source_hash.clone());
    line("target", format!("{} ({})", manifest.target.description, manifest.target.triple));
    line("features", manifest.target.features.clone());
    line("code", format!("{code_bytes} bytes"));
    if let (Some(device), Some(code)) = (&manifest.device, artifact.device()) {
        let chip = device.chip.as_ref().map_or_else(String::new, |chip| format!(" {chip}"));
        let (backend, threads) = (&device.backend, device.subgroup);
        line("device", format!("{backend}{chip}, subgroups of {threads}, {} bytes of code", code.len()));
    }
    line("constants", format!("{} of {weight_bytes} bytes", manifest.constants.len()));
    memory(manifest, sizes)?.into_iter().for_each(|value| line("memory", value));
    for symbol in &manifest.symbols {
        let div = if symbol.div == 1 { String::new() } else { format!(", multiples of {}", symbol.div) };
        let likely = if symbol.likely.is_empty() { String::new() } else { format!(", likely {:?}", symbol.likely) };
        let reserved = |value: &Value| value.dims.first() == Some(&Dim::Symbol(symbol.name.clone()));
        let decided = match () {
            () if manifest.decided.contains(&symbol.name) => ", decided by data",
            () if manifest.reserves.iter().any(reserved) => ", places that the runtime makes for what data decide",
            () => "",
        };
        line("dimension", format!("{} in [{}, {}]{div}{likely}{decided}", symbol.name, symbol.min, symbol.max));
    }
    for routine in &manifest.routines {
        line("routine", routine.clone());
    }
    for kernel in &manifest.kernels {
        let guard = kernel.guard.as_ref().map(|g| format!(" if {g}")).unwrap_or_default();
        let ops = if kernel.ops.is_empty() { String::new() } else { format!(": {}", kernel.ops.join(", ")) };
        line("kernel", format!("{}{guard}{ops}", kernel.symbol));
    }
    Ok(text)
}

/// The memory that a run takes beside the weights: for all sizes, and at those that are given.
fn memory(manifest: &Manifest, sizes: &[(String, i64)]) -> Result<Vec<String>, Failure> {
    let mut lines = memory::formulas(manifest);
    if sizes.is_empty() {
        return Ok(lines);
    }
    let unknown = sizes.iter().find(|(name, _)| manifest.symbols.iter().all(|symbol| symbol.name != *name));
    if let Some((name, _)) = unknown {
        let names: Vec<&str> = manifest.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
        let failure = Failure::usage(format!("the model has no size `{name}`"));
        return Err(failure.hint(format!("it has: {}", names.join(", "))));
    }
    let given = |name: &str| sizes.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    if let Some(symbol) = manifest.symbols.iter().find(|symbol| given(&symbol.name).is_none()) {
        return Err(Failure::usage(format!("the size `{}` is not given", symbol.name)));
    }
    let line = memory::at(manifest, &given);
    lines.push(line.ok_or_else(|| Failure::usage("the memory at these sizes has no place in 64 bits"))?);
    Ok(lines)
}
