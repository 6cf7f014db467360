//! From a checked ONNX model to `graph` ops: one `func.func @main`.
//!
//! Names are kept: of inputs and outputs as `graph.name` attributes, of values in the text, of nodes as locations, of
//! dims as symbols in the types. Shapes are followed while ops are made, so that broadcasts and windows are resolved
//! with all that is known.

mod constants;
mod decide;
mod inputs;
mod items;
pub(super) mod literal;
mod names;
mod nodes;
mod regions;
mod shapes;
mod stated;
pub(super) mod windows;

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::r#dyn::ops::RangeAttr;
use sutura_dialects::r#dyn::{EqualOp, Facts, Poly, SymbolOp};
use sutura_dialects::func::{FuncOp, ReturnOp};
use sutura_dialects::graph::build::{BuildError, GraphBuilder};
use sutura_dialects::graph::operator::{declared, library, link, missing};
use sutura_dialects::graph::shape_fn::used_symbols;
use sutura_dialects::graph::{Requirement, ShapeEnv, needed_definitions};
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::location::LocData;
use sutura_ir::op_def::AttrConstraintDef;
use sutura_ir::types::MAX_RANK;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Attr, Block, Body, Builder, Context, Diagnostics, Loc, Module, Op, Rewriter, Type, Value};

pub(super) use self::items::{Item, Sequence};
pub(super) use self::literal::element_type;
use self::names::Symbols;
use self::regions::Scope;
pub(super) use self::windows::{of_weight, window};
use super::{
    model::{Dim, OnnxModel, ValueInfo, ValueType},
    op::Op as NodeOp,
    support::{TypedNode, Unsupported, UnsupportedOps, typed_nodes},
    tensor::Tensor,
};

/// Name of the attribute of arguments and results that holds the model's name for them.
pub const NAME: &str = "graph.name";

/// Imports a model as a module with the function `@main`. Equalities of sizes that are assumed, to be checked at run
/// time, are reported as remarks.
///
/// # Errors
/// Lists everything in the model that cannot be compiled.
pub fn import(cx: &Context, model: &OnnxModel, diags: &mut Diagnostics) -> Result<Module, UnsupportedOps> {
    import_with(cx, model, &[], diags)
}

