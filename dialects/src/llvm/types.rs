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

/// A type without parameters.
macro_rules! plain_type {
    ($(#[$doc:meta])* $name:ident, $full:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub struct $name;

        impl ParamValue for $name {
            const NAME: &'static str = $full;

            fn print(&self, _: &Context, _: &mut dyn fmt::Write) -> fmt::Result {
                Ok(())
            }
        }

        impl $name {
            fn get(cx: &Context) -> Type {
                cx.ext_type(Self)
            }

            pub(super) fn parse(p: &mut dyn ParamParser) -> Result<Type, Reported> {
                Ok(Self::get(p.cx()))
            }
        }
    };
}

plain_type! {
    /// `!llvm.void`: no result.
    VoidType, "llvm.void"
}
plain_type! {
    /// `!llvm.label`: a block as a value.
    LabelType, "llvm.label"
}
plain_type! {
    /// `!llvm.metadata`: what intrinsics get besides values.
    MetadataType, "llvm.metadata"
}
plain_type! {
    /// `!llvm.token`: ties operations together.
    TokenType, "llvm.token"
}
plain_type! {
    /// `!llvm.x86_amx`: a tile register.
    X86AmxType, "llvm.x86_amx"
}
plain_type! {
    /// `!llvm.ppc_fp128`: two doubles as one number. It has its dialect's name inside other types, too.
    PpcFp128Type, "llvm.ppc_fp128"
}

/// A type of one target: `!llvm.target<"spirv.Image", i32, 1>`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TargetExtType {
    /// Name, which begins with the target's.
    pub name: String,
    /// Types that it is made of.
    pub types: Vec<Type>,
    /// Numbers after them.
    pub numbers: Vec<u32>,
}

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

/// A struct inside itself: `struct<"name">` in `!llvm.struct<"name", (struct<"name">)>`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StructRefType {
    /// Name of the struct around it.
    pub name: String,
    /// That struct has fields of types that LLVM has not; then it is written with its dialect's name.
    pub foreign: bool,
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

impl ParamValue for TargetExtType {
    const NAME: &'static str = "llvm.target";

    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "<{}", sutura_ir::asm::print::attr_text(cx, cx.string_attr(&self.name)))?;
        for ty in &self.types {
            out.write_str(", ")?;
            print_inner(cx, *ty, out)?;
        }
        self.numbers.iter().try_for_each(|number| write!(out, ", {number}"))?;
        out.write_str(">")
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

impl ParamValue for StructRefType {
    const NAME: &'static str = "llvm.struct";

    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        let quoted = sutura_ir::asm::print::attr_text(cx, cx.string_attr(&self.name));
        write!(out, "<{quoted}>")
    }
}

/// Writes a type as it stands inside another: without `!llvm.`.
fn print_inner(cx: &Context, ty: Type, out: &mut dyn fmt::Write) -> fmt::Result {
    let text = type_text(cx, ty);
    let is_bare = holds_llvm_types(cx, ty) && cx.type_as::<PpcFp128Type>(ty).is_none();
    let bare = text.strip_prefix("!llvm.").filter(|_| is_bare);
    out.write_str(bare.unwrap_or(&text))
}

