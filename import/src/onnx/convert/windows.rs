//! Windows as the builder takes them.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build;
use sutura_ir::Value;

use super::super::window::{Padding, Window};
use super::{Importer, Made, fail, wrong};

/// Numbers that some tensor may have as sizes.
fn list(values: &[u64]) -> Made<Vec<i64>> {
    let values = values.iter().map(|v| i64::try_from(*v).ok().filter(|v| *v < 1 << 31)).collect();
    match values {
        Some(values) => Ok(values),
        None => fail("has a window too large for any tensor"),
    }
}

/// The window of a transposed convolution. Which end an odd element is cut off from is what onnxruntime does: behind with
/// `SAME_UPPER`, before in all other cases.
pub(super) fn transposed(
    window: &Window,
    output_padding: &[u64],
    output_shape: Option<&[u64]>,
) -> Made<build::TransposedWindow> {
    let odd = match window.padding {
        Padding::SameUpper => build::OddOne::Last,
        _ => build::OddOne::First,
    };
    Ok(build::TransposedWindow {
        kernel: list(&window.kernel)?,
        strides: list(&window.strides)?,
        dilations: list(&window.dilations)?,
        output_padding: list(output_padding)?,
        cropping: match (output_shape, &window.padding) {
            (Some(sizes), _) => build::Cropping::To(list(sizes)?, odd),
            (None, Padding::Explicit { before, after }) => build::Cropping::Explicit(list(before)?, list(after)?),
            (None, _) => build::Cropping::Same(odd),
        },
    })
}

pub(in super::super) fn window(window: &Window, ceil: bool) -> Made<build::Window> {
    Ok(build::Window {
        kernel: list(&window.kernel)?,
        strides: list(&window.strides)?,
        dilations: list(&window.dilations)?,
        padding: match &window.padding {
            Padding::Explicit { before, after } => build::Padding::Explicit(list(before)?, list(after)?),
            Padding::SameUpper => build::Padding::SameUpper,
            Padding::SameLower => build::Padding::SameLower,
        },
        ceil,
    })
}

impl Importer<'_, '_, '_> {
    /// A window that has the size of the kernel of `weight` where its node says none.
    pub(in super::super) fn completed(&self, window: &Window, weight: Value) -> Made<Window> {
        if !window.kernel.is_empty() {
            return Ok(window.clone());
        }
        let shape = self.g.shape(weight);
        let size = |size: &Option<Poly>| u64::try_from(size.as_ref()?.as_const()?).ok();
        let Some(kernel) = shape.iter().skip(2).map(size).collect::<Option<Vec<u64>>>() else {
            return fail("has no `kernel_shape`, and the size of its weight is known only when it runs");
        };
        if kernel.is_empty() || kernel.contains(&0) {
            return wrong(format!("has a weight of rank {} without spatial dims, or with empty ones", shape.len()));
        }
        window.completed(&kernel).or_else(wrong)
    }
}
