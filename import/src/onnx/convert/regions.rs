//! Graphs in nodes: names that they define hold in them only, and what is assumed in a region of a condition or loop is assumed there.

use rustc_hash::FxHashMap;
use sutura_dialects::r#dyn::Poly;
use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::r#dyn::attr::tensor_of;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::{ShapeEnv, SymShape};
use sutura_dialects::tensor::{CastOp, ExtractOp};
use sutura_ir::location::LocData;
use sutura_ir::{Block, Loc, Region, Type, Value};

use super::super::model::{Graph, ValueInfo, ValueType};
use super::super::support::TypedGraph;
use super::super::tensor::Scalar;
use super::items::Item;
use super::{Failure, Importer, Made, constants, fail, literal, wrong};

/// Names of a graph that is converted.
pub(super) struct Scope<'m> {
    pub(super) graph: &'m Graph,
    /// What the names that it defines stood for before, in order.
    pub(super) shadowed: Vec<(&'m str, Option<Item>)>,
}

/// What is known at a point.
pub(in super::super) struct Saved {
    env: ShapeEnv,
    overflows: FxHashMap<Value, String>,
    decided: usize,
}

impl<'m> Importer<'m, '_, '_> {
    /// Converts the nodes of a graph here, with these inputs, and returns its results.
    pub(in super::super) fn inlined(&mut self, typed: &TypedGraph<'m>, inputs: &[Item]) -> Made<Vec<Item>> {
        let (graph, before, loc) = (typed.graph, self.unsupported.len(), self.g.loc);
        if !typed.problems.is_empty() {
            self.unsupported.extend(typed.problems.iter().cloned());
            return Err(Failure::Before);
        }
        if graph.inputs.len() != inputs.len() {
            let (given, formal) = (inputs.len(), graph.inputs.len());
            return wrong(format!("has a graph with {formal} inputs, it must have {given}"));
        }
        let failed = self.failed.len();
        self.scopes.push(Scope { graph, shadowed: Vec::new() });
        let made = self.nodes_of(typed, inputs);
        let scope = self.scopes.pop().expect("pushed above");
        for (name, before) in scope.shadowed.into_iter().rev() {
            match before {
                Some(item) => self.values.insert(name, item),
                None => self.values.swap_remove(name),
            };
        }
        self.failed.truncate(failed);
        self.g.loc = loc;
        if self.unsupported.len() > before { Err(Failure::Before) } else { made }
    }

    fn nodes_of(&mut self, typed: &TypedGraph<'m>, inputs: &[Item]) -> Made<Vec<Item>> {
        for (info, item) in typed.graph.inputs.iter().zip(inputs) {
            let item = self.as_stated(info, item)?;
            self.bind(&info.name, item);
        }
        // A weight has its name in here, whatever that stands for around.
        for (name, weight) in &typed.graph.initializers {
            if self.values.contains_key(name.as_str()) {
                let value = self.constant(weight)?;
                self.bind(name, Item::Tensor(value));
            }
        }
        for node in &typed.nodes {
            self.node(node);
        }
        typed.graph.outputs.iter().map(|info| self.item(&info.name)).collect()
    }

    /// An input of a graph, of the type that the graph states.
    fn as_stated(&mut self, info: &ValueInfo, item: &Item) -> Made<Item> {
        let (ValueType::Tensor { element, shape }, Item::Tensor(value)) = (&info.ty, item) else {
            return Ok(item.clone());
        };
        if literal::element_type(self.cx(), *element)? != self.g.elem(*value) {
            let given = self.name_of(self.g.elem(*value));
            return wrong(format!("has a graph whose input `{}` is of {element}, and gives it {given}", info.name));
        }
        let (Some(dims), rank) = (shape, self.g.rank(*value)) else { return Ok(item.clone()) };
        // A number may be stated as a list of one.
        if rank == 0 && dims.len() == 1 {
            return Ok(Item::Tensor(self.g.reshape_to(*value, &[Some(1.into())])?));
        }
        if rank != dims.len() {
            let stated = dims.len();
            return wrong(format!(
                "has a graph whose input `{}` has rank {stated}, and gives it rank {rank}",
                info.name
            ));
        }
        Ok(item.clone())
    }

