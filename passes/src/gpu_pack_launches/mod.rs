//! `gpu-pack-launches`: launches that may run together become one, of a kernel that runs the groups of all.
//!
//! Small kernels leave most of a GPU idle, and each launch costs as much as they take. Kernels are put side by side as in
//! Zheng et al., "AStitch: Enabling a New Multi-dimensional Optimization Space for Memory-Intensive ML Training and Inference
//! on Modern SIMT Architectures" (ASPLOS 2022), there "kernel packing" of Zheng et al., "FusionStitching" (2020).

mod kernel;

use indexmap::IndexMap;
use sutura_dialects::r#dyn::facts::SymbolInfo;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gpu::GPUFuncOp;
use sutura_dialects::rt::{
    GROUPS_ATTR, KERNEL_ATTR, KernelSignature, LaunchOp, PARTS_ATTR, PackedOp, Param, ProgramOp,
};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Attr, AttrData, Body, Context, Ident, Op, OpRef, OpView, Rewriter, Value};

use crate::gir_lowering::gpu::shared_bytes_of_block;
use crate::gpu_narrow_indices::NARROW_SUFFIX;
use kernel::{make, shared_bytes};

/// `gpu-pack-launches`
pub static GPU_PACK_LAUNCHES: PassInfo = PassInfo {
    name: "GpuPackLaunches",
    argument: "gpu-pack-launches",
    summary: "Make one launch of launches on a device that may run together",
    description: "An `rt.packed` of kernels in one `gpu.module` becomes an `rt.launch` of a kernel that runs the groups of all, \
                  one kernel's behind the other's: blocks take them as if they were one kernel's. A kernel that is launched \
                  several times stands in it once. Kernels must have blocks of one size, and arrays that fit the block's memory together; those that check data stay apart.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "shared-bytes",
        kind: OptionKind::Int(0, 1 << 20),
        default: "0",
        help: "bytes of memory that a block has; 0 takes those of the module's machine, or 32768 without one",
    }],
    statistics: &[
        StatisticInfo { name: "num-packed", description: "launches that were several" },
        StatisticInfo { name: "num-kernels", description: "kernels that run the groups of several" },
    ],
    create,
};

#[derive(Clone, Copy)]
struct GpuPackLaunches {
    shared_bytes: i64,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(GpuPackLaunches { shared_bytes: options.int("shared-bytes") }))
}

/// A kernel as it is in its module.
struct Part {
    kernel: Op,
    name: String,
    /// What reports call it.
    reported: Vec<Attr>,
    signature: KernelSignature,
    /// Groups that a block takes at a time.
    units: i64,
}

/// A kernel that runs the groups of several.
struct Packed {
    symbol: Attr,
    parts: Vec<(KernelSignature, i64)>,
}

/// A launch that is to be made.
struct Site {
    program: Op,
    packed: Op,
    /// The names of the kernels.
    kernels: Vec<Attr>,
}

impl Pass for GpuPackLaunches {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let limit = match self.shared_bytes {
            0 => shared_bytes_of_block(cx, run.body).map_err(|error| {
                run.diags.report(*error);
                PassError::Unsupported
            })?,
            bytes => bytes,
        };
        let (mut kernels, mut sites): (IndexMap<Vec<Attr>, Option<Packed>>, Vec<Site>) = Default::default();
        for site in sites_in(cx, run.body) {
            if !kernels.contains_key(&site.kernels) {
                let made = self.pack(run, &site, limit)?;
                kernels.insert(site.kernels.clone(), made);
            }
            sites.push(site);
        }
        sites.retain(|site| kernels[&site.kernels].is_some());
        if sites.is_empty() {
            return Ok(PreservedAnalyses::all());
        }
        run.count("num-packed", sites.len() as u64);
        for site in &sites {
            if let Some(packed) = &kernels[&site.kernels] {
                let inside = run.body.nested_mut(site.program).expect("found by it");
                launch(cx, inside, site.packed, packed);
            }
        }
        let parts: Vec<Attr> = sites.iter().flat_map(|site| site.kernels.clone()).collect();
        drop_unused(cx, run.body, &parts);
        Ok(PreservedAnalyses::none())
    }
}

