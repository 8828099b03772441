// SPDX-License-Identifier: Apache-2.0
// Limits are those of the CUDA Programming Guide's table of compute capabilities, read from the
// machine file. Words of constant bank 0 were read off what ptxas emits for the special registers.
#include "models/gpu/device/launch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/cubin/demangle.h"
#include "isa/sass/cluster.h"
#include "isa/sass/cta_barrier.h"
#include "isa/sass/semantics/tensor/warpgroup.h"
#include "models/gpu/device/module.h"
#include "models/gpu/execution/late_copies.h"

namespace lockstep::gpu {

namespace {

constexpr std::uint32_t kWarpSize = sass::kWarpSize;

std::uint32_t round_up(std::uint64_t value, std::uint64_t multiple) {
    return static_cast<std::uint32_t>((value + multiple - 1) / multiple * multiple);
}

}  // namespace

std::uint32_t warp_registers(const cubin::Function& kernel) {
    constexpr std::uint32_t kGranule = 256;
    return round_up(std::uint64_t{std::max(kernel.registers, 16u)} * kWarpSize, kGranule);
}

bool is_clustered(const cubin::Function& kernel, const LaunchRequest& request) {
    return request.cluster.volume() > 1 || kernel.explicit_cluster;
}

namespace {

/// The driver's rules, CUDA Driver API, cuLaunchKernelEx; and the sizes of the Programming Guide.
void check_cluster(const config::Machine& machine, const cubin::Function& kernel,
                   const LaunchRequest& request) {
    using Reason = LaunchRefused::Reason;
    const auto refuse = [&](const std::string& why) {
        throw LaunchRefused(Reason::kInvalidCluster,
                            fmt::format("kernel {} cannot be launched on {}: {}",
                                        cubin::demangled(kernel.name), machine.name(), why));
    };
    const sass::Dim3& cluster = request.cluster;
    const sass::Dim3& grid = request.grid;
    const std::uint64_t ctas = cluster.volume();
    if (ctas == 1) return;
    if (ctas == 0) refuse("a dimension of the cluster is zero");
    const std::string shape = fmt::format("({},{},{})", cluster.x, cluster.y, cluster.z);
    constexpr std::int64_t kFirstArch = 90;
    if (machine.integer("arch") < kFirstArch)
        refuse(fmt::format("clusters, as {}, exist from sm_90 on", shape));
    if (ctas > sass::kMaxClusterCtas)
        refuse(fmt::format("a cluster {} has {} CTAs, at most {}", shape, ctas,
                           sass::kMaxClusterCtas));
    if (kernel.max_cluster_rank != 0 && ctas > kernel.max_cluster_rank)
        refuse(fmt::format("a cluster {} has {} CTAs, its .maxclusterrank is {}", shape, ctas,
                           kernel.max_cluster_rank));
    if (kernel.cluster[0] != 0 &&
        cluster != sass::Dim3{kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]})
        refuse(fmt::format("a cluster {} is not the ({},{},{}) that it was compiled for", shape,
                           kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]));
    if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
        refuse(fmt::format("grid ({},{},{}) is not a multiple of the cluster {}", grid.x, grid.y,
                           grid.z, shape));
}

}  // namespace

