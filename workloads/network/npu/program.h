// SPDX-License-Identifier: Apache-2.0
// The program that a plan stands for: buffers, weight streams, and the commands of each group.
#pragma once

#include <optional>

#include "isa/npu/builder.h"
#include "workloads/network/compile/buffer.h"
#include "workloads/network/npu/buffers.h"
#include "workloads/network/npu/compile.h"
#include "workloads/network/npu/emit.h"
#include "workloads/network/npu/plan.h"
#include "workloads/network/npu/weight_streams.h"

namespace lockstep::network::npu_code {

class ProgramMaker {
  public:
    ProgramMaker(const Graph& graph, Values& values, const std::vector<Step>& steps,
                 const Plan& plan, const NpuTarget& target)
        : graph_(graph),
          steps_(steps),
          plan_(plan),
          target_(target),
          builder_(1),
          buffers_(graph, values, plan, builder_) {}

    NpuCompiled make();

  private:
    /// A constant in memory, in parts for commands.
    struct Weights {
        std::uint64_t address = 0, bytes = 0, raw_bytes = 0;
        std::vector<WeightPart> parts;
    };
    /// Where a group's things lie while it runs.
    struct Running;

    void run_group(const Group& group);
    void run_stripe(Running& run, std::int64_t image, Rows rows, std::int64_t piece);
    void run_commands(Running& run, std::size_t s, Rows rows, Region input, Region operand,
                      Region output, const Weights* weights, std::uint64_t at,
                      std::int64_t first_channel, std::int64_t channels, InputSlice slice = {});
    Region bring(Running& run, const Part& part, std::int64_t image, Rows rows,
                 std::optional<std::uint64_t> at = {});
    std::optional<std::uint64_t> input_slot(Running& run, const Step& step) const;
    void take_slots(Running& run, std::int64_t stripes, std::int64_t pieces);
    void load_constants(Running& run);
    std::uint64_t load(std::uint64_t memory, std::uint64_t bytes, std::uint64_t to);
    Weights make_weights(const Step& step, std::int64_t first, std::int64_t channels,
                         InputSlice slice = {});
    void run_slices(Running& run, std::int64_t image, Rows rows, std::int64_t piece);

    const Graph& graph_;
    const std::vector<Step>& steps_;
    const Plan& plan_;
    const NpuTarget& target_;
    isa::ProgramBuilder builder_;
    Buffers buffers_;
    std::size_t groups_done_ = 0;
    NpuCompiled result_;
};

}  // namespace lockstep::network::npu_code
