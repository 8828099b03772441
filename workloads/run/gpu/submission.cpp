// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/gpu/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/error/error.h"

namespace lockstep::run {

namespace {

using network::gpu::Submission;

double sum_of(std::span<const double> kernels) {
    return std::accumulate(kernels.begin(), kernels.end(), 0.0);
}

/// Launches in the longest chain of those that follow each other.
std::size_t longest_chain(const network::gpu::Executable& code) {
    std::vector<std::size_t> length;
    for (const std::vector<std::size_t>& after : network::gpu::dependences_of(code)) {
        std::size_t longest = 0;
        for (const std::size_t earlier : after) longest = std::max(longest, length[earlier]);
        length.push_back(longest + 1);
    }
    return length.empty() ? 0 : *std::ranges::max_element(length);
}

}  // namespace

std::optional<Submission> submission_named(const std::string& name) {
    if (name == "alone") return std::nullopt;
    if (name == "stream") return Submission::kStream;
    if (name == "streams") return Submission::kStreams;
    if (name == "graph") return Submission::kGraph;
    throw InputError(fmt::format("--launches {}: alone, stream, streams or graph", name));
}

SubmittedTime submitted_time(const config::Machine& machine, std::span<const double> kernels) {
    constexpr double kNanosecond = 1e-9;
    const auto time = [&](const char* path) { return kNanosecond * machine.number(path); };
    const double latency = time("host.launch_latency"), done = time("host.completion_latency");
    SubmittedTime result;
    double host = 0, end = 0;
    for (const double kernel : kernels) {
        host += time("host.launch_time");
        const double after = end == 0 ? 0 : end + time("host.stream_gap");
        end = std::max(host + latency, after) + kernel;
    }
    result.stream = end + done;
    const double gaps = kernels.empty() ? 0 : static_cast<double>(kernels.size() - 1);
    result.graph =
        time("host.graph_time") + latency + sum_of(kernels) + gaps * time("host.graph_gap") + done;
    return result;
}

std::string submission_text(const config::Machine& machine, std::span<const double> kernels) {
    const SubmittedTime time = submitted_time(machine, kernels);
    return fmt::format(
        "the kernels alone take {:.2f} us; {} launches in a stream {:.2f} us, as a graph {:.2f} us "
        "(host.*; --launches stream, streams or graph simulates it)\n",
        1e6 * sum_of(kernels), kernels.size(), 1e6 * time.stream, 1e6 * time.graph);
}

std::string submission_text(Submission submission, double seconds, std::span<const double> kernels,
                            const network::gpu::Executable& code) {
    static constexpr const char* kHow[] = {"in one stream", "in streams, by their dependences",
                                           "as a graph"};
    const std::string chain =
        submission == Submission::kStream
            ? ""
            : fmt::format(", the longest chain of them {}", longest_chain(code));
    return fmt::format(
        "{} launches {}{}: {:.2f} us from the first call until the host knows of the end; their "
        "own "
        "times add up to {:.2f} us\n",
        kernels.size(), kHow[static_cast<std::size_t>(submission)], chain, 1e6 * seconds,
        1e6 * sum_of(kernels));
}

}  // namespace lockstep::run
