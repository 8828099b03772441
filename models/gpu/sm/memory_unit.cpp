// SPDX-License-Identifier: Apache-2.0
// An SM's memory pipeline: global and local accesses pass the L1's tags, shared memory and shuffles
// go straight to the data stage that both have in common, indexed constants to the address
// divergence unit. One instruction enters at a time. What passes the tags waits for its data and
// for the data stage in a deep queue; the others find a short one, or wait where they come from.
#include "models/gpu/sm/memory_unit.h"

#include <algorithm>

#include "isa/sass/cluster.h"
#include "models/gpu/sm/address_divergence_unit.h"
#include "models/gpu/sm/l1_pipeline.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

class MemoryUnit::Implementation {
  public:
    Implementation(const config::Machine& machine, std::uint16_t sm, std::uint64_t shared_bytes,
                   MemoryPort& port, MemoryListener& listener, MemoryCounters& counters,
                   StageShare& share)
        : p_(machine),
          listener_(listener),
          counters_(counters),
          data_(p_.sub_cores, divide_up(sass::kWarpSize * 4, p_.return_width), share),
          shared_(p_, data_, counters),
          adu_(p_),
          l1_(p_, sm, p_.l1_bytes - std::min(p_.l1_bytes, shared_bytes), port, listener, counters,
              data_, shared_) {}

    Cycle next_accept(Cycle now, MemoryOperation operation) const {
        const Entrance by = entrance(operation);
        if (by == kRegisters) return std::max(now, registers_from_);
        if (by == kConstants) return std::max(now, adu_.free_from());
        if (l1_.is_blocked()) return kNever;
        Cycle free = std::max({now, accept_from_, l1_.free_from()});
        if (passes_adu(operation)) free = std::max(free, adu_.free_from());
        if (operation == MemoryOperation::kTexture) free = std::max(free, l1_.texture_free_from());
        // What returns by the queue passes the tags; others enter only where the data stage has
        // little before it.
        if (has<kReturnsByQueue>(operation)) return l1_.is_full() ? kNever : free;
        return std::max(free, data_.free_from(p_.data_queue << data_.l1_went_last()));
    }

    void accept(Cycle now, const MemoryInstruction& in) {
        if (entrance(in.info->operation) == kLoadStore) {
            LOCKSTEP_CHECK(!l1_.is_blocked(), "the memory unit stands still at cycle {}", now);
            accept_from_ =
                now + (in.info->operation == MemoryOperation::kShuffle ? p_.shuffle_interval
                                                                       : p_.request_interval);
            if (!has<kReturnsByQueue>(in.info->operation)) data_.note_turn(false);
        }
        listener_.sources_read(sources_read(now, in), in);
        if (in.is_remote) [[unlikely]] {
            data_.occupy(now, p_.wavefront_cycles);
            return listener_.remote_accepted(now, in);
        }
        switch (row(in.info->operation).way) {
            case MemoryWay::kLoad:
                return l1_.load(now, in);
            case MemoryWay::kStore:
                return l1_.store(now, in);
            case MemoryWay::kAtomic:
                return l1_.atomic(now, in);
            case MemoryWay::kBulkCopy:
                return l1_.bulk_copy(now, in);
            case MemoryWay::kAdu:
                return enter_adu(now, in);
            case MemoryWay::kRegister:
                return read_register(now, in);
            case MemoryWay::kShared:
                return listener_.written_back(shared_.access(now, in), in);
        }
    }

    /// Neither what L1 nor what the data stage does holds up what enters apart.
    Entrance entrance(MemoryOperation operation) const {
        if (row(operation).way == MemoryWay::kRegister) return kRegisters;
        return p_.constant_port && passes_adu(operation) ? kConstants : kLoadStore;
    }

    void read_register(Cycle now, const MemoryInstruction& in) {
        registers_from_ = now + p_.special_register_cycles;
        listener_.written_back(now + p_.timing(*in.info).result, in);
    }

    void enter_adu(Cycle now, const MemoryInstruction& in) {
        const Cycle at = adu_.take(now, in);
        if (at != kNever) listener_.written_back(at, in);
    }

