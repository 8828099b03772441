// SPDX-License-Identifier: Apache-2.0
// Which way a product is cut. From generation 2 on there are several (which operand stays, how
// large its panels are): each is compiled, timed and taken back, and the fastest compiled again. Of
// what loads and passes alone make slower than the best so far, nothing is compiled.
#include <algorithm>
#include <tuple>

#include "sim/error/error.h"
#include "sim/numerics/integer.h"
#include "workloads/network/tpu/plan_time.h"
#include "workloads/network/tpu/product.h"

namespace lockstep::network::lowering {

using numerics::divide_up;

namespace {

/// From generation 2 on: so many times the rows that hide the shift of the next weights.
constexpr std::int64_t kShiftsOfBlock = 4;

}  // namespace

void ProductLowering::run_product(const std::vector<Matrix>& source, const Weights& weights,
                                  const Place& result, const std::optional<Place>& addend) {
    const tpu::CoreLimits& limits = c_.target.limits;
    TpuLayer& layer = c_.steps.layer();
    layer.m = m_;
    layer.n = n_;
    layer.k = k_;
    if (integer_)
        layer.row_cycles = static_cast<std::int64_t>(tpu::size_of(c_.type_of(node_.inputs[0])));
    layer.products = std::max<std::int64_t>(1, layer.products);
    const Operands o = operands_of(source, weights, result, addend);
    c_.open_staging();
    std::int64_t limit = std::max<std::int64_t>(1, limits.accumulator_rows / 2);
    if (c_.has_memory()) {
        // Blocks are short enough to be loaded while others are computed, long enough to hide the
        // shift of weights.
        limit = std::clamp<std::int64_t>(limit / limits.matrix_units, 1,
                                         kShiftsOfBlock * limits.array_rows);
    }
    if (!c_.has_memory()) {
        run_rows(o, limit, {});
        return c_.staging.close();
    }
    run_fastest(plans_of(o, limit));
    c_.staging.close();
}

std::vector<ProductLowering::Plan> ProductLowering::plans_of(const Operands& o,
                                                             std::int64_t limit) {
    std::uint64_t weights = 0;
    for (std::size_t t = 0; t < o.tiles.size(); ++t) weights += weight_bytes(o, t);
    // Cycles to load both operands so many times.
    const auto loads = [&, weights](std::int64_t rows_times, std::int64_t weights_times) {
        return (static_cast<double>(rows_times) * static_cast<double>(o.left.bytes()) +
                static_cast<double>(weights_times) * static_cast<double>(weights)) /
               c_.target.speed.memory_bytes;
    };
    std::vector<Plan> plans;
    const bool by_blocks = taken_ != nullptr || made_ != nullptr;
    if (!by_blocks && rows_fit(o))
        plans.push_back({loads(1, 1), [&, limit] { run_columns(o, limit, passing_panels(o)); }});
    if (!by_blocks && !conv_ && !rows_fit(o) && o.left.space != tpu::Space::kUnifiedBuffer &&
        o.weights.space != tpu::Space::kUnifiedBuffer)
        for (const std::int64_t rows : row_panels(o))
            plans.push_back({loads(1, divide_up(m_, rows)), [&, limit, rows] {
                                 for (std::int64_t first = 0; first < m_; first += rows)
                                     run_columns(part_of(o, first, std::min(rows, m_ - first)),
                                                 limit, passing_panels(o));
                             }});
    for (const std::optional<std::uint64_t> most : panel_sizes(o)) {
        const std::vector<Panel> panels = weight_panels(o, most);
        const double loaded =
            loads(static_cast<std::int64_t>(panels.size()), most ? 1 : divide_up(m_, limit));
        plans.push_back({std::max(loaded, least_passes(o, panels, limit)),
                         [&, limit, most] { run_rows(o, limit, most); }});
    }
    // Chunks begin with all accumulators: of many small products, which plans are not timed with,
    // none would begin before the one before has left them.
    if (by_blocks || conv_ || is_one_of_many(o, weights)) return plans;
    for (const ChunkShape& shape : chunk_shapes(o))
        plans.push_back({loads(divide_up(static_cast<std::int64_t>(o.tiles.size()), shape.tiles),
                               shape.weights_stay ? 1 : divide_up(m_, shape.rows)),
                         [&, shape] { run_chunks(o, shape); }});
    return plans;
}

ProductLowering::PassingPanels ProductLowering::passing_panels(const Operands& o) const {
    // What is loaded ahead, and what is written at once, is a window as kernels of the vector unit
    // have them, or a sixteenth of the room. Where that has no columns for all units, units work on
    // two panels at once, and the next is a third.
    const std::uint64_t bytes =
        c_.target.window != 0 ? c_.target.window : c_.staging.window_room() / 16;
    const bool narrow = weight_bytes(o, 0) * c_.target.limits.matrix_units > bytes;
    return {bytes, narrow ? std::size_t{2} : std::size_t{1}};
}

double ProductLowering::least_passes(const Operands& o, const std::vector<Panel>& panels,
                                     std::int64_t limit) const {
    // A pass takes as long as its rows, and as the shift of the next tile.
    const tpu::CoreLimits& limits = c_.target.limits;
    double cycles = 0;
    for (const Panel& panel : panels)
        for (const Block& block : row_blocks(o, panel, limit))
            cycles += static_cast<double>(panel.end - panel.begin) *
                      static_cast<double>(std::max<std::int64_t>(block.rows, limits.array_rows));
    return cycles * static_cast<double>(divide_up(k_, limits.array_rows)) / limits.matrix_units;
}

std::vector<std::optional<std::uint64_t>> ProductLowering::panel_sizes(const Operands& o) const {
    if (o.weights.space == tpu::Space::kUnifiedBuffer) return {std::nullopt};
    std::uint64_t all = 0;
    for (std::size_t t = 0; t < o.tiles.size(); ++t) all += weight_bytes(o, t);
    const std::uint64_t ring = c_.staging.ring().size(), room = c_.staging.window_room();
    std::vector<std::optional<std::uint64_t>> sizes;
    // Two panels take half, one that is all of them may be as large, or leave room for windows.
    const auto add = [&](std::uint64_t most) {
        if (weight_bytes(o, 0) <= most || o.weights.transposed) sizes.emplace_back(most);
    };
    if (c_.target.window != 0) {
        add(c_.target.window);
        if (!sizes.empty()) return sizes;
    }
    add(ring / 4);
    if (all <= room / 4) return sizes;
    if (room < ring) add(room / 4);
    if (all <= ring / 2 || all + room <= ring) add(std::max(all, ring / 2));
    if (!o.weights.transposed) sizes.emplace_back(std::nullopt);
    return sizes;
}

ProductLowering::Operands ProductLowering::part_of(const Operands& o, std::int64_t first,
                                                   std::int64_t rows) const {
    const auto cut = [&](Matrix m) {
        m.address = m.row_address(first);
        m.rows = rows;
        return m;
    };
    Operands part = o;
    part.left = cut(o.left);
    part.out = cut(o.out);
    if (o.addend) part.addend = cut(*o.addend);
    part.rows = rows;
    return part;
}

std::vector<std::int64_t> ProductLowering::row_panels(const Operands& o) const {
    // No less than hide the shift of weights.
    const std::int64_t least = c_.target.limits.array_rows;
    std::vector<std::int64_t> panels;
    for (const std::uint64_t parts : {1, 2})
        for (std::int64_t count = 2; divide_up(m_, count) >= least; ++count) {
            // Whole blocks, so that what remains is less.
            const std::int64_t rows = divide_up(divide_up(m_, count), least) * least;
            if (!rows_fit(part_of(o, 0, std::min(rows, m_)), parts)) continue;
            if (panels.empty() || panels.back() != rows) panels.push_back(rows);
            break;
        }
    return panels;
}

bool ProductLowering::rows_fit(const Operands& o, std::uint64_t parts) const {
    // And the panels of weights, and results and residuals that pass.
    const bool is_resident = o.left.space == tpu::Space::kUnifiedBuffer;
    const std::uint64_t ring = c_.staging.ring().size(), room = c_.staging.window_room();
    return (is_resident ? 0 : o.left.bytes()) + compile::aligned(parameter_bytes(n_)) + 4096 +
               (passing_panels(o).ahead + 1) * std::max(weight_bytes(o, 0), room / 16) +
               room / 8 * 3 <=
           ring / parts;
}

void ProductLowering::run_fastest(std::vector<Plan> plans) {
    if (plans.size() == 1) return plans[0].run();
    std::stable_sort(plans.begin(), plans.end(),
                     [](const Plan& a, const Plan& b) { return a.least < b.least; });
    const tpu::ProgramBuilder::Mark mark = c_.builder.mark();
    const std::size_t size = c_.builder.size();
    const compile::Ring ring = c_.staging.ring();
    const TpuLayer layer = c_.steps.layer();
    const std::uint64_t accumulator = c_.next_accumulator;
    const std::uint32_t unit = c_.next_unit;
    const bool prefetches = c_.steps.prefetches();
    const std::optional<tpu::Access> input = input_;
    const std::uint32_t begins_window = begins_window_;
    const std::int64_t window_left = window_left_;
    const auto go_back = [&] {
        c_.builder.rewind(mark);
        c_.staging.ring() = ring;
        c_.steps.layer() = layer;
        c_.next_accumulator = accumulator;
        c_.next_unit = unit;
        c_.steps.set_prefetches(prefetches);
        input_ = input;
        begins_window_ = begins_window;
        window_left_ = window_left;
    };
    const Plan* best = nullptr;
    std::uint64_t least = 0;
    std::optional<compile::Refusal> refused;  // by the first that cannot be done
    for (const Plan& plan : plans) {
        if (best != nullptr && plan.least >= static_cast<double>(least)) break;
        try {
            plan.run();
            const std::uint64_t time =
                plan_time(c_.builder.instructions().subspan(size), c_.target);
            if (best == nullptr || time < least) std::tie(best, least) = std::tuple(&plan, time);
        } catch (const compile::Refusal& error) {
            if (!refused) refused = error;
        }
        go_back();
    }
    if (best == nullptr) throw compile::Refusal(*refused);
    best->run();
}

}  // namespace lockstep::network::lowering