/// As [`import`]; values of the graph with the names `more` become outputs too, behind those of the model: each tensor of a
/// sequence is one. What is no tensor, as an optional that is nothing, is left out.
///
/// # Errors
/// As there.
pub fn import_with<'m>(
    cx: &Context,
    model: &'m OnnxModel,
    more: &'m [String],
    diags: &mut Diagnostics,
) -> Result<Module, UnsupportedOps> {
    let nodes = typed_nodes(model)?;
    // A graph need not have a name, and errors need a place.
    let name = if model.graph.name.is_empty() { "graph" } else { &model.graph.name };
    let loc = named_loc(cx, name);
    let mut body = Box::new(Body::new(1));
    let region = body.region();
    let mut rw = Rewriter::new(cx, &mut body);
    let block = rw.create_block(region, &[]);
    rw.set_to_end(block);

    let mut symbols = Symbols::default();
    let mut unsupported = Vec::new();
    let inputs = inputs::of_model(cx, model, &mut symbols, &mut unsupported);
    let mut values = IndexMap::new();
    for input in &inputs {
        let mut arguments = input.arguments().map(|(name, ty)| {
            let arg = rw.add_block_arg(block, ty, named_loc(cx, name));
            rw.set_value_name(arg, names::value_name(cx, name));
            arg
        });
        values.insert(input.name, input.item(&mut arguments));
    }
    let arguments: Vec<(&str, Type)> = inputs.iter().flat_map(|input| input.arguments()).collect();
    let mut facts = Facts::new();
    symbols.names().for_each(|name| facts.define(name, Default::default()));
    let made = |name: &&str| values.contains_key(name);
    let names = model.graph.runtime_inputs().map(|info| info.name.as_str());
    let failed: Vec<&str> = names.filter(|name| !made(name)).collect();
    let mut g = GraphBuilder::new(&mut rw, ShapeEnv::naming(facts), loc);
    let mut wanted: FxHashSet<&str> = FxHashSet::default();
    nodes.iter().for_each(|node| operators_of(&node.op, &mut wanted));
    let mut library = library(cx, &|operator| wanted.contains(operator));
    library.extend(model.extension.into_iter().flat_map(|extension| extension.modules(cx)));
    let operators = library.iter().flat_map(|module| declared(cx, module.body()).as_ref().clone());
    g.env.operators = Arc::new(operators.collect());
    let overflows = FxHashMap::default();
    let (scopes, blocks, decided) = (Vec::new(), Vec::new(), Vec::new());
    let mut importer = Importer {
        g,
        model,
        symbols,
        values,
        scopes,
        blocks,
        loops: 0,
        failed,
        unsupported,
        decided,
        reserves: Vec::new(),
        all_stated: stated::sizes(&model.graph),
        stated: None,
        overflows,
        diags,
    };
    for node in &nodes {
        importer.node(node);
    }
    let mut results = importer.outputs();
    results.extend(importer.inner(more));
    let (outputs, results): (Vec<String>, Vec<Value>) = results.into_iter().unzip();
    let (named, facts) = (importer.g.env.take_named(), importer.g.env.facts.clone());
    let (decided, reserves) = (importer.decided, importer.reserves);
    let unsupported = importer.unsupported;
    if !unsupported.is_empty() {
        return Err(UnsupportedOps(unsupported));
    }
    ReturnOp::build(&mut rw, loc, &results);
    define_sizes(&mut rw, loc, named, &facts);
    declare_decided(&mut rw, loc, &decided, &facts);
    let types: Vec<Type> = results.iter().map(|v| rw.body().ty(*v)).collect();
    let (reserved, reserves): (Vec<String>, Vec<Type>) = reserves.into_iter().unzip();
    let signature = cx.function_type(&arguments.iter().map(|(_, ty)| *ty).chain(reserves).collect::<Vec<_>>(), &types);
    let names = arguments.iter().map(|(name, _)| *name);
    let names = names::distinct(names.chain(reserved.iter().map(String::as_str)));
    let outputs = names::distinct(outputs.iter().map(String::as_str));
    let mut module = module(
        cx,
        loc,
        body,
        signature,
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
        outputs.iter().map(String::as_str),
    );
    let applied = missing(module.op_ref(cx));
    link(cx, &library, &|name| applied.contains(name), module.body_mut())
        .expect("nothing is declared in the module yet");
    verified(cx, &module)?;
    Ok(module)
}

/// Refuses a module that is not valid: what the sizes of a model's tensors say of its nodes only verifiers know.
fn verified(cx: &Context, module: &Module) -> Result<(), UnsupportedOps> {
    let mut said = Diagnostics::default();
    if verify(module.op_ref(cx), VerifyOptions::default(), &mut said).is_ok() {
        return Ok(());
    }
    let wrong = |diagnostic: &Diagnostic| {
        let node =
            cx.loc_name(diagnostic.loc).map_or_else(|| "the model".to_owned(), |name| format!("`{}`", cx.str(name)));
        Unsupported { node, invalid: true, ..outer("", "", diagnostic.message.clone()) }
    };
    Err(UnsupportedOps(said.iter().map(wrong).collect()))
}

/// Adds the operators of the library that an op may apply.
fn operators_of(op: &NodeOp<'_>, wanted: &mut FxHashSet<&'static str>) {
    match op {
        NodeOp::Named { operator, variadic, others, .. } => {
            wanted.insert(operator);
            wanted.extend(variadic);
            others.iter().for_each(|other| operators_of(other, wanted));
        }
        NodeOp::Converted(conversion) => {
            let nodes = conversion.graphs().into_iter().flat_map(|graph| &graph.nodes);
            nodes.for_each(|node| operators_of(&node.op, wanted));
            conversion.inner().into_iter().for_each(|inner| operators_of(inner, wanted));
            wanted.extend(conversion.operators());
        }
        _ => {}
    }
}

/// Declares and defines the symbols that stand for large sizes, at the entry, as far as types use them.
fn define_sizes(rw: &mut Rewriter<'_>, loc: Loc, named: Vec<(String, Poly)>, facts: &Facts) {
    let Some(first) = rw.body().entry_block().and_then(|entry| rw.body().ops(entry).next()) else { return };
    rw.set_before(first);
    let needed = needed_definitions(&named, used_symbols(rw.cx(), rw.body()));
    for (name, _) in &needed {
        let info = facts.info(name);
        let op = SymbolOp::build(rw, loc, name);
        rw.set_prop(op, "range", Some(RangeAttr::set(rw.cx(), (info.min, info.max))));
        if info.div != 1 {
            rw.set_prop(op, "div", Some(rw.cx().int_attr(info.div, Type::I64)));
        }
    }
    for (name, size) in &needed {
        EqualOp::build(rw, loc, &Poly::symbol(name), size, None);
    }
}

