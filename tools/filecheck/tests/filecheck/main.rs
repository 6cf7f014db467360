//! Tests of the command and the library as a user sees them.

mod robust;
mod support;
mod table;
