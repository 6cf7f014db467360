//! The kernels that the processor runs, lowered for a GPU and run on a device: they compute what the interpreter says.
//!
//! Where there is no device the tests say so and pass, unless `SUTURA_REQUIRE_DEVICES=1`; then they fail.

#![allow(unsafe_code)]

use std::path::Path;

use sutura_codegen::emit_spirv;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::rt::{Access, GROUPS_ATTR, KERNEL_ATTR, KernelSignature, Launchable};
use sutura_dialects::text::parse_text;
use sutura_interp::compare::{Tolerance, compare};
use sutura_interp::random::Random;
use sutura_interp::{Buffer, DType, Interpreter, Tensor, Value};
use sutura_ir::asm::print::{PrintOptions, module_text, type_text};
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::{Context, Diagnostics, Module, Op, OpRef, Rewriter, Type};
use sutura_mlir_link as _;
use sutura_runtime::device::{self, Device, Devices};

/// Bytes behind each output that a kernel must leave alone.
const GUARD: usize = 64;

/// The device that tests run on, or a word on stderr that there is none.
fn device() -> Option<Device> {
    match Devices::find().open("lavapipe") {
        Ok(device) => Some(device),
        Err(error) => {
            sutura_skip::skipped(sutura_skip::Need::Devices, error);
            None
        }
    }
}

/// A kernel as a device's code.
struct Binary {
    code: Vec<u8>,
    /// Groups that a block of its threads takes at a time.
    groups: u64,
    /// Its name there.
    entry: String,
}

/// How `convert-gir-to-gpu` lowers a kernel, and what comes after it.
const WIDE: &str = "gpu.module(gpu.func(expand-math,canonicalize,cse))";
const NARROW: &str =
    "gpu.module(gpu.func(expand-math,canonicalize,cse)),gpu-narrow-indices,gpu.module(gpu.func(canonicalize,cse))";

/// A kernel of a lit test, with a program that launches it.
struct Case {
    cx: Context,
    name: String,
    source: String,
    signature: KernelSignature,
}

