// SPDX-License-Identifier: Apache-2.0
// First every step by itself, with all values in memory; then values move into the SRAM, those with
// short lives first, where the steps that they live through become faster together than they were;
// then steps join the one before where what is between them is still in memory. A step's cut is
// searched among halvings of its rows and output channels.
#include "workloads/network/npu/plan.h"

#include <algorithm>
#include <functional>

#include "sim/numerics/integer.h"
#include "workloads/network/compile/buffer.h"

namespace lockstep::network::npu_code {

namespace {

using compile::aligned;

/// The most rows of windows that so many rows of the output need.
std::int64_t window_rows_of(const Step& step, std::int64_t rows) {
    if (step.pool.mode == isa::PoolMode::kNone) return rows;
    return std::min(step.window.rows, (rows - 1) * step.pool.stride_height + step.pool.height);
}

/// Whether a core has room for the sums that it keeps.
bool keeps_sums(const Step& step, const Cut& cut, const NpuTarget& target) {
    const std::int64_t shares = std::min<std::int64_t>(cut.rows, target.cores);
    const std::int64_t rows = window_rows_of(step, numerics::divide_up(cut.rows, shares));
    return static_cast<std::uint64_t>(4 * rows * step.window.columns * cut.channels) <=
           target.accumulator_bytes;
}

/// Halves of n down to 1, each once.
std::vector<std::int64_t> halves(std::int64_t n, std::int64_t unit) {
    std::vector<std::int64_t> sizes;
    for (std::int64_t parts = 1;; parts *= 2) {
        std::int64_t size = numerics::divide_up(n, parts);
        size = std::min(n, numerics::divide_up(size, unit) * unit);
        if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
        if (size <= unit || parts > n) return sizes;
    }
}

/// Numbers of output channels whose weights may pass through the SRAM together. Of a grouped
/// convolution, a piece is of whole groups, or divides one.
std::vector<std::int64_t> pieces_of(const Step& step, std::int64_t unit) {
    const std::int64_t channels = step.output_channels();
    if (step.opcode != isa::Opcode::kConvolve || step.broadcast != isa::Broadcast::kNone)
        return {channels};
    if (step.groups == 1) return halves(channels, unit);
    const std::int64_t of_group = channels / step.groups;
    std::vector<std::int64_t> sizes = halves(channels, of_group);
    for (const std::int64_t size : halves(of_group, unit))
        if (size < of_group && of_group % size == 0) sizes.push_back(size);
    return sizes;
}

class Planner {
  public:
    Planner(const std::vector<Step>& steps, const std::map<ValueId, Home>& fixed,
            const std::map<ValueId, std::uint64_t>& bytes, const NpuTarget& target)
        : steps_(steps), target_(target) {
        for (const auto& [id, size] : bytes) {
            Place place{Home::kMemory, 0, size, steps.size(), 0};
            if (const auto found = fixed.find(id); found != fixed.end()) place.home = found->second;
            plan_.places[id] = place;
        }
        for (std::size_t s = 0; s < steps.size(); ++s)
            for (const Part* part : {&steps[s].input, &steps[s].operand, &steps[s].output}) {
                if (part->value == kNoValue) continue;
                Place& place = plan_.places.at(part->value);
                place.first = std::min(place.first, s);
                place.last = std::max(place.last, s);
                if (part != &steps[s].output)
                    ++readers_[part->value];
                else
                    ++writers_[part->value];
            }
        for (const auto& [id, home] : fixed) is_fixed_.insert({id, true});
    }

    Plan run() {
        for (std::size_t s = 0; s < steps_.size(); ++s) plan_.groups.push_back(planned(s, s));
        if (target_.keeps_values) keep_values();
        if (target_.cascades) cascade();
        for (const Group& group : plan_.groups)
            if (!group.fits)
                throw TooLarge(fmt::format("step {}: {} bytes of SRAM are too few for a row and "
                                           "the weights of {} output channels{}",
                                           steps_[group.first].name, group.scratch_bytes,
                                           target_.array_outputs,
                                           target_.accumulator_bytes == 0
                                               ? " (its cores keep no sums: input channels "
                                                 "cannot be cut)"
                                               : ""),
                               group.first);
        return std::move(plan_);
    }

