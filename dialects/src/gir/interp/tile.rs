//! Tiles: elements with a window, and what operations on them compute.

use sutura_interp::num::Kernel;
use sutura_interp::{DType, Fault, FaultKind, NumOp, Scalar};

use crate::gir::constraints::Axis;

/// Elements of a tile or of memory: flat, and `f32` as such because nearly everything is.
#[derive(Clone, Debug)]
pub(super) enum Lanes {
    F32(Vec<f32>),
    /// Bits of [`Scalar`]s.
    Bits(Vec<u64>),
}

impl Lanes {
    pub(super) fn zeros(dtype: DType, len: usize) -> Self {
        if dtype == DType::F32 { Self::F32(vec![0.0; len]) } else { Self::Bits(vec![0; len]) }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::Bits(v) => v.len(),
        }
    }

    pub(super) fn bits(&self, i: usize) -> u64 {
        match self {
            Self::F32(v) => v[i].to_bits().into(),
            Self::Bits(v) => v[i],
        }
    }

    pub(super) fn set_bits(&mut self, i: usize, bits: u64) {
        match self {
            Self::F32(v) => v[i] = f32::from_bits(bits as u32),
            Self::Bits(v) => v[i] = bits,
        }
    }

    /// Copies `len` elements from `from`, `stride` apart from `start`, to position `at`; all must exist.
    pub(super) fn gather(&mut self, at: usize, from: &Self, start: usize, stride: i64, len: usize) {
        let place = |k: usize| (start as i64 + k as i64 * stride) as usize;
        match (self, from) {
            (Self::F32(to), Self::F32(from)) if stride == 1 => {
                to[at..at + len].copy_from_slice(&from[start..start + len])
            }
            (Self::F32(to), Self::F32(from)) => (0..len).for_each(|k| to[at + k] = from[place(k)]),
            (to, from) => (0..len).for_each(|k| to.set_bits(at + k, from.bits(place(k)))),
        }
    }

    /// Copies `len` elements from position `at` of `from` to places `stride` apart from `start`; all must exist.
    pub(super) fn scatter(&mut self, start: usize, stride: i64, from: &Self, at: usize, len: usize) {
        let place = |k: usize| (start as i64 + k as i64 * stride) as usize;
        match (self, from) {
            (Self::F32(to), Self::F32(from)) if stride == 1 => {
                to[start..start + len].copy_from_slice(&from[at..at + len])
            }
            (Self::F32(to), Self::F32(from)) => (0..len).for_each(|k| to[place(k)] = from[at + k]),
            (to, from) => (0..len).for_each(|k| to.set_bits(place(k), from.bits(at + k))),
        }
    }
}

/// `[lo, hi)`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) lo: usize,
    pub(super) hi: usize,
}

impl Span {
    pub(super) fn full(extent: usize) -> Self {
        Self { lo: 0, hi: extent }
    }

    pub(super) fn len(self) -> usize {
        self.hi.saturating_sub(self.lo)
    }

    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.lo..self.hi.max(self.lo)
    }

    fn and(self, other: Self) -> Self {
        let lo = self.lo.max(other.lo);
        Self { lo, hi: self.hi.min(other.hi).max(lo) }
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}, {})", self.lo, self.hi)
    }
}

/// Rows and columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    pub(super) rows: Span,
    pub(super) cols: Span,
}

impl Rect {
    pub(super) fn full(rows: usize, cols: usize) -> Self {
        Self { rows: Span::full(rows), cols: Span::full(cols) }
    }

    pub(super) fn area(self) -> usize {
        self.rows.len() * self.cols.len()
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { rows: self.rows.and(other.rows), cols: self.cols.and(other.cols) }
    }

    pub(super) fn covers(self, other: Self) -> bool {
        self.and(other).area() == other.area()
    }

    fn turned(self) -> Self {
        Self { rows: self.cols, cols: self.rows }
    }
}

impl PartialEq for Rect {
    /// Two empty windows are the same window.
    fn eq(&self, other: &Self) -> bool {
        (self.area() == 0 && other.area() == 0) || (self.rows == other.rows && self.cols == other.cols)
    }
}

impl std::fmt::Display for Rect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {}", self.rows, self.cols)
    }
}

