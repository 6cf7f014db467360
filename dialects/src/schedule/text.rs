//! The tree as text.

use std::fmt::{self, Write};

use sutura_ir::asm::parse::ParamParser;
use sutura_ir::asm::print::is_bare_identifier;
use sutura_ir::diagnostics::{Reported, codes};
use sutura_ir::ext::Param;
use sutura_ir::{Context, Diagnostic, Loc};

use super::TreeAttr;
use super::tree::{
    Bring, Dim, Kernel, Launch, Loop, Node, Operand, Place, Prefetch, Rewrite, Runs, Split, StageName, Stored, Tile,
    Version,
};
use crate::r#dyn::Poly;
use crate::r#dyn::attr::parse_poly;

/// Most loops in each other.
pub const MAX_LOOPS: usize = 64;

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d{}", self.0)
    }
}

/// A name as a word where it is one, else in quotes.
pub(super) fn name_text(cx: &Context, name: &str) -> String {
    if is_bare_identifier(name) {
        return name.to_owned();
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = name.to_owned().print(cx, &mut text);
    text
}

/// `join d0 d1`, `fuse d0 d1`, `hoist p:4 out:5`
pub fn rewrite_text(cx: &Context, rewrite: &Rewrite) -> String {
    match rewrite {
        Rewrite::Join(first, second) => format!("join {first} {second}"),
        Rewrite::Fuse(outer, inner) => format!("fuse {outer} {inner}"),
        Rewrite::Hoist(scale, sum) => format!("hoist {} {}", stage_text(cx, scale), stage_text(cx, sum)),
    }
}

/// `max:0`
pub fn stage_text(cx: &Context, stage: &StageName) -> String {
    format!("{}:{}", name_text(cx, &stage.name), stage.number)
}

/// ` rows d0 cols d1 in l1 padded`, of which each may be absent.
pub(super) fn tile_text(cx: &Context, tile: &Tile) -> String {
    let rows = tile.rows.map_or_else(String::new, |rows| format!(" rows {rows}"));
    let cols = tile.cols.map_or_else(String::new, |cols| format!(" cols {cols}"));
    let space = if tile.space.is_empty() { String::new() } else { format!(" in {}", name_text(cx, &tile.space)) };
    format!("{rows}{cols}{space}{}", if tile.padded { " padded" } else { "" })
}

// ---- reading

pub(super) type Parsed<T> = Result<T, Reported>;

/// Reads what follows `#schedule.tree`.
pub(super) fn parse(p: &mut dyn ParamParser) -> Parsed<TreeAttr> {
    p.punct("<")?;
    let mut versions = Vec::new();
    while p.opt_keyword("version") {
        versions.push(version(p)?);
    }
    match p.opt_punct(">") {
        true => Ok(TreeAttr { versions }),
        false => Err(p.error("expected 'version' or '>'")),
    }
}

/// What follows `version`.
fn version(p: &mut dyn ParamParser) -> Parsed<Version> {
    let mut version = Version { guard: when(p)?, ..Version::default() };
    p.punct("{")?;
    loop {
        if p.opt_keyword("join") {
            version.rewrites.push(Rewrite::Join(dim(p)?, dim(p)?));
        } else if p.opt_keyword("fuse") {
            version.rewrites.push(Rewrite::Fuse(dim(p)?, dim(p)?));
        } else if p.opt_keyword("hoist") {
            version.rewrites.push(Rewrite::Hoist(stage(p)?, stage(p)?));
        } else {
            break;
        }
    }
    while !p.opt_punct("}") {
        version.launches.push(launch(p)?);
    }
    Ok(version)
}

fn launch(p: &mut dyn ParamParser) -> Parsed<Launch> {
    if p.opt_keyword("kernel") {
        return Ok(Launch { kernels: vec![kernel(p)?] });
    }
    if !p.opt_keyword("together") {
        return Err(
            p.error("expected a launch: kernel or together; 'join', 'fuse' and 'hoist' come before the first one")
        );
    }
    let mut kernels = Vec::new();
    p.punct("{")?;
    while !p.opt_punct("}") {
        p.keyword("kernel")?;
        kernels.push(kernel(p)?);
    }
    Ok(Launch { kernels })
}

/// What follows `kernel`.
fn kernel(p: &mut dyn ParamParser) -> Parsed<Kernel> {
    let threads = if p.opt_keyword("threads") { Some(p.int()?) } else { None };
    Ok(Kernel { threads, body: body(p, 0)? })
}

/// `{ nodes }`, in `depth` loops.
fn body(p: &mut dyn ParamParser, depth: usize) -> Parsed<Vec<Node>> {
    p.punct("{")?;
    nodes(p, depth)
}

/// Nodes up to `}`.
fn nodes(p: &mut dyn ParamParser, depth: usize) -> Parsed<Vec<Node>> {
    let mut nodes = Vec::new();
    while !p.opt_punct("}") {
        nodes.push(node(p, depth)?);
    }
    Ok(nodes)
}

fn node(p: &mut dyn ParamParser, depth: usize) -> Parsed<Node> {
    let loc = p.loc();
    Ok(match p.opt_any_keyword().as_deref() {
        Some("loop") if depth == MAX_LOOPS => return Err(too_deep(p, loc)),
        Some("loop") => Node::Loop(loop_over(p, depth)?),
        Some("place") => Node::Place(place(p, false)?),
        Some("contract") => Node::Place(place(p, true)?),
        Some("join") => Node::Join(place(p, false)?),
        Some("operand") => Node::Operand(operand(p, Bring::Tile, depth)?),
        Some("cache") => Node::Operand(operand(p, Bring::Cache, depth)?),
        Some("pack") => Node::Operand(operand(p, Bring::Pack, depth)?),
        _ => return Err(p.error_at(loc, "expected a node: loop, place, contract, join, operand, cache or pack")),
    })
}

fn too_deep(p: &mut dyn ParamParser, loc: Loc) -> Reported {
    let message = format!("nesting is too deep: at most {MAX_LOOPS} loops lie in each other");
    p.report(Diagnostic::error(loc, message).code(codes::NESTING))
}

/// What follows `loop`, which lies in `depth` others.
fn loop_over(p: &mut dyn ParamParser, depth: usize) -> Parsed<Loop> {
    let dim = dim(p)?;
    let split = if p.opt_keyword("by") {
        Split::By(p.int()?)
    } else if p.opt_keyword("even") {
        Split::Even(p.int()?)
    } else {
        Split::One
    };
    let runs = match p.opt_keyword("grid") {
        true => Runs::Grid,
        false if p.opt_keyword("units") => Runs::Units,
        false => Runs::InTurn,
    };
    let online = if p.opt_keyword("online") { Some(stage(p)?) } else { None };
    let unroll = if p.opt_keyword("unroll") { Some(p.int()?) } else { None };
    let (inside, reach) = (p.opt_keyword("inside"), p.opt_keyword("reach"));
    Ok(Loop { dim, split, runs, online, unroll, inside, reach, body: body(p, depth + 1)? })
}

fn place(p: &mut dyn ParamParser, contract: bool) -> Parsed<Place> {
    let place = Place::new(stage(p)?, tile(p)?);
    let columnwise = p.opt_keyword("columnwise");
    let home = if p.opt_keyword("home") { Some(self::stage(p)?) } else { None };
    Ok(Place { contract, columnwise, home, store: stored(p)?, ..place })
}

/// `kept`, `stream when [sizes] defer`, or nothing.
fn stored(p: &mut dyn ParamParser) -> Parsed<Option<Stored>> {
    if p.opt_keyword("kept") {
        return Ok(Some(Stored::Kept));
    }
    if p.opt_keyword("stream") {
        return Ok(Some(Stored::Stream { when: when(p)?, defer: p.opt_keyword("defer") }));
    }
    match p.opt_keyword("defer") {
        true => Err(p.error("'defer' without 'stream': only what goes past the caches can wait")),
        false => Ok(None),
    }
}

/// `when [sizes]`, or nothing for no size.
pub(super) fn when(p: &mut dyn ParamParser) -> Parsed<Vec<Poly>> {
    let mut sizes = Vec::new();
    if p.opt_keyword("when") {
        let mut size = |p: &mut dyn ParamParser| {
            sizes.push(parse_poly(p)?);
            Ok(())
        };
        p.list("[", "]", &mut size)?;
    }
    Ok(sizes)
}

/// ` when [sizes]`, or nothing for no size.
pub(super) fn when_text(sizes: &[Poly]) -> String {
    let texts: Vec<String> = sizes.iter().map(Poly::to_string).collect();
    if sizes.is_empty() { String::new() } else { format!(" when [{}]", texts.join(", ")) }
}

/// `(4096, next when [sizes])`, of which one part may be absent.
pub(super) fn prefetch(p: &mut dyn ParamParser) -> Parsed<Prefetch> {
    p.punct("(")?;
    let (bytes, mut next) = (p.opt_int()?, None);
    if bytes.is_none() || p.opt_punct(",") {
        p.keyword("next")?;
        next = Some(when(p)?);
    }
    p.punct(")")?;
    Ok(Prefetch { bytes, next })
}

pub(super) fn prefetch_text(prefetch: &Prefetch) -> String {
    let bytes = prefetch.bytes.map(|bytes| bytes.to_string());
    let next = prefetch.next.as_ref().map(|sizes| format!("next{}", when_text(sizes)));
    format!("({})", bytes.into_iter().chain(next).collect::<Vec<_>>().join(", "))
}

/// What follows the word, in `depth` loops and bodies.
fn operand(p: &mut dyn ParamParser, to: Bring, depth: usize) -> Parsed<Operand> {
    let stage = stage(p)?;
    p.punct(".")?;
    let input = number(p, "the number of an input")?;
    let tile = tile(p)?;
    let pitch = if p.opt_keyword("pitch") { Some(p.int()?) } else { None };
    let ahead = p.opt_keyword("ahead");
    let asynchronous = p.opt_keyword("async");
    let prefetch = if p.opt_keyword("prefetch") { Some(prefetch(p)?) } else { None };
    let (loc, mut body) = (p.loc(), Vec::new());
    if p.opt_punct("{") {
        if depth == MAX_LOOPS {
            return Err(too_deep(p, loc));
        }
        body = nodes(p, depth + 1)?;
    }
    Ok(Operand { body, pitch, ahead, asynchronous, prefetch, ..Operand::new((stage, input), tile, to) })
}

/// `max:0`
pub(super) fn stage(p: &mut dyn ParamParser) -> Parsed<StageName> {
    let name = name(p, "a stage, such as 'max:0'")?;
    p.punct(":")?;
    Ok(StageName { number: number(p, "the number of a stage")?, name })
}

/// What follows what a tile is of.
pub(super) fn tile(p: &mut dyn ParamParser) -> Parsed<Tile> {
    let mut tile = Tile::default();
    if p.opt_keyword("rows") {
        tile.rows = Some(dim(p)?);
    }
    if p.opt_keyword("cols") {
        tile.cols = Some(dim(p)?);
    }
    if p.opt_keyword("in") {
        let loc = p.loc();
        tile.space = name(p, "the name of a space")?;
        if tile.space.is_empty() {
            return Err(p.error_at(loc, "expected the name of a space"));
        }
    }
    tile.padded = p.opt_keyword("padded");
    Ok(tile)
}

/// A word or a string.
pub(super) fn name(p: &mut dyn ParamParser, what: &str) -> Parsed<String> {
    if let Some(name) = p.opt_string()? {
        return Ok(name);
    }
    p.opt_any_keyword().ok_or_else(|| p.error(&format!("expected {what}")))
}

/// A number that counts something.
pub(super) fn number(p: &mut dyn ParamParser, what: &str) -> Parsed<usize> {
    let loc = p.loc();
    let number = p.opt_int()?.and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| p.error_at(loc, &format!("expected {what}, which is at least 0")))
}

