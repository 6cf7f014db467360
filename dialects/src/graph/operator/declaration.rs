//! A declaration, read.

use rustc_hash::FxHashSet;
use sutura_ir::types::TypeData;
use sutura_ir::{Attr, AttrData, Context, NamedAttr, OpRef, Type, Value};

use super::super::ops::YieldOp;
use super::OperatorOp;
use super::bind::Number;
use super::laws::{self, Law};
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;
use crate::r#dyn::poly::Atom;

/// How many dimensions a group holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// Those that are left.
    Rest,
    /// Those before the dimension that this attribute, by its number, names.
    Before(usize),
    /// One of size 1 for each of another group, by its number.
    Ones(usize),
}

/// An input or result.
#[derive(Clone, Debug)]
pub struct Formal {
    /// Its name in the text, or `input 0`.
    pub name: String,
    /// Sizes, in symbols of the declaration.
    pub sizes: Vec<Poly>,
    /// Element type, as in the body.
    pub elem: Type,
    /// It is stretched to the sizes of others.
    pub broadcast: bool,
    /// It is one number, which is stretched, or has exactly the sizes that are written.
    pub or_scalar: bool,
}

/// An attribute of an operator.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Name.
    pub name: String,
    /// Type of its value.
    pub ty: Type,
    /// Its value where it is left out; `None` if it may not be.
    pub default: Option<Attr>,
    /// That value is the integer 0.
    pub is_zero: bool,
}

/// What the declaration of an operator says, without its decomposition.
#[derive(Clone, Debug)]
pub struct Operator {
    /// Name.
    pub name: String,
    /// Element types that it takes; the first stands for all of them in the body.
    pub elements: Vec<Type>,
    /// What stands for the accumulator's type in the body.
    pub accumulator: Option<Type>,
    /// Inputs.
    pub inputs: Vec<Formal>,
    /// Results.
    pub results: Vec<Formal>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Symbols that stand for several dimensions.
    pub groups: Vec<(String, Group)>,
    /// Symbols that stand for the value of an attribute, by its number, or for what another one, if there is one, divides it into.
    pub values: Vec<(String, usize, Option<usize>)>,
    /// Sizes that are not stretched.
    pub exact: Vec<String>,
    /// What holds of it.
    pub laws: Vec<Law>,
    /// Its name stays on the op that makes its result.
    pub leaves_name: bool,
}

