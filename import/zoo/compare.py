"""Two results, compared."""

import numpy


def difference(made, expected):
    """The largest difference as a part of the largest number, or what is plainly different."""
    if made.shape != expected.shape or made.dtype != expected.dtype:
        return f"{made.dtype}{made.shape} in place of {expected.dtype}{expected.shape}"
    if expected.size == 0:
        return 0.0
    if expected.dtype.kind != "f":
        return 0.0 if (made == expected).all() else "other integers"
    finite = numpy.isfinite(expected)
    if not numpy.array_equal(made[~finite], expected[~finite], equal_nan=True) or not numpy.isfinite(made[finite]).all():
        return "NaN or infinity in other places"
    scale = numpy.abs(expected[finite]).max(initial=0.0)
    off = numpy.abs(made[finite].astype("f8") - expected[finite]).max(initial=0.0)
    return float(off / scale) if scale else float(off)
