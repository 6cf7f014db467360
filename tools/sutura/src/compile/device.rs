//! Compiling for a device beside the processor: from modules of device code to what the vendor's driver loads.

use std::time::Instant;

use sutura_codegen as codegen;

use super::Job;
use crate::cli::CompileArgs;
use crate::failure::{Failure, Kind};
use crate::files;
use crate::machine::{Machine, Vendor};
use crate::pipeline::{Emit, Program};

/// Products between the stages and the driver, by vendor.
fn products(vendor: Vendor) -> &'static [Emit] {
    match vendor {
        Vendor::Nvidia => &[Emit::LlvmIr, Emit::Asm, Emit::Ptx, Emit::Cubin],
        Vendor::Amd => &[Emit::LlvmIr, Emit::Asm, Emit::Hsaco],
        Vendor::Khronos => &[Emit::Spirv],
    }
}

/// What is made without being asked for: the last product that needs nothing of the vendor's.
fn usual(vendor: Vendor) -> Emit {
    match vendor {
        Vendor::Nvidia => Emit::Ptx,
        Vendor::Amd => Emit::Hsaco,
        Vendor::Khronos => Emit::Spirv,
    }
}

fn spelling(emit: Emit) -> String {
    clap::ValueEnum::to_possible_value(&emit).map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Refuses now what the machine has not, before minutes of work.
pub(super) fn check(args: &CompileArgs, machine: &Machine) -> Result<(), Failure> {
    let name = &machine.desc.name;
    let Some(vendor) = machine.vendor else {
        return match args.emit.filter(|emit| *emit > Emit::So) {
            None => Ok(()),
            Some(emit) => {
                Err(Failure::usage(format!("`{name}` is a processor: there is no `{}` for it", spelling(emit)))
                    .hint("name a GPU with `--target`; `sutura target list` shows them"))
            }
        };
    };
    let list =
        || products(vendor).iter().map(|emit| format!("`--emit={}`", spelling(*emit))).collect::<Vec<_>>().join(", ");
    match args.emit {
        None => Err(Failure::new(Kind::Unsupported, format!("artifacts for `{name}` cannot be made yet"))
            .hint(format!("device code alone can: `--emit={}`", spelling(usual(vendor))))),
        Some(emit) if emit > Emit::Mlir && !products(vendor).contains(&emit) => {
            Err(Failure::usage(format!("there is no `{}` for `{name}`", spelling(emit)))
                .hint(format!("it has {}", list())))
        }
        Some(_) => Ok(()),
    }
}

impl Job<'_> {
    /// Leaves only device code, and says so.
    pub(super) fn keep_device(&self, program: &mut Program) -> Result<(), Failure> {
        let (modules, host) = self.compilation.keep_device(program);
        if modules == 0 {
            return Err(Failure::input("the program has no kernels: there is no device code to make")
                .hint("compile it for a processor"));
        }
        if host {
            self.talk.detail("the host program is left out: the product is device code alone");
        }
        Ok(())
    }

    /// From modules of device code to the product.
    pub(super) fn device_back_end(&self, vendor: Vendor, text: &str) -> Result<(), Failure> {
        let start = Instant::now();
        let keep_all = self.args.emit_dir.is_some();
        let reported = |emit: Emit| emit != Emit::Cubin && self.report.is_some_and(|report| report.with_assembly);
        for emit in products(vendor) {
            let wanted = self.args.emit == Some(*emit);
            if !(wanted || keep_all && *emit != Emit::Cubin || reported(*emit)) {
                continue;
            }
            let bytes = self.device_product(*emit, text)?;
            self.keep(*emit, &bytes)?;
            if let (Some(report), Ok(text)) = (self.report.filter(|_| reported(*emit)), std::str::from_utf8(&bytes)) {
                report.text(*emit, text.to_owned());
            }
            if wanted {
                self.talk.stage("codegen", &format!("{} bytes of device code", bytes.len()), start.elapsed());
                return files::write(self.output, &bytes);
            }
        }
        Err(Failure::internal("the product was checked and is not there"))
    }

    fn device_product(&self, emit: Emit, text: &str) -> Result<Vec<u8>, Failure> {
        let (name, target) = (self.args.model.display().to_string(), &self.machine.target);
        let mut warnings = Vec::new();
        let bytes = match emit {
            Emit::LlvmIr => codegen::emit_device_llvm_ir(text, &name, target, &mut warnings)?.into_bytes(),
            Emit::Hsaco => codegen::emit_hsaco(text, &name, target, &mut warnings)?,
            Emit::Spirv => codegen::emit_spirv(text, &name, &mut warnings)?,
            Emit::Cubin => {
                let ptx = codegen::emit_device_assembly(text, &name, target, &mut warnings)?;
                codegen::Assembler::find()?.assemble(&ptx, &target.cpu)?
            }
            _ => codegen::emit_device_assembly(text, &name, target, &mut warnings)?.into_bytes(),
        };
        self.warn(&warnings);
        Ok(bytes)
    }
}
