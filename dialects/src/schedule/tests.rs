//! What is written is read back as the same, and what is refused is refused in both ways.

use proptest::prelude::*;
use sutura_grammar::{ParseOptions, parse_attr};
use sutura_ir::asm::print::attr_text;
use sutura_ir::diagnostics::codes;
use sutura_ir::ext::{DialectAttr, ParamValue};
use sutura_ir::{Context, Diagnostics, Registry};

use super::tree::{
    Bring, Dim, Kernel, Launch, Loop, Node, Operand, Place, Prefetch, Rewrite, Runs, Split, StageName, Stored, Tile,
    Version, walk,
};
use super::{MAX_LOOPS, ScheduleDialect, TreeAttr};
use crate::r#dyn::Poly;
use crate::r#dyn::facts::MAX_DIM;

fn context() -> Context {
    Context::new(Registry::default().with::<ScheduleDialect>())
}

/// What a text is, or the code and the message of its first error.
fn read<'c>(cx: &'c Context, text: &str) -> Result<&'c TreeAttr, (String, String)> {
    let mut diags = Diagnostics::default();
    let source = cx.sources().add("t.mlir", text.to_owned()).expect("it is small");
    let attr = parse_attr(cx, &source, &ParseOptions::default(), &mut diags);
    attr.map(|attr| TreeAttr::of(cx, attr).expect("a tree")).map_err(|_| {
        let first = diags.iter().next().expect("an error");
        (first.code.unwrap_or_default().to_owned(), first.message.clone())
    })
}

fn written(cx: &Context, tree: &TreeAttr) -> String {
    attr_text(cx, cx.ext_attr(tree.clone()))
}

fn dim(number: usize) -> Dim {
    Dim(number)
}

fn loops(count: usize) -> TreeAttr {
    let mut body = Vec::new();
    for i in 0..count {
        body = vec![Node::Loop(Loop::new(dim(i), Split::One, Runs::InTurn, body))];
    }
    tree(body)
}

/// A tree of one kernel.
fn tree(body: Vec<Node>) -> TreeAttr {
    let launches = vec![Launch { kernels: vec![Kernel::new(body)] }];
    TreeAttr { versions: vec![Version { launches, ..Version::default() }] }
}

#[test]
fn what_people_read() {
    let cx = context();
    let text = "\
#schedule.tree<
  version when [-N + 16384] {
    join d0 d2
    fuse d0 d1
    kernel {
      loop d0 grid {
        place max:0 cols d1 in l1
        loop d2 by 16 { place sum:1 cols d1 in l1 }
        loop d3 even 64 {
          operand \"4\":2.0 cols d1 in l1
          pack prod:3.1 cols d1 in vec padded
        }
        contract prod:3 rows d4 cols d1 in vec
        join \"\":1 cols d1 in \"of all\" padded
      }
    }
    together {
      kernel {}
      kernel { place max:0 }
    }
  }
  version {
    kernel {
      loop d0 grid {
        loop d1 grid {}
      }
    }
  }
>";
    assert_eq!(written(&cx, read(&cx, text).unwrap()), text);
    let narrow = text.replace('\n', " ").replace("  ", "");
    assert_eq!(written(&cx, read(&cx, &narrow).unwrap()), text);
    let wide = text.replace(' ', "\n\n").replace("of\n\nall", "of all").replace('.', " . ");
    let wide = wide.replace("schedule . tree", "schedule.tree");
    assert_eq!(written(&cx, read(&cx, &wide).unwrap()), text);
}

#[test]
fn the_documentation_shows_what_is_written() {
    let cx = context();
    let shown = TreeAttr::DEF.description.split("```").nth(1).expect("an example");
    let shown = shown.strip_prefix("mlir\n").expect("its language").trim_end();
    assert_eq!(written(&cx, read(&cx, shown).unwrap()), shown);
}

#[test]
fn a_version_with_an_empty_guard_has_none() {
    let cx = context();
    let text = "#schedule.tree<version when [] { together { kernel {} } }>";
    assert_eq!(written(&cx, read(&cx, text).unwrap()), "#schedule.tree<\n  version {\n    kernel {}\n  }\n>");
}