/// Declares the sizes that nodes decide, at the entry.
fn declare_decided(rw: &mut Rewriter<'_>, loc: Loc, decided: &[String], facts: &Facts) {
    let Some(first) = rw.body().entry_block().and_then(|entry| rw.body().ops(entry).next()) else { return };
    rw.set_before(first);
    for name in decided {
        let op = SymbolOp::build(rw, loc, name);
        SymbolOp::set_info(rw, op, &facts.info(name));
    }
}

fn module<'m>(
    cx: &Context,
    loc: Loc,
    body: Box<Body>,
    signature: Type,
    inputs: &[&str],
    outputs: impl Iterator<Item = &'m str>,
) -> Module {
    let mut module = Module::new(cx, loc);
    let block = module.body().entry_block().expect("a new module has a block");
    let mut b = Builder::at_end(cx, module.body_mut(), block);
    let named = |name: &str| {
        let entry = sutura_ir::NamedAttr { name: cx.ident(NAME), value: cx.string_attr(name) };
        cx.dict(&[entry])
    };
    let arguments: Vec<Attr> = inputs.iter().map(|n| named(n)).collect();
    let results: Vec<Attr> = outputs.map(named).collect();
    let state = FuncOp::state(&b, loc, "main", signature, None, Some(&arguments), Some(&results));
    b.create_isolated(state, body);
    module
}

fn named_loc(cx: &Context, name: &str) -> Loc {
    match name {
        "" => Loc::UNKNOWN,
        name => cx.loc(LocData::Name { name: cx.ident(name), child: Loc::UNKNOWN }),
    }
}

/// The tensors of an output that is a sequence, or an optional that is there.
fn several(name: &str, item: &Item) -> Made<Vec<(String, Value)>> {
    match item {
        Item::Tensor(value) => Ok(vec![(name.to_owned(), *value)]),
        Item::Sequence(sequence) => {
            let tensors = sequence.tensors.iter().enumerate();
            Ok(tensors.map(|(i, value)| (format!("{name}.{i}"), *value)).collect())
        }
        Item::Optional(Some(inner)) => several(name, inner),
        Item::Optional(None) => fail("is an optional that is nothing; outputs are tensors"),
    }
}

fn rank_message(rank: usize) -> String {
    format!("has {rank} dims; at most {MAX_RANK} are supported")
}

fn outer(what: &str, name: &str, reason: String) -> Unsupported {
    let (node, none) = (format!("{what} `{name}`"), String::new());
    Unsupported { node, op_type: none.clone(), domain: none, reason, hint: None, invalid: false }
}

/// A value cannot be made: here, or because of one that it needs.
pub(super) enum Failure {
    /// For this reason, which lies here and not in the model.
    Unsupported(String),
    /// For this reason: the model is wrong.
    Invalid(String),
    /// Reported already.
    Before,
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Wrong(reason) => Self::Invalid(reason),
            BuildError::Unsupported(reason) => Self::Unsupported(reason),
        }
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self::Unsupported(reason)
    }
}

pub(super) type Made<T = Value> = Result<T, Failure>;

pub(super) fn fail<T>(reason: impl Into<String>) -> Made<T> {
    Err(Failure::Unsupported(reason.into()))
}

/// Of what no model may ask for.
pub(super) fn wrong<T>(reason: impl Into<String>) -> Made<T> {
    Err(Failure::Invalid(reason.into()))
}

