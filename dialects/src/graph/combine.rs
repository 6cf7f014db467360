//! How contributions along reduce iterators are joined: by a combiner of a known name for each result, or by a region that
//! joins all results at once.

use sutura_ir::ext::VerifyParams;
use sutura_ir::{Attr, BlockRef, Context, OpRef, Type, Value, attr};

use crate::complex;
use crate::elements::accumulator_type;

sutura_ir::enum_attr! {
    /// How the contributions to one element of a result are joined.
    pub enum Combiner = "graph.combiner", "how numbers are joined"; {
        /// The sum. The order in which floats are added depends on shapes alone.
        Add => "add",
        /// The product. The order in which floats are multiplied depends on shapes alone.
        Mul => "mul",
        /// The largest one; NaN if any contribution is.
        Max => "max",
        /// The smallest one; NaN if any contribution is.
        Min => "min",
        /// Bitwise and, of integers.
        And => "and",
        /// Bitwise or, of integers.
        Or => "or",
    }
}

/// One combiner per result.
#[attr("graph.combiners")]
pub struct CombinersAttr {
    /// The combiners.
    kinds: Vec<Combiner>,
}

sutura_ir::enum_attr! {
    /// What may be assumed of a region that joins two states. Of floats it holds up to roundoff.
    pub enum Law = "graph.law", "law of a region that joins states"; {
        /// `(a b) c` is `a (b c)`: neighbours may be joined first.
        Associative => "associative",
        /// `a b` is `b a`: contributions may come in any order.
        Commutative => "commutative",
    }
}

/// What a region that joins states starts from, and which laws it obeys.
///
/// The identity is the state of no contributions: joined to any state, on either side, it leaves that state as it is. Laws
/// that are not declared are not assumed: then contributions are joined one after another, in row-major order.
#[attr("graph.state", format = "`<` $identity (`,` `laws` `=` $laws^)? `>`", verify)]
pub struct StateAttr {
    /// One number per result, of the type in which it is accumulated.
    identity: Vec<Attr>,
    /// Laws that hold.
    laws: Vec<Law>,
}

impl VerifyParams for StateAttr {
    fn verify_params(&self, _: &Context) -> Result<(), String> {
        let twice = |(i, law): (usize, &Law)| self.laws[..i].contains(law).then(|| law.keyword());
        match self.laws.iter().enumerate().find_map(twice) {
            Some(law) => Err(format!("#graph.state names the law '{law}' twice")),
            None => Ok(()),
        }
    }
}

impl StateAttr {
    /// True when the law is declared.
    pub fn obeys(&self, law: Law) -> bool {
        self.laws.contains(&law)
    }
}

/// A region that joins two states.
#[derive(Clone, Copy)]
pub struct Joint<'a> {
    /// What it starts from, and its laws.
    pub state: &'a StateAttr,
    /// Takes a state, one number per result, then another one, and yields the state of both.
    pub body: BlockRef<'a>,
}

impl Joint<'_> {
    /// The combiners that join each result by itself as the region does; `None` where the region does more, or where a law
    /// that combiners have is not declared.
    pub fn named(&self) -> Option<Vec<Combiner>> {
        let lawful = self.state.obeys(Law::Associative) && self.state.obeys(Law::Commutative);
        let yielded = self.body.terminator().filter(|_| lawful)?;
        yielded.operands().enumerate().map(|(i, value)| self.combiner(yielded, i, value)).collect()
    }

    /// The combiner that makes number `i` of both states the number `value`.
    fn combiner(&self, yielded: OpRef<'_>, i: usize, value: Value) -> Option<Combiner> {
        let (cx, ty) = (yielded.cx, yielded.ty(value));
        let join = yielded.at(yielded.body.defining_op(value)?);
        let args = self.body.args();
        let pair = [args[i], args[self.state.identity.len() + i]];
        let operands: Vec<Value> = join.operands().collect();
        let both = operands == pair || operands == [pair[1], pair[0]];
        let joins =
            |c: &Combiner| c.op_name(cx, ty) == Some(join.name_str()) && c.identity(cx, ty) == self.state.identity[i];
        Combiner::ALL.into_iter().find(joins).filter(|_| both && accumulator_type(cx, ty) == ty)
    }
}

impl Combiner {
    /// Every combiner.
    pub const ALL: [Self; 6] = [Self::Add, Self::Mul, Self::Max, Self::Min, Self::And, Self::Or];

    /// The op of `arith` or `complex` that joins two numbers of type `ty`; `None` where the type has none.
    pub fn op_name(self, cx: &Context, ty: Type) -> Option<&'static str> {
        if complex::part_type(cx, ty).is_some() {
            return match self {
                Self::Add => Some("complex.add"),
                Self::Mul => Some("complex.mul"),
                _ => None,
            };
        }
        Some(match (self, ty.is_float(cx), ty == Type::I1) {
            (Self::Add, true, _) => "arith.addf",
            (Self::Mul, true, _) => "arith.mulf",
            (Self::Max, true, _) => "arith.maximumf",
            (Self::Min, true, _) => "arith.minimumf",
            (Self::And | Self::Or, true, _) => return None,
            (Self::Add, false, _) => "arith.addi",
            (Self::Mul, false, _) => "arith.muli",
            (Self::Max, false, true) => "arith.maxui",
            (Self::Min, false, true) => "arith.minui",
            (Self::Max, false, false) => "arith.maxsi",
            (Self::Min, false, false) => "arith.minsi",
            (Self::And, false, _) => "arith.andi",
            (Self::Or, false, _) => "arith.ori",
        })
    }

    /// The number of type `ty`, a float of at most 64 bits, a complex number of such, an integer or `index`, that joining does
    /// not notice.
    pub fn identity(self, cx: &Context, ty: Type) -> Attr {
        if let Some(part) = complex::part_type(cx, ty) {
            return cx.array_attr(&[self.identity(cx, part), Self::Add.identity(cx, part)]);
        }
        if ty.is_float(cx) {
            return cx.float_attr(
                match self {
                    Self::Add | Self::And | Self::Or => 0.0,
                    Self::Mul => 1.0,
                    Self::Max => f64::NEG_INFINITY,
                    Self::Min => f64::INFINITY,
                },
                ty,
            );
        }
        let width = cx.bit_width(ty).unwrap_or(64).min(64);
        let truth = ty == Type::I1;
        cx.int_attr(
            match self {
                Self::Add | Self::Or => 0,
                Self::Mul => 1,
                Self::And | Self::Min if truth => 1,
                Self::Max if truth => 0,
                Self::And => -1,
                Self::Max => i64::MIN >> (64 - width),
                Self::Min => i64::MAX >> (64 - width),
            },
            ty,
        )
    }
}
