//! The resource section at the end of a file.

use sutura_ir::asm::{Resource, ResourceEntry, ResourceSection};
use sutura_ir::diagnostics::{Diagnostic, Reported};

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
        let at = key.start();
        let name = self.resource_key(key.clone())?;
        if !external && self.cx.registry().dialect(&name).is_none() && !self.options.allow_unregistered {
            return Err(self.error(at, format!("dialect '{name}' is unknown")));
        }
        if !external && name != "builtin" && self.cx.registry().dialect(&name).is_some() {
            let error = Diagnostic::error(self.loc(at), format!("unexpected 'resource' section for dialect '{name}'"));
            return Err(self.report(error.help("only `builtin` has resources")));
        }
        let mut entries: Vec<ResourceEntry> = Vec::new();
        for entry in children {
            let mut children = entry.children();
            let key = self.resource_key(children.next().expect("a key"))?;
            let value = children.next().expect("a value");
            let at = value.start();
            let value = match value.rule() {
                Rule::resource_bool => Resource::Bool(value.text() == "true"),
                _ => Resource::String(self.string(&value)?),
            };
            // What others make of a string that is no raw data is their business.
            let is_raw = matches!(&value, Resource::String(text) if text.starts_with("0x"));
            if is_raw || (!external && name == "builtin") {
                self.check_blob(&key, &value, at)?;
            }
            entries.push(ResourceEntry { key, value });
        }
        Ok(ResourceSection { external, name, entries })
    }

    /// Checks that a resource holds raw data: `0x`, the alignment in four bytes, the data.
    fn check_blob(&mut self, key: &str, value: &Resource, at: usize) -> Result<(), Reported> {
        let digits = match value {
            Resource::String(text) => text.strip_prefix("0x"),
            Resource::Bool(_) => None,
        };
        let is_hex = |digits: &&str| digits.len().is_multiple_of(2) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let message = format!("expected hex string blob for key '{key}'");
        let Some(digits) = digits.filter(is_hex) else {
            let error = Diagnostic::error(self.loc(at), message);
            return Err(self.report(error.help("write `0x` and two hexadecimal digits for each byte")));
        };
        let first: Vec<u8> = digits.as_bytes().chunks(2).take(4).filter_map(super::hex_byte).collect();
        let Ok(first) = <[u8; 4]>::try_from(first) else {
            return Err(self.error(at, format!("{message} to encode alignment in first 4 bytes")));
        };
        let align = u32::from_le_bytes(first);
        if align != 0 && !align.is_power_of_two() {
            let got = format!("but got non-power-of-2 value: {align}");
            return Err(self.error(at, format!("{message} to encode alignment in first 4 bytes, {got}")));
        }
        Ok(())
    }

    fn resource_key(&mut self, node: Node<'t>) -> Result<String, Reported> {
        let name = node.child().expect("a name or string");
        if name.rule() == Rule::text { self.string(&name) } else { Ok(name.text().to_string()) }
    }
}
