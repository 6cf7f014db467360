//! Operators that the library of `graph.operator` declarations realises: nothing about them is said here.

use sutura_dialects::graph::operator::{Literal, Numbers, OnnxForm, Words, onnx_forms_of};

use super::{
    error::{Reason, unsupported},
    model::{Attribute, AttributeKind},
    op::Op,
    reader::NodeReader,
    schema::{Formal, Presence},
};

/// Attributes of opsets before 7 that say nothing: where memory may be used again, and that an output is wanted, which its name says.
const SAY_NOTHING: [&str; 2] = ["consumed_inputs", "output_sequence"];

/// Orders of dimensions, by the number of what has them.
pub type Permutations = Vec<(usize, &'static [usize])>;

/// An input of an operator of the library.
#[derive(Clone, Debug, PartialEq)]
pub enum NamedInput<'m> {
    Value(&'m str),
    /// Left out: a scalar takes its place.
    Absent(f64),
}

/// A number that an attribute holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NamedNumber {
    Int(i64),
    Float(f32),
}

/// The operator that `r` reads, if the library has it.
pub(super) fn op<'m>(r: &NodeReader<'m, '_>) -> Option<Result<Op<'m>, Reason>> {
    let (domain, op) = (r.node.domain.as_str(), r.node.op_type.as_str());
    let own = r.values.extension.into_iter().flat_map(|extension| extension.forms_of(domain, op));
    let mut forms = onnx_forms_of(domain, op).chain(own).peekable();
    forms.peek()?;
    let of_version = |form: &&OnnxForm| (form.since..=form.until).contains(&r.interface.since);
    let forms: Vec<&OnnxForm> = forms.filter(of_version).collect();
    Some(realised(r, &forms))
}

fn realised<'m>(r: &NodeReader<'m, '_>, forms: &[&'static OnnxForm]) -> Result<Op<'m>, Reason> {
    if forms.is_empty() {
        return Err(unsupported(format!("version {} of the operator is not supported", r.interface.since)));
    }
    // Why this form is not the one, and why it would be, but cannot.
    let (mut other, mut refused) = (None, None);
    let mut fitting = Vec::new();
    for form in forms {
        let Some(inputs) = inputs(r, form) else { continue };
        if let Some(reason) = contradicts(r, form)? {
            other = Some(reason);
            continue;
        }
        if let Some(reason) = outside(r, form).or_else(|| unknown_attribute(r, form)) {
            refused = Some(reason);
            continue;
        }
        if let Err(reason) = r.outputs_unused_from(form.results) {
            refused = Some(reason);
            continue;
        }
        let mut said = attributes(r, form)?;
        said.extend(form.set.iter().map(|(name, value)| (name.as_str(), NamedNumber::Int(*value))));
        said.extend(chosen(r, form)?);
        let words = worded(r, form, &said)?;
        let said = said.into_iter().map(|(name, value)| (name.to_owned(), value));
        let attributes: Vec<(String, NamedNumber)> = said.chain(words).collect();
        let permute = (permuted(form, &r.interface.inputs), permuted(form, &r.interface.outputs));
        let (operator, variadic) = (form.operator.as_str(), form.variadic.as_deref());
        let (rank, results, others) = (form.rank, form.results, Vec::new());
        let unsigned = form.unsigned;
        fitting.push(Op::Named { operator, inputs, variadic, rank, attributes, permute, unsigned, results, others });
    }
    // Attributes and the number of inputs say which form it is, or its tensors do, once they are known.
    let mut fitting = fitting.into_iter();
    match fitting.next() {
        Some(Op::Named { operator, inputs, variadic, rank, attributes, permute, unsigned, results, .. }) => {
            let others = fitting.collect();
            Ok(Op::Named { operator, inputs, variadic, rank, attributes, permute, unsigned, results, others })
        }
        _ => Err(refused.or(other).unwrap_or_else(|| unsupported(unread(r, forms)))),
    }
}

