//! What of a program in upstream operations has no machine code: found before LLVM sees it, with the place of each operation.
//!
//! LLVM turns what a processor has no instruction for into calls of a library for compilers, which no artifact brings along:
//! the name of a missing symbol would be all that a user gets to read, after all the work. The table below is what LLVM 22
//! does for floats of 16 bits on x86, RISC-V and Arm; types that neither MLIR nor LLVM computes with are told as well.

use sutura_ir::diagnostics::{Diagnostic, codes};
use sutura_ir::types::{FloatKind, TypeData};
use sutura_ir::{Context, OpRef, Type};

/// Names of features of an architecture that convert floats of 16 bits; the first of each is the one to ask for.
#[derive(PartialEq, Eq, Debug)]
struct Features {
    /// What its triples begin with.
    architecture: &'static str,
    half: &'static [&'static str],
    brain: &'static [&'static str],
    half_of_double: &'static [&'static str],
}

const FEATURES: &[Features] = &[
    Features {
        architecture: "x86_64",
        half: &["f16c", "avx512f", "avx512fp16"],
        brain: &["avx512bf16", "avxneconvert"],
        half_of_double: &["avx512fp16"],
    },
    Features {
        architecture: "riscv64",
        half: &["zfhmin", "zfh"],
        brain: &["zfbfmin"],
        half_of_double: &["zfhmin", "zfh"],
    },
];

/// What a processor has, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Processor {
    /// The features by which processors of the architecture differ here; none where all have what is asked about.
    differ: Option<&'static Features>,
    /// Conversions between f16 and f32.
    half: bool,
    /// Rounding of f32 to bf16.
    brain: bool,
    /// Rounding of f64 to f16.
    half_of_double: bool,
}

impl Processor {
    /// The processor with this triple, and these features: `+avx2,+f16c,-avx512f`.
    pub fn new(triple: &str, features: &str) -> Self {
        let differ = FEATURES.iter().find(|found| triple.starts_with(found.architecture));
        let has = |names: fn(&'static Features) -> &'static [&'static str]| {
            let has = |names: &[&str]| {
                features.split(',').any(|f| f.strip_prefix('+').is_some_and(|name| names.contains(&name)))
            };
            differ.is_none_or(|found| has(names(found)))
        };
        Self {
            differ,
            half: has(|found| found.half),
            brain: has(|found| found.brain),
            half_of_double: has(|found| found.half_of_double),
        }
    }

    /// Whether it rounds `f32` to `bf16`.
    pub fn rounds_to_brain(self) -> bool {
        self.brain
    }

    /// Whether it rounds `f64` to `bf16` at once.
    pub fn rounds_doubles_to_brain(self) -> bool {
        self.differ.is_none()
    }

    /// Whether it rounds `f64` to `f16` at once.
    pub fn rounds_doubles_to_half(self) -> bool {
        self.half_of_double
    }

    /// A GPU: its vendor's conversion says what is missing but for types.
    pub fn device() -> Self {
        Self { differ: None, half: true, brain: true, half_of_double: true }
    }
}

/// Everything in the operations below `root` that has no machine code on `processor`, in order.
pub fn missing(root: OpRef<'_>, processor: Processor) -> Vec<Diagnostic> {
    let (mut found, mut seen) = (Vec::new(), rustc_hash::FxHashSet::default());
    root.walk(&mut |op| {
        // An operator becomes many operations: each place and reason once.
        if let Some(what) = lacks(op, processor).filter(|what| seen.insert((op.loc(), what.clone()))) {
            let message = format!("'{}' has no machine code here: {what}", op.name_str());
            found.push(Diagnostic::error(op.loc(), message).code(codes::NO_MACHINE_CODE));
        }
    });
    found
}

/// What is missing for an operation.
fn lacks(op: OpRef<'_>, processor: Processor) -> Option<String> {
    let (dialect, name) = op.name_str().split_once('.')?;
    if !matches!(dialect, "arith" | "math" | "vector" | "llvm") {
        return None;
    }
    let cx = op.cx;
    let types = || op.operands().map(|v| op.ty(v)).chain(op.results().map(|v| op.ty(v)));
    if let Some(kind) = types().filter_map(|ty| float(cx, ty)).find(|kind| !is_computed_with(*kind)) {
        return Some(format!("nothing is computed with elements of type {}", spelling(kind)));
    }
    let features = processor.differ.filter(|_| computes(dialect, name))?;
    let of = |values: Vec<Type>| values.into_iter().filter_map(|ty| float(cx, ty)).collect::<Vec<FloatKind>>();
    let from = of(op.operands().map(|v| op.ty(v)).collect());
    let to = of(op.results().map(|v| op.ty(v)).collect());
    let rounds = |kind: FloatKind| to.contains(&kind);
    let halves = from.contains(&FloatKind::F16) || rounds(FloatKind::F16);
    let narrows = matches!(name, "truncf" | "fptrunc") && from.contains(&FloatKind::F64);
    if narrows && rounds(FloatKind::F16) && !processor.half_of_double {
        let feature = features.half_of_double[0];
        return Some(format!(
            "rounding f64 to f16 needs the feature `{feature}`; by way of f32 it would be rounded twice"
        ));
    }
    if narrows && rounds(FloatKind::BF16) {
        return Some("rounding f64 to bf16 is no instruction; by way of f32 it would be rounded twice".into());
    }
    if halves && !processor.half {
        return Some(format!("f16 needs the feature `{}`", features.half[0]));
    }
    if rounds(FloatKind::BF16) && !processor.brain {
        return Some(format!("rounding to bf16 needs the feature `{}`", features.brain[0]));
    }
    None
}

/// Whether an operation computes with floats, and does not only move them.
fn computes(dialect: &str, name: &str) -> bool {
    match dialect {
        "arith" => !matches!(name, "constant" | "select" | "bitcast" | "negf"),
        "math" => !matches!(name, "absf" | "copysign"),
        "vector" => matches!(name, "fma" | "reduction" | "contract" | "outerproduct" | "multi_reduction" | "scan"),
        _ => matches!(
            name,
            "fadd"
                | "fsub"
                | "fmul"
                | "fdiv"
                | "fcmp"
                | "fpext"
                | "fptrunc"
                | "sitofp"
                | "uitofp"
                | "fptosi"
                | "fptoui"
        ),
    }
}

/// The kind of the elements of a type, if they are floats.
fn float(cx: &Context, ty: Type) -> Option<FloatKind> {
    match cx.type_data(cx.element_type(ty)) {
        TypeData::Float(kind) => Some(kind),
        _ => None,
    }
}

fn spelling(kind: FloatKind) -> &'static str {
    FloatKind::ALL.iter().find(|(known, ..)| *known == kind).map_or("", |(_, name, _)| name)
}

fn is_computed_with(kind: FloatKind) -> bool {
    matches!(
        kind,
        FloatKind::F16 | FloatKind::BF16 | FloatKind::F32 | FloatKind::F64 | FloatKind::F80 | FloatKind::F128
    )
}
