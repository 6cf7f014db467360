#!/usr/bin/env python3
"""Makes the models that `models.txt` lists, one .onnx file each: what `tests/shapes` runs at random shapes.

    pip install onnx
    python make_models.py
"""

import pathlib

import numpy as np
import onnx
from onnx import checker, helper, numpy_helper, parser

HERE = pathlib.Path(__file__).resolve().parent

# Name, opset, the graph as ONNX's text. Small weights are initializers with the names of `WEIGHTS`.
MODELS = """
softmax 13: (float[B,N] x) => (float[B,N] y) { y = Softmax<axis=-1>(x) }
log_softmax 13: (float[B,C,N] x) => (float[B,C,N] y) { y = LogSoftmax<axis=1>(x) }
layer_norm 17: (float[B,S,N] x, float[N] g, float[N] b) => (float[B,S,N] y) { y = LayerNormalization<axis=-1>(x, g, b) }
rms_norm 23: (float[B,S,N] x, float[N] g) => (float[B,S,N] y) { y = RMSNormalization<axis=-1>(x, g) }
group_norm 21: (float[B,8,N] x) => (float[B,8,N] y) { y = GroupNormalization<num_groups=4>(x, gamma8, beta8) }
instance_norm 13: (float[B,4,H,W] x) => (float[B,4,H,W] y) { y = InstanceNormalization(x, gamma4, beta4) }
batch_norm 15: (float[B,4,H,W] x) => (float[B,4,H,W] z) { y = BatchNormalization(x, gamma4, beta4, beta4, var4)  z = Relu(y) }
matmul 13: (float[B,M,K] a, float[B,K,N] b) => (float[B,M,N] y) { y = MatMul(a, b) }
matmul_stretched 13: (float[M,K] a, float[B,K,N] b) => (float[B,M,N] y) { y = MatMul(a, b) }
matmul_double 13: (double[M,K] a, double[K,N] b) => (double[M,N] y) { y = MatMul(a, b) }
gemm 13: (float[K,M] a, float[N,K] b, float[N] c) => (float[M,N] y) { y = Gemm<transA=1, transB=1, alpha=0.5, beta=2.0>(a, b, c) }
perceptron 20: (float[B,K] x, float[K,H] v, float[H,N] w) => (float[B,N] y) { h = MatMul(x, v)  r = Gelu<approximate="tanh">(h)  y = MatMul(r, w) }
conv 13: (float[B,3,H,W] x) => (float[B,4,P,Q] y) { y = Conv<kernel_shape=[3,3], pads=[1,1,1,1]>(x, kernel, beta4) }
conv_strided 13: (float[B,3,H,W] x) => (float[B,4,P,Q] z) { y = Conv<kernel_shape=[3,3], pads=[0,1,1,2], strides=[2,3], dilations=[1,2]>(x, kernel, beta4)  z = Relu(y) }
conv_depthwise 13: (float[B,4,H,W] x) => (float[B,4,P,Q] y) { y = Conv<kernel_shape=[3,3], pads=[1,1,1,1], group=4>(x, kernel4) }
conv_1d 13: (float[B,4,L] x) => (float[B,3,P] y) { y = Conv<kernel_shape=[5], pads=[2,2]>(x, kernel1) }
conv_transpose 13: (float[B,3,H,W] x) => (float[B,2,P,Q] y) { y = ConvTranspose<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(x, kernel_t) }
max_pool 13: (float[B,C,H,W] x) => (float[B,C,P,Q] y) { y = MaxPool<kernel_shape=[3,2], strides=[2,2], pads=[1,0,1,1]>(x) }
average_pool 19: (float[B,C,H,W] x) => (float[B,C,P,Q] y) { y = AveragePool<kernel_shape=[2,3], strides=[1,2], pads=[1,1,0,1]>(x) }
global_pool 13: (float[B,C,H,W] x) => (float[B,F] y) { p = GlobalAveragePool(x)  y = Flatten(p) }
reductions 18: (float[B,M,N] x) => (float[B,N] s, float[B,1,N] l, float[B,M] m) { s = ReduceSum<keepdims=0>(x, one)  l = ReduceLogSumExp(x, one)  m = ReduceMax<keepdims=0>(x, two) }
arg_max 13: (float[B,M,N] x) => (int64[B,N] y, int64[B,M] z) { y = ArgMax<axis=1, keepdims=0>(x)  z = ArgMin<axis=2, keepdims=0, select_last_index=1>(x) }
cum_sum 14: (int64[B,N] x, float[B,N] f) => (int64[B,N] y, float[B,N] g) { y = CumSum<reverse=1>(x, last)  g = CumSum<exclusive=1>(f, last) }
concat 13: (float[B,M] a, float[B,N] b, float[B,K] c) => (float[B,P] y) { y = Concat<axis=1>(a, b, c) }
slices 13: (float[B,N] x) => (float[P,Q] y) { y = Slice(x, minus_one, far_before, last, minus_two) }
gather 13: (float[N,D] x, int64[B,K] i) => (float[B,K,D] y) { y = Gather(x, i) }
gather_elements 13: (float[N,D] x, int64[K,D] i) => (float[K,D] y) { y = GatherElements<axis=0>(x, i) }
scatter_add 18: (int32[N,D] x, int64[K,D] i, int32[K,D] u) => (int32[N,D] y) { y = ScatterElements<axis=0, reduction="add">(x, i, u) }
transposed 13: (float[A,B,C,D] x) => (float[D,B,A,C] y) { t = Transpose<perm=[3,1,0,2]>(x)  y = Neg(t) }
stretched 13: (float[B,1,N] a, float[M,1] b) => (float[B,M,N] y) { s = Add(a, b)  y = Sigmoid(s) }
chosen 16: (int32[B,N] a, int32[N] b) => (int32[B,N] y, bool[B,N] z) { z = LessOrEqual(a, b)  y = Where(z, a, b) }
integers 18: (int32[B,N] a, int32[B,N] b) => (int32[B,N] y, int32[B,N] z, int32[B,N] w) { y = Div(a, b)  z = Mod(a, b)  w = Mul(a, b) }
bytes 18: (uint8[B,N] a, uint8[N] b) => (uint8[B,N] y, uint8[B,N] z) { y = Add(a, b)  s = BitwiseXor(a, b)  z = BitShift<direction="RIGHT">(s, b) }
casts 19: (float[B,N] x) => (float16[B,N] h, int32[B,N] i, float[B,N] y) { h = Cast<to=10>(x)  i = Cast<to=6>(x)  f = Cast<to=16>(x)  y = Cast<to=1>(f) }
padded 13: (float[B,H,W] x) => (float[B,P,Q] y) { y = Pad<mode="edge">(x, pads) }
resized 18: (float[B,2,H,W] x) => (float[B,2,P,Q] y) { y = Resize<mode="linear", coordinate_transformation_mode="half_pixel">(x, , scales) }
sorted 11: (float[B,N] x) => (float[B,N] y, int64[B,N] i) { s = Shape(x)  n = Gather(s, one)  y, i = TopK<axis=1>(x, n) }
non_zero 13: (int32[M,N] x) => (int64[2,K] y) { y = NonZero(x) }
unique 11: (int64[N] x) => (int64[K] y, int64[K] i, int64[N] v, int64[K] c) { y, i, v, c = Unique<sorted=1>(x) }
one_hot 11: (int64[B,N] i) => (float[B,5,N] y) { y = OneHot<axis=1>(i, five, off_on) }
tiled 13: (int64[M,N] x) => (int64[P,Q] y) { y = Tile(x, two_three) }
einsum 12: (float[B,I,J] a, float[B,J,K] b) => (float[B,K,I] y) { y = Einsum<equation="bij,bjk->bki">(a, b) }
lstm 14: (float[S,B,3] x) => (float[S,1,B,4] y, float[1,B,4] h) { y, h = LSTM<hidden_size=4>(x, w_lstm, r_lstm) }
attention 23: (float[B,2,S,8] q, float[B,2,T,8] k, float[B,2,T,8] v) => (float[B,2,S,8] y) { y = Attention(q, k, v) }
grouped_attention 23: (float[B,4,S,8] q, float[B,2,T,8] k, float[B,2,T,8] v) => (float[B,4,S,8] y) { y = Attention<is_causal=1>(q, k, v) }
quantized 13: (uint8[M,K] a, int8[K,N] b) => (int32[M,N] y) { y = MatMulInteger(a, b) }
stored 19: (float[B,N] x) => (int8[B,N] q, float[B,N] y) { q = QuantizeLinear(x, tenth, three)  y = DequantizeLinear(q, tenth, three) }
shuffled 13: (float[B,8,H,W] x) => (float[B,2,P,Q] y) { y = DepthToSpace<blocksize=2, mode="CRD">(x) }
windows 18: (float[B,S,C] x) => (float[B,S,C] y) { b = Shape<end=1>(x)  s = Shape<start=1, end=2>(x)  c = Shape<start=2>(x)  n = Neg(s)  p = Mod(n, seven)  t = Add(s, p)  w = Div(t, seven)  q = Concat<axis=0>(zeros, p, zero)  l = Pad(x, q)  r = Concat<axis=0>(b, w, seven, c)  v = Reshape<allowzero=1>(l, r)  m = ReduceSum(v, two)  a = Add(v, m)  f = Concat<axis=0>(b, t, c)  g = Reshape<allowzero=1>(a, f)  o = Slice(g, zero, s, one)  y = Add(o, x) }
centered 18: (float[S,C] x, float[T] k) => (float[P,C] y) { s = Shape<end=1>(x)  t = Shape(k)  d = Sub(s, t)  b = Div(d, two)  e = Add(b, t)  y = Slice(x, b, e, zero) }
"""

