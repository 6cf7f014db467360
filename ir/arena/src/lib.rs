//! sutura-arena
