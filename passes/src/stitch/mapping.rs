//! How the elements that an op reads and those that it makes belong together: the mapping types of DNNFusion (arXiv
//! 2108.13342), derived from the structured form, and its table of what a pair of ops promises as one kernel.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::form::Symbols;
use sutura_dialects::graph::{ComputeForm, ConcatOp, Form, ReshapeOp, SliceOp, maps};
use sutura_ir::affine::{AffineExpr, AffineExprData, AffineMap};
use sutura_ir::{Context, OpRef};

/// A mapping type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mapping {
    /// An element of an input makes at most one of a result, where it lies.
    OneToOne,
    /// An element of an input makes several of a result.
    OneToMany,
    /// Several elements of an input make several of a result.
    ManyToMany,
    /// The elements keep their order and get another shape.
    Reorganize,
    /// The elements are permuted.
    Shuffle,
}

/// What a pair of ops promises as one kernel; what promises more comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Profit {
    /// It saves traffic and costs nothing.
    Sure,
    /// Costs have to be weighed.
    Unsure,
    /// A kernel that keeps nothing near it would lose.
    Unlikely,
}

impl Mapping {
    /// Name, as in remarks.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneToOne => "one-to-one",
            Self::OneToMany => "one-to-many",
            Self::ManyToMany => "many-to-many",
            Self::Reorganize => "reorganize",
            Self::Shuffle => "shuffle",
        }
    }

    /// The mapping of `self` with `second` behind it, and what the two promise as one kernel. The paper never fuses the
    /// last kind of pairs; schemes that keep rows or tiles near make one kernel of some of them, so here they come last.
    pub fn then(self, second: Self) -> (Self, Profit) {
        use Mapping::{ManyToMany, OneToMany, OneToOne, Reorganize, Shuffle};
        use Profit::{Sure, Unlikely, Unsure};
        match (self, second) {
            (OneToOne, other) | (other, OneToOne) => (other, Sure),
            (OneToMany | ManyToMany, ManyToMany) => (ManyToMany, Unlikely),
            (ManyToMany, _) | (Reorganize | Shuffle, ManyToMany) => (ManyToMany, Unsure),
            (OneToMany, _) | (Reorganize | Shuffle, OneToMany) => (OneToMany, Unsure),
            (Shuffle, Shuffle) => (Shuffle, Sure),
            (Reorganize, Reorganize | Shuffle) | (Shuffle, Reorganize) => (Reorganize, Sure),
        }
    }
}

