//! Places in the source, for messages of the runtime, and the description of the kernels as JSON.

use std::fmt::Write;

use rustc_hash::FxHashMap;
use sutura_ir::OpRef;

/// An operation that the runtime may have to name.
struct Site {
    op: String,
    /// Which one of this name in its kernel, from 1 on: lowering gives one place to many operations.
    ordinal: usize,
    /// File, line, column.
    place: Option<(String, u32, u32)>,
}

/// The places of a program, numbered over all kernels.
#[derive(Default)]
pub(super) struct Sites {
    all: Vec<Site>,
    /// Operations of the current kernel by name.
    seen: FxHashMap<String, usize>,
}

impl Sites {
    pub(super) fn begin_kernel(&mut self) {
        self.seen.clear();
    }

    /// The number of an operation, which is met once.
    pub(super) fn add(&mut self, op: OpRef<'_>) -> i64 {
        let name = op.name_str().to_owned();
        let ordinal = self.seen.entry(name.clone()).or_default();
        *ordinal += 1;
        let place = op.cx.file_line_col(op.loc()).map(|(file, line, col)| (op.cx.str(file).to_owned(), line, col));
        self.all.push(Site { op: name, ordinal: *ordinal, place });
        self.all.len() as i64 - 1
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

/// An array of the block's memory, as a kernel sees it.
#[derive(Clone)]
pub(super) struct Placed {
    pub(super) name: String,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// What a loader has to know of a kernel.
pub(super) struct Described {
    pub(super) name: String,
    pub(super) block: [i64; 3],
    pub(super) arguments: usize,
    /// Bytes that the arrays need without gaps.
    pub(super) shared_bytes: u64,
    pub(super) arrays: Vec<Placed>,
}

/// The text for loaders, ended by a zero.
pub(super) fn json(kernels: &[&Described], sites: &Sites, subgroup: i64) -> String {
    let mut out = format!("{{\"subgroup\":{subgroup},\"kernels\":[");
    for (at, kernel) in kernels.iter().enumerate() {
        let [x, y, z] = kernel.block;
        out.push_str(if at > 0 { ",{\"name\":" } else { "{\"name\":" });
        quoted(&mut out, &kernel.name);
        let (arguments, bytes) = (kernel.arguments, kernel.shared_bytes);
        put(&mut out, format_args!(",\"block\":[{x},{y},{z}],\"arguments\":{arguments},\"shared_bytes\":{bytes}"));
        out.push_str(",\"shared\":[");
        for (at, array) in kernel.arrays.iter().enumerate() {
            out.push_str(if at > 0 { ",[" } else { "[" });
            quoted(&mut out, &array.name);
            put(&mut out, format_args!(",{},{}]", array.offset, array.bytes));
        }
        out.push_str("]}");
    }
    out.push_str("],\"sites\":[");
    for (at, site) in sites.all.iter().enumerate() {
        out.push_str(if at > 0 { ",[" } else { "[" });
        quoted(&mut out, &site.op);
        let (file, line, col) = site.place.as_ref().map_or(("", 0, 0), |(file, line, col)| (file, *line, *col));
        put(&mut out, format_args!(",{},", site.ordinal));
        quoted(&mut out, file);
        put(&mut out, format_args!(",{line},{col}]"));
    }
    out.push_str("]}\0");
    out
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string does not fail");
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => put(out, format_args!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let mut out = String::new();
        quoted(&mut out, "a\"\\\n\u{1}é");
        assert_eq!(out, "\"a\\\"\\\\\\u000a\\u0001é\"");
    }
}
