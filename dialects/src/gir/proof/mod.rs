//! The verifier of kernels: proves the seven rules of `docs/gir.md`, or says what it could not prove.
//!
//! Indices are polynomials over the kernel's dims and its index variables ([`crate::gir::bounds`]); windows are sets
//! of conditions on positions ([`window`]). What cannot be proved is an error: a condition on dims can be made a
//! guard of the host by `requires`.

mod copies;
mod space;
mod sync;
mod tiles;
mod window;
mod writes;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;

use crate::gir::ops::KernelOp;

use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::interfaces::SymbolUser;
use sutura_ir::registry::DialectBuilder;
use sutura_ir::symbols::SymbolScope;
use sutura_ir::{BlockRef, OpRef, Value};

use self::copies::Flight;
use self::sync::Shared;
use self::window::{Rect, Span, TileFacts};
use self::writes::Store;
use super::bounds::Bounds;
use super::hints::{check_home, check_prefetch};
use super::kernel::{KernelInfo, Mode};
use super::ops::*;
use super::types::{SliceType, TileType, ViewType};
use crate::r#dyn::poly::Poly;
use crate::target::instances::signatures;
use crate::target::{machine_of, ops as target};

/// Deepest nesting of loops that is looked through.
const MAX_DEPTH: usize = 8;

/// What a slice is of.
#[derive(Clone, Debug)]
struct SliceFacts {
    view: Value,
    /// Index of its first element along each dimension of the view.
    offsets: Vec<Poly>,
    /// Number of positions along each dimension of the view: 1 for a fixed one.
    extents: Vec<Poly>,
    /// Distance between them.
    steps: Vec<i64>,
    window: Rect,
    /// Nothing of it exists where a fixed index lies outside.
    clipped: bool,
}

/// Memory behind a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Root {
    /// A view of the kernel.
    Param(Value, Mode),
    /// An allocation that the group shares.
    Group(Value),
    /// An allocation of a unit.
    Own(Value),
}

struct Prover<'a> {
    info: &'a KernelInfo<'a>,
    bounds: Bounds<'a>,
    machine: Option<OpRef<'a>>,
    tiles: HashMap<Value, TileFacts>,
    slices: HashMap<Value, SliceFacts>,
    roots: HashMap<Value, Root>,
    /// Index variables of the loops around, outermost first.
    loops: Vec<Value>,
    stores: Vec<Store<'a>>,
    loads: Vec<Store<'a>>,
    shared: Shared,
    flight: Flight<'a>,
    /// Unknown limits handed out.
    unknowns: usize,
    /// True while a loop is looked at to learn what its carried tiles are: nothing is reported or noted.
    probing: bool,
    errors: Diagnostics,
    /// Sizes of the kernel that would have to be at least 0, and are not proved to be, for an index to lie inside.
    missing: RefCell<Vec<Poly>>,
}

/// Proves the kernel's rules.
///
/// # Errors
/// After at least one error was reported.
pub(super) fn prove<'a>(
    info: &'a KernelInfo<'a>,
    machine: Option<OpRef<'a>>,
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    let mut prover = Prover::new(info, machine);
    prover.kernel();
    let result = prover.errors.check();
    diags.append(prover.errors);
    result
}

/// Proves the rules of a kernel that stands in no module yet, for a machine: what the verifier will prove of it there.
///
/// # Errors
/// After at least one error was reported.
pub fn prove_kernel(op: OpRef<'_>, machine: Option<OpRef<'_>>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let info = KernelInfo::read(op).map_err(|message| diags.report(op.error(message)))?;
    prove(&info, machine, diags)
}

/// Sizes of a kernel that stands in no module yet that would have to be at least 0, and are not proved to be, for its indices to
/// lie inside. Whether it is proved if it requires them is to be tried.
pub fn missing_conditions(op: OpRef<'_>, machine: Option<OpRef<'_>>) -> Vec<Poly> {
    let Ok(info) = KernelInfo::read(op) else { return vec![] };
    let mut prover = Prover::new(&info, machine);
    prover.kernel();
    prover.missing.into_inner()
}

