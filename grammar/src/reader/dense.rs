//! Elements of constants. They are scanned byte by byte rather than by a rule: a constant can be large, and a rule would
//! make a token of every number.

use sutura_ir::attrs::{Attr, AttrData, element_bytes};
use sutura_ir::diagnostics::Reported;
use sutura_ir::types::{DYNAMIC, Signedness, Type, TypeData};

use super::Reader;
use super::number::{Bits, Literal};
use crate::KeepLayout;
use crate::blank::string_end;
use crate::rules::{Node, Span};
use crate::scan::{number_end, skip_blank, word_end};

/// Elements of one literal: raw bytes or strings, and the shape that the brackets make.
struct Elements {
    /// Bytes per element as written: half an element for numbers in a complex constant.
    bytes: Vec<u8>,
    strings: Vec<Attr>,
    /// Numbers, booleans or strings read.
    count: usize,
    /// Sizes by depth; empty for a literal without brackets.
    shape: Vec<usize>,
    end: usize,
}

/// Reads the elements of one literal.
struct Scanner<'r, 't> {
    reader: &'r mut Reader<'t>,
    elem: Type,
    at: usize,
    end: usize,
    out: Elements,
    /// Number of items in each open bracket.
    open: Vec<usize>,
}

impl<'t> Reader<'t> {
    /// `dense<…> : type`; without a type it is `expected`.
    pub(super) fn dense(&mut self, node: Node<'t>, expected: Option<Type>) -> Result<Attr, Reported> {
        let (start, end) = (node.start(), node.span().end);
        let mut children = node.children();
        let elements = children.next().expect("elements").span();
        let ty = match (children.next(), expected) {
            (Some(ty), _) => self.type_node(ty)?,
            (None, Some(ty)) => ty,
            (None, None) => return Err(self.error(end, "expected ':'")),
        };
        let count = self.static_count(ty, start)?;
        let elem = self.cx.element_type(ty);
        let first = skip_blank(self.text, elements.start);
        let is_text = !self.is_numeric(elem);
        if first < elements.end && self.text[first..].starts_with("\"0x") && !is_text {
            let end = self.only(elements, string_end(self.text.as_bytes(), first))?;
            let attr = self.dense_hex(start, Span::new(first, end), ty, count)?;
            if self.options.layout == KeepLayout::All {
                self.hex.insert(attr);
            }
            return Ok(attr);
        }
        if first == elements.end {
            if count != 0 {
                let type_text = sutura_ir::asm::print::type_text(self.cx, ty);
                let message = format!("parsed zero elements, but type ({type_text}) expected at least 1");
                return Err(self.error(start, message));
            }
            return Ok(self.dense_attr(ty, Vec::new(), count));
        }
        let read = self.scan(elements, elem)?;
        self.only(elements, read.end)?;
        self.check_shape(&read, ty, start)?;
        if is_text { Ok(self.dense_strings(ty, read)) } else { self.dense_numbers(ty, read, count, start) }
    }

    /// Number of elements of a tensor or vector type with static shape.
    fn static_count(&mut self, ty: Type, at: usize) -> Result<usize, Reported> {
        let shape = match self.cx.type_data(ty) {
            TypeData::RankedTensor { .. } | TypeData::Vector { .. } | TypeData::MemRef { .. } => self.cx.shape(ty),
            TypeData::UnrankedTensor(_) | TypeData::UnrankedMemRef { .. } => None,
            _ => return Err(self.error(at, "elements literal must be a shaped type")),
        };
        let Some(shape) = shape.filter(|s| !s.contains(&DYNAMIC)) else {
            return Err(self.error(at, "elements literal type must have static shape"));
        };
        let count = shape.iter().try_fold(1usize, |n, &s| n.checked_mul(usize::try_from(s).ok()?));
        count.ok_or_else(|| self.error(at, "the type has more elements than can be addressed"))
    }

    fn is_numeric(&self, elem: Type) -> bool {
        element_bytes(self.cx, elem).is_some()
    }

