//! Which ops are 3x3 convolutions, and what becomes of them.

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::{Facts, Poly};
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder};
use sutura_dialects::graph::{Combiner, ComputeForm, ComputeOp, IteratorKind, ShapeEnv, SymShape, maps, needless_oob};
use sutura_ir::affine::{AffineExpr, AffineOp};
use sutura_ir::registry::constant_of;
use sutura_ir::{Attr, Context, Loc, Op, OpRef, Rewriter, Type, Value};

use super::transforms::{TILE, filter, input, output};

/// Channels and features from which on it pays.
const LEAST: i64 = 16;

/// What a dimension of a tensor runs along.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Along {
    /// A dim of images, the so-manieth.
    Batch(usize),
    /// Channels, or features of a result.
    Channel,
    /// A dim that moves the window, with the place where it begins: less the padding.
    Window(usize, i64),
}

/// A convolution with a window of 3x3.
pub(super) struct Convolution {
    data: Value,
    /// What the dimensions of the data and of the result run along.
    reads: Vec<Along>,
    makes: Vec<Along>,
    /// Sizes of the dims of images, and of the result along those that move the window.
    batch: SymShape,
    places: [Option<Poly>; 2],
    shape: SymShape,
    pub(super) channels: i64,
    pub(super) features: i64,
    /// Weights for each of the 16 places: rows of channels, columns of features.
    weights: Vec<Attr>,
}

/// Iterators by the part that they play.
struct Parts {
    channel: usize,
    feature: usize,
    /// Those of the result, and of the window.
    moved: [usize; 2],
    window: [usize; 2],
    batch: Vec<usize>,
}

