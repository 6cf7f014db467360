//! The operators that every build has, and those of a file.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sutura_grammar::{ParseOptions, parse_module};
use sutura_ir::asm::print::{PrintOptions, op_text};
use sutura_ir::diagnostics::Diagnostics;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Attr, Body, Builder, Context, IrMapping, Loc, Module, OpRef};

use super::nested::applied;
use super::{ApplyOp, Operator, OperatorOp};

/// Texts of the library: names of files, and what is in them.
const TEXTS: &[(&str, &str)] = &[
    ("activations.mlir", include_str!("../operators/activations.mlir")),
    ("attention.mlir", include_str!("../operators/attention.mlir")),
    ("attention_heads.mlir", include_str!("../operators/attention_heads.mlir")),
    ("attention_linear.mlir", include_str!("../operators/attention_linear.mlir")),
    ("attention_states.mlir", include_str!("../operators/attention_states.mlir")),
    ("extremes.mlir", include_str!("../operators/extremes.mlir")),
    ("matrices.mlir", include_str!("../operators/matrices.mlir")),
    ("normalizations.mlir", include_str!("../operators/normalizations.mlir")),
    ("numbers.mlir", include_str!("../operators/numbers.mlir")),
    ("recurrent.mlir", include_str!("../operators/recurrent.mlir")),
    ("tensors.mlir", include_str!("../operators/tensors.mlir")),
];

/// Why operators cannot be had.
#[derive(Debug)]
pub enum LibraryError {
    /// A file is no text that is read.
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        error: sutura_input::InputError,
    },
    /// A text does not declare operators.
    Malformed {
        /// Where it came from.
        origin: String,
        /// What is wrong with it, at places in its text.
        diagnostics: Diagnostics,
    },
}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, error } => write!(f, "cannot read '{}': {error}", path.display()),
            Self::Malformed { origin, diagnostics } => {
                let first = diagnostics.iter().next().map_or("it is malformed", |d| d.message.as_str());
                write!(f, "'{origin}' does not declare operators: {first}")
            }
        }
    }
}
impl std::error::Error for LibraryError {}

/// The modules of the operators that every build has, as far as they declare one that is wanted.
pub fn library(cx: &Context, wanted: &dyn Fn(&str) -> bool) -> Vec<Module> {
    TEXTS.iter().filter(|(_, text)| names(text).any(wanted)).map(|(name, text)| of_build(cx, name, text)).collect()
}

/// The modules of the texts that have some word.
pub(super) fn with_word(cx: &Context, word: &str) -> Vec<Module> {
    TEXTS.iter().filter(|(_, text)| text.contains(word)).map(|(name, text)| of_build(cx, name, text)).collect()
}

/// The module of a text that every build has.
fn of_build(cx: &Context, name: &str, text: &str) -> Module {
    from_text(cx, name, text).unwrap_or_else(|error| panic!("the library of operators: {error}"))
}

/// Names of the operators that a text of the library declares.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("graph.operator @")?.split_whitespace().next())
}

/// Declarations of more bytes than these are none.
const MOST_TEXT: u64 = 16 << 20;

/// The operators that a file declares, as a module.
///
/// # Errors
/// When it cannot be read or holds anything but declarations of operators.
pub fn from_file(cx: &Context, path: &Path) -> Result<Module, LibraryError> {
    let text = sutura_input::text(path, MOST_TEXT).and_then(sutura_input::utf8);
    let text = text.map_err(|error| LibraryError::Unreadable { path: path.to_owned(), error })?;
    from_text(cx, &path.display().to_string(), &text)
}

/// The operators that a text declares, as a module; messages call it `name`.
///
/// # Errors
/// When it holds anything but declarations of operators.
pub fn from_text(cx: &Context, name: &str, text: &str) -> Result<Module, LibraryError> {
    let mut diags = Diagnostics::default();
    match read(cx, name, text, &mut diags) {
        Some((module, _)) => Ok(module),
        None => Err(LibraryError::Malformed { origin: name.to_owned(), diagnostics: diags }),
    }
}