    /// The end of a literal, when only blanks follow it in the span.
    fn only(&mut self, span: Span, end: usize) -> Result<usize, Reported> {
        let rest = skip_blank(self.text, end);
        if rest < span.end { Err(self.error(rest, "expected '>'")) } else { Ok(end) }
    }

    fn scan(&mut self, span: Span, elem: Type) -> Result<Elements, Reported> {
        let start = skip_blank(self.text, span.start);
        let out = Elements { bytes: Vec::new(), strings: Vec::new(), count: 0, shape: Vec::new(), end: start };
        let scanner = Scanner { reader: self, elem, at: start, end: span.end, out, open: Vec::new() };
        scanner.run()
    }

    fn check_shape(&mut self, read: &Elements, ty: Type, at: usize) -> Result<(), Reported> {
        let shape = self.cx.shape(ty).unwrap_or_default();
        if read.shape.is_empty() || read.shape.iter().map(|n| *n as i64).eq(shape.iter().copied()) {
            return Ok(());
        }
        let list = |sizes: Vec<String>| sizes.join(", ");
        let found = list(read.shape.iter().map(ToString::to_string).collect());
        let wanted = list(shape.iter().map(ToString::to_string).collect());
        let message = format!("inferred shape of elements literal ([{found}]) does not match type ([{wanted}])");
        Err(self.error(at, message))
    }

    fn dense_strings(&mut self, ty: Type, read: Elements) -> Attr {
        let values = &read.strings;
        let splat = values.windows(2).all(|w| w[0] == w[1]);
        let kept = if splat { &values[..values.len().min(1)] } else { &values[..] };
        self.cx.attr(AttrData::DenseStrings { ty, values: self.cx.attr_list(kept), splat })
    }

    fn dense_numbers(&mut self, ty: Type, read: Elements, count: usize, at: usize) -> Result<Attr, Reported> {
        let elem = self.cx.element_type(ty);
        let per_element = if matches!(self.cx.type_data(elem), TypeData::Complex(_)) { 2 } else { 1 };
        let wanted = if read.shape.is_empty() { per_element } else { count * per_element };
        if read.count != wanted {
            let text = sutura_ir::asm::print::type_text(self.cx, ty);
            let message = format!("parsed {} elements, but type ('{text}') expected {wanted} elements", read.count);
            return Err(self.error(at, message));
        }
        if read.shape.is_empty() {
            let data = self.cx.blob(&read.bytes);
            return Ok(self.cx.attr(AttrData::Dense { ty, data, splat: true }));
        }
        Ok(self.dense_attr(ty, read.bytes, count))
    }

    /// A constant from all its elements; equal elements make a splat.
    fn dense_attr(&self, ty: Type, bytes: Vec<u8>, count: usize) -> Attr {
        let size = element_bytes(self.cx, self.cx.element_type(ty)).unwrap_or(1);
        let splat = count != 0 && bytes.chunks_exact(size).all(|c| c == &bytes[..size]);
        let data = self.cx.blob(if splat { &bytes[..size] } else { &bytes });
        self.cx.attr(AttrData::Dense { ty, data, splat })
    }

    /// `"0x…"`: raw bytes of all elements or of one.
    fn dense_hex(&mut self, at: usize, span: Span, ty: Type, count: usize) -> Result<Attr, Reported> {
        let digits = &span.of(self.text)[3..];
        let digits = digits.strip_suffix('"').unwrap_or(digits);
        let Some(raw) = hex_bytes(digits) else {
            return Err(self.error(span.start, "elements hex string only contains hex digits"));
        };
        let elem = self.cx.element_type(ty);
        let size = element_bytes(self.cx, elem).expect("a numeric type");
        let bytes = if elem == Type::I1 { unpack_bits(&raw, count) } else { fitting(&raw, size, count) };
        let Some(bytes) = bytes else {
            let text = sutura_ir::asm::print::type_text(self.cx, ty);
            let message = format!("elements hex data size is invalid for provided type: '{text}'");
            return Err(self.error(at, message));
        };
        if bytes.len() == size {
            let data = self.cx.blob(&bytes);
            return Ok(self.cx.attr(AttrData::Dense { ty, data, splat: true }));
        }
        Ok(self.dense_attr(ty, bytes, count))
    }

