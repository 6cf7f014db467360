//! The functions of a library in LLVM IR: each looks at the processor, puts its parameters into arrays, and passes these on.

use std::fmt::Write;

use sutura_runtime::manifest::{Manifest, Value};

use super::names::Names;

/// All that the header declares, in its order.
pub(super) fn functions(manifest: &Manifest, names: &Names) -> String {
    let (inputs, outputs) = (&manifest.inputs, &manifest.outputs);
    let [data_in, dims_in] = [data("i", inputs), dims("id", inputs)];
    let [data_out, dims_out] = [data("o", outputs), dims("od", outputs)];
    let message = "%message = call ptr @llvm.threadlocal.address.p0(ptr @sutura.message)\n  ret ptr %message";
    let mut out = format!("define ptr @{}() #0 {{\n  {message}\n}}\n", names.function("last_error"));
    out += &function(
        &names.function("output_dims"),
        &[dims_in.given(), dims_out.given()].concat(),
        &[&dims_in, &dims_out],
        "@sutura.infer(ptr %id, ptr %od)",
    );
    out += &function(
        &names.function("workspace_bytes"),
        &[dims_in.given(), vec!["ptr %bytes".to_owned()]].concat(),
        &[&dims_in],
        "@sutura.workspace(ptr %id, ptr %bytes)",
    );
    let workspace = ["ptr %workspace", "i64 %workspace.bytes"].map(str::to_owned);
    out += &function(
        &names.function("run"),
        &[tensors(&data_in, &dims_in), tensors(&data_out, &dims_out), workspace.to_vec()].concat(),
        &[&data_in, &dims_in, &data_out, &dims_out],
        "@sutura.run(ptr %i, ptr %id, ptr %o, ptr %od, ptr %workspace, i64 %workspace.bytes)",
    );
    out
}

/// Addresses that a function gets one by one and passes on together.
struct Array {
    name: &'static str,
    /// Its elements; none where there is no parameter, for dims of a tensor of rank 0.
    elements: Vec<Option<String>>,
}

fn data(name: &'static str, values: &[Value]) -> Array {
    Array { name, elements: (0..values.len()).map(|at| Some(format!("%{name}{at}"))).collect() }
}

fn dims(name: &'static str, values: &[Value]) -> Array {
    let element = |(at, value): (usize, &Value)| (!value.dims.is_empty()).then(|| format!("%{name}{at}"));
    Array { name, elements: values.iter().enumerate().map(element).collect() }
}

impl Array {
    /// The parameters.
    fn given(&self) -> Vec<String> {
        self.elements.iter().flatten().map(|element| format!("ptr {element}")).collect()
    }

    /// What makes the array.
    fn made(&self) -> String {
        let Self { name, elements } = self;
        let mut out = format!("  %{name} = alloca [{} x ptr]\n", elements.len());
        for (at, element) in elements.iter().enumerate() {
            let element = element.as_deref().unwrap_or("null");
            writeln!(out, "  %{name}.{at} = getelementptr ptr, ptr %{name}, i64 {at}").unwrap_or_default();
            writeln!(out, "  store ptr {element}, ptr %{name}.{at}").unwrap_or_default();
        }
        out
    }
}

/// The parameters of tensors: the data of each, and its dims if it has some.
fn tensors(data: &Array, dims: &Array) -> Vec<String> {
    let both = data.elements.iter().zip(&dims.elements).flat_map(|(data, dims)| [data, dims]);
    both.flatten().map(|element| format!("ptr {element}")).collect()
}

fn function(name: &str, parameters: &[String], arrays: &[&Array], call: &str) -> String {
    let arrays: String = arrays.iter().map(|array| array.made()).collect();
    format!(
        "define signext i32 @{name}({}) #0 {{
{arrays}  %lacks = call i32 @sutura.machine()
  %fits = icmp eq i32 %lacks, 0
  br i1 %fits, label %go, label %refuse
refuse:
  ret i32 %lacks
go:
  %status = call i32 {call}
  ret i32 %status
}}
",
        parameters.join(", ")
    )
}
