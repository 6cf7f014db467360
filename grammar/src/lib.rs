//! sutura-grammar
