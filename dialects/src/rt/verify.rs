//! Checks of single operations, of a program as a whole, and of its launches against the kernels.

use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};
use sutura_ir::diagnostics::{Diagnostic, Diagnostics, Reported};
use sutura_ir::interfaces::SymbolUser;
use sutura_ir::op_def::{InferInput, InferTypes, Verify, VerifyRegions};
use sutura_ir::op_ref::RegionRef;
use sutura_ir::symbols::SymbolScope;
use sutura_ir::{Context, OpRef, OpView, Type, TypeData, Value};

use super::bind::Solution;
use super::call::CallOp;
use super::control::{MOST_NESTED, nested_too_deep};
use super::decide::{Phases, undecided_output, used_too_early};
use super::kernel::{Access, KernelSignature, Launchable};
use super::liveness::{BufferUses, root_buffer};
use super::ops::{
    AllocOp, ConstantOp, CopyOp, ExchangeOp, ExpectOp, IfOp, InvokeOp, LaunchOp, PackedOp, ProgramOp, ReadSizesOp,
    SelectOp, SizeListOp, ViewOp, WhileOp, WriteSizesOp,
};
use super::program::ProgramInfo;
use super::types::BufferType;
use crate::complex::part_type;
use crate::r#dyn::facts::{Facts, MAX_DIM};
use crate::r#dyn::is_at_most;
use crate::r#dyn::poly::Poly;

type Checked = Result<(), Diagnostic>;

fn report(checked: Checked, diags: &mut Diagnostics) -> Result<(), Reported> {
    checked.map_err(|error| diags.report(error))
}

/// An error at `op` unless `holds`.
fn ensure(holds: bool, op: OpRef<'_>, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(op.error(message())) }
}

fn buffer(op: OpRef<'_>, value: Value) -> &BufferType {
    BufferType::of(op.cx, op.ty(value)).expect("the declaration says a buffer")
}

/// Buffer with the sizes of a static ranked tensor.
fn buffer_of_tensor(cx: &Context, ty: Type) -> Result<BufferType, String> {
    let wrong = || "the elements must be of a static ranked tensor type".to_string();
    let TypeData::RankedTensor { shape, elem, .. } = cx.type_data(ty) else { return Err(wrong()) };
    let dims: Option<Vec<Poly>> = cx.ints(shape).iter().map(|d| (*d >= 0).then(|| Poly::constant(*d))).collect();
    Ok(BufferType::new(elem, dims.ok_or_else(wrong)?))
}

impl InferTypes for ConstantOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let ty = input.prop("value").and_then(|a| input.cx.attr_type(a)).ok_or("'value' is missing")?;
        Ok(smallvec![input.cx.ext_type(buffer_of_tensor(input.cx, ty)?)])
    }
}

impl Verify for AllocOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let is_alloc = |v: Value| op.body.defining_op(v).is_some_and(|d| op.at(d).is::<AllocOp<'_>>());
        let holds = AllocOp::from_ref(op).after().all(is_alloc);
        report(ensure(holds, op, || "can only come after other 'rt.alloc' buffers".to_string()), diags)
    }
}

impl Verify for ViewOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = ViewOp::from_ref(op);
        // Of complex elements a view may be of their parts, and back: as many numbers, which is checked with the sizes.
        let of_parts = |complex: &BufferType, parts: &BufferType| part_type(op.cx, complex.elem) == Some(parts.elem);
        let width = |value| crate::elements::memory_bits(op.cx, buffer(op, value).elem);
        let known = width(this.buffer()).is_some() && width(this.buffer()) == width(this.result());
        let (from, to) = (buffer(op, this.buffer()), buffer(op, this.result()));
        let same = known || from.elem == to.elem || of_parts(from, to) || of_parts(to, from);
        let alike = this.checked().is_none() || (from.elem == to.elem && from.dims.len() == to.dims.len());
        let checked = ensure(same, op, || "a view keeps the width of elements".to_string());
        let message = || "a view whose sizes are 'checked' keeps elements and rank".to_string();
        let checked = checked.and_then(|()| ensure(alike, op, message));
        let front = !this.front() || (this.checked().is_none() && from.elem == to.elem);
        let message = || "a view of the front keeps elements, and its sizes are not 'checked'".to_string();
        report(checked.and_then(|()| ensure(front, op, message)), diags)
    }
}

