//! Pools that do more than a kind of [`Op::Pool`], and normalisation by near channels.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::build::{Joined, PadKind, Scalars, zero};
use sutura_ir::Value;

use super::super::convert::{Importer, Made, fail, windows, wrong};
use super::super::error::{Reason, unsupported};
use super::super::op::{Op, Param, Pool};
use super::super::reader::NodeReader;
use super::super::window::{Padding, Window};
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family =
    &[("LRN", lrn), ("LpPool", lp_pool), ("MaxPool", max_pool), ("MaxUnpool", max_unpool)];

/// The root of the sum of powers of each window.
#[derive(Debug)]
struct LpPool<'m> {
    x: &'m str,
    p: i64,
    window: Window,
    ceil: bool,
}

fn lp_pool<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let p = match r.interface.since {
        // It was a float once.
        ..2 => match r.float("p")? {
            p if p.fract() == 0.0 => p as i64,
            p => return Err(unsupported(format!("has `p` {p}, which is no integer"))),
        },
        _ => r.int("p")?,
    };
    if p < 1 {
        return Err(format!("attribute `p` is {p}, it must be at least 1").into());
    }
    Ok(Conversion::op(LpPool { x: r.input(0)?, p, window: Window::read(r, None)?, ceil: r.flag("ceil_mode")? }))
}

impl<'m> Convert<'m> for LpPool<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, p) = (importer.value(self.x)?, self.p);
        let elem = importer.g.elem(x);
        let window = windows::window(&self.window, self.ceil)?;
        let sum = importer.g.sum_pool(x, &window, |s, x| {
            let x = s.abs(x);
            match p {
                1 => x,
                2 => s.mul(x, x),
                _ => power(s, x, p as f64),
            }
        })?;
        Ok(vec![importer.g.elementwise(&[sum], elem, |s, args| {
            let root = match p {
                1 => args[0],
                2 => s.math("math.sqrt", args[0]),
                _ => power(s, args[0], 1.0 / p as f64),
            };
            s.cast(root, elem)
        })?])
    }
}

fn power(s: &mut Scalars<'_, '_>, x: Value, exponent: f64) -> Value {
    let ty = s.ty(x);
    let exponent = s.number(exponent, ty);
    s.op("math.powf", &[x, exponent], ty)
}

/// `x / (bias + alpha / size * sum of squares of near channels) ^ beta`.
#[derive(Debug)]
struct Lrn<'m> {
    x: &'m str,
    size: i64,
    alpha: f32,
    beta: f32,
    bias: f32,
}

fn lrn<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let size = r.int("size")?;
    if size < 1 {
        return Err(format!("attribute `size` is {size}, it must be at least 1").into());
    }
    let (alpha, beta, bias) = (r.float("alpha")?, r.float("beta")?, r.float("bias")?);
    Ok(Conversion::op(Lrn { x: r.input(0)?, size, alpha, beta, bias }))
}

impl<'m> Convert<'m> for Lrn<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let elem = importer.g.elem(x);
        let wide = accumulator_type(importer.cx(), elem);
        let squares = importer.g.sum_of_near_squares(x, self.size)?;
        let scale = f64::from(self.alpha) / self.size as f64;
        Ok(vec![importer.g.elementwise(&[x, squares], elem, |s, args| {
            let (scale, bias) = (s.number(scale, wide), s.number(self.bias.into(), wide));
            let scaled = s.mul(args[1], scale);
            let base = s.add(bias, scaled);
            let divisor = power(s, base, self.beta.into());
            let x = s.cast(args[0], wide);
            let y = s.div(x, divisor);
            s.cast(y, elem)
        })?])
    }
}

/// The largest element of each window, and where it lies.
#[derive(Debug)]
struct MaxPool<'m> {
    x: &'m str,
    window: Window,
    ceil: bool,
    columns: bool,
}

fn max_pool<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (x, window, ceil) = (r.input(0)?, Window::read(r, None)?, r.flag("ceil_mode")?);
    let columns = r.flag("storage_order")?;
    if !r.output_used(1) {
        return Ok(Op::Pool { x, function: Pool::Max, window, ceil });
    }
    Ok(Conversion::op(MaxPool { x, window, ceil, columns }))
}

