//! Types of the llvm dialect: pointers, aggregates, functions.
//!
//! Inside one another these types are written without `!llvm.`.

use std::fmt;

use sutura_ir::asm::parse::{ParamParser, TokenParser};
use sutura_ir::asm::print::type_text;
use sutura_ir::ext::ParamValue;
use sutura_ir::{Context, Reported, Type, TypeData};

/// Deepest nesting of types inside one another.
const MAX_DEPTH: usize = 64;

/// `!llvm.ptr`, `!llvm.ptr<1>`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PointerType {
    /// Address space.
    pub address_space: u32,
}

/// `!llvm.void`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VoidType;

/// `!llvm.func<i32 (ptr, ...)>`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunctionType {
    /// Type of the result; [`VoidType`] for none.
    pub result: Type,
    /// Types of the parameters.
    pub params: Vec<Type>,
    /// More arguments may follow.
    pub var_arg: bool,
}

/// `!llvm.array<4 x f32>`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ArrayType {
    /// Number of elements.
    pub len: u64,
    /// Element type.
    pub elem: Type,
}

/// `!llvm.struct<(i32, ptr)>`, `!llvm.struct<"name", packed (i8)>`, `!llvm.struct<"name", opaque>`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StructType {
    /// Name; structs with a name differ from those with another one or none.
    pub name: Option<String>,
    /// Types of the fields; `None` when they are not known.
    pub fields: Option<Vec<Type>>,
    /// Without padding between fields.
    pub packed: bool,
}

impl ParamValue for PointerType {
    const NAME: &'static str = "llvm.ptr";

    fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        match self.address_space {
            0 => Ok(()),
            space => write!(out, "<{space}>"),
        }
    }
}

impl ParamValue for VoidType {
    const NAME: &'static str = "llvm.void";

    fn print(&self, _: &Context, _: &mut dyn fmt::Write) -> fmt::Result {
        Ok(())
    }
}

impl ParamValue for FunctionType {
    const NAME: &'static str = "llvm.func";

    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_str("<")?;
        print_inner(cx, self.result, out)?;
        out.write_str(" (")?;
        print_list(cx, &self.params, out)?;
        if self.var_arg {
            out.write_str(if self.params.is_empty() { "..." } else { ", ..." })?;
        }
        out.write_str(")>")
    }
}

impl ParamValue for ArrayType {
    const NAME: &'static str = "llvm.array";

    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "<{} x ", self.len)?;
        print_inner(cx, self.elem, out)?;
        out.write_str(">")
    }
}

impl ParamValue for StructType {
    const NAME: &'static str = "llvm.struct";

    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_str("<")?;
        if let Some(name) = &self.name {
            let quoted = sutura_ir::asm::print::attr_text(cx, cx.string_attr(name));
            write!(out, "{quoted}, ")?;
        }
        match &self.fields {
            None => out.write_str("opaque")?,
            Some(fields) => {
                out.write_str(if self.packed { "packed (" } else { "(" })?;
                print_list(cx, fields, out)?;
                out.write_str(")")?;
            }
        }
        out.write_str(">")
    }

    fn verify(&self, _: &Context) -> Result<(), String> {
        if self.fields.is_none() && self.name.is_none() {
            return Err("a struct without known fields needs a name".to_string());
        }
        Ok(())
    }
}

/// Writes a type as it stands inside another: without `!llvm.`.
fn print_inner(cx: &Context, ty: Type, out: &mut dyn fmt::Write) -> fmt::Result {
    let text = type_text(cx, ty);
    out.write_str(text.strip_prefix("!llvm.").unwrap_or(&text))
}

fn print_list(cx: &Context, types: &[Type], out: &mut dyn fmt::Write) -> fmt::Result {
    for (i, ty) in types.iter().enumerate() {
        if i > 0 {
            out.write_str(", ")?;
        }
        print_inner(cx, *ty, out)?;
    }
    Ok(())
}

/// `!llvm.ptr`
pub fn pointer(cx: &Context) -> Type {
    cx.ext_type(PointerType { address_space: 0 })
}

/// `!llvm.void`
pub fn void(cx: &Context) -> Type {
    cx.ext_type(VoidType)
}

