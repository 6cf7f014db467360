//! What intrinsics and vector operations check beyond their declarations.

use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Context, Diagnostics, OpRef, Reported, Type, TypeData};

use super::intrinsics::{
    ExtractElementOp, InsertElementOp, IsFPClassOp, MaskedGatherOp, MaskedLoadOp, MaskedScatterOp, MaskedStoreOp,
    PrefetchOp, SAddWithOverflowOp, SMulWithOverflowOp, SSubWithOverflowOp, ShuffleVectorOp, UAddWithOverflowOp,
    UMulWithOverflowOp, USubWithOverflowOp,
};
use super::types::StructType;
use crate::show;

fn check(op: OpRef<'_>, diags: &mut Diagnostics, found: Result<(), String>) -> Result<(), Reported> {
    found.map_err(|message| diags.report(op.error(message)))
}

/// True for vectors of one shape, whatever their elements are.
fn same_lanes(cx: &Context, a: Type, b: Type) -> bool {
    match (cx.type_data(a), cx.type_data(b)) {
        (TypeData::Vector { shape, scalable, .. }, TypeData::Vector { shape: other, scalable: others, .. }) => {
            shape == other && scalable == others
        }
        _ => false,
    }
}

/// The lanes of a masked access: `others` (with what they are called) have those of `accessed`.
fn masked(cx: &Context, accessed: Type, others: &[(&str, Type)], alignment: i64) -> Result<(), String> {
    if cx.shape(accessed).is_none_or(|s| s.len() != 1) {
        return Err(format!("accesses a vector of one dimension, not '{}'", show::ty(cx, accessed)));
    }
    for (what, ty) in others {
        if !same_lanes(cx, accessed, *ty) {
            let (found, expected) = (show::ty(cx, *ty), show::ty(cx, accessed));
            return Err(format!("the {what} '{found}' must have as many elements as '{expected}'"));
        }
    }
    // What LLVM can say of an address.
    if alignment > 0 && (alignment as u64).is_power_of_two() {
        return Ok(());
    }
    Err(format!("alignment must be a power of two, not {alignment}"))
}

fn same_pass_thru(cx: &Context, pass_thru: Option<Type>, result: Type) -> Result<(), String> {
    match pass_thru {
        Some(ty) if ty != result => {
            Err(format!("pass_thru has type '{}', the result '{}'", show::ty(cx, ty), show::ty(cx, result)))
        }
        _ => Ok(()),
    }
}

impl Verify for PrefetchOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let prefetch = PrefetchOp::from_ref(op);
        let numbers = [("rw", prefetch.rw(), 1), ("hint", prefetch.hint(), 3), ("cache", prefetch.cache(), 1)];
        let wrong = numbers.iter().find(|(_, value, most)| !(0..=*most).contains(value));
        let found = wrong.map_or(Ok(()), |(name, value, most)| Err(format!("'{name}' is 0 to {most}, not {value}")));
        check(op, diags, found)
    }
}

impl Verify for MaskedLoadOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let load = MaskedLoadOp::from_ref(op);
        let result = op.ty(load.res());
        let found = masked(op.cx, result, &[("mask", op.ty(load.mask()))], load.alignment())
            .and_then(|()| same_pass_thru(op.cx, load.pass_thru().map(|v| op.ty(v)), result));
        check(op, diags, found)
    }
}

impl Verify for MaskedStoreOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let store = MaskedStoreOp::from_ref(op);
        let others = [("mask", op.ty(store.mask()))];
        check(op, diags, masked(op.cx, op.ty(store.stored()), &others, store.alignment()))
    }
}

impl Verify for MaskedGatherOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let gather = MaskedGatherOp::from_ref(op);
        let result = op.ty(gather.res());
        let others = [("mask", op.ty(gather.mask())), ("vector of pointers", op.ty(gather.ptrs()))];
        let found = masked(op.cx, result, &others, gather.alignment())
            .and_then(|()| same_pass_thru(op.cx, gather.pass_thru().map(|v| op.ty(v)), result));
        check(op, diags, found)
    }
}

impl Verify for MaskedScatterOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let scatter = MaskedScatterOp::from_ref(op);
        let others = [("mask", op.ty(scatter.mask())), ("vector of pointers", op.ty(scatter.ptrs()))];
        check(op, diags, masked(op.cx, op.ty(scatter.stored()), &others, scatter.alignment()))
    }
}

/// `{T, i1}` with the lanes of the operands.
fn verify_overflow(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let operand = op.ty(op.operand(0));
    let expected = StructType {
        name: None,
        fields: Some(vec![operand, super::verify::comparison_type(op.cx, operand)]),
        packed: false,
    };
    let expected = op.cx.ext_type(expected);
    if op.ty(op.result(0)) == expected {
        return Ok(());
    }
    Err(diags.report(op.error(format!("the result must be '{}'", show::ty(op.cx, expected)))))
}

macro_rules! overflowing {
    ($($op:ident),+) => {$(
        impl Verify for $op<'_> {
            fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
                verify_overflow(op, diags)
            }
        }
    )+};
}

overflowing!(
    SAddWithOverflowOp,
    UAddWithOverflowOp,
    SSubWithOverflowOp,
    USubWithOverflowOp,
    SMulWithOverflowOp,
    UMulWithOverflowOp
);

impl Verify for IsFPClassOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        super::verify::verify_comparison(op, diags)
    }
}

impl Verify for ExtractElementOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let extract = ExtractElementOp::from_ref(op);
        if op.cx.element_type(op.ty(extract.vector())) == op.ty(extract.res()) {
            return Ok(());
        }
        Err(diags.report(op.error("failed to verify that result type matches vector element type")))
    }
}

impl InferTypes for ExtractElementOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let vector = input.operands.first().ok_or("there is no vector")?;
        Ok(smallvec![input.cx.element_type(*vector)])
    }
}

impl Verify for InsertElementOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let insert = InsertElementOp::from_ref(op);
        if op.cx.element_type(op.ty(insert.vector())) == op.ty(insert.inserted()) {
            return Ok(());
        }
        Err(diags.report(op.error("failed to verify that argument type matches vector element type")))
    }
}

/// The type of a shuffle: as many elements as the mask has, scalable if the operands are.
fn shuffled(cx: &Context, vector: Type, count: usize) -> Option<Type> {
    match cx.type_data(vector) {
        TypeData::Vector { elem, scalable, .. } => {
            let shape = cx.int_list(&[i64::try_from(count).ok()?]);
            Some(cx.ty(TypeData::Vector { shape, scalable, elem }))
        }
        _ => None,
    }
}

impl Verify for ShuffleVectorOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let shuffle = ShuffleVectorOp::from_ref(op);
        let (source, mask) = (op.ty(shuffle.v1()), shuffle.mask());
        let lanes = op.cx.shape(source).unwrap_or_default();
        let found = match lanes {
            [lanes] if mask.iter().any(|&i| i64::from(i) >= 2 * lanes || i < -1) => {
                Err(format!("mask has an index outside of [-1, {})", 2 * lanes))
            }
            [_] => Ok(()),
            _ => Err("expected vectors of one dimension".to_string()),
        };
        check(op, diags, found)
    }
}

impl InferTypes for ShuffleVectorOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let vector = input.operands.first().ok_or("there is no vector")?;
        let mask = input.prop("mask").and_then(|a| input.cx.as_ints(a)).ok_or("there is no 'mask'")?;
        let ty = shuffled(input.cx, *vector, mask.len()).ok_or("expected a vector")?;
        Ok(smallvec![ty])
    }
}
