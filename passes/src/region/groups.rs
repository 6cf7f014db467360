//! Products by groups: a convolution whose features each sum over the channels of their own group alone.
//!
//! As it is written it has one dim of features, and reads channel `(f floordiv 16) * 8 + c`: from that no rule sees that features of a
//! group read the same. In normal form the number of the group and the feature within it are two dims, and tensors are indexed by both,
//! which is a reshape that moves nothing. Then groups are what a product calls a batch, and all that holds of products holds.

use std::collections::HashMap;

use sutura_dialects::graph::maps;
use sutura_ir::affine::{AffineExpr, AffineExprData, AffineOp};
use sutura_ir::{Context, Type, Value};

use super::contract::{check_sum_of_products, is_projection};
use super::nest::{Access, Nest, Stage, substitute};

/// Features of a group from which on its products fill vectors. With 8 half of each vector would be empty, and the window, whose vectors
/// lie along lines, reaches two thirds of what units can do and more.
pub(crate) const LEAST_FEATURES: i64 = 16;

/// An index of channels that are read in groups: `(dim floordiv features) * channels + place`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Grouped {
    /// What has features of all groups.
    pub(crate) dim: usize,
    /// How many of them a group has.
    pub(crate) features: i64,
    /// How many channels a group has.
    pub(crate) channels: i64,
    /// What runs through the channels of a group.
    pub(crate) place: usize,
}

impl Grouped {
    /// Nothing for an expression of another form.
    pub(crate) fn of(cx: &Context, expr: AffineExpr) -> Option<Self> {
        let AffineExprData::Binary(AffineOp::Add, first, place) = cx.affine_data(expr) else { return None };
        let AffineExprData::Binary(AffineOp::Mul, number, channels) = cx.affine_data(first) else { return None };
        let AffineExprData::Binary(AffineOp::FloorDiv, dim, features) = cx.affine_data(number) else { return None };
        let (dim, place) = (maps::plain_dim(cx, dim)?, maps::plain_dim(cx, place)?);
        let (features, channels) = (maps::constant(cx, features)?, maps::constant(cx, channels)?);
        (features > 1 && channels > 1 && dim != place).then_some(Self { dim, features, channels, place })
    }

    /// Whether its products are worth a form of their own.
    pub(crate) fn fills_vectors(&self) -> bool {
        self.features >= LEAST_FEATURES
    }
}

/// Where a tensor has what is split, and how many elements each group has there.
type Place = Option<(usize, i64)>;

/// A dim that becomes two.
struct Split {
    grouped: Grouped,
    /// How many groups there are.
    count: i64,
    places: HashMap<Value, Place>,
}

impl Nest<'_> {
    /// Makes two dims of each along which a product has groups.
    pub(super) fn split_groups(&mut self) {
        while let Some(split) = self.stages.iter().find_map(|stage| self.groups(stage)) {
            self.split(&split);
        }
    }

    /// The groups of a sum of products, if every tensor can be indexed by them.
    fn groups(&self, stage: &Stage<'_>) -> Option<Split> {
        check_sum_of_products(self, stage, &[Type::F32]).ok()?;
        let (data, grouped) = (0..2).find_map(|input| {
            let index = &stage.inputs[input].index;
            Some((input, index.iter().find_map(|e| Grouped::of(self.cx, *e))?))
        })?;
        let weights = &stage.inputs[1 - data];
        let known = |dim: usize| self.extents[dim].as_const();
        let whole = known(grouped.place) == Some(grouped.channels) && stage.reduced.contains(&grouped.place);
        let own = |dim: usize| weights.index.iter().any(|e| self.plain(*e) == Some(dim));
        if !whole || !own(grouped.dim) || !own(grouped.place) || !is_projection(self, weights) {
            return None;
        }
        let count = known(grouped.dim).filter(|all| all % grouped.features == 0)? / grouped.features;
        let split = Split { grouped, count, places: HashMap::new() };
        (count > 1 && grouped.fills_vectors()).then_some(split).and_then(|split| self.placed(split))
    }

    /// With the places of all tensors; nothing if one is read along the dim in another way.
    fn placed(&self, mut split: Split) -> Option<Split> {
        let dim = split.grouped.dim;
        for stage in &self.stages {
            let guards = stage.inputs.iter().flat_map(|a| &a.guard).any(|(expr, _)| self.mentions_expr(*expr, dim));
            let picks = stage.picks.iter().any(|pick| self.mentions(&pick.access, dim));
            let scans = stage.scan.is_some_and(|scan| scan.dim == dim);
            if stage.dims.contains(&dim) && (guards || picks || scans || stage.scatter.is_some()) {
                return None;
            }
            for access in stage.reads().chain(&stage.results) {
                let place = self.place(access, &split)?;
                if *split.places.entry(access.value).or_insert(place) != place {
                    return None;
                }
            }
        }
        Some(split)
    }

    /// Where an access has the dim; nothing where it does not have all of its groups, one after another.
    fn place(&self, access: &Access, split: &Split) -> Option<Place> {
        let grouped = split.grouped;
        let mut places = access.index.iter().enumerate().filter(|(_, e)| self.mentions_expr(**e, grouped.dim));
        let Some((at, expr)) = places.next() else { return Some(None) };
        let each = match self.plain(*expr) {
            Some(_) => grouped.features,
            None => Grouped::of(self.cx, *expr).filter(|of| *of == grouped)?.channels,
        };
        let sizes = self.shapes.get(&access.value);
        let whole = sizes.is_none_or(|sizes| sizes[at].as_const() == Some(each * split.count));
        (places.next().is_none() && whole).then_some(Some((at, each)))
    }

    /// The features of a group become a dim behind that of groups.
    fn split(&mut self, Split { grouped, count, places }: &Split) {
        let (cx, dim, inner) = (self.cx, grouped.dim, grouped.dim + 1);
        self.renumber(&|d| d + usize::from(d > dim));
        self.extents[dim] = (*count).into();
        self.extents.insert(inner, grouped.features.into());
        for (value, place) in places {
            if let (Some((at, each)), Some(sizes)) = (place, self.shapes.get_mut(value)) {
                sizes[*at] = (*count).into();
                sizes.insert(at + 1, (*each).into());
            }
        }
        let place = cx.affine_dim((grouped.place + usize::from(grouped.place > dim)) as u32);
        let outer = cx.affine_dim(dim as u32);
        let apart = |e: &AffineExpr| match maps::plain_dim(cx, *e) {
            Some(d) if d == dim => vec![outer, cx.affine_dim(inner as u32)],
            _ if maps::mentions(cx, *e, dim) => vec![outer, place],
            _ => vec![*e],
        };
        let first = cx.affine_binary(AffineOp::Mul, outer, cx.affine_const(grouped.features));
        let all = cx.affine_binary(AffineOp::Add, first, cx.affine_dim(inner as u32));
        for stage in &mut self.stages {
            for dims in [&mut stage.dims, &mut stage.reduced] {
                if let Some(at) = dims.iter().position(|d| *d == dim) {
                    dims.insert(at + 1, inner);
                }
            }
            let whole = |d: usize| if d == dim { all } else { cx.affine_dim(d as u32) };
            stage.iterators.iter_mut().flatten().for_each(|e| *e = substitute(cx, *e, &whole));
            for access in stage.inputs.iter_mut().chain(&mut stage.results) {
                access.index = access.index.iter().flat_map(apart).collect();
            }
        }
    }
}
