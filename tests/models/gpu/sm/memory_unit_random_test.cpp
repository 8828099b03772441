// SPDX-License-Identifier: Apache-2.0
// Any mix of instructions ends, each exactly once, however the memory side answers and however few
// entries there are.
#include <algorithm>
#include <deque>
#include <random>

#include "memory_unit_fixture.h"

namespace lockstep::gpu {

namespace {

using enum MemoryOperation;

/// Answers after random times, in any order, reads also sector by sector; refuses now and then.
class RandomPort : public MemoryPort {
  public:
    explicit RandomPort(unsigned seed) : random_(seed) {}
    bool send(Cycle now, const MemoryRequest& request) override {
        if (now < refuse_until_) return false;
        if (random_() % 4 == 0) {
            refuse_until_ = now + 1 + random_() % 20;
            return false;
        }
        if (request.kind == RequestKind::kRead && random_() % 2 == 0) {
            for (unsigned s = 0; s < kSectorsPerLine; ++s)
                if (request.sectors >> s & 1)
                    reply(now, request, static_cast<std::uint8_t>(1u << s));
        } else {
            reply(now, request, request.sectors);
        }
        return true;
    }
    Cycle next_send(Cycle now, const MemoryRequest&) override {
        return std::max(now, refuse_until_);
    }
    Cycle next_reply() const override {
        return replies_.empty() ? kNever : replies_.begin()->first;
    }
    MemoryReply receive(Cycle) override {
        const MemoryReply first = replies_.begin()->second;
        replies_.erase(replies_.begin());
        return first;
    }

  private:
    void reply(Cycle now, const MemoryRequest& request, std::uint8_t sectors) {
        replies_.emplace(now + 1 + random_() % 300, MemoryReply{request.id, request.kind, sectors});
    }
    std::mt19937 random_;
    std::multimap<Cycle, MemoryReply> replies_;
    Cycle refuse_until_ = 0;
};

class RandomMix : public MemoryUnitTest {
  protected:
    void run(unsigned seed, std::vector<std::string> overrides) {
        std::mt19937 random(seed);
        std::deque<sass::AsyncCopy> copies;
        RandomPort random_port(seed);
        machine = config::Machine::load("h200", overrides);
        unit = std::make_unique<MemoryUnit>(*machine, 0, 250 * 1024, random_port, core, counters,
                                            share);
        constexpr MemoryOperation kOperations[] = {
            kLoadGlobal,  kStoreGlobal,  kAtomicGlobal, kReductionGlobal, kLoadShared,
            kStoreShared, kAtomicShared, kLoadMatrix,   kLoadLocal,       kStoreLocal,
            kCopyAsync,   kLoadConstant, kShuffle,      kBulkCopy};
        constexpr unsigned kInstructions = 1500;
        for (unsigned i = 0; i < kInstructions; ++i) {
            const MemoryOperation operation = kOperations[random() % std::size(kOperations)];
            const unsigned width =
                operation == kLoadMatrix || operation == kBulkCopy ? 16 : 4u << random() % 3;
            const unsigned step = width << random() % 6;
            const std::uint64_t base = random() % 64 * 512;
            const bool scattered = random() % 4 == 0;
            const auto address = [&](unsigned l) -> std::uint64_t {
                return base + (scattered ? random() % 512 * width : l * std::uint64_t{step});
            };
            MemoryInstruction in =
                instruction(operation, width, address, random() % 8 == 0 ? random() : ~0u);
            MemoryInstructionInfo& info = info_of(in);
            info.matrices = 4;
            info.is_strong = random() % 16 == 0;
            info.is_uniform_address = random() % 4 == 0;
            info.priority = static_cast<EvictionPriority>(random() % 5);
            in.warp = static_cast<std::uint16_t>(random() % 64);
            in.sub_core = static_cast<std::uint8_t>(in.warp % 4);
            sass::AsyncCopy& copy = copies.emplace_back();
            copy.kind = random() % 2 == 0 ? sass::CopyKind::kStore : sass::CopyKind::kLoad;
            copy.global = base;
            copy.bytes = random() % 100 * 16;
            if (operation == kBulkCopy) in.copy = &copy;
            const Cycle at = offer(in, 0);
            ASSERT_NE(at, kNever) << "instruction " << i;
            ASSERT_GE(core.read.at(in.code_index), at);
            if (random() % 100 == 0) unit->invalidate_l1();
        }
        drain();
        EXPECT_TRUE(unit->idle());
        EXPECT_EQ(core.written.size(), kInstructions);
        EXPECT_EQ(core.under_way, 0u);
    }
};

TEST_F(RandomMix, WithPlenty) {
    run(1, {});
}
TEST_F(RandomMix, WithFewEntries) {
    run(2, {"l1.miss_entries=2", "memory_unit.pending_requests=2", "l1.miss_queue=1",
            "memory_unit.tlb_entries=1", "memory_unit.bulk_copy_requests=1"});
}
TEST_F(RandomMix, WithoutTlb) {
    run(3, {"memory_unit.tlb_entries=0", "l1.miss_entries=1"});
}

}  // namespace

}  // namespace lockstep::gpu
