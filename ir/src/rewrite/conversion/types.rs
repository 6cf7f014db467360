//! What types become, and how values get from one type system to the other.

use smallvec::{SmallVec, smallvec};

use crate::body::Value;
use crate::builder::Builder;
use crate::builtin::UnrealizedConversionCastOp;
use crate::context::Context;
use crate::location::Loc;
use crate::op_ref::{OpRef, RegionRef};
use crate::types::{Type, TypeData};

/// What a rule of a [`TypeConverter`] says of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeRule {
    /// Nothing: an earlier rule decides.
    Skip,
    /// It cannot be converted.
    Illegal,
    /// It becomes these types: itself when it is legal, none when values of it vanish.
    To(SmallVec<[Type; 1]>),
}

impl From<Type> for TypeRule {
    fn from(ty: Type) -> Self {
        Self::To(smallvec![ty])
    }
}

impl From<Option<Type>> for TypeRule {
    /// `None` is [`TypeRule::Skip`].
    fn from(ty: Option<Type>) -> Self {
        ty.map_or(Self::Skip, Self::from)
    }
}

type Convert = Box<dyn Fn(&TypeConverter, &Context, Type) -> TypeRule + Send + Sync>;
type ToSource = Box<dyn Fn(&mut Builder<'_>, Loc, &[Value], Type) -> Option<Value> + Send + Sync>;
type ToTarget = Box<dyn Fn(&mut Builder<'_>, Loc, &[Value], &[Type]) -> Option<SmallVec<[Value; 1]>> + Send + Sync>;

/// What types become, as rules of which the one added last is asked first.
///
/// A *source materialization* makes a value of an old type from the values that replaced it, for ops that still use the
/// old one; block arguments whose type changes are such values. A *target materialization* makes values of new types from
/// one of an old type, for ops that a pattern makes. They are asked, last added first, only for casts that are still needed
/// when all patterns are done.
#[derive(Default)]
pub struct TypeConverter {
    rules: Vec<Convert>,
    to_source: Vec<ToSource>,
    to_target: Vec<ToTarget>,
}

impl TypeConverter {
    /// No type can be converted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every type is legal, unless a rule added later says otherwise.
    #[must_use]
    pub fn identity() -> Self {
        Self::new().rule(|_, _, ty| ty.into())
    }

    /// Adds a rule, which is asked before those that are there. It gets the converter itself for types inside others.
    #[must_use]
    pub fn rule(mut self, rule: impl Fn(&Self, &Context, Type) -> TypeRule + Send + Sync + 'static) -> Self {
        self.rules.push(Box::new(rule));
        self
    }

    /// Adds a source materialization: a value of the old type `Type` from the values that replaced it.
    #[must_use]
    pub fn source_materialization(
        mut self,
        make: impl Fn(&mut Builder<'_>, Loc, &[Value], Type) -> Option<Value> + Send + Sync + 'static,
    ) -> Self {
        self.to_source.push(Box::new(make));
        self
    }

    /// Adds a target materialization: values of the new types `&[Type]` from values of old types.
    #[must_use]
    pub fn target_materialization(
        mut self,
        make: impl Fn(&mut Builder<'_>, Loc, &[Value], &[Type]) -> Option<SmallVec<[Value; 1]>> + Send + Sync + 'static,
    ) -> Self {
        self.to_target.push(Box::new(make));
        self
    }

    /// Lets casts that are still needed stay `unrealized_conversion_cast`s, for another conversion to resolve.
    #[must_use]
    pub fn unrealized_casts(self) -> Self {
        self.source_materialization(|b, loc, values, ty| {
            let cast = UnrealizedConversionCastOp::build(b, loc, values, &[ty]);
            Some(b.body().result(cast, 0))
        })
        .target_materialization(|b, loc, values, types| {
            let cast = UnrealizedConversionCastOp::build(b, loc, values, types);
            Some(b.body().results(cast).collect())
        })
    }

    /// What a type becomes; `None` when it cannot be converted.
    pub fn convert(&self, cx: &Context, ty: Type) -> Option<SmallVec<[Type; 1]>> {
        for rule in self.rules.iter().rev() {
            match rule(self, cx, ty) {
                TypeRule::Skip => {}
                TypeRule::Illegal => return None,
                TypeRule::To(types) => return Some(types),
            }
        }
        None
    }

    /// The one type that `ty` becomes; `None` when it cannot be converted, or not to exactly one.
    pub fn convert_one(&self, cx: &Context, ty: Type) -> Option<Type> {
        match *self.convert(cx, ty)? {
            [one] => Some(one),
            _ => None,
        }
    }

    /// What types become, one after another; `None` when one cannot be converted.
    pub fn convert_all(&self, cx: &Context, types: impl IntoIterator<Item = Type>) -> Option<Vec<Type>> {
        let mut all = Vec::new();
        for ty in types {
            all.extend(self.convert(cx, ty)?);
        }
        Some(all)
    }

    /// The function type with inputs and results converted; `None` when `ty` is no function type, or one of them cannot.
    pub fn convert_function(&self, cx: &Context, ty: Type) -> Option<Type> {
        let TypeData::Function { inputs, results } = cx.type_data(ty) else { return None };
        let inputs = self.convert_all(cx, cx.types(inputs).iter().copied())?;
        let results = self.convert_all(cx, cx.types(results).iter().copied())?;
        Some(cx.function_type(&inputs, &results))
    }

    /// What the arguments of a block, or the inputs of a function, become; `None` when one cannot be converted.
    pub fn convert_signature(&self, cx: &Context, types: &[Type]) -> Option<SignatureConversion> {
        let inputs = types.iter().map(|ty| self.convert(cx, *ty)).collect::<Option<Vec<_>>>()?;
        Some(SignatureConversion { inputs })
    }

    /// True for a type that stays as it is.
    pub fn is_legal(&self, cx: &Context, ty: Type) -> bool {
        self.convert_one(cx, ty) == Some(ty)
    }

    /// True when the types of all operands and results stay as they are.
    pub fn is_legal_op(&self, op: OpRef<'_>) -> bool {
        op.operand_types().chain(op.result_types()).all(|ty| self.is_legal(op.cx, ty))
    }

    /// True when the types of all block arguments of the region stay as they are.
    pub fn is_legal_region(&self, region: RegionRef<'_>) -> bool {
        region.blocks().all(|block| block.args().iter().all(|arg| self.is_legal(region.cx, region.body.ty(*arg))))
    }

    /// True when inputs and results of a function type stay as they are.
    pub fn is_legal_signature(&self, cx: &Context, ty: Type) -> bool {
        self.convert_function(cx, ty) == Some(ty)
    }

    /// A value of the old type `ty` from `values`, which replaced it.
    pub(super) fn to_source(&self, b: &mut Builder<'_>, loc: Loc, values: &[Value], ty: Type) -> Option<Value> {
        let made = self.to_source.iter().rev().find_map(|make| make(b, loc, values, ty))?;
        (b.body().ty(made) == ty).then_some(made)
    }

    /// Values of the new types from `values`.
    pub(super) fn to_target(
        &self,
        b: &mut Builder<'_>,
        loc: Loc,
        values: &[Value],
        types: &[Type],
    ) -> Option<SmallVec<[Value; 1]>> {
        let made = self.to_target.iter().rev().find_map(|make| make(b, loc, values, types))?;
        made.iter().map(|v| b.body().ty(*v)).eq(types.iter().copied()).then_some(made)
    }
}

/// What the arguments of a block become: one list of types for each.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SignatureConversion {
    /// For each old argument, the types of those that replace it.
    pub inputs: Vec<SmallVec<[Type; 1]>>,
}

impl SignatureConversion {
    /// Types of all new arguments.
    pub fn types(&self) -> Vec<Type> {
        self.inputs.iter().flatten().copied().collect()
    }

    /// True when arguments of these types stay as they are.
    pub(super) fn is_identity(&self, types: &[Type]) -> bool {
        self.inputs.len() == types.len() && self.inputs.iter().zip(types).all(|(new, old)| **new == [*old])
    }
}