    /// Every index of a sparse constant lies in its type's shape.
    fn check_sparse_indices(&mut self, indices: &Elements, ty: Type, at: usize) -> Result<(), Reported> {
        let cx = self.cx;
        let shape = cx.shape(ty).unwrap_or_default();
        let numbers: Vec<i64> = indices.bytes.as_chunks::<8>().0.iter().map(|c| i64::from_le_bytes(*c)).collect();
        // One number stands for the index in every dimension.
        let all = if indices.shape.is_empty() { numbers.repeat(shape.len()) } else { numbers };
        let is_inside = |index: &[i64]| index.iter().zip(shape).all(|(i, size)| (0..*size).contains(i));
        let Some(n) = all.chunks_exact(shape.len().max(1)).position(|index| !is_inside(index)) else { return Ok(()) };
        let index: Vec<String> =
            all[n * shape.len()..][..shape.len()].iter().map(|i| i.cast_unsigned().to_string()).collect();
        let (index, ty) = (index.join(", "), sutura_ir::asm::print::type_text(cx, ty));
        let message =
            format!("sparse index #{n} is not contained within the value shape, with index=[{index}], and type='{ty}'");
        Err(self.error(at, message))
    }

    pub(super) fn sparse(&mut self, node: Node<'t>) -> Result<Attr, Reported> {
        let start = node.start();
        let mut children = node.children();
        let body = children.next().expect("elements").span();
        let ty = children.next().expect("a type");
        let ty = self.type_node(ty)?;
        let cx = self.cx;
        self.static_count(ty, start)?;
        let (rank, elem) = (cx.shape(ty).map_or(0, <[i64]>::len) as i64, cx.element_type(ty));
        let is_text = !self.is_numeric(elem);
        if skip_blank(self.text, body.start) >= body.end {
            let indices = self.dense_attr(cx.tensor_type(&[0, rank], Type::I64, None), Vec::new(), 0);
            let values_ty = cx.tensor_type(&[0], elem, None);
            let empty = Elements { bytes: vec![], strings: vec![], count: 0, shape: vec![0], end: body.end };
            let values =
                if is_text { self.dense_strings(values_ty, empty) } else { self.dense_attr(values_ty, vec![], 0) };
            return Ok(cx.attr(AttrData::Sparse { ty, indices, values }));
        }
        let indices = self.scan(body, Type::I64)?;
        let comma = skip_blank(self.text, indices.end);
        if comma >= body.end || self.text.as_bytes()[comma] != b',' {
            return Err(self.error(comma, "expected ','"));
        }
        let values = self.scan(Span::new(comma + 1, body.end), elem)?;
        self.only(body, values.end)?;
        let indices_shape: Vec<i64> = match &indices.shape[..] {
            [] => vec![1, rank],
            shape => shape.iter().map(|n| *n as i64).collect(),
        };
        let rows = indices_shape[0];
        let values_shape: Vec<i64> = match &values.shape[..] {
            [] => vec![rows],
            shape => shape.iter().map(|n| *n as i64).collect(),
        };
        if indices_shape.len() > 2 || (indices_shape.len() == 2 && indices_shape[1] != rank) || values_shape != [rows] {
            let message = format!(
                "expected indices of shape ([{rows}, {rank}]) and as many values for the sparse elements of this type"
            );
            return Err(self.error(body.start, message));
        }
        self.check_sparse_indices(&indices, ty, start)?;
        let indices_ty = cx.tensor_type(&indices_shape, Type::I64, None);
        let count = indices_shape.iter().product::<i64>() as usize;
        let indices = self.dense_numbers(indices_ty, indices, count, body.start)?;
        let values_ty = cx.tensor_type(&values_shape, elem, None);
        let values = if is_text {
            self.dense_strings(values_ty, values)
        } else {
            self.dense_numbers(values_ty, values, rows as usize, comma + 1)?
        };
        Ok(cx.attr(AttrData::Sparse { ty, indices, values }))
    }

