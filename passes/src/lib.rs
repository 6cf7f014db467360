//! sutura-passes
