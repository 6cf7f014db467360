//! From a node that fits its operator's interface to an [`Op`].
//!
//! Here the differences between opsets end.

use sutura_dialects::graph::Combiner;

use super::{
    error::{Reason, unsupported},
    model::Attribute,
    named,
    op::{Binary, Compare, Extremum, Op, PadMode, Param, Pool, Reduction, Rounding, Slice, Unary},
    operators,
    operators::by_data,
    reader::NodeReader,
    tensor::{ElementType, Scalar, Tensor},
    window::Window,
};

type Typed<'m> = Result<Op<'m>, Reason>;

/// The operator that `r` reads, or the reason why it is not supported.
pub(super) fn op<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    if let Some(old) = operators::old::op(r) {
        return old;
    }
    if let Some(beyond) = operators::beyond_library(r) {
        return beyond;
    }
    if let Some(named) = named::op(r) {
        return named;
    }
    if let Some(read) = operators::reader(&r.node.domain, &r.node.op_type) {
        return read(r);
    }
    if !r.node.domain.is_empty() {
        return Err(unsupported(format!("operator `{}` is in the table but not read", r.node.op_type)));
    }
    let unary = |function| Ok(Op::Unary { function, x: r.input(0)? });
    let binary = |function| Ok(Op::Binary { function, a: r.input(0)?, b: r.input(1)? });
    let compare = |function| Ok(Op::Compare { function, a: r.input(0)?, b: r.input(1)? });
    match r.node.op_type.as_str() {
        "Abs" => unary(Unary::Abs),
        "Ceil" => unary(Unary::Ceil),
        "Cos" => unary(Unary::Cos),
        "Erf" => unary(Unary::Erf),
        "Exp" => unary(Unary::Exp),
        "Floor" => unary(Unary::Floor),
        "Log" => unary(Unary::Log),
        "Neg" => unary(Unary::Neg),
        "Not" => unary(Unary::Not),
        "Reciprocal" => unary(Unary::Reciprocal),
        "Relu" => unary(Unary::Relu),
        "Round" => unary(Unary::Round),
        "Sin" => unary(Unary::Sin),
        "Sqrt" => unary(Unary::Sqrt),
        "Tanh" => unary(Unary::Tanh),
        "Add" => binary(Binary::Add),
        "Sub" => binary(Binary::Sub),
        "Mul" => binary(Binary::Mul),
        "Div" => binary(Binary::Div),
        "Mod" if r.flag("fmod")? => binary(Binary::Remainder),
        "Mod" => binary(if r.node.opset < Some(28) { Binary::IntegerMod } else { Binary::Mod }),
        "Pow" => binary(Binary::Pow),
        "And" => binary(Binary::And),
        "Or" => binary(Binary::Or),
        "Equal" => compare(Compare::Equal),
        "Greater" => compare(Compare::Greater),
        "GreaterOrEqual" => compare(Compare::GreaterOrEqual),
        "Less" => compare(Compare::Less),
        "LessOrEqual" => compare(Compare::LessOrEqual),
        "Max" => Ok(Op::Extremum { function: Extremum::Max, inputs: r.inputs() }),
        "Min" => Ok(Op::Extremum { function: Extremum::Min, inputs: r.inputs() }),
        "ReduceL1" => reduce(r, Reduction::L1),
        "ReduceL2" => reduce(r, Reduction::L2),
        "ReduceLogSum" => reduce(r, Reduction::LogSum),
        "ReduceLogSumExp" => reduce(r, Reduction::LogSumExp),
        "ReduceMax" => reduce(r, Reduction::Max),
        "ReduceMean" => reduce(r, Reduction::Mean),
        "ReduceMin" => reduce(r, Reduction::Min),
        "ReduceProd" => reduce(r, Reduction::Prod),
        "ReduceSum" => reduce(r, Reduction::Sum),
        "ReduceSumSquare" => reduce(r, Reduction::SumSquare),
        "Where" => Ok(Op::Where { condition: r.input(0)?, x: r.input(1)?, y: r.input(2)? }),
        "Clip" => clip(r),
        "Cast" => cast(r),
        "Identity" => Ok(Op::Identity { x: r.input(0)? }),
        "Constant" => Ok(Op::Constant { value: constant(r)? }),
        "ConstantOfShape" => constant_of_shape(r),
        "Range" => range(r),
        "Shape" => shape(r),
        "Reshape" => reshape(r),
        "Flatten" => Ok(Op::Flatten { x: r.input(0)?, axis: r.int("axis")? }),
        "Squeeze" => squeeze(r),
        "Unsqueeze" => unsqueeze(r),
        "Expand" => Ok(Op::Expand { x: r.input(0)?, shape: r.required_ints_param("shape")? }),
        "Tile" => Ok(Op::Tile { x: r.input(0)?, repeats: r.required_ints_param("repeats")? }),
        "Transpose" => transpose(r),
        "Concat" if r.interface.since < 4 => {
            Ok(Op::Concat { inputs: r.inputs(), axis: r.optional_int("axis").unwrap_or(1) })
        }
        "Concat" => Ok(Op::Concat { inputs: r.inputs(), axis: r.int("axis")? }),
        "Split" => split(r),
        "Slice" => slice(r),
        "Gather" => gather(r),
        "GatherElements" => Ok(Op::GatherElements { x: r.input(0)?, indices: r.input(1)?, axis: r.int("axis")? }),
        "GatherND" => gather_nd(r),
        "Scatter" | "ScatterElements" => scatter(r, Some(r.int("axis")?)),
        "ScatterND" => scatter(r, None),
        "DepthToSpace" => depth_to_space(r),
        "SpaceToDepth" => space_to_depth(r),
        "Pad" => pad(r),
        "MatMul" => Ok(Op::MatMul { a: r.input(0)?, b: r.input(1)? }),
        "Gemm" => gemm(r),
        "Conv" => conv(r),
        "ConvTranspose" => conv_transpose(r),
        "AveragePool" => average_pool(r),
        "GlobalAveragePool" => Ok(Op::GlobalAveragePool { x: r.input(0)? }),
        "CumSum" => cum_sum(r),
        // A test goes through the whole table, so this is not reached.
        other => Err(unsupported(format!("operator `{other}` is in the table but not read"))),
    }
}

