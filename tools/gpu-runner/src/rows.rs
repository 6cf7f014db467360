//! Workloads of rows on a device: inputs there, and what the outputs should be.

use std::num::NonZero;
use std::thread;

use sutura_runtime::{DeviceTensor, ElementType, Session, Tensor};

use crate::numbers::{Tolerance, Worst, compare, decode, encode, number};
use crate::workloads::{Extra, Workload};
use crate::{Result, numbers};

/// Inputs repeat after so many elements, a prime, so that rows differ.
const PERIOD: u64 = 16_777_213;
/// Bytes that mark what was not written; of any type they are no number.
const UNWRITTEN: u8 = 0xff;
const UNWRITTEN_BYTES: u64 = 1 << 22;

/// What a workload's inputs at all sizes are made of.
pub(crate) struct Rows {
    pub(crate) workload: &'static Workload,
    pub(crate) bf16: bool,
    pub(crate) tolerance: Tolerance,
    /// The elements of each input, as the device has them: rounded.
    values: Vec<Vec<f32>>,
    on_device: Vec<DeviceTensor>,
    unwritten: DeviceTensor,
}

/// The tensors of a run.
pub(crate) struct Run {
    pub(crate) inputs: Vec<DeviceTensor>,
    pub(crate) output: DeviceTensor,
}

impl Rows {
    /// For matrices of at most so many elements.
    pub(crate) fn new(
        session: &mut Session,
        (workload, bf16): (&'static Workload, bool),
        seed: u64,
        most: u64,
    ) -> Result<Self> {
        let count = most.clamp(1, PERIOD);
        let mut values = Vec::new();
        let mut on_device = Vec::new();
        for input in 0..=workload.more.len() as u64 {
            let exact: Vec<f32> = (0..count).map(|index| number(seed ^ input << 32, index)).collect();
            let bytes = encode(&exact, bf16);
            let tensor = Tensor::from_bytes(element_type(bf16), &[count as i64], &bytes)?;
            on_device.push(session.upload(&tensor.view())?);
            let rounded = |value: f32| if bf16 { numbers::from_bf16(numbers::to_bf16(value)) } else { value };
            values.push(exact.into_iter().map(rounded).collect());
        }
        let marks = vec![UNWRITTEN; UNWRITTEN_BYTES as usize];
        let marks = Tensor::from_bytes(ElementType::U8, &[UNWRITTEN_BYTES as i64], &marks)?;
        let unwritten = session.upload(&marks.view())?;
        // Rounding to nearest is off by half a unit in the last place at most, and 8 bits count.
        let rounding = if bf16 { 1.0 / 256.0 } else { 0.0 };
        let tolerance = Tolerance { absolute: workload.absolute, relative: workload.relative + rounding };
        Ok(Self { workload, bf16, tolerance, values, on_device, unwritten })
    }

    /// Bytes of an element.
    pub(crate) fn element_bytes(&self) -> u64 {
        element_type(self.bf16).bytes() as u64
    }

    /// Bytes that a run reads and writes, each tensor once.
    pub(crate) fn bytes(&self, rows: u64, cols: u64) -> u64 {
        let more = self.workload.more.iter().map(|extra| if *extra == Extra::Row { cols } else { rows * cols });
        self.element_bytes() * (2 * rows * cols + more.sum::<u64>())
    }

    /// Inputs, and an output in which nothing is written.
    pub(crate) fn tensors(&self, session: &mut Session, rows: u64, cols: u64) -> Result<Run> {
        let (matrix, row) = (vec![rows as i64, cols as i64], vec![cols as i64]);
        let shapes = self.workload.more.iter().map(|extra| if *extra == Extra::Row { &row } else { &matrix });
        let mut inputs = Vec::new();
        for (from, dims) in self.on_device.iter().zip([&matrix].into_iter().chain(shapes)) {
            let mut tensor = session.tensor(element_type(self.bf16), dims)?;
            fill(session, from, &mut tensor)?;
            inputs.push(tensor);
        }
        let output = session.tensor(element_type(self.bf16), &matrix)?;
        let mut run = Run { inputs, output };
        self.unwrite(session, &mut run)?;
        Ok(run)
    }

    /// Marks the whole output as not written.
    pub(crate) fn unwrite(&self, session: &mut Session, run: &mut Run) -> Result<()> {
        fill(session, &self.unwritten, &mut run.output)
    }

    /// Compares some rows of the output with the reference.
    pub(crate) fn compare(&self, session: &mut Session, run: &Run, cols: u64, rows: &[u64]) -> Result<Worst> {
        /// Bytes that are downloaded and compared at a time.
        const PIECE: u64 = 1 << 28;
        let row_bytes = cols * self.element_bytes();
        let mut worst = Worst::NONE;
        for some in rows.chunks((PIECE / row_bytes.max(1)).max(1) as usize) {
            let mut bytes = vec![0; some.len() * row_bytes as usize];
            if let (Some(first), Some(last)) = (some.first(), some.last())
                && last - first + 1 == some.len() as u64
            {
                session.download_range(&run.output, first * row_bytes, &mut bytes)?;
            } else {
                for (row, part) in some.iter().zip(bytes.chunks_exact_mut(row_bytes as usize)) {
                    session.download_range(&run.output, row * row_bytes, part)?;
                }
            }
            worst = worst.and(self.compare_rows(&bytes, some, cols));
        }
        Ok(worst)
    }

    fn compare_rows(&self, bytes: &[u8], rows: &[u64], cols: u64) -> Worst {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let share = rows.len().div_ceil(threads).max(1);
        let row_bytes = (cols * self.element_bytes()) as usize;
        thread::scope(|scope| {
            let parts = rows.chunks(share).zip(bytes.chunks(share * row_bytes));
            let workers: Vec<_> =
                parts.map(|(rows, bytes)| scope.spawn(move || self.compare_part(bytes, rows, cols))).collect();
            let done = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|e| std::panic::resume_unwind(e)));
            done.fold(Worst::NONE, Worst::and)
        })
    }

    fn compare_part(&self, bytes: &[u8], rows: &[u64], cols: u64) -> Worst {
        let mut inputs: Vec<Vec<f64>> = vec![vec![0.0; cols as usize]; self.values.len()];
        let mut expected = vec![0.0; cols as usize];
        let mut worst = Worst::NONE;
        for (row, found) in rows.iter().zip(bytes.chunks_exact(cols as usize * self.element_bytes() as usize)) {
            for (input, (to, values)) in inputs.iter_mut().zip(&self.values).enumerate() {
                let is_row = input > 0 && self.workload.more[input - 1] == Extra::Row;
                let first = if is_row { 0 } else { row * cols };
                for (at, to) in (first..).zip(to.iter_mut()) {
                    *to = f64::from(values[(at % values.len() as u64) as usize]);
                }
            }
            let inputs: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
            (self.workload.reference)(&inputs, &mut expected);
            worst = worst.and(compare(&decode(found, self.bf16), &expected, (row * cols) as usize, self.tolerance));
        }
        worst
    }
}

fn element_type(bf16: bool) -> ElementType {
    if bf16 { ElementType::BF16 } else { ElementType::F32 }
}

/// Fills a tensor with the elements of another one, again and again.
fn fill(session: &mut Session, from: &DeviceTensor, to: &mut DeviceTensor) -> Result<()> {
    let mut done = 0;
    while done < to.bytes() {
        let bytes = from.bytes().min(to.bytes() - done);
        session.copy_range((from, 0), (to, done), bytes)?;
        done += bytes;
    }
    Ok(())
}
