//! Emits operations of SPIR-V into a kernel.

use rustc_hash::FxHashMap;
use sutura_dialects::spirv::types::pointer;
use sutura_dialects::spirv::{Scope, StorageClass};
use sutura_ir::{Attr, Block, Builder, Context, Loc, Op, OpState, Type, Value};

use super::module::Module;

/// Emits operations at the builder's insertion point.
pub(super) struct Emit<'e, 'b> {
    pub(super) b: Builder<'b>,
    pub(super) loc: Loc,
    pub(super) module: &'e mut Module,
    entry: Block,
    /// Constants and what never changes stand at the beginning of the kernel, in order; this is the last one.
    last_of_prologue: Option<Op>,
    constants: FxHashMap<(Attr, Type), Value>,
    built_ins: FxHashMap<&'static str, Value>,
    /// Variables of the module that the kernel uses, in order.
    pub(super) used: Vec<String>,
}

impl<'e, 'b> Emit<'e, 'b> {
    pub(super) fn new(b: Builder<'b>, loc: Loc, module: &'e mut Module, entry: Block) -> Self {
        let (constants, built_ins) = (FxHashMap::default(), FxHashMap::default());
        Self { b, loc, module, entry, last_of_prologue: None, constants, built_ins, used: Vec::new() }
    }

