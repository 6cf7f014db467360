//! Patches of images: convolution at shifted places, images of overlapping patches, and patches from the middle.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, PadKind, Scalars, zero};
use sutura_dialects::graph::{Combiner, IteratorKind, SymShape};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, windows, wrong};
use super::super::error::Reason;
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::super::window::Window;
use super::sampling::{Beyond, Sampler, Taps, rounded};
use super::{Conversion, Convert, Family, by_data};

pub(super) const OPERATORS: Family =
    &[("CenterCropPad", center_crop_pad), ("Col2Im", col2im), ("DeformConv", deform_conv)];

/// A tensor cut, or continued by zeros, to sizes, around its middle.
#[derive(Debug)]
struct CenterCropPad<'m> {
    x: &'m str,
    sizes: Param<'m, Vec<i64>>,
    axes: Option<Vec<i64>>,
}

fn center_crop_pad<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (x, sizes) = (r.input(0)?, r.required_ints_param("shape")?);
    Ok(Conversion::op(CenterCropPad { x, sizes, axes: r.optional_ints("axes") }))
}

impl<'m> Convert<'m> for CenterCropPad<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let (shape, elem) = (importer.g.shape(x), importer.g.elem(x));
        let axes = match &self.axes {
            Some(axes) => axes.iter().map(|axis| importer.g.axis(*axis, shape.len())).collect::<Result<Vec<_>, _>>()?,
            None => (0..shape.len()).collect(),
        };
        let of = |stated: &[i64]| -> Option<Vec<i64>> { axes.iter().map(|axis| stated.get(*axis).copied()).collect() };
        let sizes = importer.stated_or_any(&self.sizes, of)?;
        importer.not_negative(&sizes.iter().cloned().map(Some).collect(), "size")?;
        if axes.len() != sizes.len() || axes.iter().enumerate().any(|(i, axis)| axes[..i].contains(axis)) {
            return wrong(format!("has {} sizes for the axes {axes:?}", sizes.len()));
        }
        let (mut before, mut after) = (vec![Poly::default(); shape.len()], vec![Poly::default(); shape.len()]);
        for (axis, size) in axes.into_iter().zip(sizes) {
            let Some(own) = &shape[axis] else { return fail("cuts a dim whose size depends on data") };
            let none = Poly::default();
            // Half of what is too much is cut, half of what is missing is added before; an odd element is behind.
            let (more, less) = (size.sub(own).greater(&none), own.sub(&size).greater(&none));
            before[axis] = more.floordiv(2).sub(&less.floordiv(2));
            after[axis] = size.sub(own).sub(&before[axis]);
        }
        let number = zero(importer.cx(), elem);
        Ok(vec![importer.g.pad(x, &before, &after, PadKind::Constant(number))?])
    }
}

/// One spatial dim of a window, as numbers.
#[derive(Clone, Copy)]
struct Step {
    kernel: i64,
    stride: i64,
    dilation: i64,
    before: i64,
    after: i64,
}

fn steps(window: &Window) -> Made<Vec<Step>> {
    let window = windows::window(window, false)?;
    let sutura_dialects::graph::build::Padding::Explicit(before, after) = &window.padding else {
        return fail("has `auto_pad`");
    };
    let step = |d: usize| Step {
        kernel: window.kernel[d],
        stride: window.strides[d],
        dilation: window.dilations[d],
        before: before[d],
        after: after[d],
    };
    Ok((0..window.kernel.len()).map(step).collect())
}

impl Step {
    /// How many windows there are over so many elements.
    fn windows(self, size: &Poly) -> Poly {
        let span = self.dilation * (self.kernel - 1) + 1;
        size.add(&(self.before + self.after - span).into()).floordiv(self.stride).add(&1.into())
    }
}

/// The numbers of the elements of windows in `k`, row-major, each a number of one dim.
fn parts(s: &mut Scalars<'_, '_>, k: Value, steps: &[Step]) -> Vec<Value> {
    let kernels: Vec<Value> = steps.iter().map(|step| s.int(step.kernel, s.ty(k))).collect();
    digits(s, k, &kernels)
}

