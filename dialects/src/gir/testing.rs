//! Building kernels for tests.

use sutura_ir::affine::{AffineExpr, AffineOp};
use sutura_ir::diagnostics::Diagnostics;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Attr, Body, Builder, Context, Loc, Module, OpState, OpView, Registry, Type, Value};

use super::asm::DimDecl;
use super::constraints::{Axis, Scope};
use super::kernel::Mode;
use super::kinds::{BinaryKind, Combiner, UnaryKind};
use super::ops::*;
use super::types::{SliceType, TileType, ViewType};
use crate::r#dyn::attr::shape_attr;
use crate::r#dyn::poly::Poly;

pub(super) const L: Loc = Loc::UNKNOWN;

pub(super) fn context() -> Context {
    Context::new(Registry::default().with::<super::GirDialect>().with::<crate::target::TargetDialect>())
}

pub(super) fn polys(text: &str) -> Vec<Poly> {
    text.split(',').filter(|t| !t.trim().is_empty()).map(|t| Poly::parse(t).unwrap()).collect()
}

/// What a kernel's header says.
#[derive(Clone)]
pub(super) struct Header<'h> {
    pub(super) views: Vec<(&'h str, Mode)>,
    /// Name, smallest, largest.
    pub(super) dims: Vec<(&'h str, i64, i64)>,
    pub(super) requires: &'h str,
    pub(super) grid: &'h str,
    pub(super) units: i64,
}

impl Default for Header<'_> {
    fn default() -> Self {
        Self { views: vec![], dims: vec![], requires: "", grid: "1", units: 1 }
    }
}

/// Builds the body of a kernel; values are cheap names.
pub(super) struct K<'b> {
    pub(super) b: Builder<'b>,
    pub(super) views: Vec<Value>,
    pub(super) dims: Vec<Value>,
    pub(super) grid: Vec<Value>,
    pub(super) unit: Option<Value>,
}

/// Adds a kernel to the module.
pub(super) fn kernel(
    cx: &Context,
    module: &mut Module,
    name: &str,
    header: &Header<'_>,
    build: impl FnOnce(&mut K<'_>),
) {
    let mut body = Box::new(Body::with_block(1));
    let entry = body.entry_block().unwrap();
    let mut b = Builder::at_end(cx, &mut body, entry);
    let view = |b: &mut Builder<'_>, dims: &str| {
        let ty = cx.ext_type(ViewType::new("dram", Type::F32, polys(dims)));
        b.add_block_arg(entry, ty, L)
    };
    let views = header.views.iter().map(|(dims, _)| view(&mut b, dims)).collect();
    let mut index = || b.add_block_arg(entry, Type::INDEX, L);
    let dims = header.dims.iter().map(|_| index()).collect();
    let grid_sizes = polys(header.grid);
    let grid = grid_sizes.iter().map(|_| index()).collect();
    let unit = (header.units > 1).then(index);
    build(&mut K { b, views, dims, grid, unit });

    let modes: Vec<Attr> = header.views.iter().map(|(_, mode)| cx.string_attr(mode.as_str())).collect();
    let dims =
        header.dims.iter().map(|(name, min, max)| DimDecl { name: (*name).into(), min: *min, max: *max, div: 1 });
    let dims: Vec<Attr> = dims.map(|d| d.write(cx)).collect();
    let state = OpState::of(cx, <KernelOp<'_> as OpView<'_>>::def(), L)
        .prop(cx.ident("sym_name"), cx.string_attr(name))
        .prop(cx.ident("modes"), cx.array_attr(&modes))
        .prop(cx.ident("dims"), cx.array_attr(&dims))
        .prop(cx.ident("requires"), shape_attr(cx, &polys(header.requires)))
        .prop(cx.ident("grid"), shape_attr(cx, &grid_sizes))
        .prop(cx.ident("units"), cx.int_attr(header.units, Type::I64));
    let top = module.body().entry_block().unwrap();
    Builder::at_end(cx, module.body_mut(), top).create_isolated(state, body);
}

/// A module with one kernel, `@k`.
pub(super) fn one(cx: &Context, header: &Header<'_>, build: impl FnOnce(&mut K<'_>)) -> Module {
    let mut module = Module::new(cx, L);
    kernel(cx, &mut module, "k", header, build);
    module
}

/// Messages of the verifier.
pub(super) fn errors(cx: &Context, module: &Module) -> Vec<String> {
    let mut diags = Diagnostics::default();
    let _ = verify(module.op_ref(cx), VerifyOptions::default(), &mut diags);
    diags.iter().map(|d| d.message.clone()).collect()
}

