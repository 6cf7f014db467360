//! Contraction regions: one sum of products, what its factors are computed from, and elementwise ops behind it.
//!
//! Which part an iterator plays follows from the tensors that it indexes, as in TensorIR's matching by iterator and
//! buffer incidence: in both factors and the result it is a batch dim, in the left one and the result a row, in the
//! right one and the result a column, in both factors only it is summed over.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::Combiner;
use sutura_ir::{OpRef, Type, Value};

use super::cost::{body_cost, value_text};
use super::nest::{Access, Nest, Stage};
use super::rows::check_column_access;
use super::{Fit, Misfit, misfit};

/// Ops that do not follow the product are computed once per tile at most at this price.
pub(super) const CHEAP: u32 = 12;

/// The attribute of an op that multiplies narrow numbers as they are stored: the machine has an instruction for them.
pub const NARROW: &str = "graph.narrow";

/// Factors of a product whose elements are narrower than its sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Narrow {
    /// Type of an element of both factors.
    pub elem: Type,
    /// Whether integers of each factor have no sign: of the left one and of the right one.
    pub unsigned: [bool; 2],
    /// Type of a sum.
    pub acc: Type,
}

/// How a region runs as tiles of a product.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ContractPlan {
    /// Number of the stage that contracts.
    pub stage: usize,
    /// Number of its input that has the rows.
    pub lhs: usize,
    /// Number of its input that has the columns.
    pub rhs: usize,
    /// Dims of both factors and the result, in the result's order.
    pub batch: Vec<usize>,
    /// Dims of the left factor and the result, in the result's order.
    pub rows: Vec<usize>,
    /// Dims of the right factor and the result, in the result's order.
    pub cols: Vec<usize>,
    /// Dims that are summed over, in the left factor's order.
    pub sums: Vec<usize>,
    /// Stages that the left factor is computed from: they run where its rows are packed.
    pub left: Vec<usize>,
    /// Stages that the right factor is computed from: they run where its panels are packed.
    pub right: Vec<usize>,
    /// All other stages: they run on tiles of the product.
    pub rest: Vec<usize>,
    /// What the factors are where the machine has an instruction for them.
    pub narrow: Option<Narrow>,
}

/// Types of factors and sums: a tile in registers has as many elements of each.
const SUMMED: [(&str, Type); 2] = [("arith.mulf", Type::F32), ("arith.muli", Type::I32)];

/// Columns of panels, and of those for few; rows of tiles.
const PANELS: [i64; 2] = [32, 16];
const ROWS: i64 = 12;

/// Rows of which a tile has few.
const LEAST_ROWS: i64 = 8;

/// What it costs to store a tile turned, in 1024ths of a place of the sum.
const TURNED: i64 = 24 << 10;

/// A panel of few columns takes as long as so many: each number of the left factor is read for half as many products.
const NARROW_PANEL: i64 = 24;

/// What it costs to pack a place of a factor, in places of the sum: of one whose columns lie side by side, of one whose places of a sum
/// do, in tiles that are turned, and of another one.
const PACKED: i64 = 8;
const TURNED_IN: i64 = 6;
const GATHERED: i64 = 64;

/// Rows of sums, two vectors wide, that keep a processor busy: a product takes four cycles, and two units begin one in each.
const BUSY: i64 = 4;

/// Columns where their number is open.
const MANY: i64 = 128;

/// The price of `all` rows in tiles of so many: a tile takes the time of its rows that exist, of which fewer than `busy` leave the
/// processor waiting, and loads two vectors beside them.
pub fn price_in_tiles(all: i64, rows: i64, busy: i64) -> i64 {
    let tile = |rows: i64| rows.max(busy) + 2;
    let rest = all % rows;
    (all / rows).saturating_mul(tile(rows)).saturating_add(if rest > 0 { tile(rest) } else { 0 })
}

/// The cheapest height of tiles for `all` rows, at most so many: of several the least, which is the most even.
pub fn even_height(all: i64, most: i64) -> i64 {
    (1..=most).min_by_key(|rows| price_in_tiles(all, *rows, BUSY)).unwrap_or(most)
}

/// As [`even_height`], but of several the greatest: the first tile of rows waits for a right factor that comes from far, those after it
/// find that near. The higher the first one is, the more it computes meanwhile.
pub fn high_first(all: i64, most: i64) -> i64 {
    (1..=most).rev().min_by_key(|rows| price_in_tiles(all, *rows, BUSY)).unwrap_or(most)
}