impl Operator {
    /// What a `graph.operator` says.
    ///
    /// # Errors
    /// Says what is wrong with the declaration.
    pub fn read(op: OpRef<'_>) -> Result<Self, String> {
        let declared = op.as_::<OperatorOp<'_>>().ok_or("is no operator")?;
        let entry = op.region(0).and_then(|r| r.entry()).ok_or("has an empty body")?;
        let mut operator = Self {
            name: declared.sym_name().to_string(),
            elements: elements(op.cx, declared.elements())?,
            accumulator: declared.accumulator(),
            inputs: Vec::new(),
            results: Vec::new(),
            attributes: attributes(op.cx, declared.attributes())?,
            groups: Vec::new(),
            values: Vec::new(),
            exact: exact(op.cx, declared.exact())?,
            laws: laws::read(op.cx, declared.laws())?,
            leaves_name: declared.leaves_name().is_some(),
        };
        operator.values = operator.read_values(op.cx, declared.sizes())?;
        operator.groups = operator.read_groups(op.cx, declared.groups())?;
        let formal = |what: &str, i: usize, value: Value| {
            let name = entry.body.value_name(value).map(|name| op.cx.str(name).to_string());
            formal(op.cx, entry.body.ty(value), name.unwrap_or_else(|| format!("{what} {i}")))
        };
        operator.inputs =
            entry.args().iter().enumerate().map(|(i, v)| formal("input", i, *v)).collect::<Result<_, _>>()?;
        let end = entry.ops().last().filter(|op| op.is::<YieldOp<'_>>()).ok_or("must end in 'graph.yield'")?;
        operator.results = end.operands().enumerate().map(|(i, v)| formal("result", i, v)).collect::<Result<_, _>>()?;
        for number in declared.broadcast() {
            let input = usize::try_from(number).ok().and_then(|i| operator.inputs.get_mut(i));
            input.ok_or_else(|| format!("broadcasts input {number}, which it does not have"))?.broadcast = true;
        }
        for number in declared.or_scalar() {
            let input = usize::try_from(number).ok().and_then(|i| operator.inputs.get_mut(i));
            let input = input.ok_or_else(|| format!("has no input {number}, which 'or_scalar' lists"))?;
            if std::mem::replace(&mut input.broadcast, true) {
                return Err(format!("input {number} is listed twice, in 'broadcast' or 'or_scalar'"));
            }
            input.or_scalar = true;
        }
        operator.check()?;
        operator.check_exact()?;
        operator.check_laws()?;
        Ok(operator)
    }

    fn read_groups(&self, cx: &Context, groups: Option<Attr>) -> Result<Vec<(String, Group)>, String> {
        let all = groups.map_or(&[][..], |groups| cx.entries(groups));
        all.iter()
            .map(|entry| {
                let name = cx.str(entry.name).to_string();
                if entry.value == Attr::UNIT {
                    return Ok((name, Group::Rest));
                }
                let wrong = || format!("group '{name}' must be unit, \"before ATTRIBUTE\" or \"ones of GROUP\"");
                let text = cx.as_str(entry.value).ok_or_else(wrong)?;
                if let Some(wanted) = text.strip_prefix("ones of ") {
                    let other = |e: &NamedAttr| cx.str(e.name) == wanted && !is_ones(cx, e.value);
                    let at = all.iter().position(other);
                    let at =
                        at.ok_or_else(|| format!("group '{name}' needs a group '{wanted}', which holds dimensions"))?;
                    return Ok((name, Group::Ones(at)));
                }
                let wanted = text.strip_prefix("before ").ok_or_else(wrong)?;
                let at = self.attributes.iter().position(|a| a.name == wanted && a.ty == Type::I64);
                let at = at.ok_or_else(|| format!("group '{name}' needs an attribute '{wanted}' of type i64"))?;
                Ok((name, Group::Before(at)))
            })
            .collect()
    }

    fn read_values(&self, cx: &Context, sizes: Option<Attr>) -> Result<Vec<(String, usize, Option<usize>)>, String> {
        let all = sizes.map_or(&[][..], |sizes| cx.entries(sizes));
        let value = |entry: &NamedAttr| {
            let name = cx.str(entry.name).to_string();
            let wanted = cx.as_str(entry.value).ok_or_else(|| format!("size '{name}' must name an attribute"))?;
            let attribute = |wanted: &str| {
                let at = self.attributes.iter().position(|a| a.name == wanted && a.ty == Type::I64);
                at.ok_or_else(|| format!("size '{name}' needs an attribute '{wanted}' of type i64"))
            };
            match wanted.split_once(" / ") {
                Some((whole, parts)) => Ok((name.clone(), attribute(whole)?, Some(attribute(parts)?))),
                None => Ok((name.clone(), attribute(wanted)?, None)),
            }
        };
        all.iter().map(value).collect()
    }

    /// The attribute, by its number, whose value a size is.
    pub fn value_of(&self, size: &str) -> Option<usize> {
        self.values.iter().find(|(name, ..)| name == size).map(|(_, attribute, _)| *attribute)
    }

    /// True if a size is a product of several that no attribute says: then other inputs tell all but one.
    fn needs_told(&self, size: &Poly) -> bool {
        size.symbols().iter().filter(|name| !self.is_said(name)).count() > 1
    }

    /// True if an input that is not stretched has this symbol alone as a size.
    fn is_told(&self, symbol: &str) -> bool {
        let told = |input: &Formal| input.sizes.iter().any(|size| size.as_symbol() == Some(symbol));
        self.inputs.iter().any(|input| !input.broadcast && told(input))
    }

    /// Whether the attribute that says a size has the default 0, which leaves the size to the inputs.
    pub(super) fn may_be_left(&self, attribute: usize) -> bool {
        self.attributes[attribute].is_zero
    }

    /// Whether an attribute always says the size.
    fn is_said(&self, size: &str) -> bool {
        self.value_of(size).is_some_and(|attribute| !self.may_be_left(attribute))
    }

    /// The value of an attribute that a size is, unless it leaves that to the inputs.
    pub(super) fn said(&self, attribute: usize, value: Number) -> Option<Number> {
        Some(value).filter(|value| *value != Number::Int(0) || !self.may_be_left(attribute))
    }

    /// Symbols of a size of an input, if it is a product: of a number, of a size that the input tells, of values of attributes, and
    /// of sizes that other inputs tell.
    pub(super) fn factors<'s>(&'s self, size: &'s Poly) -> Option<Vec<&'s str>> {
        let mut terms = size.terms();
        let (Some((atoms, times @ 1..)), None) = (terms.next(), terms.next()) else { return None };
        let symbols: Option<Vec<&str>> = atoms.iter().map(symbol).collect();
        let symbols = symbols.filter(|symbols| !symbols.is_empty())?;
        let told = |name: &str| self.needs_told(size) && self.is_told(name);
        let open = symbols.iter().filter(|name| !self.is_said(name) && !told(name)).count();
        let alone = symbols.len() == 1 && times == 1;
        (open <= 1 && (alone || !symbols.iter().any(|name| self.group(name).is_some()))).then_some(symbols)
    }

    /// The group of that name.
    pub fn group(&self, name: &str) -> Option<Group> {
        self.groups.iter().find(|(group, _)| group == name).map(|(_, group)| *group)
    }

    /// The group that a size is.
    pub fn group_of<'s>(&self, size: &'s Poly) -> Option<&'s str> {
        size.as_symbol().filter(|name| self.group(name).is_some())
    }

    /// True when inputs are stretched.
    pub fn broadcasts(&self) -> bool {
        self.inputs.iter().any(|input| input.broadcast)
    }

    /// Inputs in the order in which their shapes tell sizes: those that are stretched say least.
    pub(super) fn order(&self) -> impl Iterator<Item = usize> + '_ {
        // Those with products of sizes that others tell come after these.
        let place = |i: usize| match &self.inputs[i] {
            input if input.broadcast => 2,
            input => usize::from(input.sizes.iter().any(|size| self.needs_told(size))),
        };
        (0..3).flat_map(move |at| (0..self.inputs.len()).filter(move |i| place(*i) == at))
    }

    /// The element type by which `ty` of the body is replaced where the operator is applied to elements of type `elem`.
    pub fn retyped(&self, cx: &Context, ty: Type, elem: Type) -> Type {
        match () {
            () if ty == self.elements[0] => elem,
            () if Some(ty) == self.accumulator => crate::elements::accumulator_type(cx, elem),
            () => ty,
        }
    }

    /// A size that is not stretched is the last one of an input that is, so that it is the last of what is given.
    fn check_exact(&self) -> Result<(), String> {
        let last = |name: &str| {
            let of = |input: &Formal| input.sizes.last().is_some_and(|size| size.to_string() == name);
            self.group(name).is_none() && self.inputs.iter().any(|input| input.broadcast && of(input))
        };
        match self.exact.iter().find(|name| !last(name)) {
            Some(name) => {
                Err(format!("'exact' holds '{name}', which is not the last size of an input that is broadcast"))
            }
            None => Ok(()),
        }
    }

    /// The name of the last size of an input, where it is not stretched.
    pub(super) fn exact_size(&self, input: &Formal) -> Option<&str> {
        let last = input.sizes.last()?.to_string();
        self.exact.iter().map(String::as_str).find(|name| *name == last)
    }

    fn check(&self) -> Result<(), String> {
        if self.inputs.is_empty() || self.results.is_empty() {
            return Err("must have an input and a result".into());
        }
        if self.accumulator == Some(self.elements[0]) {
            return Err("must be written in an element type that is not its accumulator's".into());
        }
        if !self.inputs.iter().any(|input| input.elem == self.elements[0]) {
            return Err("has no input of its element type, the first of 'elements'".into());
        }
        for (name, ..) in &self.values {
            if self.group(name).is_some() {
                return Err(format!("size '{name}' is a group, and is the value of an attribute"));
            }
        }
        let names = || self.values.iter().map(|(name, ..)| name.as_str());
        let mut known: FxHashSet<&str> = names().filter(|name| self.is_said(name)).collect();
        for i in self.order() {
            self.check_input(i, &mut known)?;
        }
        if let Some(name) = names().find(|name| !known.contains(name)) {
            return Err(format!("size '{name}' is left to inputs where its attribute is 0, and stands in none"));
        }
        for (group, holds) in &self.groups {
            if matches!(holds, Group::Ones(_)) {
                if !known.insert(group) {
                    return Err(format!("group '{group}' holds dimensions of size 1, and stands in an input"));
                }
            } else if !known.contains(group.as_str()) {
                return Err(format!("group '{group}' stands in no input"));
            }
        }
        for result in &self.results {
            for size in &result.sizes {
                if let Some(name) = size.symbols().iter().find(|name| !known.contains(&***name)) {
                    return Err(format!("{} has the size '{name}', which no input has", result.name));
                }
                if self.group_of(size).is_none() && size.symbols().iter().any(|name| self.group(name).is_some()) {
                    return Err(format!("{} has the size '{size}': a group must stand alone", result.name));
                }
            }
        }
        Ok(())
    }

    /// What this input's shape says must be unambiguous, once the inputs before it have been looked at.
    fn check_input<'s>(&'s self, i: usize, known: &mut FxHashSet<&'s str>) -> Result<(), String> {
        let input = &self.inputs[i];
        let mut open = 0;
        for (at, size) in input.sizes.iter().enumerate() {
            let told = |name: &str| known.contains(name) && self.group(name).is_none();
            let follows = input.broadcast && size.symbols().iter().all(|name| told(name));
            if size.as_const().is_none() && self.factors(size).is_none() && !follows {
                return Err(format!(
                    "'{}' has the size '{size}'; sizes of inputs are symbols or numbers, or a symbol times a number, values of \
                     attributes and sizes that other inputs tell; what is broadcast may have sums of those",
                    input.name
                ));
            }
            if size.as_symbol().is_some() && input.sizes[..at].contains(size) && self.group_of(size).is_some() {
                return Err(format!("'{}' has the group '{size}' twice", input.name));
            }
            match self.group_of(size).and_then(|name| self.group(name)) {
                Some(Group::Before(_)) if at != 0 => {
                    return Err(format!(
                        "'{}' has dimensions before the group '{size}', which counts from 0",
                        input.name
                    ));
                }
                Some(Group::Rest) if !known.contains(size.as_symbol().unwrap_or_default()) => open += 1,
                _ => {}
            }
        }
        if open > 1 {
            return Err(format!("nothing says which dimensions of '{}' belong to which of {open} groups", input.name));
        }
        let symbols = || input.sizes.iter().filter_map(|size| self.factors(size)).flatten();
        let new = symbols().any(|name| !known.contains(name));
        if input.broadcast && new {
            let alike = || self.inputs.iter().all(|other| !other.broadcast || other.sizes == input.sizes);
            if input.sizes.len() != 1 || open != 1 || !alike() {
                return Err(format!(
                    "'{}' is broadcast and has sizes that no other input tells; then all such inputs must have one group \
                     as their shape",
                    input.name
                ));
            }
        }
        known.extend(symbols());
        Ok(())
    }
}