impl Case {
    fn read(file: &str, name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../lit-tests")
            .join(file.strip_prefix("../../..").map_or(file, |f| f));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let cx = Context::new(sutura_dialects::all());
        let mut module = parse_text(&cx, file, &text).unwrap_or_else(|e| panic!("{file}: {e}"));
        let ops: Vec<Op> = module.body().preorder().collect();
        let mut signature = None;
        for op in ops {
            let view = OpRef::new(&cx, module.body(), op);
            if view.symbol_name() == Some(name) {
                let kernel = view.interface::<dyn Launchable>().expect("a kernel");
                signature = Some(kernel.signature(view).expect("a signature"));
            } else if view.is::<KernelOp<'_>>() || view.name_str() == "rt.program" {
                Rewriter::new(&cx, module.body_mut()).erase_op(op);
            }
        }
        let signature = signature.unwrap_or_else(|| panic!("{file} has no kernel @{name}"));
        let kernel = module_text(&cx, &module, &PrintOptions::default());
        let end = kernel.rfind('}').expect("a module");
        let source = format!("{}{}}}\n", &kernel[..end], program(&cx, name, &signature));
        Self { cx, name: name.to_owned(), source, signature }
    }

    fn parse(&self) -> Module {
        parse_text(&self.cx, "case", &self.source).unwrap_or_else(|e| panic!("{e}\n{}", self.source))
    }

    /// The kernel as SPIR-V; of versions the first, which has 32-bit indices.
    fn binary(&self, options: &str, then: &str) -> Binary {
        let cx = &self.cx;
        let mut module = self.parse();
        let pipeline = format!("builtin.module(convert-gir-to-gpu{{{options}}},{then},convert-gpu-to-spirv)");
        let mut registry = PassRegistry::new();
        sutura_passes::register(&mut registry);
        let mut manager =
            parse_pipeline(cx, &registry, "test", &pipeline, &mut Diagnostics::default()).expect("passes");
        let mut errors = Vec::new();
        let (_, result) = run_pipeline(cx, &mut module, &mut manager, &RunConfig::default(), &mut |event| {
            if let Event::Diagnostic(diagnostic) = event {
                errors.push(diagnostic.message);
            }
        });
        assert!(result.is_ok(), "{errors:#?}\n{}", self.source);
        let (groups, entry) = self.strip(&mut module);
        let mut warnings = Vec::new();
        let text = module_text(cx, &module, &PrintOptions::generic());
        let code = emit_spirv(&text, "case", &mut warnings).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(warnings, []);
        Binary { code, groups, entry }
    }

    /// Leaves only what MLIR knows; what the first kernel said of its groups, and its name.
    fn strip(&self, module: &mut Module) -> (u64, String) {
        let cx = &self.cx;
        let ops: Vec<Op> = module.body().preorder().collect();
        let mut groups = None;
        for op in ops {
            if OpRef::new(cx, module.body(), op).name_str() != "spirv.module" {
                Rewriter::new(cx, module.body_mut()).erase_op(op);
                continue;
            }
            let inside = module.body_mut().nested_mut(op).expect("it is isolated");
            let functions: Vec<Op> = inside.preorder().collect();
            for function in functions {
                let view = OpRef::new(cx, inside, function);
                let said = view.attr(GROUPS_ATTR).and_then(|a| cx.as_int(a));
                groups = groups.or(said.map(|said| (said, view.symbol_name().unwrap_or_default().to_owned())));
                let mut rewriter = Rewriter::new(cx, inside);
                rewriter.set_attr(function, GROUPS_ATTR, None);
                rewriter.set_attr(function, KERNEL_ATTR, None);
            }
        }
        let (groups, name) = groups.expect("the kernel says how many groups it takes");
        (u64::try_from(groups).expect("a number of groups"), name)
    }

    fn shape(&self, dims: &[Poly], sizes: &[i64]) -> Vec<usize> {
        let value = |name: &str| self.signature.dims.iter().position(|(n, _)| n == name).map(|at| sizes[at]);
        dims.iter().map(|dim| usize::try_from(dim.eval(&value).expect("sizes")).expect("no negative size")).collect()
    }

    /// Random inputs for these sizes, and the shapes and types of the outputs.
    fn tensors(&self, sizes: &[i64], seed: u64) -> (Vec<Tensor>, Vec<(DType, Vec<usize>)>) {
        let mut random = Random::new(seed);
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for param in &self.signature.params {
            let dtype = DType::of(&self.cx, param.ty.elem).expect("a type of numbers");
            let shape = self.shape(&param.ty.dims, sizes);
            if param.access == Access::Write {
                outputs.push((dtype, shape));
                continue;
            }
            let mut data = Buffer::undefined(dtype, shape.iter().product());
            (0..data.len()).for_each(|i| data.set(i, Some(random.scalar(dtype))));
            inputs.push(Tensor::new(shape, data).expect("as many elements"));
        }
        (inputs, outputs)
    }

    /// What the device makes of the inputs with so many blocks.
    fn run(
        &self,
        device: &Device,
        binary: &Binary,
        sizes: &[i64],
        seed: u64,
    ) -> Result<Vec<Tensor>, device::DeviceError> {
        let (mut inputs, mut outputs) = self.tensors(sizes, seed);
        inputs.reverse();
        let mut stream = device.stream()?;
        let mut buffers = Vec::new();
        for param in &self.signature.params {
            let bytes = match param.access {
                Access::Write => {
                    let (dtype, shape) = &outputs[buffers.iter().filter(|(_, out)| *out).count()];
                    let bytes = Buffer::zeros(*dtype, shape.iter().product()).to_le_bytes().expect("zeros");
                    vec![0xA5; bytes.len() + GUARD]
                }
                _ => inputs.pop().expect("made for it").data().to_le_bytes().expect("all are set"),
            };
            let buffer = device.allocate(bytes.len() as u64)?;
            stream.upload(&buffer, 0, &bytes)?;
            buffers.push((buffer, param.access == Access::Write));
        }
        let addresses = buffers.iter().map(|(buffer, _)| buffer.address());
        let arguments: Vec<u64> = addresses.chain(sizes.iter().map(|size| size.cast_unsigned())).collect();
        let value = |name: &str| self.signature.dims.iter().position(|(n, _)| n == name).map(|at| sizes[at]);
        let all = Poly::product(&self.signature.grid).eval(&value).expect("sizes").cast_unsigned();
        let kernel = device.load(&binary.code)?.kernel(&binary.entry)?;
        // Fewer blocks than groups: blocks take several, one after the other.
        let blocks = all.div_ceil(binary.groups).min(5);
        if blocks > 0 {
            // SAFETY: the buffers are as large as the kernel's signature says at these sizes, and live until the end.
            unsafe { stream.launch(&kernel, blocks, 0, &arguments)? };
        }
        let written = buffers.iter().filter(|(_, out)| *out).map(|(buffer, _)| buffer);
        let mut results = Vec::new();
        for (buffer, (dtype, shape)) in written.zip(outputs.drain(..)) {
            let mut bytes = vec![0; buffer.bytes() as usize];
            stream.download(buffer, 0, &mut bytes)?;
            let guard = bytes.split_off(bytes.len() - GUARD);
            assert!(guard.iter().all(|byte| *byte == 0xA5), "@{} writes behind its output at {sizes:?}", self.name);
            let data = Buffer::from_le_bytes(dtype, &bytes).expect("whole elements");
            results.push(Tensor::new(shape, data).expect("as many elements"));
        }
        Ok(results)
    }
}