fn gather_nd<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    let batch_dims = if r.interface.since < 12 { 0 } else { r.int("batch_dims")? };
    Ok(Op::GatherNd { x: r.input(0)?, indices: r.input(1)?, batch_dims })
}

fn scatter<'m>(r: &NodeReader<'m, '_>, axis: Option<i64>) -> Typed<'m> {
    let reduction = match r.string("reduction")? {
        None => "none",
        Some(word @ ("none" | "add" | "mul" | "max" | "min")) => word,
        Some(other) => return Err(format!("has unknown `reduction` {other}").into()),
    };
    Ok(Op::Scatter { x: r.input(0)?, indices: r.input(1)?, updates: r.input(2)?, axis, reduction })
}

fn clip<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    // The old attributes' defaults are the float range, which is no bound.
    let attribute = |name| match r.attribute(name) {
        Some(Attribute::Float(v)) => Some(Param::Known(Scalar::Float(f64::from(*v)))),
        _ => None,
    };
    let by_attribute = r.interface.since < 11;
    Ok(Op::Clip {
        x: r.input(0)?,
        lower: if by_attribute { attribute("min") } else { r.scalar_param(1)? },
        upper: if by_attribute { attribute("max") } else { r.scalar_param(2)? },
    })
}

fn cast<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    let code = r.int("to")?;
    let to = ElementType::from_code(code).ok_or_else(|| format!("casts to unknown element type {code}"))?;
    cast_to(r, to)
}

/// The conversion of a node to a type.
pub(super) fn cast_to<'m>(r: &NodeReader<'m, '_>, to: ElementType) -> Typed<'m> {
    if !to.is_numeric() {
        return Err(unsupported(format!("casts to {to}, which is not supported")));
    }
    // Casts always saturated before they could say so.
    let saturate = r.optional_int("saturate").is_none_or(|v| v != 0);
    Ok(Op::Cast { x: r.input(0)?, to, saturate, round: rounding(r)? })
}

