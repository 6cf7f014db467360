//! What each primitive makes of a tree, and what it refuses.

use super::{context, trace, tree, written};

/// Edits of the last of some versions make others of them.
fn makes(before: &str, edits: &str, after: &str) {
    let cx = context();
    let edited = trace(&cx, edits).apply(&cx, tree(&cx, before)).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(written(&cx, &edited), written(&cx, tree(&cx, after)), "{edits}");
}

/// The last edit is refused, with this reason.
fn refuses(before: &str, edits: &str, why: &str) {
    let cx = context();
    let trace = trace(&cx, edits);
    let last = trace.edits.last().expect("an edit");
    let said = format!("edit {}, '{}': {why}", trace.edits.len() - 1, last.primitive.text(&cx));
    assert_eq!(trace.apply(&cx, tree(&cx, before)).map(|tree| written(&cx, &tree)), Err(said));
}

/// A version of one kernel.
fn kernel(body: &str) -> String {
    format!("version {{ kernel {{ {body} }} }}")
}

/// A product whose right factor is packed.
const PRODUCT: &str = "version {
  kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
  kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } }
}";

/// A softmax of long rows.
const LONG: &str = "version {
  kernel { loop d0 grid { loop d1 by 64 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 } } }
  kernel { loop d0 grid { join s:1 in l1 } }
  kernel { loop d0 grid { loop d1 by 64 grid { place e:0 cols d1 in l1 place q:2 cols d1 in l1 } } }
}";

const ROWS: &str =
    "version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }";

#[test]
fn split() {
    makes(&kernel("loop d0 { place e:0 }"), "split d0 of e:0 by 4", &kernel("loop d0 by 4 { loop d0 { place e:0 } }"));
    makes(
        &kernel("loop d0 { loop d1 { place e:0 } }"),
        "split d0 of e:0 even 4",
        &kernel("loop d0 even 4 { loop d0 { loop d1 { place e:0 } } }"),
    );
    // The smaller number is the inner one.
    let whole = kernel("loop d0 by 16 { place e:0 cols d0 in l1 }");
    makes(&whole, "split d0 of e:0 by 4", &kernel("loop d0 by 16 { loop d0 by 4 { place e:0 cols d0 in l1 } }"));
    makes(&whole, "split d0 of e:0 by 64", &kernel("loop d0 by 64 { loop d0 by 16 { place e:0 cols d0 in l1 } }"));
    // Loops of the grid come first.
    makes(
        &kernel("loop d0 grid { loop d1 grid { place e:0 } }"),
        "split d0 of e:0 by 4",
        &kernel("loop d0 by 4 grid { loop d1 grid { loop d0 { place e:0 } } }"),
    );
    // What a tile has, alone.
    makes(
        ROWS,
        "split d1 of s:1 by 16",
        &ROWS.replace("place s:1 cols d1 in l1", "loop d1 by 16 { place s:1 cols d1 in l1 }"),
    );
    // Loops that copy.
    makes(
        &kernel("cache p:0.1 cols d1 in l1 { loop d1 by 16 { operand p:0.1 cols d1 in vec } }"),
        "split d1 of p:0.1 by 32",
        &kernel("cache p:0.1 cols d1 in l1 { loop d1 by 32 { loop d1 by 16 { operand p:0.1 cols d1 in vec } } }"),
    );
    refuses(ROWS, "split d2 of s:1 by 16", "no loop over d2 lies around stage 's:1'");
    refuses(ROWS, "split d0.1 of s:1 by 16", "only one loop over d0 lies around stage 's:1': there is no 'd0.1'");
    refuses(
        &whole,
        "split d0 of e:0 by 6",
        "the loop over d0 has 16 indices a trip: 6 is no multiple and no part of that",
    );
    refuses(&whole, "split d0 of e:0 by 16", "the loop over d0 has 16 indices a trip already");
    refuses(
        &whole,
        "split d0 of e:0 by 0",
        "the loop over d0 has 16 indices a trip: 0 is no multiple and no part of that",
    );
    refuses(
        &whole,
        "split d0 of e:0 even 2",
        "the loop over d0 has 16 indices a trip, and even parts are of single ones",
    );
    refuses(
        &kernel("loop d0 even 3 grid { loop d0 { place e:0 } }"),
        "split d0 of e:0 by 2",
        "the loop over d0 has 3 even parts, which are not divided again",
    );
    refuses(ROWS, "split d0 of s:1 by -1", "the loop over d0 is split by -1; it must be at least 1");
    refuses(ROWS, "split d0 of t:7 by 2", "stage 't:7' is not placed");
    refuses(LONG, "split d0 of e:0 by 2", "stage 'e:0' is in the kernels 0 and 2; 'e:0 kernel 0' is one of the two");
    refuses(LONG, "split d0 of e:0 kernel 1 by 2", "stage 'e:0' is not placed in kernel 1");
    refuses(
        LONG,
        "split d0 of e:0 kernel 9223372036854775807 by 2",
        "stage 'e:0' is not placed in kernel 9223372036854775807: there are 3",
    );
}

