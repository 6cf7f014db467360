//! One kernel: what it takes, its grid, and how its parts find their memory.

use std::collections::{BTreeSet, HashMap};

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::kernel::Mode;
use sutura_dialects::gir::types::ViewType;
use sutura_dialects::schedule::{Bring, Kernel as KernelTree, Loop, Node, Runs, Split, walk};
use sutura_ir::Value;

use super::super::kernel::{Built, Emit, Header, build};
use super::super::region::{Arg, Launch};
use super::super::stages::Known;
use super::caches::Said;
use super::flow::{Contents, Flow, Holds, Key, Packed};
use super::nodes::{Inside, State, Units};
use super::parts::{Joined, Partial};
use super::products::{PackedLoop, PackedView};
use super::ranges::{Counted, Ranges};
use super::scatter::Written;
use super::{REFUSED, Region, panels};
use crate::region::contract::narrow_factors;
use crate::region::cost::body_cost;

/// What a kernel takes, by what it is for, in the order of its parameters.
struct Ports {
    reads: Vec<Value>,
    joins: Vec<(Key, Poly)>,
    operands: Vec<((usize, usize), Packed)>,
    writes: Vec<Value>,
    partial: Vec<(Key, Poly, usize)>,
    packs: Option<((usize, usize), Packed)>,
    all: Vec<((Arg, ViewType), Mode)>,
}

