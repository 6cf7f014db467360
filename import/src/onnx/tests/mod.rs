//! Tests of reading whole models; `build` makes models by hand.

mod build;
mod bytes;
mod examples;
mod external;
mod normal_form;
mod supported;
mod wellformed;
