#!/bin/sh
# Checks every kernel on the GPU of this machine, times it beside its peers, and makes one table: results/results.md.
#
#   ./run.sh [--device NAME] [--quick] [--no-peers] [options of gpu-runner ...]
#
# It goes on after a failure, and its exit code is not 0 then.
set -u
here=$(cd "$(dirname "$0")" && pwd)
runner=$here/gpu-runner
python=${PYTHON:-python3}
device= peers=yes totals= options=
while [ $# -gt 0 ]; do
    case $1 in
        --device) device=$2; shift ;;
        --quick) totals="--totals 16777216" ;;
        --no-peers) peers=no ;;
        *) options="$options $1" ;;
    esac
    shift
done
on=
[ -n "$device" ] && on="--device $device"
results=$here/results
case $options in *--out*) echo "error: results go to $results; move them from there" >&2; exit 2 ;; esac
mkdir -p "$results"
# What another run found is no part of this one's table.
rm -f "$results"/*.json "$results/results.md"
log=$results/log.txt
{
    date -u
    uname -a
    for tool in nvidia-smi rocm-smi; do command -v $tool > /dev/null && $tool; done
    "$runner" devices
} > "$log" 2>&1
cat "$log"

failed=
# What the shell splits here are options.
# shellcheck disable=SC2086
step() {
    echo "\$ $*" | tee -a "$log"
    "$@" >> "$log.step" 2>&1
    code=$?
    tee -a "$log" < "$log.step"
    rm -f "$log.step"
    [ $code -eq 0 ] || failed="$failed [$* : exit code $code]"
    return $code
}
for name in $("$runner" list); do
    # A process for each: where a kernel crashes, its device does nothing more for the process that had it.
    step "$runner" check $on --only "$name" $options
    case $? in
        0) ;;
        3) exit_now=yes; break ;;
        *) continue ;;
    esac
    step "$runner" time $on --only "$name" $totals $options
    if [ $peers = yes ]; then
        step "$python" "$here/peers.py" --runner "$runner" --only "$name" --out "$results" $totals $options
    fi
done
step "$runner" report --out "$results"
if [ -n "$failed" ]; then
    echo "FAILED:$failed"
    echo "What was said is in $log."
    [ -n "${exit_now:-}" ] && exit 3
    exit 1
fi
echo "All is right. The table is $results/results.md."
