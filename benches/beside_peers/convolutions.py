"""Convolutions of known networks with what follows them, float32, batch 1, all sizes known.

torch and XLA are not asked for these: their functions are not written.
"""

import math

from workloads import F, Workload, randoms


def conv(name, channels, features, sizes, window, step=1, pad=0, groups=1, then="", transposed=False, more=0):
    """`then` names what follows: `relu`, `relu6`, `silu`, `residual` before one of them; a pool of `pool2` or `pool3` places, padded,
    every second one; a depthwise convolution `depth1` or `depth2`, whose step is the digit; `more` is the output padding."""
    rank = len(sizes)
    window, step, pad = ([n] * rank if isinstance(n, int) else n for n in (window, step, pad))
    weight = [channels, features // groups] if transposed else [features, channels // groups]
    fan = channels // groups
    for places in window:
        fan *= places
    weights = randoms(*weight, *window, scale=fan ** -0.5)
    bias = randoms(features, scale=0.1)
    ends = [(n - 1) * s - 2 * p + w + more if transposed else (n + 2 * p - w) // s + 1
            for n, s, p, w in zip(sizes, step, pad, window)]
    operations = 2 * weights.size * math.prod(sizes if transposed else ends)
    made = dict(w=weights, b=bias)
    if "depth" in then:
        made["d"] = randoms(features, 1, *[3] * rank, scale=1 / 3)

    def build(g, x, *rest, w, b, d=None):
        attributes = dict(strides=step, pads=pad + pad, group=groups)
        if transposed:
            attributes["output_padding"] = [more] * rank
        y = g("ConvTranspose" if transposed else "Conv", x, w, b, **attributes)
        for word in then.split():
            if word == "residual":
                y = g("Add", y, rest[0])
            elif word == "relu":
                y = g("Relu", y)
            elif word == "relu6":
                y = g("Clip", y, g.number(0), g.number(6))
            elif word == "silu":
                y = g("Mul", y, g("Sigmoid", y))
            elif word.startswith("pool"):
                places = int(word[4:])
                pads = [places // 2 - (places == 2)] * 2 * rank
                y = g("MaxPool", y, kernel_shape=[places] * rank, strides=[2] * rank, pads=pads)
            elif word.startswith("depth"):
                y = g("Conv", y, d, group=features, strides=[int(word[5:])] * rank, pads=[1] * 2 * rank)
            else:
                raise ValueError(f"`{word}` is not something that follows a convolution here")
        return y

    def make():
        inputs = [("x", F, [1, channels, *sizes])]
        if "residual" in then:
            inputs.append(("r", F, [1, features, *ends]))
        return Workload(inputs, [dict()], None, build, made, operations=lambda case: operations)

    make.__name__ = name
    return make


CONVOLUTIONS = [
    conv("resnet_first", 3, 64, (224, 224), 7, 2, 3, then="relu"),
    conv("resnet_1x1_in", 256, 64, (56, 56), 1, then="relu"),
    conv("resnet_3x3_56", 64, 64, (56, 56), 3, 1, 1, then="relu"),
    conv("resnet_1x1_out", 64, 256, (56, 56), 1, then="residual relu"),
    conv("resnet_1x1_step", 256, 512, (56, 56), 1, 2),
    conv("resnet_3x3_step", 128, 128, (56, 56), 3, 2, 1, then="relu"),
    conv("resnet_3x3_28", 128, 128, (28, 28), 3, 1, 1, then="relu"),
    conv("resnet_3x3_14", 256, 256, (14, 14), 3, 1, 1, then="relu"),
    conv("resnet_1x1_14", 1024, 256, (14, 14), 1, then="relu"),
    conv("resnet_3x3_7", 512, 512, (7, 7), 3, 1, 1, then="relu"),
    conv("resnet_1x1_7", 512, 2048, (7, 7), 1, then="residual relu"),
    conv("mobilenet_first", 3, 32, (224, 224), 3, 2, 1, then="relu6"),
    conv("mobilenet_expand", 16, 96, (112, 112), 1, then="relu6"),
    conv("mobilenet_depth_step", 96, 96, (112, 112), 3, 2, 1, 96, then="relu6"),
    conv("mobilenet_depth", 144, 144, (56, 56), 3, 1, 1, 144, then="relu6"),
    conv("mobilenet_project", 144, 24, (56, 56), 1, then="residual"),
    conv("efficientnet_depth", 240, 240, (28, 28), 5, 1, 2, 240, then="silu"),
    conv("efficientnet_expand", 40, 240, (28, 28), 1, then="silu"),
    conv("resnext_groups", 128, 128, (56, 56), 3, 1, 1, 32, then="relu"),
    conv("unet_3x3", 64, 64, (128, 128), 3, 1, 1, then="relu"),
    conv("unet_up", 128, 64, (64, 64), 2, 2, transposed=True),
    conv("convnext_depth", 96, 96, (56, 56), 7, 1, 3, 96),
    conv("convnext_patches", 3, 96, (224, 224), 4, 4),
    conv("volume_3x3x3", 16, 32, (16, 32, 32), 3, 1, 1, then="relu"),
    conv("transposed_3x3", 64, 32, (32, 32), 3, 2, 1, transposed=True, more=1, then="relu"),
]

# What follows reads around each place: a kernel that makes the lines it needs writes no map to memory.
CHAINS = [
    conv("resnet_stem_pool", 3, 64, (224, 224), 7, 2, 3, then="relu pool3"),
    conv("vgg_pool", 64, 128, (112, 112), 3, 1, 1, then="relu pool2"),
    conv("unet_pool", 32, 32, (224, 224), 3, 1, 1, then="relu pool2"),
    conv("mobilenet_block_112", 16, 96, (112, 112), 1, then="relu6 depth2 relu6"),
    conv("mobilenet_block_56", 24, 144, (56, 56), 1, then="relu6 depth1 relu6"),
    conv("mobilenet_block_56_step", 24, 144, (56, 56), 1, then="relu6 depth2 relu6"),
    conv("mobilenet_block_28", 32, 192, (28, 28), 1, then="relu6 depth1 relu6"),
    conv("mobilenet_block_14", 64, 384, (14, 14), 1, then="relu6 depth1 relu6"),
    conv("mobilenet_block_7", 160, 960, (7, 7), 1, then="relu6 depth1 relu6"),
]