impl Verify for CopyOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = CopyOp::from_ref(op);
        let same = buffer(op, this.from()).elem == buffer(op, this.to()).elem;
        report(ensure(same, op, || "both buffers must have one element type".to_string()), diags)
    }
}

impl Verify for ExchangeOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = ExchangeOp::from_ref(op);
        let is_alloc = |v: Value| op.body.defining_op(v).is_some_and(|d| op.at(d).is::<AllocOp<'_>>());
        let temporary = is_alloc(this.first()) && is_alloc(this.second());
        let message = || "only temporaries, made by 'rt.alloc', can change their memory".to_string();
        let checked = ensure(temporary, op, message);
        let two = || ensure(this.first() != this.second(), op, || "exchanges a buffer with itself".to_string());
        report(checked.and_then(|()| two()), diags)
    }
}

impl Verify for ExpectOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = ExpectOp::from_ref(op);
        let (list, count) = (buffer(op, this.list()), this.sizes().len());
        let fits = list.dims == [Poly::from(count as i64)] && this.copied().len() == count;
        let integers = [Type::I32, Type::I64].contains(&list.elem);
        let message = || format!("needs a list of {count} integers, and as many sizes that a 0 copies");
        report(ensure(fits && integers, op, message), diags)
    }
}

impl Verify for SizeListOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let list = SizeListOp::from_ref(op).list();
        let ty = buffer(op, list);
        let fits = ty.elem == Type::I64 && matches!(&ty.dims[..], [count] if count.as_const().is_some_and(|n| n > 0));
        let checked = ensure(fits, op, || "is a list of 64-bit integers, of a length that is a number".to_string());
        let is_own = |user: OpRef<'_>| user.is::<WriteSizesOp<'_>>() || user.is::<ReadSizesOp<'_>>();
        let other = op.body.uses(list).map(|user| op.at(user.owner)).find(|user| !is_own(*user));
        let message = "uses a list of sizes, which is for 'rt.write_sizes' and 'rt.read_sizes'";
        let checked = checked.and_then(|()| other.map_or(Ok(()), |user| Err(user.error(message))));
        report(checked, diags)
    }
}

/// The list is one of the host, of as many sizes.
fn verify_list(op: OpRef<'_>, list: Value, counts: &[usize]) -> Checked {
    let made = op.body.defining_op(list).is_some_and(|d| op.at(d).is::<SizeListOp<'_>>());
    ensure(made, op, || "needs a list of sizes, made by 'rt.size_list'".to_string())?;
    let dims = &buffer(op, list).dims;
    let fits = counts.iter().all(|count| dims == &[Poly::from(*count as i64)]);
    ensure(fits, op, || format!("has not as many sizes as the list, which has {}", dims[0].brief()))
}

impl Verify for WriteSizesOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = WriteSizesOp::from_ref(op);
        report(verify_list(op, this.list(), &[this.sizes().len()]), diags)
    }
}

impl Verify for ReadSizesOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = ReadSizesOp::from_ref(op);
        report(verify_list(op, this.list(), &[this.sizes().len(), this.most().len()]), diags)
    }
}

impl Verify for LaunchOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let one = LaunchOp::from_ref(op).work().is_none_or(|work| work.len() == 1);
        report(ensure(one, op, || "'work' is one size".to_string()), diags)
    }
}

impl Verify for SelectOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let (guards, versions) = (SelectOp::from_ref(op).guards().len(), op.regions().len());
        let fits = versions == guards + 1;
        let message =
            || format!("{guards} guards need {} versions, the last without a guard, not {versions}", guards + 1);
        report(ensure(fits, op, message), diags)
    }
}

impl VerifyRegions for PackedOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let inside = || PackedOp::from_ref(op).launches().entry().into_iter().flat_map(|block| block.ops());
        let other = inside().find(|o| !o.is::<LaunchOp<'_>>());
        let checked = match other {
            Some(other) => Err(other.error("is no 'rt.launch', and 'rt.packed' takes nothing else")),
            None => ensure(inside().next().is_some(), op, || "launches nothing".to_owned()),
        };
        report(checked, diags)
    }
}

impl VerifyRegions for ProgramOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        report(verify_program(op), diags)
    }
}

