//! Products: panels of the right factor, packed; tiles of the product in registers, with what follows computed on them.
//!
//! The register tile and the panels are those of Goto and van de Geijn, "Anatomy of high-performance matrix multiplication"
//! (ACM TOMS 2008), with as many batch, row and column dims as the region has. Several products of one left factor are one
//! launch.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Bring, Dim, Kernel, Launch, Node, Operand, Place, Split, Tile, Version};

use super::super::contract::{Few, Product};
use super::super::schedule::{Part, begin_of};
use super::{each, in_grid, place, stage_name};

/// The schedule of products whose left factors are tensors: a launch for all of them, and before it what packs their right
/// factors.
pub(in super::super) fn schedule(products: &[Product<'_, '_>], parts: &[Part<'_, '_>]) -> Vec<Version> {
    let numbered = |part: usize, kernel: Kernel| {
        let (dims, stages) = begin_of(parts, part);
        kernel.renumbered(dims as isize, stages as isize)
    };
    let (mut first, mut packing) = (Vec::new(), Vec::new());
    for (part, product) in products.iter().enumerate().filter(|(_, product)| product.packs) {
        let kernel = numbered(part, pack_kernel(product));
        // The compiler runs what packs a constant, so that stays by itself.
        match product.packs_constants() {
            true => first.push(Launch { kernels: vec![kernel] }),
            false => packing.push(kernel),
        }
    }
    first.extend((!packing.is_empty()).then_some(Launch { kernels: packing }));
    // A version that comes after one for more rows would never run.
    let mut few: Vec<Few> = products.iter().flat_map(Product::lower_versions).collect();
    few.sort_by_key(|few| few.most);
    few.dedup();
    let version = |few: Option<&Few>| {
        let rows = |product: &Product<'_, '_>| few.and_then(|few| product.lower_tile(few)).map(|lower| lower.rows);
        let kernel = |(i, p): (usize, _)| numbered(i, product_kernel(p, rows(p).unwrap_or(p.tile.0)));
        let kernels = products.iter().enumerate().map(kernel).collect();
        let launches = first.iter().cloned().chain([Launch { kernels }]).collect();
        Version { guard: few.map(Few::guard).into_iter().collect::<Vec<Poly>>(), launches, ..Version::default() }
    };
    few.iter().map(Some).chain([None]).map(version).collect()
}

/// Loops over what is summed, outermost first.
fn sums(product: &Product<'_, '_>, body: Vec<Node>) -> Vec<Node> {
    product.plan.sums.iter().rev().fold(body, |body, dim| vec![each(*dim, body)])
}

/// Grid loops over panels of the right factor.
fn panels(product: &Product<'_, '_>) -> Vec<(usize, Split)> {
    let dims = product.panel_dims().into_iter().map(|dim| (dim, Split::One));
    dims.chain([(product.plan.col(), Split::By(product.tile.1))]).collect()
}

fn pack_kernel(product: &Product<'_, '_>) -> Kernel {
    let (nest, plan) = (product.nest, product.plan);
    let space = product.walk.region.machine.registers.to_string();
    let tile = Tile { rows: None, cols: Some(Dim(plan.col())), space, padded: true };
    let made = plan.right.iter().map(|s| Node::Place(place(nest, *s, &tile)));
    let (stage, input) = (stage_name(nest, plan.stage), plan.rhs);
    let pack = Node::Operand(Operand { stage, input, tile: tile.clone(), to: Bring::Pack });
    Kernel { body: in_grid(panels(product), sums(product, made.chain([pack]).collect())) }
}

fn product_kernel(product: &Product<'_, '_>, rows: i64) -> Kernel {
    let (nest, plan) = (product.nest, product.plan);
    let space = product.walk.region.machine.registers.to_string();
    let tile = Tile { rows: plan.row().map(Dim), cols: Some(Dim(plan.col())), space, padded: false };
    let contract = Node::Place(Place { contract: true, ..place(nest, plan.stage, &tile) });
    let mut body = sums(product, vec![contract]);
    body.extend(plan.rest.iter().map(|s| Node::Place(place(nest, *s, &tile))));
    // Groups that follow each other share a panel.
    let outer = product.outer_rows().iter().map(|dim| (*dim, Split::One));
    let row = plan.row().map(|row| (row, Split::By(rows)));
    Kernel { body: in_grid(panels(product).into_iter().chain(outer).chain(row).collect(), body) }
}
