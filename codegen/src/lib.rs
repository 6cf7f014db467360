//! The bridge from Sutura's text to MLIR, LLVM and machine code.

use sutura_mlir_link as _;