#[test]
fn retile_and_bind() {
    makes(PRODUCT, "retile d0 of p:0 by 8", &PRODUCT.replace("by 12", "by 8"));
    makes(
        PRODUCT,
        "retile d1 of p:0.1 by 16 retile d1 of p:0 even 16",
        &PRODUCT.replacen("by 32", "by 16", 1).replace("by 32", "even 16"),
    );
    refuses(PRODUCT, "retile d0 of p:0 by 0", "the loop over d0 is split by 0; it must be at least 1");
    refuses(PRODUCT, "retile d0 of p:0.1 by 8", "no loop over d0 lies around operand 'p:0.1'");
    makes(ROWS, "bind d0 of s:1 to turn", &ROWS.replace(" grid", ""));
    makes(ROWS, "bind d0 of s:1 to units", &ROWS.replace("grid", "units"));
    refuses(
        PRODUCT,
        "bind d1 of p:0 to turn",
        "the loop over d0 is of the grid, but the loop over d1 around it is not of the grid",
    );
}

#[test]
fn inside() {
    let nest = kernel("loop d0 grid { loop d1 { place e:0 } }");
    makes(&nest, "inside d1 of e:0", &nest.replace("loop d1", "loop d1 inside"));
    let why = "the loop over d0 leaves out what lies outside, and does not run through it one by one";
    refuses(&nest, "inside d0 of e:0", why);
    let tiles = kernel("loop d0 grid { loop d1 by 4 { place e:0 } }");
    refuses(&tiles, "inside d1 of e:0", &why.replace("d0", "d1"));
}

#[test]
fn reach() {
    let nest = kernel("loop d0 grid { loop d1 by 4 online s:1 { place s:1 } }");
    makes(&nest, "reach d1 of s:1", &nest.replace("online s:1", "online s:1 reach"));
    let why = "the loop over d1 leaves out what is hidden, and has nothing online or does not run through it in tiles";
    refuses(&nest.replace(" online s:1", ""), "reach d1 of s:1", why);
    refuses(&nest.replace(" by 4", ""), "reach d1 of s:1", why);
}

#[test]
fn unroll_and_threads() {
    let nest = kernel("loop d0 grid { loop d1 by 8 { loop d2 { place e:0 } } }");
    makes(&nest, "unroll d1 of e:0 by 4", &nest.replace("by 8", "by 8 unroll 4"));
    makes(
        &nest,
        "unroll d1 of e:0 by 4 reorder d2 d1 of e:0",
        &kernel("loop d0 grid { loop d2 { loop d1 by 8 unroll 4 { place e:0 } } }"),
    );
    refuses(&nest, "unroll d1 of e:0 by 1", "the loop over d1 unrolls 1 trips; it must be from 2 to 64");
    refuses(&nest, "unroll d0 of e:0 by 4", "the loop over d0 is unrolled, and its trips do not run one after another");
    makes(&nest, "threads e:0 by 64", &nest.replace("kernel", "kernel threads 64"));
    refuses(
        &nest,
        "threads e:0 by 0",
        "version 0 has a kernel with units of 0 threads; it must be a power of two, 1024 at most",
    );
}

