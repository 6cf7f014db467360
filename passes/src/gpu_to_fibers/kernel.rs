//! One kernel: a copy of its body, in which what concerns other threads goes through the state.

use rustc_hash::FxHashMap;
use sutura_dialects::gpu::{Dimension, GPUFuncOp, ShuffleMode, ShuffleOp};
use sutura_dialects::llvm::types::{FunctionType, PointerType, StructType, VoidType};
use sutura_dialects::llvm::{AddressOfOp, AtomicRMWOp, Linkage, LoadOp, StoreOp};
use sutura_ir::rewriter::clone_body;
use sutura_ir::{Attr, Body, Context, Loc, Op, OpRef, OpState, OpView, Rewriter, Type, Value};

use super::abi::{STORE, word};
use super::check::{Access, accessed, address_of};
use super::sites::Sites;
use crate::gpu_to_spirv::types::space;

/// Bytes of an argument, and of a word of the state.
const WORD_BYTES: i64 = 8;

fn pointer(cx: &Context) -> Type {
    cx.ext_type(PointerType { address_space: 0 })
}

/// The function that a kernel becomes, without its body.
pub(super) fn function(cx: &Context, loc: Loc, name: &str) -> OpState {
    let (void, ptr) = (cx.ext_type(VoidType), pointer(cx));
    let ty = cx.ext_type(FunctionType { result: void, params: vec![ptr, ptr], var_arg: false });
    OpState::new(cx.op_name("llvm.func"), loc)
        .prop(cx.ident("sym_name"), cx.string_attr(name))
        .prop(cx.ident("function_type"), cx.type_attr(ty))
        .prop(cx.ident("linkage"), cx.ext_attr(Linkage::External))
}

/// Rewrites a copy of a kernel's body.
struct Conversion<'a, 'b> {
    rw: Rewriter<'b>,
    loc: Loc,
    state: Value,
    args: Value,
    /// The operations that every thread begins with end before this one.
    prologue_end: Op,
    /// Words of the state that were read, each as one type.
    words: FxHashMap<i32, Value>,
    block: [i64; 3],
    subgroup: i64,
    offsets: &'a FxHashMap<&'a str, u64>,
    sites: &'a mut Sites,
    checks: u64,
}

/// The body of the function that a kernel becomes, and how many accesses it checks. The kernel was checked before.
pub(super) fn convert_kernel(
    cx: &Context,
    func: GPUFuncOp<'_>,
    block: [i64; 3],
    subgroup: i64,
    offsets: &FxHashMap<&str, u64>,
    sites: &mut Sites,
) -> (Body, u64) {
    let mut body = clone_body(cx, func.op_ref().inside());
    // Accesses are judged by the types of the source, which change on the way.
    let access = |op: Op| access_of(OpRef::new(cx, &body, op));
    let ops: Vec<(Op, Option<Access>)> = body.preorder().map(|op| (op, access(op))).collect();
    let entry = body.entry_block().expect("a kernel has a body");
    let old = body.block_args(entry).to_vec();
    let prologue_end = body.ops(entry).next().expect("a block has a terminator");
    let (loc, ptr) = (func.op_ref().loc(), pointer(cx));
    let mut rw = Rewriter::new(cx, &mut body);
    let [state, args] = [ptr, ptr].map(|ty| rw.add_block_arg(entry, ty, loc));
    let words = FxHashMap::default();
    let mut conversion =
        Conversion { rw, loc, state, args, prologue_end, words, block, subgroup, offsets, sites, checks: 0 };
    conversion.arguments(&old);
    for (op, access) in ops {
        match access {
            Some(access) => conversion.access(op, access),
            None => conversion.op(op),
        }
    }
    let checks = conversion.checks;
    for index in (0..old.len()).rev() {
        conversion.rw.erase_block_arg(entry, index);
    }
    conversion.plain_pointers();
    (body, checks)
}

impl Conversion<'_, '_> {
    // ---- emitting

