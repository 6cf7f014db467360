//! Locations.

use sutura_ir::diagnostics::Reported;
use sutura_ir::location::{Loc, LocData};

use super::Reader;
use crate::rules::{Node, Rule};

impl<'t> Reader<'t> {
    /// `loc(…)`
    pub(super) fn loc_node(&mut self, node: Node<'t>) -> Result<Loc, Reported> {
        self.loc_inner(node.child().expect("a location"))
    }

    fn loc_inner(&mut self, node: Node<'t>) -> Result<Loc, Reported> {
        let at = node.start();
        self.nested(at, |r| match node.rule() {
            Rule::loc_unknown => Ok(Loc::UNKNOWN),
            Rule::callsite => {
                let mut children = node.children();
                let callee = r.loc_inner(children.next().expect("a callee"))?;
                let caller = r.loc_inner(children.next().expect("a caller"))?;
                Ok(r.cx.loc(LocData::CallSite { callee, caller }))
            }
            Rule::fused => r.fused(node),
            Rule::loc_alias => r.loc_alias(&node),
            _ => r.loc_text(node),
        })
    }

    fn fused(&mut self, node: Node<'t>) -> Result<Loc, Reported> {
        let mut children = node.children();
        let metadata = match children.take_rule(Rule::metadata) {
            Some(node) => Some(self.attr_node(node.child().expect("an attribute"), None)?),
            None => None,
        };
        let locs = children.map(|n| self.loc_inner(n)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.cx.fused_loc(&locs, metadata))
    }

    /// `"name"`, `"name"(child)` or `"file":line:col`.
    fn loc_text(&mut self, node: Node<'t>) -> Result<Loc, Reported> {
        let mut children = node.children();
        let text = self.string(&children.next().expect("a string"))?;
        let is_nameless = text.is_empty();
        let text = self.cx.ident(&text);
        let Some(rest) = children.next() else {
            return Ok(self.cx.loc(LocData::Name { name: text, child: Loc::UNKNOWN }));
        };
        if rest.rule() == Rule::loc_child {
            let child = self.loc_inner(rest.child().expect("a location"))?;
            return Ok(self.cx.loc(LocData::Name { name: text, child }));
        }
        let mut numbers = rest.children();
        let line = self.small(&numbers.next().expect("a line"))?;
        let col = numbers.take_rule(Rule::column).map(|n| self.small(&n)).transpose()?.unwrap_or(0);
        // Upstream's name for a file without one.
        let text = if is_nameless { self.cx.ident("-") } else { text };
        let end = match numbers.next() {
            None => None,
            Some(end) => {
                let mut numbers = end.children();
                let end_line = numbers.take_rule(Rule::end_line).map(|n| self.small(&n)).transpose()?.unwrap_or(line);
                Some((end_line, self.small(&numbers.next().expect("a column"))?))
            }
        };
        Ok(self.cx.loc(LocData::FileLineCol { file: text, line, col, end }))
    }

    fn small(&mut self, node: &Node<'t>) -> Result<u32, Reported> {
        let message = "expected integer line and column numbers of at most 32 bits in FileLineColLoc";
        let value = super::unsigned(node.text()).and_then(|value| u32::try_from(value).ok());
        value.ok_or_else(|| self.error(node.start(), message))
    }
}
