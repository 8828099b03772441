// SPDX-License-Identifier: Apache-2.0
// A slice of L2: tags, the table of lines that it waits for (MSHRs), the atomic unit.
#pragma once

#include <array>
#include <bit>

#include "models/gpu/memory/crossbar_port.h"
#include "models/gpu/memory/l2_tags.h"
#include "models/gpu/memory/request_coalescer.h"
#include "models/gpu/memory/resident_lines.h"
#include "models/gpu/memory/ring.h"
#include "models/gpu/metrics/counters.h"
#include "models/transfer.h"

namespace lockstep::gpu {

/// Who gets the answer: an SM by its link to the partition, or the slice's peer.
inline constexpr std::uint16_t kPeerLink = 0xffff;

struct SliceRequest {
    engine::Cycle at = 0;  ///< arrival
    RoutedRequest routed;
    std::uint16_t link = 0;  ///< of the SM that asks, at its near partition
    bool from_peer = false;
    std::uint8_t gpc = kNoGpc;                      ///< of the SM that asks
    std::uint32_t key = 0, set = 0;                 ///< L2Tags', known to the slice
    std::uint32_t entry = RequestCoalescer::kNone;  ///< likewise: of reads that others may follow
    bool is_taken = false;                          ///< by the slice; it may wait for room since
};

/// Between a slice and the one with the same number in the other L2 partition.
struct PeerMessage {
    enum class Type : std::uint8_t {
        kRequest,     ///< to the home; a read's id is the sender's MSHR
        kFill,        ///< answers a read
        kAnswer,      ///< answers another request: pass it on to the SM
        kInvalidate,  ///< from the home: the copy is out of date
    };
    Type type = Type::kRequest;
    std::uint16_t link = 0;
    RoutedRequest routed;
};

/// What a slice calls. Times are cycles of the slice's work; they never decrease for one slice.
class SliceSurroundings {
  public:
    virtual ~SliceSurroundings() = default;
    virtual void reply(engine::Cycle at, std::uint32_t slice, std::uint16_t link,
                       const MemoryReply& reply) = 0;
    virtual void send_to_peer(engine::Cycle at, const PeerMessage& message) = 0;
    /// Answered by L2Slice::fill() with the MSHR; kNoMshr: no answer is needed.
    virtual void read_dram(engine::Cycle at, std::uint32_t slice, std::uint64_t line,
                           std::uint8_t sectors, std::uint16_t mshr) = 0;
    /// Answered by L2Slice::written().
    virtual void write_dram(engine::Cycle at, std::uint32_t slice, std::uint64_t line,
                            std::uint8_t sectors) = 0;
};

class L2Slice {
  public:
    /// `number`: of the L2 partition's slices.
    L2Slice(const MemoryParameters& parameters, const LineMap& map, std::uint32_t l2_partition,
            std::uint32_t number, SliceSurroundings& surroundings, PartitionCounters& counters);

    /// Requests come in the order of their arrival, never before the cycle that was advanced to.
    void request(SliceRequest request) {
        request.key = L2Tags::key(request.routed.index, request.routed.home);
        const MemoryRequest& asked = request.routed.request;
        if (!request.from_peer && asked.kind == RequestKind::kRead)
            counters_.sectors_to_gpcs += static_cast<std::uint32_t>(std::popcount(asked.sectors));
        request.set = tags_.set(request.key);
        tags_.prefetch(request.set);
        input_[request.from_peer].queue.push(request);
    }
    /// Sectors of a line that an MSHR waits for are here.
    void fill(engine::Cycle at, std::uint16_t mshr, std::uint8_t sectors) {
        tags_.prefetch_line(mshrs_[mshr].slot);
        waiters_.prefetch(mshrs_[mshr].first_waiter);
        event({.at = at, .mshr = mshr, .sectors = sectors});
    }
    /// Sectors have been written to DRAM.
    void written(engine::Cycle at, std::uint8_t sectors) { event({.at = at, .sectors = sectors}); }
    /// The home has a newer version than a copy here.
    void invalidate(engine::Cycle at, std::uint32_t key) { event({.at = at, .key = key}); }

    /// Does what happens before cycle `until`.
    void advance(engine::Cycle until);
    engine::Cycle next_event() const {
        return std::min({next_request(input_[0]), next_request(input_[1]), next_return()});
    }
    bool idle() const {
        return input_[0].queue.empty() && input_[1].queue.empty() && events_.empty() &&
               free_mshrs_.size() == mshrs_.size() && writing_ == 0;
    }
    /// Requests that wait for the tags.
    std::size_t queue() const { return input_[0].queue.size() + input_[1].queue.size(); }
    /// Lines that it waits for.
    std::size_t misses() const { return mshrs_.size() - free_mshrs_.size(); }
    void clear() { tags_.clear(); }
    /// Lines that are here when a kernel begins although nothing has brought them; null: none.
    void set_resident(const ResidentLines* lines) { resident_ = lines; }
    /// Whether it has all of a line of its own.
    bool holds(std::uint64_t line, const LinePlace& place) const;
    /// Holds a line of its own from now on, without a request; true where another was written back.
    bool place(engine::Cycle now, const LinePlace& place);
    /// A transfer has passed on a line of its own, in no time.
    void pass(const LinePlace& place, Transfer transfer);
    /// The peer has written a line of its own, in no time.
    void drop_copy(const LinePlace& place) { drop_copy(key_of(place)); }
    /// SM cycles in which the busier one of tags and data stage was used.
    std::uint64_t busy_cycles() const {
        return std::max(lookups_ * parameters_.lookup, data_used_) / kFraction;
    }

