//! The kernels of attention: all keys at once, and keys in blocks.

use sutura_dialects::schedule::{Bring, Dim, Kernel, Loop, Node, Operand, Place, Runs, Split, Tile};

use super::super::product::{in_turned_tiles, turns};
use super::super::{each, in_grid, place, stage_name};
use super::{Chain, Softmax, between};
use crate::region::ContractPlan;

/// Most rows of a tile whose softmax is taken together.
const FEW_ROWS: i64 = 4;

impl Chain<'_, '_> {
    fn near(&self, rows: Option<usize>, cols: usize, padded: bool) -> Tile {
        Tile { rows: rows.map(Dim), cols: Some(Dim(cols)), space: self.region.machine.cache.to_string(), padded }
    }

    fn in_registers(&self, rows: Option<usize>, cols: usize) -> Tile {
        let space = self.region.machine.registers.to_string();
        Tile { rows: rows.map(Dim), cols: Some(Dim(cols)), space, padded: true }
    }

    fn places(&self, stages: &[usize], tile: &Tile) -> impl Iterator<Item = Node> {
        stages.iter().map(|s| Node::Place(place(self.nest, *s, tile)))
    }

    fn contract(&self, plan: &ContractPlan) -> Node {
        let tile = self.in_registers(Some(self.plan.query()), plan.col());
        each(plan.sums[0], vec![Node::Place(Place { contract: true, ..place(self.nest, plan.stage, &tile) })])
    }

    fn cache(&self, (stage, input): (usize, usize), tile: Tile, body: Vec<Node>) -> Node {
        let stage = stage_name(self.nest, stage);
        Node::Operand(Operand { body, ..Operand::new((stage, input), tile, Bring::Cache) })
    }

    /// A loop over tiles of a dim; none over a single index.
    fn tiles(&self, dim: usize, by: i64, body: Vec<Node>) -> Vec<Node> {
        match self.nest.is_unit(dim) || dim == self.plan.values.col() && self.is_empty() {
            true => body,
            false => vec![Node::Loop(Loop::new(Dim(dim), Split::By(by), Runs::InTurn, body))],
        }
    }

    /// What is done to rows of a tile of queries, of few at a time: enough of them for the latency of what is done to each. A tile that
    /// no few rows make up is taken as a whole, and so is one of which more than weights is read behind the softmax.
    fn few_rows(&self, body: Vec<Node>) -> Vec<Node> {
        let rows = (2..=FEW_ROWS).rev().find(|rows| self.tile.0 % rows == 0).unwrap_or(self.tile.0);
        let apart = !self.plan.after.iter().any(|s| self.reads_of_softmax(*s));
        if self.is_of_processor() && apart && rows < self.tile.0 {
            self.tiles(self.plan.query(), rows, body)
        } else {
            body
        }
    }

    /// Whether a stage behind the second product reads a number of the softmax, the largest logit of a row.
    fn reads_of_softmax(&self, stage: usize) -> bool {
        let mut makers = self.nest.stages[stage].inputs.iter().filter_map(|read| self.nest.maker(read));
        makers.any(|maker| between(self.nest, self.plan).any(|s| s == maker))
    }

    /// Copies the right factor of a product into panels of its columns.
    fn pack(&self, plan: &ContractPlan) -> Node {
        let (stage, input) = (stage_name(self.nest, plan.stage), plan.rhs);
        // Keys are columns of scores: values that lie along them are not turned.
        let turned = turns(self.region, self.nest, plan).filter(|dim| *dim != self.plan.key());
        let tile = self.in_registers(turned, plan.col());
        let copy = Node::Operand(Operand::new((stage, input), tile.clone(), Bring::Tile));
        let copy = self.places(&plan.right, &tile).chain([copy]).collect();
        let copies = match turned {
            Some(_) => in_turned_tiles(self.region, &plan.sums, copy),
            None => vec![each(plan.sums[0], copy)],
        };
        let body = self.tiles(plan.col(), self.tile.1, copies);
        self.cache((plan.stage, plan.rhs), self.near(None, plan.col(), true), body)
    }

    /// The rows of logits of a tile of queries.
    fn logits(&self) -> Node {
        let (plan, key) = (self.plan, self.plan.key());
        let tile = self.in_registers(Some(plan.query()), key);
        let body = [self.contract(&plan.scores)].into_iter().chain(self.places(&plan.before, &tile)).collect();
        let reads = |s: usize| self.nest.stages[s].inputs.iter().position(|read| read.value == plan.logits);
        let reader = between(self.nest, plan).find_map(|s| Some((s, reads(s)?)));
        let body = self.tiles(key, self.tile.1, body);
        self.cache(reader.expect("a softmax reads its logits"), self.near(Some(plan.query()), key, false), body)
    }

