//! Images read at the points of a grid, and grids.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Scalars};
use sutura_dialects::graph::{Combiner, IteratorKind};
use sutura_ir::Value;

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::Reason;
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::sampling::{Beyond, Sampler, Taps, rounded};
use super::{Conversion, Convert, Family, by_data};

pub(super) const OPERATORS: Family = &[("AffineGrid", affine_grid), ("GridSample", grid_sample)];

/// Elements of images at the points of a grid, each from -1 to 1 along each spatial dim, the last one first.
#[derive(Debug)]
struct GridSample<'m> {
    x: &'m str,
    grid: &'m str,
    taps: Taps,
    beyond: Beyond,
    corners: bool,
}

fn grid_sample<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let corners = r.flag("align_corners")?;
    let taps = match r.string("mode")?.unwrap_or("linear") {
        "nearest" => Taps::Nearest,
        "linear" | "bilinear" => Taps::Linear,
        "cubic" | "bicubic" => Taps::Cubic,
        other => return Err(format!("attribute `mode` is '{other}', it must be nearest, linear or cubic").into()),
    };
    let beyond = match r.string("padding_mode")?.unwrap_or("zeros") {
        "zeros" => Beyond::Zeros,
        "border" => Beyond::Border { corners },
        "reflection" => Beyond::Reflection { corners },
        other => {
            return Err(format!("attribute `padding_mode` is '{other}', it must be zeros, border or reflection").into());
        }
    };
    Ok(Conversion::op(GridSample { x: r.input(0)?, grid: r.input(1)?, taps, beyond, corners }))
}

impl<'m> Convert<'m> for GridSample<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, grid) = (importer.value(self.x)?, importer.value(self.grid)?);
        let (shape, points, elem) = (importer.g.shape(x), importer.g.shape(grid), importer.g.elem(x));
        let rank = shape.len();
        if rank < 3 || points.len() != rank {
            return wrong(format!("reads a tensor of rank {rank} at a grid of rank {}", points.len()));
        }
        let spatial = rank - 2;
        let (dims, count) = (points[rank - 1].clone(), Some(Poly::constant(spatial as i64)));
        importer.g.unify(&dims, &count, || "the last dimension of the grid and the number of spatial dims".into())?;
        importer.g.unify(&shape[0], &points[0], || "images and grids".into())?;
        let Some(sizes) = shape[2..].iter().cloned().collect::<Option<Vec<Poly>>>() else {
            return fail("reads a tensor whose size depends on data");
        };
        let place = accumulator_type(importer.cx(), importer.g.elem(grid));
        let mut at = Vec::new();
        for (d, size) in sizes.iter().enumerate() {
            let mut index = importer.g.dims(0..rank - 1);
            index.push(importer.cx().affine_const((spatial - 1 - d) as i64));
            let inputs = vec![ComputeInput { value: grid, index, oob: None }];
            let index = importer.g.dims(0..rank - 1);
            let result = ComputeResult { shape: points[..rank - 1].to_vec(), elem: place, index, combiner: None };
            let kinds = vec![IteratorKind::Parallel; rank - 1];
            let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
                let n = s.cast(args[0], place);
                vec![self.place(s, n, size)]
            });
            at.push(importer.g.b.body().result(op, 0));
        }
        let sampler = Sampler { taps: self.taps, beyond: self.beyond, join: Combiner::Add };
        let made = sampler.read(importer, x, &at, None)?;
        let order: Vec<usize> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
        let made = importer.g.transpose(made, &order)?;
        Ok(vec![rounded(importer, made, elem)?])
    }
}

impl GridSample<'_> {
    /// The place that a number from -1 to 1 is in a dim.
    fn place(&self, s: &mut Scalars<'_, '_>, n: Value, size: &Poly) -> Value {
        let ty = s.ty(n);
        let size = s.size(size);
        let (size, one, two) = (s.cast(size, ty), s.number(1.0, ty), s.number(2.0, ty));
        let from_zero = s.add(n, one);
        if self.corners {
            let last = s.sub(size, one);
            let part = s.div(from_zero, two);
            return s.mul(part, last);
        }
        let twice = s.mul(from_zero, size);
        let twice = s.sub(twice, one);
        s.div(twice, two)
    }
}

/// The points that matrices make of a regular grid, the last spatial dim first.
#[derive(Debug)]
struct AffineGrid<'m> {
    theta: &'m str,
    sizes: Param<'m, Vec<i64>>,
    corners: bool,
}

