//! What a conversion pattern changes the IR with.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::casts::{Cast, CastKind, Casts, look_through};
use super::pattern::Adaptor;
use super::types::{SignatureConversion, TypeConverter};
use crate::asm::print::type_text;
use crate::body::{Block, Body, Op, Region, Value};
use crate::builder::{InsertPoint, Listener, OpState};
use crate::builtin::UnrealizedConversionCastOp;
use crate::context::Context;
use crate::op_def::Traits;
use crate::rewrite::log::Log;
use crate::rewriter::Rewriter;
use crate::types::Type;

/// What a pattern did.
#[derive(Default)]
pub(super) struct Record {
    /// Ops that it made or changed, in order; some may be erased again.
    pub(super) touched: Vec<Op>,
    /// Number of changes.
    pub(super) changes: u64,
    /// Why it did not apply.
    pub(super) reasons: Vec<String>,
    /// Not zero while the conversion itself makes changes.
    quiet: u32,
}

/// Fills a [`Record`], and a trace if one is asked for.
pub(super) struct Ears<'r, 'd> {
    pub(super) record: &'r RefCell<Record>,
    pub(super) log: Option<&'r mut Log<'d>>,
}

impl Ears<'_, '_> {
    fn change(&self, op: Option<Op>) {
        let mut record = self.record.borrow_mut();
        if record.quiet == 0 {
            record.changes += 1;
            record.touched.extend(op);
        }
    }
}

impl Listener for Ears<'_, '_> {
    fn op_inserted(&mut self, body: &Body, op: Op) {
        if let Some(log) = &mut self.log {
            log.inserted(body, op);
        }
        self.change(Some(op));
    }
    fn op_erased(&mut self, body: &Body, op: Op) {
        if let Some(log) = &mut self.log {
            log.erased(body, op);
        }
        self.change(None);
    }
    fn op_modified(&mut self, body: &Body, op: Op) {
        if let Some(log) = &mut self.log {
            log.modified(body, op);
        }
        self.change(Some(op));
    }
    fn op_moved(&mut self, _: &Body, _: Op) {
        self.change(None);
    }
    fn use_replaced(&mut self, _: &Body, _: Op) {
        self.change(None);
    }
    fn op_replaced(&mut self, body: &Body, op: Op, values: &[Value]) {
        if let Some(log) = &mut self.log {
            log.replaced(body, op, values);
        }
    }
    fn block_inserted(&mut self, _: &Body, _: Block) {
        if let Some(log) = &mut self.log {
            log.block_inserted();
        }
        self.change(None);
    }
    fn block_created(&mut self, _: &Body, _: Block) {
        self.change(None);
    }
    fn block_modified(&mut self, _: &Body, _: Block) {
        if let Some(log) = &mut self.log {
            log.block_modified();
        }
        self.change(None);
    }
    fn block_moved(&mut self, _: &Body, _: Block, _: Region) {
        if let Some(log) = &mut self.log {
            log.block_moved();
        }
        self.change(None);
    }
    fn placeholder_created(&mut self, _: &Body, _: Value) {
        self.change(None);
    }
    fn value_named(&mut self, _: &Body, _: Value) {
        self.change(None);
    }
    fn block_erased(&mut self, body: &Body, block: Block) {
        if let Some(log) = &mut self.log {
            log.block_erased(body, block);
        }
        self.change(None);
    }
    fn match_failed(&mut self, _: &Body, _: Op, reason: &dyn Fn() -> String) {
        let reason = reason();
        if let Some(log) = &mut self.log {
            log.refused(reason.clone());
        }
        self.record.borrow_mut().reasons.push(reason);
    }
}

/// Isolated ops whose block arguments are converted when their bodies are looked at.
pub(super) type Pending = FxHashMap<Op, Arc<TypeConverter>>;

/// A [`Rewriter`] whose replacements may have other types, and other numbers of values, than what they replace.
pub struct ConversionRewriter<'b> {
    rw: Rewriter<'b>,
    record: &'b RefCell<Record>,
    casts: &'b mut Casts,
    pending: &'b mut Pending,
    converter: Option<Arc<TypeConverter>>,
}

impl<'b> Deref for ConversionRewriter<'b> {
    type Target = Rewriter<'b>;
    fn deref(&self) -> &Rewriter<'b> {
        &self.rw
    }
}

impl<'b> DerefMut for ConversionRewriter<'b> {
    fn deref_mut(&mut self) -> &mut Rewriter<'b> {
        &mut self.rw
    }
}

impl<'b> ConversionRewriter<'b> {
    pub(super) fn new(
        rw: Rewriter<'b>,
        record: &'b RefCell<Record>,
        casts: &'b mut Casts,
        pending: &'b mut Pending,
        converter: Option<Arc<TypeConverter>>,
    ) -> Self {
        Self { rw, record, casts, pending, converter }
    }

    /// The pattern's type converter.
    ///
    /// # Panics
    /// When the pattern was added without one.
    pub fn type_converter(&self) -> Arc<TypeConverter> {
        self.converter.clone().expect("the pattern was added with a type converter")
    }

