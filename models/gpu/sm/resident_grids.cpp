// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/resident_grids.h"

#include <algorithm>
#include <utility>

namespace lockstep::gpu {

void ResidentGrids::share() {
    if (std::exchange(is_shared_, true)) return;
    // There was one kernel until now.
    for (const auto& grid : grids_) {
        grid->instructions = counters_.instructions;
        grid->thread_instructions = counters_.thread_instructions;
    }
}

const ResidentGrid* ResidentGrids::find(const KernelRun& run) const {
    for (const auto& grid : grids_)
        if (grid->run == &run) return grid.get();
    return nullptr;
}

ResidentGrid& ResidentGrids::find_or_add(const KernelRun& run) {
    for (const auto& grid : grids_)
        if (grid->run == &run) return *grid;
    ResidentGrid& grid = *grids_.emplace_back(std::make_unique<ResidentGrid>());
    grid.run = &run;
    grid.line_offset =
        static_cast<std::uint32_t>((run.code_address - code_base_) / parameters_.instruction_line);
    grid.constant_offset = static_cast<std::uint32_t>((run.constant_address - constant_base_) /
                                                      parameters_.constant_line);
    return grid;
}

void ResidentGrids::forget(const KernelRun& run) {
    std::erase_if(grids_, [&](const auto& grid) { return grid->run == &run; });
}

bool ResidentGrids::is_alone(const KernelRun& run) const {
    return grids_.empty() || (grids_.size() == 1 && grids_.front()->run == &run);
}

bool ResidentGrids::has_others(const KernelRun& run) const {
    return std::any_of(grids_.begin(), grids_.end(),
                       [&](const auto& grid) { return grid->run != &run && grid->ctas != 0; });
}

std::uint32_t ResidentGrids::ctas() const {
    std::uint32_t sum = 0;
    for (const auto& grid : grids_) sum += grid->ctas;
    return sum;
}

std::uint32_t ResidentGrids::warps() const {
    std::uint32_t sum = 0;
    for (const auto& grid : grids_) sum += grid->ctas * grid->run->warps_per_cta;
    return sum;
}

std::uint32_t ResidentGrids::registers() const {
    std::uint32_t sum = 0;
    for (const auto& grid : grids_) sum += grid->ctas * grid->run->registers_per_cta;
    return sum;
}

std::uint64_t ResidentGrids::shared_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& grid : grids_) sum += grid->ctas * grid->run->shared_per_cta;
    return sum;
}

}  // namespace lockstep::gpu
