//! Folding a scalar op on constants gives what the interpreter gives, for every such op of the upstream dialects.

use std::collections::BTreeMap;

use sutura_interp::num::eval;
use sutura_interp::{DType, Meaning, Random, Scalar, ScalarMeaning, constant::constant};
use sutura_ir::op_def::{FoldValue, OpDef};
use sutura_ir::{Attr, Body, Builder, Context, Loc, NamedAttr, OpState};

const TYPES: [DType; 10] = [
    DType::I1,
    DType::I8,
    DType::I32,
    DType::I64,
    DType::int(13),
    DType::Index,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

/// Random bits, or a value at which ops have corners.
fn number(random: &mut Random, dtype: DType) -> Scalar {
    match random.range(0, 3) {
        0 => Scalar::from_bits(dtype, random.next_u64()),
        1 => Scalar::from_bits(dtype, [0, 1, 2, u64::MAX, 1 << (dtype.bits() - 1)][random.range(0, 4) as usize]),
        _ => random.scalar(dtype),
    }
}

fn attr(cx: &Context, value: Scalar) -> Attr {
    let ty = value.dtype().to_type(cx);
    match value.as_i64() {
        Some(v) => cx.int_attr(v, ty),
        None => cx.attr(sutura_ir::AttrData::Float { ty, bits: value.bits() }),
    }
}

/// What an op computes from these operands by its fold, and by the interpreter.
fn both(
    cx: &Context,
    def: &'static OpDef,
    props: &[NamedAttr],
    args: &[Scalar],
    result: DType,
) -> Option<(Scalar, Scalar)> {
    let mut body = Body::with_block(1);
    let block = body.entry_block().unwrap();
    let mut b = Builder::at_end(cx, &mut body, block);
    let operands: Vec<_> = args.iter().map(|a| b.add_block_arg(block, a.dtype().to_type(cx), Loc::UNKNOWN)).collect();
    let mut state = OpState::of(cx, def, Loc::UNKNOWN).operands(operands).results([result.to_type(cx)]);
    state.props.extend(props.iter().copied());
    let op = b.create(state);
    let op = b.op_ref(op);
    let Meaning::Num(num) = op.interface::<dyn ScalarMeaning>()?.meaning(op).ok()?[0] else { return None };
    let interpreted = eval(num, args, Some(result)).ok()?;
    let constants: Vec<_> = args.iter().map(|a| Some(attr(cx, *a))).collect();
    match def.fold?(op, &constants)?[0] {
        FoldValue::Attr(folded) => Some((constant(cx, folded).unwrap().scalar().unwrap(), interpreted)),
        FoldValue::Value(value) => {
            let index = op.operands().position(|o| o == value).expect("folds to an operand");
            Some((args[index], interpreted))
        }
    }
}

fn is_nan(value: Scalar) -> bool {
    value.as_f64().is_some_and(f64::is_nan)
}

#[test]
fn folds_agree_with_the_interpreter() {
    let cx = Context::new(sutura_dialects::all());
    let mut random = Random::new(7);
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    let defs: Vec<_> = cx.registry().op_defs().filter(|d| d.fold.is_some() && d.results.len() == 1).collect();
    for def in defs {
        if cx.op_name(def.name).info(&cx).unwrap().interface::<dyn ScalarMeaning>().is_none() || def.operands.is_empty()
        {
            continue;
        }
        // A complex number is no scalar: `lit-tests/dialects/complex/fold.mlir` runs folded programs.
        if def.name.starts_with("complex.") {
            continue;
        }
        let count = compared.entry(def.name).or_default();
        for _ in 0..4000 {
            let (first, other) = (TYPES[random.range(0, 9) as usize], TYPES[random.range(0, 9) as usize]);
            let mut types = vec![first; def.operands.len()];
            if def.name == "arith.select" {
                types = vec![DType::I1, first, first];
            }
            let mut props = Vec::new();
            if def.attr("predicate").is_some() {
                props.push(NamedAttr {
                    name: cx.ident("predicate"),
                    value: cx.int_attr(random.range(0, 15), sutura_ir::Type::I64),
                });
            }
            let args: Vec<_> = types.iter().map(|&t| number(&mut random, t)).collect();
            let inferred = match def.name {
                "arith.cmpi" | "arith.cmpf" => DType::I1,
                "arith.select" => first,
                _ if def.operands.len() == 1 && random.range(0, 1) == 0 => other,
                _ => first,
            };
            // Types that the op does not take, and casts in the wrong direction, have no meaning.
            if !def.operands.iter().zip(&types).all(|(o, t)| (o.constraint.check)(&cx, t.to_type(&cx)))
                || !(def.results[0].constraint.check)(&cx, inferred.to_type(&cx))
                || (def.name == "arith.extf" && first.bits() >= inferred.bits())
                || (def.name == "arith.truncf" && first.bits() <= inferred.bits())
            {
                continue;
            }
            if let Some((folded, interpreted)) = both(&cx, def, &props, &args, inferred) {
                let same = folded == interpreted || (is_nan(folded) && is_nan(interpreted));
                assert!(same, "{} {args:?} {props:?}: folds to {folded:?}, runs to {interpreted:?}", def.name);
                *count += 1;
            }
        }
    }
    let never: Vec<_> = compared.iter().filter(|(_, n)| **n < 5).collect();
    assert!(never.is_empty(), "hardly compared: {never:?}");
    assert!(compared.len() > 30, "{} ops", compared.len());
}