fn verify_program(op: OpRef<'_>) -> Checked {
    // What comes after follows regions by recursion.
    if let Some(deep) = nested_too_deep(op) {
        let error = deep.error(format!("lies in more than {} other conditions and loops", MOST_NESTED - 1));
        return Err(error.help("write some of them one after another"));
    }
    let program = ProgramInfo::read(op).map_err(|message| op.error(message))?;
    let solution = Solution::of(&program).map_err(|e| op.error(e))?;
    if let Some((early, size)) = used_too_early(&program, &solution.phases) {
        return Err(early.error(format!("uses the size {size} before what decides it")));
    }
    if let Some((output, size)) = undecided_output(&program, &solution.phases) {
        let error = op.error(format!("output '{output}' has the size {size}, which a condition or a loop decides"));
        return Err(error.help("such a size is known in that condition or loop alone"));
    }
    let facts = program.facts().map_err(|e| op.error(e))?;
    let mut names = FxHashSet::default();
    let mut checked = Ok(());
    op.walk(&mut |inner| {
        if checked.is_ok() && inner.op != op.op {
            checked = verify_inner(&program, (&facts, &solution.phases), inner, &mut names);
        }
    });
    checked?;
    match program.planned.then(|| BufferUses::of(program.block).unordered_pair(op.cx, program.block.body)).flatten() {
        Some((first, second)) => {
            let at = |o| OpRef::new(op.cx, program.block.body, o);
            let error = at(second).error("is in use together with a buffer that it neither follows nor precedes");
            Err(error.note(at(first).loc(), "the other buffer"))
        }
        None => Ok(()),
    }
}

/// The sizes that an op needs when it runs. What makes no more than a name for memory needs none.
pub(super) fn sizes_of(op: OpRef<'_>) -> Vec<Poly> {
    let named = op.as_::<ViewOp<'_>>().map(|view| view.checked().is_none());
    if op.is::<AllocOp<'_>>() || named == Some(true) {
        return Vec::new();
    }
    let types = op.operand_types().filter_map(|ty| BufferType::of(op.cx, ty));
    let mut sizes: Vec<Poly> = types.flat_map(|ty| ty.dims.iter().cloned()).collect();
    sizes.extend(own_sizes(op));
    if op.is::<ViewOp<'_>>() {
        let made = op.result_types().filter_map(|ty| BufferType::of(op.cx, ty));
        sizes.extend(made.flat_map(|ty| ty.dims.iter().cloned()));
    }
    sizes
}

/// The sizes that an op mentions itself.
fn own_sizes(op: OpRef<'_>) -> Vec<Poly> {
    let mut sizes: Vec<Poly> = Vec::new();
    if let Some(launch) = op.as_::<LaunchOp<'_>>() {
        sizes.extend(launch.dims().into_iter().chain(launch.work().into_iter().flatten()));
    } else if let Some(expect) = op.as_::<ExpectOp<'_>>() {
        sizes.extend(expect.sizes().into_iter().chain(expect.copied()));
    } else if let Some(select) = op.as_::<SelectOp<'_>>() {
        sizes.extend(select.guards().into_iter().flatten());
    } else if let Some(call) = op.as_::<CallOp<'_>>() {
        let numbers = call.declaration().and_then(|routine| call.numbers(routine));
        sizes.extend(numbers.unwrap_or_default().into_iter().flatten());
    } else if let Some(write) = op.as_::<WriteSizesOp<'_>>() {
        sizes.extend(write.sizes());
    } else if let Some(read) = op.as_::<ReadSizesOp<'_>>() {
        sizes.extend(read.sizes().into_iter().chain(read.most()));
    } else if let Some(invoke) = op.as_::<InvokeOp<'_>>() {
        sizes.extend(invoke.most().into_iter().flatten());
    }
    sizes
}

/// Checks that need the program's symbols.
fn verify_inner<'a>(
    program: &ProgramInfo<'_>,
    (facts, phases): (&Facts, &Phases),
    op: OpRef<'a>,
    names: &mut FxHashSet<&'a str>,
) -> Checked {
    let buffers = op.result_types().filter_map(|ty| BufferType::of(op.cx, ty));
    buffers.flat_map(|b| &b.dims).try_for_each(|size| declared(program, op, size))?;
    if let Some(constant) = op.as_::<ConstantOp<'_>>() {
        let name = constant.name();
        return ensure(names.insert(name), op, || format!("is the second constant named '{name}'"));
    }
    if let Some(view) = op.as_::<ViewOp<'_>>() {
        if view.front() {
            return at_front(facts, phases, view);
        }
        // What is checked when it runs needs no proof.
        return if view.checked().is_some() { Ok(()) } else { same_elements(facts, op, view.buffer(), view.result()) };
    }
    if let Some(copy) = op.as_::<CopyOp<'_>>() {
        return same_elements(facts, op, copy.from(), copy.to());
    }
    let own = own_sizes(op);
    if !own.is_empty() {
        own.iter().try_for_each(|size| declared(program, op, size))?;
    }
    if let Some(call) = op.as_::<CallOp<'_>>() {
        call.declaration().and_then(|routine| call.numbers(routine)).map_err(|message| op.error(message))?;
        return super::call::verify(facts, op);
    }
    Ok(())
}