impl Convolution {
    /// Nothing for an op that is none; why not, for one that stays.
    pub(super) fn of(form: &ComputeForm<'_>) -> Option<Result<Self, &'static str>> {
        let (cx, body) = (form.op.cx, form.op.body);
        if form.input_maps.len() != 2 || !sums_products(form) {
            return None;
        }
        let constant = |input: &usize| constant_of(body, cx, form.op.operand(*input)).is_some();
        let weights = (0..2).rev().find(constant)?;
        let data = 1 - weights;
        let parts = Parts::of(form, data, weights)?;
        if form.oob[weights].is_some() || form.oob[data].is_some_and(|pad| pad != cx.float_attr(0.0, Type::F32)) {
            return None;
        }
        Some(Self::with(form, (data, weights), &parts))
    }

    fn with(form: &ComputeForm<'_>, (data, weights): (usize, usize), parts: &Parts) -> Result<Self, &'static str> {
        let (cx, body, extents) = (form.op.cx, form.op.body, form.extents());
        let size = |iterator: usize| extents[iterator].as_ref().and_then(Poly::as_const);
        let (Some(channels), Some(features)) = (size(parts.channel), size(parts.feature)) else {
            return Err("its number of channels or features is not known");
        };
        if channels < LEAST || features < LEAST {
            return Err("it has less than 16 channels or features, and the sums before and behind would take longer");
        }
        let along = |exprs: &[AffineExpr]| exprs.iter().map(|e| parts.along(form, *e)).collect::<Option<Vec<_>>>();
        let reads = along(cx.map_results(form.input_maps[data])).ok_or("it reads in another way than windows do")?;
        let makes = along(cx.map_results(form.result_maps[0])).ok_or("it writes in another way than windows do")?;
        let (value, index) = (form.op.operand(weights), cx.map_results(form.input_maps[weights]));
        let weights =
            turned(cx, constant_of(body, cx, value).expect("checked before"), index, parts, (channels, features));
        let shape = symbolic_shape(cx, body.ty(form.op.result(0))).ok_or("its sizes are not known")?;
        Ok(Self {
            data: form.op.operand(data),
            reads,
            makes,
            batch: parts.batch.iter().map(|i| extents[*i].clone()).collect(),
            places: parts.moved.map(|i| extents[i].clone()),
            shape,
            channels,
            features,
            weights: weights.ok_or("its weights cannot be read")?,
        })
    }

    /// Puts the transforms and the products in the place of the op.
    pub(super) fn apply(self, rw: &mut Rewriter<'_>, op: Op) {
        rw.set_before(op);
        let loc = rw.body().loc(op);
        let read = self.read(&mut builder(rw, loc));
        drop_needless(rw, read);
        let read: Vec<Value> = rw.body().results(read).collect();
        let mut sums = Vec::new();
        for (read, weights) in read.into_iter().zip(&self.weights) {
            let product = self.multiply(&mut builder(rw, loc), read, *weights);
            sums.push(rw.body().result(product, 0));
        }
        let made = self.made(&mut builder(rw, loc), &sums);
        drop_needless(rw, made);
        let (old, new) = (rw.body().result(op, 0), rw.body().result(made, 0));
        rw.replace_all_uses(old, new);
        rw.erase_op(op);
    }

    /// Sizes of the tensors between: images, tiles, and channels or features.
    fn tiles(&self, last: i64) -> SymShape {
        let tiles = self.places.iter().map(|size| size.as_ref().map(|size| size.ceildiv(TILE)));
        self.batch.iter().cloned().chain(tiles).chain([Some(last.into())]).collect()
    }

    /// Of what 4x4 places cover, 16 tensors. Iterators are those of images, of tiles, and of channels.
    fn read(&self, g: &mut GraphBuilder<'_, '_>) -> Op {
        let (cx, images) = (g.cx(), self.batch.len());
        let shape = self.tiles(self.channels);
        let dims: Vec<AffineExpr> = (0..shape.len()).map(|i| cx.affine_dim(i as u32)).collect();
        let zero = cx.float_attr(0.0, Type::F32);
        let place = |at: [i64; 2]| {
            let index = self.reads.iter().map(|along| match *along {
                Along::Batch(number) => dims[number],
                Along::Channel => dims[images + 2],
                Along::Window(number, start) => {
                    let first = cx.affine_binary(AffineOp::Mul, dims[images + number], cx.affine_const(TILE));
                    cx.affine_binary(AffineOp::Add, first, cx.affine_const(start + at[number]))
                }
            });
            ComputeInput { value: self.data, index: index.collect(), oob: Some(zero) }
        };
        let inputs: Vec<ComputeInput> = (0..4).flat_map(|a| (0..4).map(move |b| [a, b])).map(place).collect();
        let result = ComputeResult { shape: shape.clone(), elem: Type::F32, index: dims.clone(), combiner: None };
        g.compute(&vec![IteratorKind::Parallel; shape.len()], inputs, vec![result; 16], input)
    }

    /// A product of numbers of tiles and of turned weights.
    fn multiply(&self, g: &mut GraphBuilder<'_, '_>, read: Value, weights: Attr) -> Op {
        let cx = g.cx();
        let weights = g.constant(weights);
        let shape = self.tiles(self.features);
        let rank = shape.len();
        let dim = |i: usize| cx.affine_dim(i as u32);
        let (feature, channel) = (rank - 1, rank);
        let tile = |last: usize| (0..rank - 1).chain([last]).map(dim).collect::<Vec<_>>();
        let inputs = vec![
            ComputeInput { value: read, index: tile(channel), oob: None },
            ComputeInput { value: weights, index: vec![dim(channel), dim(feature)], oob: None },
        ];
        let result = ComputeResult { shape, elem: Type::F32, index: tile(feature), combiner: Some(Combiner::Add) };
        let mut kinds = vec![IteratorKind::Parallel; rank];
        kinds.push(IteratorKind::Reduce);
        g.compute(&kinds, inputs, vec![result], |s, args| vec![s.mul(args[0], args[1])])
    }

    /// The results of 16 sums, each where its tile and its place in that are.
    fn made(&self, g: &mut GraphBuilder<'_, '_>, sums: &[Value]) -> Op {
        let cx = g.cx();
        let place =
            |wanted: Along| self.makes.iter().position(|along| *along == wanted).map(|i| cx.affine_dim(i as u32));
        let moved = |number: usize| self.makes.iter().position(|a| matches!(a, Along::Window(n, _) if *n == number));
        let moved = [0, 1].map(|number| moved(number).expect("a result has both dims"));
        let batch = (0..self.batch.len()).map(|number| place(Along::Batch(number)).expect("a result has all images"));
        let tile =
            moved.map(|dim| cx.affine_binary(AffineOp::FloorDiv, cx.affine_dim(dim as u32), cx.affine_const(TILE)));
        let feature = place(Along::Channel).expect("a result has features");
        let index: Vec<AffineExpr> = batch.chain(tile).chain([feature]).collect();
        let zero = cx.float_attr(0.0, Type::F32);
        let read = |value: &Value| ComputeInput { value: *value, index: index.clone(), oob: Some(zero) };
        let own = (0..self.makes.len()).map(|i| cx.affine_dim(i as u32)).collect();
        let result = ComputeResult { shape: self.shape.clone(), elem: Type::F32, index: own, combiner: None };
        let kinds = vec![IteratorKind::Parallel; self.makes.len()];
        g.compute(&kinds, sums.iter().map(read).collect(), vec![result], |s, m| vec![output(s, m, moved)])
    }
}

fn builder<'g, 'b>(rw: &'g mut Rewriter<'b>, loc: Loc) -> GraphBuilder<'g, 'b> {
    GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc)
}

/// Takes away what inputs would read outside, where they never do.
fn drop_needless(rw: &mut Rewriter<'_>, op: Op) {
    let cx = rw.cx();
    let view = OpRef::new(cx, rw.body(), op);
    let needless = needless_oob(view);
    let mut oob = view.as_::<ComputeOp<'_>>().map(|compute| compute.oob().to_vec()).unwrap_or_default();
    needless.into_iter().for_each(|input| oob[input] = Attr::UNIT);
    let left = oob.iter().any(|value| *value != Attr::UNIT);
    rw.set_prop(op, "oob", left.then(|| cx.array_attr(&oob)));
}

impl Parts {
    fn of(form: &ComputeForm<'_>, data: usize, weights: usize) -> Option<Self> {
        let (cx, extents) = (form.op.cx, form.extents());
        let plain = |map| cx.map_results(map).iter().map(|e| maps::plain_dim(cx, *e)).collect::<Vec<_>>();
        let (own, made) = (plain(form.input_maps[weights]), plain(form.result_maps[0]));
        let three = |i: usize| extents[i].as_ref().and_then(Poly::as_const) == Some(3);
        let reduce = |i: usize| form.iterators[i] == IteratorKind::Reduce;
        let (mut moved, mut window, mut channel, mut batch) = (vec![], vec![], None, vec![]);
        for expr in cx.map_results(form.input_maps[data]) {
            let linear = maps::linear(cx, *expr, form.iterators.len()).filter(|l| l.symbols.is_empty())?;
            let along: Vec<usize> = (0..linear.factors.len()).filter(|i| linear.factors[*i] != 0).collect();
            let ones = along.iter().all(|i| linear.factors[*i] == 1);
            match along[..] {
                [i] if ones && linear.constant == 0 && reduce(i) && channel.is_none() => channel = Some(i),
                [i] if ones && linear.constant == 0 && !reduce(i) => batch.push(i),
                [a, b] if ones && reduce(a) != reduce(b) => {
                    let (to, place) = if reduce(a) { (b, a) } else { (a, b) };
                    moved.push(to);
                    window.push(place);
                }
                _ => return None,
            }
        }
        let channel = channel?;
        let (moved, window) = (<[usize; 2]>::try_from(moved).ok()?, <[usize; 2]>::try_from(window).ok()?);
        let all = |list: &[usize], of: &[Option<usize>]| list.iter().all(|i| of.contains(&Some(*i)));
        let feature = own.iter().flatten().copied().find(|i| !reduce(*i))?;
        let inside = all(&[channel, feature, window[0], window[1]], &own) && own.len() == 4;
        let result = all(&batch, &made) && all(&[feature, moved[0], moved[1]], &made) && made.len() == batch.len() + 3;
        let summed = form.of_kind(IteratorKind::Reduce).count() == 3 && window.iter().all(|i| three(*i));
        (inside && result && summed).then_some(Self { channel, feature, moved, window, batch })
    }

