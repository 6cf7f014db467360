//! What a launch needs to know of a kernel, whatever level the kernel is at.

use sutura_ir::attrs::AttrData;
use sutura_ir::{Attr, Context, NamedAttr, OpRef, OpView, Type};

use super::ops::LaunchOp;
use super::types::BufferType;
use crate::r#dyn::attr::{known_dims, shape_attr};
use crate::r#dyn::facts::SymbolInfo;
use crate::r#dyn::poly::Poly;
use crate::gir::checks::{DataCheck, DataCheckKind};
use crate::gir::kernel::{KernelInfo, Mode};

/// Discardable attribute by which a function in upstream ops says what kernel it is; see [`KernelSignature::to_attr`].
pub const KERNEL_ATTR: &str = "rt.kernel";

/// Discardable attribute of a `gir.kernel`: names of the model's operators that it computes, an array of strings.
pub const OPS_ATTR: &str = "rt.ops";

/// Discardable attribute of a device's kernel: how many groups a block takes at a time.
pub const GROUPS_ATTR: &str = "rt.groups_of_block";

/// Discardable attribute of a device's kernel that runs the groups of several, or is a version of another: their names.
pub const PARTS_ATTR: &str = "rt.parts";

/// How a kernel uses a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Only read.
    Read,
    /// Every element is written, none is read before.
    Write,
    /// Read and written.
    ReadWrite,
}

impl Access {
    const WORDS: [(Self, &'static str); 3] = [(Self::Read, "in"), (Self::Write, "out"), (Self::ReadWrite, "inout")];

    /// Spelling in the text form, that of a kernel's modes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "in",
            Self::Write => "out",
            Self::ReadWrite => "inout",
        }
    }

    /// The one spelt `text`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|(_, word)| *word == text).map(|(access, _)| access)
    }

    /// True when contents from before the launch matter.
    pub fn reads(self) -> bool {
        self != Self::Write
    }

    /// True when the launch changes the contents.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// A buffer parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// How it is used.
    pub access: Access,
    /// Its type, over the kernel's sizes.
    pub ty: BufferType,
}

/// What a kernel takes, and how many groups it has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelSignature {
    /// Buffers, in the order of the launch.
    pub params: Vec<Param>,
    /// Sizes, in the order of the launch, with what the kernel relies on.
    pub dims: Vec<(String, SymbolInfo)>,
    /// Sizes over `dims` that must be at least 0.
    pub requires: Vec<Poly>,
    /// Extents of the grid over `dims`, outermost first; the product is the number of groups.
    pub grid: Vec<Poly>,
    /// Names of the model's operators that the kernel computes, for reports.
    pub ops: Vec<String>,
    /// What the kernel checks of data, by number. With any, the buffers of a launch are followed by the runtime's table
    /// and the program's number of the first check.
    pub checks: Vec<DataCheck>,
}

impl<'a> LaunchOp<'a> {
    /// The kernel's own name, without that of the module around it.
    pub fn callee(self) -> &'a str {
        let cx = self.op_ref().cx;
        match cx.attr_data(self.kernel()) {
            AttrData::SymbolRef { root, nested } => cx.str(cx.idents(nested).last().copied().unwrap_or(root)),
            _ => "",
        }
    }

    /// What messages call each thing that the kernel checks of data; empty where they call it as the kernel does.
    pub fn check_names(self) -> Vec<String> {
        let cx = self.op_ref().cx;
        self.checks().unwrap_or_default().iter().filter_map(|name| Some(cx.as_str(*name)?.to_owned())).collect()
    }

    /// What the launch of a kernel checks.
    pub fn data_checks(self, kernel: &KernelSignature) -> Vec<DataCheck> {
        let names = self.check_names();
        let named = |(i, check): (usize, &DataCheck)| match names.get(i) {
            Some(what) => DataCheck { what: what.clone(), ..check.clone() },
            None => check.clone(),
        };
        kernel.checks.iter().enumerate().map(named).collect()
    }
}

