//! sutura-macros
