//! `sutura inspect`: what an artifact says about itself.

use sutura_runtime::Artifact;
use sutura_runtime::manifest::Manifest;

use crate::cli::InspectArgs;
use crate::failure::Failure;
use crate::files;

pub(crate) fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    let artifact = Artifact::open(&args.artifact)?;
    artifact.verify()?;
    let manifest = artifact.manifest();
    let text = if args.json {
        String::from_utf8(manifest.to_json()).map_err(|e| Failure::internal(e.to_string()))?
    } else {
        let weights = artifact.constants().map(<[u8]>::len).sum::<usize>();
        describe(manifest, artifact.host().len(), weights)
    };
    files::write("-".as_ref(), text.as_bytes())
}

fn describe(manifest: &Manifest, code_bytes: usize, weight_bytes: usize) -> String {
    let mut text = format!("{}\n\n", manifest.signature());
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<10} {value}\n"));
    line("compiled", format!("by {} {}", manifest.tool.name, manifest.tool.version));
    line("source", manifest.source_hash.clone());
    line("target", format!("{} ({})", manifest.target.description, manifest.target.triple));
    line("features", manifest.target.features.clone());
    line("code", format!("{code_bytes} bytes"));
    line("constants", format!("{} of {weight_bytes} bytes", manifest.constants.len()));
    for symbol in &manifest.symbols {
        let div = if symbol.div == 1 { String::new() } else { format!(", multiples of {}", symbol.div) };
        let likely = if symbol.likely.is_empty() { String::new() } else { format!(", likely {:?}", symbol.likely) };
        line("dimension", format!("{} in [{}, {}]{div}{likely}", symbol.name, symbol.min, symbol.max));
    }
    for kernel in &manifest.kernels {
        let guard = kernel.guard.as_ref().map(|g| format!(" if {g}")).unwrap_or_default();
        let ops = if kernel.ops.is_empty() { String::new() } else { format!(": {}", kernel.ops.join(", ")) };
        line("kernel", format!("{}{guard}{ops}", kernel.symbol));
    }
    text
}
