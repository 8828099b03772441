// SPDX-License-Identifier: Apache-2.0
// The time line of a host and its chips: what has been submitted, in the order in which it may
// begin, on the resources that there are.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/system/transfer_engines.h"
#include "models/system/usage.h"

namespace lockstep::system {

/// Deterministic: the same calls lead to the same times.
class Scheduler final : public Timeline {
  public:
    Scheduler(const config::Machine& machine, Processor& processor)
        : Scheduler(machine, std::vector{&processor}) {}
    /// Several chips of a kind: the devices 0, 1, ... of the work.
    Scheduler(const config::Machine& machine, std::vector<Processor*> processors);

    StreamId open_stream(const StreamOptions& options) override;
    void close_stream(StreamId stream) override;
    void set_priority(StreamId stream, int priority) override;
    WorkId submit(StreamId stream, Work work, const std::vector<WorkId>& after,
                  Submission how) override;
    void spend(HostAction action) override;
    void poll() override;
    bool is_done(WorkId work) const override { return !items_.contains(work); }
    bool is_idle(StreamId stream) const override;
    bool step() override;
    void resume_host() override;
    bool is_stuck() const override;
    std::string explain_wait() const override;
    SimulatedTime now() const override { return host_now_; }
    std::string report() const override;

  private:
    struct Item {
        StreamId stream = kNoStream;
        Work work;
        Submission how = Submission::kByItself;
        int priority = 0;
        unsigned waits = 0;  ///< pieces of work that it follows and that have not ended
        std::vector<WorkId> followers;
        std::vector<WorkId> dependents;  ///< that begin when its CTAs have triggered them
        bool has_triggered = false;
        SimulatedTime begin = 0;
        SimulatedTime ready = 0;  ///< the device has seen it, and what it follows has ended
    };
    struct Stream {
        StreamOptions options;
        WorkId last = 0;
        bool is_closed = false;
    };

    std::size_t grids() const;
    /// Lets the chips go on; what has ended. Returns how far they have come.
    SimulatedTime run(SimulatedTime until, std::vector<GridEnd>& ended);
    static unsigned device_of(const Work& work);
    /// Lets the chips' memory know of a transfer that begins.
    void carry(WorkId work, const TransferWork& transfer, SimulatedTime end);
    /// Transfers that were to end by now, but whose traffic kernels have held up, end later.
    void postpone_transfers();
    SimulatedTime gap(const Item& item) const;
    void spend_host(SimulatedTime time, const std::string& what);
    void trace(const Item& item, SimulatedTime end);
    SimulatedTime spend_on(const Work& work);
    void follow(WorkId work, Item& item, WorkId earlier);
    /// After the last of its stream: its end, or, where the launch is programmatic, its trigger.
    void follow_last(WorkId work, Item& item, WorkId last);
    void trigger(WorkId work, SimulatedTime at);
    /// Lets the device go on by an event or a bounded step, not past `until`. False where it
    /// cannot.
    bool advance(SimulatedTime until);
    /// Ends and starts what is to end and start by now.
    void settle();
    bool start_what_can();
    bool start(WorkId work, Item& item);
    void end(WorkId work, SimulatedTime at);
    SimulatedTime next_event() const;

    const std::vector<Processor*> processors_;
    const HostLink link_;
    const HostParameters host_;
    std::vector<TransferEngines> engines_;  ///< by device, as the following
    std::vector<Usage> usage_;
    std::vector<StreamId> default_streams_;

    std::map<StreamId, Stream> streams_;
    StreamId next_stream_ = kDefaultStream + 1;
    std::map<WorkId, Item> items_;  ///< that have not ended
    WorkId next_work_ = 1;
    std::set<std::pair<SimulatedTime, WorkId>> ready_;  ///< by the time from which they may begin
    std::set<std::pair<SimulatedTime, WorkId>> ends_;   ///< of what runs, where known
    std::unordered_map<WorkId, LaunchResult> results_;  ///< of kernels that are about to end
    unsigned calls_ = 0;                                ///< functions of the program under way
    SimulatedTime now_ = 0;                             ///< of the device
    SimulatedTime host_now_ = 0;
};

}  // namespace lockstep::system
