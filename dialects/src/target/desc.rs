//! A machine's description as numbers: what plans and cost models ask.

use sutura_ir::asm::print::{PrintOptions, op_text};
use sutura_ir::{Body, Builder, IrMapping, OpRef, OpView, Type, Value};

use super::constraints::{Class, Owner};
use super::instances::signatures;
use super::ops::{IntrinsicOp, MachineOp, ProcessorOp, SpaceOp};
use super::processor::ProcessorDesc;
use super::verify::feature_list;
use crate::gir::ops::{ContractOp, YieldOp};
use crate::gir::types::TileType;

/// A machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetDesc {
    /// Name of the description.
    pub name: String,
    /// What it is for, in a few words.
    pub summary: String,
    /// Triple of the object code.
    pub triple: String,
    /// Features with their sign, as LLVM spells them: `+avx2`.
    pub features: Vec<String>,
    /// Spaces, in the order of the description.
    pub spaces: Vec<SpaceDesc>,
    /// Intrinsics that multiply and add one register tile.
    pub register_tiles: Vec<RegisterTile>,
    /// Nanoseconds that it takes until several threads work on a kernel.
    pub launch_ns: u64,
    /// Nanoseconds that a launch takes even if one thread does all the work.
    pub call_ns: u64,
    /// Peak float operations per nanosecond of one unit.
    pub gflops: u64,
    /// Operations per nanosecond of one unit on `f32` elements that are not those of products.
    pub gops: u64,
    /// Picoseconds until a line of data is there that a cache holds and that nothing reads ahead.
    pub line_ps: u64,
    /// Of a GPU: its architecture, as the vendor's tools spell it.
    pub chip: Option<String>,
    /// Of a GPU: threads that run in lockstep.
    pub subgroup: Option<u64>,
    /// What asynchronous copies become; `None` for a load and a store.
    pub async_copy: Option<String>,
    /// Of a GPU: what blocks share, where that is known.
    pub processor: Option<ProcessorDesc>,
    /// Hash of the description's text, in hexadecimal: for manifests.
    pub hash: String,
}

/// A memory space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpaceDesc {
    /// Name.
    pub name: String,
    /// Kind of memory.
    pub class: Class,
    /// Who has one of its own.
    pub owner: Owner,
    /// Size; `None` for as much as there is.
    pub bytes: Option<u64>,
    /// Bytes of one register.
    pub vector: Option<u64>,
    /// Gigabytes, or bytes per nanosecond, that one unit moves.
    pub gbps: Option<u64>,
    /// Alignment in bytes.
    pub align: u64,
    /// Of main memory: bytes that a launch touches from which on its stores had better go past the caches.
    pub stream: Option<u64>,
    /// Moves may be aliases.
    pub cached: bool,
    /// Moves are operations of the program.
    pub managed: bool,
}

/// An intrinsic that means `acc + a . b` with `a` of `[mr, kr]`, `b` of `[kr, nr]` and `acc` of `[mr, nr]`; where `b` has several places
/// side by side, it is `[kr / interleave, nr * interleave]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisterTile {
    /// Name of the intrinsic.
    pub name: String,
    /// What it becomes.
    pub emit: String,
    /// Space of the accumulator.
    pub space: String,
    /// Element type of both operands.
    pub operand: Type,
    /// Whether integers of each operand have no sign.
    pub unsigned: [bool; 2],
    /// Element type of the accumulator.
    pub acc: Type,
    /// Rows.
    pub mr: i64,
    /// Columns.
    pub nr: i64,
    /// Depth.
    pub kr: i64,
    /// Places of the depth that lie side by side in each column of `b`.
    pub interleave: i64,
}

/// What a description without the number is taken to have.
const DEFAULT_LAUNCH_NS: u64 = 5000;
const DEFAULT_CALL_NS: u64 = 150;
const DEFAULT_GFLOPS: u64 = 8;
const DEFAULT_LINE_PS: u64 = 2500;
const DEFAULT_GBPS: u64 = 8;