/// Operators of a file that stand beside those of the library.
#[derive(Clone, Debug)]
pub struct OwnOperators {
    /// The file's text, which [`from_text`] makes a module of.
    pub text: String,
    /// What the file realises of models, in its order.
    pub forms: Vec<OnnxForm>,
}

/// The operators of a file that stand beside those of the library.
///
/// # Errors
/// When it cannot be read, holds anything but declarations of operators, or declares one that the library has.
pub fn own_from_file(cx: &Context, path: &Path) -> Result<OwnOperators, LibraryError> {
    let text = sutura_input::text(path, MOST_TEXT).and_then(sutura_input::utf8);
    let text = text.map_err(|error| LibraryError::Unreadable { path: path.to_owned(), error })?;
    let (name, mut diags) = (path.display().to_string(), Diagnostics::default());
    match own(cx, &name, &text, &mut diags) {
        Some(forms) => Ok(OwnOperators { text, forms }),
        None => Err(LibraryError::Malformed { origin: name, diagnostics: diags }),
    }
}

fn own(cx: &Context, name: &str, text: &str, diags: &mut Diagnostics) -> Option<Vec<OnnxForm>> {
    let (module, declared) = read(cx, name, text, diags)?;
    let of_build: BTreeSet<&str> = TEXTS.iter().flat_map(|(_, text)| names(text)).collect();
    let mut forms_of_all = Vec::new();
    for op in top(cx, module.body()) {
        // Behind its own declarations stand those of the library that they apply.
        let Some(name) = op.symbol_name().filter(|name| declared.contains(*name)) else { continue };
        if of_build.contains(name) {
            diags.report(op.error(format!(
                "@{name} is an operator of the library, and means the same everywhere; call this one otherwise"
            )));
        }
        forms_of_all.extend(forms(op));
    }
    (diags.errors() == 0).then_some(forms_of_all)
}

