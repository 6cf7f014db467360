//! sutura-import
