//! Chains: a sum of products, what follows it element by element, and a window that moves over that, as a depthwise convolution or a
//! pool does.
//!
//! A group has a part of the window's results, and keeps near what they are made of: it never goes to main memory, and what the
//! windows of neighbouring groups share each of them makes. After AGO's fusion of two complex operators (Xu et al., OSDI 2023) and
//! Halide's `compute_at` (Ragan-Kelley et al., PLDI 2013).

use sutura_dialects::r#dyn::Facts;
use sutura_ir::Value;

use super::contract::check_product;
use super::convolution::is_convolution;
use super::cost::{element_bytes, likely_size, value_text};
use super::form::divides;
use super::{ContractPlan, Fit, Nest, misfit};

/// Bytes of what is made that a group is expected to keep near.
const NEAR: i64 = 512 << 10;

/// Columns of a group that has as many lines as fit.
const COLUMNS: i64 = 32;

/// Results of a tile of the window, at most.
const TILE: i64 = 8;

/// How a region runs as a sum of products whose results stay near for a window. Its stages are those of a form in which reads of
/// combined numbers elsewhere than they are made are kept ([`Nest::of_chain`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChainPlan {
    /// The sum of products, and what follows it.
    pub head: ContractPlan,
    /// Whether the sum of products reads through a window of its own.
    pub convolves: bool,
    /// The window over what the head makes, and what follows it. Its left factor is that.
    pub tail: ContractPlan,
}

impl ChainPlan {
    /// True for a region in which something is combined that is read elsewhere than it is made, and made of a sum of products.
    pub fn has_parts(nest: &Nest<'_>) -> bool {
        let readers = nest.stages.iter().filter(|stage| stage.reduces());
        let makers = readers.flat_map(|stage| &stage.inputs).filter_map(|read| nest.moved_maker(read));
        let of_product = |(maker, _): (usize, usize)| {
            nest.needed(Some(maker)).into_iter().any(|s| check_product(nest, &nest.stages[s]).is_ok())
        };
        makers.into_iter().any(of_product)
    }