#[test]
fn fuse_and_join() {
    let nest = kernel("loop d0 grid { loop d1 { loop d2 by 4 { place e:0 cols d2 in l1 } } }");
    makes(
        &nest,
        "fuse d0 d1",
        "version { fuse d0 d1 kernel { loop d0 grid { loop d1 by 4 { place e:0 cols d1 in l1 } } } }",
    );
    makes(
        &nest,
        "fuse d1 d2",
        "version { fuse d1 d2 kernel { loop d0 grid { loop d1 by 4 { place e:0 cols d1 in l1 } } } }",
    );
    makes(
        &kernel("loop d0 by 8 grid { loop d0 by 1 { place e:0 } }"),
        "fuse d0 d0.1 of e:0",
        &kernel("loop d0 by 1 grid { place e:0 }"),
    );
    makes(
        &kernel("loop d0 { place e:0 } loop d2 { place f:1 }"),
        "join d0 d2",
        "version { join d0 d2 kernel { loop d0 { place e:0 } loop d0 { place f:1 } } }",
    );
    makes(
        &kernel("loop d3 { place e:0 } loop d0 { place f:1 }"),
        "join d3 d0",
        "version { join d3 d0 kernel { loop d2 { place e:0 } loop d2 { place f:1 } } }",
    );
    refuses(&nest, "fuse d2 d0", "a loop over d2 has more than one index a trip, and d2 would be gone");
    refuses(ROWS, "fuse d1 d0", "the tile of stage 'e:0' has several indices of d1, and d1 would be gone");
    refuses(ROWS, "fuse d1 d1", "d1 is named twice");
    refuses(ROWS, "join d1 d1", "d1 is named twice");
    refuses(&nest, "join d0 d1", "the loop over d0 lies in a loop that gives one index of d0");
    refuses(&nest, "fuse d0 d1 of e:0", "d0 and d1 are two dims, which 'fuse d0 d1' makes one");
    refuses(
        &kernel("loop d0 by 4 { place f:1 loop d0 { place e:0 } }"),
        "fuse d0 d0.1 of e:0",
        "the loop 'd0.1' around stage 'e:0' is not all that 'd0' has in it",
    );
}

#[test]
fn reorder() {
    let nest = kernel("loop d0 by 8 { loop d1 even 4 { loop d0 { place e:0 } } }");
    makes(&nest, "reorder d1 d0 of e:0", &kernel("loop d1 even 4 { loop d0 by 8 { loop d0 { place e:0 } } }"));
    makes(&nest, "reorder d0 d0.1 d1 of e:0", &kernel("loop d0 by 8 { loop d0 { loop d1 even 4 { place e:0 } } }"));
    refuses(
        &nest,
        "reorder d0.1 d0 of e:0",
        "loops over d0 around stage 'e:0' would change places: each divides what the outer has",
    );
    refuses(&nest, "reorder d1 d1 of e:0", "'d1' is named twice");
    refuses(
        &kernel("loop d0 { place f:1 loop d1 { place e:0 } }"),
        "reorder d1 d0 of e:0",
        "the loop over d0 has more in it than the next loop around stage 'e:0', and would change places",
    );
    refuses(
        &kernel("loop d0 grid { loop d1 { place e:0 } }"),
        "reorder d1 d0 of e:0",
        "the loop over d0 is of the grid, but the loop over d1 around it is not of the grid",
    );
}