    pub(super) fn cx(&self) -> &'b Context {
        self.b.cx()
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.b.body().ty(value)
    }

    fn state(&self, name: &str, operands: &[Value], results: &[Type], props: &[(&str, Attr)]) -> OpState {
        let cx = self.cx();
        let state = OpState::new(cx.op_name(name), self.loc);
        let state = state.operands(operands.iter().copied()).results(results.iter().copied());
        props.iter().fold(state, |state, (name, value)| state.prop(cx.ident(name), *value))
    }

    pub(super) fn op(&mut self, name: &str, operands: &[Value], results: &[Type], props: &[(&str, Attr)]) -> Op {
        let state = self.state(name, operands, results, props);
        self.b.create(state)
    }

    pub(super) fn value(&mut self, name: &str, operands: &[Value], result: Type, props: &[(&str, Attr)]) -> Value {
        let op = self.op(name, operands, &[result], props);
        self.b.body().result(op, 0)
    }

    /// An operation whose result has the type of its first operand.
    pub(super) fn same(&mut self, name: &str, operands: &[Value]) -> Value {
        let ty = self.ty(operands[0]);
        self.value(name, operands, ty, &[])
    }

    /// An operation on floats, which is not contracted with others unless it may.
    pub(super) fn float(&mut self, name: &str, operands: &[Value], contract: bool) -> Value {
        let cx = self.cx();
        let ty = self.ty(operands[0]);
        let mut state = self.state(name, operands, &[ty], &[]);
        if !contract {
            // The serializer makes a decoration of this name from it.
            state = state.attr(cx.ident("no_contraction"), Attr::UNIT);
        }
        let op = self.b.create(state);
        self.b.body().result(op, 0)
    }

    /// An operation that asks a question about its operands, element by element.
    pub(super) fn question(&mut self, name: &str, operands: &[Value]) -> Value {
        let ty = self.cx().with_element_type(self.ty(operands[0]), Type::I1);
        self.value(name, operands, ty, &[])
    }

    /// A conversion to another type; nothing where it is the same.
    pub(super) fn cast(&mut self, name: &str, operand: Value, to: Type) -> Value {
        if self.ty(operand) == to { operand } else { self.value(name, &[operand], to, &[]) }
    }

    /// The same bits as another type.
    pub(super) fn bitcast(&mut self, operand: Value, to: Type) -> Value {
        self.cast("spirv.Bitcast", operand, to)
    }

    pub(super) fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let ty = self.ty(yes);
        self.value("spirv.Select", &[condition, yes, no], ty, &[])
    }

    // ---- what stands at the beginning

    /// Emits at the end of the prologue.
    fn in_prologue(&mut self, emit: impl FnOnce(&mut Self) -> Value) -> Value {
        let point = self.b.insert_point();
        match self.last_of_prologue {
            Some(last) => self.b.set_after(last),
            None => self.b.set_to_start(self.entry),
        }
        let value = emit(self);
        self.last_of_prologue = self.b.body().defining_op(value);
        self.b.set_insert_point(point);
        value
    }

    pub(super) fn constant(&mut self, value: Attr, ty: Type) -> Value {
        if let Some(known) = self.constants.get(&(value, ty)) {
            return *known;
        }
        let constant = self.in_prologue(|e| e.value("spirv.Constant", &[], ty, &[("value", value)]));
        self.constants.insert((value, ty), constant);
        constant
    }

    /// A constant of a scalar or vector type, every element the same.
    pub(super) fn int(&mut self, value: i64, ty: Type) -> Value {
        let cx = self.cx();
        let elem = cx.element_type(ty);
        let scalar = if elem == Type::I1 { cx.bool_attr(value != 0) } else { cx.int_attr(value, elem) };
        self.splat(scalar, ty)
    }

    /// A constant of a scalar or vector type, every element the same.
    pub(super) fn number(&mut self, value: f64, ty: Type) -> Value {
        let scalar = self.cx().float_attr(value, self.cx().element_type(ty));
        self.splat(scalar, ty)
    }

    fn splat(&mut self, scalar: Attr, ty: Type) -> Value {
        let value = match self.cx().shape(ty) {
            Some(_) => self.cx().splat_attr(ty, scalar).expect("a number fills a vector"),
            None => scalar,
        };
        self.constant(value, ty)
    }

    /// The address of a variable of the module.
    pub(super) fn address_of(&mut self, name: &str, ty: Type) -> Value {
        if !self.used.iter().any(|used| used == name) {
            self.used.push(name.to_owned());
        }
        let name = self.cx().symbol_ref(name);
        self.value("spirv.mlir.addressof", &[], ty, &[("variable", name)])
    }

    /// What the device says in a variable, such as `LocalInvocationId`: a number or three, of 32 bits.
    pub(super) fn built_in(&mut self, name: &'static str, ty: Type) -> Value {
        if let Some(known) = self.built_ins.get(name) {
            return *known;
        }
        let ptr = pointer(self.cx(), ty, StorageClass::Input);
        let variable = self.module.built_in(name, ptr);
        let value = self.in_prologue(|e| {
            let address = e.address_of(&variable, ptr);
            e.value("spirv.Load", &[address], ty, &[])
        });
        self.built_ins.insert(name, value);
        value
    }

    // ---- parts

    /// `[1 : i32, 2 : i32]`
    pub(super) fn i32_list(&self, values: impl IntoIterator<Item = i64>) -> Attr {
        let values: Vec<Attr> = values.into_iter().map(|value| self.cx().int_attr(value, Type::I32)).collect();
        self.cx().array_attr(&values)
    }

    /// Element `index` of a vector, or member of a struct, which has type `ty`.
    pub(super) fn extract(&mut self, composite: Value, index: i64, ty: Type) -> Value {
        let indices = self.i32_list([index]);
        self.value("spirv.CompositeExtract", &[composite], ty, &[("indices", indices)])
    }

    /// The elements of a scalar or vector.
    pub(super) fn elements(&mut self, value: Value) -> Vec<Value> {
        let ty = self.ty(value);
        match self.cx().shape(ty) {
            Some(shape) => (0..shape[0]).map(|i| self.extract(value, i, self.cx().element_type(ty))).collect(),
            None => vec![value],
        }
    }

    /// The scalar or vector of these elements.
    pub(super) fn construct(&mut self, elements: &[Value]) -> Value {
        match elements {
            [one] => *one,
            _ => {
                let ty = self.cx().vector_type(&[elements.len() as i64], self.ty(elements[0]));
                self.value("spirv.CompositeConstruct", elements, ty, &[])
            }
        }
    }

    pub(super) fn scope(&self, scope: Scope) -> Attr {
        self.cx().ext_attr(scope)
    }
}
