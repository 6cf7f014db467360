//! Routines beside what is plainly right, at several numbers of threads.

mod non_max_suppression;

use std::cmp::Ordering;
use std::ffi::c_void;

use proptest::prelude::*;

use super::table::{Arguments, Elem, Routine, Typed};
use super::{FUNCTIONS, ROUTINES, call, find, of_name};
use crate::buffer::AlignedBuffer;
use crate::element::ElementType;
use crate::pool;

/// A buffer.
#[derive(Clone, PartialEq, Debug)]
struct Data {
    elem: ElementType,
    dims: Vec<i64>,
    bytes: Vec<u8>,
}

impl Data {
    fn new(elem: ElementType, dims: &[i64], bytes: Vec<u8>) -> Self {
        assert_eq!(bytes.len() as i64, dims.iter().product::<i64>() * elem.bytes() as i64);
        Self { elem, dims: dims.to_vec(), bytes }
    }

    fn f32(dims: &[i64], values: &[f32]) -> Self {
        Self::new(ElementType::F32, dims, values.iter().flat_map(|v| v.to_ne_bytes()).collect())
    }

    fn i64(dims: &[i64], values: &[i64]) -> Self {
        Self::new(ElementType::I64, dims, values.iter().flat_map(|v| v.to_ne_bytes()).collect())
    }

