//! Sequences and optionals: lists of tensors that exist while the model is imported. How many tensors a sequence has is known, and
//! so are positions in it.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::SliceBounds;
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Item, Made, Sequence, element_type, fail, wrong};
use super::super::error::{Reason, unsupported};
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::super::support::TypedGraph;
use super::super::tensor::{ElementType, Scalar};
use super::{Conversion, Convert, Family, by_data};

pub(super) const OPERATORS: Family = &[
    ("ConcatFromSequence", concat),
    ("Optional", |r| Ok(Conversion::op(Optional { of: r.optional(0) }))),
    ("OptionalGetElement", |r| Ok(Conversion::op(GetElement { of: r.input(0)? }))),
    ("OptionalHasElement", |r| Ok(Conversion::op(HasElement { of: r.optional(0) }))),
    ("SequenceAt", |r| Ok(Conversion::op(At { of: r.input(0)?, place: place(r, 1)?.ok_or("has no `position`")? }))),
    ("SequenceConstruct", |r| Ok(Conversion::op(Construct { tensors: r.inputs() }))),
    ("SequenceEmpty", empty),
    ("SequenceErase", |r| Ok(Conversion::op(Erase { of: r.input(0)?, place: place(r, 1)? }))),
    ("SequenceInsert", |r| Ok(Conversion::op(Insert { of: r.input(0)?, tensor: r.input(1)?, place: place(r, 2)? }))),
    ("SequenceLength", |r| Ok(Conversion::op(Length { of: r.input(0)? }))),
    ("SequenceMap", map),
    ("SplitToSequence", split),
];

/// Tensors into which one is split at most.
const MOST_PARTS: i64 = 100_000;

/// The same where data say the sizes: each part depends on all before it.
const MOST_BY_DATA: i64 = 256;

/// A position, which may count from the end.
type Place<'m> = Param<'m, Scalar>;

fn place<'m>(r: &NodeReader<'m, '_>, input: usize) -> Result<Option<Place<'m>>, Reason> {
    r.scalar_param(input)
}

/// A position among `count`, as a number.
fn known_place<'m>(importer: &mut Importer<'m, '_, '_>, place: &Place<'m>, count: usize) -> Made<usize> {
    let Some(number) = importer.size(place)?.and_then(|place| place.as_const()) else {
        let name = if let Param::Value(name) = place { name } else { "position" };
        return fail(format!("has a position, `{name}`, that depends on data or sizes; it must be a constant"));
    };
    let wrapped = if number < 0 { number.saturating_add(count as i64) } else { number };
    match usize::try_from(wrapped) {
        Ok(place) if place < count => Ok(place),
        _ => wrong(format!("has position {number} in a sequence of {count}")),
    }
}

/// That a tensor has elements like those of a sequence.
fn fits(importer: &Importer<'_, '_, '_>, sequence: &Sequence, tensor: Value) -> Made<()> {
    let elem = importer.g.elem(tensor);
    match sequence.elem {
        Some(wanted) if wanted != elem => {
            let (elem, wanted) = (importer.name_of(elem), importer.name_of(wanted));
            wrong(format!("puts a tensor of {elem} into a sequence of tensors of {wanted}"))
        }
        _ => Ok(()),
    }
}

fn one(sequence: Sequence) -> Made<Vec<Item>> {
    Ok(vec![Item::Sequence(sequence)])
}

#[derive(Debug)]
struct Construct<'m> {
    tensors: Vec<&'m str>,
}

impl<'m> Convert<'m> for Construct<'m> {
    fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        let tensors = importer.values(&self.tensors)?;
        let sequence = Sequence { elem: tensors.first().map(|first| importer.g.elem(*first)), tensors };
        sequence.tensors.iter().try_for_each(|tensor| fits(importer, &sequence, *tensor))?;
        one(sequence)
    }
}

#[derive(Debug)]
struct Empty {
    element: ElementType,
}

