//! Operations of the `target` dialect.

use sutura_ir::constraints::*;
use sutura_ir::op;

use super::constraints::*;

/// A machine: its memory spaces and tensor instructions.
///
/// ```mlir
/// target.machine @x86_avx2 {triple = "x86_64-linux-gnu", features = "+avx2,+fma", launch_ns = 4000} {
///   target.space @vec {class = "reg", owner = "unit", bytes = 512, vector = 32}
///   target.space @dram {class = "dram", owner = "all", gbps = 12}
/// }
/// ```
#[op(
    "target.machine",
    traits(IsolatedFromAbove, Symbol, SymbolTable, NoTerminator, SingleBlock),
    format = "$sym_name attr-dict $body",
    verify,
    verify_regions
)]
pub struct MachineOp {
    sym_name: Attr<SymbolNameAttr>,
    /// What it is for, in a few words.
    summary: OptAttr<StrAttr>,
    /// Triple of the object code.
    triple: Attr<StrAttr>,
    /// Features that code for the machine uses, as LLVM spells them: `+avx2,+fma`. All must be present on a host that
    /// runs it.
    features: Attr<StrAttr>,
    /// Nanoseconds from deciding to run a kernel on several threads to all of them working.
    launch_ns: OptAttr<I64Attr>,
    /// Nanoseconds that a launch takes even if one thread does all the work: a call, and its share of the host program.
    call_ns: OptAttr<I64Attr>,
    /// Peak float operations per nanosecond of one unit, `f32`.
    gflops: OptAttr<I64Attr>,
    /// Operations per nanosecond of one unit on `f32` elements, those of products not counted: additions, comparisons, steps of
    /// functions, some of them multiplications. Absent: half of `gflops`, as where all operations take turns.
    gops: OptAttr<I64Attr>,
    /// Picoseconds until a line of data is there that a cache holds, and that nothing reads ahead because those before it lie
    /// elsewhere.
    line_ps: OptAttr<I64Attr>,
    /// Of a GPU: its architecture, as the vendor's tools spell it: `sm_90`, `gfx942`.
    chip: OptAttr<StrAttr>,
    /// Of a GPU: threads that run in lockstep, a warp or wavefront.
    subgroup: OptAttr<I64Attr>,
    /// What `gir.async_copy` becomes: `nvvm.cp.async`. Absent where a copy is a load and a store.
    async_copy: OptAttr<StrAttr>,
    body: Region,
}

/// A memory space.
#[op("target.space", traits(Symbol), format = "$sym_name attr-dict", verify)]
pub struct SpaceOp {
    sym_name: Attr<SymbolNameAttr>,
    class: Attr<ClassAttr>,
    owner: Attr<OwnerAttr>,
    /// Size; absent for as much as there is.
    bytes: OptAttr<I64Attr>,
    /// Bytes of one register, for registers.
    vector: OptAttr<I64Attr>,
    /// Gigabytes that one unit moves through it each second.
    gbps: OptAttr<I64Attr>,
    /// Bytes that what lies in it is aligned to; of a cache, those of a line.
    align: OptAttr<I64Attr>,
    /// Bytes that a launch touches, of main memory, from which on its stores had better go past the caches. Absent: as
    /// many as the last cache holds.
    stream: OptAttr<I64Attr>,
    /// The hardware moves data in and out: a move may be an alias.
    #[absent]
    cached: Flag,
    /// Moves in and out are operations of the program.
    #[absent]
    managed: Flag,
}

impl SpaceOp<'_> {
    /// Bytes that what lives at once must fit; `None` where more is slower but not wrong: in main memory of no stated
    /// size, in a cache, which evicts, and in registers that the program does not manage, which the backend spills.
    pub fn limit(&self) -> Option<u64> {
        let spills = self.class() == Class::Reg && !self.managed();
        let bytes = self.bytes().filter(|_| !self.cached() && !spills)?;
        Some(u64::try_from(bytes).unwrap_or(0))
    }
}