    /// Queries near; those that the region makes are made there, one after another.
    fn queries(&self) -> Node {
        let (scores, query) = (&self.plan.scores, self.plan.query());
        let row = (!self.nest.is_unit(query)).then_some(query);
        let mut body: Vec<Node> = self.places(&scores.left, &self.near(row, scores.sums[0], true)).collect();
        if !body.is_empty() {
            body = self.tiles(query, 1, body);
        }
        self.cache((scores.stage, scores.lhs), self.near(None, scores.sums[0], true), body)
    }

    /// The one query of a group that has no more, where the region makes it.
    fn one_query(&self) -> Option<Node> {
        let scores = &self.plan.scores;
        let near = self.near(None, scores.sums[0], false);
        let body: Vec<Node> = self.places(&scores.left, &near).collect();
        (!body.is_empty()).then(|| self.cache((scores.stage, scores.lhs), near, body))
    }

    /// All keys at once.
    pub(super) fn resident_kernel(&self) -> Kernel {
        let (plan, query) = (self.plan, self.plan.query());
        let weights = self.near(Some(query), plan.key(), false);
        let &Softmax { extreme, relative, ref sums, .. } = self.hoisted.1;
        // A row of powers takes the place of its logits, and that of weights the place of these.
        let reads = |s: usize| self.nest.stages[s].inputs.iter().position(|i| self.nest.maker(i) == Some(relative));
        let scale = between(self.nest, plan).find_map(|s| Some((s, reads(s).filter(|_| !sums.contains(&s))?)));
        let row = [&[relative], &sums[..]].concat();
        let powers = self.cache(
            scale.expect("a softmax scales its powers"),
            weights.clone(),
            self.places(&row, &weights).collect(),
        );
        let rest: Vec<usize> = between(self.nest, plan).filter(|s| *s != extreme && !row.contains(s)).collect();
        let mut made = vec![self.logits()];
        let of_rows = self.places(&[extreme], &weights).chain([powers]).chain(self.places(&rest, &weights)).collect();
        made.extend(self.few_rows(of_rows));
        let mut values = vec![self.contract(&plan.values)];
        values.extend(self.places(&plan.after, &self.in_registers(Some(query), plan.values.col())));
        let mut of_tile = vec![self.queries(), self.cache((plan.values.stage, plan.values.lhs), weights, made)];
        of_tile.extend(self.tiles(plan.values.col(), self.tile.1, values));
        let mut body = vec![self.pack(&plan.scores), self.pack(&plan.values)];
        body.extend(self.tiles(query, self.tile.0, of_tile));
        Kernel::new(in_grid(self.outer(), body))
    }

    /// Each query alone, which reads keys and values as they lie: nothing that is read once is packed.
    pub(super) fn streamed_kernel(&self) -> Kernel {
        let (nest, plan, key) = (self.nest, self.plan, self.plan.key());
        let &Softmax { extreme, relative, ref sums, .. } = self.hoisted.1;
        let of_keys = self.near(None, key, false);
        let reader = |made: usize| {
            let input = |s: usize| Some((s, nest.stages[s].inputs.iter().position(|i| nest.maker(i) == Some(made))?));
            (0..nest.stages.len()).find_map(input).expect("what the kernel makes on its way is read")
        };
        let of_key = |body: Vec<Node>| if nest.is_unit(key) { body } else { vec![each(key, body)] };
        let numbers = self.near(None, plan.scores.sums[0], false);
        let dots = of_key(self.places(&[&plan.scores.right[..], &[plan.scores.stage]].concat(), &numbers).collect());
        let row = [&[relative], &sums[..]].concat();
        let rest: Vec<usize> = between(nest, plan).filter(|s| *s != extreme && !row.contains(s)).collect();
        let mut made: Vec<Node> = self.one_query().into_iter().collect();
        made.push(self.cache(reader(plan.scores.stage), of_keys.clone(), dots));
        made.extend(self.places(&plan.before, &of_keys).chain(self.places(&[extreme], &of_keys)));
        let scale = rest.iter().find_map(|s| {
            let input = nest.stages[*s].inputs.iter().position(|i| nest.maker(i) == Some(relative))?;
            Some((*s, input))
        });
        let powers = self.places(&row, &of_keys).collect();
        made.push(self.cache(scale.expect("a softmax scales its powers"), of_keys.clone(), powers));
        made.extend(self.places(&rest, &of_keys));
        let mut body = vec![self.cache((plan.values.stage, plan.values.lhs), of_keys, made)];
        let tile = self.in_registers(None, plan.values.col());
        let mut values = of_key(self.places(&[&plan.values.right[..], &[plan.values.stage]].concat(), &tile).collect());
        values.extend(self.places(&plan.after, &tile));
        body.extend(self.tiles(plan.values.col(), self.streamed_columns(), values));
        let query = (!nest.is_unit(plan.query())).then_some((plan.query(), Split::One));
        Kernel::new(in_grid(self.outer().into_iter().chain(query).collect(), body))
    }

