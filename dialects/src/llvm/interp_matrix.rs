//! What instructions for matrices do when a program runs: the registers of AMX.

use sutura_interp::{DType, Fault, FaultKind, Flow, Frame, InterpError, Scalar, Value};

use super::interp::next;
use super::interp_dots::normal;

/// Most rows of a register, and most words of a row.
const ROWS: usize = 16;
const WORDS: usize = 16;

/// The words of a register; `None` where nothing is known.
#[derive(Clone, Debug)]
struct Register([[Option<u32>; WORDS]; ROWS]);

/// How an instruction multiplies.
#[derive(Clone, Copy)]
enum Kind {
    /// Bytes, and whether those of each factor have no sign; sums wrap.
    Bytes([bool; 2]),
    /// `bf16`: even places are summed up in `f32`, and odd ones; then both are added, and that to the accumulator. Numbers below the
    /// normal ones are zero.
    Floats,
}

const PRODUCTS: &[(&str, Kind)] = &[
    ("tdpbssd", Kind::Bytes([false, false])),
    ("tdpbsud", Kind::Bytes([false, true])),
    ("tdpbusd", Kind::Bytes([true, false])),
    ("tdpbuud", Kind::Bytes([true, true])),
    ("tdpbf16ps", Kind::Floats),
];

/// What the intrinsic `name` does with the operands with these numbers; `None` where it is none for matrices.
pub(super) fn matrix(name: &str, operands: &[usize], frame: &mut Frame<'_>) -> Option<Result<Flow, InterpError>> {
    let name = name.strip_prefix("llvm.x86.")?.strip_suffix(".internal")?;
    match name {
        "tilezero" => Some(zero(operands, frame)),
        "tileloadd64" => Some(load(operands, frame)),
        "tilestored64" => Some(store(operands, frame)),
        _ => PRODUCTS.iter().find(|(own, _)| *own == name).map(|(_, kind)| multiply(*kind, operands, frame)),
    }
}

fn invalid(message: &str) -> InterpError {
    Fault::invalid_ir(message).into()
}

/// The size of a register: so many of `unit`, at most so many.
fn size(frame: &Frame<'_>, operand: usize, (unit, most): (usize, usize)) -> Result<usize, InterpError> {
    let given = usize::try_from(frame.int(operand)?).ok();
    let size = given.filter(|size| size % unit == 0 && (1..=most).contains(&(size / unit)));
    size.map(|size| size / unit).ok_or_else(|| {
        let message = format!("a register has up to {most} times {unit} bytes or rows there, not {given:?}");
        Fault::new(FaultKind::Poison, message).into()
    })
}

fn rows_and_words(frame: &Frame<'_>, operands: &[usize]) -> Result<(usize, usize), InterpError> {
    Ok((size(frame, operands[0], (1, ROWS))?, size(frame, operands[1], (4, WORDS))?))
}

fn zero(operands: &[usize], frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    if operands.len() != 2 {
        return Err(invalid("takes a number of rows and of bytes"));
    }
    rows_and_words(frame, operands)?;
    next(frame, Value::opaque(Register([[Some(0); WORDS]; ROWS])))
}

/// Address of a row.
fn row_at(frame: &Frame<'_>, operands: &[usize], row: usize) -> Result<i64, Fault> {
    let (base, pitch) = (frame.int(operands[2])?, frame.int(operands[3])?);
    Ok(base.wrapping_add(pitch.wrapping_mul(row as i64)))
}

fn load(operands: &[usize], frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    if operands.len() != 4 {
        return Err(invalid("takes a number of rows and of bytes, an address, and the bytes from a row to the next"));
    }
    let (rows, words) = rows_and_words(frame, operands)?;
    let mut register = Register([[Some(0); WORDS]; ROWS]);
    for (row, line) in register.0.iter_mut().enumerate().take(rows) {
        let address = row_at(frame, operands, row)?;
        let memref = frame.memory().at_address(address, DType::I32, words)?;
        let read = frame.memory().read(&memref)?;
        for (at, word) in line.iter_mut().enumerate().take(words) {
            *word = read.data().get(at).map(|scalar| scalar.bits() as u32);
        }
    }
    next(frame, Value::opaque(register))
}

