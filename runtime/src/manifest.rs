//! `manifest.json`: what an artifact says about itself.
//!
//! The compiler fills in a [`Manifest`] and [`Manifest::to_json`] writes it, the same bytes for the same content.
//! [`Manifest::from_json`] looks at the versions first, so that a file of another version is refused by its number
//! and not by the first field that looks strange, and then checks what the rest of the runtime relies on.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::abi;
use crate::element::ElementType;
use crate::error::ArtifactProblem;

/// Version of the artifact's layout and of the manifest's fields.
pub const FORMAT: u32 = 2;

/// The manifest. Fields are written in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: u32,
    /// [`abi::VERSION`].
    pub abi: u32,
    /// What made the artifact.
    pub tool: Tool,
    /// The machine that the code is for.
    pub target: Target,
    /// The device that the kernels are for, where they are not the processor's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// The rules for floating-point that the code was compiled under.
    pub math: Math,
    /// The model's name.
    pub model: String,
    /// The named dims, in the order of `sutura_shapes`.
    pub symbols: Vec<Symbol>,
    /// The inputs, in the order of `sutura_run`.
    pub inputs: Vec<Value>,
    /// Tensors without elements that follow the inputs in `sutura_run`. The runtime gives them, not the caller. The first size of each
    /// is a symbol: how many places memory is planned for. A run that needs more is repeated with more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserves: Vec<Value>,
    /// The outputs, in the order of `sutura_run`.
    pub outputs: Vec<Value>,
    /// The constants, in the order of `sutura_run`; their bytes are in `weights.safetensors` under these names.
    pub constants: Vec<Constant>,
    /// What `sutura_shapes` checks: its result `1 + i` means `checks[i]`.
    pub checks: Vec<Check>,
    /// What kernels check of data: number `i` in a report means `data_checks[i]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_checks: Vec<DataCheck>,
    /// The library routines that the code calls by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routines: Vec<String>,
    /// The symbols that data decide in the run. Before it `sutura_shapes` tells the most that they may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<String>,
    /// What lies in the workspace, for reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub temporaries: Vec<Temporary>,
    /// The recursive functions, which the code calls by their numbers here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Function>,
    /// The compiled kernels, for reports.
    pub kernels: Vec<Kernel>,
    /// Hash of the source model, with the name of the hash in front, such as `sha256:…`.
    pub source_hash: String,
}

/// A function that calls itself, directly or through others. Each call has memory of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Its name in the model.
    pub name: String,
    /// What lies in the memory of a call, over symbols of the function, for reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub temporaries: Vec<Temporary>,
}

/// What a run needs between its kernels. It lies where all end that it lies after, or at the begin of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Temporary {
    /// Bytes, as a polynomial of symbols, with what aligns the next one.
    pub bytes: String,
    /// Numbers of those that it lies after, all of which come before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
}

/// What made the artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    pub name: String,
    pub version: String,
}

/// The machine that the code is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// LLVM's target triple.
    pub triple: String,
    /// LLVM's feature string, such as `+avx2,+fma,-prefer-256-bit`. The loader checks every `+`.
    pub features: String,
    /// Name of the target description.
    pub description: String,
    /// Hash of the target description's text.
    pub description_hash: String,
}

/// The device that the kernels are for. Its code is the entry `device.bin`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The kind of device, as in the names of devices.
    pub backend: String,
    /// The processor that the code is for, such as `sm_80`, where it is for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip: Option<String>,
    /// Threads that run in lockstep.
    pub subgroup: u32,
}

/// The rules for floating-point that the code was compiled under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Math {
    /// The flags given with `--fast-math`, none by default.
    pub fast_math: Vec<String>,
    /// To what factors of products were rounded, as `--precision` said: `bf16`. Absent where they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
    /// Where small floats are rounded.
    pub excess_precision: ExcessPrecision,
    /// No approximation by a device's own instructions.
    pub portable: bool,
}

impl Default for Math {
    fn default() -> Self {
        Self { fast_math: Vec::new(), precision: None, excess_precision: ExcessPrecision::Fused, portable: false }
    }
}

/// Where small floats are rounded to their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExcessPrecision {
    /// Once, at a store to memory.
    Fused,
    /// After every operation.
    None,
}

/// A check of data that a kernel makes as it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataCheck {
    pub kind: DataCheckKind,
    /// What messages call the op whose data it is.
    pub what: String,
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataCheckKind {
    /// An element of a tensor of indices names one.
    Index,
    /// A divisor is not 0.
    Division,
    /// A list of sizes that data tells asks for those of a result.
    Size,
    /// A size is the one that the program goes on with where it has come to.
    Dim,
}

