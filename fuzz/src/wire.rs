//! Protobuf messages as trees, without their schema, and changes to them: what is changed is a message still, with all lengths right.

use sutura_interp::random::Random;

use crate::mutate::pick;

/// A field of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    number: u64,
    value: Value,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    /// A text, packed numbers, or the bytes of a tensor.
    Bytes(Vec<u8>),
    Message(Vec<Field>),
}

/// The deepest message that is looked into.
const DEPTH: usize = 24;

/// The greatest number that a field of ONNX has, and some more.
const MOST_NUMBER: u64 = 40;

/// The fields of a message; None if the bytes are none.
pub fn parse(bytes: &[u8]) -> Option<Vec<Field>> {
    fields(bytes, 0)
}

fn fields(mut bytes: &[u8], depth: usize) -> Option<Vec<Field>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let number = tag >> 3;
        let value = match tag & 7 {
            0 => Value::Varint(varint(&mut bytes)?),
            1 => Value::Fixed64(u64::from_le_bytes(take(&mut bytes, 8)?.try_into().ok()?)),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                delimited(take(&mut bytes, length)?, depth)
            }
            5 => Value::Fixed32(u32::from_le_bytes(take(&mut bytes, 4)?.try_into().ok()?)),
            _ => return None,
        };
        if number == 0 || number > MOST_NUMBER {
            return None;
        }
        found.push(Field { number, value });
    }
    Some(found)
}

