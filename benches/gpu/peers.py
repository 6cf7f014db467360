#!/usr/bin/env python3
"""Times what PyTorch and Triton have for a workload of the bundle, at the sizes that the runner takes.

Medians of CUDA events around each run, after a warm-up, as the runner does it. Eager mode; torch.compile with dynamic
sizes, compiled once for all of them as far as it can; Triton with kernels of our own for softmax and layer norm. The
kernels of a run are counted by torch.profiler. Results go to OUT/NAME.peers.json, beside the runner's.

    peers.py --runner ./gpu-runner --only softmax_bf16 --out results

Where there is no torch, or no GPU for it, that is said, and there are no results. It needs nothing else.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

WARM_UP = 4
BUDGET_US = 250_000
FEWEST, MOST = 9, 101
# Runs at first sizes compile; a peer that needs longer for a size than this is left out from there on.
PATIENCE_S = 180
COPIED = 1 << 30

try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    torch, WHY_NOT = None, f"torch cannot be imported ({error})"
else:
    WHY_NOT = None if torch.cuda.is_available() else "torch finds no GPU"

try:
    import triton
    import triton.language as tl
except ImportError as error:
    triton, WHY_NO_TRITON = None, f"triton cannot be imported ({error})"


# Workloads in PyTorch. Formulas as of the bundle's README; where there is one function for all, it is taken.


def softmax(x):
    return torch.softmax(x, -1)


def layer_norm(x, gamma, beta):
    return F.layer_norm(x, (x.shape[-1],), gamma, beta, 1e-5)


def rms_norm(x, gamma):
    if hasattr(F, "rms_norm"):
        return F.rms_norm(x, (x.shape[-1],), gamma, 1e-6)
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6) * gamma.float()).to(x.dtype)


def bias_gelu(x, bias):
    return F.gelu(x + bias)


def chain(x, mask, residual):
    return residual + torch.softmax(x * 0.125 + mask, -1)


# The shapes of inputs: a matrix, or a row of its columns.
WORKLOADS = {
    "softmax": (softmax, "m"),
    "layer_norm": (layer_norm, "mrr"),
    "rms_norm": (rms_norm, "mr"),
    "bias_gelu": (bias_gelu, "mr"),
    "chain": (chain, "mrm"),
}
HIDDEN, HEADS, BETWEEN = 256, 4, 1024


def make_encoder():
    """A layer as of examples/encoder, with other weights: post-norm, GELU by the error function."""

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            linear = torch.nn.Linear
            self.query, self.key, self.value = (linear(HIDDEN, HIDDEN) for _ in range(3))
            self.out, self.up, self.down = linear(HIDDEN, HIDDEN), linear(HIDDEN, BETWEEN), linear(BETWEEN, HIDDEN)
            self.first, self.second = torch.nn.LayerNorm(HIDDEN), torch.nn.LayerNorm(HIDDEN)

        def forward(self, x, mask):
            batch, seq, _ = x.shape

            def heads(t):
                return t.view(batch, seq, HEADS, HIDDEN // HEADS).transpose(1, 2)

            added = (1.0 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
            q, k, v = heads(self.query(x)), heads(self.key(x)), heads(self.value(x))
            context = F.scaled_dot_product_attention(q, k, v, attn_mask=added)
            x = self.first(self.out(context.transpose(1, 2).reshape(batch, seq, HIDDEN)) + x)
            return self.second(self.down(F.gelu(self.up(x))) + x)

    return Encoder().cuda().eval()


# Triton: a program for each row, which is in registers as a whole, or is read in blocks where it is long.

if triton is not None:

    @triton.jit
    def softmax_whole(x, y, cols, BLOCK: tl.constexpr):
        first = tl.program_id(0).to(tl.int64) * cols
        at = tl.arange(0, BLOCK)
        inside = at < cols
        v = tl.load(x + first + at, mask=inside, other=float("-inf")).to(tl.float32)
        v = tl.exp(v - tl.max(v, 0))
        tl.store(y + first + at, (v / tl.sum(v, 0)).to(y.dtype.element_ty), mask=inside)

    @triton.jit
    def softmax_blocks(x, y, cols, BLOCK: tl.constexpr):
        first = tl.program_id(0).to(tl.int64) * cols
        at = tl.arange(0, BLOCK)
        # Of each lane the largest so far, finite so that differences are numbers, and the sum beside it.
        most = tl.full((BLOCK,), -1.0e30, tl.float32)
        sums = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, cols, BLOCK):
            inside = start + at < cols
            v = tl.load(x + first + start + at, mask=inside, other=float("-inf")).to(tl.float32)
            new = tl.maximum(most, v)
            sums = sums * tl.exp(most - new) + tl.exp(v - new)
            most = new
        top = tl.max(most, 0)
        total = tl.sum(sums * tl.exp(most - top), 0)
        for start in range(0, cols, BLOCK):
            inside = start + at < cols
            v = tl.load(x + first + start + at, mask=inside, other=float("-inf")).to(tl.float32)
            tl.store(y + first + start + at, (tl.exp(v - top) / total).to(y.dtype.element_ty), mask=inside)

    @triton.jit
    def layer_norm_whole(x, gamma, beta, y, cols, BLOCK: tl.constexpr):
        first = tl.program_id(0).to(tl.int64) * cols
        at = tl.arange(0, BLOCK)
        inside = at < cols
        v = tl.load(x + first + at, mask=inside, other=0.0).to(tl.float32)
        centred = tl.where(inside, v - tl.sum(v, 0) / cols, 0.0)
        scale = 1.0 / tl.sqrt(tl.sum(centred * centred, 0) / cols + 1e-5)
        g = tl.load(gamma + at, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(beta + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(y + first + at, (centred * scale * g + b).to(y.dtype.element_ty), mask=inside)

    @triton.jit
    def layer_norm_blocks(x, gamma, beta, y, cols, BLOCK: tl.constexpr):
        first = tl.program_id(0).to(tl.int64) * cols
        at = tl.arange(0, BLOCK)
        sums = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, cols, BLOCK):
            sums += tl.load(x + first + start + at, mask=start + at < cols, other=0.0).to(tl.float32)
        mean = tl.sum(sums, 0) / cols
        squares = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, cols, BLOCK):
            inside = start + at < cols
            v = tl.load(x + first + start + at, mask=inside, other=0.0).to(tl.float32)
            centred = tl.where(inside, v - mean, 0.0)
            squares += centred * centred
        scale = 1.0 / tl.sqrt(tl.sum(squares, 0) / cols + 1e-5)
        for start in range(0, cols, BLOCK):
            inside = start + at < cols
            v = tl.load(x + first + start + at, mask=inside, other=0.0).to(tl.float32)
            g = tl.load(gamma + start + at, mask=inside, other=0.0).to(tl.float32)
            b = tl.load(beta + start + at, mask=inside, other=0.0).to(tl.float32)
            out = ((v - mean) * scale * g + b).to(y.dtype.element_ty)
            tl.store(y + first + start + at, out, mask=inside)


LONGEST_WHOLE, BLOCK = 32_768, 8192


def by_triton(name):
    """A function of the workload's inputs, or None where we wrote no kernel."""
    if triton is None or name not in ("softmax", "layer_norm"):
        return None
    kernels = (softmax_whole, softmax_blocks) if name == "softmax" else (layer_norm_whole, layer_norm_blocks)

    def run(*inputs):
        x, y = inputs[0], torch.empty_like(inputs[0])
        rows, cols = x.shape
        whole = cols <= LONGEST_WHOLE
        block = triton.next_power_of_2(cols) if whole else BLOCK
        warps = 4 if block <= 2048 else 8 if block <= 8192 else 16
        kernels[0 if whole else 1][(rows,)](*inputs, y, cols, BLOCK=block, num_warps=warps)
        return y

    return run


