//! Attributes.

use std::sync::atomic::{AtomicI64, Ordering};

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use sutura_ir::attrs::{Attr, AttrData, NamedAttr};
use sutura_ir::diagnostics::{Diagnostic, Reported, codes};

use sutura_ir::types::{DYNAMIC, Type};

use super::Reader;
use crate::rules::{Node, Nodes, Rule};

/// Up to so many entries of a dictionary are compared with each other.
const FEW_ENTRIES: usize = 16;

/// Distinct attributes of different files must differ, so their numbers are handed out here.
static NEXT_DISTINCT: AtomicI64 = AtomicI64::new(0);

impl<'t> Reader<'t> {
    /// An attribute. A number without type has type `expected`, `i64` or `f64`.
    pub(super) fn attr_node(&mut self, node: Node<'t>, expected: Option<Type>) -> Result<Attr, Reported> {
        match node.rule() {
            Rule::number => self.with_code(codes::LITERAL, |r| r.number(node, expected)),
            Rule::string_attr => self.string_attr(node),
            // What often occurs in dictionaries that differ elsewhere.
            Rule::affine_map | Rule::affine_set | Rule::dialect_attr | Rule::symbol_ref => {
                let (at, text) = (node.start(), node.text());
                if let Some(&attr) = self.attrs.get(text) {
                    return Ok(attr);
                }
                let attr = self.nested(at, |r| r.attr_by_rule(node, None))?;
                self.attrs.insert(text, attr);
                Ok(attr)
            }
            _ => {
                let at = node.start();
                self.nested(at, |r| r.attr_by_rule(node, expected))
            }
        }
    }

    fn attr_by_rule(&mut self, node: Node<'t>, expected: Option<Type>) -> Result<Attr, Reported> {
        let cx = self.cx;
        match node.rule() {
            Rule::array => {
                let elements = node.children().map(|n| self.attr_node(n, None)).collect::<Result<Vec<_>, _>>()?;
                Ok(cx.array_attr(&elements))
            }
            Rule::dictionary => self.entries_node(node),
            Rule::symbol_ref => self.symbol_ref(node),
            Rule::dialect_attr => self.dialect_attr(node),
            Rule::dense => self.with_code(codes::LITERAL, |r| r.dense(node, expected)),
            Rule::sparse => self.with_code(codes::LITERAL, |r| r.sparse(node)),
            Rule::dense_array => self.with_code(codes::LITERAL, |r| r.dense_array(node)),
            Rule::dense_resource => self.with_code(codes::LITERAL, |r| r.dense_resource(node)),
            Rule::affine_map => {
                let map = self.affine_map(node)?;
                Ok(cx.affine_map_attr(map))
            }
            Rule::affine_set => {
                let set = self.affine_set(node)?;
                Ok(cx.attr(AttrData::IntegerSet(set)))
            }
            Rule::strided => self.strided(node),
            Rule::distinct => self.distinct(node),
            Rule::location => {
                let loc = self.loc_node(node)?;
                Ok(cx.attr(AttrData::Location(loc)))
            }
            Rule::keyword_type => match node.text() {
                "true" => Ok(Attr::TRUE),
                "false" => Ok(Attr::FALSE),
                "unit" => Ok(Attr::UNIT),
                "affine_map" => Err(self.error(node.span().end, "expected '<' in affine map")),
                "affine_set" => Err(self.error(node.span().end, "expected '<' in integer set")),
                "dense" | "sparse" | "dense_resource" | "array" | "strided" => {
                    Err(self.error(node.span().end, format!("expected '<' after '{}'", node.text())))
                }
                "distinct" => Err(self.error(node.span().end, "expected '[' after 'distinct'")),
                word if !crate::explain::is_type_word(word) => {
                    Err(self.no_such_word(node.start(), word, "expected attribute value"))
                }
                _ => {
                    let ty = self.keyword_type(&node)?;
                    Ok(cx.type_attr(ty))
                }
            },
            _ => {
                let ty = self.type_node(node)?;
                Ok(cx.type_attr(ty))
            }
        }
    }

    fn string_attr(&mut self, node: Node<'t>) -> Result<Attr, Reported> {
        let mut children = node.children();
        let value = self.name_or_string(&children.next().expect("a string"))?;
        let ty = self.type_after(&mut children)?.unwrap_or(Type::NONE);
        Ok(self.cx.attr(AttrData::String { value, ty }))
    }

    /// The type after a colon.
    pub(super) fn type_after(&mut self, children: &mut Nodes<'t>) -> Result<Option<Type>, Reported> {
        children.next().map(|n| self.type_node(n)).transpose()
    }