/// Which input no form takes, or that the inputs do not go together.
fn unread(r: &NodeReader<'_, '_>, forms: &[&OnnxForm]) -> String {
    let most = forms.iter().map(|form| form.inputs).max().unwrap_or(0);
    let given = (most..r.node.inputs.len()).find(|i| r.optional(*i).is_some());
    match given.and_then(|i| r.interface.inputs.get(i)) {
        Some(input) => format!("input `{}` is not supported", input.name),
        None => {
            let given = r.interface.inputs.iter().enumerate().filter(|(i, _)| r.optional(*i).is_some());
            let names: Vec<String> = given.map(|(_, input)| format!("`{}`", input.name)).collect();
            format!("is not supported with exactly the inputs {}", names.join(", "))
        }
    }
}

/// The inputs, if these are given with which the form is one.
fn inputs<'m>(r: &NodeReader<'m, '_>, form: &OnnxForm) -> Option<Vec<NamedInput<'m>>> {
    if form.variadic.is_some() {
        return Some(r.inputs().into_iter().map(NamedInput::Value).collect());
    }
    if (form.inputs..r.node.inputs.len()).any(|i| r.optional(i).is_some()) {
        return None;
    }
    // A version may have fewer inputs than the operator.
    let name = |i: usize| r.interface.inputs.get(i).map_or(form.input_names[i].as_str(), |input| input.name);
    if (0..form.inputs).any(|i| r.optional(i).is_some() && form.without.iter().any(|without| without == name(i))) {
        return None;
    }
    let input = |i: usize| {
        let absent = || {
            let name = name(i);
            match &form.absent.iter().find(|(absent, _)| absent == name)?.1 {
                Literal::Int(value) => Some(NamedInput::Absent(*value as f64)),
                Literal::Float(value) => Some(NamedInput::Absent(*value)),
                Literal::Text(_) | Literal::Ints(_) => None,
            }
        };
        r.optional(i).map(NamedInput::Value).or_else(absent)
    };
    (0..form.inputs).map(input).collect()
}

/// Why the node's attributes are not those that the form has, if so.
fn contradicts(r: &NodeReader<'_, '_>, form: &OnnxForm) -> Result<Option<Reason>, Reason> {
    for (name, wanted) in &form.with {
        let refusal = |found: String, wanted: String| {
            unsupported(format!("attribute `{name}` is {found}, which is not supported; {wanted} is"))
        };
        match wanted {
            Literal::Int(wanted) => match r.optional_int(name) {
                // Some were floats once.
                None if r.interface.attribute(name).is_some_and(|rule| rule.kind == AttributeKind::Float) => {
                    let found = f64::from(r.float(name)?);
                    if found != *wanted as f64 {
                        return Ok(Some(refusal(found.to_string(), wanted.to_string())));
                    }
                }
                Some(found) if found != *wanted => return Ok(Some(refusal(found.to_string(), wanted.to_string()))),
                _ => {}
            },
            Literal::Text(wanted) => match r.string(name)? {
                Some(found) if found != wanted => {
                    return Ok(Some(refusal(format!("'{found}'"), format!("'{wanted}'"))));
                }
                _ => {}
            },
            Literal::Ints(wanted) => match r.optional_ints(name) {
                Some(found) if found != *wanted => {
                    return Ok(Some(refusal(format!("{found:?}"), format!("{wanted:?}"))));
                }
                _ => {}
            },
            Literal::Float(wanted) if r.interface.attribute(name).is_some() => {
                let found = f64::from(r.float(name)?);
                if found != *wanted {
                    return Ok(Some(refusal(found.to_string(), wanted.to_string())));
                }
            }
            Literal::Float(_) => {}
        }
    }
    Ok(None)
}

