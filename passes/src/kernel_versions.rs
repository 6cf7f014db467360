//! Which version of a kernel a program launches, by guards on its sizes.

use rustc_hash::FxHashMap;
use sutura_dialects::r#dyn::facts::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::rt::{KernelSignature, LaunchOp, PARTS_ATTR, PackedOp, ProgramInfo, ProgramOp, SelectOp};
use sutura_ir::rewriter::IrMapping;
use sutura_ir::{Attr, Body, Builder, Context, Diagnostic, NamedAttr, Op, OpRef, OpState, OpView, Rewriter};

/// A version of a kernel that takes some of its sizes.
pub(super) struct Version {
    /// The launch's name for it.
    pub(super) symbol: Attr,
    pub(super) signature: KernelSignature,
    /// At least zero where it may run, over the kernel's sizes.
    pub(super) room: Poly,
}

/// Versions by the launch's name for the kernel that takes all sizes.
pub(super) type Versions = FxHashMap<Attr, Version>;

/// Kernels of which programs launch the version where a size is not negative, by the launch's name, each with that size.
pub(super) type Guards = Vec<(Attr, Poly)>;

/// What a launch's version needs.
enum Need {
    /// There is none, or the launch is of another kernel.
    Nothing,
    /// It fits all sizes.
    Proven,
    /// It fits where this is at least zero.
    Room(Poly),
}

/// A program's body with versions in it.
fn choose(op: OpRef<'_>, versions: &Versions) -> Result<(Body, Guards), String> {
    let info = ProgramInfo::read(op)?;
    let facts = info.facts().map_err(|error| error.to_string())?;
    let old = op.inside();
    let mut new = Body::new(old.owner_regions().len());
    let region = new.region();
    let entry = old.entry_block().ok_or("a program has a body")?;
    let mut b = Builder::new(op.cx, &mut new);
    let args: Vec<_> = old.block_args(entry).iter().map(|arg| (old.ty(*arg), old.value_loc(*arg))).collect();
    let block = b.create_block(region, &args);
    let mut mapping = IrMapping::new();
    let args: Vec<_> = b.body().block_args(block).to_vec();
    for (from, to) in old.block_args(entry).iter().zip(args) {
        mapping.map(*from, to);
        b.set_value_name(to, old.value_name(*from));
    }
    b.set_to_end(block);
    let mut chooser = Chooser { facts: &facts, versions, mapping, callees: Vec::new(), guards: Guards::new() };
    for inner in old.ops(entry) {
        chooser.copy(OpRef::new(op.cx, old, inner), &mut b)?;
    }
    let (callees, guards) = (chooser.callees, chooser.guards);
    let mut rewriter = Rewriter::new(op.cx, &mut new);
    for (launch, symbol) in callees {
        rewriter.set_prop(launch, "callee", Some(symbol));
    }
    Ok((new, guards))
}

/// What a version of the kernel called `name` begins with: properties and attributes of the kernel, some of them changed. Reports
/// know what the version does by the kernel's name.
pub(super) fn version_of(kernel: OpRef<'_>, name: &str, changed: &[(&str, Attr)]) -> OpState {
    let (cx, body) = (kernel.cx, kernel.body);
    let value = |entry: &NamedAttr| {
        let change = changed.iter().find(|(name, _)| *name == cx.str(entry.name));
        change.map_or(entry.value, |(_, value)| *value)
    };
    let header = body.header(kernel.op);
    let mut state = OpState::new(header.name, header.loc);
    if kernel.attr(PARTS_ATTR).is_none() {
        state = state.attr(cx.ident(PARTS_ATTR), cx.array_attr(&[cx.string_attr(name)]));
    }
    for entry in cx.entries(body.props(kernel.op)) {
        state = state.prop(entry.name, value(entry));
    }
    for entry in cx.entries(body.attrs(kernel.op)) {
        state = state.attr(entry.name, value(entry));
    }
    state
}

struct Chooser<'p> {
    facts: &'p Facts,
    versions: &'p Versions,
    mapping: IrMapping,
    /// Launches that are made, and what they are to launch.
    callees: Vec<(Op, Attr)>,
    guards: Guards,
}