/// The mapping of an op that computes; `None` for others, which belong to no kernel.
pub fn mapping_class(op: OpRef<'_>, facts: &Facts) -> Option<Mapping> {
    if let Some(form) = ComputeForm::of(op) {
        return Some(of_form(&form, facts));
    }
    if let Some(form) = Form::of(op, facts, &mut Symbols::default()) {
        let joins = form.combines() || form.scatter.is_some();
        let moves = if form.picks.is_empty() { Mapping::Shuffle } else { Mapping::OneToMany };
        return Some(if joins { Mapping::ManyToMany } else { moves });
    }
    let moves = op.is::<ConcatOp<'_>>() || op.is::<SliceOp<'_>>();
    let one = moves.then_some(Mapping::OneToOne);
    one.or(op.is::<ReshapeOp<'_>>().then_some(Mapping::Reorganize))
}

fn of_form(form: &ComputeForm<'_>, facts: &Facts) -> Mapping {
    let reads_windows = form.input_maps.iter().any(|map| has_window(form.op.cx, *map));
    if form.has_reduction() || reads_windows {
        return Mapping::ManyToMany;
    }
    let cx = form.op.cx;
    let extents = form.extents();
    let is_unit = |i: usize| extents[i].as_ref().is_some_and(|e| facts.canonical(e).as_const() == Some(1));
    let results: Vec<AffineExpr> = form.result_maps.first().map_or_else(Vec::new, |m| cx.map_results(*m).to_vec());
    let written: Vec<usize> = results.iter().filter_map(|e| maps::plain_dim(cx, *e)).collect();
    let mut mapping = Mapping::OneToOne;
    for map in &form.input_maps {
        let read = cx.map_results(*map);
        let repeats = written.iter().any(|i| !is_unit(*i) && !read.iter().any(|e| maps::mentions(cx, *e, *i)));
        let divided = read.iter().any(|e| divides(cx, *e));
        let taken_apart = divided && read.iter().any(|e| takes_rest(cx, *e));
        if repeats || (divided && !taken_apart) {
            return Mapping::OneToMany;
        }
        let order: Vec<usize> = read.iter().filter_map(|e| first_dim(cx, *e)).filter(|i| !is_unit(*i)).collect();
        let straight = written.iter().copied().filter(|i| !is_unit(*i));
        if taken_apart {
            mapping = if flattens(cx, read) { Mapping::Reorganize } else { Mapping::Shuffle };
        } else if !straight.eq(order.iter().copied()) {
            mapping = Mapping::Shuffle;
        }
    }
    mapping
}

/// True when an expression adds iterators: windows overlap.
fn has_window(cx: &Context, map: AffineMap) -> bool {
    let iterators = cx.affine_map_data(map).dims as usize;
    cx.map_results(map).iter().any(|e| {
        let linear = maps::linear(cx, *e, iterators);
        linear.is_some_and(|l| l.factors.iter().filter(|f| **f != 0).count() > 1)
    })
}

fn any(cx: &Context, expr: AffineExpr, of: &dyn Fn(sutura_ir::affine::AffineOp) -> bool) -> bool {
    match cx.affine_data(expr) {
        AffineExprData::Binary(op, a, b) => of(op) || any(cx, a, of) || any(cx, b, of),
        _ => false,
    }
}

fn divides(cx: &Context, expr: AffineExpr) -> bool {
    use sutura_ir::affine::AffineOp::{CeilDiv, FloorDiv};
    any(cx, expr, &|op| matches!(op, FloorDiv | CeilDiv))
}

fn takes_rest(cx: &Context, expr: AffineExpr) -> bool {
    any(cx, expr, &|op| matches!(op, sutura_ir::affine::AffineOp::Mod))
}

/// True when quotient and rest of one iterator are read side by side, the quotient first: then the order is kept.
fn flattens(cx: &Context, read: &[AffineExpr]) -> bool {
    let at = |of: fn(&Context, AffineExpr) -> bool| read.iter().position(|e| of(cx, *e));
    match (at(divides), at(takes_rest)) {
        (Some(quotient), Some(rest)) => {
            quotient + 1 == rest && first_dim(cx, read[quotient]) == first_dim(cx, read[rest])
        }
        _ => false,
    }
}

fn first_dim(cx: &Context, expr: AffineExpr) -> Option<usize> {
    match cx.affine_data(expr) {
        AffineExprData::Dim(i) => Some(i as usize),
        AffineExprData::Binary(_, a, b) => first_dim(cx, a).or_else(|| first_dim(cx, b)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use sutura_grammar::{ParseOptions, parse_module};

    use super::*;

    /// The mapping of a copy with these maps between tensors of these shapes.
    fn class(input: &str, output: &str, iterators: &str, read: &str, write: &str, combiners: &str) -> Mapping {
        let cx = crate::testing::context();
        let text = format!(
            "func.func @f(%x: tensor<{input}xf32>) -> tensor<{output}xf32> {{
  %y = graph.compute ins(%x : tensor<{input}xf32>) -> tensor<{output}xf32> {{
    iterators = #graph.iterators<[{iterators}]>, {combiners} maps = [affine_map<{read}>, affine_map<{write}>]
  }} {{
  ^bb0(%a: f32):
    graph.yield %a : f32
  }}
  return %y : tensor<{output}xf32>
}}"
        );
        let source = cx.sources().add("test", &*text).unwrap();
        let mut diags = Default::default();
        let module = parse_module(&cx, &source, &ParseOptions::default(), &mut diags).expect("it parses");
        let mut found = None;
        let entry = module.op_ref(&cx).region(0).and_then(|r| r.entry()).unwrap();
        for function in entry.ops() {
            let block = function.region(0).and_then(|r| r.entry()).unwrap();
            let facts = Facts::of_block(block).unwrap_or_else(|_| panic!("no contradiction"));
            found = block.ops().find_map(|op| mapping_class(op, &facts));
        }
        found.expect("an op that computes")
    }

    const TWO: &str = "parallel, parallel";

    #[test]
    fn one_to_one() {
        assert_eq!(class("4x8", "4x8", TWO, "(i, j) -> (i, j)", "(i, j) -> (i, j)", ""), Mapping::OneToOne);
        // A size of 1 is repeated nowhere.
        assert_eq!(class("4x1", "4x1", TWO, "(i, j) -> (i, 0)", "(i, j) -> (i, j)", ""), Mapping::OneToOne);
        // Some elements are left out.
        assert_eq!(class("4x8", "4x3", TWO, "(i, j) -> (i, j * 2 + 1)", "(i, j) -> (i, j)", ""), Mapping::OneToOne);
    }

    #[test]
    fn one_to_many() {
        assert_eq!(class("8", "4x8", TWO, "(i, j) -> (j)", "(i, j) -> (i, j)", ""), Mapping::OneToMany);
        assert_eq!(class("4", "8", "parallel", "(i) -> (i floordiv 2)", "(i) -> (i)", ""), Mapping::OneToMany);
    }

    #[test]
    fn many_to_many() {
        let two = "parallel, reduce";
        let add = "combiners = #graph.combiners<[add]>,";
        assert_eq!(class("4x8", "4", two, "(i, j) -> (i, j)", "(i, j) -> (i)", add), Mapping::ManyToMany);
        assert_eq!(class("9", "8x2", TWO, "(i, j) -> (i + j)", "(i, j) -> (i, j)", ""), Mapping::ManyToMany);
    }

    #[test]
    fn reorganize() {
        let one = "parallel";
        let map = "(i) -> (i floordiv 8, i mod 8)";
        assert_eq!(class("4x8", "32", one, map, "(i) -> (i)", ""), Mapping::Reorganize);
    }

    #[test]
    fn shuffle() {
        assert_eq!(class("8x4", "4x8", TWO, "(i, j) -> (j, i)", "(i, j) -> (i, j)", ""), Mapping::Shuffle);
        let one = "parallel";
        let map = "(i) -> (i mod 4, i floordiv 4)";
        assert_eq!(class("4x8", "32", one, map, "(i) -> (i)", ""), Mapping::Shuffle);
    }

    /// Rows are the first op, columns the second: the mapping of both and what it promises.
    #[test]
    fn the_table_of_pairs() {
        use Mapping::{ManyToMany as M, OneToMany as B, OneToOne as O, Reorganize as R, Shuffle as S};
        use Profit::{Sure as G, Unlikely as X, Unsure as Y};
        let order = [O, B, M, R, S];
        let table = [
            [(O, G), (B, G), (M, G), (R, G), (S, G)],
            [(B, G), (B, Y), (M, X), (B, Y), (B, Y)],
            [(M, G), (M, Y), (M, X), (M, Y), (M, Y)],
            [(R, G), (B, Y), (M, Y), (R, G), (R, G)],
            [(S, G), (B, Y), (M, Y), (R, G), (S, G)],
        ];
        for (first, row) in order.iter().zip(table) {
            for (second, expected) in order.iter().zip(row) {
                assert_eq!(first.then(*second), expected, "{} then {}", first.name(), second.name());
            }
        }
    }
}
