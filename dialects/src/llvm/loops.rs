//! What LLVM is told of a loop: `#llvm.loop_annotation` and `#llvm.loop_unroll`.

use std::fmt;

use sutura_ir::asm::parse::ParamParser;
use sutura_ir::ext::ParamValue;
use sutura_ir::{Attr, Context, Reported, Type};

/// `#llvm.loop_unroll<disable = false, count = 4 : i32>`: how a loop is unrolled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct LoopUnroll {
    /// Not at all.
    pub disable: Option<bool>,
    /// So many trips side by side.
    pub count: Option<i32>,
    /// Not where the number of trips is known only when the loop runs.
    pub runtime_disable: Option<bool>,
    /// All trips.
    pub full: Option<bool>,
}

impl LoopUnroll {
    /// A loop that stays one.
    pub const NONE: Self = Self { disable: Some(true), count: None, runtime_disable: None, full: None };

    /// A loop with so many trips side by side.
    pub fn by(count: i32) -> Self {
        Self { disable: Some(false), count: Some(count), ..Self::default() }
    }

    pub(super) fn parse_attr(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
        p.punct("<")?;
        let value = Self::fields(p)?;
        Ok(p.cx().ext_attr(value))
    }

    /// Reads `disable = true, ...>`, behind the first bracket.
    fn fields(p: &mut dyn ParamParser) -> Result<Self, Reported> {
        let mut value = Self::default();
        loop {
            let loc = p.loc();
            let slot = if p.opt_keyword("disable") {
                &mut value.disable
            } else if p.opt_keyword("runtimeDisable") {
                &mut value.runtime_disable
            } else if p.opt_keyword("full") {
                &mut value.full
            } else if p.opt_keyword("count") {
                p.punct("=")?;
                if value.count.replace(count(p)?).is_some() {
                    return Err(p.error_at(loc, "`count` stands twice"));
                }
                if p.opt_punct(",") {
                    continue;
                }
                break;
            } else {
                return Err(p.error_at(loc, "expected `disable`, `count`, `runtimeDisable` or `full`"));
            };
            if slot.is_some() {
                return Err(p.error_at(loc, "the parameter stands twice"));
            }
            p.punct("=")?;
            *slot = Some(p.opt_keyword("true"));
            if *slot == Some(false) {
                p.keyword("false")?;
            }
            if !p.opt_punct(",") {
                break;
            }
        }
        p.punct(">")?;
        Ok(value)
    }
}

fn count(p: &mut dyn ParamParser) -> Result<i32, Reported> {
    let loc = p.loc();
    let attr = p.attr(None)?;
    let number = p.cx().as_int(attr).filter(|_| p.cx().attr_type(attr) == Some(Type::I32));
    number.map(|number| number as i32).ok_or_else(|| p.error_at(loc, "expected a number of type i32"))
}

impl fmt::Display for LoopUnroll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |name: &str, value: Option<bool>| value.map(|value| format!("{name} = {value}"));
        let fields = [
            said("disable", self.disable),
            self.count.map(|count| format!("count = {count} : i32")),
            said("runtimeDisable", self.runtime_disable),
            said("full", self.full),
        ];
        let fields: Vec<String> = fields.into_iter().flatten().collect();
        write!(f, "<{}>", fields.join(", "))
    }
}

impl ParamValue for LoopUnroll {
    const NAME: &'static str = "llvm.loop_unroll";

    fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{self}")
    }
}

/// `#llvm.loop_annotation<unroll = <disable = true>>`. Of what LLVM can be told the dialect has how a loop is unrolled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LoopAnnotation {
    /// How it is unrolled.
    pub unroll: LoopUnroll,
}

impl LoopAnnotation {
    pub(super) fn parse_attr(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
        p.punct("<")?;
        p.keyword("unroll")?;
        p.punct("=")?;
        let loc = p.loc();
        let unroll = if p.opt_punct("<") {
            LoopUnroll::fields(p)?
        } else {
            let attr = p.attr(None)?;
            let Some(unroll) = p.cx().attr_as::<LoopUnroll>(attr) else {
                return Err(p.error_at(loc, "expected a `#llvm.loop_unroll`"));
            };
            *unroll
        };
        p.punct(">")?;
        Ok(p.cx().ext_attr(Self { unroll }))
    }
}

impl ParamValue for LoopAnnotation {
    const NAME: &'static str = "llvm.loop_annotation";

    fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "<unroll = {}>", self.unroll)
    }
}

sutura_ir::ext_attr_constraint!(LoopUnroll, "LLVM loop unroll attribute");
sutura_ir::ext_attr_constraint!(LoopAnnotation, "LLVM loop annotation attribute");
