//! What the lowerings take from the module's machine: names of its spaces, register tiles.

use sutura_dialects::gir::types::Space;
use sutura_dialects::target::constraints::{Class, Owner};
use sutura_dialects::target::{RegisterTile, TargetDesc, machine_in};
use sutura_ir::{Body, Context, Type};

use crate::region::contract::{Narrow, even_height};
use crate::region::{Windows, group_bytes};

/// The machine that kernels are made for.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// Space of tiles in registers.
    pub(super) registers: Space,
    /// Space of rows that are kept near.
    pub(super) cache: Space,
    /// Space of tensors.
    pub(super) memory: Space,
    /// Bytes that a group may keep near: half of the largest cache of a core.
    pub(super) near_bytes: i64,
    /// Bytes of the nearest cache.
    pub(super) nearest_bytes: i64,
    /// Bytes that a group's allocations may take together: on a GPU those of the memory of a block, less what sums of
    /// several subgroups are handed over in.
    pub(super) group_bytes: i64,
    /// Longest row that stays near between passes over it: half of the second cache, with 4 bytes of what is read and as
    /// many of what is computed per column.
    pub(super) resident: i64,
    /// Number of vector registers, and elements of 32 bits that each holds.
    pub(super) vectors: (i64, i64),
    /// Rows and columns of register tiles of products, the best first.
    tiles: Vec<(i64, i64)>,
    /// Such tiles, and how many places of a sum an instruction for them has: where those are several, the most first.
    places: Vec<((i64, i64), i64)>,
    /// Tiles of products of narrow numbers, each of which the machine has an instruction for.
    narrow: Vec<RegisterTile>,
    /// What the units of a group have of a product whose factors lie in the group's memory, the highest first.
    group_tiles: Vec<GroupTile>,
    /// Bytes of a group's memory that leave room for other groups on the same multiprocessor.
    shared_bytes: i64,
    /// Threads of a unit, where it has several.
    threads: i64,
    /// What groups keep near.
    windows: Windows,
}

/// A product's tile of a group: one below the other those of its units, of factors of which a block lies in the group's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct GroupTile {
    /// Rows of a unit's tile.
    pub(super) rows: i64,
    /// Columns.
    pub(super) columns: i64,
    /// Places of the sum that a contraction takes.
    pub(super) step: i64,
    /// Places of the sum in the group's memory.
    pub(super) depth: i64,
    pub(super) units: i64,
    /// The group's memory.
    pub(super) space: Space,
}

/// How the machine multiplies narrow numbers.
#[derive(Clone, Debug)]
pub(super) struct NarrowUnit {
    /// The machine for such products: its tiles are those of the instruction.
    pub(super) machine: Machine,
    /// Places of a sum that the instruction takes.
    pub(super) step: i64,
    /// Places that lie side by side in panels.
    pub(super) group: i64,
    /// Where its tiles lie.
    pub(super) space: Space,
}

/// Units of a group that share factors.
const UNITS: i64 = 4;

/// Groups whose blocks of factors a multiprocessor is to hold: while one waits for memory the others compute.
const GROUPS_AT_ONCE: u64 = 3;

/// Places of the sum in the group's memory, the best first: a copy of so many takes little beside their products.
const DEPTHS: [i64; 3] = [32, 16, 8];

/// Bytes kept near where no machine says: half of a cache of 1 MiB.
const NEAR_BYTES: i64 = 1 << 19;

/// Bytes of the nearest cache where no machine says.
const NEAREST_BYTES: i64 = 1 << 15;

/// The register tile where neither options nor a machine say: 24 vectors of 64 bytes.
const TILE: (i64, i64) = (12, 32);

/// The longest row that is kept where no machine says how large its caches are.
const RESIDENT: i64 = 16384;

impl Machine {
    /// The module's machine, or one that stands for any. Rows and columns of register tiles that are not 0 replace the
    /// machine's.
    pub(super) fn of_module(cx: &Context, module: &Body, rows: i64, columns: i64) -> Result<Self, String> {
        let mut machine = match machine_in(cx, module)? {
            Some(op) => Self::described(&TargetDesc::from_op(op)?),
            None => Self::any(),
        };
        if (rows, columns) != (0, 0) {
            let (own_rows, own_columns) = machine.tiles[0];
            let or = |option: i64, own: i64| if option == 0 { own } else { option };
            machine.tiles = halved((or(rows, own_rows), or(columns, own_columns)));
        }
        Ok(machine)
    }