impl K<'_> {
    pub(super) fn tile_type(&self, space: &str, elem: Type, rows: &str, cols: &str) -> Type {
        let (rows, cols) = (Poly::parse(rows).unwrap(), Poly::parse(cols).unwrap());
        self.b.cx().ext_type(TileType { space: space.into(), elem, rows, cols })
    }

    pub(super) fn vec(&self, rows: i64, cols: i64) -> Type {
        self.tile_type("vec", Type::F32, &rows.to_string(), &cols.to_string())
    }

    pub(super) fn l1(&self, rows: &str, cols: &str) -> Type {
        self.tile_type("l1", Type::F32, rows, cols)
    }

    /// Sum of values times factors, and a constant.
    pub(super) fn index(&mut self, terms: &[(Value, i64)], constant: i64) -> Value {
        self.affine(&terms.iter().map(|t| t.0).collect::<Vec<_>>(), |cx, dims| {
            let mut sum = cx.affine_const(constant);
            for (dim, (_, factor)) in dims.iter().zip(terms) {
                let term = cx.affine_binary(AffineOp::Mul, *dim, cx.affine_const(*factor));
                sum = cx.affine_binary(AffineOp::Add, sum, term);
            }
            sum
        })
    }

    pub(super) fn affine(
        &mut self,
        args: &[Value],
        build: impl FnOnce(&Context, &[AffineExpr]) -> AffineExpr,
    ) -> Value {
        self.least(args, |cx, dims| vec![build(cx, dims)])
    }

    /// The least of several expressions.
    pub(super) fn least(
        &mut self,
        args: &[Value],
        build: impl FnOnce(&Context, &[AffineExpr]) -> Vec<AffineExpr>,
    ) -> Value {
        let cx = self.b.cx();
        let dims: Vec<AffineExpr> = (0..args.len() as u32).map(|i| cx.affine_dim(i)).collect();
        let map = cx.affine_map(args.len() as u32, 0, &build(cx, &dims));
        IndexOp::value(&mut self.b, L, map, args)
    }

    pub(super) fn c(&mut self, constant: i64) -> Value {
        self.index(&[], constant)
    }

    /// A slice of extents `rows` by `cols` along dimensions `row` and `col` of the view.
    pub(super) fn slice(
        &mut self,
        view: Value,
        offsets: &[Value],
        (row, rows): (Option<i64>, &str),
        (col, cols): (Option<i64>, &str),
    ) -> Value {
        let cx = self.b.cx();
        let ty = cx.type_as::<ViewType>(self.b.body().ty(view)).unwrap();
        let (rows, cols) = (Poly::parse(rows).unwrap(), Poly::parse(cols).unwrap());
        let slice = cx.ext_type(SliceType { space: ty.space.clone(), elem: ty.elem, rows, cols });
        SliceOp::value(&mut self.b, L, view, offsets, row, col, None, slice)
    }

    pub(super) fn load(&mut self, slice: Value, ty: Type) -> Value {
        LoadOp::value(&mut self.b, L, slice, None, ty)
    }

    pub(super) fn load_padded(&mut self, slice: Value, pad: f32, ty: Type) -> Value {
        let pad = self.b.cx().f32_attr(pad);
        LoadOp::value(&mut self.b, L, slice, Some(pad), ty)
    }

    pub(super) fn store(&mut self, tile: Value, slice: Value) {
        StoreOp::build(&mut self.b, L, tile, slice);
    }

    pub(super) fn fill(&mut self, value: f32, ty: Type) -> Value {
        let value = self.b.cx().f32_attr(value);
        FillOp::value(&mut self.b, L, value, ty)
    }

    pub(super) fn unary(&mut self, kind: UnaryKind, x: Value) -> Value {
        UnaryOp::value(&mut self.b, L, kind, x)
    }

    pub(super) fn binary(&mut self, kind: BinaryKind, x: Value, y: Value) -> Value {
        BinaryOp::value(&mut self.b, L, kind, x, y)
    }

    pub(super) fn reduce(&mut self, kind: Combiner, axis: Axis, x: Value) -> Value {
        ReduceOp::value(&mut self.b, L, kind, axis, x)
    }

    pub(super) fn group_reduce(&mut self, kind: Combiner, axis: Axis, x: Value) -> Value {
        let cx = self.b.cx();
        let state = ReduceOp::state(&self.b, L, kind, axis, x).prop(cx.ident("scope"), cx.string_attr("group"));
        let op = self.b.create(state);
        self.b.body().result(op, 0)
    }

    pub(super) fn broadcast(&mut self, x: Value, like: Value) -> Value {
        BroadcastOp::value(&mut self.b, L, x, like)
    }

    pub(super) fn contract(&mut self, a: Value, b: Value, acc: Value) -> Value {
        ContractOp::value(&mut self.b, L, a, b, acc)
    }

    pub(super) fn alloc(&mut self, space: &str, dims: &str, owner: Scope) -> Value {
        let ty = self.b.cx().ext_type(ViewType::new(space, Type::F32, polys(dims)));
        AllocOp::value(&mut self.b, L, owner, ty)
    }

    pub(super) fn async_copy(&mut self, from: Value, to: Value, zeros: bool) {
        AsyncCopyOp::build(&mut self.b, L, from, to, zeros);
        AsyncCommitOp::build(&mut self.b, L);
    }

    pub(super) fn async_wait(&mut self, pending: i64) {
        AsyncWaitOp::build(&mut self.b, L, pending);
    }

    pub(super) fn sync(&mut self) {
        SyncOp::build(&mut self.b, L);
    }

    /// A loop; `build` gets the index and the carried values and returns those of the next trip.
    pub(super) fn for_loop(
        &mut self,
        lo: Value,
        hi: Value,
        inits: &[Value],
        build: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let types: Vec<Type> = inits.iter().map(|v| self.b.body().ty(*v)).collect();
        let op = ForOp::build(&mut self.b, L, lo, hi, inits, None);
        let region = self.b.body().regions(op).next().unwrap();
        let mut args = vec![(Type::INDEX, L)];
        args.extend(types.iter().map(|t| (*t, L)));
        let block = self.b.create_block(region, &args);
        self.b.set_to_end(block);
        let args = self.b.body().block_args(block).to_vec();
        let next = build(self, args[0], &args[1..]);
        YieldOp::build(&mut self.b, L, &next);
        self.b.set_after(op);
        self.b.body().results(op).collect()
    }
}
