"""What a line of models.txt stands for: a network with random weights, and its inputs at several sizes."""

import dataclasses
import json
import pathlib

import torch

BATCHES = (2, 1, 3)
# Of the inputs whose statistics BatchNorm gets.
SETTLING = 16
LENGTHS = (13, 1, 32)


@dataclasses.dataclass
class Entry:
    """A line of the list: `PACKAGE NAME OPTION=VALUE…`."""

    package: str
    name: str
    options: dict

    @property
    def title(self):
        return f"{self.package}/{self.name}"

    @property
    def file(self):
        return f"{self.package}-{self.name}"


def listed(path=pathlib.Path(__file__).parent / "models.txt"):
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    return [Entry(words[0], words[1], dict(map(option, words[2:]))) for words in lines if words]


def option(word):
    key, _, value = word.partition("=")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def network(entry):
    """The network in evaluation mode, with numbers that keep its outputs alive."""
    torch.manual_seed(sum(entry.title.encode()))
    made = {"torchvision": of_torchvision, "timm": of_timm, "transformers": of_transformers}[entry.package](entry)
    enliven(made)
    settle(made, inputs(entry, 0, SETTLING))
    return made.eval()


def of_torchvision(entry):
    import torchvision

    extra = {"weights_backbone": None} if entry.options.get("backbone") else {}
    if entry.name in ("googlenet", "inception_v3"):
        extra["init_weights"] = False
    return Tensors(torchvision.models.get_model(entry.name, weights=None, **extra), [field for field, _ in fields(entry)])


def of_timm(entry):
    import timm

    return Tensors(timm.create_model(entry.name, pretrained=False), [field for field, _ in fields(entry)])


def of_transformers(entry):
    import transformers

    own = {key: value for key, value in entry.options.items() if key not in ("inputs", "head", "images", "frames")}
    config = transformers.AutoConfig.for_model(entry.name, **own)
    config.use_cache = False
    head = getattr(transformers, entry.options.get("head", "AutoModel"))
    made = head.from_config(config) if hasattr(head, "from_config") else head(config)
    return Tensors(made, [field for field, _ in fields(entry)])


class Tensors(torch.nn.Module):
    """A network that takes tensors by position and gives a tuple of those that it makes."""

    def __init__(self, network, fields):
        super().__init__()
        self.network, self.fields = network, fields

    def forward(self, *tensors):
        # The networks of images take one tensor, whatever they call it.
        if self.fields == ["images"]:
            return leaves(self.network(*tensors))
        return leaves(self.network(**dict(zip(self.fields, tensors))))


def leaves(value):
    """All tensors of what a network gives, in order."""
    if isinstance(value, torch.Tensor):
        return (value,)
    if value is None or isinstance(value, (int, float, bool, str)):
        return ()
    values = value.values() if hasattr(value, "values") else value
    return tuple(tensor for part in values for tensor in leaves(part))


def enliven(network):
    """Parameters that are constant at first (scales of 1 or 1e-6, biases of 0) get numbers of their own: with them a part of
    the network could be wrong and nobody would see it."""
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.numel() > 1 and parameter.is_floating_point() and parameter.min() == parameter.max():
                constant = parameter.flatten()[0].item()
                if constant == 0:
                    parameter.normal_(0, 0.05)
                else:
                    parameter.uniform_(0.5, 1.5).mul_(constant if abs(constant) > 0.05 else 0.2)


def settle(network, tensors):
    """Statistics of BatchNorm become those of random inputs: without them the numbers of deep networks vanish or explode. Those of
    few inputs are none: channels that vary little among them are made large, for other inputs without bound."""
    norms = [part for part in network.modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    network.eval()
    for norm in norms:
        norm.train()
        norm.momentum = 1.0
    with torch.no_grad():
        network(*tensors)


def fields(entry):
    """Names of the inputs, each with its symbolic dims."""
    kinds = entry.options.get("inputs", "images").split("+")
    dims = {
        "images": ("batch", "channels", "height", "width"),
        "video": ("batch", "channels", "frames", "height", "width"),
        "pixel_values": ("batch", "channels", "height", "width"),
        "input_ids": ("batch", "sequence"),
        "attention_mask": ("batch", "sequence"),
        "token_type_ids": ("batch", "sequence"),
        "decoder_input_ids": ("batch", "target"),
        "input_values": ("batch", "samples"),
        "input_features": ("batch", "bands", "time"),
    }
    return [("images" if kind == "video" else kind, dims[kind]) for kind in kinds]


def dynamic(entry):
    """The dims that a compilation leaves open."""
    open_dims = {"batch", "sequence", "target", "samples"}
    if len(sizes(entry)) > 1:
        open_dims |= {"height", "width"}
    return open_dims


def sizes(entry):
    """Heights and widths of images: one is fixed, several are tried."""
    text = str(entry.options.get("images", "224")).split(",")
    return [tuple(int(side) for side in (size.split("x") * 2)[:2]) for size in text]


def cases():
    return range(len(BATCHES))


def inputs(entry, case, batch=None):
    """Random inputs of a case, or of another batch. Masks hide the ends of some rows."""
    generator = torch.Generator().manual_seed(case + 1)
    height, width = sizes(entry)[case % len(sizes(entry))]
    bound = {
        "batch": batch or BATCHES[case],
        "channels": 3,
        "frames": entry.options.get("frames", 8),
        "height": height,
        "width": width,
        "sequence": LENGTHS[case],
        "target": LENGTHS[case] // 2 + 1,
        "samples": 800 + 400 * case,
        "bands": 80,
        "time": 2 * entry.options.get("max_source_positions", 0),
    }
    made = []
    for field, dims in fields(entry):
        shape = [bound[dim] for dim in dims]
        if field.endswith("input_ids"):
            made.append(torch.randint(3, entry.options.get("vocab_size", 1000), shape, generator=generator))
        elif field == "attention_mask":
            mask = torch.ones(shape, dtype=torch.int64)
            mask[-1, (shape[1] + 1) // 2 :] = 0 if shape[0] > 1 else 1
            made.append(mask)
        elif field == "token_type_ids":
            made.append(torch.randint(0, 2, shape, generator=generator))
        else:
            made.append(torch.randn(shape, generator=generator))
    return made