    fn to_f32(&self) -> Vec<f32> {
        self.bytes.chunks(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
    }

    fn to_i64(&self) -> Vec<i64> {
        self.bytes.chunks(8).map(|b| i64::from_ne_bytes(b.try_into().unwrap())).collect()
    }

    /// The bytes of an element.
    fn at(&self, index: usize) -> &[u8] {
        &self.bytes[index * self.elem.bytes()..][..self.elem.bytes()]
    }
}

fn words_of(words: &mut Vec<i64>, data: &Data) {
    words.push(ElementType::ALL.iter().position(|e| *e == data.elem).unwrap() as i64);
    words.push(data.dims.len() as i64);
    words.extend(&data.dims);
}

/// Outputs of a call with as much scratch memory as the table says. `float` is the element type of outputs whose type the table
/// leaves open.
fn try_run(
    symbol: &str,
    inputs: &[Data],
    params: &[&[i64]],
    float: ElementType,
    threads: usize,
) -> Result<Vec<Data>, String> {
    let number = find(symbol).unwrap();
    let routine: &Routine = &ROUTINES[number];
    let typed: Vec<Typed<'_, i64, ElementType>> =
        inputs.iter().map(|d| Typed { elem: d.elem, is_float: d.elem.is_float(), dims: &d.dims }).collect();
    let params: Vec<Vec<i64>> = params.iter().map(|p| p.to_vec()).collect();
    let arguments = Arguments { inputs: &typed, params: &params };
    let mut outputs = Vec::new();
    for (i, (elem, dims)) in routine.outputs_of(inputs.len()).into_iter().enumerate() {
        let elem = match elem {
            None => inputs[i].elem,
            Some(Elem::First) => inputs[0].elem,
            Some(Elem::Int64) => ElementType::I64,
            Some(Elem::Any | Elem::Float) => float,
        };
        let dims = arguments.dims(routine, dims).unwrap().unwrap();
        let bytes = vec![0xa5; dims.iter().product::<i64>() as usize * elem.bytes()];
        outputs.push(Data::new(elem, &dims, bytes));
    }
    // A call that is wrong may have no size.
    let bytes = arguments.size(routine, &routine.scratch).unwrap_or(64);
    let mut scratch = AlignedBuffer::zeroed(bytes as usize, "test").unwrap();
    scratch.as_mut_slice().fill(0x5a);
    let mut words = vec![inputs.len() as i64, outputs.len() as i64, i64::from(bytes > 0)];
    inputs.iter().chain(&outputs).for_each(|data| words_of(&mut words, data));
    if bytes > 0 {
        words.push(bytes);
    }
    for param in &params {
        words.push(param.len() as i64);
        words.extend(param);
    }
    let mut bufs: Vec<*mut c_void> = inputs.iter().map(|d| d.bytes.as_ptr().cast_mut().cast()).collect();
    bufs.extend(outputs.iter_mut().map(|d| d.bytes.as_mut_ptr().cast::<c_void>()));
    if bytes > 0 {
        bufs.push(scratch.as_mut_ptr().cast());
    }
    let counts = (bufs.len() as i32, words.len() as i32);
    pool::reserve(threads).unwrap();
    // SAFETY: the arrays have these lengths and the buffers the sizes that the words say.
    unsafe { call(number, bufs.as_ptr(), words.as_ptr(), counts, threads)? };
    Ok(outputs)
}

/// As [`try_run`], with the same bits at one, two and many threads.
fn run(symbol: &str, inputs: &[Data], params: &[&[i64]], float: ElementType) -> Vec<Data> {
    let one = try_run(symbol, inputs, params, float, 1).unwrap();
    for threads in [2, 40] {
        assert_eq!(try_run(symbol, inputs, params, float, threads).unwrap(), one, "{threads} threads");
    }
    one
}

fn sort(inputs: &[Data], axis: i64, descending: &[i64]) -> Vec<Data> {
    run("sort/1", inputs, &[&[axis], descending], ElementType::F32)
}

/// Whether few inputs are to be tried: under Miri, and under valgrind, as `cargo xtask memcheck` says by the number of cases.
fn few() -> bool {
    cfg!(miri) || std::env::var_os("PROPTEST_CASES").is_some()
}

/// Numbers without a pattern.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

#[test]
fn every_routine_has_a_function_and_a_symbol_of_its_own() {
    assert_eq!(FUNCTIONS.len(), ROUTINES.len());
    // Routines take no complex numbers, whose codes are the last ones.
    let (known, complex) = ElementType::ALL.split_at(super::table::ELEMENTS.len());
    assert!(known.iter().map(|element| element.name()).eq(super::table::ELEMENTS));
    assert!(complex.iter().all(|element| element.part().is_some()));
    for (i, routine) in ROUTINES.iter().enumerate() {
        assert_eq!(find(&routine.symbol()), Some(i));
    }
    assert_eq!(find("sort/0"), None);
    assert_eq!(of_name("sort/7"), ["sort/1"]);
}

#[test]
fn numbers_that_are_none_have_a_place() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let keys = Data::f32(&[9], &[nan, 1.0, -0.0, inf, -nan, 0.0, -inf, 1.0, -2.0]);
    let places = Data::i64(&[9], &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let sorted = sort(&[keys.clone(), places.clone()], 0, &[0]);
    assert_eq!(sorted[1].to_i64(), [6, 8, 2, 5, 1, 7, 3, 0, 4]);
    assert!(sorted[0].to_f32()[2].is_sign_negative());
    let sorted = sort(&[keys, places], 0, &[1]);
    assert_eq!(sorted[1].to_i64(), [0, 4, 3, 1, 7, 2, 5, 8, 6]);
}

#[test]
fn what_is_empty_or_one_element_is_sorted() {
    assert_eq!(sort(&[Data::f32(&[0], &[])], 0, &[0])[0].bytes, Vec::<u8>::new());
    assert_eq!(sort(&[Data::f32(&[3, 0], &[])], 0, &[0])[0].bytes, Vec::<u8>::new());
    assert_eq!(sort(&[Data::f32(&[1], &[4.0])], 0, &[1])[0].to_f32(), [4.0]);
    assert_eq!(sort(&[Data::f32(&[2, 1, 2], &[4.0, 3.0, 2.0, 1.0])], 1, &[0])[0].to_f32(), [4.0, 3.0, 2.0, 1.0]);
    // Nothing is no matter how large the rest is.
    let huge = Data { elem: ElementType::F32, dims: vec![0, 1 << 40, 1 << 40], bytes: vec![] };
    assert!(call_of_empty(&huge).is_ok());
}

fn call_of_empty(data: &Data) -> Result<(), String> {
    let mut words = vec![1, 1, 0];
    words_of(&mut words, data);
    words_of(&mut words, data);
    words.extend([1, 0, 1, 0]);
    let bufs = [std::ptr::null_mut::<c_void>(); 2];
    // SAFETY: empty buffers.
    unsafe { call(find("sort/1").unwrap(), bufs.as_ptr(), words.as_ptr(), (2, words.len() as i32), 1) }
}

#[test]
fn a_long_line_is_sorted_by_many_threads() {
    let count = if few() { 20_000 } else { 70_001 };
    let mut next = random(7);
    // Many equal keys, whose order must be kept.
    let keys: Vec<f32> = (0..count).map(|_| (next() % 5000) as f32 - 2500.0).collect();
    let places: Vec<i64> = (0..count).collect();
    for descending in [0, 1] {
        let inputs = [Data::f32(&[count], &keys), Data::i64(&[count], &places)];
        let sorted = sort(&inputs, 0, &[descending]);
        let mut wanted: Vec<usize> = (0..count as usize).collect();
        wanted.sort_by(|a, b| {
            let order = keys[*a].total_cmp(&keys[*b]);
            if descending == 1 { order.reverse() } else { order }
        });
        assert!(sorted[1].to_i64().iter().zip(&wanted).all(|(a, b)| *a == *b as i64));
    }
}

/// The place of an element among others of its type, plainly.
fn compare(a: &Data, i: usize, j: usize) -> Ordering {
    let number = |index: usize| -> (i128, f64, bool) {
        let bytes = a.at(index);
        let mut word = [0u8; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_ne_bytes(word);
        match a.elem {
            ElementType::I8 => (i128::from(bits as i8), 0.0, false),
            ElementType::I2 => (i128::from((bits as i8) << 6 >> 6), 0.0, false),
            ElementType::I4 => (i128::from((bits as i8) << 4 >> 4), 0.0, false),
            ElementType::U2 => (i128::from(bits & 3), 0.0, false),
            ElementType::U4 => (i128::from(bits & 15), 0.0, false),
            ElementType::F4E2M1FN => {
                let magnitude = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][bits as usize & 7];
                (0, if bits & 8 == 0 { magnitude } else { -magnitude }, true)
            }
            ElementType::F8E8M0FNU if bits == 0xff => (0, f64::NAN, true),
            ElementType::F8E8M0FNU => (0, 2f64.powi(bits as i32 - 127), true),
            ElementType::I16 => (i128::from(bits as i16), 0.0, false),
            ElementType::I32 => (i128::from(bits as i32), 0.0, false),
            ElementType::I64 => (i128::from(bits as i64), 0.0, false),
            ElementType::F32 => (0, f64::from(f32::from_bits(bits as u32)), true),
            ElementType::F64 => (0, f64::from_bits(bits), true),
            ElementType::F16 => (0, small(bits as u32, 5, 10, false), true),
            ElementType::BF16 => (0, f64::from(f32::from_bits((bits as u32) << 16)), true),
            ElementType::F8E5M2 => (0, small(bits as u32, 5, 2, false), true),
            ElementType::F8E4M3FN => (0, small(bits as u32, 4, 3, true), true),
            ElementType::F8E4M3FNUZ | ElementType::F8E5M2FNUZ if bits == 0x80 => (0, f64::NAN, true),
            ElementType::F8E4M3FNUZ | ElementType::F8E5M2FNUZ => {
                let magnitude = (bits & 0x7f) as f64;
                (0, if bits & 0x80 == 0 { magnitude } else { -magnitude }, true)
            }
            _ => (i128::from(bits), 0.0, false),
        }
    };
    let ((x, f, float), (y, g, _)) = (number(i), number(j));
    match float {
        true => f.partial_cmp(&g).unwrap_or_else(|| f.is_nan().cmp(&g.is_nan())),
        false => x.cmp(&y),
    }
}

/// The value of a small float.
fn small(bits: u32, exponent: u32, mantissa: u32, no_infinity: bool) -> f64 {
    let sign = if bits >> (exponent + mantissa) & 1 == 1 { -1.0 } else { 1.0 };
    let (e, m) = (bits >> mantissa & ((1 << exponent) - 1), bits & ((1 << mantissa) - 1));
    let (bias, top) = ((1i32 << (exponent - 1)) - 1, (1 << exponent) - 1);
    let fraction = f64::from(m) / f64::from(1 << mantissa);
    if e == top && !no_infinity {
        return if m == 0 { sign * f64::INFINITY } else { f64::NAN };
    }
    if no_infinity && e == top && m == (1 << mantissa) - 1 {
        return f64::NAN;
    }
    match e {
        0 => sign * fraction * 2f64.powi(1 - bias),
        e => sign * (1.0 + fraction) * 2f64.powi(e as i32 - bias),
    }
}

/// Random bits of a type, with repetitions.
fn random_data(elem: ElementType, dims: &[i64], seed: u64) -> Data {
    let mut next = random(seed);
    let count = dims.iter().product::<i64>();
    let mut bytes = Vec::new();
    for _ in 0..count {
        let bits = match next() % 4 {
            0 => next() % 3,
            1 => u64::MAX - next() % 3,
            _ => next() >> (next() % 64),
        };
        let bits = if elem == ElementType::Bool { bits & 1 } else { bits };
        bytes.extend(&bits.to_ne_bytes()[..elem.bytes()]);
    }
    Data::new(elem, dims, bytes)
}

/// Positions of a tensor's elements as lines along an axis.
fn lines(dims: &[i64], axis: usize) -> Vec<Vec<usize>> {
    let inner = dims[axis + 1..].iter().product::<i64>() as usize;
    let size = dims[axis] as usize;
    let count: usize = dims.iter().product::<i64>() as usize / size.max(1);
    (0..count).map(|line| (0..size).map(|i| line / inner * inner * size + line % inner + i * inner).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 200 }, ..ProptestConfig::default() })]

    #[test]
    fn lines_are_sorted_by_their_keys(
        dims in prop::collection::vec(1i64..7, 1..4),
        types in prop::collection::vec(0..super::table::ELEMENTS.len(), 1..4),
        (axis, keys, order, seed) in (0usize..3, 1usize..4, 0u64..8, any::<u64>()),
    ) {
        let axis = axis % dims.len();
        let keys = keys.min(types.len());
        let inputs: Vec<Data> = types
            .iter()
            .enumerate()
            .map(|(i, ty)| random_data(ElementType::ALL[*ty], &dims, seed.wrapping_add(i as u64)))
            .collect();
        let descending: Vec<i64> = (0..keys).map(|k| (order >> k & 1) as i64).collect();
        let sorted = sort(&inputs, axis as i64, &descending);
        for line in lines(&dims, axis) {
            let mut wanted = line.clone();
            wanted.sort_by(|a, b| {
                let by = |key: usize| {
                    let order = compare(&inputs[key], *a, *b);
                    if descending[key] == 1 { order.reverse() } else { order }
                };
                (0..keys).map(by).find(|o| *o != Ordering::Equal).unwrap_or(Ordering::Equal)
            });
            for (input, output) in inputs.iter().zip(&sorted) {
                for (to, from) in line.iter().zip(&wanted) {
                    prop_assert_eq!(output.at(*to), input.at(*from));
                }
            }
        }
    }
}

