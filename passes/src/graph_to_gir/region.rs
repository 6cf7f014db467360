//! A `graph.fusion` as the lowerings see it, and what they make of it.

use std::collections::HashSet;

use sutura_dialects::r#dyn::ops::SymbolOp;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::r#dyn::{Facts, SymbolInfo};
use sutura_dialects::gir::types::ViewType;
use sutura_dialects::graph::{ConstantOp, FusionOp, ReshapeOp, SizeOp};
use sutura_dialects::schedule::TreeAttr;
use sutura_ir::{Attr, OpRef, Type, Value};

use super::kernel::{Built, Kernel};
use super::machine::Machine;
use crate::region::nest::{Nest, sizes};
use crate::region::products::{Part, parts, siblings};
use crate::region::{Access, Contents, Family, Misfit, family};

/// A region to be lowered.
#[derive(Clone)]
pub(super) struct FusedRegion<'a> {
    /// The `graph.fusion`.
    pub(super) op: OpRef<'a>,
    /// What its kernels run on.
    pub(super) machine: &'a Machine,
    /// What is known of its symbols.
    pub(super) facts: Facts,
    /// Tensors that it takes, as arguments of its body.
    pub(super) inputs: Vec<Value>,
    /// The ops that compute, in order.
    pub(super) ops: Vec<OpRef<'a>>,
    /// Values that it yields, each once.
    pub(super) outputs: Vec<Value>,
    /// What it yields, one value per result.
    pub(super) yielded: Vec<Value>,
    /// What one rule takes it as.
    family: Option<Family>,
}

/// A part of what a region does, in versions of which the last has no guard.
pub(super) struct Step {
    /// Guards and launches, which run one after another.
    pub(super) versions: Vec<(Vec<Poly>, Vec<Launch>)>,
}

/// One launch.
pub(super) struct Launch {
    /// What is launched.
    pub(super) kernel: Kernel,
    /// What is passed.
    pub(super) args: Vec<Arg>,
    /// Scalar operations of all groups together.
    pub(super) work: Poly,
    /// It runs at once with the launch before it; nothing flows between them.
    pub(super) beside: bool,
}

/// A buffer that a kernel is launched on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arg {
    /// A tensor of the region.
    Tensor(Value),
    /// A temporary of its kernels, by number.
    Temporary(usize),
}

/// What a region becomes.
#[derive(Default)]
pub(super) struct Lowered {
    /// Buffers between its kernels.
    pub(super) temporaries: Vec<ViewType>,
    /// What is copied before them: a tensor, and a result that is that at first.
    pub(super) copies: Vec<(Arg, Arg)>,
    /// The launches, in order.
    pub(super) steps: Vec<Step>,
    /// What is said of them.
    pub(super) remarks: Vec<String>,
    /// Sizes that must be at least 0, which only the run tells: then the kernels do what they should.
    pub(super) conditions: Vec<Poly>,
    /// The schedule that a rule wrote for them, where one did.
    pub(super) schedule: Option<TreeAttr>,
}

impl<'a> FusedRegion<'a> {
    /// Reads a fusion.
    ///
    /// # Errors
    /// When its facts contradict each other.
    pub(super) fn read(op: OpRef<'a>, machine: &'a Machine) -> Built<Self> {
        let entry = op.as_::<FusionOp<'a>>().and_then(|f| f.body().entry());
        let Some(entry) = entry else { return Err(Box::new(op.error("has an empty body"))) };
        let facts = Facts::of_block(entry).map_err(|(op, c)| Box::new(op.error(c)))?;
        let Contents { ops, yielded, outputs } = Contents::of(entry);
        let family = family(&facts, &ops, &outputs, machine.windows()).ok();
        Ok(Self { op, machine, facts, inputs: entry.args().to_vec(), ops, outputs, yielded, family })
    }

    /// What one rule takes it as; nothing where each of its ops is taken alone.
    pub(super) fn family(&self) -> Option<Family> {
        self.family
    }

    /// Why no rule takes all of it.
    pub(super) fn misfit(&self) -> Misfit {
        let family = family(&self.facts, &self.ops, &self.outputs, self.machine.windows());
        family.err().unwrap_or_else(|| Misfit("no rule takes it".to_owned()))
    }

    /// Its parts: products of one left factor, between which nothing flows, or all that it is.
    pub(super) fn parts(&self) -> Vec<Self> {
        match siblings(&self.facts, &self.ops, &self.outputs) {
            Some(Ok(_)) => parts(&self.ops, &self.outputs).into_iter().map(|part| self.part(part)).collect(),
            _ => vec![self.part(Part { ops: self.ops.clone(), outputs: self.outputs.clone() })],
        }
    }

