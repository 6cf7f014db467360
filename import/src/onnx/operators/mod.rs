//! Operators that are read and converted in one place: a file for each family.
//!
//! A file has a list of names with a function that reads a node; what the node says becomes a struct that knows how to make its
//! values. Nothing else knows these operators, but the table of interfaces (`operators.txt`).

mod attention;
mod bits;
pub(super) mod by_data;
mod control;
mod decided;
mod einsum;
mod fourier;
mod grams;
mod grids;
mod loss;
mod matrices;
mod microsoft;
mod microsoft_attention;
mod microsoft_grouped;
mod microsoft_quantized;
pub(super) mod old;
mod order;
mod patches;
mod places;
mod pooling;
mod quantized;
mod random;
mod regions;
mod resize;
mod rotary;
mod running;
mod sampling;
mod scans;
mod sequences;
mod signal;
pub(super) mod sizes_by_data;
mod stated_axes;
mod stateful;
mod training;

use std::{fmt, rc::Rc};

use sutura_dialects::graph::build::ComputeInput;
use sutura_ir::Value;

use super::convert::{Importer, Item, Made, fail, wrong};
use super::error::Reason;
use super::named;
use super::op::Op;
use super::reader::NodeReader;
use super::support::TypedGraph;

/// What a node of an operator says, and how its values are made.
pub(super) trait Convert<'m>: fmt::Debug {
    /// How many results there are; unused ones may have no name.
    fn results(&self) -> usize {
        1
    }

    /// Graphs that the node has.
    fn graphs(&self) -> Vec<&TypedGraph<'m>> {
        Vec::new()
    }

    /// The operators of the library that it may apply.
    fn operators(&self) -> &'static [&'static str] {
        &[]
    }

    /// An operator that it stands before, whose library it needs.
    fn inner(&self) -> Option<&Op<'m>> {
        None
    }

    /// Makes the values, or says why it cannot.
    fn convert(&self, _: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        fail("makes no tensors")
    }

    /// Like [`Self::convert`], of an operator that takes or makes what is no tensor.
    fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        Ok(self.convert(importer)?.into_iter().map(Item::Tensor).collect())
    }
}

/// An operator of one of the families here.
#[derive(Clone, Debug)]
pub struct Conversion<'m>(Rc<dyn Convert<'m> + 'm>);

impl<'m> Conversion<'m> {
    pub(super) fn op(of: impl Convert<'m> + 'm) -> Op<'m> {
        Op::Converted(Self(Rc::new(of)))
    }

    pub(super) fn results(&self) -> usize {
        self.0.results()
    }

    pub(super) fn operators(&self) -> &'static [&'static str] {
        self.0.operators()
    }

    pub(super) fn inner(&self) -> Option<&Op<'m>> {
        self.0.inner()
    }

    pub(super) fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        self.0.convert(importer)
    }

    pub(super) fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        self.0.items(importer)
    }

    pub(super) fn graphs(&self) -> Vec<&TypedGraph<'m>> {
        self.0.graphs()
    }
}

impl PartialEq for Conversion<'_> {
    /// Whether both say the same.
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

/// Reads a node of an operator.
type Read = for<'m, 'a> fn(&NodeReader<'m, 'a>) -> Result<Op<'m>, Reason>;

/// The operators of a family by their names.
type Family = &'static [(&'static str, Read)];

/// The families, by domain.
const FAMILIES: &[(&str, Family)] = &[
    ("", bits::OPERATORS),
    ("", control::OPERATORS),
    ("", decided::OPERATORS),
    ("", einsum::OPERATORS),
    ("", fourier::OPERATORS),
    ("", grams::OPERATORS),
    ("", grids::OPERATORS),
    ("", loss::OPERATORS),
    ("", matrices::OPERATORS),
    ("", order::OPERATORS),
    ("", patches::OPERATORS),
    ("", places::OPERATORS),
    ("", pooling::OPERATORS),
    ("", quantized::OPERATORS),
    ("", random::OPERATORS),
    ("", regions::OPERATORS),
    ("", resize::OPERATORS),
    ("", rotary::OPERATORS),
    ("", running::OPERATORS),
    ("", scans::OPERATORS),
    ("", sequences::OPERATORS),
    ("", signal::OPERATORS),
    ("", stateful::OPERATORS),
    ("ai.onnx.preview", attention::OPERATORS),
    ("ai.onnx.preview.training", training::OPERATORS),
    ("com.microsoft", microsoft::OPERATORS),
    ("com.microsoft", microsoft_attention::OPERATORS),
    ("com.microsoft", microsoft_grouped::OPERATORS),
    ("com.microsoft", microsoft_quantized::OPERATORS),
];

/// The operator that `r` reads, if the library has it, but not with what the node says.
pub(super) fn beyond_library<'m>(r: &NodeReader<'m, '_>) -> Option<Result<Op<'m>, Reason>> {
    match (r.node.domain.as_str(), r.node.op_type.as_str()) {
        ("", "Attention") => attention::attention(r, || named::op(r)),
        ("", "EyeLike") => matrices::eye_like(r),
        _ => None,
    }
}

/// What reads nodes of the operator called `name` in `domain`, if it is in a family.
pub(super) fn reader(domain: &str, name: &str) -> Option<Read> {
    let families = FAMILIES.iter().filter(|(of, _)| *of == domain);
    families.flat_map(|(_, family)| *family).find(|(known, _)| *known == name).map(|(_, read)| *read)
}

/// An input that is one number, as each element of a result reads it.
fn one_number<'m>(importer: &mut Importer<'m, '_, '_>, name: &'m str) -> Made<ComputeInput> {
    let value = importer.value(name)?;
    let shape = importer.g.shape(value);
    if shape.iter().any(|size| *size != Some(1.into())) {
        return wrong(format!("takes one number from `{name}`, whose sizes are not all 1"));
    }
    let index = vec![importer.cx().affine_const(0); shape.len()];
    Ok(ComputeInput { value, index, oob: None })
}