    fn emit(&mut self, name: &str, operands: &[Value], results: &[Type], props: &[(&str, Attr)]) -> Op {
        let cx = self.rw.cx();
        let state = OpState::new(cx.op_name(name), self.loc);
        let state = state.operands(operands.iter().copied()).results(results.iter().copied());
        let state = props.iter().fold(state, |state, (name, value)| state.prop(cx.ident(name), *value));
        self.rw.create(state)
    }

    fn value(&mut self, name: &str, operands: &[Value], result: Type, props: &[(&str, Attr)]) -> Value {
        let op = self.emit(name, operands, &[result], props);
        self.rw.body().result(op, 0)
    }

    /// A conversion to another type; nothing where it is the same.
    fn cast(&mut self, name: &str, value: Value, to: Type) -> Value {
        if self.rw.body().ty(value) == to { value } else { self.value(name, &[value], to, &[]) }
    }

    fn int(&mut self, value: i64, ty: Type) -> Value {
        let value = self.rw.cx().int_attr(value, ty);
        self.value("arith.constant", &[], ty, &[("value", value)])
    }

    /// The address so many bytes behind another.
    fn behind(&mut self, base: Value, bytes: i64) -> Value {
        if bytes == 0 {
            return base;
        }
        let cx = self.rw.cx();
        let props = [
            ("elem_type", cx.type_attr(Type::I8)),
            ("noWrapFlags", cx.int_attr(0, Type::I32)),
            ("rawConstantIndices", cx.i32_array(&[i32::try_from(bytes).expect("tables and blocks are small")])),
        ];
        let ptr = pointer(cx);
        self.value("llvm.getelementptr", &[base], ptr, &props)
    }

    fn load(&mut self, address: Value, ty: Type) -> Value {
        let ordering = self.rw.cx().int_attr(0, Type::I64);
        self.value("llvm.load", &[address], ty, &[("ordering", ordering)])
    }

    fn call(&mut self, function: Value, args: &[Value], results: &[Type]) -> Op {
        let cx = self.rw.cx();
        let operands: Vec<Value> = [function, self.state].into_iter().chain(args.iter().copied()).collect();
        let segments = cx.i32_array(&[operands.len() as i32, 0]);
        let props = [("operandSegmentSizes", segments), ("op_bundle_sizes", cx.i32_array(&[]))];
        self.emit("llvm.call", &operands, results, &props)
    }

    // ---- what every thread begins with

    fn in_prologue<T>(&mut self, emit: impl FnOnce(&mut Self) -> T) -> T {
        let point = self.rw.insert_point();
        self.rw.set_before(self.prologue_end);
        let result = emit(self);
        self.rw.set_insert_point(point);
        result
    }

    /// A word of the state, which never changes.
    fn word(&mut self, index: i32, ty: Type) -> Value {
        if let Some(known) = self.words.get(&index) {
            return *known;
        }
        let value = self.in_prologue(|c| {
            let at = c.behind(c.state, i64::from(index) * WORD_BYTES);
            c.load(at, ty)
        });
        self.words.insert(index, value);
        value
    }

    fn function(&mut self, index: i32) -> Value {
        let ptr = pointer(self.rw.cx());
        self.word(index, ptr)
    }

    /// Arguments are words, of which a value takes the lower bytes.
    fn arguments(&mut self, old: &[Value]) {
        for (index, arg) in old.iter().enumerate() {
            if self.rw.body().is_unused(*arg) {
                continue;
            }
            let ty = self.rw.body().ty(*arg);
            let new = self.in_prologue(|c| {
                let at = c.behind(c.args, index as i64 * WORD_BYTES);
                if space(c.rw.cx(), ty).is_some() {
                    let ptr = pointer(c.rw.cx());
                    return c.load(at, ptr);
                }
                let whole = c.load(at, Type::I64);
                c.unpacked(whole, ty)
            });
            self.rw.replace_all_uses(*arg, new);
        }
    }

