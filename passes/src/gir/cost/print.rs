//! `print-gir-cost`: what each kernel costs, as text.

use std::collections::HashMap;
use std::fmt::Write;

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::gir::DimDecl;
use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::rt::{LaunchOp, ProgramInfo, ProgramOp};
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun};
use sutura_ir::{Body, Context, Op, OpRef};

use super::KernelCost;

/// `print-gir-cost`
pub static PRINT_GIR_COST: PassInfo = PassInfo {
    name: "PrintGirCost",
    argument: "print-gir-cost",
    summary: "Print what each gir kernel moves and computes, and the time it is predicted to take",
    description: "For each `gir.kernel`: bytes per space and float operations, as polynomials in its dims where they are \
                  such, and counted at given sizes; with a `target.machine` in the module also the bytes that each level of \
                  memory is predicted to serve, and the time. Sizes that are not given are the likely ones of the program \
                  that launches the kernel, or 128 if nothing is known. Nothing is changed.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "sizes",
        kind: OptionKind::List,
        default: "",
        help: "values of dims, as `M=4096,N=1024`",
    }],
    statistics: &[],
    create,
};

struct PrintGirCost {
    sizes: HashMap<String, i64>,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let mut sizes = HashMap::new();
    for item in options.list("sizes") {
        let parsed = item.split_once('=').filter(|(_, value)| !value.starts_with('+'));
        let parsed = parsed.and_then(|(name, value)| Some((name, value.parse::<i64>().ok()?)));
        let (name, value) = parsed.ok_or_else(|| format!("expected sizes as `M=4096`, found `{item}`"))?;
        if value < 0 {
            return Err(format!("the size '{name}' is {value}: sizes are not negative"));
        }
        sizes.insert(name.to_owned(), value);
    }
    Ok(Box::new(PrintGirCost { sizes }))
}

impl Pass for PrintGirCost {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let machine = machine_in(cx, run.body).map_err(|message| run.diags.error(run.header.loc, message))?;
        let desc = match machine.map(TargetDesc::from_op).transpose() {
            Ok(desc) => desc,
            Err(message) => return Err(run.diags.error(run.header.loc, message).into()),
        };
        let mut printed = Vec::new();
        let mut failed = None;
        for op in kernels(cx, run.body) {
            let kernel = OpRef::new(cx, run.body, op);
            match self.report(kernel, machine, desc.as_ref()) {
                Ok(text) => printed.push(text),
                Err(message) => failed = Some(run.diags.report(kernel.error(format!("has no known cost: {message}")))),
            }
        }
        printed.into_iter().for_each(|text| run.print(text));
        match failed {
            Some(reported) => Err(PassError::from(reported)),
            None => Ok(PreservedAnalyses::all()),
        }
    }
}

fn kernels(cx: &Context, body: &Body) -> Vec<Op> {
    body.preorder().filter(|op| OpRef::new(cx, body, *op).is::<KernelOp<'_>>()).collect()
}

/// Size that is assumed of a dim about which nothing is stated.
const LIKELY: i64 = 128;

/// What a kernel's dims are expected to be: the likely sizes of the first program that launches it.
pub(crate) fn likely_sizes(kernel: OpRef<'_>, dims: &[DimDecl]) -> HashMap<String, i64> {
    let mut sizes = HashMap::new();
    let beside = kernel.body.op_block(kernel.op).into_iter().flat_map(|block| kernel.body.ops(block));
    let programs = beside.map(|op| kernel.at(op)).filter(|op| op.is::<ProgramOp<'_>>());
    for program in programs {
        let Ok(info) = ProgramInfo::read(program) else { continue };
        let symbol = |name: &str| {
            let symbol = info.symbols.iter().find(|s| s.name == name)?;
            Some(likely(&symbol.info))
        };
        program.walk(&mut |op| {
            let Some(launch) = op.as_::<LaunchOp<'_>>().filter(|l| Some(l.callee()) == kernel.symbol_name()) else {
                return;
            };
            for (dim, size) in dims.iter().zip(launch.dims()) {
                if let Some(value) = size.eval(&symbol) {
                    sizes.entry(dim.name.clone()).or_insert(value);
                }
            }
        });
    }
    for dim in dims {
        let info = SymbolInfo { min: dim.min, max: dim.max, div: dim.div, likely: Vec::new() };
        let value = sizes.entry(dim.name.clone()).or_insert_with(|| likely(&info));
        *value = (*value).clamp(dim.min, dim.max);
    }
    sizes
}

/// The likely value, or one within the range.
pub fn likely(info: &SymbolInfo) -> i64 {
    let div = info.div.max(1);
    let any = || ((LIKELY + div - 1) / div * div).clamp(info.min, info.max);
    info.likely.first().copied().unwrap_or_else(any)
}

impl PrintGirCost {
    fn report(
        &self,
        kernel: OpRef<'_>,
        machine: Option<OpRef<'_>>,
        desc: Option<&TargetDesc>,
    ) -> Result<String, String> {
        let cost = KernelCost::of(kernel, machine)?;
        let mut sizes = likely_sizes(kernel, &cost.dims);
        for dim in &cost.dims {
            let Some(value) = self.sizes.get(&dim.name) else { continue };
            if !(dim.min..=dim.max).contains(value) || value % dim.div.max(1) != 0 {
                let (min, max, div) = (dim.min, dim.max, dim.div);
                return Err(format!("'{}' is {value}, not in [{min}, {max}] div {div}", dim.name));
            }
            sizes.insert(dim.name.clone(), *value);
        }
        let size = |name: &str| sizes.get(name).copied();
        let counts = cost.at(&size)?;
        let mut out = format!("@{}", kernel.symbol_name().unwrap_or("?"));
        let given: Vec<String> = cost.dims.iter().map(|d| format!("{} = {}", d.name, sizes[&d.name])).collect();
        let given = if given.is_empty() { String::new() } else { format!(" at {}", given.join(", ")) };
        let _ = writeln!(
            out,
            "{given}: {} groups, {} flops{}, {} special",
            counts.groups,
            counts.flops,
            formula(cost.flops()),
            counts.special
        );
        for (space, read, written) in cost.moved() {
            let moved = counts.spaces.get(space).copied().unwrap_or_default();
            let (from, to) = (formula(read), formula(written));
            let _ = writeln!(out, "  {space}: {} bytes read{from}, {} written{to}", moved.read, moved.written);
        }
        let _ = writeln!(out, "  compulsory: {} bytes", counts.compulsory);
        if let Some(desc) = desc {
            let prediction = cost.predict(desc, &size)?;
            for level in &prediction.levels {
                let _ = writeln!(out, "  served by {}: {} bytes", level.space, level.bytes);
            }
            let (total, percent) = (prediction.ns / 1000.0, prediction.percent_of_limit());
            let compute = prediction.compute_ns / 1000.0;
            let bound = prediction.bound();
            let _ = writeln!(
                out,
                "  predicted: {total:.2} us, bound by {bound}, compute {compute:.2} us, {percent:.0} % of the limit"
            );
        }
        Ok(out)
    }
}

fn formula(poly: Option<&sutura_dialects::r#dyn::poly::Poly>) -> String {
    match poly {
        Some(poly) if poly.as_const().is_none() => format!(" = {poly}"),
        _ => String::new(),
    }
}