    /// The entries of a dictionary.
    pub(super) fn entries_node(&mut self, node: Node<'t>) -> Result<Attr, Reported> {
        let entries = self.raw_entries(node.children())?;
        Ok(self.cx.dict(&entries))
    }

    pub(super) fn raw_entries(&mut self, nodes: Nodes<'t>) -> Result<SmallVec<[NamedAttr; 4]>, Reported> {
        let mut entries: SmallVec<[NamedAttr; 4]> = SmallVec::new();
        let mut places: SmallVec<[usize; 4]> = SmallVec::new();
        for node in nodes.filter(|n| n.rule() == Rule::entry) {
            let at = node.start();
            let mut children = node.children();
            let name = self.name_or_string(&children.next().expect("a name"))?;
            if name == sutura_ir::Ident::EMPTY {
                return Err(self.error(at, "expected valid attribute name"));
            }
            let value = match children.next() {
                Some(value) => self.attr_node(value, None)?,
                None => Attr::UNIT,
            };
            entries.push(NamedAttr { name, value });
            places.push(at);
        }
        self.check_duplicates(&places, &entries)?;
        Ok(entries)
    }

    fn check_duplicates(&mut self, places: &[usize], entries: &[NamedAttr]) -> Result<(), Reported> {
        if entries.len() < 2 {
            return Ok(());
        }
        // The first in the text that was there before.
        let twice = if entries.len() <= FEW_ENTRIES {
            (1..entries.len()).find(|&i| entries[..i].iter().any(|e| e.name == entries[i].name))
        } else {
            let mut seen = FxHashSet::default();
            entries.iter().position(|entry| !seen.insert(entry.name))
        };
        let Some(twice) = twice else { return Ok(()) };
        let message = format!("duplicate key '{}' in dictionary attribute", self.cx.str(entries[twice].name));
        Err(self.error(places[twice], message))
    }

    fn symbol_ref(&mut self, node: Node<'t>) -> Result<Attr, Reported> {
        let mut names = Vec::new();
        for part in node.children() {
            names.push(self.name_or_string(&part)?);
        }
        let (root, nested) = names.split_first().expect("at least one part");
        Ok(self.cx.attr(AttrData::SymbolRef { root: *root, nested: self.cx.ident_list(nested) }))
    }

    fn dense_resource(&mut self, node: Node<'t>) -> Result<Attr, Reported> {
        let mut children = node.children();
        let key = self.name_or_string(&children.next().expect("a key"))?;
        let ty = children.next().expect("a type");
        let at = ty.start();
        let ty = self.type_node(ty)?;
        if !ty.is_shaped(self.cx) {
            return Err(self.error(at, "`dense_resource` expected a shaped type"));
        }
        Ok(self.cx.attr(AttrData::DenseResource { ty, key }))
    }

    fn strided(&mut self, node: Node<'t>) -> Result<Attr, Reported> {
        let (mut strides, mut offset) = (Vec::new(), 0);
        for child in node.children() {
            let is_offset = child.rule() == Rule::offset;
            let number = if is_offset { child.child().expect("a number") } else { child };
            let value = match number.text() {
                "?" => DYNAMIC,
                digits => {
                    // The smallest number stands for `?` in memory.
                    let value = super::signed(digits).filter(|value| *value != DYNAMIC);
                    value.ok_or_else(|| self.error(number.start(), "expected a 64-bit signed integer or '?'"))?
                }
            };
            if is_offset { offset = value } else { strides.push(value) }
        }
        Ok(self.cx.attr(AttrData::Strided { offset, strides: self.cx.int_list(&strides) }))
    }

    fn distinct(&mut self, node: Node<'t>) -> Result<Attr, Reported> {
        let at = node.start();
        let mut children = node.children();
        let number = children.next().expect("a number");
        // After the number, as upstream does.
        let too_large = "expected an unsigned 64-bit integer";
        let number = super::unsigned(number.text()).ok_or_else(|| self.error(number.span().end, too_large))?;
        let inner = match children.next() {
            Some(inner) => self.attr_node(inner, None)?,
            None => Attr::UNIT,
        };
        let number = i64::from_ne_bytes(number.to_ne_bytes());
        let fresh = || (NEXT_DISTINCT.fetch_add(1, Ordering::Relaxed), inner);
        let (id, known) = *self.distinct.entry(number).or_insert_with(fresh);
        if known != inner {
            let error = Diagnostic::error(self.loc(at), "referenced attribute does not match previous definition");
            return Err(self.report(error));
        }
        Ok(self.cx.attr(AttrData::Distinct { id, inner }))
    }
}