impl GpuPackLaunches {
    /// Makes the kernel for a list of kernels; none, with a remark, where they cannot be one.
    fn pack(&self, run: &mut PassRun<'_>, site: &Site, limit: i64) -> Result<Option<Packed>, PassError> {
        let cx = run.cx;
        let loc = OpRef::new(cx, run.body.nested(site.program).expect("found by it"), site.packed).loc();
        let names: Vec<&str> = site.kernels.iter().map(|symbol| last_name(cx, *symbol)).collect();
        let what = names.join(", @");
        let found = parts(cx, run.body, &site.kernels).and_then(|(module, parts)| {
            let inside = run.body.nested(module).expect("a module is isolated");
            fit(cx, inside, &parts, limit).map(|()| (module, parts))
        });
        let (module, parts) = match found {
            Ok(found) => found,
            Err(why) => {
                run.missed(loc, format!("@{what} are launched one after the other: {why}"));
                return Ok(None);
            }
        };
        let module_name = OpRef::new(cx, run.body, module).symbol_name().unwrap_or_default().to_owned();
        let inside = run.body.nested_mut(module).expect("a module is isolated");
        let name = free_name(cx, inside, &parts);
        let made = make(cx, inside, &name, &parts, combined(&parts));
        made.map_err(|message| run.diags.error(loc, message))?;
        run.count("num-kernels", 1);
        run.passed(loc, format!("@{what} are launched together, as @{name}"));
        let symbol = cx.nested_symbol_ref(&module_name, &[cx.ident(&name)]);
        Ok(Some(Packed { symbol, parts: parts.into_iter().map(|part| (part.signature, part.units)).collect() }))
    }
}

/// All `rt.packed` of all programs.
fn sites_in(cx: &Context, body: &Body) -> Vec<Site> {
    let mut sites = Vec::new();
    for program in body.preorder().filter(|op| OpRef::new(cx, body, *op).is::<ProgramOp<'_>>()) {
        let Some(inside) = body.nested(program) else { continue };
        for packed in inside.preorder().filter(|op| OpRef::new(cx, inside, *op).is::<PackedOp<'_>>()) {
            let launches = launches_of(OpRef::new(cx, inside, packed));
            let kernels: Vec<Attr> = launches.iter().map(|launch| launch.kernel()).collect();
            if kernels.len() > 1 {
                sites.push(Site { program, packed, kernels });
            }
        }
    }
    sites
}