fn top_k(input: &Data, axis: i64, k: i64, smallest: i64) -> Vec<Data> {
    run("top_k/1", std::slice::from_ref(input), &[&[axis], &[k], &[smallest]], ElementType::F32)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 200 }, ..ProptestConfig::default() })]

    /// The first of what sorting gives.
    #[test]
    fn the_first_in_order_are_taken(
        dims in prop::collection::vec(1i64..9, 1..4),
        (ty, axis, k, smallest, seed) in (0usize..15, 0usize..3, 0i64..9, 0i64..2, any::<u64>()),
    ) {
        let axis = axis % dims.len();
        let k = k.min(dims[axis]);
        let input = random_data(ElementType::ALL[ty], &dims, seed);
        let taken = top_k(&input, axis as i64, k, smallest);
        let places = lines(&taken[0].dims, axis);
        for (line, places) in lines(&dims, axis).into_iter().zip(places) {
            let mut wanted: Vec<usize> = (0..line.len()).collect();
            wanted.sort_by(|a, b| {
                let order = compare(&input, line[*a], line[*b]);
                if smallest == 1 { order } else { order.reverse() }
            });
            for (to, from) in places.iter().zip(&wanted) {
                prop_assert_eq!(taken[0].at(*to), input.at(line[*from]));
                prop_assert_eq!(taken[1].to_i64()[*to], *from as i64);
            }
        }
    }
}