/// A text as a module, and the names that it declares itself.
fn read(cx: &Context, name: &str, text: &str, diags: &mut Diagnostics) -> Option<(Module, BTreeSet<String>)> {
    let mut module = parsed(cx, name, text, diags)?;
    let declared = top(cx, module.body()).filter_map(|op| Some(op.symbol_name()?.to_owned())).collect();
    complete(cx, &mut module, diags)?;
    verify(module.op_ref(cx), VerifyOptions::default(), diags).ok()?;
    let other = top(cx, module.body()).find(|op| !op.is::<OperatorOp<'_>>());
    match other {
        Some(op) => {
            diags.report(op.error("is no declaration of an operator"));
            None
        }
        None => Some((module, declared)),
    }
}

fn parsed(cx: &Context, name: &str, text: &str, diags: &mut Diagnostics) -> Option<Module> {
    let source = cx.sources().add(name, text).map_err(|error| diags.error(cx.file_loc(name, 0, 0), error.to_string()));
    parse_module(cx, &source.ok()?, &ParseOptions::default(), diags).ok()
}

/// Declares what the operators of `module` apply, as far as the library has it.
fn complete(cx: &Context, module: &mut Module, diags: &mut Diagnostics) -> Option<()> {
    loop {
        let wanted = missing(module.op_ref(cx));
        let is_wanted = |name: &str| wanted.contains(name);
        let Some((name, text)) = TEXTS.iter().find(|(_, text)| names(text).any(is_wanted)) else { return Some(()) };
        let from = parsed(cx, name, text, diags)?;
        link(cx, &[from], &is_wanted, module.body_mut())
            .map_err(|error| diags.error(cx.file_loc(name, 0, 0), error))
            .ok()?;
    }
}

fn top<'a>(cx: &'a Context, module: &'a Body) -> impl Iterator<Item = OpRef<'a>> {
    let ops = module.entry_block().into_iter().flat_map(|block| module.ops(block));
    ops.map(|op| OpRef::new(cx, module, op))
}

/// Copies the declarations of `from` whose names are `wanted`, and those that they apply, to the end of the module `to`, where
/// none that is wanted is declared.
///
/// # Errors
/// When `to` declares something else by the name of one that another applies.
pub fn link(cx: &Context, from: &[Module], wanted: &dyn Fn(&str) -> bool, to: &mut Body) -> Result<(), String> {
    let all: Vec<OpRef<'_>> = from.iter().flat_map(|module| top(cx, module.body())).collect();
    let mut chosen: Vec<OpRef<'_>> = Vec::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    chosen.extend(all.iter().filter(|op| op.symbol_name().is_some_and(|name| wanted(name) && names.insert(name))));
    let mut at = 0;
    while at < chosen.len() {
        for apply in applied(chosen[at]) {
            let Some(next) = all.iter().find(|op| op.symbol_name() == Some(apply.callee())) else { continue };
            let name = next.symbol_name().unwrap_or_default();
            let own = top(cx, to).find(|op| op.symbol_name() == Some(name));
            match own {
                Some(own) if text(own) != text(*next) => {
                    let by = chosen[at].symbol_name().unwrap_or_default();
                    return Err(format!(
                        "@{by} applies an operator @{name}, and the program declares something else by that name"
                    ));
                }
                Some(_) => {}
                None if names.insert(name) => chosen.push(*next),
                None => {}
            }
        }
        at += 1;
    }
    let Some(block) = to.entry_block() else { return Ok(()) };
    let mut b = Builder::at_end(cx, to, block);
    for op in chosen {
        IrMapping::new().clone_op(op, &mut b).expect("a declaration has no operands");
    }
    Ok(())
}

/// True where `to` declares something else than `from` by a name, or by that of an operator which it applies.
pub fn otherwise(cx: &Context, from: &[Module], name: &str, to: &Body) -> bool {
    let mut open = vec![name.to_string()];
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        let of = |body| top(cx, body).find(|op| op.symbol_name() == Some(&name));
        let Some(theirs) = from.iter().find_map(|module| of(module.body())) else { return true };
        if of(to).is_some_and(|own| text(own) != text(theirs)) {
            return true;
        }
        open.extend(
            applied(theirs).iter().map(|apply| apply.callee().to_string()).filter(|name| seen.insert(name.clone())),
        );
    }
    false
}

/// A declaration as text that says nothing of how values are called, and how many there are before it.
fn text(op: OpRef<'_>) -> String {
    let mut alone = Module::new(op.cx, Loc::UNKNOWN);
    let Some(block) = alone.body().entry_block() else { return String::new() };
    let mut b = Builder::at_end(op.cx, alone.body_mut(), block);
    IrMapping::new().clone_op(op, &mut b).expect("a declaration has no operands");
    op_text(alone.op_ref(op.cx), &PrintOptions { discard_value_names: true, ..PrintOptions::generic() })
}

/// Names of the operators that something in the module `root` applies and that it does not declare.
pub fn missing(root: OpRef<'_>) -> BTreeSet<String> {
    let mut missing = BTreeSet::new();
    root.walk(&mut |op| {
        missing.extend(op.as_::<ApplyOp<'_>>().map(|apply| apply.callee().to_string()));
    });
    for op in root.region(0).and_then(|r| r.entry()).into_iter().flat_map(|block| block.ops()) {
        missing.remove(op.symbol_name().unwrap_or_default());
    }
    missing
}

/// Attribute that holds how many inputs were joined.
pub const COUNT: &str = "count";

/// How an operator on signless integers computes with integers without sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unsigned {
    /// By their bits, which say all that matters to it.
    Bits,
    /// By their order: with the first bit turned over they have that of integers with a sign.
    Order,
}

