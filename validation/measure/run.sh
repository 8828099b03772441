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

# Options of the user's own (as a driver or a plan for tests) go to every call.
measure() { "$measure" --commit "$commit" ${LOCKSTEP_MEASURE_OPTIONS:-} "$@"; }

if command -v nvidia-smi >/dev/null 2>&1; then
    nvidia-smi -q >"$out/nvidia-smi.txt" 2>&1
fi

# 7 minutes for the plan, 5 for each pass of the profiler.
timeout -k 10 420 "$measure" --commit "$commit" ${LOCKSTEP_MEASURE_OPTIONS:-} --out "$out"
result=$?
[ $result -eq 2 ] && exit 2
[ $result -eq 0 ] || { echo "not all pairs were measured ($result)" >&2; status=3; }

ncu=${LOCKSTEP_NCU:-$(command -v ncu || ls -d /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)}
if [ -z "$ncu" ]; then
    echo "Nsight Compute is not installed: no counters" >&2
    exit 3
fi
version=$("$ncu" --version 2>/dev/null | tail -n 1)
metrics=$("$measure" --metrics)
for cache in cold warm; do
    control=all
    [ $cache = warm ] && control=none
    # Kernels of the program's own (probes) do not run here: the CSV has the plan's launches alone.
    if timeout -k 10 300 "$ncu" --csv --page raw --print-units base --clock-control none \
        --cache-control $control --metrics "$metrics" --log-file "$out/ncu_$cache.csv" \
        "$measure" --commit "$commit" ${LOCKSTEP_MEASURE_OPTIONS:-} --profile --cache $cache \
        --profiler "$version" --manifest "$out/.launches_$cache.json" >"$out/ncu_$cache.log" 2>&1 &&
        measure --counters "$out/ncu_$cache.csv" --manifest "$out/.launches_$cache.json" --out "$out"; then
        gzip -f "$out/ncu_$cache.csv"
        rm -f "$out/.launches_$cache.json" "$out/ncu_$cache.log"
    else
        echo "no counters with caches $cache, see $out/ncu_$cache.log and $out/ncu_$cache.csv" >&2
        status=3
    fi
done
exit $status