#[test]
fn a_long_line_is_searched_by_many_threads() {
    let count = if few() { 20_000 } else { 100_003 };
    let mut next = random(11);
    for (lines, k) in [(1, 7), (3, 100), (1, 2000)] {
        let keys: Vec<f32> = (0..lines * count).map(|_| (next() % 50_000) as f32).collect();
        let input = Data::f32(&[lines, count], &keys);
        let taken = top_k(&input, 1, k, 0);
        let places = Data::i64(&[lines, count], &(0..lines * count).map(|i| i % count).collect::<Vec<_>>());
        let sorted = sort(&[input, places], 1, &[1]);
        for line in 0..lines {
            let (from, to) = ((line * count) as usize, (line * k) as usize);
            assert_eq!(taken[0].to_f32()[to..][..k as usize], sorted[0].to_f32()[from..][..k as usize]);
            assert_eq!(taken[1].to_i64()[to..][..k as usize], sorted[1].to_i64()[from..][..k as usize]);
        }
    }
    let none = Data::f32(&[2, 0], &[]);
    assert_eq!(top_k(&none, 1, 0, 0)[1].dims, [2, 0]);
    let why = try_run("top_k/1", &[Data::f32(&[2], &[1.0; 2])], &[&[0], &[3], &[0]], ElementType::F32, 1);
    assert_eq!(why.unwrap_err(), "the routine `top_k/1` takes 3 elements of lines of 2");
}

fn f64_data(dims: &[i64], values: &[f64]) -> Data {
    Data::new(ElementType::F64, dims, values.iter().flat_map(|v| v.to_ne_bytes()).collect())
}

fn to_f64(data: &Data) -> Vec<f64> {
    data.bytes.chunks(8).map(|b| f64::from_ne_bytes(b.try_into().unwrap())).collect()
}

fn fft(input: &Data, axis: i64, size: i64, bins: i64, inverse: i64) -> Data {
    run("fft/1", std::slice::from_ref(input), &[&[axis], &[size], &[bins], &[inverse], &[0]], ElementType::F32)
        .remove(0)
}

/// The transform by its definition.
fn plain(line: &[[f64; 2]], size: usize, inverse: bool) -> Vec<[f64; 2]> {
    let sign = if inverse { 1.0 } else { -1.0 };
    let sum = |bin: usize| {
        let terms = line.iter().take(size).enumerate().map(|(n, [re, im])| {
            let (sine, cosine) = (sign * std::f64::consts::TAU * ((bin * n % size) as f64 / size as f64)).sin_cos();
            [re * cosine - im * sine, re * sine + im * cosine]
        });
        let scale = if inverse { size as f64 } else { 1.0 };
        terms.fold([0.0; 2], |a, b| [a[0] + b[0] / scale, a[1] + b[1] / scale])
    };
    (0..size).map(sum).collect()
}