#[test]
fn tiles() {
    let nest = kernel("loop d0 by 4 { loop d0 { loop d1 { place e:0 in vec padded } } }");
    makes(
        &nest,
        "vectorize d1 of e:0 tile_rows d0.1 of e:0 set_space e:0 to l1 set_layout e:0 unpadded",
        &kernel("loop d0 by 4 { place e:0 rows d0 cols d1 in l1 }"),
    );
    refuses(&nest, "vectorize d0.1 of e:0", "the loop over d0 has the loop over d1 in it, which has a body");
    refuses(
        &nest,
        "tile_rows d0 of e:0",
        "the loop over d0 has more than one index a trip: split it, and take the inner loop",
    );
    refuses(&nest, "vectorize d1 of e:0 vectorize d0.1 of e:0", "the tile of stage 'e:0' has columns along d1 already");
    refuses(ROWS, "tile_rows d0 of e:0", "the trips of the loop over d0 are groups or units");
    makes(ROWS, "set_space q:2 to \"\"", &ROWS.replace("q:2 cols d1 in l1", "q:2 cols d1"));
    refuses(ROWS, "set_space e:7 to vec", "stage 'e:7' is not placed");
    refuses(ROWS, "set_layout e:0 pitch 8", "stage 'e:0' has no pitch, which a cached operand has");
    refuses(PRODUCT, "set_layout p:0.1 pitch 8", "operand 'p:0.1' has a pitch, which only a cached one has");
    let sum = kernel("loop d0 by 4 grid { loop d2 { place p:0 rows d0 cols d1 in vec } }");
    makes(&sum, "tensorize p:0", &sum.replace("place", "contract"));
    let columns = kernel("loop d0 by 4 grid { loop d2 { place p:0 rows d0 in vec } }");
    refuses(&columns, "tensorize p:0", "the contraction of stage 'p:0' has no columns");
    refuses(
        LONG,
        "tensorize join s:1",
        "the join of stage 's:1' is no place: only the place of a sum of products becomes a contraction",
    );
}

#[test]
fn compute_at() {
    let apart = kernel("loop d0 grid { place e:0 in l1 loop d1 { place f:1 place q:2 } }");
    makes(
        &apart,
        "compute_at e:0 in d1 of f:1",
        &kernel("loop d0 grid { loop d1 { place e:0 in l1 place f:1 place q:2 } }"),
    );
    makes(
        &apart,
        "compute_at q:2 in d0 of f:1",
        &kernel("loop d0 grid { place e:0 in l1 loop d1 { place f:1 } place q:2 }"),
    );
    makes(
        &apart,
        "compute_at q:2 in d0 of q:2",
        &kernel("loop d0 grid { place e:0 in l1 loop d1 { place f:1 } place q:2 }"),
    );
    makes(
        &apart,
        "compute_at f:1 in d0 of f:1",
        &kernel("loop d0 grid { place e:0 in l1 place f:1 loop d1 { place q:2 } }"),
    );
    makes(
        &apart,
        "compute_at e:0 in d1 of q:2 again",
        &kernel("loop d0 grid { place e:0 in l1 loop d1 { place f:1 place e:0 in l1 place q:2 } }"),
    );
    // What is left empty is gone.
    makes(
        "version { kernel { loop d0 { place e:0 } } kernel { loop d0 { place q:2 } } }",
        "compute_at e:0 in d0 of q:2",
        &kernel("loop d0 { place e:0 place q:2 }"),
    );
    makes(
        "version { kernel { loop d0 { place e:0 } } kernel { loop d0 { loop d1 { place q:2 } } } }",
        "compute_at q:2 in d0 of e:0",
        &kernel("loop d0 { place e:0 place q:2 }"),
    );
    makes(
        &kernel("loop d0 { loop d2 by 4 { cache p:0.0 cols d2 in l1 contract p:0 cols d1 in vec } }"),
        "compute_at p:0.0 in d0 of p:0",
        &kernel("loop d0 { cache p:0.0 cols d2 in l1 loop d2 by 4 { contract p:0 cols d1 in vec } }"),
    );
    refuses(&apart, "compute_at q:2 in d1 of f:1 again", "stage 'q:2' is placed twice in one body");
    refuses(&apart, "compute_at e:0 in d2 of f:1", "no loop over d2 lies around stage 'f:1'");
    let made = kernel(
        "loop d0 { cache p:4.0 cols d1 in l1 { loop d2 { place e:0 } } loop d3 { contract p:4 cols d1 in vec } }",
    );
    refuses(&made, "compute_at e:0 in d3 of p:4", "nothing would be left in the body of operand 'p:4.0'");
    refuses(&made, "compute_at p:4.0 in d2 of e:0", "the loop over d2 lies in operand 'p:4.0'");
}

