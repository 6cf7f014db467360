//! `docs/routines.md` holds the table of routines as the code has it. `UPDATE_DOCS=1 cargo test -p sutura-dialects --test
//! routines` writes it.

use std::fmt::Write;
use std::path::Path;

use sutura_dialects::routines::table::{
    At, Capability, Dims, Elem, Inputs, Operand, Outputs, ParamKind, ROUTINES, Size,
};

/// The line above the part of the page that is written.
const MARK: &str = "--test routines`. -->\n";

fn size(size: &Size) -> String {
    let list = |sizes: &[Size], between: &str| {
        let parts = sizes.iter().map(|part| match part {
            Size::Sum(_) => format!("({})", self::size(part)),
            other => self::size(other),
        });
        parts.collect::<Vec<_>>().join(between)
    };
    match size {
        Size::Const(value) => value.to_string(),
        Size::Param(name) => (*name).to_owned(),
        Size::Axis => "AXIS".to_owned(),
        Size::Rank => "RANK".to_owned(),
        Size::Dim(dim) => format!("size {dim} of the first input"),
        Size::Elements => "ELEMENTS".to_owned(),
        Size::Others => "OTHERS".to_owned(),
        Size::Product(sizes) => list(sizes, "\\*"),
        Size::Sum(sizes) => list(sizes, " + "),
        Size::Lesser([a, b]) => format!("min({}, {})", self::size(a), self::size(b)),
    }
}

fn operand(operand: &Operand) -> String {
    let elem = match operand.elem {
        Elem::Any => "of any elements",
        Elem::Float => "of floats",
        Elem::Int64 => "of `i64`",
        Elem::First => "of the first input's elements",
    };
    let dims = match operand.dims {
        Dims::Any => "any sizes".to_owned(),
        Dims::AnyRank => "any sizes, of rank 0 too".to_owned(),
        Dims::List(sizes) => format!("sizes {}", sizes.iter().map(size).collect::<Vec<_>>().join(", ")),
        Dims::Decided => "as many as it decides".to_owned(),
        Dims::First => "the first input's sizes".to_owned(),
        Dims::FirstBut(others) => {
            let other = |(at, to): &(At, Size)| match at {
                At::Axis => format!("{} along the axis", size(to)),
                At::Last => format!("{} along the last dimension", size(to)),
            };
            let others: Vec<String> = others.iter().map(other).collect();
            format!("the first input's sizes but {}", others.join(", "))
        }
    };
    format!("`{}` {elem}, {dims}", operand.name)
}

fn operands(list: &[Operand]) -> String {
    list.iter().map(operand).collect::<Vec<_>>().join("; ")
}

fn table() -> String {
    let mut text = String::from(
        "\nAXIS is the size of the first input along the parameter `axis`, OTHERS the product of its other sizes, RANK the \
         number\nof its dimensions, ELEMENTS that of its elements. Types and sizes of what is read and written are checked.\n",
    );
    for routine in ROUTINES {
        let _ = write!(text, "\n### `{}`\n\n{}\n\n| | |\n|---|---|\n", routine.symbol(), routine.summary);
        for param in routine.params {
            let kind = match &param.kind {
                ParamKind::Axis => "a dimension of the first input".to_owned(),
                ParamKind::Flag => "0 or 1".to_owned(),
                ParamKind::Flags => "a list of 0 and 1, at most one for each input".to_owned(),
                ParamKind::Size => "a size".to_owned(),
                ParamKind::Decided(most) => format!("a size that it decides, at most {}", size(most)),
            };
            let _ = writeln!(text, "| parameter `{}` | {kind} |", param.name);
        }
        let reads = match &routine.inputs {
            Inputs::List(list) => operands(list),
            Inputs::Many(one) => {
                format!("from 1 to {} times {}", sutura_dialects::routines::table::MOST_INPUTS, operand(one))
            }
        };
        let mut writes = match &routine.outputs {
            Outputs::List(list) => operands(list),
            Outputs::LikeInputs => "one for each input, of its type".to_owned(),
        };
        if routine.decides() {
            writes += "; the sizes that it decides, of `i64`";
        }
        let can = routine.capabilities.iter().map(|capability| match capability {
            Capability::Host => "memory of the host",
            Capability::Device => "memory of a device",
            Capability::Parallel => "all threads of a run",
            Capability::SameBits => "the same bits at any number of threads",
        });
        let can: Vec<&str> = can.collect();
        let _ = writeln!(
            text,
            "| reads | {reads} |\n| writes | {writes} |\n| scratch | {} bytes |",
            size(&routine.scratch)
        );
        let _ = writeln!(text, "| can do | {} |", can.join(", "));
    }
    text
}

#[test]
fn the_page_holds_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/routines.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let end = page.find(MARK).expect("the mark above the table") + MARK.len();
    let wanted = format!("{}{}", &page[..end], table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, wanted).unwrap();
        return;
    }
    assert_eq!(page, wanted, "run with UPDATE_DOCS=1");
}
