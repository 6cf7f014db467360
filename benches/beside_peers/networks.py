"""Networks of convolutions, float32, batch 1: a residual network of 50 layers, and two whose height and width are known at a call."""

from workloads import F, Workload, randoms


class Layers:
    """A graph with convolutions that bring weights of their own."""

    def __init__(self, graph):
        self.graph = graph

    def conv(self, x, channels, features, window, step=1, groups=1, then=None, transposed=False):
        inner = channels // groups
        shape = [channels, features, window, window] if transposed else [features, inner, window, window]
        weights = self.graph.constant(randoms(*shape, scale=(inner * window * window) ** -0.5))
        bias = self.graph.constant(randoms(features, scale=0.05))
        pads = [0 if transposed else window // 2] * 4
        kind = "ConvTranspose" if transposed else "Conv"
        x = self.graph(kind, x, weights, bias, strides=[step, step], pads=pads, group=groups)
        if then == "relu":
            return self.graph("Relu", x)
        return self.graph("Clip", x, self.graph.number(0), self.graph.number(6)) if then == "relu6" else x

    def classes(self, x, channels, count):
        x = self.graph("Flatten", self.graph("GlobalAveragePool", x))
        return self.graph("Gemm", x, self.graph.constant(randoms(channels, count, scale=channels ** -0.5)))


def resnet50():
    """Of bottlenecks, after He et al., "Deep residual learning for image recognition" (CVPR 2016); batch norms are folded."""
    def build(g, x):
        net = Layers(g)
        x = net.conv(x, 3, 64, 7, 2, then="relu")
        x, channels = g("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 64
        for width, blocks, step in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for number in range(blocks):
                by = step if number == 0 else 1
                y = net.conv(x, channels, width, 1, then="relu")
                y = net.conv(y, width, width, 3, by, then="relu")
                y = net.conv(y, width, 4 * width, 1)
                way = net.conv(x, channels, 4 * width, 1, by) if number == 0 else x
                x, channels = g("Relu", g("Add", y, way)), 4 * width
        return net.classes(x, channels, 1000)

    return Workload([("x", F, [1, 3, 224, 224])], [dict()], None, build, operations=lambda case: 2 * 4089184256)


def mobilenet():
    """Of inverted residuals, after Sandler et al., "MobileNetV2" (CVPR 2018); batch norms are folded."""
    def build(g, x):
        net = Layers(g)
        x, channels = net.conv(x, 3, 32, 3, 2, then="relu6"), 32
        for wider, features, blocks, step in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                              (6, 160, 3, 2), (6, 320, 1, 1)):
            for number in range(blocks):
                inner = channels * wider
                y = net.conv(x, channels, inner, 1, then="relu6") if wider > 1 else x
                y = net.conv(y, inner, inner, 3, step if number == 0 else 1, inner, then="relu6")
                y = net.conv(y, inner, features, 1)
                x, channels = g("Add", x, y) if number else y, features
        return net.classes(net.conv(x, channels, 1280, 1, then="relu6"), 1280, 1000)

    cases = [dict(H=224, W=224), dict(H=192, W=256)]
    return Workload([("x", F, [1, 3, "H", "W"])], cases, None, build)


def unet():
    """After Ronneberger et al., "U-Net" (MICCAI 2015), with half the features and padded convolutions."""
    def build(g, x):
        net, ways, channels = Layers(g), [], 3

        def twice(x, channels, features):
            x = net.conv(x, channels, features, 3, then="relu")
            return net.conv(x, features, features, 3, then="relu")

        for features in (32, 64, 128, 256):
            x, channels = twice(x, channels, features), features
            ways.append(x)
            x = g("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        x = twice(x, 256, 512)
        for features in (256, 128, 64, 32):
            x = net.conv(x, 2 * features, features, 2, 2, transposed=True)
            x = twice(g("Concat", ways.pop(), x, axis=1), 2 * features, features)
        return net.conv(x, 32, 2, 1)

    cases = [dict(H=128, W=128), dict(H=96, W=160)]
    return Workload([("x", F, [1, 3, "H", "W"])], cases, None, build)


NETWORKS = [resnet50, mobilenet, unet]