fn empty<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let code = r.optional_int("dtype").unwrap_or(1);
    let element = ElementType::from_code(code).ok_or_else(|| format!("is of unknown element type {code}"))?;
    if !element.is_moved() {
        return Err(unsupported(format!("is a sequence of tensors of {element}, which are not supported")));
    }
    Ok(Conversion::op(Empty { element }))
}

impl<'m> Convert<'m> for Empty {
    fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        let elem = element_type(importer.cx(), self.element)?;
        one(Sequence { elem: Some(elem), tensors: Vec::new() })
    }
}

#[derive(Debug)]
struct Insert<'m> {
    of: &'m str,
    tensor: &'m str,
    place: Option<Place<'m>>,
}

impl<'m> Convert<'m> for Insert<'m> {
    fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        let (mut sequence, tensor) = (importer.sequence(self.of)?, importer.value(self.tensor)?);
        fits(importer, &sequence, tensor)?;
        let count = sequence.tensors.len();
        let place = match &self.place {
            None => count,
            // Behind the last one is a position, too; -1 is before the last one.
            Some(place) => match importer.size(place)?.and_then(|place| place.as_const()) {
                Some(end) if end == count as i64 => count,
                _ => known_place(importer, place, count)?,
            },
        };
        sequence.elem = Some(importer.g.elem(tensor));
        sequence.tensors.insert(place, tensor);
        one(sequence)
    }
}

#[derive(Debug)]
struct Erase<'m> {
    of: &'m str,
    place: Option<Place<'m>>,
}

impl<'m> Convert<'m> for Erase<'m> {
    fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        let mut sequence = importer.sequence(self.of)?;
        let last = Param::Known(Scalar::Int(-1));
        let place = known_place(importer, self.place.as_ref().unwrap_or(&last), sequence.tensors.len())?;
        sequence.tensors.remove(place);
        one(sequence)
    }
}

#[derive(Debug)]
struct At<'m> {
    of: &'m str,
    place: Place<'m>,
}

impl<'m> Convert<'m> for At<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let sequence = importer.sequence(self.of)?;
        let place = known_place(importer, &self.place, sequence.tensors.len())?;
        Ok(vec![sequence.tensors[place]])
    }
}

#[derive(Debug)]
struct Length<'m> {
    of: &'m str,
}

impl<'m> Convert<'m> for Length<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let count = importer.sequence(self.of)?.tensors.len();
        Ok(vec![importer.integer(count as i64)?])
    }
}

/// Joins the tensors along an axis, which may be a new one.
#[derive(Debug)]
struct Concat<'m> {
    of: &'m str,
    axis: i64,
    is_new: bool,
}

fn concat<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(Concat { of: r.input(0)?, axis: r.int("axis")?, is_new: r.flag("new_axis")? }))
}

impl<'m> Convert<'m> for Concat<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let mut tensors = importer.sequence(self.of)?.tensors;
        let Some(first) = tensors.first() else { return fail("joins an empty sequence, of no known shape") };
        let rank = importer.g.rank(*first);
        if let Some(other) = tensors.iter().map(|tensor| importer.g.rank(*tensor)).find(|other| *other != rank) {
            return wrong(format!("joins tensors of rank {rank} and {other}"));
        }
        let axis = importer.g.axis(self.axis, rank + usize::from(self.is_new))?;
        if self.is_new {
            for tensor in &mut tensors {
                *tensor = importer.g.unsqueeze(*tensor, &[axis])?;
            }
        }
        Ok(vec![match &tensors[..] {
            [one] => *one,
            all => importer.g.concat(all, axis)?,
        }])
    }
}

/// Splits a tensor along an axis: in parts of a size, of these sizes, or in slices, whose axis may go.
#[derive(Debug)]
struct Split<'m> {
    x: &'m str,
    axis: i64,
    parts: Parts<'m>,
}

#[derive(Debug)]
enum Parts<'m> {
    Slices { keep_axis: bool },
    Each(i64),
    Sizes(Vec<i64>),
    Value(&'m str),
}

