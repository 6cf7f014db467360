//! Products with few columns, or few rows, as inner products: sums lie in vectors, a place of the sum in each element.
//!
//! Tiles of a product have its columns in vectors. Where one factor has few rows or columns, and the numbers of the other one lie side by
//! side along the sum, that factor would be packed for little: each of its numbers is multiplied a few times. As inner products it
//! is read once, as it lies, while all of the other factor stays in the nearest cache. A vector of sums is added up once, at its end.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Bring, Dim, Kernel, Launch, Loop, Node, Operand, Place, Runs, Split, Tile, Version};
use sutura_ir::Type;

use super::product::Product;
use super::{each, in_grid, place, stage_name};
use crate::region::Access;
use crate::region::cost::body_cost;

/// Sums of vectors that hide what one waits for the one before.
const SUMS: i64 = 8;

/// Vectors beside the sums: one of the factor that goes by, and room for what the other one is loaded into.
const BESIDE: i64 = 4;

/// What a sum takes once, in products of vectors: to add up a vector and store it where sums that are made together lie side by side in the
/// result, and where they do not; and to store it in a tile that is turned.
const ADDED_UP: i64 = 6;
const ADDED_UP_APART: i64 = 10;
const STORED: i64 = 2;

/// What takes longer with the places of a sum, in 16ths of a product of vectors: to multiply a vector by one that is loaded for it alone; to
/// turn and pack a number; a place of the sum in tiles that are one vector wide.
const MULTIPLIED: i64 = 24;
const TURNED_IN: i64 = 14;
const PLACE: i64 = 27;

/// Most that what follows may cost for each number, where it is computed number by number.
const CHEAP: u32 = 4;

/// Rows of the factor that goes by that a group has, and those of a group that packs the other one.
const ROWS: i64 = 32;
const ROWS_OF_PACKED: i64 = 128;

/// A product whose sums lie in vectors.
pub(super) struct InnerProducts<'p, 'r, 'a> {
    product: &'p Product<'r, 'a>,
    /// The dim of the factor that stays near, and that factor's number.
    few: (usize, usize),
    /// The dims of the factor that goes by, the innermost one last.
    many: Vec<usize>,
    sum: usize,
    /// Places of the sum that a trip has.
    places: i64,
    /// The factor that stays near does not lie along the sum.
    packs: bool,
    /// Sizes that are at least 0 where inner products pay.
    guards: Vec<Poly>,
}

impl<'p, 'r, 'a> InnerProducts<'p, 'r, 'a> {
    /// A product as inner products, where that pays; several that are one launch are none.
    pub(super) fn of(products: &'p [Product<'r, 'a>]) -> Option<Self> {
        let [product] = products else { return None };
        let (nest, plan) = (product.nest, product.plan);
        let plain = plan.left.is_empty() && plan.right.is_empty() && product.step == 1 && product.split.is_none();
        let floats = product.stage().results[0].value;
        let floats = nest.cx.element_type(nest.body.ty(floats)) == Type::F32;
        let cheap = plan.rest.iter().map(|s| body_cost(nest.stages[*s].body)).sum::<u32>() <= CHEAP;
        if !(plain && floats && cheap && product.keeps_near()) {
            return None;
        }
        let [sum] = plan.sums.iter().copied().filter(|dim| !nest.is_unit(*dim)).collect::<Vec<_>>()[..] else {
            return None;
        };
        let columns = (&plan.cols, plan.rhs, &plan.rows, plan.lhs);
        let rows = (&plan.rows, plan.lhs, &plan.cols, plan.rhs);
        [columns, rows].into_iter().find_map(|(few, near, many, by)| {
            let moving = |dims: &[usize]| dims.iter().copied().filter(|dim| !nest.is_unit(*dim)).collect::<Vec<_>>();
            let (&[few], many) = (&moving(few)[..], moving(many)) else { return None };
            Self::with(product, (few, near), (many, by), sum)
        })
    }

    fn with(
        product: &'p Product<'r, 'a>,
        (few, near): (usize, usize),
        (many, by): (Vec<usize>, usize),
        sum: usize,
    ) -> Option<Self> {
        let (region, nest, machine) = (product.region, product.nest, product.region.machine);
        let inputs = &product.stage().inputs;
        let along = |input: usize| inputs[input].index.last().and_then(|e| nest.plain(*e)) == Some(sum);
        let at_call = !region.is_constant(inputs[by].value);
        let count = product.extent(few).as_const()?;
        let (registers, lanes) = (machine.vectors.0, machine.vectors.1.max(1));
        if !along(by) || !at_call || many.is_empty() || !(2..=registers - BESIDE).contains(&count) {
            return None;
        }
        let vectors = product.extent(sum).ceildiv(lanes).as_const().unwrap_or(i64::MAX);
        let places = lanes * (SUMS / count).min(vectors).max(1);
        let fewest = Self::fewest_places(product, count, (few, by))?;
        let most = machine.nearest_bytes / (4 * count);
        let sizes = [product.extent(sum).sub(&fewest.into()), Poly::constant(most).sub(&product.extent(sum))];
        if fewest > most || sizes.iter().any(|size| region.facts.range(size).1 < 0) {
            return None;
        }
        let guards = sizes.into_iter().filter(|size| region.facts.range(size).0 < 0).collect();
        let packs = !along(near) || region.is_constant(inputs[near].value);
        Some(Self { product, few: (few, near), many, sum, places, packs, guards })
    }