/// The proof as part of the verifier: after all operations are known to be well formed, with the module's target.
struct ProveKernel;

impl SymbolUser for ProveKernel {
    fn verify_symbol_uses(
        &self,
        op: OpRef<'_>,
        symbols: &SymbolScope<'_, '_>,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let machine = machine_of(symbols.root()).map_err(|message| diags.report(op.error(message)))?;
        prove_kernel(op, machine, diags)
    }
}

pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<KernelOp<'_>, dyn SymbolUser>(&ProveKernel);
}

impl<'a> Prover<'a> {
    fn new(info: &'a KernelInfo<'a>, machine: Option<OpRef<'a>>) -> Self {
        Self {
            bounds: Bounds::of_kernel(info),
            info,
            machine,
            tiles: HashMap::new(),
            slices: HashMap::new(),
            roots: info.views.iter().map(|(value, _, mode)| (*value, Root::Param(*value, *mode))).collect(),
            loops: Vec::new(),
            stores: Vec::new(),
            loads: Vec::new(),
            shared: Shared::default(),
            flight: Flight::default(),
            unknowns: 0,
            probing: false,
            errors: Diagnostics::default(),
            missing: RefCell::default(),
        }
    }

    fn kernel(&mut self) {
        let Some(entry) = self.info.op.region(0).and_then(|r| r.entry()) else { return };
        self.block(entry);
        self.check_landed();
        self.check_writes();
        if self.errors.errors() == 0 {
            self.check_spaces(entry);
        }
    }

    /// Notes a size that would have to be at least 0, unless it never is, or indices of the kernel are in it.
    fn lacks(&self, size: &Poly) {
        let dims = |name: &std::sync::Arc<str>| self.info.dims.iter().any(|(_, dim)| *dim.name == **name);
        let mut missing = self.missing.borrow_mut();
        let known = size.symbols().iter().all(dims) && size.excess().is_none();
        if known && self.bounds.facts.range(size).1 >= 0 && !missing.contains(size) {
            missing.push(size.clone());
        }
    }

    fn report(&mut self, op: OpRef<'a>, message: impl std::fmt::Display) {
        if !self.probing {
            self.errors.report(op.error(message));
        }
    }

    /// A value as messages name it.
    fn show(&self, op: OpRef<'a>, value: Value) -> String {
        match op.body.value_name(value) {
            Some(name) => format!("%{}", op.cx.str(name)),
            None => match self.info.views.iter().position(|(v, ..)| *v == value) {
                Some(i) => format!("view {i}"),
                None => format!("value {}", value.index()),
            },
        }
    }

    /// An index as polynomial.
    fn index(&mut self, op: OpRef<'a>, value: Value) -> Result<Poly, String> {
        let poly = self.bounds.expr(value);
        poly.ok_or_else(|| {
            format!("uses the index {}, which is not made of sizes and loop indices", self.show(op, value))
        })
    }