/// A named dim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symbol {
    pub name: String,
    /// Smallest value that the model was compiled for.
    pub min: i64,
    /// Largest value that the model was compiled for.
    pub max: i64,
    /// Every value is a multiple of this.
    pub div: i64,
    /// Values to be fast at.
    pub likely: Vec<i64>,
}

/// An input or an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    pub name: String,
    pub element_type: ElementType,
    pub dims: Vec<Dim>,
}

/// One dim of an input or an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dim {
    /// Always this.
    Const(i64),
    /// The value of this symbol.
    Symbol(String),
    /// Computed from symbols by the model's code; the text is for people.
    Expr(String),
}

/// A constant, by default a model's weight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    pub name: String,
    pub element_type: ElementType,
    pub dims: Vec<i64>,
}

/// Something that `sutura_shapes` checks, with the words for the message when it does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub kind: CheckKind,
    /// The model's name of the dim, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dim: Option<String>,
    /// What `detail[0]` is the value of, such as ``input `x` dimension 1``.
    pub left: String,
    /// For `equal` and `constraint`: what `detail[1]` is the value of, or a constant.
    /// For `range`: the range, such as `[1, 512]`. Unused for `divisible`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub right: String,
    /// The symbol of a reserve that is too small where the check does not hold: `detail[1]` would be enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve: Option<String>,
}

/// The kinds of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckKind {
    /// `detail` holds two values that should be equal.
    Equal,
    /// `detail` holds a value and the bound that it is beyond.
    Range,
    /// `detail` holds a value and what it should be a multiple of.
    Divisible,
    /// `detail` holds two values that do not go together, such as dims to be broadcast.
    Constraint,
}

/// A compiled kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Its symbol in `host.so`.
    pub symbol: String,
    /// The region that it computes.
    pub name: String,
    /// The condition on the dims that selects this version; none for the version that always works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// The model's operators that it computes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<String>,
    /// Bytes of the tensors that a launch reads and writes, each once, as a formula of the model's sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// Float operations of a launch, as a formula of the model's sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops: Option<String>,
    /// For a kernel of a device: how many groups a block of its threads takes at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups_of_block: Option<u32>,
}

/// The part of the manifest that every version has.
#[derive(Deserialize)]
struct Versions {
    format: u64,
    abi: u64,
}

/// Refuses the text of a `manifest.json` of another version by its number.
pub(crate) fn check_versions(text: &[u8]) -> Result<(), ArtifactProblem> {
    let versions = serde_json::from_slice(text).map_err(|e| ArtifactProblem::Manifest(e.to_string()));
    let Versions { format, abi } = versions?;
    if format != u64::from(FORMAT) {
        return Err(ArtifactProblem::Format { found: format, supported: FORMAT });
    }
    if abi != u64::from(abi::VERSION) {
        return Err(ArtifactProblem::Abi { found: abi, supported: abi::VERSION });
    }
    Ok(())
}