#[test]
fn nesting_has_a_limit() {
    let cx = context();
    let deepest = loops(MAX_LOOPS);
    assert_eq!(read(&cx, &written(&cx, &deepest)), Ok(&deepest));
    assert_eq!(deepest.verify(&cx), Ok(()));
    let beyond = loops(MAX_LOOPS + 1);
    assert_eq!(
        beyond.verify(&cx).unwrap_err(),
        "the loop over d0 is nested too deep: at most 64 loops lie in each other"
    );
    let too_deep = (codes::NESTING.to_owned(), "nesting is too deep: at most 64 loops lie in each other".to_owned());
    assert_eq!(read(&cx, &written(&cx, &beyond)).unwrap_err(), too_deep);
    for text in [
        format!("#schedule.tree<version {{kernel {{{}", "loop d0 { ".repeat(100_000)),
        format!("#schedule.tree<version {{kernel {{{}", "kernel { ".repeat(100_000)),
    ] {
        read(&cx, &text).unwrap_err();
        read(&cx, &format!("{text}{}>", "}".repeat(100_002))).unwrap_err();
    }
    let text =
        format!("{}{}>", "#schedule.tree<version {kernel {", "loop d0 { ".repeat(100_000) + &"}".repeat(100_002));
    assert_eq!(read(&cx, &text).unwrap_err(), too_deep);
}

#[test]
fn sizes_of_guards_are_mapped() {
    let cx = context();
    let text = "#schedule.tree<version when [N - 4, M] { kernel {} } version { kernel {} }>";
    let mut replaced = |size: &Poly| Ok::<_, ()>(size.add(&Poly::constant(1)));
    let mapped = read(&cx, text).unwrap().map_sizes(&mut replaced).unwrap();
    assert!(written(&cx, &mapped).contains("when [N - 3, M + 1]"));
    let said = "#schedule.tree<version { kernel { loop d0 { operand a:0.0 prefetch(next when [N]) place a:0 stream when [M - 1] } } }>";
    let mapped_said = written(&cx, &read(&cx, said).unwrap().map_sizes(&mut replaced).unwrap());
    assert!(mapped_said.contains("next when [N + 1]") && mapped_said.contains("stream when [M]"), "{mapped_said}");
    let attr = cx.array_attr(&[cx.ext_attr(read(&cx, text).unwrap().clone())]);
    let inside = crate::r#dyn::attr::map_sizes(&cx, attr, &mut replaced).unwrap();
    assert_eq!(inside, cx.array_attr(&[cx.ext_attr(mapped)]));
}

#[test]
fn what_no_text_says_is_refused() {
    let cx = context();
    let stage = StageName { number: 0, name: "s".to_owned() };
    let tile = Tile { cols: Some(dim(0)), ..Tile::default() };
    let joined = Place { contract: true, ..Place::new(stage, tile) };
    let message = "stage 's:0' is joined as a contraction, which only a place can be";
    assert_eq!(tree(vec![Node::Join(joined)]).verify(&cx).unwrap_err(), message);
    let mut endless = tree(Vec::new());
    endless.versions.insert(0, endless.versions[0].clone());
    endless.versions[0].guard = vec![Poly::constant(i64::MAX).add(&Poly::constant(1))];
    let message = "the guard of version 0: a coefficient, a constant or a divisor of the size does not fit 64 bits";
    assert_eq!(endless.verify(&cx).unwrap_err(), message);
}

#[test]
fn walking_visits_all_in_order() {
    let cx = context();
    let text =
        "#schedule.tree<version { kernel { place a:0 loop d0 { place b:1 loop d1 { join c:2 } } operand d:3.4 } }>";
    let mut seen = Vec::new();
    walk(&read(&cx, text).unwrap().versions[0].launches[0].kernels[0].body, &mut |node| {
        seen.push(match node {
            Node::Loop(inner) => inner.dim.to_string(),
            Node::Place(place) | Node::Join(place) => place.stage.name.clone(),
            Node::Operand(operand) => operand.stage.name.clone(),
        });
    });
    assert_eq!(seen, ["a", "d0", "b", "d1", "c", "d"]);
}

/// Bytes that decide what is built: any sequence makes a tree.
struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
    /// Some of what is built makes no sense.
    wild: bool,
    /// Loops around what is built.
    around: Vec<(Dim, Split)>,
    /// Number of the next stage.
    next: usize,
}