/// How a conversion to a power of two rounds.
pub(super) fn rounding(r: &NodeReader<'_, '_>) -> Result<Rounding, Reason> {
    Ok(match r.string("round_mode")? {
        None | Some("up") => Rounding::Up,
        Some("down") => Rounding::Down,
        Some("nearest") => Rounding::Nearest,
        Some(other) => return Err(format!("has unknown `round_mode` {other}").into()),
    })
}

fn constant(r: &NodeReader) -> Result<Tensor, Reason> {
    let mut given = r.node.attributes.iter();
    let (Some((name, value)), None) = (given.next(), given.next()) else {
        return Err(format!("has {} values, not one", r.node.attributes.len()).into());
    };
    match value {
        Attribute::Tensor(tensor) if tensor.element.is_moved() => Ok(tensor.clone()),
        Attribute::Tensor(tensor) => {
            Err(unsupported(format!("constants of type {} are not supported", tensor.element)))
        }
        Attribute::Int(v) => Ok(Tensor::from_ints(&[*v]).into_scalar()),
        Attribute::Ints(v) => Ok(Tensor::from_ints(v)),
        Attribute::Float(v) => Ok(Tensor::from_floats(&[*v]).into_scalar()),
        Attribute::Floats(v) => Ok(Tensor::from_floats(v)),
        _ => Err(unsupported(format!("constants given as `{name}` are not supported"))),
    }
}

fn constant_of_shape<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    let value = match r.attribute("value") {
        Some(Attribute::Tensor(value)) => value.clone(),
        _ => Tensor::from_floats(&[0.0]),
    };
    if !value.element.is_numeric() {
        return Err(unsupported(format!("`value` is of type {}, which is not supported", value.element)));
    }
    if value.elements() != 1 {
        return Err(format!("`value` must be one number, it is {} of shape {:?}", value.element, value.dims).into());
    }
    let shape = r.required_ints_param("input")?;
    Ok(Op::ConstantOfShape { shape, value })
}

fn range<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    stash_type(r)?;
    let number = |i| r.scalar_param(i)?.ok_or_else(|| Reason::from(format!("has no input {i}")));
    Ok(Op::Range { start: number(0)?, limit: number(1)?, delta: number(2)?, first: r.input(0)? })
}

/// The type that intermediate results have: f32 in every version that does
/// not say.
fn stash_type(r: &NodeReader) -> Result<(), Reason> {
    match r.optional_int("stash_type") {
        None | Some(1) => Ok(()),
        Some(code) => Err(unsupported(format!("`stash_type` {code} is not supported, only 1 (f32) is"))),
    }
}

fn shape<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    Ok(Op::Shape { x: r.input(0)?, start: r.optional_int("start").unwrap_or(0), end: r.optional_int("end") })
}

fn reshape<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    Ok(Op::Reshape { x: r.input(0)?, shape: r.required_ints_param("shape")?, zero_copies: !r.flag("allowzero")? })
}

fn squeeze<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    match r.ints_param("axes")? {
        Some(Param::Value(axes)) => Ok(by_data::ones((r.input(0)?, axes), false)),
        _ => Ok(Op::Squeeze { x: r.input(0)?, axes: r.known_ints("axes")? }),
    }
}

fn unsqueeze<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    if let Some(Param::Value(axes)) = r.ints_param("axes")? {
        return Ok(by_data::ones((r.input(0)?, axes), true));
    }
    let axes = r.known_ints("axes")?.ok_or("has no `axes`")?;
    Ok(Op::Unsqueeze { x: r.input(0)?, axes })
}

fn transpose<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    let permutation = r.ints("perm").map(<[i64]>::to_vec);
    if let Some(perm) = &permutation {
        let mut sorted = perm.clone();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..perm.len() as i64) {
            return Err(format!("`perm` {perm:?} is not a permutation").into());
        }
    }
    Ok(Op::Transpose { x: r.input(0)?, permutation })
}