void check_launch(const config::Machine& machine, const cubin::Function& kernel,
                  const LaunchRequest& request) {
    using Reason = LaunchRefused::Reason;
    const auto limit = [&](const char* path) {
        return static_cast<std::uint64_t>(machine.integer(path));
    };
    const auto refuse = [&](Reason reason, const std::string& why) {
        throw LaunchRefused(reason,
                            fmt::format("kernel {} cannot be launched on {}: {}",
                                        cubin::demangled(kernel.name), machine.name(), why));
    };
    const sass::Dim3& block = request.block;
    const sass::Dim3& grid = request.grid;
    if (block.volume() == 0 || grid.volume() == 0)
        refuse(Reason::kInvalidConfiguration, "a dimension of the grid or block is zero");
    if (block.x > 1024 || block.y > 1024 || block.z > 64 ||
        block.volume() > limit("cta.max_threads"))
        refuse(Reason::kInvalidConfiguration,
               fmt::format("block ({},{},{}) is larger than a CTA may be ({} threads; 1024, 1024, "
                           "64 by dimension)",
                           block.x, block.y, block.z, limit("cta.max_threads")));
    if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
        refuse(Reason::kInvalidConfiguration,
               fmt::format("grid ({},{},{}) exceeds (2147483647,65535,65535)", grid.x, grid.y,
                           grid.z));
    if (kernel.max_threads[0] != 0) {
        const std::uint64_t bound = std::uint64_t{kernel.max_threads[0]} *
                                    std::max(kernel.max_threads[1], 1u) *
                                    std::max(kernel.max_threads[2], 1u);
        if (block.volume() > bound)
            refuse(Reason::kInvalidConfiguration,
                   fmt::format("{} threads exceed its launch bounds of {}", block.volume(), bound));
    }
    check_cluster(machine, kernel, request);
    const std::uint64_t warps = (block.volume() + kWarpSize - 1) / kWarpSize;
    if (warps * warp_registers(kernel) > limit("sm.registers"))
        refuse(Reason::kOutOfResources,
               fmt::format("{} threads of {} registers need more than the SM's {} registers",
                           block.volume(), kernel.registers, limit("sm.registers")));
    if (kernel.local_bytes > kMaximumLocalBytes)
        refuse(Reason::kOutOfResources,
               fmt::format("{} bytes of local memory exceed the {} that a thread may have",
                           kernel.local_bytes, kMaximumLocalBytes));
    const std::uint64_t shared = std::uint64_t{kernel.shared_bytes} + request.dynamic_shared_bytes;
    if (shared > limit("shared_memory.max_per_cta") + limit("shared_memory.reserved_per_cta"))
        refuse(Reason::kInvalidConfiguration,
               fmt::format("{} bytes of shared memory exceed the {} that a CTA may have", shared,
                           limit("shared_memory.max_per_cta")));
    const std::uint64_t by_sm = resident_ctas(
        machine, kernel, static_cast<std::uint32_t>(block.volume()), request.dynamic_shared_bytes);
    if (by_sm == 0)
        refuse(
            Reason::kOutOfResources,
            fmt::format("an SM does not hold a CTA of {} warps with {} registers a thread and {} "
                        "bytes of shared memory",
                        warps, kernel.registers, shared));
    if (request.cooperative) {
        const std::uint64_t resident = by_sm * limit("sm.count");
        if (grid.volume() > resident)
            refuse(Reason::kCooperativeTooLarge,
                   fmt::format("{} CTAs of a cooperative launch, but only {} fit at once",
                               grid.volume(), resident));
    }
}

std::uint32_t granted_shared_bytes(std::uint32_t bytes) {
    constexpr std::uint64_t kGranule = 128;
    return round_up(bytes, kGranule);
}

std::uint32_t Occupancy::ctas() const {
    return std::min({by_ctas, by_warps, by_registers, by_shared_memory});
}

Occupancy occupancy(const config::Machine& machine, const cubin::Function& kernel,
                    std::uint32_t threads, std::uint32_t dynamic_shared_bytes) {
    const auto limit = [&](const char* path) {
        return static_cast<std::uint32_t>(machine.integer(path));
    };
    const std::uint32_t warps = (threads + kWarpSize - 1) / kWarpSize;
    if (warps == 0) return {};
    Occupancy result;
    result.by_ctas = limit("sm.max_ctas");
    result.by_warps = std::min(limit("sm.max_warps"), limit("sm.max_threads") / kWarpSize) / warps;
    // Registers are granted by sub-core: a warp cannot use another sub-core's.
    const std::uint32_t sub_cores = limit("sm.sub_cores");
    result.by_registers =
        limit("sm.registers") / sub_cores / warp_registers(kernel) * sub_cores / warps;
    // From sm_90 on the section's size includes what the system reserves.
    const std::uint32_t reserved =
        machine.integer("arch") >= 90 ? 0 : limit("shared_memory.reserved_per_cta");
    const std::uint32_t shared =
        granted_shared_bytes(kernel.shared_bytes + dynamic_shared_bytes + reserved);
    result.by_shared_memory = shared != 0 ? limit("shared_memory.size") / shared : result.by_ctas;
    return result;
}

