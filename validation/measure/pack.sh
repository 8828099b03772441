#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gathers what measuring needs on a machine that has a GPU but none of our packages and no network:
# validation/measure/pack.sh [DIR] (default build/measure). DIR gets bin/lockstep_measure, which needs
# only glibc and an x86-64 processor with AVX2, and include/ and lib/, from which run.sh builds it
# where that does not start. Copy the repository with DIR there and run validation/measure/run.sh.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:-$root/build/measure}"
dir=$(cd "${1:-$root/build/measure}" && pwd)
scratch=$root/build/measure_build

lib=/usr/lib/$(gcc -print-multiarch 2>/dev/null || echo x86_64-linux-gnu)
mkdir -p "$dir/include" "$dir/lib" "$dir/bin"
for header in fmt nlohmann CLI yaml-cpp zstd.h lz4.h; do
    cp -RL "/usr/include/$header" "$dir/include/"
done
for archive in yaml-cpp zstd lz4; do
    cp -L "$lib/lib$archive.a" "$dir/lib/"
done

generator=
command -v ninja >/dev/null 2>&1 && generator="-G Ninja"
cmake -S "$root" -B "$scratch" $generator -DCMAKE_BUILD_TYPE=Release -DLOCKSTEP_MEASURE_ONLY=ON \
    -DLOCKSTEP_DEPENDENCIES="$dir" >"$dir/build.log" 2>&1 &&
    cmake --build "$scratch" --target lockstep_measure >>"$dir/build.log" 2>&1 ||
    { tail -n 20 "$dir/build.log" >&2; exit 2; }
strip -o "$dir/bin/lockstep_measure" "$scratch/bin/lockstep_measure"
git -C "$root" rev-parse HEAD >"$dir/commit" 2>/dev/null || echo unknown >"$dir/commit"
du -sh "$dir"