fn block_size(r: &NodeReader<'_, '_>) -> Result<i64, Reason> {
    match r.int("blocksize")? {
        block @ 1..=65_536 => Ok(block),
        other if other > 0 => Err(unsupported(format!("has a `blocksize` of {other}, which is more than 65536"))),
        other => Err(format!("has a `blocksize` of {other}, which must be positive").into()),
    }
}

/// True for mode CRD, false for DCR.
fn depth_inner(r: &NodeReader<'_, '_>) -> Result<bool, Reason> {
    match r.string("mode")? {
        None | Some("DCR") => Ok(false),
        Some("CRD") => Ok(true),
        Some(other) => Err(format!("has unknown `mode` {other}").into()),
    }
}

fn depth_to_space<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    Ok(Op::DepthToSpace { x: r.input(0)?, block: block_size(r)?, depth_inner: depth_inner(r)? })
}

fn space_to_depth<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    Ok(Op::SpaceToDepth { x: r.input(0)?, block: block_size(r)?, depth_inner: depth_inner(r)? })
}

fn split<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    let parts = r.node.outputs.len();
    let sizes = r.ints_param("split")?;
    if let Some(Param::Known(sizes)) = &sizes
        && (sizes.len() != parts || sizes.iter().any(|&s| s < 0))
    {
        return Err(format!("`split` {sizes:?} does not fit its {parts} outputs").into());
    }
    if let Some(n) = r.optional_int("num_outputs") {
        if sizes.is_some() {
            return Err("has both `split` and `num_outputs`".into());
        }
        if usize::try_from(n) != Ok(parts) {
            return Err(format!("`num_outputs` is {n}, but it has {parts} outputs").into());
        }
    }
    // Version 1 has no default, and means it.
    Ok(Op::Split { x: r.input(0)?, axis: r.optional_int("axis").unwrap_or(0), parts, sizes })
}

fn slice<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    let slice = Slice {
        x: r.input(0)?,
        starts: r.required_ints_param("starts")?,
        ends: r.required_ints_param("ends")?,
        axes: r.ints_param("axes")?,
        steps: r.ints_param("steps")?,
    };
    let known = |param: &Param<Vec<i64>>| match param {
        Param::Known(values) => Some(values.len()),
        Param::Value(_) => None,
    };
    let steps = slice.steps.as_ref();
    if let Some(Param::Known(steps)) = steps
        && steps.contains(&0)
    {
        return Err("has a step of 0".into());
    }
    let lengths =
        [known(&slice.starts), known(&slice.ends), slice.axes.as_ref().and_then(known), steps.and_then(known)];
    let mut lengths = lengths.into_iter().flatten();
    let first = lengths.next();
    if lengths.any(|n| Some(n) != first) {
        return Err("`starts`, `ends`, `axes` and `steps` differ in length".into());
    }
    Ok(Op::Slice(slice))
}

fn gather<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    Ok(Op::Gather { x: r.input(0)?, indices: r.input(1)?, axis: r.int("axis")? })
}

fn pad<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    let mode = match r.string("mode")? {
        None | Some("constant") => PadMode::Constant,
        Some("reflect") => PadMode::Reflect,
        Some("edge") => PadMode::Edge,
        Some("wrap") => PadMode::Wrap,
        Some(other) => return Err(format!("has unknown `mode` {other}").into()),
    };
    let value = if r.interface.since < 11 {
        Some(Param::Known(Scalar::Float(r.float("value")?.into())))
    } else {
        r.scalar_param(2)?
    };
    let pads = if r.interface.since < 2 { "paddings" } else { "pads" };
    let (pads, axes) = (r.required_ints_param(pads)?, r.ints_param("axes")?);
    if let (Param::Known(pads), Some(Param::Known(axes))) = (&pads, &axes)
        && pads.len() != 2 * axes.len()
    {
        return Err(format!("has {} `pads` for {} `axes`", pads.len(), axes.len()).into());
    }
    Ok(Op::Pad { x: r.input(0)?, mode, pads, value, axes })
}

