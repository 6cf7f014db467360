//! What the lowering takes from the module's machine.

use sutura_dialects::gir::types::TileType;
use sutura_dialects::target::constraints::Class;
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::{Body, Context, Loc};

/// The CPU that is lowered for.
pub(super) struct Cpu {
    /// Elements of 32 bits that a vector holds.
    pub(super) lanes: i64,
    /// Whether a product and a sum in one step are an instruction.
    pub(super) fused: bool,
    /// Bytes that a launch touches from which on stores go past the caches; `None` without a machine that says.
    pub(super) stream_bytes: Option<i64>,
    /// Bytes of the largest cache that a unit has for itself, and of a line of the nearest; 0 without.
    pub(super) own_cache_bytes: i64,
    pub(super) line_bytes: i64,
    /// Names of the spaces that are registers.
    registers: Vec<String>,
}

/// Bytes of a vector where neither option nor machine says.
const VECTOR_BYTES: i64 = 64;

/// True for widths that vectors may have.
pub(super) fn is_width(bytes: i64) -> bool {
    (4..=256).contains(&bytes) && bytes & (bytes - 1) == 0
}

impl Cpu {
    /// The module's machine, with vectors of `bytes` bytes, unless that is 0.
    pub(super) fn of_module(cx: &Context, module: &Body, bytes: i64) -> Result<Self, Box<Diagnostic>> {
        let plain = |message: String| Box::new(Diagnostic::error(Loc::UNKNOWN, message));
        let Some(machine) = machine_in(cx, module).map_err(plain)? else {
            let bytes = if bytes == 0 { VECTOR_BYTES } else { bytes };
            let registers = vec!["vec".into(), "reg".into()];
            return Ok(Self {
                lanes: bytes / 4,
                fused: true,
                stream_bytes: None,
                own_cache_bytes: 0,
                line_bytes: 0,
                registers,
            });
        };
        let desc = TargetDesc::from_op(machine).map_err(plain)?;
        let own = i64::try_from(desc.vector_bytes()).unwrap_or(i64::MAX);
        let bytes = match (bytes, own) {
            // A machine without vectors computes with scalars.
            (0, 0) => 4,
            (0, own) if is_width(own) => own,
            (0, own) => {
                let message = format!("has vectors of {own} bytes; a CPU's are a power of two from 4 to 256");
                return Err(Box::new(machine.error(message)));
            }
            (bytes, _) => bytes,
        };
        let registers = desc.of_class(Class::Reg).map(|space| space.name.clone()).collect();
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        Ok(Self {
            lanes: bytes / 4,
            fused: desc.has_fma(),
            stream_bytes: desc.stream_bytes().map(number),
            own_cache_bytes: number(desc.own_cache_bytes()),
            line_bytes: desc.caches().next().map_or(0, |cache| number(cache.align)),
            registers,
        })
    }

    /// True when a tile is held in registers: it lies in a register space, or it has one column.
    pub(super) fn in_registers(&self, ty: &TileType) -> bool {
        self.registers.iter().any(|name| **name == *ty.space) || ty.cols.as_const() == Some(1)
    }
}
