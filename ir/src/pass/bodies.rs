//! Work on a body and all bodies nested in it, for passes that do not care where one ends.

use std::sync::Arc;

use rayon::prelude::*;

use super::{OpLabel, PassRun, Remarks};
use crate::analysis::{Analyses, Analysis};
use crate::body::{Body, Op, OpHeader};
use crate::context::Context;
use crate::registry::OpName;
use crate::trace::Trace;

/// One of the bodies that a pass works on.
pub struct BodyRun<'r> {
    /// Context.
    pub cx: &'r Context,
    /// Name, location and attributes of the op that owns the body.
    pub header: &'r OpHeader,
    /// The body.
    pub body: &'r mut Body,
    /// What is known of it, for work that borrows the body elsewhere.
    pub analyses: &'r mut Analyses,
    /// What is said of the work on it; reported in the order in which the bodies are in the results.
    pub remarks: &'r mut Remarks,
    /// Where drivers write down what they do step by step, for those who ask.
    pub trace: &'r mut Trace,
}

impl BodyRun<'_> {
    /// Name of the op that owns the body.
    pub fn owner(&self) -> OpName {
        self.header.name
    }

    /// The analysis `A` of the op that owns the body, computed unless it is known already.
    pub fn analysis<A: Analysis>(&mut self) -> Arc<A> {
        self.analyses.get(self.cx, self.header, self.body)
    }
}

/// A nested body, taken out of the one around it.
struct Slot {
    header: OpHeader,
    op: Op,
    /// Index in the level above.
    parent: usize,
    body: Box<Body>,
    analyses: Analyses,
    remarks: Remarks,
    trace: Trace,
}

/// What a slot is made with.
struct Blank {
    remarks: Remarks,
    trace: Trace,
}

impl PassRun<'_> {
    /// Calls `work` for each body nested in that of the op, innermost first and those of one depth in parallel, at last
    /// for the op's own. The results are in an order that does not depend on threads: innermost first, siblings as in
    /// the text.
    pub fn for_each_body<T: Send>(&mut self, work: impl Fn(&mut BodyRun<'_>) -> T + Sync) -> Vec<T> {
        let cx = self.cx;
        let mut levels: Vec<Vec<Slot>> = Vec::new();
        let mut remarks = self.gather_remarks();
        let blank = Blank { remarks: remarks.clone(), trace: self.trace.another() };
        let mut next = take_nested(0, self.body, self.analyses, &blank);
        while !next.is_empty() {
            levels.push(next);
            let level = levels.last_mut().expect("just pushed");
            let nested = level.iter_mut().enumerate();
            next = nested
                .flat_map(|(index, slot)| take_nested(index, &mut slot.body, &mut slot.analyses, &blank))
                .collect();
        }
        let mut results = Vec::new();
        while let Some(mut level) = levels.pop() {
            let work = |Slot { header, body, analyses, remarks, trace, .. }: &mut Slot| {
                work(&mut BodyRun { cx, header, body, analyses, remarks, trace })
            };
            let done: Vec<T> = level.par_iter_mut().map(work).collect();
            results.extend(done);
            for slot in level {
                self.report(slot.remarks);
                self.trace.append_group(|| label_of(cx, &slot.header), slot.trace);
                let (body, analyses) = match levels.last_mut() {
                    Some(level) => {
                        let around = &mut level[slot.parent];
                        (&mut *around.body, &mut around.analyses)
                    }
                    None => (&mut *self.body, &mut *self.analyses),
                };
                body.replace_nested(slot.op, Some(slot.body));
                analyses.put_nested(slot.op, slot.analyses);
            }
        }
        let (header, body, analyses) = (&*self.header, &mut *self.body, &mut *self.analyses);
        results.push(work(&mut BodyRun { cx, header, body, analyses, remarks: &mut remarks, trace: self.trace }));
        self.report(remarks);
        results
    }
}

/// What an op with this header is called.
fn label_of(cx: &Context, header: &OpHeader) -> OpLabel {
    let name = cx.ident("sym_name");
    let symbol = cx.entry(header.props, name).or_else(|| cx.entry(header.attrs, name)).and_then(|name| cx.as_str(name));
    OpLabel { op: header.name.as_str(cx).to_string(), symbol: symbol.map(ToString::to_string) }
}

/// Takes the nested bodies out of `body`, in the order of the text, with what is known of them.
fn take_nested(parent: usize, body: &mut Body, analyses: &mut Analyses, blank: &Blank) -> Vec<Slot> {
    let ops: Vec<Op> = body.preorder().filter(|op| body.nested(*op).is_some()).collect();
    ops.into_iter()
        .filter_map(|op| {
            let header = *body.header(op);
            let inside = body.replace_nested(op, None)?;
            let Blank { remarks, trace } = blank;
            let (remarks, trace) = (remarks.clone(), trace.another());
            Some(Slot { header, op, parent, body: inside, analyses: analyses.take_nested(op), remarks, trace })
        })
        .collect()
}
