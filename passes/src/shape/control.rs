//! Sizes through ops that pass control between regions: conditions and loops.
//!
//! A size is known where every way into a region, or out of the op, agrees on it. What a loop carries is first taken to have
//! a size of its own, so that nothing is assumed of it while the loop is read. Then the sizes that all iterations have in
//! common are found as copies are in sparse propagation: ways that depend on what is not yet known are left out at first, and
//! what they turn out to bring can only take knowledge away (Wegman and Zadeck, "Constant propagation with conditional
//! branches", 1991).

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::facts::MAX_DIM;
use sutura_dialects::r#dyn::{Poly, SymbolInfo};
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
    /// Those of them that differ from one time to the next, between sizes that are known.
    pub(super) varying: FxHashSet<String>,
    /// In how many regions each symbol stands that came into being in one.
    pub(super) born: FxHashMap<String, usize>,
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
    /// Nothing is known on some way.
    Unknown,
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
        for (name, size) in common {
            self.carried.varying.remove(&name);
            match size {
                // What is known in the region alone is another size each time.
                Common::Size(size) if !self.is_local(&size) => {
                    let known = self.env.facts.assume_equal(&Poly::symbol(&name), &size);
                    self.learnt += usize::from(known.is_ok());
                }
                Common::Size(_) | Common::Varies => drop(self.carried.varying.insert(name)),
                Common::Open | Common::Unknown => {}
            }
        }
        self.unite(op, &inputs);
        self.control_results(op, &inputs, &results);
        Ok(())
    }

    /// Carried sizes that differ from one time to the next, and from each other never: all are taken to be equal, and told apart by
    /// what they get, until nothing tells any apart (Hopcroft's refinement of partitions).
    fn unite(&mut self, op: OpRef<'a>, inputs: &[Input]) {
        let mut ways: Vec<(String, Vec<Poly>)> = Vec::new();
        for input in inputs {
            for dim in 0..self.assigned.get(&input.value).map_or(0, Vec::len) {
                let Some(size) = self.size_of(op, input.value, dim) else { continue };
                let Some(name) = size.as_symbol().filter(|name| self.carried.varying.contains(*name)) else { continue };
                let given = input.given.iter().map(|value| self.size_of(op, *value, dim));
                let given: Option<Vec<Poly>> = given.collect();
                if let Some(given) = given.filter(|_| !ways.iter().any(|(known, _)| known == name)) {
                    ways.push((name.to_owned(), given));
                }
            }
        }
        let mut classes: Vec<usize> = vec![0; ways.len()];
        loop {
            let first = |class: usize| classes.iter().position(|other| *other == class);
            let stands_for = |name: &str| {
                let at = ways.iter().position(|(known, _)| known == name)?;
                Some(Poly::symbol(&ways[first(classes[at])?].0))
            };
            let told = |(number, (_, given)): (usize, &(String, Vec<Poly>))| {
                (classes[number], given.iter().map(|size| size.substitute(&stands_for)).collect::<Vec<Poly>>())
            };
            let told: Vec<_> = ways.iter().enumerate().map(told).collect();
            let refined: Vec<usize> =
                told.iter().map(|own| told.iter().position(|other| other == own).unwrap_or_default()).collect();
            let count = |classes: &[usize]| classes.iter().collect::<FxHashSet<_>>().len();
            let done = count(&refined) == count(&classes);
            classes = refined;
            if done {
                break;
            }
        }
        for (number, (name, _)) in ways.iter().enumerate().filter(|(number, _)| classes[*number] != *number) {
            let same = &ways[classes[number]].0;
            if self.env.facts.assume_equal(&Poly::symbol(name), &Poly::symbol(same)).is_ok() {
                self.learnt += 1;
            }
        }
    }

    fn control_results(&mut self, op: OpRef<'a>, inputs: &[Input], results: &[Value]) {
        let mut ports: Vec<(Vec<Poly>, Poly)> = Vec::new();
        let is_result = |input: &&Input| results.contains(&input.value);
        for (number, input) in inputs.iter().enumerate().filter(|(_, input)| is_result(input)) {
            let Some(declared) = symbolic_shape(op.cx, op.ty(input.value)) else { continue };
            self.carried.values.insert(input.value);
            // Of those that are given the same as many come before.
            let alike = |other: &&Input| other.given == input.given;
            let before = inputs[..number].iter().filter(is_result).filter(alike).count();
            let twin = inputs.iter().filter(|other| !is_result(other)).filter(alike).nth(before);
            let twin = twin.and_then(|twin| self.assigned.get(&twin.value)).cloned();
            let mut shape: SymShape = Vec::with_capacity(declared.len());
            for (dim, declared) in declared.into_iter().enumerate() {
                let met = match declared {
                    Some(declared) => Common::Size(declared),
                    None => self.meet(op, input, dim, &FxHashMap::default()),
                };
                shape.push(match met {
                    Common::Size(size) if !self.is_local(&size) => Some(size),
                    Common::Size(_) | Common::Varies => match &twin {
                        // What a loop hands on has the type of what its other region gets.
                        Some(twin) => twin.get(dim).cloned().flatten(),
                        None => self.port(op, input, dim, &mut ports),
                    },
                    Common::Open | Common::Unknown => None,
                });
            }
            self.assign(input.value, shape);
        }
    }

    /// Whether a size is known in a region alone: some op in one decides it, or a loop carries it.
    fn is_local(&self, size: &Poly) -> bool {
        let local = |name: &str| self.carried.born.get(name).is_some_and(|depth| *depth > self.carried.depth);
        self.env.facts.canonical(size).symbols().iter().any(|name| local(name))
    }

    /// The symbol for a size that each way out of an op decides; those that have the same sizes on all ways are one.
    fn port(&mut self, op: OpRef<'a>, input: &Input, dim: usize, ports: &mut Vec<(Vec<Poly>, Poly)>) -> Option<Poly> {
        let given: Option<Vec<Poly>> = input.given.iter().map(|value| self.size_of(op, *value, dim)).collect();
        let given = given?;
        let before = self.assigned.get(&input.value).and_then(|shape| shape.get(dim).cloned().flatten());
        let known = ports.iter().find(|(sizes, _)| *sizes == given).map(|(_, port)| port.clone());
        let port = known.or(before).unwrap_or_else(|| {
            let hint = loc_name(op.cx, op.loc()).unwrap_or_else(|| op.name_str().replace('.', "_"));
            let name = self.fresh_symbol(&format!("{hint}_{dim}"), Origin::Decided);
            let most = given.iter().map(|size| self.env.facts.range(size).1).max().unwrap_or(MAX_DIM.into());
            let max = most.clamp(0, MAX_DIM.into()) as i64;
            self.env.facts.define(&name, SymbolInfo { max, ..SymbolInfo::default() });
            let sizes: Vec<String> = given.iter().map(|size| format!("`{}`", size.brief())).collect();
            let message = format!(
                "dimension {dim} of the result of '{}' is one of {}, as its condition says; it is called `{name}`",
                op.name_str(),
                sizes.join(" and ")
            );
            self.remarks.push((name.clone(), Diagnostic::remark(op.loc(), message)));
            Poly::symbol(&name)
        });
        ports.push((given, port.clone()));
        Some(port)
    }

    /// A size of a value, canonical.
    fn size_of(&self, op: OpRef<'a>, value: Value, dim: usize) -> Option<Poly> {
        let size = self.env.shape(op, value)?.get(dim).cloned().flatten()?;
        Some(self.env.facts.canonical(&size))
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
            self.carried.born.insert(name.clone(), self.carried.depth + 1);
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
                if matches!(common[name], Common::Varies | Common::Unknown) {
                    continue;
                }
                let met = self.meet(op, input, *dim, &common);
                // What is its own size on every way says nothing.
                let met = if met == Common::Size(Poly::symbol(name)) { Common::Open } else { met };
                if met != common[name] && met != Common::Open {
                    // Knowledge only goes: a second size is another one.
                    let first = common[name] == Common::Open || met == Common::Unknown;
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
            let Some(size) = self.size_of(op, *given, dim) else { return Common::Unknown };
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
                _ => met = Common::Varies,
            }
        }
        met
    }
}
