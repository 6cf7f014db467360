//! What the outside must know of a lowered program: the data of the artifact's manifest.
//!
//! The lowering leaves it on the module as the attribute [`HOST_ATTR`], so that it survives a trip through text; whoever
//! writes the artifact takes it off again.

use sutura_dialects::r#dyn::facts::SymbolInfo;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::checks::DataCheck;
use sutura_dialects::rt::{BufferType, Symbol, read_checks, read_symbol, write_checks};
use sutura_ir::{Attr, Context, NamedAttr, Type};

/// Discardable attribute of a module: the interface of the program that was lowered in it.
pub const HOST_ATTR: &str = "rt.host";

/// The interface of a lowered program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HostInterface {
    /// The model's name.
    pub model: String,
    /// The named dims, in the order of `sutura_shapes`.
    pub symbols: Vec<Symbol>,
    /// The inputs, in the order of `sutura_run`.
    pub inputs: Vec<Tensor>,
    /// Tensors without elements that follow the inputs, given by the runtime: the first size of each is a number of places.
    pub reserves: Vec<Tensor>,
    /// The outputs, in the order of `sutura_run`.
    pub outputs: Vec<Tensor>,
    /// The constants, in the order of `sutura_run`.
    pub constants: Vec<Constant>,
    /// What `sutura_shapes` checks: its result `1 + i` means entry `i`.
    pub checks: Vec<CheckText>,
    /// The kernels that are launched.
    pub kernels: Vec<Kernel>,
    /// What kernels check of data: number `i` in a report means entry `i`.
    pub data_checks: Vec<DataCheck>,
    /// The routines of the runtime that are called, by the names by which code calls them.
    pub routines: Vec<String>,
    /// The symbols that data decide in the run.
    pub decided: Vec<String>,
    /// What lies in the workspace.
    pub temporaries: Vec<Placed>,
    /// The recursive functions, by whose numbers code calls them.
    pub functions: Vec<Function>,
}

/// A recursive function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What lies in the memory of a call, over symbols of the function.
    pub temporaries: Vec<Placed>,
}

/// A temporary with its place in the workspace: where all end that it lies after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Its size, with what aligns the next one.
    pub bytes: Poly,
    /// Numbers of those that it lies after, all of which come before it.
    pub after: Vec<usize>,
}

/// An input or an output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tensor {
    /// The model's name for it.
    pub name: String,
    /// Element type and sizes.
    pub ty: BufferType,
}

/// A constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant {
    /// Name in the artifact.
    pub name: String,
    /// The elements, of a static tensor type.
    pub elements: Attr,
}

/// How the two values of a failed check relate to its words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CheckKind {
    /// Two values that should be equal.
    Equal,
    /// A value and the bound that it is beyond.
    Range,
    /// A value and what it should be a multiple of.
    Divisible,
    /// Two values that do not go together.
    Constraint,
}

impl CheckKind {
    /// Every kind with its spelling.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Equal, "equal"),
        (Self::Range, "range"),
        (Self::Divisible, "divisible"),
        (Self::Constraint, "constraint"),
    ];

    fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// The words of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckText {
    /// What the two values are.
    pub kind: CheckKind,
    /// The model's name of the dim.
    pub dim: Option<String>,
    /// What the first value is.
    pub left: String,
    /// What the second value is; for a range, the range.
    pub right: String,
    /// The symbol for places which are too few where the check does not hold.
    pub reserve: Option<String>,
}

/// A kernel that is launched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Symbol.
    pub symbol: String,
    /// The condition under which it is launched, for a version that is not the last one.
    pub guard: Option<String>,
    /// The model's operators that it computes.
    pub ops: Vec<String>,
    /// The kernels whose groups it runs, for a function that runs those of several; otherwise none.
    pub parts: Vec<String>,
    /// For a kernel of a device: how many groups a block of its threads takes at a time.
    pub groups_of_block: Option<i64>,
}

/// Writes and reads dictionaries.
struct Dict<'c> {
    cx: &'c Context,
    entries: Vec<NamedAttr>,
}

impl<'c> Dict<'c> {
    fn new(cx: &'c Context) -> Self {
        Self { cx, entries: Vec::new() }
    }

    fn attr(mut self, name: &str, value: Attr) -> Self {
        self.entries.push(NamedAttr { name: self.cx.ident(name), value });
        self
    }