std::uint32_t resident_ctas(const config::Machine& machine, const cubin::Function& kernel,
                            std::uint32_t threads, std::uint32_t dynamic_shared_bytes) {
    return occupancy(machine, kernel, threads, dynamic_shared_bytes).ctas();
}

std::uint32_t constant_bank0_bytes(const cubin::Function& kernel) {
    return std::max<std::uint32_t>({static_cast<std::uint32_t>(kernel.constant0.size()),
                                    kernel.parameter_base + kernel.parameter_bytes, 0x210});
}

void add_reserved_shared(sass::Launch& launch, std::span<std::byte> bank0) {
    // %reserved_smem_offset_1, where cooperative groups keep the scratch of tiles of several warps.
    // Bytes 0-3 belong to %reserved_smem_offset_0; the real offsets are not published.
    constexpr std::uint32_t kReserved = 1024, kOffset1 = 64, kAlignment = 16;
    std::uint32_t place = 0x6c, begin = 0;
    if (launch.arch >= 90) {  // in front of the program's own
        launch.shared_bytes =
            std::max(launch.shared_bytes, kReserved + launch.dynamic_shared_bytes);
    } else {
        // Behind the program's own, and only where it is asked for: an access that runs over the
        // end of the program's is to be reported.
        place = 0x124;
        const auto& literals = launch.program->literals();
        const auto asks = [&](const sass::Literal& literal) {  // unoptimised code: by a register
            return literal.value == place && (!literal.is_constant || literal.bank == 0);
        };
        if (launch.arch < 80 || std::none_of(literals.begin(), literals.end(), asks)) return;
        begin = (launch.shared_bytes + kAlignment - 1) / kAlignment * kAlignment;
        launch.shared_bytes = begin + kReserved;
    }
    const std::uint32_t offset = begin + kOffset1;
    std::memcpy(bank0.data() + place, &offset, sizeof offset);
}

void set_constant_window(const sass::Launch& launch, std::span<std::byte> bank0) {
    const std::span<const std::byte> bank = launch.constant[kUserConstantBank];
    const std::uint64_t window =
        bank.empty() ? ~0ull : reinterpret_cast<std::uint64_t>(bank.data());
    std::memcpy(bank0.data() + (launch.arch >= 90 ? 0xd0 : 0x50), &window, sizeof window);
}