fn split<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let parts = match r.optional(1) {
        None => Parts::Slices { keep_axis: r.flag("keepdims")? },
        Some(name) => match r.values.constant(name) {
            None => Parts::Value(name),
            Some(tensor) => match (tensor.ints(), tensor.dims.len()) {
                (Some(sizes), 0) => Parts::Each(sizes[0]),
                (Some(sizes), 1) => Parts::Sizes(sizes),
                _ => return Err(format!("`split` must be a number or a list of integers, `{name}` is neither").into()),
            },
        },
    };
    Ok(Conversion::op(Split { x: r.input(0)?, axis: r.int("axis")?, parts }))
}

impl<'m> Convert<'m> for Split<'m> {
    fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        let x = importer.value(self.x)?;
        let axis = importer.g.axis(self.axis, importer.g.rank(x))?;
        let whole = importer.g.shape(x)[axis].clone();
        let known = whole.as_ref().and_then(Poly::as_const);
        if let Some((count, lengths)) = self.parts_by_data(importer)? {
            let tensors = by_data::split(importer, x, (axis, count), lengths)?;
            return one(Sequence { elem: Some(importer.g.elem(x)), tensors });
        }
        let parts = self.known_parts(importer)?;
        let (sizes, keeps) = match (&parts, known) {
            (Parts::Slices { keep_axis }, Some(count)) if count <= MOST_PARTS => (vec![1; count as usize], *keep_axis),
            (Parts::Each(size), _) if *size < 1 => return wrong(format!("splits into parts of size {size}")),
            (Parts::Each(size), Some(count)) if count / size <= MOST_PARTS => {
                let mut sizes = vec![*size; (count / size) as usize];
                sizes.extend((count % size > 0).then_some(count % size));
                (sizes, true)
            }
            (Parts::Sizes(sizes), _) => (sizes.clone(), true),
            (_, Some(count)) => return fail(format!("splits dim {axis}, of size {count}, into too many tensors")),
            (_, None) => {
                return fail(format!(
                    "splits dim {axis}, whose size is not known, so neither is the number of tensors; it must be a number"
                ));
            }
        };
        let sum = sizes.iter().try_fold(0_i64, |sum, size| sum.checked_add(*size).filter(|_| *size >= 0));
        let Some(sum) = sum else { return wrong(format!("splits into parts of {sizes:?}")) };
        importer.g.unify(&whole, &Some(sum.into()), || format!("dimension {axis} and the sum of the parts"))?;
        let (mut tensors, mut start) = (Vec::with_capacity(sizes.len()), 0);
        for size in sizes {
            let bounds = SliceBounds::Known(vec![start], vec![start + size]);
            let part = importer.g.slice(x, &[axis], &bounds, &[1])?;
            tensors.push(if keeps { part } else { importer.g.squeeze(part, &[axis])? });
            start += size;
        }
        one(Sequence { elem: Some(importer.g.elem(x)), tensors })
    }
}

impl<'m> Split<'m> {
    /// A list of sizes that data say, and how many it has.
    fn parts_by_data(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Option<(usize, Value)>> {
        let Parts::Value(name) = self.parts else { return Ok(None) };
        let value = importer.deciding(name)?;
        let contents = importer.g.contents(value);
        let is_known = contents.is_some_and(|all| all.iter().all(Option::is_some));
        match &importer.g.shape(value)[..] {
            [Some(count)] if !is_known => {
                let Some(count) = count.as_const().filter(|count| (1..=MOST_BY_DATA).contains(count)) else {
                    let most = format!("at most {MOST_BY_DATA}");
                    return fail(format!(
                        "takes sizes of parts from `{name}`, which does not hold a known number of them, {most}"
                    ));
                };
                Ok(Some((count as usize, importer.g.cast(value, Type::I64)?)))
            }
            _ => Ok(None),
        }
    }

    fn known_parts(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Parts<'m>> {
        Ok(match &self.parts {
            Parts::Slices { keep_axis } => Parts::Slices { keep_axis: *keep_axis },
            Parts::Each(size) => Parts::Each(*size),
            Parts::Sizes(sizes) => Parts::Sizes(sizes.clone()),
            Parts::Value(name) => {
                let value = importer.deciding(name)?;
                let sizes = importer.g.contents(value);
                let sizes = sizes.and_then(|all| all.iter().map(|size| size.as_ref()?.as_const()).collect());
                let sizes: Option<Vec<i64>> = sizes;
                match (sizes, importer.g.rank(value)) {
                    (None, _) => return fail(format!("`{name}` depends on data or sizes; it must be a constant")),
                    (Some(sizes), 0) => Parts::Each(sizes[0]),
                    (Some(sizes), 1) => Parts::Sizes(sizes),
                    (_, rank) => {
                        return wrong(format!("takes a number or a list from `{name}`, which has rank {rank}"));
                    }
                }
            }
        })
    }
}

/// Applies a graph to each tensor of a sequence.
#[derive(Debug)]
struct Map<'m> {
    inputs: Vec<&'m str>,
    body: TypedGraph<'m>,
    results: usize,
}

