//! `fft`: the discrete Fourier transform, of any length in `n log n`.
//!
//! A length that is a product of small primes is transformed stage by stage, one for each factor, between two arrays, so that the
//! result is in order (Stockham). Another one is a convolution with a chirp (Bluestein), made by transforms of a power of two.
//! Roots of unity come from their own series, not from the system's library, so that results are the same bits everywhere.

use super::call::{Call, Lines};
use super::floats;
use super::parallel::share;
use super::table::PARTS;

/// A complex number: real and imaginary part.
type Complex = [f64; 2];

/// Primes that have a stage.
const PRIMES: [usize; 6] = [2, 3, 5, 7, 11, 13];

fn add(a: Complex, b: Complex) -> Complex {
    [a[0] + b[0], a[1] + b[1]]
}

fn sub(a: Complex, b: Complex) -> Complex {
    [a[0] - b[0], a[1] - b[1]]
}

fn mul(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

fn conjugate(a: Complex) -> Complex {
    [a[0], -a[1]]
}

/// `exp(-2 pi i index / size)` for an index below the size.
fn root(index: usize, size: usize) -> Complex {
    // Eighths of the circle are mirrored into the first one: there both series are short.
    let (eighth, rest) = ((8 * index as u128 / size as u128) as u32, 8 * index as u128 % size as u128);
    let odd = eighth % 2 == 1;
    let part = if odd { size as u128 - rest } else { rest };
    let angle = std::f64::consts::FRAC_PI_4 * (part as f64 / size as f64);
    let (sine, cosine) = (series(angle, 1), series(angle, 0));
    let (cosine, sine) = match eighth {
        0 => (cosine, sine),
        1 => (sine, cosine),
        2 => (-sine, cosine),
        3 => (-cosine, sine),
        4 => (-cosine, -sine),
        5 => (-sine, -cosine),
        6 => (sine, -cosine),
        _ => (cosine, -sine),
    };
    [cosine, -sine]
}

/// Taylor's series of the sine (`first` 1) or the cosine (0), for an angle of at most an eighth of the circle: what is left out
/// is below a roundoff of the result.
fn series(angle: f64, first: u32) -> f64 {
    let square = angle * angle;
    let mut sum = 1.0;
    for term in (1..=9).rev() {
        let (a, b) = (f64::from(2 * term + first - 1), f64::from(2 * term + first));
        sum = 1.0 - square / (a * b) * sum;
    }
    if first == 1 { angle * sum } else { sum }
}

/// How a length is transformed.
struct Plan<'s> {
    size: usize,
    /// Length of the arrays that it is done in: the size, or a power of two.
    length: usize,
    /// Roots of unity of that length.
    roots: &'s [Complex],
    /// The chirp, and the transform of the sequence that it is convolved with; nothing where there are stages for the size.
    chirp: &'s [Complex],
    filter: &'s [Complex],
}

/// The length of the arrays for a size.
fn length_of(size: usize) -> Result<usize, String> {
    let mut rest = size;
    for prime in PRIMES {
        while rest.is_multiple_of(prime) {
            rest /= prime;
        }
    }
    if rest == 1 {
        return Ok(size);
    }
    let long = size.checked_mul(2).and_then(|double| (double - 1).checked_next_power_of_two());
    long.ok_or_else(|| format!("has lines of {size} elements, too many"))
}

