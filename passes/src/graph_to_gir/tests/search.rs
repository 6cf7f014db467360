//! Whatever mapping the search takes means the same.

use sutura_ir::Type;

use super::agree_on_all_levels;
use crate::testing::{any, context, copy, function, run, tensor, text};

/// Kernels of a product, without the machine's description.
fn searched(machine: &str, columns: &str) -> String {
    let cx = context();
    let (a, b) = (tensor(&cx, &["M", "7"], Type::F32), tensor(&cx, &["7", columns], Type::F32));
    let before = function(&cx, &[("M", any())], &[a, b], |g, args| Ok(vec![g.matmul(args[0], args[1])?]));
    let mut after = copy(&cx, &before);
    let pipeline = format!(
        "builtin.module(attach-target{{name={machine}}},func.func(canonicalize,stitch),convert-graph-to-gir{{search=predict}})"
    );
    run(&cx, &mut after, &pipeline).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &after)));
    agree_on_all_levels(&cx, &before, &after, &[&[("M", 3)], &[("M", 13)], &[("M", 0)]]);
    let out = text(&cx, &after);
    out.split_once("gir.kernel").expect("there are kernels").1.to_owned()
}

#[test]
fn the_tile_that_wastes_least_is_taken() {
    // Of two panels of 32 columns a quarter would be computed in vain, of four of 16 nothing is saved.
    for (columns, taken, other) in [("48", "[12, 16]", "[12, 32]"), ("64", "[12, 32]", "[12, 16]")] {
        let kernels = searched("x86_avx512", columns);
        let tile = |extents: &str| format!("gir.tile<vec, f32, {extents}>");
        assert!(kernels.contains(&tile(taken)) && !kernels.contains(&tile(other)), "{kernels}");
    }
}
