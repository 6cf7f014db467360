//! Random inputs for a function, the same for the same seed on every machine.

use sutura_ir::types::{FloatKind, TypeData};
use sutura_ir::{Context, Type};

use crate::constant::shaped;
use crate::error::Fault;
use crate::memory::Memory;
use crate::scalar::{DType, Scalar};
use crate::tensor::{Tensor, num_elements};
use crate::value::Value;

/// A small generator of random numbers: splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    edges: bool,
}

/// Every so many numbers is an edge value, where those are wanted.
const EDGE_EVERY: i64 = 6;

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed, edges: false }
    }

    /// A generator whose [`Random::scalar`] mixes edge values in: NaN, infinities, zeros of both signs and the smallest
    /// subnormals among floats; the smallest and largest among integers.
    pub fn with_edges(seed: u64) -> Self {
        Self { state: seed, edges: true }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// An integer in `low..=high`.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        let span = (high.wrapping_sub(low) as u64).wrapping_add(1);
        // The bias of the modulo is below 2^-32 for every span used here.
        if span == 0 { self.next_u64() as i64 } else { low.wrapping_add((self.next_u64() % span) as i64) }
    }

    /// A number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number of type `dtype`: floats in `[-2, 2)`, integers small enough to be added and
    /// multiplied, indices that are mostly in bounds, `i1` either.
    pub fn scalar(&mut self, dtype: DType) -> Scalar {
        if self.edges && self.range(1, EDGE_EVERY) == 1 {
            return self.edge(dtype);
        }
        match dtype {
            DType::Float(kind) => Scalar::float(self.unit() * 4.0 - 2.0, kind),
            DType::Complex(kind) => self.complex(kind, Self::scalar),
            DType::Int { width: 1, .. } => Scalar::int(self.range(0, 1), dtype),
            DType::Int { unsigned: true, .. } => Scalar::int(self.range(0, 7), dtype),
            // Mostly within the bounds of something small.
            DType::Index => Scalar::int(self.range(-1, 4), dtype),
            DType::Int { .. } => Scalar::int(self.range(-8, 7), dtype),
        }
    }

    fn complex(&mut self, kind: FloatKind, part: fn(&mut Self, DType) -> Scalar) -> Scalar {
        let [re, im] = [(); 2].map(|()| part(self, DType::Float(kind)).bits());
        Scalar::complex(kind, [re, im])
    }

    fn edge(&mut self, dtype: DType) -> Scalar {
        match dtype {
            DType::Complex(kind) => self.complex(kind, Self::edge),
            DType::Float(kind) => {
                const EDGES: [f64; 6] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 1.0];
                // The smallest positive number of any format has the bit pattern 1.
                let smallest = Scalar::from_bits(dtype, 1);
                let edge = EDGES.get(self.range(0, EDGES.len() as i64) as usize);
                edge.map_or(smallest, |&value| Scalar::float(value, kind))
            }
            // Sizes and positions: huge ones would only be out of bounds.
            DType::Index => Scalar::int(self.range(-1, 1), dtype),
            DType::Int { width, .. } => {
                let largest = i64::MAX >> (64 - u32::from(width));
                let edges = [0, 1, -1, largest, -largest - 1];
                Scalar::int(edges[self.range(0, 4) as usize], dtype)
            }
        }
    }
}

/// Where the sizes of an argument's dynamic dimensions come from.
pub trait Dims {
    /// Sizes of all dimensions of argument `index`, whose type is `ty` and may have an encoding that names them.
    fn dims(&self, cx: &Context, index: usize, ty: Type) -> Option<Vec<usize>>;
}

/// Sizes per argument, in order; arguments beyond the list have none.
impl Dims for [Vec<usize>] {
    fn dims(&self, _: &Context, index: usize, _: Type) -> Option<Vec<usize>> {
        self.get(index).cloned()
    }
}

impl Dims for Vec<Vec<usize>> {
    fn dims(&self, cx: &Context, index: usize, ty: Type) -> Option<Vec<usize>> {
        self[..].dims(cx, index, ty)
    }
}

impl<F: Fn(&Context, usize, Type) -> Option<Vec<usize>>> Dims for F {
    fn dims(&self, cx: &Context, index: usize, ty: Type) -> Option<Vec<usize>> {
        self(cx, index, ty)
    }
}

/// Random arguments for the given types; memrefs are allocated in `memory`.
///
/// # Errors
/// When a dynamic dimension gets no size, a size contradicts its type, or a type has no random values.
pub fn random_arguments(
    cx: &Context,
    types: &[Type],
    dims: &dyn Dims,
    random: &mut Random,
    memory: &mut Memory,
) -> Result<Vec<Value>, Fault> {
    let mut argument = |(i, &ty): (usize, &Type)| {
        random_value(cx, i, ty, dims, random, memory)
            .map_err(|f| Fault::new(f.kind, format!("argument {i}: {}", f.message)))
    };
    types.iter().enumerate().map(&mut argument).collect()
}

fn random_value(
    cx: &Context,
    index: usize,
    ty: Type,
    dims: &dyn Dims,
    random: &mut Random,
    memory: &mut Memory,
) -> Result<Value, Fault> {
    let Some(declared) = cx.shape(ty) else {
        return Ok(random.scalar(DType::expect_scalar(cx, ty)?).into());
    };
    let dtype = DType::expect(cx, cx.element_type(ty))?;
    let fixed: Option<Vec<usize>> = declared.iter().map(|&d| usize::try_from(d).ok()).collect();
    let shape = fixed.or_else(|| dims.dims(cx, index, ty));
    let shape = shape.ok_or_else(|| Fault::shape("its dynamic dimensions were given no sizes"))?;
    let numbers = (0..num_elements(&shape)?).map(|_| random.scalar(dtype));
    let tensor = Tensor::from_scalars(dtype, &shape, numbers)?;
    let value = match cx.type_data(ty) {
        TypeData::MemRef { layout: None, space, .. } => memory.alloc_from(&tensor, space)?.into(),
        TypeData::MemRef { .. } => return Err(Fault::unsupported("a memref with a layout has no random value")),
        _ => shaped(cx, ty, tensor)?,
    };
    value.check_type(cx, ty)?;
    Ok(value)
}