impl TargetDesc {
    /// Reads a verified `target.machine`.
    ///
    /// # Errors
    /// When `op` is no machine.
    pub fn from_op(op: OpRef<'_>) -> Result<Self, String> {
        let machine = op.as_::<MachineOp>().ok_or_else(|| format!("'{}' is no target.machine", op.name_str()))?;
        let entry = machine.body().entry().ok_or("the machine describes no spaces")?;
        let positive = |value: Option<i64>| value.and_then(|v| u64::try_from(v).ok());
        let gflops = positive(machine.gflops()).unwrap_or(DEFAULT_GFLOPS);
        Ok(Self {
            name: machine.sym_name().to_owned(),
            summary: machine.summary().unwrap_or_default().to_owned(),
            triple: machine.triple().to_owned(),
            features: feature_list(machine.features()).map(str::to_owned).collect(),
            spaces: entry.ops().filter_map(|o| o.as_::<SpaceOp>()).map(SpaceDesc::read).collect(),
            register_tiles: entry.ops().filter_map(|o| o.as_::<IntrinsicOp>()).flat_map(RegisterTile::read).collect(),
            launch_ns: positive(machine.launch_ns()).unwrap_or(DEFAULT_LAUNCH_NS),
            call_ns: positive(machine.call_ns()).unwrap_or(DEFAULT_CALL_NS),
            gflops,
            gops: positive(machine.gops()).unwrap_or(gflops.div_ceil(2)),
            line_ps: positive(machine.line_ps()).unwrap_or(DEFAULT_LINE_PS),
            chip: machine.chip().map(str::to_owned),
            subgroup: positive(machine.subgroup()),
            async_copy: machine.async_copy().map(str::to_owned),
            processor: entry.ops().find_map(|o| ProcessorDesc::read(o.as_::<ProcessorOp>()?)),
            hash: hash_of(op)?,
        })
    }

    /// The space called `name`.
    pub fn space(&self, name: &str) -> Option<&SpaceDesc> {
        self.spaces.iter().find(|s| s.name == name)
    }

    /// Spaces of a class, in the order of the description.
    pub fn of_class(&self, class: Class) -> impl Iterator<Item = &SpaceDesc> {
        self.spaces.iter().filter(move |s| s.class == class)
    }

    /// The vector registers: the first registers with a width.
    pub fn vector_space(&self) -> Option<&SpaceDesc> {
        self.of_class(Class::Reg).find(|s| s.vector.is_some())
    }

    /// Bytes of a vector register; 0 for a machine without.
    pub fn vector_bytes(&self) -> u64 {
        self.vector_space().and_then(|s| s.vector).unwrap_or(0)
    }

    /// Number of vector registers.
    pub fn registers(&self) -> u64 {
        self.vector_space().map_or(0, |s| s.bytes.unwrap_or(0) / s.vector.unwrap_or(1).max(1))
    }

    /// Elements of `bits` bits that a vector register holds, at least 1.
    pub fn lanes(&self, bits: u32) -> u64 {
        (self.vector_bytes() * 8 / u64::from(bits.max(1))).max(1)
    }

    /// Caches, nearest first.
    pub fn caches(&self) -> impl Iterator<Item = &SpaceDesc> {
        self.of_class(Class::Sram).filter(|s| s.cached)
    }

    /// Bytes of the cache farthest from the units; 0 without caches.
    pub fn last_cache_bytes(&self) -> u64 {
        self.caches().last().and_then(|s| s.bytes).unwrap_or(0)
    }

    /// Bytes that a launch touches from which on its stores had better go past the caches: main memory's `stream`, or
    /// what the last cache holds; `None` for a machine without caches.
    pub fn stream_bytes(&self) -> Option<u64> {
        let own = self.of_class(Class::Dram).find_map(|s| s.stream);
        own.or_else(|| Some(self.last_cache_bytes()).filter(|bytes| *bytes > 0))
    }

    /// Bytes of the largest cache that a unit has for itself; 0 without one.
    pub fn own_cache_bytes(&self) -> u64 {
        self.caches().filter(|s| s.owner == Owner::Unit).filter_map(|s| s.bytes).max().unwrap_or(0)
    }

    /// Bytes per nanosecond between main memory and one unit.
    pub fn dram_gbps(&self) -> u64 {
        self.of_class(Class::Dram).find_map(|s| s.gbps).unwrap_or(DEFAULT_GBPS)
    }

    /// Nanoseconds that one unit takes for so much traffic and so many float operations.
    pub fn unit_ns(&self, dram_bytes: u64, flops: u64) -> u64 {
        (dram_bytes / self.dram_gbps().max(1)).max(flops / self.gflops.max(1))
    }

    /// True when a kernel of so much work is worth several threads: they save at least what it costs to wake them.
    pub fn pays_threads(&self, dram_bytes: u64, flops: u64) -> bool {
        self.unit_ns(dram_bytes, flops) > 2 * self.launch_ns
    }