    /// The fewest places of a sum from which on inner products take less time than tiles of the product, as its plan has them. Both
    /// times grow with the places. `None` where inner products never pay.
    fn fewest_places(product: &Product<'_, '_>, count: i64, (few, by): (usize, usize)) -> Option<i64> {
        let lanes = product.region.machine.vectors.1.max(1);
        let index = &product.stage().results[0].index;
        let side_by_side =
            index.iter().rev().find_map(|e| product.nest.plain(*e).filter(|d| !product.nest.is_unit(*d)));
        let added_up = count * if side_by_side == Some(few) { ADDED_UP } else { ADDED_UP_APART };
        // In 16ths of a product of vectors: of a vector of places, and of a sum as such.
        let (vector, sum) = match product.plan.rhs == by {
            true => (16 * count + TURNED_IN * lanes, STORED * count),
            false => (PLACE * lanes * ((count + lanes - 1) / lanes), 0),
        };
        let gained = vector - MULTIPLIED * (count + 1);
        (gained > 0).then(|| lanes * ((16 * (added_up - sum) + gained - 1) / gained).max(1))
    }

    /// True where the product is computed so whatever its sizes are.
    pub(super) fn always(&self) -> bool {
        self.guards.is_empty()
    }

    /// The version of a product that is computed so.
    pub(super) fn version(&self) -> Version {
        let kernels = match self.product.region.is_constant(self.operand().value) {
            // The compiler runs what packs a constant.
            true if self.packs => {
                vec![Kernel::new(in_grid(self.batch(), self.packed(Bring::Pack))), self.kernel(false)]
            }
            _ => vec![self.kernel(self.packs)],
        };
        let launches = kernels.into_iter().map(|kernel| Launch { kernels: vec![kernel] }).collect();
        Version { guard: self.guards.clone(), launches, ..Version::default() }
    }

    /// What is said of it.
    pub(super) fn said(&self) -> String {
        let guards: Vec<String> = self.guards.iter().map(|size| format!("{size} >= 0")).collect();
        let when = if guards.is_empty() { String::new() } else { format!(" where {}", guards.join(" and ")) };
        format!("runs as inner products{when}: vectors along d{}, {} sums at a time", self.sum, self.count())
    }

    fn count(&self) -> i64 {
        self.product.extent(self.few.0).as_const().unwrap_or(1)
    }

    fn operand(&self) -> &Access {
        &self.product.stage().inputs[self.few.1]
    }

    fn batch(&self) -> Vec<(usize, Split)> {
        let moving = self.product.plan.batch.iter().filter(|dim| !self.product.nest.is_unit(**dim));
        moving.map(|dim| (*dim, Split::One)).collect()
    }

    /// Tiles with vectors along the sum.
    fn tile(&self) -> Tile {
        let space = self.product.region.machine.registers.to_string();
        Tile { rows: Some(Dim(self.few.0)), cols: Some(Dim(self.sum)), space, padded: true }
    }

    /// Loops over the sum and the rows of the factor that stays near, which bring it tile by tile.
    fn packed(&self, to: Bring) -> Vec<Node> {
        let at = (stage_name(self.product.nest, self.product.plan.stage), self.few.1);
        let body = vec![Node::Operand(Operand::new(at, self.tile(), to))];
        self.in_places(self.in_turn(self.few.0, self.count(), body))
    }

    fn in_turn(&self, dim: usize, by: i64, body: Vec<Node>) -> Vec<Node> {
        vec![Node::Loop(Loop::new(Dim(dim), Split::By(by), Runs::InTurn, body))]
    }

    fn in_places(&self, body: Vec<Node>) -> Vec<Node> {
        self.in_turn(self.sum, self.places, body)
    }

    fn kernel(&self, packs: bool) -> Kernel {
        let (nest, plan, machine) = (self.product.nest, self.product.plan, self.product.region.machine);
        let summed = Place { columnwise: true, ..place(nest, plan.stage, &self.tile()) };
        let mut inside = self.in_places(vec![Node::Place(summed)]);
        let follows = Tile { cols: None, padded: false, ..self.tile() };
        inside.extend(plan.rest.iter().map(|s| Node::Place(place(nest, *s, &follows))));
        let (last, outer) = self.many.split_last().expect("a factor goes by");
        let mut body = vec![each(*last, inside)];
        if packs {
            let at = (stage_name(nest, plan.stage), self.few.1);
            let near = Tile { rows: None, space: machine.cache.to_string(), ..self.tile() };
            let near = Operand { body: self.packed(Bring::Tile), ..Operand::new(at, near, Bring::Cache) };
            body.insert(0, Node::Operand(near));
        }
        let rows = if packs { ROWS_OF_PACKED } else { ROWS };
        let outer = outer.iter().map(|dim| (*dim, Split::One));
        Kernel::new(in_grid(self.batch().into_iter().chain(outer).chain([(*last, Split::By(rows))]).collect(), body))
    }
}
