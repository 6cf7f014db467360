//! Patterns are held to their word: one applies exactly when it changes something.

use crate::diagnostics::{Diagnostic, codes};
use crate::location::Loc;

/// An internal error that names the pattern, when what it returned and what it did differ. Changes are counted, not
/// searched for: a listener hears of each.
pub(super) fn broken_word(pattern: &str, loc: Loc, applied: bool, changed: bool) -> Option<Box<Diagnostic>> {
    let (what, help) = match (applied, changed) {
        (true, true) | (false, false) => return None,
        (false, true) => (
            "changed the program and then did not apply",
            "a pattern changes nothing unless it returns `Some(())`: make all checks before the first change",
        ),
        (true, false) => (
            "says that it applied and changed nothing",
            "a pattern that finds nothing to change returns `None`: a driver would try it without end",
        ),
    };
    let message = format!("pattern '{pattern}' {what}: an internal error, please report it");
    Some(Box::new(Diagnostic::error(loc, message).code(codes::INTERNAL).help(help)))
}

#[cfg(test)]
mod tests {
    use crate::body::{Body, Op};
    use crate::builder::{Builder, InsertPoint, OpState};
    use crate::context::Context;
    use crate::diagnostics::codes;
    use crate::location::Loc;
    use crate::pattern::{PatternSet, RewriteFn};
    use crate::registry::Registry;
    use crate::rewrite::{FrozenPatterns, GreedyConfig, apply_patterns_greedily};
    use crate::rewriter::Rewriter;
    use crate::trace::Trace;
    use crate::types::Type;

    /// The error of applying `rewrite` as the pattern `culprit` to an op with a region and a body inside.
    fn error(rewrite: RewriteFn) -> Option<String> {
        let cx = Context::new(Registry::default());
        let mut body = Body::with_block(1);
        let block = body.entry_block().expect("made with one");
        let mut b = Builder::at_end(&cx, &mut body, block);
        let state = |name: &str| OpState::new(cx.op_name(name), Loc::UNKNOWN);
        let op = b.create(state("t.op").regions(1).results([Type::I32]));
        let region = b.body().regions(op).next().expect("made with one");
        b.create_block(region, &[(Type::I32, Loc::UNKNOWN)]);
        b.create_isolated(state("t.isolated"), Box::new(Body::with_block(1)));
        let mut set = PatternSet::new();
        set.add_fn("innocent", None, 2, |op, rw| rw.notify_match_failure(op, || "no".to_string()));
        set.add_fn("culprit", None, 1, rewrite);
        let patterns = FrozenPatterns::new(&cx, &set);
        let outcome = apply_patterns_greedily(&cx, &mut body, &patterns, &GreedyConfig::default(), &mut Trace::off());
        let broken = outcome.err()?;
        assert_eq!(broken.code, Some(codes::INTERNAL));
        Some(broken.message)
    }

    fn is_op(rw: &Rewriter<'_>, op: Op) -> bool {
        rw.op_ref(op).name_str() == "t.op"
    }

    #[test]
    fn a_pattern_that_changes_something_and_refuses_is_an_error() {
        let changes: [RewriteFn; 9] = [
            |op, rw| {
                rw.set_attr(op, "a", Some(crate::attrs::Attr::UNIT));
                None
            },
            |op, rw| {
                let loc = rw.cx().file_loc("x.mlir", 1, 1);
                rw.set_loc(op, loc);
                None
            },
            |op, rw| {
                let name = rw.cx().op_name("t.made");
                let loc = rw.body().loc(op);
                rw.create(OpState::new(name, loc));
                None
            },
            // What is made and erased again was a change too.
            |op, rw| {
                let name = rw.cx().op_name("t.made");
                let loc = rw.body().loc(op);
                let made = rw.create(OpState::new(name, loc));
                rw.erase_op(made);
                None
            },
            |op, rw| {
                let region = rw.body().regions(op).next()?;
                let block = rw.body().region_entry(region)?;
                let loc = rw.cx().file_loc("x.mlir", 1, 1);
                rw.set_arg_loc(block, 0, loc);
                None
            },
            |op, rw| {
                let region = rw.body().regions(op).next()?;
                let block = rw.body().region_entry(region)?;
                rw.erase_block_arg(block, 0);
                None
            },
            |op, rw| {
                let value = rw.body().results(op).next()?;
                let name = rw.cx().ident("name");
                rw.set_value_name(value, Some(name));
                None
            },
            |op, rw| {
                let cx = rw.cx();
                rw.edit_nested(op, |inside| {
                    let block = inside.entry_block().expect("made with one");
                    Builder::at_end(cx, inside, block).create(OpState::new(cx.op_name("t.made"), Loc::UNKNOWN));
                })?;
                None
            },
            |op, rw| {
                rw.replace_nested(op, Box::new(Body::with_block(1))).filter(|_| false)?;
                None
            },
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let message = error(change).unwrap_or_else(|| panic!("change {index} is not found"));
            let expected = "pattern 'culprit' changed the program and then did not apply: an internal error";
            assert!(message.starts_with(expected), "change {index}: {message}");
        }
    }

    #[test]
    fn a_pattern_that_applies_and_changes_nothing_is_an_error() {
        let idle: [RewriteFn; 3] = [
            |_, _| Some(()),
            |op, rw| {
                rw.set_attr(op, "a", None);
                Some(())
            },
            |op, rw| {
                rw.set_insert_point(InsertPoint::Before(op));
                rw.move_before(op, op);
                Some(())
            },
        ];
        for rewrite in idle {
            let message = error(rewrite).expect("found");
            assert!(message.starts_with("pattern 'culprit' says that it applied and changed nothing"), "{message}");
        }
    }

    #[test]
    fn honest_patterns_are_let_be() {
        assert_eq!(error(|_, _| None), None);
        let once: RewriteFn = |op, rw| {
            let fresh = is_op(rw, op) && rw.op_ref(op).attr("a").is_none();
            fresh.then(|| rw.set_attr(op, "a", Some(crate::attrs::Attr::UNIT)))
        };
        assert_eq!(error(once), None);
    }
}