/// A number in parts, each below its size; the last one counts most often.
fn digits(s: &mut Scalars<'_, '_>, k: Value, sizes: &[Value]) -> Vec<Value> {
    let mut rest = k;
    let mut numbers = Vec::new();
    for size in sizes.iter().rev() {
        numbers.push(s.rem(rest, *size));
        rest = s.div(rest, *size);
    }
    numbers.reverse();
    numbers
}

/// Images that patches add up to: `[batch, channels * elements of a patch, patches]`.
#[derive(Debug)]
struct Col2Im<'m> {
    x: &'m str,
    image: Param<'m, Vec<i64>>,
    kernel: Param<'m, Vec<i64>>,
    /// With the kernel, where that is constant.
    window: Window,
}

fn col2im<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let kernel = r.required_ints_param("block_shape")?;
    let window = match &kernel {
        Param::Value(_) => Window::read(r, None)?,
        Param::Known(kernel) if kernel.is_empty() => return Err("has no spatial dims".into()),
        Param::Known(kernel) => Window::read(r, Some(&positive(kernel)?))?,
    };
    let (x, image) = (r.input(0)?, r.required_ints_param("image_shape")?);
    Ok(Conversion::op(Col2Im { x, image, kernel, window }))
}

fn positive(kernel: &[i64]) -> Result<Vec<u64>, String> {
    let positive = |n: &i64| u64::try_from(*n).ok().filter(|n| *n > 0);
    let kernel = kernel.iter().map(positive).collect::<Option<Vec<u64>>>();
    kernel.ok_or_else(|| "`block_shape` must be positive".to_owned())
}

/// Patches of an image.
struct Patches {
    /// The dims of a patch; those that data decide have kernels of 1 here.
    steps: Vec<Step>,
    /// A list of the kernels, where data decide them.
    kernels: Option<Value>,
    /// Sizes of the image.
    image: Vec<Poly>,
    /// How many elements a patch has.
    block: Poly,
}

impl<'m> Col2Im<'m> {
    /// How patches lie in an image of these sizes; those of data have as many elements as the channels leave that the model states.
    fn patches(&self, importer: &mut Importer<'m, '_, '_>, image: Vec<Poly>, rows: &Poly) -> Made<Patches> {
        let name = match &self.kernel {
            Param::Known(kernel) => {
                let block = Poly::constant(kernel.iter().product());
                return Ok(Patches { steps: steps(&self.window)?, kernels: None, image, block });
            }
            Param::Value(name) => *name,
        };
        let list = importer.list(name)?;
        let contents = importer.g.contents(list);
        let known: Option<Vec<i64>> = contents.and_then(|all| all.iter().map(|n| n.as_ref()?.as_const()).collect());
        if let Some(kernel) = known {
            let kernel = positive(&kernel).or_else(wrong)?;
            let window = self.window.with_kernel(&kernel).or_else(wrong)?;
            let block = Poly::constant(kernel.iter().map(|n| *n as i64).product());
            return Ok(Patches { steps: steps(&window)?, kernels: None, image, block });
        }
        let length = Some(Poly::constant(image.len() as i64));
        importer.g.unify(&importer.g.shape(list)[0].clone(), &length, || "dims of patches and of images".into())?;
        let stated = importer.stated().and_then(|stated| stated.get(1).copied()).filter(|channels| *channels > 0);
        let Some(channels) = stated else {
            return fail(format!(
                "has a `block_shape`, `{name}`, that is computed at run time; it must be a constant, or the model state the channels \
                 of the result"
            ));
        };
        let block = rows.floordiv(channels);
        let window = self.window.with_kernel(&vec![1; image.len()]).or_else(wrong)?;
        let kernels = importer.g.cast(list, Type::I64)?;
        Ok(Patches { steps: steps(&window)?, kernels: Some(kernels), image, block })
    }
}

