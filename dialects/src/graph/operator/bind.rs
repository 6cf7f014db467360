//! What the symbols of a declaration stand for where the operator is applied.

use rustc_hash::FxHashMap;
use sutura_ir::{Attr, Context, NamedAttr, Type};

use super::super::build::{BuildError, Built, broadcast, fail, unify, unsupported};
use super::super::shape_fn::{Requirement, SymShape};
use super::{Group, Operator};
use crate::r#dyn::{Facts, Poly};
use crate::show;

/// A tensor to which an operator is applied.
#[derive(Clone, Debug)]
pub struct Actual {
    /// Element type.
    pub elem: Type,
    /// Sizes.
    pub shape: SymShape,
}

/// Largest size that an attribute may say.
const LARGEST: i64 = i32::MAX as i64;

/// The value of an attribute.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// Of type `i64`.
    Int(i64),
    /// Of type `f32`, or computed from such.
    Float(f64),
}

impl Number {
    /// The number that an attribute is.
    pub fn of(cx: &Context, value: Attr) -> Option<Self> {
        cx.as_int(value).map(Self::Int).or_else(|| cx.as_f64(value).map(Self::Float))
    }
}

/// What the symbols of a declaration stand for.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The element type.
    pub elem: Type,
    /// The dimensions of each group.
    pub groups: FxHashMap<String, SymShape>,
    /// Each symbol that stands for one size.
    pub sizes: FxHashMap<String, Option<Poly>>,
    /// For each input that is stretched, and each of its dimensions, whether that has size 1 for another.
    pub stretched: Vec<Option<Vec<bool>>>,
    /// Values of the attributes, in the order of the declaration.
    pub attributes: Vec<Number>,
    /// Equalities without which the operator has no meaning. They are facts already.
    pub required: Vec<Requirement>,
}

/// Binds the symbols of `operator` to what it is applied to. Sizes that are taken to be equal become facts.
///
/// # Errors
/// Says in which way the operator cannot be applied.
pub fn bind(
    cx: &Context,
    operator: &Operator,
    inputs: &[Actual],
    attributes: &[NamedAttr],
    facts: &mut Facts,
) -> Built<Binding> {
    let (wanted, given) = (operator.inputs.len(), inputs.len());
    if wanted != given {
        return fail(format!("takes {wanted} input{}, not {given}", if wanted == 1 { "" } else { "s" }));
    }
    let mut binding = Binding {
        elem: element(cx, operator, inputs)?,
        groups: FxHashMap::default(),
        sizes: FxHashMap::default(),
        stretched: vec![None; given],
        attributes: values(cx, operator, attributes)?,
        required: Vec::new(),
    };
    binding.sizes = binding.values(operator)?;
    let (stretched, others): (Vec<usize>, Vec<usize>) = operator.order().partition(|i| operator.inputs[*i].broadcast);
    // A product may have a size that another dimension tells, and then says nothing but that it is the product.
    let mut products = Vec::new();
    for i in others {
        binding.input(operator, i, &inputs[i].shape, (facts, &mut products))?;
    }
    for Product { input, size, at } in products {
        binding.size(operator, &operator.inputs[input], size, at, &inputs[input].shape[at], facts)?;
    }
    for i in stretched {
        match operator.inputs[i].or_scalar && !inputs[i].shape.is_empty() {
            false => binding.stretch(operator, i, inputs, facts)?,
            true => binding.exactly(operator, i, &inputs[i].shape, facts)?,
        }
    }
    binding.ones(operator);
    Ok(binding)
}

/// A dimension of an input that is a product with a size that is not known yet.
struct Product<'o> {
    input: usize,
    size: &'o Poly,
    at: usize,
}

