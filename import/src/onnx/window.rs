//! Sliding windows of convolutions and pools.

use super::{
    error::{Reason, unsupported},
    reader::NodeReader,
};

/// A window over the spatial dims; all lists have one entry per spatial dim. Where the kernel is only known from the shape of a
/// weight, it is empty, and so may the others be: then each entry is what it is by default.
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
    /// Reads the attributes that convolutions and pools share. `weight` is the
    /// kernel's size by the weights, if it is known.
    pub(super) fn read(r: &NodeReader, weight: Option<&[u64]>) -> Result<Self, Reason> {
        let kernel = match (positive(r, "kernel_shape")?, weight) {
            (Some(kernel), Some(weight)) if kernel != weight => {
                return Err(format!("`kernel_shape` is {kernel:?}, but the weight's kernel is {weight:?}").into());
            }
            (Some(kernel), _) => kernel,
            (None, Some(weight)) => weight.to_vec(),
            (None, None) => return Self::without_kernel(r),
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
            padding: padding(r, Some(kernel.len()))?,
            kernel,
        })
    }

    fn without_kernel(r: &NodeReader) -> Result<Self, Reason> {
        let list = |name| Ok::<_, Reason>(positive(r, name)?.unwrap_or_default());
        let (strides, dilations) = (list("strides")?, list("dilations")?);
        Ok(Self { kernel: Vec::new(), strides, dilations, padding: padding(r, None)? })
    }

    /// The window with the kernel of a weight, where the node does not say one.
    pub(super) fn with_kernel(&self, kernel: &[u64]) -> Result<Self, String> {
        if !self.kernel.is_empty() {
            return Ok(self.clone());
        }
        let per_dim = |name: &str, given: &[u64], default: u64| match given.len() {
            0 => Ok(vec![default; kernel.len()]),
            length => same_rank(name, length, kernel.len()).map(|()| given.to_vec()),
        };
        let padding = match &self.padding {
            Padding::Explicit { before, after } => {
                Padding::Explicit { before: per_dim("pads", before, 0)?, after: per_dim("pads", after, 0)? }
            }
            same => same.clone(),
        };
        Ok(Self {
            kernel: kernel.to_vec(),
            strides: per_dim("strides", &self.strides, 1)?,
            dilations: per_dim("dilations", &self.dilations, 1)?,
            padding,
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

/// Without a rank: of the dims for which there are pads.
fn padding(r: &NodeReader, rank: Option<usize>) -> Result<Padding, Reason> {
    let explicit = match r.string("auto_pad")? {
        None | Some("NOTSET") => r.ints("pads"),
        Some("VALID") => None,
        Some("SAME_UPPER") => return Ok(Padding::SameUpper),
        Some("SAME_LOWER") => return Ok(Padding::SameLower),
        Some(other) => return Err(format!("has unknown `auto_pad` {other}").into()),
    };
    let Some(pads) = explicit else {
        let none = vec![0; rank.unwrap_or(0)];
        return Ok(Padding::Explicit { before: none.clone(), after: none });
    };
    let rank = rank.unwrap_or(pads.len() / 2);
    same_rank("pads", pads.len(), 2 * rank)?;
    let pads = pads.iter().map(|&p| u64::try_from(p));
    let mut before: Vec<u64> =
        pads.collect::<Result<_, _>>().map_err(|_| unsupported("negative `pads` are not supported"))?;
    let after = before.split_off(rank);
    Ok(Padding::Explicit { before, after })
}

fn same_rank(name: &str, length: usize, wanted: usize) -> Result<(), String> {
    if length == wanted {
        return Ok(());
    }
    Err(format!("`{name}` has {length} entries, {wanted} are needed"))
}
