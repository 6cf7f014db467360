#!/usr/bin/env python3
"""Makes llama_ort.onnx: the decoder of ../llama as onnxruntime's tools write it, and its reference data.

GroupQueryAttention turns heads, appends to the caches and attends;
MatMulNBits holds weights of 4 bits in blocks of 32, with a scale and a zero
point each. All else is as in ../llama/make_llama.py.

    pip install numpy onnx onnxruntime
    python make_llama_ort.py [--size full --out FOLDER]
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "llama")]
import exportlib as ex  # noqa: E402
from make_llama import BLOCK, Llama, write  # noqa: E402

DOMAIN = "com.microsoft"


class OfRuntime(Llama):
    def linear(self, g, name, x, n_in, n_out, gain=1.0):
        blocks = n_in // BLOCK
        packed = self.rng.integers(0, 256, (n_out, blocks, BLOCK // 2), dtype=np.uint8)
        scales = self.rng.uniform(0.8, 1.2, (n_out, blocks)) * gain / (4.6 * n_in**0.5)
        # Two zero points in a byte, near the middle of 0 to 15.
        halves = self.rng.integers(6, 10, (2, n_out, (blocks + 1) // 2), dtype=np.uint8)
        inputs = [
            g.constant(f"{name}.weight", packed),
            g.weight(f"{name}.scales", scales.reshape(-1)),
            g.constant(f"{name}.zero_points", (halves[0] | halves[1] << 4).reshape(-1)),
        ]
        scope = "/" + name.replace(".", "/")
        sizes = {"K": n_in, "N": n_out, "bits": 4, "block_size": BLOCK}
        return g.op("MatMulNBits", scope, x, *inputs, domain=DOMAIN, **sizes)

    def attention(self, g, layer, x, angles):
        name = f"model.layers.{layer}.self_attn"
        scope = "/" + name.replace(".", "/")
        rows = self.width + 2 * self.shared * self.head
        packed = self.linear(g, f"{name}.qkv_proj", x, self.width, rows)
        last = g.op("Cast", scope, "from", to=TensorProto.INT32)
        total = g.op("Add", scope, "iteration", g.const(scope, np.int64(1)))
        total = g.op("Cast", scope, total, to=TensorProto.INT32)
        caches = [f"keys_{layer}", f"values_{layer}"]
        made = g.ops(
            "GroupQueryAttention",
            scope,
            3,
            packed,
            "",
            "",
            *caches,
            last,
            total,
            *angles,
            domain=DOMAIN,
            num_heads=self.heads,
            kv_num_heads=self.shared,
            do_rotary=1,
        )
        for cache, value in zip(caches, made[1:], strict=True):
            g.output(value, f"next_{cache}")
        return self.linear(g, f"{name}.o_proj", made[0], self.width, self.width)


if __name__ == "__main__":
    write(HERE, OfRuntime, 31, opset=23, domains=[DOMAIN])