fn map<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (body, results) = (r.graph("body")?, r.node.outputs.len());
    if results != body.graph.outputs.len() {
        return Err(format!("has {results} outputs, and a graph with {}", body.graph.outputs.len()).into());
    }
    Ok(Conversion::op(Map { inputs: r.inputs(), body, results }))
}

impl<'m> Convert<'m> for Map<'m> {
    fn results(&self) -> usize {
        self.results
    }

    fn graphs(&self) -> Vec<&TypedGraph<'m>> {
        vec![&self.body]
    }

    fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        let mut inputs = Vec::new();
        for name in &self.inputs {
            inputs.push(importer.item(name)?);
        }
        let Some(Item::Sequence(first)) = inputs.first() else { return wrong("takes no sequence first") };
        let count = first.tensors.len();
        let mut results = vec![Sequence { elem: None, tensors: Vec::new() }; self.results];
        for i in 0..count {
            let mut each = Vec::new();
            for (item, name) in inputs.iter().zip(&self.inputs) {
                each.push(match item {
                    Item::Sequence(sequence) if sequence.tensors.len() == count => Item::Tensor(sequence.tensors[i]),
                    Item::Sequence(sequence) => {
                        let other = sequence.tensors.len();
                        return wrong(format!("takes sequences of {count} and, as `{name}`, of {other} tensors"));
                    }
                    item => item.clone(),
                });
            }
            for (sequence, item) in results.iter_mut().zip(importer.inlined(&self.body, &each)?) {
                let Item::Tensor(tensor) = item else { return fail(format!("makes a sequence of {}", item.kind())) };
                fits(importer, sequence, tensor)?;
                sequence.elem = Some(importer.g.elem(tensor));
                sequence.tensors.push(tensor);
            }
        }
        Ok(results.into_iter().map(Item::Sequence).collect())
    }
}

/// What may be nothing; without an input, nothing.
#[derive(Debug)]
struct Optional<'m> {
    of: Option<&'m str>,
}

impl<'m> Convert<'m> for Optional<'m> {
    fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        let inner = self.of.map(|name| importer.item(name)).transpose()?;
        Ok(vec![Item::Optional(inner.map(Box::new))])
    }
}

#[derive(Debug)]
struct GetElement<'m> {
    of: &'m str,
}

impl<'m> Convert<'m> for GetElement<'m> {
    fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        match importer.item(self.of)? {
            Item::Optional(Some(inner)) => Ok(vec![*inner]),
            Item::Optional(None) => wrong(format!("takes the element of `{}`, which is nothing", self.of)),
            item => Ok(vec![item]),
        }
    }
}

#[derive(Debug)]
struct HasElement<'m> {
    of: Option<&'m str>,
}

impl<'m> Convert<'m> for HasElement<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let item = self.of.map(|name| importer.item(name)).transpose()?;
        let has = !matches!(item, None | Some(Item::Optional(None)));
        Ok(vec![importer.boolean(has)?])
    }
}
