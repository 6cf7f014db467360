//! `#schedule.tree<…>`: the tree as an attribute.

use std::fmt::Write;

use sutura_ir::asm::parse::ParamParser;
use sutura_ir::diagnostics::Reported;
use sutura_ir::ext::{DialectAttr, ParamDef, ParamInfo, ParamValue, VerifyParams};
use sutura_ir::op_def::{AttrConstraint, AttrConstraintDef, AttrSyntax};
use sutura_ir::{Attr, Context};

use super::text;
use super::tree::{Version, walk_mut};
use crate::r#dyn::Poly;

/// A schedule of a region: its kernels as loops around places where its stages are computed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TreeAttr {
    /// Whole programs; the first one whose guard holds runs.
    pub versions: Vec<Version>,
}

impl TreeAttr {
    /// The interned value with these parameters, which are not checked.
    pub fn get(cx: &Context, versions: Vec<Version>) -> Attr {
        cx.ext_attr(Self { versions })
    }

    /// The parameters, if it is one.
    pub fn of(cx: &Context, attr: Attr) -> Option<&Self> {
        cx.attr_as::<Self>(attr)
    }

    /// Reads what follows the name, and checks it.
    ///
    /// # Errors
    /// When it is malformed, or when its parts do not fit each other.
    pub fn parse_params(p: &mut dyn ParamParser) -> Result<Self, Reported> {
        let tree = text::parse(p)?;
        match tree.verify_params(p.cx()) {
            Ok(()) => Ok(tree),
            Err(message) => {
                let start = p.start();
                Err(p.error_at(start, &message))
            }
        }
    }

    /// The tree with every size of its guards and clauses replaced by what `replace` gives for it.
    ///
    /// # Errors
    /// The first that `replace` gives.
    pub fn map_sizes<E>(&self, replace: &mut dyn FnMut(&Poly) -> Result<Poly, E>) -> Result<Self, E> {
        let mut mapped = self.clone();
        for size in mapped.versions.iter_mut().flat_map(|version| &mut version.guard) {
            *size = replace(size)?;
        }
        let mut replaced = Ok(());
        let launches = mapped.versions.iter_mut().flat_map(|version| &mut version.launches);
        for kernel in launches.flat_map(|launch| &mut launch.kernels) {
            walk_mut(&mut kernel.body, &mut |node| {
                for size in node.sizes_mut() {
                    match replace(size) {
                        Ok(new) => *size = new,
                        Err(error) => replaced = Err(error),
                    }
                }
            });
        }
        replaced.map(|()| mapped)
    }
}

impl ParamValue for TreeAttr {
    const NAME: &'static str = "schedule.tree";

    fn print(&self, cx: &Context, out: &mut dyn Write) -> std::fmt::Result {
        text::print(self, cx, out)
    }

    fn verify(&self, cx: &Context) -> Result<(), String> {
        self.verify_params(cx)
    }
}

impl DialectAttr for TreeAttr {
    const DEF: ParamDef = ParamDef {
        name: Self::NAME,
        summary: "A schedule of a region: its kernels as loops around places where its stages are computed.",
        description: DESCRIPTION,
        format: FORMAT,
        params: &[ParamInfo {
            name: "versions",
            ty: "Vec<Version>",
            description: "Whole programs; the first one whose guard holds runs.",
            optional: false,
        }],
    };

    fn parse(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
        let tree = Self::parse_params(p)?;
        Ok(p.cx().ext_attr(tree))
    }
}

impl AttrConstraintDef for TreeAttr {
    type Get<'a> = &'a Self;
    type Set<'a> = Self;
    const CONSTRAINT: AttrConstraint = AttrConstraint {
        name: "TreeAttr",
        description: "#schedule.tree attribute",
        check: |cx, attr| cx.attr_as::<Self>(attr).is_some(),
        syntax: AttrSyntax::Plain,
    };

    fn get(cx: &Context, attr: Attr) -> Option<&Self> {
        cx.attr_as::<Self>(attr)
    }

    fn set(cx: &Context, value: Self) -> Attr {
        cx.ext_attr(value)
    }
}

/// The grammar of what follows the name.
const FORMAT: &str = "<version…>";

/// What users read.
const DESCRIPTION: &str = "\
A schedule of a region: its kernels as loops around places where its stages are computed.

It says where and when, never what: the region says that. Dims (`d0`) and stages (`max:0`) are those of the region's normal
form. A stage has a number, which counts, and the name of what it makes, which only people read; a name that is no word is in
quotes. White space is free.

