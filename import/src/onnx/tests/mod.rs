//! Tests of reading whole models; `build` makes models by hand.

mod arithmetic;
mod attention;
mod build;
mod bytes;
mod control;
mod convert;
mod decided;
mod examples;
mod extension;
mod external;
mod families;
mod functions;
mod geometry;
mod given;
mod matrices;
mod normal_form;
mod quantized;
mod recurrent;
mod references;
mod routines;
mod run;
mod stated;
mod supported;
mod wellformed;
