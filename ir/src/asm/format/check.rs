//! Checks that a format can be read back: every part is written once, every type is written or follows from others,
//! and a parser can tell whether an optional group is there. Also makes the tree flat.

use super::compile::{Node, may_be_absent};
use super::{Element, Format, Item, Optional, TypeTarget};
use crate::asm::parse::DirectiveArg;
use crate::op_def::{AttrSyntax, OpDef, Traits, ValueDef};

/// What the elements seen so far write.
struct Written {
    operands: Vec<bool>,
    attrs: Vec<bool>,
    regions: Vec<bool>,
    successors: Vec<bool>,
    operand_types: Vec<bool>,
    result_types: Vec<bool>,
    attr_dict: bool,
    prop_dict: bool,
}

pub(super) fn finish(def: &OpDef, nodes: Vec<Node>) -> Result<Format, String> {
    let mut written = Written {
        operands: vec![false; def.operands.len()],
        attrs: vec![false; def.attrs.len()],
        regions: vec![false; def.regions.len()],
        successors: vec![false; def.successors.len()],
        operand_types: vec![false; def.operands.len()],
        result_types: vec![false; def.results.len()],
        attr_dict: false,
        prop_dict: false,
    };
    let mut items = Vec::new();
    flatten(def, nodes, &mut items, &mut written)?;
    written.check(def)?;
    Ok(Format { items, written_attrs: written.attrs })
}

fn flatten(def: &OpDef, nodes: Vec<Node>, items: &mut Vec<Item>, written: &mut Written) -> Result<(), String> {
    for node in nodes {
        match node {
            Node::Element(element) => {
                written.add(def, &element)?;
                items.push(Item { element, blank: false, implied: false });
            }
            Node::Group { then, otherwise, anchor } => flatten_group(def, then, otherwise, anchor, items, written)?,
            Node::AnyOrder(clauses) => flatten_any_order(def, clauses, items, written)?,
        }
    }
    Ok(())
}

fn flatten_group(
    def: &OpDef,
    then: Vec<Node>,
    otherwise: Vec<Node>,
    anchor: usize,
    items: &mut Vec<Item>,
    written: &mut Written,
) -> Result<(), String> {
    check_anchor(def, &then[anchor])?;
    let implied = implied_unit(def, &then, anchor);
    check_first(def, &then, anchor, implied)?;
    let at = items.len();
    items.push(Item { element: Element::Skip(0), blank: false, implied: false });
    // The anchor's place in the flat group: a group before it is longer than one item.
    let mut flat_anchor = 0;
    for (i, node) in then.into_iter().enumerate() {
        if i == anchor {
            flat_anchor = items.len() - at - 1;
        }
        flatten(def, vec![node], items, written)?;
    }
    let then_end = items.len();
    let has_alternative = !otherwise.is_empty();
    if has_alternative {
        items.push(Item { element: Element::Skip(0), blank: false, implied: false });
        flatten(def, otherwise, items, written)?;
        items[then_end].element = Element::Skip(items.len() - then_end - 1);
    }
    let then = then_end - at - 1 + usize::from(has_alternative);
    let otherwise = items.len() - at - 1 - then;
    items[at].element = Element::Optional(Optional { then, otherwise, anchor: flat_anchor });
    items[at + 1 + flat_anchor].implied = implied;
    Ok(())
}

/// A group for each clause, which ends where the list is looked at again.
fn flatten_any_order(
    def: &OpDef,
    clauses: Vec<(Vec<Node>, usize)>,
    items: &mut Vec<Item>,
    written: &mut Written,
) -> Result<(), String> {
    let list = items.len();
    items.push(Item { element: Element::AnyOrder(0), blank: false, implied: false });
    let mut words: Vec<String> = Vec::new();
    for (nodes, anchor) in clauses {
        if let Some(Node::Element(Element::Literal(word))) = nodes.first() {
            if words.contains(word) {
                return Err(format!("two clauses of `oilist` begin with `{word}`"));
            }
            words.push(word.clone());
        }
        let group = items.len();
        flatten_group(def, nodes, Vec::new(), anchor, items, written)?;
        items.push(Item { element: Element::Again(items.len() - list), blank: false, implied: false });
        if let Element::Optional(group) = &mut items[group].element {
            group.then += 1;
        }
    }
    items[list].element = Element::AnyOrder(items.len() - list - 1);
    Ok(())
}