/// `!llvm.func<result (params)>`
pub fn function(cx: &Context, result: Type, params: &[Type]) -> Type {
    cx.ext_type(FunctionType { result, params: params.to_vec(), var_arg: false })
}

/// True for a pointer.
pub(crate) fn is_pointer(cx: &Context, ty: Type) -> bool {
    cx.type_as::<PointerType>(ty).is_some()
}

/// True for types that LLVM has: its own, signless integers, floats, and vectors of those.
pub(super) fn is_llvm_type(cx: &Context, ty: Type) -> bool {
    match cx.type_data(ty) {
        TypeData::Ext(_) => true,
        TypeData::Opaque { dialect, .. } => cx.str(dialect) == "llvm",
        TypeData::Vector { elem, .. } => {
            elem.is_signless_integer(cx) || elem.is_float(cx) || cx.type_as::<PointerType>(elem).is_some()
        }
        _ => ty.is_signless_integer(cx) || ty.is_float(cx),
    }
}

// ---- reading

pub(super) fn parse_pointer(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    pointer_params(p)
}

pub(super) fn parse_void(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    Ok(void(p.cx()))
}

pub(super) fn parse_function(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    function_params(p, 0)
}

pub(super) fn parse_array(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    array_params(p, 0)
}

pub(super) fn parse_struct(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    struct_params(p, 0)
}

/// A type inside another.
fn inner(p: &mut dyn TokenParser, depth: usize) -> Result<Type, Reported> {
    if depth > MAX_DEPTH {
        return Err(p.error("types are nested too deeply"));
    }
    if p.opt_keyword("ptr") {
        return pointer_params(p);
    }
    if p.opt_keyword("void") {
        return Ok(void(p.cx()));
    }
    if p.opt_keyword("func") {
        return function_params(p, depth + 1);
    }
    if p.opt_keyword("array") {
        return array_params(p, depth + 1);
    }
    if p.opt_keyword("struct") {
        return struct_params(p, depth + 1);
    }
    p.ty()
}

fn pointer_params(p: &mut dyn TokenParser) -> Result<Type, Reported> {
    let mut address_space = 0;
    if p.opt_punct("<") {
        let loc = p.loc();
        let number = p.int()?;
        let Ok(space) = u32::try_from(number) else {
            return Err(p.error_at(loc, "expected an address space: a number below 2^32"));
        };
        address_space = space;
        p.punct(">")?;
    }
    Ok(p.cx().ext_type(PointerType { address_space }))
}

fn function_params(p: &mut dyn TokenParser, depth: usize) -> Result<Type, Reported> {
    p.punct("<")?;
    let result = inner(p, depth)?;
    p.punct("(")?;
    let (mut params, mut var_arg) = (Vec::new(), false);
    while !p.opt_punct(")") {
        if !params.is_empty() {
            p.punct(",")?;
        }
        if p.opt_punct("...") {
            var_arg = true;
            p.punct(")")?;
            break;
        }
        params.push(inner(p, depth)?);
    }
    p.punct(">")?;
    Ok(p.cx().ext_type(FunctionType { result, params, var_arg }))
}

fn array_params(p: &mut dyn TokenParser, depth: usize) -> Result<Type, Reported> {
    p.punct("<")?;
    let loc = p.loc();
    let len = p.int()?;
    let Ok(len) = u64::try_from(len) else {
        return Err(p.error_at(loc, "expected the number of elements"));
    };
    p.keyword("x")?;
    let elem = inner(p, depth)?;
    p.punct(">")?;
    Ok(p.cx().ext_type(ArrayType { len, elem }))
}

fn struct_params(p: &mut dyn TokenParser, depth: usize) -> Result<Type, Reported> {
    p.punct("<")?;
    let name = p.opt_string()?;
    if name.is_some() {
        p.punct(",")?;
    }
    if name.is_some() && p.opt_keyword("opaque") {
        p.punct(">")?;
        return Ok(p.cx().ext_type(StructType { name, fields: None, packed: false }));
    }
    let packed = p.opt_keyword("packed");
    p.punct("(")?;
    let mut fields = Vec::new();
    while !p.opt_punct(")") {
        if !fields.is_empty() {
            p.punct(",")?;
        }
        fields.push(inner(p, depth)?);
    }
    p.punct(">")?;
    Ok(p.cx().ext_type(StructType { name, fields: Some(fields), packed }))
}
