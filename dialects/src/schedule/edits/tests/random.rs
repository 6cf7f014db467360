//! Random edits of random trees.

use proptest::prelude::*;
use sutura_ir::asm::print::attr_text;
use sutura_ir::ext::VerifyParams;

use super::super::TraceAttr;
use super::{context, read, trace};
use crate::schedule::tests::built;

/// An edit with numbers of a list.
fn random_edit(next: &mut dyn FnMut(usize) -> usize) -> String {
    let stage =
        |n: usize| ["e:0", "s:1", "\"a b\":2", "join:3", "join e:1", "e:1.0", "s:2.1", "e:0 kernel 1", "e:4"][n % 9];
    let (a, b) = (stage(next(9)), stage(next(9)));
    let (d, e, n) = (next(5), next(5), [0, 1, 2, 4, 16, 48, i64::MAX, -1][next(8)]);
    let split = if next(3) == 0 { format!("even {n}") } else { format!("by {n}") };
    let tile = ["", "cols d1 in l1", "rows d0 cols d2 in vec padded", "rows d1 in \"\\22\""][next(4)];
    match next(32) {
        0 | 1 => format!("split d{d} of {a} {split}"),
        2 => format!("retile d{d} of {a} {split}"),
        3 => format!("fuse d{d} d{e}"),
        4 => format!("fuse d{d} d{d}.1 of {a}"),
        5 => format!("join d{d} d{e}"),
        6 => format!("reorder d{d} d{e} of {a}"),
        7 => format!("reorder d{d}.1 d{e} d{d} of {a}"),
        8 => format!("bind d{d} of {a} to {}", ["grid", "units", "turn"][next(3)]),
        9 => format!("vectorize d{d} of {a}"),
        10 => format!("tile_rows d{d} of {a}"),
        11 | 12 => format!("compute_at {a} in d{d} of {b}{}", ["", " again"][next(2)]),
        13 => format!("cache_read e:{d}.0 {tile} at d{e} of {a}"),
        14 => format!("pack s:{d}.1 {tile} over d{e} d{d}.1 of {a}"),
        15 => format!("set_space {a} to {}", ["vec", "\"\"", "\"a b\""][next(3)]),
        16 => format!("set_layout {a} {}", ["padded".to_owned(), "unpadded".to_owned(), format!("pitch {n}")][next(3)]),
        17 => format!("hoist e:{d} s:{e}"),
        18 => format!("online s:{e} in d{d} of {a}"),
        19 => format!("split_reduction {a} along d{d} {split} split_reduction {b} columnwise"),
        20 => format!("tensorize {a} pipeline e:{d}.{e}{}", ["", " async"][next(2)]),
        21 => format!("together {a} {b}"),
        22 => format!("stream {a}{} defer {b}", ["", " when [N - 4, M]"][next(2)]),
        23 => format!("home {a} in s:{e}"),
        24 => format!("prefetch e:{d}.{e} {}", ["(4096)", "(next)", "(64, next when [9 - N])", "(0)"][next(4)]),
        25 => format!("unroll d{d} of {a} by {n}"),
        26 => format!("threads {a} by {n}"),
        27 => format!("accumulate d{d} of {a}"),
        28 => format!("keep {a}"),
        29 => format!("inside d{d} of {a}"),
        30 => format!("reach d{d} of {a}"),
        _ => format!("version when [N - {d}] version {e} {{ set_space {a} to l1 version when [M] }}"),
    }
}

proptest! {
    /// Edits of any trees make trees, or are refused; their text is read as the same.
    #[test]
    fn any_edits_make_trees(bytes in prop::collection::vec(any::<u8>(), 0..400), picks in prop::collection::vec(any::<u8>(), 0..90)) {
        let cx = context();
        let tree = built(&bytes, false);
        let mut picks = picks.into_iter();
        let mut next = |end: usize| usize::from(picks.next().unwrap_or(0)) % end;
        let edits: Vec<String> = (0..3).map(|_| random_edit(&mut next)).collect();
        let trace = trace(&cx, &edits.join(" "));
        let text = attr_text(&cx, cx.ext_attr(trace.clone()));
        prop_assert_eq!(read(&cx, &text).map(|attr| attr == cx.ext_attr(trace.clone())), Ok(true), "{}", text);
        for edit in &trace.edits {
            let alone = TraceAttr { edits: vec![edit.clone()] };
            if let Ok(edited) = alone.apply(&cx, &tree) {
                prop_assert_eq!(edited.verify_params(&cx), Ok(()));
            }
        }
        if let Ok(edited) = trace.apply(&cx, &tree) {
            prop_assert_eq!(edited.verify_params(&cx), Ok(()));
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(words in prop::collection::vec(0usize..30, 0..20)) {
        const WORDS: [&str; 30] = [
            "split", "fuse", "d0", "d1.1", "d0.", "of", "p:0", ".1", "kernel", "99999999999999999999", "by", "even", "16",
            "version", "when", "[", "]", "{", "}", "pack", "over", "cols", "join", ":", "\"", "compute_at",
            "stream", "prefetch", "(", "next",
        ];
        let text: Vec<&str> = words.iter().map(|i| WORDS[*i]).collect();
        let cx = context();
        let _ = read(&cx, &format!("#schedule.trace<{}>", text.join(" ")));
    }
}
