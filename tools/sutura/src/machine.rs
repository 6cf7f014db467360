//! The machine that code is generated for: a description, found by name, and what LLVM needs to know.

use std::path::Path;

use sutura_codegen::Target;
use sutura_dialects::target::{Finder, HOST, Target as Description, TargetDesc, from_file, machine_of};
use sutura_ir::{Context, Module};

use sutura_run::artifacts::of_target;

use crate::failure::{Failure, Kind};
use crate::talk::Talk;

/// Whose devices a machine's kernels run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vendor {
    Nvidia,
    Amd,
    /// Any, through Vulkan.
    Khronos,
    /// The processor, with every access checked.
    Fibers,
}

impl Vendor {
    /// The vendor whose triples begin so; none for processors.
    fn of(triple: &str) -> Option<Self> {
        match triple.split('-').next()? {
            "nvptx64" => Some(Self::Nvidia),
            "amdgcn" => Some(Self::Amd),
            "spirv64" => Some(Self::Khronos),
            "fibers" => Some(Self::Fibers),
            _ => None,
        }
    }

    /// What devices of it are called.
    pub(crate) fn backend(self) -> &'static str {
        match self {
            Self::Nvidia => "cuda",
            Self::Amd => "rocm",
            Self::Khronos => "vulkan",
            Self::Fibers => "cpu-fibers",
        }
    }
}

/// A machine.
#[derive(Debug)]
pub(crate) struct Machine {
    /// What its description says.
    pub(crate) desc: TargetDesc,
    /// Where the description came from.
    pub(crate) origin: String,
    /// Triple, processor and features.
    pub(crate) target: Target,
    /// For a device beside the processor, whose it is.
    pub(crate) vendor: Option<Vendor>,
}

/// What the user said about the machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted<'a> {
    /// Name of a description, or `host`.
    pub(crate) name: Option<&'a str>,
    /// A file with one description.
    pub(crate) file: Option<&'a Path>,
}

impl Wanted<'_> {
    fn finder(&self) -> Finder {
        Finder::from_env(self.file.map(Path::to_owned))
    }

    /// The machine that is called for, or that of the file, or this one.
    pub(crate) fn find(&self, cx: &Context, talk: &Talk) -> Result<(Machine, Description), Failure> {
        let description = match (self.name, self.file) {
            (Some(HOST), _) | (None, None) => return self.host(cx, talk),
            (Some(name), _) => self.finder().find(cx, name),
            (None, Some(file)) => from_file(cx, file),
        };
        let description = description.map_err(|error| of_target(cx, error, talk))?;
        Ok((Machine::of(description.desc.clone(), &description.origin), description))
    }

    /// The machine at hand: the best description whose features it has, and all its own.
    pub(crate) fn host(&self, cx: &Context, talk: &Talk) -> Result<(Machine, Description), Failure> {
        let host = Target::host();
        if !host.triple.starts_with("x86_64") {
            return Err(Failure::new(Kind::Unsupported, format!("no code can be run on `{}` yet", host.triple))
                .hint("name a target to compile for another machine"));
        }
        let features: Vec<&str> = host.features.split(',').filter_map(|f| f.strip_prefix('+')).collect();
        let found = self.finder().host(cx, &host.triple, &features).map_err(|error| of_target(cx, error, talk))?;
        let target = Target { features: joined(&host.features, &found.desc.features), ..host };
        Ok((Machine { desc: found.desc.clone(), origin: found.origin.clone(), target, vendor: None }, found))
    }

    /// All descriptions, sorted by name.
    pub(crate) fn all(&self, cx: &Context, talk: &Talk) -> Result<Vec<Machine>, Failure> {
        let finder = self.finder();
        let find = |name: &String| finder.find(cx, name).map(|found| Machine::of(found.desc, &found.origin));
        let found = finder.names(cx).and_then(|names| names.iter().map(find).collect());
        found.map_err(|error| of_target(cx, error, talk))
    }

    /// The machine for a module, into which its description is put. One that the module holds already is the machine,
    /// unless the user asks for another.
    pub(crate) fn attach(&self, cx: &Context, module: &mut Module, talk: &Talk) -> Result<Machine, Failure> {
        let held = machine_of(module.op_ref(cx)).map_err(Failure::input)?;
        if let (Some(held), None, None) = (held, self.name, self.file) {
            return Ok(Machine::of(TargetDesc::from_op(held).map_err(Failure::input)?, "the module"));
        }
        let (machine, description) = self.find(cx, talk)?;
        match description.attach(cx, module.body_mut()) {
            Ok(_) => Ok(machine),
            Err(diagnostic) => {
                talk.diagnostic(cx, &diagnostic);
                Err(Failure::input(format!("the module cannot be compiled for `{}`", machine.desc.name)))
            }
        }
    }
}

impl Machine {
    fn of(desc: TargetDesc, origin: &str) -> Self {
        let mut target = Target::new(desc.triple.clone(), desc.feature_string());
        if let Some(chip) = &desc.chip {
            target.cpu.clone_from(chip);
        }
        let vendor = Vendor::of(&desc.triple);
        Self { desc, origin: origin.to_owned(), target, vendor }
    }

    /// Hash of the description, and how it is made.
    pub(crate) fn description_hash(&self) -> String {
        format!("fnv1a64:{}", self.desc.hash)
    }

    /// Name and features in one line.
    pub(crate) fn summary(&self) -> String {
        let features =
            if self.target.features.is_empty() { "no features beyond the baseline" } else { &self.target.features };
        format!("{} ({}; {})", self.desc.name, self.target.triple, features)
    }
}

/// The host's features, where the description does not say otherwise; both with signs.
fn joined(host: &str, description: &[String]) -> String {
    let name = |signed: &str| signed.trim_start_matches(['+', '-']).to_owned();
    let own = host.split(',').filter(|f| !f.is_empty() && description.iter().all(|d| name(d) != name(f)));
    let mut features: Vec<&str> = own.chain(description.iter().map(String::as_str)).collect();
    features.sort_unstable();
    features.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_is_a_target_that_llvm_knows() {
        let cx = Context::new(sutura_dialects::all());
        let talk = Talk::silent();
        let all = Wanted::default().all(&cx, &talk).unwrap();
        assert!(all.len() >= 3);
        // SPIR-V is not LLVM's to write, and fibers are the machine at hand.
        let others = [Some(Vendor::Khronos), Some(Vendor::Fibers)];
        let llvm = all.iter().filter(|machine| !others.contains(&machine.vendor));
        llvm.for_each(|machine| machine.target.check().unwrap());
    }

    #[test]
    fn the_descriptions_signs_win() {
        let description = ["+avx512f".to_owned(), "-prefer-256-bit".to_owned()];
        let features = joined("+avx512f,+sse3,+prefer-256-bit", &description);
        assert_eq!(features, "+avx512f,+sse3,-prefer-256-bit");
        assert_eq!(joined("", &[]), "");
    }
}