#[test]
fn every_size_is_transformed_within_the_stated_bound() {
    let sizes: Vec<usize> =
        if few() { vec![1, 2, 12, 17, 35] } else { (1..70).chain([97, 128, 210, 1001, 1009]).collect() };
    for size in sizes {
        for (inverse, width, have) in [(0, 2, size), (1, 2, size), (0, 1, size), (0, 2, size + 3), (1, 2, size / 2)] {
            let mut next = random((size * 4 + width) as u64);
            let values: Vec<f64> = (0..have * width).map(|_| (next() >> 11) as f64 / 2f64.powi(52) - 1.0).collect();
            let line: Vec<[f64; 2]> = values.chunks(width).map(|n| [n[0], n.get(1).copied().unwrap_or(0.0)]).collect();
            let made = fft(&f64_data(&[1, have as i64, width as i64], &values), 1, size as i64, size as i64, inverse);
            assert_eq!(made.dims, [1, size as i64, 2]);
            let wanted = plain(&line, size, inverse == 1);
            let norm = |numbers: &[[f64; 2]]| numbers.iter().map(|n| n[0] * n[0] + n[1] * n[1]).sum::<f64>().sqrt();
            let made: Vec<[f64; 2]> = to_f64(&made).chunks(2).map(|n| [n[0], n[1]]).collect();
            let off: Vec<[f64; 2]> = made.iter().zip(&wanted).map(|(a, b)| [a[0] - b[0], a[1] - b[1]]).collect();
            // The plain sum is off itself, by as much as its terms are many.
            let bound = 2f64.powi(-53) * (16.0 * ((size as f64).log2() + 1.0) + size as f64);
            assert!(
                norm(&off) <= bound * norm(&wanted),
                "{size} {inverse} {width}: {} of {}",
                norm(&off),
                norm(&wanted)
            );
        }
    }
}

#[test]
fn there_and_back_is_the_same_within_the_stated_bound() {
    // Without a plain sum to compare with: twice the bound at most.
    for size in [64usize, 121, 1000, if few() { 128 } else { 4099 }, if few() { 17 } else { 16_384 }] {
        let mut next = random(size as u64);
        let values: Vec<f64> = (0..2 * size).map(|_| (next() >> 11) as f64 / 2f64.powi(52) - 1.0).collect();
        let there = fft(&f64_data(&[size as i64, 2], &values), 0, size as i64, size as i64, 0);
        let back = to_f64(&fft(&there, 0, size as i64, size as i64, 1));
        let norm = |numbers: &[f64]| numbers.iter().map(|n| n * n).sum::<f64>().sqrt();
        let off: Vec<f64> = back.iter().zip(&values).map(|(a, b)| a - b).collect();
        let bound = 2.0 * 2f64.powi(-53) * 16.0 * ((size as f64).log2() + 1.0);
        assert!(norm(&off) <= bound * norm(&values), "{size}: {} of {bound}", norm(&off) / norm(&values));
    }
}

/// What the real numbers are of which a half spectrum is known, in which case its ends have no imaginary part that counts.
#[test]
fn real_numbers_come_back_from_half_a_spectrum() {
    for size in [1i64, 2, 3, 8, 9, 17, 30] {
        for have in [size / 2 + 1, 1, size + 2] {
            let mut next = random((size * 7 + have) as u64);
            let mut number = || (next() >> 11) as f64 / 2f64.powi(52) - 1.0;
            let values: Vec<f64> = (0..2 * have).map(|_| number()).collect();
            let params: [&[i64]; 5] = [&[0], &[size], &[size], &[1], &[1]];
            let made = run("fft/1", &[f64_data(&[have, 2], &values)], &params, ElementType::F32).remove(0);
            assert_eq!(made.dims, [size, 1]);
            let mut whole = vec![[0.0; 2]; size as usize];
            for (bin, place) in whole.iter_mut().enumerate() {
                let (mirror, sign) = if bin as i64 <= size / 2 { (bin, 1.0) } else { (size as usize - bin, -1.0) };
                if let Some(number) = values.chunks(2).nth(mirror) {
                    *place = [number[0], sign * number[1]];
                }
            }
            for (found, wanted) in to_f64(&made).into_iter().zip(plain(&whole, size as usize, true)) {
                assert!((found - wanted[0]).abs() < 1e-13, "{size} {have}: {found} {}", wanted[0]);
            }
        }
    }
}