void fill_constant_bank0(std::span<std::byte> bank, std::uint64_t address, int arch,
                         const cubin::Function& kernel, const LaunchRequest& request,
                         const config::Machine& machine, std::uint32_t local_bytes,
                         std::uint64_t launch_id, std::uint64_t grid_workspace) {
    const auto constant0 = std::as_bytes(std::span(kernel.constant0));
    std::fill(std::copy(constant0.begin(), constant0.end(), bank.begin()), bank.end(),
              std::byte{0});
    const auto put32 = [&](std::uint32_t offset, std::uint32_t value) {
        std::memcpy(bank.data() + offset, &value, sizeof value);
    };
    const auto put64 = [&](std::uint32_t offset, std::uint64_t value) {
        std::memcpy(bank.data() + offset, &value, sizeof value);
    };
    const bool is_hopper = arch >= 90;
    const std::uint32_t dims[] = {request.block.x, request.block.y, request.block.z,
                                  request.grid.x,  request.grid.y,  request.grid.z};
    for (std::uint32_t i = 0; i < 6; ++i) put32(4 * i, dims[i]);
    put64(0x18, sass::kSharedWindow);
    put64(0x20, sass::kLocalWindow);
    put32(0x28, local_bytes);  // initial stack pointer: the end of local memory
    put32(0x2c, request.dynamic_shared_bytes);
    put64(0x30, launch_id);
    put32(0x10c, static_cast<std::uint32_t>(machine.integer("sm.count")));
    put32(0x114, 0);
    put64(is_hopper ? 0x208 : 0x118, 0);  // memory descriptor: has no effect here
    // %envreg1 and %envreg2: upper and lower half of the workspace of grid-wide synchronisation.
    put32(is_hopper ? 0x44 : 0x8c, static_cast<std::uint32_t>(grid_workspace >> 32));
    put32(is_hopper ? 0x48 : 0x90, static_cast<std::uint32_t>(grid_workspace));
    if (is_hopper) {
        // Whether clusters were asked for; CTAs of one by dimension, their reciprocals, clusters by
        // dimension; CTAs of one.
        const std::uint32_t cluster[] = {request.cluster.x, request.cluster.y, request.cluster.z};
        put32(0x140, is_clustered(kernel, request));
        for (std::uint32_t i = 0; i < 3; ++i) {
            put32(0x144 + 4 * i, cluster[i]);
            put32(0x150 + 4 * i,
                  std::bit_cast<std::uint32_t>(1.0f / static_cast<float>(cluster[i])));
            put32(0x15c + 4 * i, dims[3 + i] / cluster[i]);
        }
        put32(0x188, static_cast<std::uint32_t>(request.cluster.volume()));
        put64(0x198, address + kernel.parameter_base);
    } else {
        put64(0x40, address);  // pointers to parameters are made from it
    }
    const auto parameters = request.parameters.first(
        std::min<std::size_t>(request.parameters.size(), kernel.parameter_bytes));
    std::copy(parameters.begin(), parameters.end(), bank.begin() + kernel.parameter_base);
}

void LiteralTable::fill(const sass::Program& program,
                        const std::array<std::span<const std::byte>, 32>& constant) {
    const std::size_t known = rows_.size();
    rows_.resize(program.literals().size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const sass::Literal& literal = program.literals()[i];
        if (!literal.is_constant && i < known) continue;
        std::uint32_t value = literal.value;
        if (literal.is_constant) {
            value = 0;
            // A bank ends where its last parameter or variable does, be it within a word.
            const std::span<const std::byte> bank = constant[literal.bank];
            if (literal.value < bank.size())
                std::memcpy(&value, bank.data() + literal.value,
                            std::min(sizeof value, bank.size() - literal.value));
        }
        for (std::uint32_t& lane : rows_[i].lane) lane = value;
    }
}

void CtaStorage::prepare(sass::Launch& launch) {
    launch_ = &launch;
    cta_.launch = &launch;
    cta_.extents = {};
    const Shape shape{.threads = static_cast<std::uint32_t>(launch.block.volume()),
                      .rows = launch.rows,
                      .local_bytes = launch.local_bytes,
                      .shared_bytes = launch.shared_bytes};
    if (shape != shape_) {
        shape_ = shape;
        lay_out();
    }
    for (sass::Warp& warp : warps_) warp.bases[1] = const_cast<std::byte*>(launch.literals);
}

