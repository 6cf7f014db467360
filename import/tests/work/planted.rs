//! The test is shown to catch work that grows too fast: passes of which each op looks at every other.

use std::hint::black_box;

use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun};
use sutura_ir::work::Counter;
use sutura_ir::{Body, Op};

use crate::measure::{MOST, Taken, compilation, grown, taken};
use crate::models::Maker;
use crate::proto::ModelProto;

static LOOKED_AT: Counter = Counter::new("planted: ops looked at");

/// Looks at all ops for each op, and counts.
static COUNTING: PassInfo = info("test-quadratic-count", |_| Ok(Box::new(Planted { allocates: false })));

/// Keeps a list of all ops for each op.
static ALLOCATING: PassInfo = info("test-quadratic-bytes", |_| Ok(Box::new(Planted { allocates: true })));

const fn info(argument: &'static str, create: fn(&PassOptions) -> Result<Box<dyn Pass>, String>) -> PassInfo {
    PassInfo {
        name: "Planted",
        argument,
        summary: "Does too much",
        description: "Does too much.",
        anchor: Anchor::Any,
        options: &[],
        statistics: &[],
        create,
    }
}

struct Planted {
    allocates: bool,
}

impl Pass for Planted {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let mut pending: Vec<&Body> = vec![run.body];
        while let Some(body) = pending.pop() {
            pending.extend(body.preorder().filter_map(|op| body.nested(op)));
            for _ in body.preorder() {
                if self.allocates {
                    black_box(body.preorder().collect::<Vec<Op>>());
                } else {
                    LOOKED_AT.add(body.preorder().count() as u64);
                }
            }
        }
        Ok(PreservedAnalyses::all())
    }
}

fn chain(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &["N", "8"]);
    for i in 0..n {
        let x = if i == 0 { "x".to_owned() } else { format!("t{}", i - 1) };
        maker.node(["Relu", "Neg"][i % 2], &[&x], &format!("t{i}"));
    }
    maker.output(&format!("t{}", n - 1)).model()
}

fn takes(planted: &str, n: usize) -> Taken {
    let mut pipeline = compilation("x86_avx512");
    pipeline.truncate(1);
    pipeline.push(("planted", planted.to_owned()));
    taken(&chain(n), &pipeline, &[&COUNTING, &ALLOCATING])
}

#[test]
fn a_pass_that_looks_at_all_ops_for_each_is_caught() {
    for (planted, what) in
        [("test-quadratic-count", "planted: ops looked at"), ("test-quadratic-bytes", "bytes allocated")]
    {
        let found = grown(&takes(planted, 200), &takes(planted, 400), &|_| MOST);
        assert!(found.iter().any(|line| line.contains(what)), "{planted}: {found:?}");
        assert!(found.iter().all(|line| line.starts_with("planted")), "{found:?}");
    }
}
