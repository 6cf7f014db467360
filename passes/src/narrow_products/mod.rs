//! `narrow-products`: sums of products of narrow numbers in the form that the machine's instructions for dot products take.
//!
//! Such an instruction multiplies several neighbouring places of a sum at once. So a factor is a tensor of the elements that are stored,
//! the left one with the last dim that is summed over innermost, and that dim has a multiple of so many places: where it has not, or
//! lies otherwise, a copy of the factor has. A machine multiplies integers with a sign by ones without: where a factor is of the other
//! kind, `s + 128 = u`, so a sum of products of differences is
//!
//! `sum((l - zl) (r - zr)) = sum(l r) - zl sum(r) - zr sum(l) + n zl zr`
//!
//! with other zero points. All of it is arithmetic modulo 2^32, so every bit stays. Sums of constants are computed by the compiler.
//! After the compensation of oneDNN's and gemmlowp's products of integers.

mod attention;
mod factor;
mod form;
#[cfg(test)]
mod tests;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::target::{RegisterTile, TargetDesc, machine_in};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{BlockRef, Body, Context, OpRef, Rewriter, Type};

use crate::functions::{Remark, computes, of_each_function, say};
use form::Product;

/// `narrow-products`
pub static NARROW_PRODUCTS: PassInfo = PassInfo {
    name: "NarrowProducts",
    argument: "narrow-products",
    summary: "Multiply narrow numbers as the machine's instructions for dot products take them",
    description: "Looks up the module's `target.machine`. A `graph.compute` that sums products of elements of two tensors, \
                  8-bit integers with constant zero points or narrow floats, for which the machine has an intrinsic that \
                  contracts several places of a sum at once, becomes one of tensors of these elements, with the attribute \
                  `graph.narrow`. Factors are padded to whole groups of places, and laid out anew where places do not lie \
                  side by side. Integers of the other signedness than the intrinsic takes are moved by 128, and sums of the \
                  other factor make up for it; every bit stays. With `precision=bf16` factors of f32 are rounded to bf16 \
                  first, where the right factor has no dim that all three tensors have; results then differ by rounding. \
                  Narrow floats that the machine has no intrinsic for, and those of attention, are widened to tensors of f32. Remarks say \
                  what was done.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "precision",
        kind: OptionKind::Choice(&["full", "bf16"]),
        default: "full",
        help: "`bf16` also rounds factors of f32 to bf16",
    }],
    statistics: &[StatisticInfo { name: "num-products", description: "products that became ones of narrow numbers" }],
    create: |options: &PassOptions| Ok(Box::new(NarrowProducts { rounds: options.text("precision") == "bf16" })),
};

struct NarrowProducts {
    /// Whether factors of f32 are rounded to bf16.
    rounds: bool,
}

impl Pass for NarrowProducts {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let machine = machine_in(run.cx, run.body).and_then(|op| op.map(TargetDesc::from_op).transpose());
        let machine = machine.map_err(|message| {
            run.diags.report(Diagnostic::error(run.header.loc, message));
            PassError::Failed
        })?;
        let dots = machine.into_iter().flat_map(|desc| desc.register_tiles);
        let dots: Vec<RegisterTile> = dots.filter(|tile| tile.kr > 1 && tile.operand != tile.acc).collect();
        let outcomes = of_each_function(run, |cx, _, body| self.function(cx, body, &dots));
        let mut made = 0;
        for outcome in outcomes {
            let remarks = outcome.map_err(|diagnostic| run.diags.report(diagnostic))?;
            made += say(run, remarks);
        }
        run.count("num-products", made);
        Ok(PreservedAnalyses::unless(made > 0))
    }
}

impl NarrowProducts {
    /// # Errors
    /// With a diagnostic, when what is stated of sizes contradicts itself.
    fn function(&self, cx: &Context, body: &mut Body, dots: &[RegisterTile]) -> Result<Vec<Remark>, Diagnostic> {
        let mut said = Vec::new();
        let Some(entry) = body.entry_block() else { return Ok(said) };
        let facts = Facts::of_block(BlockRef { cx, body, block: entry });
        let facts = facts.map_err(|(op, contradiction)| op.error(contradiction))?;
        let ops = computes(cx, body, entry);
        let attention = attention::products(cx, body, &ops);
        let mut rw = Rewriter::new(cx, body);
        for op in ops {
            let view = OpRef::new(cx, rw.body(), op);
            let loc = view.loc();
            let of_attention = attention.contains(&op);
            let Some(product) = Product::of(view, &facts, self.rounds, of_attention) else { continue };
            match product.instruction(cx, dots) {
                _ if of_attention => {
                    product.widen(&mut rw, op);
                    let text = "factors of narrow floats become tensors of f32: the product is one of attention";
                    said.push((RemarkKind::Passed, loc, text.to_owned()));
                }
                Some(unit) => {
                    product.apply(&mut rw, op, &unit);
                    said.push((RemarkKind::Passed, loc, unit.said(cx)));
                }
                None if product.multiplies_floats() => {
                    product.widen(&mut rw, op);
                    let text =
                        "factors of narrow floats become tensors of f32: the machine has no instruction for them";
                    said.push((RemarkKind::Passed, loc, text.to_owned()));
                }
                None => {
                    let text =
                        "a product stays as it is: the machine has no instruction for narrow numbers of its types";
                    said.push((RemarkKind::Missed, loc, text.to_owned()));
                }
            }
        }
        Ok(said)
    }
}

/// An instruction, and how a product's factors are turned to what it takes.
struct Unit {
    name: String,
    elem: Type,
    acc: Type,
    /// Places that it multiplies at once.
    group: i64,
    /// Whether integers of the left and of the right factor have no sign.
    unsigned: [bool; 2],
    /// Which factors are moved by 128.
    moved: [bool; 2],
}

impl Unit {
    fn said(&self, cx: &Context) -> String {
        let elem = sutura_ir::asm::print::type_text(cx, self.elem);
        let moved = match self.moved {
            [false, false] => "",
            [true, false] => "; the left one is moved by 128",
            [false, true] => "; the right one is moved by 128",
            [true, true] => "; both are moved by 128",
        };
        format!("a product becomes one of factors of {elem}, {} places at a time, by @{}{moved}", self.group, self.name)
    }
}
