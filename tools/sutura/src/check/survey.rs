//! What a model uses: operators, with what becomes of them, sizes, and routines.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde::Serialize;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::facts::SymbolInfo;
use sutura_dialects::r#dyn::ops::{EqualOp, SymbolOp};
use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::{ApplyOp, ComputeForm, ConstantOp, RoutineOp, ShapeEnv, is_reserve};
use sutura_dialects::routines::table::{Capability, Routine};
use sutura_import::onnx::{NAME, OnnxModel, UnsupportedOps, import, used_operators};
use sutura_ir::asm::print::type_text;
use sutura_ir::location::LocData;
use sutura_ir::op_def::{OpView, Traits};
use sutura_ir::{Attr, Context, Diagnostics, Module, OpRef, Type};

use crate::sizes;

/// What `sutura check` tells of a model.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Survey {
    pub(super) inputs: Vec<Tensor>,
    pub(super) outputs: Vec<Tensor>,
    pub(super) operators: Vec<Operator>,
    pub(super) sizes: Vec<Size>,
    pub(super) routines: Vec<UsedRoutine>,
}

/// An operator that nodes of the model are.
#[derive(Debug, Default, Serialize)]
pub(super) struct Operator {
    /// Empty for ONNX's own, and for operations of a program in text.
    pub(super) domain: String,
    pub(super) name: String,
    /// The opset that brought the interface which the nodes have.
    pub(super) version: Option<i64>,
    pub(super) nodes: usize,
    /// Types of the elements that it takes and makes.
    pub(super) elements: BTreeSet<String>,
    /// What the importer makes of it.
    pub(super) becomes: Vec<String>,
    /// Why nodes of it are not supported.
    pub(super) refused: Vec<String>,
}

/// What a program takes or makes.
#[derive(Debug, Serialize)]
pub(super) struct Tensor {
    /// The model's name for it, if it has one.
    pub(super) name: Option<String>,
    /// Element type and sizes, as `f32[batch, 256]`.
    pub(super) shape: String,
}

/// A size that is known when the model runs.
#[derive(Debug, Serialize)]
pub(super) struct Size {
    pub(super) name: String,
    pub(super) min: i64,
    pub(super) max: i64,
    pub(super) divisor: i64,
}

/// A routine of the runtime that the model calls.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct UsedRoutine {
    pub(super) name: String,
    pub(super) version: u32,
    /// Whether it also runs where kernels run on a device.
    pub(super) on_devices: bool,
    /// Whether it finds sizes in its data.
    pub(super) decides_sizes: bool,
}

impl Survey {
    /// Of a model in ONNX.
    pub(crate) fn of_model(cx: &Context, model: &OnnxModel) -> Self {
        let mut operators = Vec::new();
        let mut by_node: IndexMap<String, usize> = IndexMap::new();
        for used in used_operators(model) {
            by_node.extend(used.nodes.iter().map(|node| (node.clone(), operators.len())));
            let (nodes, version) = (used.nodes.len(), used.version);
            operators.push(Operator { domain: used.domain, name: used.name, version, nodes, ..Operator::default() });
        }
        match import(cx, model, &mut Diagnostics::default()) {
            Ok(module) => {
                let mut survey = Self { operators, ..Self::default() };
                survey.program(cx, &module, &|op| by_node.get(&node_of(op)?).copied());
                survey
            }
            Err(refused) => {
                refuse(&mut operators, &refused);
                Self { operators, ..Self::default() }
            }
        }
    }

