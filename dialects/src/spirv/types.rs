//! Types of the spirv dialect: pointers and aggregates.

use std::fmt;

use sutura_ir::asm::parse::ParamParser;
use sutura_ir::asm::print::type_text;
use sutura_ir::ext::ParamValue;
use sutura_ir::{Context, Reported, Type};

use super::attrs::StorageClass;

/// `!spirv.ptr<f32, Workgroup>`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PointerType {
    /// What it points to.
    pub pointee: Type,
    /// Where that lives.
    pub class: StorageClass,
}

/// `!spirv.array<4 x f32>`, `!spirv.array<4 x f32, stride=4>`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ArrayType {
    /// Number of elements.
    pub len: u32,
    /// Their type.
    pub elem: Type,
    /// Bytes from one to the next; 0 where memory has no layout.
    pub stride: u32,
}

/// `!spirv.rtarray<f32, stride=4>`: an array whose length is known when it runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RuntimeArrayType {
    /// Type of the elements.
    pub elem: Type,
    /// Bytes from one to the next; 0 where memory has no layout.
    pub stride: u32,
}

/// `!spirv.struct<(i64 [0], f32 [8, NonWritable]), Block>`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StructType {
    /// The members.
    pub members: Vec<Member>,
    /// Decorations of the struct.
    pub decorations: Vec<String>,
}

/// A member of a struct.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Member {
    /// Its type.
    pub ty: Type,
    /// Its place in bytes; all members of a struct have one, or none has.
    pub offset: Option<u32>,
    /// Its decorations.
    pub decorations: Vec<String>,
}

impl StructType {
    /// A struct without layout: what operations with two results return.
    pub fn plain(types: &[Type]) -> Self {
        let members = types.iter().map(|ty| Member { ty: *ty, offset: None, decorations: Vec::new() }).collect();
        Self { members, decorations: Vec::new() }
    }

    /// A block of members at these places: the contents of a buffer or of the push constants.
    pub fn block(members: &[(Type, u32)]) -> Self {
        let member = |(ty, offset): &(Type, u32)| Member { ty: *ty, offset: Some(*offset), decorations: Vec::new() };
        Self { members: members.iter().map(member).collect(), decorations: vec!["Block".to_string()] }
    }
}

/// `!spirv.ptr<pointee, class>`
pub fn pointer(cx: &Context, pointee: Type, class: StorageClass) -> Type {
    cx.ext_type(PointerType { pointee, class })
}

fn print_stride(stride: u32, out: &mut dyn fmt::Write) -> fmt::Result {
    match stride {
        0 => out.write_str(">"),
        _ => write!(out, ", stride={stride}>"),
    }
}

impl ParamValue for PointerType {
    const NAME: &'static str = "spirv.ptr";

    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "<{}, {}>", type_text(cx, self.pointee), self.class.keyword())
    }
}

impl ParamValue for ArrayType {
    const NAME: &'static str = "spirv.array";

    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "<{} x {}", self.len, type_text(cx, self.elem))?;
        print_stride(self.stride, out)
    }

    fn verify(&self, _: &Context) -> Result<(), String> {
        if self.len == 0 { Err("an array has at least one element".to_string()) } else { Ok(()) }
    }
}

impl ParamValue for RuntimeArrayType {
    const NAME: &'static str = "spirv.rtarray";

    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "<{}", type_text(cx, self.elem))?;
        print_stride(self.stride, out)
    }
}

impl ParamValue for StructType {
    const NAME: &'static str = "spirv.struct";

    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_str("<(")?;
        for (i, member) in self.members.iter().enumerate() {
            write!(out, "{}{}", if i > 0 { ", " } else { "" }, type_text(cx, member.ty))?;
            let place = member.offset.map(|offset| offset.to_string());
            let words: Vec<String> = place.into_iter().chain(member.decorations.iter().cloned()).collect();
            if !words.is_empty() {
                write!(out, " [{}]", words.join(", "))?;
            }
        }
        out.write_str(")")?;
        self.decorations.iter().try_for_each(|word| write!(out, ", {word}"))?;
        out.write_str(">")
    }

    fn verify(&self, _: &Context) -> Result<(), String> {
        let placed = self.members.iter().filter(|member| member.offset.is_some()).count();
        if placed != 0 && placed != self.members.len() {
            return Err("offset specification must be given for all members".to_string());
        }
        Ok(())
    }
}

