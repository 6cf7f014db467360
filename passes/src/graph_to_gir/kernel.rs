//! Making a `gir.kernel`: its header, its sizes as values, index arithmetic.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::{known_dims, shape_attr};
use sutura_dialects::r#dyn::poly::{Atom, Excess, Poly};
use sutura_dialects::gir::DimDecl;
use sutura_dialects::gir::checks::DataCheck;
use sutura_dialects::gir::kernel::Mode;
use sutura_dialects::gir::ops::{ForOp, IndexOp, KernelOp, StoreOp, YieldOp};
use sutura_dialects::gir::types::{ViewType, with_sizes};
use sutura_dialects::graph::form::Symbols;
use sutura_dialects::graph::maps::{each_symbol, replace_symbols};
use sutura_ir::affine::{AffineExpr, AffineExprData, AffineOp};
use sutura_ir::asm::print::{PrintOptions, op_text};
use sutura_ir::builder::InsertPoint;
use sutura_ir::diagnostics::codes;
use sutura_ir::op_def::OpView;
use sutura_ir::{Block, Body, Builder, Context, Diagnostic, Loc, Op, OpRef, OpState, Rewriter, Type, Value};

use super::tiles::Clauses;
use crate::region::nest::substitute;

/// Result of building something from a region; the error has been placed already.
pub(super) type Built<T> = Result<T, Box<Diagnostic>>;

/// A kernel without a name, ready to be put into a module.
pub(super) struct Kernel {
    state: OpState,
    body: Box<Body>,
    /// Sizes that a launch passes: symbols of the program.
    pub(super) dims: Vec<Arc<str>>,
}

impl Kernel {
    /// The kernel as text, without its name, and with sizes and checks of data that are called by their places: kernels with
    /// equal ones are the same, and a launch of one does what a launch of the other does with its sizes and names in their
    /// places.
    pub(super) fn key(&mut self, cx: &Context) -> String {
        // Names in the order of the dims: what is sorted by names stays sorted.
        let places = self.dims.iter().enumerate().map(|(i, name)| (name.clone(), format!("d{i:06}")));
        let places: HashMap<Arc<str>, String> = places.collect();
        let renamed = |size: &Poly| size.substitute(&|name| places.get(name).map(|place| Poly::symbol(place)));
        let decl = |decl: DimDecl| DimDecl { name: places[decl.name.as_str()].clone(), ..decl }.write(cx);
        let mut copy = Self { state: self.state.clone(), body: self.body.clone(), dims: vec![] };
        for prop in &mut copy.state.props {
            if let Some(sizes) = known_dims(cx, prop.value) {
                prop.value = shape_attr(cx, &sizes.iter().map(renamed).collect::<Vec<_>>());
            } else if prop.name == cx.ident("dims") {
                let decls =
                    cx.array(prop.value).unwrap_or_default().iter().filter_map(|entry| DimDecl::read(cx, *entry));
                prop.value = cx.array_attr(&decls.map(decl).collect::<Vec<_>>());
            }
        }
        retype(cx, &mut copy.body, &renamed);
        number_checks(cx, &mut copy.body, &self.checks(cx));
        copy.with_op(cx, |op| op_text(op, &PrintOptions { discard_value_names: true, ..PrintOptions::default() }))
    }

    /// What it checks of data.
    pub(super) fn checks(&mut self, cx: &Context) -> Vec<DataCheck> {
        self.with_op(cx, DataCheck::all_of)
    }

    /// The kernel without its name, as text.
    fn text(&mut self, cx: &Context) -> String {
        self.with_op(cx, |op| op_text(op, &PrintOptions::default()))
    }

    /// The same without the condition under which it runs: equal ones do the same where both can run.
    pub(super) fn body_text(&mut self, cx: &Context) -> String {
        let name = cx.ident("requires");
        let state = self.state.clone().prop(name, shape_attr(cx, &[]));
        let state = std::mem::replace(&mut self.state, state);
        let text = self.text(cx);
        self.state = state;
        text
    }

    /// Requires also that these sizes are at least 0.
    pub(super) fn require(&mut self, cx: &Context, sizes: &[Poly]) {
        let name = cx.ident("requires");
        let known = self.state.props.iter().find(|prop| prop.name == name).and_then(|prop| known_dims(cx, prop.value));
        let all: Vec<Poly> = known.into_iter().flatten().chain(sizes.iter().cloned()).collect();
        self.state = self.state.clone().prop(name, shape_attr(cx, &all));
    }