fn store(operands: &[usize], frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    if operands.len() != 5 {
        return Err(invalid(
            "takes a number of rows and of bytes, an address, the bytes from a row to the next, and a register",
        ));
    }
    let (rows, words) = rows_and_words(frame, operands)?;
    let register = frame.operand(operands[4])?.as_opaque::<Register>()?.clone();
    for (row, line) in register.0.iter().enumerate().take(rows) {
        let address = row_at(frame, operands, row)?;
        for (at, word) in line.iter().enumerate().take(words) {
            let memref = frame.memory().at_address(address.wrapping_add(4 * at as i64), DType::I32, 1)?;
            let word = word.map(|word| Scalar::from_bits(DType::I32, word.into()));
            frame.memory().store(&memref, &[0], word)?;
        }
    }
    Ok(Flow::Next)
}

fn multiply(kind: Kind, operands: &[usize], frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    if operands.len() != 6 {
        return Err(invalid("takes three sizes, sums and two factors"));
    }
    let (rows, columns) = rows_and_words(frame, operands)?;
    let depth = size(frame, operands[2], (4, WORDS))?;
    let register = |at: usize| Ok::<_, Fault>(frame.operand(operands[at])?.as_opaque::<Register>()?.clone());
    let (sums, a, b) = (register(3)?, register(4)?, register(5)?);
    // Beyond its form a register is zero.
    let mut made = Register([[Some(0); WORDS]; ROWS]);
    for row in 0..rows {
        for column in 0..columns {
            let pairs: Option<Vec<(u32, u32)>> = (0..depth).map(|k| Some((a.0[row][k]?, b.0[k][column]?))).collect();
            made.0[row][column] = sums.0[row][column].zip(pairs).map(|(sum, pairs)| added(kind, sum, &pairs));
        }
    }
    next(frame, Value::opaque(made))
}

/// A sum and the products of all places of some words.
fn added(kind: Kind, sum: u32, words: &[(u32, u32)]) -> u32 {
    match kind {
        Kind::Bytes(unsigned) => {
            let number = |byte: u8, unsigned: bool| if unsigned { i32::from(byte) } else { i32::from(byte as i8) };
            let product = |(a, b): (&u8, &u8)| number(*a, unsigned[0]).wrapping_mul(number(*b, unsigned[1]));
            let of_word = |(a, b): &(u32, u32)| {
                let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
                a.iter().zip(&b).map(product).fold(0, i32::wrapping_add)
            };
            words.iter().map(of_word).fold(sum as i32, i32::wrapping_add) as u32
        }
        Kind::Floats => {
            let number = |bits: u32| normal(f32::from_bits(bits << 16));
            let places = |shift: u32| {
                words.iter().fold(0.0f32, |sum, (a, b)| normal(number(a >> shift).mul_add(number(b >> shift), sum)))
            };
            let both = normal(places(0) + places(16));
            normal(normal(f32::from_bits(sum)) + both).to_bits()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, added};

    #[test]
    fn bytes_have_signs_or_not() {
        let words = [(0xff01_02ffu32, 0x0203_04ffu32)];
        // -1*-1 + 2*4 + 1*3 + -1*2, and so on.
        assert_eq!(added(Kind::Bytes([false, false]), 5, &words) as i32, 5 + 1 + 8 + 3 - 2);
        assert_eq!(added(Kind::Bytes([true, false]), 5, &words) as i32, 5 - 255 + 8 + 3 + 510);
        assert_eq!(added(Kind::Bytes([false, true]), 5, &words) as i32, 5 - 255 + 8 + 3 - 2);
        assert_eq!(added(Kind::Bytes([true, true]), 5, &words) as i32, 5 + 65025 + 8 + 3 + 510);
        assert_eq!(added(Kind::Bytes([true, true]), i32::MAX as u32, &[(1, 1)]) as i32, i32::MIN, "they wrap");
    }

    #[test]
    fn even_and_odd_places_are_summed_apart() {
        let bf16 = |x: f32| x.to_bits() >> 16;
        let word = |even: f32, odd: f32| bf16(even) | bf16(odd) << 16;
        let one = word(1.0, 1.0);
        // 2^24 + 1 is no f32: both odd ones are added first.
        let words = [(word(16777216.0, 1.0), one), (word(0.0, 1.0), one)];
        assert_eq!(f32::from_bits(added(Kind::Floats, 0, &words)), 16777218.0);
        let tiny = [(word(1e-38, 0.0), word(1e-3, 0.0))];
        assert_eq!(f32::from_bits(added(Kind::Floats, 1.0f32.to_bits(), &tiny)), 1.0, "below the normal numbers");
    }
}