void CtaStorage::lay_out() {
    const std::uint32_t warps = (shape_.threads + kWarpSize - 1) / kWarpSize;
    const auto at_least = [](std::vector<sass::Row>& rows, std::size_t count) {
        if (rows.size() < count) rows.resize(count);
    };
    const std::size_t local = shape_.local_bytes / sizeof(std::uint32_t);
    at_least(rows_, std::size_t{warps} * shape_.rows);
    at_least(local_, warps * local);
    // In rows, for wide shared accesses want their alignment.
    at_least(shared_, (shape_.shared_bytes + sizeof(sass::Row) - 1) / sizeof(sass::Row) + 1);
    cta_.shared = reinterpret_cast<std::byte*>(shared_.data());
    warps_.resize(warps);
    cta_.warps.clear();
    for (std::uint32_t w = 0; w < warps; ++w) {
        sass::Warp& warp = warps_[w];
        warp.index = w;
        warp.cta = &cta_;
        const std::uint32_t rest = shape_.threads - w * kWarpSize;
        warp.lanes = rest >= kWarpSize ? sass::kAllLanes : (1u << rest) - 1;
        sass::Row* const rows = &rows_[std::size_t{w} * shape_.rows];
        warp.bases[0] = reinterpret_cast<std::byte*>(rows);
        std::memset(rows + sass::kZeroRow, 0, (sass::kSinkRow - sass::kZeroRow) * sizeof *rows);
        warp.local = local == 0 ? nullptr : reinterpret_cast<std::byte*>(&local_[w * local]);
        warp.has_written_local = true;  // another launch may have
        cta_.warps.push_back(&warp);
    }
}

std::unique_ptr<CtaStorage> CtaPool::take(sass::Launch& launch) {
    std::unique_ptr<CtaStorage> storage;
    if (spare_.empty()) {
        storage = std::make_unique<CtaStorage>();
        storage->perform_copies_by(std::make_unique<LateCopies>());
    } else {
        storage = std::move(spare_.back());
        spare_.pop_back();
    }
    storage->prepare(launch);
    return storage;
}

void CtaPool::give_back(std::unique_ptr<CtaStorage> storage) {
    constexpr std::size_t kKept = 64;
    if (spare_.size() < kKept) spare_.push_back(std::move(storage));
}

void CtaStorage::start(std::uint64_t linear_index) {
    const sass::Dim3& grid = launch_->grid;
    cta_.linear_index = linear_index;
    cta_.index = {static_cast<std::uint32_t>(linear_index % grid.x),
                  static_cast<std::uint32_t>(linear_index / grid.x % grid.y),
                  static_cast<std::uint32_t>(linear_index / grid.x / grid.y)};
    cta_.clock_reads = 0;
    cta_.releases = 0;
    cta_.member = nullptr;
    cta_.cluster_rank = 0;
    cta_.free_registers = 0;
    cta_.live_warps = static_cast<std::uint32_t>(warps_.size());
    sass::reset_barriers(cta_);
    std::memset(cta_.shared, 0, round_up(launch_->shared_bytes, sizeof(std::uint32_t)));
    const std::size_t local_rows = shape_.local_bytes / sizeof(std::uint32_t);
    const sass::Program& program = *launch_->program;
    for (sass::Warp& warp : warps_) {
        auto* rows = reinterpret_cast<sass::Row*>(warp.bases[0]);
        std::memset(rows + sass::kUniformRow, 0, program.uniform_rows() * sizeof(sass::Row));
        std::memset(rows + sass::kProductGroupsRow, 0, sizeof(sass::Row));
        std::memset(rows + sass::kBarrierRow, 0, program.barrier_rows() * sizeof(sass::Row));
        std::memset(rows + sass::kRegisterRow, 0,
                    (launch_->rows - sass::kRegisterRow) * sizeof(sass::Row));
        if (warp.has_written_local && local_rows != 0)
            std::memset(warp.local, 0, local_rows * sizeof(sass::Row));
        warp.has_written_local = false;
        std::fill(std::begin(warp.predicate), std::end(warp.predicate), 0u);
        warp.predicate[sass::kPredicatePT] = warp.predicate[sass::kPredicateUPT] = sass::kAllLanes;
        warp.pc = launch_->entry;
        warp.active = warp.live = warp.lanes;
        warp.budget = 0;
        warp.has_yielded = false;
        warp.yields = 0;
        warp.turns = sass::Warp::kTurns;
        warp.awaited = 0;
        warp.progress = 0;
        warp.barrier_result = 0;
        warp.registers = launch_->registers;
        warp.parked.clear();
    }
}

}  // namespace lockstep::gpu