pub(super) fn run(call: &Call<'_>) -> Result<(), String> {
    let input = &call.inputs[0];
    let Some((&parts_of_number, dims)) = input.dims.split_last() else { return Err("takes no scalars".to_owned()) };
    if call.axis() >= dims.len() || !(1..=2).contains(&parts_of_number) {
        return Err("takes numbers of one part or two along the last dimension, which is not the axis".to_owned());
    }
    if !floats::known(input.elem) {
        return Err(format!("takes no elements of type {}", input.elem.name()));
    }
    let (size, bins) = (call.number("size"), call.number("bins"));
    // Nothing sums to zero.
    if bins > size.max(1) {
        return Err(format!("makes {bins} elements of a transform of {size}"));
    }
    let lines = Lines::of(dims, call.axis());
    let out = Lines::of(&call.outputs[0].dims[..dims.len()], call.axis());
    let length = if size == 0 { 0 } else { length_of(size)? };
    let chirped = length != size;
    let (chirp, filter) = if chirped { (size, length) } else { (0, 0) };
    let shared = length + chirp + filter;
    let parts = out.count.min(PARTS);
    // SAFETY: three pieces behind each other, and behind them each part has its own; the last look is for the length alone.
    let (roots, chirp, filter) = unsafe {
        let pieces = (call.scratch(0, length)?, call.scratch(length, chirp)?, call.scratch(length + chirp, filter)?);
        call.scratch::<Complex>(shared, parts * 2 * length)?;
        pieces
    };
    call.threads.on(pieces(roots), |(start, piece)| {
        piece.iter_mut().enumerate().for_each(|(i, place)| *place = root(start + i, length));
    });
    if chirped {
        // SAFETY: the first part works only when this is done.
        let (from, other) = unsafe { call.scratch(shared, 2 * length)? }.split_at_mut(length);
        make_chirp(size, roots, chirp, (from, other));
        filter.copy_from_slice(from);
    }
    let plan = Plan { size, length, roots, chirp, filter };
    call.threads.each(parts, &|part| {
        // SAFETY: each part has its own.
        let Ok(work) = (unsafe { call.scratch(shared + part * 2 * length, 2 * length) }) else { return };
        let (work, other) = work.split_at_mut(length);
        for line in share(out.count, parts, part) {
            plan.line(call, (lines, out), line, bins, (&mut *work, &mut *other));
        }
    });
    Ok(())
}

/// Cuts numbers into pieces, each with the number of its first one.
fn pieces(mut all: &mut [Complex]) -> impl Iterator<Item = (usize, &mut [Complex])> {
    let total = all.len();
    (0..PARTS).map(move |piece| {
        let range = share(total, PARTS, piece);
        let (first, rest) = std::mem::take(&mut all).split_at_mut(range.len());
        all = rest;
        (range.start, first)
    })
}

/// The chirp `exp(-pi i j j / size)`, and in the first array the transform of its conjugate, which runs both ways from 0.
fn make_chirp(size: usize, roots: &[Complex], chirp: &mut [Complex], (from, other): (&mut [Complex], &mut [Complex])) {
    for (j, place) in chirp.iter_mut().enumerate() {
        // Of the square only what it leaves over full circles counts.
        let square = (j as u128 * j as u128 % (2 * size as u128)) as usize;
        *place = root(square, 2 * size);
    }
    from.fill([0.0; 2]);
    for (j, value) in chirp.iter().enumerate() {
        from[j] = conjugate(*value);
        if j > 0 {
            from[roots.len() - j] = conjugate(*value);
        }
    }
    transform(roots, from, other);
}

impl Plan<'_> {
    /// Transforms a line of the input into one of the result.
    fn line(
        &self,
        call: &Call<'_>,
        (lines, out): (Lines, Lines),
        line: usize,
        bins: usize,
        (work, other): (&mut [Complex], &mut [Complex]),
    ) {
        let (input, inverse, real) = (&call.inputs[0], call.number("inverse") == 1, call.number("real") == 1);
        let width = input.dims.last().map_or(1, |width| *width as usize);
        let read = |index: usize| {
            let at = lines.at(line, index) * width;
            let imaginary = if width == 2 { floats::read(input.elem, input.bytes, at + 1) } else { 0.0 };
            [floats::read(input.elem, input.bytes, at), if inverse { -imaginary } else { imaginary }]
        };
        work.fill([0.0; 2]);
        let given = if real { self.size / 2 + 1 } else { self.size };
        for (index, place) in work[..given.min(lines.size).min(self.size)].iter_mut().enumerate() {
            *place = read(index);
        }
        if real {
            (given..self.size).for_each(|index| work[index] = conjugate(work[self.size - index]));
        }
        if self.length == self.size {
            transform(self.roots, work, other);
        } else {
            self.convolve(work, other);
        }
        for bin in 0..bins {
            let mut value = work.get(bin).copied().unwrap_or_default();
            if inverse {
                let size = self.size.max(1) as f64;
                value = [value[0] / size, -value[1] / size];
            }
            let (output, made) = (&call.outputs[0], if real { 1 } else { 2 });
            for (i, part) in value[..made].iter().enumerate() {
                let (bytes, count) = floats::bytes(output.elem, *part);
                // SAFETY: each element of a line is written once, and each line by one thread.
                unsafe { output.write(made * out.at(line, bin) + i, &bytes[..count]) };
            }
        }
    }

    /// A transform of the first `size` numbers by a convolution with the chirp.
    fn convolve(&self, work: &mut [Complex], other: &mut [Complex]) {
        for (value, chirp) in work.iter_mut().zip(self.chirp) {
            *value = mul(*value, *chirp);
        }
        transform(self.roots, work, other);
        // The way back is the way there between conjugates.
        for (value, filter) in work.iter_mut().zip(self.filter) {
            *value = conjugate(mul(*value, *filter));
        }
        transform(self.roots, work, other);
        let length = self.length as f64;
        for (value, chirp) in work.iter_mut().zip(self.chirp) {
            let [re, im] = conjugate(*value);
            *value = mul([re / length, im / length], *chirp);
        }
    }
}

