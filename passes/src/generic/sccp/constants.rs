//! The data-flow analysis: which values are constant.

use smallvec::SmallVec;
use sutura_ir::analysis::dataflow::{Forward, ForwardSolution};
use sutura_ir::attrs::Attr;
use sutura_ir::context::Ident;
use sutura_ir::op_def::FoldValue;
use sutura_ir::registry::constant_value;
use sutura_ir::rewrite::fold_values;
use sutura_ir::{Context, OpRef, Type};

/// A constant, and the dialect whose op made it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) value: Attr,
    pub(super) dialect: Ident,
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum ConstantFact {
    /// It is this constant.
    Known(Known),
    /// It may be several.
    Varies,
}

/// Which values of a program are constant.
pub(super) type Constants = ForwardSolution<ConstantPropagation>;

/// Folds ops whose operands are constant.
#[derive(Default)]
pub(super) struct ConstantPropagation;

impl Forward for ConstantPropagation {
    const NAME: &'static str = "Constants";

    type Fact = ConstantFact;

    fn unknown(&self, _: &Context, _: Type) -> ConstantFact {
        ConstantFact::Varies
    }

    fn join(&self, fact: &mut ConstantFact, other: &ConstantFact) -> bool {
        if *fact == *other || *fact == ConstantFact::Varies {
            return false;
        }
        *fact = ConstantFact::Varies;
        true
    }

    fn transfer(&self, op: OpRef<'_>, operands: &[ConstantFact]) -> SmallVec<[ConstantFact; 1]> {
        let dialect = op.cx.ident(op.name().dialect(op.cx));
        let known = |value: Attr| ConstantFact::Known(Known { value, dialect });
        if let Some(value) = constant_value(op) {
            return SmallVec::from_elem(known(value), 1);
        }
        let constants: SmallVec<[Option<Attr>; 4]> = operands.iter().map(|f| self.constant(op.cx, f)).collect();
        let varies = || SmallVec::from_elem(ConstantFact::Varies, op.num_results());
        let Some(folded) = fold_values(op, &constants).filter(|f| f.len() == op.num_results()) else {
            return varies();
        };
        let fact = |value: &FoldValue| match value {
            FoldValue::Attr(value) => known(*value),
            // Of a value that is no operand nothing would tell when more is known of it.
            FoldValue::Value(value) => {
                op.operands().position(|o| o == *value).map_or(ConstantFact::Varies, |i| operands[i])
            }
        };
        folded.iter().map(fact).collect()
    }

    fn constant(&self, _: &Context, fact: &ConstantFact) -> Option<Attr> {
        match fact {
            ConstantFact::Known(known) => Some(known.value),
            ConstantFact::Varies => None,
        }
    }
}
