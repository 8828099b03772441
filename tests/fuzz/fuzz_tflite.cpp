// SPDX-License-Identifier: Apache-2.0
// Any bytes at all are read as a TensorFlow Lite model. Only InputError may come out.
#include "sim/error/error.h"
#include "workloads/network/tflite/reader.h"

using namespace lockstep;
using namespace lockstep::network;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    try {
        const Graph graph = parse_tflite({data, size}, "x");
        validate(graph);
        dump(graph);
    } catch (const InputError&) {
    }
    return 0;
}
