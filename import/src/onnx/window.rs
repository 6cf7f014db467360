//! Sliding windows of convolutions and pools.

use super::{
    error::{Reason, unsupported},
    reader::NodeReader,
};

/// A window over the spatial dims; all lists have one entry per spatial dim. Without a kernel it is as large as a weight that is
/// not known yet, and lists that are left out are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub kernel: Vec<u64>,
    pub strides: Vec<u64>,
    pub dilations: Vec<u64>,
    pub padding: Padding,
}

/// Elements added around the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Padding {
    Explicit {
        before: Vec<u64>,
        after: Vec<u64>,
    },
    /// So that the output has `ceil(dim / stride)` elements; an odd one goes
    /// to the end.
    SameUpper,
    /// Likewise, an odd one goes to the beginning.
    SameLower,
}

impl Window {
    /// Reads the attributes that convolutions share. `weight` is the kernel's size by the weights, if it is known.
    pub(super) fn of_weight(r: &NodeReader, weight: Option<&[u64]>) -> Result<Self, Reason> {
        if weight.is_some() || r.ints("kernel_shape").is_some() {
            return Self::read(r, weight);
        }
        let list = |name| Ok::<_, Reason>(positive(r, name)?.unwrap_or_default());
        let pads = r.ints("pads").map_or(0, |pads| pads.len() / 2);
        Ok(Self {
            kernel: Vec::new(),
            strides: list("strides")?,
            dilations: list("dilations")?,
            padding: padding(r, pads)?,
        })
    }

    /// The window with the size of a weight's kernel, where it has none.
    ///
    /// # Errors
    /// When a list does not fit the kernel.
    pub(super) fn completed(&self, kernel: &[u64]) -> Result<Self, String> {
        if !self.kernel.is_empty() {
            return Ok(self.clone());
        }
        let filled = |name: &str, list: &[u64], default: u64| match list.len() {
            0 => Ok(vec![default; kernel.len()]),
            n if n == kernel.len() => Ok(list.to_vec()),
            n => Err(format!("`{name}` has {n} entries for a kernel of {} dims", kernel.len())),
        };
        Ok(Self {
            kernel: kernel.to_vec(),
            strides: filled("strides", &self.strides, 1)?,
            dilations: filled("dilations", &self.dilations, 1)?,
            padding: match &self.padding {
                Padding::Explicit { before, after } => {
                    Padding::Explicit { before: filled("pads", before, 0)?, after: filled("pads", after, 0)? }
                }
                same => same.clone(),
            },
        })
    }

    /// Reads the attributes that convolutions and pools share. `weight` is the
    /// kernel's size by the weights, if it is known.
    pub(super) fn read(r: &NodeReader, weight: Option<&[u64]>) -> Result<Self, Reason> {
        let kernel = match (positive(r, "kernel_shape")?, weight) {
            (Some(kernel), Some(weight)) if kernel != weight => {
                return Err(format!("`kernel_shape` is {kernel:?}, but the weight's kernel is {weight:?}").into());
            }
            (Some(kernel), _) => kernel,
            (None, Some(weight)) => weight.to_vec(),
            (None, None) => {
                return Err(unsupported("has no `kernel_shape`, and its weight is not a constant"));
            }
        };
        if kernel.is_empty() {
            return Err("has no spatial dims".into());
        }
        let per_dim = |name| -> Result<Vec<u64>, Reason> {
            let values = positive(r, name)?.unwrap_or_else(|| vec![1; kernel.len()]);
            same_rank(name, values.len(), kernel.len())?;
            Ok(values)
        };
        Ok(Self {
            strides: per_dim("strides")?,
            dilations: per_dim("dilations")?,
            padding: padding(r, kernel.len())?,
            kernel,
        })
    }
}

fn positive(r: &NodeReader, name: &str) -> Result<Option<Vec<u64>>, Reason> {
    let Some(values) = r.ints(name) else {
        return Ok(None);
    };
    let values = values.iter().map(|&v| u64::try_from(v).ok().filter(|&v| v > 0));
    match values.collect() {
        Some(values) => Ok(Some(values)),
        None => Err(format!("`{name}` must be positive").into()),
    }
}

fn padding(r: &NodeReader, rank: usize) -> Result<Padding, Reason> {
    let explicit = match r.string("auto_pad")? {
        None | Some("NOTSET") => r.ints("pads"),
        Some("VALID") => None,
        Some("SAME_UPPER") => return Ok(Padding::SameUpper),
        Some("SAME_LOWER") => return Ok(Padding::SameLower),
        Some(other) => return Err(format!("has unknown `auto_pad` {other}").into()),
    };
    let Some(pads) = explicit else {
        return Ok(Padding::Explicit { before: vec![0; rank], after: vec![0; rank] });
    };
    same_rank("pads", pads.len(), 2 * rank)?;
    let pads = pads.iter().map(|&p| u64::try_from(p));
    let mut before: Vec<u64> =
        pads.collect::<Result<_, _>>().map_err(|_| unsupported("negative `pads` are not supported"))?;
    let after = before.split_off(rank);
    Ok(Padding::Explicit { before, after })
}

fn same_rank(name: &str, length: usize, wanted: usize) -> Result<(), Reason> {
    if length == wanted {
        return Ok(());
    }
    Err(format!("`{name}` has {length} entries, {wanted} are needed").into())
}