    /// Fills a region. What is assumed in it holds in it only, because it may never run.
    pub(in super::super) fn region<T>(
        &mut self,
        region: Region,
        args: &[Type],
        fill: impl FnOnce(&mut Self, &[Value]) -> Made<T>,
    ) -> Made<(Block, T)> {
        let (point, loc) = (self.g.b.insert_point(), self.g.loc);
        let args: Vec<(Type, Loc)> = args.iter().map(|ty| (*ty, loc)).collect();
        let block = self.g.b.create_block(region, &args);
        self.g.b.set_to_end(block);
        let args = self.g.b.body().block_args(block).to_vec();
        let facts = self.g.env.facts.clone();
        self.blocks.push(block);
        let made = fill(self, &args);
        self.blocks.pop();
        // Its symbols stay known, for their names are taken and they are declared.
        let inner = std::mem::replace(&mut self.g.env.facts, facts);
        for (name, info) in inner.symbols() {
            if !self.g.env.facts.is_defined(name) {
                self.g.env.facts.define(name, info.clone());
            }
        }
        self.g.b.set_insert_point(point);
        self.g.loc = loc;
        Ok((block, made?))
    }

    /// The value in this type, which says the same or less of its sizes.
    pub(in super::super) fn as_type(&mut self, value: Value, ty: Type) -> Value {
        if self.g.b.body().ty(value) == ty {
            return value;
        }
        let op = CastOp::build(self.g.b, self.g.loc, value, ty);
        self.g.b.body().result(op, 0)
    }

    /// A new size that is decided in the run, between these.
    pub(in super::super) fn new_size(&mut self, hint: &str, (least, most): (i64, i64)) -> String {
        let name = self.symbols.fresh(hint);
        self.g.env.facts.define(&name, SymbolInfo { min: least, max: most, ..SymbolInfo::default() });
        self.decided.push(name.clone());
        name
    }

    /// A new size for dimension `dim` of what is made here.
    pub(in super::super) fn decided_size(&mut self, dim: usize, range: Option<(i128, i128)>) -> Poly {
        let hint = match self.cx().loc_data(self.g.loc) {
            LocData::Name { name, .. } => format!("{}_{dim}", self.cx().str(name)),
            _ => format!("found_{dim}"),
        };
        let limits = (0, i128::from(i32::MAX));
        let (least, most) = range.unwrap_or(limits);
        let within = |n: i128| n.clamp(limits.0, limits.1) as i64;
        Poly::symbol(&self.new_size(&hint, (within(least), within(most))))
    }

    /// What is known here, to go back to.
    pub(in super::super) fn saved(&self) -> Saved {
        Saved { env: self.g.env.clone(), overflows: self.overflows.clone(), decided: self.decided.len() }
    }

    /// Forgets what was made since.
    pub(in super::super) fn restore(&mut self, saved: Saved) {
        self.g.env = saved.env;
        self.overflows = saved.overflows;
        self.decided.truncate(saved.decided);
    }

    /// Names of sizes that came up since.
    pub(in super::super) fn made_since(&self, saved: &Saved) -> Vec<String> {
        let all = self.g.env.facts.symbols().map(|(name, _)| name.to_string());
        all.filter(|name| !saved.env.facts.is_defined(name)).collect()
    }

    /// The type of a tensor with these sizes.
    pub(in super::super) fn type_of(&self, shape: &SymShape, elem: Type) -> Type {
        tensor_of(self.cx(), shape, elem)
    }

    /// A tensor of one element, of any rank, as one without dimensions.
    pub(in super::super) fn number(&mut self, value: Value, what: &str) -> Made {
        let shape = self.g.shape(value);
        if shape.is_empty() {
            return Ok(value);
        }
        for size in &shape {
            self.g.unify(size, &Some(1.into()), || format!("the number of elements of the {what}"))?;
        }
        Ok(self.g.reshape_to(value, &[])?)
    }

