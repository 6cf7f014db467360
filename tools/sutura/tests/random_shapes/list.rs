//! The list of models, and the sizes that are drawn for them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sutura_interp::Random;

/// A model of the list.
pub(crate) struct Listed {
    pub(crate) name: String,
    /// The least and the greatest value of each symbol.
    pub(crate) ranges: Vec<(String, i64, i64)>,
    /// What integers of an input are.
    pub(crate) integers: BTreeMap<String, (String, String)>,
    pub(crate) nonzero: bool,
    terms: String,
}

pub(crate) type Sizes = BTreeMap<String, i64>;

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/shapes")
}

/// All models of the list.
pub(crate) fn models() -> Vec<Listed> {
    let text = std::fs::read_to_string(folder().join("models.txt")).unwrap();
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(read).collect()
}

fn read(line: &str) -> Listed {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let (name, terms) = (words.remove(0).to_owned(), words.pop().unwrap().to_owned());
    let integers = words.pop().unwrap();
    let range = |word: &&str| {
        let (name, range) = word.split_once('=').unwrap();
        let (low, high) = range.split_once("..").unwrap();
        (name.to_owned(), low.parse().unwrap(), high.parse().unwrap())
    };
    let inputs = integers.split(',').filter_map(|part| part.split_once('=')).map(|(name, range)| {
        let (low, high) = range.split_once("..").unwrap();
        (name.to_owned(), (low.to_owned(), high.to_owned()))
    });
    Listed {
        name,
        ranges: words.iter().map(range).collect(),
        integers: inputs.collect(),
        nonzero: integers.split(',').any(|part| part == "nonzero"),
        terms,
    }
}

/// A number, a symbol, or a symbol with a minus.
pub(crate) fn value(text: &str, sizes: &Sizes) -> i64 {
    match text.strip_prefix('-') {
        Some(rest) => -value(rest, sizes),
        None => text.parse().unwrap_or_else(|_| sizes[text]),
    }
}

impl Listed {
    /// How many terms a result sums at these sizes.
    pub(crate) fn terms(&self, sizes: &Sizes) -> i64 {
        self.terms.split('*').map(|factor| value(factor, sizes)).product::<i64>().max(1)
    }

    /// Sizes at which faults show: the ends, 0, 1, primes, powers of two and their neighbours; and any.
    pub(crate) fn draw(&self, random: &mut Random) -> Sizes {
        let draw = |low: i64, high: i64, random: &mut Random| {
            let power = 1_i64 << random.range(1, 9);
            const PRIMES: [i64; 8] = [2, 3, 5, 7, 13, 31, 61, 127];
            let drawn = match random.range(0, 7) {
                0 => low,
                1 => 1,
                2 => PRIMES[random.range(0, 7) as usize],
                3 => power - 1,
                4 => power,
                5 => power + 1,
                _ => random.range(low, high),
            };
            if (low..=high).contains(&drawn) { drawn } else { random.range(low, high) }
        };
        self.ranges.iter().map(|(name, low, high)| (name.clone(), draw(*low, *high, random))).collect()
    }
}