    /// What `ty` becomes, when it becomes one type; else the pattern does not apply to `op`, which is said.
    pub fn convert_type(&mut self, op: Op, ty: Type) -> Option<Type> {
        let converted = self.type_converter().convert_one(self.cx(), ty);
        if converted.is_none() {
            let text = type_text(self.cx(), ty);
            return self.notify_match_failure(op, || format!("type {text} cannot be converted to one type"));
        }
        converted
    }

    /// What the results of `op` become, when each becomes one type; else the pattern does not apply, which is said.
    pub fn convert_result_types(&mut self, op: Op) -> Option<Vec<Type>> {
        let types: Vec<Type> = self.body().results(op).map(|v| self.body().ty(v)).collect();
        types.into_iter().map(|ty| self.convert_type(op, ty)).collect()
    }

    // ---- replacing

    /// Replaces the results of `op` by `values`, whose types may differ, and erases it.
    ///
    /// # Panics
    /// When the numbers differ.
    pub fn replace_op(&mut self, op: Op, values: &[Value]) {
        let values: Vec<&[Value]> = values.iter().map(std::slice::from_ref).collect();
        self.replace_op_with_multiple(op, &values);
    }

    /// Replaces each result of `op` by any number of values, of any types, and erases it.
    ///
    /// # Panics
    /// When there is not one list per result.
    pub fn replace_op_with_multiple(&mut self, op: Op, values: &[&[Value]]) {
        assert_eq!(self.body().num_results(op), values.len(), "one list of values per result");
        self.rw.notify(|l, b| l.op_replaced(b, op, &values.concat()));
        for (i, new) in values.iter().enumerate() {
            let result = self.body().result(op, i);
            self.replace_value(result, new, InsertPoint::Before(op));
        }
        self.rw.erase_op(op);
    }

    /// Creates an op from `state` before `op`, replaces `op`'s results by its results and erases `op`.
    pub fn replace_with(&mut self, op: Op, state: OpState) -> Op {
        let point = self.set_insert_point(InsertPoint::Before(op));
        let new = self.create(state);
        self.set_insert_point(point);
        let results: Vec<Value> = self.body().results(new).collect();
        self.replace_op(op, &results);
        new
    }

    /// Makes all uses of `old` use `new`, by a cast at `at` where the types differ.
    fn replace_value(&mut self, old: Value, new: &[Value], at: InsertPoint) {
        let ty = self.body().ty(old);
        if let [one] = new {
            self.rw.inherit_name(old, *one);
        }
        let value = match new {
            [one] if self.body().ty(*one) == ty => *one,
            _ if self.body().is_unused(old) => return,
            _ => {
                let cast = self.cast(at, new, &[ty], CastKind::Source);
                let value = self.body().result(cast, 0);
                if new.len() != 1 {
                    self.rw.inherit_name(old, value);
                }
                value
            }
        };
        self.rw.replace_all_uses(old, value);
    }

    fn cast(&mut self, at: InsertPoint, values: &[Value], types: &[Type], kind: CastKind) -> Op {
        let loc = match at {
            InsertPoint::Before(op) => self.body().loc(op),
            _ => values.first().map_or(crate::location::Loc::UNKNOWN, |v| self.body().value_loc(*v)),
        };
        self.record.borrow_mut().quiet += 1;
        let point = self.set_insert_point(at);
        let op = UnrealizedConversionCastOp::build(&mut self.rw, loc, values, types);
        self.set_insert_point(point);
        self.record.borrow_mut().quiet -= 1;
        self.casts.made.insert(op, Cast { kind, converter: self.converter.clone() });
        op
    }

    // ---- operands

    /// The operands as the pattern is to use them.
    ///
    /// # Errors
    /// Says which operand's type cannot be converted.
    pub(super) fn adaptor(&mut self, op: Op) -> Result<Adaptor, String> {
        let mut adaptor = Adaptor::default();
        let operands: Vec<Value> = self.body().operands(op).collect();
        for (i, operand) in operands.into_iter().enumerate() {
            let values = self.convert_value(op, operand).ok_or_else(|| {
                format!(
                    "operand #{i} has type {}, which cannot be converted",
                    type_text(self.cx(), self.body().ty(operand))
                )
            })?;
            adaptor.push(operand, values);
        }
        Ok(adaptor)
    }

    /// Values of the converted types for `value`, a value of the program that `op` can use.
    pub fn convert_value(&mut self, op: Op, value: Value) -> Option<SmallVec<[Value; 1]>> {
        let Some(converter) = self.converter.clone() else { return Some(smallvec![value]) };
        let (cx, ty) = (self.cx(), self.body().ty(value));
        let types = converter.convert(cx, ty)?;
        if let Some(found) = look_through(cx, self.body(), &[value], &types) {
            return Some(found);
        }
        let key = (value, types.clone());
        if let Some(cast) = self.casts.at_definition.get(&key).copied().filter(|cast| self.body().is_live(*cast)) {
            return Some(self.body().results(cast).collect());
        }
        let at = self.after_definition(value);
        let cast = self.cast(at.unwrap_or(InsertPoint::Before(op)), &[value], &types, CastKind::Target);
        if at.is_some() {
            self.casts.at_definition.insert(key, cast);
        }
        Some(self.body().results(cast).collect())
    }