  private:
    bool in_sram(const Part& part) const { return plan_.places.at(part.value).home == Home::kSram; }

    /// The largest range that no value takes which lives through one of the steps.
    void find_scratch(Group& group) const {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
        for (const auto& [id, place] : plan_.places)
            if (place.home == Home::kSram && place.first <= group.last && place.last >= group.first)
                taken.emplace_back(place.address, place.address + aligned(place.bytes));
        std::sort(taken.begin(), taken.end());
        std::uint64_t at = 0;
        group.scratch_bytes = 0;
        taken.emplace_back(target_.sram_bytes, target_.sram_bytes);
        for (const auto& [begin, end] : taken) {
            if (begin > at && begin - at > group.scratch_bytes) {
                group.scratch = at;
                group.scratch_bytes = begin - at;
            }
            at = std::max(at, end);
        }
    }

    Group planned(std::size_t first, std::size_t last) const {
        Group group;
        group.first = first;
        group.last = last;
        find_scratch(group);
        if (steps_[first].on_host) {
            group.fits = true;
            return group;
        }
        const Step& end = steps_[last];
        const bool one = first == last;
        const std::int64_t rows = end.output.box.h, channels = end.output_channels();
        Group best = group;
        for (const std::int64_t c :
             one ? pieces_of(end, target_.array_outputs) : std::vector{channels})
            for (const std::int64_t r : halves(rows, 1))
                for (const bool outer : {false, true})
                    for (const bool overlaps : {true, false}) {
                        if (outer && (c == channels || r == rows)) continue;
                        group.cut = {r, c, outer, overlaps};
                        estimate(group);
                        if (group.fits && (!best.fits || group.cycles < best.cycles)) best = group;
                    }
        const bool slices =
            one && end.opcode == isa::Opcode::kConvolve && end.groups == 1 && !best.fits;
        if (slices) plan_slices(group, best);
        return best;
    }

    /// Where nothing else fits: some input channels at a time.
    void plan_slices(Group group, Group& best) const {
        const Step& step = steps_[group.last];
        const std::vector<std::int64_t> inputs = halves(step.input.box.c, target_.array_inputs);
        for (std::size_t i = 1; i < inputs.size(); ++i)
            for (const std::int64_t c : pieces_of(step, target_.array_outputs))
                for (const std::int64_t r : halves(step.output.box.h, 1))
                    for (const bool overlaps : {true, false}) {
                        group.cut = {r, c, false, overlaps, inputs[i]};
                        if (!keeps_sums(step, group.cut, target_)) continue;
                        estimate(group);
                        if (group.fits && (!best.fits || group.cycles < best.cycles)) best = group;
                    }
    }

    struct Sizes {
        std::uint64_t all = 0, most = 0;
        void add(std::uint64_t bytes) {
            all += aligned(bytes);
            most = std::max(most, aligned(bytes));
        }
    };

    /// Stripes of which one is the largest: the first, one in the middle and the last, for padding
    /// makes edges smaller, but of a few stripes all are edges. Where an image changes its size,
    /// stripes need now one row more, now one less: any of them.
    std::vector<std::int64_t> largest_stripes(const Group& group) const {
        const std::int64_t rows = steps_[group.last].output.box.h;
        const std::int64_t last = (rows - 1) / group.cut.rows;
        std::vector<std::int64_t> stripes = {0, rows / group.cut.rows / 2, last};
        const bool resizes = std::any_of(
            steps_.begin() + static_cast<std::ptrdiff_t>(group.first),
            steps_.begin() + static_cast<std::ptrdiff_t>(group.last) + 1, [](const Step& step) {
                return step.opcode == isa::Opcode::kResize || step.window.upsample_height != 1;
            });
        for (std::int64_t s = 1; resizes && s < last; ++s) stripes.push_back(s);
        return stripes;
    }