    /// The truth value that a tensor without dimensions holds, where that is known.
    pub(in super::super) fn truth(&self, value: Value) -> Option<bool> {
        let known = self.g.contents(value).and_then(|contents| contents.first().cloned().flatten());
        let cx = self.cx();
        known.and_then(|known| known.as_const()).map(|known| known != 0).or_else(|| {
            let constant = sutura_ir::registry::constant_of(self.g.b.body(), cx, value)?;
            Some(cx.dense(constant)?.word(0) & 1 == 1)
        })
    }

    /// The element of a tensor without dimensions.
    pub(in super::super) fn extracted(&mut self, value: Value) -> Value {
        let op = ExtractOp::build(self.g.b, self.g.loc, value, &[]);
        self.g.b.body().result(op, 0)
    }

    /// A 64-bit integer as a tensor without dimensions.
    pub(in super::super) fn integer(&mut self, number: i64) -> Made {
        let cx = self.cx();
        match cx.dense_attr(cx.tensor_type(&[], Type::I64, None), &[number as u64]) {
            Some(dense) => Ok(self.g.constant(dense)),
            None => fail("has a number without a constant"),
        }
    }

    /// A truth value as a tensor without dimensions.
    pub(in super::super) fn boolean(&mut self, truth: bool) -> Made {
        let cx = self.cx();
        match cx.dense_attr(cx.tensor_type(&[], Type::I1, None), &[u64::from(truth)]) {
            Some(dense) => Ok(self.g.constant(dense)),
            None => fail("has a truth value without a constant"),
        }
    }

    /// A size as a tensor without dimensions.
    pub(in super::super) fn size_as_number(&mut self, size: &Poly) -> Made {
        match size.as_const() {
            Some(number) => self.integer(number),
            None => Ok(self.g.generate(&[], Type::I64, |s| {
                let size = s.size(size);
                s.cast(size, Type::I64)
            })?),
        }
    }

    /// A tensor of zeros.
    pub(in super::super) fn zeros(&mut self, shape: &SymShape, elem: Type) -> Made {
        let (cx, zero) = (self.cx(), literal::number(self.cx(), Scalar::Int(0), elem));
        let known: Option<Vec<i64>> = shape.iter().map(|s| s.as_ref().and_then(Poly::as_const)).collect();
        if let Some(dims) = known {
            constants::has_a_size(cx, &dims, elem)?;
            if let Some(value) = cx.splat_attr(cx.tensor_type(&dims, elem, None), zero) {
                return Ok(self.g.constant(value));
            }
        }
        Ok(self.g.generate(shape, elem, |s| s.constant(zero, elem))?)
    }

    /// The first rows of tensors that have as many, as many as `count` says.
    pub(in super::super) fn first_rows(&mut self, rows: &[Value], count: Value) -> Made<Vec<Value>> {
        let Some(first) = rows.first() else { return Ok(Vec::new()) };
        let Some(most) = self.g.shape(*first).first().cloned().flatten() else {
            return fail("keeps rows whose number is not known");
        };
        let numbers = self.counted(most)?;
        let places = self.first_places(numbers, count)?;
        Ok(rows.iter().map(|rows| self.g.gather(*rows, places, 0)).collect())
    }

    /// The numbers from 0 on, as many as that.
    pub(in super::super) fn counted(&mut self, count: Poly) -> Made {
        Ok(self.g.generate(&[Some(count)], Type::I64, |s| {
            let number = s.index(0);
            s.cast(number, Type::I64)
        })?)
    }

    /// Those of the numbers from 0 on that are less than `count`: how many they are is decided in the run.
    pub(in super::super) fn first_places(&mut self, numbers: Value, count: Value) -> Made {
        let is_one =
            self.g.elementwise(&[numbers, count], Type::I1, |s, args| s.compare(Comparison::Less, args[0], args[1]))?;
        let found = self.g.non_zero(is_one, None);
        let found = self.decided(found, 1)?;
        Ok(self.g.squeeze(found, &[0])?)
    }
}