    /// Fits a region.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn of(nest: &Nest<'_>, facts: &Facts) -> Fit<Self> {
        let reads = nest.stages.iter().enumerate().flat_map(|(s, stage)| stage.reads().map(move |read| (s, read)));
        let mut moved = reads.filter_map(|(s, read)| Some((s, read, nest.moved_maker(read)?)));
        let (Some((reader, read, (maker, result))), None) = (moved.next(), moved.next()) else {
            return misfit("does not read combined numbers elsewhere than they are made exactly once");
        };
        let name = value_text(nest.cx, nest.body, read.value);
        let before = nest.needed(Some(maker));
        let behind: Vec<usize> = (0..nest.stages.len()).filter(|s| !before.contains(s)).collect();
        let made_before = |value: &Value| nest.made.get(value).is_some_and(|(s, _)| before.contains(s));
        if nest.outputs.iter().any(made_before) {
            return misfit(format!("{name} is used outside, and would be made in part by several groups"));
        }
        let crosses = behind.iter().flat_map(|s| &nest.stages[*s].inputs).filter_map(|a| nest.maker(a));
        if crosses.into_iter().any(|maker| before.contains(&maker)) {
            return misfit(format!("what makes {name} is also read element by element"));
        }
        let (head, convolves) = Self::head(&nest.part(&before, &[read.value]), facts)?;
        let tail = ContractPlan::moving(&nest.part(&behind, &nest.outputs))?;
        let plan = Self { head: head.numbered(&before), convolves, tail: tail.numbered(&behind) };
        if plan.tail.stage != reader {
            return misfit(format!("{name} is read otherwise than it is made, and not through the window"));
        }
        plan.check(nest, (maker, result))?;
        Ok(plan)
    }

    /// The product, or the convolution.
    fn head(nest: &Nest<'_>, facts: &Facts) -> Fit<(ContractPlan, bool)> {
        let convolves = nest.stages.iter().any(|stage| is_convolution(nest, stage));
        let mut plan = if convolves { ContractPlan::windowed(nest)? } else { ContractPlan::of(nest, facts)? };
        if !plan.left.is_empty() || !plan.right.is_empty() || plan.narrow.is_some() {
            return misfit("makes the factors of its product, or multiplies narrow numbers");
        }
        // Rows of a tile are neighbours along a line of what is made.
        let lies = |dim: &usize| {
            let written = nest.output_writes().next().map(|(_, write)| write);
            written.and_then(|write| write.index.iter().position(|e| nest.plain(*e) == Some(*dim)))
        };
        plan.rows.sort_by_key(lies);
        Ok((plan, convolves))
    }

    /// What is made lies near line by line, with the columns of the product side by side.
    fn check(&self, nest: &Nest<'_>, (maker, result): (usize, usize)) -> Fit<()> {
        let made = &nest.stages[maker].results[result];
        let read = self.read(nest);
        let Some(row) = self.head.row().filter(|row| !nest.is_unit(*row)) else {
            return misfit("makes one row for its window");
        };
        let [.., above, last] = &made.index[..] else { return misfit("makes one line for its window") };
        if nest.plain(*last) != Some(self.head.col()) || nest.plain(*above) != Some(row) {
            return misfit("makes the columns of its product elsewhere than side by side");
        }
        if read.index.last() != Some(last) || self.tail.col() != self.head.col() {
            return misfit("moves its window along the columns of its product");
        }
        if self.moved_by(nest, row) != self.tail.row() || !self.own(nest).contains(&row) {
            return misfit("moves its window along other lines than those of its product");
        }
        if self.head.cols.len() > 1 {
            return misfit("has columns of its product along several dims");
        }
        // Beyond the end of a line a tile holds what is computed of zeros.
        let rest = self.head.rest.iter().filter_map(|s| nest.stages[*s].body);
        if rest.into_iter().any(|body| body.ops().any(divides)) {
            return misfit("divides integers behind its product, also where a line has ended");
        }
        let bytes = self.least_bytes(nest);
        if bytes.is_none_or(|bytes| bytes > NEAR) {
            let bytes = bytes.map_or("an open number of".to_owned(), |bytes| bytes.to_string());
            return misfit(format!("needs {bytes} bytes near for a tile of its window, of which {NEAR} are kept"));
        }
        if !read.guard.is_empty() || made.index.len() != read.index.len() {
            return misfit("reads what is made by its product under a condition");
        }
        Ok(())
    }

    /// How the window reads what is made.
    pub fn read<'n>(&self, nest: &'n Nest<'_>) -> &'n super::Access {
        &nest.stages[self.tail.stage].inputs[self.tail.lhs]
    }

    /// The dims of what is made along which the window reads elsewhere.
    pub fn own(&self, nest: &Nest<'_>) -> Vec<usize> {
        let read = self.read(nest);
        let Some((maker, result)) = nest.moved_maker(read) else { return vec![] };
        let made = &nest.stages[maker].results[result].index;
        let own = made.iter().zip(&read.index).filter(|(made, read)| made != read);
        own.filter_map(|(made, _)| nest.plain(*made)).collect()
    }

    /// Bytes that a group keeps near for a tile of a line of the window's results; `None` where their number is open.
    fn least_bytes(&self, nest: &Nest<'_>) -> Option<i64> {
        let row = self.head.row();
        let made = |dim: usize| self.reach(nest, dim, if Some(dim) == row { TILE } else { 1 }).map(|(made, _)| made);
        let own: Option<Vec<(usize, i64)>> = self.own(nest).into_iter().map(|dim| Some((dim, made(dim)?))).collect();
        let own = own?;
        let elements = own.iter().map(|(_, count)| *count).fold(COLUMNS, i64::saturating_mul);
        let indices = |dim: usize| match own.iter().find(|(of, _)| *of == dim) {
            Some((_, count)) => Some(*count),
            None if self.head.sums.contains(&dim) => nest.extents[dim].as_const(),
            None => Some(1),
        };
        let mut read: i64 = 4;
        for expr in &nest.stages[self.head.stage].inputs[self.head.lhs].index {
            let mut covered: i64 = 1;
            for (dim, step) in nest.steps(*expr, &|dim| self.head.batch.contains(&dim))? {
                covered = covered.saturating_add(step.saturating_mul(indices(dim)? - 1));
            }
            read = read.saturating_mul(covered);
        }
        Some(elements.saturating_mul(self.element_bytes(nest)).saturating_add(read))
    }

    /// How many indices of a dim of what is made the windows of so many neighbouring results along it read, and how far apart
    /// two of these are: the first is the reach of a window beyond the second.
    pub fn reach(&self, nest: &Nest<'_>, dim: usize, results: i64) -> Option<(i64, i64)> {
        let read = self.read(nest);
        let (maker, result) = nest.moved_maker(read)?;
        let made = &nest.stages[maker].results[result].index;
        let at = made.iter().position(|e| nest.plain(*e) == Some(dim))?;
        let (mut covered, mut apart) = (1i64, 0i64);
        for (moving, step) in nest.steps(read.index[at], &|_| false)? {
            if self.tail.sums.contains(&moving) {
                covered = covered.checked_add(step.checked_mul(nest.extents[moving].as_const()? - 1)?)?;
            } else {
                apart = step;
            }
        }
        Some((covered.checked_add(apart.checked_mul(results.checked_sub(1)?)?)?, apart))
    }

    /// How many elements groups make for one that is made, in 1024ths: neighbours both make what is between them.
    pub fn made_for_one(&self, nest: &Nest<'_>, facts: &Facts) -> u64 {
        let lines = self.lines(nest);
        let aside = |dim: &usize| Some(*dim) != self.head.row() && lines.is_none_or(|(above, _)| above != *dim);
        let others = self.own(nest).into_iter().filter(aside).filter_map(|dim| self.reach(nest, dim, 1));
        let others: Vec<(i64, i64)> = others.collect();
        let deep = others.iter().fold(1i64, |all, (made, _)| all.saturating_mul(*made));
        let line = self.line_bytes(nest, facts).saturating_mul(deep);
        let mut made = others.iter().fold(1i64 << 10, |all, (made, apart)| all.saturating_mul(*made) / (*apart).max(1));
        if let Some((above, size)) = lines {
            let reach = |count: i64| self.reach(nest, above, count);
            let fitting = |count: &i64| reach(*count).is_some_and(|(made, _)| made.saturating_mul(line) <= NEAR);
            let all = likely_size(facts, &nest.extents[size]).max(1);
            let count = (1..=all).take_while(fitting).last().unwrap_or(1);
            if let Some((lines, apart)) = reach(count).filter(|_| count < all) {
                made = made.saturating_mul(lines) / apart.saturating_mul(count).max(1);
            }
        }
        made.max(1 << 10).unsigned_abs()
    }

    /// The dim of lines of what is made, and that of the window's results that moves along them.
    pub fn lines(&self, nest: &Nest<'_>) -> Option<(usize, usize)> {
        let own = self.own(nest);
        let row = self.head.row()?;
        let above = own.into_iter().rev().find(|dim| *dim != row)?;
        Some((above, self.moved_by(nest, above)?))
    }

    /// The dim of the window's results that moves along a dim of what is made.
    pub fn moved_by(&self, nest: &Nest<'_>, dim: usize) -> Option<usize> {
        let read = self.read(nest);
        let (maker, result) = nest.moved_maker(read)?;
        let made = &nest.stages[maker].results[result].index;
        let at = made.iter().position(|e| nest.plain(*e) == Some(dim))?;
        let moving = nest.steps(read.index[at], &|_| false)?;
        moving.into_iter().map(|(moving, _)| moving).find(|moving| !self.tail.sums.contains(moving))
    }

    /// Bytes of a line of what a group makes, at likely sizes and in few columns.
    fn line_bytes(&self, nest: &Nest<'_>, facts: &Facts) -> i64 {
        let size = |dim: usize| likely_size(facts, &nest.extents[dim]);
        let columns = size(self.head.col()).min(COLUMNS);
        self.head.row().map_or(1, size).saturating_mul(columns).saturating_mul(self.element_bytes(nest))
    }

    /// Bytes of an element of what is made.
    pub fn element_bytes(&self, nest: &Nest<'_>) -> i64 {
        element_bytes(nest.cx, nest.cx.element_type(nest.body.ty(self.read(nest).value)))
    }
}

impl ContractPlan {
    /// The same where stage `i` has the number `stages[i]`.
    fn numbered(self, stages: &[usize]) -> Self {
        let all = |own: &[usize]| own.iter().map(|s| stages[*s]).collect();
        Self {
            stage: stages[self.stage],
            left: all(&self.left),
            right: all(&self.right),
            rest: all(&self.rest),
            ..self
        }
    }
}