/// A symbol that `rt.launch` may name. An interface; the symbol is called as `@k(buffers…, dims…)` by the interpreter.
pub trait Launchable: Send + Sync {
    /// What the kernel takes.
    ///
    /// # Errors
    /// Says what is missing or malformed.
    fn signature(&self, op: OpRef<'_>) -> Result<KernelSignature, String>;
}

/// A function with [`KERNEL_ATTR`].
pub(super) struct AnnotatedFunction;

impl Launchable for AnnotatedFunction {
    fn signature(&self, op: OpRef<'_>) -> Result<KernelSignature, String> {
        let attr = op.attr(KERNEL_ATTR).ok_or_else(|| format!("has no '{KERNEL_ATTR}' attribute"))?;
        KernelSignature::of_attr(op.cx, attr).ok_or_else(|| format!("has a malformed '{KERNEL_ATTR}' attribute"))
    }
}

/// `gir.kernel`
pub(super) struct TileKernel;

impl Launchable for TileKernel {
    fn signature(&self, op: OpRef<'_>) -> Result<KernelSignature, String> {
        let info = KernelInfo::read(op)?;
        let access = |mode| match mode {
            Mode::In => Access::Read,
            Mode::Out => Access::Write,
            Mode::InOut => Access::ReadWrite,
        };
        if info.views.iter().any(|(_, view, _)| view.strides.is_some()) {
            return Err("has a strided parameter, which no buffer can be".to_owned());
        }
        let params = info.views.iter().map(|(_, view, mode)| {
            let ty = BufferType::new(view.elem, view.dims.clone());
            Param { access: access(*mode), ty }
        });
        let dims = info.dims.iter().map(|(_, dim)| {
            let symbol = SymbolInfo { min: dim.min, max: dim.max, div: dim.div, likely: Vec::new() };
            (dim.name.clone(), symbol)
        });
        let ops = op.attr(OPS_ATTR).and_then(|a| strings_of(op.cx, a)).unwrap_or_default();
        Ok(KernelSignature {
            params: params.collect(),
            dims: dims.collect(),
            requires: info.requires.clone(),
            grid: info.grid.iter().map(|(_, extent)| extent.clone()).collect(),
            ops,
            checks: DataCheck::all_of(op),
        })
    }
}

/// `[{kind, what}, …]`
pub fn write_checks(cx: &Context, checks: &[DataCheck]) -> Attr {
    let entry = |check: &DataCheck| {
        let text = |name: &str, value: &str| named(cx, name, cx.string_attr(value));
        cx.dict(&[text("kind", check.kind.as_str()), text("what", &check.what)])
    };
    let entries: Vec<Attr> = checks.iter().map(entry).collect();
    cx.array_attr(&entries)
}

/// Reads what [`write_checks`] wrote; `None` when it is malformed.
pub fn read_checks(cx: &Context, attr: Attr) -> Option<Vec<DataCheck>> {
    let text = |entry: Attr, name: &str| cx.as_str(cx.entry(entry, cx.ident(name))?);
    let check = |entry: &Attr| {
        let kind = DataCheckKind::parse(text(*entry, "kind")?)?;
        Some(DataCheck { kind, what: text(*entry, "what")?.to_owned() })
    };
    cx.array(attr)?.iter().map(check).collect()
}

pub(super) fn named(cx: &Context, name: &str, value: Attr) -> NamedAttr {
    NamedAttr { name: cx.ident(name), value }
}

pub(super) fn i64_list(cx: &Context, values: &[i64]) -> Attr {
    let values: Vec<Attr> = values.iter().map(|v| cx.int_attr(*v, Type::I64)).collect();
    cx.array_attr(&values)
}

pub(super) fn string_list(cx: &Context, values: &[String]) -> Attr {
    let values: Vec<Attr> = values.iter().map(|v| cx.string_attr(v)).collect();
    cx.array_attr(&values)
}

pub(super) fn strings_of(cx: &Context, attr: Attr) -> Option<Vec<String>> {
    cx.array(attr)?.iter().map(|a| cx.as_str(*a).map(str::to_owned)).collect()
}

/// `{name, min, max, div, likely}` of a size; what is not there has its default.
pub fn read_symbol(cx: &Context, attr: Attr) -> Option<(String, SymbolInfo)> {
    let entry = |name: &str| cx.entry(attr, cx.ident(name));
    let int = |name: &str, default: i64| entry(name).map_or(Some(default), |a| cx.as_int(a));
    let default = SymbolInfo::default();
    let likely = entry("likely").map_or(Some(Vec::new()), |a| cx.as_ints(a))?;
    let info = SymbolInfo {
        min: int("min", default.min)?,
        max: int("max", default.max)?,
        div: int("div", default.div)?,
        likely,
    };
    Some((cx.as_str(entry("name")?)?.to_owned(), info))
}

/// The dictionary that [`read_symbol`] reads.
pub(super) fn write_symbol(cx: &Context, name: &str, info: &SymbolInfo) -> Attr {
    let int = |v| cx.int_attr(v, Type::I64);
    let mut entries = vec![
        named(cx, "div", int(info.div)),
        named(cx, "max", int(info.max)),
        named(cx, "min", int(info.min)),
        named(cx, "name", cx.string_attr(name)),
    ];
    if !info.likely.is_empty() {
        entries.push(named(cx, "likely", i64_list(cx, &info.likely)));
    }
    cx.dict(&entries)
}

impl KernelSignature {
    /// The signature as the value of [`KERNEL_ATTR`]:
    /// `{params = [!rt.buffer<…>, …], modes = ["in", …], dims = [{name, min, max, div}, …], requires, grid, ops, checks}`.
    pub fn to_attr(&self, cx: &Context) -> Attr {
        let params: Vec<Attr> = self.params.iter().map(|p| cx.type_attr(cx.ext_type(p.ty.clone()))).collect();
        let modes: Vec<Attr> = self.params.iter().map(|p| cx.string_attr(p.access.as_str())).collect();
        let dims: Vec<Attr> = self.dims.iter().map(|(name, info)| write_symbol(cx, name, info)).collect();
        let mut entries = vec![
            named(cx, "params", cx.array_attr(&params)),
            named(cx, "modes", cx.array_attr(&modes)),
            named(cx, "dims", cx.array_attr(&dims)),
            named(cx, "requires", shape_attr(cx, &self.requires)),
            named(cx, "grid", shape_attr(cx, &self.grid)),
        ];
        if !self.ops.is_empty() {
            entries.push(named(cx, "ops", string_list(cx, &self.ops)));
        }
        if !self.checks.is_empty() {
            entries.push(named(cx, "checks", write_checks(cx, &self.checks)));
        }
        cx.dict(&entries)
    }

