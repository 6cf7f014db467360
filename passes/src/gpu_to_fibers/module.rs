//! All device code of a program: variables of blocks, kernels, and what a loader reads.

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::gpu::{GPUFuncOp, GPUModuleOp};
use sutura_dialects::llvm::types::ArrayType;
use sutura_dialects::llvm::{AddressOfOp, GlobalOp, constant_variable};
use sutura_dialects::rt::LaunchOp;
use sutura_ir::asm::bytes_of_text;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::{Attr, AttrData, Body, Builder, Context, Loc, Op, OpRef, OpView, Type};

use super::abi::{ABI_SYMBOL, ABI_VERSION, GAP, KERNELS_SYMBOL, MOST_SITES};
use super::check::check_kernel;
use super::kernel::convert_kernel;
use super::sites::{Described, Placed, Sites, json};
use crate::gpu_to_spirv::types::{SHARED, stride};

/// A variable of a block.
struct Array {
    name: String,
    bytes: u64,
    alignment: u64,
}

/// The variables of a module of device code, in order.
#[derive(Default)]
pub(super) struct Arrays {
    all: Vec<Array>,
}

impl Arrays {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.all.iter().any(|array| array.name == name)
    }

    fn add(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let (global, cx) = (GlobalOp::from_ref(op), op.cx);
        if global.addr_space() != i64::from(SHARED) {
            let error = op.error(format!("is in address space {}", global.addr_space()));
            return Err(error.help("only variables of blocks, in address space 3, can be in device code"));
        }
        if global.initial().is_some() || !global.initializer().is_empty() {
            return Err(op.error("has an initial value, which variables of blocks cannot have"));
        }
        let bytes = stride(cx, global.global_type()).map_err(|message| op.error(message))?;
        let mut elem = global.global_type();
        while let Some(array) = cx.type_as::<ArrayType>(elem) {
            elem = array.elem;
        }
        let natural = stride(cx, elem).map_err(|message| op.error(message))?;
        let wanted = global.alignment().and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        let alignment = wanted.max(natural).next_power_of_two();
        if bytes > 1 << 30 || alignment > 256 {
            let error = op.error(format!("has {bytes} bytes, aligned to {alignment}"));
            return Err(error.help("a block has no such memory"));
        }
        self.all.push(Array { name: global.sym_name().to_owned(), bytes, alignment });
        Ok(())
    }

    /// The arrays with these names in the block's memory, with gaps; and the bytes that they need without.
    fn place(&self, used: &FxHashSet<String>) -> (Vec<Placed>, u64) {
        let (mut placed, mut end, mut packed) = (Vec::new(), 0_u64, 0_u64);
        for array in self.all.iter().filter(|array| used.contains(&array.name)) {
            let offset = end.next_multiple_of(array.alignment);
            placed.push(Placed { name: array.name.clone(), offset, bytes: array.bytes });
            end = offset + array.bytes + GAP;
            packed = packed.next_multiple_of(array.alignment) + array.bytes;
        }
        (placed, packed)
    }
}

/// A converted kernel.
pub(super) struct Kernel {
    described: Described,
    loc: Loc,
    body: Body,
}

/// The kernels of all modules of device code.
pub(super) struct Program {
    pub(super) subgroup: i64,
    kernels: Vec<Kernel>,
    sites: Sites,
    /// Accesses that are checked.
    pub(super) checks: u64,
}

impl Program {
    pub(super) fn new(subgroup: i64) -> Self {
        Self { subgroup, kernels: Vec::new(), sites: Sites::default(), checks: 0 }
    }

    pub(super) fn kernels(&self) -> usize {
        self.kernels.len()
    }

