//! `check-combiners`: regions that join states do what their declarations say, on random states.

use sutura_dialects::graph::laws::{broken_law, joint};
use sutura_interp::Random;
use sutura_ir::OpRef;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::{Diagnostic, Severity};
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};

/// `check-combiners`
pub static CHECK_COMBINERS: PassInfo = PassInfo {
    name: "CheckCombiners",
    argument: "check-combiners",
    summary: "Test the identities and laws of regions that join states",
    description: "A `graph.compute` or `graph.scan` whose results a region joins declares an identity and laws. Each is tested by \
                  running the region on states that random contributions make: the identity leaves a state as it is on either side, \
                  `associative` and `commutative` regions give the same state either way, floats up to roundoff. What is \
                  broken is an error with the states that show it; a region that cannot be run is a warning. Nothing is \
                  changed.",
    anchor: Anchor::Any,
    options: &[OptionInfo {
        name: "seeds",
        kind: OptionKind::Int(1, 10_000),
        default: "4",
        help: "how many times, each with other contributions",
    }],
    statistics: &[StatisticInfo { name: "num-tested", description: "regions that hold" }],
    create,
};

struct CheckCombiners {
    seeds: u64,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(CheckCombiners { seeds: options.int("seeds").unsigned_abs() }))
}

impl Pass for CheckCombiners {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let (mut tested, mut said) = (Vec::new(), Vec::new());
        let mut pending = vec![&*run.body];
        while let Some(body) = pending.pop() {
            for op in body.preorder() {
                let view = OpRef::new(cx, body, op);
                if joint(view).is_some() {
                    match self.test(view) {
                        Some(problem) => said.push(problem),
                        None => tested.push(view.loc()),
                    }
                }
                pending.extend(body.nested(op));
            }
        }
        run.count("num-tested", tested.len() as u64);
        for loc in tested {
            run.passed(
                loc,
                format!("identity and laws of the region that joins states hold with {} seeds", self.seeds),
            );
        }
        let mut broken = false;
        for problem in said {
            broken |= problem.severity == Severity::Error;
            run.diags.report(problem);
        }
        if broken { Err(PassError::Failed) } else { Ok(PreservedAnalyses::all()) }
    }
}

impl CheckCombiners {
    /// What is wrong with the region of `op`, if anything is.
    fn test(&self, op: OpRef<'_>) -> Option<Diagnostic> {
        for seed in 0..self.seeds {
            match broken_law(op, &mut Random::new(seed)) {
                Ok(None) => {}
                Ok(Some(broken)) => return Some(op.error(broken)),
                Err(fault) => {
                    let message = format!("the region that joins states cannot be tested: {fault}");
                    return Some(Diagnostic::warning(op.place(), message));
                }
            }
        }
        None
    }
}
