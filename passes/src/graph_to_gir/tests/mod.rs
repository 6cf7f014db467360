//! Regions and the kernels they become mean the same, at sizes of all kinds.

mod rows;
