"""A smaller model that goes wrong in the same way."""

import json

import onnx

from check import properties
from graph import TYPES

MOST_CHECKS = 150


def without_dead(model):
    """Without what no output needs."""
    graph, needed, kept = model.graph, {v.name for v in model.graph.output}, []
    for node in reversed(graph.node):
        if needed & set(node.output):
            needed |= set(node.input)
            kept.insert(0, node)
    for field, alive in [(graph.node, kept), (graph.input, [v for v in graph.input if v.name in needed]),
                         (graph.initializer, [t for t in graph.initializer if t.name in needed])]:
        alive = [type(a).FromString(a.SerializeToString()) for a in alive]
        del field[:]
        field.extend(alive)
    return model


def stated(name, known):
    """An input or output as the model's notes describe it."""
    return onnx.helper.make_tensor_value_info(name, TYPES[known[0]], known[1])


def copy(model):
    made = onnx.ModelProto()
    made.CopyFrom(model)
    return made


def fewer_outputs(model):
    for i in range(len(model.graph.output)):
        if len(model.graph.output) > 1:
            made = copy(model)
            kept = made.graph.output[i]
            kept = onnx.ValueInfoProto.FromString(kept.SerializeToString())
            del made.graph.output[:]
            made.graph.output.append(kept)
            yield made


def earlier_outputs(model):
    """An operand of the node that makes an output in its place."""
    known = json.loads(properties(model)["values"])
    weights = {t.name for t in model.graph.initializer} | {v.name for v in model.graph.input}
    for i, output in enumerate(model.graph.output):
        node = next((n for n in model.graph.node if output.name in n.output), None)
        for name in node.input if node else ():
            if name in known and name not in weights:
                made = copy(model)
                made.graph.output[i].CopyFrom(stated(name, known[name]))
                yield made


def cut_values(model):
    """A computed value as an input instead; those that are nearest to the outputs first."""
    known = json.loads(properties(model)["values"])
    outputs = {v.name for v in model.graph.output}
    for i, node in reversed(list(enumerate(model.graph.node))):
        if len(node.output) != 1 or node.output[0] in outputs:
            continue
        name = node.output[0]
        kind, shape, low, high, _ = known[name]
        # Sizes must stay sizes, and bounds of a range far away would make other numbers of them.
        if None in shape or (kind in "ij" and max(abs(low), abs(high)) > 1000):
            continue
        made = copy(model)
        del made.graph.node[i]
        made.graph.input.append(stated(name, known[name]))
        yield made


def bypassed(model):
    """A node's operand of the same type and shape in its place."""
    known = json.loads(properties(model)["values"])
    outputs = {v.name for v in model.graph.output}
    for i, node in reversed(list(enumerate(model.graph.node))):
        if len(node.output) != 1 or node.output[0] in outputs:
            continue
        here = known[node.output[0]]
        for operand in node.input:
            if operand in known and known[operand][:2] == here[:2] and None not in here[1]:
                made = copy(model)
                del made.graph.node[i]
                for later in made.graph.node:
                    later.input[:] = [operand if n == node.output[0] else n for n in later.input]
                yield made


def fewer_sizes(model):
    sizes = json.loads(properties(model)["sizes"])
    for setting in sizes:
        if len(sizes) > 1:
            made = copy(model)
            next(p for p in made.metadata_props if p.key == "sizes").value = json.dumps([setting])
            yield made


def no_options(model):
    if json.loads(properties(model)["options"]):
        made = copy(model)
        next(p for p in made.metadata_props if p.key == "options").value = "[]"
        yield made


def reduced(model, kind, checker):
    """The smallest model found for which the checker's outcome is still of that kind."""
    checks = 0
    ways = [fewer_outputs, fewer_sizes, no_options, earlier_outputs, cut_values, bypassed]
    going = True
    while going:
        going = False
        for way in ways:
            for candidate in way(model):
                checks += 1
                if checks > MOST_CHECKS:
                    return model
                candidate = without_dead(candidate)
                if len(candidate.graph.node) and checker.check(candidate).kind == kind:
                    model, going = candidate, True
                    break
    return model