    /// True for registers that are no vectors, and that an intrinsic for products of narrow numbers computes with.
    pub fn only_multiplies(&self, space: &str) -> bool {
        let vectors = self.vector_space().is_some_and(|vectors| vectors.name == space);
        !vectors
            && self.register_tiles.iter().any(|tile| tile.space == space && tile.kr > 1 && tile.operand != tile.acc)
    }

    /// Features that a host must have, without their sign.
    pub fn required_features(&self) -> impl Iterator<Item = &str> {
        self.features.iter().filter_map(|f| f.strip_prefix('+'))
    }

    /// True when multiplying and adding with one rounding is an instruction.
    pub fn has_fma(&self) -> bool {
        self.subgroup.is_some()
            || self.triple.starts_with("aarch64")
            || self.required_features().any(|f| f == "fma" || f == "avx512f")
            || self.triple.starts_with("riscv64") && self.required_features().any(|f| f == "d")
    }

    /// The features as LLVM takes them: `+avx2,+fma`.
    pub fn feature_string(&self) -> String {
        self.features.join(",")
    }
}

impl SpaceDesc {
    fn read(op: SpaceOp<'_>) -> Self {
        let positive = |value: Option<i64>| value.and_then(|v| u64::try_from(v).ok());
        Self {
            name: op.sym_name().to_owned(),
            class: op.class(),
            owner: op.owner(),
            bytes: positive(op.bytes()),
            vector: positive(op.vector()),
            gbps: positive(op.gbps()),
            align: positive(op.align()).unwrap_or(1),
            stream: positive(op.stream()),
            cached: op.cached(),
            managed: op.managed(),
        }
    }
}

impl RegisterTile {
    /// One for each choice of the intrinsic's extents; nothing when its meaning is not one contraction of its operands, in order.
    fn read(op: IntrinsicOp<'_>) -> Vec<Self> {
        let Some(Contracts { unsigned, interleave }) = contracts(op) else { return vec![] };
        let cx = op.op_ref().cx;
        let of = |types: Vec<Type>| {
            let tile = |i: usize| cx.type_as::<TileType>(types[i]);
            let (a, b, acc) = (tile(0)?, tile(1)?, tile(2)?);
            let ((mr, kr), (_, nr)) = (a.extents()?, acc.extents()?);
            (a.elem == b.elem).then(|| Self {
                name: op.sym_name().to_owned(),
                emit: op.emit().to_owned(),
                space: acc.space.to_string(),
                operand: a.elem,
                unsigned,
                acc: acc.elem,
                mr,
                nr,
                kr,
                interleave,
            })
        };
        signatures(op.op_ref()).into_iter().filter_map(|(operands, _)| of(operands)).collect()
    }
}

/// How an intrinsic contracts its first two arguments into the third.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contracts {
    /// Whether integers of each factor have no sign.
    pub unsigned: [bool; 2],
    /// Places of the sum that lie side by side in each column of the right factor.
    pub interleave: i64,
}

impl Contracts {
    /// How a contraction of tiles does it.
    pub fn of(op: ContractOp<'_>) -> Self {
        Self { unsigned: [op.unsigned_lhs(), op.unsigned_rhs()], interleave: op.interleave().unwrap_or(1) }
    }
}

/// How an intrinsic contracts, where that is its meaning.
pub fn contracts(op: IntrinsicOp<'_>) -> Option<Contracts> {
    let entry = op.body().entry()?;
    let ops: Vec<OpRef<'_>> = entry.ops().collect();
    let [contract, end] = &ops[..] else { return None };
    let (contract, end) = (contract.as_::<ContractOp>()?, end.as_::<YieldOp>()?);
    let operands: Vec<Value> = contract.op_ref().operands().collect();
    let whole = operands.len() == 3 && operands == entry.args();
    let yields = end.args().collect::<Vec<_>>() == [contract.result()];
    (whole && yields).then(|| Contracts::of(contract))
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo), of the generic form: comments and layout of the file do not matter.
fn hash_of(op: OpRef<'_>) -> Result<String, String> {
    // Values without a name are numbered through all that lies around them, so the machine is printed by itself.
    let mut alone = Body::with_block(1);
    let block = alone.entry_block().expect("made with one");
    let copy = IrMapping::new().clone_op(op, &mut Builder::at_end(op.cx, &mut alone, block));
    let copy = copy.map_err(|_| "a machine has no operands")?;
    let options = PrintOptions { discard_value_names: true, ..PrintOptions::generic() };
    let text = op_text(OpRef::new(op.cx, &alone, copy), &options);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    Ok(format!("{hash:016x}"))
}
