//! Checks that objects refer to nothing that a running process does not provide: found late, at loading, it would fail on
//! the user's machine.

use std::collections::BTreeSet;

use object::{Object as _, ObjectSymbol as _};

use crate::error::Error;

/// What code may call outside itself: LLVM makes these calls of its own accord, and every C library has them.
pub(crate) const PROVIDED: [&str; 5] = ["bcmp", "memcmp", "memcpy", "memmove", "memset"];

/// # Errors
/// `Object` for bytes that are no object, `Undefined` with the sorted names that neither `objects` nor [`PROVIDED`] define.
pub(crate) fn check_defined<'a>(objects: impl IntoIterator<Item = &'a [u8]>) -> Result<(), Error> {
    check_defined_but(objects, &[])
}

/// The same of objects that may use more than [`PROVIDED`].
///
/// # Errors
/// As for [`check_defined`].
pub(crate) fn check_defined_but<'a>(
    objects: impl IntoIterator<Item = &'a [u8]>,
    further: &[&str],
) -> Result<(), Error> {
    let (mut defined, mut wanted) = (BTreeSet::new(), BTreeSet::new());
    for bytes in objects {
        let file = object::File::parse(bytes).map_err(|error| Error::Object { message: error.to_string() })?;
        for symbol in file.symbols() {
            let name = symbol.name().map_err(|error| Error::Object { message: error.to_string() })?;
            match symbol.is_undefined() {
                // ELF's symbol 0 has no name.
                true if !name.is_empty() && name != "_GLOBAL_OFFSET_TABLE_" => wanted.insert(name.to_owned()),
                true => false,
                false => defined.insert(name.to_owned()),
            };
        }
    }
    let provided = |name: &str| PROVIDED.contains(&name) || further.contains(&name);
    let missing = wanted.difference(&defined).filter(|name| !provided(name));
    let symbols: Vec<String> = missing.cloned().collect();
    if symbols.is_empty() { Ok(()) } else { Err(Error::Undefined { symbols }) }
}
