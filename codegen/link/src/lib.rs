//! sutura-mlir-link
