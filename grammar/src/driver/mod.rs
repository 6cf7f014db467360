//! From units to operations.
//!
//! The driver keeps the stack of open regions. A region's blocks are built detached and put into their op when the op is
//! complete, because its operands and types may stand after its regions. An op that is isolated from above has a body
//! and a scope of names of its own.
//!
//! After an error reading goes on at the next line that begins a unit. What is then built is thrown away; it is only
//! read to find further errors, so whatever may be a consequence of the first is not reported.

mod custom;
mod generic;
mod layout;
mod parallel;
mod region;
mod scope;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use sutura_ir::asm::TextInfo;
use sutura_ir::asm::layout::Part;
use sutura_ir::attrs::{Attr, NamedAttr};
use sutura_ir::body::{Block, Body, Module, Op, OpHeader, Value};
use sutura_ir::builder::Builder;
use sutura_ir::context::Context;
use sutura_ir::diagnostics::{Diagnostic, Reported, codes, did_you_mean};
use sutura_ir::location::Loc;
use sutura_ir::op_def::Traits;
use sutura_ir::registry::OpName;
use sutura_ir::types::Type;

use crate::blank::string_end;
use crate::reader::{Reader, unsigned};
use crate::rules::{Node, Rule, Span};
use crate::scan::skip_blank;
use crate::unclosed::many_unclosed;
use crate::units::{BadUnit, Unit, Units};
use custom::CustomOp;
use generic::GenericOp;
use scope::{Def, Forward, Known, Scope};

const UNREGISTERED_DIALECT: &str = "operation being parsed with an unregistered dialect. If this is intended, please use \
                                    -allow-unregistered-dialect with the MLIR tool used";

/// After this many errors reading stops.
const MAX_ERRORS: usize = 20;

/// A body that is being built, with the names of its values.
struct Level<'t> {
    body: Box<Body>,
    scope: Scope<'t>,
}

/// `%name:count` before `=`.
#[derive(Clone, Copy)]
struct ResultName<'t> {
    name: &'t str,
    count: u32,
    at: usize,
}

/// What is known of an op from its start on.
struct OpStart<'t> {
    name: OpName,
    /// Offset of the name.
    at: usize,
    results: SmallVec<[ResultName<'t>; 1]>,
    /// True when the op has a body of its own.
    isolated: bool,
    /// True when that body has been entered.
    entered: bool,
    /// Blocks of the regions that are complete.
    regions: Vec<Vec<Block>>,
    /// Where a layout has the op and the ends of its regions.
    places: Vec<usize>,
}

/// An op that waits for one of its regions.
enum OpenOp<'t> {
    Generic(Box<GenericOp<'t>>),
    Custom(Box<CustomOp<'t>>),
    /// An op with an error: its regions are read to find more.
    Broken,
}

#[derive(Clone, Copy)]
struct Label {
    block: Block,
    /// Offset of the label, or of the first use while there is none.
    at: usize,
    defined: bool,
}

/// A region that is being read.
struct OpenRegion<'t> {
    /// Offset of its brace.
    at: usize,
    blocks: Vec<Block>,
    current: Option<Block>,
    labels: FxHashMap<&'t str, Label>,
    /// Names defined from here on are forgotten at its end.
    mark: usize,
    /// The entry block's arguments were given before the region.
    has_entry: bool,
    /// Dialect whose ops need no prefix.
    default_dialect: &'static str,
}

struct Frame<'t> {
    op: OpenOp<'t>,
    region: OpenRegion<'t>,
}

pub(crate) struct Driver<'t> {
    reader: Reader<'t>,
    units: Units<'t>,
    /// Open regions, innermost last; the first is the file.
    frames: Vec<Frame<'t>>,
    levels: Vec<Level<'t>>,
    text_info: TextInfo,
    /// True after an error.
    damaged: bool,
}