    /// A part of it as a region of its own.
    pub(super) fn part(&self, part: Part<'a>) -> Self {
        let Part { ops, outputs } = part;
        Self { ops, yielded: outputs.clone(), outputs, ..self.clone() }
    }

    /// The same region where a symbol has this value.
    pub(super) fn at_size(&self, name: &str, value: i64) -> Self {
        let mut facts = self.facts.clone();
        facts.define(name, SymbolInfo { min: value, max: value, ..facts.info(name) });
        Self { facts, ..self.clone() }
    }

    /// The same region for a machine that differs from its own in register tiles.
    pub(super) fn with_tiles_of(&self, machine: &'a Machine) -> Self {
        Self { machine, ..self.clone() }
    }

    /// By how much tensors are longer than what runs along them, where an equality alone says that this is not negative: a kernel
    /// knows the ranges of its sizes only, and requires what the program knows.
    pub(super) fn rooms<'n>(&self, nest: &Nest<'_>, reads: impl Iterator<Item = &'n Access>) -> Vec<Poly> {
        let mut ranges = Facts::new();
        self.facts.symbols().for_each(|(name, info)| ranges.define(name, info.clone()));
        let mut rooms = Vec::new();
        for read in reads {
            for (expr, size) in read.index.iter().zip(nest.shapes.get(&read.value).into_iter().flatten()) {
                let Some(dim) = nest.plain(*expr) else { continue };
                let room = self.facts.canonical(&size.sub(&nest.extents[dim]));
                rooms.extend(
                    (!ranges.prove_non_negative(&room) && self.facts.prove_non_negative(&room)).then_some(room),
                );
            }
        }
        rooms
    }

    /// A tensor in memory.
    pub(super) fn view(&self, nest: &Nest<'_>, value: Value) -> ViewType {
        let dims = sizes(nest.cx, nest.body, &self.facts, value).expect("the normal form knows all sizes");
        ViewType::new(&self.machine.memory, nest.cx.element_type(nest.body.ty(value)), dims)
    }

    /// Sizes that the body of an op computes with.
    pub(super) fn sizes_in(&self, op: OpRef<'_>) -> Vec<Poly> {
        let mut sizes = Vec::new();
        op.walk(&mut |o| sizes.extend(o.as_::<SizeOp<'_>>().map(|s| self.facts.canonical(s.size()))));
        sizes
    }

    /// True for a constant of finite floats.
    pub(super) fn is_finite(&self, value: Value) -> bool {
        let cx = self.op.cx;
        let floats = self.constant(value).and_then(|constant| cx.dense(constant));
        let floats = floats.filter(|elements| cx.element_type(elements.ty()) == Type::F32);
        floats.is_some_and(|floats| floats.words().all(|word| f32::from_bits(word as u32).is_finite()))
    }

    /// True for a tensor that is known at compile time, so that what only it goes into costs nothing at run time: a constant, or what
    /// other regions make of constants, such as a factor that was quantized.
    pub(super) fn is_constant(&self, value: Value) -> bool {
        let Some(at) = self.inputs.iter().position(|i| *i == value) else { return false };
        let (mut left, mut seen) = (vec![self.op.operand(at)], HashSet::new());
        while let Some(value) = left.pop() {
            let Some(def) = self.op.body.defining_op(value).map(|o| self.op.at(o)) else { return false };
            let made = def.is::<ReshapeOp<'_>>() || def.is::<FusionOp<'_>>() && !depends_on_sizes(def);
            if !made && !def.is::<ConstantOp<'_>>() {
                return false;
            }
            if seen.insert(def.op) {
                left.extend(def.operands());
            }
        }
        true
    }

    /// The elements of a tensor that is known at compile time.
    fn constant(&self, value: Value) -> Option<Attr> {
        let at = self.inputs.iter().position(|i| *i == value)?;
        let mut value = self.op.operand(at);
        loop {
            let def = self.op.body.defining_op(value).map(|o| self.op.at(o))?;
            match def.as_::<ReshapeOp<'_>>() {
                Some(reshape) => value = reshape.input(),
                None => return Some(def.as_::<ConstantOp<'_>>()?.elements()),
            }
        }
    }
}

/// True for a region that names sizes: what it computes may be another thing at each call.
fn depends_on_sizes(region: OpRef<'_>) -> bool {
    let mut named = false;
    region.walk(&mut |o| named |= o.is::<SymbolOp<'_>>() || o.is::<SizeOp<'_>>());
    named
}
