//! `canonicalize`: folds ops and applies the canonicalization patterns of all dialects until nothing changes.

use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::codes;
use sutura_ir::pass::{
    Anchor, BodyRun, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::pattern::PatternSet;
use sutura_ir::rewrite::{FrozenPatterns, GreedyConfig, GreedyOutcome, RegionSimplify, apply_patterns_greedily};
use sutura_ir::{Context, Diagnostic};

/// The pass.
pub static CANONICALIZE: PassInfo = PassInfo {
    name: "Canonicalizer",
    argument: "canonicalize",
    summary: "Canonicalize operations",
    description: "Folds operations, erases dead ones, merges constants at the start of their body, applies the \
                  canonicalization patterns of all registered dialects and simplifies regions, until nothing changes \
                  any more or the limit of iterations is reached. The latter is a warning: more could be done. A remark per \
                  body sums up what was done; `--debug-only=greedy-rewriter` shows each step.",
    anchor: Anchor::Any,
    options: &[
        OptionInfo {
            name: "top-down",
            kind: OptionKind::Bool,
            default: "true",
            help: "Seed the worklist in general top-down order",
        },
        OptionInfo {
            name: "region-simplify",
            kind: OptionKind::Choice(&["disabled", "normal", "aggressive"]),
            default: "normal",
            help: "Remove unreachable blocks and unneeded block arguments, merge chains of blocks; aggressive: merge \
                   blocks that do the same",
        },
        OptionInfo {
            name: "max-iterations",
            kind: OptionKind::Int(0, 1 << 30),
            default: "10",
            help: "Go over the operations at most so often; 0 for no limit",
        },
        OptionInfo {
            name: "test-convergence",
            kind: OptionKind::Bool,
            default: "false",
            help: "Fail when the limit of iterations is reached",
        },
        OptionInfo {
            name: "disable-patterns",
            kind: OptionKind::List,
            default: "",
            help: "Names of patterns that are not applied",
        },
        OptionInfo {
            name: "enable-patterns",
            kind: OptionKind::List,
            default: "",
            help: "Names of the only patterns that are applied",
        },
    ],
    statistics: &[
        StatisticInfo { name: "num-rewritten", description: "Number of patterns applied" },
        StatisticInfo { name: "num-folded", description: "Number of operations folded" },
        StatisticInfo { name: "num-erased", description: "Number of dead operations erased" },
    ],
    create,
};

struct Canonicalize {
    config: GreedyConfig,
    must_converge: bool,
    disabled: Vec<String>,
    enabled: Vec<String>,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let names = |option| options.list(option).into_iter().map(String::from).collect();
    Ok(Box::new(Canonicalize {
        config: GreedyConfig {
            max_iterations: options.int("max-iterations") as u32,
            fold: true,
            simplify_regions: match options.text("region-simplify") {
                "disabled" => RegionSimplify::Disabled,
                "normal" => RegionSimplify::Normal,
                _ => RegionSimplify::Aggressive,
            },
            top_down: options.bool("top-down"),
        },
        must_converge: options.bool("test-convergence"),
        disabled: names("disable-patterns"),
        enabled: names("enable-patterns"),
    }))
}

impl Canonicalize {
    fn patterns(&self, cx: &Context) -> FrozenPatterns {
        if self.disabled.is_empty() && self.enabled.is_empty() {
            return FrozenPatterns::canonicalization(cx);
        }
        let mut all = PatternSet::new();
        for add in cx.registry().op_defs().filter_map(|def| def.canonicalize) {
            add(&mut all);
        }
        let wanted = |name: &str| {
            let listed = |list: &[String]| list.iter().any(|n| n == name);
            !listed(&self.disabled) && (self.enabled.is_empty() || listed(&self.enabled))
        };
        FrozenPatterns::new(cx, &all.filtered(wanted))
    }
}

impl Pass for Canonicalize {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let (cx, patterns) = (run.cx, self.patterns(run.cx));
        let done = run.for_each_body(|at| {
            let outcome = apply_patterns_greedily(cx, at.body, &patterns, &self.config, at.trace)?;
            explain(&outcome, at);
            Ok(outcome)
        });
        let done: Result<Vec<GreedyOutcome>, Box<Diagnostic>> = done.into_iter().collect();
        let outcomes = done.map_err(|broken| {
            run.diags.report(*broken);
            PassError::Internal
        })?;
        let sum = |field: fn(&GreedyOutcome) -> u64| outcomes.iter().map(field).sum::<u64>();
        run.count("num-rewritten", sum(|o| o.rewritten));
        run.count("num-folded", sum(|o| o.folded));
        run.count("num-erased", sum(|o| o.erased));
        if outcomes.iter().any(|o| !o.converged) {
            self.report_limit(run)?;
        }
        Ok(PreservedAnalyses::unless(outcomes.iter().any(|o| o.changed)))
    }
}

/// Says what was done to a body, in one remark: each step is in the trace.
fn explain(outcome: &GreedyOutcome, at: &mut BodyRun<'_>) {
    let loc = at.header.loc;
    if outcome.changed {
        at.remarks.passed(loc, || summary(outcome));
    }
    if !outcome.converged {
        let iterations = outcome.iterations;
        at.remarks
            .missed(loc, || format!("canonicalization is given up in iteration {iterations}: more could be done"));
    }
}

/// `canonicalized in 2 iterations: 3 folded, 1 erased, 2 rewritten (mul_of_product 2), regions simplified`
fn summary(outcome: &GreedyOutcome) -> String {
    let mut parts = Vec::new();
    for (count, what) in [(outcome.folded, "folded"), (outcome.erased, "erased"), (outcome.rewritten, "rewritten")] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    if let Some(last) = parts.last_mut().filter(|_| outcome.rewritten > 0) {
        let applied: Vec<String> = outcome.applied.iter().map(|(name, times)| format!("{name} {times}")).collect();
        *last += &format!(" ({})", applied.join(", "));
    }
    if outcome.simplified_regions {
        parts.push("regions simplified".to_string());
    }
    if parts.is_empty() {
        parts.push("constants moved".to_string());
    }
    let s = if outcome.iterations == 1 { "" } else { "s" };
    format!("canonicalized in {} iteration{s}: {}", outcome.iterations, parts.join(", "))
}

impl Canonicalize {
    fn report_limit(&self, run: &mut PassRun<'_>) -> Result<(), sutura_ir::Reported> {
        let loc = run.header.loc;
        let message = "canonicalization did not converge: the result is valid, but could be simplified further";
        if self.must_converge {
            return Err(run.diags.error(loc, message));
        }
        let help = "raise `max-iterations`, or find the patterns that undo each other with `disable-patterns`";
        run.diags.report(Diagnostic::warning(loc, message).code(codes::NOT_CONVERGED).help(help));
        Ok(())
    }
}
