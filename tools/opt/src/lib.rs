//! sutura-opt