/// The element type that all inputs of the operator's share.
fn element(cx: &Context, operator: &Operator, inputs: &[Actual]) -> Built<Type> {
    let shared = |i: &usize| operator.inputs[*i].elem == operator.elements[0];
    let first = (0..inputs.len()).find(shared).ok_or(BuildError::Wrong("has no input of its element type".into()))?;
    let elem = inputs[first].elem;
    if !operator.elements.contains(&elem) {
        let names: Vec<String> = operator.elements.iter().map(|ty| show::ty(cx, *ty)).collect();
        let name = &operator.inputs[first].name;
        return unsupported(format!("'{name}' holds {}, it must hold {}", show::ty(cx, elem), names.join(", ")));
    }
    for (formal, actual) in operator.inputs.iter().zip(inputs) {
        let wanted = operator.retyped(cx, formal.elem, elem);
        if wanted != actual.elem {
            let (found, wanted) = (show::ty(cx, actual.elem), show::ty(cx, wanted));
            return fail(format!("'{}' holds {found}, it must hold {wanted}", formal.name));
        }
    }
    Ok(elem)
}

/// The attributes, those that are left out with their defaults.
pub(super) fn values(cx: &Context, operator: &Operator, given: &[NamedAttr]) -> Built<Vec<Number>> {
    // Names with a dot are of a dialect, and say nothing to the operator.
    for entry in given.iter().filter(|entry| !cx.str(entry.name).contains('.')) {
        let name = cx.str(entry.name);
        if !operator.attributes.iter().any(|a| a.name == name) {
            let close = sutura_ir::diagnostics::did_you_mean(name, operator.attributes.iter().map(|a| a.name.as_str()));
            let close = close.map(|close| format!("; did you mean '{close}'?")).unwrap_or_default();
            return fail(format!("has no attribute '{name}'{close}"));
        }
    }
    let value = |declared: &super::Attribute| {
        let found = given.iter().find(|entry| cx.str(entry.name) == declared.name).map(|entry| entry.value);
        let typed = |value: Attr| Number::of(cx, value).filter(|_| cx.attr_type(value) == Some(declared.ty));
        match found.or(declared.default).map(typed) {
            Some(Some(value)) => Ok(value),
            Some(None) => fail(format!("attribute '{}' must be of type {}", declared.name, show::ty(cx, declared.ty))),
            None => fail(format!("needs the attribute '{}'", declared.name)),
        }
    };
    operator.attributes.iter().map(value).collect()
}

impl Binding {
    /// The binding of the body as it is written, but for the element type: every symbol stands for itself.
    pub fn collapsed(operator: &Operator, elem: Type, attributes: Vec<Number>) -> Self {
        let sizes = || operator.inputs.iter().flat_map(|input| &input.sizes);
        let names = || sizes().filter_map(|size| operator.factors(size)).flatten();
        let size = |name: &str| Some(Poly::symbol(name));
        let groups = names().filter(|n| operator.group(n).is_some()).map(|n| (n.to_string(), vec![size(n)])).collect();
        let plain = |n: &&str| operator.group(n).is_none();
        let mut sizes: FxHashMap<_, _> = names().filter(plain).map(|n| (n.to_string(), size(n))).collect();
        for (name, attribute, by) in &operator.values {
            let value = operator.said(*attribute, attributes[*attribute]);
            let parts = by.map_or(Number::Int(1), |by| attributes[by]);
            if let (Some(Number::Int(value)), Number::Int(parts @ 1..)) = (value, parts) {
                sizes.insert(name.clone(), Some(Poly::constant(value / parts)));
            }
        }
        let stretched = operator.inputs.iter().map(|i| i.broadcast.then(|| vec![false; i.sizes.len()])).collect();
        let mut binding = Self { elem, groups, sizes, stretched, attributes, required: Vec::new() };
        binding.ones(operator);
        binding
    }