#[test]
fn operands() {
    let sum = kernel("loop d0 by 4 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } }");
    makes(
        &sum,
        "cache_read p:0.0 cols d2 in l1 padded at d0 of p:0 set_layout p:0.0 pitch 36 pipeline p:0.0",
        &kernel(
            "loop d0 by 4 grid { cache p:0.0 cols d2 in l1 padded pitch 36 ahead loop d2 { contract p:0 rows d0 cols d1 in vec } }",
        ),
    );
    refuses(&sum, "cache_read p:0.0 in l1 at d0 of p:0", "the cached operand 'p:0.0' has no columns");
    refuses(&sum, "cache_read q:1.0 cols d2 in l1 at d0 of p:0", "operand 'q:1.0' is not read in the loop over d0");
    refuses(
        &sum,
        "cache_read p:0.0 cols d1 in l1 at d0 of p:0 cache_read p:0.0 cols d1 in l1 at d2 of p:0",
        "operand 'p:0.0' is cached already",
    );
    makes(
        &kernel("loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } }"),
        "pack p:0.1 cols d1 in vec padded over d1 d2 of p:0",
        PRODUCT,
    );
    refuses(PRODUCT, "pack p:0.1 cols d1 in vec over d1 of p:0", "operand 'p:0.1' is packed already");
    refuses(&sum, "pack p:0.1 cols d1 in vec over d1 of p:0", "no loop over d1 lies around stage 'p:0'");
    refuses(
        &sum,
        "pack q:1.1 cols d1 in vec over d2 of p:0",
        "operand 'q:1.1' is read in loops around stage 'q:1', and others are named",
    );
    makes(
        &sum,
        "cache_read p:0.0 cols d2 in l1 padded at d0 of p:0 pipeline p:0.0 pipeline p:0.0 async",
        &kernel(
            "loop d0 by 4 grid { cache p:0.0 cols d2 in l1 padded async loop d2 { contract p:0 rows d0 cols d1 in vec } }",
        ),
    );
    refuses(
        PRODUCT,
        "pipeline p:0.1 async",
        "operand 'p:0.1' is not cached, and only what is can be copied asynchronously",
    );
    refuses(&sum, "pipeline p:0.0", "operand 'p:0.0' is not brought or packed");
    refuses(PRODUCT, "pipeline p:0.1", "operand 'p:0.1' is not cached, and only what is can be read ahead");
}

#[test]
fn hoist_and_online() {
    let rows = kernel("loop d0 { loop d1 by 32 { place most:1 cols d1 in l1 place e:2 cols d1 in l1 } }");
    makes(&rows, "online most:1 in d1 of e:2", &rows.replace("by 32 {", "by 32 online most:1 {"));
    refuses(&rows, "online p:4 in d1 of e:2", "stage 'p:4' is not placed in the loop over d1");
    refuses(
        &rows,
        "online most:1 in d1 of e:2 online e:2 in d1 of e:2",
        "the loop over d1 has stage 'most:1' online already",
    );
    refuses(
        &rows.replace("d0 {", "d0 grid {"),
        "online most:1 in d0 of e:2",
        "the trips of the loop over d0 do not run in turn, so that stage 'most:1' has no order",
    );
    makes(
        &kernel("loop d0 { place p:4 cols d1 in l1 loop d3 { place out:5 cols d1 in l1 padded } }"),
        "hoist p:4 out:5",
        "version { hoist p:4 out:5 kernel { loop d0 { loop d3 { place p:4 cols d1 in l1 padded place out:5 cols d1 in l1 padded } } } }",
    );
    refuses(&rows, "hoist most:1 out:5", "stage 'out:5' is not placed");
    refuses(&rows, "hoist most:1 x:1", "stage 'x:1' is named twice");
}

