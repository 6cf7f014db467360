//! Constants of a body: one op per value, at the start of the outermost block that may hold it.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::attrs::Attr;
use crate::body::{Body, Editor, Op, Region, Value};
use crate::builder::{Builder, Listener};
use crate::context::{Context, Ident};
use crate::location::Loc;
use crate::op_def::{OpDef, Traits};
use crate::registry::{MaterializeFn, OpName};
use crate::rewriter::Rewriter;
use crate::types::Type;

/// What makes two constants the same: where they may stand, the dialect that made them, value and type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    scope: Region,
    dialect: Ident,
    value: Attr,
    ty: Type,
}

/// The constants that are known to stand where they belong.
#[derive(Default)]
pub(super) struct Constants {
    ops: FxHashMap<Key, Op>,
    /// An op may serve under the name of its own dialect and of the one that it was made for.
    keys: FxHashMap<Op, SmallVec<[Key; 1]>>,
}

impl Constants {
    /// Forgets an op that is erased.
    pub(super) fn forget(&mut self, op: Op) {
        for key in self.keys.remove(&op).into_iter().flatten() {
            self.ops.remove(&key);
        }
    }

    fn remember(&mut self, key: Key, op: Op) {
        self.ops.insert(key, op);
        self.keys.entry(op).or_default().push(key);
    }

    fn owns(&self, op: Op) -> bool {
        self.keys.contains_key(&op)
    }

    /// Takes a constant op that is in the IR into account: it is moved to where constants stand. When there is one of
    /// the same value already, the uses move to that, and false is returned: `op` is dead.
    pub(super) fn adopt(&mut self, rw: &mut Rewriter<'_>, op: Op, value: Attr) -> bool {
        let (cx, body) = (rw.cx(), rw.body());
        let Some(scope) = scope_of(body, cx, op) else { return true };
        let result = body.result(op, 0);
        let key = Key { scope, dialect: dialect_of(cx, body.name(op)), value, ty: body.ty(result) };
        if let Some(&known) = self.ops.get(&key) {
            if known != op {
                // The location of the first one stays.
                let known_result = body.result(known, 0);
                rw.inherit_name(result, known_result);
                rw.replace_all_uses(result, known_result);
            }
            return known == op;
        }
        let entry = body.region_entry(scope).expect("it holds the op");
        let follows_ours = body.prev_op(op).is_none_or(|prev| self.owns(prev));
        if body.op_block(op) != Some(entry) || !follows_ours {
            match body.first_op(entry) {
                Some(first) => rw.move_before(op, first),
                None => rw.move_to_end(op, entry),
            }
        }
        self.remember(key, op);
        true
    }

    /// The result of a constant op for `value : ty` that `near` can use. Made by the dialect of the op `for_op`.
    pub(super) fn get(&self, cx: &Context, body: &Body, near: Op, value: Attr, ty: Type) -> Option<Op> {
        let scope = scope_of(body, cx, near)?;
        let dialect = dialect_of(cx, body.name(near));
        self.ops.get(&Key { scope, dialect, value, ty }).copied()
    }

    /// Remembers a constant that was made for `near`; the op may be one of another dialect.
    pub(super) fn made(&mut self, cx: &Context, body: &Body, near: Op, value: Attr, ty: Type, op: Op) {
        let Some(scope) = scope_of(body, cx, near) else { return };
        let (near, own) = (dialect_of(cx, body.name(near)), dialect_of(cx, body.name(op)));
        self.remember(Key { scope, dialect: near, value, ty }, op);
        if own != near {
            self.remember(Key { scope, dialect: own, value, ty }, op);
        }
    }
}

/// Constants that a pass makes: one op per value and type in each scope.
#[derive(Default)]
pub struct ConstantPool {
    constants: Constants,
    made: Vec<Op>,
}

struct Silent;
impl Listener for Silent {}

