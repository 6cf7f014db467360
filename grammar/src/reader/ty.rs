//! Types.

use sutura_ir::attrs::{Attr, AttrData};
use sutura_ir::context::TypeList;
use sutura_ir::diagnostics::{Diagnostic, Reported, codes, did_you_mean};
use sutura_ir::types::{DYNAMIC, FloatKind, MAX_RANK, Signedness, Type, TypeData};

use super::Reader;
use crate::rules::{Node, Rule};

/// Largest width of an integer type.
pub(crate) const MAX_WIDTH: u32 = (1 << 24) - 1;

impl<'t> Reader<'t> {
    pub(super) fn type_node(&mut self, node: Node<'t>) -> Result<Type, Reported> {
        if node.rule() == Rule::keyword_type {
            return self.keyword_type(&node);
        }
        let (at, text) = (node.start(), node.text());
        if let Some(&ty) = self.types.get(text) {
            return Ok(ty);
        }
        let ty = self.nested(at, |r| match node.rule() {
            Rule::function => {
                let (inputs, results) = r.function_node(node)?;
                Ok(r.cx.ty(TypeData::Function { inputs, results }))
            }
            Rule::tensor => r.tensor(node),
            Rule::memref => r.memref(node),
            Rule::vector => r.vector(node),
            Rule::complex => r.complex(node),
            Rule::tuple => {
                let types = r.types(node)?;
                Ok(r.cx.ty(TypeData::Tuple(types)))
            }
            Rule::dialect_type => r.dialect_type(node),
            rule => unreachable!("{rule:?} is no type"),
        })?;
        self.types.insert(text, ty);
        Ok(ty)
    }

    fn types(&mut self, node: Node<'t>) -> Result<TypeList, Reported> {
        let types = node.children().map(|n| self.type_node(n)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.cx.type_list(&types))
    }

    pub(super) fn function_node(&mut self, node: Node<'t>) -> Result<(TypeList, TypeList), Reported> {
        let mut children = node.children();
        let inputs = self.types(children.next().expect("inputs"))?;
        let results = children.next().expect("results");
        let results = match results.rule() {
            Rule::type_list => self.types(results)?,
            _ => {
                let ty = self.type_node(results)?;
                self.cx.type_list(&[ty])
            }
        };
        Ok((inputs, results))
    }

    pub(super) fn keyword_type(&mut self, node: &Node<'t>) -> Result<Type, Reported> {
        let word = node.text();
        match word {
            "i1" => return Ok(Type::I1),
            "i8" => return Ok(Type::I8),
            "i32" => return Ok(Type::I32),
            "i64" => return Ok(Type::I64),
            "f32" => return Ok(Type::F32),
            "f64" => return Ok(Type::F64),
            "index" => return Ok(Type::INDEX),
            "none" => return Ok(Type::NONE),
            _ => {}
        }
        if let Some(kind) = FloatKind::from_keyword(word) {
            return Ok(self.cx.ty(TypeData::Float(kind)));
        }
        let (sign, digits) = match word.as_bytes() {
            [b's', b'i', ..] => (Signedness::Signed, &word[2..]),
            [b'u', b'i', ..] => (Signedness::Unsigned, &word[2..]),
            [b'i', ..] => (Signedness::Signless, &word[1..]),
            _ => return Err(self.unknown_type(node)),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(self.unknown_type(node));
        }
        match digits.parse::<u32>() {
            Ok(width) if width <= MAX_WIDTH => Ok(self.cx.ty(TypeData::Integer { width, sign })),
            _ => Err(self.error(node.start(), format!("integer bitwidth is limited to {MAX_WIDTH} bits"))),
        }
    }

    fn unknown_type(&mut self, node: &Node<'t>) -> Reported {
        self.no_type(node.start(), node.text())
    }

    /// Reports that `word`, empty if there is none, stands at `at` where a type should.
    pub(crate) fn no_type(&mut self, at: usize, word: &str) -> Reported {
        if word.is_empty() {
            return self.missing(at, "expected non-function type");
        }
        if matches!(word, "tensor" | "memref" | "vector" | "complex" | "tuple") {
            return self.error(at + word.len(), format!("expected '<' in {word} type"));
        }
        self.no_such_word(at, word, "expected non-function type")
    }

