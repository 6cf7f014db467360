//! Register tiles of convolutions: how wide they are, and how high for the lines of a map.

use sutura_dialects::r#dyn::poly::Poly;

use super::super::machine::Machine;
use super::super::region::FusedRegion;
use crate::region::contract::price_in_tiles;
use crate::region::{ContractPlan, Nest};

/// Results along a line where their number is open: those of usual networks.
pub(super) const LINES: [i64; 12] = [7, 8, 14, 16, 20, 28, 32, 40, 56, 64, 112, 128];

/// Results along the lines of small maps, which have any number of them.
const SHORT_LINES: std::ops::Range<i64> = 3..34;

/// Heights of tiles that a convolution has versions for where the number of results along a line is open.
const HEIGHTS: usize = 3;

/// Vectors of sums that keep two units busy, of which each takes four cycles for a product.
const BUSY: i64 = 8;

/// The tiles of a convolution.
pub(super) struct LineTiles {
    /// Columns.
    pub(super) width: i64,
    /// Rows: one number, or for lines of unknown length several, of which that for most lines is the last.
    pub(super) heights: Vec<i64>,
    /// Fewest rows that keep the processor busy.
    busy: i64,
    /// Results along a line.
    line: Poly,
}

impl LineTiles {
    pub(super) fn of(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan) -> Self {
        let machine = region.machine;
        let columns = i64::try_from(region.facts.range(&nest.extents[plan.col()]).1).unwrap_or(i64::MAX);
        let (height, widest) = machine.tile(i64::MAX, columns);
        let line = nest.extents[*plan.rows.last().expect("a convolution has rows")].clone();
        let of_width = |width: i64| {
            let busy = (BUSY / (width / machine.vectors.1.max(1)).max(1)).max(1);
            Self { width, heights: vec![], busy, line: line.clone() }
        };
        let usual = of_width(widest).cheapest(height, 1)[0];
        let tiles = of_width(narrower(machine, usual, columns, widest).unwrap_or(widest));
        let versions = if line.as_const().is_some() { 1 } else { HEIGHTS };
        Self { heights: tiles.cheapest(height, versions), ..tiles }
    }

    /// So many heights of which the best is cheapest for the lines that there may be; the first one that is chosen is the last.
    fn cheapest(&self, most: i64, count: usize) -> Vec<i64> {
        let known = self.line.as_const();
        let lines: Vec<i64> = known.map_or_else(|| LINES.into_iter().chain(SHORT_LINES).collect(), |line| vec![line]);
        // What a line costs more than its results do.
        let of_line = |rows: i64, line: i64| {
            let price = match known {
                Some(_) => price_in_tiles(line, rows),
                None => self.price(&line.into(), rows).as_const().unwrap_or(i64::MAX),
            };
            price.saturating_mul(1000) / line.max(1)
        };
        let mut chosen: Vec<i64> = Vec::new();
        while chosen.len() < count {
            let best = |line: i64, rows: i64| chosen.iter().chain([&rows]).map(|rows| of_line(*rows, line)).min();
            let sum = |rows: &i64| lines.iter().filter_map(|line| best(*line, *rows)).fold(0, i64::saturating_add);
            let further = (1..=most).rev().filter(|rows| !chosen.contains(rows));
            let Some(next) = further.min_by_key(sum) else { break };
            chosen.push(next);
        }
        chosen.reverse();
        chosen
    }

    /// The price of a line in tiles of so many rows.
    fn price(&self, line: &Poly, rows: i64) -> Poly {
        line.ceildiv(rows).scale(price_in_tiles(1, rows.max(self.busy)))
    }

    /// What is not negative where the height with this number is no dearer than those behind it.
    pub(super) fn guard(&self, number: usize) -> Vec<Poly> {
        let price = |rows: i64| self.price(&self.line, rows);
        let own = price(self.heights[number]);
        self.heights[number + 1..].iter().map(|other| price(*other).sub(&own)).collect()
    }
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