/// Transforms numbers whose count is a product of the primes, in place, with as many others to work in. `roots` are those of
/// the count.
fn transform(roots: &[Complex], numbers: &mut [Complex], other: &mut [Complex]) {
    let (mut from, mut to) = (numbers, other);
    // What is left to transform, and how many such transforms lie interleaved.
    let (mut rest, mut stride, mut stages) = (from.len(), 1, 0);
    while rest > 1 {
        let prime = PRIMES.into_iter().find(|prime| rest.is_multiple_of(*prime)).unwrap_or(rest);
        let radix = if rest.is_multiple_of(4) { 4 } else { prime };
        rest /= radix;
        let left = (rest, stride);
        match radix {
            2 => stage::<2>(roots, from, to, left),
            3 => stage::<3>(roots, from, to, left),
            4 => stage::<4>(roots, from, to, left),
            5 => stage::<5>(roots, from, to, left),
            7 => stage::<7>(roots, from, to, left),
            11 => stage::<11>(roots, from, to, left),
            // The last of the primes: a length has no others.
            _ => stage::<13>(roots, from, to, left),
        }
        stride *= radix;
        stages += 1;
        std::mem::swap(&mut from, &mut to);
    }
    if stages % 2 == 1 {
        to.copy_from_slice(from);
    }
}

/// Splits each of `stride` interleaved transforms of `R * rest` numbers into `R` of `rest`.
fn stage<const R: usize>(roots: &[Complex], from: &[Complex], to: &mut [Complex], (rest, stride): (usize, usize)) {
    for q in 0..rest {
        let turns: [Complex; R] = std::array::from_fn(|t| roots[stride * q * t]);
        for k in 0..stride {
            let a: [Complex; R] = std::array::from_fn(|r| from[(q + rest * r) * stride + k]);
            let b = butterfly(roots, a);
            for (t, (value, turn)) in b.into_iter().zip(turns).enumerate() {
                to[(R * q + t) * stride + k] = if t == 0 { value } else { mul(value, turn) };
            }
        }
    }
}

/// The transform of `R` numbers.
fn butterfly<const R: usize>(roots: &[Complex], a: [Complex; R]) -> [Complex; R] {
    let mut b = a;
    match R {
        2 => (b[0], b[1]) = (add(a[0], a[1]), sub(a[0], a[1])),
        4 => {
            let (even, odd) = (add(a[0], a[2]), add(a[1], a[3]));
            let (low, [re, im]) = (sub(a[0], a[2]), sub(a[1], a[3]));
            let turned = [im, -re];
            (b[0], b[1], b[2], b[3]) = (add(even, odd), add(low, turned), sub(even, odd), sub(low, turned));
        }
        _ => {
            let step = roots.len() / R;
            for (t, sum) in b.iter_mut().enumerate() {
                *sum = a[0];
                for (r, value) in a.iter().enumerate().skip(1) {
                    *sum = add(*sum, mul(*value, roots[step * (r * t % R)]));
                }
            }
        }
    }
    b
}
