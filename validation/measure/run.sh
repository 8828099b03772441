#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures the plan on the GPU of this machine: validation/measure/run.sh OUTDIR [OPTION...]
#   --limit SECONDS  of all that this call does (default 1140); a later call goes on from there
#   --pack DIR       at the end put OUTDIR into few files of at most 15 MB there
#   --from DIR       begin with what an earlier call packed
# Needs no network and changes no setting of the card. What matters most comes first: output bits
# and events of all pairs; instructions and cycles of all kernels under Nsight Compute; all counters,
# caches cold; the transcendental unit's tables; all counters, caches warm; the microbenchmarks'.
# Exit status: 0 all is there; 2 no GPU or wrong input; 3 something failed; 75 time is up, call again.
# README.md here says what OUTDIR gets.
set -u
usage() { echo "usage: $0 OUTDIR [--limit SECONDS] [--pack DIR] [--from DIR]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
limit=1140 pack='' from='' out=''
while [ $# -gt 0 ]; do
    case $1 in
        --limit | --pack | --from) [ $# -ge 2 ] || usage ;;
    esac
    case $1 in
        --limit) limit=$2; shift 2 ;;
        --pack) pack=$2; shift 2 ;;
        --from) from=$2; shift 2 ;;
        -*) usage ;;
        *) [ -z "$out" ] || usage; out=$1; shift ;;
    esac
done
case $limit in '' | *[!0-9]*) usage ;; esac
[ -n "$out" ] || usage
export LC_ALL=C HOME="${HOME:-/tmp}"
begin=$(date +%s)
left() { echo $((limit - $(date +%s) + begin)); }
say() { echo "[$(($(date +%s) - begin)) s] $*"; }
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
if [ -n "$from" ]; then
    cat "$from"/measured.tar.gz.* | tar -C "$out" -xzf - || { echo "$from: nothing to go on from" >&2; exit 2; }
    rm -f "$out/ncu_broken.txt" # the profiler may work here
fi
# Where there are several GPUs, the first; the others are not even started.
export CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-0}"

# The program: one that was built here, or one that pack.sh brought, or one made from what it brought.
build=${LOCKSTEP_BUILD:-$root/build} gathered=$root/build/measure
measure=
for candidate in "$build/bin/lockstep_measure" "$gathered/bin/lockstep_measure" "$gathered/here/bin/lockstep_measure"; do
    [ -z "$measure" ] && "$candidate" --metrics quick >/dev/null 2>&1 && measure=$candidate
done
if [ -z "$measure" ]; then
    say "building lockstep_measure, see $out/build.log"
    dependencies=
    [ -d "$gathered/include" ] && dependencies=$gathered
    generator=
    command -v ninja >/dev/null 2>&1 && generator='-G Ninja'
    { cmake -S "$root" -B "$gathered/here" $generator -DCMAKE_BUILD_TYPE=Release \
        -DLOCKSTEP_MEASURE_ONLY=ON -DLOCKSTEP_DEPENDENCIES="$dependencies" &&
        cmake --build "$gathered/here" --target lockstep_measure --parallel; } >"$out/build.log" 2>&1 ||
        { echo "the build failed, see $out/build.log" >&2; exit 2; }
    measure=$gathered/here/bin/lockstep_measure
fi
commit=$(git -C "$root" rev-parse HEAD 2>/dev/null || cat "$gathered/commit" 2>/dev/null || echo unknown)
# Options of the user's own (a driver or a plan for tests) go to every call.
options="--commit $commit ${LOCKSTEP_MEASURE_OPTIONS:-}"
failed='' later=''

# What there is so far, also into DIR: a call that is ended from outside loses little.
pack_up() {
    {
        cat "$out/measure.txt" 2>/dev/null
        grep -h DOUBTFUL "$out/measure.log" 2>/dev/null
        ls "$out" | grep '\.json$' | sed 's/^/there: /'
        for what in $failed; do echo "failed: $what"; done
        for what in $later; do echo "not yet: $what"; done
    } >"$out/summary.txt"
    [ -n "$pack" ] || return 0
    mkdir -p "$pack" && rm -f "$pack"/measured.tar.gz.*
    tar -C "$out" --exclude='.child-*' -czf - . | split -b 15000000 -d - "$pack/measured.tar.gz."
    cp "$out/summary.txt" "$pack/"
}

command -v nvidia-smi >/dev/null 2>&1 && timeout 20 nvidia-smi -q >"$out/nvidia-smi.txt" 2>&1

