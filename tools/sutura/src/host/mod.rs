//! The host's code of a program: batches of functions, compiled by themselves, on all cores, or taken from the cache.

mod split;

use rayon::prelude::*;
use sutura_codegen::progress::Emitting;
use sutura_codegen::{self as codegen, Accepted, Diagnostic, Error, Target};

use crate::cache::{self, Cache, Entry, Key, KeyMaker, Kind};
pub(crate) use split::{Batch, batches};

/// Code that LLVM or the cache has, of all batches.
pub(crate) struct Host {
    parts: Vec<Part>,
}

enum Part {
    /// Machine code.
    Known(Entry),
    /// A module of LLVM's, which becomes machine code under this key.
    New(Box<Accepted>, Option<Key>),
}

/// What batches are compiled with.
#[derive(Clone, Copy)]
pub(crate) struct Making<'m> {
    /// The file in messages.
    pub(crate) name: &'m str,
    pub(crate) target: &'m Target,
    pub(crate) cache: Option<&'m Cache>,
    /// Whether batches may call what no process provides.
    pub(crate) open: bool,
}

impl Making<'_> {
    /// Takes batches as far as they can be refused. The first error, in their order, counts.
    ///
    /// # Errors
    /// Those of [`codegen::accept`] and [`Accepted::check_defined`].
    pub(crate) fn accept(self, batches: &[Batch], warnings: &mut Vec<Diagnostic>) -> Result<Host, Error> {
        let accepted: Vec<_> = batches.par_iter().map(|batch| self.accept_one(batch)).collect();
        let mut parts = Vec::with_capacity(accepted.len());
        for part in accepted {
            let (part, said) = part?;
            warnings.extend(said);
            parts.push(part);
        }
        Ok(Host { parts })
    }

    fn accept_one(self, batch: &Batch) -> Result<(Part, Vec<Diagnostic>), Error> {
        let cached = self.cache.map(|cache| (cache, self.key(batch)));
        if let Some(entry) = cached.and_then(|(cache, key)| cache.get(Kind::Batch, &key)) {
            return Ok((Part::Known(entry), Vec::new()));
        }
        let mut warnings = Vec::new();
        let mut accepted = codegen::accept(&batch.text, self.name, self.target, &mut warnings)?;
        if !self.open {
            accepted.check_defined_but(&batch.elsewhere)?;
        }
        // What is warned of is compiled each time: the warnings are to be seen.
        let key = cached.filter(|_| warnings.is_empty()).map(|(_, key)| key);
        Ok((Part::New(Box::new(accepted), key), warnings))
    }

    fn key(self, batch: &Batch) -> Key {
        KeyMaker::new("batch").target(self.target).field(&batch.text).key()
    }
}

impl Host {
    /// The machine code of all batches, in their order.
    ///
    /// # Errors
    /// Those of [`Accepted::into_object`]; the first, in the order of batches.
    pub(crate) fn into_objects(
        self,
        cache: Option<&Cache>,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let functions = self.parts.iter().map(|part| match part {
            Part::New(accepted, _) => accepted.functions(),
            Part::Known(_) => 0,
        });
        let _emitting = Emitting::new(functions.sum());
        let made: Vec<_> = self.parts.into_par_iter().map(|part| part.into_object(cache)).collect();
        let mut objects = Vec::with_capacity(made.len());
        for object in made {
            let (object, said) = object?;
            warnings.extend(said);
            objects.push(object);
        }
        Ok(objects)
    }

    /// How many batches the cache had, and how many there are.
    pub(crate) fn known(&self) -> (usize, usize) {
        (self.parts.iter().filter(|part| matches!(part, Part::Known(_))).count(), self.parts.len())
    }
}

impl Part {
    fn into_object(self, cache: Option<&Cache>) -> Result<(Vec<u8>, Vec<Diagnostic>), Error> {
        let (accepted, key) = match self {
            Self::Known(entry) => return Ok((entry.bytes().to_vec(), Vec::new())),
            Self::New(accepted, key) => (accepted, key),
        };
        let mut warnings = Vec::new();
        let object = accepted.into_object(&mut warnings)?;
        if let (Some(cache), Some(key), true) = (cache, key, warnings.is_empty()) {
            cache.put(Kind::Batch, &key, &[cache::Part::Bytes(&object)]);
        }
        Ok((object, warnings))
    }
}