/// How the library realises an operator of ONNX.
#[derive(Clone, Debug)]
pub struct OnnxForm {
    /// The domain of the operator; empty for ONNX's own.
    pub domain: String,
    /// Its name in ONNX.
    pub op: String,
    /// First version of it.
    pub since: i64,
    /// Last version of it.
    pub until: i64,
    /// Attributes that it must have, with these values.
    pub with: Vec<(String, Literal)>,
    /// Integer attributes that it may have, with the values that these may have.
    pub one_of: Vec<(String, Vec<i64>)>,
    /// Integer attributes that it may have, and the least value of each.
    pub least: Vec<(String, i64)>,
    /// Inputs that may be left out, by name, with the number that takes their place.
    pub absent: Vec<(String, Literal)>,
    /// Inputs that must be left out.
    pub without: Vec<String>,
    /// Attributes of the operator that this form says.
    pub set: Vec<(String, i64)>,
    /// Attributes that it may have and that say nothing here.
    pub ignore: Vec<String>,
    /// Attributes that it may not have.
    pub refuse: Vec<String>,
    /// Texts that attributes hold, and what each says of attributes of the operator.
    pub choose: Vec<(String, Vec<Choice>)>,
    /// Attributes that are lists of words.
    pub words: Vec<Words>,
    /// Inputs and results, by name, whose dimensions come in another order: result `i` of the order is dimension `order[i]`.
    pub permute: Vec<(String, Vec<usize>)>,
    /// How it takes integers without sign, for which it is not declared, if it takes them.
    pub unsigned: Option<Unsigned>,
    /// It has any number of inputs: this operator joins two, then what they give and the next. If it is another than the one that
    /// realises the form, that one is applied to what is left, with the number of inputs as its attribute `count`.
    pub variadic: Option<String>,
    /// How many dimensions its first input must have; any number where it does not say.
    pub rank: Option<usize>,
    /// The operator.
    pub operator: String,
    /// How many inputs it takes.
    pub inputs: usize,
    /// How the operator calls them, which is what they are called in `absent` where a version has none of that number.
    pub input_names: Vec<String>,
    /// How many results it makes.
    pub results: usize,
    /// Its attributes, and whether each is an integer.
    pub attributes: Vec<(String, bool)>,
}

/// A value that a declaration writes.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// A number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// Integers.
    Ints(Vec<i64>),
}

/// A text that an attribute may hold, and the attributes of the operator that it stands for.
pub type Choice = (String, Vec<(String, i64)>);

/// An attribute that is a list of words: each is the value of an attribute of the operator, the number of the word in a list.
#[derive(Clone, PartialEq, Debug)]
pub struct Words {
    /// The attribute.
    pub attribute: String,
    /// Attributes of the operator, in the order of the words.
    pub of: Vec<String>,
    /// Those that hold the words of the second list in a row, where they differ from those of the first; without them they may not.
    pub second: Vec<String>,
    /// What the words may be, in the order of their numbers; upper and lower case are the same.
    pub words: Vec<String>,
    /// The list stands so many times in a row as this attribute of the operator says.
    pub times: Option<String>,
    /// Lists of numbers that belong to some words.
    pub numbers: Vec<Numbers>,
}

/// An attribute that is a list of floats, one for each word that takes one, in their order. That of a word which is the value of an
/// attribute `f` is the value of `f` and a suffix. Words behind the end of the list have none.
#[derive(Clone, PartialEq, Debug)]
pub struct Numbers {
    /// The attribute.
    pub attribute: String,
    /// What is behind the name of the word's attribute.
    pub suffix: String,
    /// Words that take one.
    pub words: Vec<String>,
    /// Words that need one.
    pub needed: Vec<String>,
}

/// Every form of an operator of ONNX that the library has, in its order.
pub fn onnx_forms() -> impl Iterator<Item = &'static OnnxForm> {
    (0..TEXTS.len()).flat_map(forms_of_text)
}