/// A program that launches the kernel once, on its own inputs and outputs.
fn program(cx: &Context, name: &str, signature: &KernelSignature) -> String {
    let types: Vec<String> = signature.params.iter().map(|p| type_text(cx, cx.ext_type(p.ty.clone()))).collect();
    let port = |(at, (param, ty)): (usize, (&sutura_dialects::rt::Param, &String))| {
        let way = if param.access == Access::Write { "out" } else { "in" };
        format!("%b{at} : {ty} {way} \"b{at}\"")
    };
    let mut ports: Vec<String> = signature.params.iter().zip(&types).enumerate().map(port).collect();
    let names: Vec<&str> = signature.dims.iter().map(|(name, _)| name.as_str()).collect();
    // What no buffer has as its size, a tensor of its own says.
    ports.insert(0, format!("%sizes : !rt.buffer<i1, [{}]> in \"sizes\"", names.join(", ")));
    let symbols: Vec<String> =
        signature.dims.iter().map(|(name, s)| format!("{name} : [{}, {}] div {}", s.min, s.max, s.div)).collect();
    let symbols = if symbols.is_empty() { String::new() } else { format!(" symbols({})", symbols.join(", ")) };
    let sizes: Vec<&str> = signature.dims.iter().map(|(name, _)| name.as_str()).collect();
    let buffers: Vec<String> = (0..types.len()).map(|at| format!("%b{at}")).collect();
    format!(
        "rt.program @main({}){symbols} {{\n  launch @{name}({}) dims [{}] : {}\n}}\n",
        ports.join(", "),
        buffers.join(", "),
        sizes.join(", "),
        types.join(", ")
    )
}

