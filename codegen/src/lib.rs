//! sutura-codegen
