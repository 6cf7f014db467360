//! The resource section at the end of a file.

use sutura_ir::asm::{Resource, ResourceEntry, ResourceSection};
use sutura_ir::diagnostics::Reported;

use super::Reader;
use crate::rules::{Node, Rule, Span};

impl<'t> Reader<'t> {
    /// What follows `{-#`.
    pub(crate) fn resources(&mut self, span: Span) -> Result<Vec<ResourceSection>, Reported> {
        let node = self.parse(Rule::resource_span, span)?;
        let mut sections = Vec::new();
        for part in node.children().filter(|n| n.rule() == Rule::resource_part) {
            let mut children = part.children();
            let title = children.next().expect("a title");
            let external = match title.text() {
                "dialect_resources" => false,
                "external_resources" => true,
                other => {
                    let message = format!(
                        "unknown key '{other}' in file metadata dictionary: expected 'dialect_resources' or \
                         'external_resources'"
                    );
                    return Err(self.error(title.start(), message));
                }
            };
            for group in children {
                sections.push(self.resource_group(group, external)?);
            }
        }
        Ok(sections)
    }

    fn resource_group(&mut self, node: Node<'t>, external: bool) -> Result<ResourceSection, Reported> {
        let mut children = node.children();
        let key = children.next().expect("a key");
        let name = self.resource_key(key.clone())?;
        if !external && self.cx.registry().dialect(&name).is_none() && !self.options.allow_unregistered {
            return Err(self.error(key.start(), format!("dialect '{name}' is unknown")));
        }
        let mut entries: Vec<ResourceEntry> = Vec::new();
        for entry in children {
            let mut children = entry.children();
            let key = self.resource_key(children.next().expect("a key"))?;
            let value = children.next().expect("a value");
            let value = match value.rule() {
                Rule::resource_bool => Resource::Bool(value.text() == "true"),
                _ => Resource::String(self.string(&value)?),
            };
            entries.push(ResourceEntry { key, value });
        }
        Ok(ResourceSection { external, name, entries })
    }

    fn resource_key(&mut self, node: Node<'t>) -> Result<String, Reported> {
        let name = node.child().expect("a name or string");
        if name.rule() == Rule::text { self.string(&name) } else { Ok(name.text().to_string()) }
    }
}
