//! A program's header, read and checked.

use sutura_ir::{Attr, BlockRef, Context, OpRef, OpView, Value};

use super::decide::Decision;
use super::kernel::{named, read_symbol, strings_of, write_symbol};
use super::ops::ProgramOp;
use super::types::BufferType;
use crate::r#dyn::attr::{known_dims, shape_attr};
use crate::r#dyn::facts::{Contradiction, Facts, SymbolInfo};
use crate::r#dyn::poly::Poly;

/// A named dim of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Name.
    pub name: String,
    /// What is known of its values.
    pub info: SymbolInfo,
}

/// An input or an output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// The model's name for it.
    pub name: String,
    /// The argument of the body.
    pub value: Value,
    /// Element type and sizes.
    pub ty: BufferType,
}

/// How the two sides of a [`Constraint`] relate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ConstraintKind {
    /// Equal: two sizes that are one dim of the model.
    Equal,
    /// Equal: two dims that go together only then.
    Compatible,
    /// The left side is at least the right one.
    AtLeast,
}

impl ConstraintKind {
    const WORDS: [(Self, &'static str); 3] =
        [(Self::Equal, "equal"), (Self::Compatible, "compatible"), (Self::AtLeast, "at_least")];

    /// Spelling in the text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Compatible => "compatible",
            Self::AtLeast => "at_least",
        }
    }
}

/// A constraint on sizes beyond what the types of the inputs imply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constraint {
    /// Relation.
    pub kind: ConstraintKind,
    /// Left side, over the symbols.
    pub left: Poly,
    /// Right side, over the symbols.
    pub right: Poly,
    /// The model's name of the dim.
    pub dim: Option<String>,
    /// What the left side is, in words; its text unless given.
    pub left_words: Option<String>,
    /// What the right side is, in words.
    pub right_words: Option<String>,
}

impl Constraint {
    /// A constraint without words of its own.
    pub fn new(kind: ConstraintKind, left: Poly, right: Poly) -> Self {
        Self { kind, left, right, dim: None, left_words: None, right_words: None }
    }

    /// Reads an entry of `checks`; `None` when it is malformed.
    pub fn read(cx: &Context, attr: Attr) -> Option<Self> {
        let entry = |name: &str| cx.entry(attr, cx.ident(name));
        let text = |name: &str| match entry(name) {
            None => Some(None),
            Some(a) => cx.as_str(a).map(|s| Some(s.to_owned())),
        };
        let size = |name: &str| match &known_dims(cx, entry(name)?)?[..] {
            [size] => Some(size.clone()),
            _ => None,
        };
        let word = cx.as_str(entry("kind")?)?;
        let (kind, _) = ConstraintKind::WORDS.into_iter().find(|(_, w)| *w == word)?;
        let (left, right) = (size("left")?, size("right")?);
        let (dim, left_words, right_words) = (text("dim")?, text("left_words")?, text("right_words")?);
        Some(Self { kind, left, right, dim, left_words, right_words })
    }

    /// The entry of `checks`.
    pub fn write(&self, cx: &Context) -> Attr {
        let size = |p: &Poly| shape_attr(cx, std::slice::from_ref(p));
        let mut entries = vec![
            named(cx, "kind", cx.string_attr(self.kind.as_str())),
            named(cx, "left", size(&self.left)),
            named(cx, "right", size(&self.right)),
        ];
        for (name, text) in [("dim", &self.dim), ("left_words", &self.left_words), ("right_words", &self.right_words)] {
            entries.extend(text.as_ref().map(|t| named(cx, name, cx.string_attr(t))));
        }
        cx.dict(&entries)
    }
}

/// A program's header.
#[derive(Clone)]
pub struct ProgramInfo<'a> {
    /// The program.
    pub op: OpRef<'a>,
    /// Its one block.
    pub block: BlockRef<'a>,
    /// The model's name.
    pub name: &'a str,
    /// The named dims.
    pub symbols: Vec<Symbol>,
    /// The inputs.
    pub inputs: Vec<Port>,
    /// The outputs.
    pub outputs: Vec<Port>,
    /// Constraints beyond the types.
    pub constraints: Vec<Constraint>,
    /// What decides sizes, in order.
    pub decisions: Vec<Decision>,
    /// Whether allocations have their places.
    pub planned: bool,
    /// Whether it is there for other programs alone.
    pub private: bool,
}