    void constants_arrived(Cycle now, std::uint16_t number) {
        if (const auto done = adu_.arrived(now, number))
            listener_.written_back(done->at, done->instruction);
    }

    Cycle serve_remote(Cycle now, const sass::RemoteOperation& operation) {
        return shared_.serve(now, operation);
    }

    Cycle return_remote(Cycle now, const MemoryInstructionHeader& in) {
        return data_.finish({.ready = now,
                             .data_cycles = p_.wavefront_cycles,
                             .latency = p_.timing(*in.info).result,
                             .sub_core = in.sub_core,
                             .way = DataPath::Way::kShared});
    }

    Cycle read_operands(Cycle now, unsigned wavefronts) {
        const unsigned cycles = wavefronts * p_.wavefront_cycles;
        counters_.data_busy += cycles;
        return data_.occupy(now, cycles) + cycles;
    }

    AddressDivergenceUnit& adu() { return adu_; }
    L1Pipeline& l1() { return l1_; }
    const L1Pipeline& l1() const { return l1_; }

  private:
    /// Wide data take longer to come from the registers than 32 bits a lane.
    Cycle sources_read(Cycle now, const MemoryInstruction& in) const {
        Cycle at = now + p_.timing(*in.info).sources;
        if (has<kReadsData>(in.info->operation)) {
            const unsigned width = std::max<unsigned>({in.access.width, in.info->width, 4});
            at += divide_up(width * sass::kWarpSize, p_.source_width) -
                  divide_up(4 * sass::kWarpSize, p_.source_width);
        }
        return at;
    }

    const MemoryUnitParameters p_;
    MemoryListener& listener_;
    MemoryCounters& counters_;
    DataPath data_;
    SharedMemory shared_;
    AddressDivergenceUnit adu_;
    L1Pipeline l1_;
    Cycle accept_from_ = 0, registers_from_ = 0;
};

MemoryUnit::MemoryUnit(const config::Machine& machine, std::uint16_t sm, std::uint64_t shared_bytes,
                       MemoryPort& port, MemoryListener& listener, MemoryCounters& counters,
                       StageShare& share)
    : implementation_(std::make_unique<Implementation>(machine, sm, shared_bytes, port, listener,
                                                       counters, share)) {}
MemoryUnit::~MemoryUnit() = default;

Cycle MemoryUnit::next_accept(Cycle now, MemoryOperation operation) const {
    return implementation_->next_accept(now, operation);
}
MemoryUnit::Entrance MemoryUnit::entrance(MemoryOperation operation) const {
    return implementation_->entrance(operation);
}
void MemoryUnit::accept(Cycle now, const MemoryInstruction& instruction) {
    implementation_->accept(now, instruction);
}
Cycle MemoryUnit::read_operands(Cycle now, unsigned wavefronts) {
    return implementation_->read_operands(now, wavefronts);
}
std::uint16_t MemoryUnit::await_constants() {
    return implementation_->adu().await();
}
void MemoryUnit::await_constants(std::uint16_t number) {
    implementation_->adu().await(number);
}
void MemoryUnit::constants_arrived(Cycle now, std::uint16_t number) {
    implementation_->constants_arrived(now, number);
}
Cycle MemoryUnit::serve_remote(Cycle now, const sass::RemoteOperation& operation) {
    return implementation_->serve_remote(now, operation);
}
Cycle MemoryUnit::return_remote(Cycle now, const MemoryInstructionHeader& instruction) {
    return implementation_->return_remote(now, instruction);
}
void MemoryUnit::advance(Cycle now) {
    implementation_->l1().advance(now);
}
Cycle MemoryUnit::next_event() const {
    return implementation_->l1().next_event();
}
L1Queues MemoryUnit::queues() const {
    return implementation_->l1().queues();
}
bool MemoryUnit::idle() const {
    return implementation_->l1().idle();
}
void MemoryUnit::invalidate_l1() {
    implementation_->l1().invalidate();
}

}  // namespace lockstep::gpu
