//! Comments that say what uses each value, as mlir-opt writes them.

use rustc_hash::FxHashSet;

use super::Printer;
use crate::body::{Block, Body, Op, Value};
use crate::op_ref::OpRef;

impl Printer<'_> {
    /// A line for each argument of a block.
    pub(super) fn arg_users(&mut self, body: &Body, block: Block) {
        if !self.options.value_users {
            return;
        }
        for &arg in body.block_args(block) {
            self.write_indent();
            self.text("// ");
            self.value(body, arg);
            if body.is_unused(arg) {
                self.text(" is unused");
            } else {
                self.text(" is used by ");
                self.users(body, arg);
            }
            self.text("\n");
        }
    }

    /// What stands behind an op: the users of its results, or its own number where it has none.
    pub(super) fn op_users(&mut self, op: OpRef<'_>) {
        if !self.options.value_users {
            return;
        }
        let (body, results) = (op.body, op.body.num_results(op.op));
        if results == 0 {
            if op.num_operands() != 0 {
                self.text(" // id: ");
                self.op_number(body, op.op);
            }
            return;
        }
        let mut users = FxHashSet::default();
        let all = body.results(op.op).flat_map(|r| body.uses(r));
        let used_in: usize = all.filter(|u| users.insert(u.owner)).map(|u| body.num_results(u.owner)).sum();
        if users.is_empty() {
            return self.text(" // unused");
        }
        self.text(if users.len() <= 1 && used_in <= 1 { " // user: " } else { " // users: " });
        let parens = results > 1;
        self.list(body.results(op.op), |p, result| {
            p.text(if parens { "(" } else { "" });
            match body.is_unused(result) {
                true => p.text("unused"),
                false => p.users(body, result),
            }
            p.text(if parens { ")" } else { "" });
        });
    }

    fn users(&mut self, body: &Body, value: Value) {
        let mut seen = FxHashSet::default();
        for user in body.uses(value).map(|u| u.owner) {
            if !seen.insert(user) {
                continue;
            }
            if seen.len() > 1 {
                self.text(", ");
            }
            match body.num_results(user) {
                0 => self.op_number(body, user),
                _ => self.list(body.results(user), |p, result| p.value(body, result)),
            }
        }
    }

    fn op_number(&mut self, body: &Body, op: Op) {
        match self.names.op_number(body, op) {
            Some(number) => {
                self.text("%");
                self.int(number.into());
            }
            None => self.text("<<UNKNOWN OPERATION>>"),
        }
    }
}