    void estimate(Group& group) const {
        const Cut& cut = group.cut;
        const Step& end = steps_[group.last];
        const std::int64_t rows = end.output.box.h, images = end.output.box.n;
        const std::int64_t stripes = numerics::divide_up(rows, cut.rows) * images;
        const std::int64_t pieces = numerics::divide_up(end.output_channels(), cut.channels);
        std::vector<std::int64_t> made(group.last - group.first + 1, 0);
        std::int64_t read = 0;
        for (const std::int64_t s : largest_stripes(group)) {
            const Rows stripe{s * cut.rows, std::min(rows, (s + 1) * cut.rows)};
            const std::vector<Rows> all = rows_of_steps(steps_, group, stripe);
            for (std::size_t k = 0; k < made.size(); ++k)
                made[k] = std::max(made[k], all[k].count());
            read = std::max(read, steps_[group.first].input_rows(all[0]).count());
        }
        Sizes pinned, passing;
        double core = 0, commands = 0, loaded = 0, stored = 0;
        double weights = 0;
        for (std::size_t s = group.first; s <= group.last; ++s) {
            const Step& step = steps_[s];
            const std::int64_t count = made[s - group.first];
            const std::int64_t step_pieces = s == group.last ? pieces : 1;
            const std::int64_t channels = s == group.last ? cut.channels : step.output_channels();
            const double new_rows = s == group.last
                                        ? static_cast<double>(count)
                                        : static_cast<double>(step.output.box.h * images) /
                                              static_cast<double>(stripes);
            const std::int64_t together = std::max<std::int64_t>(1, count);
            core += core_cycles(step, target_, together, channels) * new_rows *
                    static_cast<double>(stripes * step_pieces) /
                    static_cast<double>(together * target_.cores);
            commands += static_cast<double>(stripes * step_pieces);
            const bool sliced = cut.inputs != 0;
            const std::int64_t slices =
                sliced ? numerics::divide_up(step.input.box.c, cut.inputs) : 1;
            if (sliced) commands += static_cast<double>(stripes * step_pieces * (slices - 1));
            if (sliced) {
                const std::uint64_t bytes = weight_bytes(step, target_, channels, cut.inputs);
                passing.add(bytes);
                weights += static_cast<double>(bytes) *
                           static_cast<double>(slices * stripes * step_pieces);
            } else if (step.is_product()) {
                const std::uint64_t bytes = weight_bytes(step, target_, channels);
                (step_pieces == 1 ? pinned : passing).add(bytes);
                const double times = static_cast<double>(
                    step_pieces * (step_pieces == 1 || cut.weights_outer ? 1 : stripes));
                weights += static_cast<double>(bytes) * times;
            }
            if (step.constant_bytes() != 0) pinned.add(step.constant_bytes());
            if (step.operand.value != kNoValue && !in_sram(step.operand)) {
                const bool all = step.broadcast == isa::Broadcast::kChannel ||
                                 step.broadcast == isa::Broadcast::kScalar;
                const std::uint64_t bytes =
                    step.operand.box.row() *
                    static_cast<std::uint64_t>(all ? 1
                                               : step.is_matrix_product()
                                                   ? step.operand.box.h
                                                   : window_rows_of(step, count));
                if (!sliced || all) (all ? pinned : passing).add(bytes);
                loaded += static_cast<double>(bytes) * static_cast<double>(all ? 1 : stripes);
            }
            if (s == group.first && step.input.value != kNoValue && !in_sram(step.input)) {
                std::uint64_t bytes = static_cast<std::uint64_t>(read) * step.input.box.row();
                if (sliced)
                    passing.add(static_cast<std::uint64_t>(read * step.input.box.w) *
                                step.input.box.channel_bytes(cut.inputs));
                else
                    passing.add(bytes);
                const double times = sliced || (cut.weights_outer && stripes > 1)
                                         ? static_cast<double>(stripes * pieces)
                                         : static_cast<double>(stripes);
                loaded += static_cast<double>(bytes) * times;
            }
            const std::uint64_t out = static_cast<std::uint64_t>(count) *
                                      static_cast<std::uint64_t>(step.output.box.w) *
                                      step.output.box.channel_bytes(channels);
            if (s != group.last) {
                passing.add(out);
                core += static_cast<double>(out) / target_.move_bytes * 0.25;
            } else if (!in_sram(step.output)) {
                if (!sliced) passing.add(out);
                stored += static_cast<double>(step.output.box.bytes());
            }
        }
        const bool single = stripes == 1 && pieces == 1 && cut.inputs == 0;
        // A cascade copies rows of the stripe before.
        const std::uint64_t copies = single || (!cut.overlaps && !group.is_cascade()) ? 1 : 2;
        const std::uint64_t held =
            cut.inputs == 0 ? 0 : (cut.overlaps ? 2 : 1) * held_bytes(end, cut);
        const std::uint64_t need =
            held + pinned.all + copies * passing.all + (copies == 1 ? 0 : passing.most);
        group.need_bytes = need;
        group.fits = need <= group.scratch_bytes;
        const double traffic = loaded + stored + weights;
        const double transfers =
            traffic / target_.memory_bytes + commands * (target_.transfer_setup);
        const double work = std::max(core + commands * target_.command_cycles,
                                     commands * target_.programming_cycles);
        group.core_cycles = core;
        group.memory_bytes = traffic;
        const double first =
            (loaded / static_cast<double>(stripes) + weights / static_cast<double>(pieces)) /
            target_.memory_bytes;
        group.cycles =
            target_.memory_latency +
            (cut.overlaps && !single ? std::max(work, transfers) + first * 0.5 : work + transfers);
    }