    pub(super) fn dense_array(&mut self, node: Node<'t>) -> Result<Attr, Reported> {
        let mut children = node.children();
        let ty = children.next().expect("a type");
        let ty_at = ty.start();
        let elem = self.keyword_type(&ty)?;
        self.check_array_element(elem, ty_at)?;
        let mut bytes = Vec::new();
        if let Some(elements) = children.next() {
            bytes = self.array_elements(elements.span(), elem)?;
        }
        Ok(self.cx.attr(AttrData::DenseArray { elem, data: self.cx.blob(&bytes) }))
    }

    /// Elements of a dense array fill whole bytes, but for booleans.
    fn check_array_element(&mut self, elem: Type, at: usize) -> Result<(), Reported> {
        let width = match self.cx.type_data(elem) {
            TypeData::Integer { width, .. } => Some(width),
            TypeData::Float(kind) => Some(kind.bits()),
            _ => None,
        };
        match width {
            Some(1) => Ok(()),
            Some(width) if width % 8 == 0 => Ok(()),
            Some(_) => Err(self.error(at, "element type bitwidth must be a multiple of 8")),
            None => {
                let text = sutura_ir::asm::print::type_text(self.cx, elem);
                Err(self.error(at, format!("expected integer or float type, got: '{text}'")))
            }
        }
    }

    /// `[1, 2]`, brackets included: the elements of a dense array.
    pub(crate) fn bracketed_array(&mut self, span: Span, elem: Type) -> Result<Attr, Reported> {
        let inside = Span::new(span.start + 1, span.end - 1);
        let is_empty = skip_blank(self.text, inside.start) >= inside.end;
        let bytes = if is_empty { Vec::new() } else { self.array_elements(inside, elem)? };
        Ok(self.cx.attr(AttrData::DenseArray { elem, data: self.cx.blob(&bytes) }))
    }

    fn array_elements(&mut self, span: Span, elem: Type) -> Result<Vec<u8>, Reported> {
        let out = Elements { bytes: Vec::new(), strings: Vec::new(), count: 0, shape: Vec::new(), end: span.end };
        let at = span.start;
        let is_one_bit = self.cx.bit_width(elem) == Some(1);
        let is_integer = !is_one_bit && matches!(self.cx.type_data(elem), TypeData::Integer { .. });
        let mut scanner = Scanner { reader: self, elem, at, end: span.end, out, open: Vec::new() };
        loop {
            scanner.skip_blank();
            if is_one_bit && !scanner.rest().starts_with("true") && !scanner.rest().starts_with("false") {
                let at = number_end(scanner.reader.text, scanner.at).unwrap_or(scanner.at);
                return Err(scanner.reader.error(at, "expected 'true' or 'false' values for i1 type"));
            }
            if is_integer {
                scanner.array_integer()?;
            } else {
                scanner.element()?;
            }
            scanner.skip_blank();
            if scanner.at == scanner.end {
                return Ok(scanner.out.bytes);
            }
            if !scanner.take(b',') {
                let at = scanner.at;
                return Err(scanner.reader.missing(at, "expected '>' to close an array attribute"));
            }
        }
    }
}