#[test]
fn programs() {
    makes(
        &ROWS.replace("cols d1 in l1 place q", "cols d1 in l1 loop d1 { place x:9 } place q"),
        "split_reduction s:1 along d1 by 64",
        "version {
           kernel { loop d0 grid { loop d1 by 64 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 } } }
           kernel { loop d0 grid { join s:1 in l1 } }
           kernel { loop d0 grid { place e:0 cols d1 in l1 loop d1 { place x:9 } place q:2 cols d1 in l1 } }
         }",
    );
    // Nothing comes behind, and what has rows is joined row by row.
    makes(
        &kernel("loop d0 by 8 grid { loop d2 { place s:1 rows d0 cols d1 in vec } }"),
        "split_reduction s:1 along d2 even 3",
        "version {
           kernel { loop d0 by 8 grid { loop d2 even 3 grid { loop d2 { place s:1 rows d0 cols d1 in vec } } } }
           kernel { loop d0 by 8 grid { loop d0 { join s:1 cols d1 in vec } } }
         }",
    );
    makes(ROWS, "split_reduction s:1 columnwise", &ROWS.replace("s:1 cols d1 in l1", "s:1 cols d1 in l1 columnwise"));
    refuses(
        ROWS,
        "split_reduction s:1 along d0 by 4",
        "a loop of the grid over d0 lies around stage 's:1', which has parts by that",
    );
    refuses(
        LONG,
        "split_reduction s:1 along d2 by 4",
        "stage 's:1' is combined in parts already, which a join combines",
    );
    refuses(
        LONG,
        "split_reduction join s:1 columnwise",
        "the join of stage 's:1' is no place: only a place is combined in parts",
    );
    refuses(
        &ROWS.replace(" cols d1", ""),
        "split_reduction s:1 columnwise",
        "stage 's:1' is placed columnwise, and has no columns",
    );
    let two = "version { kernel { place a:0 } kernel { place b:1 } kernel { place c:2 } }";
    makes(
        two,
        "together c:2 a:0",
        "version { together { kernel { place a:0 } kernel { place c:2 } } kernel { place b:1 } }",
    );
    refuses(ROWS, "together e:0 s:1", "stage 'e:0' and stage 's:1' are in one kernel");
    makes(
        two,
        "version when [-N + 4]",
        &format!("version when [-N + 4] {} {two}", two.strip_prefix("version").expect("it is one")),
    );
    refuses(two, "version when []", "the guard has no size, so that no version after it would ever run");
    let guarded = format!("version when [M] {} {two}", two.strip_prefix("version").expect("it is one"));
    let body = two.strip_prefix("version").expect("it is one");
    makes(
        &guarded,
        "version 0 { version when [N] set_space a:0 to l1 } set_space b:1 to vec",
        &format!(
            "version when [M, N] {} version when [M] {body} version {}",
            body.replace("place a:0", "place a:0 in l1"),
            body.replace("place b:1", "place b:1 in vec"),
        ),
    );
    refuses(two, "version 3 { set_space a:0 to l1 }", "there is no version 3: the tree has 1");
}

