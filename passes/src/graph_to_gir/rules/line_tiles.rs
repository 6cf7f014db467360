//! Register tiles of convolutions: how wide they are, and how high for the lines of a map.

use super::super::machine::Machine;
use super::super::region::FusedRegion;
use crate::region::contract::price_in_tiles;
use crate::region::{ContractPlan, Nest};

/// Results along a line where their number is open: those of usual networks.
pub(super) const LINES: [i64; 12] = [7, 8, 14, 16, 20, 28, 32, 40, 56, 64, 112, 128];

/// Results along the lines of small maps, which have any number of them.
const SHORT_LINES: std::ops::Range<i64> = 3..34;

/// Vectors of sums that keep two units busy, of which each takes four cycles for a product.
pub(super) const BUSY: i64 = 8;

/// Rows and columns of the tiles of a convolution.
pub(super) fn of(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan) -> (i64, i64) {
    let machine = region.machine;
    let columns = i64::try_from(region.facts.range(&nest.extents[plan.col()]).1).unwrap_or(i64::MAX);
    let (height, widest) = machine.tile(i64::MAX, columns);
    let line = nest.extents[*plan.rows.last().expect("a convolution has rows")].as_const();
    let busy = |width: i64| (BUSY / (width / machine.vectors.1.max(1)).max(1)).max(1);
    let usual = cheapest(line, height, busy(widest));
    let width = narrower(machine, usual, columns, widest).unwrap_or(widest);
    (cheapest(line, height, busy(width)), width)
}

/// The height that is cheapest for a line, or for the lines that there may be where its length is open.
fn cheapest(line: Option<i64>, most: i64, busy: i64) -> i64 {
    let lines: Vec<i64> = line.map_or_else(|| LINES.into_iter().chain(SHORT_LINES).collect(), |line| vec![line]);
    let price = |rows: &i64| {
        let of_line = |line: &i64| price_in_tiles(*line, *rows, busy).saturating_mul(1000) / (*line).max(1);
        lines.iter().map(of_line).fold(0, i64::saturating_add)
    };
    (1..=most).min_by_key(price).unwrap_or(most)
}

/// The width of narrower tiles where these take an eighth less than those of `width`, since fewer of their columns do not exist. Lines
/// lie near, so that reading them for another tile costs nothing.
fn narrower(machine: &Machine, rows: i64, columns: i64, width: i64) -> Option<i64> {
    let price = |width: i64| {
        let computed = columns.checked_add(width - 1)? / width * width;
        let sums = rows * (width / machine.vectors.1.max(1)).max(1);
        computed.checked_mul(1 << 10).map(|computed| computed * BUSY.max(sums) / sums)
    };
    let less = |narrow: i64| Some(price(narrow)? <= price(width)? / 8 * 7);
    let widths = machine.tiles().iter().map(|(_, narrow)| *narrow).filter(|narrow| *narrow < width);
    widths.filter(|narrow| less(*narrow) == Some(true)).max()
}