fn affine_grid<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (theta, sizes) = (r.input(0)?, r.required_ints_param("size")?);
    Ok(Conversion::op(AffineGrid { theta, sizes, corners: r.flag("align_corners")? }))
}

impl<'m> Convert<'m> for AffineGrid<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let theta = importer.value(self.theta)?;
        let sizes = self.sizes(importer)?;
        importer.not_negative(&sizes.iter().cloned().map(Some).collect(), "size")?;
        if !(4..=5).contains(&sizes.len()) {
            return wrong(format!("has {} sizes, it must have 4 or 5", sizes.len()));
        }
        let (matrices, elem) = (importer.g.shape(theta), importer.g.elem(theta));
        let spatial = sizes.len() - 2;
        let wanted = [sizes[0].clone(), (spatial as i64).into(), (spatial as i64 + 1).into()];
        if matrices.len() != 3 {
            return wrong(format!("takes matrices, not a tensor of rank {}", matrices.len()));
        }
        for (d, size) in wanted.into_iter().enumerate() {
            importer
                .g
                .unify(&matrices[d], &Some(size), || format!("dimension {d} of the matrices and what the sizes say"))?;
        }
        let wide = accumulator_type(importer.cx(), elem);
        // Iterators: images, spatial dims, rows of the matrix.
        let row = spatial + 1;
        let input = |column: usize| {
            let index = vec![importer.g.dim(0), importer.g.dim(row), importer.cx().affine_const(column as i64)];
            ComputeInput { value: theta, index, oob: None }
        };
        let inputs: Vec<ComputeInput> = (0..=spatial).map(input).collect();
        let mut shape: Vec<Option<Poly>> = vec![Some(sizes[0].clone())];
        shape.extend(sizes[2..].iter().cloned().map(Some));
        shape.push(Some((spatial as i64).into()));
        let index = importer.g.dims(0..row + 1);
        let result = ComputeResult { shape, elem, index, combiner: None };
        let op = importer.g.compute(&vec![IteratorKind::Parallel; row + 1], inputs, vec![result], |s, args| {
            let mut sum = s.cast(args[spatial], wide);
            for (d, size) in sizes[2..].iter().enumerate() {
                let factor = s.cast(args[spatial - 1 - d], wide);
                let (i, size) = (s.index(1 + d), s.size(size));
                let (i, size) = (s.cast(i, wide), s.cast(size, wide));
                let at = self.place(s, i, size);
                let product = s.mul(factor, at);
                sum = s.add(sum, product);
            }
            vec![s.cast(sum, elem)]
        });
        Ok(vec![importer.g.b.body().result(op, 0)])
    }
}

impl<'m> AffineGrid<'m> {
    /// The sizes of the images. Where they are data those that the grid has are what the model states of it; nothing depends on
    /// the number of channels.
    fn sizes(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Poly>> {
        let (true, Param::Value(name), Some(stated)) = (importer.is_data(&self.sizes)?, &self.sizes, importer.stated())
        else {
            return importer.all_sizes(&self.sizes);
        };
        let list = importer.list(name)?;
        let length = importer.g.shape(list)[0].as_ref().and_then(Poly::as_const);
        let Some((_, numbers)) = stated.split_last().filter(|_| length == Some(stated.len() as i64)) else {
            return importer.all_sizes(&self.sizes);
        };
        let places: Vec<i64> = (0..=numbers.len() as i64).filter(|place| *place != 1).collect();
        let places = importer.g.int_list(&places)?;
        let own = importer.g.gather(list, places, 0);
        by_data::check_elements(importer, own, &[numbers.to_vec()], &format!("`{name}`"))?;
        let mut sizes: Vec<Poly> = numbers.iter().map(|size| (*size).into()).collect();
        sizes.insert(1, 1.into());
        Ok(sizes)
    }
}

impl AffineGrid<'_> {
    /// Where element `i` of a dim lies from -1 to 1.
    fn place(&self, s: &mut Scalars<'_, '_>, i: Value, size: Value) -> Value {
        let ty = s.ty(i);
        let (one, two) = (s.number(1.0, ty), s.number(2.0, ty));
        let twice = s.mul(i, two);
        if self.corners {
            let last = s.sub(size, one);
            // Of a single element it is the first one.
            let divisor = s.max(last, one);
            let part = s.div(twice, divisor);
            return s.sub(part, one);
        }
        let middle = s.add(twice, one);
        let part = s.div(middle, size);
        s.sub(part, one)
    }
}