impl ConstantPool {
    /// A pool that knows the constants of `body`: each is moved to where constants stand, and one of several equal ones
    /// is kept.
    pub fn of(cx: &Context, body: &mut Body) -> Self {
        let mut pool = Self::default();
        let name = cx.ident("value");
        let ops: Vec<Op> = body.preorder().collect();
        let mut rw = Rewriter::new(cx, body);
        for op in ops {
            let Some(value) = constant_value(cx, rw.body(), op, name) else { continue };
            if !pool.constants.adopt(&mut rw, op, value) {
                rw.erase_op(op);
            }
        }
        pool
    }

    /// The result of a constant op for `value : ty` that can be used in `region`, made by the hook of `dialect` unless
    /// there is one from an earlier call; `None` when the dialect cannot make it.
    pub fn get(
        &mut self,
        cx: &Context,
        body: &mut Body,
        region: Region,
        dialect: &str,
        loc: Loc,
        (value, ty): (Attr, Type),
    ) -> Option<Value> {
        let scope = scope_of_region(body, cx, region)?;
        let key = Key { scope, dialect: cx.ident(dialect), value, ty };
        let op = match self.constants.ops.get(&key) {
            Some(&known) => known,
            None => {
                let made = make_in(cx, body, scope, dialect, loc, (value, ty), &mut Silent)?;
                self.constants.remember(key, made);
                self.made.push(made);
                made
            }
        };
        Some(body.result(op, 0))
    }

    /// Erases the constants that were made here and are not used.
    pub fn erase_unused(self, body: &mut Body) {
        for op in self.made {
            if body.is_unused(body.result(op, 0)) {
                Editor::new(body, None).erase_op(op);
            }
        }
    }
}

/// Makes a constant op for `near` at the start of its scope.
pub(super) fn materialize(
    cx: &Context,
    body: &mut Body,
    near: Op,
    value: Attr,
    ty: Type,
    listener: &mut dyn Listener,
) -> Option<Op> {
    let scope = scope_of(body, cx, near)?;
    let loc: Loc = body.loc(near);
    make_in(cx, body, scope, body.name(near).dialect(cx), loc, (value, ty), listener)
}

/// Makes a constant op at the start of `scope`, by the hook of a dialect.
fn make_in(
    cx: &Context,
    body: &mut Body,
    scope: Region,
    dialect: &str,
    loc: Loc,
    (value, ty): (Attr, Type),
    listener: &mut dyn Listener,
) -> Option<Op> {
    let make: MaterializeFn = cx.registry().dialect(dialect)?.materialize?;
    let entry = body.region_entry(scope)?;
    let mut builder: Builder<'_> = Builder::with_listener(cx, body, listener);
    builder.set_to_start(entry);
    let op = make(&mut builder, loc, value, ty)?;
    let fits = body.num_results(op) == 1 && body.ty(body.result(op, 0)) == ty && body.op_block(op).is_some();
    if !fits {
        Rewriter::with_listener(cx, body, listener).erase_op(op);
        return None;
    }
    Some(op)
}

/// The outermost region around `op` in which a constant can be made for it: the body's, or that of an op whose regions
/// are closed, or which is not registered and may be isolated.
fn scope_of(body: &Body, cx: &Context, op: Op) -> Option<Region> {
    scope_of_region(body, cx, body.block_region(body.op_block(op)?)?)
}

fn scope_of_region(body: &Body, cx: &Context, mut region: Region) -> Option<Region> {
    while let Some(parent) = body.region_parent(region) {
        let closed = |def: &OpDef| def.traits.has(Traits::ClosedRegions);
        if body.name(parent).def(cx).is_none_or(closed) {
            break;
        }
        region = body.block_region(body.op_block(parent)?)?;
    }
    Some(region)
}

fn dialect_of(cx: &Context, name: OpName) -> Ident {
    cx.ident(name.dialect(cx))
}

/// The value of an op that is a constant. `value_name` is the interned `value`.
pub(super) fn constant_value(cx: &Context, body: &Body, op: Op, value_name: Ident) -> Option<Attr> {
    body.name(op).traits(cx).has(Traits::ConstantLike).then(|| cx.entry(body.props(op), value_name)).flatten()
}
