"""Encoders of text, float32, one sample of any length: a layer as wide as BERT base, and the six layers of MiniLM-L6.

After Devlin et al., "BERT" (NAACL 2019), and Wang et al., "MiniLM" (NeurIPS 2020). Inputs are embedded tokens without a mask; a layer is
attention, then a feed-forward with a GELU, each with a residual and a layer norm behind it.
"""

from workloads import F, Workload, randoms

EPSILON = 1e-5


def weights(layers, width, inner):
    """By name and in the order in which a layer takes them; each name begins with the number of its layer."""
    found = {}
    for layer in range(layers):
        def linear(name, rows, columns):
            found[f"w{layer}_{name}"] = randoms(rows, columns, scale=rows ** -0.5)
            found[f"b{layer}_{name}"] = randoms(columns, scale=0.02)

        def norm(name):
            found[f"gain{layer}_{name}"] = randoms(width, scale=0.05, base=1)
            found[f"shift{layer}_{name}"] = randoms(width, scale=0.05)

        for name in ("query", "key", "value", "mixed"):
            linear(name, width, width)
        norm("attention")
        linear("wide", width, inner)
        linear("narrow", inner, width)
        norm("output")
    return found


def encoder_layers(name, layers, width, heads, inner, lengths):
    size = width // heads

    def parts(constants, layer):
        """A layer's constants, by their names without its number."""
        return {key.replace(f"{layer}_", "_"): value for key, value in constants.items() if f"{layer}_" in key}

    def build(g, x, **constants):
        apart, together = g.ints(1, -1, heads, size), g.ints(1, -1, width)
        for layer in range(layers):
            p = parts(constants, layer)
            linear = lambda x, name: g("Add", g("MatMul", x, p[f"w_{name}"]), p[f"b_{name}"])
            norm = lambda x, name: g("LayerNormalization", x, p[f"gain_{name}"], p[f"shift_{name}"], axis=-1, epsilon=EPSILON)
            turned = lambda name, perm: g("Transpose", g("Reshape", linear(x, name), apart), perm=perm)
            scores = g("MatMul", turned("query", [0, 2, 1, 3]), turned("key", [0, 2, 3, 1]))
            shares = g("Softmax", g("Mul", scores, g.number(size ** -0.5)), axis=-1)
            mixed = g("MatMul", shares, turned("value", [0, 2, 1, 3]))
            mixed = g("Reshape", g("Transpose", mixed, perm=[0, 2, 1, 3]), together)
            x = norm(g("Add", linear(mixed, "mixed"), x), "attention")
            wide = g("Gelu", linear(x, "wide"), approximate="tanh")
            x = norm(g("Add", linear(wide, "narrow"), x), "output")
        return x

    def function(xp, x, constants):
        for layer in range(layers):
            p = parts(constants, layer)
            linear = lambda x, name: xp.matmul(x, p[f"w_{name}"]) + p[f"b_{name}"]

            def norm(x, name):
                c = x - x.mean(-1, keepdims=True)
                return c * (1 / xp.sqrt((c * c).mean(-1, keepdims=True) + EPSILON)) * p[f"gain_{name}"] + p[f"shift_{name}"]

            turned = lambda name, perm: xp.permute_dims(linear(x, name).reshape(1, -1, heads, size), perm)
            scores = xp.matmul(turned("query", (0, 2, 1, 3)), turned("key", (0, 2, 3, 1)))
            mixed = xp.matmul(xp.softmax(scores * size ** -0.5, -1), turned("value", (0, 2, 1, 3)))
            mixed = xp.permute_dims(mixed, (0, 2, 1, 3)).reshape(1, -1, width)
            x = norm(linear(mixed, "mixed") + x, "attention")
            x = norm(linear(xp.gelu(linear(x, "wide")), "narrow") + x, "output")
        return x

    def operations(case):
        s = case["S"]
        return layers * (2 * s * width * (4 * width + 2 * inner) + 4 * s * s * width)

    def make():
        constants = weights(layers, width, inner)
        return Workload([("x", F, [1, "S", width])], [dict(S=s) for s in lengths],
                        lambda xp, x, *values: function(xp, x, dict(zip(constants, values))), build, constants,
                        operations=operations)

    make.__name__ = name
    return make


ENCODERS = [encoder_layers("bert_layer", 1, 768, 12, 3072, (32, 128, 512)), encoder_layers("minilm6", 6, 384, 12, 1536, (32, 128))]
