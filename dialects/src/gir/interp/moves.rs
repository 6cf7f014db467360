//! Kernels that only move elements, run at the memory's speed: weights are packed so, which may be gigabytes.
//!
//! Such a kernel is loops around slices, loads and stores. No tile is made; what a store writes is copied from where the load read.
//! Accesses are checked as ever. What is not of this form, or faults, is for the machine, which tells why.

use std::rc::Rc;

use smallvec::SmallVec;
use sutura_interp::{Fault, Scalar};

use super::code::{Code, Compiled, Inst, Slot, What};
use super::machine::{Launch, MAX_GROUPS, Val, delinearise};
use super::memory::{Actor, Memory, Slice, View};

/// Deepest nesting of loops that is run here.
const DEEPEST: usize = 16;

/// What a slot holds.
#[derive(Clone)]
enum Held {
    Nothing,
    Index(i64),
    View(Rc<View>),
    Slice(Slice),
    /// A tile, by what it was loaded from and padded with.
    Tile(Slice, Option<Scalar>),
}

/// Why a kernel is not run here, or not to its end.
pub(super) struct Elsewhere;

impl From<Fault> for Elsewhere {
    fn from(_: Fault) -> Self {
        Self
    }
}

/// Runs a launch whose kernel only moves elements from memory of its caller to memory of its caller.
///
/// # Errors
/// Where it is another kernel, or something is wrong; what it wrote until then may be written again.
pub(super) fn run(launch: &Launch<'_, '_>, memory: &mut Memory<'_>) -> Result<(), Elsewhere> {
    let code = launch.code;
    if launch.units != 1 || !only_moves(code, 0, 0) {
        return Err(Elsewhere);
    }
    let count = launch.grid.iter().try_fold(1i64, |count, extent| count.checked_mul((*extent).max(0)));
    let count = count.filter(|count| *count <= MAX_GROUPS).ok_or(Elsewhere)?;
    let mut mover = Mover { launch, memory, held: vec![Held::Nothing; code.costs.len()], group: 0 };
    let done = (0..count).try_for_each(|group| mover.group(group));
    if done.is_err() {
        memory.forget_written();
    }
    done
}

/// Whether all instructions of a block, and of the loops in it, are those of a kernel that moves elements.
fn only_moves(code: &Compiled<'_>, block: usize, depth: usize) -> bool {
    let fits = |inst: &Inst<'_>| match &inst.what {
        What::For(f) => f.inits.is_empty() && depth < DEEPEST && only_moves(code, f.body, depth + 1),
        What::Yield { args } => args.is_empty(),
        What::Constant { .. }
        | What::Index { .. }
        | What::Identity { .. }
        | What::Slice(_)
        | What::Load { .. }
        | What::Store { .. } => true,
        _ => false,
    };
    code.blocks[block].insts.iter().all(fits)
}

struct Mover<'r, 'l, 'a, 'm> {
    launch: &'r Launch<'l, 'a>,
    memory: &'r mut Memory<'m>,
    held: Vec<Held>,
    group: u32,
}

impl<'a> Mover<'_, '_, 'a, '_> {
    fn group(&mut self, group: i64) -> Result<(), Elsewhere> {
        self.group = u32::try_from(group).map_err(|_| Elsewhere)?;
        let indices = delinearise(group, &self.launch.grid);
        let given = self.launch.args.iter().map(|value| match value {
            Val::Index(index) => Held::Index(*index),
            Val::View(view) => Held::View(view.clone()),
            Val::Slice(_) | Val::Tile(_) => Held::Nothing,
        });
        let given = given.chain(indices.into_iter().map(Held::Index));
        for (slot, value) in self.launch.code.args.iter().zip(given) {
            self.held[*slot] = value;
        }
        self.block(&self.launch.code.blocks[0])
    }

    fn block(&mut self, code: &Code<'a>) -> Result<(), Elsewhere> {
        code.insts.iter().try_for_each(|inst| self.step(&inst.what))
    }

    fn step(&mut self, what: &What) -> Result<(), Elsewhere> {
        let (slot, value) = match what {
            What::For(f) => {
                for index in self.index(f.lo)?..self.index(f.hi)? {
                    self.held[f.index] = Held::Index(index);
                    self.block(&self.launch.code.blocks[f.body])?;
                }
                return Ok(());
            }
            What::Store { tile, slice, .. } => {
                let (Held::Tile(from, pad), Held::Slice(to)) = (&self.held[*tile], &self.held[*slice]) else {
                    return Err(Elsewhere);
                };
                let who = Actor { group: self.group, unit: 0, epoch: 0 };
                return if self.memory.transfer(from, to, *pad, who)? { Ok(()) } else { Err(Elsewhere) };
            }
            What::Constant { value, out } => (*out, Held::Index(*value)),
            What::Index { exprs, dims, args, out } => {
                let args = args.iter().map(|arg| self.index(*arg)).collect::<Result<SmallVec<[i64; 4]>, _>>()?;
                let (dims, symbols) = args.split_at((*dims).min(args.len()));
                let value = |expr| self.launch.cx.affine_eval(expr, dims, symbols);
                let values = exprs.iter().map(|expr| value(*expr)).collect::<Option<SmallVec<[i64; 2]>>>();
                (*out, Held::Index(values.and_then(|values| values.into_iter().min()).ok_or(Elsewhere)?))
            }
            What::Identity { view, dims, out } => (*out, Held::View(Rc::new(self.view(*view)?.reshaped(dims)?))),
            What::Slice(s) => {
                let offsets = s.offsets.iter().map(|offset| self.index(*offset));
                let offsets = offsets.collect::<Result<SmallVec<[i64; 4]>, _>>()?;
                let (row, col) = ((s.row, s.extents.rows), (s.col, s.extents.cols));
                (s.out, Held::Slice(self.view(s.view)?.slice(&offsets, row, col, &s.clips)?))
            }
            What::Load { slice, pad, out, .. } => match &self.held[*slice] {
                Held::Slice(from) => (*out, Held::Tile(from.clone(), *pad)),
                _ => return Err(Elsewhere),
            },
            _ => return Ok(()),
        };
        self.held[slot] = value;
        Ok(())
    }

    fn index(&self, slot: Slot) -> Result<i64, Elsewhere> {
        match self.held[slot] {
            Held::Index(index) => Ok(index),
            _ => Err(Elsewhere),
        }
    }

    fn view(&self, slot: Slot) -> Result<&View, Elsewhere> {
        match &self.held[slot] {
            Held::View(view) => Ok(view),
            _ => Err(Elsewhere),
        }
    }
}
