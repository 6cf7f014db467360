//! A library's own part of the runtime in LLVM IR: tables of what it takes, checks and says.

use std::fmt::Write;

use sutura_runtime::manifest::{Constant, Manifest, Value};
use sutura_runtime::{CpuidBit, ElementType, abi};

use super::entry;
use super::machine::features;
use super::names::Names;
use super::words::{FIXED, data_words, shown, size_words, value_words};

/// The functions of a model's code by the names under which `runtime.ll` calls them.
pub(super) const CODE: [(&str, &str); 2] =
    [(abi::SHAPES_SYMBOL, "sutura.code.shapes"), (abi::RUN_SYMBOL, "sutura.code.run")];

/// What a library takes from its C library beside what compilers take for granted.
pub(super) const PROVIDED: [&str; 3] = ["aligned_alloc", "free", "__tls_get_addr"];

/// The parts that are the same for every model.
const RUNTIME: [&str; 2] = [include_str!("runtime.ll"), include_str!("words.ll")];

/// The whole of it for a model whose constants lie at the `offsets` of a variable, `data`, of so many bytes.
pub(super) fn glue(manifest: &Manifest, names: &Names, interface: &str, data: (&str, &[usize], usize)) -> String {
    let mut out = Glue { text: String::new(), texts: 0 };
    out.sizes(manifest);
    RUNTIME.iter().for_each(|part| out.line(part));
    for (name, words) in FIXED {
        out.define(name, words);
    }
    out.machine(manifest);
    out.values("inputs", "input", &manifest.inputs);
    out.values("outputs", "output", &manifest.outputs);
    out.checks(manifest);
    out.constants(&manifest.constants, data);
    out.line(format!("@sutura.abi = internal constant i32 {}", abi::VERSION));
    out.line(format!("@{interface} = constant i8 0"));
    out.line(entry::functions(manifest, names));
    out.text
}

/// What an address of elements must be a multiple of, in bytes.
pub(super) fn alignment(element_type: ElementType) -> usize {
    match element_type {
        ElementType::C64 | ElementType::C128 => element_type.bytes() / 2,
        _ => element_type.bytes(),
    }
}

struct Glue {
    text: String,
    /// How many texts are defined.
    texts: usize,
}

impl Glue {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// Defines a string that ends with a zero byte.
    fn define(&mut self, name: &str, text: &str) {
        let mut bytes = String::new();
        for byte in text.bytes() {
            match byte {
                b'"' | b'\\' | ..b' ' | 127.. => write!(bytes, "\\{byte:02X}").unwrap_or_default(),
                _ => bytes.push(char::from(byte)),
            }
        }
        self.line(format!("@sutura.{name} = internal constant [{} x i8] c\"{bytes}\\00\"", text.len() + 1));
    }

    /// The address of a text.
    fn text(&mut self, text: &str) -> String {
        let name = format!("text.{}", self.texts);
        self.texts += 1;
        self.define(&name, text);
        format!("ptr @sutura.{name}")
    }

    /// Defines the types of arrays that `runtime.ll` has.
    fn sizes(&mut self, manifest: &Manifest) {
        let rank = |values: &[Value]| values.iter().map(|value| value.dims.len()).sum::<usize>();
        self.line(format!("%sutura.Symbols = type [{} x i64]", manifest.symbols.len()));
        self.line(format!("%sutura.InputDims = type [{} x i64]", rank(&manifest.inputs)));
        self.line(format!("%sutura.OutputDims = type [{} x i64]", rank(&manifest.outputs)));
        self.line(format!("%sutura.Inputs = type [{} x ptr]", manifest.inputs.len()));
        self.line(format!("%sutura.Outputs = type [{} x ptr]", manifest.outputs.len()));
    }

    /// Defines what looks at the processor.
    fn machine(&mut self, manifest: &Manifest) {
        let target = &manifest.target;
        if !target.triple.starts_with("x86_64") {
            self.line("attributes #0 = { nounwind }\ndefine internal i32 @sutura.machine() #0 { ret i32 0 }");
            return;
        }
        self.line(include_str!("x86.ll"));
        self.line("attributes #0 = { nounwind \"target-cpu\"=\"x86-64\" \"target-features\"=\"\" }");
        self.define("name.target", &shown(&target.description));
        let row = |feature: &CpuidBit| {
            let name = self.text(feature.name);
            let CpuidBit { leaf: (leaf, subleaf), register, bit, saved, .. } = feature;
            let bits = (1_u32 << bit).cast_signed();
            let leaf = leaf.cast_signed();
            format!("{{ i32 {leaf}, i32 {subleaf}, i32 {register}, i32 {bits}, i32 {saved}, {name} }}")
        };
        let features = features(&target.features);
        let tiles = features.iter().any(|feature| feature.name.starts_with("amx-"));
        let rows: Vec<String> = features.iter().map(row).collect();
        self.define("name.tiles", "permission to use AMX tiles");
        self.line(format!("@sutura.wants.tiles = internal constant i1 {tiles}"));
        self.table("features", "%sutura.Feature", &rows);
        self.line(format!("@sutura.n.features = internal constant i64 {}", rows.len()));
    }

    fn maybe(&mut self, text: Option<&String>) -> String {
        text.map_or_else(|| "ptr null".to_owned(), |text| self.text(text))
    }

    /// Defines a table.
    fn table(&mut self, name: &str, ty: &str, rows: &[String]) {
        let rows: Vec<String> = rows.iter().map(|row| format!("{ty} {row}")).collect();
        self.line(format!("@sutura.{name} = internal constant [{} x {ty}] [{}]", rows.len(), rows.join(", ")));
    }

    fn values(&mut self, name: &str, role: &str, values: &[Value]) {
        let row = |value: &Value| {
            let name = self.text(&value_words(role, &value.name));
            let (bytes, alignment) = (value.element_type.bytes(), alignment(value.element_type));
            format!("{{ {name}, i64 {}, i64 {bytes}, i64 {alignment} }}", value.dims.len())
        };
        let rows: Vec<String> = values.iter().map(row).collect();
        self.table(name, "%sutura.Value", &rows);
        self.line(format!("@sutura.n.{name} = internal constant i64 {}", values.len()));
    }

    fn checks(&mut self, manifest: &Manifest) {
        let sizes = manifest.checks.iter().map(|check| {
            let words = size_words(check);
            let usual = self.text(&words.usual);
            let [below, beyond, negative] =
                [&words.below, &words.beyond, &words.negative].map(|text| self.maybe(text.as_ref()));
            format!("{{ {usual}, {below}, {beyond}, {negative} }}")
        });
        let sizes: Vec<String> = sizes.collect();
        self.table("checks", "%sutura.Check", &sizes);
        let data = manifest.data_checks.iter().map(|check| {
            let (usual, special, decides) = data_words(check);
            let (usual, special) = (self.text(&usual), self.text(&special));
            format!("{{ {usual}, {special}, i64 {} }}", decides as u8)
        });
        let data: Vec<String> = data.collect();
        self.table("data.checks", "%sutura.DataCheck", &data);
    }

    fn constants(&mut self, constants: &[Constant], (data, offsets, size): (&str, &[usize], usize)) {
        if !constants.is_empty() {
            let alignment = sutura_codegen::DATA_ALIGNMENT;
            self.line(format!("@{data} = external hidden constant [{size} x i8], align {alignment}"));
        }
        let rows = offsets.iter().map(|offset| format!("getelementptr (i8, ptr @{data}, i64 {offset})"));
        let rows: Vec<String> = rows.collect();
        self.table("constants", "ptr", &rows);
    }
}
