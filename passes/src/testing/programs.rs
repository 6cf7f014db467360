//! Random programs on tensors of unknown sizes.

use proptest::prelude::*;
use sutura_dialects::r#dyn::{Poly, SymbolInfo};
use sutura_dialects::graph::Combiner;
use sutura_dialects::graph::build::{Built, GraphBuilder, PadKind};
use sutura_interp::DType;
use sutura_interp::random::Random;
use sutura_ir::{Context, Module, Type, Value};

use super::{any as any_symbol, function, size, tensor};

/// One op of a random program: what it computes, and of which of the values that fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    op: Op,
    first: usize,
    second: usize,
}

impl Step {
    /// True for a product with the square matrix.
    pub(crate) fn is_product(&self) -> bool {
        matches!(self.op, Op::Product)
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Two matrices, element by element.
    Zip,
    /// Element by element, cheap or not.
    Map,
    Tanh,
    /// A matrix with a number per row, or per column.
    ZipColumn,
    ZipRow,
    /// Rows to numbers, by sum or by maximum.
    Sum,
    Max,
    /// Columns to numbers.
    SumColumns,
    Softmax,
    /// A matrix times the square matrix.
    Product,
    /// A matrix times the transposition of one: scores; then times a matrix.
    Attention,
    /// Flat, element by element, and back.
    Flat,
    /// Twice transposed.
    Transposed,
    /// Columns or rows moved by two or one, with a number in their place.
    ShiftedColumns,
    ShiftedRows,
    /// Running sums of rows and of columns, and the largest so far from the end.
    Scan,
    ScanRows,
    ScanBackward,
}

const OPS: &[Op] = &[
    Op::Zip,
    Op::Map,
    Op::Tanh,
    Op::ZipColumn,
    Op::ZipRow,
    Op::Sum,
    Op::Max,
    Op::SumColumns,
    Op::Softmax,
    Op::Product,
    Op::Attention,
    Op::Flat,
    Op::Transposed,
    Op::ShiftedColumns,
    Op::ShiftedRows,
    Op::Scan,
    Op::ScanRows,
    Op::ScanBackward,
];

/// Programs of up to `most` ops.
pub(crate) fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = (0..OPS.len(), any::<u16>(), any::<u16>());
    let step = step.prop_map(|(op, a, b)| Step { op: OPS[op], first: a.into(), second: b.into() });
    prop::collection::vec(step, 1..=most)
}

/// Sizes around those at which loops end, vectors are full and tiles end; no program is large.
pub(crate) fn sizes() -> impl Strategy<Value = (i64, i64)> {
    let rows = prop::sample::select(vec![0, 1, 2, 3, 11, 12, 13]);
    let columns = prop::sample::select(vec![0, 1, 3, 4, 5, 15, 16, 17, 31, 32, 33, 64, 65]);
    (rows, columns)
}