impl<'m> Convert<'m> for MaxPool<'m> {
    fn results(&self) -> usize {
        2
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, window) = (importer.value(self.x)?, windows::window(&self.window, self.ceil)?);
        Ok(importer.g.max_pool_with_places(x, &window, self.columns)?)
    }
}

/// Elements at the places where a pool found them, and 0 elsewhere.
#[derive(Debug)]
struct MaxUnpool<'m> {
    x: &'m str,
    places: &'m str,
    sizes: Option<Param<'m, Vec<i64>>>,
    window: Window,
}

fn max_unpool<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let window = Window::read(r, None)?;
    if window.dilations.iter().any(|dilation| *dilation != 1) {
        return Err(unsupported("has dilations"));
    }
    let (x, places, sizes) = (r.input(0)?, r.input(1)?, r.ints_param("output_shape")?);
    Ok(Conversion::op(MaxUnpool { x, places, sizes, window }))
}

impl<'m> Convert<'m> for MaxUnpool<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, places) = (importer.value(self.x)?, importer.value(self.places)?);
        let elem = importer.g.elem(x);
        let Some(shape) = importer.g.shape(x).into_iter().collect::<Option<Vec<Poly>>>() else {
            return fail("has a size that depends on data");
        };
        let rank = shape.len();
        if importer.g.rank(places) != rank || rank < 3 {
            return wrong(format!("takes elements of rank {rank} and places of rank {}", importer.g.rank(places)));
        }
        for (d, size) in importer.g.shape(places).into_iter().enumerate() {
            importer
                .g
                .unify(&Some(shape[d].clone()), &size, || format!("dimension {d} of the elements and the places"))?;
        }
        let pooled = pooled(&shape, &self.window)?;
        importer.not_negative(&pooled.iter().cloned().map(Some).collect(), "size")?;
        let (count, all) = (Poly::product(&shape), Poly::product(&pooled));
        let number = zero(importer.cx(), elem);
        let nothing = importer.g.generate(&[Some(all)], elem, |s| s.constant(number, elem))?;
        let flat = [Some(count)];
        let (updates, places) = (importer.g.reshape_to(x, &flat)?, importer.g.reshape_to(places, &flat)?);
        let filled = importer.g.scatter((nothing, places, updates), Some(0), Joined::Replace)?;
        let made = importer.g.reshape_to(filled, &pooled.iter().cloned().map(Some).collect::<Vec<_>>())?;
        let Some(sizes) = &self.sizes else { return Ok(vec![made]) };
        let sizes = importer.stated_or_any(sizes, |stated| Some(stated.to_vec()))?;
        if sizes.len() != rank {
            return wrong(format!("has an `output_shape` of {} sizes for {rank} dims", sizes.len()));
        }
        let after: Vec<Poly> = sizes.iter().zip(&pooled).map(|(size, own)| size.sub(own)).collect();
        Ok(vec![importer.g.pad(made, &vec![Poly::default(); rank], &after, PadKind::Constant(number))?])
    }
}

/// The sizes that were pooled, if no element was left out.
fn pooled(shape: &[Poly], window: &Window) -> Made<Vec<Poly>> {
    if window.kernel.len() + 2 != shape.len() {
        return wrong(format!("has a window of {} dims for a tensor of rank {}", window.kernel.len(), shape.len()));
    }
    let Padding::Explicit { before, after } = &window.padding else { return fail("has `auto_pad`") };
    let number = |n: u64| i64::try_from(n).ok().filter(|n| *n < 1 << 31);
    let mut sizes = shape[..2].to_vec();
    for d in 0..window.kernel.len() {
        let numbers = [window.kernel[d], window.strides[d], before[d], after[d]].map(number);
        let [Some(kernel), Some(stride), Some(before), Some(after)] = numbers else {
            return fail("has a window too large for any tensor");
        };
        let rest = shape[2 + d].sub(&1.into()).scale(stride);
        sizes.push(rest.add(&(kernel - before - after).into()));
    }
    Ok(sizes)
}