  private:
    struct Event {
        engine::Cycle at = 0;
        std::uint16_t mshr = kNoMshr;  ///< a fill; kNoMshr: see key
        std::uint8_t sectors = 0;
        std::uint32_t key = L2Tags::kNone;  ///< a copy to drop; kNone: sectors have been written
    };
    struct Mshr {
        std::uint32_t slot = 0;
        std::uint8_t pending = 0;  ///< sectors that have been asked for
        bool of_copy = false;
        std::uint32_t first_waiter = L2Tags::kNone, last_waiter = L2Tags::kNone;
    };
    struct Waiter {
        SliceRequest request;
        std::uint8_t missing = 0;
        std::uint32_t next = L2Tags::kNone;
    };

    struct Input {
        Ring<SliceRequest> queue;
        bool blocked = false;  ///< the oldest waits for an event
    };

    void event(const Event& event) {
        events_.push_sorted(event, [](const Event& a, const Event& b) { return a.at < b.at; });
    }
    engine::Cycle next_return() const {
        return events_.empty() ? engine::kNever : events_.front().at;
    }
    engine::Cycle next_request(const Input& input) const;
    static std::uint32_t key_of(const LinePlace& place) {
        return L2Tags::key(place.index, place.l2_partition);
    }
    bool is_home(const SliceRequest& request) const { return request.routed.home == partition_; }

    void handle(engine::Cycle now, const Event& event);
    bool follows_another(engine::Cycle now, SliceRequest& request);
    // False where the request has to wait for an event.
    bool handle(engine::Cycle now, const SliceRequest& request);
    void handle_ideal(engine::Cycle now, const SliceRequest& request);  // ideal_l2.cpp
    bool read(engine::Cycle now, const SliceRequest& request);
    bool write(engine::Cycle now, const SliceRequest& request);
    engine::Cycle write_time(const MemoryRequest& asked) const;
    std::uint8_t note_written(std::uint32_t slot, const L2Line& line, const MemoryRequest& asked);
    bool pass_to_home(engine::Cycle now, const SliceRequest& request);
    bool allocate(engine::Cycle now, const SliceRequest& request, std::uint32_t& slot);
    bool was_resident(const SliceRequest& request) const {
        if (resident_ == nullptr) return false;
        const std::uint64_t line = request.routed.request.line;
        return is_home(request) ? resident_->holds(line) : resident_->holds_copy(line);
    }
    bool evict(engine::Cycle now, std::uint32_t slot);
    void write_back(engine::Cycle now, std::uint32_t slot);
    void fetch(engine::Cycle now, const SliceRequest& request, Mshr& mshr, std::uint8_t missing);
    void serve(engine::Cycle now, const SliceRequest& request, L2Line& line);
    void answer(engine::Cycle now, const SliceRequest& request);
    void recall_copy(engine::Cycle now, const SliceRequest& request, L2Line& line);
    void drop_copy(std::uint32_t key);
    void note_use(const SliceRequest& request, std::uint32_t slot);
    /// Takes the data stage, in its turn, which is returned; `duration` in 256ths.
    engine::Cycle occupy(engine::Cycle now, engine::Cycle duration) {
        data_used_ += duration;
        return data_.occupy(now, duration);
    }
    /// To the peer, over the link, in their turn; `sectors` are those whose data it takes along.
    void send_to_peer(engine::Cycle now, const PeerMessage& message, std::uint8_t sectors = 0);
    bool takes_data_to_peer(const SliceRequest& request) const;

    const MemoryParameters& parameters_;
    const LineMap& map_;
    const std::uint32_t partition_, number_;
    SliceSurroundings& surroundings_;
    PartitionCounters& counters_;

    RequestCoalescer coalescer_;
    L2Tags tags_;
    const ResidentLines* resident_ = nullptr;
    std::vector<std::uint64_t> written_;  ///< of partial sectors, by slot; none before the first
    std::vector<Mshr> mshrs_;
    std::vector<std::uint16_t> free_mshrs_;
    SlotPool<Waiter> waiters_;
    /// From SMs, and from the peer: what the peer asks of a home must not wait behind requests that
    /// wait for the peer.
    std::array<Input, 2> input_;
    std::uint32_t waiting_for_peer_ = 0;  ///< MSHRs
    Ring<Event> events_;
    Server data_, link_;
    engine::Cycle data_used_ = 0;  ///< in 256ths
    engine::Cycle looked_up_ = 0;  ///< in 256ths: when the tags are free
    std::uint64_t lookups_ = 0;
    engine::Cycle not_before_ = 0;
    std::uint32_t writing_ = 0;  ///< sectors on their way to DRAM
};

}  // namespace lockstep::gpu