/// True when `stage` sums products of two tensors of `f32`, or of `i32`, that it reads element by element.
pub fn is_contraction(nest: &Nest<'_>, stage: &Stage<'_>) -> bool {
    check_contraction(nest, stage).is_ok()
}

/// The value through conversions to wider floats, and to wider integers where narrow ones are multiplied as they are.
fn unwidened(op: OpRef<'_>, value: Value) -> Value {
    let integers = op.attr(NARROW).is_some();
    let widens = |def: &OpRef<'_>| match def.name_str() {
        "arith.extf" => true,
        "arith.extsi" | "arith.extui" => integers,
        _ => false,
    };
    let mut value = value;
    while let Some(def) = op.body.defining_op(value).map(|o| op.at(o)).filter(widens) {
        value = def.operand(0);
    }
    value
}

/// The factors of a stage that multiplies narrow numbers as they are stored, in the order of its inputs.
pub fn narrow_factors(nest: &Nest<'_>, stage: &Stage<'_>) -> Option<Narrow> {
    stage.op.attr(NARROW)?;
    let body = stage.body?;
    let (args, product) = (body.args(), stage.op.at(stage.op.body.defining_op(body.terminator()?.operand(0))?));
    let widened = |arg: Value| {
        let conversion = |value: &Value| unwidened(stage.op, *value) == arg && *value != arg;
        product.operands().find(conversion).and_then(|value| stage.op.body.defining_op(value)).map(|op| stage.op.at(op))
    };
    let unsigned = [0, 1].map(|input| widened(args[input]).is_some_and(|op| op.name_str() == "arith.extui"));
    let elem = stage.op.ty(args[0]);
    let acc = nest.cx.element_type(nest.body.ty(stage.results[0].value));
    (args.len() == 2 && elem == stage.op.ty(args[1])).then_some(Narrow { elem, unsigned, acc })
}

fn check_contraction(nest: &Nest<'_>, stage: &Stage<'_>) -> Fit<()> {
    check_product(nest, stage)?;
    if stage.inputs.iter().any(|a| a.oob.is_some() || !is_projection(nest, a)) {
        return misfit("reads its factors otherwise than element by element");
    }
    Ok(())
}

/// A stage sums products of two tensors of `f32`, or of `i32`, however it reads them.
///
/// # Errors
/// Says what it does instead.
pub fn check_product(nest: &Nest<'_>, stage: &Stage<'_>) -> Fit<()> {
    check_sum_of_products(nest, stage, &SUMMED.map(|(_, ty)| ty))
}

/// A stage sums products of two tensors of one of `types`.
pub(super) fn check_sum_of_products(nest: &Nest<'_>, stage: &Stage<'_>, types: &[Type]) -> Fit<()> {
    let [result] = &stage.results[..] else { return misfit("has several results") };
    if stage.combiners != [Combiner::Add] || stage.inputs.len() != 2 {
        return misfit("is no sum over two tensors");
    }
    let Some(body) = stage.body else { return misfit("computes nothing") };
    let yielded = body.terminator().map(|t| t.operand(0));
    let product = yielded.and_then(|v| stage.op.body.defining_op(v)).map(|o| stage.op.at(o));
    let summed = product.and_then(|o| Some((o, SUMMED.iter().find(|(name, _)| *name == o.name_str())?.1)));
    let Some((product, summed)) = summed else { return misfit("is no sum of products") };
    let factors: Vec<Value> = product.operands().map(|v| unwidened(stage.op, v)).collect();
    let args = body.args();
    if factors != args && !(factors[0] == args[1] && factors[1] == args[0]) {
        return misfit("is no sum of products of two tensors");
    }
    let elem = |v: Value| nest.cx.element_type(nest.body.ty(v));
    let narrow = narrow_factors(nest, stage).is_some();
    let factors = stage.inputs.iter().all(|a| narrow || elem(a.value) == summed);
    if !types.contains(&summed) || !factors || elem(result.value) != summed {
        return misfit("multiplies numbers that are neither f32 nor i32");
    }
    Ok(())
}

pub(super) fn is_projection(nest: &Nest<'_>, access: &Access) -> bool {
    let mut seen = Vec::new();
    access.index.iter().all(|expr| match nest.plain(*expr) {
        Some(dim) => {
            let new = !seen.contains(&dim);
            seen.push(dim);
            new
        }
        None => sutura_dialects::graph::maps::constant(nest.cx, *expr) == Some(0),
    })
}

