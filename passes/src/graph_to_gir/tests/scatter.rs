//! Writes by index: the same elements at every level, and the same words for a wrong index.

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::graph::Combiner;
use sutura_dialects::graph::build::{Built, GraphBuilder, Joined};
use sutura_interp::{Interpreter, Value as Data};
use sutura_ir::types::{Signedness, TypeData};
use sutura_ir::{Context, Module, Type, Value};

use super::{PIPELINE, agree_on_all_levels};
use crate::testing::{any, context, copy, function, run, size, tensor, text};

const WAYS: [Joined; 4] =
    [Joined::Replace, Joined::By(Combiner::Add), Joined::By(Combiner::Mul), Joined::By(Combiner::Max)];

/// Random integers as indices of a dimension of that size, half of them negative ones.
fn indices(g: &mut GraphBuilder<'_, '_>, x: Value, of: &str) -> Built {
    g.map(x, |s, x| {
        let count = s.size(&size(of));
        let count = s.cast(count, Type::I64);
        s.rem(x, count)
    })
}

fn lowered(cx: &Context, before: &Module) -> Module {
    let mut after = copy(cx, before);
    let said = run(cx, &mut after, PIPELINE);
    said.unwrap_or_else(|e| panic!("{e:?}\n{}", text(cx, &after)));
    after
}

/// Along each axis; updates meet, and there are more of them than elements along the axis, or fewer.
#[test]
fn every_update_at_an_index_of_its_own() {
    let cx = context();
    for (i, elem) in [Type::F32, Type::I64, Type::F16, Type::I8].into_iter().enumerate() {
        for axis in 0..3 {
            let joined = WAYS[(i + axis) % 4];
            let (data, mut updates) = (["A", "4", "N"], ["A", "4", "N"]);
            updates[axis] = "K";
            let symbols = [("A", some()), ("N", some()), ("K", any())];
            let types = [&data, &updates, &updates].map(|shape| tensor(&cx, shape, elem));
            let types = [types[0], tensor(&cx, &updates, Type::I64), types[2]];
            let module = function(&cx, &symbols, &types, |g, args| {
                let at = indices(g, args[1], data[axis])?;
                let moved = g.map(args[0], |s, x| s.neg(x))?;
                let made = g.scatter((moved, at, args[2]), Some(axis), joined)?;
                Ok(vec![g.map(made, |s, x| s.neg(x))?])
            });
            let after = lowered(&cx, &module);
            let sizes = [[2, 3, 5], [1, 1, 1], [3, 17, 2], [2, 2, 0]];
            let sizes = sizes.map(|[a, n, k]| [("A", a), ("N", n), ("K", k)]);
            agree_on_all_levels(&cx, &module, &after, &sizes.each_ref().map(|s| &s[..]));
        }
    }
}

fn some() -> SymbolInfo {
    SymbolInfo { min: 1, ..any() }
}

/// With columns behind them or none, of one to three dimensions, of which each may be empty.
#[test]
fn slices_at_several_indices() {
    let cx = context();
    let data = ["B", "3", "H"];
    for (i, count) in [1, 2, 3].into_iter().enumerate() {
        for info in [some(), any()] {
            let symbols = [("B", info.clone()), ("H", info.clone()), ("K", any())];
            let places = count.to_string();
            let updates = [&["K"], &data[count..]].concat();
            let types = [
                tensor(&cx, &data, Type::F32),
                tensor(&cx, &["K", &places], Type::I64),
                tensor(&cx, &updates, Type::F32),
            ];
            let module = function(&cx, &symbols, &types, |g, args| {
                // The least of the sizes is inside all of them.
                let at = indices(g, args[1], "min(min(B, H), 3)")?;
                Ok(vec![g.scatter((args[0], at, args[2]), None, WAYS[i + 1])?])
            });
            let after = lowered(&cx, &module);
            let sizes = [[2, 20, 3], [1, 1, 1], [7, 70, 9], [5, 4, 0]];
            let sizes = sizes.map(|[b, h, k]| [("B", b), ("H", h), ("K", k)]);
            agree_on_all_levels(&cx, &module, &after, &sizes.each_ref().map(|s| &s[..]));
        }
    }
}