/// What the blocks share that run at a time on a multiprocessor of a GPU, or on a compute unit: how many there may be.
///
/// ```mlir
/// target.processor {count = 108, parts = 4, registers = 65536, granule = 256, threads = 2048, blocks = 32, bytes = 167936}
/// ```
#[op("target.processor", format = "attr-dict", parents("target.machine"), verify)]
pub struct ProcessorOp {
    /// How many the machine has.
    count: Attr<I64Attr>,
    /// Into how many parts its registers are divided; a subgroup takes those of one.
    parts: Attr<I64Attr>,
    /// 32-bit registers of all threads together.
    registers: Attr<I64Attr>,
    /// Registers of a subgroup are a multiple of this.
    granule: Attr<I64Attr>,
    /// Most threads.
    threads: Attr<I64Attr>,
    /// Most blocks.
    blocks: Attr<I64Attr>,
    /// Most blocks of several subgroups, where those are fewer.
    barriers: OptAttr<I64Attr>,
    /// Bytes of the memory of all blocks together.
    bytes: Attr<I64Attr>,
    /// Bytes of it that every block takes beside its own.
    reserved: OptAttr<I64Attr>,
}

/// An instruction, or a fixed run of instructions, on tiles.
///
/// The body is its meaning, in `gir`. `emit` names what it becomes: `vector.fma`, or an intrinsic of LLVM that takes an accumulator and
/// two factors. Extents may be parameters: `extents` lists the values of each, and each choice is a tile that kernels may have.
/// `numerics` says in words what the instruction does otherwise than the body; absent, it does what the body says, bit for bit.
///
/// ```mlir
/// target.intrinsic @fma_6x16(%a : !gir.tile<vec, f32, [6, 1]>, %b : !gir.tile<vec, f32, [1, 16]>,
///                            %c : !gir.tile<vec, f32, [6, 16]>) emit("vector.fma") {
///   %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [6, 1]>, !gir.tile<vec, f32, [1, 16]>, !gir.tile<vec, f32, [6, 16]>
///   gir.yield %r : !gir.tile<vec, f32, [6, 16]>
/// }
/// target.intrinsic @vpdpbusd(%a : !gir.tile<vec, i8, [M, 4]>, %b : !gir.tile<vec, i8, [4, 16*N]>, %c : !gir.tile<vec, i32, [M, 16*N]>)
///     emit("llvm.x86.avx512.vpdpbusd.512") extents({M = array<i64: 12, 6>, N = array<i64: 2, 1>}) {
///   %r = gir.contract %a, %b, %c {unsigned_lhs} : !gir.tile<vec, i8, [M, 4]>, !gir.tile<vec, i8, [4, 16*N]>, !gir.tile<vec, i32, [M, 16*N]>
///   gir.yield %r : !gir.tile<vec, i32, [M, 16*N]>
/// }
/// ```
#[op(
    "target.intrinsic",
    traits(IsolatedFromAbove, Symbol, SingleBlock),
    format = "$sym_name `` custom<Signature>($body) `emit` `(` $emit `)` (`order` `(` $order^ `)`)? (`numerics` `(` $numerics^ `)`)? \
              (`extents` `(` $extents^ `)`)? $body attr-dict-with-keyword",
    verify_regions
)]
pub struct IntrinsicOp {
    sym_name: Attr<SymbolNameAttr>,
    /// What the lowering to instructions knows it as.
    emit: Attr<StrAttr>,
    /// The order in which an intrinsic of LLVM takes its operands; absent for `acc, lhs, rhs`.
    order: OptAttr<OrderAttr>,
    /// What the instruction does otherwise than the body says: how it rounds, in which order it sums.
    numerics: OptAttr<StrAttr>,
    /// For each parameter of the extents the values that it may have, the best first.
    extents: OptAttr<AnyAttr>,
    body: Region,
}