/// Runs a kernel with several numbers of threads at several sizes, and compares with the interpreter.
fn check(file: &str, name: &str, threads: &[u32], sizes: &[&[i64]], tolerance: Tolerance) {
    let Some(device) = device() else { return };
    let case = Case::read(file, name);
    let before = case.parse();
    for (threads, then) in threads.iter().flat_map(|threads| [(threads, WIDE), (threads, NARROW)]) {
        let binary = case.binary(&format!("subgroup={} threads={threads}", device.info().limits.subgroup), then);
        for (seed, sizes) in sizes.iter().enumerate() {
            let (inputs, _) = case.tensors(sizes, seed as u64);
            let shape: Vec<usize> = sizes.iter().map(|size| usize::try_from(*size).expect("a size")).collect();
            let dtype = DType::of(&case.cx, Type::I1).expect("a type of numbers");
            let sizes_of = Tensor::zeros(dtype, &shape).expect("small");
            let inputs: Vec<Value> = std::iter::once(sizes_of).chain(inputs).map(Value::Tensor).collect();
            let expected = Interpreter::new(&case.cx, &before).call("main", &inputs).unwrap_or_else(|e| panic!("{e}"));
            let results =
                case.run(&device, &binary, sizes, seed as u64).unwrap_or_else(|e| panic!("@{}: {e}", binary.entry));
            assert_eq!(results.len(), expected.len());
            for (result, expected) in results.into_iter().zip(&expected) {
                let different = |e| panic!("@{}, {threads} threads, at {sizes:?}: {e:?}", binary.entry);
                compare(expected, &Value::Tensor(result), tolerance).unwrap_or_else(different);
            }
        }
    }
}

const CLOSE: Tolerance = Tolerance { abs: 1e-6, rel: 4e-6, ulp: 0 };
const EQUAL: Tolerance = Tolerance { abs: 0.0, rel: 0.0, ulp: 0 };

/// A row in the registers of a block, in those of a subgroup, in loops, and a thread a row.
#[test]
fn a_softmax_with_dynamic_sizes() {
    let sizes: &[&[i64]] =
        &[&[1, 1], &[3, 7], &[5, 256], &[4, 1000], &[33, 77], &[7, 8192], &[2, 8191], &[0, 5], &[300, 12]];
    check("gir_to_cpu/softmax.mlir", "softmax", &[0, 256, 32, 8], sizes, CLOSE);
    check("gir_to_cpu/softmax.mlir", "softmax", &[1], &[&[1, 1], &[3, 7], &[33, 77], &[0, 5]], CLOSE);
}

/// Products of register tiles whose columns are spread over the threads, where rows are missing in the last group.
#[test]
fn a_product_of_packed_factors() {
    let sizes: &[&[i64]] = &[&[0], &[1], &[4], &[7], &[64]];
    check("gir_to_cpu/matmul.mlir", "matmul", &[0, 8, 32], sizes, Tolerance { abs: 1e-4, rel: 1e-5, ulp: 0 });
}

/// Groups of several units, which share the memory of a block.
#[test]
fn groups_of_several_units() {
    check("gir_to_gpu/units.mlir", "mirrored", &[0, 1, 4], &[&[0], &[1], &[64], &[100], &[256], &[1000]], EQUAL);
    let sizes: &[&[i64]] = &[&[0, 5], &[1, 0], &[3, 7], &[8, 8], &[33, 21], &[64, 40]];
    check("gir_to_gpu/units.mlir", "staged", &[0], sizes, Tolerance { abs: 1e-4, rel: 1e-5, ulp: 0 });
    check("gir_to_gpu/units.mlir", "own", &[0, 1, 4], &[&[0], &[1], &[5], &[33]], CLOSE);
    check("gir_to_gpu/late.mlir", "late", &[0, 4], &[&[0], &[1], &[9]], EQUAL);
    check("gir_to_gpu/late.mlir", "keeps", &[0, 4], &[&[]], CLOSE);
}

/// Several rows of a tile in one access.
#[test]
fn rows_that_lie_side_by_side() {
    for name in ["by_four", "by_two", "each"] {
        let close = Tolerance { abs: 1e-4, rel: 1e-5, ulp: 0 };
        check("gir_to_gpu/along_rows.mlir", name, &[0, 4], &[&[0], &[1], &[8], &[21]], close);
    }
}