    /// Loops of the grid. Of values without numbers nothing is stored, so that there are no groups.
    fn outer(&self) -> Vec<(usize, Split)> {
        let outer = self.plan.outer().into_iter().map(|dim| (dim, Split::One));
        outer.chain(self.is_empty().then_some((self.plan.values.col(), Split::By(self.tile.1)))).collect()
    }

    /// True where a value has no numbers.
    pub(super) fn is_empty(&self) -> bool {
        self.nest.extents[self.plan.values.col()].as_const() == Some(0)
    }

    /// Keys in blocks: a group has several tiles of queries, and sums up for all of them what a block of keys gives.
    pub(super) fn streaming_kernel(&self) -> Kernel {
        let (plan, query, key) = (self.plan, self.plan.query(), self.plan.key());
        let (nest, &Softmax { extreme, weighted, ref rest, .. }) = self.hoisted;
        let this = Self { nest, ..*self };
        let values = ContractPlan { stage: weighted, ..plan.values.clone() };
        let of_block = [this.pack(&plan.scores), this.pack(&values)].into_iter();
        let of_block = of_block.chain(this.tiles_of_group(this.block(&values))).collect();
        let online = Some(stage_name(nest, extreme));
        let blocks = Loop { online, ..Loop::new(Dim(key), Split::By(self.block_keys()), Runs::InTurn, of_block) };
        let end = this.places(rest, &this.in_registers(Some(query), values.col())).collect();
        let mut body = vec![this.queries(), Node::Loop(blocks)];
        body.extend(this.tiles_of_group(this.tiles(values.col(), self.tile.1, end)));
        let of_group = Split::By(self.tile.0 * self.block_tiles());
        let row = (!nest.is_unit(query)).then_some((query, of_group));
        Kernel::new(in_grid(self.outer().into_iter().chain(row).collect(), body))
    }

    /// Keys in blocks, of which a tile of queries has those that some query of it may see; all keys and values are packed before.
    pub(super) fn reach_kernel(&self) -> Kernel {
        let (plan, query, key) = (self.plan, self.plan.query(), self.plan.key());
        let (nest, softmax) = self.hoisted;
        let this = Self { nest, ..*self };
        let values = ContractPlan { stage: softmax.weighted, ..plan.values.clone() };
        let by = Split::By(this.reach_keys());
        let online = Some(stage_name(nest, softmax.extreme));
        let blocks = Loop { online, reach: true, ..Loop::new(Dim(key), by, Runs::InTurn, this.block(&values)) };
        let end = this.places(&softmax.rest, &this.in_registers(Some(query), values.col())).collect();
        let mut of_tile = vec![this.queries(), Node::Loop(blocks)];
        of_tile.extend(this.tiles(values.col(), self.tile.1, end));
        let mut body = vec![this.pack(&plan.scores), this.pack(&values)];
        body.extend(this.tiles(query, self.tile.0, of_tile));
        Kernel::new(in_grid(self.outer(), body))
    }

    /// What a tile of queries sums up of a block of keys, in the form in which weighted sums are scaled when they are complete.
    fn block(&self, values: &ContractPlan) -> Vec<Node> {
        let (query, key) = (self.plan.query(), self.plan.key());
        let &Softmax { extreme, relative, ref sums, weighted, .. } = self.hoisted.1;
        let of_row = self.near(Some(query), key, false);
        let powers = self.places(&[&[relative], &sums[..]].concat(), &of_row).collect();
        let mut of_block = vec![self.logits()];
        of_block.extend(self.places(&[extreme], &of_row));
        of_block.push(self.cache((weighted, values.lhs), of_row, powers));
        of_block.extend(self.tiles(values.col(), self.tile.1, vec![self.contract(values)]));
        of_block
    }

    /// The tiles of queries of a group.
    fn tiles_of_group(&self, body: Vec<Node>) -> Vec<Node> {
        if self.block_tiles() == 1 { body } else { self.tiles(self.plan.query(), self.tile.0, body) }
    }
}
