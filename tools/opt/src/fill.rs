//! `--fill-elided`: elements for constants that were printed without theirs.

use sutura_interp::{DType, Random};
use sutura_ir::asm::print::ELIDED;
use sutura_ir::diagnostics::codes;
use sutura_ir::rewriter::Rewriter;
use sutura_ir::{Attr, AttrData, Body, Context, Diagnostic, Module, Op};

use crate::Status;
use crate::session::Session;

/// What stands for elements that were left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fill {
    /// Zeros.
    Zero,
    /// Numbers that are the same each time.
    Random,
}

/// More random elements than these are no longer worth the wait.
const MOST_ELEMENTS: usize = 1 << 28;

/// Fills the constants of `module` that are attributes of operations.
///
/// # Errors
/// When one cannot be filled; reported.
pub(crate) fn fill(session: &mut Session<'_>, module: &mut Module, fill: Fill) -> Result<(), Status> {
    let cx = session.cx;
    let mut filler = Filler { cx, fill, random: Random::new(0), filled: 0, errors: Vec::new() };
    filler.body(module.body_mut());
    session.filled += filler.filled;
    let failed = !filler.errors.is_empty();
    filler.errors.into_iter().for_each(|error| session.diagnostic(error));
    if failed { Err(Status::Input) } else { Ok(()) }
}

struct Filler<'c> {
    cx: &'c Context,
    fill: Fill,
    random: Random,
    filled: usize,
    errors: Vec<Diagnostic>,
}

impl Filler<'_> {
    fn body(&mut self, body: &mut Body) {
        // Bodies nest as deep as symbol tables do, which the parser limits.
        let ops: Vec<Op> = body.preorder().collect();
        for op in ops {
            self.op(body, op);
            if let Some(nested) = body.nested_mut(op) {
                self.body(nested);
            }
        }
    }

    fn op(&mut self, body: &mut Body, op: Op) {
        let cx = self.cx;
        let key = cx.ident(ELIDED);
        let is_elided = |a: Attr| matches!(cx.attr_data(a), AttrData::DenseResource { key: k, .. } if k == key);
        for (dict, inherent) in [(body.props(op), true), (body.attrs(op), false)] {
            for entry in cx.entries(dict).iter().filter(|e| is_elided(e.value)) {
                let Some(value) = self.elements(entry.value) else {
                    let name = body.name(op).as_str(cx).to_string();
                    let message =
                        format!("the elements of '{name}' cannot be filled: their type has none, or too many");
                    self.errors.push(Diagnostic::error(body.loc(op), message).code(codes::ELIDED));
                    continue;
                };
                self.filled += 1;
                let mut rewriter = Rewriter::new(cx, body);
                match inherent {
                    true => rewriter.set_prop(op, cx.str(entry.name), Some(value)),
                    false => rewriter.set_attr(op, cx.str(entry.name), Some(value)),
                }
            }
        }
    }

    /// A constant of the type of `elided`.
    fn elements(&mut self, elided: Attr) -> Option<Attr> {
        let cx = self.cx;
        let ty = cx.attr_type(elided)?;
        match self.fill {
            Fill::Zero => cx.dense_attr(ty, &[0]),
            Fill::Random => {
                let dtype = DType::of(cx, cx.element_type(ty))?;
                let count = cx.num_elements(ty).filter(|n| *n <= MOST_ELEMENTS)?;
                let words: Vec<u64> = (0..count).map(|_| self.random.scalar(dtype).bits()).collect();
                cx.dense_attr(ty, &words)
            }
        }
    }
}
