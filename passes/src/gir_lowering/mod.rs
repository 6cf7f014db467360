//! Kernels of gir as functions in upstream operations: what the conversions to CPUs and to GPUs share.
//!
//! A unit computes with vectors of columns. On a CPU a vector is a register of the processor; on a GPU it is spread over the
//! unit's threads, each of which has a few neighbouring columns of it. Tiles in registers become such vectors; tiles in a
//! cache are not held but computed where they are needed, in loops over vectors (`strip`).

mod copies;
pub mod cpu;
mod division;
mod emit;
pub mod gpu;
mod groups;
mod hazards;
mod kernel;
mod lanes;
mod machine;
mod matrix;
mod memory;
mod ops;
mod pick;
mod pieces;
pub(crate) mod price;
mod report;
pub(crate) mod rows;
mod scan;
mod strip;
mod tile;
mod turn;
mod turns;
mod units;
mod zeros;
