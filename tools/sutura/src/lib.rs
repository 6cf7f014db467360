//! sutura