impl Choices<'_> {
    fn byte(&mut self) -> usize {
        self.bytes.next().copied().unwrap_or(0).into()
    }

    fn below(&mut self, n: usize) -> usize {
        self.byte() % n
    }

    fn yes(&mut self) -> bool {
        self.below(2) == 1
    }

    fn list<T>(&mut self, most: usize, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.below(most + 1);
        (0..count).map(|_| item(self)).collect()
    }

    /// Wild ones are anything.
    fn is_wild(&mut self) -> bool {
        self.wild && self.below(8) == 0
    }

    /// A number that lies in the range, or near it.
    fn number(&mut self) -> i64 {
        if self.is_wild() { [0, -1, i64::MIN, i64::MAX][self.below(4)] } else { [1, 2, 16, MAX_DIM][self.below(4)] }
    }

    /// A power of two.
    fn power(&mut self, most: i64) -> i64 {
        if self.is_wild() { self.number() } else { [2, 16, most][self.below(3)] }
    }

    /// A dim that may be used here.
    fn dim(&mut self) -> Dim {
        let first = self.below(6);
        let taken = |found: &Dim| self.around.iter().any(|(dim, split)| dim == found && *split == Split::One);
        let free = (first..).map(Dim).find(|dim| !taken(dim)).expect("one is free");
        if self.is_wild() { Dim(first) } else { free }
    }

    fn name(&mut self) -> String {
        const NAMES: [&str; 16] = [
            "max", "sum", "in", "rows", "loop", "", "a.b", "_x$1", "4", "4d", ">", "}", "a\"\\\n<", "größe", "a b",
            "d0",
        ];
        NAMES[self.below(NAMES.len())].to_owned()
    }

    fn stage(&mut self) -> StageName {
        self.next += if self.is_wild() { 0 } else { 1 };
        StageName { number: self.next, name: self.name() }
    }

    fn tile(&mut self, needs_cols: bool) -> Tile {
        let cols = (needs_cols && !self.is_wild() || self.yes()).then(|| self.dim());
        let rows = self.yes().then(|| self.dim());
        let rows = rows.filter(|rows| cols != Some(*rows) || self.wild);
        Tile { rows, cols, space: self.name(), padded: self.yes() }
    }

    fn node(&mut self, depth: usize) -> Node {
        match self.below(if depth == 0 { 4 } else { 6 }) {
            0 => {
                let contract = self.yes();
                let place = Place::new(self.stage(), self.tile(contract));
                let columnwise = !contract && (place.tile.cols.is_some() || self.is_wild()) && self.yes();
                let at_home = !contract && place.tile.cols.is_some() && self.below(4) == 0 || self.is_wild();
                let home = at_home.then(|| if self.is_wild() { place.stage.clone() } else { self.stage() });
                Node::Place(Place { contract, columnwise, home, store: self.stored(), ..place })
            }
            1 => {
                let columnwise = self.is_wild();
                let home = self.is_wild().then(|| self.stage());
                let store = self.stored();
                Node::Join(Place { columnwise, home, store, ..Place::new(self.stage(), self.tile(false)) })
            }
            2 | 3 => {
                let to = [Bring::Tile, Bring::Cache, Bring::Pack][self.byte() % 3];
                let tile = self.tile(to != Bring::Tile);
                let (stage, input) = (self.stage(), self.byte());
                let has_body = depth > 0 && (to == Bring::Cache || self.is_wild());
                let body = if has_body { self.list(3, |c| c.node(depth - 1)) } else { vec![] };
                let cached = to == Bring::Cache || self.is_wild();
                let pitch = (cached && self.yes()).then(|| self.number());
                let placed = body.iter().all(|node| matches!(node, Node::Place(_)));
                let ahead = cached && (placed || self.is_wild()) && self.yes();
                let asynchronous = cached && (!ahead && body.is_empty() || self.is_wild()) && self.yes();
                let prefetch = (to == Bring::Tile || self.is_wild()).then(|| self.prefetch());
                Node::Operand(Operand {
                    body,
                    pitch,
                    ahead,
                    asynchronous,
                    prefetch,
                    ..Operand::new((stage, input), tile, to)
                })
            }
            _ => {
                let runs = if self.is_wild() { self.runs() } else { Runs::InTurn };
                Node::Loop(self.loop_over(runs, depth - 1))
            }
        }
    }

    fn stored(&mut self) -> Option<Stored> {
        match self.below(4) {
            0 => Some(Stored::Kept),
            1 => Some(Stored::Stream { when: self.list(2, Self::guard), defer: self.yes() }),
            _ => None,
        }
    }

    fn prefetch(&mut self) -> Prefetch {
        let bytes = self.yes().then(|| self.number());
        let next = (bytes.is_none() || self.yes()).then(|| self.list(2, Self::guard));
        Prefetch { bytes, next }
    }

    fn runs(&mut self) -> Runs {
        if self.yes() { Runs::Grid } else { Runs::Units }
    }

    fn loop_over(&mut self, runs: Runs, depth: usize) -> Loop {
        let dim = self.dim();
        let split = match self.below(3) {
            0 => Split::One,
            1 => Split::By(self.number()),
            _ => Split::Even(self.number()),
        };
        self.around.push((dim, split));
        let body = if runs == Runs::Grid { self.body(depth) } else { self.list(3, |c| c.node(depth)) };
        self.around.pop();
        let online = (runs == Runs::InTurn && self.below(4) == 0).then(|| self.stage());
        let unroll = (runs == Runs::InTurn && self.below(4) == 0 || self.is_wild()).then(|| self.power(64));
        let inside = runs == Runs::InTurn && split == Split::One && self.below(4) == 0 || self.is_wild();
        let reach = online.is_some() && matches!(split, Split::By(_)) && self.below(4) == 0 || self.is_wild();
        Loop { online, unroll, inside, reach, ..Loop::new(dim, split, runs, body) }
    }

    /// Perhaps a loop of the grid, else nodes.
    fn body(&mut self, depth: usize) -> Vec<Node> {
        if depth > 0 && self.yes() {
            let runs = self.runs();
            return vec![Node::Loop(self.loop_over(runs, depth - 1))];
        }
        self.list(3, |c| c.node(depth))
    }

    fn launch(&mut self) -> Launch {
        let kernels = self.below(3) + usize::from(!self.is_wild());
        Launch { kernels: (0..kernels).map(|_| self.kernel()).collect() }
    }

    fn kernel(&mut self) -> Kernel {
        let threads = (self.below(4) == 0).then(|| self.power(1024));
        Kernel { threads, body: self.body(4) }
    }

    fn guard(&mut self) -> Poly {
        let size = ["N", "-N + 4096", "N*M - 2", "N floordiv 4 - 3", "min(N, 4)", "-9223372036854775807*N", "7"];
        Poly::parse(size[self.below(size.len())]).expect("a size")
    }

    fn tree(&mut self) -> TreeAttr {
        let count = self.below(3) + usize::from(!self.is_wild());
        let version = |c: &mut Self, last: bool| {
            let rewrites = c.list(3, |c| c.rewrite());
            let guarded = last == c.is_wild();
            let guard = if guarded { (0..=c.below(2)).map(|_| c.guard()).collect() } else { Vec::new() };
            let launches = c.below(2) + usize::from(!c.is_wild());
            Version { guard, rewrites, launches: (0..launches).map(|_| c.launch()).collect() }
        };
        TreeAttr { versions: (1..=count).map(|i| version(self, i == count)).collect() }
    }

    fn rewrite(&mut self) -> Rewrite {
        let first = self.below(5);
        let second = if self.is_wild() { first } else { first + 1 + self.below(3) };
        match self.below(3) {
            0 => Rewrite::Join(Dim(first), Dim(second)),
            1 => Rewrite::Fuse(Dim(second), Dim(first)),
            _ => {
                let [scale, sum] = [first, second].map(|number| StageName { number, ..self.stage() });
                Rewrite::Hoist(scale, sum)
            }
        }
    }
}

