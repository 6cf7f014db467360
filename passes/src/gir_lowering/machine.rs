//! What the lowering takes from the module's machine.

use sutura_dialects::gir::types::TileType;
use sutura_dialects::target::constraints::{Class, Owner};
use sutura_dialects::target::ops::MachineOp;
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::{Body, Context, Loc};

/// The machine that is lowered for.
pub(super) struct Machine {
    /// Elements of 32 bits that a register holds, and that a step of a loop over strips takes.
    pub(super) lanes: Lanes,
    /// Whether a product and a sum in one step are an instruction.
    pub(super) fused: bool,
    /// Of a GPU, threads that run in lockstep, and bytes of memory that a block has, where the machine says.
    pub(super) subgroup: Option<i64>,
    pub(super) shared_bytes: Option<i64>,
    /// Whether a GPU copies asynchronously.
    pub(super) async_copy: bool,
    /// Names of the spaces that are registers.
    registers: Vec<String>,
    /// Those of them that only multiply.
    multiplying: Vec<String>,
}

/// Widths of vectors of a kernel, in elements, whatever their type.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    /// Bytes of a register.
    pub(super) bytes: i64,
    pub(super) register: i64,
    /// Two registers where a cache line holds them. A processor looks ahead by so many instructions, and an expanded function
    /// takes dozens, each of which waits for the one before: two of them side by side wait half as often. Lines are asked
    /// for once, and stores past the caches fill them at once.
    pub(super) step: i64,
}

impl Lanes {
    /// All vectors of one width.
    fn only(bytes: i64) -> Self {
        Self { bytes, register: bytes / 4, step: bytes / 4 }
    }

    /// Those of a kernel that computes in elements of `bits` bits.
    pub(super) fn of_elements(self, bits: u32) -> Self {
        let of = |lanes: i64| (lanes * 32 / i64::from(bits)).max(1);
        // What computes with scalars has no registers for more.
        if self.register == 1 { self } else { Self { register: of(self.register), step: of(self.step), ..self } }
    }

    /// Registers of so many bytes, on a machine with such cache lines (0 without).
    fn of(bytes: i64, line: i64) -> Self {
        // What computes with scalars is not faster with two.
        let two = if bytes > 4 && 2 * bytes <= line { 2 } else { 1 };
        Self { step: two * bytes / 4, ..Self::only(bytes) }
    }
}

/// What asynchronous copies become on NVIDIA's GPUs from Ampere on.
const CP_ASYNC: &str = "nvvm.cp.async";

/// Bytes of a vector where neither option nor machine says.
const VECTOR_BYTES: i64 = 64;

/// True for widths that vectors may have.
pub(super) fn is_width(bytes: i64) -> bool {
    (4..=256).contains(&bytes) && bytes & (bytes - 1) == 0
}

/// Rows of a tile in a cache, and elements of one in registers, that code is made for one by one.
const MOST_UNROLLED: i128 = 1 << 16;

impl Machine {
    /// The module's machine, with vectors of `bytes` bytes, unless that is 0.
    pub(super) fn of_module(cx: &Context, module: &Body, bytes: i64) -> Result<Self, Box<Diagnostic>> {
        let plain = |message: String| Box::new(Diagnostic::error(Loc::UNKNOWN, message));
        let Some(machine) = machine_in(cx, module).map_err(plain)? else {
            let bytes = if bytes == 0 { VECTOR_BYTES } else { bytes };
            let registers = vec!["vec".into(), "reg".into()];
            return Ok(Self {
                lanes: Lanes::only(bytes),
                fused: true,
                subgroup: None,
                shared_bytes: None,
                async_copy: false,
                registers,
                multiplying: vec![],
            });
        };
        let desc = TargetDesc::from_op(machine).map_err(plain)?;
        let own = i64::try_from(desc.vector_bytes()).unwrap_or(i64::MAX);
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let line_bytes = desc.caches().next().map_or(0, |cache| number(cache.align));
        let lanes = match (bytes, own) {
            // A machine without vectors computes with scalars.
            (0, 0) => Lanes::only(4),
            (0, own) if is_width(own) => Lanes::of(own, line_bytes),
            (0, own) => {
                let message = format!("has vectors of {own} bytes; a CPU's are a power of two from 4 to 256");
                return Err(Box::new(machine.error(message)));
            }
            (bytes, _) => Lanes::only(bytes),
        };
        let registers: Vec<String> = desc.of_class(Class::Reg).map(|space| space.name.clone()).collect();
        let multiplying = registers.iter().filter(|space| desc.only_multiplies(space)).cloned().collect();
        let fused = desc.has_fma();
        Ok(Self { lanes, fused, subgroup: None, shared_bytes: None, async_copy: false, registers, multiplying })
    }

    /// The module's machine, a GPU: its threads take single elements, or a few neighbours, and share no cache with others.
    pub(super) fn of_gpu(cx: &Context, module: &Body) -> Result<Self, Box<Diagnostic>> {
        let plain = |message: String| Box::new(Diagnostic::error(Loc::UNKNOWN, message));
        let machine = machine_in(cx, module).map_err(plain)?;
        let async_copy = machine.and_then(|op| op.as_::<MachineOp<'_>>()?.async_copy());
        if let (Some(name), Some(machine)) = (async_copy.filter(|name| *name != CP_ASYNC), machine) {
            let message = format!("copies asynchronously by '{name}'; what is known is '{CP_ASYNC}'");
            return Err(Box::new(machine.error(message)));
        }
        let desc = machine.map(TargetDesc::from_op).transpose().map_err(plain)?;
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let shared = desc.iter().flat_map(|desc| desc.of_class(Class::Sram));
        let shared = shared.filter(|space| space.managed && space.owner == Owner::Group).find_map(|space| space.bytes);
        let registers = match &desc {
            Some(desc) => desc.of_class(Class::Reg).map(|space| space.name.clone()).collect(),
            None => vec!["vec".into(), "reg".into()],
        };
        Ok(Self {
            lanes: Lanes::only(4),
            // A quick division asks whether all lanes of a register are ordinary numbers, and threads would part.
            fused: false,
            subgroup: desc.and_then(|desc| desc.subgroup).map(number),
            shared_bytes: shared.map(number),
            async_copy: async_copy.is_some(),
            registers,
            multiplying: vec![],
        })
    }

    /// The name of a space that is registers.
    pub(super) fn register_space(&self) -> &str {
        self.registers.first().map_or("reg", String::as_str)
    }

    /// Why a tile is too large to lower: there is code for each of its rows, in registers for each of its elements.
    pub(super) fn too_large(&self, ty: &TileType) -> Option<String> {
        let rows = ty.rows.as_const().unwrap_or(1);
        let (what, cols) = match ty.cols.as_const() {
            Some(cols) if self.in_registers(ty) => ("elements in registers", cols),
            _ => ("rows", 1),
        };
        let count = i128::from(rows) * i128::from(cols);
        let message =
            || format!("makes a tile with {count} {what}, each of which has code of its own: at most {MOST_UNROLLED}");
        (count > MOST_UNROLLED).then(message)
    }

    /// True for a tile in registers that only multiply.
    pub(super) fn only_multiplies(&self, ty: &TileType) -> bool {
        self.multiplying.iter().any(|name| **name == *ty.space)
    }

    /// True when a tile is held in registers: it lies in a register space, or it has one column.
    pub(super) fn in_registers(&self, ty: &TileType) -> bool {
        self.registers.iter().any(|name| **name == *ty.space) || ty.cols.as_const() == Some(1)
    }
}