WEIGHTS = {
    "gamma8": (8,), "beta8": (8,), "gamma4": (4,), "beta4": (4,), "var4": (4,), "kernel": (4, 3, 3, 3), "kernel4": (4, 1, 3, 3),
    "kernel1": (3, 4, 5), "kernel_t": (3, 2, 3, 3), "w_lstm": (1, 16, 3), "r_lstm": (1, 16, 4),
}  # fmt: skip
CONSTANTS = {
    "one": np.array([1], np.int64), "two": np.array([2], np.int64), "last": np.array([1], np.int64),
    "minus_one": np.array([-1], np.int64), "minus_two": np.array([-2], np.int64),
    "far_before": np.array([-(2**62)], np.int64), "pads": np.array([0, 2, 1, 0, 0, 3], np.int64),
    "scales": np.array([1, 1, 2, 1.5], np.float32), "five": np.array(5, np.int64), "off_on": np.array([-1, 2], np.float32),
    "two_three": np.array([2, 3], np.int64), "tenth": np.array(0.1, np.float32), "three": np.array(3, np.int8),
    "zero": np.array([0], np.int64), "zeros": np.array([0, 0, 0, 0], np.int64), "seven": np.array([7], np.int64),
}  # fmt: skip


def weight(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    low, high = (0.5, 1.5) if name[0] in "gv" else (-0.5, 0.5)
    return rng.uniform(low, high, WEIGHTS[name]).astype(np.float32)


def main():
    for line in MODELS.strip().splitlines():
        head, text = line.split(":", 1)
        name, opset = head.split()
        model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{name} {text}')
        graph = model.graph
        used = {i for node in graph.node for i in node.input}
        for key in sorted(used & (WEIGHTS.keys() | CONSTANTS.keys()) - {i.name for i in graph.input}):
            value = weight(key) if key in WEIGHTS else CONSTANTS[key]
            graph.initializer.append(numpy_helper.from_array(value, key))
        checker.check_model(model, full_check=True)
        (HERE / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