fn exact(cx: &Context, list: &[Attr]) -> Result<Vec<String>, String> {
    let name = |attr: &Attr| cx.as_str(*attr).map(str::to_string).ok_or("'exact' must list names of sizes".to_string());
    list.iter().map(name).collect()
}

fn symbol(atom: &Atom) -> Option<&str> {
    if let Atom::Symbol(name) = atom { Some(name) } else { None }
}

fn is_ones(cx: &Context, group: Attr) -> bool {
    cx.as_str(group).is_some_and(|text| text.starts_with("ones of "))
}

/// The element types: floats and integers, each once.
fn elements(cx: &Context, list: &[Attr]) -> Result<Vec<Type>, String> {
    let types: Option<Vec<Type>> = list.iter().map(|a| cx.as_type(*a)).collect();
    let types = types.ok_or("'elements' must be a list of types")?;
    for (i, ty) in types.iter().enumerate() {
        if !ty.is_float(cx) && !matches!(cx.type_data(*ty), TypeData::Integer { .. }) {
            return Err(format!("'elements' holds {}, which is no float and no integer", crate::show::ty(cx, *ty)));
        }
        if types[..i].contains(ty) {
            return Err(format!("'elements' holds {} twice", crate::show::ty(cx, *ty)));
        }
    }
    if types.is_empty() { Err("'elements' must name an element type".into()) } else { Ok(types) }
}

