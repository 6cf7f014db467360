//! sutura-ir
