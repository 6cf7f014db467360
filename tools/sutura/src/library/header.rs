//! The header of a library: for C99 and C++, with what each tensor is in words.

use std::fmt::Write;

use sutura_runtime::ElementType;
use sutura_runtime::manifest::{Dim, Manifest, Symbol, Value};

use super::glue::alignment;
use super::names::{Names, dims};
use super::words::shown;

/// The header's text. `interface` is the variable by which a library is known to be the header's.
pub(super) fn header(manifest: &Manifest, names: &Names, interface: &str) -> String {
    let prefix = &names.prefix;
    let mut out = String::new();
    about(manifest, names, &mut out);
    let guard = format!("SUTURA_MODEL_{prefix}_H");
    let inputs = manifest.inputs.iter().zip(&names.inputs);
    let outputs = manifest.outputs.iter().zip(&names.outputs);
    let input_dims = || inputs.clone().filter_map(|(value, name)| dims_parameter("const ", value, name));
    let output_dims = outputs.clone().filter_map(|(value, name)| dims_parameter("", value, name));
    let tensors = inputs.clone().map(|tensor| ("const ", tensor)).chain(outputs.map(|tensor| ("", tensor)));
    let tensors = tensors.flat_map(|(qualifier, (value, name))| {
        let data = format!("{qualifier}{} *{name}", c_type(value.element_type));
        [Some(data), dims_parameter("const ", value, name)].into_iter().flatten()
    });
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    write!(
        out,
        "\
#ifndef {guard}
#define {guard}

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {{
#endif

/* What the functions return. */
typedef enum {prefix}_status {{
  {prefix}_OK = 0,
  {prefix}_INPUT = 1,    /* the dimensions or the data do not fit the model */
  {prefix}_USAGE = 2,    /* the call is wrong: a null pointer, a buffer that is misaligned, too small or used twice */
  {prefix}_UNSUPPORTED = 3, /* the processor lacks what the library was compiled for */
  {prefix}_SYSTEM = 5,   /* the system has no memory for the workspace */
  {prefix}_INTERNAL = 70 /* a bug in the compiler */
}} {prefix}_status;

/* The words of the last error on this thread, empty if there was none; valid until the next error on this thread. */
const char *{prefix}_last_error(void);

/* Computes the dimensions of the outputs from those of the inputs. */
{prefix}_status {prefix}_output_dims({output_dims});

/* Computes how many bytes of workspace a run with inputs of these dimensions needs. */
{prefix}_status {prefix}_workspace_bytes({workspace_bytes});

/* Runs the model. The dimensions of an output are those of its buffer, which must be what {prefix}_output_dims gives. Outputs
 * overlap neither each other nor an input nor the workspace. Data of a tensor without elements may be NULL.
 * The workspace may lie anywhere and hold anything; with NULL and 0 the run allocates it, and frees it again. */
{prefix}_status {prefix}_run({run});

/* A program that has this header and another model's library, or an older one of this model, does not link. */
extern const char {interface};
#if defined(__GNUC__)
__attribute__((used)) static const char *const {prefix}_interface = &{interface};
#endif

#ifdef __cplusplus
}}
#endif

#endif
",
        output_dims = list(input_dims().chain(output_dims)),
        workspace_bytes = list(input_dims().chain(owned(&["size_t *bytes"]))),
        run = list(tensors.chain(owned(&["void *workspace", "size_t workspace_bytes"]))),
    )
    .unwrap_or_default();
    out
}

/// A list of parameters, a line for each where one line would be long.
fn list(parameters: impl Iterator<Item = String>) -> String {
    let parameters: Vec<String> = parameters.collect();
    let long = parameters.iter().map(|parameter| parameter.len() + 2).sum::<usize>() > 80;
    match parameters.is_empty() {
        true => "void".to_owned(),
        false if long => format!("\n    {}", parameters.join(",\n    ")),
        false => parameters.join(", "),
    }
}

