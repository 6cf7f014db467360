//! `index.json`: what entries an artifact has, with the hashes of their data, and the machines that it is for.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::INDEX;
use super::archive::Stored;
use super::hashes::{BLOCK, Digest};
use crate::abi;
use crate::error::ArtifactProblem;
use crate::manifest::{FORMAT, check_versions, unique};

/// The index of an artifact. Everything else in the file follows from it, or has its hash in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Index {
    format: u32,
    abi: u32,
    /// Of an artifact for several machines. Each has a folder with what an artifact for one machine has at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) variants: Option<Vec<Variant>>,
    /// All entries but this one, in their order.
    pub(super) entries: Vec<Member>,
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

/// An entry of the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) crc32: u32,
    /// Of each block of a mebibyte.
    pub(super) blake3: Vec<Digest>,
}

impl Member {
    pub(super) fn stored(&self) -> Stored<'_> {
        Stored { name: &self.name, bytes: self.bytes, crc: self.crc32 }
    }
}

impl Index {
    pub(super) fn new(variants: Option<Vec<Variant>>, entries: Vec<Member>) -> Self {
        Self { format: FORMAT, abi: abi::VERSION, variants, entries }
    }

    /// The text of `index.json`.
    pub(super) fn to_json(&self) -> Vec<u8> {
        // Serialising plain structs into memory has no way to fail.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// Parses and checks `index.json`.
    pub(super) fn from_json(text: &[u8]) -> Result<Self, ArtifactProblem> {
        check_versions(text).map_err(|problem| match problem {
            ArtifactProblem::Manifest(why) => ArtifactProblem::Index(why),
            other => other,
        })?;
        let index: Self = serde_json::from_slice(text).map_err(|e| ArtifactProblem::Index(e.to_string()))?;
        index.validate().map_err(ArtifactProblem::Index)?;
        Ok(index)
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        if let Some(variants) = &self.variants {
            validate_variants(variants)?;
        }
        unique("entries", self.entries.iter().map(|entry| &entry.name))?;
        for Member { name, bytes, blake3, .. } in &self.entries {
            if name == INDEX || name.split('/').any(|part| !is_word(part)) {
                return Err(format!("{name:?} is no name of an entry"));
            }
            if bytes.div_ceil(BLOCK as u64) != blake3.len() as u64 {
                return Err(format!("`{name}` has {bytes} bytes, which are not {} blocks", blake3.len()));
            }
        }
        Ok(())
    }

    /// The folders of the variants, empty or with a slash at the end, each with that of its weights.
    pub(super) fn folders(&self) -> Vec<(String, String)> {
        let folder = |name: &String| format!("{name}/");
        match &self.variants {
            None => vec![(String::new(), String::new())],
            Some(variants) => variants.iter().map(|v| (folder(&v.name), folder(&v.weights))).collect(),
        }
    }
}

fn validate_variants(variants: &[Variant]) -> Result<(), String> {
    if variants.is_empty() {
        return Err("it has no variant".to_owned());
    }
    unique("variants", variants.iter().map(|variant| &variant.name))?;
    // Of those so far, the ones with weights of their own.
    let mut with_weights = HashSet::new();
    for Variant { name, weights } in variants {
        if !is_word(name) {
            return Err(format!("{name:?} is no name of a variant"));
        }
        if name == weights {
            with_weights.insert(name);
        }
        if !with_weights.contains(weights) {
            return Err(format!("variant `{name}` has the weights of `{weights}`, which has none before it"));
        }
    }
    Ok(())
}

/// Whether something can be a part of a name: no way to another folder, nothing that a system understands otherwise.
fn is_word(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !text.is_empty() && !text.starts_with('.') && text.chars().all(word)
}