fn launches(op: OpRef<'_>) -> Vec<LaunchOp<'_>> {
    let mut found = Vec::new();
    op.walk(&mut |op| found.extend(op.as_::<LaunchOp<'_>>()));
    found
}

impl Chooser<'_> {
    fn need(&self, launch: LaunchOp<'_>, guard: &[Poly]) -> Need {
        let Some(version) = self.versions.get(&launch.kernel()) else { return Need::Nothing };
        let room = version.signature.substitute(&version.room, &launch.dims());
        let proven = |size: &Poly| self.facts.range(size).0 >= 0;
        match proven(&room) || guard.iter().any(|stated| proven(&room.sub(stated))) {
            true => Need::Proven,
            false => Need::Room(room),
        }
    }

    /// What all launches of an operation need beyond the guard around it, each once.
    fn rooms(&self, op: OpRef<'_>, guard: &[Poly]) -> Vec<Poly> {
        let mut rooms = Vec::new();
        for launch in launches(op) {
            if let Need::Room(room) = self.need(launch, guard)
                && !rooms.contains(&room)
            {
                rooms.push(room);
            }
        }
        rooms
    }

    /// Copies an operation of the program's block; one with guarded versions becomes a choice.
    fn copy(&mut self, op: OpRef<'_>, b: &mut Builder<'_>) -> Result<(), String> {
        if let Some(select) = op.as_::<SelectOp<'_>>() {
            return self.copy_select(select, b);
        }
        let rooms = if op.is::<LaunchOp<'_>>() || op.is::<PackedOp<'_>>() { self.rooms(op, &[]) } else { Vec::new() };
        if rooms.is_empty() {
            return self.copy_launching(op, &[], b);
        }
        let guards = [rooms.clone()];
        let select = SelectOp::build(b, op.loc(), &guards, 2);
        for (index, guard) in [&rooms[..], &[]].into_iter().enumerate() {
            self.enter(select, index, b);
            self.copy_launching(op, guard, b)?;
            b.set_after(select);
        }
        Ok(())
    }

    fn enter(&self, select: Op, version: usize, b: &mut Builder<'_>) {
        let region = b.body().regions(select).nth(version).expect("made with so many");
        let block = b.create_block(region, &[]);
        b.set_to_end(block);
    }

    /// Each version whose launches need room gets one before it that has the room.
    fn copy_select(&mut self, select: SelectOp<'_>, b: &mut Builder<'_>) -> Result<(), String> {
        let op = select.op_ref();
        let stated = select.guards();
        let mut parts = Vec::new();
        for (index, region) in select.versions().enumerate() {
            let guard = stated.get(index).cloned().unwrap_or_default();
            let ops: Vec<OpRef<'_>> = region.entry().into_iter().flat_map(|block| block.ops()).collect();
            let mut rooms: Vec<Poly> = Vec::new();
            for inner in &ops {
                let more = self.rooms(*inner, &guard);
                rooms.extend(more.into_iter().filter(|room| !rooms.contains(room)).collect::<Vec<_>>());
            }
            if !rooms.is_empty() {
                parts.push(([&guard[..], &rooms].concat(), ops.clone()));
            }
            parts.push((guard, ops));
        }
        let guards: Vec<Vec<Poly>> = parts[..parts.len() - 1].iter().map(|(guard, _)| guard.clone()).collect();
        let new = SelectOp::build(b, op.loc(), &guards, parts.len());
        for (index, (guard, ops)) in parts.into_iter().enumerate() {
            self.enter(new, index, b);
            for inner in ops {
                self.copy_launching(inner, &guard, b)?;
            }
            b.set_after(new);
        }
        Ok(())
    }

    /// Copies an operation; its launches run the versions that fit where `guard` holds.
    fn copy_launching(&mut self, op: OpRef<'_>, guard: &[Poly], b: &mut Builder<'_>) -> Result<(), String> {
        let new = self.mapping.clone_op(op, b).map_err(|error| error.to_string())?;
        let made: Vec<Op> = {
            let made = b.op_ref(new);
            launches(made).into_iter().map(|launch| launch.op_ref().op).collect()
        };
        for (launch, made) in launches(op).into_iter().zip(made) {
            let fits = match self.need(launch, guard) {
                Need::Nothing => continue,
                Need::Proven => true,
                Need::Room(_) => false,
            };
            let kernel = launch.kernel();
            let Some(version) = self.versions.get(&kernel).filter(|_| fits) else { continue };
            self.callees.push((made, version.symbol));
            let room = version.signature.substitute(&version.room, &launch.dims());
            if guard.contains(&room) {
                self.guards.push((kernel, room));
            }
        }
        Ok(())
    }
}

/// Lets all programs of a module choose; the guards by which they do.
pub(super) fn choose_in_programs(cx: &Context, body: &mut Body, versions: &Versions) -> Result<Guards, Diagnostic> {
    let programs: Vec<Op> = body.preorder().filter(|op| OpRef::new(cx, body, *op).is::<ProgramOp<'_>>()).collect();
    let mut all = Guards::new();
    for program in programs {
        let view = OpRef::new(cx, body, program);
        let (chosen, guards) = choose(view, versions).map_err(|message| view.error(message))?;
        Rewriter::new(cx, body).replace_nested(program, Box::new(chosen));
        all.extend(guards);
    }
    Ok(all)
}

/// The names of all kernels that the programs of a module launch.
pub(super) fn launched(cx: &Context, body: &Body) -> Vec<Attr> {
    let mut found = Vec::new();
    for op in body.preorder() {
        OpRef::new(cx, body, op).walk(&mut |op| {
            if let Some(launch) = op.as_::<LaunchOp<'_>>() {
                found.push(launch.kernel());
            }
        });
    }
    found
}
