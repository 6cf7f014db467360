//! The pipeline that a file brings along, where mlir-opt keeps it: in the external resource `mlir_reproducer`.

use sutura_ir::Module;
use sutura_ir::asm::{Resource, ResourceEntry, ResourceSection};

const NAME: &str = "mlir_reproducer";
const KEY: &str = "pipeline";

/// The pipeline of a module's reproducer resource.
pub fn pipeline_of(module: &Module) -> Option<&str> {
    let section = module.text().resources.iter().find(|s| s.external && s.name == NAME)?;
    match &section.entries.iter().find(|e| e.key == KEY)?.value {
        Resource::String(pipeline) => Some(pipeline),
        Resource::Bool(_) => None,
    }
}

/// Gives a module a reproducer resource, or another one.
pub fn set_pipeline(module: &mut Module, pipeline: &str) {
    let entry = |key: &str, value| ResourceEntry { key: key.to_string(), value };
    let entries = vec![
        entry(KEY, Resource::String(pipeline.to_string())),
        entry("disable_threading", Resource::Bool(false)),
        entry("verify_each", Resource::Bool(true)),
    ];
    let resources = &mut module.text_mut().resources;
    resources.retain(|section| !(section.external && section.name == NAME));
    resources.push(ResourceSection { external: true, name: NAME.to_string(), entries });
}