impl<'a> Region<'_, 'a> {
    /// A kernel that is launched where `before` is known, and behind which `later` ones come; what it leaves goes to `after`.
    /// With it comes what it writes.
    pub(super) fn launch(
        &self,
        tree: &KernelTree,
        later: &[&KernelTree],
        (before, after): (&Flow, &mut Flow),
    ) -> Built<(Launch, Vec<Arg>)> {
        let later: Vec<Contents<'_>> = later.iter().map(|kernel| Contents::of(kernel)).collect();
        let contents = Contents::of(tree);
        let ports = self.ports(tree, &contents, &later, before);
        if ports.writes.is_empty() && ports.partial.is_empty() && ports.packs.is_none() {
            let message = format!("{REFUSED}: a kernel makes nothing that is needed");
            return Emit::unsupported(self.region.op, &message);
        }
        after.stored.extend(ports.writes.iter().copied());
        after.parts.extend(ports.partial.iter().map(|(key, count, _)| (*key, count.clone())));
        after.packed.extend(ports.packs.clone());
        let written = ports.all.iter().filter(|(_, mode)| *mode != Mode::In).map(|((arg, _), _)| *arg).collect();
        Ok((self.kernel(tree, &contents, ports, before)?, written))
    }

    fn ports(&self, tree: &KernelTree, contents: &Contents<'_>, later: &[Contents<'_>], flow: &Flow) -> Ports {
        let nest = self.nest;
        let is_packed = |s: usize, i: usize| flow.packed.contains_key(&(s, i));
        let mut reads: Vec<Value> = Vec::new();
        for read in contents.reads(nest, &is_packed) {
            let made = read.slot.is_some() || nest.moved_maker(read).is_some();
            let outside = !made || flow.stored.contains(&read.value);
            if outside && !reads.contains(&read.value) {
                reads.push(read.value);
            }
        }
        let joins: Vec<(Key, Poly)> = contents
            .joined
            .iter()
            .flat_map(|s| self.keys(*s))
            .map(|key| (key, flow.parts.get(&key).cloned().unwrap_or_else(|| 1.into())))
            .collect();
        let used = contents.placed.iter().flat_map(|s| (0..nest.stages[*s].inputs.len()).map(move |i| (*s, i)));
        let operands = used.filter_map(|at| Some((at, flow.packed.get(&at)?.clone()))).collect::<Vec<_>>();
        let grid = grid_loops(tree);
        let part = |key: &Key| {
            let number = contents.part_of(nest, key.0).filter(|_| !contents.joined.contains(&key.0))?;
            Some((*key, self.trips(grid[number]), number))
        };
        let keys = || contents.joined.iter().chain(&contents.placed).flat_map(|s| self.keys(*s));
        let partial: Vec<(Key, Poly, usize)> = keys().filter_map(|key| part(&key)).collect();
        let packed_by_then =
            |s, i| is_packed(s, i) || contents.packs(s, i) || later.iter().any(|kernel| kernel.packs(s, i));
        let mut writes: Vec<Value> = Vec::new();
        for key in keys().filter(|key| !nest.stages[key.0].copy && part(key).is_none()) {
            let value = self.value(key);
            let wanted = self.region.outputs.contains(&value)
                || later.iter().any(|kernel| kernel.needs(nest, value, &packed_by_then));
            if wanted && !flow.stored.contains(&value) && !writes.contains(&value) {
                writes.push(value);
            }
        }
        let mut all: Vec<((Arg, ViewType), Mode)> = reads.iter().map(|v| (self.tensor(*v), Mode::In)).collect();
        all.extend(joins.iter().map(|(key, count)| (self.place(*key, Some(count)), Mode::In)));
        all.extend(operands.iter().map(|(_, packed)| ((packed.arg, packed.view.clone()), Mode::In)));
        let over_data = |v: &Value| nest.made.get(v).is_some_and(|(s, _)| nest.stages[*s].scatter.is_some());
        let mode = |v: &Value| if over_data(v) { Mode::InOut } else { Mode::Out };
        all.extend(writes.iter().map(|v| (self.tensor(*v), mode(v))));
        all.extend(partial.iter().map(|(key, count, _)| (self.place(*key, Some(count)), Mode::Out)));
        let packs = self.packs(&tree.body, &mut Vec::new());
        all.extend(packs.iter().map(|(_, packed)| ((packed.arg, packed.view.clone()), Mode::Out)));
        Ports { reads, joins, operands, writes, partial, packs, all }
    }

    /// The operand that a kernel packs: its memory has a dimension for each loop around it, and one for its columns.
    fn packs(&self, nodes: &[Node], around: &mut Vec<Loop>) -> Option<((usize, usize), Packed)> {
        nodes.iter().find_map(|node| match node {
            Node::Loop(l) => {
                around.push(Loop { body: vec![], ..l.clone() });
                let found = self.packs(&l.body, around);
                around.pop();
                found
            }
            Node::Operand(operand) if operand.to == Bring::Pack => {
                let at = (operand.stage.number, operand.input);
                let narrow = narrow_factors(self.nest, &self.nest.stages[at.0]).is_some();
                // A tile that is turned has several places of a dim, each of which has its own in memory.
                let one = |l: &Loop| match operand.tile.rows.filter(|rows| !narrow && *rows == l.dim) {
                    Some(_) => Split::One,
                    None => l.split,
                };
                let ones = around.iter().map(|l| Loop::new(l.dim, one(l), l.runs, vec![]));
                let around: Vec<Loop> = ones.collect();
                let mut dims: Vec<Poly> = around.iter().map(|l| self.trips(l)).collect();
                let col = operand.tile.cols.map(|dim| dim.0);
                let tile = around.iter().rev().find(|l| Some(l.dim.0) == col).and_then(|l| match l.split {
                    Split::By(by) => Some(by.into()),
                    _ => None,
                });
                dims.extend(col.map(|col| tile.unwrap_or_else(|| self.nest.extents[col].clone())));
                // Places of a sum that are multiplied together lie side by side.
                let together =
                    operand.tile.rows.filter(|_| narrow).and_then(|row| around.iter().rev().find(|l| l.dim == row));
                dims.extend(together.and_then(|l| if let Split::By(by) = l.split { Some(by.into()) } else { None }));
                let elem = self.factor_elem(at);
                let view = ViewType::new(&self.region.machine.memory, elem, dims);
                let arg = self.temporaries.borrow_mut().of(Holds::Operand(self.part, at, view.clone()), view.clone());
                let loops = around.iter().map(|l| (l.dim.0, l.split)).collect();
                let (tile, grouped) = (operand.tile.clone(), narrow && operand.tile.rows.is_some());
                Some((at, Packed { arg, view, loops, tile, grouped }))
            }
            _ => None,
        })
    }

    fn kernel(&self, tree: &KernelTree, contents: &Contents<'_>, ports: Ports, flow: &Flow) -> Built<Launch> {
        let (nest, region) = (self.nest, self.region);
        let extra = self.sizes(tree, contents, &ports);
        let grid: Vec<Poly> = grid_loops(tree).into_iter().map(|l| self.trips(l)).collect();
        let views = ports.all.iter().flat_map(|((_, view), _)| &view.dims);
        let known: BTreeSet<_> = views.chain(&grid).chain(&extra).flat_map(Poly::symbols).collect();
        // What joins parts is the same whatever the sizes are from which on there are parts; and a kernel does not ask for sizes
        // that it knows nothing of.
        let told = |size: &Poly| region.facts.prove_non_negative(size);
        let asks = |size: &&Poly| contents.joined.is_empty() && size.symbols().is_subset(&known) && !told(size);
        let rooms = self.rooms(tree, contents, &ports);
        let requires = self.guard.iter().filter(asks).cloned().chain(rooms).collect();
        let units = self.units(tree).or_else(|why| Emit::unsupported(region.op, &format!("{REFUSED}: {why}")))?;
        let header = Header {
            loc: region.op.loc(),
            views: ports.all.iter().map(|((_, view), mode)| (view.clone(), *mode)).collect(),
            grid,
            units,
            threads: tree.threads,
            requires,
            extra,
            symbols: nest.symbols.clone(),
        };
        let work = self.work(contents, &ports);
        let kernel = build(nest.cx, &region.facts, header, |e| self.body(e, (tree, units), &ports, flow))?;
        let args = ports.all.into_iter().map(|((arg, _), _)| arg).collect();
        Ok(Launch { kernel, args, work, beside: false })
    }

    /// Sizes that the inside of a kernel computes with. No others: with known ones the compiler can run the kernel.
    fn sizes(&self, tree: &KernelTree, contents: &Contents<'_>, ports: &Ports) -> Vec<Poly> {
        let nest = self.nest;
        let tensors = ports.reads.iter().chain(&ports.writes).filter_map(|v| nest.shapes.get(v));
        let mut sizes: Vec<Poly> = tensors.flatten().cloned().collect();
        let operands = contents.operands.iter().map(|operand| operand.stage.number);
        for stage in contents.placed.iter().copied().chain(contents.joined.iter().copied()).map(|s| &nest.stages[s]) {
            sizes.extend(stage.dims.iter().map(|d| nest.extents[*d].clone()));
            sizes.extend(self.region.sizes_in(stage.op));
            sizes.extend(nest.sizes_in_reads(stage));
        }
        operands.for_each(|s| sizes.extend(nest.sizes_in_reads(&nest.stages[s])));
        walk(&tree.body, &mut |node| {
            if let Node::Loop(l) = node {
                sizes.push(nest.extents[l.dim.0].clone());
            }
            sizes.extend(node.sizes().iter().cloned());
        });
        sizes
    }

    /// By how much tensors are longer than what runs along them, where the kernel cannot tell that this is not negative.
    fn rooms(&self, tree: &KernelTree, contents: &Contents<'_>, ports: &Ports) -> Vec<Poly> {
        let (nest, facts) = (self.nest, &self.region.facts);
        let mut rooms = Vec::new();
        walk(&tree.body, &mut |node| {
            if let Node::Place(place) = node {
                let col = place.tile.cols.map(|dim| dim.0);
                rooms.extend(Written::of(nest, &nest.stages[place.stage.number], facts, col).known);
            }
        });
        let reads = contents.placed.iter().flat_map(|s| nest.stages[*s].reads());
        rooms.extend(self.region.rooms(nest, reads.filter(|read| ports.reads.contains(&read.value))));
        let mut seen: Vec<Poly> = Vec::new();
        rooms.retain(|room| {
            !seen.contains(room) && {
                seen.push(room.clone());
                true
            }
        });
        rooms
    }

    /// Scalar operations of all groups together.
    fn work(&self, contents: &Contents<'_>, ports: &Ports) -> Poly {
        let stages = contents.placed.iter().map(|s| {
            let stage = &self.nest.stages[*s];
            let points = Poly::product(stage.dims.iter().map(|d| &self.nest.extents[*d]));
            points.scale(i64::from(body_cost(stage.body)).max(1))
        });
        let joined = ports.joins.iter().map(|(key, count)| self.place(*key, Some(count)).1.elements());
        let packed = ports.packs.iter().map(|(_, packed)| packed.view.elements());
        stages.chain(joined).chain(packed).fold(Poly::default(), |sum, w| sum.add(&w))
    }

    /// Units of a group: trips of the loop over them.
    pub(super) fn units(&self, tree: &KernelTree) -> Result<i64, String> {
        let Some(l) = units_loop(tree) else { return Ok(1) };
        let around = grid_loops(tree).into_iter().find(|outer| outer.dim == l.dim).map(|outer| outer.split);
        let all = match around {
            Some(Split::By(by)) => Some(by),
            Some(_) => None,
            None => self.nest.extents[l.dim.0].as_const(),
        };
        let units = match (all, l.split) {
            (Some(all), Split::By(by)) => Some(all / by + i64::from(all % by != 0)),
            (Some(all), Split::One) => Some(all),
            _ => None,
        };
        let some = units.filter(|units| (1..=MOST_UNITS).contains(units));
        some.ok_or_else(|| format!("the loop over {} has no number of units from 1 to {MOST_UNITS}", l.dim))
    }

    fn body(&self, e: &mut Emit<'_>, (tree, count): (&KernelTree, i64), ports: &Ports, flow: &Flow) -> Built<()> {
        let (mut ranges, mut nodes) = (Ranges::whole(e, &self.walk), &tree.body[..]);
        for trip in e.grid.clone() {
            let [Node::Loop(l)] = nodes else { unreachable!("one index of the grid for each of its loops") };
            ranges.0[l.dim.0] = self.of_trip(e, l, trip);
            nodes = &l.body;
        }
        let mut units = None;
        if let (Some(l), Some(unit)) = (units_loop(tree), e.unit) {
            let (dim, around) = (l.dim.0, ranges.0[l.dim.0]);
            ranges.0[dim] = self.within(e, l, (around, unit), Counted { absolute: false, ending: false });
            units = Some(Units { dim, unit, count, around });
            nodes = &l.body;
        } else if let Some(l) = units_loop(tree) {
            // The one unit has all.
            nodes = &l.body;
        }
        let mut views = e.views.clone().into_iter();
        let mut next = || views.next().expect("one view per port");
        let mut known = Known::of_stored(flow.stored.clone());
        let reads: Vec<Value> = ports.reads.iter().map(|_| next()).collect();
        let mut joined: HashMap<usize, Joined> = HashMap::new();
        for (key, count) in &ports.joins {
            let of = joined.entry(key.0).or_insert_with(|| Joined { count: count.clone(), views: vec![] });
            of.views.push(next());
        }
        let of_loop = |(dim, _): &(usize, Split)| PackedLoop { dim: *dim, first: None };
        let loops = |packed: &Packed| packed.loops.iter().map(of_loop).collect();
        let of_operand =
            |view: Value, packed: &Packed| PackedView { view, loops: loops(packed), grouped: packed.grouped };
        let packed = ports.operands.iter().map(|(at, packed)| (*at, of_operand(next(), packed))).collect();
        let writes: Vec<Value> = ports.writes.iter().map(|_| next()).collect();
        for (value, view) in ports.reads.iter().zip(reads).chain(ports.writes.iter().zip(writes)) {
            let view = self.shaped(e, *value, view);
            known.views.insert(*value, view);
        }
        let grid = e.grid.clone();
        let partial = ports.partial.iter().map(|(key, _, number)| {
            let index = self.nest.stages[key.0].results[key.1].index.clone();
            (self.value(*key), Partial { view: next(), index, part: grid[*number] })
        });
        let partial = partial.collect();
        let packs = ports.packs.as_ref().map(|(_, packed)| of_operand(next(), packed));
        let counted = panels::counted(tree);
        let (writes, said) = (ports.writes.clone(), Said::of(self.nest, tree));
        let inside = Inside { of: *self, writes, partial, joined, packed, packs, counted, units, said };
        inside.nodes(e, &ranges, nodes, &mut known, &mut State::default())
    }

    /// The view as accesses index it.
    fn shaped(&self, e: &mut Emit<'_>, value: Value, view: Value) -> Value {
        match self.nest.shapes.get(&value) {
            Some(sizes) => e.reshaped(view, sizes),
            None => view,
        }
    }
}

/// Most units of a group.
const MOST_UNITS: i64 = 32;

/// The loop over the units of a kernel's groups.
fn units_loop(tree: &KernelTree) -> Option<&Loop> {
    match &grid_loops(tree).last().map_or(&tree.body, |l| &l.body)[..] {
        [Node::Loop(l)] if l.runs == Runs::Units => Some(l),
        _ => None,
    }
}

/// The loops of a kernel's grid, outermost first.
fn grid_loops(tree: &KernelTree) -> Vec<&Loop> {
    let (mut loops, mut nodes) = (Vec::new(), &tree.body[..]);
    while let [Node::Loop(l)] = nodes
        && l.is_grid()
    {
        loops.push(l);
        nodes = &l.body;
    }
    loops
}
