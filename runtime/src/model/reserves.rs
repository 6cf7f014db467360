//! For how many there is place where a number that data tell is a size.
//!
//! Nothing bounds such a number before the run, and memory is planned before it. So the runtime chooses a bound, which the code gets
//! as the size of an input that no caller gives. A run that finds more ends there; the bound grows, and the run is repeated. It
//! stays: runs that need no more than one before are made once.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::error::{Error, Result, ShapeProblem};
use crate::manifest::{Check, Manifest};

/// Places before the first run: few, because a size is often multiplied by others.
const FIRST: i64 = 16;

/// The bounds of a model, in the order of the manifest's reserves.
pub(super) struct Reserves(Vec<Reserve>);

struct Reserve {
    symbol: String,
    places: AtomicI64,
    /// The greatest size that the code was compiled for.
    most: i64,
}

impl Reserves {
    /// From a manifest that has been validated.
    pub(super) fn new(manifest: &Manifest) -> Self {
        let symbols = manifest.reserves.iter().filter_map(|reserve| reserve.reserved());
        let symbols = symbols.filter_map(|name| manifest.symbols.iter().find(|symbol| symbol.name == *name));
        let reserve = |symbol: &crate::manifest::Symbol| Reserve {
            symbol: symbol.name.clone(),
            places: AtomicI64::new(FIRST.clamp(symbol.min, symbol.max)),
            most: symbol.max,
        };
        Self(symbols.map(reserve).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Appends the dims of the reserves to those of the inputs.
    pub(super) fn append_dims(&self, dims: &mut Vec<i64>) {
        dims.extend(self.0.iter().flat_map(|reserve| [reserve.places.load(Ordering::Relaxed), 0]));
    }

    /// Makes place for `wanted`, where the check says that there was place for less. Returns the error of the run that found it, whose
    /// inputs and reserves had these dims; nothing where more places would not help.
    pub(super) fn grow(&self, check: &Check, dims: &[i64], wanted: i64) -> Option<Error> {
        let at = self.0.iter().position(|reserve| Some(&reserve.symbol) == check.reserve.as_ref())?;
        let reserve = &self.0[at];
        let before = *dims.get(dims.len().checked_sub(2 * (self.0.len() - at))?)?;
        if wanted <= before {
            return None;
        }
        if wanted > reserve.most {
            let range = format!("[0, {}]", reserve.most);
            let (dim, left, bound) = (None, check.right.clone(), reserve.most);
            return Some(Error::Shape(ShapeProblem::OutOfRange { dim, left, value: wanted, range, bound }));
        }
        // Where it grows in each iteration of a loop, it is not as many runs.
        let places = wanted.max(before.saturating_mul(2).min(reserve.most));
        reserve.places.fetch_max(places, Ordering::Relaxed);
        Some(Error::Outgrown { what: check.right.clone(), wanted })
    }
}

/// Runs until there is place for what data decide.
pub(super) fn repeated<T>(mut run: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match run() {
            // There is more place now than before.
            Err(Error::Outgrown { .. }) => {}
            done => return done,
        }
    }
}
