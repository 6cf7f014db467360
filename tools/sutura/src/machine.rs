//! The machine that code is generated for.

use sutura_codegen::Target;

use crate::failure::{Failure, Kind};
use crate::input::hash;

/// A machine by name.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// Name of the description.
    pub(crate) name: &'static str,
    /// Triple and features.
    pub(crate) target: Target,
    /// Width of its vectors in bytes.
    pub(crate) vector_bytes: u32,
}

/// What is known of a kind of machine.
struct Description {
    name: &'static str,
    summary: &'static str,
    vector_bytes: u32,
    features: &'static str,
}

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Best first: `host` takes the first one whose features the machine has.
const DESCRIPTIONS: &[Description] = &[
    Description {
        name: "x86_avx512",
        summary: "x86-64 with AVX-512 (F, BW, CD, DQ, VL)",
        vector_bytes: 64,
        features: "+avx,+avx2,+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,\
                   +popcnt,+sse3,+sse4.1,+sse4.2,+ssse3",
    },
    Description {
        name: "x86_avx2",
        summary: "x86-64 with AVX2 and FMA",
        vector_bytes: 32,
        features: "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3",
    },
    Description { name: "x86_64", summary: "any x86-64", vector_bytes: 16, features: "" },
];

impl Machine {
    /// The machine called `name`; `host` is this one.
    pub(crate) fn named(name: &str) -> Result<Self, Failure> {
        if name == "host" {
            return Self::host();
        }
        let Some(description) = DESCRIPTIONS.iter().find(|d| d.name == name) else {
            let names = DESCRIPTIONS.iter().map(|d| d.name).chain(["host"]);
            let failure = Failure::usage(format!("there is no target `{name}`"));
            return Err(match sutura_ir::diagnostics::did_you_mean(name, names.clone()) {
                Some(close) => failure.hint(format!("did you mean `{close}`?")),
                None => failure.hint(format!("the targets are {}", names.collect::<Vec<_>>().join(", "))),
            });
        };
        Ok(Self::described(description, Target::new(TRIPLE, description.features)))
    }

    /// This machine: the description whose features it has, and all its own.
    pub(crate) fn host() -> Result<Self, Failure> {
        let target = Target::host();
        if !target.triple.starts_with("x86_64") {
            return Err(Failure::new(Kind::Unsupported, format!("no code can be run on `{}` yet", target.triple))
                .hint("name a target to compile for another machine"));
        }
        let has = |feature: &str| target.features.split(',').any(|f| f == feature);
        let fits = |d: &&Description| d.features.split(',').filter(|f| !f.is_empty()).all(has);
        let description = DESCRIPTIONS.iter().find(fits);
        let description = description.ok_or_else(|| Failure::internal("no target fits any x86-64 machine"))?;
        Ok(Self::described(description, target))
    }

    fn described(description: &Description, target: Target) -> Self {
        Self { name: description.name, target, vector_bytes: description.vector_bytes }
    }

    /// A hash of all that code generation takes from the description.
    pub(crate) fn description_hash(&self) -> String {
        hash(format!("{}\n{}\n{}\n", self.name, self.target.triple, self.vector_bytes).as_bytes())
    }

    /// Name and features in one line.
    pub(crate) fn summary(&self) -> String {
        let features =
            if self.target.features.is_empty() { "no features beyond the baseline" } else { &self.target.features };
        format!("{} ({}; {})", self.name, self.target.triple, features)
    }
}

/// Name and summary of every machine.
pub(crate) fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    DESCRIPTIONS.iter().map(|d| (d.name, d.summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_is_a_target_that_llvm_knows() {
        for (name, _) in list() {
            Machine::named(name).unwrap().target.check().unwrap();
        }
    }

    #[test]
    fn a_wrong_name_gets_the_closest_one() {
        let failure = Machine::named("x86_avx521").unwrap_err();
        assert_eq!((failure.kind, failure.hint.as_deref()), (Kind::Usage, Some("did you mean `x86_avx512`?")));
    }
}
