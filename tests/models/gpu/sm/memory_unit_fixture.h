// SPDX-License-Identifier: Apache-2.0
// A memory unit with a memory side that answers after a fixed time, and a core that listens.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isa/sass/tma/copy.h"
#include "models/gpu/sm/memory_unit.h"
#include "models/gpu/sm/stage_share.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

/// Answers every request `latency` cycles later; reads with one reply.
class FakePort : public MemoryPort {
  public:
    explicit FakePort(Cycle cycles) : latency(cycles) {}
    bool send(Cycle now, const MemoryRequest& request) override {
        if (now < refuse_until) return false;
        sent.push_back({now, request});
        const Reply reply{now + latency, {request.id, request.kind, request.sectors}};
        replies_.insert(
            std::upper_bound(replies_.begin(), replies_.end(), reply,
                             [](const Reply& a, const Reply& b) { return a.at < b.at; }),
            reply);
        return true;
    }
    Cycle next_send(Cycle, const MemoryRequest&) override {
        return knows_when ? refuse_until : kNever;
    }
    Cycle next_reply() const override { return replies_.empty() ? kNever : replies_.front().at; }
    MemoryReply receive(Cycle now) override {
        EXPECT_LE(replies_.front().at, now);
        const MemoryReply reply = replies_.front().reply;
        replies_.pop_front();
        return reply;
    }
    struct Sent {
        Cycle at;
        MemoryRequest request;
    };
    std::vector<Sent> sent;
    Cycle latency;  ///< of requests from now on
    Cycle refuse_until = 0;
    bool knows_when = true;

  private:
    struct Reply {
        Cycle at;
        MemoryReply reply;
    };
    std::deque<Reply> replies_;
};

/// Notes the cycles by the instruction's code_index.
class FakeCore : public MemoryListener {
  public:
    void sources_read(Cycle at, const MemoryInstructionHeader& in) override {
        read[in.code_index] = at;
    }
    void written_back(Cycle at, const MemoryInstructionHeader& in) override {
        EXPECT_FALSE(written.contains(in.code_index)) << in.code_index;
        written[in.code_index] = at;
    }
    void sent(Cycle at, const MemoryInstructionHeader& in) override {
        left[in.code_index] = at;
        ++under_way;
    }
    void performed(Cycle at, const MemoryInstructionHeader& in) override {
        --under_way;
        written_back(at, in);
    }
    unsigned under_way = 0;  ///< stores and reductions
    std::map<std::uint32_t, Cycle> read, written, left;
};

class MemoryUnitTest : public testing::Test {
  protected:
    static constexpr Cycle kMemoryLatency = 200;

    void make(const std::string& name = "rtx3090", std::vector<std::string> overrides = {},
              std::uint64_t shared_bytes = 8 * 1024) {
        machine = config::Machine::load(name, overrides);
        unit = std::make_unique<MemoryUnit>(*machine, 3, shared_bytes, port, core, counters, share);
    }

    MemoryInstruction instruction(MemoryOperation operation, unsigned width,
                                  const std::function<std::uint64_t(unsigned)>& address,
                                  std::uint32_t lanes = ~0u) {
        MemoryInstructionInfo& info = infos.emplace_back();
        info.operation = operation;
        info.width = static_cast<std::uint8_t>(width);
        MemoryInstruction in;
        in.info = &info;
        in.code_index = next_++;
        in.access.width = info.width;
        in.access.lanes = lanes;
        switch (operation) {
            case MemoryOperation::kLoadLocal:
            case MemoryOperation::kStoreLocal:
                in.access.space = sass::Space::kLocal;
                break;
            case MemoryOperation::kLoadShared:
            case MemoryOperation::kStoreShared:
            case MemoryOperation::kAtomicShared:
            case MemoryOperation::kLoadMatrix:
                in.access.space = sass::Space::kShared;
                break;
            default:
                break;
        }
        for (unsigned l = 0; l < sass::kWarpSize; ++l) in.access.address[l] = address(l);
        return in;
    }
    MemoryInstructionInfo& info_of(const MemoryInstruction& in) {
        return const_cast<MemoryInstructionInfo&>(*in.info);
    }

    /// Offers the instruction from `from` on; returns the cycle at which it was accepted.
    Cycle offer(const MemoryInstruction& in, Cycle from) {
        Cycle now = std::max(from, now_);
        for (;;) {
            const Cycle accept = unit->next_accept(now, in.info->operation);
            const Cycle event = unit->next_event();
            if (accept != kNever && accept <= event) {
                now_ = accept;
                unit->accept(accept, in);
                return accept;
            }
            EXPECT_NE(event, kNever) << "stands still for ever";
            if (event == kNever) return kNever;
            now = now_ = std::max(now, event);
            unit->advance(now);
        }
    }
    void drain() {
        while (!unit->idle()) {
            ASSERT_NE(unit->next_event(), kNever) << "not idle, but nothing to come";
            now_ = std::max(now_, unit->next_event());
            unit->advance(now_);
        }
    }
    /// From acceptance to the result, of one instruction by itself.
    Cycle time(const MemoryInstruction& in) {
        const Cycle start = offer(in, now_ + 1000);
        drain();
        return core.written.at(in.code_index) - start;
    }

    std::shared_ptr<const config::Machine> machine;
    FakePort port{kMemoryLatency};
    FakeCore core;
    MemoryCounters counters;
    StageShare share, other_share;  ///< the other: of another SM
    std::unique_ptr<MemoryUnit> unit;
    std::deque<MemoryInstructionInfo> infos;
    std::uint32_t next_ = 0;
    Cycle now_ = 0;
};

}  // namespace lockstep::gpu