/// Windows that end within a tile.
#[test]
fn tiles_that_are_cut() {
    check("gir_to_cpu/masks.mlir", "tail", &[0, 8, 4, 1], &[&[0], &[1], &[7], &[8], &[9], &[100], &[1000]], EQUAL);
}

#[test]
fn rows_of_one_loop() {
    check("gir_to_cpu/stream.mlir", "elementwise", &[0, 8, 64], &[&[0, 3], &[1, 1], &[3, 17], &[5, 1003]], CLOSE);
    check("gir_to_cpu/stream.mlir", "ahead", &[0, 8, 64], &[&[0], &[1], &[100]], CLOSE);
    let sizes: &[&[i64]] = &[&[0, 3], &[1, 1], &[3, 17], &[2, 64], &[5, 100]];
    for kernel in ["row", "sum", "rows"] {
        check("gir_to_cpu/steps.mlir", kernel, &[0, 8, 64], sizes, CLOSE);
    }
    for kernel in ["scaled", "read_again", "largest", "narrowed"] {
        check("gir_to_cpu/in-place.mlir", kernel, &[0, 8, 64], sizes, CLOSE);
    }
}

/// Every second and every third element.
#[test]
fn slices_with_steps() {
    for kernel in ["second", "third"] {
        check("gir_to_cpu/strided.mlir", kernel, &[0, 8], &[&[0], &[1], &[9]], EQUAL);
    }
}

/// Kernels without groups or without sizes, on truth values and on numbers of places.
#[test]
fn kernels_at_the_edge() {
    check("gir_to_cpu/edge.mlir", "nothing", &[0, 8], &[&[]], EQUAL);
    check("gir_to_cpu/edge.mlir", "no_groups", &[0], &[&[]], EQUAL);
    check("gir_to_cpu/edge.mlir", "bytes", &[0, 8], &[&[0], &[1], &[64]], EQUAL);
    check("gir_to_cpu/edge.mlir", "indices", &[0, 8], &[&[0], &[1], &[64]], EQUAL);
}

/// A count that is the same in all columns, and a tile of one column that is all threads'.
#[test]
fn numbers_of_places() {
    check("gir_to_gpu/counts.mlir", "counts", &[0, 8, 32], &[&[1, 1], &[3, 5], &[2, 64], &[0, 7]], EQUAL);
}

/// Sums of what came before, over rows in registers and in loops, within a subgroup and beyond it, and back from the end.
#[test]
fn running_sums() {
    let sizes: &[&[i64]] = &[&[0, 3], &[1, 1], &[3, 5], &[2, 33], &[2, 64], &[1, 257], &[2, 1000], &[1, 999]];
    check("gir_to_cpu/scan.mlir", "forward", &[0, 1, 4, 8, 64, 256], sizes, Tolerance { abs: 1e-4, rel: 1e-4, ulp: 0 });
    check("gir_to_cpu/scan.mlir", "backward", &[0, 1, 4, 8, 64, 256], sizes, EQUAL);
    check("gir_to_cpu/scan.mlir", "in_registers", &[0, 1, 4, 8, 32], &[&[]], CLOSE);
    let sizes: &[&[i64]] = &[&[0, 3], &[1, 1], &[2, 8192], &[1, 12345]];
    check("gir_to_gpu/scan.mlir", "long", &[8, 16, 128], sizes, Tolerance { abs: 1e-3, rel: 1e-3, ulp: 0 });
    check("gir_to_gpu/scan.mlir", "back", &[8, 16, 128], sizes, EQUAL);
}

/// Elements change threads.
#[test]
fn rows_that_become_columns() {
    for kernel in ["square", "truths"] {
        check("gir_to_cpu/transpose.mlir", kernel, &[0, 1, 8, 64], &[&[]], EQUAL);
    }
    let sizes: &[&[i64]] = &[&[0, 0], &[1, 1], &[3, 40], &[33, 9], &[64, 64], &[100, 1]];
    check("gir_to_cpu/transpose.mlir", "blocks", &[0, 1, 8, 64], sizes, EQUAL);
}