    /// A scalar as 64 bits.
    fn packed(&mut self, value: Value) -> Value {
        let bits = self.bits_type(self.rw.body().ty(value));
        let bits = self.cast("arith.bitcast", value, bits);
        self.cast("arith.extui", bits, Type::I64)
    }

    /// The scalar of a type in the lower bits.
    fn unpacked(&mut self, value: Value, ty: Type) -> Value {
        if ty == Type::INDEX {
            return self.value("arith.index_cast", &[value], ty, &[]);
        }
        let bits = self.bits_type(ty);
        let bits = self.cast("arith.trunci", value, bits);
        self.cast("arith.bitcast", bits, ty)
    }

    fn bits_type(&self, ty: Type) -> Type {
        let cx = self.rw.cx();
        cx.int_type(cx.bit_width(ty).expect("scalars have a width"))
    }

    // ---- operations

    fn op(&mut self, op: Op) {
        let cx = self.rw.cx();
        let view = self.rw.op_ref(op);
        let name = view.name_str();
        self.loc = view.loc();
        match name {
            "gpu.thread_id" => self.place(op, word::THREAD + axis(self.rw.op_ref(op))),
            "gpu.block_id" => self.place(op, word::BLOCK + axis(self.rw.op_ref(op))),
            "gpu.grid_dim" => self.place(op, word::GRID + axis(self.rw.op_ref(op))),
            "gpu.lane_id" => self.place(op, word::LANE),
            "gpu.subgroup_id" => self.place(op, word::SUBGROUP),
            "gpu.block_dim" => self.number(op, self.block[axis(self.rw.op_ref(op)) as usize]),
            "gpu.subgroup_size" => self.number(op, self.subgroup),
            "gpu.barrier" => {
                let site = self.site(op);
                self.rw.set_before(op);
                let (barrier, site) = (self.function(word::BARRIER), self.int(site, Type::I32));
                self.call(barrier, &[site], &[]);
                self.step_over(op);
                self.rw.erase_op(op);
            }
            "gpu.shuffle" => self.shuffle(op),
            "gpu.return" => {
                self.rw.set_before(op);
                self.emit("llvm.return", &[], &[], &[]);
                if self.prologue_end == op {
                    let end = self.rw.body().prev_op(op);
                    self.prologue_end = end.expect("was made just now");
                }
                self.rw.erase_op(op);
            }
            // Addresses are computed even where nothing is accessed: there must be no promises about them.
            "llvm.getelementptr" => self.rw.set_prop(op, "noWrapFlags", Some(cx.int_attr(0, Type::I32))),
            "llvm.mlir.addressof" => {
                let name = AddressOfOp::from_ref(view).global_name();
                let offset = self.offsets[name] as i64;
                self.rw.set_before(op);
                let base = self.function(word::SHARED);
                let address = self.behind(base, offset);
                self.replace(op, address);
            }
            "llvm.addrspacecast" => {
                let from = view.operand(0);
                self.replace(op, from);
            }
            _ => {}
        }
    }

    fn replace(&mut self, op: Op, by: Value) {
        self.step_over(op);
        self.rw.replace_op(op, &[by]);
    }

    /// An operation is about to go: the prologue ends before the next one.
    fn step_over(&mut self, op: Op) {
        if self.prologue_end == op {
            self.prologue_end = self.rw.body().next_op(op).expect("a block has a terminator");
        }
    }

    fn site(&mut self, op: Op) -> i64 {
        self.sites.add(self.rw.op_ref(op))
    }

    /// A number of the state, as an index.
    fn place(&mut self, op: Op, index: i32) {
        let word = self.word(index, Type::I64);
        self.rw.set_before(op);
        let value = self.value("arith.index_cast", &[word], Type::INDEX, &[]);
        self.replace(op, value);
    }

    fn number(&mut self, op: Op, number: i64) {
        self.rw.set_before(op);
        let value = self.int(number, Type::INDEX);
        self.replace(op, value);
    }