#[test]
fn transforms_run_along_any_axis_and_make_some_bins() {
    let values: Vec<f64> = (0..48).map(|i| f64::from(i * i % 17)).collect();
    let made = fft(&f64_data(&[2, 6, 4, 1], &values), 1, 6, 4, 0);
    assert_eq!(made.dims, [2, 4, 4, 2]);
    let made = to_f64(&made);
    for (outer, inner) in (0..2).flat_map(|o| (0..4).map(move |i| (o, i))) {
        let line: Vec<[f64; 2]> = (0..6).map(|n| [values[(outer * 6 + n) * 4 + inner], 0.0]).collect();
        for (bin, wanted) in plain(&line, 6, false).into_iter().take(4).enumerate() {
            let at = ((outer * 4 + bin) * 4 + inner) * 2;
            assert!((made[at] - wanted[0]).abs() < 1e-12 && (made[at + 1] - wanted[1]).abs() < 1e-12);
        }
    }
    // The sum of nothing.
    assert_eq!(to_f64(&fft(&f64_data(&[3, 0, 1], &[]), 1, 0, 1, 0)), [0.0; 6]);
    assert_eq!(to_f64(&fft(&f64_data(&[1, 0, 1], &[]), 1, 2, 2, 0)), [0.0; 4]);
    let refused = |elem, dims: &[i64], params: &[&[i64]]| {
        let bytes = vec![0; dims.iter().product::<i64>() as usize * ElementType::bytes(elem)];
        try_run("fft/1", &[Data::new(elem, dims, bytes)], params, elem, 1).unwrap_err()
    };
    let wrong = "the routine `fft/1` takes numbers of one part or two along the last dimension, which is not the axis";
    assert_eq!(refused(ElementType::F32, &[4, 3], &[&[0], &[4], &[4], &[0], &[0]]), wrong);
    assert_eq!(refused(ElementType::F32, &[4, 2], &[&[1], &[4], &[4], &[0], &[0]]), wrong);
    assert_eq!(
        refused(ElementType::F32, &[4, 2], &[&[0], &[4], &[5], &[0], &[0]]),
        "the routine `fft/1` makes 5 elements of a transform of 4"
    );
    let floats = "the routine `fft/1` takes floats as input 0";
    assert_eq!(refused(ElementType::I32, &[4, 2], &[&[0], &[4], &[4], &[0], &[0]]), floats);
    let eight = "the routine `fft/1` takes no elements of type f8E5M2";
    assert_eq!(refused(ElementType::F8E5M2, &[4, 2], &[&[0], &[4], &[4], &[0], &[0]]), eight);
}

#[test]
fn small_floats_are_read_exactly_and_rounded_once() {
    use super::floats::{bytes, read};
    for (elem, exponent, mantissa) in [(ElementType::F16, 5, 10), (ElementType::BF16, 8, 7)] {
        for bits in (0..=u16::MAX).step_by(if few() { 97 } else { 1 }) {
            let value = read(elem, &bits.to_ne_bytes(), 0);
            let wanted = small(u32::from(bits), exponent, mantissa, false);
            assert!(value == wanted || value.is_nan() && wanted.is_nan(), "{bits:x}");
            if !value.is_nan() {
                assert_eq!(bytes(elem, value).0[..2], bits.to_ne_bytes());
            }
        }
    }
    let half = |value| u16::from_ne_bytes(bytes(ElementType::F16, value).0[..2].try_into().unwrap());
    // Between two neighbours the even one, and no rounding twice.
    assert_eq!([half(2049.0), half(2051.0), half(2049.0 + 1e-9)], [half(2048.0), half(2052.0), half(2050.0)]);
    assert_eq!([half(65519.9), half(65520.0), half(1e300)], [0x7bff, 0x7c00, 0x7c00]);
    assert_eq!([half(2f64.powi(-25)), half(2f64.powi(-25) * 1.01), half(-1e-300)], [0, 1, 0x8000]);
    assert!(read(ElementType::F16, &half(f64::NAN).to_ne_bytes(), 0).is_nan());
}

