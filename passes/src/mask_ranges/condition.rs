//! Conditions that the compiler knows: of constant masks, and of indices.

use std::collections::BTreeSet;

use sutura_dialects::arith::CmpIPredicate;
use sutura_dialects::graph::{ComputeForm, IndexOp, maps};
use sutura_ir::registry::{constant_of, constant_value};
use sutura_ir::{OpRef, Type, Value};

use super::MOST;

/// Most steps of a condition that is looked at.
const STEPS: usize = 64;

/// A whole number at each place of an op's dims.
pub(super) enum Condition {
    Constant(i64),
    /// The index along a dim.
    Index(usize),
    /// An element of a tensor: the dims along which it moves, each with how far, if it is not the last one.
    Element {
        words: Vec<i64>,
        steps: Vec<(usize, usize)>,
    },
    Two(fn(i64, i64) -> i64, Box<[Condition; 2]>),
}

impl Condition {
    /// What a value in the body of an op is.
    ///
    /// # Errors
    /// Says what is not known.
    pub(super) fn of(form: &ComputeForm<'_>, value: Value) -> Result<Self, String> {
        let mut left = STEPS;
        Self::within(form, value, &mut left)
    }

    /// The same, of so many steps at most: what is used twice is two.
    fn within(form: &ComputeForm<'_>, value: Value, left: &mut usize) -> Result<Self, String> {
        *left = left.checked_sub(1).ok_or_else(|| format!("it takes more than {STEPS} steps"))?;
        if let Some(input) = form.body.args().iter().position(|arg| *arg == value) {
            let known = Self::element(form, input)?;
            return known.ok_or_else(|| "it is not known when the model is compiled".to_owned());
        }
        let op = form.op.body.defining_op(value).map(|op| form.op.at(op)).expect("an argument, or made in the body");
        let unknown = || format!("it is made by '{}'", op.name_str());
        if let Some(constant) = constant_value(op) {
            let number = form.op.cx.as_int(constant).map(|number| number & mask(op.ty(value)));
            return number.map(Self::Constant).ok_or_else(unknown);
        }
        if let Some(index) = op.as_::<IndexOp<'_>>() {
            return usize::try_from(index.iterator()).map(Self::Index).map_err(|_| unknown());
        }
        // Other widths come round.
        let wide = [Type::I64, Type::INDEX, Type::I1].contains(&op.ty(value));
        match (op.name_str(), op.num_operands()) {
            ("arith.index_cast" | "arith.extsi", 1) if wide && op.ty(op.operand(0)) != Type::I1 => {
                Self::within(form, op.operand(0), left)
            }
            (_, 2) if wide => {
                let function = function(op).ok_or_else(unknown)?;
                let a = Self::within(form, op.operand(0), left)?;
                let b = Self::within(form, op.operand(1), left)?;
                Ok(Self::Two(function, Box::new([a, b])))
            }
            _ => Err(unknown()),
        }
    }

    /// An input of truth values or of integers, if it is a constant.
    ///
    /// # Errors
    /// It has too many elements.
    fn element(form: &ComputeForm<'_>, input: usize) -> Result<Option<Self>, String> {
        let constant = constant_of(form.op.body, form.op.cx, form.op.operand(input));
        let count = constant.and_then(|constant| form.op.cx.dense(constant)).map_or(0, |dense| dense.words().len());
        match i64::try_from(count) {
            Ok(..=MOST) => Ok(Self::element_of(form, input)),
            _ => Err("it has too many elements to be looked at".to_owned()),
        }
    }

    fn element_of(form: &ComputeForm<'_>, input: usize) -> Option<Self> {
        let (view, cx) = (form.op, form.op.cx);
        let value = view.operand(input);
        let map = form.input_maps[input];
        if form.oob[input].is_some() || maps::mentions_sizes(cx, map) {
            return None;
        }
        let (shape, elem) = (cx.shape(view.ty(value))?.to_vec(), cx.element_type(view.ty(value)));
        let mut stride = 1;
        let mut steps = Vec::new();
        for (expr, size) in cx.map_results(map).iter().zip(&shape).rev() {
            match maps::plain_dim(cx, *expr) {
                Some(dim) => steps.push((dim, stride)),
                None if maps::constant(cx, *expr) == Some(0) => {}
                None => return None,
            }
            stride *= usize::try_from(*size).ok()?;
        }
        let constant = constant_of(view.body, cx, value)?;
        let dense = cx.dense(constant)?;
        let whole = |word: u64| match elem {
            Type::I1 => Some((word & 1) as i64),
            Type::I32 => Some(i64::from(word as u32 as i32)),
            Type::I64 => Some(word as i64),
            _ => None,
        };
        let words: Vec<i64> = dense.words().map(whole).collect::<Option<_>>()?;
        if dense.is_splat() {
            return words.first().map(|word| Self::Constant(*word));
        }
        (words.len() == stride).then_some(Self::Element { words, steps })
    }

    /// The dims in which it differs.
    pub(super) fn dims(&self) -> BTreeSet<usize> {
        match self {
            Self::Constant(_) => BTreeSet::new(),
            Self::Index(dim) => BTreeSet::from([*dim]),
            Self::Element { steps, .. } => steps.iter().map(|(dim, _)| *dim).collect(),
            Self::Two(_, parts) => parts.iter().flat_map(Self::dims).collect(),
        }
    }

    /// The numbers along a dim of that length, at one index of each other one.
    pub(super) fn row(&self, at: &[(usize, i64)], (along, length): (usize, i64)) -> Vec<i64> {
        let index = |dim: usize| at.iter().find(|(d, _)| *d == dim).map_or(0, |(_, index)| *index);
        match self {
            Self::Constant(number) => vec![*number; length as usize],
            Self::Index(dim) if *dim == along => (0..length).collect(),
            Self::Index(dim) => vec![index(*dim); length as usize],
            Self::Element { words, steps } => {
                let fixed = steps.iter().filter(|(dim, _)| *dim != along);
                let first: usize = fixed.map(|(dim, step)| index(*dim) as usize * step).sum();
                let step: usize = steps.iter().filter(|(dim, _)| *dim == along).map(|(_, step)| step).sum();
                (0..length as usize).map(|key| words[first + key * step]).collect()
            }
            Self::Two(function, parts) => {
                let [mut a, b] = [0, 1].map(|part| parts[part].row(at, (along, length)));
                a.iter_mut().zip(b).for_each(|(a, b)| *a = function(*a, b));
                a
            }
        }
    }
}