    /// The lowest address where the value disturbs no other; nothing where there is none.
    std::optional<std::uint64_t> find_address(ValueId id) const {
        const Place& mine = plan_.places.at(id);
        std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
        for (const auto& [other, place] : plan_.places)
            if (other != id && place.home == Home::kSram && place.first <= mine.last &&
                place.last >= mine.first)
                taken.emplace_back(place.address, place.address + aligned(place.bytes));
        std::sort(taken.begin(), taken.end());
        std::uint64_t at = 0;
        for (const auto& [begin, end] : taken) {
            if (begin >= at + aligned(mine.bytes)) return at;
            at = std::max(at, end);
        }
        if (at + aligned(mine.bytes) <= target_.sram_bytes) return at;
        return std::nullopt;
    }

    void keep_values() {
        std::vector<ValueId> candidates;
        for (const auto& [id, place] : plan_.places)
            if (!is_fixed_.contains(id) && place.bytes < target_.sram_bytes)
                candidates.push_back(id);
        std::stable_sort(candidates.begin(), candidates.end(), [&](ValueId a, ValueId b) {
            const Place &x = plan_.places.at(a), &y = plan_.places.at(b);
            return std::pair(x.last - x.first, x.first) < std::pair(y.last - y.first, y.first);
        });
        for (const ValueId id : candidates) {
            Place& place = plan_.places.at(id);
            const std::optional<std::uint64_t> address = find_address(id);
            if (!address) continue;
            place.home = Home::kSram;
            place.address = *address;
            double before = 0, after = 0;
            bool fits = true;
            std::vector<Group> groups;
            for (std::size_t s = place.first; s <= place.last; ++s) {
                groups.push_back(planned(s, s));
                fits = fits && (groups.back().fits || !plan_.groups[s].fits);
                before += plan_.groups[s].cycles;
                after += groups.back().cycles;
            }
            if (!fits || after >= before) {
                place.home = Home::kMemory;
                continue;
            }
            std::copy(groups.begin(), groups.end(),
                      plan_.groups.begin() + static_cast<std::ptrdiff_t>(place.first));
        }
    }

