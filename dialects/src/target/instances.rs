//! The tiles that an intrinsic is for: one for each choice of the values of its parameters.

use sutura_ir::{AttrData, Context, OpRef, Type};

use super::ops::IntrinsicOp;
use crate::r#dyn::Poly;
use crate::gir::types::with_sizes;

/// Values of the parameters of an intrinsic's extents.
pub type Choice = Vec<(String, i64)>;

/// The most choices: each is a tile that schedules are tried with.
const MOST: usize = 256;

/// The choices of an intrinsic, the first values before the others; one without parameters has one.
///
/// # Errors
/// When `extents` does not list values.
pub fn choices(op: OpRef<'_>) -> Result<Vec<Choice>, String> {
    let Some(listed) = op.as_::<IntrinsicOp<'_>>().and_then(|this| this.extents()) else { return Ok(vec![vec![]]) };
    let cx = op.cx;
    let wanted = || "'extents' lists positive values for each parameter: '{M = array<i64: 12, 6>}'".to_owned();
    let AttrData::Dict(_) = cx.attr_data(listed) else { return Err(wanted()) };
    let mut choices: Vec<Choice> = vec![vec![]];
    for entry in cx.entries(listed) {
        let values = cx.as_ints(entry.value).filter(|values| !values.is_empty()).ok_or_else(wanted)?;
        if values.iter().any(|value| *value < 1) {
            return Err(wanted());
        }
        let name = cx.str(entry.name);
        let with = |choice: &Choice| {
            let choice = choice.clone();
            values.iter().map(move |value| [&choice[..], &[(name.to_owned(), *value)]].concat())
        };
        choices = choices.iter().flat_map(with).collect();
        if choices.len() > MOST {
            return Err(format!("'extents' has more than {MOST} choices of values"));
        }
    }
    Ok(choices)
}

/// A type with the values of a choice in it.
pub fn chosen(cx: &Context, ty: Type, choice: &Choice) -> Type {
    let value = |name: &str| choice.iter().find(|(own, _)| own == name).map(|(_, value)| Poly::constant(*value));
    with_sizes(cx, ty, &|size| size.substitute(&value))
}

/// The operands' and the results' types of an intrinsic, for each choice. Nothing of one that is not verified.
pub fn signatures(op: OpRef<'_>) -> Vec<(Vec<Type>, Vec<Type>)> {
    let Some(entry) = op.region(0).and_then(|region| region.entry()) else { return vec![] };
    let yielded: Vec<_> = entry.terminator().map(|end| end.operands().collect()).unwrap_or_default();
    let all = |values: &[sutura_ir::Value], choice: &Choice| {
        values.iter().map(|value| chosen(op.cx, entry.body.ty(*value), choice)).collect::<Vec<_>>()
    };
    let of = |choice: &Choice| (all(entry.args(), choice), all(&yielded, choice));
    choices(op).unwrap_or_default().iter().map(of).collect()
}