/// Why an attribute is none of those that the form lists.
fn outside(r: &NodeReader<'_, '_>, form: &OnnxForm) -> Option<Reason> {
    let found = |name: &str| r.optional_int(name);
    for (name, values) in &form.one_of {
        if let Some(found) = found(name).filter(|found| !values.contains(found)) {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            let values = values.join(", ");
            return Some(unsupported(format!("attribute `{name}` is {found}, which is not supported; {values} are")));
        }
    }
    let (name, least) = form.least.iter().find(|(name, least)| found(name).is_some_and(|found| found < *least))?;
    let found = found(name).unwrap_or_default();
    Some(format!("attribute `{name}` is {found}, it must be at least {least}").into())
}

/// Why the node has an attribute that the form does not know.
fn unknown_attribute(r: &NodeReader<'_, '_>, form: &OnnxForm) -> Option<Reason> {
    let known = |name: &str| {
        form.attributes.iter().any(|(a, _)| a == name)
            || form.with.iter().any(|(a, _)| a == name)
            || form.ignore.iter().any(|a| a == name)
            || form.choose.iter().any(|(a, _)| a == name)
            || form.words.iter().any(|words| words.attribute == name)
            || form.words.iter().flat_map(|words| &words.numbers).any(|list| list.attribute == name)
    };
    let name = r.node.attributes.keys().find(|name| !known(name) && !SAY_NOTHING.contains(&name.as_str()))?;
    Some(unsupported(format!("attribute `{name}` is not supported")))
}

/// Values of the attributes: the node's, those that are the default of its version. Others are what the declaration says.
fn attributes(r: &NodeReader<'_, '_>, form: &'static OnnxForm) -> Result<Vec<(&'static str, NamedNumber)>, Reason> {
    let given = |name: &str, is_int: bool| -> Result<Option<NamedNumber>, Reason> {
        let Some(rule) = r.interface.attribute(name) else { return Ok(None) };
        if rule.presence == Presence::Optional && !r.node.attributes.contains_key(name) {
            return Ok(None);
        }
        Ok(Some(match is_int {
            true => NamedNumber::Int(r.int(name)?),
            false => NamedNumber::Float(r.float(name)?),
        }))
    };
    let mut values = Vec::new();
    for (name, is_int) in &form.attributes {
        if let Some(Attribute::Float(value)) = r.attribute(name)
            && *is_int
        {
            return Err(format!("attribute `{name}` is {value}, it must be an integer").into());
        }
        values.extend(given(name, *is_int)?.map(|value| (name.as_str(), value)));
    }
    Ok(values)
}

/// What texts say of attributes.
fn chosen(r: &NodeReader<'_, '_>, form: &'static OnnxForm) -> Result<Vec<(&'static str, NamedNumber)>, Reason> {
    let mut values = Vec::new();
    for (name, choices) in &form.choose {
        let Some(text) = r.string(name)? else { continue };
        let Some((_, chosen)) = choices.iter().find(|(choice, _)| choice == text) else {
            let known: Vec<&str> = choices.iter().map(|(choice, _)| choice.as_str()).collect();
            return Err(format!("attribute `{name}` is '{text}', it must be one of {}", known.join(", ")).into());
        };
        values.extend(chosen.iter().map(|(name, value)| (name.as_str(), NamedNumber::Int(*value))));
    }
    Ok(values)
}