A version is a whole program; the first one whose guard holds runs, and the last one has no guard. A guard is a list of sizes
that must be at least 0. Dims and stages are those of the region where the guard holds. A version begins with how the normal form
becomes another one of the same. `join d0 d2` makes two dims one that are equally long: `d2` is gone. `fuse d0 d1` makes two
dims one that lie side by side in memory: `d0` is gone. Dims behind the one that is gone are counted anew. `hoist p:4 out:5` lets
a sum add up what stage 4 scales, and stage 4 scale the sum: `sum(e / s * v)` becomes `sum(e * v) / s`. The two trade places:
number 4 is the sum then, and number 5 what scales it. This rounds otherwise, and may overflow where no term did. Then the version launches kernels in order.
`together` launches several at once; nothing flows between them.

A kernel holds nodes:

- `loop d0 by 16 { … }` loops over a dim, or over what loops around it have left of it. A trip has 16 indices, the last one may
  have fewer; with `even 64` it has one of 64 parts, which are as even as they can be; with neither it has one index. The trips
  of a loop of the `grid` are groups, which run in any order. Such loops come first, each alone in the one before. The trips of a
  loop over `units` are units of one group, which run at once; such a loop is alone in the loops of the grid.
  A sum whose place lies in loops over what it makes is kept in the group's memory from trip to trip.
- `loop d1 by 256 online max:1 { … }` uses the largest or smallest number along its dim before it is complete. One stage may read
  it, as `exp(x - m)` or `exp2(x - m)` (`m - x` of the smallest), and only sums of the loop, or sums of products, may read what that
  makes. They are rescaled when the number changes.
- `place max:0` computes a stage; with `columnwise` what is combined along the columns of its tile is combined for each column on
  its own until the loop ends. `contract prod:3` computes a sum of products as one contraction of tiles, over one index of what
  is summed or over as many as a loop has left, where both factors are shared by units.
- `place exp:2 cols d1 in l1 home out:4` lets the tile lie, from there on, where stage 4 is stored, an output that is placed behind it in the
  same loop. `place out:4 cols d1 in l1 stream when [8*M*N - 65536] defer` stores an output past the caches where no size is negative,
  always without `when`; with `defer` the store may wait for the next group. `kept` stores it to the caches. What a schedule does
  not say of the caches is filled in from the numbers of the machine.
- `join sum:1` joins the parts of what a stage combines.
- `cache prod:3.0` keeps all that what follows in this loop reads of input 0 of stage 3 in the group's memory, padded. A tensor is
  copied, line by line; with a body of loops around `operand prod:3.0` it lies as they say, a dimension for each and the tile's
  columns last. What the region makes has a body that computes it, `cache prod:3.0 … { … }`; what reads it behind that reads it
  there. Places before an `operand` in loops make what it copies. In the memory that the units of a group share, each copies its share
  of the rows of the tile, or makes it of tensors, or makes its own rows. There `pitch 68` has 68 elements from a row to the next, and
  what is `ahead` is read a phase before: behind what is shared before it, or by the trip before; of what is made of tensors, that is
  one with all rows and columns of the tile. It takes the memory of something alike that nothing behind it reads. What is `async` is copied to memory of
  its own without registers, where the machine can: each trip begins the copy for the next one behind the last node that reads it.
- `operand exp:2.0` brings a window of input 0 of stage 2 here; with `prefetch(4096, next when [65536 - N])` a loop that streams asks
  for what lies so many bytes ahead, and rows of the next group are asked for meanwhile. Either may be left out.
  `pack prod:3.1` writes it to memory of its own, for later kernels. Contractions read panels whose columns are columns of
  the product. A `place` of the sum reads panels whose columns are places of the sum, on padded tiles of these columns.

All but loops have a tile: `rows d0 cols d1 in l1 padded`. A tile has rows along one dim and columns along another; of
every other dim it has one index. It lies in the space after `in`. `padded` reads what lies beyond the end of a tensor as zero,
so that all tiles are whole. Each of the four may be left out.

```mlir
#schedule.tree<
  version when [N - 16384] {
    join d0 d3
    kernel {
      loop d0 grid {
        place max:0 cols d1 in l1
        loop d2 by 16 { place sum:1 cols d1 in l1 }
      }
    }
  }
  version {
    kernel {
      loop d0 grid { place max:0 cols d1 in l1 }
    }
    together {
      kernel { contract prod:1 rows d0 cols d1 in vec }
      kernel { pack prod:2.1 cols d1 in vec padded }
    }
  }
>
```";