/// The bits of a truth value; a constant that holds is -1 as an integer with a sign.
fn mask(ty: Type) -> i64 {
    if ty == Type::I1 { 1 } else { -1 }
}

/// What an op of two whole numbers of 64 bits, or of two truth values, makes.
fn function(op: OpRef<'_>) -> Option<fn(i64, i64) -> i64> {
    let truth = op.ty(op.result(0)) == Type::I1;
    Some(match op.name_str() {
        "arith.cmpi" => {
            let predicate = op.cx.as_int(op.prop("predicate")?)?;
            let signed = op.ty(op.operand(0)) != Type::I1;
            match CmpIPredicate::ALL.iter().find(|kind| **kind as i64 == predicate)? {
                CmpIPredicate::Eq => |a, b| i64::from(a == b),
                CmpIPredicate::Ne => |a, b| i64::from(a != b),
                CmpIPredicate::Slt if signed => |a, b| i64::from(a < b),
                CmpIPredicate::Sle if signed => |a, b| i64::from(a <= b),
                CmpIPredicate::Sgt if signed => |a, b| i64::from(a > b),
                CmpIPredicate::Sge if signed => |a, b| i64::from(a >= b),
                _ => return None,
            }
        }
        "arith.addi" if !truth => i64::wrapping_add,
        "arith.subi" if !truth => i64::wrapping_sub,
        "arith.muli" if !truth => i64::wrapping_mul,
        "arith.andi" => |a, b| a & b,
        "arith.ori" => |a, b| a | b,
        "arith.xori" => |a, b| a ^ b,
        _ => return None,
    })
}
