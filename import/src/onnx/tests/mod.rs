//! Tests of reading whole models; `build` makes models by hand.

mod arithmetic;
mod build;
mod bytes;
mod control;
mod convert;
mod decided;
mod examples;
mod external;
mod families;
mod functions;
mod geometry;
mod normal_form;
mod recurrent;
mod references;
mod routines;
mod run;
mod supported;
mod wellformed;
