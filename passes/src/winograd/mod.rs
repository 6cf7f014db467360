//! `winograd`: convolutions with windows of 3x3 by Winograd's algorithm F(2x2, 3x3).
//!
//! A tile of 2x2 results of a 3x3 window takes 36 products for each channel and feature. Of what the four windows cover, 4x4 numbers
//! `d`, and of the weights `g`, the algorithm makes 16 numbers each, multiplies these, sums them up over channels, and makes the
//! results of the 16 sums: `A^T [(G g G^T) . (B^T d B)] A` (Winograd 1980; Lavin and Gray, CVPR 2016). That is 16 products in place of
//! 36, and sums before and behind. Weights are turned by the compiler, in f64.
//!
//! Results differ by rounding, by more than other orders of a sum make them differ: numbers are added and taken away that cancel. The
//! description of the pass says how large an error is at most; infinities and NaN spread to all four results of a tile. So nothing asks for this but
//! `--fast-math=winograd`.

mod convolution;
#[cfg(test)]
mod tests;
mod transforms;

use sutura_dialects::graph::ComputeForm;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::RemarkKind;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, OpRef, Rewriter};

use crate::functions::{Remark, computes, of_each_function, say};
use convolution::Convolution;
pub(crate) use convolution::sums_products;

/// `winograd`
pub static WINOGRAD: PassInfo = PassInfo {
    name: "Winograd",
    argument: "winograd",
    summary: "Compute 3x3 convolutions with fewer products, by Winograd's algorithm",
    description: "A `graph.compute` of f32 that sums products of constant weights and of what windows of 3x3 cover, in steps of one, \
                  becomes F(2x2, 3x3): an operation that makes 16 tensors of what 4x4 places cover, 16 products with weights that \
                  are turned here, and one that makes the results of these. So 16 products do what 36 did. Results differ by \
                  rounding, by at most 2^-24 (16 C + 128) times the largest number that is read times the sum of the absolute \
                  weights of a feature, for C channels; infinities and NaN spread to neighbours. Convolutions of less than 16 \
                  channels or features stay, where the sums before and behind would take longer than the products saved.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[StatisticInfo { name: "num-convolutions", description: "convolutions by Winograd's algorithm" }],
    create: |_: &PassOptions| Ok(Box::new(Winograd)),
};

struct Winograd;

impl Pass for Winograd {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let mut made = 0;
        for remarks in of_each_function(run, |cx, _, body| function(cx, body)) {
            made += say(run, remarks);
        }
        run.count("num-convolutions", made);
        Ok(PreservedAnalyses::unless(made > 0))
    }
}

fn function(cx: &Context, body: &mut Body) -> Vec<Remark> {
    let mut said = Vec::new();
    let Some(entry) = body.entry_block() else { return said };
    for op in computes(cx, body, entry) {
        let view = OpRef::new(cx, body, op);
        let Some(form) = ComputeForm::of(view) else { continue };
        let loc = view.loc();
        match Convolution::of(&form) {
            None => {}
            Some(Err(why)) => said.push((RemarkKind::Missed, loc, format!("a 3x3 convolution stays as it is: {why}"))),
            Some(Ok(convolution)) => {
                let text = format!(
                    "a 3x3 convolution of {} channels and {} features takes 16 products for a tile of 2x2, not 36",
                    convolution.channels, convolution.features
                );
                convolution.apply(&mut Rewriter::new(cx, body), op);
                said.push((RemarkKind::Passed, loc, text));
            }
        }
    }
    said
}

/// The most that a result differs by from the exact one, to first order, for so many channels, numbers of at most `largest`, and a sum
/// of absolute weights: numbers are at most four times what they are made of, weights of the nine sums of a result four times theirs
/// together, and a number is rounded once for each channel and eight times more.
#[cfg(test)]
fn bound(channels: usize, largest: f64, weights: f64) -> f64 {
    (16 * channels + 128) as f64 * 2f64.powi(-24) * largest * weights
}