    fn text(self, name: &str, value: &str) -> Self {
        let value = self.cx.string_attr(value);
        self.attr(name, value)
    }

    fn optional(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    fn list<T>(self, name: &str, items: &[T], write: impl Fn(&T) -> Attr) -> Self {
        let items: Vec<Attr> = items.iter().map(write).collect();
        let list = self.cx.array_attr(&items);
        self.attr(name, list)
    }

    fn finish(self) -> Attr {
        self.cx.dict(&self.entries)
    }
}

impl HostInterface {
    /// The value of [`HOST_ATTR`].
    pub fn to_attr(&self, cx: &Context) -> Attr {
        let tensor = |t: &Tensor| {
            let ty = cx.type_attr(cx.ext_type(t.ty.clone()));
            Dict::new(cx).text("name", &t.name).attr("type", ty).finish()
        };
        let check = |c: &CheckText| {
            let dict = Dict::new(cx).text("kind", c.kind.as_str()).optional("dim", c.dim.as_deref());
            dict.text("left", &c.left).text("right", &c.right).optional("reserve", c.reserve.as_deref()).finish()
        };
        let kernel = |k: &Kernel| {
            let dict = Dict::new(cx).text("symbol", &k.symbol).optional("guard", k.guard.as_deref());
            let dict = dict.list("ops", &k.ops, |op| cx.string_attr(op));
            let dict = match k.groups_of_block {
                Some(groups) => dict.attr("groups_of_block", cx.int_attr(groups, Type::I64)),
                None => dict,
            };
            match k.parts.is_empty() {
                true => dict.finish(),
                false => dict.list("parts", &k.parts, |part| cx.string_attr(part)).finish(),
            }
        };
        let constant = |c: &Constant| Dict::new(cx).text("name", &c.name).attr("value", c.elements).finish();
        let dict = Dict::new(cx)
            .text("model", &self.model)
            .list("symbols", &self.symbols, |s| s.write(cx))
            .list("inputs", &self.inputs, tensor)
            .list("outputs", &self.outputs, tensor)
            .list("constants", &self.constants, constant)
            .list("checks", &self.checks, check)
            .list("kernels", &self.kernels, kernel)
            .attr("data_checks", write_checks(cx, &self.data_checks));
        let placed = |t: &Placed| {
            let dict = Dict::new(cx).text("bytes", &t.bytes.to_string());
            dict.list("after", &t.after, |number| cx.int_attr(*number as i64, Type::I64)).finish()
        };
        let dict = match self.temporaries.is_empty() {
            true => dict,
            false => dict.list("temporaries", &self.temporaries, placed),
        };
        let function = |f: &Function| {
            let dict = Dict::new(cx).text("name", &f.name);
            dict.list("temporaries", &f.temporaries, placed).finish()
        };
        let dict = match self.functions.is_empty() {
            true => dict,
            false => dict.list("functions", &self.functions, function),
        };
        let dict = match self.reserves.is_empty() {
            true => dict,
            false => dict.list("reserves", &self.reserves, tensor),
        };
        let lists = [("routines", &self.routines), ("decided", &self.decided)];
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        lists.fold(dict, |dict, (name, list)| dict.list(name, list, |text| cx.string_attr(text))).finish()
    }

