#!/usr/bin/env python3
"""Makes whisper.onnx: an encoder-decoder as Whisper with random weights, and its reference data.

Two convolutions and pre-norm transformer layers encode a log-mel
spectrogram. A Loop in the model decodes greedily: each iteration computes one
token for each sample, writes its keys and values into caches as long as the
longest text (ScatterElements, as an exported `index_copy`), attends to what
is in them and to the encoded audio, and ends when all samples have made the
token of the end. `prompt` says which tokens are given, and -1 where the model
decides; its length is the most tokens that are made.

`--size small` has width 32 and 2 + 2 layers, `--size full` the widths of
Whisper tiny (384, 4 + 4 layers, 51865 tokens). Batch, frames and the longest
text are dynamic.

    pip install numpy onnx onnxruntime
    python make_whisper.py [--size full --out FOLDER]
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import exportlib as ex  # noqa: E402

SEED = 20220921
START = 1


class Whisper:
    def __init__(self, width, heads, layers, tokens, mels, longest, end):
        self.g, self.rng = ex.Graph(), np.random.default_rng(SEED)
        self.width, self.heads, self.layers, self.tokens, self.mels = width, heads, layers, tokens, mels
        self.head, self.end = width // heads, end
        # Encoded frames, and places of tokens.
        self.longest = longest

    def norm(self, g, name, x):
        scope = "/" + name.replace(".", "/")
        gamma = g.weight(f"{name}.weight", self.rng.normal(1, 0.1, self.width))
        beta = g.weight(f"{name}.bias", self.rng.normal(0, 0.1, self.width))
        return g.op("LayerNormalization", scope, x, gamma, beta, axis=-1, epsilon=1e-5)

    def linear(self, g, name, x, n_in, n_out):
        return g.linear(self.rng, "/" + name.replace(".", "/"), name, x, n_in, n_out)

    def gelu(self, g, scope, x):
        e = g.op("Erf", scope, g.op("Div", scope, x, g.const(scope, np.float32(2**0.5))))
        e = g.op("Add", scope, e, g.const(scope, np.float32(1)))
        return g.op("Mul", scope, g.op("Mul", scope, x, e), g.const(scope, np.float32(0.5)))

    def by_heads(self, g, scope, x):
        x = g.op("Reshape", scope, x, g.ints(scope, 0, -1, self.heads, self.head))
        return g.op("Transpose", scope, x, perm=[0, 2, 1, 3])

    def attended(self, g, name, q, k, v, mask=None):
        """Queries by heads look up keys and values by heads; `mask` is added to the scores."""
        scope = "/" + name.replace(".", "/")
        scale = g.const(scope, np.float32(self.head**-0.5))
        scores = g.op("MatMul", scope, g.op("Mul", scope, q, scale), g.op("Transpose", scope, k, perm=[0, 1, 3, 2]))
        if mask:
            scores = g.op("Add", scope, scores, mask)
        x = g.op("MatMul", scope, g.op("Softmax", scope, scores, axis=-1), v)
        x = g.op("Transpose", scope, x, perm=[0, 2, 1, 3])
        x = g.op("Reshape", scope, x, g.ints(scope, 0, -1, self.width))
        return self.linear(g, f"{name}.out_proj", x, self.width, self.width)

    def feed_forward(self, g, name, x):
        y = self.norm(g, f"{name}.final_layer_norm", x)
        y = self.gelu(g, f"/{name}/fc1", self.linear(g, f"{name}.fc1", y, self.width, 4 * self.width))
        return g.op("Add", f"/{name}", x, self.linear(g, f"{name}.fc2", y, 4 * self.width, self.width))

    def projected(self, g, name, x):
        scope = "/" + name.replace(".", "/")
        return self.by_heads(g, scope, self.linear(g, name, x, self.width, self.width))

    def conv(self, name, x, n_in, stride):
        g, scope = self.g, f"/encoder/{name}"
        w = g.weight(f"encoder.{name}.weight", self.rng.normal(0, (2 / (3 * n_in)) ** 0.5, (self.width, n_in, 3)))
        b = g.weight(f"encoder.{name}.bias", self.rng.normal(0, 0.1, self.width))
        x = g.op("Conv", scope, x, w, b, dilations=[1], group=1, kernel_shape=[3], pads=[1, 1], strides=[stride])
        return self.gelu(g, scope, x)

    def encoder(self):
        g, scope = self.g, "/encoder"
        x = self.conv("conv2", self.conv("conv1", "mel", self.mels, 1), self.width, 2)
        x = g.op("Transpose", scope, x, perm=[0, 2, 1])
        places = self.constant_places("encoder.embed_positions", self.longest[0])
        length = g.size(scope, x, 1)
        places = g.op("Slice", scope, places, g.ints(scope, 0), length, g.ints(scope, 0))
        x = g.op("Add", scope, x, places)
        for layer in range(self.layers):
            name = f"encoder.layers.{layer}"
            y = self.norm(g, f"{name}.self_attn_layer_norm", x)
            parts = [self.projected(g, f"{name}.self_attn.{part}_proj", y) for part in "qkv"]
            x = g.op("Add", f"/{name}", x, self.attended(g, f"{name}.self_attn", *parts))
            x = self.feed_forward(g, name, x)
        return self.norm(g, "encoder.layer_norm", x)

    def constant_places(self, name, longest):
        """Sines and cosines of places."""
        half = self.width // 2
        angles = np.arange(longest)[:, None] * np.exp(-np.log(10000) / (half - 1) * np.arange(half))[None]
        return self.g.weight(name, np.concatenate([np.sin(angles), np.cos(angles)], axis=1))

    def build(self):
        g = self.g
        encoded = self.encoder()
        crossed = []
        for layer in range(self.layers):
            name = f"decoder.layers.{layer}.encoder_attn"
            crossed.append([self.projected(g, f"{name}.{part}_proj", encoded) for part in "kv"])
        scope = "/decoder"
        batch, most = g.size(scope, "prompt", 0), g.size(scope, "prompt", 1)
        cache_shape = g.op(
            "Concat", scope, batch, g.ints(scope, self.heads), most, g.ints(scope, self.head), axis=0
        )

        def filled(value, shape):
            return g.op("ConstantOfShape", scope, shape, value=ex.numpy_helper.from_array(np.array([value])))

        both = g.op("Concat", scope, batch, most, axis=0)
        one = g.op("Concat", scope, batch, g.ints(scope, 1), axis=0)
        carried = [
            ("token", ex.INT64, ["batch", 1], "next_token"),
            ("tokens", ex.INT64, ["batch", "longest"], "next_tokens"),
            ("done", TensorProto.BOOL, ["batch", 1], "next_done"),
            ("score", ex.FLOAT, ["batch", 1], "next_score"),
            ("steps", ex.INT64, [], "next_steps"),
        ]
        initial = [filled(np.int64(START), one), filled(np.int64(self.end), both), filled(np.bool_(False), one)]
        initial += [filled(np.float32(0), one), g.const(scope, np.int64(0))]
        for layer in range(self.layers):
            for part in ("keys", "values"):
                shape = ["batch", self.heads, "longest", self.head]
                carried.append((f"{part}_{layer}", ex.FLOAT, shape, f"next_{part}_{layer}"))
                initial.append(filled(np.float32(0), cache_shape))
        trips = g.op("Squeeze", scope, most, g.ints(scope, 0))
        results = g.loop(scope, self.step(crossed), trips, carried, initial)
        g.output(results[1], "made")
        g.output(g.op("Squeeze", scope, results[3], g.ints(scope, 1)), "scores")
        g.output(results[4], "length")
        return g

    def step(self, crossed):
        """One token for each sample."""
        g, scope = self.g.inner(), "/decoder/step"
        embedding = g.weight("decoder.embed_tokens", self.rng.normal(0, 0.2, (self.tokens, self.width)))
        places = g.weight("decoder.embed_positions", self.rng.normal(0, 0.5, (self.longest[1], self.width)))
        x = g.op("Gather", scope, embedding, "token", axis=0)
        x = g.op("Add", scope, x, g.op("Gather", scope, places, "iteration", axis=0))
        # Keys behind this one are hidden.
        zero, step = g.const(scope, np.int64(0)), g.const(scope, np.int64(1))
        most = g.op("Squeeze", scope, g.size(scope, "tokens", 1), g.ints(scope, 0))
        later = g.op("Greater", scope, g.op("Range", scope, zero, most, step), "iteration")
        hidden = g.const(scope, np.float32(-np.inf))
        mask = g.op("Where", scope, later, hidden, g.const(scope, np.float32(0)))
        for layer, (cross_keys, cross_values) in enumerate(crossed):
            name = f"decoder.layers.{layer}"
            y = self.norm(g, f"{name}.self_attn_layer_norm", x)
            q, k, v = (self.projected(g, f"{name}.self_attn.{part}_proj", y) for part in "qkv")
            own = f"/{name}/self_attn"
            index = g.op("Expand", own, "iteration", g.op("Shape", own, k))
            keys, values = (
                g.op("ScatterElements", own, f"{part}_{layer}", index, new, axis=2)
                for part, new in (("keys", k), ("values", v))
            )
            for part, value in (("keys", keys), ("values", values)):
                g.output(value, f"next_{part}_{layer}")
            x = g.op("Add", own, x, self.attended(g, f"{name}.self_attn", q, keys, values, mask))
            y = self.norm(g, f"{name}.encoder_attn_layer_norm", x)
            q = self.projected(g, f"{name}.encoder_attn.q_proj", y)
            x = g.op("Add", own, x, self.attended(g, f"{name}.encoder_attn", q, cross_keys, cross_values))
            x = self.feed_forward(g, name, x)
        x = self.norm(g, "decoder.layer_norm", x)
        logits = g.op("MatMul", scope, x, g.op("Transpose", scope, embedding, perm=[1, 0]))
        self.choose(g, scope, g.op("Squeeze", scope, logits, g.ints(scope, 1)))
        return g

    def choose(self, g, scope, logits):
        """What comes next: what is given, else the end where a sample has ended, else the likeliest token."""
        likely = g.op("ReduceMax", scope, g.op("LogSoftmax", scope, logits, axis=1), g.ints(scope, 1), keepdims=1)
        chosen = g.op("ArgMax", scope, logits, axis=1, keepdims=1)
        index = g.op("Unsqueeze", scope, "iteration", g.ints(scope, 0))
        given = g.op("Gather", scope, "prompt", index, axis=1)
        is_given = g.op("GreaterOrEqual", scope, given, g.const(scope, np.int64(0)))
        end = g.const(scope, np.int64(self.end))
        token = g.op("Where", scope, "done", end, g.op("Where", scope, is_given, given, chosen))
        quiet = g.op("Or", scope, "done", is_given)
        gained = g.op("Where", scope, quiet, g.const(scope, np.float32(0)), likely)
        g.output(g.op("Add", scope, "score", gained), "next_score")
        at = g.op("Expand", scope, "iteration", g.op("Shape", scope, token))
        g.output(g.op("ScatterElements", scope, "tokens", at, token, axis=1), "next_tokens")
        g.output(token, "next_token")
        done = g.op("Or", scope, "done", g.op("Equal", scope, token, end))
        g.output(done, "next_done")
        g.output(g.op("Add", scope, "steps", g.const(scope, np.int64(1))), "next_steps")
        all_done = g.op("ReduceMin", scope, g.op("Cast", scope, done, to=TensorProto.INT32), keepdims=0)
        g.output(g.op("Not", scope, g.op("Cast", scope, all_done, to=TensorProto.BOOL)), "go_on")


def feeds(model, batch, frames, longest):
    """The first sample is told its first two tokens, the others one."""
    rng = np.random.default_rng([SEED, batch, frames, longest])
    prompt = np.full((batch, longest), -1, np.int64)
    prompt[:, :1] = 2
    prompt[0, 1:2] = 3
    return {"mel": rng.normal(0, 1, (batch, model.mels, frames)).astype(np.float32), "prompt": prompt}


if __name__ == "__main__":
    small, folder = ex.arguments(HERE)
    if small:
        model = Whisper(32, 4, 2, 61, 16, (64, 32), 25)
        shapes = [(1, 30, 12), (2, 61, 7), (3, 100, 24)]
    else:
        model = Whisper(384, 6, 4, 51865, 80, (1500, 448), 50257)
        shapes = [(1, 3000, 64), (2, 999, 32), (3, 200, 100)]
    ex.write(
        folder,
        "whisper.onnx",
        model.build(),
        [("mel", ex.FLOAT, ["batch", model.mels, "frames"]), ("prompt", ex.INT64, ["batch", "longest"])],
        [("made", ex.INT64, ["batch", "longest"]), ("scores", ex.FLOAT, ["batch"]), ("length", ex.INT64, [])],
        opset=18,
        ir_version=8,
        cases={f"b{b}_t{t}_m{m}": feeds(model, b, t, m) for b, t, m in shapes},
    )
