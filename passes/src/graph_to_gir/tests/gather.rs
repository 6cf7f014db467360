//! Reads by index: the same elements at every level, and the same words for a wrong index.

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{Built, ComputeInput, ComputeResult, GraphBuilder};
use sutura_dialects::graph::{Combiner, IteratorKind};
use sutura_interp::{Interpreter, Value as Data};
use sutura_ir::{Context, Module, Type, Value};

use super::{PIPELINE, agree_on_all_levels};
use crate::testing::{any, context, copy, function, run, size, tensor, text};

/// Random integers as indices of a dimension of that size, half of them negative ones.
fn indices(g: &mut GraphBuilder<'_, '_>, x: Value, size: i64) -> Built {
    g.map(x, |s, x| {
        let size = s.int(size, Type::I64);
        s.rem(x, size)
    })
}

fn lowered(cx: &Context, before: &Module) -> Module {
    let mut after = copy(cx, before);
    let said = run(cx, &mut after, PIPELINE);
    said.unwrap_or_else(|e| panic!("{e:?}\n{}", text(cx, &after)));
    after
}

#[test]
fn rows_of_a_table_are_normalised() {
    let cx = context();
    let (table, ids) = (tensor(&cx, &["5", "N"], Type::F32), tensor(&cx, &["B", "S"], Type::I64));
    let symbols = [("B", any()), ("S", any()), ("N", any())];
    let module = function(&cx, &symbols, &[table, ids], |g, args| {
        let ids = indices(g, args[1], 5)?;
        let rows = g.gather(args[0], ids, 0);
        let sum = g.reduce(rows, &[2], true, Combiner::Add, Type::F32, |_, x| x);
        Ok(vec![g.zip(rows, sum, |s, a, b| s.sub(a, b))?])
    });
    let after = lowered(&cx, &module);
    let sizes = [(2, 3, 20), (1, 1, 1), (0, 2, 4), (3, 1, 0), (2, 2, 33)];
    let sizes = sizes.map(|(b, s, n)| [("B", b), ("S", s), ("N", n)]);
    agree_on_all_levels(&cx, &module, &after, &sizes.each_ref().map(|s| &s[..]));
}

/// Along the first, the middle and the last axis, by indices of rank 0 to 2, and each element by its own.
#[test]
fn any_axis_and_any_rank_of_indices() {
    let cx = context();
    let x = tensor(&cx, &["4", "3", "20"], Type::F32);
    for (axis, size) in [(0, 4), (1, 3), (2, 20)] {
        for shape in [&[][..], &["K"], &["2", "K"]] {
            let symbols = [("K", any())];
            let symbols = if shape.is_empty() { &[][..] } else { &symbols };
            let module = function(&cx, symbols, &[x, tensor(&cx, shape, Type::I64)], |g, args| {
                let at = indices(g, args[1], size)?;
                let negated = g.map(args[0], |s, x| s.neg(x))?;
                let picked = g.gather(negated, at, axis);
                Ok(vec![g.map(picked, |s, x| s.abs(x))?])
            });
            let after = lowered(&cx, &module);
            agree_on_all_levels(&cx, &module, &after, &[&[("K", 3)], &[("K", 0)], &[("K", 17)]]);
        }
        let mut shape = ["4", "3", "20"];
        shape[axis] = "K";
        let module = function(&cx, &[("K", any())], &[x, tensor(&cx, &shape, Type::I64)], |g, args| {
            let at = indices(g, args[1], size)?;
            let picked = g.gather_elements(args[0], at, axis)?;
            Ok(vec![g.map(picked, |s, x| s.neg(x))?])
        });
        let after = lowered(&cx, &module);
        agree_on_all_levels(&cx, &module, &after, &[&[("K", 3)], &[("K", 0)], &[("K", 18)]]);
    }
}

/// Random integers as places of a tensor with dimensions of these sizes: `indices` has one of each along its last dimension.
fn places(g: &mut GraphBuilder<'_, '_>, x: Value, sizes: &[&str]) -> Built {
    let (shape, last) = (g.shape(x), g.rank(x) - 1);
    let index = g.dims(0..last + 1);
    let inputs = vec![ComputeInput { value: x, index: index.clone(), oob: None }];
    let results = vec![ComputeResult { shape, elem: Type::I64, index, combiner: None }];
    let op = g.compute(&vec![IteratorKind::Parallel; last + 1], inputs, results, |s, args| {
        let along = s.index(last);
        let mut at = s.size(&size(sizes[0]));
        for (i, name) in sizes.iter().enumerate().skip(1) {
            let (from, other) = (s.int(i as i64, Type::INDEX), s.size(&size(name)));
            let here = s.compare(Comparison::GreaterOrEqual, along, from);
            at = s.select(here, other, at);
        }
        let at = s.cast(at, Type::I64);
        vec![s.rem(args[0], at)]
    });
    Ok(g.b.body().result(op, 0))
}