    fn any() -> Self {
        Self {
            registers: "vec".into(),
            cache: "l1".into(),
            memory: "dram".into(),
            near_bytes: NEAR_BYTES,
            nearest_bytes: NEAREST_BYTES,
            group_bytes: i64::MAX,
            resident: RESIDENT,
            vectors: (32, 16),
            tiles: halved(TILE),
            places: vec![],
            narrow: vec![],
            group_tiles: vec![],
            shared_bytes: i64::MAX,
            threads: 1,
            windows: Windows::Near,
        }
    }

    fn described(desc: &TargetDesc) -> Self {
        let any = Self::any();
        let name = |class: Class| desc.of_class(class).next().map(|space| Space::from(space.name.as_str()));
        let registers = desc.vector_space().map(|space| space.name.as_str().into()).or_else(|| name(Class::Reg));
        let registers = registers.unwrap_or(any.registers);
        let memory = name(Class::Dram).unwrap_or(any.memory);
        let cache = desc.caches().next().map_or_else(|| memory.clone(), |space| space.name.as_str().into());
        let fits = |t: &&RegisterTile| (t.operand, t.acc, t.kr) == (Type::F32, Type::F32, 1) && *t.space == *registers;
        let mut tiles: Vec<(i64, i64)> = desc.register_tiles.iter().filter(fits).map(|t| (t.mr, t.nr)).collect();
        tiles.sort_by_key(|(rows, columns)| std::cmp::Reverse((i128::from(*rows) * i128::from(*columns), *columns)));
        if tiles.is_empty() {
            tiles = halved(tile_for(desc));
        }
        let deep =
            |t: &&RegisterTile| t.kr > 1 && (t.operand, t.acc) == (Type::F32, Type::F32) && *t.space == *registers;
        let mut places: Vec<((i64, i64), i64)> =
            desc.register_tiles.iter().filter(deep).map(|t| ((t.mr, t.nr), t.kr)).collect();
        places.sort_by_key(|(_, places)| std::cmp::Reverse(*places));
        let narrow = desc.register_tiles.iter().filter(|t| t.kr > 1 && t.operand != t.acc).cloned().collect();
        let own = desc.caches().filter(|space| space.owner != Owner::All).filter_map(|space| space.bytes).max();
        // A thread's scratch is at most twice that of any machine.
        let near_bytes = own.map_or(NEAR_BYTES, |bytes| i64::try_from(bytes / 2).unwrap_or(i64::MAX).min(NEAR_BYTES));
        let nearest = desc.caches().next().and_then(|space| space.bytes);
        let nearest_bytes = nearest.map_or(NEAREST_BYTES, |bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
        let near = desc.caches().nth(1).or_else(|| desc.caches().next()).and_then(|space| space.bytes);
        let resident = near.map_or(RESIDENT, |bytes| i64::try_from(bytes / 16).unwrap_or(i64::MAX).max(1));
        let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX).clamp(1, 1 << 10);
        let vectors = (count(desc.registers()), count(desc.lanes(32)));
        let group_bytes = group_bytes(desc);
        let room = |bytes: u64| i64::try_from(bytes / GROUPS_AT_ONCE).unwrap_or(i64::MAX).min(group_bytes);
        let shared_bytes = desc.processor.as_ref().map_or(group_bytes, |processor| room(processor.bytes));
        let group_tiles = group_tiles(desc, &registers, shared_bytes);
        Self {
            registers,
            cache,
            memory,
            near_bytes,
            nearest_bytes,
            group_bytes,
            resident,
            vectors,
            tiles,
            places,
            narrow,
            group_tiles,
            shared_bytes,
            threads: desc.subgroup.map_or(1, count),
            windows: Windows::of(desc),
        }
    }

    /// What the units of a group have of products whose factors lie in the group's memory, the highest first.
    pub(super) fn group_tiles(&self) -> &[GroupTile] {
        &self.group_tiles
    }

    /// The memory in which units of a group share what they read, where there is one.
    pub(super) fn group_space(&self) -> Option<&Space> {
        self.group_tiles.first().map(|tile| &tile.space)
    }

    /// Bytes of a group's memory, the best first: such as leave room for other groups, and all.
    pub(super) fn group_budgets(&self) -> [i64; 2] {
        [self.shared_bytes, self.group_bytes]
    }

