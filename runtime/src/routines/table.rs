//! The runtime's library routines: one declaration each.
//!
//! This file is compiled twice, by the runtime, which runs the routines, and by the compiler, which calls them; so what both
//! know of a routine cannot differ. It uses nothing but the standard library. `docs/routines.md` says how a routine is added.

use std::fmt::Display;

/// A library routine.
#[derive(Debug)]
pub struct Routine {
    /// Name.
    pub name: &'static str,
    /// Version: what a routine of one name and version does never changes.
    pub version: u32,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The numbers that it takes, in order.
    pub params: &'static [Param],
    /// The buffers that it reads.
    pub inputs: Inputs,
    /// The buffers that it writes, every element of each.
    pub outputs: Outputs,
    /// Bytes of memory that it needs besides; none where that is the constant 0.
    pub scratch: Size,
    /// What else it can do.
    pub capabilities: &'static [Capability],
}

/// What a routine can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capability {
    /// It works on memory of the host.
    Host,
    /// It works on memory of a device, among its launches.
    Device,
    /// It uses all threads that a run may use.
    Parallel,
    /// It gives the same bits at any number of threads.
    SameBits,
}

/// A number, or a list of numbers, that a routine takes.
#[derive(Debug)]
pub struct Param {
    /// Name.
    pub name: &'static str,
    /// What it may be.
    pub kind: ParamKind,
}

/// What a parameter may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamKind {
    /// A dimension of the first input.
    Axis,
    /// 0 or 1.
    Flag,
    /// A list of 0 and 1, at least one and at most one for each input.
    Flags,
    /// A size, which may be known in the run only.
    Size,
    /// A size that the routine decides by its data, at most this. A call tells how many places there are. The routine writes the
    /// size that it finds into its last output, which all such sizes are in; where there are fewer places, it writes nothing else.
    Decided(Size),
}