impl<'t> Scanner<'_, 't> {
    /// An integer of a dense array; a boolean is none, which `element` says.
    fn array_integer(&mut self) -> Result<(), Reported> {
        let (text, start) = (self.reader.text, self.at);
        let digits = start + usize::from(self.peek() == Some(b'-'));
        let token = skip_blank(text, digits).min(self.end);
        let is_word = matches!(&text[token..word_end(text, token)], "true" | "false");
        let is_integer = number_end(text, token).is_some_and(|end| !text[token..end].contains('.'));
        if !is_word && !is_integer {
            // An arrow is one token.
            let at = if text[start..].starts_with("->") { start } else { token };
            return Err(self.reader.error(at, "expected integer literal"));
        }
        // Upstream takes -1 for the largest number of an unsigned type here, and nowhere else.
        match self.reader.cx.type_data(self.elem) {
            TypeData::Integer { width, sign: Signedness::Unsigned } if digits > start => {
                let signless = self.reader.cx.int_type(width);
                self.scalar(signless)
            }
            _ => self.element(),
        }
    }

    fn rest(&self) -> &'t str {
        &self.reader.text[self.at..self.end]
    }

    fn peek(&self) -> Option<u8> {
        self.rest().bytes().next()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_blank(&mut self) {
        self.at = skip_blank(self.reader.text, self.at).min(self.end);
    }

    /// One element, or brackets with elements. Iterative: brackets cost no machine stack.
    fn run(mut self) -> Result<Elements, Reported> {
        loop {
            self.skip_blank();
            if self.peek() == Some(b'[') {
                self.at += 1;
                self.open.push(0);
                if self.open.len() > super::MAX_DEPTH {
                    let at = self.at;
                    return Err(self.reader.too_deep(at));
                }
                self.skip_blank();
                if self.peek() != Some(b']') {
                    continue;
                }
            } else {
                self.element()?;
                self.check_depth()?;
            }
            if self.close_brackets()? {
                self.out.end = self.at;
                return Ok(self.out);
            }
        }
    }

    /// After an item: counts it, takes a comma or closing brackets; true when the literal is complete.
    fn close_brackets(&mut self) -> Result<bool, Reported> {
        // An empty bracket comes here without an item in it.
        let mut item = !(self.reader.text.as_bytes()[..self.at].last() == Some(&b'[') && self.peek() == Some(b']'));
        loop {
            let depth = self.open.len();
            let Some(count) = self.open.last_mut() else { return Ok(true) };
            *count += usize::from(item);
            self.skip_blank();
            if item && self.take(b',') {
                return Ok(false);
            }
            if !self.take(b']') {
                let at = self.at;
                return Err(self.reader.error(at, "expected ']'"));
            }
            let count = self.open.pop().expect("looked at above");
            if self.out.shape.len() < depth {
                self.out.shape.resize(depth, usize::MAX);
            }
            let size = &mut self.out.shape[depth - 1];
            if *size != usize::MAX && *size != count {
                return Err(self.inconsistent());
            }
            *size = count;
            item = true;
        }
    }

    /// All elements stand at one depth.
    fn check_depth(&mut self) -> Result<(), Reported> {
        if self.out.shape.is_empty() || self.out.shape.len() == self.open.len() {
            return Ok(());
        }
        Err(self.inconsistent())
    }

    fn inconsistent(&mut self) -> Reported {
        let at = self.at;
        let message = "tensor literal is invalid; ranks are not consistent between elements";
        self.reader.error(at, message)
    }

    /// A number, boolean or string, or a complex number in parentheses.
    fn element(&mut self) -> Result<(), Reported> {
        let complex = match self.reader.cx.type_data(self.elem) {
            TypeData::Complex(part) => Some(part),
            _ => None,
        };
        if let (Some(part), true) = (complex, self.take(b'(')) {
            self.scalar(part)?;
            self.skip_blank();
            if !self.take(b',') {
                let at = self.at;
                return Err(self.reader.error(at, "expected ',' between complex elements"));
            }
            self.scalar(part)?;
            self.skip_blank();
            if !self.take(b')') {
                let at = self.at;
                return Err(self.reader.error(at, "expected ')' after complex elements"));
            }
            return Ok(());
        }
        self.scalar(complex.unwrap_or(self.elem))
    }

    fn scalar(&mut self, elem: Type) -> Result<(), Reported> {
        self.skip_blank();
        let at = self.at;
        let text = self.reader.text;
        self.out.count += 1;
        match self.peek() {
            Some(b'"') => {
                self.at = string_end(text.as_bytes(), at).min(self.end);
                if self.reader.is_numeric(elem) {
                    return Err(self.reader.error(at, "expected numeric elements, but parsed a string"));
                }
                let value = self.reader.unescape(Span::new(at, self.at))?;
                let ty = Type::NONE;
                let cx = self.reader.cx;
                self.out.strings.push(cx.attr(AttrData::String { value: cx.ident(&value), ty }));
                Ok(())
            }
            Some(b'-' | b'0'..=b'9') => {
                let Some(end) = number_end(text, at) else {
                    let at = skip_blank(text, at + 1);
                    return Err(self.reader.error(at, "expected integer or floating point literal"));
                };
                self.at = end;
                self.number(Literal::new(&text[at..end], at), elem)
            }
            Some(_) => {
                let end = word_end(text, at);
                let value = match &text[at..end] {
                    "true" => 1,
                    "false" => 0,
                    _ => {
                        let message = "expected element literal of primitive type";
                        return Err(self.reader.error(at, message));
                    }
                };
                if elem != Type::I1 {
                    let is_float = elem.is_float(self.reader.cx);
                    return Err(self.reader.error(
                        at,
                        if is_float {
                            "expected floating point literal"
                        } else {
                            "expected i1 type for 'true' or 'false' values"
                        },
                    ));
                }
                self.at = end;
                self.out.bytes.push(value);
                Ok(())
            }
            None => Err(self.reader.error(at, "expected element literal of primitive type")),
        }
    }

    fn number(&mut self, literal: Literal<'t>, elem: Type) -> Result<(), Reported> {
        use super::number::LiteralKind;
        let cx = self.reader.cx;
        let Some(size) = element_bytes(cx, elem) else {
            return Err(self.reader.error(literal.at, "expected string elements for this element type"));
        };
        let bits = match cx.type_data(elem) {
            TypeData::Float(kind) => {
                if literal.kind == LiteralKind::Decimal {
                    let message = "expected floating-point elements, but parsed integer";
                    return Err(self.reader.error(literal.at, message));
                }
                self.reader.float_bits(literal, kind)?
            }
            _ if literal.kind == LiteralKind::Float => {
                let message = "expected integer elements, but parsed floating-point";
                return Err(self.reader.error(literal.at, message));
            }
            _ => self.reader.int_bits(literal, elem)?,
        };
        match bits {
            // `i1` is 0 or 1.
            Bits::Word(value) if elem == Type::I1 => self.out.bytes.push((value & 1) as u8),
            Bits::Word(value) => {
                let value = self.masked(value, elem);
                self.out.bytes.extend_from_slice(&value.to_le_bytes()[..size.min(8)]);
            }
            Bits::Words(words) => {
                let bytes = words.iter().flat_map(|w| w.to_le_bytes());
                self.out.bytes.extend(bytes.take(size));
            }
        }
        Ok(())
    }

    /// Without the sign bits beyond the type's width, as MLIR stores small integers.
    fn masked(&self, value: i64, elem: Type) -> i64 {
        match self.reader.cx.bit_width(elem) {
            Some(width @ 1..64) => value & ((1 << width) - 1),
            _ => value,
        }
    }
}

fn hex_bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    let bytes = digits.as_bytes();
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    bytes.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// Raw data of one element or of all.
fn fitting(raw: &[u8], size: usize, count: usize) -> Option<Vec<u8>> {
    (raw.len() == size || Some(raw.len()) == size.checked_mul(count)).then(|| raw.to_vec())
}

/// Booleans packed eight to a byte; one byte of equal bits stands for all.
fn unpack_bits(raw: &[u8], count: usize) -> Option<Vec<u8>> {
    if let [all @ (0 | 0xff)] = raw {
        return Some(vec![all & 1]);
    }
    let bits = (0..count).map(|i| raw.get(i / 8).copied().unwrap_or(0) >> (i % 8) & 1);
    (raw.len() == count.div_ceil(8)).then(|| bits.collect())
}
