//! sutura-filecheck
