#!/usr/bin/env python3
"""Makes llama.onnx: a decoder as LLaMA with random weights of 4 bits, and its reference data.

Pre-norm layers with grouped queries (RMSNormalization, RotaryEmbedding and
Attention of opset 24), a gated feed-forward, and weights of 4 bits in blocks
of 32 with a scale each (DequantizeLinear). A Loop in the model decodes
greedily: an iteration takes one token of each sample, writes its keys and
values into caches (TensorScatter) and attends to what is in them. It takes
given tokens first: `tokens` holds them, and `given` how many there are of
each sample; the width of `tokens` is that of the caches.

`--size small` has width 64 and 2 layers, `--size full` the widths of a model
of 1.1 thousand million parameters (TinyLlama: 2048, 22 layers, 32 heads for
queries and 4 for keys, 32000 tokens). Batch and the longest text are dynamic.

    pip install numpy onnx onnxruntime
    python make_llama.py [--size full --out FOLDER]
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import exportlib as ex  # noqa: E402

SEED = 20230224
BLOCK = 32


class Llama:
    def __init__(self, width, heads, shared, inner, layers, tokens, longest, end):
        self.g, self.rng = ex.Graph(), np.random.default_rng(SEED)
        self.width, self.heads, self.shared, self.inner = width, heads, shared, inner
        self.layers, self.tokens, self.longest, self.end = layers, tokens, longest, end
        self.head = width // heads

    def norm(self, g, name, x):
        scale = g.weight(f"{name}.weight", self.rng.normal(1, 0.1, self.width))
        return g.op("RMSNormalization", "/" + name.replace(".", "/"), x, scale, axis=-1, epsilon=1e-5)

    def linear(self, g, name, x, n_in, n_out, gain=1.0):
        """A product with weights of 4 bits, each block of 32 of which has a scale."""
        scope = "/" + name.replace(".", "/")
        numbers = self.rng.integers(-8, 8, (n_in, n_out), dtype=np.int8)
        packed = ((numbers.reshape(-1)[0::2] & 15) | ((numbers.reshape(-1)[1::2] & 15) << 4)).astype(np.uint8)
        weight = helper.make_tensor(f"{name}.weight", TensorProto.INT4, (n_in, n_out), packed.tobytes(), raw=True)
        g.weights.append(weight)
        # Numbers of -8 to 7 have a deviation of about 4.6.
        scales = self.rng.uniform(0.8, 1.2, (n_in // BLOCK, n_out)) * gain / (4.6 * n_in**0.5)
        scale = g.weight(f"{name}.scales", scales)
        w = g.op("DequantizeLinear", scope, weight.name, scale, axis=0, block_size=BLOCK)
        return g.op("MatMul", scope, x, w)

    def angles(self):
        """Cosines and sines of places and pairs."""
        frequencies = 10000.0 ** (-np.arange(0, self.head, 2) / self.head)
        angles = np.arange(self.longest)[:, None] * frequencies[None]
        return [self.g.weight(name, table(angles)) for name, table in (("cosines", np.cos), ("sines", np.sin))]

    def attention(self, g, layer, x, angles):
        name = f"model.layers.{layer}.self_attn"
        scope = "/" + name.replace(".", "/")
        size = self.shared * self.head
        q = self.linear(g, f"{name}.q_proj", x, self.width, self.width)
        k = self.linear(g, f"{name}.k_proj", x, self.width, size)
        v = self.linear(g, f"{name}.v_proj", x, self.width, size)
        q = g.op("RotaryEmbedding", scope, q, *angles, "places", num_heads=self.heads)
        k = g.op("RotaryEmbedding", scope, k, *angles, "places", num_heads=self.shared)
        caches = []
        for part, new in (("keys", k), ("values", v)):
            new = g.op("Reshape", scope, new, g.ints(scope, 0, 1, self.shared, self.head))
            new = g.op("Transpose", scope, new, perm=[0, 2, 1, 3])
            cache = g.op("TensorScatter", scope, f"{part}_{layer}", new, "from", axis=2)
            g.output(cache, f"next_{part}_{layer}")
            caches.append(cache)
        q = g.op("Reshape", scope, q, g.ints(scope, 0, 1, self.heads, self.head))
        q = g.op("Transpose", scope, q, perm=[0, 2, 1, 3])
        x = g.op("Attention", scope, q, *caches, "", "", "", "seen")
        x = g.op("Transpose", scope, x, perm=[0, 2, 1, 3])
        x = g.op("Reshape", scope, x, g.ints(scope, 0, 1, self.width))
        return self.linear(g, f"{name}.o_proj", x, self.width, self.width)

    def feed_forward(self, g, layer, x):
        name = f"model.layers.{layer}.mlp"
        scope = "/" + name.replace(".", "/")
        gate = self.linear(g, f"{name}.gate_proj", x, self.width, self.inner)
        gate = g.op("Mul", scope, gate, g.op("Sigmoid", scope, gate))
        up = self.linear(g, f"{name}.up_proj", x, self.width, self.inner)
        return self.linear(g, f"{name}.down_proj", g.op("Mul", scope, gate, up), self.inner, self.width, 2.0)

    def step(self, angles):
        """One token for each sample: the next one that is given, or the likeliest."""
        g, scope = self.g.inner(), "/step"
        index = g.op("Unsqueeze", scope, "iteration", g.ints(scope, 0))
        batch = g.size(scope, "made", 0)
        row = g.op("Concat", scope, batch, g.ints(scope, 1), axis=0)
        before = g.op("Expand", scope, index, batch)
        g.output(before, "from")
        seen = g.op("Add", scope, before, g.ints(scope, 1))
        g.output(seen, "seen")
        places = g.op("Expand", scope, index, row)
        g.output(places, "places")
        embedding = g.weight("model.embed_tokens", self.rng.normal(0, 0.3, (self.tokens, self.width)))
        token = g.op("Gather", scope, "made", index, axis=1)
        x = g.op("Gather", scope, embedding, token, axis=0)
        for layer in range(self.layers):
            name = f"model.layers.{layer}"
            y = self.norm(g, f"{name}.input_layernorm", x)
            x = g.op("Add", scope, x, self.attention(g, layer, y, angles))
            y = self.norm(g, f"{name}.post_attention_layernorm", x)
            x = g.op("Add", scope, x, self.feed_forward(g, layer, y))
        x = self.norm(g, "model.norm", x)
        logits = self.linear(g, "lm_head", x, self.width, self.tokens, 3.0)
        self.choose(g, scope, g.op("Squeeze", scope, logits, g.ints(scope, 1)), index)
        return g

    def choose(self, g, scope, logits, index):
        """Writes the next token to its place where none is given there."""
        best = g.op("ArgMax", scope, logits, axis=1, keepdims=1)
        next_place = g.op("Add", scope, index, g.ints(scope, 1))
        current = g.op("Gather", scope, "made", next_place, axis=1)
        given = g.op("Unsqueeze", scope, "given", g.ints(scope, 1))
        is_given = g.op("Less", scope, next_place, given)
        end = g.const(scope, np.int64(self.end))
        token = g.op("Where", scope, is_given, current, g.op("Where", scope, "done", end, best))
        gained = g.op("ReduceMax", scope, g.op("LogSoftmax", scope, logits, axis=1), g.ints(scope, 1), keepdims=1)
        quiet = g.op("Or", scope, is_given, "done")
        gained = g.op("Where", scope, quiet, g.const(scope, np.float32(0)), gained)
        g.output(g.op("Add", scope, "score", gained), "next_score")
        at = g.op("Expand", scope, next_place, g.op("Shape", scope, token))
        g.output(g.op("ScatterElements", scope, "made", at, token, axis=1), "next_made")
        ended = g.op("And", scope, g.op("Not", scope, is_given), g.op("Equal", scope, token, end))
        done = g.op("Or", scope, "done", ended)
        g.output(done, "next_done")
        all_done = g.op("ReduceMin", scope, g.op("Cast", scope, done, to=TensorProto.INT32), keepdims=0)
        g.output(g.op("Not", scope, g.op("Cast", scope, all_done, to=TensorProto.BOOL)), "go_on")

    def build(self):
        g, scope = self.g, "/decode"
        angles = self.angles()
        batch, longest = g.size(scope, "tokens", 0), g.size(scope, "tokens", 1)
        cache = g.op("Concat", scope, batch, g.ints(scope, self.shared), longest, g.ints(scope, self.head), axis=0)
        one = g.op("Concat", scope, batch, g.ints(scope, 1), axis=0)

        def filled(value, shape):
            return g.op("ConstantOfShape", scope, shape, value=ex.numpy_helper.from_array(np.array([value])))

        carried = [
            ("made", ex.INT64, ["batch", "longest"], "next_made"),
            ("done", TensorProto.BOOL, ["batch", 1], "next_done"),
            ("score", ex.FLOAT, ["batch", 1], "next_score"),
        ]
        initial = ["tokens", filled(np.bool_(False), one), filled(np.float32(0), one)]
        for layer in range(self.layers):
            for part in ("keys", "values"):
                shape = ["batch", self.shared, "longest", self.head]
                carried.append((f"{part}_{layer}", ex.FLOAT, shape, f"next_{part}_{layer}"))
                initial.append(filled(np.float32(0), cache))
        # The last token needs no step.
        trips = g.op("Sub", scope, longest, g.ints(scope, 1))
        trips = g.op("Squeeze", scope, trips, g.ints(scope, 0))
        results = g.loop(scope, self.step(angles), trips, carried, initial)
        g.output(results[0], "completed")
        g.output(g.op("Squeeze", scope, results[2], g.ints(scope, 1)), "scores")
        g.output(results[3], "first_keys")
        return g


def feeds(model, batch, longest):
    rng = np.random.default_rng([SEED, batch, longest])
    given = rng.integers(1, max(2, longest // 2), batch)
    tokens = rng.integers(3, model.tokens, (batch, longest))
    tokens[np.arange(longest)[None] >= given[:, None]] = model.end
    return {"tokens": tokens.astype(np.int64), "given": given.astype(np.int64)}


def write(here, kind, end, **how):
    """Saves the decoder of this kind; `end` is the token of the end of the small one."""
    small, folder = ex.arguments(here)
    if small:
        model = kind(64, 4, 2, 128, 2, 96, 64, end)
        shapes = [(1, 2), (2, 17), (3, 32)]
    else:
        model = kind(2048, 32, 4, 5632, 22, 32000, 2048, 2)
        shapes = [(1, 16), (2, 40), (3, 100)]
    ex.write(
        folder,
        f"{here.name}.onnx",
        model.build(),
        [("tokens", ex.INT64, ["batch", "longest"]), ("given", ex.INT64, ["batch"])],
        [
            ("completed", ex.INT64, ["batch", "longest"]),
            ("scores", ex.FLOAT, ["batch"]),
            ("first_keys", ex.FLOAT, ["batch", model.shared, "longest", model.head]),
        ],
        ir_version=11,
        cases={f"b{b}_m{m}": feeds(model, b, m) for b, m in shapes},
        **how,
    )


if __name__ == "__main__":
    # onnxruntime's optimiser looks for the weights of a loop's body in that body.
    write(HERE, Llama, 57, opset=24, optimises=False)
