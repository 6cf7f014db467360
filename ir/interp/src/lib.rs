//! sutura-interp