impl<'m> Convert<'m> for Col2Im<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let image = importer.stated_or_any(&self.image, |stated| Some(stated.get(2..)?.to_vec()))?;
        importer.not_negative(&image.iter().cloned().map(Some).collect(), "size")?;
        let shape = importer.g.shape(x);
        let [Some(batch), Some(rows), Some(count)] = &shape[..] else {
            return match shape.len() {
                3 => fail("has sizes that depend on data"),
                rank => wrong(format!("takes patches from a tensor of rank {rank}, it must have 3")),
            };
        };
        let patches = self.patches(importer, image, rows)?;
        if patches.image.len() != patches.steps.len() {
            let (dims, of) = (patches.image.len(), patches.steps.len());
            return wrong(format!("makes images of {dims} dims from patches of {of} dims"));
        }
        let channels = match patches.block.as_const() {
            Some(block) => rows.floordiv(block),
            None => match importer.stated() {
                Some(stated) if stated.len() > 1 => stated[1].into(),
                _ => return fail("has patches of a size that is no number"),
            },
        };
        let whole = Some(channels.mul(&patches.block));
        importer
            .g
            .unify(&shape[1], &whole, || format!("rows and whole patches of {} elements", patches.block.brief()))?;
        match patches.kernels {
            Some(kernels) => patches.check(importer, kernels, count)?,
            None => {
                let counts: Vec<Poly> =
                    patches.steps.iter().zip(&patches.image).map(|(step, size)| step.windows(size)).collect();
                let all = Some(Poly::product(&counts));
                importer.g.unify(&shape[2], &all, || "patches and those that the image has".into())?;
            }
        }
        let planes = [batch.mul(&channels), count.mul(&patches.block)].map(Some);
        let planes = importer.g.reshape_to(x, &planes)?;
        let index = patches.table(importer, Type::I64);
        let counted = patches.table(importer, Type::I1);
        let elements = importer.g.gather(planes, index, 1);
        let made = sums(importer, elements, counted);
        let sizes: SymShape = [batch.clone(), channels].into_iter().chain(patches.image).map(Some).collect();
        Ok(vec![importer.g.reshape_to(made, &sizes)?])
    }
}

impl Patches {
    /// The size of a patch along each dim, and how many patches there are along it, as indices.
    fn numbers(&self, s: &mut Scalars<'_, '_>, kernels: &[Value]) -> Vec<[Value; 2]> {
        let one = s.int(1, Type::INDEX);
        let mut numbers = Vec::new();
        for (d, (step, size)) in self.steps.iter().zip(&self.image).enumerate() {
            let Some(kernel) = kernels.get(d) else {
                let (kernel, count) = (s.int(step.kernel, Type::INDEX), s.size(&step.windows(size)));
                numbers.push([kernel, count]);
                continue;
            };
            let kernel = s.cast(*kernel, Type::INDEX);
            // What is none is refused in the run, and must not be divided by.
            let kernel = s.max(kernel, one);
            let [stride, dilation, around] =
                [step.stride, step.dilation, step.before + step.after].map(|n| s.int(n, Type::INDEX));
            let (before_last, size) = (s.sub(kernel, one), s.size(size));
            let span = s.mul(before_last, dilation);
            let last = s.add(size, around);
            let last = s.sub(last, span);
            let last = s.sub(last, one);
            let steps = s.floor_div(last, stride);
            numbers.push([kernel, s.add(steps, one)]);
        }
        numbers
    }

    /// In every run, that the kernels are such as a patch has elements, and that there are so many patches.
    fn check(&self, importer: &mut Importer<'_, '_, '_>, kernels: Value, count: &Poly) -> Made<()> {
        let all: Vec<(Value, usize)> = (0..self.image.len()).map(|at| (kernels, at)).collect();
        by_data::never(importer, &all, "a `block_shape` that does not fit what the model states", |s, kernels| {
            let (zero, one) = (s.int(0, Type::I64), s.int(1, Type::INDEX));
            let (mut elements, mut patches, mut wrong) = (one, one, s.int(0, Type::I1));
            for (given, [kernel, windows]) in kernels.iter().zip(self.numbers(s, kernels)) {
                let none = s.compare(Comparison::LessOrEqual, *given, zero);
                wrong = s.bits("arith.ori", wrong, none);
                elements = s.mul(elements, kernel);
                patches = s.mul(patches, windows);
            }
            for (found, wanted) in [(elements, &self.block), (patches, count)] {
                let wanted = s.size(wanted);
                let differs = s.compare(Comparison::NotEqual, found, wanted);
                wrong = s.bits("arith.ori", wrong, differs);
            }
            wrong
        })
    }