impl Manifest {
    /// The text of `manifest.json`.
    pub fn to_json(&self) -> Vec<u8> {
        // Serialising plain structs into memory has no way to fail.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// Parses and checks the text of `manifest.json`.
    pub fn from_json(text: &[u8]) -> Result<Self, ArtifactProblem> {
        check_versions(text)?;
        let manifest: Self = serde_json::from_slice(text).map_err(|e| ArtifactProblem::Manifest(e.to_string()))?;
        manifest.validate().map_err(ArtifactProblem::Manifest)?;
        Ok(manifest)
    }

    /// Checks what cannot be said in the types: names that are unique and defined, dims that make sense.
    pub fn validate(&self) -> Result<(), String> {
        unique("symbols", self.symbols.iter().map(|s| &s.name))?;
        unique("inputs", self.inputs.iter().map(|v| &v.name))?;
        unique("outputs", self.outputs.iter().map(|v| &v.name))?;
        unique("constants", self.constants.iter().map(|c| &c.name))?;
        for symbol in &self.symbols {
            if symbol.min < 0 || symbol.max < symbol.min || symbol.div < 1 {
                return Err(format!(
                    "symbol `{}` has no sensible range: [{}, {}], multiples of {}",
                    symbol.name, symbol.min, symbol.max, symbol.div
                ));
            }
        }
        let symbols: HashSet<&str> = self.symbols.iter().map(|s| s.name.as_str()).collect();
        for (role, values) in [("input", &self.inputs), ("reserve", &self.reserves), ("output", &self.outputs)] {
            for value in values {
                value.validate(&symbols).map_err(|e| format!("{role} `{}` {e}", value.name))?;
            }
        }
        for constant in &self.constants {
            byte_size(constant.element_type, &constant.dims)
                .map_err(|e| format!("constant `{}` {e}", constant.name))?;
        }
        self.validate_kernels()?;
        validate_places(&self.temporaries)?;
        for function in &self.functions {
            validate_places(&function.temporaries).map_err(|e| format!("function `{}`: {e}", function.name))?;
        }
        if self.device.is_some() && !self.functions.is_empty() {
            return Err("it has recursive functions, which no code for a device has".to_owned());
        }
        if let Some(name) = self.decided.iter().find(|name| !symbols.contains(name.as_str())) {
            return Err(format!("data decide `{name}`, which is no symbol"));
        }
        self.validate_reserves()?;
        if self.device.is_some() && !self.decided.is_empty() {
            return Err("data decide sizes, which no code for a device can".to_owned());
        }
        match self.routines.iter().find(|r| r.is_empty() || r.contains('\0')) {
            Some(routine) => Err(format!("{routine:?} is no name of a routine")),
            None => Ok(()),
        }
    }

    /// Each reserve has one symbol of its own, and each check that names one names one of these.
    fn validate_reserves(&self) -> Result<(), String> {
        for reserve in &self.reserves {
            let [Dim::Symbol(_), Dim::Const(0)] = &reserve.dims[..] else {
                return Err(format!("reserve `{}` has the dimensions [{}]", reserve.name, reserve.dims_text()));
            };
        }
        let symbols: Vec<&String> = self.reserves.iter().filter_map(Value::reserved).collect();
        unique("reserves", symbols.iter().copied())?;
        match self.checks.iter().filter_map(|check| check.reserve.as_ref()).find(|name| !symbols.contains(name)) {
            Some(name) => Err(format!("a check is of the reserve `{name}`, which there is not")),
            None => Ok(()),
        }
    }

    /// All kernels are the device's where there is one, and none where there is not.
    fn validate_kernels(&self) -> Result<(), String> {
        for kernel in &self.kernels {
            match (&self.device, kernel.groups_of_block) {
                (Some(_), None | Some(0)) => {
                    return Err(format!(
                        "kernel `{}` does not say how many groups a block of threads takes",
                        kernel.symbol
                    ));
                }
                (None, Some(_)) => return Err(format!("kernel `{}` is a device's, but there is none", kernel.symbol)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The model's interface in one line: `name(x: f32[batch, 256]) -> (y: f32[batch])`.
    pub fn signature(&self) -> String {
        let values = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        format!("{}({}) -> ({})", self.model, values(&self.inputs), values(&self.outputs))
    }
}

impl Value {
    /// The symbol of a reserve.
    pub(crate) fn reserved(&self) -> Option<&String> {
        match self.dims.first() {
            Some(Dim::Symbol(name)) => Some(name),
            _ => None,
        }
    }

    /// The dims as the model declares them: `batch, seq, 256`.
    pub fn dims_text(&self) -> String {
        self.dims.iter().map(Dim::to_string).collect::<Vec<_>>().join(", ")
    }

    fn validate(&self, symbols: &HashSet<&str>) -> Result<(), String> {
        if self.dims.len() > abi::MAX_RANK {
            return Err(format!("has rank {}, above {}", self.dims.len(), abi::MAX_RANK));
        }
        for dim in &self.dims {
            match dim {
                Dim::Const(n) if *n < 0 => return Err(format!("has the negative dimension {n}")),
                Dim::Symbol(s) if !symbols.contains(s.as_str()) => {
                    return Err(format!("has the dimension `{s}`, which is no symbol"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}[{}]", self.name, self.element_type, self.dims_text())
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Const(n) => write!(f, "{n}"),
            Self::Symbol(s) | Self::Expr(s) => f.write_str(s),
        }
    }
}

/// Bytes of a tensor with these dims; an error says what is wrong with them.
pub(crate) fn byte_size(element_type: ElementType, dims: &[i64]) -> Result<usize, String> {
    if dims.len() > abi::MAX_RANK {
        return Err(format!("has rank {}, above {}", dims.len(), abi::MAX_RANK));
    }
    if let Some(negative) = dims.iter().find(|d| **d < 0) {
        return Err(format!("has the negative dimension {negative}"));
    }
    if dims.contains(&0) {
        return Ok(0);
    }
    dims.iter()
        .try_fold(element_type.bytes(), |bytes, &dim| bytes.checked_mul(usize::try_from(dim).ok()?))
        .filter(|&bytes| bytes <= isize::MAX as usize)
        .ok_or_else(|| format!("has dimensions {dims:?}, which no memory can hold"))
}

/// What lies in a workspace comes after what it lies behind.
fn validate_places(temporaries: &[Temporary]) -> Result<(), String> {
    for (number, temporary) in temporaries.iter().enumerate() {
        if let Some(after) = temporary.after.iter().find(|after| **after >= number) {
            return Err(format!("temporary {number} lies after {after}, which is none before it"));
        }
    }
    Ok(())
}

/// An error where two `things` have one name.
pub(crate) fn unique<'a>(things: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("two {things} are named `{name}`"));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A manifest with one input and one output `[batch, 4]`.
    pub(crate) fn sample() -> Manifest {
        let value = |name: &str| Value {
            name: name.into(),
            element_type: ElementType::F32,
            dims: vec![Dim::Symbol("batch".into()), Dim::Const(4)],
        };
        Manifest {
            format: FORMAT,
            abi: abi::VERSION,
            tool: Tool { name: "test".into(), version: "0".into() },
            target: Target {
                triple: "x86_64-unknown-linux-gnu".into(),
                features: String::new(),
                description: "x86_64".into(),
                description_hash: "none".into(),
            },
            device: None,
            math: Math::default(),
            model: "sample".into(),
            symbols: vec![Symbol { name: "batch".into(), min: 0, max: 16, div: 1, likely: vec![1] }],
            inputs: vec![value("x")],
            reserves: vec![],
            outputs: vec![value("y")],
            constants: Vec::new(),
            checks: Vec::new(),
            data_checks: vec![],
            routines: Vec::new(),
            decided: Vec::new(),
            temporaries: vec![Temporary { bytes: "1024*batch".into(), after: Vec::new() }],
            functions: vec![],
            kernels: Vec::new(),
            source_hash: "none".into(),
        }
    }

    #[test]
    fn survives_a_round_trip() {
        let manifest = sample();
        let text = manifest.to_json();
        assert_eq!(Manifest::from_json(&text).unwrap(), manifest);
        assert_eq!(manifest.to_json(), text);
        assert_eq!(manifest.signature(), "sample(x: f32[batch, 4]) -> (y: f32[batch, 4])");
    }

    #[test]
    fn another_version_is_refused_by_its_number() {
        let text = br#"{"format": 7, "abi": 1, "novelty": []}"#;
        assert_eq!(Manifest::from_json(text), Err(ArtifactProblem::Format { found: 7, supported: FORMAT }));
        let text = br#"{"format": 2, "abi": 9, "novelty": []}"#;
        assert_eq!(Manifest::from_json(text), Err(ArtifactProblem::Abi { found: 9, supported: abi::VERSION }));
    }

    #[test]
    fn nonsense_is_refused() {
        let refused = |change: fn(&mut Manifest), words: &str| {
            let mut manifest = sample();
            change(&mut manifest);
            let error = Manifest::from_json(&manifest.to_json()).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        refused(|m| m.inputs[0].dims[0] = Dim::Symbol("b".into()), "`b`, which is no symbol");
        refused(|m| m.inputs[0].dims[1] = Dim::Const(-4), "negative dimension -4");
        refused(|m| m.inputs.push(m.inputs[0].clone()), "two inputs are named `x`");
        refused(|m| m.symbols[0].max = -1, "no sensible range");
        refused(|m| m.inputs[0].dims = vec![Dim::Const(1); 65], "rank 65");
        refused(|m| m.routines.push(String::new()), "no name of a routine");
        let kernel = |groups_of_block| Kernel {
            symbol: "k".into(),
            name: "k".into(),
            guard: None,
            ops: vec![],
            bytes: None,
            flops: None,
            groups_of_block,
        };
        let mut manifest = sample();
        manifest.kernels.push(kernel(Some(4)));
        assert!(manifest.validate().unwrap_err().contains("`k` is a device's"));
        manifest.device = Some(Device { backend: "cuda".into(), chip: Some("sm_80".into()), subgroup: 32 });
        manifest.validate().unwrap();
        manifest.kernels.push(kernel(None));
        assert!(manifest.validate().unwrap_err().contains("how many groups"));
        let huge = Constant { name: "w".into(), element_type: ElementType::F32, dims: vec![1 << 40, 1 << 40] };
        let mut manifest = sample();
        manifest.constants.push(huge);
        assert!(manifest.validate().unwrap_err().contains("which no memory can hold"));
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let text = String::from_utf8(sample().to_json()).unwrap().replacen("\"model\"", "\"models\"", 1);
        assert!(matches!(Manifest::from_json(text.as_bytes()), Err(ArtifactProblem::Manifest(_))));
    }
}