/// Where a tile has elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) rect: Rect,
    /// The tile follows from no memory (`fill`, `iota`): it has elements wherever another operand has.
    pub(super) everywhere: bool,
}

impl Window {
    pub(super) fn of(rect: Rect) -> Self {
        Self { rect, everywhere: false }
    }

    pub(super) fn everywhere(rows: usize, cols: usize) -> Self {
        Self { rect: Rect::full(rows, cols), everywhere: true }
    }

    /// The common window of operands that must agree.
    fn common(windows: impl IntoIterator<Item = Self>) -> Result<Self, Fault> {
        let mut common: Option<Self> = None;
        for window in windows {
            match common {
                None => common = Some(window),
                Some(c) if c.everywhere => common = Some(window),
                Some(_) if window.everywhere => {}
                Some(c) if c.rect == window.rect => {}
                Some(c) => return Err(differ(&c.rect, &window.rect)),
            }
        }
        Ok(common.expect("every operation has an operand"))
    }
}

fn differ(a: &dyn std::fmt::Display, b: &dyn std::fmt::Display) -> Fault {
    Fault::shape(format!("takes operands whose windows are {a} and {b}: they must be equal"))
}

/// A tile: a value.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub(super) dtype: DType,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) window: Window,
    /// Elements of the window that have a value; the others came from a broadcast of what does not exist.
    pub(super) defined: Rect,
    /// Row by row, all extents; what lies outside `defined` means nothing.
    pub(super) lanes: Lanes,
}

/// Largest tile, in elements.
const MAX_ELEMENTS: usize = 1 << 30;

impl Tile {
    /// A tile of zeros with this window.
    pub(super) fn new(dtype: DType, rows: usize, cols: usize, window: Window) -> Result<Self, Fault> {
        let len = rows.checked_mul(cols).filter(|n| *n <= MAX_ELEMENTS);
        let len = len.ok_or_else(|| Fault::new(FaultKind::Limit, format!("a tile of {rows} x {cols} is too large")))?;
        Ok(Self { dtype, rows, cols, window, defined: window.rect, lanes: Lanes::zeros(dtype, len) })
    }

    pub(super) fn fill(value: Scalar, rows: usize, cols: usize) -> Result<Self, Fault> {
        let mut tile = Self::new(value.dtype(), rows, cols, Window::everywhere(rows, cols))?;
        match &mut tile.lanes {
            Lanes::F32(v) => v.fill(f32::from_bits(value.bits() as u32)),
            Lanes::Bits(v) => v.fill(value.bits()),
        }
        Ok(tile)
    }

    pub(super) fn iota(dtype: DType, axis: Axis, base: i64, rows: usize, cols: usize) -> Result<Self, Fault> {
        let mut tile = Self::new(dtype, rows, cols, Window::everywhere(rows, cols))?;
        for r in 0..rows {
            for c in 0..cols {
                let along = if axis == Axis::Rows { r } else { c };
                let value = Scalar::int(base.wrapping_add(along as i64), dtype);
                tile.lanes.set_bits(r * cols + c, value.bits());
            }
        }
        Ok(tile)
    }

    /// The tile with `value` where it has no element; its window is all of it.
    pub(super) fn padded(&self, value: Scalar) -> Result<Self, Fault> {
        let window = Window::of(Rect::full(self.rows, self.cols));
        let mut out = Self { window, defined: window.rect, ..Self::fill(value, self.rows, self.cols)? };
        let rect = self.window.rect;
        for r in rect.rows.range() {
            let at = r * self.cols + rect.cols.lo;
            out.lanes.gather(at, &self.lanes, at, 1, rect.cols.len());
        }
        Ok(out)
    }

    /// Fails unless every element of the window has a value.
    pub(super) fn need_defined(&self, what: &str) -> Result<(), Fault> {
        if self.defined.covers(self.window.rect) {
            return Ok(());
        }
        let message = format!(
            "{what} elements of the window {} of which only {} exist: they were broadcast from beyond a view's end",
            self.window.rect, self.defined
        );
        Err(Fault::new(FaultKind::Uninitialised, message))
    }