    /// Reports that what `message` asks for is missing where `word` stands, with the type that may be meant.
    pub(super) fn no_such_word(&mut self, at: usize, word: &str, message: &str) -> Reported {
        const WORDS: [&str; 12] =
            ["tensor", "memref", "vector", "complex", "tuple", "index", "none", "i1", "i8", "i16", "i32", "i64"];
        let floats = FloatKind::ALL.iter().map(|(_, word, _)| *word);
        let meant = did_you_mean(word, WORDS.into_iter().chain(floats));
        let place = self.loc(crate::syntax::after_previous(self.text, at));
        let error = Diagnostic::error(place, message).code(codes::UNKNOWN_ENTITY);
        self.report(match meant {
            Some(meant) => error.help(format!("`{word}` is no type; did you mean `{meant}`?")),
            None => error.help(format!("`{word}` is no type")),
        })
    }

    /// Dimensions of a tensor or memref.
    fn shape(&mut self, node: Node<'t>) -> Result<Vec<i64>, Reported> {
        let start = node.start();
        let dims: Vec<Node<'t>> = node.children().collect();
        self.rank(dims.len(), start)?;
        dims.into_iter()
            .map(|dim| match dim.text() {
                "?" => Ok(DYNAMIC),
                digits => digits.parse().map_err(|_| self.error(dim.start(), "invalid dimension")),
            })
            .collect()
    }

    /// Refuses more dimensions than a type may have.
    fn rank(&mut self, rank: usize, at: usize) -> Result<(), Reported> {
        if rank <= MAX_RANK {
            return Ok(());
        }
        Err(self.coded(codes::RANK, at, format!("a type has at most {MAX_RANK} dimensions, this has {rank}")))
    }

    fn tensor(&mut self, node: Node<'t>) -> Result<Type, Reported> {
        let mut children = node.children();
        let shape = children.next().expect("a shape");
        let elem = children.next().expect("an element type");
        let elem_at = elem.start();
        let elem = self.type_node(elem)?;
        if !self.is_tensor_element(elem) {
            let text = sutura_ir::asm::print::type_text(self.cx, elem);
            return Err(self.error(elem_at, format!("invalid tensor element type: '{text}'")));
        }
        let encoding = children.next().map(|n| Ok((n.start(), self.attr_node(n, None)?))).transpose()?;
        if shape.rule() == Rule::unranked {
            if let Some((at, _)) = encoding {
                return Err(self.error(at, "cannot apply encoding to unranked tensor"));
            }
            return Ok(self.cx.ty(TypeData::UnrankedTensor(elem)));
        }
        let shape = self.shape(shape)?;
        let ty = self.cx.tensor_type(&shape, elem, encoding.map(|e| e.1));
        match (self.cx.verify_type(ty), encoding) {
            (Err(reason), Some((at, _))) => Err(self.error(at, reason)),
            _ => Ok(ty),
        }
    }