/// A message where the bytes are one and no text: names of two letters are messages too, as it happens.
fn delimited(bytes: &[u8], depth: usize) -> Value {
    let is_text = bytes.iter().all(|b| (b' '..0x7f).contains(b));
    let message = if is_text || depth == DEPTH { None } else { fields(bytes, depth + 1) };
    message.map_or_else(|| Value::Bytes(bytes.to_vec()), Value::Message)
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for at in 0..10 {
        let byte = u64::from(take(bytes, 1)?[0]);
        value |= (byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// The bytes of a message.
pub fn write(fields: &[Field]) -> Vec<u8> {
    let mut out = Vec::new();
    for Field { number, value } in fields {
        let kind = match value {
            Value::Varint(_) => 0,
            Value::Fixed64(_) => 1,
            Value::Bytes(_) | Value::Message(_) => 2,
            Value::Fixed32(_) => 5,
        };
        put(&mut out, number << 3 | kind);
        match value {
            Value::Varint(value) => put(&mut out, *value),
            Value::Fixed64(value) => out.extend(value.to_le_bytes()),
            Value::Fixed32(value) => out.extend(value.to_le_bytes()),
            Value::Bytes(bytes) => delimit(&mut out, bytes),
            Value::Message(inner) => delimit(&mut out, &write(inner)),
        }
    }
    out
}

fn delimit(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend(bytes);
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A message of `models` with one to three changes.
pub fn mutated(models: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let model: &Vec<u8> = pick(random, models);
    let Some(mut message) = parse(model) else { return model.clone() };
    for _ in 0..random.range(1, 3) {
        let other: &Vec<u8> = pick(random, models);
        let other = parse(other).unwrap_or_default();
        change(&mut message, &other, random);
    }
    write(&message)
}

fn count(fields: &[Field]) -> usize {
    let inside = |field: &Field| match &field.value {
        Value::Message(inner) => count(inner),
        _ => 0,
    };
    fields.iter().map(|field| 1 + inside(field)).sum()
}

/// Goes to field `at` of the message, in the order in which it is written, with the list that it stands in.
fn visit(fields: &mut Vec<Field>, at: &mut usize, change: &mut dyn FnMut(&mut Vec<Field>, usize)) -> bool {
    let mut place = 0;
    while place < fields.len() {
        if *at == 0 {
            change(fields, place);
            return true;
        }
        *at -= 1;
        if let Value::Message(inner) = &mut fields[place].value
            && visit(inner, at, change)
        {
            return true;
        }
        place += 1;
    }
    false
}

/// Every field of the message and those inside.
fn flat<'f>(fields: &'f [Field], found: &mut Vec<&'f Field>) {
    for field in fields {
        found.push(field);
        if let Value::Message(inner) = &field.value {
            flat(inner, found);
        }
    }
}

fn change(message: &mut Vec<Field>, other: &[Field], random: &mut Random) {
    let all = count(message);
    if all == 0 {
        return;
    }
    let (own, mut theirs) = (message.clone(), Vec::new());
    let mut ours = Vec::new();
    flat(&own, &mut ours);
    flat(other, &mut theirs);
    let mut at = index(random, all);
    visit(message, &mut at, &mut |siblings, place| match random.range(0, 9) {
        0 => drop(siblings.remove(place)),
        1 => siblings.insert(place, siblings[place].clone()),
        2 => {
            let with = index(random, siblings.len());
            siblings.swap(place, with);
        }
        // Something of the same number and kind, from this model or another one.
        3 | 4 => {
            let from = if random.range(0, 1) == 0 { &ours } else { &theirs };
            let alike = |field: &&&Field| {
                field.number == siblings[place].number
                    && std::mem::discriminant(&field.value) == std::mem::discriminant(&siblings[place].value)
            };
            let alike: Vec<&&Field> = from.iter().filter(alike).collect();
            if !alike.is_empty() {
                siblings[place] = (**pick(random, &alike)).clone();
            }
        }
        _ => scalar(&mut siblings[place].value, &ours, random),
    });
}

fn index(random: &mut Random, count: usize) -> usize {
    (random.next_u64() % count.max(1) as u64) as usize
}

/// Changes a number or a text.
fn scalar(value: &mut Value, ours: &[&Field], random: &mut Random) {
    const NUMBERS: [i64; 14] = [0, 1, 2, 3, 7, 16, 17, 255, 65_537, -1, -2, i64::MAX, i64::MIN, 1 << 40];
    match value {
        Value::Varint(number) => *number = *pick(random, &NUMBERS) as u64,
        Value::Fixed32(bits) => *bits = pick(random, &[0.0f32, -1.0, 0.5, 1e30, f32::NAN, f32::INFINITY]).to_bits(),
        Value::Fixed64(bits) => *bits = pick(random, &[0.0f64, -1.0, 1e300, f64::NAN]).to_bits(),
        Value::Bytes(bytes) => match random.range(0, 3) {
            0 => bytes.clear(),
            1 => bytes.truncate(bytes.len() / 2),
            2 => {
                let at = index(random, bytes.len() + 1);
                bytes.insert(at, random.next_u64() as u8);
            }
            // Names take the places of each other.
            _ => {
                let texts = ours.iter().filter_map(|field| match &field.value {
                    Value::Bytes(text) => Some(text),
                    _ => None,
                });
                let texts: Vec<&Vec<u8>> = texts.collect();
                if !texts.is_empty() {
                    *bytes = (*pick(random, &texts)).clone();
                }
            }
        },
        Value::Message(inner) => {
            let twice = inner.clone();
            inner.extend(twice);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields `1: 300`, `2: "ab"` and `7: {1: 5}`.
    const MESSAGE: &[u8] = &[0x08, 0xac, 0x02, 0x12, 0x02, b'a', b'b', 0x3a, 0x02, 0x08, 0x05];

    #[test]
    fn messages_are_read_and_written_as_they_are() {
        let fields = parse(MESSAGE).expect("a message");
        let inner = vec![Field { number: 1, value: Value::Varint(5) }];
        let expected = [Value::Varint(300), Value::Bytes(b"ab".to_vec()), Value::Message(inner)];
        assert_eq!(fields.iter().map(|field| field.value.clone()).collect::<Vec<_>>(), expected);
        assert_eq!(write(&fields), MESSAGE);
        assert_eq!(parse(&MESSAGE[..MESSAGE.len() - 1]), None);
    }

    #[test]
    fn what_is_changed_is_a_message() {
        let models = [MESSAGE.to_vec()];
        let mut random = Random::new(1);
        let changed: Vec<Vec<u8>> = (0..200).map(|_| mutated(&models, &mut random)).collect();
        assert!(changed.iter().all(|bytes| parse(bytes).is_some()));
        assert!(changed.iter().filter(|bytes| **bytes != MESSAGE).count() > 150);
    }
}
