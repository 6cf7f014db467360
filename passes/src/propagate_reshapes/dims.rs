//! Dims of iteration spaces and of tensors: which are the same, and which are products of others.
//!
//! A dim is a whole or it is split in two, an outer and an inner one, which may be split again; its leaves are what
//! stays. A reshape says that two lists of dims number the same elements: both are split until their leaves agree one
//! by one.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_ir::Op;

/// Why a dim is not split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Why {
    /// The product runs through it.
    Product(Op),
    /// The op computes with its index.
    Index(Op),
    /// The op reads along it at places that it computes.
    Place(Op),
    /// The op reads outside a tensor along it.
    Outside(Op),
    /// The op has no structured form.
    Unstructured(Op),
    /// Its size is not known, or said in two ways that are not known to be equal.
    Size,
}

/// Why two lists of dims do not become the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Conflict {
    /// Neither size is known to be a multiple of the other one.
    Sizes(Poly, Poly),
    /// A dim of this size, which is not split, would be.
    Whole(Poly, Why),
}

#[derive(Clone, Copy)]
struct Node {
    /// The dim that it is the same as; itself for the one that stands for all.
    same: usize,
    /// Outer and inner part.
    parts: Option<(usize, usize)>,
    whole: Option<Why>,
}

/// A state to go back to.
pub(super) struct Saved(Vec<Node>);

/// All dims.
pub(super) struct Dims<'f> {
    facts: &'f Facts,
    nodes: Vec<Node>,
    extents: Vec<Poly>,
}

impl<'f> Dims<'f> {
    pub(super) fn new(facts: &'f Facts) -> Self {
        Self { facts, nodes: vec![], extents: vec![] }
    }

    /// A dim of its own.
    pub(super) fn add(&mut self, extent: Option<&Poly>) -> usize {
        let dim = self.nodes.len();
        self.nodes.push(Node { same: dim, parts: None, whole: extent.is_none().then_some(Why::Size) });
        self.extents.push(extent.map_or_else(|| 0.into(), |e| self.facts.canonical(e)));
        dim
    }

    /// Forbids to split a dim, which is a whole.
    pub(super) fn fix(&mut self, dim: usize, why: Why) {
        let root = self.root(dim);
        self.nodes[root].whole.get_or_insert(why);
    }

    /// Says that two dims, which are wholes, are the same.
    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if !self.same_size(a, b) {
            [a, b].into_iter().for_each(|dim| self.fix(dim, Why::Size));
        } else if a != b {
            self.nodes[b].same = a;
            self.nodes[a].whole = self.nodes[a].whole.or(self.nodes[b].whole);
        }
    }

    /// True for dims, which are wholes, whose sizes are known to be equal.
    pub(super) fn same_size(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        let known = |dim: usize| self.nodes[dim].whole != Some(Why::Size);
        known(a) && known(b) && self.facts.prove_equal(&self.extents[a], &self.extents[b])
    }

    fn root(&self, mut dim: usize) -> usize {
        while self.nodes[dim].same != dim {
            dim = self.nodes[dim].same;
        }
        dim
    }

    /// What a dim is made of, outermost first.
    pub(super) fn leaves(&self, dim: usize) -> Vec<usize> {
        let (mut leaves, mut pending) = (Vec::new(), vec![dim]);
        while let Some(next) = pending.pop() {
            let root = self.root(next);
            match self.nodes[root].parts {
                Some((outer, inner)) => pending.extend([inner, outer]),
                None => leaves.push(root),
            }
        }
        leaves
    }

    pub(super) fn is_split(&self, dim: usize) -> bool {
        self.nodes[self.root(dim)].parts.is_some()
    }

    /// Size of a leaf.
    pub(super) fn extent(&self, leaf: usize) -> &Poly {
        &self.extents[leaf]
    }

    /// True for a dim of one index.
    pub(super) fn is_unit(&self, dim: usize) -> bool {
        let root = self.root(dim);
        self.nodes[root].whole != Some(Why::Size) && self.extents[root].as_const() == Some(1)
    }

    pub(super) fn save(&self) -> Saved {
        Saved(self.nodes.clone())
    }

    pub(super) fn restore(&mut self, Saved(nodes): Saved) {
        self.extents.truncate(nodes.len());
        self.nodes = nodes;
    }

    /// Splits dims of both lists, in which there are none of one index, until they have the same leaves.
    ///
    /// # Errors
    /// Says where they differ; then some dims may have been split.
    pub(super) fn equate(&mut self, a: &[usize], b: &[usize]) -> Result<(), Conflict> {
        let reversed = |list: &[usize]| list.iter().rev().copied().collect::<Vec<_>>();
        let (mut a, mut b) = (reversed(a), reversed(b));
        loop {
            match (self.next(&mut a), self.next(&mut b)) {
                (None, None) => return Ok(()),
                (Some(left), None) => return Err(Conflict::Sizes(self.extents[left].clone(), 1.into())),
                (None, Some(right)) => return Err(Conflict::Sizes(1.into(), self.extents[right].clone())),
                (Some(left), Some(right)) => {
                    if let Some((rest, of_left)) = self.match_leaves(left, right)? {
                        if of_left { a.push(rest) } else { b.push(rest) }
                    }
                }
            }
        }
    }

    /// The next leaf of a list that begins at its end.
    fn next(&self, list: &mut Vec<usize>) -> Option<usize> {
        loop {
            let root = self.root(list.pop()?);
            match self.nodes[root].parts {
                Some((outer, inner)) => list.extend([inner, outer]),
                None => return Some(root),
            }
        }
    }

    /// Makes a leaf the same as another one, or as its outer part; what is left, and whether it is of the first.
    fn match_leaves(&mut self, a: usize, b: usize) -> Result<Option<(usize, bool)>, Conflict> {
        if a == b {
            return Ok(None);
        }
        for dim in [a, b] {
            if self.nodes[dim].whole == Some(Why::Size) {
                return Err(Conflict::Whole(self.extents[dim].clone(), Why::Size));
            }
        }
        if self.facts.prove_equal(&self.extents[a], &self.extents[b]) {
            self.join(a, b);
            return Ok(None);
        }
        if let Some(rest) = self.quotient(a, b) {
            return Ok(Some((self.split(a, b, &rest)?, true)));
        }
        if let Some(rest) = self.quotient(b, a) {
            return Ok(Some((self.split(b, a, &rest)?, false)));
        }
        Err(Conflict::Sizes(self.extents[a].clone(), self.extents[b].clone()))
    }

    /// How often the size of `b` is that of `a`, where that is a polynomial.
    fn quotient(&self, a: usize, b: usize) -> Option<Poly> {
        let (a, b) = (&self.extents[a], &self.extents[b]);
        let none = a.is_zero() || b.is_zero() || self.facts.range(b).1 < 1;
        (!none).then(|| a.divide_exact(b)).flatten()
    }

    /// Splits the leaf `dim` into `outer` and as many as `rest` says, a new leaf.
    fn split(&mut self, dim: usize, outer: usize, rest: &Poly) -> Result<usize, Conflict> {
        if let Some(why) = self.nodes[dim].whole {
            return Err(Conflict::Whole(self.extents[dim].clone(), why));
        }
        let inner = self.add(Some(rest));
        self.nodes[dim].parts = Some((outer, inner));
        Ok(inner)
    }
}