    /// Of a program in text: its operations.
    pub(crate) fn of_program(cx: &Context, module: &Module) -> Self {
        let mut named: IndexMap<String, Operator> = IndexMap::new();
        module.op_ref(cx).walk(&mut |op: OpRef<'_>| {
            if is_told(op) {
                let name = op.name_str().to_owned();
                let operator = named.entry(name.clone()).or_insert_with(|| Operator { name, ..Operator::default() });
                operator.nodes += 1;
            }
        });
        let places: IndexMap<String, usize> = named.keys().cloned().zip(0..).collect();
        let mut survey = Self { operators: named.into_values().collect(), ..Self::default() };
        survey.program(cx, module, &|op| places.get(op.name_str()).copied());
        survey
    }

    /// Notes what a program says of the operators that its operations come from.
    fn program(&mut self, cx: &Context, module: &Module, operator: &dyn Fn(OpRef<'_>) -> Option<usize>) {
        module.op_ref(cx).walk(&mut |op: OpRef<'_>| {
            if let Some(routine) = routine(op) {
                let used = UsedRoutine {
                    name: routine.name.to_owned(),
                    version: routine.version,
                    on_devices: routine.can(Capability::Device),
                    decides_sizes: routine.decides(),
                };
                if !self.routines.contains(&used) {
                    self.routines.push(used);
                }
            }
            let Some(at) = operator(op).filter(|_| is_told(op)) else { return };
            let types = op.operand_types().chain(op.result_types()).filter(|ty| cx.shape(*ty).is_some());
            self.operators[at].elements.extend(types.map(|ty| type_text(cx, cx.element_type(ty))));
            let becomes = becomes(op);
            if !self.operators[at].becomes.contains(&becomes) {
                self.operators[at].becomes.push(becomes);
            }
        });
        let sizes = sizes::declared(cx, module).into_iter();
        let size = |s: sutura_dialects::rt::Symbol| Size {
            name: s.name,
            min: s.info.min,
            max: s.info.max,
            divisor: s.info.div,
        };
        self.sizes = sizes.map(size).collect();
        self.interface(cx, module);
    }

    /// Notes what the program's function takes and makes, with the sizes of which nothing else is declared.
    fn interface(&mut self, cx: &Context, module: &Module) {
        let ops = module.op_ref(cx).region(0).and_then(|r| r.entry()).into_iter().flat_map(|entry| entry.ops());
        let function = ops.filter(|op| op.symbol_name() == Some("main")).find_map(|op| op.as_::<FuncOp<'_>>());
        let Some(function) = function else { return };
        let tensor = |(ty, names): (Type, Option<Attr>)| {
            let name = names.and_then(|names| cx.entry(names, cx.ident(NAME))).and_then(|name| cx.as_str(name));
            Tensor { name: name.map(str::to_owned), shape: shape_text(cx, ty) }
        };
        let names = |attrs: Option<Attr>| attrs.and_then(|attrs| cx.array(attrs)).unwrap_or_default().to_vec();
        let named = |types: Vec<Type>, attrs| {
            let names = names(attrs);
            types.into_iter().enumerate().map(|(i, ty)| tensor((ty, names.get(i).copied()))).collect()
        };
        let op = function.op_ref();
        let inputs: Vec<Type> = function.inputs().iter().copied().filter(|ty| !is_reserve(cx, *ty)).collect();
        self.inputs = named(inputs.clone(), op.prop("arg_attrs"));
        self.outputs = named(function.results().to_vec(), op.prop("res_attrs"));
        for size in inputs.iter().flat_map(|ty| symbolic_shape(cx, *ty).unwrap_or_default()).flatten() {
            size.each_symbol(&mut |name| {
                if self.sizes.iter().all(|known| known.name != **name) {
                    let info = SymbolInfo::default();
                    let (min, max, divisor) = (info.min, info.max, info.div);
                    self.sizes.push(Size { name: name.to_string(), min, max, divisor });
                }
            });
        }
    }
}

/// Notes why operators are refused.
fn refuse(operators: &mut [Operator], refused: &UnsupportedOps) {
    for one in &refused.0 {
        let of = operators.iter_mut().find(|of| of.name == one.op_type && of.domain == one.domain);
        if let Some(operator) = of
            && !operator.refused.contains(&one.reason)
        {
            operator.refused.push(one.reason.clone());
        }
    }
}

/// A tensor's type as users know it: `f32[batch, 256]`.
fn shape_text(cx: &Context, ty: Type) -> String {
    let Some(dims) = cx.shape(ty) else { return type_text(cx, ty) };
    let sizes = symbolic_shape(cx, ty).unwrap_or_else(|| vec![None; dims.len()]);
    let sizes: Vec<String> =
        sizes.iter().map(|size| size.as_ref().map_or("?".to_owned(), ToString::to_string)).collect();
    format!("{}[{}]", type_text(cx, cx.element_type(ty)), sizes.join(", "))
}

/// The node of the model that an operation was made for.
fn node_of(op: OpRef<'_>) -> Option<String> {
    match op.cx.loc_data(op.loc()) {
        LocData::Name { name, .. } => Some(op.cx.str(name).to_owned()),
        _ => None,
    }
}

/// Whether an operation computes something: constants, what is stated of sizes, and what only ends a region do not.
fn is_told(op: OpRef<'_>) -> bool {
    let states = op.is::<ConstantOp<'_>>() || op.is::<SymbolOp<'_>>() || op.is::<EqualOp<'_>>();
    let is_scalar = !op.operand_types().chain(op.result_types()).any(|ty| op.cx.shape(ty).is_some());
    !states && !is_scalar && !op.has_trait(Traits::Terminator)
}

fn routine(op: OpRef<'_>) -> Option<&'static Routine> {
    let function = op.interface::<dyn RoutineOp>()?;
    let env = ShapeEnv::naming(sutura_dialects::r#dyn::Facts::new());
    function.call(op, &env).ok().map(|call| call.routine)
}

/// What an operation is, in words.
fn becomes(op: OpRef<'_>) -> String {
    if let Some(apply) = op.as_::<ApplyOp<'_>>() {
        return format!("@{}", apply.callee());
    }
    if let Some(routine) = routine(op) {
        return format!("routine {}", routine.symbol());
    }
    match ComputeForm::of(op) {
        Some(form) if form.has_reduction() && form.input_maps.len() > 1 => "contraction".to_owned(),
        Some(form) if form.has_reduction() => "reduction".to_owned(),
        Some(_) => "elementwise".to_owned(),
        None => op.name_str().trim_start_matches("graph.").to_owned(),
    }
}