/// The parameter for the dims of a tensor, if it has some.
fn dims_parameter(qualifier: &str, value: &Value, name: &str) -> Option<String> {
    let rank = value.dims.len();
    (rank > 0).then(|| format!("{qualifier}int64_t {}[{rank}]", dims(name)))
}

/// The comment at the top: what the model takes and gives.
fn about(manifest: &Manifest, names: &Names, out: &mut String) {
    let model = comment(&manifest.model);
    write!(
        out,
        "\
/* The model `{model}` as a library for {triple}, made by sutura {version} with --emit=static-lib.
 *
 * All tensors are contiguous and row-major. Functions may be called from any thread, and several at once.
 *
",
        triple = comment(&manifest.target.triple),
        version = manifest.tool.version,
    )
    .unwrap_or_default();
    for (role, values, names) in
        [("input", &manifest.inputs, &names.inputs), ("output", &manifest.outputs, &names.outputs)]
    {
        for (value, name) in values.iter().zip(names) {
            writeln!(out, " * {}", tensor(role, value, name)).unwrap_or_default();
        }
        if values.is_empty() {
            writeln!(out, " * no {role}s").unwrap_or_default();
        }
    }
    for symbol in &manifest.symbols {
        writeln!(out, " * dimension `{}`: {}", comment(&symbol.name), range(symbol)).unwrap_or_default();
    }
    out.push_str(" */\n");
}

/// An input or an output in words.
fn tensor(role: &str, value: &Value, name: &str) -> String {
    let dims: Vec<String> = value.dims.iter().map(|dim| comment(&dim.to_string())).collect();
    let computed = value.dims.iter().any(|dim| matches!(dim, Dim::Expr(_)));
    let note = if computed && role == "output" { "; computed from those of the inputs" } else { "" };
    let rank = value.dims.len();
    format!(
        "{role} {name}: `{}`, {}[{}], rank {rank}{note}; {}, aligned to {} bytes",
        comment(&value.name),
        value.element_type.name(),
        dims.join(", "),
        words(value.element_type),
        alignment(value.element_type),
    )
}

/// The values that a symbol has.
fn range(symbol: &Symbol) -> String {
    let most = match symbol.max {
        i64::MAX => "and more".to_owned(),
        most => format!("to {most}"),
    };
    let multiple = if symbol.div > 1 { format!(", a multiple of {}", symbol.div) } else { String::new() };
    format!("{} {most}{multiple}", symbol.min)
}

/// Text of others in a comment, which it cannot end.
fn comment(text: &str) -> String {
    shown(text).replace("*/", "* /").replace("/*", "/ *")
}

/// The C type of an element.
pub(super) fn c_type(element_type: ElementType) -> &'static str {
    use ElementType as T;
    match element_type {
        T::Bool => "bool",
        T::I8 | T::I2 | T::I4 => "int8_t",
        T::U8 | T::U2 | T::U4 | T::F4E2M1FN => "uint8_t",
        T::F8E4M3FN | T::F8E5M2 | T::F8E4M3FNUZ | T::F8E5M2FNUZ | T::F8E8M0FNU => "uint8_t",
        T::I16 => "int16_t",
        T::U16 | T::F16 | T::BF16 => "uint16_t",
        T::I32 => "int32_t",
        T::U32 => "uint32_t",
        T::I64 => "int64_t",
        T::U64 => "uint64_t",
        T::F32 | T::C64 => "float",
        T::F64 | T::C128 => "double",
    }
}

/// How an element lies in its C type.
fn words(element_type: ElementType) -> String {
    use ElementType as T;
    let c = c_type(element_type);
    match element_type {
        T::C64 | T::C128 => format!("two {c} each, real before imaginary part"),
        T::I2 | T::U2 | T::I4 | T::U4 | T::F4E2M1FN => format!("the low {} bits of {c}", element_type.bits()),
        T::F16 | T::BF16 => format!("its bits as {c}"),
        _ if c == "uint8_t" && element_type != T::U8 => format!("its bits as {c}"),
        _ => c.to_owned(),
    }
}