    /// For each element of an image and each one of a patch: where it lies among patches, or whether there is one.
    fn table(&self, importer: &mut Importer<'_, '_, '_>, elem: Type) -> Value {
        let rank = self.image.len();
        let shape: SymShape = self.image.iter().cloned().chain([self.block.clone()]).map(Some).collect();
        let input = |at: usize| {
            let index = vec![importer.cx().affine_const(at as i64)];
            self.kernels.map(|value| ComputeInput { value, index, oob: None })
        };
        let inputs = (0..rank).filter_map(input).collect();
        let result = ComputeResult { shape, elem, index: importer.g.dims(0..rank + 1), combiner: None };
        let kinds = vec![IteratorKind::Parallel; rank + 1];
        let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
            let k = s.index(rank);
            let sizes = self.numbers(s, args);
            let kernels: Vec<Value> = sizes.iter().map(|[kernel, _]| *kernel).collect();
            let numbers = digits(s, k, &kernels);
            let (zero, mut flat, mut inside) = (s.int(0, Type::INDEX), k, s.int(1, Type::I1));
            for (d, (step, [_, count])) in self.steps.iter().zip(sizes).enumerate() {
                let [stride, dilation, before] =
                    [step.stride, step.dilation, step.before].map(|n| s.int(n, Type::INDEX));
                let (y, back) = (s.index(d), s.mul(numbers[d], dilation));
                let at = s.add(y, before);
                let at = s.sub(at, back);
                let patch = s.floor_div(at, stride);
                let begin = s.mul(patch, stride);
                let (exact, low, high) = (
                    s.compare(Comparison::Equal, begin, at),
                    s.compare(Comparison::GreaterOrEqual, patch, zero),
                    s.compare(Comparison::Less, patch, count),
                );
                for holds in [exact, low, high] {
                    inside = s.bits("arith.andi", inside, holds);
                }
                let rows = s.mul(flat, count);
                flat = s.add(rows, patch);
            }
            if elem == Type::I1 {
                return vec![inside];
            }
            let flat = s.select(inside, flat, zero);
            vec![s.cast(flat, Type::I64)]
        });
        importer.g.b.body().result(op, 0)
    }
}

/// The sums along the last dim of what counts.
fn sums(importer: &mut Importer<'_, '_, '_>, elements: Value, counted: Value) -> Value {
    let (mut shape, elem) = (importer.g.shape(elements), importer.g.elem(elements));
    let rank = shape.len();
    shape.pop();
    let inputs = vec![
        ComputeInput { value: elements, index: importer.g.dims(0..rank), oob: None },
        ComputeInput { value: counted, index: importer.g.dims(1..rank), oob: None },
    ];
    let mut kinds = vec![IteratorKind::Parallel; rank - 1];
    kinds.push(IteratorKind::Reduce);
    let index = importer.g.dims(0..rank - 1);
    let result = ComputeResult { shape, elem, index, combiner: Some(Combiner::Add) };
    let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
        let wide = accumulator_type(s.cx(), s.ty(args[0]));
        let element = s.cast(args[0], wide);
        let zero = s.number(0.0, wide);
        vec![s.select(args[1], element, zero)]
    });
    importer.g.b.body().result(op, 0)
}

/// A convolution whose elements are read at shifted places.
#[derive(Debug)]
struct DeformConv<'m> {
    x: &'m str,
    weight: &'m str,
    offset: &'m str,
    bias: Option<&'m str>,
    mask: Option<&'m str>,
    group: i64,
    offset_group: i64,
    window: Window,
}