    /// The sizes that are values of attributes.
    fn values(&self, operator: &Operator) -> Built<FxHashMap<String, Option<Poly>>> {
        let number = |attribute: usize| match self.attributes[attribute] {
            Number::Int(value @ 1..=LARGEST) => Ok(value),
            _ => {
                let attribute = &operator.attributes[attribute].name;
                fail(format!("attribute '{attribute}' must be from 1 to {LARGEST}: it is a size"))
            }
        };
        let size = |(name, attribute, by): &(String, usize, Option<usize>)| {
            let (value, parts) = (number(*attribute)?, by.map_or(Ok(1), number)?);
            if value % parts != 0 {
                let named = |attribute: usize| &operator.attributes[attribute].name;
                let by = by.map_or("", |by| named(by));
                return fail(format!(
                    "attribute '{}' is {value}, which is no multiple of {parts}, '{by}'",
                    named(*attribute)
                ));
            }
            Ok((name.clone(), Some(Poly::constant(value / parts))))
        };
        let said = |value: &&(String, usize, Option<usize>)| operator.said(value.1, self.attributes[value.1]).is_some();
        operator.values.iter().filter(said).map(size).collect()
    }

    /// Binds the groups that hold as many dimensions of size 1 as others hold dimensions.
    fn ones(&mut self, operator: &Operator) {
        for (name, group) in &operator.groups {
            if let Group::Ones(other) = group {
                let count = self.groups.get(&operator.groups[*other].0).map_or(0, Vec::len);
                self.groups.insert(name.clone(), vec![Some(1.into()); count]);
            }
        }
    }

    /// How many dimensions the groups hold that are known.
    fn count(&self, operator: &Operator, input: usize) -> usize {
        let dims = |size: &Poly| match operator.group_of(size) {
            Some(name) => self.groups.get(name).map_or(0, Vec::len),
            None => 1,
        };
        operator.inputs[input].sizes.iter().map(dims).sum()
    }

    /// Binds the symbols of an input that is not stretched.
    fn input<'o>(
        &mut self,
        operator: &'o Operator,
        i: usize,
        shape: &SymShape,
        (facts, products): (&mut Facts, &mut Vec<Product<'o>>),
    ) -> Built<()> {
        let (formal, rank) = (&operator.inputs[i], shape.len());
        let mut before = 0;
        if let Some(group) = formal.sizes.first().and_then(|size| operator.group_of(size))
            && let Some(Group::Before(attribute)) = operator.group(group)
            && !self.groups.contains_key(group)
        {
            before = self.axis(attribute, rank)?;
        }
        let fixed = self.count(operator, i) + before;
        let open = |size: &Poly| operator.group_of(size).is_some_and(|name| !self.groups.contains_key(name));
        let rests = formal.sizes.iter().skip(usize::from(before > 0)).any(|size| {
            open(size) && operator.group_of(size).and_then(|name| operator.group(name)) == Some(Group::Rest)
        });
        if rank < fixed || (rank > fixed && !rests) {
            let least = if rests { "at least " } else { "" };
            return fail(format!("'{}' has rank {rank}, it must have {least}{fixed}", formal.name));
        }
        let mut at = 0;
        for size in &formal.sizes {
            let Some(name) = operator.group_of(size) else {
                match self.open_factor(operator, size) {
                    Some(_) => products.push(Product { input: i, size, at }),
                    None => self.size(operator, formal, size, at, &shape[at], facts)?,
                }
                at += 1;
                continue;
            };
            let Some(known) = self.groups.get(name).cloned() else {
                let count = if operator.group(name) == Some(Group::Rest) { rank - fixed } else { before };
                self.groups.insert(name.to_string(), shape[at..at + count].to_vec());
                at += count;
                continue;
            };
            let mut dims = Vec::with_capacity(known.len());
            for size in &known {
                let what = || format!("dimension {at} of '{}' and the group '{name}' of other inputs", formal.name);
                dims.push(unify(facts, size, &shape[at], what, &mut self.required)?);
                at += 1;
            }
            self.groups.insert(name.to_string(), dims);
        }
        Ok(())
    }

    /// The dimension that an attribute names, of a tensor of this rank.
    fn axis(&self, attribute: usize, rank: usize) -> Built<usize> {
        let Number::Int(axis) = self.attributes[attribute] else { return fail("has an axis that is no integer") };
        let wrapped = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
        match wrapped.and_then(|axis| usize::try_from(axis).ok()) {
            Some(axis) if axis < rank => Ok(axis),
            _ => fail(format!("axis {axis} is outside a tensor of rank {rank}")),
        }
    }

