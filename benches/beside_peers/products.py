"""Products of two factors, float32: with a constant factor, with two that are known at a call, narrow, of few rows, batched.

`NARROW` are products of factors that are rounded to bf16, which sutura and OpenVINO are told to do and others do not, and of integers of
8 bits: numbers are quantized, multiplied by constants that were quantized before, and the sums are scaled.
"""

import math

import numpy as np

from workloads import F, Workload, randoms


def product(m, k, n, batch=None, constant=False, turned=False, cases=None, name=None):
    """`a` of m by k times `b` of k by n, or of n by k where it is `turned`; strings are dims that are known at a call."""
    right = [n, k] if turned else [k, n]
    front = [] if batch is None else [batch]

    def function(xp, a, b):
        return xp.matmul(a, xp.swapaxes(b, -1, -2) if turned else b)

    def build(g, a, b):
        perm = [0, 2, 1] if front else [1, 0]
        return g("MatMul", a, g("Transpose", b, perm=perm) if turned else b)

    def operations(case):
        return 2 * math.prod(case.get(d, d) for d in [*front, m, k, n])

    def make():
        inputs = [("a", F, [*front, m, k])] + ([] if constant else [("b", F, [*front, *right])])
        constants = dict(b=randoms(*front, *right, scale=0.05)) if constant else {}
        return Workload(inputs, cases or [dict()], function, build, constants, operations=operations)

    kind = ("w" if constant else "") + ("t" if turned else "")
    make.__name__ = name or f"mm{kind}_{'x'.join(map(str, [*front, m, k, n]))}"
    return make


ROWS = [dict(M=m) for m in (1, 2, 5, 17, 64, 128, 300)]

PRODUCTS = [
    # Both factors known at a call, all sizes known.
    *[product(n, n, n) for n in (64, 128, 256, 512, 1024)],
    *[product(n, n, n, turned=True) for n in (256, 512)],
    *[product(127, 131, 257), product(509, 503, 499), product(17, 1021, 31)],
    *[product(512, 512, n) for n in (1, 2, 4, 8, 13, 24)],
    *[product(m, 512, 512) for m in (1, 3, 8, 30)],
    product(1024, 16, 1024), product(64, 8192, 64), product(1024, 1, 1024),
    product(128, 64, 128, 12), product(128, 64, 128, 12, turned=True), product(512, 64, 512, 12, turned=True), product(33, 47, 65, 8),
    # A constant factor, as layers have it.
    *[product(128, k, n, constant=True) for k, n in ((768, 768), (768, 3072), (3072, 768))],
    product(1024, 1024, 1024, constant=True),
    product(256, 384, 384, constant=True, turned=True),
    # Rows that are known at a call.
    product("M", 768, 768, constant=True, cases=ROWS, name="mmw_rows_768x768"),
    product("M", 768, 3072, constant=True, cases=ROWS, name="mmw_rows_768x3072"),
    # All sizes are known at a call only.
    product("M", "K", "N", name="mm_dynamic", cases=[dict(M=m, K=k, N=n) for m, k, n in (
        (128, 768, 768), (1, 768, 768), (512, 512, 512), (100, 300, 200), (37, 41, 43), (256, 64, 1000))]),
    product("M", "K", "N", "B", turned=True, name="mmt_dynamic_batched", cases=[dict(B=b, M=m, K=k, N=n) for b, m, k, n in (
        (12, 128, 64, 128), (12, 128, 64, 511), (3, 17, 80, 33))]),
]


def rounded(m, k, n, constant=True, cases=None, name=None):
    """A product of factors that are rounded to bf16."""
    plain = product(m, k, n, constant=constant, cases=cases)

    def make():
        workload = plain()
        workload.flags = ["--precision=bf16"]
        return workload

    make.__name__ = name or f"bf16{'w' if constant else ''}_{m}x{k}x{n}"
    return make


def quantized(m, k, n, cases=None, name=None):
    """A product of bytes: `x` is quantized to bytes without sign, the constant factor has bytes with sign and a scale for each column."""

    def build(g, x, w, scales):
        scale, zero = g.number(0.03), g.constant(np.uint8(121))
        q = g("QuantizeLinear", x, scale, zero)
        weights = g("DequantizeLinear", w, scales, g.constant(np.zeros(n, np.int8)), axis=1)
        return g("MatMul", g("DequantizeLinear", q, scale, zero), weights)

    def operations(case):
        return 2 * math.prod(case.get(d, d) for d in [m, k, n])

    def make():
        random = np.random.default_rng(3)
        constants = dict(w=random.integers(-127, 128, (k, n)).astype(np.int8), scales=np.float32(0.001 + 0.001 * random.random(n)))
        return Workload([("x", F, [m, k])], cases or [dict()], None, build, constants, operations=operations,
                        flags=["--fast-math=integers"])

    make.__name__ = name or f"int8_{m}x{k}x{n}"
    return make


FEW = [dict(M=m) for m in (1, 2, 5, 17, 64, 128)]

NARROW = [
    *[rounded(n, n, n) for n in (512, 1024)], *[rounded(n, n, n, constant=False) for n in (512, 1024)],
    rounded("M", 768, 3072, cases=FEW, name="bf16w_rows_768x3072"),
    *[quantized(n, n, n) for n in (512, 1024)],
    quantized("M", 768, 3072, cases=FEW, name="int8_rows_768x3072"),
]
