//! `channels-last`: tensors between convolutions lie with their channels as neighbours in memory.
//!
//! A convolution sums over channels and makes channels; a depthwise one and a pool run along them. Where channels are neighbours, a
//! product reads and writes whole vectors of them and turns nothing, and a map of 7x7 fills vectors as one of 56x56 does. Layout is
//! shape here: a tensor `[n, c, h, w]` becomes one of `[n, h, w, c]`, and the maps of the ops that make it and read it follow. An op reads
//! any tensor in any order, so no op is added between; what comes from outside and what leaves stays as it is. A kernel has one layout:
//! what it makes of what it has made stays with what leaves. Windows that are no products, as in pools, have the layout of what they
//! read, and what they make is turned by an op of its own if it leaves. So at most the first and the last ops of a network turn what
//! they read or write.
//!
//! AGO and OLLIE choose layouts op by op, with blocked ones among them (`papers.md` names them both); here blocks exist in packed weights alone.

mod classes;
mod links;
mod rewrite;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{BlockRef, Body, Context, OpRef, Rewriter};

use crate::functions::{Remark, of_each_function, say};
use links::Links;

/// `channels-last`
pub static CHANNELS_LAST: PassInfo = PassInfo {
    name: "ChannelsLast",
    argument: "channels-last",
    summary: "Make channels neighbours in memory, between convolutions",
    description: "Convolutions with constant weights, depthwise ones among them, say which dimension of the tensors that they read and \
                  make has the channels. From there it is followed through elementwise operations, pools, concatenations, \
                  reductions, products with constants and reshapes. It becomes the last dimension of each tensor that only \
                  structured operations make and read: types and maps change. Tensors that a function takes or returns, \
                  that another operation reads, that have less than 8 channels, or whose channels are read in groups of \
                  less than 16 features, stay as they are, and with them those that one kernel makes on the way to them, \
                  and what a window that is no product makes of them; a remark says so. What such a window makes of a tensor that changed is turned \
                  back by an operation of its own where it leaves. Constants that run along channels \
                  follow. Nothing changes for a device.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-changed", description: "tensors that lie with their channels last" },
        StatisticInfo { name: "num-kept", description: "tensors with channels that stay as they are" },
    ],
    create: |_: &PassOptions| Ok(Box::new(ChannelsLast)),
};

struct ChannelsLast;

impl Pass for ChannelsLast {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let machine = machine_in(run.cx, run.body).ok().flatten().and_then(|op| TargetDesc::from_op(op).ok());
        if machine.is_some_and(|machine| machine.subgroup.is_some()) {
            let loc = run.header.loc;
            run.missed(loc, "no layout changes: kernels of a device read tensors as they are");
            return Ok(PreservedAnalyses::all());
        }
        let outcomes = of_each_function(run, |cx, _, body| function(cx, body));
        let mut remarks = Vec::new();
        for outcome in outcomes {
            remarks.extend(outcome.map_err(|diagnostic| run.diags.report(diagnostic))?);
        }
        let all = remarks.len() as u64;
        let changed = say(run, remarks);
        run.count("num-changed", changed);
        run.count("num-kept", all - changed);
        Ok(PreservedAnalyses::unless(changed > 0))
    }
}

/// Changes the layouts of a function; what is to be said of its tensors.
///
/// # Errors
/// With a diagnostic, when what is stated of sizes contradicts itself.
fn function(cx: &Context, body: &mut Body) -> Result<Vec<Remark>, Diagnostic> {
    let Some(block) = body.entry_block() else { return Ok(vec![]) };
    let block = BlockRef { cx, body, block };
    let mut links = Links::of(block);
    if !links.seed() {
        return Ok(vec![]);
    }
    let facts = Facts::of_block(block).map_err(|(op, contradiction)| op.error(contradiction))?;
    links.follow(&facts);
    let layouts = links.decided();
    let name = |value| crate::region::cost::value_text(cx, body, value);
    let at = |value| body.defining_op(value).map_or(sutura_ir::Loc::UNKNOWN, |op| OpRef::new(cx, body, op).loc());
    let mut remarks: Vec<Remark> = Vec::new();
    for (value, last) in &layouts.turned {
        let text = format!("{} lies with dimension {last} last, along which its channels are", name(*value));
        remarks.push((RemarkKind::Passed, at(*value), text));
    }
    for (value, why) in &layouts.kept {
        remarks.push((RemarkKind::Missed, at(*value), format!("{} lies as it did: {why}", name(*value))));
    }
    let changes = rewrite::changes(block, &layouts);
    rewrite::apply(&mut Rewriter::new(cx, body), &changes);
    Ok(remarks)
}