    /// Announces a load or store.
    fn access(&mut self, op: Op, access: Access) {
        self.loc = self.rw.op_ref(op).loc();
        let site = self.site(op);
        self.rw.set_before(op);
        let check = self.function(word::CHECK);
        let view = self.rw.op_ref(op);
        let address = address_of(view);
        // An atomic access is announced as a read: two of them are no race, one and a store are.
        let store = if view.is::<StoreOp<'_>>() { STORE } else { 0 };
        let promises =
            if view.is::<LoadOp<'_>>() { &["invariant", "dereferenceable", "invariantGroup"][..] } else { &[] };
        // They would let the access happen before its check.
        for promise in promises {
            self.rw.set_prop(op, promise, None);
        }
        let address = self.value("llvm.ptrtoint", &[address], Type::I64, &[]);
        let kind = store + i64::from(access.space);
        let numbers = [access.bytes, access.alignment, site, kind].map(|number| self.int(number, Type::I32));
        let args: Vec<Value> = std::iter::once(address).chain(numbers).collect();
        self.call(check, &args, &[]);
        self.checks += 1;
    }

    fn shuffle(&mut self, op: Op) {
        let site = self.site(op);
        let view = self.rw.op_ref(op);
        let (value, offset, width) = (view.operand(0), view.operand(1), view.operand(2));
        let mode = match ShuffleOp::from_ref(view).mode() {
            ShuffleMode::Xor => 0,
            ShuffleMode::Up => 1,
            ShuffleMode::Down => 2,
            ShuffleMode::Idx => 3,
        };
        let ty = view.ty(value);
        self.rw.set_before(op);
        let shuffle = self.function(word::SHUFFLE);
        let (site, mode, value) = (self.int(site, Type::I32), self.int(mode, Type::I32), self.packed(value));
        let fields = Some(vec![Type::I64, Type::I64]);
        let both = self.rw.cx().ext_type(StructType { name: None, fields, packed: false });
        let call = self.call(shuffle, &[site, mode, value, offset, width], &[both]);
        let both = self.rw.body().result(call, 0);
        let [value, valid] = [0, 1].map(|field| {
            let position = self.rw.cx().i64_array(&[field]);
            self.value("llvm.extractvalue", &[both], Type::I64, &[("position", position)])
        });
        let value = self.unpacked(value, ty);
        let valid = self.value("arith.trunci", &[valid], Type::I1, &[]);
        self.step_over(op);
        self.rw.replace_op(op, &[value, valid]);
    }

    // ---- types

    /// A processor has one kind of addresses.
    fn plain_pointers(&mut self) {
        let (cx, ptr) = (self.rw.cx(), pointer(self.rw.cx()));
        let body = self.rw.body();
        let regions = body.owner_regions().chain(body.preorder().flat_map(|op| body.regions(op)));
        let blocks = regions.flat_map(|region| body.blocks(region));
        let args = blocks.flat_map(|block| body.block_args(block).iter().copied());
        let values: Vec<Value> = args.chain(body.preorder().flat_map(|op| body.results(op))).collect();
        for value in values {
            let ty = self.rw.body().ty(value);
            if space(cx, cx.element_type(ty)).is_some_and(|space| space != 0) {
                let plain = if cx.shape(ty).is_some() { cx.with_element_type(ty, ptr) } else { ptr };
                self.rw.set_type(value, plain);
            }
        }
    }
}

/// What a load or store accesses.
fn access_of(op: OpRef<'_>) -> Option<Access> {
    let ty = match op.name_str() {
        "llvm.load" => op.ty(op.result(0)),
        "llvm.store" => op.ty(StoreOp::from_ref(op).stored()),
        "llvm.atomicrmw" => op.ty(AtomicRMWOp::from_ref(op).val()),
        _ => return None,
    };
    Some(accessed(op, ty).expect("checked before"))
}

fn axis(op: OpRef<'_>) -> i32 {
    match op.prop("dimension").and_then(|a| op.cx.attr_as::<Dimension>(a)) {
        Some(Dimension::Y) => 1,
        Some(Dimension::Z) => 2,
        _ => 0,
    }
}
