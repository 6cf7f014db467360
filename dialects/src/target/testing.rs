//! Building descriptions for tests.

use sutura_ir::{Body, Builder, Loc, Op, OpState, OpView};

use super::constraints::{Class, Owner};
use super::ops::{MachineOp, SpaceOp};

/// Adds `@m` with spaces of these names, classes, owners and sizes.
pub(crate) fn machine(b: &mut Builder<'_>, spaces: &[(&str, Class, Owner, Option<i64>)]) -> Op {
    let cx = b.cx();
    let mut body = Box::new(Body::with_block(1));
    let entry = body.entry_block().unwrap();
    let mut inside = Builder::at_end(cx, &mut body, entry);
    for (name, class, owner, bytes) in spaces {
        SpaceOp::build(&mut inside, Loc::UNKNOWN, name, *class, *owner, *bytes, None, None, None, None);
    }
    let state = OpState::of(cx, <MachineOp<'_> as OpView<'_>>::def(), Loc::UNKNOWN)
        .prop(cx.ident("sym_name"), cx.string_attr("m"))
        .prop(cx.ident("triple"), cx.string_attr("x86_64-linux-gnu"))
        .prop(cx.ident("features"), cx.string_attr("+avx2"));
    b.create_isolated(state, body)
}
