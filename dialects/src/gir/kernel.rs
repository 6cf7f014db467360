//! What takes a whole kernel: its arguments by role, and the checks of regions.

use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::VerifyRegions;
use sutura_ir::{OpRef, OpView, Type, Value};

use super::asm::DimDecl;
use super::ops::{ForOp, IdentityOp, KernelOp, SliceOp};
use super::types::ViewType;
use crate::r#dyn::facts::{Facts, SymbolInfo};
use crate::r#dyn::poly::Poly;
use crate::gpu::MOST_THREADS;

/// Most trips of a loop that code has side by side.
pub const MOST_UNROLLED: i64 = 64;

/// Whether units of a device can have so many threads.
pub fn is_threads_of_unit(threads: i64) -> bool {
    (1..=MOST_THREADS).contains(&threads) && threads & (threads - 1) == 0
}

/// How a kernel uses a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Only read.
    In,
    /// Written, every element exactly once, and never read.
    Out,
    /// Read and written.
    InOut,
}

impl Mode {
    /// Spelling in the text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
            Self::InOut => "inout",
        }
    }

    /// The mode spelt `text`.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::In, Self::Out, Self::InOut].into_iter().find(|m| m.as_str() == text)
    }
}

/// A kernel's arguments by role, and what is known of its sizes.
pub struct KernelInfo<'a> {
    /// The kernel.
    pub op: OpRef<'a>,
    /// Views with their modes.
    pub views: Vec<(Value, &'a ViewType, Mode)>,
    /// Sizes with their values in the body.
    pub dims: Vec<(Value, DimDecl)>,
    /// Extents of the grid with the indices in the body, outermost first.
    pub grid: Vec<(Value, Poly)>,
    /// Index of the unit, when there are several.
    pub unit: Option<Value>,
    /// Units in a group.
    pub units: i64,
    /// Threads of a device that a unit is, where the kernel says it.
    pub threads: Option<i64>,
    /// Sizes that must not be negative.
    pub requires: Vec<Poly>,
}

impl<'a> KernelInfo<'a> {
    /// Reads a kernel.
    ///
    /// # Errors
    /// Says what does not fit: attributes against each other or against the body's arguments.
    pub fn read(op: OpRef<'a>) -> Result<Self, String> {
        let (cx, kernel, body) = (op.cx, KernelOp::from_ref(op), op.inside());
        let entry = body.entry_block().ok_or("the kernel has no body")?;
        let modes: Option<Vec<Mode>> =
            cx.array(kernel.modes_attr()).and_then(|list| list.iter().map(|a| Mode::parse(cx.as_str(*a)?)).collect());
        let modes = modes.ok_or("'modes' must hold 'in', 'out' and 'inout'")?;
        let decls: Option<Vec<DimDecl>> =
            cx.array(kernel.dims_attr()).and_then(|list| list.iter().map(|a| DimDecl::read(cx, *a)).collect());
        let decls = decls.ok_or("each entry of 'dims' must have 'name', 'min', 'max' and 'div'")?;
        let (grid, units) = (kernel.grid(), kernel.units());
        if units < 1 {
            return Err(format!("a group has at least one unit, not {units}"));
        }
        let threads = kernel.threads();
        if let Some(threads) = threads.filter(|threads| !is_threads_of_unit(*threads)) {
            return Err(format!("has units of {threads} threads; it must be a power of two, {MOST_THREADS} at most"));
        }
        let args = body.block_args(entry);
        let expected = modes.len() + decls.len() + grid.len() + usize::from(units > 1);
        if args.len() != expected {
            return Err(format!("the body takes {} arguments but the header declares {expected}", args.len()));
        }
        let (views, rest) = args.split_at(modes.len());
        let (dims, rest) = rest.split_at(decls.len());
        let (indices, unit) = rest.split_at(grid.len());
        let view = |v: Value| cx.type_as::<ViewType>(body.ty(v)).ok_or("the first arguments must be views");
        if dims.iter().chain(indices).chain(unit).any(|v| body.ty(*v) != Type::INDEX) {
            return Err("sizes, grid indices and the unit are of type index".to_string());
        }
        Ok(Self {
            op,
            views: views.iter().zip(modes).map(|(v, m)| Ok((*v, view(*v)?, m))).collect::<Result<_, &str>>()?,
            dims: dims.iter().copied().zip(decls).collect(),
            grid: indices.iter().copied().zip(grid).collect(),
            unit: unit.first().copied(),
            units,
            threads,
            requires: kernel.requires(),
        })
    }

