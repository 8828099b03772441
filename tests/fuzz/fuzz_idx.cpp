// SPDX-License-Identifier: Apache-2.0
// Any bytes at all are read as a pair of IDX files: the first byte says how many of the following
// are the labels, the rest are the images. Only InputError may come out.
#include <algorithm>

#include "sim/error/error.h"
#include "workloads/cuda/digits/digits.h"

using namespace lockstep;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    const std::span<const uint8_t> bytes(data + 1, size - 1);
    const size_t labels = std::min<size_t>(data[0], bytes.size());
    try {
        const cuda::Digits digits =
            cuda::parse_digits(bytes.subspan(labels), "images", bytes.first(labels), "labels");
        for (int i = 0; i < digits.count(); ++i) digits.image(i);
    } catch (const InputError&) {
    }
    return 0;
}
