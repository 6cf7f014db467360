"""Sutura beside its peers on memory-intensive workloads, in turns.

    pip install onnx onnxruntime numpy jax        # one environment; openvino and torch each in one of their own
    cargo build --release -p sutura -p sutura-capi
    python benches/beside_peers/run.py --python onnxruntime=ENV/bin/python --python openvino=... --python torch=... \\
        [--rounds 3] [--threads 1,2] [--only softmax,chain] [--peers sutura,onnxruntime,openvino,torch,xla]

Every peer but XLA compiles a workload once for all its cases. In a round each peer runs each workload in a process of its
own, pinned to one core for one thread; a figure is the least over rounds of the median within a round. Outputs are compared
with onnxruntime's: a peer whose outputs are others gets no figure. What has none, and why, stands below the table.

Families (`--only`): rows that memory bounds, convolutions, chains (with a pool or a depthwise one behind), products, narrow (products of bf16 and of bytes), networks (of convolutions),
encoders (a layer of BERT base, MiniLM-L6), attention, recurrent, examples (the models of `examples/` at their stored cases), and
full_examples (those of two sizes with the published widths, made when first measured).

    python benches/beside_peers/run.py --old OTHER/target/release [--rounds 10] [--pairs 3] [--seconds 0.1] [--threads 1]

runs two builds of sutura in turns instead, and prints the median over pairs of the old time by the new one. A round is a
process: where one puts code and memory decides 5 % of short runs.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import workloads

HERE = pathlib.Path(__file__).resolve().parent
# Of the largest number of an output. Sums in another order differ by 1e-6 of it, factors rounded to bf16 by 1e-2.
AGREES = 0.05


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="sutura,onnxruntime,openvino,torch,xla")
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PATH", help="a peer's own Python")
    parser.add_argument("--sutura", default="target/release")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--old", help="folder of another build of sutura: run both in turns, without peers")
    parser.add_argument("--pairs", type=int, default=3)
    families = ", ".join(workloads.FAMILIES)
    parser.add_argument("--only", default="rows", help=f"workloads and families ({families})")
    parser.add_argument("--json", type=pathlib.Path, help="adds what peers took to this file, for picture.py")
    return parser.parse_args()


def run_one(args, pythons, folder, peer, workload, threads, problems):
    """The lines of a peer's process. It may fail and end after some of them: that is said, here and in `problems`."""
    command = [pythons.get(peer, sys.executable), HERE / "peer.py", peer, workload, "--threads", threads,
               "--seconds", str(args.seconds), "--folder", folder, "--sutura", args.sutura]
    if args.old:
        command += ["--old", args.old, "--pairs", str(args.pairs)]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, JAX_PLATFORMS="cpu"))
    if done.returncode != 0:
        print(f"{peer} on {workload} with {threads} threads failed:\n{done.stderr[-1500:]}", file=sys.stderr)
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        problems[(workload, threads, peer, "")] = f"fails: {reason[-200:]}"
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def agrees(line):
    """Whether outputs are onnxruntime's, where they were compared; NaN is not."""
    return line["difference"] is None or line["difference"] <= AGREES


def time_text(seconds):
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def table(best, peers, threads):
    others = [p for p in peers if p != "sutura"]
    print(f"\n{threads} thread(s)\n\n| workload | case | " + " | ".join(peers) + " | GFLOP/s | best peer by sutura | difference |")
    print("|---" * (len(peers) + 5) + "|")
    ratios = {}
    for (workload, case), times in best.items():
        known = [times[p][0] for p in others if p in times]
        ratio = min(known) / times["sutura"][0] if known and "sutura" in times else None
        if ratio is not None:
            ratios[(workload, case)] = ratio
        cells = [time_text(times[p][0]) if p in times else "-" for p in peers]
        seconds, gap, operations = times.get("sutura", (None, None, None))
        cells.append(f"{operations / seconds / 1e9:.1f}" if operations and seconds else "-")
        cells += ["-" if ratio is None else f"{ratio:.2f}", "-" if gap is None else f"{gap:.1e}"]
        print(f"| {workload} | {case} | " + " | ".join(cells) + " |")
    for title, makes in {"ten": workloads.TEN, **workloads.FAMILIES}.items():
        members = {make.__name__ for make in makes}
        mine = [r for (w, _), r in ratios.items() if w in members]
        if mine:
            mean = math.exp(sum(map(math.log, mine)) / len(mine))
            print(f"\nThe {title}: {len(mine)} cases, geometric mean {mean:.2f}, least {min(mine):.2f}", flush=True)


