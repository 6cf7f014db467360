"""Attention, float32, with the masks that models have; and recurrent layers over 200 steps."""

import numpy as np

from workloads import F, Workload, randoms


def hidden(queries, keys, mask):
    """Which keys a query does not see; the last query stands at the last key."""
    at, key = np.arange(queries)[:, None] + keys - queries, np.arange(keys)[None, :]
    if mask == "sliding":
        return (key > at) | (key <= at - 128)
    if mask == "blocks":
        return key // 64 != at // 64
    return key > at


def attention(heads, queries, size, keys=None, shared=1, mask=None, batch=1):
    """`shared` heads have keys and values in common. `mask` is causal, sliding, blocks, alibi, or an input that hides padding."""
    keys, groups = keys or queries, heads // shared

    def build(g, q, k, v, *hides):
        if shared > 1:
            shape = [batch, groups, shared, keys, size]
            repeat = lambda x: g("Reshape", g("Expand", g("Unsqueeze", x, g.ints(2)), g.ints(*shape)),
                                 g.ints(batch, heads, keys, size))
            k, v = repeat(k), repeat(v)
        scores = g("Mul", g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2])), g.number(size ** -0.5))
        if mask == "padding":
            scores = g("Add", scores, hides[0])
        elif mask:
            if mask == "alibi":
                slopes = (2.0 ** (-8 * np.arange(1, heads + 1) / heads)).astype(np.float32)[:, None, None]
                scores = g("Add", scores, g.constant(slopes * (np.arange(keys) - keys + 1)[None, None, :].astype(np.float32)))
            scores = g("Where", g.constant(hidden(queries, keys, mask)), g.number(-np.inf), scores)
        return g("MatMul", g("Softmax", scores, axis=-1), v)

    def make():
        inputs = [("q", F, [batch, heads, queries, size]), ("k", F, [batch, groups, keys, size]), ("v", F, [batch, groups, keys, size])]
        inputs += [("hides", F, [batch, 1, 1, keys])] if mask == "padding" else []
        return Workload(inputs, [dict()], None, build, operations=lambda case: 4 * batch * heads * queries * keys * size)

    words = [f"{heads}x{queries}x{size}", f"keys{keys}" if keys != queries else "", f"shared{shared}" if shared > 1 else "", mask or ""]
    make.__name__ = "_".join(["attention", *filter(None, words)])
    return make


ATTENTION = [
    attention(12, 512, 64), attention(12, 512, 64, mask="causal"), attention(32, 128, 128, mask="causal"),
    attention(12, 1024, 64, mask="sliding"), attention(12, 512, 64, mask="blocks"), attention(16, 512, 64, mask="alibi"),
    attention(32, 256, 128, shared=4, mask="causal"), attention(16, 256, 64, shared=16), attention(8, 256, 256, mask="causal"),
    attention(32, 1, 128, keys=2048), attention(12, 64, 64, keys=576, mask="causal"), attention(12, 128, 64, mask="padding", batch=4),
]


def recurrent(kind, batch, steps=200, size=256):
    gates = {"LSTM": 4, "GRU": 3}[kind]

    def build(g, x, w, r, b):
        y = g(kind, x, w, r, b, hidden_size=size, outputs=2)
        return y[0] if isinstance(y, (tuple, list)) else y

    def make():
        constants = dict(w=randoms(1, gates * size, size, scale=size ** -0.5), r=randoms(1, gates * size, size, scale=size ** -0.5),
                         b=randoms(1, 2 * gates * size, scale=0.05))
        return Workload([("x", F, [steps, batch, size])], [dict()], None, build, constants,
                        operations=lambda case: 4 * steps * batch * gates * size * size)

    make.__name__ = f"{kind.lower()}_{batch}"
    return make


RECURRENT = [recurrent(kind, batch) for kind in ("LSTM", "GRU") for batch in (1, 16)]