    /// Threads of a unit that run in lockstep, where it has several.
    pub(super) fn subgroup(&self) -> Option<i64> {
        Some(self.threads).filter(|threads| *threads > 1)
    }

    /// Whether groups keep near what they read again and again, as those of processors do.
    pub(super) fn windows(&self) -> Windows {
        self.windows
    }

    /// Bytes of a unit's vector registers.
    pub(super) fn register_bytes(&self) -> i64 {
        4 * self.vectors.0 * self.vectors.1
    }

    /// What the units of a group have of a product with register tiles so wide, and sums of so many places at most; or why they
    /// have nothing together.
    pub(super) fn group_tile(&self, columns: i64, places: i64) -> Result<GroupTile, String> {
        // For one column a thread would read as much of the left factor as for several.
        if columns <= self.threads {
            return Err(format!("with {} threads a unit none has more than a column of it", self.threads));
        }
        let Some(mut tile) = self.group_tiles.iter().find(|tile| tile.columns == columns).cloned() else {
            return Err(format!("the machine has no tile of {columns} columns that takes several places at a time"));
        };
        // A short sum is padded to fewer places.
        while tile.depth / 2 >= places.max(DEPTHS[DEPTHS.len() - 1]) {
            tile.depth /= 2;
        }
        Ok(tile)
    }

    /// How many places of a sum an instruction for such a tile has, where those are several; the most first.
    pub(super) fn places(&self, tile: (i64, i64)) -> impl Iterator<Item = i64> {
        self.places.iter().filter(move |(other, _)| *other == tile).map(|(_, places)| *places)
    }

    /// Rows and columns of register tiles of products, the best first.
    pub(super) fn tiles(&self) -> &[(i64, i64)] {
        &self.tiles
    }

    /// How products of narrow numbers are computed: tiles are those of the first instruction for them, of vectors those that the machine
    /// has for other products before the rest. `None` where it has none.
    pub(super) fn for_narrow(&self, factors: &Narrow) -> Option<NarrowUnit> {
        let fits = |t: &&RegisterTile| (t.operand, t.unsigned, t.acc) == (factors.elem, factors.unsigned, factors.acc);
        let own: Vec<&RegisterTile> = self.narrow.iter().filter(fits).collect();
        let first = *own.first()?;
        let own: Vec<(i64, i64)> = own.iter().filter(|t| t.name == first.name).map(|t| (t.mr, t.nr)).collect();
        let vectors = first.space == *self.registers;
        let of_others = self.tiles.iter().copied().filter(|tile| vectors && own.contains(tile));
        let mut tiles: Vec<(i64, i64)> = of_others.collect();
        if tiles.is_empty() {
            tiles = own;
            tiles
                .sort_by_key(|(rows, columns)| std::cmp::Reverse((i128::from(*rows) * i128::from(*columns), *columns)));
        }
        let machine = Self { tiles, ..self.clone() };
        let group = if first.interleave > 1 { first.interleave } else { first.kr };
        Some(NarrowUnit { machine, step: first.kr, group, space: first.space.as_str().into() })
    }

    /// True for registers that only an instruction for products computes with.
    pub(super) fn only_multiplies(&self, space: &str) -> bool {
        *space != *self.registers && self.narrow.iter().any(|tile| tile.space == space)
    }

    /// The least height of tiles so wide of an instruction for narrow numbers that is at least `rows`, or else its greatest one; `rows`
    /// where the machine has none for them.
    pub(super) fn narrow_height(&self, factors: &Narrow, (rows, columns): (i64, i64)) -> i64 {
        let fits = |t: &&RegisterTile| (t.operand, t.unsigned, t.acc) == (factors.elem, factors.unsigned, factors.acc);
        let heights = || self.narrow.iter().filter(fits).filter(|t| t.nr == columns).map(|t| t.mr);
        heights().filter(|height| *height >= rows).min().or(heights().max()).unwrap_or(rows)
    }

    /// The machine with this register tile before all others, in place of those that are as wide.
    pub(super) fn with_tile(&self, tile: (i64, i64)) -> Self {
        let others = self.tiles.iter().copied().filter(|other| other.1 != tile.1);
        Self { tiles: std::iter::once(tile).chain(others).collect(), ..self.clone() }
    }