/// As many elements as the buffer has place for, or less, whatever data decide.
fn at_front(facts: &Facts, phases: &Phases, view: ViewOp<'_>) -> Checked {
    let op = view.op_ref();
    let (whole, front) = (buffer(op, view.buffer()), buffer(op, view.result()));
    let most = |size: &Poly| phases.most(size).map_err(|why| op.error(why));
    let fits = |front: &Poly, whole: &Poly| Ok(is_at_most(facts, &most(front)?, &most(whole)?));
    let dims = front.dims.iter().zip(&whole.dims);
    let each = dims.map(|(front, whole)| fits(front, whole)).collect::<Result<Vec<bool>, Diagnostic>>()?;
    let together = fits(&front.elements(), &whole.elements())?;
    let holds = together || (front.dims.len() == whole.dims.len() && each.into_iter().all(|fits| fits));
    ensure(holds, op, || {
        let (front, whole) = (front.elements(), whole.elements());
        format!("cannot prove that {} elements lie at the front of {}", front.brief(), whole.brief())
    })
}

fn declared(program: &ProgramInfo<'_>, op: OpRef<'_>, size: &Poly) -> Checked {
    match size.symbols().iter().find(|name| program.symbol_index(name).is_none()) {
        Some(name) => Err(op.error(format!("uses '{name}', which is no symbol of the program"))),
        None => Ok(()),
    }
}

fn same_elements(facts: &Facts, op: OpRef<'_>, a: Value, b: Value) -> Checked {
    let (a, b) = (buffer(op, a).numbers(op.cx), buffer(op, b).numbers(op.cx));
    ensure(facts.prove_equal(&a, &b), op, || format!("cannot prove that {a} elements are {b} elements"))
}

/// Launches against kernels, and the order of writes and reads.
pub(super) struct ProgramSymbols;

impl SymbolUser for ProgramSymbols {
    fn verify_symbol_uses(
        &self,
        op: OpRef<'_>,
        symbols: &SymbolScope<'_, '_>,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let checked = ProgramInfo::read(op).map_err(|message| op.error(message)).and_then(|program| {
            let facts = program.facts().map_err(|e| op.error(e))?;
            Contents::new(&program, &facts, op, symbols).verify()
        });
        report(checked, diags)
    }
}

/// What each buffer holds while the program is followed.
struct Contents<'p, 's, 't, 'a> {
    program: &'p ProgramInfo<'a>,
    facts: &'p Facts,
    owner: OpRef<'a>,
    symbols: &'p SymbolScope<'s, 't>,
    /// Inputs and constants.
    read_only: FxHashSet<Value>,
    /// Buffers whose every element has been written.
    written: FxHashSet<Value>,
}

impl<'p, 's, 't, 'a> Contents<'p, 's, 't, 'a> {
    fn new(program: &'p ProgramInfo<'a>, facts: &'p Facts, owner: OpRef<'a>, symbols: &'p SymbolScope<'s, 't>) -> Self {
        let read_only: FxHashSet<Value> = program.inputs.iter().map(|p| p.value).collect();
        Self { program, facts, owner, symbols, written: read_only.clone(), read_only }
    }

    fn verify(mut self) -> Checked {
        for op in self.program.block.ops() {
            self.step(op, &[])?;
        }
        match self.program.outputs.iter().find(|o| !self.written.contains(&o.value)) {
            Some(output) => Err(self.owner.error(format!("never writes output '{}'", output.name))),
            None => Ok(()),
        }
    }

    fn root(&self, value: Value) -> Value {
        root_buffer(self.owner.cx, self.program.block.body, value)
    }