/// True when the anchor is a unit attribute beside other elements, which then stand for it.
fn implied_unit(def: &OpDef, then: &[Node], anchor: usize) -> bool {
    let is_unit = |node: &Node| match node {
        Node::Element(Element::Attr(i)) => matches!(def.attrs[*i].constraint.syntax, AttrSyntax::Unit),
        _ => false,
    };
    is_unit(&then[anchor]) && then.iter().any(|n| matches!(n, Node::Element(Element::Literal(_))))
}

fn check_anchor(def: &OpDef, node: &Node) -> Result<(), String> {
    let Node::Element(element) = node else {
        return Err("the anchor of an optional group may not be a group".to_string());
    };
    let optional = match element {
        Element::Operand(i) | Element::TypeOf(TypeTarget::Operand(i)) => may_be_absent(def.operands[*i].arity),
        Element::TypeOf(TypeTarget::Result(i)) => may_be_absent(def.results[*i].arity),
        Element::Attr(i) => def.attrs[*i].optional || def.attrs[*i].default.is_some(),
        Element::Region(_) => true,
        Element::Successor(i) => may_be_absent(def.successors[*i].arity),
        Element::TypeOf(_) | Element::FunctionalType(..) | Element::Custom(_) => true,
        Element::Operands | Element::Regions | Element::Successors => true,
        _ => false,
    };
    if optional { Ok(()) } else { Err("the anchor of an optional group must be something that can be absent".into()) }
}

/// The parser decides by the group's first element whether the group is there.
fn check_first(def: &OpDef, then: &[Node], anchor: usize, implied: bool) -> Result<(), String> {
    let first = then.iter().enumerate().find(|(_, n)| !matches!(n, Node::Element(Element::Space(_))));
    let decidable = match first {
        Some((i, Node::Element(Element::Attr(_)))) if implied && i == anchor => false,
        Some((_, Node::Element(Element::Operand(i)))) => may_be_absent(def.operands[*i].arity),
        Some((_, Node::Element(Element::Attr(i)))) => def.attrs[*i].optional || def.attrs[*i].default.is_some(),
        Some((_, Node::Element(element))) => matches!(
            element,
            Element::Literal(_) | Element::Region(_) | Element::Successor(_) | Element::Operands | Element::PropDict
        ),
        _ => false,
    };
    if decidable {
        return Ok(());
    }
    Err("the first element of an optional group must show whether the group is there: a literal, an optional \
         operand or attribute, a region or a successor"
        .to_string())
}

fn mark(slot: &mut bool, what: &str, name: &str) -> Result<(), String> {
    if std::mem::replace(slot, true) { Err(format!("{what} `${name}` is written twice")) } else { Ok(()) }
}

fn mark_all(slots: &mut [bool], what: &str) -> Result<(), String> {
    if slots.contains(&true) {
        return Err(format!("`{what}` would write a part twice"));
    }
    slots.fill(true);
    Ok(())
}

impl Written {
    fn add(&mut self, def: &OpDef, element: &Element) -> Result<(), String> {
        match element {
            Element::Operand(i) => mark(&mut self.operands[*i], "operand", def.operands[*i].name),
            Element::Attr(i) => mark(&mut self.attrs[*i], "attribute", def.attrs[*i].name),
            Element::Region(i) => mark(&mut self.regions[*i], "region", def.regions[*i].name),
            Element::Successor(i) => mark(&mut self.successors[*i], "successor", def.successors[*i].name),
            Element::Operands => mark_all(&mut self.operands, "operands"),
            Element::Regions => mark_all(&mut self.regions, "regions"),
            Element::Successors => mark_all(&mut self.successors, "successors"),
            Element::TypeOf(target) => self.add_type(def, *target),
            Element::FunctionalType(inputs, results) => {
                self.add_type(def, *inputs)?;
                self.add_type(def, *results)
            }
            Element::AttrDict(_) => mark(&mut self.attr_dict, "directive", "attr-dict"),
            Element::PropDict => mark(&mut self.prop_dict, "directive", "prop-dict"),
            Element::Custom(custom) => {
                custom.args.iter().for_each(|arg| self.add_arg(*arg));
                Ok(())
            }
            Element::Literal(_) | Element::Space(_) | Element::Optional(_) | Element::Skip(_) => Ok(()),
            Element::AnyOrder(_) | Element::Again(_) => Ok(()),
        }
    }