    /// The register tile for a product of at most so many rows and columns: the narrowest that holds all columns, or the
    /// best one.
    pub(super) fn tile(&self, rows: i64, columns: i64) -> (i64, i64) {
        let enough = self.tiles.iter().map(|(_, width)| *width).filter(|width| *width >= columns);
        let width = enough.min().unwrap_or(self.tiles[0].1);
        let height = self.tiles.iter().filter(|tile| tile.1 == width).map(|(height, _)| *height).max();
        (height.unwrap_or(1).min(rows.max(1)), width)
    }

    /// The register tile for a product of `least` to `most` rows and so many columns at most, and lower ones that are as
    /// wide for few rows, the lowest first, where there may be few and many.
    pub(super) fn tile_and_lower(&self, (least, most): (i64, i64), columns: i64) -> ((i64, i64), Vec<LowerTile>) {
        // Intrinsics of devices have the heights that they have.
        if least == most && self.windows() == Windows::Near {
            return (self.even_tile((least, most), columns), Vec::new());
        }
        let mut tile = self.tile(most, columns);
        let mut lower = self.lower_tiles(tile);
        let computed = |height: i64| most.saturating_add(height - 1) / height * height;
        if let Some(half) = lower.pop_if(|lower| most <= lower.most)
            && (least != most || computed(half.rows) < computed(tile.0))
        {
            tile.0 = half.rows;
        }
        lower.retain(|lower| least <= lower.most);
        (tile, lower)
    }

    /// The register tile for a product of `least` to `most` rows and so many columns at most: where the number of rows is known,
    /// tiles are as even as they can be.
    pub(super) fn even_tile(&self, (least, most): (i64, i64), columns: i64) -> (i64, i64) {
        let tile = self.tile(most, columns);
        match least == most {
            true if most <= self.highest(tile.1) => (most.max(1), tile.1),
            true => (even_height(most, tile.0), tile.1),
            false => tile,
        }
    }

    /// Rows of a tile so wide whose sums fit the registers beside a row of the right factor and a number of the left one.
    fn highest(&self, columns: i64) -> i64 {
        let vectors = (columns / self.vectors.1.max(1)).max(1);
        ((self.vectors.0 - 1) / vectors - 1).min(HIGHEST)
    }

    fn lower_tiles(&self, (rows, columns): (i64, i64)) -> Vec<LowerTile> {
        // Half the rows of a tile are worked with nearly as fast, and at most half a tile is computed in vain.
        let half = |lower: i64| lower >= rows - lower && self.tiles.contains(&(rows, columns));
        let lower = self.tiles.iter().filter(|tile| tile.1 == columns && tile.0 < rows).map(|tile| tile.0);
        let lower = lower.map(|lower| LowerTile {
            rows: lower,
            most: if half(lower) { FEW_TILES.saturating_mul(rows) } else { lower },
        });
        let mut lower: Vec<LowerTile> = lower.collect();
        lower.sort_by_key(|lower| lower.rows);
        lower
    }
}

/// A register tile for few rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LowerTile {
    /// Rows of the tile.
    pub(super) rows: i64,
    /// Most rows of a product that it is for.
    pub(super) most: i64,
}

/// Most rows of a tile that is all of a product.
const HIGHEST: i64 = 14;

/// High tiles up to which half of a tile that is computed in vain weighs more than what they do faster.
const FEW_TILES: i64 = 4;

/// The tiles of a machine whose groups have memory of their own, for contractions over several places at a time.
fn group_tiles(desc: &TargetDesc, registers: &Space, bytes: i64) -> Vec<GroupTile> {
    let managed = desc.of_class(Class::Sram).find(|space| space.managed && space.owner == Owner::Group);
    let Some(space) = managed.filter(|space| space.bytes.is_some()) else { return vec![] };
    let space = Space::from(space.name.as_str());
    let steps = desc
        .register_tiles
        .iter()
        .filter(|tile| (tile.operand, tile.acc) == (Type::F32, Type::F32) && tile.kr > 1 && *tile.space == **registers);
    let of_group = |tile: &RegisterTile| {
        let (rows, columns) = (tile.mr, tile.nr);
        // What is too much to be counted does not fit.
        let lines = UNITS.checked_mul(rows).and_then(|rows| rows.checked_add(columns))?;
        let fits =
            |depth: &i64| depth % tile.kr == 0 && lines.checked_mul(4 * depth).is_some_and(|needed| needed <= bytes);
        let depth = DEPTHS.into_iter().find(fits)?;
        Some(GroupTile { rows, columns, step: tile.kr, depth, units: UNITS, space: space.clone() })
    };
    let mut tiles: Vec<GroupTile> = steps.filter_map(of_group).collect();
    tiles.sort_by_key(|tile| std::cmp::Reverse(tile.rows));
    tiles
}