fn gemm<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    Ok(Op::Gemm {
        a: r.input(0)?,
        b: r.input(1)?,
        c: r.optional(2),
        alpha: r.float("alpha")?,
        beta: r.float("beta")?,
        transpose_a: r.int("transA")? != 0,
        transpose_b: r.int("transB")? != 0,
    })
}

fn conv<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    let (weight, group, window) = convolution(r, 1)?;
    Ok(Op::Conv { x: r.input(0)?, weight, bias: r.optional(2), group, window })
}

/// Weight, which is input `weight`, groups and window of a convolution.
pub(super) fn convolution<'m>(r: &NodeReader<'m, '_>, weight: usize) -> Result<(&'m str, u64, Window), Reason> {
    let weight = r.input(weight)?;
    let kernel = r.values.constant(weight).map(|w| w.dims.get(2..).unwrap_or_default());
    let group = r.int("group")?;
    let group = u64::try_from(group).ok().filter(|&g| g > 0);
    let group =
        group.ok_or_else(|| format!("`group` is {}, it must be positive", r.int("group").unwrap_or_default()))?;
    Ok((weight, group, Window::read(r, kernel)?))
}

fn conv_transpose<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    let (weight, group, window) = convolution(r, 1)?;
    let list = |name: &str| -> Result<Option<Vec<u64>>, Reason> {
        let Some(values) = r.ints(name).filter(|values| !values.is_empty()) else { return Ok(None) };
        if values.len() != window.kernel.len() && !window.kernel.is_empty() {
            return Err(format!("`{name}` has {} entries, {} are needed", values.len(), window.kernel.len()).into());
        }
        let values = values.iter().map(|&v| u64::try_from(v)).collect::<Result<Vec<u64>, _>>();
        values.map(Some).map_err(|_| format!("`{name}` must not be negative").into())
    };
    let output_padding = list("output_padding")?.unwrap_or_else(|| vec![0; window.kernel.len()]);
    let output_shape = list("output_shape")?;
    let (x, bias) = (r.input(0)?, r.optional(2));
    Ok(Op::ConvTranspose { x, weight, bias, group, window, output_padding, output_shape })
}

fn average_pool<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    let count_padding = r.flag("count_include_pad")?;
    Ok(Op::Pool {
        x: r.input(0)?,
        function: Pool::Average { count_padding },
        window: Window::read(r, None)?,
        ceil: r.flag("ceil_mode")?,
    })
}

fn reduce<'m>(r: &NodeReader<'m, '_>, function: Reduction) -> Typed<'m> {
    if let Some(Param::Value(axes)) = r.ints_param("axes")? {
        let (keep, noop) = (r.flag("keepdims")?, r.flag("noop_with_empty_axes")?);
        return Ok(by_data::reduce(function, (r.input(0)?, axes), keep, noop));
    }
    let given = r.known_ints("axes")?.filter(|axes| !axes.is_empty());
    let axes = match given {
        None if r.flag("noop_with_empty_axes")? => Some(Vec::new()),
        axes => axes,
    };
    Ok(Op::Reduce { function, x: r.input(0)?, axes, keep_dims: r.flag("keepdims")? })
}

fn cum_sum<'m>(r: &NodeReader<'m, '_>) -> Typed<'m> {
    if let Some(Param::Value(axis)) = r.ints_param("axis")? {
        return Ok(by_data::running((r.input(0)?, axis), Combiner::Add, r.flag("exclusive")?, r.flag("reverse")?));
    }
    let axes = r.known_ints("axis")?.ok_or("has no `axis`")?;
    let [axis] = axes[..] else { return Err(format!("`axis` must be one number, not {}", axes.len()).into()) };
    Ok(Op::CumSum { x: r.input(0)?, axis, exclusive: r.flag("exclusive")?, reverse: r.flag("reverse")? })
}
