//! The three transforms of F(2x2, 3x3).

use sutura_dialects::graph::build::Scalars;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_ir::{Type, Value};

/// Results of a tile along each dim.
pub(super) const TILE: i64 = 2;

/// `G g G^T` of the weights of a window.
pub(super) fn filter(g: &[[f64; 3]; 3]) -> [[f64; 4]; 4] {
    let line = |[a, b, c]: [f64; 3]| [a, (a + b + c) / 2.0, (a - b + c) / 2.0, c];
    let lines = g.map(line);
    let mut turned = [[0f64; 4]; 4];
    for j in 0..4 {
        for (i, number) in line([lines[0][j], lines[1][j], lines[2][j]]).into_iter().enumerate() {
            turned[i][j] = number;
        }
    }
    turned
}

/// `B^T d B` of the 4x4 numbers that the windows of a tile cover, line by line.
pub(super) fn input(s: &mut Scalars<'_, '_>, d: &[Value]) -> Vec<Value> {
    let mut line = |[a, b, c, d]: [Value; 4]| [s.sub(a, c), s.add(b, c), s.sub(c, b), s.sub(b, d)];
    let lines: Vec<[Value; 4]> = d.chunks(4).map(|d| line([d[0], d[1], d[2], d[3]])).collect();
    let columns: Vec<[Value; 4]> = (0..4).map(|j| line([lines[0][j], lines[1][j], lines[2][j], lines[3][j]])).collect();
    (0..4).flat_map(|i| columns.iter().map(move |column| column[i])).collect()
}

/// The result of `A^T m A` that the parities of two iterators say.
pub(super) fn output(s: &mut Scalars<'_, '_>, m: &[Value], iterators: [usize; 2]) -> Value {
    let odd = iterators.map(|iterator| {
        let (index, two, one) = (s.index(iterator), s.int(TILE, Type::INDEX), s.int(1, Type::INDEX));
        let rest = s.op("arith.remui", &[index, two], Type::INDEX);
        s.compare(Comparison::Equal, rest, one)
    });
    // `m0 + m1 + m2`, or `m1 - m2 - m3`.
    let mut along = |odd: Value, [m0, m1, m2, m3]: [Value; 4]| {
        let even = {
            let sum = s.add(m0, m1);
            s.add(sum, m2)
        };
        let other = {
            let rest = s.sub(m1, m2);
            s.sub(rest, m3)
        };
        s.select(odd, other, even)
    };
    let lines: Vec<Value> = (0..4).map(|j| along(odd[0], [m[j], m[4 + j], m[8 + j], m[12 + j]])).collect();
    along(odd[1], [lines[0], lines[1], lines[2], lines[3]])
}