    /// Applies a function of elements at the same place.
    pub(super) fn map(kernel: &Kernel, args: &[&Self]) -> Result<Self, Fault> {
        let first = args[0];
        let window = Window::common(args.iter().map(|t| t.window))?;
        let mut out = Self::new(kernel.result(), first.rows, first.cols, window)?;
        out.defined = args.iter().fold(window.rect, |d, t| d.and(t.defined));
        let (defined, cols) = (out.defined, first.cols);
        if defined.cols.len() == cols && defined.rows.len() > 0 {
            let (start, len) = (defined.rows.lo * cols, defined.area());
            map_run(kernel, args, &mut out.lanes, start, len)?;
            return Ok(out);
        }
        for r in defined.rows.range() {
            map_run(kernel, args, &mut out.lanes, r * cols + defined.cols.lo, defined.cols.len())?;
        }
        Ok(out)
    }

    /// Repeats rows or columns of extent 1 over the extents and the window of `like`.
    pub(super) fn broadcast(&self, like: &Self) -> Result<Self, Fault> {
        let mut out = Self::new(self.dtype, like.rows, like.cols, like.window)?;
        let spread = |extent: usize, to: usize, span: Span| match (extent == to, span.len()) {
            (true, _) => span,
            (false, 0) => Span { lo: 0, hi: 0 },
            (false, _) => Span::full(to),
        };
        let rows = spread(self.rows, like.rows, self.defined.rows);
        let cols = spread(self.cols, like.cols, self.defined.cols);
        out.defined = like.window.rect.and(Rect { rows, cols });
        let (row_step, col_step) = (usize::from(self.rows == like.rows), i64::from(self.cols == like.cols));
        for r in out.defined.rows.range() {
            let start = r * row_step * self.cols + out.defined.cols.lo * col_step as usize;
            let at = r * like.cols + out.defined.cols.lo;
            out.lanes.gather(at, &self.lanes, start, col_step, out.defined.cols.len());
        }
        Ok(out)
    }

    pub(super) fn transpose(&self) -> Result<Self, Fault> {
        let window = Window { rect: self.window.rect.turned(), everywhere: self.window.everywhere };
        let mut out = Self::new(self.dtype, self.cols, self.rows, window)?;
        out.defined = self.defined.turned();
        for r in 0..self.rows {
            out.lanes.scatter(r, self.rows as i64, &self.lanes, r * self.cols, self.cols);
        }
        Ok(out)
    }

    /// The right factor `[K, N]` of which each row here has `group` places of every column side by side.
    pub(super) fn apart(&self, group: usize) -> Result<Self, Fault> {
        if self.window.rect != Rect::full(self.rows, self.cols) && !self.window.everywhere
            || !self.cols.is_multiple_of(group)
        {
            return Err(Fault::invalid_ir("places that lie side by side must all exist"));
        }
        self.need_defined("multiplies")?;
        let (rows, cols) = (self.rows * group, self.cols / group);
        let window = Window { rect: Rect::full(rows, cols), everywhere: self.window.everywhere };
        let mut out = Self::new(self.dtype, rows, cols, window)?;
        for row in 0..rows {
            let from = row / group * self.cols + row % group;
            out.lanes.gather(row * cols, &self.lanes, from, group as i64, cols);
        }
        Ok(out)
    }

