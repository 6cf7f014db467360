//! The printer: generic form and custom form.

use crate::context::Context;

/// Writes operations, types and attributes as text.
pub struct Printer<'p> {
    cx: &'p Context,
    out: String,
}

impl<'p> Printer<'p> {
    /// A printer with empty output.
    pub fn new(cx: &'p Context) -> Self {
        Self { cx, out: String::new() }
    }

    /// Context.
    pub fn cx(&self) -> &'p Context {
        self.cx
    }

    /// The text so far.
    pub fn finish(self) -> String {
        self.out
    }
}