#[test]
fn wrong_calls_are_refused_in_words() {
    let data = Data::f32(&[4], &[1.0; 4]);
    let why =
        |params: &[&[i64]]| try_run("sort/1", std::slice::from_ref(&data), params, ElementType::F32, 1).unwrap_err();
    assert_eq!(
        why(&[&[1], &[0]]),
        "the routine `sort/1` takes a dimension of its first input, of rank 1 as 'axis', not [1]"
    );
    assert_eq!(why(&[&[0], &[2]]), "the routine `sort/1` takes from 1 to 1 numbers 0 or 1 as 'descending', not [2]");
    assert_eq!(
        why(&[&[0], &[0, 0]]),
        "the routine `sort/1` takes from 1 to 1 numbers 0 or 1 as 'descending', not [0, 0]"
    );
    assert_eq!(why(&[&[0]]), "the routine `sort/1` is called with too few numbers");
    assert_eq!(why(&[&[0], &[0], &[0]]), "the routine `sort/1` is called with too many numbers");
    let number = find("sort/1").unwrap();
    let refused = |words: &[i64], n_bufs: usize| {
        let bufs = vec![std::ptr::null_mut::<c_void>(); n_bufs];
        // SAFETY: each is refused before a buffer is touched.
        unsafe { call(number, bufs.as_ptr(), words.as_ptr(), (n_bufs as i32, words.len() as i32), 1) }.unwrap_err()
    };
    assert_eq!(refused(&[], 0), "the routine `sort/1` is called with too few numbers");
    assert_eq!(refused(&[3, 1, 0], 2), "the routine `sort/1` is called with 3 inputs");
    assert_eq!(refused(&[0, 0, 0, 0, 0], 0), "the routine `sort/1` takes from 1 to 64 inputs, not 0");
    assert_eq!(refused(&[1, 0, 0, 99], 1), "the routine `sort/1` is called with elements of type 99");
    assert_eq!(refused(&[1, 0, 0, 0, 99], 1), "the routine `sort/1` is called with 99 as rank of a buffer");
    let message = refused(&[1, 0, 0, 0, 2, 1 << 40, 1 << 40], 1);
    assert!(message.ends_with("which no memory can hold"), "{message}");
    let message = refused(&[1, 0, 0, 0, 1, -1], 1);
    assert!(message.ends_with("has the negative dimension -1"), "{message}");
    // The output is smaller than the input, or of another type, or there is no scratch memory.
    let with = |elem: i64, size: i64, params: [i64; 4]| {
        let (mut input, mut output) = ([1f32, 2.0], [0f64; 2]);
        let bufs = [input.as_mut_ptr().cast::<c_void>(), output.as_mut_ptr().cast()];
        let words = [&[1, 1, 0, 13, 1, 2, elem, 1, size][..], &params].concat();
        // SAFETY: the buffers have these sizes.
        unsafe { call(number, bufs.as_ptr(), words.as_ptr(), (2, words.len() as i32), 1) }.unwrap_err()
    };
    assert_eq!(with(13, 1, [1, 0, 1, 0]), "the routine `sort/1` is called with another output 0 than it makes");
    assert_eq!(with(14, 2, [1, 0, 1, 0]), "the routine `sort/1` is called with another output 0 than it makes");
    assert_eq!(with(13, 2, [1, 0, 1, 0]), "the routine `sort/1` is called with 0 bytes of scratch memory, too few");
}

/// What `non_zero` finds: the columns, as rows of indices.
fn non_zero(input: &Data) -> Vec<Vec<i64>> {
    let places = input.dims.iter().product::<i64>();
    let outputs = run("non_zero/1", std::slice::from_ref(input), &[&[places]], ElementType::F32);
    let found = outputs[1].to_i64()[0] as usize;
    let rows = outputs[0].to_i64();
    (0..input.dims.len()).map(|row| rows[row * found..][..found].to_vec()).collect()
}

#[test]
fn what_is_not_zero_is_found() {
    let special = Data::f32(&[2, 4], &[0.0, -0.0, f32::NAN, f32::INFINITY, f32::from_bits(1), 0.0, -1.0, -f32::NAN]);
    assert_eq!(non_zero(&special), [[0, 0, 1, 1, 1], [2, 3, 0, 2, 3]]);
    assert_eq!(non_zero(&Data::f32(&[3], &[0.0; 3])), [Vec::<i64>::new()]);
    assert_eq!(non_zero(&Data::f32(&[0, 3], &[])), [[]; 2] as [[i64; 0]; 2]);
    // Of rank 0 there are no rows; how many columns there are only their number tells.
    for (value, found) in [(2.0, 1), (-0.0, 0)] {
        let outputs = run("non_zero/1", &[Data::f32(&[], &[value])], &[&[1]], ElementType::F32);
        assert_eq!((outputs[0].bytes.len(), outputs[1].to_i64()[0]), (0, found));
    }
    let elems = ElementType::ALL.into_iter().take(super::table::ELEMENTS.len()).enumerate();
    for (seed, elem) in elems {
        let mut data = random_data(elem, &[3, 5, 7], seed as u64);
        if elem == ElementType::Bool {
            data.bytes.iter_mut().for_each(|byte| *byte &= 1);
        }
        // Zero is the last of the elements beside which the others are looked at.
        let mut beside = data.clone();
        beside.dims = vec![106];
        beside.bytes.resize(106 * elem.bytes(), 0);
        // A power of two is no zero.
        let some = |i: &i64| elem == ElementType::F8E8M0FNU || compare(&beside, *i as usize, 105).is_ne();
        let wanted: Vec<i64> = (0..105).filter(some).collect();
        let rows = [35, 7, 1].into_iter().zip([3, 5, 7]);
        let rows: Vec<Vec<i64>> = rows.map(|(step, size)| wanted.iter().map(|i| i / step % size).collect()).collect();
        assert_eq!(non_zero(&data), rows, "{elem}");
    }
}

#[test]
fn much_is_found_by_many_threads() {
    let count = if few() { 9_000 } else { 300_000 };
    let mut next = random(11);
    let values: Vec<i64> = (0..count).map(|_| (next() % 3) as i64).collect();
    let found = non_zero(&Data::i64(&[count], &values));
    assert!(found[0].iter().copied().eq((0..count).filter(|i| values[*i as usize] != 0)));
}

#[test]
fn what_has_no_place_is_only_counted() {
    let data = Data::f32(&[4], &[1.0, 2.0, 0.0, 3.0]);
    let outputs = run("non_zero/1", &[data], &[&[2]], ElementType::F32);
    assert_eq!(outputs[1].to_i64(), [3]);
    assert!(outputs[0].bytes.iter().all(|byte| *byte == 0xa5), "something was written");
}

