//! Sizes through ops that pass control between regions: conditions and loops.
//!
//! A size is known where every way into a region, or out of the op, agrees on it. What a loop carries is first taken to have
//! a size of its own, so that nothing is assumed of it while the loop is read. Then the sizes that all iterations have in
//! common are found as copies are in sparse propagation: ways that depend on what is not yet known are left out at first, and
//! what they turn out to bring can only take knowledge away (Wegman and Zadeck, "Constant propagation with conditional
//! branches", 1991).

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::r#dyn::Poly;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::graph::SymShape;
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::interfaces::{RegionBranchOp, RegionTarget, target_values};
use sutura_ir::{Attr, Diagnostic, OpRef, Value};

use super::propagate::{Walk, loc_name};
use super::symbols::Origin;

/// What ops pass between their regions.
#[derive(Default)]
pub(super) struct Carried {
    /// Symbols of sizes that a region is given.
    pub(super) symbols: FxHashSet<String>,
    /// Arguments of regions, and results of ops that have some.
    pub(super) values: FxHashSet<Value>,
    /// Regions around that may never run.
    pub(super) depth: usize,
}

/// A value that gets what is passed on, with what it is given on each way.
struct Input {
    value: Value,
    given: Vec<Value>,
}

/// The values that an op, or one of its regions, gets from each way that control may go.
fn inputs(op: OpRef<'_>, branch: &dyn RegionBranchOp) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    let mut pass = |target: RegionTarget, given: &[Value]| {
        let all = target_values(op, target);
        let range = branch.inputs(op, target);
        for (value, given) in all.get(range).unwrap_or_default().iter().zip(given) {
            match inputs.iter_mut().find(|input| input.value == *value) {
                Some(input) => input.given.push(*given),
                None => inputs.push(Input { value: *value, given: vec![*given] }),
            }
        }
    };
    let unknown: Vec<Option<Attr>> = vec![None; op.num_operands()];
    for target in branch.begin(op, &unknown) {
        let given: Vec<Value> = branch.begin_operands(op, target).map(|i| op.operand(i)).collect();
        pass(target, &given);
    }
    for (number, region) in op.regions().enumerate() {
        let ends = region.blocks().filter_map(|block| block.terminator()).filter(|end| end.successors().is_empty());
        for end in ends {
            for target in branch.after(op, number, end, &vec![None; end.num_operands()]) {
                let given: Vec<Value> = branch.passed_operands(op, end, target).map(|i| end.operand(i)).collect();
                pass(target, &given);
            }
        }
    }
    inputs
}

/// What is known of a size that is carried.
#[derive(Clone, PartialEq)]
enum Common {
    /// No way into the region was looked at yet.
    Open,
    /// The size on every way so far.
    Size(Poly),
    /// Ways differ.
    Varies,
}

impl<'a> Walk<'a> {
    /// Follows the regions of an op that passes control through them.
    pub(super) fn control(
        &mut self,
        op: OpRef<'a>,
        branch: &dyn RegionBranchOp,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let inputs = inputs(op, branch);
        let results: Vec<Value> = op.results().collect();
        for input in inputs.iter().filter(|input| !results.contains(&input.value)) {
            self.name_carried(op, input.value);
        }
        self.carried.depth += 1;
        let walked = op.regions().try_for_each(|region| self.region(region, diags));
        self.carried.depth -= 1;
        walked?;
        let common = self.common(op, &inputs);
        for (name, size) in &common {
            if let Common::Size(size) = size {
                let known = self.env.facts.assume_equal(&Poly::symbol(name), size);
                self.learnt += usize::from(known.is_ok());
            }
        }
        for input in inputs.iter().filter(|input| results.contains(&input.value)) {
            let Some(declared) = symbolic_shape(op.cx, op.ty(input.value)) else { continue };
            self.carried.values.insert(input.value);
            let size = |(dim, declared): (usize, Option<Poly>)| {
                declared.or_else(|| match self.meet(op, input, dim, &FxHashMap::default()) {
                    Common::Size(size) => Some(size),
                    _ => None,
                })
            };
            let shape: SymShape = declared.into_iter().enumerate().map(size).collect();
            self.assign(input.value, shape);
        }
        Ok(())
    }