    /// Looks at the kernel as an operation.
    pub(super) fn with_op<T>(&mut self, cx: &Context, look: impl FnOnce(OpRef<'_>) -> T) -> T {
        let mut scratch = Body::with_block(1);
        let mut rw = Rewriter::new(cx, &mut scratch);
        let block = rw.body().entry_block().expect("made with one");
        rw.set_to_end(block);
        let state = self.state.clone().prop(cx.ident("sym_name"), cx.string_attr("kernel"));
        let inside = std::mem::replace(&mut self.body, Box::new(Body::new(1)));
        let op = rw.create_isolated(state, inside);
        let seen = look(rw.op_ref(op));
        self.body = rw.replace_nested(op, Box::new(Body::new(1))).expect("put there above");
        seen
    }

    /// Plants a fault: the last store is gone, so that what it wrote is not proved to be written.
    pub(super) fn leave_out_a_store(&mut self, cx: &Context) {
        let mut rw = Rewriter::new(cx, &mut self.body);
        let store = rw.body().preorder().filter(|op| rw.op_ref(*op).is::<StoreOp<'_>>()).last();
        if let Some(store) = store {
            rw.erase_op(store);
        }
    }

    /// State and body of the op under a name.
    pub(super) fn named(self, cx: &Context, name: &str) -> (OpState, Box<Body>) {
        (self.state.prop(cx.ident("sym_name"), cx.string_attr(name)), self.body)
    }
}

/// Gives all types in a body other sizes.
fn retype(cx: &Context, body: &mut Body, of: &dyn Fn(&Poly) -> Poly) {
    let values = |block: Block| body.block_args(block).iter().copied();
    let blocks = body.preorder().flat_map(|op| body.regions(op)).chain([body.region()]).flat_map(|r| body.blocks(r));
    let mut all: Vec<Value> = blocks.flat_map(values).collect();
    all.extend(body.preorder().flat_map(|op| body.results(op)));
    let mut rw = Rewriter::new(cx, body);
    for value in all {
        let ty = rw.body().ty(value);
        rw.set_type(value, with_sizes(cx, ty, of));
    }
    for op in rw.body().preorder().collect::<Vec<_>>() {
        for clause in ["stream", "next"] {
            let sizes = rw.op_ref(op).prop(clause).and_then(|value| known_dims(cx, value));
            if let Some(sizes) = sizes {
                rw.set_prop(op, clause, Some(shape_attr(cx, &sizes.iter().map(of).collect::<Vec<_>>())));
            }
        }
    }
}

/// Gives what is checked of data its place among `checks` for a name.
fn number_checks(cx: &Context, body: &mut Body, checks: &[DataCheck]) {
    let mut rw = Rewriter::new(cx, body);
    let all: Vec<Op> = rw.body().preorder().collect();
    for op in all {
        let check = DataCheck::of(rw.op_ref(op));
        if let Some(place) = check.and_then(|check| checks.iter().position(|other| *other == check)) {
            rw.set_prop(op, "what", Some(cx.string_attr(&place.to_string())));
        }
    }
}

/// What a kernel takes and over which groups it runs.
pub(super) struct Header {
    pub(super) loc: Loc,
    pub(super) views: Vec<(ViewType, Mode)>,
    pub(super) grid: Vec<Poly>,
    pub(super) units: i64,
    pub(super) threads: Option<i64>,
    pub(super) requires: Vec<Poly>,
    /// Sizes that only the body uses.
    pub(super) extra: Vec<Poly>,
    /// What affine symbols in index arithmetic stand for.
    pub(super) symbols: Symbols,
}

/// Builds the body of a kernel.
pub(super) struct Emit<'b> {
    /// What the next load says.
    pub(super) asked: Clauses,
    pub(super) b: Builder<'b>,
    pub(super) loc: Loc,
    /// The views, in the order of the header.
    pub(super) views: Vec<Value>,
    /// The grid's indices.
    pub(super) grid: Vec<Value>,
    /// Trips that the next loop has side by side.
    pub(super) unroll: Option<i64>,
    /// The number of the unit, where a group has several.
    pub(super) unit: Option<Value>,
    sizes: HashMap<Arc<str>, Value>,
    /// A size was needed that no argument gives.
    unknown: bool,
    entry: Block,
    constants: HashMap<i64, Value>,
    /// Copies in registers of single elements in a cache.
    pub(super) moved: HashMap<Value, Value>,
    /// What affine symbols stand for.
    symbols: Symbols,
    /// Indices that were read, by symbol, as the stage that is being emitted knows them.
    pub(super) picked: HashMap<usize, Value>,
}

/// Builds a kernel; `fill` makes its body.
pub(super) fn build(
    cx: &Context,
    facts: &Facts,
    header: Header,
    fill: impl FnOnce(&mut Emit<'_>) -> Built<()>,
) -> Built<Kernel> {
    let views = header.views.iter().flat_map(|(view, _)| &view.dims);
    let polys = views.chain(&header.grid).chain(&header.requires).chain(&header.extra);
    let names: BTreeSet<Arc<str>> = polys.flat_map(Poly::symbols).collect();
    let dims: Vec<Arc<str>> = names.into_iter().collect();
    let mut body = Box::new(Body::new(1));
    let region = body.region();
    let mut b = Builder::new(cx, &mut body);
    let mut types: Vec<(Type, Loc)> =
        header.views.iter().map(|(view, _)| (cx.ext_type(view.clone()), header.loc)).collect();
    let several = usize::from(header.units > 1);
    types.resize(types.len() + dims.len() + header.grid.len() + several, (Type::INDEX, header.loc));
    let entry = b.create_block(region, &types);
    b.set_to_end(entry);
    let args = b.body().block_args(entry).to_vec();
    let (views, rest) = args.split_at(header.views.len());
    let (sizes, indices) = rest.split_at(dims.len());
    let (grid, unit) = indices.split_at(header.grid.len());
    for (name, value) in dims.iter().zip(sizes) {
        b.set_value_name(*value, Some(cx.ident(name)));
    }
    let mut emit = Emit {
        b,
        loc: header.loc,
        views: views.to_vec(),
        grid: grid.to_vec(),
        unroll: None,
        unit: unit.first().copied(),
        sizes: dims.iter().cloned().zip(sizes.iter().copied()).collect(),
        unknown: false,
        entry,
        constants: HashMap::new(),
        moved: HashMap::new(),
        symbols: header.symbols,
        picked: HashMap::new(),
        asked: Vec::new(),
    };
    fill(&mut emit)?;
    let views = header.views.iter().flat_map(|(view, _)| &view.dims);
    let excess = views.chain(&header.grid).chain(&header.requires).chain(&header.extra).find_map(Poly::excess);
    if emit.unknown || excess.is_some() {
        return Err(beyond(header.loc, excess));
    }
    let decl = |name: &Arc<str>| {
        let info = facts.info(name);
        DimDecl { name: name.to_string(), min: info.min, max: info.max, div: info.div }.write(cx)
    };
    let modes: Vec<_> = header.views.iter().map(|(_, mode)| cx.string_attr(mode.as_str())).collect();
    let state = OpState::of(cx, KernelOp::def(), header.loc)
        .prop(cx.ident("modes"), cx.array_attr(&modes))
        .prop(cx.ident("dims"), cx.array_attr(&dims.iter().map(decl).collect::<Vec<_>>()))
        .prop(cx.ident("requires"), shape_attr(cx, &header.requires))
        .prop(cx.ident("grid"), shape_attr(cx, &header.grid))
        .prop(cx.ident("units"), cx.int_attr(header.units, Type::I64));
    let state = match header.threads {
        Some(threads) => state.prop(cx.ident("threads"), cx.int_attr(threads, Type::I64)),
        None => state,
    };
    Ok(Kernel { state, body, dims })
}

/// A region needs a size that is beyond what sizes may be.
pub(super) fn beyond(loc: Loc, excess: Option<Excess>) -> Box<Diagnostic> {
    let why = excess.map(|excess| format!(": {excess}")).unwrap_or_default();
    let message = format!("the region needs a size that is too large to be computed{why}");
    Box::new(Diagnostic::error(loc, message).code(codes::SIZE_BEYOND))
}

/// What a loop runs: from the index and what is carried to what goes on.
pub(super) type LoopBody<'b> = dyn FnMut(&mut Emit<'_>, Value, &[Value]) -> Built<Vec<Value>> + 'b;

impl Emit<'_> {
    /// An index constant, at the start of the kernel.
    pub(super) fn constant(&mut self, value: i64) -> Value {
        if let Some(known) = self.constants.get(&value) {
            return *known;
        }
        let loc = self.loc;
        let result = self.at_start(|b| {
            let cx = b.cx();
            let state = OpState::new(cx.op_name("arith.constant"), loc)
                .prop(cx.ident("value"), cx.index_attr(value))
                .results([Type::INDEX]);
            let op = b.create(state);
            b.body().result(op, 0)
        });
        self.constants.insert(value, result);
        result
    }

