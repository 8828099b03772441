#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures the plan on the GPU of this machine: validation/measure/run.sh OUTDIR
# Builds lockstep_measure where it is not built, runs the plan, then, where Nsight Compute is
# installed, runs it again under the profiler with caches flushed and as they are. Needs no network
# and changes no setting of the card. OUTDIR gets *.json; `lockstep compare --suite h200 --measured
# OUTDIR` compares them. Exit status: 0 all done; 2 no GPU or wrong input; 3 something is missing.
set -u
[ $# -eq 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
build=${LOCKSTEP_BUILD:-$root/build}
measure=$build/bin/lockstep_measure
if [ ! -x "$measure" ]; then
    { cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release &&
        ninja -C "$build" lockstep_measure; } >"$out/build.log" 2>&1 ||
        { echo "the build failed, see $out/build.log" >&2; exit 2; }
fi
commit=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)
status=0

# Where there are several GPUs, the first; the others are not even started.
export CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-0}"
# Options of the user's own (a driver or a plan for tests) go to every call.
options="--commit $commit ${LOCKSTEP_MEASURE_OPTIONS:-}"
begin=$(date +%s)
left() { echo $((1140 - $(date +%s) + begin)); }

if command -v nvidia-smi >/dev/null 2>&1; then
    nvidia-smi -q >"$out/nvidia-smi.txt" 2>&1
fi

timeout -k 10 600 "$measure" $options --out "$out"
result=$?
[ $result -eq 2 ] && exit 2
[ $result -eq 0 ] || { echo "not all pairs were measured ($result)" >&2; status=3; }

timeout -k 10 120 "$measure" $options --tables --out "$out" || { echo "no tables" >&2; status=3; }

ncu=${LOCKSTEP_NCU:-$(command -v ncu || ls -d /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)}
if [ -z "$ncu" ]; then
    echo "Nsight Compute is not installed: no counters" >&2
    exit 3
fi
version=$("$ncu" --version 2>/dev/null | tail -n 1)
metrics=$("$measure" --metrics)
groups=${LOCKSTEP_MEASURE_GROUPS:-$("$measure" $options --list | awk '{ print $1 }' | sort -u)}
for cache in cold warm; do
    control=all
    [ $cache = warm ] && control=none
    for group in $groups; do
        name=${cache}_$group
        seconds=$(left)
        [ "$seconds" -gt 240 ] && seconds=240
        # The program runs its own probes only where it is not profiled: the CSV has the plan's
        # launches alone.
        if [ "$seconds" -gt 5 ] && timeout -k 10 "$seconds" "$ncu" --csv --page raw \
            --print-units base --clock-control none --cache-control $control --metrics "$metrics" \
            --log-file "$out/ncu_$name.csv" "$measure" $options --group "$group" --profile \
            --cache $cache --profiler "$version" --manifest "$out/.launches_$name.json" \
            >"$out/ncu_$name.log" 2>&1 &&
            "$measure" --counters "$out/ncu_$name.csv" --manifest "$out/.launches_$name.json" \
                --group "$group" --out "$out"; then
            gzip -f "$out/ncu_$name.csv"
            rm -f "$out/.launches_$name.json" "$out/ncu_$name.log"
        else
            echo "no counters of $group with caches $cache, see $out/ncu_$name.log and .csv" >&2
            status=3
        fi
    done
done
exit $status