    /// Reads what [`KernelSignature::to_attr`] wrote; `None` when it is malformed.
    pub fn of_attr(cx: &Context, attr: Attr) -> Option<Self> {
        let entry = |name: &str| cx.entry(attr, cx.ident(name));
        let types = cx.array(entry("params")?)?;
        let modes = cx.array(entry("modes")?)?;
        if types.len() != modes.len() {
            return None;
        }
        let param = |(ty, mode): (&Attr, &Attr)| {
            let ty = BufferType::of(cx, cx.as_type(*ty)?)?.clone();
            Some(Param { access: Access::parse(cx.as_str(*mode)?)?, ty })
        };
        let size = |attr: &Attr| read_symbol(cx, *attr).filter(|(_, info)| info.div >= 1);
        Some(Self {
            params: types.iter().zip(modes).map(param).collect::<Option<_>>()?,
            dims: cx.array(entry("dims")?)?.iter().map(size).collect::<Option<_>>()?,
            requires: entry("requires").map_or(Some(Vec::new()), |a| known_dims(cx, a))?,
            grid: known_dims(cx, entry("grid")?)?,
            ops: entry("ops").map_or(Some(Vec::new()), |a| strings_of(cx, a))?,
            checks: entry("checks").map_or(Some(Vec::new()), |a| read_checks(cx, a))?,
        })
    }

    /// A size over the kernel's sizes as one over the launch's, whose values of the kernel's sizes are `dims`.
    pub fn substitute(&self, size: &Poly, dims: &[Poly]) -> Poly {
        size.substitute(&|name| {
            let at = self.dims.iter().position(|(dim, _)| dim == name)?;
            dims.get(at).cloned()
        })
    }

    /// Number of groups of a launch.
    pub fn groups(&self, dims: &[Poly]) -> Poly {
        let extents: Vec<Poly> = self.grid.iter().map(|e| self.substitute(e, dims)).collect();
        Poly::product(&extents)
    }
}