    /// What a directive takes may be written in part by it and in part elsewhere (`ref`), so nothing is refused here.
    fn add_arg(&mut self, arg: DirectiveArg) {
        match arg {
            DirectiveArg::Operand(i) => self.operands[i] = true,
            DirectiveArg::Attr(i) => self.attrs[i] = true,
            DirectiveArg::Successor(i) => self.successors[i] = true,
            DirectiveArg::OperandType(i) => self.operand_types[i] = true,
            DirectiveArg::ResultType(i) => self.result_types[i] = true,
            // The directive defines the arguments; the region itself is an element of its own.
            DirectiveArg::Region(_) => {}
            DirectiveArg::AttrDict => self.attr_dict = true,
        }
    }

    fn add_type(&mut self, def: &OpDef, target: TypeTarget) -> Result<(), String> {
        match target {
            TypeTarget::Operand(i) => mark(&mut self.operand_types[i], "type of operand", def.operands[i].name),
            TypeTarget::Result(i) => mark(&mut self.result_types[i], "type of result", def.results[i].name),
            TypeTarget::Operands => mark_all(&mut self.operand_types, "type(operands)"),
            TypeTarget::Results => mark_all(&mut self.result_types, "type(results)"),
        }
    }

    fn check(&self, def: &OpDef) -> Result<(), String> {
        let first_missing = |slots: &[bool]| slots.iter().position(|w| !w);
        if let Some(i) = first_missing(&self.operands) {
            return Err(format!("operand `${}` is not written", def.operands[i].name));
        }
        if let Some(i) = first_missing(&self.regions) {
            return Err(format!("region `${}` is not written", def.regions[i].name));
        }
        if let Some(i) = first_missing(&self.successors) {
            return Err(format!("successor `${}` is not written", def.successors[i].name));
        }
        if !self.attr_dict {
            return Err("the format needs `attr-dict`: any op may carry attributes that it does not declare".into());
        }
        for (i, operand) in def.operands.iter().enumerate() {
            if !self.operand_types[i] && !self.operand_type_follows(def, operand) {
                return Err(format!("the type of operand `${0}` is unknown: add `type(${0})`", operand.name));
            }
        }
        for (i, result) in def.results.iter().enumerate() {
            if !self.result_types[i] && !self.result_type_follows(def, result) {
                return Err(format!("the type of result `${0}` is unknown: add `type(${0})`", result.name));
            }
        }
        Ok(())
    }

    /// True when some value declared with constraint variable `var` has a written type.
    fn var_written(&self, def: &OpDef, var: usize) -> bool {
        let any = |defs: &[ValueDef], written: &[bool]| defs.iter().zip(written).any(|(d, w)| *w && d.var == Some(var));
        any(def.operands, &self.operand_types) || any(def.results, &self.result_types)
    }

    fn operand_type_follows(&self, def: &OpDef, operand: &ValueDef) -> bool {
        let same_as_results = def.traits.has(Traits::SameOperandsAndResultType);
        operand.constraint.only.is_some()
            || operand.var.is_some_and(|var| self.var_written(def, var))
            || (same_as_results && (self.operand_types.contains(&true) || self.result_types.contains(&true)))
            || (def.traits.has(Traits::SameTypeOperands) && self.operand_types.contains(&true))
    }

    fn result_type_follows(&self, def: &OpDef, result: &ValueDef) -> bool {
        let operand_known = |o: &ValueDef, i: usize| self.operand_types[i] || self.operand_type_follows(def, o);
        def.infer.is_some()
            || result.constraint.only.is_some()
            || result.var.is_some_and(|var| {
                self.var_written(def, var)
                    || def.operands.iter().enumerate().any(|(i, o)| o.var == Some(var) && operand_known(o, i))
            })
            || (def.traits.has(Traits::SameOperandsAndResultType)
                && (self.operand_types.contains(&true)
                    || self.result_types.contains(&true)
                    || def.operands.iter().any(|o| o.constraint.only.is_some())))
            || def.traits.has(Traits::ConstantLike)
    }
}