/// What `unique` finds: the number of slices that differ, then values, first places, inverse and counts, cut to as many.
fn unique(input: &Data, axis: usize, sorted: bool) -> (usize, Data, [Vec<i64>; 3]) {
    let count = input.dims[axis];
    let params: [&[i64]; 3] = [&[axis as i64], &[i64::from(sorted)], &[count]];
    let outputs = run("unique/1", std::slice::from_ref(input), &params, ElementType::F32);
    let found = outputs[4].to_i64()[0];
    let mut values = outputs[0].clone();
    values.dims[axis] = found;
    values.bytes.truncate(values.dims.iter().product::<i64>() as usize * values.elem.bytes());
    let cut = |data: &Data| data.to_i64()[..found as usize].to_vec();
    (found as usize, values, [cut(&outputs[1]), outputs[2].to_i64(), cut(&outputs[3])])
}

#[test]
fn what_is_repeated_is_there_once() {
    let nan = f32::NAN;
    let line = Data::f32(&[7], &[2.0, nan, -0.0, 2.0, 0.0, -nan, 1.0]);
    let (found, values, [firsts, inverse, counts]) = unique(&line, 0, true);
    assert_eq!((found, &values.to_f32()[..3], values.to_f32()[3].is_nan()), (4, &[-0.0, 1.0, 2.0][..], true));
    assert!(values.to_f32()[0].is_sign_negative());
    assert_eq!((firsts, inverse, counts), (vec![2, 6, 0, 1], vec![2, 3, 0, 2, 0, 3, 1], vec![2, 1, 2, 2]));
    let (_, values, [firsts, inverse, counts]) = unique(&line, 0, false);
    assert_eq!((values.to_f32()[0], values.to_f32()[3]), (2.0, 1.0));
    assert_eq!((firsts, inverse, counts), (vec![0, 1, 2, 6], vec![0, 1, 2, 0, 2, 1, 3], vec![2, 2, 2, 1]));
    assert_eq!(unique(&Data::f32(&[0], &[]), 0, true).0, 0);
    // Slices without elements are all the same one.
    assert_eq!(unique(&Data::f32(&[3, 0], &[]), 0, true).2, [vec![0], vec![0; 3], vec![3]]);
}

#[test]
fn slices_are_compared_along_every_axis() {
    for (seed, elem) in [ElementType::I8, ElementType::F16, ElementType::U64].into_iter().enumerate() {
        for axis in 0..3 {
            let mut data = random_data(elem, &[4, 3, 5], 40 + seed as u64);
            // Few differ.
            data.bytes.chunks_mut(elem.bytes()).for_each(|element| element.fill(element[0] & 1));
            let (inner, count) = (data.dims[axis + 1..].iter().product::<i64>() as usize, data.dims[axis] as usize);
            let size = data.dims.iter().product::<i64>() as usize / count;
            let at = |slice: usize, e: usize| (e / inner * count + slice) * inner + e % inner;
            let order = |a: usize, b: usize| {
                (0..size).map(|e| compare(&data, at(a, e), at(b, e))).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
            };
            let mut wanted: Vec<usize> = (0..count).filter(|s| (0..*s).all(|t| order(*s, t).is_ne())).collect();
            for sorted in [false, true] {
                if sorted {
                    wanted.sort_by(|a, b| order(*a, *b));
                }
                let (found, values, [firsts, inverse, counts]) = unique(&data, axis, sorted);
                assert_eq!(firsts, wanted.iter().map(|w| *w as i64).collect::<Vec<_>>(), "{elem} {axis} {sorted}");
                for slice in 0..count {
                    assert!(order(slice, wanted[inverse[slice] as usize]).is_eq());
                }
                assert_eq!(counts.iter().sum::<i64>() as usize, count);
                for (rank, first) in wanted.iter().enumerate() {
                    let to = |e: usize| (e / inner * found + rank) * inner + e % inner;
                    assert!((0..size).all(|e| values.at(to(e)) == data.at(at(*first, e))));
                }
            }
        }
    }
}

#[test]
fn many_slices_are_sorted_by_many_threads() {
    let count = if few() { 20_000 } else { 50_000 };
    let mut next = random(5);
    let values: Vec<i64> = (0..count).map(|_| (next() % 777) as i64).collect();
    let (found, data, [firsts, inverse, counts]) = unique(&Data::i64(&[count], &values), 0, true);
    assert_eq!(data.to_i64(), (0..777).collect::<Vec<i64>>());
    assert!(
        (0..found)
            .all(|g| values[firsts[g] as usize] == g as i64 && !values[..firsts[g] as usize].contains(&(g as i64)))
    );
    assert_eq!(inverse, values);
    assert_eq!(counts.iter().sum::<i64>(), count);
}