def rounds(run, count):
    """Microseconds of each of so many runs."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        run()
        event.record()
    torch.cuda.synchronize()
    return [1e3 * start.elapsed_time(end) for start, end in zip(events, events[1:])]


def median_us(run):
    guess = max(rounds(run, WARM_UP)[-1], 0.1)
    times = sorted(rounds(run, max(FEWEST, min(MOST, int(BUDGET_US / guess)))))
    return times[len(times) // 2]


def kernels_of(run):
    """The kernels of a run, as names and microseconds; None where the profiler does not tell."""
    try:
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
            run()
            torch.cuda.synchronize()
        events = [event for event in seen.events() if event.device_type == torch.autograd.DeviceType.CUDA]
        # Ranges that frameworks mark are shown on the GPU as well.
        other = ("Memcpy", "Memset", "Torch-Compiled Region", "## Call")
        events = [event for event in events if not event.name.startswith(other)]
        events = [event for event in events if not getattr(event, "is_user_annotation", False)]
        return [(event.name, event.time_range.elapsed_us()) for event in events] or None
    except Exception as error:  # Profilers need rights that not every machine gives.
        print(f"  kernels are not counted: {error}")
        return None


def copy_gbps():
    """Bytes read and written by a copy, in 10^9 a second."""
    source = torch.zeros(COPIED, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    gbps = 2 * COPIED / (1e3 * median_us(lambda: target.copy_(source)))
    return gbps


def sizes(args):
    command = [args.runner, "shapes", "--only", args.only]
    for option in ("totals", "max_elements"):
        if getattr(args, option):
            command += ["--" + option.replace("_", "-"), getattr(args, option)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [tuple(map(int, line.split())) for line in text.splitlines()]


def inputs_of(name, kind, rows, cols, dtype):
    if name == "encoder":
        mask = torch.ones(rows, cols, dtype=torch.long, device="cuda")
        return [torch.rand(rows, cols, HIDDEN, device="cuda") * 2 - 1, mask]
    shapes = {"m": (rows, cols), "r": (cols,)}
    return [(torch.rand(shapes[k], device="cuda", dtype=dtype) * 16 - 8) for k in kind]


def measure(args, problems):
    if args.only == "encoder":
        name, kind, dtype, function = "encoder", "", torch.float32, make_encoder()
    else:
        name, _, kind_of_type = args.only.rpartition("_")
        function, kind = WORKLOADS[name]
        dtype = torch.bfloat16 if kind_of_type == "bf16" else torch.float32
    peers = {"eager": function, "compile": torch.compile(function, dynamic=True), "triton": by_triton(name)}
    if peers["triton"] is None:
        del peers["triton"]
        if triton is None and name in ("softmax", "layer_norm"):
            problems.append(WHY_NO_TRITON)
    results = []
    for rows, cols in sizes(args):
        try:
            inputs = inputs_of(name, kind, rows, cols, dtype)
        except torch.cuda.OutOfMemoryError:
            problems.append(f"{rows}x{cols}: no memory for the inputs")
            continue
        try:
            expected = function(*inputs) if rows * cols <= 1 << 24 else None
        except torch.cuda.OutOfMemoryError:
            expected = None
        for peer, run in list(peers.items()):
            begun = time.monotonic()
            try:
                found = run(*inputs)
                if expected is not None:
                    off = ((found.float() - expected.float()).abs() / (1 + expected.float().abs())).max().item()
                    allowed = 0.02 if dtype == torch.bfloat16 else 2e-4
                    if not off <= allowed:
                        problems.append(f"{peer} at {rows}x{cols} is off from eager mode by {off}, not timed")
                        continue
                del found
                us = median_us(lambda: run(*inputs))
                parts = kernels_of(lambda: run(*inputs))
                kernels = parts and len(parts)
                results.append({"rows": rows, "cols": cols, "peer": peer, "median_us": us, "kernels": kernels})
                if parts and name == "encoder":
                    sums = {}
                    for part, part_us in parts:
                        sums[part[:80]] = sums.get(part[:80], 0) + part_us
                    results[-1]["parts"] = sorted(sums.items(), key=lambda item: -item[1])
                print(f"  {rows:>8} x {cols:<7} {peer:8} {us:>10.1f} us, {kernels} kernels", flush=True)
            except torch.cuda.OutOfMemoryError:
                problems.append(f"{peer} at {rows}x{cols}: no memory")
            except Exception as error:  # One peer that fails is no reason to leave out the others.
                problems.append(f"{peer} at {rows}x{cols}: {type(error).__name__}: {str(error)[:500]}")
                del peers[peer]
            if time.monotonic() - begun > PATIENCE_S:
                problems.append(f"{peer} took more than {PATIENCE_S} s at {rows}x{cols}, and is left out from there on")
                peers.pop(peer, None)
        del inputs, expected
        torch.cuda.empty_cache()
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--only", required=True, help="a workload, as `gpu-runner list` names it")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--totals")
    parser.add_argument("--max-elements")
    # What is the runner's alone.
    args, _ = parser.parse_known_args()
    told = {"workload": args.only, "device": "no GPU", "versions": "none", "copy_gbps": None, "results": []}
    problems = told["problems"] = []
    if WHY_NOT:
        problems.append(f"peers are not measured: {WHY_NOT}")
    else:
        told["device"] = torch.cuda.get_device_name()
        triton_version = "no triton" if triton is None else f"triton {triton.__version__}"
        told["versions"] = f"torch {torch.__version__}, {triton_version}, Python {sys.version.split()[0]}"
        print(f"{args.only}: {told['versions']} on {told['device']}", flush=True)
        with torch.no_grad():
            told["copy_gbps"] = copy_gbps()
            torch.cuda.empty_cache()
            told["results"] = measure(args, problems)
    for problem in problems:
        print(f"  {problem}")
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / f"{args.only}.peers.json"
    path.write_text(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()
