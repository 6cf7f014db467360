//! `--report`: one page that shows how a model was compiled, and what it is predicted to cost.

mod kernels;
mod measure;
mod page;
mod plan;
mod text;

use std::cell::RefCell;
use std::path::PathBuf;

use sutura_dialects::target::TargetDesc;
use sutura_dialects::target::constraints::Class;
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::{Context, Module};
use sutura_opt::remarks;
use sutura_runtime::Manifest;

use crate::failure::Failure;
use crate::files;
use crate::machine::Machine;
use crate::memory;
use crate::pipeline::Emit;
use crate::resources::Resources;

/// A level of the module.
#[derive(Debug)]
struct Level {
    name: &'static str,
    what: &'static str,
    text: String,
}

/// Collects what the page shows while a model is compiled.
#[derive(Debug)]
pub(crate) struct Report {
    path: PathBuf,
    sizes: Vec<(String, i64)>,
    /// Assembly is shown as well.
    pub(crate) with_assembly: bool,
    found: RefCell<Found>,
}

#[derive(Debug, Default)]
struct Found {
    levels: Vec<Level>,
    regions: Vec<plan::Region>,
    hosts: Vec<kernels::Host>,
    kernels: Vec<kernels::Kernel>,
    device_code: Vec<Resources>,
    memory: Vec<String>,
}

/// What the page shows.
struct Page<'p> {
    model: String,
    hash: &'p str,
    machine: String,
    limits: String,
    stopped: Option<&'static str>,
    levels: &'p [Level],
    regions: &'p [plan::Region],
    hosts: &'p [kernels::Host],
    kernels: &'p [kernels::Kernel],
    device_code: &'p [Resources],
    memory: &'p [String],
    remarks: &'p [Remark],
}

struct Remark {
    pass: &'static str,
    kind: &'static str,
    place: String,
    message: String,
}

/// Constants with more elements are not printed.
const ELEMENTS: usize = 16;
/// The same of resources, in characters.
const CHARACTERS: usize = 64;

impl Report {
    pub(crate) fn new(path: PathBuf, sizes: Vec<(String, i64)>, with_assembly: bool) -> Self {
        Self { path, sizes, with_assembly, found: RefCell::default() }
    }

    /// Keeps a level of the program above upstream operations.
    ///
    /// # Errors
    /// When sizes were given that the program does not have, or does not allow.
    pub(crate) fn level(
        &self,
        cx: &Context,
        module: &Module,
        emit: Emit,
        machine: &Machine,
        said: &[Diagnostic],
    ) -> Result<(), Failure> {
        let options = PrintOptions {
            elide_elements_larger_than: Some(ELEMENTS),
            elide_resource_strings_larger_than: Some(CHARACTERS),
            ..PrintOptions::default()
        };
        self.text(emit, module_text(cx, module, &options));
        let mut found = self.found.borrow_mut();
        match emit {
            Emit::Fusion => found.regions = plan::read(cx, module, said),
            Emit::Gir => (found.hosts, found.kernels) = kernels::read(cx, module, &machine.desc, &self.sizes)?,
            _ => {}
        }
        Ok(())
    }

    /// Keeps the schedules of a module's regions, which `scheduled` has as attributes.
    ///
    /// # Errors
    /// When what the module says of its machine is wrong.
    pub(crate) fn schedules(&self, cx: &Context, module: &Module, scheduled: &Module) -> Result<(), Failure> {
        let sizes = self.sizes.iter().cloned().collect();
        let regions = &mut self.found.borrow_mut().regions;
        plan::schedules(cx, regions, (module, scheduled), &sizes).map_err(Failure::input)
    }

    /// Keeps the text of a level, in place of one that it had before.
    pub(crate) fn text(&self, emit: Emit, text: String) {
        let (name, what) = described(emit);
        let levels = &mut self.found.borrow_mut().levels;
        levels.retain(|level| level.name != name);
        levels.push(Level { name, what, text });
    }

    /// Keeps what kernels take of a GPU.
    pub(crate) fn device_code(&self, kernels: Vec<Resources>) {
        self.found.borrow_mut().device_code = kernels;
    }

    /// Keeps what memory a run takes, at the sizes of the report too.
    pub(crate) fn memory(&self, manifest: &Manifest) {
        let mut found = self.found.borrow_mut();
        let sizes: Vec<(String, i64)> =
            found.hosts.iter().flat_map(|host| &host.sizes).map(|size| (size.name.clone(), size.value)).collect();
        let size = |name: &str| sizes.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        found.memory = memory::formulas(manifest);
        found.memory.extend(memory::at(manifest, &size));
    }

    /// Writes the page.
    pub(crate) fn write(
        &self,
        cx: &Context,
        source: (&std::path::Path, &str),
        machine: &Machine,
        stopped: Option<Emit>,
        said: &[Diagnostic],
    ) -> Result<(), Failure> {
        let remark = |r: &Diagnostic| Remark {
            pass: r.pass.unwrap_or("import"),
            kind: r.kind.map_or("analysis", |kind| kind.word()),
            place: remarks::place(cx, r),
            message: r.message.clone(),
        };
        let found = self.found.borrow();
        let (path, hash) = source;
        let page = page::page(&Page {
            model: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            hash,
            machine: machine.summary(),
            limits: limits(&machine.desc),
            stopped: stopped.map(|emit| described(emit).0),
            levels: &found.levels,
            regions: &found.regions,
            hosts: &found.hosts,
            kernels: &found.kernels,
            device_code: &found.device_code,
            memory: &found.memory,
            remarks: &said.iter().map(remark).collect::<Vec<_>>(),
        });
        files::write(&self.path, page.as_bytes())
    }
}

/// Name of a level, and what it is.
fn described(emit: Emit) -> (&'static str, &'static str) {
    match emit {
        Emit::Graph => ("graph", "the model as tensor operators"),
        Emit::Dyn => ("dyn", "with symbolic shapes"),
        Emit::Fusion => ("fusion", "with fused regions"),
        Emit::Schedule => ("schedule", "the schedules of regions"),
        Emit::Gir => ("gir", "kernels as tile programs, and the host program"),
        Emit::Mlir => ("mlir", "upstream dialects"),
        Emit::Llvm => ("llvm", "the LLVM dialect"),
        Emit::LlvmIr => ("llvm-ir", "LLVM IR, optimised"),
        Emit::Asm => ("asm", "assembly"),
        Emit::Obj => ("obj", "an object"),
        Emit::So => ("so", "a shared object"),
        Emit::Ptx => ("ptx", "device code for NVIDIA"),
        Emit::Cubin => ("cubin", "assembled device code for NVIDIA"),
        Emit::Hsaco => ("hsaco", "device code for AMD"),
        Emit::Spirv => ("spirv", "device code for Vulkan"),
        Emit::StaticLib => ("static-lib", "a static library"),
        Emit::CHeader => ("c-header", "the header of a library"),
    }
}

/// What the description says the machine can do.
fn limits(desc: &TargetDesc) -> String {
    let caches = desc.spaces.iter().filter(|s| s.class == Class::Sram);
    let caches = caches.filter_map(|s| Some(format!("{} {} KiB at {} GB/s", s.name, s.bytes? >> 10, s.gbps?)));
    let memory = format!("main memory at {} GB/s", desc.dram_gbps());
    let arithmetic = format!("{} Gflop/s of a thread, {} Gop/s beside products", desc.gflops, desc.gops);
    let parts: Vec<String> = caches.chain([memory, arithmetic]).collect();
    parts.join(", ")
}
