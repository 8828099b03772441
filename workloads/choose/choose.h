// SPDX-License-Identifier: Apache-2.0
// Which card for a network: does it fit, how long does it take, what does it cost, what limits it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/machine.h"
#include "workloads/choose/estimate.h"
#include "workloads/choose/prices.h"
#include "workloads/network/graph/graph.h"

namespace lockstep::choose {

/// What published runs reach of the roofline, which is what `estimate` gives.
struct Reached {
    std::string machine, network;
    Phase phase = Phase::kInference;
    std::string precision;
    std::int64_t batch = 1;
    double share = 0;  ///< least time / measured time
};

/// Of runs like these.
struct Share {
    double median = 0, least = 0, most = 0;
    std::size_t count = 0;
    bool is_same_network = false;
};

/// Of published runs in the same phase, on other machines than `but`: of the same network if there
/// are at least three, else of all. Products in 16 bits, and in 32, are kinds apart; of those of
/// the kind the nearest batches count, up to a factor of four. Nothing where there is none.
std::optional<Share> share_of(const std::vector<Reached>& reached, const std::string& network,
                              Phase phase, const std::string& precision, std::int64_t batch,
                              const std::string& but = "");

struct Question {
    std::string network;  ///< for messages, and to find published runs of it
    std::int64_t batch = 1;
    Phase phase = Phase::kInference;
    double samples = 0;     ///< of the data set, times epochs; 0: not said
    std::string precision;  ///< empty: each machine's usual one
};

struct Answer {
    std::string machine;
    std::string reason;  ///< why it can't be said; all else is then empty
    std::string precision;
    Estimate estimate;
    double capacity = 0;  ///< bytes of memory
    bool fits = false;
    std::optional<Share> share;
    double rate = 0;   ///< samples a second to expect: the roofline's times the share
    double hours = 0;  ///< for all samples
    std::optional<Price> hour, card;
    double usd = 0;     ///< hours at the price of one; 0: no price
    std::string limit;  ///< what most of the time goes to
};

/// In the order of what to choose: those that fit, the cheapest first (without prices the fastest),
/// then those that do not.
std::vector<Answer> choose(const Question& question, const network::Graph& graph,
                           const std::vector<std::shared_ptr<const config::Machine>>& machines,
                           const std::vector<Reached>& reached, const Prices& prices);

std::string table_of(const Question& question, const std::vector<Answer>& answers);

}  // namespace lockstep::choose
