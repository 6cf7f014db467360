"""Draws what runs of `run.py --json FILE` found: the best peer's time by Sutura's, a dot for each case, families one below the other.

    python benches/beside_peers/picture.py FILE... -o docs/performance.svg
"""

import argparse
import html
import json
import math
import pathlib

import workloads

WIDTH, LEFT, ROW, TOP = 900, 150, 44, 64
LOW, HIGH = 0.5, 8.0
STEPS = [0.5, 0.7, 1, 1.4, 2, 3, 4, 6, 8]


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path)
    return parser.parse_args()


def ratios(files):
    """By family and number of threads, the cases with their ratios."""
    families = {make.__name__: family for family, makes in workloads.FAMILIES.items() for make in makes}
    found = {}
    for entry in (entry for file in files for entry in json.loads(file.read_text())):
        seconds = dict(entry["seconds"])
        own = seconds.pop("sutura", None)
        if own and seconds and entry["workload"] in families:
            case = f"{entry['workload']} {entry['case']}".strip()
            at = found.setdefault((families[entry["workload"]], entry["threads"]), {})
            at[case] = min(seconds.values()) / own
    if not found:
        raise SystemExit("no file has a case with the times of sutura and of a peer")
    order = {family: number for number, family in enumerate(workloads.FAMILIES)}
    return dict(sorted(found.items(), key=lambda item: (order[item[0][0]], item[0][1])))


def place(ratio):
    part = math.log(min(max(ratio, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return LEFT + part * (WIDTH - LEFT - 110)


def drawn(found):
    height = TOP + ROW * len(found) + 24
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="t" '
             'font-family="sans-serif" font-size="13">',
             '<title id="t">The best peer\'s time by Sutura\'s, by family of workloads: right of 1 Sutura is faster</title>',
             f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
             '<text x="16" y="24" font-size="15">Best peer\'s time by Sutura\'s: right of 1 Sutura is faster</text>']
    for step in STEPS:
        x, strong = place(step), step == 1
        lines.append(f'<line x1="{x:.1f}" y1="{TOP - 12}" x2="{x:.1f}" y2="{height - 20}" stroke="{"#333" if strong else "#ddd"}"/>')
        lines.append(f'<text x="{x:.1f}" y="{TOP - 18}" text-anchor="middle" fill="#555">{step:g}</text>')
    for number, ((family, threads), cases) in enumerate(found.items()):
        y = TOP + ROW * number + ROW / 2
        mean = math.exp(sum(map(math.log, cases.values())) / len(cases))
        lines.append(f'<text x="16" y="{y - 2:.1f}">{html.escape(family)}</text>')
        lines.append(f'<text x="16" y="{y + 13:.1f}" fill="#777" font-size="11">{threads} thread{"s" if threads > 1 else ""}, {len(cases)}</text>')
        for case, ratio in sorted(cases.items(), key=lambda item: item[1]):
            color = "#3d7a3d" if ratio >= 1 else "#b3532f"
            lines.append(f'<circle cx="{place(ratio):.1f}" cy="{y:.1f}" r="4" fill="{color}" fill-opacity="0.55">'
                         f'<title>{html.escape(case)}: {ratio:.2f}</title></circle>')
        x = place(mean)
        lines.append(f'<line x1="{x:.1f}" y1="{y - 13:.1f}" x2="{x:.1f}" y2="{y + 13:.1f}" stroke="#1f3d6b" stroke-width="3"/>')
        lines.append(f'<text x="{WIDTH - 16}" y="{y + 4:.1f}" text-anchor="end">mean {mean:.2f}, least {min(cases.values()):.2f}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def main():
    args = options()
    args.output.write_text(drawn(ratios(args.files)))


if __name__ == "__main__":
    main()
