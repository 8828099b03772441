// SPDX-License-Identifier: Apache-2.0
// Where values are and how steps are cut: which values stay in the SRAM, which steps run in turn on
// stripes of an image (a cascade: what is between them never leaves the SRAM), how many rows and
// output channels a command takes. Chosen by the estimated time.
#pragma once

#include <map>

#include "workloads/network/compile/refusal.h"
#include "workloads/network/npu/step.h"
#include "workloads/network/npu/target.h"

namespace lockstep::network::npu_code {

enum class Home : std::uint8_t { kSram, kMemory, kHost };

struct Place {
    Home home = Home::kMemory;
    std::uint64_t address = 0;  ///< in the SRAM
    std::uint64_t bytes = 0;
    std::size_t first = 0, last = 0;  ///< steps, from the one that writes it first
};

struct Cut {
    std::int64_t rows = 1;       ///< of the last step's output in a stripe
    std::int64_t channels = 1;   ///< output channels whose weights are in the SRAM at once
    bool weights_outer = false;  ///< each piece of the weights passes over all stripes
    bool overlaps = true;        ///< transfers and work, for there are two of each buffer
    /// Input channels that a command takes; 0: all. The core keeps the sums from one to the next.
    std::int64_t inputs = 0;
};

/// Steps that run together: one, or a cascade.
struct Group {
    std::size_t first = 0, last = 0;
    Cut cut;
    std::uint64_t scratch = 0, scratch_bytes = 0;          ///< the SRAM that it has for itself
    std::uint64_t need_bytes = 0;                          ///< of it, that it takes
    double cycles = 0, core_cycles = 0, memory_bytes = 0;  ///< estimated
    bool fits = false;
    bool is_cascade() const { return first != last; }
};

struct Plan {
    std::map<ValueId, Place> places;  ///< of values that have a place of their own
    std::vector<Group> groups;
};

/// Whether the array computes the step by Winograd's algorithm.
bool by_winograd(const Step& step, const NpuTarget& target);
/// Bytes of a weight stream of `bytes`, as it is stored for the step.
std::uint64_t stored_stream(const Step& step, const NpuTarget& target, std::uint64_t bytes);
/// Bytes of a product's weights and parameters for so many of its output channels and input
/// channels (0: all), uncompressed.
std::uint64_t weight_bytes(const Step& step, const NpuTarget& target, std::int64_t channels,
                           std::int64_t inputs = 0);
/// What the commands of a step that is cut over its input channels hold: the result, and the
/// operand.
std::uint64_t held_bytes(const Step& step, const Cut& cut);
/// Of the array and the output pipeline, for these rows of the output and output channels.
double core_cycles(const Step& step, const NpuTarget& target, std::int64_t rows,
                   std::int64_t channels);

/// Of a step that does not fit the SRAM, however its rows and channels are cut.
struct TooLarge : compile::Refusal {
    TooLarge(const std::string& reason, std::size_t index) : Refusal(reason), step(index) {}
    std::size_t step;
};

/// `fixed`: values whose home is known: inputs and outputs of the network, constants, what the host
/// reads or writes. Throws TooLarge.
Plan make_plan(const std::vector<Step>& steps, const std::map<ValueId, Home>& fixed,
               const std::map<ValueId, std::uint64_t>& bytes, const NpuTarget& target);

/// The rows that each step of a group makes for these rows of the last, and reads from the first.
std::vector<Rows> rows_of_steps(const std::vector<Step>& steps, const Group& group, Rows rows);

}  // namespace lockstep::network::npu_code
