// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/gpu/gpu.h"
#include "workloads/run/gpu/network.h"
#include "workloads/run/gpu/train.h"
#include "workloads/run/host/host.h"
#include "workloads/run/host/train.h"
#include "workloads/run/kind.h"
#include "workloads/run/npu/network.h"
#include "workloads/run/npu/program.h"
#include "workloads/run/roofline/roofline.h"
#include "workloads/run/systolic/systolic.h"
#include "workloads/run/tpu/network.h"
#include "workloads/run/tpu/program.h"
#include "workloads/run/tpu/train.h"

namespace lockstep::run {

namespace {

constexpr Way kGpuWays[] = {
    {SubjectKind::kExecutable, "arguments --kernel --launch-skip --launch-count", "",
     run_executable},
    {SubjectKind::kCubin, "--kernel --grid --block --shared --arg", "", run_cubin},
    {SubjectKind::kKernel, "--verify --kernel --launch-skip --launch-count", "", run_workload},
    {SubjectKind::kNetwork,
     "--verify --schedule --precision --launches --top --kernel --launch-skip --launch-count", "",
     run_gpu_network, train_on_gpu},
};

constexpr Way kTpuWays[] = {
    {SubjectKind::kNetwork, "--verify --schedule", "--verify --program", run_tpu_network,
     train_on_tpu},
    {SubjectKind::kTpuProgram, "--arg", "", run_tpu_program},
};

constexpr Way kNpuWays[] = {
    {SubjectKind::kNetwork, "--verify --schedule --host --precision", "--verify --program",
     run_npu_network},
    {SubjectKind::kNpuProgram, "--arg", "", run_npu_program},
};

constexpr Way kSystolicWays[] = {
    {SubjectKind::kNetwork, "--verify", "--verify --trace", run_systolic},
};

constexpr Way kRooflineWays[] = {
    {SubjectKind::kNetwork, "", "", run_roofline},
};

constexpr Way kHostWays[] = {
    {SubjectKind::kNetwork, "--verify", "", run_on_host, train_on_host},
};

constexpr Kind kKinds[] = {
    {.name = "gpu",
     .phrase = "a GPU",
     .example = "h200",
     .options = "--bounds --check --energy --exact --hazards --l2 --max-instructions --power-cap "
                "--sample --source --trace "
                "--trace-window "
                "--trace-sms",
     .traces = ".json .vcd .kanata",
     .ways = kGpuWays},
    {.name = "tpu",
     .phrase = "a TPU",
     .example = "tpu_v1",
     .options = "--energy --no-values --power-cap --program --top --trace --trace-window",
     .traces = ".json .vcd",
     .ways = kTpuWays},
    {.name = "npu",
     .phrase = "an NPU",
     .example = "npu_mobile",
     .options = "--energy --no-values --power-cap --program --top --trace --trace-window",
     .traces = ".json .vcd",
     .ways = kNpuWays,
     .no_training = "an integer machine for inference: it has no floating point, which the "
                    "gradients of training need"},
    {.name = "systolic",
     .phrase = "a systolic array",
     .example = "systolic",
     .options = "--no-values --trace --trace-window",
     .traces = ".vcd",
     .ways = kSystolicWays,
     .no_training = "which multiplies matrices and computes nothing else"},
    {.name = "roofline",
     .phrase = "a data sheet",
     .example = "gtx1080",
     .options = "",
     .traces = "",
     .ways = kRooflineWays,
     .no_training = "which computes no values"},
    {.name = "host",
     .phrase = "this computer",
     .example = "host",
     .options = "",
     .traces = "",
     .ways = kHostWays},
};

}  // namespace

std::span<const Kind> kinds() {
    return kKinds;
}

const Kind& kind_of(const config::Machine& machine) {
    for (const Kind& kind : kKinds)
        if (kind.name == machine.kind()) return kind;
    throw InternalError(fmt::format("{}: nothing runs on a {}", machine.name(), machine.kind()));
}

}  // namespace lockstep::run