    /// Gives the sizes of a region's argument names of their own, where its type states none.
    fn name_carried(&mut self, op: OpRef<'a>, value: Value) {
        let Some(mut shape) = symbolic_shape(op.cx, op.ty(value)) else { return };
        if !self.carried.values.insert(value) {
            return;
        }
        let hint = loc_name(op.cx, op.loc()).unwrap_or_else(|| op.name_str().replace('.', "_"));
        for (dim, size) in shape.iter_mut().enumerate().filter(|(_, size)| size.is_none()) {
            let name = self.symbols.fresh(&format!("{hint}_{dim}"), Origin::Inner, &mut self.env.facts);
            let message = format!(
                "dimension {dim} of what '{}' passes to a region differs from one time to the next, or follows from nothing \
                 that is known; it is called `{name}`",
                op.name_str()
            );
            self.remarks.push((name.clone(), Diagnostic::remark(op.loc(), message)));
            *size = Some(Poly::symbol(&name));
            self.carried.symbols.insert(name);
        }
        self.assign(value, shape);
    }

    /// The size that each carried symbol of the op has whichever way control came.
    fn common(&self, op: OpRef<'a>, inputs: &[Input]) -> FxHashMap<String, Common> {
        let mut places: Vec<(String, &Input, usize)> = Vec::new();
        for input in inputs {
            for (dim, size) in self.assigned.get(&input.value).into_iter().flatten().enumerate() {
                let name = size.as_ref().map(|size| self.env.facts.canonical(size));
                if let Some(name) =
                    name.as_ref().and_then(Poly::as_symbol).filter(|n| self.carried.symbols.contains(*n))
                {
                    places.push((name.to_owned(), input, dim));
                }
            }
        }
        let mut common: FxHashMap<String, Common> =
            places.iter().map(|(name, ..)| (name.clone(), Common::Open)).collect();
        loop {
            let mut changed = false;
            for (name, input, dim) in &places {
                if common[name] == Common::Varies {
                    continue;
                }
                let met = self.meet(op, input, *dim, &common);
                // What is its own size on every way says nothing.
                let met = if met == Common::Size(Poly::symbol(name)) { Common::Open } else { met };
                if met != common[name] && met != Common::Open {
                    // Knowledge only goes: a second size is another one.
                    let first = common[name] == Common::Open;
                    let same = matches!((&met, &common[name]), (Common::Size(a), Common::Size(b)) if self.env.facts.prove_equal(a, b));
                    if !same {
                        common.insert(name.clone(), if first { met } else { Common::Varies });
                        changed = true;
                    }
                }
            }
            if !changed {
                return common;
            }
        }
    }

    /// The size of an input on all ways, where carried symbols are what `common` says.
    fn meet(&self, op: OpRef<'a>, input: &Input, dim: usize, common: &FxHashMap<String, Common>) -> Common {
        let mut met = Common::Open;
        for given in &input.given {
            let size = self.env.shape(op, *given).and_then(|shape| shape.get(dim).cloned().flatten());
            let Some(size) = size.map(|size| self.env.facts.canonical(&size)) else { return Common::Varies };
            if size.symbols().iter().any(|name| common.get(&**name) == Some(&Common::Open)) {
                continue;
            }
            let size = size.substitute(&|name| match common.get(name) {
                Some(Common::Size(size)) => Some(size.clone()),
                _ => None,
            });
            match &met {
                Common::Open => met = Common::Size(size),
                Common::Size(before) if self.env.facts.prove_equal(before, &size) => {}
                _ => return Common::Varies,
            }
        }
        met
    }
}