    /// `acc + self . rhs`, each product added with one rounding, in the order of k.
    pub(super) fn contract(&self, rhs: &Self, acc: &Self, unsigned: [bool; 2]) -> Result<Self, Fault> {
        let (a, b) = (self.window, rhs.window);
        let k = match (a.everywhere, b.everywhere) {
            (true, _) => b.rect.rows,
            (_, true) => a.rect.cols,
            _ if a.rect.cols == b.rect.rows => a.rect.cols,
            _ => return Err(differ(&format!("{} along k", a.rect.cols), &b.rect.rows)),
        };
        self.need_defined("multiplies")?;
        rhs.need_defined("multiplies")?;
        let rect = Rect { rows: a.rect.rows, cols: b.rect.cols };
        let product = Window { rect, everywhere: a.everywhere && b.everywhere };
        let window = Window::common([product, acc.window])?;
        let mut out = Self { window, defined: window.rect.and(acc.defined), ..acc.clone() };
        let n = acc.cols;
        match (&mut out.lanes, &self.lanes, &rhs.lanes) {
            (Lanes::F32(sum), Lanes::F32(left), Lanes::F32(right)) => {
                for i in out.defined.rows.range() {
                    let span = i * n + out.defined.cols.lo..i * n + out.defined.cols.hi;
                    for k in k.range() {
                        let x = left[i * self.cols + k];
                        let row = &right[k * n + out.defined.cols.lo..k * n + out.defined.cols.hi];
                        for (s, y) in sum[span.clone()].iter_mut().zip(row) {
                            *s = x.mul_add(*y, *s);
                        }
                    }
                }
            }
            (sum, left, right) => {
                let step = Step { operand: (self.dtype, rhs.dtype), unsigned, acc: acc.dtype };
                for i in out.defined.rows.range() {
                    for k in k.range() {
                        let x = left.bits(i * self.cols + k);
                        for j in out.defined.cols.range() {
                            let at = i * n + j;
                            sum.set_bits(at, step.add(x, right.bits(k * n + j), sum.bits(at))?);
                        }
                    }
                }
            }
        }
        Ok(out)
    }

    /// Number of products that [`Tile::contract`] adds.
    pub(super) fn products(&self, rhs: &Self) -> u64 {
        let k = if self.window.everywhere { rhs.window.rect.rows } else { self.window.rect.cols };
        (self.window.rect.rows.len() * rhs.window.rect.cols.len() * k.len()) as u64
    }
}

/// One step of a contraction on elements that are not all `f32`.
struct Step {
    operand: (DType, DType),
    /// Whether integers of each factor have no sign.
    unsigned: [bool; 2],
    acc: DType,
}

impl Step {
    fn add(&self, x: u64, y: u64, sum: u64) -> Result<u64, Fault> {
        let (x, y) = (Scalar::from_bits(self.operand.0, x), Scalar::from_bits(self.operand.1, y));
        let sum = Scalar::from_bits(self.acc, sum);
        let result = match (self.acc, x.as_f64(), y.as_f64(), sum.as_f64()) {
            // Narrow floats are `f32` numbers.
            (DType::F32, Some(x), Some(y), Some(sum)) => Scalar::f32((x as f32).mul_add(y as f32, sum as f32)),
            (DType::F64, Some(x), Some(y), Some(sum)) => Scalar::f64(x.mul_add(y, sum)),
            (acc, None, None, None) if !acc.is_float() => {
                let int = |s: Scalar| s.as_i64().unwrap_or(0);
                let low = |s: Scalar| s.as_u64().unwrap_or(0) as i64;
                let widened = |s: Scalar, unsigned: bool| if unsigned { low(s) } else { int(s) };
                let product = widened(x, self.unsigned[0]).wrapping_mul(widened(y, self.unsigned[1]));
                Scalar::int(product.wrapping_add(int(sum)), acc)
            }
            (acc, ..) => {
                let message = format!("{} times {} is not accumulated in {acc}", self.operand.0, self.operand.1);
                return Err(Fault::unsupported(message));
            }
        };
        Ok(result.bits())
    }
}

/// Applies `kernel` to `len` neighbours from `start` on.
fn map_run(kernel: &Kernel, args: &[&Tile], out: &mut Lanes, start: usize, len: usize) -> Result<(), Fault> {
    let range = start..start + len;
    if let ([Tile { lanes: Lanes::F32(a), .. }, Tile { lanes: Lanes::F32(b), .. }], Lanes::F32(out)) = (args, &mut *out)
        && let Some(f) = f32_function(kernel.op())
    {
        for ((o, a), b) in out[range.clone()].iter_mut().zip(&a[range.clone()]).zip(&b[range]) {
            *o = f(*a, *b);
        }
        return Ok(());
    }
    let lanes: Vec<Vec<u64>> = args.iter().map(|t| range.clone().map(|i| t.lanes.bits(i)).collect()).collect();
    let slices: Vec<&[u64]> = lanes.iter().map(|l| &l[..]).collect();
    let mut results = vec![0; len];
    kernel.eval_many(&slices, &mut results)?;
    range.zip(results).for_each(|(i, bits)| out.set_bits(i, bits));
    Ok(())
}

