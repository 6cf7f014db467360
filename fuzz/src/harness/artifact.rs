//! Artifacts. Nothing is loaded: what a damaged artifact holds as code is not run.

use sutura_runtime::artifact::{Contents, to_bytes};
use sutura_runtime::manifest::Dim;
use sutura_runtime::{Artifact, ArtifactProblem, Error};

use super::{Planted, Verdict, seal};

/// An artifact is refused with a reason, or all that it holds lies within it, and is written as what is read as the same. Where only a
/// checksum is wrong, it is made right, so that what lies behind it is reached too.
pub(super) fn run(input: &[u8], planted: Planted) -> Verdict {
    match Artifact::from_bytes("input.sutura", input) {
        Ok(artifact) => accepted(artifact, planted),
        Err(Error::Artifact { problem: ArtifactProblem::Checksum(_), .. }) => {
            let mut sealed = input.to_vec();
            seal::repair(&mut sealed);
            Artifact::from_bytes("sealed.sutura", &sealed).map_or_else(|e| refused(&e), |a| accepted(a, planted))
        }
        Err(error) => refused(&error),
    }
}

fn refused(error: &Error) -> Verdict {
    if error.to_string().is_empty() { Err("refused without a reason".to_string()) } else { Ok(()) }
}

fn accepted(mut artifact: Artifact, planted: Planted) -> Verdict {
    let whole = artifact.verify().is_ok();
    let variants = artifact.variants().len();
    for variant in 0..variants {
        artifact.select(variant);
        // Every byte is looked at: one that lies beyond the file would end this.
        let mut sum = 0u64;
        let parts = artifact.constants().chain([artifact.host()]).chain(artifact.device());
        parts.for_each(|bytes| sum += bytes.iter().map(|b| u64::from(*b)).sum::<u64>());
        std::hint::black_box(sum);
        if planted == Planted::Yes {
            rows(&artifact);
        }
        if whole {
            written_again(&artifact)?;
        }
    }
    Ok(())
}

fn written_again(artifact: &Artifact) -> Verdict {
    let constants: Vec<&[u8]> = artifact.constants().collect();
    let (manifest, host, device) = (artifact.manifest(), artifact.host(), artifact.device());
    let bytes = to_bytes(&Contents { manifest, host, device, constants: &constants });
    let bytes = bytes.map_err(|e| format!("what was read cannot be written: {e}"))?;
    let again =
        Artifact::from_bytes("again.sutura", &bytes).map_err(|e| format!("what was written is refused: {e}"))?;
    again.verify().map_err(|e| format!("what was written is damaged: {e}"))?;
    let same = again.manifest() == manifest
        && again.host() == host
        && again.device() == device
        && again.constants().eq(constants);
    if same { Ok(()) } else { Err("what was written is read as something else".to_string()) }
}

/// The planted fault: a share is taken of the columns of an input, which may be none.
fn rows(artifact: &Artifact) {
    for input in &artifact.manifest().inputs {
        if let Some(Dim::Const(columns)) = input.dims.last() {
            std::hint::black_box(4096 / columns);
        }
    }
}