pub(super) struct Importer<'m, 'g, 'b> {
    pub(super) g: GraphBuilder<'g, 'b>,
    model: &'m OnnxModel,
    symbols: Symbols,
    /// By the model's names. Weights appear when they are first used.
    values: IndexMap<&'m str, Item>,
    /// Graphs in nodes that are being converted, the outermost first.
    scopes: Vec<Scope<'m>>,
    /// The blocks of regions that are being filled, the outermost first.
    blocks: Vec<Block>,
    /// Loops that are being converted, in each other.
    pub(super) loops: usize,
    /// Values that could not be made, as reported.
    failed: Vec<&'m str>,
    unsupported: Vec<Unsupported>,
    /// Sizes that nodes decide by their data.
    decided: Vec<String>,
    /// Arguments behind the inputs that say how many places there are.
    reserves: Vec<(String, Type)>,
    /// Sizes that the model states as numbers, by the names of values.
    all_stated: FxHashMap<&'m str, Vec<i64>>,
    /// Sizes of the first result of the node that is converted, where the model states all as numbers.
    stated: Option<Vec<i64>>,
    /// Integers that a node computes from constants and that do not fit its type, in words; by what holds them.
    overflows: FxHashMap<Value, String>,
    diags: &'g mut Diagnostics,
}