/// A tile, and one of half as many columns, which wastes less where there are few.
fn halved((rows, columns): (i64, i64)) -> Vec<(i64, i64)> {
    let half = (columns / 2 > 0).then_some((rows, columns / 2));
    [(rows, columns)].into_iter().chain(half).collect()
}

/// A tile for a machine that describes no intrinsic for one: two vectors wide, and as many rows as leave registers for the
/// operands.
fn tile_for(desc: &TargetDesc) -> (i64, i64) {
    let rows = (desc.registers().saturating_sub(4) / 2).clamp(1, 12);
    (rows as i64, 2 * i64::try_from(desc.lanes(32)).unwrap_or(1).min(512))
}

#[cfg(test)]
mod tests {
    use sutura_dialects::target::Finder;

    use super::*;

    fn described(name: &str) -> Machine {
        let cx = crate::testing::context();
        Machine::described(&Finder::default().find(&cx, name).unwrap().desc)
    }

    #[test]
    fn tiles_are_those_of_the_machine() {
        let many = i64::MAX;
        for (machine, whole, few) in [
            (Machine::any(), (12, 32), (12, 16)),
            (described("x86_avx512"), (12, 32), (12, 16)),
            (described("x86_avx2"), (6, 16), (6, 8)),
            (described("generic"), (4, 8), (4, 4)),
        ] {
            assert_eq!(machine.tile(many, many), whole);
            assert_eq!(machine.tile(many, whole.1), whole);
            assert_eq!(machine.tile(many, few.1 + 1), whole);
            assert_eq!(machine.tile(many, few.1), few);
            assert_eq!(machine.tile(many, 0), few);
            assert_eq!((machine.tile(3, many).0, machine.tile(0, many).0), (3, 1));
        }
    }

    #[test]
    fn few_rows_get_a_lower_tile_that_is_as_wide() {
        for (name, tile, lower) in [
            ("x86_avx512", (12, 32), &[(4, 4), (6, 48)][..]),
            ("x86_avx512", (6, 32), &[(4, 24)]),
            ("x86_avx512", (12, 16), &[]),
            ("x86_avx2", (6, 16), &[(2, 2)]),
            ("generic", (4, 8), &[]),
        ] {
            let found: Vec<_> =
                described(name).lower_tiles(tile).iter().map(|lower| (lower.rows, lower.most)).collect();
            assert_eq!(found, lower, "{name}");
        }
    }

    #[test]
    fn products_of_known_sizes_have_one_tile() {
        let machine = described("x86_avx512");
        let many = i64::MAX;
        for (rows, tile, lower) in [
            ((1, many), (12, 32), &[4, 48][..]),
            ((49, many), (12, 32), &[]),
            ((5, many), (12, 32), &[48]),
            ((1, 40), (6, 32), &[4]),
            ((24, 24), (12, 32), &[]),
            ((17, 17), (9, 32), &[]),
            ((16, 16), (8, 32), &[]),
            ((13, 13), (13, 32), &[]),
            ((1, 8), (8, 32), &[4, 6]),
            ((8, 8), (8, 32), &[]),
            ((3, 3), (3, 32), &[]),
        ] {
            let (found, below) = machine.tile_and_lower(rows, many);
            let below: Vec<i64> = below.iter().map(|lower| lower.most).collect();
            assert_eq!((found, &below[..]), (tile, lower), "{rows:?}");
        }
    }

    #[test]
    fn a_machine_without_intrinsics_gets_a_tile_that_fits_its_registers() {
        let cx = crate::testing::context();
        let finder = Finder::default();
        for (name, tile) in [("x86_avx512", (12, 32)), ("x86_avx2", (6, 16)), ("generic", (6, 8))] {
            let mut desc = finder.find(&cx, name).unwrap().desc;
            desc.register_tiles.clear();
            assert_eq!(Machine::described(&desc).tiles[0], tile);
            desc.spaces.retain(|space| space.class == Class::Dram);
            let machine = Machine::described(&desc);
            assert_eq!((machine.tiles[0], &*machine.cache), ((1, 2), "dram"), "scalars, and no cache");
        }
    }
}
