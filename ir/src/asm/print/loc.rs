//! Locations.

use super::alias::Key;
use super::{Printer, write_quoted};
use crate::location::{Loc, LocData};

impl Printer<'_> {
    /// Writes `loc(…)`, by its alias where it has one and does not stand for people.
    pub fn loc(&mut self, loc: Loc) {
        if self.options.pretty_locations {
            return self.loc_in_full(loc);
        }
        self.text("loc(");
        self.loc_or_alias(loc);
        self.text(")");
    }

    /// Writes the location itself, not its alias.
    pub(super) fn loc_in_full(&mut self, loc: Loc) {
        if self.options.pretty_locations {
            return self.loc_inner(loc);
        }
        self.text("loc(");
        self.loc_inner(loc);
        self.text(")");
    }

    fn loc_or_alias(&mut self, loc: Loc) {
        if let Some(name) = self.aliases.of_loc(loc) {
            self.out.push('#');
            self.out.push_str(name);
        } else {
            self.loc_inner(loc);
        }
    }

    /// What stands between the parentheses.
    ///
    /// Recursive: the depth of locations is limited where they are built from text.
    pub(super) fn loc_inner(&mut self, loc: Loc) {
        if self.only_notes(Key::Loc(loc), false) {
            return;
        }
        let (cx, pretty) = (self.cx, self.options.pretty_locations);
        match cx.loc_data(loc) {
            LocData::Unknown => self.text(if pretty { "[unknown]" } else { "unknown" }),
            LocData::FileLineCol { file, line, col, end } => {
                match pretty {
                    true => self.text(cx.str(file)),
                    false => write_quoted(&mut self.out, cx.str(file)),
                }
                self.position(line, col);
                if let Some((end_line, end_col)) = end.filter(|e| *e != (line, col)) {
                    self.text(" to ");
                    if end_line != line {
                        self.int(end_line.into());
                    }
                    self.text(":");
                    self.int(end_col.into());
                }
            }
            LocData::Name { name, child } => {
                write_quoted(&mut self.out, cx.str(name));
                if child != Loc::UNKNOWN {
                    self.text("(");
                    self.loc_or_alias(child);
                    self.text(")");
                }
            }
            LocData::CallSite { callee, caller } if pretty => {
                let is_name = matches!(cx.loc_data(callee), LocData::Name { .. });
                let is_file = matches!(cx.loc_data(caller), LocData::FileLineCol { .. });
                self.loc_or_alias(callee);
                self.text(if is_name && is_file { " at " } else { "\n at " });
                self.loc_or_alias(caller);
            }
            LocData::CallSite { callee, caller } => {
                self.text("callsite(");
                self.loc_or_alias(callee);
                self.text(" at ");
                self.loc_or_alias(caller);
                self.text(")");
            }
            LocData::Fused { locs, metadata } => {
                self.text(if pretty { "" } else { "fused" });
                if let Some(metadata) = metadata {
                    self.text("<");
                    self.attr(metadata);
                    self.text(">");
                }
                self.text("[");
                self.list(cx.fused_locs(locs), |p, l| p.loc_or_alias(l));
                self.text("]");
            }
        }
    }

    fn position(&mut self, line: u32, col: u32) {
        self.text(":");
        self.int(line.into());
        self.text(":");
        self.int(col.into());
    }
}
