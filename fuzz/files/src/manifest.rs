//! Manifests.

use sutura_runtime::Manifest;

use crate::{Planted, Verdict};

/// A manifest is refused with a reason, or is written as what is read as the same.
///
/// # Errors
/// When a law is broken that is no panic.
pub fn run(input: &[u8], planted: Planted) -> Verdict {
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
        // How often a likely size fits into the largest one; it may be none.
        let likely = |s: &sutura_runtime::manifest::Symbol| s.likely.iter().map(|size| s.max / size).sum::<i64>();
        std::hint::black_box(manifest.symbols.iter().map(likely).sum::<i64>());
    }
    Ok(())
}