impl ContractPlan {
    /// Fits a region that has one contraction.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn of(nest: &Nest<'_>, facts: &Facts) -> Fit<Self> {
        let mut contractions = (0..nest.stages.len()).filter(|i| is_contraction(nest, &nest.stages[*i]));
        let Some(stage) = contractions.next() else { return misfit("has no contraction") };
        nest.check_no_scan()?;
        nest.check_no_joint()?;
        if contractions.next().is_some() {
            return misfit("both contract, and a kernel has one contraction");
        }
        let mut plan = Self::of_stage(nest, stage)?;
        plan.place_others(nest);
        plan.check_prologue(nest, facts)?;
        plan.check_rest(nest)?;
        Ok(plan)
    }

    /// The part that each dim of a contraction plays.
    ///
    /// # Errors
    /// When a dim plays none.
    pub fn of_stage(nest: &Nest<'_>, number: usize) -> Fit<Self> {
        let stage = &nest.stages[number];
        check_contraction(nest, stage)?;
        let result = &stage.results[0];
        let order: Vec<usize> = result.index.iter().filter_map(|e| nest.plain(*e)).collect();
        let reads = |input: usize, dim: usize| nest.mentions(&stage.inputs[input], dim);
        // The result's last dim that only one factor has is the columns', so that they are stored side by side.
        let last = order.iter().rev().find(|d| !nest.is_unit(**d)).or(order.last());
        let Some(&last) = last else { return misfit("has a single number as result") };
        let (lhs, rhs) = match (reads(0, last), reads(1, last)) {
            (true, false) => (1, 0),
            (false, true) => (0, 1),
            _ => return misfit("the innermost dimension of the result is one of both factors"),
        };
        let narrow = narrow_factors(nest, stage)
            .map(|narrow| Narrow { unsigned: [lhs, rhs].map(|input| narrow.unsigned[input]), ..narrow });
        let mut plan = Self { stage: number, lhs, rhs, narrow, ..Self::default() };
        for dim in order {
            match (reads(lhs, dim), reads(rhs, dim)) {
                (true, true) => plan.batch.push(dim),
                (true, false) => plan.rows.push(dim),
                (false, true) => plan.cols.push(dim),
                // A window of one place on a map of one place: neither factor moves along it.
                (false, false) if nest.is_unit(dim) => plan.rows.insert(0, dim),
                (false, false) => return misfit("repeats its result along a dimension"),
            }
        }
        // Tiles have their rows along the last dim that is long enough to fill them.
        let few = |d: &usize| nest.extents[*d].as_const().is_some_and(|n| n < LEAST_ROWS);
        if let Some(at) = plan.rows.iter().rposition(|d| !few(d)) {
            let row = plan.rows.remove(at);
            plan.rows.push(row);
        }
        // The innermost column comes last even if dims of extent 1 follow it.
        plan.cols.retain(|d| *d != last);
        plan.cols.push(last);
        plan.sums = plan.sums_of(nest, lhs);
        // A dim of extent 1 is summed over whether or not both factors have it.
        let single = stage.reduced.iter().copied().filter(|d| nest.is_unit(*d) && !reads(lhs, *d));
        plan.sums.extend(single);
        let shared = |d: &usize| reads(rhs, *d) || nest.is_unit(*d);
        if plan.sums.len() != stage.reduced.len() || !stage.reduced.iter().all(shared) {
            return misfit("sums over a dimension that only one factor has");
        }
        Ok(plan)
    }

    /// The plan with its factors exchanged, where that is likely to be faster: tiles are transposed before they are stored, but the
    /// other factor is packed, or fewer columns are computed in vain. `None` also where the sizes are unknown. Packing a `constant`
    /// costs nothing, since the compiler does it.
    pub fn turned(&self, nest: &Nest<'_>, constant: &dyn Fn(Value) -> bool) -> Option<Self> {
        let stage = &nest.stages[self.stage];
        let known = |dims: &[usize]| dims.iter().try_fold(1i64, |all, d| all.checked_mul(nest.extents[*d].as_const()?));
        let (left, sums, columns) = (known(&self.rows)?, known(&self.sums)?, known(&self.cols));
        let made = stage.inputs.iter().any(|read| read.slot.is_some());
        // Of narrow numbers those that are summed lie side by side in the left factor.
        if made || self.narrow.is_some() || left <= 1 || sums <= 0 || columns.is_some_and(|columns| columns <= 1) {
            return None;
        }
        let col = *self.rows.iter().rev().find(|d| !nest.is_unit(**d))?;
        let tiled = |all: i64, tile: i64| (all.saturating_add(tile - 1) / tile).saturating_mul(tile);
        let of_panels = |all: i64| if all > PANELS[1] { tiled(all, PANELS[0]) } else { NARROW_PANEL };
        // Few rows are one tile.
        let of_rows = |all: i64| if all <= ROWS + 2 { all } else { tiled(all, even_height(all, ROWS)) };
        let vain = |computed: i64, all: i64| computed.saturating_mul(1024) / all.max(1);
        // An unknown number of columns is taken to end in the middle of a tile.
        let here = columns.map_or(vain(MANY + PANELS[0] / 2, MANY), |all| vain(of_panels(all), all));
        let there = columns.map_or(vain(MANY + ROWS / 2, MANY), |all| vain(of_rows(all), all));
        let there = there.saturating_mul(vain(of_panels(left), left)) / 1024;
        // In 1024ths of a place of the sum, for each result. All rows share what is packed.
        let packed = |input: usize, col: usize, rows: i64| match constant(stage.inputs[input].value) {
            true => 0,
            false => self.packing(nest, input, col).saturating_mul(1024) / rows.max(1),
        };
        let here = sums.saturating_mul(here.saturating_add(packed(self.rhs, self.col(), left)));
        let there = sums.saturating_mul(there.saturating_add(packed(self.lhs, col, columns.unwrap_or(MANY))));
        // The price is not exact: a small gain is no reason to exchange them.
        if here <= there.saturating_add(TURNED).saturating_mul(51) / 50 {
            return None;
        }
        let mut cols: Vec<usize> = self.rows.iter().copied().filter(|d| *d != col).collect();
        cols.push(col);
        let (lhs, rows) = (self.rhs, self.cols.clone());
        let mut summed = self.sums_of(nest, lhs);
        summed.extend(self.sums.iter().filter(|d| !summed.contains(d)).copied().collect::<Vec<_>>());
        let turned = Self { lhs, rhs: self.lhs, rows, cols, sums: summed, ..self.clone() };
        turned.check_rest(nest).is_ok().then_some(turned)
    }

    /// What it costs to pack a place of an input whose columns are those of a dim, in places of the sum.
    fn packing(&self, nest: &Nest<'_>, input: usize, col: usize) -> i64 {
        let read = &nest.stages[self.stage].inputs[input];
        match read.index.iter().rev().find_map(|e| nest.plain(*e).filter(|d| !nest.is_unit(*d))) {
            // Whole panels are read as they lie.
            Some(last) if last == col && nest.extents[col].as_const().is_some_and(|n| n % PANELS[0] == 0) => 0,
            Some(last) if last == col => PACKED,
            Some(last) if self.sums.last() == Some(&last) => TURNED_IN,
            _ => GATHERED,
        }
    }

    /// Dims that are summed over, in the order of an input.
    fn sums_of(&self, nest: &Nest<'_>, input: usize) -> Vec<usize> {
        let stage = &nest.stages[self.stage];
        let plain = stage.inputs[input].index.iter().filter_map(|e| nest.plain(*e));
        plain.filter(|d| stage.reduced.contains(d)).collect()
    }

    /// Dims that index the result.
    pub fn parallel(&self) -> impl Iterator<Item = usize> + '_ {
        self.batch.iter().chain(&self.rows).chain(&self.cols).copied()
    }

    /// The parts that dims play, by their sizes.
    pub fn roles(&self, nest: &Nest<'_>) -> String {
        let parts = [("batch", &self.batch), ("rows", &self.rows), ("columns", &self.cols), ("sums over", &self.sums)];
        let list =
            |dims: &[usize]| dims.iter().map(|dim| nest.extents[*dim].to_string()).collect::<Vec<_>>().join(", ");
        let parts = parts.iter().filter(|(_, dims)| !dims.is_empty());
        parts.map(|(name, dims)| format!("{name} ({})", list(dims))).collect::<Vec<_>>().join(", ")
    }

    /// The dim that tiles have columns along.
    pub fn col(&self) -> usize {
        *self.cols.last().expect("a contraction has columns")
    }

    /// The dim that tiles have rows along; without one tiles have one row.
    pub fn row(&self) -> Option<usize> {
        self.rows.last().copied()
    }

    /// Which stages the factors are computed from, and which run on tiles of the product.
    pub(super) fn place_others(&mut self, nest: &Nest<'_>) {
        let inputs = &nest.stages[self.stage].inputs;
        self.left = nest.needed(nest.maker(&inputs[self.lhs]));
        self.right = nest.needed(nest.maker(&inputs[self.rhs]));
        let mut follows = vec![false; nest.stages.len()];
        follows[self.stage] = true;
        for (i, stage) in nest.stages.iter().enumerate() {
            follows[i] |= stage.inputs.iter().filter_map(|a| nest.maker(a)).any(|maker| follows[maker]);
        }
        let elsewhere = |i: &usize| follows[*i] || self.left.contains(i) || self.right.contains(i);
        let ends: Vec<usize> = nest.output_writes().map(|(stage, _)| stage).filter(|i| !elsewhere(i)).collect();
        let ahead = |i: usize| nest.stages[i].inputs.iter().filter_map(|a| nest.maker(a)).filter(|m| !follows[*m]);
        let behind = (0..nest.stages.len()).filter(|i| follows[*i]);
        let read = behind.clone().filter(|i| *i != self.stage).flat_map(ahead);
        let mut rest: Vec<usize> =
            read.chain(ends).flat_map(|i| nest.needed(Some(i))).filter(|i| !follows[*i]).collect();
        rest.extend(behind.filter(|i| *i != self.stage));
        rest.sort_unstable();
        rest.dedup();
        self.rest = rest;
    }

    pub(super) fn check_rest(&self, nest: &Nest<'_>) -> Fit<()> {
        let tiled: Vec<usize> = self.row().into_iter().chain([self.col()]).collect();
        nest.check_indices(&tiled)?;
        let parallel: Vec<usize> = self.parallel().collect();
        let mut follows = vec![false; nest.stages.len()];
        follows[self.stage] = true;
        for (i, stage) in self.rest.iter().map(|i| (*i, &nest.stages[*i])) {
            follows[i] = stage.inputs.iter().filter_map(|a| nest.maker(a)).any(|maker| follows[maker]);
            let name = || value_text(nest.cx, nest.body, stage.results[0].value);
            if stage.reduces() {
                return misfit(format!("{} is combined from whole rows of the product", name()));
            }
            if let Some(dim) = stage.dims.iter().find(|d| !parallel.contains(d) && !nest.is_unit(**d)) {
                return misfit(format!("{} runs over {}, which the product does not", name(), nest.extents[*dim]));
            }
            if !follows[i] && body_cost(stage.body) > CHEAP {
                return misfit(format!("{} would be computed anew for every tile of the product", name()));
            }
            for read in stage.inputs.iter().filter(|a| a.slot.is_none()) {
                if read.oob.is_some() {
                    return misfit("reads outside a tensor");
                }
                check_column_access(nest, read, self.col())?;
                self.row().map_or(Ok(()), |row| check_column_access(nest, read, row))?;
            }
        }
        self.check_outputs(nest, &parallel)?;
        self.check_stored_in_vectors(nest)
    }

    /// Each result is contiguous along the rows or the columns of its tiles.
    fn check_stored_in_vectors(&self, nest: &Nest<'_>) -> Fit<()> {
        let tiled = [self.row(), Some(self.col())];
        for (_, write) in nest.output_writes() {
            let last = write.index.iter().rev().filter_map(|e| nest.plain(*e)).find(|d| !nest.is_unit(*d));
            if last.is_some_and(|last| !tiled.contains(&Some(last))) {
                return misfit("would write its tiles element by element");
            }
        }
        Ok(())
    }

    fn check_outputs(&self, nest: &Nest<'_>, parallel: &[usize]) -> Fit<()> {
        for (_, write) in nest.output_writes() {
            let covered = |d: &usize| nest.is_unit(*d) || write.index.iter().any(|e| nest.plain(*e) == Some(*d));
            if let Some(dim) = parallel.iter().find(|d| !covered(d)) {
                let name = value_text(nest.cx, nest.body, write.value);
                let message = format!("{name} is used outside but is the same for {} tiles", nest.extents[*dim]);
                return Err(Misfit(message));
            }
        }
        Ok(())
    }
}