/// The buffers that a routine reads.
#[derive(Debug)]
pub enum Inputs {
    /// These.
    List(&'static [Operand]),
    /// From one to [`MOST_INPUTS`] of a kind.
    Many(Operand),
}

/// The buffers that a routine writes.
#[derive(Debug)]
pub enum Outputs {
    /// These.
    List(&'static [Operand]),
    /// One for each input, of its type.
    LikeInputs,
}

/// A buffer of a routine.
#[derive(Debug)]
pub struct Operand {
    /// Name.
    pub name: &'static str,
    /// Its elements.
    pub elem: Elem,
    /// Its sizes.
    pub dims: Dims,
}

/// Elements of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elem {
    /// Of any type.
    Any,
    /// Floats of any type.
    Float,
    /// Signed integers of 64 bits.
    Int64,
    /// Of the type of the first input's elements.
    First,
}

/// Sizes of a buffer.
#[derive(Clone, Copy, Debug)]
pub enum Dims {
    /// Any, of rank 1 at least.
    Any,
    /// Any, of rank 0 too.
    AnyRank,
    /// Those of the first input.
    First,
    /// Those of the first input, but for these.
    FirstBut(&'static [(At, Size)]),
    /// These.
    List(&'static [Size]),
    /// As many as the routine decides.
    Decided,
}

/// A dimension of the first input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// The one that the parameter `axis` names.
    Axis,
    /// The last one.
    Last,
}

/// A size that follows from the first input and the parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// A number.
    Const(i64),
    /// A parameter.
    Param(&'static str),
    /// The size along the parameter `axis`.
    Axis,
    /// The product of the sizes of the dimensions before and behind the parameter `axis`.
    Others,
    /// The number of dimensions of the first input.
    Rank,
    /// The number of elements of the first input.
    Elements,
    /// A dimension of the first input.
    Dim(usize),
    /// A product.
    Product(&'static [Size]),
    /// A sum.
    Sum(&'static [Size]),
    /// The lesser of two sizes.
    Lesser(&'static [Size; 2]),
}

/// Most inputs of a routine that takes any number of them.
pub const MOST_INPUTS: usize = 64;

/// Parts into which routines cut their work, whatever the number of threads, each with scratch memory of its own.
pub const PARTS: usize = 16;

/// Element types by the numbers by which calls tell them: all but complex ones, which routines do not take.
pub const ELEMENTS: [&str; 23] = [
    "bool",
    "i8",
    "u8",
    "i16",
    "u16",
    "i32",
    "u32",
    "i64",
    "u64",
    "f8E4M3FN",
    "f8E5M2",
    "f16",
    "bf16",
    "f32",
    "f64",
    "f8E4M3FNUZ",
    "f8E5M2FNUZ",
    "f8E8M0FNU",
    "f4E2M1FN",
    "i2",
    "u2",
    "i4",
    "u4",
];

/// All routines, by name and version.
pub static ROUTINES: &[Routine] = &[
    Routine {
        name: "sort",
        version: 1,
        summary: "Sorts lines along an axis by keys, and moves all inputs alike. The first inputs, one for each entry of \
                  `descending`, are the keys, the first one counting most; equal elements keep their order. NaN is greater \
                  than every number and equal to itself; -0.0 equals 0.0.",
        params: &[Param { name: "axis", kind: ParamKind::Axis }, Param { name: "descending", kind: ParamKind::Flags }],
        inputs: Inputs::Many(Operand { name: "input", elem: Elem::Any, dims: Dims::First }),
        outputs: Outputs::LikeInputs,
        scratch: Size::Product(&[Size::Const(48), Size::Axis, SHARES]),
        capabilities: ON_THE_HOST,
    },
    Routine {
        name: "top_k",
        version: 1,
        summary: "Of each line along an axis the `k` greatest elements, or the least with `smallest` = 1, sorted from there, \
                  and their positions. Of equal elements the one at the lower position comes first. The order is that of \
                  `sort`. `k` is at most the size along the axis.",
        params: &[
            Param { name: "axis", kind: ParamKind::Axis },
            Param { name: "k", kind: ParamKind::Size },
            Param { name: "smallest", kind: ParamKind::Flag },
        ],
        inputs: Inputs::List(&[Operand { name: "input", elem: Elem::Any, dims: Dims::Any }]),
        outputs: Outputs::List(&[
            Operand { name: "values", elem: Elem::First, dims: Dims::FirstBut(&[(At::Axis, Size::Param("k"))]) },
            Operand { name: "positions", elem: Elem::Int64, dims: Dims::FirstBut(&[(At::Axis, Size::Param("k"))]) },
        ]),
        scratch: Size::Product(&[Size::Const(16 * PARTS as i64), Size::Param("k")]),
        capabilities: ON_THE_HOST,
    },
    Routine {
        name: "fft",
        version: 1,
        summary: "Discrete Fourier transform of lines along an axis. The last dimension holds a number's real part, and its \
                  imaginary part where it has size 2. A line is cut, or continued by zeros, to `size` elements; of the result \
                  the first `bins` elements are made. With `inverse` = 1 the other way, divided by `size`. With `real` = 1 only \
                  the first size / 2 + 1 elements of a line are read, of which the others are the mirrored conjugates, and only \
                  real parts are made. It is computed in f64, with an error of at most 16*(log2(size) + 1) roundoffs of f64 \
                  relative to a line's norm, and rounded once.",
        params: &[
            Param { name: "axis", kind: ParamKind::Axis },
            Param { name: "size", kind: ParamKind::Size },
            Param { name: "bins", kind: ParamKind::Size },
            Param { name: "inverse", kind: ParamKind::Flag },
            Param { name: "real", kind: ParamKind::Flag },
        ],
        inputs: Inputs::List(&[Operand { name: "input", elem: Elem::Float, dims: Dims::Any }]),
        outputs: Outputs::List(&[Operand {
            name: "result",
            elem: Elem::First,
            dims: Dims::FirstBut(&[(At::Axis, Size::Param("bins")), (At::Last, PARTS_OF_NUMBER)]),
        }]),
        // Roots, a chirp and its transform, and two arrays to work in for each share, of 16 bytes for each element; a transform
        // by way of a power of two has fewer than four times as many.
        scratch: Size::Product(&[
            Size::Param("size"),
            Size::Sum(&[Size::Const(16 * (4 + 1 + 4)), Size::Product(&[Size::Const(16 * (4 + 4)), SHARES])]),
        ]),
        capabilities: ON_THE_HOST,
    },
    Routine {
        name: "non_zero",
        version: 1,
        summary: "Positions of the elements that are not zero, in row-major order: a column for each, with its index along each \
                  dimension. NaN is not zero; -0.0 is. Of an input of rank 0 the columns are empty, and there is one if it is \
                  not zero.",
        params: &[Param { name: "found", kind: ParamKind::Decided(Size::Elements) }],
        inputs: Inputs::List(&[Operand { name: "input", elem: Elem::Any, dims: Dims::AnyRank }]),
        outputs: Outputs::List(&[Operand {
            name: "positions",
            elem: Elem::Int64,
            dims: Dims::List(&[Size::Rank, Size::Param("found")]),
        }]),
        scratch: Size::Const(0),
        capabilities: ON_THE_HOST,
    },
    Routine {
        name: "unique",
        version: 1,
        summary: "The slices along an axis without repetition, where each of them stands first, which of them each slice of the \
                  input is, and how often each occurs. With `sorted` = 1 they are in ascending order, the first elements \
                  counting most, else in the order in which they occur first. The order of elements is that of `sort`.",
        params: &[
            Param { name: "axis", kind: ParamKind::Axis },
            Param { name: "sorted", kind: ParamKind::Flag },
            Param { name: "found", kind: ParamKind::Decided(Size::Axis) },
        ],
        inputs: Inputs::List(&[Operand { name: "input", elem: Elem::Any, dims: Dims::Any }]),
        outputs: Outputs::List(&[
            Operand { name: "values", elem: Elem::First, dims: Dims::FirstBut(&[(At::Axis, Size::Param("found"))]) },
            Operand { name: "firsts", elem: Elem::Int64, dims: Dims::List(&[Size::Param("found")]) },
            Operand { name: "inverse", elem: Elem::Int64, dims: Dims::List(&[Size::Axis]) },
            Operand { name: "counts", elem: Elem::Int64, dims: Dims::List(&[Size::Param("found")]) },
        ]),
        scratch: Size::Product(&[Size::Const(48), Size::Axis]),
        capabilities: ON_THE_HOST,
    },
    Routine {
        name: "non_max_suppression",
        version: 1,
        summary: "Of each class of each batch the boxes with the greatest scores that do not overlap one another: rows of batch, \
                  class and box in the order in which they are selected. Of equal scores the box with the lower number comes \
                  first; with `filtered` = 1 only scores greater than `least` count. A box is left out where what it shares \
                  with a selected one is a part greater than `overlap` of what both cover. At most `most` boxes of a class are \
                  selected. Boxes are two corners, or with `centers` = 1 a center and sizes.",
        params: &[
            Param { name: "centers", kind: ParamKind::Flag },
            Param { name: "filtered", kind: ParamKind::Flag },
            Param { name: "found", kind: ParamKind::Decided(Size::Elements) },
        ],
        inputs: Inputs::List(&[
            Operand { name: "scores", elem: Elem::Float, dims: Dims::Any },
            Operand {
                name: "boxes",
                elem: Elem::Float,
                dims: Dims::List(&[Size::Dim(0), Size::Dim(2), Size::Const(4)]),
            },
            Operand { name: "most", elem: Elem::Int64, dims: Dims::AnyRank },
            Operand { name: "overlap", elem: Elem::Float, dims: Dims::AnyRank },
            Operand { name: "least", elem: Elem::Float, dims: Dims::AnyRank },
        ]),
        outputs: Outputs::List(&[Operand {
            name: "rows",
            elem: Elem::Int64,
            dims: Dims::List(&[Size::Param("found"), Size::Const(3)]),
        }]),
        scratch: Size::Product(&[
            Size::Const(16),
            Size::Sum(&[Size::Elements, Size::Product(&[Size::Dim(0), Size::Dim(1)])]),
        ]),
        capabilities: ON_THE_HOST,
    },
    Routine {
        name: "decide_size",
        version: 1,
        summary: "Makes a number the first size of a tensor without elements. The first size of `places`, which has no elements \
                  either, is the most that the number may be.",
        params: &[Param { name: "found", kind: ParamKind::Decided(Size::Dim(0)) }],
        inputs: Inputs::List(&[
            Operand { name: "places", elem: Elem::Any, dims: Dims::Any },
            Operand { name: "number", elem: Elem::Int64, dims: Dims::AnyRank },
        ]),
        outputs: Outputs::List(&[Operand {
            name: "rows",
            elem: Elem::First,
            dims: Dims::List(&[Size::Param("found"), Size::Const(0)]),
        }]),
        scratch: Size::Const(0),
        capabilities: ON_THE_HOST,
    },
];

/// The parts into which lines along the axis are cut, none without a line.
const SHARES: Size = Size::Lesser(&[Size::Others, Size::Const(PARTS as i64)]);

/// One where real parts are made, else two.
const PARTS_OF_NUMBER: Size = Size::Sum(&[Size::Const(2), Size::Product(&[Size::Const(-1), Size::Param("real")])]);

/// What all routines can do that were written for the processor.
const ON_THE_HOST: &[Capability] = &[Capability::Host, Capability::Parallel, Capability::SameBits];

/// The routine of this name and version.
pub fn find(name: &str, version: u32) -> Option<&'static Routine> {
    ROUTINES.iter().find(|routine| routine.name == name && routine.version == version)
}

impl Routine {
    /// The name by which code calls it: `sort/1`.
    pub fn symbol(&self) -> String {
        format!("{}/{}", self.name, self.version)
    }

    /// Whether it can do something.
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// Number of a parameter.
    pub fn param(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|param| param.name == name)
    }

    /// Its outputs, where it takes so many inputs: element type and sizes of each. An element type of `None` is that of the input
    /// of the same number. The sizes that it decides, if there are any, are the last one.
    pub fn outputs_of(&self, inputs: usize) -> Vec<(Option<Elem>, Dims)> {
        let mut outputs = match &self.outputs {
            Outputs::LikeInputs => vec![(None, Dims::First); inputs],
            Outputs::List(list) => list.iter().map(|operand| (Some(operand.elem), operand.dims)).collect(),
        };
        if self.decides() {
            outputs.push((Some(Elem::Int64), Dims::Decided));
        }
        outputs
    }

    /// Numbers of the parameters that are sizes which it decides, each with the most that it is.
    pub fn decided(&self) -> impl Iterator<Item = (usize, &'static Size)> {
        let bound = |(i, param): (usize, &'static Param)| match &param.kind {
            ParamKind::Decided(bound) => Some((i, bound)),
            _ => None,
        };
        self.params.iter().enumerate().filter_map(bound)
    }

    /// Whether it decides a size.
    pub fn decides(&self) -> bool {
        self.decided().next().is_some()
    }
}

/// What sizes are made of: numbers in the runtime, polynomials in the compiler.
pub trait Number: Clone + Display {
    /// A constant.
    fn constant(value: i64) -> Self;
    /// The value, where it is a constant.
    fn known(&self) -> Option<i64>;
    /// The sum; `None` where it does not fit.
    fn plus(&self, other: &Self) -> Option<Self>;
    /// The product; `None` where it does not fit.
    fn times(&self, other: &Self) -> Option<Self>;
    /// The lesser one.
    fn least(&self, other: &Self) -> Self;
}

impl Number for i64 {
    fn constant(value: i64) -> Self {
        value
    }

    fn known(&self) -> Option<i64> {
        Some(*self)
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        self.checked_add(*other)
    }

    fn times(&self, other: &Self) -> Option<Self> {
        self.checked_mul(*other)
    }

    fn least(&self, other: &Self) -> Self {
        *self.min(other)
    }
}

/// What a routine is called with.
#[derive(Debug)]
pub struct Arguments<'a, N, T> {
    /// Element type, kind and sizes of each input.
    pub inputs: &'a [Typed<'a, N, T>],
    /// The numbers of each parameter.
    pub params: &'a [Vec<N>],
}

/// A buffer's type.
#[derive(Clone, Debug)]
pub struct Typed<'a, N, T> {
    /// The element type.
    pub elem: T,
    /// Whether that is a type of floats.
    pub is_float: bool,
    /// Sizes.
    pub dims: &'a [N],
}

