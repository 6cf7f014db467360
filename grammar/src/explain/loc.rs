//! Locations.

use super::{Check, Explain};

impl Explain<'_> {
    /// `loc(…)`
    pub(super) fn location(&mut self) -> Check {
        self.keyword("loc", "expected 'loc' keyword")?;
        self.punct("(", "expected '(' in location")?;
        self.location_instance()?;
        self.punct(")", "expected ')' in location")
    }

    fn location_instance(&mut self) -> Check {
        self.nested(|e| {
            if e.is("#") {
                return e.dialect_symbol();
            }
            if e.byte() == Some(b'"') {
                return e.name_or_file();
            }
            if e.take_word("unknown") {
                return Ok(());
            }
            if e.take_word("callsite") {
                return e.callsite();
            }
            if e.take_word("fused") {
                return e.fused();
            }
            Err(e.missing("expected location instance"))
        })
    }

    fn callsite(&mut self) -> Check {
        self.punct("(", "expected '(' in callsite location")?;
        self.location_instance()?;
        self.keyword("at", "expected 'at' in callsite location")?;
        self.location_instance()?;
        self.punct(")", "expected ')' in callsite location")
    }

    fn fused(&mut self) -> Check {
        if self.take("<") {
            self.attr()?;
            self.punct(">", "expected '>' after fused location metadata")?;
        }
        self.punct("[", "expected '[' in fused location")?;
        self.list("]", "expected ']' in fused location", Self::location_instance)
    }

    fn name_or_file(&mut self) -> Check {
        self.take_string()?;
        if self.take(":") {
            return self.position();
        }
        if self.take("(") {
            self.location_instance()?;
            return self.punct(")", "expected ')' after child location of NameLoc");
        }
        Ok(())
    }

    fn position(&mut self) -> Check {
        self.number_in("expected integer line number in FileLineColRange")?;
        if !self.take(":") {
            return Ok(());
        }
        self.number_in("expected integer column number in FileLineColRange")?;
        if self.take_word("to") {
            self.take_integer();
            self.punct(":", "expected ':' in FileLineColRange")?;
            self.number_in("expected integer column number in FileLineColRange")?;
        }
        Ok(())
    }

    fn number_in(&mut self, message: &str) -> Check {
        if self.take_integer() { Ok(()) } else { Err(self.missing(message)) }
    }
}