#[test]
fn accumulate() {
    let nest = kernel("loop d0 grid { loop d1 by 8 { place b:1 loop d2 by 4 { loop d2 { place p:0 } } place e:2 } }");
    makes(
        &nest,
        "accumulate d2 of p:0",
        &kernel(
            "loop d0 grid { loop d1 by 8 { place b:1 } loop d2 by 4 { loop d1 by 8 { loop d2 { place p:0 } } } \
             loop d1 by 8 { place e:2 } }",
        ),
    );
    // What lies beside it stays in order, and what keeps the loop alone makes none.
    let alone = kernel("loop d0 by 8 { loop d1 { loop d2 unroll 2 { place p:0 } } }");
    makes(
        &alone,
        "accumulate d2 of p:0 accumulate d2 of p:0",
        &kernel("loop d2 unroll 2 { loop d0 by 8 { loop d1 { place p:0 } } }"),
    );
    refuses(&kernel("loop d0 { place p:0 }"), "accumulate d0 of p:0", "the loop over d0 lies in no loop");
    refuses(
        &nest,
        "accumulate d1 of p:0",
        "the trips of the loop over d0 do not run in turn, and nothing is kept from one to the next",
    );
    refuses(&nest, "accumulate d2.1 of p:0", "loops over d2 would change places: each divides what the outer has");
    let online = kernel("loop d1 { loop d0 by 8 online m:0 { place m:0 place e:1 } }");
    refuses(&online, "accumulate d0 of e:1", "the loop over d0 has a stage online, and would change places");
    refuses(&nest, "accumulate d3 of p:0", "no loop over d3 lies around stage 'p:0'");
}

#[test]
fn keep() {
    let kept = ROWS.replace("place q:2 cols d1 in l1", "place q:2 cols d1 in l1 kept");
    makes(ROWS, "keep q:2", &kept);
    makes(ROWS, "stream q:2 defer q:2 keep q:2", &kept);
    refuses(PRODUCT, "keep p:0.1", "operand 'p:0.1' is not stored to an output: a place or a join is");
}

#[test]
fn stream_and_defer() {
    let rows = |of_q: &str| ROWS.replace("place q:2 cols d1 in l1", &format!("place q:2 cols d1 in l1{of_q}"));
    makes(ROWS, "stream q:2", &rows(" stream"));
    makes(ROWS, "stream q:2 when [M - 4, N] defer q:2", &rows(" stream when [M - 4, N] defer"));
    makes(&rows(" kept"), "stream q:2 when [N]", &rows(" stream when [N]"));
    makes(&rows(" stream defer"), "stream q:2 when [N]", &rows(" stream when [N] defer"));
    refuses(ROWS, "defer q:2", "the store of stage 'q:2' does not go past the caches: only what does can wait");
    refuses(PRODUCT, "stream p:0.1", "operand 'p:0.1' is not stored to an output: a place or a join is");
}

#[test]
fn home() {
    makes(ROWS, "home e:0 in q:2", &ROWS.replace("place e:0 cols d1 in l1", "place e:0 cols d1 in l1 home q:2"));
    refuses(ROWS, "home e:0 in e:0", "stage 'e:0' has its home in stage 'e:0', which is itself");
    refuses(
        LONG,
        "home join s:1 in q:2",
        "the join of stage 's:1' is no place, and only the tile of a place has a home",
    );
    refuses(PRODUCT, "home p:0 in q:1", "stage 'p:0' has its home in stage 'q:1', and a contraction lies in registers");
}

#[test]
fn prefetch() {
    let asked = ROWS.replace("place e:0", "operand e:0.0 cols d1 in l1 prefetch(4096, next when [N]) place e:0");
    makes(ROWS, "prefetch e:0.0 (4096, next when [N])", &asked);
    makes(&asked, "prefetch e:0.0 (next)", &asked.replace("4096, next when [N]", "next"));
    refuses(ROWS, "prefetch e:0.0 (0)", "operand 'e:0.0' asks for what lies 0 bytes ahead; it must be at least 1");
    let kept = "operand 'p:0.1' is kept near or packed: only what is brought into a tile is asked for ahead";
    refuses(PRODUCT, "prefetch p:0.1 (64)", kept);
    refuses(ROWS, "prefetch t:4.0 (64)", "stage 't:4' is not placed");
}