impl<'m, 'b> Importer<'m, '_, 'b> {
    pub(super) fn cx(&self) -> &'b Context {
        self.g.cx()
    }

    /// Makes a node's ops, or reports why not and goes on.
    fn node(&mut self, node: &TypedNode<'m>) {
        let name = node.node.place();
        self.g.loc = named_loc(self.cx(), &name);
        self.stated = node.outputs().next().flatten().and_then(|name| self.all_stated.get(name).cloned());
        let made = self.checked(node).and_then(|items| self.possible(items));
        self.g.loc = named_loc(self.cx(), &name);
        for assumed in self.g.take_assumed() {
            self.check_at_run_time(&name, &assumed);
        }
        match made {
            Ok(items) => {
                for (name, item) in node.outputs().zip(items) {
                    if let Some(name) = name {
                        self.bind(name, item);
                    }
                }
            }
            Err(failure) => {
                let (reason, invalid) = match failure {
                    Failure::Invalid(reason) => (reason, true),
                    Failure::Unsupported(reason) => (reason, false),
                    Failure::Before => (String::new(), false),
                };
                if !reason.is_empty() {
                    self.unsupported.push(Unsupported {
                        node: node.node.label(),
                        op_type: node.node.op_type.clone(),
                        domain: node.node.domain.clone(),
                        reason,
                        hint: None,
                        invalid,
                    });
                }
                self.failed.extend(node.outputs().flatten());
            }
        }
    }

    /// The values, none of which has more dims than a type may have, or a size that is a multiple of a number beyond 64 bits: no
    /// tensor is so long, unless it is empty.
    fn possible(&self, items: Vec<Item>) -> Made<Vec<Item>> {
        let values: Vec<Value> = items.iter().flat_map(Item::tensors).collect();
        for value in &values {
            for (dim, size) in self.g.shape(*value).iter().enumerate() {
                let divisor = |size: &Poly| self.g.env.facts.common_divisor(size);
                if size.as_ref().is_some_and(|size| divisor(size) > i64::MAX.into()) {
                    return fail(format!(
                        "makes dimension {dim} of a size that is a multiple of a number beyond 64 bits"
                    ));
                }
            }
        }
        match values.iter().map(|value| self.g.rank(*value)).max() {
            Some(rank) if rank > MAX_RANK => fail(format!("makes a tensor that {}", rank_message(rank))),
            _ => Ok(items),
        }
    }

    /// An equality that a node needs, and its ops perhaps do not, stands at the entry: of the function, or of the region that the
    /// node is in.
    fn check_at_run_time(&mut self, node: &str, Requirement { lhs, rhs, what }: &Requirement) {
        self.diags.remark(self.g.loc, format!("assumes that {} and {} are equal: {what}", lhs.brief(), rhs.brief()));
        let point = self.g.b.insert_point();
        let body = self.g.b.body();
        let block = self.blocks.last().copied().or_else(|| body.entry_block());
        let first = block.and_then(|block| body.ops(block).find(|op| !self.is_equality(*op)));
        match (first, block) {
            (Some(op), _) => self.g.b.set_before(op),
            (None, Some(block)) => self.g.b.set_to_end(block),
            (None, None) => {}
        }
        EqualOp::build(self.g.b, self.g.loc, lhs, rhs, Some(&format!("{node}: {what}")));
        self.g.b.set_insert_point(point);
    }

    fn is_equality(&self, op: Op) -> bool {
        self.g.b.op_ref(op).is::<EqualOp<'_>>()
    }

    /// The value of that name; a weight becomes a constant at its first use.
    pub(super) fn value(&mut self, name: &'m str) -> Made {
        match self.values.get(name) {
            Some(Item::Tensor(value)) => return Ok(*value),
            Some(other) => return fail(format!("needs a tensor, and `{name}` is {}", other.kind())),
            None => {}
        }
        if self.failed.contains(&name) {
            return Err(Failure::Before);
        }
        let Some(weight) = self.weight(name) else {
            return fail(format!("needs `{name}`, which nothing defines"));
        };
        let here = named_loc(self.cx(), name);
        let loc = std::mem::replace(&mut self.g.loc, here);
        let made = self.constant(weight);
        self.g.loc = loc;
        let value = made?;
        self.bind(name, Item::Tensor(value));
        Ok(value)
    }

    pub(super) fn values(&mut self, names: &[&'m str]) -> Made<Vec<Value>> {
        names.iter().map(|n| self.value(n)).collect()
    }

    pub(super) fn constant(&mut self, tensor: &Tensor) -> Made {
        if tensor.dims.len() > MAX_RANK {
            return fail(rank_message(tensor.dims.len()));
        }
        let attr = literal::dense(self.cx(), tensor)?;
        Ok(self.g.constant(attr))
    }

    /// Gives a size that the op of `value` decides a name, by which what follows knows it.
    pub(super) fn decided(&mut self, value: Value, dim: usize) -> Made {
        let hint = match self.cx().loc_data(self.g.loc) {
            LocData::Name { name, .. } => format!("{}_{dim}", self.cx().str(name)),
            _ => format!("found_{dim}"),
        };
        let name = self.symbols.fresh(&hint);
        self.g.decide(value, dim, &name)?;
        self.decided.push(name);
        Ok(value)
    }

    /// The model's outputs with their names: each tensor of a sequence is one. What the model states of their dims is checked.
    fn outputs(&mut self) -> Vec<(String, Value)> {
        let model = self.model;
        let mut results = Vec::new();
        for info in &model.graph.outputs {
            let made = match self.item(&info.name) {
                Ok(Item::Tensor(value)) => self.output(info, value).map(|value| vec![(info.name.clone(), value)]),
                Ok(item) => several(&info.name, &item),
                Err(failure) => Err(failure),
            };
            match made {
                Ok(values) => results.extend(values),
                Err(Failure::Unsupported(reason)) => self.unsupported.push(outer("output", &info.name, reason)),
                Err(Failure::Invalid(reason)) => {
                    self.unsupported.push(Unsupported { invalid: true, ..outer("output", &info.name, reason) });
                }
                Err(Failure::Before) => {}
            }
        }
        results
    }

    /// Values that are no outputs of the model and are to be some.
    fn inner(&mut self, names: &'m [String]) -> Vec<(String, Value)> {
        let outputs = &self.model.graph.outputs;
        let inner = names.iter().filter(|name| !outputs.iter().any(|info| info.name == **name));
        // What could not be made is reported where it was to be made.
        let made = inner.filter_map(|name| several(name, &self.item(name).ok()?).ok());
        made.flatten().collect()
    }

    fn output(&mut self, info: &ValueInfo, value: Value) -> Made {
        let ValueType::Tensor { element, shape } = &info.ty else { return Ok(value) };
        if literal::element_type(self.cx(), *element)? != self.g.elem(value) {
            return wrong(format!("is stated to hold {element}, which is not what the nodes make"));
        }
        let (Some(dims), sizes) = (shape, self.g.shape(value)) else { return Ok(value) };
        if dims.len() != sizes.len() {
            return wrong(format!("is stated to have rank {}, but has rank {}", dims.len(), sizes.len()));
        }
        for (i, (dim, size)) in dims.iter().zip(&sizes).enumerate() {
            let stated = match dim {
                Dim::Known(size) => i64::try_from(*size).ok().map(Poly::from),
                // A name that no input has says nothing but that the size is dynamic.
                Dim::Named(name) => self.symbols.of_input(name).map(Poly::symbol),
                Dim::Unknown => None,
            };
            self.g.unify(size, &stated, || format!("dim {i} of output `{}` and what the model states", info.name))?;
        }
        self.g.loc = named_loc(self.cx(), &info.name);
        for assumed in self.g.take_assumed() {
            self.check_at_run_time(&info.name, &assumed);
        }
        Ok(value)
    }
}
