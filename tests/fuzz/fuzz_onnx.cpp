// SPDX-License-Identifier: Apache-2.0
// Any bytes at all are read as an ONNX model, its shapes are inferred, its constants folded, and
// the rewrites for accelerators done. Only InputError may come out.
#include "sim/error/error.h"
#include "workloads/network/graph/fusion.h"
#include "workloads/network/onnx/reader.h"
#include "workloads/network/quantise/from_onnx.h"
#include "workloads/network/reference/fold.h"
#include "workloads/network/reference/recognise.h"

using namespace lockstep;
using namespace lockstep::network;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const OnnxOptions options{.dimensions = {{"batch", 2}, {"seq", 6}}};
    try {
        Graph graph = parse_onnx({data, size}, "x", {}, options);
        dump(graph);
        infer_and_fold(graph, 1 << 12);
        fold_batch_normalisation(graph);
        remove_unused(graph);
        recognise_gelu(graph);
        recognise_layer_normalisation(graph);
        validate(graph);
        layers_of(graph);
        if (is_quantised_model(graph)) validate(integers_from_onnx(graph));
        fold_bias(graph);
        validate(graph);
    } catch (const InputError&) {
    }
    return 0;
}