fn launches_of(packed: OpRef<'_>) -> Vec<LaunchOp<'_>> {
    let mut launches = Vec::new();
    packed.walk(&mut |op| launches.extend(op.as_::<LaunchOp<'_>>()));
    launches
}

fn last_name(cx: &Context, symbol: Attr) -> &str {
    match cx.attr_data(symbol) {
        AttrData::SymbolRef { root, nested } => cx.str(cx.idents(nested).last().copied().unwrap_or(root)),
        _ => "",
    }
}

/// The module of the kernels, and they in it.
fn parts(cx: &Context, body: &Body, kernels: &[Attr]) -> Result<(Op, Vec<Part>), String> {
    let path = |symbol: &Attr| match cx.attr_data(*symbol) {
        AttrData::SymbolRef { root, nested } => (root, cx.idents(nested).to_vec()),
        _ => unreachable!("a launch names a kernel"),
    };
    let (root, _) = path(&kernels[0]);
    let named = |body: &Body, name: Ident| {
        body.preorder().find(|op| OpRef::new(cx, body, *op).symbol_name() == Some(cx.str(name)))
    };
    let mut found = Vec::new();
    let module = named(body, root).filter(|op| body.nested(*op).is_some());
    let module = module.ok_or_else(|| format!("@{} is no module of device code", cx.str(root)))?;
    let inside = body.nested(module).expect("asked for just now");
    for symbol in kernels {
        let (own_root, nested) = path(symbol);
        let &[name] = &nested[..] else {
            return Err(format!("@{} is no kernel of a device", cx.str(own_root)));
        };
        if own_root != root {
            return Err("they are in different modules".to_owned());
        }
        let text = cx.str(name);
        let kernel = named(inside, name).ok_or_else(|| format!("there is no @{text} in the module"))?;
        let view = OpRef::new(cx, inside, kernel);
        let signature = view.attr(KERNEL_ATTR).and_then(|attr| KernelSignature::of_attr(cx, attr));
        let units = view.attr(GROUPS_ATTR).and_then(|attr| cx.as_int(attr)).filter(|units| *units > 0);
        let (Some(signature), Some(units), true) = (signature, units, view.is::<GPUFuncOp<'_>>()) else {
            return Err(format!("@{text} does not say what it takes"));
        };
        if !signature.checks.is_empty() {
            return Err(format!("@{text} checks data"));
        }
        if GPUFuncOp::from_ref(view).inputs().len() != signature.params.len() + signature.dims.len() {
            return Err(format!("@{text} does not take what it says"));
        }
        let reported = view.attr(PARTS_ATTR).and_then(|parts| cx.array(parts));
        let reported = reported.map_or_else(|| vec![cx.string_attr(text)], <[Attr]>::to_vec);
        found.push(Part { kernel, name: text.to_owned(), reported, signature, units });
    }
    Ok((module, found))
}

/// Whether one block can be for all.
fn fit(cx: &Context, module: &Body, parts: &[Part], limit: i64) -> Result<(), String> {
    let func = |part: &Part| GPUFuncOp::from_ref(OpRef::new(cx, module, part.kernel));
    let block = func(&parts[0]).known_block_size();
    if let Some(other) = parts.iter().find(|part| func(part).known_block_size() != block) {
        return Err(format!("the blocks of @{} and @{} have different sizes", parts[0].name, other.name));
    }
    if block.is_none() {
        return Err(format!("@{} does not say what size its blocks have", parts[0].name));
    }
    let bytes = shared_bytes(cx, module, parts.iter().map(|part| part.kernel));
    if bytes > limit {
        return Err(format!("their arrays take {bytes} bytes of a block's memory, which has {limit}"));
    }
    Ok(())
}

/// Blocks' worth of groups that a part has, over the sizes that it is given.
fn blocks(signature: &KernelSignature, units: i64, dims: &[Poly]) -> Poly {
    signature.groups(dims).ceildiv(units)
}

/// The name of a part's size in the whole kernel. None of another part has it, and none of those without a part's number.
fn dim_name(part: usize, name: &str) -> String {
    format!("{name}_{part}")
}

/// What the whole kernel takes: buffers and sizes of all parts, and then for each part but the first the blocks of those
/// before it.
fn combined(parts: &[Part]) -> KernelSignature {
    let mut all = KernelSignature::default();
    let (mut before, mut firsts) = (Poly::default(), Vec::new());
    for (number, part) in parts.iter().enumerate() {
        let signature = &part.signature;
        let names: Vec<Poly> = signature.dims.iter().map(|(name, _)| Poly::symbol(&dim_name(number, name))).collect();
        let renamed = |size: &Poly| signature.substitute(size, &names);
        all.params.extend(signature.params.iter().map(|param| {
            let mut ty = param.ty.clone();
            ty.dims = ty.dims.iter().map(renamed).collect();
            Param { access: param.access, ty }
        }));
        all.dims.extend(signature.dims.iter().map(|(name, info)| (dim_name(number, name), info.clone())));
        all.requires.extend(signature.requires.iter().map(renamed));
        all.ops.extend(signature.ops.iter().filter(|op| !all.ops.contains(op)).cloned().collect::<Vec<_>>());
        if number > 0 {
            firsts.push((format!("first{number}"), SymbolInfo { max: i64::MAX, ..SymbolInfo::default() }));
        }
        before = before.add(&blocks(signature, part.units, &names));
    }
    all.dims.extend(firsts);
    all.grid = vec![before];
    all
}

/// Puts one launch in the place of several.
fn launch(cx: &Context, program: &mut Body, packed: Op, kernel: &Packed) {
    let view = OpRef::new(cx, program, packed);
    let (launches, loc) = (launches_of(view), view.loc());
    let (mut buffers, mut dims, mut firsts): (Vec<Value>, Vec<Poly>, Vec<Poly>) = Default::default();
    let (mut before, mut work) = (Poly::default(), Some(Poly::default()));
    for (number, (launch, (signature, units))) in launches.iter().zip(&kernel.parts).enumerate() {
        let own = launch.dims();
        buffers.extend(launch.buffers());
        if number > 0 {
            firsts.push(before.clone());
        }
        before = before.add(&blocks(signature, *units, &own));
        let own_work = launch.work().and_then(|work| work.into_iter().next());
        work = work.zip(own_work).map(|(sum, own)| sum.add(&own));
        dims.extend(own);
    }
    dims.extend(firsts);
    let mut rewriter = Rewriter::new(cx, program);
    rewriter.set_before(packed);
    LaunchOp::build(&mut rewriter, loc, kernel.symbol, &buffers, &dims, work.as_ref().map(std::slice::from_ref), None);
    rewriter.erase_op(packed);
}

/// A name that the module has not. It tells a kernel of versions with narrow indices.
fn free_name(cx: &Context, module: &Body, parts: &[Part]) -> String {
    let taken = |name: &String| module.preorder().any(|op| OpRef::new(cx, module, op).symbol_name() == Some(name));
    let suffix = if parts.iter().all(|part| part.name.ends_with(NARROW_SUFFIX)) { NARROW_SUFFIX } else { "" };
    (0..).map(|n| format!("packed{n}{suffix}")).find(|name| !taken(name)).expect("there are more names")
}

/// Drops those of the kernels that nothing launches any more.
fn drop_unused(cx: &Context, body: &mut Body, kernels: &[Attr]) {
    let mut launched = Vec::new();
    for op in body.preorder() {
        OpRef::new(cx, body, op)
            .walk(&mut |op| launched.extend(op.as_::<LaunchOp<'_>>().map(|launch| launch.kernel())));
    }
    for kernel in kernels.iter().filter(|kernel| !launched.contains(kernel)) {
        // One that stands among them several times is gone after the first.
        let Ok((module, part)) = parts(cx, body, &[*kernel]) else { continue };
        let inside = body.nested_mut(module).expect("a module is isolated");
        Rewriter::new(cx, inside).erase_op(part[0].kernel);
    }
}
