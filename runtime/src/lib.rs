//! sutura-runtime