    /// An expression whose dimension `i` has the value `value_of(i)`; a symbol is a size, or an index that was read.
    pub(super) fn index(&mut self, expr: AffineExpr, value_of: &dyn Fn(usize) -> Value) -> Value {
        let cx = self.b.cx();
        match cx.affine_data(expr) {
            AffineExprData::Const(value) => return self.constant(value),
            AffineExprData::Dim(i) => return value_of(i as usize),
            AffineExprData::Symbol(i) => match self.symbols.size(i as usize).cloned() {
                Some(size) => return self.size(&size),
                None => return self.picked[&(i as usize)],
            },
            AffineExprData::Binary(..) => {}
        }
        let (mut used, mut read, mut leaves) = (Vec::new(), Vec::new(), BTreeSet::new());
        collect_dims(cx, expr, &mut used);
        each_symbol(cx, expr, &mut |i| match self.symbols.size(i) {
            Some(size) => collect_leaves(size, &mut leaves),
            None => read.push(i),
        });
        let leaves: Vec<Atom> = leaves.into_iter().collect();
        let place = |d: usize| cx.affine_dim(used.iter().position(|u| *u == d).expect("collected above") as u32);
        let after = |i: usize| read.iter().position(|r| *r == i).expect("collected above") + used.len();
        let local = replace_symbols(cx, substitute(cx, expr, &place), &|i| match self.symbols.size(i) {
            Some(size) => affine_of(cx, size, &leaves),
            None => cx.affine_dim(after(i) as u32),
        });
        let map = cx.affine_map((used.len() + read.len()) as u32, leaves.len() as u32, &[local]);
        let indices = used.iter().map(|d| value_of(*d)).chain(read.iter().map(|i| self.picked[i]));
        let mut args: Vec<Value> = indices.collect();
        args.extend(leaves.iter().map(|leaf| self.leaf(leaf)));
        IndexOp::value(&mut self.b, self.loc, map, &args)
    }

