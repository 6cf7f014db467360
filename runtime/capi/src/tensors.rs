//! Tensors of a caller: their numbers, types, ranks and memory, checked before anything is read through a pointer.

use std::fmt::{self, Display, Formatter};

use smallvec::SmallVec;
use sutura_runtime::ElementType;

use crate::SuturaTensor;
use crate::failure::{Failure, Result};
use crate::handle::Info;
use crate::pointers::usable;

/// The tensors of a caller, whose number and ranks are the model's. The dims are a copy: an output may lie where the caller
/// has them.
pub(crate) struct Given<'a> {
    role: &'a str,
    infos: &'a [Info],
    tensors: &'a [SuturaTensor],
    dims: &'a [i64],
}

/// Short runs take less than a microsecond, so that few things need no memory of their own.
pub(crate) type Few<T> = SmallVec<[T; 8]>;
pub(crate) type Dims = SmallVec<[i64; 16]>;

impl<'a> Given<'a> {
    pub(crate) fn each(&self) -> impl Iterator<Item = (Named<'a>, &'a SuturaTensor, &'a [i64])> {
        let mut rest = self.dims;
        self.tensors.iter().zip(self.infos).map(move |(tensor, info)| {
            let (dims, behind) = rest.split_at(info.dims.len());
            rest = behind;
            (Named { role: self.role, info }, tensor, dims)
        })
    }
}

/// How errors call a tensor. It becomes a text when there is an error only.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    role: &'a str,
    info: &'a Info,
}

impl Display for Named<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.role, self.info.name.to_string_lossy())
    }
}

/// Reads as many tensors as the model has.
///
/// # Safety
/// `first` is null, misaligned or points to as many tensors, which stay there while the result is used; dims of those that
/// have the model's rank are null, misaligned or as many.
pub(crate) unsafe fn tensors<'a>(
    role: &'a str,
    first: *const SuturaTensor,
    infos: &'a [Info],
    dims: &'a mut Dims,
) -> Result<Given<'a>> {
    if infos.is_empty() {
        return Ok(Given { role, infos, tensors: &[], dims: &[] });
    }
    usable(first, format_args!("{role}s"))?;
    // SAFETY: usable, so by this function's condition.
    let tensors = unsafe { std::slice::from_raw_parts(first, infos.len()) };
    for (tensor, info) in tensors.iter().zip(infos) {
        // What says no type is no tensor: its dims are not looked at.
        element_type(tensor.element_type)?;
        // SAFETY: by this function's condition.
        for dim in unsafe { dims_of(tensor, Named { role, info }) }? {
            dims.push(*dim);
        }
    }
    Ok(Given { role, infos, tensors, dims })
}

/// # Safety
/// Where the tensor has the rank that the model wants, its dims are null, misaligned or as many.
unsafe fn dims_of<'a>(tensor: &'a SuturaTensor, named: Named<'_>) -> Result<&'a [i64]> {
    let (rank, given, signature) = (named.info.dims.len(), tensor.rank, &named.info.signature);
    if usize::try_from(given) != Ok(rank) {
        let message = format!("{named} has rank {given}, but the model needs rank {rank}: [{signature}]");
        return Err(Failure::input(message));
    }
    if rank == 0 {
        return Ok(&[]);
    }
    usable(tensor.dims, format_args!("dims of {named}"))?;
    // SAFETY: usable, so by this function's condition.
    Ok(unsafe { std::slice::from_raw_parts(tensor.dims, rank) })
}

/// The tensor's type, if its memory can be what it says.
pub(crate) fn check_data(named: Named<'_>, tensor: &SuturaTensor, dims: &[i64]) -> Result<ElementType> {
    let element_type = element_type(tensor.element_type)?;
    check_memory(named, element_type, tensor.data, dims)?;
    Ok(element_type)
}

/// Whether the memory of a tensor can be what it says: only one without elements needs none.
pub(crate) fn check_memory(
    named: impl Display,
    element_type: ElementType,
    data: *const u8,
    dims: &[i64],
) -> Result<()> {
    if dims.contains(&0) {
        return Ok(());
    }
    if data.is_null() {
        return Err(Failure::null(format_args!("data of {named}")));
    }
    let aligned = element_type.word_bytes();
    if !data.addr().is_multiple_of(aligned) {
        let needs = format!("an element of type {element_type} is aligned to {aligned} bytes");
        return Err(Failure::usage(format!("misaligned pointer: data of {named}; {needs}")));
    }
    // Sizes that are no sizes are for the view to refuse.
    let bytes = dims.iter().try_fold(element_type.bytes(), |bytes, dim| bytes.checked_mul(usize::try_from(*dim).ok()?));
    if bytes.is_some_and(|bytes| data.addr().checked_add(bytes).is_none()) {
        return Err(Failure::usage(format!("data of {named} reach beyond the end of memory")));
    }
    Ok(())
}

/// The number of an element type in `sutura.h`.
pub(crate) fn code_of(element_type: ElementType) -> i32 {
    let code = ElementType::ALL.iter().position(|known| *known == element_type);
    // `ALL` has every element type.
    code.map_or(-1, |code| code as i32)
}

/// Compares a number of tensors with the model's, before any of them is looked at.
pub(crate) fn check_count(role: &str, count: i32, infos: &[Info]) -> Result<()> {
    if usize::try_from(count) == Ok(infos.len()) {
        return Ok(());
    }
    let plural = if infos.len() == 1 { "" } else { "s" };
    let names: Vec<String> = infos.iter().map(|info| format!("`{}`", info.name.to_string_lossy())).collect();
    let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    let were = if count == 1 { "was" } else { "were" };
    Err(Failure::usage(format!("the model has {} {role}{plural}{names}, but {count} {were} given", infos.len())))
}

pub(crate) fn element_type(code: i32) -> Result<ElementType> {
    let found = usize::try_from(code).ok().and_then(|code| ElementType::ALL.get(code));
    found.copied().ok_or_else(|| Failure::usage(format!("there is no element type {code}")))
}
