//! Artifacts for several machines: what their `manifest.json` says instead.

use serde::{Deserialize, Serialize};

use crate::abi;
use crate::error::ArtifactProblem;
use crate::manifest::{FORMAT, check_versions, unique};

/// The variants of an artifact. Each has a folder with what an artifact for one machine has at the top.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Index {
    format: u32,
    abi: u32,
    pub(super) variants: Vec<Variant>,
}

/// A variant of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    /// Its folder.
    pub(super) name: String,
    /// The folder with its weights: its own, or that of an earlier variant which has the same.
    pub(super) weights: String,
}

/// What only an index has.
#[derive(Deserialize)]
struct Probe {
    #[serde(default)]
    variants: Option<serde::de::IgnoredAny>,
}

impl Index {
    pub(super) fn new(variants: Vec<Variant>) -> Self {
        Self { format: FORMAT, abi: abi::VERSION, variants }
    }

    /// The text of `manifest.json`.
    pub(super) fn to_json(&self) -> Vec<u8> {
        // Serialising plain structs into memory has no way to fail.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// Parses and checks `manifest.json`; `None` where it is that of one machine.
    pub(super) fn from_json(text: &[u8]) -> Result<Option<Self>, ArtifactProblem> {
        let invalid = |e: serde_json::Error| ArtifactProblem::Manifest(e.to_string());
        check_versions(text)?;
        let probe: Probe = serde_json::from_slice(text).map_err(invalid)?;
        if probe.variants.is_none() {
            return Ok(None);
        }
        let index: Self = serde_json::from_slice(text).map_err(invalid)?;
        index.validate().map_err(ArtifactProblem::Manifest)?;
        Ok(Some(index))
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        if self.variants.is_empty() {
            return Err("it has no variant".to_owned());
        }
        unique("variant", self.variants.iter().map(|variant| &variant.name))?;
        for (at, Variant { name, weights }) in self.variants.iter().enumerate() {
            let word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            if name.is_empty() || name.starts_with('.') || !name.chars().all(word) {
                return Err(format!("{name:?} is no name of a variant"));
            }
            if !self.variants[..=at].iter().any(|earlier| earlier.name == *weights && earlier.weights == *weights) {
                return Err(format!("variant `{name}` has the weights of `{weights}`, which has none before it"));
            }
        }
        Ok(())
    }
}
