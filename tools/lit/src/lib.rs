//! sutura-lit