/// The forms of one operator of a domain, which is empty for ONNX's own. Only texts that name it are read: most models need few of
/// them.
pub fn onnx_forms_of<'a>(domain: &'a str, op: &'a str) -> impl Iterator<Item = &'static OnnxForm> + use<'a> {
    static NAMED: OnceLock<HashMap<&str, Vec<usize>>> = OnceLock::new();
    let named = NAMED.get_or_init(|| {
        let mut texts: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, (_, text)) in TEXTS.iter().enumerate() {
            for name in onnx_names(text) {
                let texts = texts.entry(name).or_default();
                if texts.last() != Some(&number) {
                    texts.push(number);
                }
            }
        }
        texts
    });
    let texts = named.get(op).map_or(&[][..], Vec::as_slice);
    texts.iter().flat_map(|text| forms_of_text(*text)).filter(move |form| form.op == op && form.domain == domain)
}

/// Names of operators of ONNX that entries of `onnx` in a text may have.
fn onnx_names(text: &str) -> impl Iterator<Item = &str> {
    text.split("op = \"").skip(1).filter_map(|rest| rest.split('"').next())
}

/// The forms of what a text of the library declares itself.
fn forms_of_text(number: usize) -> &'static [OnnxForm] {
    static FORMS: [OnceLock<Vec<OnnxForm>>; TEXTS.len()] = [const { OnceLock::new() }; TEXTS.len()];
    read_once(&FORMS[number], || {
        let (name, text) = TEXTS[number];
        let cx = Context::new(crate::all());
        let module = of_build(&cx, name, text);
        // Behind its own declarations stand those of others, as far as it applies them.
        let own: BTreeSet<&str> = names(text).collect();
        let all = top(&cx, module.body()).filter(|op| op.symbol_name().is_some_and(|name| own.contains(name)));
        all.flat_map(forms).collect()
    })
}