impl<N: Number, T> Arguments<'_, N, T> {
    /// Checks number and values of parameters, and number, elements and sizes of inputs.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn check(&self, routine: &Routine, equal: &dyn Fn(&N, &N) -> bool) -> Result<(), String> {
        let (given, wanted) = (self.inputs.len(), &routine.inputs);
        match wanted {
            Inputs::List(list) if list.len() != given => {
                return Err(format!("takes {} inputs, not {given}", list.len()));
            }
            Inputs::Many(_) if given == 0 || given > MOST_INPUTS => {
                return Err(format!("takes from 1 to {MOST_INPUTS} inputs, not {given}"));
            }
            _ => {}
        }
        let any_rank = matches!(wanted, Inputs::List([Operand { dims: Dims::AnyRank, .. }, ..]));
        if self.inputs[0].dims.is_empty() && !any_rank {
            return Err("takes inputs of rank 1 at least".to_owned());
        }
        self.check_params(routine)?;
        for (i, input) in self.inputs.iter().enumerate() {
            let operand = match wanted {
                Inputs::List(list) => &list[i],
                Inputs::Many(operand) => operand,
            };
            if operand.elem == Elem::Float && !input.is_float {
                return Err(format!("takes floats as input {i}"));
            }
            let dims = self.dims(routine, operand.dims);
            let dims = dims.ok_or_else(|| format!("has a size of input {i} that does not fit 63 bits"))?;
            let fits =
                |dims: Vec<N>| dims.len() == input.dims.len() && dims.iter().zip(input.dims).all(|(a, b)| equal(a, b));
            if !dims.is_none_or(fits) {
                return Err(format!("takes input {i} with other sizes"));
            }
        }
        Ok(())
    }

    fn check_params(&self, routine: &Routine) -> Result<(), String> {
        if self.params.len() != routine.params.len() {
            return Err(format!("takes {} parameters, not {}", routine.params.len(), self.params.len()));
        }
        for (param, values) in routine.params.iter().zip(self.params) {
            let name = param.name;
            let below =
                |limit: usize| values.iter().all(|v| v.known().is_some_and(|v| v >= 0 && (v as u64) < limit as u64));
            let (fits, wanted) = match param.kind {
                ParamKind::Axis => {
                    let rank = self.inputs[0].dims.len();
                    (values.len() == 1 && below(rank), format!("a dimension of its first input, of rank {rank}"))
                }
                ParamKind::Flag => (values.len() == 1 && below(2), "0 or 1".to_owned()),
                ParamKind::Flags => {
                    let most = self.inputs.len();
                    ((1..=most).contains(&values.len()) && below(2), format!("from 1 to {most} numbers 0 or 1"))
                }
                ParamKind::Size | ParamKind::Decided(_) => {
                    let positive = |v: &N| v.known().is_none_or(|v| v >= 0);
                    (values.len() == 1 && values.iter().all(positive), "a size".to_owned())
                }
            };
            if !fits {
                let values: Vec<String> = values.iter().map(N::to_string).collect();
                return Err(format!("takes {wanted} as '{name}', not [{}]", values.join(", ")));
            }
        }
        Ok(())
    }

    /// The dimension that the parameter `axis` names, the first one where there is none.
    pub fn axis(&self, routine: &Routine) -> usize {
        let axis = routine.param("axis").and_then(|at| self.params.get(at)?.first()?.known());
        axis.and_then(|axis| usize::try_from(axis).ok()).unwrap_or(0)
    }

    /// The sizes that a rule says; nothing where any are right. `None` where one does not fit.
    pub fn dims(&self, routine: &Routine, rule: Dims) -> Option<Option<Vec<N>>> {
        let first = self.inputs[0].dims;
        Some(match rule {
            Dims::Any | Dims::AnyRank => None,
            Dims::First => Some(first.to_vec()),
            Dims::List(sizes) => Some(sizes.iter().map(|size| self.size(routine, size)).collect::<Option<_>>()?),
            Dims::Decided => Some(vec![N::constant(routine.decided().count() as i64)]),
            Dims::FirstBut(others) => {
                let mut dims = first.to_vec();
                for (at, size) in others {
                    dims[self.place(routine, *at)] = self.size(routine, size)?;
                }
                Some(dims)
            }
        })
    }

    /// Outputs and their dimensions whose size is the parameter `name`.
    pub fn places(&self, routine: &Routine, name: &str) -> Vec<(usize, usize)> {
        let is_it = |size: &Size| matches!(size, Size::Param(other) if *other == name);
        let mut places = Vec::new();
        for (i, (_, rule)) in routine.outputs_of(self.inputs.len()).into_iter().enumerate() {
            match rule {
                Dims::List(sizes) => {
                    places.extend(sizes.iter().enumerate().filter(|(_, s)| is_it(s)).map(|(d, _)| (i, d)));
                }
                Dims::FirstBut(others) => {
                    let found = others.iter().filter(|(_, size)| is_it(size));
                    places.extend(found.map(|(at, _)| (i, self.place(routine, *at))));
                }
                Dims::Any | Dims::AnyRank | Dims::First | Dims::Decided => {}
            }
        }
        places
    }

    fn place(&self, routine: &Routine, at: At) -> usize {
        match at {
            At::Axis => self.axis(routine),
            At::Last => self.inputs[0].dims.len() - 1,
        }
    }

    /// The value of a size; `None` where it does not fit.
    pub fn size(&self, routine: &Routine, size: &Size) -> Option<N> {
        let axis = self.axis(routine);
        let first = self.inputs[0].dims;
        match size {
            Size::Const(value) => Some(N::constant(*value)),
            Size::Param(name) => self.params.get(routine.param(name)?)?.first().cloned(),
            Size::Axis => first.get(axis).cloned(),
            Size::Dim(dim) => first.get(*dim).cloned(),
            Size::Rank => Some(N::constant(first.len() as i64)),
            Size::Elements => first.iter().try_fold(N::constant(1), |all, size| all.times(size)),
            Size::Others => {
                let mut others = first.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, size)| size);
                others.try_fold(N::constant(1), |all, size| all.times(size))
            }
            Size::Product(sizes) => {
                let mut all = N::constant(1);
                for size in *sizes {
                    all = all.times(&self.size(routine, size)?)?;
                }
                Some(all)
            }
            Size::Sum(sizes) => {
                let mut all = N::constant(0);
                for size in *sizes {
                    all = all.plus(&self.size(routine, size)?)?;
                }
                Some(all)
            }
            Size::Lesser([a, b]) => Some(self.size(routine, a)?.least(&self.size(routine, b)?)),
        }
    }
}