    /// A symbol of an expression for an index that has not been read.
    pub(super) fn unread(&self, expr: AffineExpr) -> Option<usize> {
        let mut unread = None;
        each_symbol(self.b.cx(), expr, &mut |i| {
            if self.symbols.size(i).is_none() && !self.picked.contains_key(&i) {
                unread = Some(i);
            }
        });
        unread
    }

    /// `a * factor`, plus `b`.
    pub(super) fn scaled(&mut self, a: Value, factor: i64, b: Option<Value>) -> Value {
        let cx = self.b.cx();
        let product = cx.affine_binary(AffineOp::Mul, cx.affine_dim(0), cx.affine_const(factor));
        let expr = match b {
            Some(_) => cx.affine_binary(AffineOp::Add, product, cx.affine_dim(1)),
            None => product,
        };
        self.index(expr, &|i| if i == 0 { a } else { b.expect("the map has a second dimension only then") })
    }

    /// Builds at the start of the kernel.
    pub(super) fn at_start<T>(&mut self, build: impl FnOnce(&mut Builder<'_>) -> T) -> T {
        let first = self.b.body().first_op(self.entry);
        let point = self.b.set_insert_point(first.map_or(InsertPoint::End(self.entry), InsertPoint::Before));
        let built = build(&mut self.b);
        self.b.set_insert_point(point);
        built
    }

    /// A loop that carries values: `body` gets the index and what is carried, and returns what goes on.
    pub(super) fn for_loop(&mut self, count: &Poly, inits: &[Value], body: &mut LoopBody<'_>) -> Built<Vec<Value>> {
        let bounds = (self.constant(0), self.size(count));
        self.for_range(bounds, inits, body)
    }

    /// The same from one index to below another.
    pub(super) fn for_range(
        &mut self,
        (lo, hi): (Value, Value),
        inits: &[Value],
        body: &mut LoopBody<'_>,
    ) -> Built<Vec<Value>> {
        let op = ForOp::build(&mut self.b, self.loc, lo, hi, inits, self.unroll.take());
        let mut args = vec![(Type::INDEX, self.loc)];
        args.extend(inits.iter().map(|v| (self.b.body().ty(*v), self.loc)));
        let region = self.b.body().regions(op).next().expect("made with one");
        let block = self.b.create_block(region, &args);
        let point = self.b.set_insert_point(InsertPoint::End(block));
        let args = self.b.body().block_args(block).to_vec();
        let next = body(self, args[0], &args[1..])?;
        YieldOp::build(&mut self.b, self.loc, &next);
        self.b.set_insert_point(point);
        Ok(self.b.body().results(op).collect())
    }

    /// A size as index value.
    pub(super) fn size(&mut self, size: &Poly) -> Value {
        if let Some(value) = size.as_const() {
            return self.constant(value);
        }
        if let Some(value) = size.as_symbol().and_then(|name| self.sizes.get(name)) {
            return *value;
        }
        self.least_of(&[size])
    }

    /// The least of some sizes as index value.
    fn least_of(&mut self, sizes: &[&Poly]) -> Value {
        let cx = self.b.cx();
        let mut leaves = BTreeSet::new();
        sizes.iter().for_each(|size| collect_leaves(size, &mut leaves));
        let leaves: Vec<Atom> = leaves.into_iter().collect();
        let exprs: Vec<AffineExpr> = sizes.iter().map(|size| affine_of(cx, size, &leaves)).collect();
        let map = cx.affine_map(0, leaves.len() as u32, &exprs);
        let args: Vec<Value> = leaves.iter().map(|leaf| self.leaf(leaf)).collect();
        IndexOp::value(&mut self.b, self.loc, map, &args)
    }

    fn leaf(&mut self, leaf: &Atom) -> Value {
        match leaf {
            Atom::Symbol(name) => match self.sizes.get(name) {
                Some(value) => *value,
                // A size that is beyond what sizes may be; the kernel is given up.
                None => {
                    self.unknown = true;
                    self.constant(0)
                }
            },
            Atom::FloorDiv(inner, divisor) => self.size(&inner.floordiv(*divisor)),
            Atom::Min(a, b) => self.least_of(&[a, b]),
        }
    }
}

fn collect_dims(cx: &Context, expr: AffineExpr, used: &mut Vec<usize>) {
    match cx.affine_data(expr) {
        AffineExprData::Dim(i) if !used.contains(&(i as usize)) => used.push(i as usize),
        AffineExprData::Binary(_, a, b) => {
            collect_dims(cx, a, used);
            collect_dims(cx, b, used);
        }
        _ => {}
    }
}

/// What a size is made of that no affine expression can say: symbols, and the lesser of two.
fn collect_leaves(size: &Poly, leaves: &mut BTreeSet<Atom>) {
    for atom in size.terms().flat_map(|(atoms, _)| atoms) {
        match atom {
            Atom::FloorDiv(inner, _) => collect_leaves(inner, leaves),
            leaf => {
                leaves.insert(leaf.clone());
            }
        }
    }
}

/// A size as expression in one affine symbol per leaf.
fn affine_of(cx: &Context, size: &Poly, leaves: &[Atom]) -> AffineExpr {
    let mut sum = cx.affine_const(0);
    for (atoms, factor) in size.terms() {
        let mut product = cx.affine_const(i64::try_from(factor).unwrap_or(i64::MAX));
        for atom in atoms {
            let atom = match atom {
                Atom::FloorDiv(inner, divisor) => {
                    let inner = affine_of(cx, inner, leaves);
                    cx.affine_binary(AffineOp::FloorDiv, inner, cx.affine_const(*divisor))
                }
                leaf => {
                    let place = leaves.iter().position(|l| l == leaf).expect("all leaves are listed");
                    cx.affine_symbol(place as u32)
                }
            };
            product = cx.affine_binary(AffineOp::Mul, product, atom);
        }
        sum = cx.affine_binary(AffineOp::Add, sum, product);
    }
    sum
}
