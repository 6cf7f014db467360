//! Networks keep one layout: at most their first and their last kernels turn what they read or write.

#[path = "work/models.rs"]
#[allow(dead_code)]
mod models;
#[path = "../src/onnx/proto.rs"]
#[allow(dead_code, unreachable_pub, clippy::all)]
#[rustfmt::skip]
mod proto;

use models::{Maker, int, list};
use prost::Message;
use proto::ModelProto;
use sutura_dialects::gir::ops::{KernelOp, TransposeOp};
use sutura_import::onnx::{OnnxModel, import};
use sutura_ir::pass::{PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::{Body, Context, Diagnostics, Module, OpRef};
use sutura_passes::stages;

/// A network in the making: what the last node made, and how many channels that has.
struct Network {
    maker: Maker,
    last: String,
    channels: i64,
    made: usize,
}

impl Network {
    fn new(channels: i64) -> Self {
        let mut maker = Maker::default();
        maker.input("x", &["1", &channels.to_string(), "H", "W"]);
        Self { maker, last: "x".into(), channels, made: 0 }
    }

    fn name(&mut self) -> String {
        self.made += 1;
        format!("v{}", self.made)
    }

    fn node(&mut self, op: &str, inputs: &[&str], attributes: Vec<proto::AttributeProto>) -> &mut Self {
        let made = self.name();
        self.maker.node_with(op, inputs, &[&made], attributes);
        self.last = made;
        self
    }

    fn then(&mut self, op: &str) -> &mut Self {
        let last = self.last.clone();
        self.node(op, &[&last], vec![])
    }

    /// A convolution of so many features, with windows of `size` and steps of `step`; with as many groups as channels if it has none.
    fn convolution(&mut self, features: Option<i64>, size: i64, step: i64) -> &mut Self {
        let (weights, last) = (self.name(), self.last.clone());
        let (out, each) = features.map_or((self.channels, 1), |features| (features, self.channels));
        self.maker.numbers(&weights, &[out, each, size, size]);
        let groups = if features.is_none() { self.channels } else { 1 };
        let attributes = vec![list("pads", &[size / 2; 4]), list("strides", &[step; 2]), int("group", groups)];
        self.channels = out;
        self.node("Conv", &[&last, &weights], attributes)
    }

    fn pool(&mut self, size: i64, pads: i64) -> &mut Self {
        let last = self.last.clone();
        let attributes = vec![list("kernel_shape", &[size; 2]), list("strides", &[2; 2]), list("pads", &[pads; 4])];
        self.node("MaxPool", &[&last], attributes)
    }

    fn with(&mut self, op: &str, other: &str) -> &mut Self {
        let last = self.last.clone();
        self.node(op, &[&last, other], vec![])
    }

    /// The mean of each channel, and a layer behind it.
    fn classes(&mut self) -> ModelProto {
        self.then("GlobalAveragePool").then("Flatten");
        let (weights, last) = (self.name(), self.last.clone());
        self.maker.numbers(&weights, &[self.channels, 10]);
        self.node("MatMul", &[&last, &weights], vec![]).model()
    }

    fn model(&mut self) -> ModelProto {
        let last = self.last.clone();
        self.maker.output(&last).model()
    }
}

/// Bottlenecks with and without a step, as ResNet has them.
fn residual() -> ModelProto {
    let mut net = Network::new(3);
    net.convolution(Some(32), 7, 2).then("Relu").pool(3, 1);
    for step in [1, 2, 1] {
        let (from, channels) = (net.last.clone(), net.channels);
        net.convolution(Some(32), 1, 1).then("Relu").convolution(Some(32), 3, step).then("Relu");
        net.convolution(Some(256), 1, 1);
        let main = net.last.clone();
        (net.last, net.channels) = (from, channels);
        if step > 1 || channels != 256 {
            net.convolution(Some(256), 1, step);
        }
        net.channels = 256;
        net.with("Add", &main).then("Relu");
    }
    net.classes()
}

/// Inverted residuals and gates of channels, as MobileNet has them.
fn inverted() -> ModelProto {
    let mut net = Network::new(3);
    net.convolution(Some(32), 3, 2).then("Relu");
    for step in [1, 2, 1] {
        let from = net.last.clone();
        net.convolution(Some(256), 1, 1).then("Relu").convolution(None, 3, step).then("Relu");
        let wide = net.last.clone();
        net.then("GlobalAveragePool").convolution(Some(32), 1, 1).then("Relu");
        net.convolution(Some(256), 1, 1).then("Sigmoid").with("Mul", &wide).convolution(Some(32), 1, 1);
        if step == 1 {
            net.with("Add", &from);
        }
    }
    net.classes()
}

/// Down and up again, with what was there before, as U-Net has it.
fn down_and_up() -> ModelProto {
    let mut net = Network::new(3);
    let mut levels = Vec::new();
    for features in [32, 64] {
        net.convolution(Some(features), 3, 1).then("Relu");
        levels.push((net.last.clone(), features));
        net.pool(2, 0);
    }
    net.convolution(Some(256), 3, 1).then("Relu");
    for (level, features) in levels.into_iter().rev() {
        let (weights, last) = (net.name(), net.last.clone());
        net.maker.numbers(&weights, &[net.channels, features, 2, 2]);
        net.node("ConvTranspose", &[&last, &weights], vec![list("strides", &[2, 2])]);
        let last = net.last.clone();
        net.node("Concat", &[&level, &last], vec![int("axis", 1)]);
        net.channels = 2 * features;
        net.convolution(Some(features), 3, 1).then("Relu");
    }
    net.convolution(Some(2), 1, 1).model()
}

/// How many kernels of a model turn a tile.
fn turning(model: &ModelProto, machine: &str, without: &str) -> usize {
    let cx = Context::new(sutura_dialects::all());
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let mut diags = Diagnostics::default();
    let file = OnnxModel::from_bytes(model.encode_to_vec(), None).unwrap_or_else(|error| panic!("{error}"));
    let mut module = import(&cx, &file, &mut diags).unwrap_or_else(|error| panic!("{error} {diags:?}"));
    let stitch = stages::STITCH.replace(without, "");
    let shapes = format!("attach-target{{name={machine}}},{}", stages::SHAPES);
    for text in [&shapes, &stitch, stages::TILE, "fold-launches,canonicalize"] {
        let text = format!("builtin.module({text})");
        let manager = parse_pipeline(&cx, &passes, "the stage", &text, &mut diags);
        let mut manager = manager.unwrap_or_else(|_| panic!("{diags:?}"));
        let (_, result) = run_pipeline(&cx, &mut module, &mut manager, &RunConfig::default(), &mut |_| {});
        assert!(result.is_ok(), "{text}");
    }
    kernels(&cx, &module, |body| body.preorder().any(|op| OpRef::new(&cx, body, op).is::<TransposeOp<'_>>()))
}

fn kernels(cx: &Context, module: &Module, wanted: impl Fn(&Body) -> bool) -> usize {
    let body = module.body();
    let kernels = body.preorder().filter(|op| OpRef::new(cx, body, *op).is::<KernelOp>());
    kernels.filter(|op| body.nested(*op).is_some_and(&wanted)).count()
}

#[test]
fn networks_keep_one_layout() {
    for (name, network) in [("residual", residual()), ("inverted", inverted()), ("down and up", down_and_up())] {
        for machine in ["x86_avx512", "x86_avx2"] {
            let turned = turning(&network, machine, "?");
            assert!(turned <= 2, "{name}: {turned} kernels turn what they read or write, and two ends may");
        }
    }
}

/// Without the pass that chooses layouts, the test above sees more.
#[test]
fn layouts_of_models_turn_in_each_kernel() {
    for network in [residual(), inverted(), down_and_up()] {
        let turned = turning(&network, "x86_avx512", "channels-last,");
        assert!(turned > 2, "{turned} kernels turn");
    }
}
