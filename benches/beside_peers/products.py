"""Products of two factors, float32: with a constant factor, with two that are known at a call, narrow, of few rows, batched."""

import math

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