/// Without sign the greater one is another one; a region says so.
#[test]
fn integers_without_sign_are_joined_by_a_region() {
    let cx = context();
    let unsigned = cx.ty(TypeData::Integer { width: 8, sign: Signedness::Unsigned });
    let types = [tensor(&cx, &["6"], unsigned), tensor(&cx, &["K"], Type::I64), tensor(&cx, &["K"], unsigned)];
    let module = function(&cx, &[("K", any())], &types, |g, args| {
        let at = indices(g, args[1], "6")?;
        Ok(vec![g.scatter((args[0], at, args[2]), Some(0), Joined::By(Combiner::Max))?])
    });
    assert!(text(&cx, &module).contains("combine {"), "{}", text(&cx, &module));
    let mut after = copy(&cx, &module);
    let pipeline = "builtin.module(func.func(legalize-elements,canonicalize,stitch),convert-graph-to-gir)";
    let said = run(&cx, &mut after, pipeline);
    said.unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &after)));
    agree_on_all_levels(&cx, &module, &after, &[&[("K", 4)], &[("K", 0)], &[("K", 30)]]);
}

/// Updates that have fewer rows than the data.
#[test]
fn fewer_updates_than_data() {
    let cx = context();
    let symbols = [("E", any()), ("U", any()), ("K", any())];
    let types = [
        tensor(&cx, &["U + E", "4"], Type::F32),
        tensor(&cx, &["U", "K"], Type::I64),
        tensor(&cx, &["U", "K"], Type::F32),
    ];
    let module = function(&cx, &symbols, &types, |g, args| {
        let at = indices(g, args[1], "4")?;
        Ok(vec![g.scatter((args[0], at, args[2]), Some(1), Joined::By(Combiner::Add))?])
    });
    let after = lowered(&cx, &module);
    let sizes = [[0, 5, 3], [2, 2, 7], [3, 0, 2], [1, 1, 0]];
    let sizes = sizes.map(|[e, u, k]| [("E", e), ("U", u), ("K", k)]);
    agree_on_all_levels(&cx, &module, &after, &sizes.each_ref().map(|s| &s[..]));
}

fn said_of(cx: &Context, module: &Module, inputs: &[Data]) -> String {
    Interpreter::new(cx, module).call("main", inputs).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_wrong_index_is_told_in_the_same_words() {
    let cx = context();
    let symbols = [("V", any()), ("K", any())];
    let types =
        [tensor(&cx, &["V", "2"], Type::F32), tensor(&cx, &["K", "1"], Type::I64), tensor(&cx, &["K", "2"], Type::F32)];
    let module = function(&cx, &symbols, &types, |g, args| {
        Ok(vec![g.scatter((args[0], args[1], args[2]), None, Joined::By(Combiner::Add))?])
    });
    let after = lowered(&cx, &module);
    let cases: [(usize, &[i64], &str); 4] = [
        (3, &[0, -3, 3], "element 2 of its indices is 3, which is not in [-3, 2]"),
        (3, &[0, -4, 7, 9], "element 1 of its indices is -4, which is not in [-3, 2]"),
        (1, &[i64::MIN], "element 0 of its indices is -9223372036854775808, which is not in [-1, 0]"),
        (0, &[0], "element 0 of its indices is 0, and the dimension that it indexes is empty"),
    ];
    for (rows, at, words) in cases {
        let table = Data::tensor_f32(vec![1.0; rows * 2], &[rows, 2]).unwrap();
        let updates = Data::tensor_f32(vec![1.0; at.len() * 2], &[at.len(), 2]).unwrap();
        let inputs = [table, Data::tensor_i64(at.to_vec(), &[at.len(), 1]).unwrap(), updates];
        for (level, module) in [("graph", &module), ("gir", &after)] {
            let message = said_of(&cx, module, &inputs);
            assert!(message.contains("graph.scatter") && message.contains(words), "{level}: {message}");
        }
    }
}
