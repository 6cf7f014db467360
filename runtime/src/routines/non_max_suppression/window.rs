//! Selected boxes, with which others are compared, several at a time.

/// Boxes that are compared together.
const LANES: usize = 8;

/// Boxes of a window of its own, for where the memory that is given has place for fewer.
pub(super) const SMALL: usize = 8;

/// Place for boxes: for some of them the least coordinates along both dimensions, the greatest ones, and the areas.
pub(super) type Block = [[f32; LANES]; 5];

/// Boxes that share nothing with any other.
const NOWHERE: Block = [
    [f32::INFINITY; LANES],
    [f32::INFINITY; LANES],
    [f32::NEG_INFINITY; LANES],
    [f32::NEG_INFINITY; LANES],
    [0.0; LANES],
];

/// A box: the least coordinates along both dimensions, the greatest ones, and the area.
#[derive(Clone, Copy)]
pub(super) struct Extent([f32; 5]);

impl Extent {
    /// Of four numbers: two corners, or with `centers` a center and sizes. Nothing if the area is not greater than 0: such a box
    /// overlaps no other.
    pub(super) fn of([a, b, c, d]: [f32; 4], centers: bool) -> Option<Self> {
        let corners = |a: f32, c: f32| match centers {
            true => (a - c / 2.0, a + c / 2.0),
            false => (lesser(a, c), greater(c, a)),
        };
        let ((left, right), (bottom, top)) = (corners(a, c), corners(b, d));
        let area = (right - left) * (top - bottom);
        (area > 0.0).then_some(Self([left, bottom, right, top, area]))
    }

    /// Whether the intersection over union of two boxes is greater than a threshold. As both areas are greater than 0, no coordinate
    /// is NaN, and where there is an intersection the union is greater than 0, or NaN. There is no branch, so that many boxes are
    /// compared at once.
    pub(super) fn overlaps(&self, Self(b): &Self, threshold: f32) -> bool {
        let Self(a) = self;
        let width = lesser(a[2], b[2]) - greater(a[0], b[0]);
        let height = lesser(a[3], b[3]) - greater(a[1], b[1]);
        let intersection = greater(width, 0.0) * greater(height, 0.0);
        (intersection > 0.0) & (intersection / (a[4] + b[4] - intersection) > threshold)
    }
}

/// Blocks of boxes, of which those in front are filled.
pub(super) struct Window<'a> {
    blocks: &'a mut [Block],
    count: usize,
    /// The greatest intersection over union that two selected boxes may have.
    threshold: f32,
}

impl<'a> Window<'a> {
    pub(super) fn new(blocks: &'a mut [Block], threshold: f32) -> Self {
        Self { blocks, count: 0, threshold }
    }

    /// Adds a box. Returns whether there is no place for another one.
    pub(super) fn add(&mut self, Extent(own): Extent) -> bool {
        let (block, lane) = (&mut self.blocks[self.count / LANES], self.count % LANES);
        if lane == 0 {
            *block = NOWHERE;
        }
        block.iter_mut().zip(own).for_each(|(row, number)| row[lane] = number);
        self.count += 1;
        self.count == self.blocks.len() * LANES
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Whether a box overlaps one of the window by more than the threshold.
    pub(super) fn covers(&self, own: &Extent) -> bool {
        self.blocks[..self.count.div_ceil(LANES)].iter().any(|block| overlaps(block, own, self.threshold))
    }
}

/// Whether a box overlaps one of a block.
fn overlaps([left, bottom, right, top, area]: &Block, own: &Extent, threshold: f32) -> bool {
    let other = |lane: usize| Extent([left[lane], bottom[lane], right[lane], top[lane], area[lane]]);
    (0..LANES).fold(false, |any, lane| any | other(lane).overlaps(own, threshold))
}

/// The lesser of two numbers; of NaN and a number the second one. Unlike `f32::min` it is one instruction.
fn lesser(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// As [`lesser`].
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
