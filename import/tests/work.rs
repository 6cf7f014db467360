//! Every compilation has a bound: families of models are compiled at one size and at twice that, and what each stage did is
//! compared, in counts of work and bytes allocated. Work that grows faster than n log n in operators, or at all in sizes of
//! tensors, is a defect.

#[path = "work/families.rs"]
mod families;
#[path = "work/measure.rs"]
mod measure;
#[path = "work/models.rs"]
mod models;
#[path = "work/planted.rs"]
mod planted;
#[path = "../src/onnx/proto.rs"]
#[allow(dead_code, unreachable_pub, clippy::all)]
#[rustfmt::skip]
mod proto;