    /// A dimension that is no group: a number, or a symbol that has one value.
    fn size(
        &mut self,
        operator: &Operator,
        formal: &super::Formal,
        size: &Poly,
        at: usize,
        actual: &Option<Poly>,
        facts: &mut Facts,
    ) -> Built<()> {
        if let Some(open) = self.open_factor(operator, size) {
            let part = self.part(operator, formal, (size, open), at, actual)?;
            self.sizes.insert(open.to_string(), part);
            return Ok(());
        }
        let known = match size.as_symbol() {
            None => Some(self.poly(size)),
            Some(name) => self.sizes.get(name).cloned(),
        };
        let value = match known {
            None => actual.clone(),
            Some(known) => {
                let what = || match size.as_symbol() {
                    Some(name) => format!("dimension {at} of '{}' and the size '{name}' of other inputs", formal.name),
                    None => format!("dimension {at} of '{}' and its declaration", formal.name),
                };
                unify(facts, &known, actual, what, &mut self.required)?
            }
        };
        if let Some(name) = size.as_symbol() {
            self.sizes.insert(name.to_string(), value);
        }
        Ok(())
    }

    /// The size in a product that nothing has told yet.
    fn open_factor<'o>(&self, operator: &'o Operator, size: &'o Poly) -> Option<&'o str> {
        let factors = operator.factors(size).filter(|_| size.as_symbol().is_none()).unwrap_or_default();
        factors.into_iter().find(|name| !self.sizes.contains_key(*name))
    }

    /// The sizes of an input that may be a number, and is a tensor.
    fn exactly(&mut self, operator: &Operator, i: usize, shape: &SymShape, facts: &mut Facts) -> Built<()> {
        let formal = &operator.inputs[i];
        let (whole, name) = (self.shape(operator, &formal.sizes), &formal.name);
        if shape.len() != whole.len() {
            let (found, wanted) = (shape.len(), whole.len());
            return fail(format!("'{name}' has rank {found}, it must have {wanted}, or be one number"));
        }
        for (at, (wanted, found)) in whole.iter().zip(shape).enumerate() {
            let what = || format!("dimension {at} of '{name}' and the size that other inputs say");
            unify(facts, wanted, found, what, &mut self.required)?;
        }
        self.stretched[i] = Some(vec![false; shape.len()]);
        Ok(())
    }

    /// What is left of a dimension that is a product with numbers and values of attributes.
    fn part(
        &self,
        operator: &Operator,
        formal: &super::Formal,
        (size, open): (&Poly, &str),
        at: usize,
        actual: &Option<Poly>,
    ) -> Built<Option<Poly>> {
        let Some(actual) = actual else { return Ok(None) };
        let value = |name: &str| if name == open { Some(1.into()) } else { self.sizes.get(name).cloned().flatten() };
        let known = size.substitute(&|name| value(name));
        if let Some(part) = actual.divide_exact(&known) {
            return Ok(Some(part));
        }
        let factors = operator.factors(size).unwrap_or_default();
        let named = factors.iter().filter(|name| **name != open && self.sizes.contains_key(**name));
        let named: Vec<&str> = named
            .map(|name| operator.value_of(name).map_or(*name, |at| operator.attributes[at].name.as_str()))
            .collect();
        let of = if named.is_empty() { String::new() } else { format!(", the value of {}", named.join(" times ")) };
        let what = format!("dimension {at} of '{}'", formal.name);
        match actual.as_const() {
            Some(size) => fail(format!("{what} is {size}, which is no multiple of {known}{of}")),
            None => unsupported(format!("{what} is {actual}, which is not known to be a multiple of {known}{of}")),
        }
    }

