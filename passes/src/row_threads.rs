//! How many threads of a GPU a row is worth: what the rules that write versions by the length of rows, and `gir-unit-threads`,
//! which takes threads for each, have in common.

use sutura_dialects::gpu::MOST_THREADS;

/// Most elements of a vector that every device knows.
pub(crate) const MOST_LANES: i64 = 4;

/// Columns that a thread of a unit is wanted for.
pub(crate) const COLUMNS_OF_THREAD: i64 = 16;

/// Most elements of a row that a thread keeps in registers.
pub(crate) const KEPT_ELEMENTS: i64 = 32;

/// Columns of the longest rows that the threads of a block keep in registers.
pub(crate) const KEPT_COLUMNS: i64 = MOST_THREADS * KEPT_ELEMENTS;

/// Threads for longer rows.
const THREADS_OF_LONG_ROWS: i64 = 512;

/// Subgroups that compute a row together before all of a block do.
const FEW_SUBGROUPS: i64 = 8;

/// Threads for rows of at most so many columns, a subgroup at least.
pub(crate) fn threads_for(columns: i128, subgroup: i64) -> i64 {
    let wanted = (columns / i128::from(COLUMNS_OF_THREAD)).clamp(1, i128::from(MOST_THREADS));
    let threads = match columns > i128::from(KEPT_COLUMNS) {
        true => THREADS_OF_LONG_ROWS,
        false => i64::try_from(wanted).expect("clamped").unsigned_abs().next_power_of_two() as i64,
    };
    threads.max(subgroup)
}

/// The longest rows for which a version of their own is worth it, in order: a vector for each thread of a subgroup, or as many
/// columns as a thread is wanted for; those of several subgroups; those of a whole block; and what its threads can keep.
pub(crate) fn lengths_apart(subgroup: i64) -> Vec<i64> {
    let mut lengths = vec![
        subgroup * MOST_LANES,
        subgroup * COLUMNS_OF_THREAD,
        subgroup * FEW_SUBGROUPS * COLUMNS_OF_THREAD,
        MOST_THREADS * COLUMNS_OF_THREAD,
        KEPT_COLUMNS,
    ];
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Those of them that fewer threads than a block has are worth. Rows along which nothing is combined are read once, so longer ones go through
/// loops: to keep them would only take registers.
pub(crate) fn lengths_of_few_threads(subgroup: i64) -> Vec<i64> {
    let few = |columns: &i64| threads_for(i128::from(*columns), subgroup) < MOST_THREADS;
    lengths_apart(subgroup).into_iter().filter(few).collect()
}