    fn view_type(&self, op: OpRef<'a>, value: Value) -> Result<&'a ViewType, String> {
        op.cx.type_as::<ViewType>(op.ty(value)).ok_or_else(|| "takes a view".to_string())
    }

    fn slice_of(&self, op: OpRef<'a>, value: Value) -> Result<&SliceFacts, String> {
        let known = self.slices.get(&value);
        known.ok_or_else(|| format!("takes a slice of which nothing is known: {}", self.show(op, value)))
    }

    fn root(&self, view: Value) -> Root {
        self.roots.get(&view).copied().unwrap_or(Root::Own(view))
    }

    // ---- the walk

    fn block(&mut self, block: BlockRef<'a>) {
        for op in block.ops() {
            let checked = self.check_types(op).and_then(|()| self.op(op));
            if let Err(message) = checked {
                self.report(op, message);
                // What follows is judged as if the results had whole windows: one mistake, one error.
                for result in op.results() {
                    self.assume_whole(op, result);
                }
            }
        }
    }

    /// Sizes in types are the kernel's.
    fn check_types(&self, op: OpRef<'a>) -> Result<(), String> {
        for ty in op.result_types() {
            if let Some(tile) = op.cx.type_as::<TileType>(ty) {
                self.info.check_known([&tile.rows, &tile.cols])?;
            } else if let Some(slice) = op.cx.type_as::<SliceType>(ty) {
                self.info.check_known([&slice.rows, &slice.cols])?;
            } else if let Some(view) = op.cx.type_as::<ViewType>(ty) {
                self.info.check_known(&view.dims)?;
            }
        }
        Ok(())
    }

    fn assume_whole(&mut self, op: OpRef<'a>, value: Value) {
        if op.cx.type_as::<TileType>(op.ty(value)).is_some() {
            self.tiles.entry(value).or_insert_with(TileFacts::everywhere);
        }
    }

    fn op(&mut self, op: OpRef<'a>) -> Result<(), String> {
        if let Some(this) = op.as_::<ForOp<'_>>() {
            return self.for_loop(op, this);
        }
        if let Some(this) = op.as_::<SliceOp<'_>>() {
            return self.slice(op, this);
        }
        if let Some(this) = op.as_::<AllocOp<'_>>() {
            return self.alloc(op, this);
        }
        if let Some(this) = op.as_::<IdentityOp<'_>>() {
            return self.identity(op, this);
        }
        if let Some(this) = op.as_::<IntrinsicOp<'_>>() {
            return self.intrinsic(op, this);
        }
        if op.is::<SyncOp<'_>>() {
            return self.sync();
        }
        if let Some(this) = op.as_::<AsyncCopyOp<'_>>() {
            return self.async_copy(op, this);
        }
        if op.is::<AsyncCommitOp<'_>>() {
            return self.async_commit();
        }
        if let Some(this) = op.as_::<AsyncWaitOp<'_>>() {
            return self.async_wait(this);
        }
        if let Some(this) = op.as_::<StoreOp<'_>>() {
            return self.store(op, this);
        }
        if let Some(this) = op.as_::<LoadOp<'_>>() {
            self.note_load(op, this.slice())?;
            let (mode, name) = self.parameter(op, self.slice_of(op, this.slice())?.view);
            check_prefetch(self.info, this, (mode, &name))?;
        }
        if let Some(this) = op.as_::<HomeOp<'_>>() {
            let slice = self.slice_of(op, this.slice())?;
            if slice.clipped {
                return Err("makes a tile live where there may be nothing: the slice has clips".to_string());
            }
            let (mode, name) = self.parameter(op, slice.view);
            check_home(this, (mode, &name))?;
        }
        if let Some(this) = op.as_::<GatherRowsOp<'_>>() {
            self.note_gather(op, this.view())?;
        }
        if let Some(this) = op.as_::<ReduceOp<'_>>()
            && this.scope() == super::constraints::Scope::Group
        {
            self.sync()?;
        }
        if let Some(facts) = self.tile_of(op)? {
            self.tiles.insert(op.result(0), facts);
        }
        Ok(())
    }

    fn slice(&mut self, op: OpRef<'a>, this: SliceOp<'a>) -> Result<(), String> {
        let view = self.view_type(op, this.view())?;
        let ty = op.cx.type_as::<SliceType>(op.ty(this.slice())).ok_or("gives a slice")?;
        let offsets: Vec<Poly> = this.offsets().map(|o| self.index(op, o)).collect::<Result<_, _>>()?;
        let along = |dim: Option<i64>| dim.and_then(|d| usize::try_from(d).ok());
        let (row, col) = (along(this.row_dim()), along(this.col_dim()));
        let (mut extents, mut steps) = (vec![Poly::from(1); offsets.len()], vec![1; offsets.len()]);
        let (mut window, mut wrong) = (Rect::default(), None);
        let clips = this.clips().unwrap_or_default();
        for (i, (offset, size)) in offsets.iter().zip(&view.dims).enumerate() {
            let (extent, step, span) = match (row == Some(i), col == Some(i)) {
                (true, _) => (&ty.rows, this.row_step(), &mut window.rows),
                (_, true) => (&ty.cols, this.col_step(), &mut window.cols),
                _ if clips.contains(&(i as i64)) => continue,
                _ => {
                    wrong = wrong.or(self.fixed_index(op, this.view(), i, offset, size).err());
                    continue;
                }
            };
            *span = Span::clip(&self.bounds, offset, step, extent, size);
            (extents[i], steps[i]) = (extent.clone(), step);
        }
        let facts = SliceFacts { view: this.view(), offsets, extents, steps, window, clipped: !clips.is_empty() };
        self.slices.insert(this.slice(), facts);
        wrong.map_or(Ok(()), Err)
    }

    /// Rule 1: a fixed index lies in its dimension.
    fn fixed_index(&self, op: OpRef<'a>, view: Value, dim: usize, offset: &Poly, size: &Poly) -> Result<(), String> {
        let view = self.show(op, view);
        let around = || self.info.grid.iter().map(|(index, _)| *index).chain(self.loops.iter().copied());
        let holds = |size: &Poly| self.bounds.never_negative(size) || self.bounds.never_negative_within(size, around());
        let least = |size: Poly| self.bounds.lower(&size).unwrap_or(size);
        if !holds(offset) {
            self.lacks(&least(offset.clone()));
            return Err(format!("has index {offset} of dimension {dim} of {view}, which may be negative"));
        }
        let room = size.sub(offset).sub(&1.into());
        if holds(&room) {
            return Ok(());
        }
        let room = least(room);
        self.lacks(&room);
        Err(format!(
            "has index {offset} of dimension {dim} of {view}, which is not proven below its size {size}: {room} may be \
             negative"
        ))
    }

    fn alloc(&mut self, op: OpRef<'a>, this: AllocOp<'a>) -> Result<(), String> {
        if !self.loops.is_empty() {
            return Err("must stand directly in the kernel's body".to_string());
        }
        let group = this.owner() == super::constraints::Scope::Group && self.info.units > 1;
        let root = if group { Root::Group(op.result(0)) } else { Root::Own(op.result(0)) };
        self.roots.insert(op.result(0), root);
        Ok(())
    }

    fn identity(&mut self, op: OpRef<'a>, this: IdentityOp<'a>) -> Result<(), String> {
        let (from, to) = (self.view_type(op, this.view())?.elements(), self.view_type(op, this.result())?.elements());
        if !self.bounds.equal(&from, &to) {
            return Err(format!("is no reshape: {from} and {to} elements are not proven equal"));
        }
        let root = self.root(this.view());
        self.roots.insert(op.result(0), root);
        Ok(())
    }

    fn for_loop(&mut self, op: OpRef<'a>, this: ForOp<'a>) -> Result<(), String> {
        if self.loops.len() >= MAX_DEPTH {
            return Err(format!(
                "nests loops more than {MAX_DEPTH} deep, which is more than the verifier looks through"
            ));
        }
        let entry = this.body().entry().ok_or("has no body")?;
        let (index, args) = entry.args().split_first().ok_or("has no index")?;
        self.index(op, this.lo())?;
        if self.bounds.least(this.hi()).is_none() {
            self.index(op, this.hi())?;
        }
        self.index(op, *index)?;
        let yielded: Vec<Value> = entry.terminator().map(|t| t.operands().collect()).unwrap_or_default();
        let inits: Vec<Option<TileFacts>> = this.inits().map(|v| self.tiles.get(&v).cloned()).collect();
        let mut carried = inits.clone();
        // Twice over: what a trip hands on may know less than what the first one got.
        const MOST_PROBES: usize = 3;
        let was_probing = std::mem::replace(&mut self.probing, true);
        let (before, flight) = (self.shared.clone(), self.flight.clone());
        for _ in 0..MOST_PROBES {
            if carried.iter().all(Option::is_none) {
                break;
            }
            self.run_body(*index, args, &carried, (entry, &flight));
            let next = self.carried_on(*index, &inits, &yielded);
            match next {
                Ok(next) if next == carried => break,
                Ok(next) => carried = next,
                Err(_) => break,
            }
        }
        // Accesses of one trip meet those of the next.
        self.shared = before.clone();
        if self.info.units > 1 {
            self.run_body(*index, args, &carried, (entry, &flight));
            self.shared.add(&before);
        }
        self.probing = was_probing;
        self.run_body(*index, args, &carried, (entry, &flight));
        self.shared.add(&before);
        self.check_trip(flight)?;
        let carried = self.carried_on(*index, &inits, &yielded)?;
        for (result, facts) in op.results().zip(carried) {
            if let Some(facts) = facts {
                self.tiles.insert(result, facts);
            }
        }
        Ok(())
    }

    fn run_body(
        &mut self,
        index: Value,
        args: &[Value],
        carried: &[Option<TileFacts>],
        (entry, flight): (BlockRef<'a>, &Flight<'a>),
    ) {
        self.flight.clone_from(flight);
        for (arg, facts) in args.iter().zip(carried) {
            if let Some(facts) = facts {
                self.tiles.insert(*arg, facts.clone());
            }
        }
        self.loops.push(index);
        self.block(entry);
        self.loops.pop();
    }

    /// What the carried tiles are on every trip: initial ones and those of the trip before.
    fn carried_on(
        &self,
        index: Value,
        inits: &[Option<TileFacts>],
        yielded: &[Value],
    ) -> Result<Vec<Option<TileFacts>>, String> {
        let index = self.bounds.known(index).unwrap_or_default();
        let join = |(init, value): (&Option<TileFacts>, &Value)| {
            let (Some(init), Some(next)) = (init, self.tiles.get(value)) else { return Ok(None) };
            let steady = index.as_symbol().is_none_or(|name| !next.mentions(name));
            let common = if steady { TileFacts::common([init, next]).ok() } else { None };
            common.map(Some).ok_or_else(|| {
                let (before, after) = (&init.window, &next.window);
                format!("carries a tile whose window changes from trip to trip: ({before}), then ({after})")
            })
        };
        inits.iter().zip(yielded).map(join).collect()
    }

    // ---- intrinsics

    /// Rule 6: operands fit, and what is known of the results is what its meaning makes of the operands.
    fn intrinsic(&mut self, op: OpRef<'a>, this: IntrinsicOp<'a>) -> Result<(), String> {
        let name = this.callee();
        let machine = self.machine.ok_or_else(|| format!("uses @{name}, but the module describes no target"))?;
        let found = machine
            .region(0)
            .and_then(|r| r.entry())
            .and_then(|entry| entry.ops().find(|o| o.is::<target::IntrinsicOp<'_>>() && o.symbol_name() == Some(name)));
        let meaning = found.ok_or_else(|| {
            format!("uses @{name}, which the target @{} does not have", machine.symbol_name().unwrap_or("?"))
        })?;
        let entry = meaning.region(0).and_then(|r| r.entry()).ok_or("names an intrinsic without meaning")?;
        let yielded: Vec<Value> = entry.terminator().map(|t| t.operands().collect()).unwrap_or_default();
        let types = (op.operand_types().collect::<Vec<_>>(), op.result_types().collect::<Vec<_>>());
        if !signatures(meaning).contains(&types) {
            let text = |values: &[Value]| {
                let words: Vec<String> = values.iter().map(|v| crate::show::ty(op.cx, entry.body.ty(*v))).collect();
                words.join(", ")
            };
            let (args, results) = (text(entry.args()), text(&yielded));
            return Err(format!("does not fit @{name}, which is ({args}) -> ({results})"));
        }
        let operands = entry.args().iter().zip(op.operands());
        let mut inner = Prover {
            tiles: operands.filter_map(|(a, v)| Some((*a, self.tiles.get(&v)?.clone()))).collect(),
            roots: HashMap::new(),
            unknowns: self.unknowns,
            ..Prover::new(self.info, None)
        };
        for inner_op in entry.ops().filter(|o| !o.is::<YieldOp<'_>>()) {
            inner.op(inner_op).map_err(|message| format!("is @{name}, whose '{}' {message}", inner_op.name_str()))?;
        }
        self.unknowns = inner.unknowns;
        for (result, value) in op.results().zip(yielded) {
            let facts = inner.tiles.get(&value).cloned().unwrap_or_else(TileFacts::everywhere);
            self.tiles.insert(result, facts);
        }
        Ok(())
    }
}
