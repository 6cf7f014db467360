//! Building a program: what a lowering to `rt` uses.

use sutura_ir::{Attr, Body, Builder, Context, Loc, Op, OpState, OpView, Type, Value};

use super::call::{CallOp, params_attr};
use super::kernel::string_list;
use super::ops::{
    AllocOp, ConstantOp, CopyOp, ExpectOp, IfOp, InvokeOp, LaunchOp, PackedOp, ProgramOp, ReadSizesOp, ReturnOp,
    SelectOp, SizeListOp, ViewOp, WhileOp, WriteSizesOp,
};
use super::program::{Constraint, Symbol};
use super::types::BufferType;
use crate::r#dyn::SymbolInfo;
use crate::r#dyn::poly::Poly;
use crate::routines::table::Routine;

/// All that the header of a program says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProgramHeader {
    /// The model's name.
    pub name: String,
    /// The named dims; each must be determined by the inputs.
    pub symbols: Vec<Symbol>,
    /// Names and types of the inputs.
    pub inputs: Vec<(String, BufferType)>,
    /// Names and types of the outputs.
    pub outputs: Vec<(String, BufferType)>,
    /// Constraints beyond the types of the inputs.
    pub constraints: Vec<Constraint>,
    /// Others invoke it, and nothing else calls it.
    pub private: bool,
}

/// Builds the body of a program op by op.
pub struct ProgramBuilder<'c> {
    cx: &'c Context,
    body: Box<Body>,
    header: ProgramHeader,
    args: Vec<Value>,
}

impl<'c> ProgramBuilder<'c> {
    /// A program without ops.
    pub fn new(cx: &'c Context, header: ProgramHeader) -> Self {
        let mut body = Box::new(Body::new(1));
        let region = body.region();
        let ports = header.inputs.iter().chain(&header.outputs);
        let types: Vec<_> = ports.map(|(_, ty)| (cx.ext_type(ty.clone()), Loc::UNKNOWN)).collect();
        let mut b = Builder::new(cx, &mut body);
        let block = b.create_block(region, &types);
        let args = b.body().block_args(block).to_vec();
        Self { cx, body, header, args }
    }

    /// The buffer of input `index`.
    pub fn input(&self, index: usize) -> Value {
        self.args[index]
    }

    /// The buffer of output `index`.
    pub fn output(&self, index: usize) -> Value {
        self.args[self.header.inputs.len() + index]
    }

    /// Type of a buffer.
    ///
    /// # Panics
    /// When `value` is no buffer of this program.
    pub fn ty(&self, value: Value) -> &BufferType {
        BufferType::of(self.cx, self.body.ty(value)).expect("a buffer")
    }

