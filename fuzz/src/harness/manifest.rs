//! Manifests.

use sutura_runtime::Manifest;

use super::{Planted, Verdict};

/// A manifest is refused with a reason, or is written as what is read as the same.
pub(super) fn run(input: &[u8], planted: Planted) -> Verdict {
    let manifest = match Manifest::from_json(input) {
        Ok(manifest) => manifest,
        Err(problem) if problem.to_string().is_empty() => return Err("refused without a reason".to_string()),
        Err(_) => return Ok(()),
    };
    drop(manifest.signature());
    manifest.inputs.iter().chain(&manifest.outputs).for_each(|value| drop(value.dims_text()));
    let again = Manifest::from_json(&manifest.to_json()).map_err(|e| format!("what was written is refused: {e}"))?;
    if again != manifest {
        return Err(format!("what was written is read as something else:\n{manifest:?}\n{again:?}"));
    }
    if planted == Planted::Yes {
        // The number of sizes that a symbol may have, which may leave its 64 bits.
        manifest.symbols.iter().for_each(|s| {
            std::hint::black_box((s.max - s.min + 1) / s.div);
        });
    }
    Ok(())
}