/// A number of 32 bits.
fn number(p: &mut dyn ParamParser, what: &str) -> Result<u32, Reported> {
    let loc = p.loc();
    let number = p.int()?;
    u32::try_from(number).map_err(|_| p.error_at(loc, &format!("expected {what}: a number below 2^32")))
}

/// `, stride=4>` or `>`
fn stride(p: &mut dyn ParamParser) -> Result<u32, Reported> {
    let mut stride = 0;
    if p.opt_punct(",") {
        p.keyword("stride")?;
        p.punct("=")?;
        let loc = p.loc();
        stride = number(p, "a stride")?;
        if stride == 0 {
            return Err(p.error_at(loc, "a stride is above zero; leave it out where there is none"));
        }
    }
    p.punct(">")?;
    Ok(stride)
}

pub(super) fn parse_pointer(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    p.punct("<")?;
    let pointee = p.ty()?;
    p.punct(",")?;
    let loc = p.loc();
    let word = p.any_keyword()?;
    let Some(class) = StorageClass::from_keyword(&word) else {
        return Err(p.error_at(loc, &format!("unknown storage class '{word}'")));
    };
    p.punct(">")?;
    Ok(pointer(p.cx(), pointee, class))
}

pub(super) fn parse_array(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    p.punct("<")?;
    let len = number(p, "a number of elements")?;
    p.keyword("x")?;
    let elem = p.ty()?;
    let stride = stride(p)?;
    Ok(p.cx().ext_type(ArrayType { len, elem, stride }))
}

pub(super) fn parse_runtime_array(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    p.punct("<")?;
    let elem = p.ty()?;
    let stride = stride(p)?;
    Ok(p.cx().ext_type(RuntimeArrayType { elem, stride }))
}

pub(super) fn parse_struct(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    p.punct("<")?;
    let loc = p.loc();
    if p.opt_any_keyword().is_some() {
        return Err(p.beyond_subset(loc, "a struct with a name is not supported: write its members in parentheses"));
    }
    let mut members = Vec::new();
    p.list("(", ")", &mut |p| {
        members.push(member(p)?);
        Ok(())
    })?;
    let mut decorations = Vec::new();
    while p.opt_punct(",") {
        decorations.push(decoration(p)?);
    }
    p.punct(">")?;
    Ok(p.cx().ext_type(StructType { members, decorations }))
}

/// `f32 [8, NonWritable]`
fn member(p: &mut dyn ParamParser) -> Result<Member, Reported> {
    let mut member = Member { ty: p.ty()?, offset: None, decorations: Vec::new() };
    if !p.opt_punct("[") {
        return Ok(member);
    }
    let loc = p.loc();
    if let Some(offset) = p.opt_int()? {
        let offset = u32::try_from(offset);
        member.offset = Some(offset.map_err(|_| p.error_at(loc, "expected an offset: a number below 2^32"))?);
    } else {
        member.decorations.push(decoration(p)?);
    }
    while p.opt_punct(",") {
        member.decorations.push(decoration(p)?);
    }
    p.punct("]")?;
    Ok(member)
}

/// `NonWritable`; this subset has no decoration with a value, as `MatrixStride=16`.
fn decoration(p: &mut dyn ParamParser) -> Result<String, Reported> {
    let loc = p.loc();
    let word = p.any_keyword()?;
    if p.opt_punct("=") {
        return Err(p.beyond_subset(loc, &format!("the decoration `{word}` with a value is not supported")));
    }
    Ok(word)
}