    /// Converts the kernels of a module; what is wrong with it.
    pub(super) fn add(&mut self, op: OpRef<'_>) -> Vec<Diagnostic> {
        let (mut arrays, mut errors, mut funcs) = (Arrays::default(), Vec::new(), Vec::new());
        for top in GPUModuleOp::from_ref(op).body().entry().into_iter().flat_map(|block| block.ops()) {
            if top.is::<GlobalOp<'_>>() {
                errors.extend(arrays.add(top).err());
            } else if let Some(func) = top.as_::<GPUFuncOp<'_>>() {
                funcs.push(func);
            } else {
                let error = top.error("cannot be converted to functions for fibers inside 'gpu.module'");
                errors.push(error.help("only 'gpu.func' and 'llvm.mlir.global' can stand there"));
            }
        }
        if !errors.is_empty() {
            return errors;
        }
        for func in funcs {
            match check_kernel(func, &arrays) {
                Ok(block) => self.convert(func, block, &arrays),
                Err(found) => errors.extend(found),
            }
        }
        errors
    }

    fn convert(&mut self, func: GPUFuncOp<'_>, block: [i64; 3], arrays: &Arrays) {
        let (op, cx) = (func.op_ref(), func.op_ref().cx);
        let mut used = FxHashSet::default();
        op.walk(&mut |op| {
            used.extend(op.as_::<AddressOfOp<'_>>().map(|address| address.global_name().to_owned()));
        });
        let (placed, shared_bytes) = arrays.place(&used);
        let offsets: FxHashMap<&str, u64> = placed.iter().map(|array| (array.name.as_str(), array.offset)).collect();
        self.sites.begin_kernel();
        let (body, checks) = convert_kernel(cx, func, block, self.subgroup, &offsets, &mut self.sites);
        self.checks += checks;
        let name = op.symbol_name().unwrap_or_default().to_owned();
        let described = Described { name, block, arguments: func.inputs().len(), shared_bytes, arrays: placed };
        self.kernels.push(Kernel { described, loc: op.loc(), body });
    }

    /// Symbols that would stand beside each other with the same name, and too many places.
    pub(super) fn clashes(&self, cx: &Context, body: &Body, modules: &[Op]) -> Vec<Diagnostic> {
        let tops = body.entry_block().into_iter().flat_map(|block| body.ops(block)).filter(|op| !modules.contains(op));
        let tops = tops.filter_map(|op| OpRef::new(cx, body, op).symbol_name().map(str::to_owned));
        let mut names: FxHashSet<String> = tops.chain([ABI_SYMBOL, KERNELS_SYMBOL].map(str::to_owned)).collect();
        let mut errors = Vec::new();
        for kernel in &self.kernels {
            let name = &kernel.described.name;
            if !names.insert(name.clone()) {
                let error = Diagnostic::error(kernel.loc, format!("there is another @{name} in the program"));
                errors.push(error.help("kernels become functions of the program: give them names of their own"));
            }
        }
        if self.sites.len() > MOST_SITES {
            let (found, loc) = (self.sites.len(), self.kernels[0].loc);
            let error = Diagnostic::error(loc, format!("the kernels have {found} accesses, barriers and shuffles"));
            errors.push(error.help(format!("convert fewer kernels at a time: a program can have {MOST_SITES}")));
        }
        errors
    }

    /// Writes functions and variables at the insertion point.
    pub(super) fn write(self, b: &mut Builder<'_>, loc: Loc) {
        let cx = b.cx();
        let described: Vec<&Described> = self.kernels.iter().map(|kernel| &kernel.described).collect();
        let text = json(&described, &self.sites, self.subgroup);
        let version = cx.int_attr(ABI_VERSION, Type::I32);
        global(b, loc, ABI_SYMBOL, Type::I32, version);
        let ty = cx.ext_type(ArrayType { elem: Type::I8, len: bytes_of_text(&text).len() as u64 });
        global(b, loc, KERNELS_SYMBOL, ty, cx.string_attr(&text));
        for kernel in self.kernels {
            let state = super::kernel::function(cx, kernel.loc, &kernel.described.name);
            b.create_isolated(state, Box::new(kernel.body));
        }
    }
}

/// The first launch of a kernel in these modules from outside of them: they are gone when their kernels are functions.
pub(super) fn launch_into(cx: &Context, body: &Body, modules: &[Op]) -> Option<Diagnostic> {
    let names: FxHashSet<&str> =
        modules.iter().filter_map(|module| OpRef::new(cx, body, *module).symbol_name()).collect();
    let tops = body.entry_block().into_iter().flat_map(|block| body.ops(block));
    let mut found = None;
    for top in tops.filter(|op| !modules.contains(op)) {
        OpRef::new(cx, body, top).walk(&mut |op| {
            let launch = op.as_::<LaunchOp<'_>>().map(|launch| cx.attr_data(launch.kernel()));
            let Some(AttrData::SymbolRef { root, .. }) = launch else { return };
            if found.is_none() && names.contains(cx.str(root)) {
                let error = op.error(format!("launches a kernel of `@{}`, which is converted", cx.str(root)));
                found = Some(error.help("take the device code out of the program before, into a module of its own"));
            }
        });
    }
    found
}

/// A constant that a loader finds by its name.
fn global(b: &mut Builder<'_>, loc: Loc, name: &str, ty: Type, value: Attr) {
    let cx = b.cx();
    let state = constant_variable(cx, loc, name, ty, value);
    b.create_isolated(state, Box::new(Body::new(1)));
}