    /// What an index of the data or of the result runs along.
    fn along(&self, form: &ComputeForm<'_>, expr: AffineExpr) -> Option<Along> {
        let linear = maps::linear(form.op.cx, expr, form.iterators.len())?;
        let has = |i: &usize| linear.factors[*i] != 0;
        if let Some(number) = self.moved.iter().position(has) {
            return Some(Along::Window(number, linear.constant));
        }
        if has(&self.channel) || has(&self.feature) {
            return Some(Along::Channel);
        }
        self.batch.iter().position(has).map(Along::Batch)
    }
}

/// True for a sum of products of f32.
pub(crate) fn sums_products(form: &ComputeForm<'_>) -> bool {
    let cx = form.op.cx;
    let ops: Vec<OpRef<'_>> = form.body.ops().collect();
    let [product, end] = ops[..] else { return false };
    let args = form.body.args();
    let multiplies = product.name_str() == "arith.mulf"
        && args.len() == 2
        && args.iter().all(|arg| product.operands().any(|operand| operand == *arg));
    let tensors = form.inputs().chain(form.results());
    multiplies
        && form.combiners == [Combiner::Add]
        && end.operand(0) == product.result(0)
        && tensors.into_iter().all(|value| cx.element_type(form.op.ty(value)) == Type::F32)
}

/// Weights for each of the 16 places, rows of channels and columns of features.
fn turned(
    cx: &Context,
    constant: Attr,
    index: &[AffineExpr],
    parts: &Parts,
    (channels, features): (i64, i64),
) -> Option<Vec<Attr>> {
    let value = sutura_interp::constant::constant(cx, constant).ok()?;
    let data = value.tensor().ok()?.data().clone();
    let dims: Vec<usize> = index.iter().filter_map(|e| maps::plain_dim(cx, *e)).collect();
    let size = |i: usize| match i {
        _ if i == parts.channel => channels,
        _ if i == parts.feature => features,
        _ => 3,
    };
    let stride = |i: usize| dims.iter().rev().take_while(|d| **d != i).map(|d| size(*d)).product::<i64>();
    let [row, column, channel, feature] = [parts.window[0], parts.window[1], parts.channel, parts.feature].map(stride);
    let number = |at: i64| Some(f64::from(f32::from_bits(data.get(usize::try_from(at).ok()?)?.bits() as u32)));
    let mut words = vec![Vec::new(); 16];
    for c in 0..channels {
        for f in 0..features {
            let mut g = [[0f64; 3]; 3];
            for (i, line) in g.iter_mut().enumerate() {
                for (j, weight) in line.iter_mut().enumerate() {
                    *weight = number(c * channel + f * feature + i as i64 * row + j as i64 * column)?;
                }
            }
            for (list, weight) in words.iter_mut().zip(filter(&g).as_flattened()) {
                list.push(u64::from((*weight as f32).to_bits()));
            }
        }
    }
    let ty = cx.tensor_type(&[channels, features], Type::F32, None);
    words.iter().map(|words| cx.dense_attr(ty, words)).collect()
}