    /// Right behind the definition of `value`; `None` behind the last op of a block.
    fn after_definition(&mut self, value: Value) -> Option<InsertPoint> {
        let body = self.body();
        if let Some(op) = body.defining_op(value) {
            return body.next_op(op).map(InsertPoint::Before);
        }
        let block = body.value_block(value)?;
        body.first_op(block).map(InsertPoint::Before)
    }

    // ---- block arguments

    /// Gives `block` arguments of other types. What used the old ones uses casts of the new ones.
    ///
    /// # Panics
    /// When `conversion` is for another number of arguments.
    pub fn apply_signature_conversion(&mut self, block: Block, conversion: &SignatureConversion) {
        let old: Vec<Value> = self.body().block_args(block).to_vec();
        assert_eq!(old.len(), conversion.inputs.len(), "one entry per block argument");
        let types: Vec<Type> = old.iter().map(|v| self.body().ty(*v)).collect();
        if conversion.is_identity(&types) {
            return;
        }
        let mut new = Vec::new();
        for (arg, types) in old.iter().zip(&conversion.inputs) {
            let loc = self.body().value_loc(*arg);
            new.push(types.iter().map(|ty| self.add_block_arg(block, *ty, loc)).collect::<SmallVec<[Value; 1]>>());
        }
        let at = self.body().first_op(block).map_or(InsertPoint::End(block), InsertPoint::Before);
        for (old, new) in old.iter().zip(&new) {
            if let ([one], Some(name)) = (new.as_slice(), self.body().value_name(*old)) {
                self.set_value_name(*one, Some(name));
            }
            self.replace_value(*old, new, at);
        }
        for _ in &old {
            self.rw.erase_block_arg(block, 0);
        }
    }

    /// Converts the arguments of `block` by the pattern's type converter; `None` and no change when one cannot be.
    pub fn convert_block_types(&mut self, op: Op, block: Block) -> Option<()> {
        let types: Vec<Type> = self.body().block_args(block).iter().map(|v| self.body().ty(*v)).collect();
        match self.type_converter().convert_signature(self.cx(), &types) {
            Some(conversion) => {
                self.apply_signature_conversion(block, &conversion);
                Some(())
            }
            None => self.notify_match_failure(op, || "the type of a block argument cannot be converted".to_string()),
        }
    }

    /// Converts the arguments of all blocks of `region`, of this body, by the pattern's type converter; `None` and no change
    /// when one cannot be.
    pub fn convert_region_types(&mut self, op: Op, region: Region) -> Option<()> {
        let converter = self.type_converter();
        if !region_converts(&converter, self.cx(), self.body(), region) {
            return self.notify_match_failure(op, || "the type of a block argument cannot be converted".to_string());
        }
        let blocks: Vec<Block> = self.body().blocks(region).collect();
        for block in blocks {
            self.convert_block_types(op, block)?;
        }
        Some(())
    }

    /// Has the arguments of all blocks of `op`, which is isolated from above, converted by the pattern's type converter as
    /// soon as its body is looked at; `None` and no change when one cannot be.
    pub fn convert_isolated_types(&mut self, op: Op) -> Option<()> {
        let converter = self.type_converter();
        let inside = self.body().nested(op)?;
        if !inside.owner_regions().all(|region| region_converts(&converter, self.cx(), inside, region)) {
            return self.notify_match_failure(op, || "the type of a block argument cannot be converted".to_string());
        }
        self.record.borrow_mut().changes += 1;
        self.pending.insert(op, converter);
        Some(())
    }

    /// Creates an isolated op from `state` before `op`, another isolated op without results, gives it `op`'s body and
    /// erases `op`.
    ///
    /// # Panics
    /// When `op` or the new op owns no body.
    pub fn replace_isolated(&mut self, op: Op, state: OpState) -> Op {
        assert!(state.name.traits(self.cx()).has(Traits::IsolatedFromAbove), "the new op is isolated from above");
        let inside = self.replace_nested(op, Box::new(Body::new(0))).expect("the op is isolated from above");
        let point = self.set_insert_point(InsertPoint::Before(op));
        let new = self.create_isolated(state, inside);
        self.set_insert_point(point);
        if let Some(converter) = self.pending.remove(&op) {
            self.pending.insert(new, converter);
        }
        self.rw.replace_op(op, &[]);
        new
    }
}

fn region_converts(converter: &TypeConverter, cx: &Context, body: &Body, region: Region) -> bool {
    let mut args = body.blocks(region).flat_map(|block| body.block_args(block));
    args.all(|arg| converter.convert(cx, body.ty(*arg)).is_some())
}