    /// Reads what [`Self::to_attr`] wrote.
    ///
    /// # Errors
    /// Names the entry that is missing or malformed.
    pub fn of_attr(cx: &Context, attr: Attr) -> Result<Self, String> {
        let read = Reader { cx, dict: attr };
        Ok(Self {
            model: read.text("model")?,
            symbols: read.list("symbols", |r| {
                let (name, info): (String, SymbolInfo) =
                    read_symbol(cx, r.dict).ok_or_else(|| r.malformed("symbol"))?;
                Ok(Symbol { name, info })
            })?,
            inputs: read.list("inputs", Reader::tensor)?,
            reserves: match read.entry("reserves") {
                Some(_) => read.list("reserves", Reader::tensor)?,
                None => Vec::new(),
            },
            outputs: read.list("outputs", Reader::tensor)?,
            constants: read
                .list("constants", |r| Ok(Constant { name: r.text("name")?, elements: r.attr("value")? }))?,
            checks: read.list("checks", |r| {
                let word = r.text("kind")?;
                let kind = CheckKind::ALL.into_iter().find(|(_, w)| *w == word);
                let (kind, _) = kind.ok_or_else(|| r.malformed("kind"))?;
                let (dim, reserve) = (r.optional("dim")?, r.optional("reserve")?);
                Ok(CheckText { kind, dim, left: r.text("left")?, right: r.text("right")?, reserve })
            })?,
            kernels: read.list("kernels", |r| {
                let parts = r.entry("parts").map_or(Ok(vec![]), |attr| r.texts("parts", attr))?;
                let (symbol, guard) = (r.text("symbol")?, r.optional("guard")?);
                let groups =
                    r.entry("groups_of_block").map(|a| cx.as_int(a).ok_or_else(|| r.malformed("groups_of_block")));
                let groups_of_block = groups.transpose()?;
                Ok(Kernel { symbol, guard, ops: r.texts("ops", r.attr("ops")?)?, parts, groups_of_block })
            })?,
            data_checks: read
                .entry("data_checks")
                .map_or(Some(Vec::new()), |a| read_checks(cx, a))
                .ok_or_else(|| read.malformed("data_checks"))?,
            routines: read.entry("routines").map_or(Ok(Vec::new()), |attr| read.texts("routines", attr))?,
            decided: read.entry("decided").map_or(Ok(Vec::new()), |attr| read.texts("decided", attr))?,
            temporaries: match read.entry("temporaries") {
                Some(_) => read.list("temporaries", Reader::placed)?,
                None => Vec::new(),
            },
            functions: match read.entry("functions") {
                Some(_) => read.list("functions", |r| {
                    Ok(Function { name: r.text("name")?, temporaries: r.list("temporaries", Reader::placed)? })
                })?,
                None => Vec::new(),
            },
        })
    }

    /// The interface that a module carries.
    ///
    /// # Errors
    /// When the module has none, or it is malformed.
    pub fn of_module(cx: &Context, module: &sutura_ir::Module) -> Result<Self, String> {
        let attr = module.op_ref(cx).attr(HOST_ATTR);
        Self::of_attr(
            cx,
            attr.ok_or_else(|| format!("the module has no '{HOST_ATTR}' attribute: no program was lowered"))?,
        )
    }
}

#[derive(Clone, Copy)]
struct Reader<'c> {
    cx: &'c Context,
    dict: Attr,
}

impl Reader<'_> {
    fn malformed(&self, name: &str) -> String {
        format!("the entry '{name}' in '{HOST_ATTR}' is missing or malformed")
    }

    fn entry(&self, name: &str) -> Option<Attr> {
        self.cx.entry(self.dict, self.cx.ident(name))
    }

    fn attr(&self, name: &str) -> Result<Attr, String> {
        self.entry(name).ok_or_else(|| self.malformed(name))
    }

    fn text(&self, name: &str) -> Result<String, String> {
        let text = self.cx.as_str(self.attr(name)?);
        text.map(str::to_owned).ok_or_else(|| self.malformed(name))
    }

    fn optional(&self, name: &str) -> Result<Option<String>, String> {
        self.entry(name).map(|_| self.text(name)).transpose()
    }

    fn texts(&self, name: &str, list: Attr) -> Result<Vec<String>, String> {
        let texts = self.cx.array(list).and_then(|l| l.iter().map(|a| self.cx.as_str(*a).map(str::to_owned)).collect());
        texts.ok_or_else(|| self.malformed(name))
    }

    fn list<T>(&self, name: &str, read: impl Fn(Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        let items = self.cx.array(self.attr(name)?).ok_or_else(|| self.malformed(name))?;
        items.iter().map(|dict| read(Self { cx: self.cx, dict: *dict })).collect()
    }

    fn placed(self) -> Result<Placed, String> {
        let bytes = Poly::parse(&self.text("bytes")?).map_err(|_| self.malformed("bytes"))?;
        let after = self.cx.array(self.attr("after")?).unwrap_or_default().iter();
        let after: Option<Vec<usize>> = after.map(|a| usize::try_from(self.cx.as_int(*a)?).ok()).collect();
        Ok(Placed { bytes, after: after.ok_or_else(|| self.malformed("after"))? })
    }

    fn tensor(self) -> Result<Tensor, String> {
        let ty: Option<Type> = self.cx.as_type(self.attr("type")?);
        let ty = ty.and_then(|ty| BufferType::of(self.cx, ty)).cloned();
        Ok(Tensor { name: self.text("name")?, ty: ty.ok_or_else(|| self.malformed("type"))? })
    }
}