impl<'a> ProgramInfo<'a> {
    /// Reads a program.
    ///
    /// # Errors
    /// Says what does not fit: attributes against each other or against the body's arguments.
    pub fn read(op: OpRef<'a>) -> Result<Self, String> {
        let (cx, program) = (op.cx, ProgramOp::from_ref(op));
        let block = program.body().entry().ok_or("the program has no body")?;
        let symbols = read_symbols(cx, program.symbols())?;
        let names = |attr| strings_of(cx, attr).ok_or("names must be strings");
        let (inputs, outputs) = (names(program.input_names_attr())?, names(program.output_names_attr())?);
        let args = block.args();
        if args.len() != inputs.len() + outputs.len() {
            return Err(format!(
                "the body takes {} buffers but the header names {} inputs and {} outputs",
                args.len(),
                inputs.len(),
                outputs.len()
            ));
        }
        let (input_args, output_args) = args.split_at(inputs.len());
        Ok(Self {
            op,
            block,
            name: program.sym_name(),
            symbols,
            inputs: ports("input", inputs, input_args, block)?,
            outputs: ports("output", outputs, output_args, block)?,
            constraints: read_constraints(program)?,
            decisions: decisions(block),
            planned: program.planned(),
            private: program.private(),
        })
    }

    /// What the header of a program states of sizes beyond the types.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn constraints_of(op: OpRef<'_>) -> Result<Vec<Constraint>, String> {
        Ok(read_constraints(ProgramOp::from_ref(op))?)
    }

    /// What the header states of the sizes, equalities included.
    ///
    /// # Errors
    /// When the equalities contradict each other or the ranges.
    pub fn facts(&self) -> Result<Facts, Contradiction> {
        stated(&self.symbols, &self.constraints)
    }

    /// Number of a symbol.
    pub fn symbol_index(&self, name: &str) -> Option<usize> {
        self.symbols.iter().position(|s| s.name == name)
    }
}

/// What decides sizes, in conditions and loops too, in the order of the text.
fn decisions(block: BlockRef<'_>) -> Vec<Decision> {
    let ops = block.body.preorder().map(|op| OpRef::new(block.cx, block.body, op));
    ops.filter_map(Decision::of).collect()
}

/// What symbols and constraints say together.
fn stated(symbols: &[Symbol], constraints: &[Constraint]) -> Result<Facts, Contradiction> {
    let mut facts = Facts::new();
    for symbol in symbols {
        facts.define(&symbol.name, symbol.info.clone());
    }
    for Constraint { kind, left, right, .. } in constraints {
        match kind {
            ConstraintKind::Equal | ConstraintKind::Compatible => facts.assume_equal(left, right)?,
            ConstraintKind::AtLeast => facts.assume_equal(&left.lesser(right), right)?,
        }
    }
    Ok(facts)
}

fn read_constraints(program: ProgramOp<'_>) -> Result<Vec<Constraint>, &'static str> {
    let cx = program.op_ref().cx;
    let constraints = program.checks().unwrap_or_default().iter().map(|a| {
        Constraint::read(cx, *a).ok_or("each entry of 'checks' must have 'kind', 'left' and 'right', and words as text")
    });
    constraints.collect()
}

impl ProgramOp<'_> {
    /// What the header alone states of the sizes, as [`ProgramInfo::facts`], which reads the body too.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn facts(self) -> Result<Facts, String> {
        let symbols = read_symbols(self.op_ref().cx, self.symbols())?;
        stated(&symbols, &read_constraints(self)?).map_err(|e| e.to_string())
    }
}

fn read_symbols(cx: &Context, list: &[Attr]) -> Result<Vec<Symbol>, String> {
    let mut symbols: Vec<Symbol> = Vec::with_capacity(list.len());
    for attr in list {
        let (name, info) =
            read_symbol(cx, *attr).ok_or("each symbol must have 'name', and 'min', 'max', 'div' as integers")?;
        if info.min < 0 || info.max < info.min || info.div < 1 {
            let (min, max, div) = (info.min, info.max, info.div);
            return Err(format!("symbol '{name}' has no sensible range: [{min}, {max}] div {div}"));
        }
        if symbols.iter().any(|s| s.name == name) {
            return Err(format!("symbol '{name}' is declared twice"));
        }
        symbols.push(Symbol { name, info });
    }
    Ok(symbols)
}

fn ports(role: &str, names: Vec<String>, args: &[Value], block: BlockRef<'_>) -> Result<Vec<Port>, String> {
    let mut ports: Vec<Port> = Vec::with_capacity(names.len());
    for (name, &value) in names.into_iter().zip(args) {
        let ty = BufferType::of(block.cx, block.body.ty(value));
        let ty = ty.ok_or_else(|| format!("{role} '{name}' is not a buffer"))?.clone();
        if ports.iter().any(|p| p.name == name) {
            return Err(format!("two {role}s are named '{name}'"));
        }
        ports.push(Port { name, value, ty });
    }
    Ok(ports)
}

impl Symbol {
    /// The entry of `symbols`.
    pub fn write(&self, cx: &Context) -> Attr {
        write_symbol(cx, &self.name, &self.info)
    }
}