fn attributes(cx: &Context, dict: Option<Attr>) -> Result<Vec<Attribute>, String> {
    let entries = dict.map_or(&[][..], |dict| cx.entries(dict)).iter();
    entries
        .map(|entry| {
            let name = cx.str(entry.name).to_string();
            let (ty, default) = match cx.attr_data(entry.value) {
                AttrData::Type(ty) => (Some(ty), None),
                _ => (cx.attr_type(entry.value), Some(entry.value)),
            };
            let number = |ty: &Type| [Type::I64, Type::F32].contains(ty);
            let number =
                |value: &Attr, ty: Type| number(&ty) && (cx.as_int(*value).is_some() || cx.as_f64(*value).is_some());
            match ty {
                Some(ty @ (Type::I64 | Type::F32)) if default.is_none_or(|value| number(&value, ty)) => {
                    let is_zero = default.and_then(|value| cx.as_int(value)) == Some(0);
                    Ok(Attribute { name, ty, default, is_zero })
                }
                _ => Err(format!("attribute '{name}' must be i64 or f32, or have a default of these types")),
            }
        })
        .collect()
}

fn formal(cx: &Context, ty: Type, name: String) -> Result<Formal, String> {
    let sizes = symbolic_shape(cx, ty).ok_or_else(|| format!("'{name}' is no ranked tensor"))?;
    let sizes: Option<Vec<Poly>> = sizes.into_iter().collect();
    let sizes = sizes.ok_or_else(|| format!("'{name}' has a size without a name; give it one in #dyn.shape"))?;
    Ok(Formal { name, sizes, elem: cx.element_type(ty), broadcast: false, or_scalar: false })
}