# 1. Output bits and events. The program goes on from what OUTDIR has, and stops by itself.
plan=$("$measure" $options --list) || exit 2
say "output bits and events of $(echo "$plan" | wc -l) pairs"
seconds=$(($(left) - 45))
if [ "$seconds" -gt 5 ]; then
    timeout -k 10 $((seconds + 45)) "$measure" $options --timeout 40 --out "$out" --limit "$seconds" \
        >"$out/measure.txt" 2>"$out/measure.log"
    case $? in
        0) ;;
        75) later="$later pairs" ;;
        2) cat "$out/measure.log" >&2; exit 2 ;;
        *) failed="$failed pairs" ;;
    esac
    cat "$out/measure.txt"
    grep -E 'FAILED|WRONG|DOUBTFUL' "$out/measure.log"
else
    later="$later pairs"
fi

pack_up

# 2. Nsight Compute, tried first on one pair: where it does not work that costs seconds. Counters
# that this chip or version lacks are left out.
ncu=${LOCKSTEP_NCU:-$(command -v ncu || ls -d /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)}
version=unknown startup=10 selected='--profile-from-start off' plain=''
if [ -n "$ncu" ]; then
    version=$(timeout 20 "$ncu" --version 2>/dev/null | tail -n 1)
fi

# under_ncu NAME SECONDS CACHE METRICS PLAN...: writes ncu_NAME.csv and launches_NAME.list.
under_ncu() {
    name=$1 seconds=$2 cache=$3 metrics=$4
    shift 4
    control=all
    [ "$cache" = warm ] && control=none
    rm -f "$out/ncu_$name.csv"
    timeout -k 10 "$seconds" "$ncu" --csv --page raw --print-units base --print-kernel-base mangled \
        $selected --clock-control none --cache-control $control --metrics "$metrics" \
        --log-file "$out/ncu_$name.csv" "$measure" $options $plain "$@" --profile --cache "$cache" \
        --profiler "$version" --manifest "$out/launches_$name.list" >"$out/ncu_$name.log" 2>&1
}

# known_of METRICS: those that the profiler's messages do not name; it may name one at a time, as it
# stands or within a regular expression.
known_of() {
    grep -E '^==(ERROR|WARNING)==' "$out/ncu_try.log" | tr -d '\\' >"$out/.refused"
    for part in '' '.*'; do
        known=$(echo "$1" | tr ',' '\n' | while read -r metric; do
            grep -F -w -q -e "${metric%%$part}" "$out/.refused" || echo "$metric"
        done | paste -s -d , -)
        [ "$known" = "$1" ] || break
    done
    rm -f "$out/.refused"
    echo "$known"
}

try_ncu() {
    [ -s "$out/ncu_metrics.txt" ] && return
    pair=$(echo "$plan" | awk '{ print $2; exit }')
    wanted=$("$measure" --metrics full)
    least=$("$measure" --metrics quick)
    for attempt in 1 2 3 4 5 6 7 8 9 10 11 12; do
        seconds=$(left)
        [ "$seconds" -gt 15 ] || { later="$later counters"; return; }
        [ "$seconds" -gt 60 ] && seconds=60
        from_second=$(date +%s)
        if under_ncu try "$seconds" cold "$wanted" --only "$pair" &&
            "$measure" --available "$out/ncu_try.csv" >"$out/ncu_metrics.txt" 2>"$out/ncu_try.txt"; then
            echo $(($(date +%s) - from_second)) >"$out/ncu_startup.txt"
            return
        fi
        rm -f "$out/ncu_metrics.txt"
        cat "$out/ncu_try.csv" >>"$out/ncu_try.log" 2>/dev/null
        tail -n 3 "$out/ncu_try.log" | sed 's/^/    /'
        grep -q -E 'LibraryNotLoaded|ERR_NVGPUCTRPERM|Failed to initialize|InterprocessLockFailed|not supported on device' \
            "$out/ncu_try.log" && break
        if grep -q 'No kernels were profiled' "$out/ncu_try.log" && [ -z "$plain" ]; then
            # It takes no hint where to look: then nothing but the plan's kernels may run.
            selected='' plain=--all-profiled
            echo plain >"$out/ncu_plain.txt"
            continue
        fi
        [ "$wanted" = "$least" ] && break
        known=$(known_of "$wanted")
        [ -n "$known" ] && [ "$known" != "$wanted" ] && [ "$attempt" -lt 11 ] || known=$least
        wanted=$known
    done
    echo broken >"$out/ncu_broken.txt"
}

if [ -z "$ncu" ]; then
    say "Nsight Compute is not installed: no counters"
    failed="$failed counters"
elif [ -e "$out/ncu_broken.txt" ]; then
    say "Nsight Compute did not work before (remove $out/ncu_broken.txt to try again)"
    failed="$failed counters"