    /// Binds an input that is stretched: to the sizes that others tell, or all such inputs together.
    fn stretch(&mut self, operator: &Operator, i: usize, inputs: &[Actual], facts: &mut Facts) -> Built<()> {
        if self.stretched[i].is_some() {
            return Ok(());
        }
        let formal = &operator.inputs[i];
        let open = |size: &Poly| operator.group_of(size).is_some_and(|name| !self.groups.contains_key(name));
        if let [group] = &formal.sizes[..]
            && open(group)
        {
            return self.together(operator, group, inputs, facts);
        }
        let shape = &inputs[i].shape;
        let whole = self.shape(operator, &formal.sizes);
        if shape.len() > whole.len() {
            let message =
                format!("'{}' has rank {}, which cannot be stretched to {}", formal.name, shape.len(), whole.len());
            return fail(message);
        }
        let called = |k: usize| if k == 0 { "others".to_string() } else { format!("'{}'", formal.name) };
        let exact = operator.exact_size(formal).filter(|_| !shape.is_empty());
        let sizes =
            |size: &Option<Poly>| size.as_ref().map(|size| facts.canonical(size)).and_then(|size| size.as_const());
        let lasts = whole.last().and_then(sizes).zip(shape.last().and_then(sizes));
        let differ = lasts.filter(|(wanted, found)| wanted != found);
        if let (Some(size), Some((wanted, found))) = (exact, differ) {
            return unsupported(format!(
                "'{}' must have the size '{size}' of other inputs as its last one: it is not stretched, and {found} is not {wanted}",
                formal.name
            ));
        }
        let found = broadcast(facts, &[whole.clone(), shape.clone()], &called, &mut self.required)?;
        if let Some(dim) = found.stretched[0].iter().position(|stretched| *stretched) {
            return fail(format!(
                "'{}' is longer than the other inputs in dimension {dim}, where they have 1",
                formal.name
            ));
        }
        let stretched = found.stretched.into_iter().nth(1);
        if let Some(size) = exact
            && stretched.as_ref().is_none_or(|dims| dims.last() != Some(&false))
        {
            return unsupported(format!(
                "'{}' must have the size '{size}' of other inputs as its last one: it is not stretched",
                formal.name
            ));
        }
        self.stretched[i] = stretched;
        Ok(())
    }

    /// Broadcasts all inputs that are stretched together, where no other says their sizes.
    fn together(&mut self, operator: &Operator, group: &Poly, inputs: &[Actual], facts: &mut Facts) -> Built<()> {
        let all: Vec<usize> = (0..inputs.len()).filter(|i| operator.inputs[*i].broadcast).collect();
        let shapes: Vec<SymShape> = all.iter().map(|i| inputs[*i].shape.clone()).collect();
        let called = |k: usize| format!("'{}'", operator.inputs[all[k]].name);
        let found = broadcast(facts, &shapes, &called, &mut self.required)?;
        for (i, stretched) in all.iter().zip(found.stretched) {
            self.stretched[*i] = Some(stretched);
        }
        self.groups.insert(group.to_string(), found.shape);
        Ok(())
    }

    /// The dimensions that sizes of the declaration stand for.
    pub fn shape(&self, operator: &Operator, sizes: &[Poly]) -> SymShape {
        let dims = |size: &Poly| match operator.group_of(size) {
            Some(name) => self.groups.get(name).cloned().unwrap_or_default(),
            None => vec![self.poly(size)],
        };
        sizes.iter().flat_map(dims).collect()
    }

    /// The value of an expression in sizes, a group being the number of its elements; `None` where one is not known.
    pub fn poly(&self, size: &Poly) -> Option<Poly> {
        let value = |name: &str| match self.groups.get(name) {
            Some(dims) => dims.iter().cloned().collect::<Option<Vec<Poly>>>().map(|dims| Poly::product(&dims)),
            None => self.sizes.get(name).cloned().flatten(),
        };
        if size.symbols().iter().any(|name| value(name).is_none()) {
            return None;
        }
        Some(size.substitute(&|name| value(name)))
    }
}
