//! Windows as the builder takes them.

use sutura_dialects::graph::build;

use super::super::window::{Padding, Window};
use super::{Made, fail};

pub(super) fn window(window: &Window, ceil: bool) -> Made<build::Window> {
    let list = |values: &[u64]| values.iter().map(|v| i64::try_from(*v).ok().filter(|v| *v < 1 << 31)).collect();
    let fits = |values: Option<Vec<i64>>| match values {
        Some(values) => Ok(values),
        None => fail("has a window too large for any tensor"),
    };
    Ok(build::Window {
        kernel: fits(list(&window.kernel))?,
        strides: fits(list(&window.strides))?,
        dilations: fits(list(&window.dilations))?,
        padding: match &window.padding {
            Padding::Explicit { before, after } => build::Padding::Explicit(fits(list(before))?, fits(list(after))?),
            Padding::SameUpper => build::Padding::SameUpper,
            Padding::SameLower => build::Padding::SameLower,
        },
        ceil,
    })
}