/// The plain functions of two `f32`; the others go through their bits.
fn f32_function(op: NumOp) -> Option<fn(f32, f32) -> f32> {
    Some(match op {
        NumOp::AddF => |a, b| a + b,
        NumOp::SubF => |a, b| a - b,
        NumOp::MulF => |a, b| a * b,
        NumOp::DivF => |a, b| a / b,
        _ => return None,
    })
}

/// Which way a scan runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanRun {
    pub(super) axis: Axis,
    pub(super) exclusive: bool,
    pub(super) reverse: bool,
}

/// How elements are combined.
#[derive(Clone, Debug)]
pub(super) struct Combine {
    /// On accumulators.
    pub(super) kernel: Kernel,
    /// In the accumulator's type.
    pub(super) identity: Scalar,
    /// To the accumulator's type, where it is wider than the elements'.
    pub(super) widen: Option<Kernel>,
    /// From it.
    pub(super) narrow: Option<Kernel>,
}

impl Combine {
    fn start(&self) -> u64 {
        self.identity.bits()
    }

    fn add(&self, acc: u64, element: u64) -> Result<u64, Fault> {
        let mut out = [0];
        let mut element = [element];
        if let Some(widen) = &self.widen {
            let narrow = element;
            widen.eval_many(&[&narrow], &mut element)?;
        }
        self.kernel.eval_many(&[&[acc], &element], &mut out)?;
        Ok(out[0])
    }

    fn finish(&self, acc: u64) -> Result<u64, Fault> {
        let Some(narrow) = &self.narrow else { return Ok(acc) };
        let mut out = [0];
        narrow.eval_many(&[&[acc]], &mut out)?;
        Ok(out[0])
    }

    /// Combines each row (`cols`) or each column (`rows`), in order.
    pub(super) fn reduce(&self, axis: Axis, tile: &Tile) -> Result<Tile, Fault> {
        tile.need_defined("combines")?;
        let rect = tile.window.rect;
        let (rows, cols, rect_out) = match axis {
            Axis::Rows => (1, tile.cols, Rect { rows: Span::full(1), cols: rect.cols }),
            Axis::Cols => (tile.rows, 1, Rect { rows: rect.rows, cols: Span::full(1) }),
        };
        let mut out = Tile::new(tile.dtype, rows, cols, Window { rect: rect_out, everywhere: tile.window.everywhere })?;
        let (lines, along) = if axis == Axis::Rows { (rect.cols, rect.rows) } else { (rect.rows, rect.cols) };
        let place =
            |line: usize, i: usize| if axis == Axis::Rows { i * tile.cols + line } else { line * tile.cols + i };
        for line in lines.range() {
            let value = match (&tile.lanes, f32_function(self.kernel.op())) {
                (Lanes::F32(v), Some(f)) => {
                    let start = f32::from_bits(self.start() as u32);
                    along.range().fold(start, |acc, i| f(acc, v[place(line, i)])).to_bits().into()
                }
                _ => {
                    let sum =
                        along.range().try_fold(self.start(), |acc, i| self.add(acc, tile.lanes.bits(place(line, i))));
                    self.finish(sum?)?
                }
            };
            out.lanes.set_bits(line, value);
        }
        Ok(out)
    }

    /// The running combination.
    pub(super) fn scan(&self, run: ScanRun, tile: &Tile) -> Result<Tile, Fault> {
        tile.need_defined("combines")?;
        let rect = tile.window.rect;
        let mut out = Tile::new(tile.dtype, tile.rows, tile.cols, tile.window)?;
        let down = run.axis == Axis::Rows;
        let (lines, along) = if down { (rect.cols, rect.rows) } else { (rect.rows, rect.cols) };
        for line in lines.range() {
            let mut acc = self.start();
            for step in along.range() {
                let i = if run.reverse { along.range().end - 1 - (step - along.range().start) } else { step };
                let at = if down { i * tile.cols + line } else { line * tile.cols + i };
                let next = self.add(acc, tile.lanes.bits(at))?;
                out.lanes.set_bits(at, self.finish(if run.exclusive { acc } else { next })?);
                acc = next;
            }
        }
        Ok(out)
    }
}