/// What is read from the library, at the first call. Nothing is locked meanwhile, since the library is verified by all threads: one
/// of them that waited here for the lock would be waited for by the one that holds it. So two may read it, and one is kept.
pub(super) fn read_once<T>(cell: &'static OnceLock<Vec<T>>, read: impl FnOnce() -> Vec<T>) -> &'static [T] {
    if let Some(known) = cell.get() {
        return known;
    }
    let made = read();
    cell.get_or_init(|| made)
}

fn forms(op: OpRef<'_>) -> Vec<OnnxForm> {
    let (Some(declared), Ok(operator)) = (op.as_::<OperatorOp<'_>>(), Operator::read(op)) else { return Vec::new() };
    declared.onnx().iter().filter_map(|entry| form(op.cx, *entry, &operator).ok()).collect()
}

/// Names of what an entry of `onnx` may say.
const ENTRIES: &str = "domain, op, since, until, rank, with, one_of, least, absent, without, set, ignore, refuse, choose, words, permute, unsigned and variadic";

/// An entry of `onnx`.
///
/// # Errors
/// Says what is wrong with it.
pub(super) fn form(cx: &Context, entry: Attr, operator: &Operator) -> Result<OnnxForm, String> {
    let mut form = OnnxForm {
        domain: String::new(),
        op: String::new(),
        since: 1,
        until: i64::MAX,
        with: Vec::new(),
        one_of: Vec::new(),
        least: Vec::new(),
        absent: Vec::new(),
        without: Vec::new(),
        set: Vec::new(),
        ignore: Vec::new(),
        refuse: Vec::new(),
        choose: Vec::new(),
        words: Vec::new(),
        permute: Vec::new(),
        unsigned: None,
        variadic: None,
        rank: None,
        operator: operator.name.clone(),
        inputs: operator.inputs.len(),
        input_names: operator.inputs.iter().map(|input| input.name.clone()).collect(),
        results: operator.results.len(),
        attributes: operator.attributes.iter().map(|a| (a.name.clone(), a.ty == sutura_ir::Type::I64)).collect(),
    };
    for field in cx.entries(entry) {
        let (name, value) = (cx.str(field.name), field.value);
        let wrong = || format!("entry '{name}' of 'onnx' is not what it must be");
        match name {
            "domain" => form.domain = cx.as_str(value).ok_or_else(wrong)?.to_string(),
            "op" => form.op = cx.as_str(value).ok_or_else(wrong)?.to_string(),
            "since" => form.since = cx.as_int(value).ok_or_else(wrong)?,
            "until" => form.until = cx.as_int(value).ok_or_else(wrong)?,
            "with" => form.with = literals(cx, value).ok_or_else(wrong)?,
            "one_of" => form.one_of = fields(cx, value, |list| Some(cx.as_ints(list)?.to_vec())).ok_or_else(wrong)?,
            "least" => form.least = fields(cx, value, |least| cx.as_int(least)).ok_or_else(wrong)?,
            "absent" => form.absent = literals(cx, value).ok_or_else(wrong)?,
            "without" => form.without = strings(cx, value).ok_or_else(wrong)?,
            "set" => form.set = fields(cx, value, |value| cx.as_int(value)).ok_or_else(wrong)?,
            "ignore" => form.ignore = strings(cx, value).ok_or_else(wrong)?,
            "rank" => form.rank = Some(cx.as_int(value).and_then(|n| usize::try_from(n).ok()).ok_or_else(wrong)?),
            "refuse" => form.refuse = strings(cx, value).ok_or_else(wrong)?,
            "choose" => form.choose = choices(cx, value).ok_or_else(wrong)?,
            "words" => form.words = words(cx, value).ok_or_else(wrong)?,
            "permute" => form.permute = permutations(cx, value).ok_or_else(wrong)?,
            "unsigned" => {
                form.unsigned = Some(match cx.as_str(value) {
                    Some("bits") => Unsigned::Bits,
                    Some("order") => Unsigned::Order,
                    _ => return Err(wrong()),
                });
            }
            "variadic" if value == Attr::UNIT && form.inputs == 2 && form.results == 1 => {
                form.variadic = Some(operator.name.clone());
            }
            "variadic" if form.inputs == 1 && form.results == 1 && form.attributes == [(COUNT.to_string(), true)] => {
                form.variadic = Some(cx.as_str(value).ok_or_else(wrong)?.to_string());
            }
            "variadic" => return Err(wrong()),
            _ => return Err(format!("'onnx' has no entry '{name}'; there are {ENTRIES}")),
        }
    }
    let chosen = form.choose.iter().flat_map(|(_, choices)| choices.iter().flat_map(|(_, values)| values));
    let said = chosen.chain(&form.set).map(|(name, _)| name);
    let said = said.chain(form.words.iter().flat_map(|words| words.of.iter().chain(&words.second).chain(&words.times)));
    let is_int = |name: &String| form.attributes.iter().any(|(a, is_int)| a == name && *is_int);
    if let Some(name) = said.into_iter().find(|name| !is_int(name)) {
        return Err(format!("'onnx' says the attribute '{name}', which is no integer that the operator has"));
    }
    let holders = |words: &Words, suffix: &str| -> Vec<String> {
        words.of.iter().chain(&words.second).map(|of| format!("{of}{suffix}")).collect()
    };
    let numbers = form.words.iter().flat_map(|words| words.numbers.iter().flat_map(|n| holders(words, &n.suffix)));
    let is_float = |name: &String| form.attributes.iter().any(|(a, is_int)| a == name && !*is_int);
    if let Some(name) = numbers.into_iter().find(|name| !is_float(name)) {
        return Err(format!("'onnx' says the attribute '{name}', which is no f32 that the operator has"));
    }
    if form.op.is_empty() { Err("'onnx' does not say which operator: entry 'op'".into()) } else { Ok(form) }
}

/// What a dictionary holds, by name.
fn fields<T>(cx: &Context, dict: Attr, read: impl Fn(Attr) -> Option<T>) -> Option<Vec<(String, T)>> {
    matches!(cx.attr_data(dict), sutura_ir::AttrData::Dict(_)).then_some(())?;
    cx.entries(dict).iter().map(|entry| Some((cx.str(entry.name).to_string(), read(entry.value)?))).collect()
}

fn choices(cx: &Context, dict: Attr) -> Option<Vec<(String, Vec<Choice>)>> {
    fields(cx, dict, |texts| fields(cx, texts, |values| fields(cx, values, |value| cx.as_int(value))))
}

fn words(cx: &Context, dict: Attr) -> Option<Vec<Words>> {
    let lists = fields(cx, dict, |words| {
        let named = |name: &str| cx.entries(words).iter().find(|entry| cx.str(entry.name) == name).map(|e| e.value);
        let list = |name: &str| strings(cx, named(name)?).filter(|list| !list.is_empty());
        let times = named("times").map(|times| cx.as_str(times).map(str::to_string));
        matches!(cx.attr_data(words), sutura_ir::AttrData::Dict(_)).then_some(())?;
        let known = ["of", "second", "words", "times", "numbers"];
        cx.entries(words).iter().all(|entry| known.contains(&cx.str(entry.name))).then_some(())?;
        let of = list("of")?;
        let second = named("second").map_or(Some(Vec::new()), |_| list("second"))?;
        (second.is_empty() || second.len() == of.len()).then_some(())?;
        let numbers = named("numbers").map_or(Some(Vec::new()), |lists| numbers(cx, lists))?;
        let times = times.map_or(Some(None), |times| times.map(Some))?;
        Some(Words { attribute: String::new(), of, second, words: list("words")?, times, numbers })
    })?;
    Some(lists.into_iter().map(|(attribute, words)| Words { attribute, ..words }).collect())
}

fn numbers(cx: &Context, dict: Attr) -> Option<Vec<Numbers>> {
    let lists = fields(cx, dict, |list| {
        let named = |name: &str| cx.entries(list).iter().find(|entry| cx.str(entry.name) == name).map(|e| e.value);
        matches!(cx.attr_data(list), sutura_ir::AttrData::Dict(_)).then_some(())?;
        let known = ["suffix", "words", "needed"];
        cx.entries(list).iter().all(|entry| known.contains(&cx.str(entry.name))).then_some(())?;
        let needed = named("needed").map_or(Some(Vec::new()), |needed| strings(cx, needed))?;
        let suffix = cx.as_str(named("suffix")?)?.to_string();
        Some(Numbers { attribute: String::new(), suffix, words: strings(cx, named("words")?)?, needed })
    })?;
    Some(lists.into_iter().map(|(attribute, numbers)| Numbers { attribute, ..numbers }).collect())
}

/// Orders of dimensions, each of which has every dimension once.
fn permutations(cx: &Context, dict: Attr) -> Option<Vec<(String, Vec<usize>)>> {
    fields(cx, dict, |order| {
        let order: Vec<usize> =
            cx.as_ints(order)?.iter().map(|dim| usize::try_from(*dim).ok()).collect::<Option<_>>()?;
        (0..order.len()).all(|dim| order.contains(&dim)).then_some(order)
    })
}

fn strings(cx: &Context, list: Attr) -> Option<Vec<String>> {
    cx.array(list)?.iter().map(|text| Some(cx.as_str(*text)?.to_string())).collect()
}

fn literals(cx: &Context, dict: Attr) -> Option<Vec<(String, Literal)>> {
    let literal = |value: Attr| {
        let number = || cx.as_int(value).map(Literal::Int).or_else(|| cx.as_f64(value).map(Literal::Float));
        let ints = || cx.as_ints(value).map(Literal::Ints);
        cx.as_str(value).map(|text| Literal::Text(text.to_string())).or_else(number).or_else(ints)
    };
    fields(cx, dict, literal)
}