/// The parts that complete an op.
struct Completion<'a> {
    operands: &'a [Value],
    types: &'a [Type],
    successors: &'a [Block],
    props: Attr,
    attrs: Attr,
    loc: Loc,
}

impl<'t> Driver<'t> {
    pub(crate) fn new(reader: Reader<'t>) -> Self {
        let (text, keep) = (reader.text, reader.options.layout);
        let mut body = Box::new(Body::with_block(1));
        let block = body.entry_block().expect("made with a block");
        let level = Level { scope: Scope::new(text), body: std::mem::take(&mut body) };
        let region = OpenRegion {
            at: 0,
            blocks: vec![block],
            current: Some(block),
            labels: FxHashMap::default(),
            mark: 0,
            has_entry: true,
            default_dialect: "builtin",
        };
        Self {
            reader,
            units: Units::new(text),
            frames: vec![Frame { op: OpenOp::Broken, region }],
            levels: vec![level],
            text_info: TextInfo { layout: layout::begin(keep), ..TextInfo::default() },
            damaged: false,
        }
    }

    /// Reads the whole text. The reader comes back with the diagnostics.
    pub(crate) fn run(mut self, file: &str) -> (Reader<'t>, Result<Module, Reported>) {
        if let Some((at, message)) = many_unclosed(self.reader.text) {
            let reported = self.reader.error(at, message);
            return (self.reader, Err(reported));
        }
        self.reader.find_aliases();
        self.read_in_parallel();
        let mut in_module = false;
        while self.reader.diags.errors() < MAX_ERRORS {
            match self.units.next() {
                Ok(Some(unit)) => {
                    if self.unit(unit).is_err() {
                        self.damaged = true;
                    }
                    // The region of the first module, where most files have their operations.
                    if self.frames.len() == 2 && !std::mem::replace(&mut in_module, true) {
                        self.read_in_parallel();
                    }
                }
                Ok(None) => break,
                Err(bad) => self.bad_unit(bad),
            }
        }
        let module = self.finish(file);
        (self.reader, module)
    }