fn deform_conv<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let weight = r.input(1)?;
    let kernel = r.values.constant(weight).map(|w| w.dims.get(2..).unwrap_or_default());
    let (group, offset_group) = (r.int("group")?, r.int("offset_group")?);
    if group < 1 || offset_group < 1 {
        return Err(format!("has {group} groups and {offset_group} groups of offsets").into());
    }
    Ok(Conversion::op(DeformConv {
        x: r.input(0)?,
        weight,
        offset: r.input(2)?,
        bias: r.optional(3),
        mask: r.optional(4),
        group,
        offset_group,
        window: Window::read(r, kernel)?,
    }))
}

impl<'m> Convert<'m> for DeformConv<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, weight) = importer.pair(self.x, self.weight)?;
        let (offset, elem) = (importer.value(self.offset)?, importer.g.elem(x));
        let (shape, filter, offsets) = (importer.g.shape(x), importer.g.shape(weight), importer.g.shape(offset));
        if shape.len() < 3 || filter.len() != shape.len() || offsets.len() != shape.len() {
            let (rank, other, offsets) = (shape.len(), filter.len(), offsets.len());
            return wrong(format!(
                "has an input of rank {rank}, a weight of rank {other} and offsets of rank {offsets}"
            ));
        }
        let window = windows::of_weight(&self.window, &filter)?;
        let steps = steps(&window)?;
        let all = [&shape, &filter].into_iter().flatten().cloned().collect::<Option<Vec<Poly>>>();
        let Some(all) = all else { return fail("has sizes that depend on data") };
        let (sizes, filter) = all.split_at(shape.len());
        for (step, size) in steps.iter().zip(&filter[2..]) {
            importer.g.unify(&Some(step.kernel.into()), &Some(size.clone()), || "the window and the weight".into())?;
        }
        let taken = Some(filter[1].scale(self.group));
        importer.g.unify(&shape[1], &taken, || "channels of the input and of the weight".into())?;
        let block: i64 = steps.iter().map(|step| step.kernel).product();
        let windows: Vec<Poly> = steps.iter().zip(&sizes[2..]).map(|(step, size)| step.windows(size)).collect();
        let (n, channels) = (&sizes[0], split(importer, &sizes[1], self.offset_group, "channels")?);
        let groups = n.scale(self.offset_group);
        // Groups of offsets are images of their own.
        let images: SymShape =
            [groups.clone(), channels.clone()].into_iter().chain(sizes[2..].iter().cloned()).map(Some).collect();
        let images = importer.g.reshape_to(x, &images)?;
        let points: Vec<Poly> = [groups, block.into()].into_iter().chain(windows.iter().cloned()).collect();
        let at = self.places(importer, offset, &steps, &points)?;
        let sampler = Sampler { taps: Taps::Linear, beyond: Beyond::Zeros, join: Combiner::Add };
        let mut read = sampler.read(importer, images, &at, None)?;
        if let Some(mask) = self.mask {
            let mask = importer.value(mask)?;
            let wanted: SymShape = points.iter().cloned().chain([1.into()]).map(Some).collect();
            let mask = self.whole(importer, mask, &points, &wanted, block, "mask")?;
            read = importer.g.zip(read, mask, |s, read, mask| {
                let mask = s.cast(mask, s.ty(read));
                s.mul(read, mask)
            })?;
        }
        let patches = Poly::product(&windows);
        let columns = [n.clone(), self.offset_group.into(), block.into(), patches.clone(), channels].map(Some);
        let columns = importer.g.reshape_to(read, &columns)?;
        let columns = importer.g.transpose(columns, &[0, 1, 4, 2, 3])?;
        // Products of the weights of each group with its columns.
        let made = split(importer, &filter[0], self.group, "output channels")?;
        let (own, taken) = (Poly::constant(self.group), filter[1].scale(block));
        let columns = importer.g.reshape_to(columns, &[n.clone(), own.clone(), taken.clone(), patches].map(Some))?;
        let weights = importer.g.reshape_to(weight, &[own, made, taken].map(Some))?;
        let wide = importer.g.elem(columns);
        let weights = importer.g.cast(weights, wide)?;
        let product = importer.g.matmul(weights, columns)?;
        let result: SymShape = [n.clone(), filter[0].clone()].into_iter().chain(windows).map(Some).collect();
        let mut made = importer.g.reshape_to(product, &result)?;
        if let Some(bias) = self.bias {
            let bias = importer.value(bias)?;
            let list = importer.g.shape(bias);
            if list.len() != 1 {
                return wrong(format!("has a bias of rank {}", list.len()));
            }
            importer.g.unify(&list[0], &Some(filter[0].clone()), || "numbers of output channels".into())?;
            let mut column = vec![Some(filter[0].clone())];
            column.resize(result.len() - 1, Some(1.into()));
            let bias = importer.g.reshape_to(bias, &column)?;
            made = importer.g.zip(made, bias, |s, x, bias| {
                let bias = s.cast(bias, s.ty(x));
                s.add(x, bias)
            })?;
        }
        Ok(vec![rounded(importer, made, elem)?])
    }
}