else
    say "trying $ncu ($version)"
    try_ncu
    [ -e "$out/ncu_broken.txt" ] && { say "it does not work, see $out/ncu_try.log"; failed="$failed counters"; }
fi
[ -e "$out/ncu_plain.txt" ] && selected='' plain=--all-profiled
[ -s "$out/ncu_startup.txt" ] && startup=$(cat "$out/ncu_startup.txt")

# pairs_of GROUP: how many; parts_of GROUP: in how many pieces they are profiled.
pairs_of() { echo "$plan" | awk -v group="$1" '$1 == group { ++n } END { print n + 0 }'; }
pace_quick=500 pace_full=1500 # milliseconds a pair beyond the start, until it is known

# counters CACHE SET GROUP...
counters() {
    cache=$1 set=$2
    shift 2
    [ -s "$out/ncu_metrics.txt" ] || return
    metrics=$(cat "$out/ncu_metrics.txt")
    [ "$set" = quick ] && metrics=$("$measure" --metrics quick)
    for group in "$@"; do
        pairs=$(pairs_of "$group")
        [ "$pairs" -gt 0 ] || continue
        parts=$(((pairs + 19) / 20)) part=1
        while [ $part -le $parts ]; do
            name=${cache}_${set}_$group
            [ $parts -gt 1 ] && name=${name}_$part
            one_piece "$group" "$part/$parts" $(((pairs + parts - 1) / parts))
            part=$((part + 1))
        done
    done
}

one_piece() {
    [ -s "$out/counters_$name.json" ] && return
    if [ -e "$out/failed_$name" ]; then
        failed="$failed counters_$name"
        return
    fi
    eval "pace=\$pace_$set"
    needed=$((startup + $3 * pace / 1000))
    seconds=$(($(left) - 8))
    if [ "$seconds" -lt "$needed" ]; then
        later="$later counters_$name"
        return
    fi
    [ "$seconds" -gt $((3 * needed + 60)) ] && seconds=$((3 * needed + 60))
    from_second=$(date +%s)
    piece=$name
    if under_ncu "$piece" "$seconds" "$cache" "$metrics" --group "$1" --part "$2" &&
        "$measure" --counters "$out/ncu_$piece.csv" --manifest "$out/launches_$piece.list" \
            --metrics "$metrics" --into "counters_$piece.json" --out "$out" >>"$out/ncu_$piece.log" 2>&1; then
        took=$(($(date +%s) - from_second))
        [ $took -gt "$startup" ] && eval "pace_$set=$(((took - startup) * 1000 / $3 + 100))"
        say "counters $piece: $3 pairs"
        gzip -f "$out/ncu_$piece.csv"
        rm -f "$out/launches_$piece.list" "$out/ncu_$piece.log"
    elif [ "$(left)" -le 10 ]; then
        later="$later counters_$piece"
    else
        say "no counters $piece, see $out/ncu_$piece.log"
        tail -n 2 "$out/ncu_$piece.log" | sed 's/^/    /'
        touch "$out/failed_$piece"
        failed="$failed counters_$piece"
    fi
}

# What is neither listed here nor micro comes behind.
all=$(echo "$plan" | awk '!seen[$1]++ { print $1 }')
kernels=
for group in gemm attention convolution normalisation reduction elementwise $all; do
    case " $kernels micro " in *" $group "*) ;; *) kernels="$kernels $group" ;; esac
done
counters cold quick $kernels
pack_up
counters cold full $kernels
pack_up

# 3. The tables of the transcendental unit.
if [ ! -s "$out/tables/index.json" ]; then
    seconds=$(($(left) - 8))
    if [ "$seconds" -gt 45 ]; then
        if timeout -k 10 "$seconds" "$measure" $options --tables --out "$out" >"$out/tables.log" 2>&1; then
            say "$(cat "$out/tables.log")"
        else
            say "no tables, see $out/tables.log"
            failed="$failed tables"
        fi
    else
        later="$later tables"
    fi
fi

pack_up

# 4. The rest. Warm caches are those that a launch before left, which must not be profiled itself.
if [ -n "$plain" ]; then
    say "no counters with caches warm: this profiler looks at every launch"
else
    counters warm full $kernels
fi
counters cold quick micro

say "done, $(ls "$out" | grep -c '^counters_.*json$') files of counters"
[ -n "$failed" ] && echo "failed:$failed"
[ -n "$later" ] && echo "not yet, call again:$later"

pack_up
[ -z "$pack" ] || ls -l "$pack"
[ -n "$later" ] && exit 75
[ -n "$failed" ] && exit 3
exit 0
