//! Arithmetic of casts, stated once: the interpreter computes with it, and passes write it as ops.

use sutura_interp::num::{CmpF, MathFn, NumOp, Overflow, Rounding};
use sutura_interp::{DType, Fault, Scalar};
use sutura_ir::Context;
use sutura_ir::asm::print::type_text;
use sutura_ir::types::{FloatKind, TypeData};

use super::types::{Affine, UniformType};
use crate::elements::policy;

/// Numbers that are computed with: such as are there, or those that ops make.
pub trait Numbers {
    /// A number.
    type Number: Clone;

    /// A number of type `ty`, made of others.
    ///
    /// # Errors
    /// When it cannot be made.
    fn op(&mut self, op: NumOp, args: &[&Self::Number], ty: DType) -> Result<Self::Number, Fault>;

    /// A constant.
    ///
    /// # Errors
    /// When it cannot be made.
    fn constant(&mut self, value: Scalar) -> Result<Self::Number, Fault>;
}

/// Types with which casts of a quantised type compute.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Kinds {
    /// Of stored integers, signless.
    pub stored: DType,
    /// Of integers that hold the difference of two stored ones.
    pub wide: DType,
    /// Of what is expressed.
    pub expressed: DType,
    /// In which floats are computed.
    pub computed: FloatKind,
    signed: bool,
    min: i64,
    max: i64,
    /// Floats of this magnitude are integers beyond every difference of stored ones.
    beyond: f64,
}

impl Kinds {
    /// Those of `ty`.
    ///
    /// # Errors
    /// When nothing computes with floats of the expressed type.
    pub fn of(cx: &Context, ty: &UniformType) -> Result<Self, Fault> {
        let expressed = DType::expect(cx, ty.expressed)?;
        let Some(TypeData::Float(computed)) = policy(cx, ty.expressed).map(|policy| policy.computed) else {
            let name = type_text(cx, ty.expressed);
            return Err(Fault::unsupported(format!("numbers that express {name} are not computed with")));
        };
        let (wide, beyond) = if ty.storage.width <= 16 { (32, 20) } else { (64, 40) };
        Ok(Self {
            stored: DType::int(ty.storage.width as u8),
            wide: DType::int(wide),
            expressed,
            computed,
            signed: ty.storage.signed,
            min: ty.storage.min,
            max: ty.storage.max,
            beyond: 2f64.powi(beyond),
        })
    }

    fn float(&self) -> DType {
        DType::Float(self.computed)
    }

    /// A scale, as it is computed with: rounded to the expressed type first.
    pub fn scale(&self, affine: &Affine) -> Scalar {
        let scale = match self.expressed {
            DType::Float(kind) => Scalar::float(affine.scale(), kind).to_f64_lossy(),
            _ => affine.scale(),
        };
        Scalar::float(scale, self.computed)
    }

    /// A zero point, as it is computed with.
    pub fn zero(&self, affine: &Affine) -> Scalar {
        Scalar::int(affine.zero, self.wide)
    }

    /// What a stored integer expresses: the difference is exact, and rounded where it becomes a float, as is the product.
    ///
    /// # Errors
    /// When a number cannot be made.
    pub fn dequantize<N: Numbers>(
        &self,
        n: &mut N,
        stored: &N::Number,
        scale: &N::Number,
        zero: &N::Number,
    ) -> Result<N::Number, Fault> {
        let extend = if self.signed { NumOp::ExtSI } else { NumOp::ExtUI };
        let wide = n.op(extend, &[stored], self.wide)?;
        let difference = n.op(NumOp::SubI(Overflow::WRAP), &[&wide, zero], self.wide)?;
        let float = n.op(NumOp::SIToFP, &[&difference], self.float())?;
        let product = n.op(NumOp::MulF, &[&float, scale], self.float())?;
        match self.expressed == self.float() {
            true => Ok(product),
            false => n.op(NumOp::TruncF(Rounding::ToNearestEven), &[&product], self.expressed),
        }
    }

    /// The stored integer that expresses a number best.
    ///
    /// # Errors
    /// When a number cannot be made.
    pub fn quantize<N: Numbers>(
        &self,
        n: &mut N,
        number: &N::Number,
        scale: &N::Number,
        zero: &N::Number,
    ) -> Result<N::Number, Fault> {
        let float = self.float();
        let number = match self.expressed == float {
            true => number.clone(),
            false => n.op(NumOp::ExtF, &[number], float)?,
        };
        let quotient = n.op(NumOp::DivF, &[&number, scale], float)?;
        let round = n.op(NumOp::Math(MathFn::RoundEven), &[&quotient], float)?;
        // NaN is no integer. It becomes what zero becomes.
        let ordered = n.op(NumOp::CmpF(CmpF::ORD), &[&round, &round], DType::I1)?;
        let nothing = n.constant(Scalar::float(0.0, self.computed))?;
        let known = n.op(NumOp::Select, &[&ordered, &round, &nothing], float)?;
        let (most, least) = (Scalar::float(self.beyond, self.computed), Scalar::float(-self.beyond, self.computed));
        let (most, least) = (n.constant(most)?, n.constant(least)?);
        let below = n.op(NumOp::MinimumF, &[&known, &most], float)?;
        let within = n.op(NumOp::MaximumF, &[&below, &least], float)?;
        let integer = n.op(NumOp::FPToSI, &[&within], self.wide)?;
        let moved = n.op(NumOp::AddI(Overflow::WRAP), &[&integer, zero], self.wide)?;
        let (min, max) = (n.constant(Scalar::int(self.min, self.wide))?, n.constant(Scalar::int(self.max, self.wide))?);
        let above = n.op(NumOp::MaxSI, &[&moved, &min], self.wide)?;
        let kept = n.op(NumOp::MinSI, &[&above, &max], self.wide)?;
        n.op(NumOp::TruncI(Overflow::WRAP), &[&kept], self.stored)
    }
}