/// `d0`
pub(super) fn dim(p: &mut dyn ParamParser) -> Parsed<Dim> {
    let loc = p.loc();
    let word = p.opt_any_keyword().unwrap_or_default();
    let digits = word.strip_prefix('d').filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
    let Some(digits) = digits else { return Err(p.error_at(loc, "expected a dim, such as 'd0'")) };
    digits.parse().map(Dim).map_err(|_| p.error_at(loc, "the number of the dim is too large"))
}

// ---- writing

/// Writes what follows `#schedule.tree`.
pub(super) fn print(tree: &TreeAttr, cx: &Context, out: &mut dyn Write) -> fmt::Result {
    let mut lines = Lines { cx, out, indent: 1 };
    lines.out.write_char('<')?;
    for version in &tree.versions {
        lines.line()?;
        lines.version(version)?;
    }
    out.write_str("\n>")
}

/// A line, or several, of a version.
enum Step<'t> {
    Rewrite(&'t Rewrite),
    Launch(&'t Launch),
}

struct Lines<'o> {
    cx: &'o Context,
    out: &'o mut dyn Write,
    /// Levels of what is on the next line.
    indent: usize,
}

impl Lines<'_> {
    /// Begins a line.
    fn line(&mut self) -> fmt::Result {
        write!(self.out, "\n{:1$}", "", 2 * self.indent)
    }

    /// `{ … }`, each item on a line of its own.
    fn block<T>(&mut self, items: &[T], item: fn(&mut Self, &T) -> fmt::Result) -> fmt::Result {
        if items.is_empty() {
            return self.out.write_str(" {}");
        }
        self.out.write_str(" {")?;
        self.indent += 1;
        for one in items {
            self.line()?;
            item(self, one)?;
        }
        self.indent -= 1;
        self.line()?;
        self.out.write_char('}')
    }

    fn version(&mut self, version: &Version) -> fmt::Result {
        write!(self.out, "version{}", when_text(&version.guard))?;
        let rewrites = version.rewrites.iter().map(Step::Rewrite);
        let steps: Vec<Step<'_>> = rewrites.chain(version.launches.iter().map(Step::Launch)).collect();
        self.block(&steps, |lines, step| match step {
            Step::Rewrite(rewrite) => lines.out.write_str(&rewrite_text(lines.cx, rewrite)),
            Step::Launch(launch) => lines.launch(launch),
        })
    }

    fn launch(&mut self, launch: &Launch) -> fmt::Result {
        match &launch.kernels[..] {
            [kernel] => self.kernel(kernel),
            kernels => {
                self.out.write_str("together")?;
                self.block(kernels, Self::kernel)
            }
        }
    }

    fn kernel(&mut self, kernel: &Kernel) -> fmt::Result {
        self.out.write_str("kernel")?;
        if let Some(threads) = kernel.threads {
            write!(self.out, " threads {threads}")?;
        }
        self.body(&kernel.body)
    }

    /// A single node without a body stays on the line.
    fn body(&mut self, nodes: &[Node]) -> fmt::Result {
        match nodes {
            [only @ (Node::Place(_) | Node::Join(_))] => {
                self.out.write_str(" { ")?;
                self.node(only)?;
                self.out.write_str(" }")
            }
            [Node::Operand(only)] if only.body.is_empty() => {
                self.out.write_str(" { ")?;
                self.operand(only)?;
                self.out.write_str(" }")
            }
            _ => self.block(nodes, Self::node),
        }
    }

    fn node(&mut self, node: &Node) -> fmt::Result {
        match node {
            Node::Loop(inner) => self.loop_over(inner),
            Node::Place(place) => self.place(if place.contract { "contract" } else { "place" }, place),
            Node::Join(place) => self.place("join", place),
            Node::Operand(operand) => self.operand(operand),
        }
    }

    fn loop_over(&mut self, inner: &Loop) -> fmt::Result {
        write!(self.out, "loop {}", inner.dim)?;
        match inner.split {
            Split::One => {}
            Split::By(number) => write!(self.out, " by {number}")?,
            Split::Even(number) => write!(self.out, " even {number}")?,
        }
        self.out.write_str(match inner.runs {
            Runs::InTurn => "",
            Runs::Grid => " grid",
            Runs::Units => " units",
        })?;
        if let Some(online) = &inner.online {
            write!(self.out, " online {}", stage_text(self.cx, online))?;
        }
        if let Some(unroll) = inner.unroll {
            write!(self.out, " unroll {unroll}")?;
        }
        if inner.inside {
            self.out.write_str(" inside")?;
        }
        if inner.reach {
            self.out.write_str(" reach")?;
        }
        self.body(&inner.body)
    }

    fn place(&mut self, word: &str, place: &Place) -> fmt::Result {
        write!(self.out, "{word} {}", stage_text(self.cx, &place.stage))?;
        self.out.write_str(&tile_text(self.cx, &place.tile))?;
        if place.columnwise {
            self.out.write_str(" columnwise")?;
        }
        if let Some(home) = &place.home {
            write!(self.out, " home {}", stage_text(self.cx, home))?;
        }
        match &place.store {
            Some(Stored::Kept) => self.out.write_str(" kept"),
            Some(Stored::Stream { when, defer }) => {
                write!(self.out, " stream{}{}", when_text(when), if *defer { " defer" } else { "" })
            }
            None => Ok(()),
        }
    }

    fn operand(&mut self, operand: &Operand) -> fmt::Result {
        let word = match operand.to {
            Bring::Tile => "operand",
            Bring::Cache => "cache",
            Bring::Pack => "pack",
        };
        write!(self.out, "{word} {}.{}", stage_text(self.cx, &operand.stage), operand.input)?;
        self.out.write_str(&tile_text(self.cx, &operand.tile))?;
        if let Some(pitch) = operand.pitch {
            write!(self.out, " pitch {pitch}")?;
        }
        if operand.ahead {
            self.out.write_str(" ahead")?;
        }
        if operand.asynchronous {
            self.out.write_str(" async")?;
        }
        if let Some(prefetch) = &operand.prefetch {
            write!(self.out, " prefetch{}", prefetch_text(prefetch))?;
        }
        if operand.body.is_empty() { Ok(()) } else { self.body(&operand.body) }
    }
}
