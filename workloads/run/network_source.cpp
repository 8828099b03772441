// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/network_source.h"

#include "workloads/network/builtin/builtin.h"
#include "workloads/network/onnx/reader.h"
#include "workloads/network/tflite/reader.h"

namespace lockstep::run {

NetworkSource read_network(const Job& job, const Subject& subject, bool with_values) {
    network::BuiltinRequest request;
    if (subject.file.ends_with(".tflite")) return {network::read_tflite(subject.file), {}};
    if (!subject.file.empty()) {
        const std::string extents = job.what.substr(subject.file.size());
        if (!extents.empty()) request = network::parse_builtin("network" + extents);
        return {network::read_onnx(subject.file, {.dimensions = request.options.parameters}),
                request.dtype};
    }
    request = network::parse_builtin(job.what);
    request.options.seed = job.seed;
    request.options.with_values = with_values;
    return {network::build_network(request.name, request.options), request.dtype};
}

}  // namespace lockstep::run
