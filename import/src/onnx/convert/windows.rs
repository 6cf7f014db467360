//! Windows as the builder takes them.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::{SymShape, build};

use super::super::window::{Padding, Window};
use super::{Made, fail, wrong};

/// Numbers that some tensor may have as sizes.
fn list(values: &[u64]) -> Made<Vec<i64>> {
    let values = values.iter().map(|v| i64::try_from(*v).ok().filter(|v| *v < 1 << 31)).collect();
    match values {
        Some(values) => Ok(values),
        None => fail("has a window too large for any tensor"),
    }
}

/// The window with the kernel of a weight, where the node does not say one.
pub(in super::super) fn of_weight(window: &Window, weight: &SymShape) -> Made<Window> {
    if !window.kernel.is_empty() {
        return Ok(window.clone());
    }
    let size = |size: &Option<Poly>| u64::try_from(size.as_ref()?.as_const()?).ok().filter(|size| *size > 0);
    let kernel: Option<Vec<u64>> = weight.get(2..).unwrap_or_default().iter().map(size).collect();
    match kernel {
        Some(kernel) if kernel.is_empty() => wrong("has no spatial dims"),
        Some(kernel) => window.with_kernel(&kernel).or_else(wrong),
        None => fail("has no `kernel_shape`, and the kernel of its weight has no constant sizes"),
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
        output_padding: if output_padding.is_empty() { vec![0; window.kernel.len()] } else { list(output_padding)? },
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