/// What lists of words say of attributes; `known` has those that say how often lists stand in a row.
fn worded(
    r: &NodeReader<'_, '_>,
    form: &'static OnnxForm,
    known: &[(&'static str, NamedNumber)],
) -> Result<Vec<(String, NamedNumber)>, Reason> {
    let mut values = Vec::new();
    for list in &form.words {
        let times = list.times.as_ref().and_then(|times| known.iter().find(|(name, _)| name == times));
        let times = match times {
            Some((_, NamedNumber::Int(times))) => usize::try_from(*times).unwrap_or(1),
            _ => 1,
        };
        values.extend(words(r, list, times)?);
    }
    Ok(values)
}

/// A word of a list: its number in the list of those that there are, and the numbers that belong to it.
#[derive(PartialEq)]
struct Word {
    number: i64,
    numbers: Vec<Option<f32>>,
}

/// The attributes that a list of words says, which stands so many times in a row.
fn words(r: &NodeReader<'_, '_>, list: &'static Words, times: usize) -> Result<Vec<(String, NamedNumber)>, Reason> {
    let Words { attribute, of, second, words, numbers, .. } = list;
    let Some(Attribute::Strings(texts)) = r.attribute(attribute) else { return Ok(Vec::new()) };
    if texts.len() != of.len() * times {
        let (found, wanted) = (texts.len(), of.len() * times);
        return Err(format!("attribute `{attribute}` has {found} words, it must have {wanted}").into());
    }
    let mut read: Vec<Word> = Vec::new();
    let mut taken = vec![0; numbers.len()];
    for text in texts {
        let Some(number) = words.iter().position(|known| known.as_bytes().eq_ignore_ascii_case(text)) else {
            let (word, known) = (String::from_utf8_lossy(text), words.join(", "));
            return Err(unsupported(format!(
                "attribute `{attribute}` has '{word}', which is not supported; {known} are"
            )));
        };
        let of_word = numbers.iter().zip(&mut taken).map(|(list, at)| number_of(r, list, &words[number], at));
        read.push(Word { number: number as i64, numbers: of_word.collect::<Result<_, _>>()? });
    }
    for (list, taken) in numbers.iter().zip(taken) {
        let given = floats(r, &list.attribute).len();
        if taken > 0 && given > taken {
            let (name, words) = (&list.attribute, list.words.join(", "));
            return Err(unsupported(format!(
                "attribute `{name}` has {given} numbers, and `{attribute}` has {taken} words that take one ({words})"
            )));
        }
    }
    let (first, rest) = read.split_at(of.len().min(read.len()));
    let differs = rest.chunks(of.len().max(1)).any(|part| part != first);
    if differs && (second.is_empty() || times > 2) {
        return Err(unsupported(format!(
            "attribute `{attribute}` differs from one part of the list to the next, which is not supported"
        )));
    }
    let mut values = Vec::new();
    let all = of.iter().zip(first).chain(second.iter().zip(rest).filter(|_| differs));
    for (name, word) in all {
        values.push((name.clone(), NamedNumber::Int(word.number)));
        let each = numbers.iter().zip(&word.numbers);
        let given = each.filter_map(|(list, number)| Some((list, (*number)?)));
        values.extend(given.map(|(list, number)| (format!("{name}{}", list.suffix), NamedNumber::Float(number))));
    }
    Ok(values)
}

fn floats<'m>(r: &NodeReader<'m, '_>, name: &str) -> &'m [f32] {
    match r.attribute(name) {
        Some(Attribute::Floats(values)) => values,
        _ => &[],
    }
}

/// The number that belongs to a word, the next of its list, which starts at `at`.
fn number_of(r: &NodeReader<'_, '_>, list: &Numbers, word: &String, at: &mut usize) -> Result<Option<f32>, Reason> {
    if !list.words.contains(word) {
        return Ok(None);
    }
    let number = floats(r, &list.attribute).get(*at).copied();
    *at += 1;
    let name = &list.attribute;
    match number {
        Some(number) if number.is_nan() => Err(format!("attribute `{name}` has a NaN, it must have numbers").into()),
        None if list.needed.contains(word) => {
            Err(unsupported(format!("attribute `{name}` has no number for '{word}', which is not supported")))
        }
        number => Ok(number),
    }
}

/// The orders that a form says of dimensions, by the numbers of values.
fn permuted(form: &'static OnnxForm, formals: &[Formal]) -> Permutations {
    let order = |name: &str| form.permute.iter().find(|(permuted, _)| permuted == name);
    let numbered = formals.iter().enumerate();
    numbered.filter_map(|(i, formal)| Some((i, &order(formal.name)?.1[..]))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sutura_dialects::graph::operator::onnx_forms;

    use super::super::OPSETS;
    use super::super::schema::{self, Arity, Interface};
    use super::*;

    /// What a form leaves out of what ONNX's table says of its operator, or says that is not there.
    fn differences(interface: &Interface, form: &OnnxForm) -> Vec<String> {
        let listed = || {
            let with = form.with.iter().map(|(name, _)| name);
            let words = || form.words.iter();
            let said = form.choose.iter().map(|(name, _)| name).chain(words().map(|words| &words.attribute));
            let said = said.chain(words().flat_map(|words| words.numbers.iter().map(|list| &list.attribute)));
            with.chain(form.attributes.iter().map(|(name, _)| name)).chain(&form.ignore).chain(&form.refuse).chain(said)
        };
        let has = |name: &str| interface.attributes.iter().any(|a| a.name == name);
        let values = || interface.inputs.iter().chain(&interface.outputs).map(|formal| formal.name);
        let missing = form
            .refuse
            .iter()
            .chain(form.choose.iter().map(|(name, _)| name))
            .chain(form.words.iter().map(|words| &words.attribute));
        let missing = missing.filter(|name| !has(name)).map(|name| format!("attribute {name} is not there"));
        let unmoved = form.permute.iter().filter(|(name, _)| !values().any(|value| value == name));
        let unmoved = unmoved.map(|(name, _)| format!("nothing is called {name}"));
        let unread = interface
            .attributes
            .iter()
            .filter(|a| !SAY_NOTHING.contains(&a.name) && listed().all(|name| name != a.name));
        let unread = unread.map(|a| format!("attribute {} is not read", a.name));
        let input = |name: &str| interface.inputs.iter().find(|input| input.name == name);
        let may_lack = |name: &str| form.input_names.iter().skip(interface.inputs.len()).any(|input| input == name);
        let absent = form.absent.iter().map(|(name, _)| name).chain(&form.without);
        let absent = absent.filter(|name| !may_lack(name) && input(name).is_none_or(|i| i.arity != Arity::Optional));
        let absent = absent.map(|name| format!("input {name} cannot be left out"));
        let outputs = (form.results > interface.outputs.len()).then(|| "has too many results".to_string());
        unread.chain(absent).chain(outputs).chain(missing).chain(unmoved).collect()
    }

    /// An operator is looked for in the texts that name it, which is seen without reading them.
    #[test]
    fn the_forms_of_an_operator_are_those_of_the_whole_library() {
        let named = |form: &'static OnnxForm| (form.domain.as_str(), form.op.as_str());
        for (domain, op) in onnx_forms().map(named).collect::<BTreeSet<_>>() {
            let all: Vec<&OnnxForm> = onnx_forms().filter(|form| named(form) == (domain, op)).collect();
            let found: Vec<&OnnxForm> = onnx_forms_of(domain, op).collect();
            assert!(all.len() == found.len() && all.iter().zip(&found).all(|(a, b)| std::ptr::eq(*a, *b)), "{op}");
        }
        assert_eq!(onnx_forms_of("", "Conv").count(), 0);
        assert_eq!(onnx_forms_of("", "").count(), 0);
    }

    #[test]
    fn the_library_reads_all_that_the_table_has() {
        for form in onnx_forms() {
            let operator = schema::operator(&form.domain, &form.op);
            let operator = operator.unwrap_or_else(|| panic!("@{}: ONNX's table has no {}", form.operator, form.op));
            for opset in OPSETS {
                let Some(interface) = operator.at(opset) else { continue };
                if (form.since..=form.until).contains(&interface.since) {
                    let found = differences(interface, form);
                    assert!(found.is_empty(), "@{} of {} in opset {opset}: {found:?}", form.operator, form.op);
                }
            }
        }
    }
}