    fn is_tensor_element(&self, ty: Type) -> bool {
        !matches!(self.cx.type_data(ty), TypeData::None | TypeData::Function { .. } | TypeData::Tuple(_))
            && !ty.is_tensor(self.cx)
            && !matches!(self.cx.type_data(ty), TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. })
    }

    /// What is stored as another type is an element of tensors alone, as upstream has it.
    fn is_memref_element(&self, ty: Type) -> bool {
        !matches!(self.cx.type_data(ty), TypeData::None | TypeData::Function { .. } | TypeData::Tuple(_))
            && !ty.is_tensor(self.cx)
            && self.cx.storage_type(ty).is_none()
    }

    fn memref(&mut self, node: Node<'t>) -> Result<Type, Reported> {
        let start = node.start();
        let mut children = node.children();
        let shape = children.next().expect("a shape");
        let elem = children.next().expect("an element type");
        let elem_at = elem.start();
        let elem = self.type_node(elem)?;
        if !self.is_memref_element(elem) {
            return Err(self.error(elem_at, "invalid memref element type"));
        }
        let (layout, space) = self.layout_and_space(children.collect())?;
        if space.is_some_and(|space| !self.is_memory_space(space)) {
            return Err(self.error(start, "unsupported memory space Attribute"));
        }
        // The default memory space is not written.
        let space = space.filter(|space| self.cx.as_int(*space) != Some(0));
        if shape.rule() == Rule::unranked {
            if layout.is_some() {
                return Err(self.error(start, "cannot have affine map for unranked memref type"));
            }
            return Ok(self.cx.ty(TypeData::UnrankedMemRef { elem, space }));
        }
        let shape = self.shape(shape)?;
        if let Some(AttrData::AffineMap(map)) = layout.map(|l| self.cx.attr_data(l)) {
            let dims = self.cx.affine_map_data(map).dims;
            if dims as usize != shape.len() {
                let message = format!("memref layout mismatch between rank and affine map: {} != {dims}", shape.len());
                return Err(self.error(start, message));
            }
        }
        if let Some(AttrData::Strided { strides, .. }) = layout.map(|l| self.cx.attr_data(l))
            && self.cx.ints(strides).len() != shape.len()
        {
            return Err(self.error(start, "expected the number of strides to match the rank"));
        }
        let layout = layout.filter(|l| !self.is_identity(*l));
        Ok(self.cx.memref_type(&shape, elem, layout, space))
    }

    fn is_memory_space(&self, attr: Attr) -> bool {
        match self.cx.attr_data(attr) {
            AttrData::Integer { .. } | AttrData::BigInteger { .. } | AttrData::Dict(_) => true,
            AttrData::String { .. } | AttrData::Opaque { .. } | AttrData::Ext(_) => true,
            _ => attr == Attr::TRUE || attr == Attr::FALSE,
        }
    }

    fn is_identity(&self, layout: Attr) -> bool {
        let AttrData::AffineMap(map) = self.cx.attr_data(layout) else { return false };
        let data = self.cx.affine_map_data(map);
        data.symbols == 0 && map == self.cx.identity_map(data.dims)
    }

    /// An affine map or strided layout is a layout, anything else a memory space; a dialect's attribute is a layout
    /// when another attribute follows.
    fn layout_and_space(&mut self, nodes: Vec<Node<'t>>) -> Result<(Option<Attr>, Option<Attr>), Reported> {
        let (mut layout, mut space) = (None, None);
        let count = nodes.len();
        for (i, node) in nodes.into_iter().enumerate() {
            let at = node.start();
            let attr = self.attr_node(node, None)?;
            let is_layout = match self.cx.attr_data(attr) {
                AttrData::AffineMap(_) | AttrData::Strided { .. } => true,
                AttrData::Opaque { .. } | AttrData::Ext(_) => i + 1 < count,
                _ => false,
            };
            if is_layout {
                if space.is_some() {
                    return Err(self.error(at, "expected memory space to be last in memref type"));
                }
                // The last one holds.
                layout = Some(attr);
            } else if space.replace(attr).is_some() {
                return Err(self.error(at, "multiple memory spaces specified in memref type"));
            }
        }
        Ok((layout, space))
    }

    fn vector(&mut self, node: Node<'t>) -> Result<Type, Reported> {
        let start = node.start();
        let mut children = node.children();
        let dims = children.next().expect("a shape");
        let (mut shape, mut scalable) = (Vec::new(), Vec::new());
        for dim in dims.children() {
            scalable.push(i64::from(dim.rule() == Rule::scalable));
            let number = if dim.rule() == Rule::scalable { dim.child().expect("a number") } else { dim };
            let size = number.text().parse::<i64>();
            shape.push(size.map_err(|_| self.error(number.start(), "invalid dimension"))?);
        }
        self.rank(shape.len(), start)?;
        let elem = children.next().expect("an element type");
        let elem_at = elem.start();
        let elem = self.type_node(elem)?;
        if shape.iter().any(|s| *s <= 0) {
            let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
            let message = format!("vector types must have positive constant sizes but got {}", sizes.join(", "));
            return Err(self.error(start, message));
        }
        let valid = elem.is_int_index_or_float(self.cx)
            || matches!(self.cx.type_data(elem), TypeData::Opaque { .. } | TypeData::Ext(_))
                && self.cx.storage_type(elem).is_none();
        if !valid {
            let text = sutura_ir::asm::print::type_text(self.cx, elem);
            let message = format!("vector elements must be int/index/float type but got '{text}'");
            return Err(self.error(elem_at, message));
        }
        let (shape, scalable) = (self.cx.int_list(&shape), self.cx.int_list(&scalable));
        Ok(self.cx.ty(TypeData::Vector { shape, scalable, elem }))
    }

    fn complex(&mut self, node: Node<'t>) -> Result<Type, Reported> {
        let elem = node.child().expect("an element type");
        let at = elem.start();
        let elem = self.type_node(elem)?;
        if elem.is_integer(self.cx) || elem.is_float(self.cx) {
            return Ok(self.cx.ty(TypeData::Complex(elem)));
        }
        Err(self.error(at, "invalid element type for complex"))
    }
}