/// The names of the sizes of [`program`].
pub(crate) fn named((rows, columns): (i64, i64)) -> [(&'static str, i64); 2] {
    [("M", rows), ("N", columns)]
}

struct Values {
    matrices: Vec<Value>,
    columns: Vec<Value>,
    rows: Vec<Value>,
}

fn pick(values: &[Value], which: usize) -> Value {
    values[which % values.len()]
}

/// `main` on two matrices `[M, N]`, a row `[N]`, a column `[M, 1]` and a square matrix `[N, N]`. It returns the last
/// matrices, columns and row.
pub(crate) fn program(cx: &Context, steps: &[Step]) -> Module {
    let types = [&["M", "N"][..], &["M", "N"], &["N"], &["M", "1"], &["N", "N"]].map(|s| tensor(cx, s, Type::F32));
    let symbols = [("M", any_symbol()), ("N", SymbolInfo { max: 4096, ..any_symbol() })];
    function(cx, &symbols, &types, |g, args| fill(g, args, args[4], "N", steps))
}

/// Like [`program`] with a constant number of columns; the square matrix is constant, as a model's weights are.
pub(crate) fn program_with_weights(cx: &Context, steps: &[Step], columns: i64) -> Module {
    let n = columns.to_string();
    let types = [&["M", &*n][..], &["M", &*n], &[&*n], &["M", "1"]].map(|s| tensor(cx, s, Type::F32));
    let mut random = Random::new(7);
    let words: Vec<u64> = (0..columns * columns).map(|_| random.scalar(DType::F32).bits()).collect();
    let weights =
        cx.dense_attr(cx.tensor_type(&[columns, columns], Type::F32, None), &words).expect("as many as it has");
    function(cx, &[("M", any_symbol())], &types, |g, args| {
        let square = g.constant(weights);
        fill(g, args, square, &n, steps)
    })
}

fn fill(
    g: &mut GraphBuilder<'_, '_>,
    args: &[Value],
    square: Value,
    columns: &str,
    steps: &[Step],
) -> Built<Vec<Value>> {
    let mut values = Values { matrices: vec![args[0], args[1]], columns: vec![args[3]], rows: vec![args[2]] };
    for step in steps {
        add(g, &mut values, square, columns, *step)?;
    }
    // Several of a kind, so that regions have several results of one type.
    let last = |list: &[Value], n: usize| list[list.len().saturating_sub(n)..].to_vec();
    Ok([last(&values.matrices, 3), last(&values.columns, 2), last(&values.rows, 1)].concat())
}

fn add(g: &mut GraphBuilder<'_, '_>, values: &mut Values, square: Value, n: &str, step: Step) -> Built<()> {
    let (a, b) = (pick(&values.matrices, step.first), pick(&values.matrices, step.second));
    let scaled = |g: &mut GraphBuilder<'_, '_>, x: Value, by: f64| {
        g.map(x, |s, x| {
            let factor = s.number(by, s.ty(x));
            s.mul(x, factor)
        })
    };
    match step.op {
        Op::Zip => values.matrices.push(g.zip(a, b, |s, a, b| s.sub(a, b))?),
        Op::Map => values.matrices.push(g.map(a, |s, x| s.abs(x))?),
        Op::Tanh => values.matrices.push(g.map(a, |s, x| s.math("math.tanh", x))?),
        Op::ZipColumn => {
            let column = pick(&values.columns, step.second);
            values.matrices.push(g.zip(a, column, |s, a, b| s.max(a, b))?);
        }
        Op::ZipRow => {
            let row = pick(&values.rows, step.second);
            values.matrices.push(g.zip(a, row, |s, a, b| s.add(a, b))?);
        }
        Op::Sum => {
            let squashed = g.map(a, |s, x| s.math("math.tanh", x))?;
            values.columns.push(g.reduce(squashed, &[1], true, Combiner::Add, Type::F32, |_, x| x));
        }
        Op::Max => values.columns.push(g.reduce(a, &[1], true, Combiner::Max, Type::F32, |_, x| x)),
        Op::SumColumns => {
            let sum = g.reduce(a, &[0], false, Combiner::Add, Type::F32, |_, x| x);
            values.rows.push(scaled(g, sum, 0.125)?);
        }
        Op::Softmax => values.matrices.push(g.softmax(a, 1)?),
        Op::Product => {
            let product = g.matmul(a, square)?;
            let small = scaled(g, product, 0.0625)?;
            values.matrices.push(small);
        }
        Op::Attention => {
            let scores = g.product(a, b, false, true)?;
            let small = scaled(g, scores, 0.0625)?;
            let weights = g.softmax(small, 1)?;
            values.matrices.push(g.matmul(weights, a)?);
        }
        Op::Flat => {
            let flat = g.reshape_to(a, &[Some(size("M").mul(&size(n)))])?;
            let half = scaled(g, flat, 0.5)?;
            values.matrices.push(g.reshape_to(half, &[Some(size("M")), Some(size(n))])?);
        }
        Op::Transposed => {
            let turned = g.transpose(a, &[1, 0])?;
            let half = scaled(g, turned, 0.5)?;
            values.matrices.push(g.transpose(half, &[1, 0])?);
        }
        Op::Scan | Op::ScanRows => {
            let squashed = g.map(a, |s, x| s.math("math.tanh", x))?;
            let sum = g.scan(squashed, usize::from(matches!(step.op, Op::Scan)), Combiner::Add, false, false)?;
            values.matrices.push(scaled(g, sum, 0.125)?);
        }
        Op::ScanBackward => values.matrices.push(g.scan(a, 1, Combiner::Max, false, true)?),
        Op::ShiftedColumns | Op::ShiftedRows => {
            let number = PadKind::Constant(g.cx().float_attr(0.5, Type::F32));
            let (before, after) =
                if matches!(step.op, Op::ShiftedRows) { ([1, 0], [-1, 0]) } else { ([0, 2], [0, -2]) };
            values.matrices.push(g.pad(a, &before.map(Poly::from), &after.map(Poly::from), number)?);
        }
    }
    Ok(())
}