    bool joins(std::size_t s) const {
        const Step &before = steps_[s - 1], &step = steps_[s];
        if (step.on_host || before.on_host || step.input.value == kNoValue) return false;
        const ValueId between = step.input.value;
        if (before.output.value != between || is_fixed_.contains(between)) return false;
        if (plan_.places.at(between).home != Home::kMemory) return false;
        return readers_.at(between) == 1 && writers_.at(between) == 1 && before.output.is_whole() &&
               step.input.is_whole() && before.output.box == step.input.box &&
               step.output.box.n == before.output.box.n && step.operand.value != between;
    }

    /// A cascade's steps run in turn: what one of them uses is in use all the time. Values that
    /// then disturb each other move; false where there is no room.
    bool live_through(std::size_t first, std::size_t last) {
        std::vector<ValueId> moved;
        for (auto& [id, place] : plan_.places) {
            if (place.home != Home::kSram || place.first > last || place.last < first) continue;
            place.first = std::min(place.first, first);
            place.last = std::max(place.last, last);
            moved.push_back(id);
        }
        for (const ValueId id : moved) {
            const std::optional<std::uint64_t> address = find_address(id);
            if (!address) return false;
            plan_.places.at(id).address = *address;
        }
        return true;
    }

    void cascade() {
        const Plan without = plan_;
        std::vector<Group> groups;
        for (const Group& group : without.groups) {
            const bool can =
                !groups.empty() && groups.back().last + 1 == group.first && joins(group.first);
            if (can) {
                const std::map<ValueId, Place> before = plan_.places;
                if (live_through(groups.back().first, group.last)) {
                    const Group both = planned(groups.back().first, group.last);
                    if (both.fits && both.cycles < groups.back().cycles + group.cycles) {
                        groups.back() = both;
                        continue;
                    }
                }
                plan_.places = before;
            }
            groups.push_back(group);
        }
        // Values have moved: all are cut anew.
        bool fits = true;
        for (Group& group : groups) {
            group = planned(group.first, group.last);
            fits = fits && group.fits;
        }
        plan_.groups = std::move(groups);
        if (!fits) plan_ = without;
    }

    const std::vector<Step>& steps_;
    const NpuTarget& target_;
    Plan plan_;
    std::map<ValueId, std::size_t> readers_, writers_;
    std::map<ValueId, bool> is_fixed_;
};

}  // namespace

std::vector<Rows> rows_of_steps(const std::vector<Step>& steps, const Group& group, Rows rows) {
    std::vector<Rows> made(group.last - group.first + 1);
    for (std::size_t s = group.last + 1; s-- > group.first;) {
        made[s - group.first] = rows;
        rows = steps[s].input_rows(rows);
    }
    return made;
}

std::uint64_t held_bytes(const Step& step, const Cut& cut) {
    const auto rows = static_cast<std::uint64_t>(cut.rows);
    const std::uint64_t out = rows * static_cast<std::uint64_t>(step.output.box.w) *
                              step.output.box.channel_bytes(cut.channels);
    const std::uint64_t operand =
        step.operand.value == kNoValue
            ? 0
            : static_cast<std::uint64_t>(window_rows_of(step, cut.rows)) * step.operand.box.row();
    return aligned(out) + aligned(operand);
}

Plan make_plan(const std::vector<Step>& steps, const std::map<ValueId, Home>& fixed,
               const std::map<ValueId, std::uint64_t>& bytes, const NpuTarget& target) {
    return Planner(steps, fixed, bytes, target).run();
}

}  // namespace lockstep::network::npu_code
