//! Sibling products: contraction regions between which nothing flows and which have the same left factor. Their kernels run
//! as one launch, so that threads are woken and waited for once, and what the left factor brings near serves all of them.

use std::collections::HashMap;

use sutura_dialects::r#dyn::Facts;
use sutura_ir::{OpRef, Value};

use super::contract::is_contraction;
use super::cost::value_text;
use super::{ContractPlan, Fit, Nest, misfit};

/// Ops of a region that are connected by what they make.
#[derive(Clone)]
pub struct Part<'a> {
    /// The ops, in order.
    pub ops: Vec<OpRef<'a>>,
    /// Values that are used outside the region.
    pub outputs: Vec<Value>,
}

/// The parts of a region between which nothing flows, in the order of their first ops.
pub fn parts<'a>(ops: &[OpRef<'a>], outputs: &[Value]) -> Vec<Part<'a>> {
    let mut part: Vec<usize> = (0..ops.len()).collect();
    let mut maker: HashMap<Value, usize> = HashMap::new();
    for (i, op) in ops.iter().enumerate() {
        for from in op.operands().filter_map(|v| maker.get(&v).copied()) {
            let (keep, gone) = (part[from].min(part[i]), part[from].max(part[i]));
            part.iter_mut().filter(|p| **p == gone).for_each(|p| *p = keep);
        }
        maker.extend(op.results().map(|v| (v, i)));
    }
    let firsts = (0..ops.len()).filter(|i| part[*i] == *i);
    let of = |first: usize| {
        let inside = |v: &Value| maker.get(v).is_some_and(|i| part[*i] == first);
        Part {
            ops: (0..ops.len()).filter(|i| part[*i] == first).map(|i| ops[i]).collect(),
            outputs: outputs.iter().copied().filter(inside).collect(),
        }
    };
    firsts.map(of).collect()
}

/// The products that a region consists of, each with its plan; `None` for a region that does not consist of several.
///
/// # Errors
/// Why they are not run as one launch.
pub fn siblings<'a>(facts: &Facts, ops: &[OpRef<'a>], outputs: &[Value]) -> Option<Fit<Vec<(Nest<'a>, ContractPlan)>>> {
    let parts = parts(ops, outputs);
    if parts.len() < 2 {
        return None;
    }
    let mut products = Vec::with_capacity(parts.len());
    for part in &parts {
        let mut nest = Nest::of(facts, &part.ops, &part.outputs).ok()?;
        if !nest.stages.iter().any(|stage| is_contraction(&nest, stage)) {
            return None;
        }
        match ContractPlan::joined(&mut nest, facts) {
            // A vector times a matrix is no product of tiles.
            Ok(plan) if plan.rows.is_empty() => return None,
            Ok(plan) => products.push((nest, plan)),
            Err(why) => return Some(Err(why)),
        }
    }
    let left = |(nest, plan): &(Nest<'_>, ContractPlan)| nest.stages[plan.stage].inputs[plan.lhs].value;
    let (first, rest) = products.split_first()?;
    Some(match rest.iter().find(|product| left(product) != left(first)) {
        Some(other) => {
            let name = |product: &(Nest<'_>, ContractPlan)| value_text(product.0.cx, product.0.body, left(product));
            misfit(format!("the left factor of one product is {} and of another {}", name(first), name(other)))
        }
        None => Ok(products),
    })
}
