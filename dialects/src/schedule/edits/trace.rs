//! `#schedule.trace<…>`: a list of edits as an attribute.

use std::fmt::{self, Write};

use sutura_ir::asm::parse::ParamParser;
use sutura_ir::diagnostics::Reported;
use sutura_ir::ext::{DialectAttr, ParamDef, ParamInfo, ParamValue, VerifyParams};
use sutura_ir::op_def::{AttrConstraint, AttrConstraintDef, AttrSyntax};
use sutura_ir::{Attr, Context};

use super::names::{Guard, Parts, When};
use super::pieces::Piece;
use super::{DESCRIPTION, Edit, Primitive};
use crate::r#dyn::Poly;
use crate::schedule::text::{Parsed, number};
use crate::schedule::{Prefetch, Split};

/// Edits of a schedule, in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TraceAttr {
    /// The edits, each of what those before it have made.
    pub edits: Vec<Edit>,
}

impl TraceAttr {
    /// The interned value with these parameters, which are not checked.
    pub fn get(cx: &Context, edits: Vec<Edit>) -> Attr {
        cx.ext_attr(Self { edits })
    }

    /// The parameters, if it is one.
    pub fn of(cx: &Context, attr: Attr) -> Option<&Self> {
        cx.attr_as::<Self>(attr)
    }

    /// Reads what follows the name.
    ///
    /// # Errors
    /// When it is malformed.
    pub fn parse_params(p: &mut dyn ParamParser) -> Result<Self, Reported> {
        p.punct("<")?;
        let mut edits = Vec::new();
        while !p.opt_punct(">") {
            // A word alone does not tell a version of the tree from the primitive that makes one.
            match p.opt_keyword("version") {
                true if p.opt_keyword("when") => edits.push(edit(None, Primitive::Version(Guard::read(p)?))),
                true => of_version(p, &mut edits)?,
                false => edits.push(edit(None, Primitive::read(p)?)),
            }
        }
        Ok(Self { edits })
    }

    /// The trace with every size of its guards replaced by what `replace` gives for it.
    ///
    /// # Errors
    /// The first that `replace` gives.
    pub fn map_sizes<E>(&self, replace: &mut dyn FnMut(&Poly) -> Result<Poly, E>) -> Result<Self, E> {
        let mut mapped = self.clone();
        for edit in &mut mapped.edits {
            let sizes = match &mut edit.primitive {
                Primitive::Version(Guard(sizes)) | Primitive::Stream(_, When(sizes)) => sizes,
                Primitive::Prefetch(_, Prefetch { next: Some(sizes), .. }) => sizes,
                _ => continue,
            };
            for size in sizes {
                *size = replace(size)?;
            }
        }
        Ok(mapped)
    }
}

/// What no text says.
fn lacks_words(primitive: &Primitive) -> bool {
    match primitive {
        Primitive::Split(_, split) | Primitive::Retile(_, split) => *split == Split::One,
        Primitive::SplitReduction(_, Parts::Along(_, split)) => *split == Split::One,
        Primitive::Prefetch(_, ahead) => ahead.bytes.is_none() && ahead.next.is_none(),
        Primitive::Reorder(names) | Primitive::Pack(_, _, names) => names.own.is_empty(),
        _ => false,
    }
}

fn edit(version: Option<usize>, primitive: Primitive) -> Edit {
    Edit { version, primitive }
}

/// `0 { … }`, behind `version`.
fn of_version(p: &mut dyn ParamParser, edits: &mut Vec<Edit>) -> Parsed<()> {
    let of = number(p, "'when' or the number of a version")?;
    p.punct("{")?;
    while !p.opt_punct("}") {
        let primitive = match p.opt_keyword("version") {
            true => {
                p.keyword("when")?;
                Primitive::Version(Guard::read(p)?)
            }
            false => Primitive::read(p)?,
        };
        edits.push(edit(Some(of), primitive));
    }
    Ok(())
}

impl VerifyParams for TraceAttr {
    fn verify_params(&self, _: &Context) -> Result<(), String> {
        let sizes = self.edits.iter().filter_map(|edit| match &edit.primitive {
            Primitive::Version(Guard(sizes)) => Some(("guard", sizes)),
            Primitive::Stream(_, When(sizes)) | Primitive::Prefetch(_, Prefetch { next: Some(sizes), .. }) => {
                Some(("clause", sizes))
            }
            _ => None,
        });
        for (what, sizes) in sizes {
            if let Some(excess) = sizes.iter().find_map(|size| size.excess()) {
                return Err(format!("a {what} of the trace: {excess}"));
            }
        }
        match self.edits.iter().position(|edit| lacks_words(&edit.primitive)) {
            Some(number) => Err(format!("edit {number} names no loop, or no number of indices, parts or bytes")),
            None => Ok(()),
        }
    }
}

impl ParamValue for TraceAttr {
    const NAME: &'static str = "schedule.trace";

    /// A line for each edit; those of one version that follow each other lie in one block.
    fn print(&self, cx: &Context, out: &mut dyn Write) -> fmt::Result {
        out.write_char('<')?;
        for chunk in self.edits.chunk_by(|a, b| a.version == b.version) {
            let indent = if chunk[0].version.is_some() { "    " } else { "  " };
            if let Some(version) = chunk[0].version {
                write!(out, "\n  version {version} {{")?;
            }
            for edit in chunk {
                write!(out, "\n{indent}{}", edit.primitive.text(cx))?;
            }
            if chunk[0].version.is_some() {
                out.write_str("\n  }")?;
            }
        }
        out.write_str(if self.edits.is_empty() { ">" } else { "\n>" })
    }

    fn verify(&self, cx: &Context) -> Result<(), String> {
        self.verify_params(cx)
    }
}

impl DialectAttr for TraceAttr {
    const DEF: ParamDef = ParamDef {
        name: Self::NAME,
        summary: "Edits of a schedule, in order.",
        description: DESCRIPTION,
        format: "<edit…>",
        params: &[ParamInfo {
            name: "edits",
            ty: "Vec<Edit>",
            description: "The edits, each of what those before it have made.",
            optional: false,
        }],
    };

    fn parse(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
        let trace = Self::parse_params(p)?;
        match trace.verify_params(p.cx()) {
            Ok(()) => Ok(p.cx().ext_attr(trace)),
            Err(message) => {
                let start = p.start();
                Err(p.error_at(start, &message))
            }
        }
    }
}

impl AttrConstraintDef for TraceAttr {
    type Get<'a> = &'a Self;
    type Set<'a> = Self;
    const CONSTRAINT: AttrConstraint = AttrConstraint {
        name: "TraceAttr",
        description: "#schedule.trace attribute",
        check: |cx, attr| cx.attr_as::<Self>(attr).is_some(),
        syntax: AttrSyntax::Plain,
    };

    fn get(cx: &Context, attr: Attr) -> Option<&Self> {
        cx.attr_as::<Self>(attr)
    }

    fn set(cx: &Context, value: Self) -> Attr {
        cx.ext_attr(value)
    }
}