/// True for types of LLVM that hold nothing but such types. Others are written with their dialect's name.
fn holds_llvm_types(cx: &Context, ty: Type) -> bool {
    let all = |types: &[Type]| types.iter().all(|ty| holds_llvm_types(cx, *ty));
    if let Some(f) = cx.type_as::<FunctionType>(ty) {
        holds_llvm_types(cx, f.result) && all(&f.params)
    } else if let Some(array) = cx.type_as::<ArrayType>(ty) {
        holds_llvm_types(cx, array.elem)
    } else if let Some(s) = cx.type_as::<StructType>(ty) {
        s.fields.as_ref().is_none_or(|fields| all(fields))
    } else if let Some(s) = cx.type_as::<StructRefType>(ty) {
        !s.foreign
    } else {
        // Of a type that is not known here nobody could tell that it is one of LLVM's.
        !matches!(cx.type_data(ty), TypeData::Opaque { .. }) && is_llvm_type(cx, ty)
    }
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

type GetType = fn(&Context) -> Type;

/// Types without parameters, as they are called inside others.
const PLAIN: [(&str, GetType); 6] = [
    ("void", VoidType::get),
    ("label", LabelType::get),
    ("metadata", MetadataType::get),
    ("token", TokenType::get),
    ("x86_amx", X86AmxType::get),
    ("ppc_fp128", PpcFp128Type::get),
];

pub(super) fn parse_target(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    target_params(p, &mut Outer::default())
}

pub(super) fn parse_function(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    function_params(p, &mut Outer::default())
}

pub(super) fn parse_array(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    array_params(p, &mut Outer::default())
}

pub(super) fn parse_struct(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    struct_params(p, &mut Outer::default(), false)
}

/// What is around a type.
#[derive(Default)]
struct Outer {
    depth: usize,
    /// Names of the structs.
    structs: Vec<String>,
}

/// A type inside another.
fn inner(p: &mut dyn TokenParser, outer: &mut Outer) -> Result<Type, Reported> {
    if outer.depth == MAX_DEPTH {
        return Err(p.error("types are nested too deeply"));
    }
    outer.depth += 1;
    let ty = inner_type(p, outer);
    outer.depth -= 1;
    ty
}

fn inner_type(p: &mut dyn TokenParser, outer: &mut Outer) -> Result<Type, Reported> {
    if p.opt_keyword("ptr") {
        return pointer_params(p);
    }
    for (word, get) in PLAIN {
        if p.opt_keyword(word) {
            return Ok(get(p.cx()));
        }
    }
    if p.opt_keyword("target") {
        return target_params(p, outer);
    }
    if p.opt_keyword("func") {
        return function_params(p, outer);
    }
    if p.opt_keyword("array") {
        return array_params(p, outer);
    }
    if p.opt_keyword("struct") {
        return struct_params(p, outer, false);
    }
    // With the name of its dialect it may be a struct inside itself, which is no type elsewhere.
    if p.opt_punct("!llvm.struct") {
        return struct_params(p, outer, true);
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

fn target_params(p: &mut dyn TokenParser, outer: &mut Outer) -> Result<Type, Reported> {
    p.punct("<")?;
    let name = p.string()?;
    let (mut types, mut numbers) = (Vec::new(), Vec::new());
    while !p.opt_punct(">") {
        p.punct(",")?;
        let loc = p.loc();
        match p.opt_int()? {
            Some(number) => {
                let number = u32::try_from(number);
                numbers.push(number.map_err(|_| p.error_at(loc, "expected a number from 0 to 2^32 - 1"))?);
            }
            None if numbers.is_empty() => types.push(inner(p, outer)?),
            None => return Err(p.error("expected a number: types stand before the numbers")),
        }
    }
    Ok(p.cx().ext_type(TargetExtType { name, types, numbers }))
}

fn function_params(p: &mut dyn TokenParser, outer: &mut Outer) -> Result<Type, Reported> {
    p.punct("<")?;
    let result = inner(p, outer)?;
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
        params.push(inner(p, outer)?);
    }
    p.punct(">")?;
    Ok(p.cx().ext_type(FunctionType { result, params, var_arg }))
}

fn array_params(p: &mut dyn TokenParser, outer: &mut Outer) -> Result<Type, Reported> {
    p.punct("<")?;
    let loc = p.loc();
    let len = p.int()?;
    let Ok(len) = u64::try_from(len) else {
        return Err(p.error_at(loc, "expected the number of elements"));
    };
    p.keyword("x")?;
    let elem = inner(p, outer)?;
    p.punct(">")?;
    Ok(p.cx().ext_type(ArrayType { len, elem }))
}

fn struct_params(p: &mut dyn TokenParser, outer: &mut Outer, foreign: bool) -> Result<Type, Reported> {
    p.punct("<")?;
    let name = p.opt_string()?;
    if let Some(name) = &name {
        let loc = p.loc();
        if p.opt_punct(">") {
            if !outer.structs.contains(name) {
                return Err(p.error_at(loc, "struct without a body only allowed in a recursive struct"));
            }
            return Ok(p.cx().ext_type(StructRefType { name: name.clone(), foreign }));
        }
        p.punct(",")?;
        if outer.structs.contains(name) {
            return Err(p.error("identifier already used for an enclosing struct"));
        }
    }
    if name.is_some() && p.opt_keyword("opaque") {
        p.punct(">")?;
        return Ok(p.cx().ext_type(StructType { name, fields: None, packed: false }));
    }
    let packed = p.opt_keyword("packed");
    p.punct("(")?;
    let mut fields = Vec::new();
    outer.structs.extend(name.clone());
    while !p.opt_punct(")") {
        if !fields.is_empty() {
            p.punct(",")?;
        }
        fields.push(inner(p, outer)?);
    }
    outer.structs.truncate(outer.structs.len() - usize::from(name.is_some()));
    p.punct(">")?;
    Ok(p.cx().ext_type(StructType { name, fields: Some(fields), packed }))
}
