//! `sutura inspect`: what an artifact says about itself.

use sutura_runtime::Artifact;

use crate::cli::InspectArgs;
use crate::failure::Failure;
use crate::files;

pub(crate) fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    let mut artifact = Artifact::open(&args.artifact)?;
    let mut texts = Vec::new();
    let count = artifact.variants().len();
    for variant in 0..count {
        artifact.select(variant);
        texts.push(if args.json { json(&artifact)? } else { describe(&artifact) });
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

fn describe(artifact: &Artifact) -> String {
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
    for symbol in &manifest.symbols {
        let div = if symbol.div == 1 { String::new() } else { format!(", multiples of {}", symbol.div) };
        let likely = if symbol.likely.is_empty() { String::new() } else { format!(", likely {:?}", symbol.likely) };
        let decided = if manifest.decided.contains(&symbol.name) { ", decided by data" } else { "" };
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
    text
}