    fn step(&mut self, op: OpRef<'a>, guard: &[Poly]) -> Checked {
        if let Some(constant) = op.as_::<ConstantOp<'_>>() {
            self.read_only.insert(constant.buffer());
            self.written.insert(constant.buffer());
        } else if let Some(copy) = op.as_::<CopyOp<'_>>() {
            self.access(op, copy.from(), Access::Read, "is copied")?;
            self.access(op, copy.to(), Access::Write, "is copied to")?;
            self.disjoint(op, &[(copy.from(), Access::Read), (copy.to(), Access::Write)])?;
        } else if let Some(expect) = op.as_::<ExpectOp<'_>>() {
            self.access(op, expect.list(), Access::Read, "is looked at")?;
        } else if let Some(write) = op.as_::<WriteSizesOp<'_>>() {
            self.access(op, write.list(), Access::Write, "gets sizes")?;
        } else if let Some(read) = op.as_::<ReadSizesOp<'_>>() {
            self.access(op, read.list(), Access::Read, "is a list of sizes")?;
        } else if let Some(exchange) = op.as_::<ExchangeOp<'_>>() {
            // Both hold something, so that both still do: whichever way the program takes.
            self.access(op, exchange.first(), Access::Read, "changes its memory")?;
            self.access(op, exchange.second(), Access::Read, "changes its memory")?;
        } else if let Some(launch) = op.as_::<LaunchOp<'_>>() {
            self.launch(launch, guard)?;
        } else if let Some(call) = op.as_::<CallOp<'_>>() {
            self.call(call)?;
        } else if let Some(packed) = op.as_::<PackedOp<'_>>() {
            self.packed(packed, guard)?;
        } else if let Some(select) = op.as_::<SelectOp<'_>>() {
            let guards = select.guards();
            let versions = select.versions().enumerate().map(|(i, region)| (region, guards.get(i)));
            self.ways(versions.map(|(region, guard)| (region, guard.map_or(&[][..], Vec::as_slice))))?;
        } else if let Some(invoke) = op.as_::<InvokeOp<'_>>() {
            self.invoke(invoke)?;
        } else if let Some(this) = op.as_::<IfOp<'_>>() {
            self.access(op, this.condition(), Access::Read, "is the condition")?;
            self.ways([(this.then(), &[][..]), (this.otherwise(), &[])].into_iter())?;
        } else if let Some(this) = op.as_::<WhileOp<'_>>() {
            self.region(this.before(), &[])?;
            self.access(op, this.condition(), Access::Read, "is the condition")?;
            // The second region may never run.
            let before = self.written.clone();
            self.region(this.after(), &[])?;
            self.written = before;
        }
        Ok(())
    }

    fn region(&mut self, region: RegionRef<'a>, guard: &[Poly]) -> Checked {
        region.blocks().flat_map(|b| b.ops()).try_for_each(|op| self.step(op, guard))
    }

    fn invoke(&mut self, invoke: InvokeOp<'a>) -> Checked {
        let (op, name) = (invoke.op_ref(), invoke.callee());
        let callee = self.symbols.lookup(self.owner.op, invoke.program()).filter(|callee| callee.is::<ProgramOp<'_>>());
        let callee = callee.ok_or_else(|| op.error(format!("'{name}' is no program of the module")))?;
        let info = ProgramInfo::read(callee).map_err(|message| callee.error(message))?;
        super::control::fits(invoke, &info).map_err(|message| op.error(message).note(callee.loc(), "the program"))?;
        let reads = invoke.inputs().map(|v| (v, Access::Read));
        self.disjoint(op, &reads.chain(invoke.outputs().map(|v| (v, Access::Write))).collect::<Vec<_>>())?;
        for (value, port) in invoke.inputs().zip(&info.inputs) {
            self.access(op, value, Access::Read, &format!("is input '{}' of '@{name}'", port.name))?;
        }
        for (value, port) in invoke.outputs().zip(&info.outputs) {
            self.access(op, value, Access::Write, &format!("is output '{}' of '@{name}'", port.name))?;
        }
        Ok(())
    }

    fn call(&mut self, call: CallOp<'a>) -> Checked {
        let (op, name) = (call.op_ref(), call.routine());
        let reads = call.inputs().map(|v| (v, Access::Read));
        let writes: Vec<(Value, Access)> = call.outputs().chain(call.scratch()).map(|v| (v, Access::Write)).collect();
        self.disjoint(op, &reads.chain(writes.iter().copied()).collect::<Vec<_>>())?;
        for (i, input) in call.inputs().enumerate() {
            self.access(op, input, Access::Read, &format!("is argument {i}, which the routine '{name}' reads"))?;
        }
        let first = call.inputs().count();
        for (i, output) in call.outputs().enumerate() {
            let what = format!("is argument {}, which the routine '{name}' writes", first + i);
            self.access(op, output, Access::Write, &what)?;
        }
        // What it leaves in scratch memory is nothing to read.
        let Some(scratch) = call.scratch() else { return Ok(()) };
        let writable = !self.read_only.contains(&self.root(scratch));
        self.written.remove(&self.root(scratch));
        ensure(writable, op, || "has an input or a constant as scratch memory".to_owned())
    }

    /// One of several regions runs, each with what is known there; after it, what every one wrote is written.
    fn ways<'g>(&mut self, regions: impl Iterator<Item = (RegionRef<'a>, &'g [Poly])>) -> Checked {
        let before = self.written.clone();
        let mut after: Option<FxHashSet<Value>> = None;
        for (region, guard) in regions {
            self.written.clone_from(&before);
            self.region(region, guard)?;
            let mut written = std::mem::take(&mut self.written);
            if let Some(others) = &after {
                written.retain(|v| others.contains(v));
            }
            after = Some(written);
        }
        self.written = after.unwrap_or(before);
        Ok(())
    }

    /// Launches that fit as if they ran one after another, and none of which touches what another one writes.
    fn packed(&mut self, packed: PackedOp<'a>, guard: &[Poly]) -> Checked {
        let mut seen: Vec<(Value, Access, OpRef<'a>)> = Vec::new();
        for launch in
            packed.launches().entry().into_iter().flat_map(|b| b.ops()).filter_map(|o| o.as_::<LaunchOp<'_>>())
        {
            let uses = self.launch(launch, guard)?;
            let op = launch.op_ref();
            for (value, access) in &uses {
                let clash = seen.iter().find(|(other, theirs, _)| {
                    (access.writes() || theirs.writes()) && self.root(*other) == self.root(*value)
                });
                if let Some((.., other)) = clash {
                    let message = "shares memory that one of them writes with another launch of the 'rt.packed'";
                    return Err(op.error(message).note(other.loc(), "the other launch"));
                }
            }
            seen.extend(uses.into_iter().map(|(value, access)| (value, access, op)));
        }
        Ok(())
    }

    /// Checks a launch, and returns its buffers with what it does with them.
    fn launch(&mut self, launch: LaunchOp<'a>, guard: &[Poly]) -> Result<Vec<(Value, Access)>, Diagnostic> {
        let op = launch.op_ref();
        let name = launch.callee();
        let callee = self.symbols.lookup(self.owner.op, launch.kernel());
        let callee = callee.ok_or_else(|| op.error(format!("'{name}' does not reference a symbol")))?;
        let launchable = callee.interface::<dyn Launchable>();
        let launchable =
            launchable.ok_or_else(|| op.error(format!("'{name}' is no kernel")).note(callee.loc(), "it is this"))?;
        let signature = launchable.signature(callee);
        let signature = signature.map_err(|m| op.error(format!("'{name}' {m}")).note(callee.loc(), "declared here"))?;
        self.fits(launch, &signature, guard).map_err(|e| e.note(callee.loc(), "the kernel"))?;
        let uses: Vec<(Value, Access)> = launch.buffers().zip(&signature.params).map(|(v, p)| (v, p.access)).collect();
        self.disjoint(op, &uses)?;
        for (i, (value, _)) in uses.iter().enumerate().filter(|(_, (_, a))| a.reads()) {
            self.access(op, *value, Access::Read, &format!("is argument {i}, which '{name}' reads"))?;
        }
        for (i, (value, _)) in uses.iter().enumerate().filter(|(_, (_, a))| a.writes()) {
            self.access(op, *value, Access::Write, &format!("is argument {i}, which '{name}' writes"))?;
        }
        Ok(uses)
    }

    /// The launch gives the kernel what it takes.
    fn fits(&self, launch: LaunchOp<'a>, signature: &KernelSignature, guard: &[Poly]) -> Checked {
        let (op, dims) = (launch.op_ref(), launch.dims());
        let (given, wanted) = (launch.buffers().count(), signature.params.len());
        ensure(given == wanted, op, || format!("gives {given} buffers where the kernel takes {wanted}"))?;
        let (given, wanted) = (dims.len(), signature.dims.len());
        ensure(given == wanted, op, || format!("gives {given} sizes where the kernel takes {wanted}"))?;
        let (given, wanted) = (launch.check_names().len(), signature.checks.len());
        let named = launch.checks().is_none() || given == wanted;
        ensure(named, op, || format!("names {given} checks of data where the kernel makes {wanted}"))?;
        // What the kernel takes for one size alone is that size where it is launched: the ranges below make sure of it.
        let one_size = |name: &str| {
            let mut all = signature.dims.iter().zip(&dims);
            let found = all.find(|((_, info), size)| info.min == info.max && size.as_symbol() == Some(name));
            found.map(|((_, info), _)| Poly::constant(info.min))
        };
        let equal = |a: &Poly, b: &Poly| {
            let known = |size: &Poly| size.substitute(&one_size);
            self.facts.prove_equal(a, b) || self.facts.prove_equal(&known(a), &known(b))
        };
        for (i, (value, param)) in launch.buffers().zip(&signature.params).enumerate() {
            let found = buffer(op, value);
            let expected: Vec<Poly> = param.ty.dims.iter().map(|d| signature.substitute(d, &dims)).collect();
            let same = found.elem == param.ty.elem
                && found.dims.len() == expected.len()
                && found.dims.iter().zip(&expected).all(|(a, b)| equal(a, b));
            ensure(same, op, || {
                let expected = op.cx.ext_type(BufferType::new(param.ty.elem, expected));
                let show = |ty| sutura_ir::asm::print::type_text(op.cx, ty);
                format!("argument {i} is a {} where the kernel takes a {}", show(op.ty(value)), show(expected))
            })?;
        }
        for ((name, info), size) in signature.dims.iter().zip(&dims) {
            let divides = self.facts.divisible(size, info.div);
            ensure(divides, op, || format!("cannot prove that '{name}' = {size} is a multiple of {}", info.div))?;
            let (room_below, room_above) = (size.sub(&info.min.into()), Poly::from(info.max).sub(size));
            // A range that nobody narrowed states nothing.
            let above = info.max >= MAX_DIM || self.not_negative(&room_above, guard);
            let within = above && self.not_negative(&room_below, guard);
            ensure(within, op, || {
                format!(
                    "nothing guarantees that '{name}' = {size} is in [{}, {}], as the kernel declares",
                    info.min, info.max
                )
            })?;
        }
        for required in &signature.requires {
            let size = signature.substitute(required, &dims);
            let holds = self.not_negative(&size, guard);
            ensure(holds, op, || format!("nothing guarantees that {size} is not negative, as the kernel requires"))?;
        }
        Ok(())
    }

    fn not_negative(&self, size: &Poly, guard: &[Poly]) -> bool {
        // What a constraint orders is known as the lesser of both.
        let ordered = |p: &Poly| self.facts.canonical(&p.lesser(&Poly::default())).is_zero();
        let proven = |p: &Poly| self.facts.range(p).0 >= 0 || ordered(p) || self.facts.prove_non_negative(p);
        proven(size) || guard.iter().any(|g| proven(&size.sub(g)))
    }

    fn access(&mut self, op: OpRef<'_>, value: Value, access: Access, what: &str) -> Checked {
        let root = self.root(value);
        if access.reads() {
            ensure(self.written.contains(&root), op, || {
                format!("reads a buffer before anything is written to it: it {what}")
            })?;
        }
        if access.writes() {
            let writable = !self.read_only.contains(&root);
            ensure(writable, op, || format!("writes to an input or a constant: it {what}"))?;
            self.written.insert(root);
        }
        Ok(())
    }

    /// No buffer that is written is given twice.
    fn disjoint(&self, op: OpRef<'_>, uses: &[(Value, Access)]) -> Checked {
        for (i, (a, _)) in uses.iter().enumerate().filter(|(_, (_, access))| access.writes()) {
            let clash = uses.iter().enumerate().find(|(j, (b, _))| *j != i && self.root(*a) == self.root(*b));
            if let Some((j, _)) = clash {
                return Err(op.error(format!("arguments {i} and {j} are the same memory, and it is written")));
            }
        }
        Ok(())
    }
}
