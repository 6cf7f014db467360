//! Compiling for a device beside the processor: from modules of device code to what the vendor's driver loads.

use std::cell::OnceCell;
use std::time::Instant;

use sutura_codegen as codegen;
use sutura_passes::machine_code::Processor;
use sutura_passes::rt_to_upstream::HostInterface;

use super::host::link;
use super::{DeviceCode, Job, Lowered, Made, Ready};
use crate::cli::CompileArgs;
use crate::failure::{Failure, Kind, of_codegen};
use crate::files;
use crate::machine::{Machine, Vendor};
use crate::pipeline::{Emit, Program, device_stage};
use crate::resources::{self, DeviceKernel};

/// Products between the stages and the driver, by vendor.
fn products(vendor: Vendor) -> &'static [Emit] {
    match vendor {
        Vendor::Nvidia => &[Emit::LlvmIr, Emit::Asm, Emit::Ptx, Emit::Cubin],
        Vendor::Amd => &[Emit::LlvmIr, Emit::Asm, Emit::Hsaco],
        Vendor::Khronos => &[Emit::Spirv],
        Vendor::Fibers => &[Emit::So],
    }
}

/// What an artifact holds: the last product that needs nothing of the vendor's.
fn usual(vendor: Vendor) -> Emit {
    match vendor {
        Vendor::Nvidia => Emit::Ptx,
        Vendor::Amd => Emit::Hsaco,
        Vendor::Khronos => Emit::Spirv,
        Vendor::Fibers => Emit::So,
    }
}

