// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/network_source.h"

#include <fmt/format.h>

#include "sim/error/error.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/onnx/reader.h"
#include "workloads/network/stablehlo/reader.h"
#include "workloads/network/tflite/reader.h"

namespace lockstep::run {

namespace {

network::Graph read_stablehlo_file(const Job& job, const Subject& subject,
                                   const network::BuiltinRequest& request, bool with_values) {
    network::StablehloOptions options{.seed = job.seed, .with_values = with_values};
    for (const auto& [name, value] : request.options.parameters) {
        if (name != "weights")
            throw InputError(
                fmt::format("{}: no parameter {}; a .mlir takes weights=N, the number "
                            "of its first arguments that are weights, and dtype",
                            subject.file, name));
        options.weights = value;
    }
    return network::read_stablehlo(subject.file, options);
}

}  // namespace

NetworkSource read_network(const Job& job, const Subject& subject, bool with_values) {
    network::BuiltinRequest request;
    if (subject.file.ends_with(".tflite")) return {network::read_tflite(subject.file), {}};
    if (!subject.file.empty()) {
        const std::string extents = job.what.substr(subject.file.size());
        if (!extents.empty()) request = network::parse_builtin("network" + extents);
        if (subject.file.ends_with(".mlir"))
            return {read_stablehlo_file(job, subject, request, with_values), request.dtype};
        return {network::read_onnx(subject.file, {.dimensions = request.options.parameters}),
                request.dtype};
    }
    request = network::parse_builtin(job.what);
    request.options.seed = job.seed;
    request.options.with_values = with_values;
    return {network::build_network(request.name, request.options), request.dtype};
}

}  // namespace lockstep::run