/// A size in so many equal parts.
fn split(importer: &mut Importer<'_, '_, '_>, size: &Poly, parts: i64, what: &str) -> Made<Poly> {
    let each = size.floordiv(parts);
    importer.g.unify(&Some(size.clone()), &Some(each.scale(parts)), || format!("{what} and {parts} equal parts"))?;
    Ok(each)
}

impl DeformConv<'_> {
    /// A tensor of `[batch, numbers of offset groups, windows…]` in another shape with the same elements.
    fn whole(
        &self,
        importer: &mut Importer<'_, '_, '_>,
        x: Value,
        points: &[Poly],
        wanted: &[Option<Poly>],
        each: i64,
        what: &str,
    ) -> Made {
        let found = importer.g.shape(x);
        if found.len() != points.len() {
            return wrong(format!("has a {what} of rank {}, it must have {}", found.len(), points.len()));
        }
        let numbers = Some(Poly::constant(self.offset_group * each));
        importer.g.unify(&found[1], &numbers, || format!("dimension 1 of the {what} and what the windows have"))?;
        for (size, windows) in found[2..].iter().zip(&points[2..]) {
            importer.g.unify(size, &Some(windows.clone()), || format!("sizes of the {what} and of the result"))?;
        }
        Ok(importer.g.reshape_to(x, wanted)?)
    }

    /// Where the elements of windows are read along each spatial dim.
    fn places(
        &self,
        importer: &mut Importer<'_, '_, '_>,
        offset: Value,
        steps: &[Step],
        points: &[Poly],
    ) -> Made<Vec<Value>> {
        let (dims, block) = (steps.len() as i64, steps.iter().map(|step| step.kernel).product::<i64>());
        let apart: SymShape = [points[0].clone(), points[1].clone(), dims.into()]
            .into_iter()
            .chain(points[2..].iter().cloned())
            .map(Some)
            .collect();
        let offset = self.whole(importer, offset, points, &apart, block * dims, "tensor of offsets")?;
        let place = accumulator_type(importer.cx(), importer.g.elem(offset));
        let rank = points.len();
        let shape: SymShape = points.iter().cloned().map(Some).collect();
        let mut made = Vec::new();
        for (d, step) in steps.iter().enumerate() {
            let mut index = importer.g.dims(0..rank);
            index.insert(2, importer.cx().affine_const(d as i64));
            let inputs = vec![ComputeInput { value: offset, index, oob: None }];
            let index = importer.g.dims(0..rank);
            let result = ComputeResult { shape: shape.clone(), elem: place, index, combiner: None };
            let op = importer.g.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| {
                let k = s.index(1);
                let number = parts(s, k, steps)[d];
                let [stride, dilation, before] =
                    [step.stride, step.dilation, step.before].map(|n| s.int(n, Type::INDEX));
                let (window, within) = (s.index(2 + d), s.mul(number, dilation));
                let begin = s.mul(window, stride);
                let at = s.add(begin, within);
                let at = s.sub(at, before);
                let (at, moved) = (s.cast(at, place), s.cast(args[0], place));
                vec![s.add(at, moved)]
            });
            made.push(importer.g.b.body().result(op, 0));
        }
        Ok(made)
    }
}
