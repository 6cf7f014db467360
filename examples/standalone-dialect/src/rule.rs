//! A rule of its own: which regions it fits, and the schedules that it writes for them.

use sutura_dialects::graph::FusionOp;
use sutura_dialects::schedule::{
    Dim, Kernel, Launch, Loop, Node, Place, Runs, Split, StageName, Tile, TreeAttr, Version,
};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassResult, PassRun};
use sutura_ir::{Op, OpRef, Rewriter};
use sutura_passes::region::{Stage, of_fusion};

pub(crate) static FOUR_ROWS: PassInfo = PassInfo {
    name: "FourRows",
    argument: "four-rows",
    summary: "Schedule what is computed element by element in groups of four rows",
    description: "A region that combines nothing, on matrices of equal sizes, gets a schedule: a group has four rows, one after \
                  another, and all of their columns in the cache. `convert-graph-to-gir` follows it.",
    anchor: Anchor::Op("func.func"),
    options: &[],
    statistics: &[],
    create: |_| Ok(Box::new(FourRows)),
};

struct FourRows;

impl Pass for FourRows {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let (cx, body) = (run.cx, &*run.body);
        let scheduled = body.preorder().filter_map(|op| {
            let fusion = OpRef::new(cx, body, op).as_::<FusionOp<'_>>().filter(|f| f.schedule().is_none())?;
            Some((op, four_rows(fusion)?))
        });
        let scheduled: Vec<(Op, TreeAttr)> = scheduled.collect();
        for (op, tree) in &scheduled {
            Rewriter::new(cx, run.body).set_prop(*op, "schedule", Some(cx.ext_attr(tree.clone())));
        }
        Ok(PreservedAnalyses::unless(!scheduled.is_empty()))
    }
}

/// The rule: from the region's dims and stages to loops around them.
fn four_rows(fusion: FusionOp<'_>) -> Option<TreeAttr> {
    let (_, nest) = of_fusion(fusion).ok()?;
    let matrix = nest.extents.len() == 2 && !nest.is_unit(0) && !nest.is_unit(1);
    let (rows, columns) = (Dim(0), Dim(1));
    let elementwise = |stage: &Stage<'_>| stage.dims == [0, 1] && !stage.reduces() && stage.picks.is_empty();
    if !matrix || !nest.stages.iter().all(elementwise) {
        return None;
    }
    let tile = Tile { cols: Some(columns), space: "l1".to_owned(), ..Tile::default() };
    let place = |number| {
        let stage = StageName { number, name: String::new() };
        Node::Place(Place::new(stage, tile.clone()))
    };
    let places = (0..nest.stages.len()).map(place).collect();
    let one_row = Node::Loop(Loop::new(rows, Split::One, Runs::InTurn, places));
    let group = Node::Loop(Loop::new(rows, Split::By(4), Runs::Grid, vec![one_row]));
    let launches = vec![Launch { kernels: vec![Kernel::new(vec![group])] }];
    Some(TreeAttr { versions: vec![Version { launches, ..Version::default() }] })
}