    /// How the kernel uses the memory of a slice, under whatever dimensions; `None` for memory of its own.
    pub fn mode_of(&self, slice: Value) -> Option<Mode> {
        let body = self.op.inside();
        let made = |value: Value| body.defining_op(value).map(|made| OpRef::new(self.op.cx, body, made));
        let mut view = made(slice).and_then(|made| Some(made.as_::<SliceOp<'_>>()?.view()));
        while let Some(value) = view {
            if let Some((.., mode)) = self.views.iter().find(|(v, ..)| *v == value) {
                return Some(*mode);
            }
            view = made(value).and_then(|made| Some(made.as_::<IdentityOp<'_>>()?.view()));
        }
        None
    }

    /// Checks that the sizes are stated soundly and that the header uses no others.
    fn check_sizes(&self) -> Result<(), String> {
        for (i, (_, DimDecl { name, min, max, div })) in self.dims.iter().enumerate() {
            if *min < 0 || min > max {
                return Err(format!("states '{name}' in [{min}, {max}]: sizes lie between 0 and their maximum"));
            }
            if *div < 1 {
                return Err(format!("states '{name}' as multiple of {div}"));
            }
            if self.dims[..i].iter().any(|(_, other)| other.name == *name) {
                return Err(format!("states '{name}' twice"));
            }
        }
        for (_, view, _) in &self.views {
            self.check_known(view.dims.iter().chain(view.strides.iter().flatten()))?;
        }
        self.check_known(self.grid.iter().map(|(_, extent)| extent).chain(&self.requires))
    }

    /// Checks that polynomials are over the kernel's dims.
    pub(super) fn check_known<'p>(&self, polys: impl IntoIterator<Item = &'p Poly>) -> Result<(), String> {
        for poly in polys {
            if let Some(name) = poly.symbols().iter().find(|s| !self.dims.iter().any(|(_, d)| d.name == ***s)) {
                return Err(format!("uses the size {poly}, but '{name}' is no dim of the kernel"));
            }
        }
        Ok(())
    }

    /// What the header states of the sizes.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        for (_, dim) in &self.dims {
            let info = SymbolInfo { min: dim.min, max: dim.max, div: dim.div, likely: Vec::new() };
            facts.define(&dim.name, info);
        }
        facts
    }
}

impl VerifyRegions for KernelOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let checked = KernelInfo::read(op).and_then(|info| info.check_sizes());
        checked.map_err(|message| diags.report(op.error(message)))
    }
}

impl VerifyRegions for ForOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = ForOp::from_ref(op);
        if let Some(trips) = this.unroll().filter(|trips| !(2..=MOST_UNROLLED).contains(trips)) {
            return Err(diags.report(op.error(format!("unrolls {trips} trips: 2 to {MOST_UNROLLED} are possible"))));
        }
        let inits: Vec<Type> = this.inits().map(|v| op.ty(v)).collect();
        let Some(entry) = this.body().entry() else {
            return Err(diags.report(op.error("must have a body")));
        };
        let args: Vec<Type> = entry.args().iter().map(|v| op.ty(*v)).collect();
        let mut expected = vec![Type::INDEX];
        expected.extend(&inits);
        if args != expected {
            return Err(diags.report(op.error("the body takes the index and one argument per carried value")));
        }
        let yielded: Vec<Type> = entry.terminator().map(|t| t.operand_types().collect()).unwrap_or_default();
        if yielded != inits {
            return Err(diags.report(op.error("the body must yield one value per carried value, of its type")));
        }
        Ok(())
    }
}