def peers_table(args, pythons, folder, names, threads):
    peers = args.peers.split(",")
    best, problems = {t: {} for t in threads}, {}
    order = sorted(peers, key=lambda p: p != "onnxruntime")
    for _ in range(args.rounds):
        for name in names:
            for count in threads:
                for peer in order:
                    for line in run_one(args, pythons, folder, peer, name, count, problems):
                        case = ", ".join(f"{k}={v}" for k, v in line["case"].items())
                        if not agrees(line):
                            problems[(name, count, peer, case)] = "has results of other sizes" if line["difference"] == math.inf else \
                                f"differs from onnxruntime by {line['difference']:.1e}"
                            continue
                        times = best[count].setdefault((name, case), {})
                        old = times.get(peer, (math.inf,))
                        times[peer] = (min(old[0], line["median"]), line["difference"], line["operations"])
    for count in threads:
        table(best[count], peers, count)
    if problems:
        print("\nFailures, and results that are not onnxruntime's, which have no figures:\n")
    for (name, count, peer, case), problem in problems.items():
        print(f"- {' '.join(filter(None, [name, case]))}, {count} thread(s): {peer} {problem}", flush=True)
    if args.json:
        keep(args.json, best)


def keep(path, best):
    """Seconds by workload, case and threads; what the file had of these is replaced."""
    known = json.loads(path.read_text()) if path.exists() else []
    new = [dict(workload=name, case=case, threads=int(count), seconds={peer: times[peer][0] for peer in times})
           for count, cases in best.items() for (name, case), times in cases.items()]
    key = lambda entry: (entry["workload"], entry["case"], entry["threads"])
    replaced = {key(entry) for entry in new}
    path.write_text(json.dumps([entry for entry in known if key(entry) not in replaced] + new, indent=0))


def builds_table(args, pythons, folder, names, threads):
    """Pairs of an old and a new build: the least ratio of a workload is what a bar is about."""
    print("| workload | case | threads | old | new | median of old / new | quartiles | same values |\n" + "|---" * 8 + "|")
    for name in names:
        for count in threads:
            cases = {}
            for _ in range(args.rounds):
                for line in run_one(args, pythons, folder, "sutura", name, count, {}):
                    case = ", ".join(f"{k}={v}" for k, v in line["case"].items())
                    cases.setdefault(case, []).append(line)
            for case, lines in cases.items():
                old, new = (sum((line[build] for line in lines), []) for build in ["old", "new"])
                low, middle, high = statistics.quantiles((o / n for o, n in zip(old, new)), n=4)
                print(f"| {name} | {case} | {count} | {time_text(statistics.median(old))} "
                      f"| {time_text(statistics.median(new))} | {middle:.3f} | {low:.3f} to {high:.3f} "
                      f"| {'yes' if all(line['same'] for line in lines) else 'NO'} |", flush=True)


def main():
    args = options()
    pythons = dict(entry.split("=", 1) for entry in args.python)
    names, threads = workloads.named(args.only), args.threads.split(",")
    with tempfile.TemporaryDirectory() as folder:
        made = "import sys, pathlib, onnx, workloads\nfor n in sys.argv[2].split(','):\n" \
               "  onnx.save(workloads.made(n).model(), pathlib.Path(sys.argv[1]) / f'{n}.onnx')"
        subprocess.run([pythons.get("onnxruntime", sys.executable), "-c", made, folder, ",".join(names)], check=True,
                       cwd=HERE)
        (builds_table if args.old else peers_table)(args, pythons, folder, names, threads)


if __name__ == "__main__":
    main()
