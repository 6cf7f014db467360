//! Random programs: what a pass makes of them here and in `mlir-opt` runs to the same results, and ours is no longer.

use std::fmt::Write;

use rayon::prelude::*;
use sutura_interp::Tolerance;
use sutura_ir::{Body, Context, Module, Op, OpRef, Traits};

use super::super::{agree, control::module_text, copy};
use super::{context, generic, mlir_opt, ours, parse, refused};

/// In generic form: the custom one calls functions by a name that `mlir-opt` does not know in regions of `scf`.
fn program(cx: &Context, seed: u64) -> String {
    let text = module_text(seed, (seed % 3) as usize, 4 + (seed % 17) as usize);
    generic(cx, &parse(cx, &text).unwrap_or_else(|error| panic!("{error}")))
}

/// Ops of a module, those of its functions included, constants left out.
fn count(cx: &Context, module: &Module) -> usize {
    fn of(cx: &Context, body: &Body) -> usize {
        let counted = |op: &Op| !OpRef::new(cx, body, *op).has_trait(Traits::ConstantLike);
        body.preorder().filter(counted).map(|op| 1 + body.nested(op).map_or(0, |inside| of(cx, inside))).sum()
    }
    of(cx, module.body())
}

/// Compares one program; how many ops are left here and there.
fn compare(cx: &Context, before: &str, ours: &str, theirs: &str, what: &str) -> Result<(usize, usize), String> {
    let [before, ours, theirs] = [parse(cx, before)?, parse(cx, ours)?, parse(cx, theirs)?];
    for after in [&ours, &theirs] {
        agree(cx, (&before, &copy(cx, after)), &[], Tolerance::EXACT, what);
    }
    Ok((count(cx, &ours), count(cx, &theirs)))
}

/// A pipeline on programs of these seeds. Ours leaves at most `slack` ops more in a program.
fn check(pipeline: &str, seeds: std::ops::Range<u64>, slack: usize) {
    let cx = context();
    let programs: Vec<String> = seeds.clone().map(|seed| program(&cx, seed)).collect();
    let made = programs.par_iter().map(|program| Ok(generic(&cx, &ours(&cx, program, pipeline)?)));
    let made: Vec<String> = made.collect::<Result<_, String>>().unwrap_or_else(|error| panic!("{error}"));
    let Some((theirs, said)) = mlir_opt(&programs, pipeline) else { return };
    assert!(theirs.iter().all(|text| !text.is_empty()), "mlir-opt fails: {said}");
    let refused = refused(&made);
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    let counts: Vec<(usize, usize)> = (0..programs.len())
        .into_par_iter()
        .map(|i| compare(&cx, &programs[i], &made[i], &theirs[i], pipeline).unwrap_or_else(|error| panic!("{error}")))
        .collect();
    let mut longer = String::new();
    for (index, (seed, (ours, by_mlir))) in seeds.zip(&counts).enumerate() {
        if *ours > by_mlir + slack {
            let (made, theirs) = (&made[index], &theirs[index]);
            let _ = writeln!(longer, "seed {seed}: {ours} ops, {by_mlir} by mlir-opt\n{made}\n{theirs}");
        }
    }
    let (ours, theirs) = counts.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
    eprintln!("{pipeline}: {ours} ops in all, {theirs} by mlir-opt");
    assert!(longer.is_empty(), "{pipeline}: {longer}");
}

#[test]
fn canonicalize_on_random_programs() {
    check("canonicalize", 0..40, 0);
}

#[test]
fn cse_on_random_programs() {
    check("cse", 40..80, 0);
}

#[test]
fn sccp_on_random_programs() {
    check("sccp", 80..120, 1);
}

#[test]
fn a_pipeline_on_random_programs() {
    check("canonicalize,sccp,cse,canonicalize", 120..160, 2);
}