fn spelling(emit: Emit) -> String {
    clap::ValueEnum::to_possible_value(&emit).map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Refuses now what the machine has not, before minutes of work.
pub(super) fn check(args: &CompileArgs, machine: &Machine) -> Result<(), Failure> {
    let name = &machine.desc.name;
    let Some(vendor) = machine.vendor else {
        return match args.emit.filter(|emit| emit.of_device()) {
            None => Ok(()),
            Some(emit) => {
                Err(Failure::usage(format!("`{name}` is a processor: there is no `{}` for it", spelling(emit)))
                    .hint("name a GPU with `--target`; `sutura target list` shows them"))
            }
        };
    };
    if let Some(emit) = args.emit.filter(|emit| emit.of_library()) {
        let message = format!("there is no `{}` for the GPU `{name}`", spelling(emit));
        return Err(Failure::new(Kind::Unsupported, message).hint("compile it for a processor, or leave out --emit"));
    }
    let list =
        || products(vendor).iter().map(|emit| format!("`--emit={}`", spelling(*emit))).collect::<Vec<_>>().join(", ");
    match args.emit {
        Some(emit) if emit > Emit::Mlir && !products(vendor).contains(&emit) => {
            Err(Failure::usage(format!("there is no `{}` for `{name}`", spelling(emit)))
                .hint(format!("it has {}", list())))
        }
        _ => Ok(()),
    }
}

impl Job<'_> {
    /// Lowers device code, apart from the host program; none is left when the product was its text.
    pub(super) fn device_stages(&self, vendor: Vendor, program: Program) -> Result<Option<Lowered>, Failure> {
        let interface = HostInterface::of_module(&self.compilation.cx, &program.module);
        let (mut host, device, modules) = self.compilation.take_device(program);
        if modules == 0 {
            let message = "the program has no kernels: there is no device code to make";
            return Err(Failure::new(Kind::Unsupported, message).hint("compile it for a processor"));
        }
        self.refuse_missing(&device, Processor::device())?;
        let device_kernels = self.device_kernels(&device, interface.as_ref().ok());
        let mut device = self.compilation.run(&device_stage(vendor), device, self.talk)?;
        if self.product(&mut device, Emit::Mlir)? {
            return Ok(None);
        }
        let device_text = self.compilation.text(&mut device, Emit::Mlir);
        let device = DeviceCode { text: device_text, program: device };
        self.compilation.strip(&mut host.module);
        Ok(Some(Lowered { text: OnceCell::new(), device: Some(device), device_kernels, interface, program: host }))
    }

    /// Whether somebody wants to know what kernels take.
    fn explains(&self) -> bool {
        self.report.is_some() || self.compilation.heard.listening
    }

    /// Kernels with the guards under which the host launches them.
    fn device_kernels(&self, device: &Program, interface: Option<&HostInterface>) -> Vec<DeviceKernel> {
        if !self.explains() {
            return Vec::new();
        }
        let mut kernels = resources::kernels(&self.compilation.cx, &device.module);
        for kernel in &mut kernels {
            let launched = interface.and_then(|host| host.kernels.iter().find(|k| k.symbol == kernel.name));
            kernel.guard = launched.and_then(|launched| launched.guard.clone());
        }
        kernels
    }

    /// Says what the vendor's compiler makes of the kernels: in remarks, and on the report's page.
    fn explain_resources(&self, vendor: Vendor, device: &DeviceCode, lowered: &Lowered) -> Result<(), Failure> {
        if !self.explains() {
            return Ok(());
        }
        let chip = &self.machine.target.cpu;
        let compiled = match vendor {
            Vendor::Nvidia => {
                let ptx = self.device_product(Emit::Ptx, device)?;
                let said =
                    codegen::Assembler::find().and_then(|ptxas| ptxas.resources(&String::from_utf8_lossy(&ptx), chip));
                said.map(|said| resources::of_ptxas(&said)).map_err(|error| error.to_string())
            }
            Vendor::Amd => {
                let assembly = self.device_product(Emit::Asm, device)?;
                Ok(resources::of_amd_assembly(&String::from_utf8_lossy(&assembly)))
            }
            Vendor::Khronos => Err("the device's driver compiles SPIR-V".to_owned()),
            Vendor::Fibers => Err("fibers have none".to_owned()),
        };
        let found = resources::of_kernels(lowered.device_kernels.clone(), &compiled, &self.machine.desc);
        found.iter().for_each(|kernel| self.compilation.tell(&kernel.remark(), self.talk));
        if let Some(report) = self.report {
            report.device_code(found);
        }
        Ok(())
    }

    /// From modules of device code to the product.
    pub(super) fn device_back_end(&self, vendor: Vendor, ready: Ready) -> Result<Option<Made>, Failure> {
        let lowered = &ready.lowered;
        let device = lowered.device.as_ref().ok_or_else(|| Failure::internal("there is no device code"))?;
        self.explain_resources(vendor, device, lowered)?;
        let keep_all = self.args.emit_dir.is_some();
        let reported = |emit: Emit| emit != Emit::Cubin && self.report.is_some_and(|report| report.with_assembly);
        for emit in products(vendor) {
            let wanted = self.args.emit == Some(*emit);
            let needed = self.args.emit.is_none() && *emit == usual(vendor);
            if !(wanted || needed || keep_all && *emit != Emit::Cubin || reported(*emit)) {
                continue;
            }
            let start = Instant::now();
            let bytes = self.device_product(*emit, device)?;
            self.keep(*emit, &bytes)?;
            if let (Some(report), Ok(text)) = (self.report.filter(|_| reported(*emit)), std::str::from_utf8(&bytes)) {
                report.text(*emit, text.to_owned());
            }
            if wanted || needed {
                self.talk.stage("codegen", &format!("{} bytes of device code", bytes.len()), start.elapsed());
            }
            if wanted {
                return files::write(self.output, &bytes).map(|()| None);
            }
            if needed {
                return self.device_part(bytes, ready).map(Some);
            }
        }
        Err(Failure::internal("the product was checked and is not there"))
    }

    /// Takes device code as far as it can be refused.
    pub(super) fn accept_device(&self, vendor: Vendor, device: &DeviceCode) -> Result<(), Failure> {
        let (name, target) = (self.args.model.display().to_string(), &self.machine.target);
        let mut warnings = Vec::new();
        self.with_places(&device.text, &device.program, |text| match vendor {
            Vendor::Nvidia | Vendor::Amd => codegen::accept_device(text, &name, target, &mut warnings),
            Vendor::Khronos => codegen::emit_spirv(text, &name, &mut warnings).map(drop),
            Vendor::Fibers => codegen::accept(text, &name, &codegen::Target::host(), &mut warnings)?.check_defined(),
        })?;
        Ok(())
    }

    /// The artifact's part.
    fn device_part(&self, device: Vec<u8>, ready: Ready) -> Result<Made, Failure> {
        let host = link(&self.objects(ready.host)?)?;
        self.part(ready.artifact, ready.lowered.program, (host, Some(device)))
    }

    fn device_product(&self, emit: Emit, device: &DeviceCode) -> Result<Vec<u8>, Failure> {
        let (name, target) = (self.args.model.display().to_string(), &self.machine.target);
        let mut warnings = Vec::new();
        let code = self.with_places(&device.text, &device.program, |text| match emit {
            Emit::LlvmIr => codegen::emit_device_llvm_ir(text, &name, target, &mut warnings).map(String::into_bytes),
            Emit::Hsaco => codegen::emit_hsaco(text, &name, target, &mut warnings),
            Emit::Spirv => codegen::emit_spirv(text, &name, &mut warnings),
            Emit::So => codegen::emit_object(text, &name, &codegen::Target::host(), &mut warnings),
            _ => codegen::emit_device_assembly(text, &name, target, &mut warnings).map(String::into_bytes),
        })?;
        self.warn(&warnings);
        match emit {
            Emit::So => link(&[code]),
            Emit::Cubin => {
                let assembler = codegen::Assembler::find().map_err(of_codegen)?;
                assembler.assemble(&String::from_utf8_lossy(&code), &target.cpu).map_err(of_codegen)
            }
            _ => Ok(code),
        }
    }
}