/// Of one to three dimensions, behind batches or none, in front of columns or none; the places of what a kernel makes too.
#[test]
fn several_dimensions_at_once() {
    let cx = context();
    let data = ["B", "3", "D", "H"];
    let some = |name: &'static str| (name, SymbolInfo { min: 1, ..any() });
    let symbols = [some("B"), some("D"), some("H"), ("K", any())];
    for (batch, picked) in [(0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (1, 2), (1, 3), (2, 2)] {
        let mut shape: Vec<&str> = data[..batch].to_vec();
        let count = picked.to_string();
        shape.extend(["K", &count]);
        // Where sizes may be 0 too.
        for symbols in [symbols.clone(), symbols.clone().map(|(name, _)| (name, any()))] {
            let types = [tensor(&cx, &data, Type::F32), tensor(&cx, &shape, Type::I64)];
            let module = function(&cx, &symbols, &types, |g, args| {
                let at = places(g, args[1], &data[batch..batch + picked])?;
                let negated = g.map(args[0], |s, x| s.neg(x))?;
                let read = g.gather_nd(negated, at, batch)?;
                Ok(vec![g.map(read, |s, x| s.abs(x))?])
            });
            let after = lowered(&cx, &module);
            let sizes = [[2, 5, 20, 3], [1, 1, 1, 1], [3, 2, 7, 0], [2, 4, 1, 9]];
            let sizes = sizes.map(|[b, d, h, k]| [("B", b), ("D", d), ("H", h), ("K", k)]);
            agree_on_all_levels(&cx, &module, &after, &sizes.each_ref().map(|s| &s[..]));
        }
    }
}

/// What is read of what else is read by index.
#[test]
fn indices_that_are_picked() {
    let cx = context();
    let types = [tensor(&cx, &["6", "20"], Type::F32), tensor(&cx, &["4"], Type::I64), tensor(&cx, &["K"], Type::I64)];
    let module = function(&cx, &[("K", any())], &types, |g, args| {
        let (rows, order) = (indices(g, args[1], 6)?, indices(g, args[2], 4)?);
        let table = g.gather(args[0], rows, 0);
        let turned = g.map(table, |s, x| s.neg(x))?;
        Ok(vec![g.gather(turned, order, 0)])
    });
    let after = lowered(&cx, &module);
    agree_on_all_levels(&cx, &module, &after, &[&[("K", 3)], &[("K", 0)], &[("K", 9)]]);
}

#[test]
fn a_wrong_place_is_told_in_the_same_words() {
    let cx = context();
    let types = [tensor(&cx, &["V", "W"], Type::F32), tensor(&cx, &["K", "2"], Type::I64)];
    let module = function(&cx, &[("V", any()), ("W", any()), ("K", any())], &types, |g, args| {
        let read = g.gather_nd(args[0], args[1], 0)?;
        Ok(vec![g.map(read, |s, x| s.neg(x))?])
    });
    let after = lowered(&cx, &module);
    let cases: [([usize; 2], &[i64], &str); 4] = [
        ([3, 2], &[0, -2, -3, 2], "element 3 of its indices is 2, which is not in [-2, 1]"),
        ([3, 2], &[0, 1, 3, 0], "element 2 of its indices is 3, which is not in [-3, 2]"),
        ([0, 2], &[0, 0], "element 0 of its indices is 0, and the dimension that it indexes is empty"),
        ([2, 0], &[0, 0], "element 1 of its indices is 0, and the dimension that it indexes is empty"),
    ];
    for (shape, at, words) in cases {
        let table = Data::tensor_f32(vec![1.0; shape[0] * shape[1]], &shape).unwrap();
        let inputs = [table, Data::tensor_i64(at.to_vec(), &[at.len() / 2, 2]).unwrap()];
        for (level, module) in [("graph", &module), ("gir", &after)] {
            let message = said(&cx, module, &inputs);
            assert!(message.contains("graph.gather_nd") && message.contains(words), "{level}: {message}");
        }
    }
}

fn said(cx: &Context, module: &Module, inputs: &[Data]) -> String {
    Interpreter::new(cx, module).call("main", inputs).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_wrong_index_is_told_in_the_same_words() {
    let cx = context();
    let types = [tensor(&cx, &["V", "2"], Type::F32), tensor(&cx, &["K"], Type::I64)];
    let module = function(&cx, &[("V", any()), ("K", any())], &types, |g, args| {
        let rows = g.gather(args[0], args[1], 0);
        Ok(vec![g.map(rows, |s, x| s.neg(x))?])
    });
    let after = lowered(&cx, &module);
    let cases: [(usize, &[i64], &str); 5] = [
        (3, &[0, -3, 3], "element 2 of its indices is 3, which is not in [-3, 2]"),
        (3, &[0, -4, 7, 9], "element 1 of its indices is -4, which is not in [-3, 2]"),
        (1, &[i64::MIN], "element 0 of its indices is -9223372036854775808, which is not in [-1, 0]"),
        (1, &[i64::MAX], "element 0 of its indices is 9223372036854775807, which is not in [-1, 0]"),
        (0, &[0], "element 0 of its indices is 0, and the dimension that it indexes is empty"),
    ];
    for (rows, at, words) in cases {
        let table = Data::tensor_f32(vec![1.0; rows * 2], &[rows, 2]).unwrap();
        let inputs = [table, Data::tensor_i64(at.to_vec(), &[at.len()]).unwrap()];
        for (level, module) in [("graph", &module), ("gir", &after)] {
            let message = said(&cx, module, &inputs);
            assert!(message.contains("graph.gather") && message.contains(words), "{level}: {message}");
        }
    }
}