pub(super) fn built(bytes: &[u8], wild: bool) -> TreeAttr {
    Choices { bytes: bytes.iter(), wild, around: Vec::new(), next: 0 }.tree()
}

proptest! {
    #[test]
    fn text_keeps_the_tree(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let cx = context();
        let tree = built(&bytes, false);
        prop_assert_eq!(tree.verify(&cx), Ok(()));
        let text = written(&cx, &tree);
        prop_assert_eq!(read(&cx, &text), Ok(&tree), "{}", text);
    }

    #[test]
    fn text_is_refused_for_what_the_tree_is(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let cx = context();
        let tree = built(&bytes, true);
        let text = written(&cx, &tree);
        let found = read(&cx, &text).map_err(|(_, message)| message);
        prop_assert_eq!(found, tree.verify(&cx).map(|()| &tree), "{}", text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(words in prop::collection::vec(0usize..32, 0..40)) {
        const WORDS: [&str; 32] = [
            "fuse", "version", "when", "[", "]", "{", "}", "kernel", "together", "loop", "d0", "d1", "by", "even", "grid", "place",
            "contract", "join", "operand", "pack", "a:0", ".1", "rows", "99999999999999999999", "\"",
            "home", "stream", "defer", "kept", "prefetch", "(", "next",
        ];
        let text: Vec<&str> = words.iter().map(|i| WORDS[*i]).collect();
        let cx = context();
        let _ = read(&cx, &format!("#schedule.tree<{}>", text.join(" ")));
    }
}