    fn cx(&self) -> &'t Context {
        self.reader.cx
    }

    fn unit(&mut self, unit: Unit<'t>) -> Result<(), Reported> {
        match unit.node.rule() {
            Rule::op | Rule::bare_op => self.op(unit),
            Rule::close | Rule::bare_close => self.close(unit),
            Rule::label => self.label(unit),
            Rule::alias => self.alias(unit),
            _ => self.resource(unit),
        }
    }

    fn op(&mut self, unit: Unit<'t>) -> Result<(), Reported> {
        let node = unit.node.clone();
        let mut children = node.children();
        let is_broken = |driver: &mut Self, unit: &Unit<'t>| driver.broken_op(unit);
        let mut results = SmallVec::new();
        let mut last = unit.start;
        while let Some(Rule::result | Rule::result_count) = children.peek_rule() {
            let Some(node) = children.next() else { break };
            if self.result(&node, last, &mut results).is_err() {
                is_broken(self, &unit);
                return Err(Reported);
            }
            last = node.span().end;
        }
        let name = children.next().expect("a name");
        if let Err(Reported) = self.check_equals(last, name.start(), results.len()) {
            is_broken(self, &unit);
            return Err(Reported);
        }
        let done = match name.rule() {
            Rule::gname => self.generic_op(&name, results, children),
            _ => self.custom_op(&name, results),
        };
        if done.is_err() {
            self.broken_op(&unit);
        }
        done
    }

    /// Makes the results of an op with an error known as such, and its region, if one begins here, open.
    fn broken_op(&mut self, unit: &Unit<'t>) {
        self.units.skip_rest();
        let mut opens = None;
        for child in unit.node.clone().children() {
            match child.rule() {
                Rule::result => self.define_unknown(child.text(), child.start()),
                Rule::gopen | Rule::copen => opens = Some(child.start()),
                _ => {}
            }
        }
        if let Some(at) = opens {
            self.open_broken(at);
        }
    }

    fn define_unknown(&mut self, name: &'t str, at: usize) {
        let known = Known { def: Def::Unknown, at: at as u32 };
        let scope = &mut self.level().scope;
        if !name.is_empty() && scope.get(name).is_none() {
            scope.define(name, known);
        }
    }

    /// Adds a result's name, or the count of results that the last one stands for. The text is read up to `from`.
    fn result(
        &mut self,
        node: &Node<'t>,
        from: usize,
        results: &mut SmallVec<[ResultName<'t>; 1]>,
    ) -> Result<(), Reported> {
        const END: &str = "expected '=' after SSA name";
        let at = node.start() - 1;
        if node.rule() == Rule::result {
            if !results.is_empty() {
                self.check_comma(from, at, END)?;
            }
            results.push(ResultName { name: node.text(), count: 1, at });
            return Ok(());
        }
        self.check_no_comma(from, at, "expected valid ssa identifier")?;
        let count = self.result_count(node)?;
        // A name has one count at most.
        match results.last_mut().filter(|last| last.at + 1 + last.name.len() == from) {
            Some(last) => last.count = count,
            None => return Err(self.reader.missing(at, END)),
        }
        Ok(())
    }

    fn result_count(&mut self, node: &Node<'t>) -> Result<u32, Reported> {
        let number = node.clone().child().expect("a number");
        let count = match unsigned(number.text()) {
            Some(count @ 1..) => u32::try_from(count).map_err(|_| "expected at most 4294967295 results"),
            _ => Err("expected named operation to have at least 1 result"),
        };
        count.map_err(|message| self.reader.error(number.start(), message))
    }

    /// Checks that no comma stands between the last result and `=`.
    fn check_equals(&mut self, from: usize, to: usize, results: usize) -> Result<(), Reported> {
        let between = &self.reader.text.as_bytes()[from..to];
        if results == 0 || !between.contains(&b',') {
            return Ok(());
        }
        let equals = from + between.iter().position(|b| *b == b'=').unwrap_or_default();
        Err(self.reader.missing(equals, "expected valid ssa identifier"))
    }

    /// Checks that exactly one comma stands between two items of a list; `end` says what stands where there is none.
    fn check_comma(&mut self, from: usize, to: usize, end: &str) -> Result<(), Reported> {
        let between = &self.reader.text.as_bytes()[from..to];
        if between == b", " || between == b"," {
            return Ok(());
        }
        match between.iter().filter(|b| **b == b',').count() {
            1 => Ok(()),
            0 => Err(self.reader.missing(to, end)),
            _ => {
                let first = between.iter().position(|b| *b == b',').unwrap_or_default();
                let second = between[first + 1..].iter().position(|b| *b == b',').unwrap_or_default();
                Err(self.reader.missing(from + first + 1 + second, generic::NO_OPERAND))
            }
        }
    }

    /// Checks that no comma stands before the first item of a list, or in an empty one: `message` says what should.
    fn check_no_comma(&mut self, from: usize, to: usize, message: &str) -> Result<(), Reported> {
        match self.reader.text.as_bytes()[from..to].iter().position(|b| *b == b',') {
            None => Ok(()),
            Some(n) => Err(self.reader.missing(from + n, message)),
        }
    }

    /// Checks that no comma stands between the last item of a list, at the end of which `rest` begins, and the list's bracket:
    /// there would be one more item.
    fn check_last(&mut self, rest: Span, close: u8, item: &str) -> Result<(), Reported> {
        let text = rest.of(self.reader.text).as_bytes();
        let length = memchr::memchr(close, text).unwrap_or_default();
        if text[..length].contains(&b',') { Err(self.reader.missing(rest.start + length, item)) } else { Ok(()) }
    }

    /// Looks an op's name up, and checks that it may be used.
    fn op_start(
        &mut self,
        text: &'t str,
        at: usize,
        results: SmallVec<[ResultName<'t>; 1]>,
    ) -> Result<OpStart<'t>, Reported> {
        let name = self.reader.op_name(text);
        let def = name.def(self.cx());
        if def.is_none() && !self.reader.options.allow_unregistered {
            return Err(self.unregistered(text, at));
        }
        let isolated = def.is_some_and(|d| d.traits.has(Traits::IsolatedFromAbove));
        let start = results.first().map_or(at, |r: &ResultName<'_>| r.at);
        let places = self.place(start, Part::Unknown).into_iter().collect();
        Ok(OpStart { name, at, results, isolated, entered: false, regions: Vec::new(), places })
    }

    fn unregistered(&mut self, name: &str, mut at: usize) -> Reported {
        let cx = self.cx();
        let dialect = name.split_once('.').map_or("", |(dialect, _)| dialect);
        let message = match cx.registry().dialect(dialect) {
            Some(_) => format!(
                "unregistered operation '{name}' found in dialect ('{dialect}') that does not allow unknown operations"
            ),
            // After the name, as upstream does.
            None if self.reader.text.as_bytes().get(at) == Some(&b'"') => {
                at = skip_blank(self.reader.text, string_end(self.reader.text.as_bytes(), at));
                UNREGISTERED_DIALECT.to_string()
            }
            None => UNREGISTERED_DIALECT.to_string(),
        };
        let error = self.with_op_hint(Diagnostic::error(self.reader.loc(at), message), name);
        self.reader.report(error.code(codes::UNKNOWN_OP))
    }

    /// Adds what the name of an op may have been meant to be.
    fn with_op_hint(&self, error: Diagnostic, name: &str) -> Diagnostic {
        let registry = self.cx().registry();
        let Some(meant) = did_you_mean(name, registry.op_defs().map(|d| d.name)) else {
            return match registry.dialect(name.split('.').next().unwrap_or_default()) {
                Some(info) if info.ops.is_empty() => error,
                Some(_) | None => error,
            };
        };
        let summary = registry.op_defs().find(|d| d.name == meant).map_or("", |d| d.summary);
        error.help(match summary {
            "" => format!("did you mean `{meant}`?"),
            _ => format!("did you mean `{meant}`? ({summary})"),
        })
    }

    // ---- values

    fn level(&mut self) -> &mut Level<'t> {
        self.levels.last_mut().expect("the file has a level")
    }

    /// The value called `name#number`, of type `ty`.
    fn value(&mut self, name: &'t str, number: u32, ty: Type, at: usize) -> Result<Value, Reported> {
        let level = self.levels.last_mut().expect("the file has a level");
        if let Some(known) = level.scope.get(name) {
            let Some(value) = known.value(&level.body, number) else {
                return match known.def {
                    Def::Unknown => Err(Reported),
                    _ => Err(self.reader.coded(codes::UNDEFINED_VALUE, at, "reference to invalid result number")),
                };
            };
            if level.body.ty(value) == ty {
                return Ok(value);
            }
            let prior = level.body.ty(value);
            return Err(self.other_type(name, ty, prior, at, known.at));
        }
        if let Some(forward) = level.scope.forward(name, number) {
            if forward.ty == ty {
                return Ok(forward.placeholder);
            }
            return Err(self.other_type(name, ty, forward.ty, at, forward.at));
        }
        let placeholder = Builder::new(self.reader.cx, &mut level.body).create_placeholder(ty);
        level.scope.add_forward(name, number, Forward { placeholder, ty, at: at as u32 });
        Ok(placeholder)
    }

    fn other_type(&mut self, name: &str, ty: Type, prior: Type, at: usize, prior_at: u32) -> Reported {
        let cx = self.cx();
        let text = |ty| sutura_ir::asm::print::type_text(cx, ty);
        let message = format!(
            "use of value '%{name}' expects different type than prior uses: '{}' vs '{}'",
            text(ty),
            text(prior)
        );
        let prior = self.reader.loc(prior_at as usize);
        let error = Diagnostic::error(self.reader.loc(at), message).code(codes::TYPE_OF_USE);
        self.reader.report(error.note(prior, "prior use here"))
    }

    /// Binds a name, and replaces what stood for it before.
    fn define(&mut self, name: &'t str, def: Def, at: usize) -> Result<(), Reported> {
        self.reader.check_name('%', name, at)?;
        let level = self.levels.last_mut().expect("the file has a level");
        if let Some(known) = level.scope.get(name) {
            if matches!(known.def, Def::Unknown) || self.damaged {
                return Ok(());
            }
            let first = self.reader.loc(known.at as usize);
            let message = format!("redefinition of SSA value '%{name}'");
            let error = Diagnostic::error(self.reader.loc(at), message).note(first, "previously defined here");
            return Err(self.reader.report(error.code(codes::REDEFINED)));
        }
        let known = Known { def, at: at as u32 };
        for number in 0..known.count() {
            let Some(forward) = level.scope.take_forward(name, number) else {
                if number == 0 && known.count() == 1 { break } else { continue }
            };
            let value = known.value(&level.body, number).expect("counted");
            let ty = level.body.ty(value);
            Builder::new(self.reader.cx, &mut level.body).replace_placeholder(forward.placeholder, value);
            if ty != forward.ty {
                let cx = self.reader.cx;
                let text = |ty| sutura_ir::asm::print::type_text(cx, ty);
                let message = format!("definition of SSA value '%{name}#{number}' has type '{}'", text(ty));
                let used = self.reader.loc(forward.at as usize);
                let note = format!("previously used here with type '{}'", text(forward.ty));
                let error = Diagnostic::error(self.reader.loc(at), message).note(used, note);
                return Err(self.reader.report(error.code(codes::TYPE_OF_USE)));
            }
        }
        level.scope.define(name, known);
        Ok(())
    }

    /// Keeps the name of a value, unless it is one that the printer would make up.
    fn keep_name(&mut self, value: Value, name: &str) {
        if !sutura_ir::asm::print::is_default_value_name(name) || self.keeps_all() {
            let cx = self.cx();
            let name = cx.ident(name);
            Builder::new(cx, &mut self.level().body).set_value_name(value, Some(name));
        }
    }

    // ---- operations

    /// Creates an op, with its regions, at the end of the current block.
    fn complete(&mut self, start: OpStart<'t>, parts: Completion<'_>) -> Result<Op, Reported> {
        let cx = self.cx();
        self.check_result_count(&start, parts.types.len())?;
        let nested = if start.isolated { Some(self.isolated_body(&start)?) } else { None };
        let block = self.current_block();
        let header = OpHeader { name: start.name, loc: parts.loc, props: parts.props, attrs: parts.attrs };
        let level = self.levels.last_mut().expect("the file has a level");
        let mut builder = Builder::at_end(cx, &mut level.body, block);
        let n_regions = start.regions.len();
        let op = builder.create_from_parts(header, parts.operands, parts.types, parts.successors, n_regions, nested);
        if !start.isolated && n_regions != 0 {
            let regions: SmallVec<[_; 2]> = builder.body().regions(op).collect();
            for (region, blocks) in regions.into_iter().zip(&start.regions) {
                blocks.iter().for_each(|block| builder.insert_block(region, *block, None));
            }
        }
        self.name_places(op, parts.loc, &start.places);
        self.define_results(op, &start.results)?;
        Ok(op)
    }

    /// The finished body of an isolated op.
    fn isolated_body(&mut self, start: &OpStart<'t>) -> Result<Box<Body>, Reported> {
        let expected = start.name.def(self.cx()).map_or(0, |d| d.regions.len());
        if !start.entered {
            // No region was opened: those that the custom form leaves out are empty.
            if start.regions.len() != expected {
                return Err(self.wrong_region_count(start, expected));
            }
            return Ok(Box::new(Body::new(expected)));
        }
        let level = self.levels.pop().expect("opened with the first region");
        self.check_defined(&level.scope)?;
        if start.regions.len() != expected {
            return Err(self.wrong_region_count(start, expected));
        }
        let mut body = level.body;
        let regions: Vec<_> = body.owner_regions().collect();
        let mut builder = Builder::new(self.reader.cx, &mut body);
        for (region, blocks) in regions.into_iter().zip(&start.regions) {
            blocks.iter().for_each(|block| builder.insert_block(region, *block, None));
        }
        builder.shrink();
        Ok(body)
    }

    fn wrong_region_count(&mut self, start: &OpStart<'t>, expected: usize) -> Reported {
        let name = start.name.as_str(self.cx());
        let message = match expected {
            1 => format!("'{name}' op requires one region"),
            _ => format!("'{name}' op requires {expected} regions"),
        };
        self.reader.coded(codes::COUNT, start.at, message)
    }

    /// Reports values that are used and never defined.
    fn check_defined(&mut self, scope: &Scope<'t>) -> Result<(), Reported> {
        let undefined = scope.undefined();
        if undefined.is_empty() || self.damaged {
            return Ok(());
        }
        for (name, at) in undefined {
            let error = Diagnostic::error(self.reader.loc(at as usize), "use of undeclared SSA value name");
            let error = error.code(codes::UNDEFINED_VALUE);
            let meant = did_you_mean(name, scope.known_names());
            self.reader.report(match meant {
                Some(meant) => error.help(format!("did you mean `%{meant}`?")),
                None => error,
            });
        }
        Err(Reported)
    }

    fn check_result_count(&mut self, start: &OpStart<'t>, found: usize) -> Result<(), Reported> {
        let Some(first) = start.results.first() else { return Ok(()) };
        if found == 0 {
            return Err(self.reader.coded(codes::RESULT_NAMES, first.at, "cannot name an operation with no results"));
        }
        let named: u64 = start.results.iter().map(|r| u64::from(r.count)).sum();
        if named == found as u64 {
            return Ok(());
        }
        let message = format!("operation defines {found} results but was provided {named} to bind");
        Err(self.reader.coded(codes::RESULT_NAMES, first.at, message))
    }

    fn define_results(&mut self, op: Op, names: &[ResultName<'t>]) -> Result<(), Reported> {
        let mut first = 0;
        for result in names {
            let value = self.level().body.result(op, first as usize);
            let def = match result.count {
                1 => Def::Value(value),
                count => Def::Results { op, first, count },
            };
            self.define(result.name, def, result.at)?;
            self.keep_name(value, result.name);
            first += result.count;
        }
        Ok(())
    }

    /// Inherent attributes that were written among the others move to their place.
    fn split_props(&self, name: OpName, props: Attr, attrs: Attr) -> (Attr, Attr) {
        let cx = self.cx();
        let Some(info) = name.info(cx) else { return (props, attrs) };
        let entries = cx.entries(attrs);
        let inherent = |e: &NamedAttr| info.attr_names.contains(&e.name) || info.def.is_segment_sizes(cx.str(e.name));
        if !entries.iter().any(inherent) {
            return (props, attrs);
        }
        let (moved, kept): (Vec<NamedAttr>, Vec<NamedAttr>) = entries.iter().copied().partition(inherent);
        let mut all: Vec<NamedAttr> = moved;
        all.extend_from_slice(cx.entries(props));
        (cx.dict(&all), cx.dict(&kept))
    }

    // ---- the rest of a file

    fn alias(&mut self, unit: Unit<'t>) -> Result<(), Reported> {
        if self.frames.len() > 1 {
            return Err(self.reader.error(unit.start, "expected operation name in quotes"));
        }
        let start = unit.start;
        let end = self.reader.text[..unit.node.span().end].trim_end().len();
        let (name, target) = match self.reader.define_alias(unit.node) {
            Ok(defined) => defined,
            Err(Reported) => {
                // The rule may have stopped in the midst of the definition: its rest is no unit.
                let next = self.units.next_line(end);
                self.units.restart_at(next);
                return Err(Reported);
            }
        };
        let name = self.cx().ident(name);
        self.place(start, Part::Alias(target, name));
        self.text_info.aliases.push((target, name));
        Ok(())
    }

    fn resource(&mut self, unit: Unit<'t>) -> Result<(), Reported> {
        if self.frames.len() > 1 {
            return Err(self.reader.error(unit.start, "expected operation name in quotes"));
        }
        let sections = self.reader.resources(unit.node.span())?;
        self.text_info.resources.extend(sections);
        self.place(unit.start, Part::Resources);
        Ok(())
    }

    fn bad_unit(&mut self, bad: BadUnit) {
        if bad.too_deep {
            self.reader.too_deep(bad.at);
        } else {
            self.reader.error(bad.at, bad.message);
        }
        self.damaged = true;
        let text = self.reader.text;
        if text[bad.start..].starts_with('%') {
            let end = crate::scan::suffix_end(text, bad.start + 1);
            self.define_unknown(&text[bad.start + 1..end], bad.start);
        }
        let next = self.units.next_line(bad.at.max(bad.start));
        self.units.restart_at(next);
    }

    fn finish(&mut self, file: &str) -> Result<Module, Reported> {
        if let (false, Some(frame)) = (self.damaged, self.frames.get(1..).and_then(<[_]>::last)) {
            let open = self.reader.loc(frame.region.at);
            let end = self.reader.loc(self.reader.text.len());
            let error = Diagnostic::error(end, "expected '}' at the end of a region");
            self.reader.report(error.code(codes::UNCLOSED_REGION).note(open, "the region begins here"));
        }
        let mut level = self.levels.swap_remove(0);
        let scope = std::mem::take(&mut level.scope);
        let defined = if self.frames.len() == 1 { self.check_defined(&scope) } else { Ok(()) };
        defined?;
        self.reader.diags.check()?;
        self.finish_layout();
        let cx = self.reader.cx;
        let mut body = *level.body;
        Builder::new(cx, &mut body).shrink();
        if self.reader.options.no_implicit_module {
            let text = std::mem::take(&mut self.text_info);
            return Self::top_level(&mut self.reader, body, file).map(|mut module| {
                *module.text_mut() = text;
                module
            });
        }
        let is_module = body
            .entry_block()
            .and_then(|b| body.first_op(b))
            .is_some_and(|op| body.name(op).as_str(cx) == "builtin.module");
        let mut module = if is_module && body.op_count() == 1 {
            Module::from_root(body).ok_or(Reported)?
        } else {
            if let Some(layout) = &mut self.text_info.layout {
                layout.implicit_module = true;
            }
            let loc = cx.file_loc(file, 0, 0);
            Module::with_op(cx, loc, cx.op_name("builtin.module"), body)
        };
        *module.text_mut() = std::mem::take(&mut self.text_info);
        Ok(module)
    }

    /// The program whose top level is the only op of `body`.
    fn top_level(reader: &mut Reader<'t>, body: Body, file: &str) -> Result<Module, Reported> {
        let cx = reader.cx;
        let ops: Vec<Op> = body.entry_block().map(|b| body.ops(b).collect()).unwrap_or_default();
        let message = match ops[..] {
            [op] if body.nested(op).is_some() => return Module::from_root(body).ok_or(Reported),
            [op] => {
                let name = body.name(op).as_str(cx);
                let error = Diagnostic::error(body.loc(op), format!("'{name}' op cannot be the top level"));
                return Err(reader.report(error.help("it is not isolated from above: put it into a `builtin.module`")));
            }
            _ => format!("source must contain a single top-level operation, found: {}", ops.len()),
        };
        Err(reader.report(Diagnostic::error(cx.file_loc(file, 0, 0), message)))
    }
}