    /// A builder at the end of the program's block, for ops that have no method here.
    pub fn at_end(&mut self) -> Builder<'_> {
        let block = self.body.entry_block().expect("created with the program");
        Builder::at_end(self.cx, &mut self.body, block)
    }

    /// `rt.constant`
    pub fn constant(&mut self, loc: Loc, name: &str, elements: Attr) -> Value {
        let state = ConstantOp::state(&self.at_end(), loc, name, elements);
        self.value(state)
    }

    /// `rt.alloc`
    pub fn alloc(&mut self, loc: Loc, ty: BufferType) -> Value {
        let ty = self.cx.ext_type(ty);
        let state = AllocOp::state(&self.at_end(), loc, &[], false, ty);
        self.value(state)
    }

    /// `rt.alloc` of what is written before it is read in each iteration of a loop.
    pub fn alloc_each_iteration(&mut self, loc: Loc, ty: BufferType) -> Value {
        let ty = self.cx.ext_type(ty);
        let state = AllocOp::state(&self.at_end(), loc, &[], true, ty);
        self.value(state)
    }

    /// `rt.view`
    pub fn view(&mut self, loc: Loc, buffer: Value, ty: BufferType) -> Value {
        let ty = self.cx.ext_type(ty);
        let state = ViewOp::state(&self.at_end(), loc, buffer, None, false, ty);
        self.value(state)
    }

    /// `rt.view` of the front of a buffer.
    pub fn front(&mut self, loc: Loc, buffer: Value, ty: BufferType) -> Value {
        let ty = self.cx.ext_type(ty);
        let state = ViewOp::state(&self.at_end(), loc, buffer, None, true, ty);
        self.value(state)
    }

    /// `rt.size_list`
    pub fn size_list(&mut self, loc: Loc, count: usize) -> Value {
        let ty = self.cx.ext_type(BufferType::new(Type::I64, vec![Poly::from(count as i64)]));
        let state = SizeListOp::state(&self.at_end(), loc, ty);
        self.value(state)
    }

    /// `rt.write_sizes`
    pub fn write_sizes(&mut self, loc: Loc, list: Value, sizes: &[Poly]) {
        WriteSizesOp::build(&mut self.at_end(), loc, list, sizes);
    }

    /// `rt.read_sizes`
    pub fn read_sizes(&mut self, loc: Loc, list: Value, what: &str, sizes: &[Poly], most: &[Poly]) {
        ReadSizesOp::build(&mut self.at_end(), loc, list, what, sizes, most);
    }

    /// A symbol that the header does not have yet, called like `hint`.
    pub fn symbol(&mut self, hint: &str, info: &SymbolInfo) -> String {
        let numbered = (1..).map(|n| if n == 1 { hint.to_owned() } else { format!("{hint}_{n}") });
        let taken = |name: &String| self.header.symbols.iter().any(|symbol| symbol.name == *name);
        let name = numbered.into_iter().find(|name| !taken(name)).expect("there are more names");
        self.header.symbols.push(Symbol { name: name.clone(), info: info.clone() });
        name
    }

    /// `rt.copy`
    pub fn copy(&mut self, loc: Loc, from: Value, to: Value) {
        let mut b = self.at_end();
        CopyOp::build(&mut b, loc, from, to);
    }

    /// `rt.expect`
    pub fn expect(&mut self, loc: Loc, list: Value, what: &str, sizes: &[Poly], copied: &[Poly]) {
        let mut b = self.at_end();
        ExpectOp::build(&mut b, loc, list, what, sizes, copied);
    }

    /// `rt.call` of a routine with these parameters.
    pub fn call(
        &mut self,
        loc: Loc,
        (routine, params, what): (&Routine, &[Vec<Poly>], Option<&str>),
        inputs: &[Value],
        outputs: &[Value],
        scratch: Option<Value>,
    ) {
        let mut b = self.at_end();
        let params = params_attr(b.cx(), routine, params);
        CallOp::build(&mut b, loc, routine.name, i64::from(routine.version), inputs, outputs, scratch, params, what);
    }

    /// `rt.launch`; see there for `work`.
    pub fn launch(&mut self, loc: Loc, kernel: &str, buffers: &[Value], dims: &[Poly], work: Option<&Poly>) {
        launch(&mut self.at_end(), loc, kernel, (buffers, dims), work, &[]);
    }

    /// `rt.packed`; `fill` builds the launches.
    pub fn packed(&mut self, loc: Loc, fill: impl FnOnce(&mut Builder<'_>)) {
        packed(&mut self.at_end(), loc, fill);
    }

    /// `rt.select`: versions in order of preference, each with its guard; the last one's must be empty. `fill` builds
    /// the launches of version `index`.
    pub fn select(&mut self, loc: Loc, guards: &[Vec<Poly>], mut fill: impl FnMut(usize, &mut Builder<'_>)) {
        let mut b = self.at_end();
        let op = SelectOp::build(&mut b, loc, guards, guards.len() + 1);
        for index in 0..=guards.len() {
            let region = b.body().regions(op).nth(index).expect("created above");
            let block = b.create_block(region, &[]);
            b.set_to_end(block);
            fill(index, &mut b);
        }
    }

    /// `rt.invoke`
    pub fn invoke(&mut self, loc: Loc, invocation: &Invocation) {
        invoke(&mut self.at_end(), loc, invocation);
    }

    /// `rt.if`; `fill` builds the first side for 0 and the other for 1.
    pub fn if_(&mut self, loc: Loc, condition: Value, fill: impl FnMut(usize, &mut Builder<'_>)) {
        let mut b = self.at_end();
        let op = IfOp::build(&mut b, loc, condition);
        regions(&mut b, op, fill);
    }

    /// `rt.while`; `fill` builds what makes the condition for 0 and what runs where it holds for 1.
    pub fn while_(&mut self, loc: Loc, condition: Value, fill: impl FnMut(usize, &mut Builder<'_>)) {
        let mut b = self.at_end();
        let op = WhileOp::build(&mut b, loc, condition);
        regions(&mut b, op, fill);
    }

    fn value(&mut self, state: OpState) -> Value {
        let mut b = self.at_end();
        let mut state = state;
        if state.result_types.is_empty() {
            let types = b.infer_result_types(&state);
            state.result_types = types.expect("the elements of a constant are of a static tensor type");
        }
        let op = b.create(state);
        b.body().result(op, 0)
    }

    /// Ends the body and puts the program where `outer` inserts.
    pub fn finish(mut self, outer: &mut Builder<'_>, loc: Loc) -> Op {
        ReturnOp::build(&mut self.at_end(), loc);
        let cx = self.cx;
        let names = |ports: &[(String, BufferType)]| ports.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let symbols: Vec<Attr> = self.header.symbols.iter().map(|s| s.write(cx)).collect();
        let mut state = OpState::of(cx, ProgramOp::def(), loc)
            .prop(cx.ident("sym_name"), cx.string_attr(&self.header.name))
            .prop(cx.ident("symbols"), cx.array_attr(&symbols))
            .prop(cx.ident("input_names"), string_list(cx, &names(&self.header.inputs)))
            .prop(cx.ident("output_names"), string_list(cx, &names(&self.header.outputs)));
        if self.header.private {
            state = state.prop(cx.ident("private"), Attr::UNIT);
        }
        if !self.header.constraints.is_empty() {
            let checks: Vec<Attr> = self.header.constraints.iter().map(|c| c.write(cx)).collect();
            state = state.prop(cx.ident("checks"), cx.array_attr(&checks));
        }
        outer.create_isolated(state, self.body)
    }
}

/// Fills the two regions of an op with a block each, and goes on behind it.
fn regions(b: &mut Builder<'_>, op: Op, mut fill: impl FnMut(usize, &mut Builder<'_>)) {
    for index in 0..2 {
        let region = b.body().regions(op).nth(index).expect("created with two");
        let block = b.create_block(region, &[]);
        b.set_to_end(block);
        fill(index, b);
    }
    b.set_after(op);
}

/// What an `rt.invoke` says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Invocation {
    /// Name of the program.
    pub program: String,
    /// Its inputs.
    pub inputs: Vec<Value>,
    /// Its outputs.
    pub outputs: Vec<Value>,
    /// The most that the dimensions of the outputs are, where it decides some.
    pub most: Option<Vec<Poly>>,
}

/// `rt.invoke` where the builder stands.
pub fn invoke(b: &mut Builder<'_>, loc: Loc, invocation: &Invocation) {
    let Invocation { program, inputs, outputs, most } = invocation;
    let program = b.cx().symbol_ref(program);
    InvokeOp::build(b, loc, program, inputs, outputs, most.as_deref());
}

/// `rt.launch` of a kernel beside the program; see there for `work` and `checks`, of which an empty list is none.
pub fn launch(
    b: &mut Builder<'_>,
    loc: Loc,
    kernel: &str,
    (buffers, dims): (&[Value], &[Poly]),
    work: Option<&Poly>,
    checks: &[String],
) {
    let cx = b.cx();
    let names: Vec<Attr> = checks.iter().map(|name| cx.string_attr(name)).collect();
    let names = (!names.is_empty()).then_some(&names[..]);
    LaunchOp::build(b, loc, cx.symbol_ref(kernel), buffers, dims, work.map(std::slice::from_ref), names);
}

/// `rt.packed` where the builder stands; `fill` builds the launches.
pub fn packed(b: &mut Builder<'_>, loc: Loc, fill: impl FnOnce(&mut Builder<'_>)) {
    let op = PackedOp::build(b, loc);
    let region = b.body().regions(op).next().expect("created with one");
    let block = b.create_block(region, &[]);
    b.set_to_end(block);
    fill(b);
    b.set_after(op);
}
