// SPDX-License-Identifier: Apache-2.0
// Networks of published/networks.csv as our own kernels run them on the model of their card.
#pragma once

#include <optional>
#include <string>

#include "workloads/choose/choose.h"

namespace lockstep::validation {

struct NetworkRun {
    double samples_per_second = 0;
    double error = 0;  ///< of sampling, percent of the time
};

/// Whether a simulation of the run takes minutes at most: inference of small batches, on cards
/// whose kernels we have (Turing and later), in a precision that they multiply in.
bool is_feasible(const choose::Reached& run);

/// The launches of a batch in one stream (the host's calls, gaps between kernels, the wait at the
/// end), each with its time sampled (models/gpu/sampling). InputError where the network does not
/// fit.
NetworkRun simulate_network(const choose::Reached& run, unsigned threads);

/// What published/networks_simulated.csv has of it.
std::optional<NetworkRun> stored_network(const choose::Reached& run);

/// A line of that table, and its first one.
inline constexpr std::string_view kNetworkRunsHeader =
    "machine,network,precision,batch,samples_per_second,error\n";
std::string table_line(const choose::Reached& run, const NetworkRun& simulated);

}  // namespace lockstep::validation
