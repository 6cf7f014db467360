//! What a text says besides its operations: names of aliases and the resources at its end.

use super::layout::Layout;
use crate::attrs::Attr;
use crate::context::Ident;
use crate::types::Type;

/// What an alias stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Aliased {
    /// `!name = …`
    Type(Type),
    /// `#name = …`
    Attr(Attr),
}

/// Value of a resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Resource {
    /// `true` or `false`
    Bool(bool),
    /// A string; raw data is a string that begins with `0x`.
    String(String),
}

/// `key: value`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResourceEntry {
    /// Key.
    pub key: String,
    /// Value.
    pub value: Resource,
}

/// `name: {…}` in one of the two parts of the resource section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResourceSection {
    /// True in `external_resources`, false in `dialect_resources`.
    pub external: bool,
    /// Name of the dialect or of the external user.
    pub name: String,
    /// Entries, in order.
    pub entries: Vec<ResourceEntry>,
}

/// What a module keeps of its text besides operations, so that it can be printed again.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct TextInfo {
    /// Names of aliases, without `!` or `#`, in order of definition.
    pub aliases: Vec<(Aliased, Ident)>,
    /// The resource section.
    pub resources: Vec<ResourceSection>,
    /// Comments and places, if the parser was to keep them.
    pub layout: Option<Box<Layout>>,
}

impl TextInfo {
    /// The value of a resource of a dialect.
    pub fn dialect_resource(&self, dialect: &str, key: &str) -> Option<&Resource> {
        let mut sections = self.resources.iter().filter(|s| !s.external && s.name == dialect);
        sections.find_map(|s| s.entries.iter().find(|e| e.key == key)).map(|e| &e.value)
    }
}
