// SPDX-License-Identifier: Apache-2.0
// Whatever is asked of a controller: every command keeps to every rule, and every request is
// served.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <random>

#include "tests/models/memory/dram/drive.h"
#include "tests/models/memory/dram/trace_checker.h"

namespace lockstep::memory::dram {
namespace {

struct Load {
    ControllerParameters parameters;
    std::vector<Offered> requests;
};

/// Rows few or many, gaps none to longer than a refresh interval, any policy.
Load make_load(const Geometry& geometry, std::uint64_t seed, std::size_t count) {
    std::mt19937_64 random(seed);
    const auto pick = [&](std::uint64_t n) { return random() % n; };
    Load load;
    load.parameters.scheduler = pick(4) == 0 ? &fcfs() : &fr_fcfs();
    const RowPolicy* policies[] = {&open_rows(), &closed_rows(), &timeout_rows(), &adaptive_rows()};
    load.parameters.row_policy = policies[pick(std::size(policies))];
    load.parameters.row_timeout = 1 + pick(200);
    load.parameters.refresh = static_cast<RefreshPolicy>(pick(3));
    load.parameters.refresh_phase = static_cast<double>(pick(8)) / 8;
    load.parameters.read_queue = static_cast<std::uint32_t>(1 + pick(64));
    load.parameters.write_queue = static_cast<std::uint32_t>(2 + pick(63));
    load.parameters.write_high = static_cast<std::uint32_t>(1 + pick(load.parameters.write_queue));
    load.parameters.write_low = static_cast<std::uint32_t>(pick(load.parameters.write_high));
    load.parameters.write_burst = static_cast<std::uint32_t>(pick(32));
    load.parameters.starvation_cap = static_cast<std::uint32_t>(1 + pick(16));
    const std::uint64_t rows = 1 + pick(4), writes = pick(11), banks = 1 + pick(geometry.banks());
    const std::uint64_t pace = pick(3);
    Cycle at = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (pace > 0 && pick(4) == 0) at += pick(pace == 1 ? 40 : 600);
        if (pick(200) == 0) at += pick(4ull * geometry.timing.REFI);
        load.requests.push_back(
            {pick(10) < writes ? Direction::kWrite : Direction::kRead,
             {static_cast<std::uint32_t>(pick(banks)), static_cast<std::uint32_t>(pick(rows)), 0},
             at});
    }
    return load;
}

TEST(ControllerProperty, EveryCommandKeepsEveryRule) {
    for (const Standard& standard : standards()) {
        for (const std::uint32_t ranks : {1u, 2u}) {
            const Geometry geometry = make_geometry(
                standard, standard.organisation.width_bits,
                1'600'000 * standard.organisation.beats_per_clock / 4, ranks, 1ull << 30);
            EXPECT_TRUE(rc::check(std::string(standard.name), [&](std::uint64_t seed) {
                const Load load = make_load(geometry, seed, 600);
                Controller controller(geometry, load.parameters);
                std::vector<Command> trace;
                controller.record(&trace);
                const std::vector<Cycle> done = drive(controller, load.requests);
                const std::string wrong = check_trace(trace, geometry);
                if (!wrong.empty()) RC_FAIL(wrong);
                const Timing& t = geometry.timing;
                for (std::size_t i = 0; i < done.size(); ++i) {
                    const bool write = load.requests[i].direction == Direction::kWrite;
                    RC_ASSERT(done[i] >= load.requests[i].at + (write ? t.CWL : t.CL) + t.burst);
                }
                const Statistics& s = controller.statistics();
                RC_ASSERT(s.reads + s.writes == done.size());
                RC_ASSERT(s.row_hits + s.row_misses + s.row_conflicts == done.size());
                RC_ASSERT(s.bytes_read + s.bytes_written ==
                          done.size() * geometry.organisation.burst_bytes());
                std::uint64_t counted = 0;
                for (const std::uint64_t n : s.queue_latency.buckets) counted += n;
                RC_ASSERT(counted == done.size());
                if (load.parameters.refresh != RefreshPolicy::kNone) {
                    const Cycle end = *std::max_element(done.begin(), done.end());
                    RC_ASSERT(worst_refresh_gap(trace, geometry, end) < 1.6);
                }
            }));
        }
    }
}

TEST(ControllerProperty, CallingMoreOftenChangesNothing) {
    const Geometry geometry = make_geometry(find_preset("h200"));
    EXPECT_TRUE(rc::check([&](std::uint64_t seed) {
        const Load load = make_load(geometry, seed, 400);
        Controller by_event(geometry, load.parameters), by_cycle(geometry, load.parameters);
        std::vector<Command> a, b;
        by_event.record(&a);
        by_cycle.record(&b);
        const std::vector<Cycle> done = drive(by_event, load.requests);
        Cycle now = 0;
        for (std::size_t i = 0; i < load.requests.size(); ++i) {
            const Offered& request = load.requests[i];
            for (; now < request.at; ++now) by_cycle.advance(now + 1);
            while (!by_cycle.enqueue(request.direction, request.location, i, now))
                by_cycle.advance(++now);
        }
        while (by_cycle.waiting() > 0) by_cycle.advance(++now);
        std::vector<Cycle> stepped(done.size());
        for (const Completion& c : by_cycle.completions()) stepped[c.id] = c.cycle;
        RC_ASSERT(stepped == done);
        Statistics left = by_event.statistics(), right = by_cycle.statistics();
        RC_ASSERT(left == right);
    }));
}

TEST(ControllerProperty, ACopyGoesOnLikeTheOriginal) {
    const Geometry geometry = make_geometry(find_preset("rtx4090"));
    EXPECT_TRUE(rc::check([&](std::uint64_t seed) {
        const Load load = make_load(geometry, seed, 300);
        Controller original(geometry, load.parameters);
        for (std::size_t i = 0; i < 100; ++i)
            original.enqueue(load.requests[i].direction, load.requests[i].location, i,
                             load.requests[i].at);
        Controller copy = original;
        copy.clear_completions();
        original.clear_completions();
        RC_ASSERT(drive(original, load.requests) == drive(copy, load.requests));
        RC_ASSERT(original.statistics() == copy.statistics());
    }));
}

}  // namespace
}  // namespace lockstep::memory::dram
