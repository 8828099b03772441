// SPDX-License-Identifier: Apache-2.0
// Two clocks: the host's, which calls and waiting move, and the device's, which follows as far as
// somebody asks. Work may begin when the device has seen it (a launch latency after the call), what
// it follows has ended (and the front end has noticed), and its engine is free or the chip takes
// one more kernel. Events are taken in the order of time, then of submission.
#include "models/system/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "isa/cubin/demangle.h"

namespace lockstep::system {

namespace {

constexpr SimulatedTime kNever = std::numeric_limits<SimulatedTime>::max();
constexpr std::size_t kLines = 16;

std::string name_of(const Work& work) {
    if (const auto* kernel = std::get_if<KernelWork>(&work))
        return "kernel " + cubin::demangled(kernel->request.kernel);
    if (const auto* transfer = std::get_if<TransferWork>(&work))
        return fmt::format("{} of {} bytes", transfer->kind == TransferKind::kFill ? "set" : "copy",
                           transfer->bytes);
    return std::holds_alternative<HostWork>(work) ? "host function" : "event";
}

}  // namespace

Scheduler::Scheduler(const config::Machine& machine, std::vector<Processor*> processors)
    : processors_(std::move(processors)),
      link_(HostLink::of(machine)),
      host_(HostParameters::of(machine)),
      usage_(processors_.size()),
      default_streams_(processors_.size(), kNoStream) {
    for (Processor* const processor : processors_) engines_.emplace_back(link_, host_, *processor);
    streams_[kDefaultStream] = {};
    default_streams_.front() = kDefaultStream;
}

unsigned Scheduler::device_of(const Work& work) {
    if (const auto* kernel = std::get_if<KernelWork>(&work)) return kernel->device;
    if (const auto* transfer = std::get_if<TransferWork>(&work)) return transfer->device;
    return 0;
}

std::size_t Scheduler::grids() const {
    std::size_t sum = 0;
    for (const Processor* const processor : processors_) sum += processor->grids();
    return sum;
}

std::string Scheduler::report() const {
    if (usage_.size() == 1) return usage_.front().report(host_now_);
    std::string text;
    for (std::size_t i = 0; i < usage_.size(); ++i)
        text += usage_[i].report(host_now_, static_cast<int>(i));
    return text;
}

StreamId Scheduler::open_stream(const StreamOptions& options) {
    streams_[next_stream_] = {.options = options};
    if (options.is_default) default_streams_.at(options.device) = next_stream_;
    return next_stream_++;
}

void Scheduler::close_stream(StreamId stream) {
    streams_.at(stream).is_closed = true;
}

void Scheduler::set_priority(StreamId stream, int priority) {
    streams_.at(stream).options.priority = priority;
}

void Scheduler::spend_host(SimulatedTime time, const std::string& what) {
    Processor& first = *processors_.front();
    if (first.is_traced()) first.trace("host", what, host_now_, host_now_ + time);
    host_now_ += time;
    usage_.front().add_host(time);
}

void Scheduler::spend(HostAction action) {
    if (action == HostAction::kGraphLaunch)
        spend_host(host_.graph_call, "launch a graph");
    else
        spend_host(host_.call, "call");
}

/// What the call costs that submits the work, and when the device can see it at the earliest.
SimulatedTime Scheduler::spend_on(const Work& work) {
    const std::string name = processors_.front()->is_traced() ? "submit " + name_of(work) : "";
    const auto* transfer = std::get_if<TransferWork>(&work);
    if (transfer == nullptr) {
        spend_host(std::holds_alternative<KernelWork>(work) ? host_.launch_call : host_.call, name);
        return host_now_;
    }
    spend_host(host_.copy_call, name);
    const SimulatedTime submitted = host_now_;
    // What is staged goes out while the host does so; what goes within the command, after it.
    const TransferEngines& engines = engines_.at(transfer->device);
    if (const SimulatedTime staging = engines.host_time(*transfer); staging != 0)
        spend_host(staging, "stage pageable memory");
    return engines.is_inline(*transfer) ? host_now_ : submitted;
}

void Scheduler::follow(WorkId work, Item& item, WorkId earlier) {
    const auto at = items_.find(earlier);
    if (at == items_.end() || earlier == work) return;
    at->second.followers.push_back(work);
    ++item.waits;
}

void Scheduler::follow_last(WorkId work, Item& item, WorkId last) {
    const auto at = items_.find(last);
    if (at == items_.end()) return;
    auto* const ahead = std::get_if<KernelWork>(&at->second.work);
    auto* const kernel = std::get_if<KernelWork>(&item.work);
    if (ahead == nullptr || kernel == nullptr || !kernel->request.programmatic) {
        follow(work, item, last);
        // What is ahead may end before what it was to follow.
        if (ahead != nullptr && ahead->prerequisite != 0) follow(work, item, ahead->prerequisite);
        return;
    }
    kernel->prerequisite = last;
    if (at->second.has_triggered) return;
    at->second.dependents.push_back(work);
    ++item.waits;
}

void Scheduler::trigger(WorkId work, SimulatedTime at) {
    Item& item = items_.at(work);
    item.has_triggered = true;
    for (const WorkId dependent : item.dependents) {
        Item& next = items_.at(dependent);
        next.ready = std::max(next.ready, at);
        if (--next.waits == 0) ready_.insert({next.ready, dependent});
    }
    item.dependents.clear();
}

WorkId Scheduler::submit(StreamId stream, Work work, const std::vector<WorkId>& after,
                         Submission how) {
    if (auto* kernel = std::get_if<KernelWork>(&work)) {
        kernel->request.parameters = kernel->parameters;
        processors_.at(kernel->device)->check(kernel->request);
    }
    SimulatedTime seen = host_now_;
    if (how == Submission::kByItself) {
        while (items_.size() >= host_.queue_depth && advance(kNever)) {
        }
        host_now_ = std::max(host_now_, now_);
        seen = spend_on(work);
    }
    const WorkId id = next_work_++;
    Item& item = items_[id];
    item.stream = stream;
    item.work = std::move(work);
    if (auto* kernel = std::get_if<KernelWork>(&item.work))
        kernel->request.parameters = kernel->parameters;
    item.how = how;
    item.ready = seen + host_.launch_latency;
    for (const WorkId earlier : after) follow(id, item, earlier);
    if (stream != kNoStream) {
        Stream& own = streams_.at(stream);
        item.priority = own.options.priority;
        follow_last(id, item, own.last);
        const StreamId default_stream = default_streams_.at(own.options.device);
        if (stream == default_stream) {
            std::erase_if(streams_, [this](const auto& entry) {
                return entry.second.is_closed && is_done(entry.second.last);
            });
            for (const auto& [other, state] : streams_)
                if (other != stream && state.options.joins_default &&
                    state.options.device == own.options.device)
                    follow(id, item, state.last);
        } else if (own.options.joins_default && default_stream != kNoStream) {
            follow(id, item, streams_.at(default_stream).last);
        }
        own.last = id;
    }
    if (item.waits == 0) ready_.insert({item.ready, id});
    return id;
}

bool Scheduler::is_idle(StreamId stream) const {
    if (stream == kNoStream) return items_.empty();
    const auto at = streams_.find(stream);
    return at == streams_.end() || is_done(at->second.last);
}

SimulatedTime Scheduler::gap(const Item& item) const {
    if (std::holds_alternative<MarkWork>(item.work) || std::holds_alternative<HostWork>(item.work))
        return 0;
    return item.how == Submission::kByGraph ? host_.graph_gap : host_.stream_gap;
}

SimulatedTime Scheduler::next_event() const {
    SimulatedTime next = ends_.empty() ? kNever : ends_.begin()->first;
    const auto later = ready_.upper_bound({now_, std::numeric_limits<WorkId>::max()});
    if (later != ready_.end()) next = std::min(next, later->first);
    return next;
}

void Scheduler::carry(WorkId work, const TransferWork& transfer, SimulatedTime end) {
    const TransferKind kind = transfer.kind;
    Processor& own = *processors_[transfer.device];
    if (kind == TransferKind::kDeviceToHost || kind == TransferKind::kDeviceToDevice ||
        kind == TransferKind::kPeerToPeer)
        own.carry(work, false, transfer.bytes, now_, end);
    if (kind == TransferKind::kHostToDevice || kind == TransferKind::kDeviceToDevice ||
        kind == TransferKind::kFill)
        own.carry(work, true, transfer.bytes, now_, end);
    if (kind == TransferKind::kPeerToPeer)
        processors_[transfer.peer]->carry(work, true, transfer.bytes, now_, end);
}

void Scheduler::postpone_transfers() {
    for (auto next = ends_.begin(); next != ends_.end() && next->first <= now_;) {
        const auto ending = next++;
        const auto [at, work] = *ending;
        const auto* transfer = std::get_if<TransferWork>(&items_.at(work).work);
        if (transfer == nullptr) continue;
        const bool is_to_peer = transfer->kind == TransferKind::kPeerToPeer;
        SimulatedTime left = processors_[transfer->device]->left(work, now_);
        if (is_to_peer) left = std::max(left, processors_[transfer->peer]->left(work, now_));
        if (left == 0) continue;
        const SimulatedTime later = now_ + left;
        ends_.erase(ending);
        ends_.insert({later, work});
        TransferEngines& engines = engines_[transfer->device];
        if (is_to_peer)
            engines.occupy(*transfer, engines_.at(transfer->peer), later);
        else
            engines.occupy(*transfer, later);
    }
}

bool Scheduler::start(WorkId work, Item& item) {
    item.begin = now_;
    if (const auto* kernel = std::get_if<KernelWork>(&item.work)) {
        Processor& processor = *processors_[kernel->device];
        if (processor.grids() >= processor.max_grids()) return false;
        processor.start(work, *kernel, item.priority, now_);
        usage_[kernel->device].begin_kernel(now_);
        return true;
    }
    if (const auto* transfer = std::get_if<TransferWork>(&item.work)) {
        TransferEngines& engines = engines_[transfer->device];
        SimulatedTime end = 0;
        if (transfer->kind == TransferKind::kPeerToPeer) {
            TransferEngines& to = engines_.at(transfer->peer);
            if (engines.free_at(*transfer, to) > now_) return false;
            end = engines.start(*transfer, to, now_);
        } else {
            if (engines.free_at(transfer->kind) > now_) return false;
            end = engines.start(*transfer, now_);
        }
        ends_.insert({end, work});
        carry(work, *transfer, end);
        usage_[transfer->device].begin_transfer(transfer->kind, now_, transfer->bytes);
        return true;
    }
    const bool is_call = std::holds_alternative<HostWork>(item.work);
    ends_.insert({is_call ? now_ + host_.completion_latency + host_.launch_latency : now_, work});
    return true;
}

bool Scheduler::start_what_can() {
    bool has_started = false;
    for (auto at = ready_.begin(); at != ready_.end() && at->first <= now_;) {
        const WorkId work = at->second;
        if (start(work, items_.at(work))) {
            at = ready_.erase(at);
            has_started = true;
        } else {
            ++at;
        }
    }
    return has_started;
}

/// Streams lie in rows; so do copy engines, which do one transfer at a time.
void Scheduler::trace(const Item& item, SimulatedTime end) {
    if (std::holds_alternative<MarkWork>(item.work)) return;
    const std::string name = name_of(item.work);
    Processor& processor = *processors_[device_of(item.work)];
    if (item.stream != kNoStream)
        processor.trace(fmt::format("stream {}", item.stream), name, item.begin, end);
    if (const auto* transfer = std::get_if<TransferWork>(&item.work))
        processor.trace(TransferEngines::name(transfer->kind), name, item.begin, end);
}

void Scheduler::end(WorkId work, SimulatedTime at) {
    Item& item = items_.at(work);
    if (processors_.front()->is_traced()) trace(item, at);
    if (auto* kernel = std::get_if<KernelWork>(&item.work)) {
        usage_[kernel->device].end_kernel(at);
        const auto result = results_.extract(work);
        if (kernel->ended) kernel->ended(result.mapped());
    } else if (auto* transfer = std::get_if<TransferWork>(&item.work)) {
        usage_[transfer->device].end_transfer(transfer->kind, at);
        if (transfer->perform) transfer->perform();
    } else if (auto* host = std::get_if<HostWork>(&item.work)) {
        ++calls_;
        host->call();
        --calls_;
    } else if (auto& mark = std::get<MarkWork>(item.work); mark.reached) {
        mark.reached(at);
    }
    if (!item.dependents.empty()) trigger(work, at + gap(items_.at(item.dependents.front())));
    for (const WorkId follower : item.followers) {
        Item& next = items_.at(follower);
        next.ready = std::max(next.ready, at + gap(next));
        if (--next.waits == 0) ready_.insert({next.ready, follower});
    }
    items_.erase(work);
}

void Scheduler::settle() {
    bool has_changed = true;
    while (has_changed) {
        postpone_transfers();
        has_changed = start_what_can();
        while (!ends_.empty() && ends_.begin()->first <= now_) {
            const auto [at, work] = *ends_.begin();
            ends_.erase(ends_.begin());
            end(work, at);
            has_changed = true;
        }
    }
}

SimulatedTime Scheduler::run(SimulatedTime until, std::vector<GridEnd>& ended) {
    if (processors_.size() == 1) return processors_.front()->run(until, ended);
    const auto collect = [&] {
        for (Processor* const processor : processors_) processor->collect(ended);
    };
    collect();
    if (!ended.empty()) return now_;
    const auto busy = std::find_if(processors_.begin(), processors_.end(),
                                   [](const Processor* p) { return p->grids() != 0; });
    const SimulatedTime reached = (*busy)->run(until, ended);
    collect();
    return reached;
}

bool Scheduler::advance(SimulatedTime until) {
    try {
        settle();
        const SimulatedTime next = std::min(next_event(), until);
        if (grids() == 0) {
            if (next == kNever) return false;
            now_ = std::max(now_, next);
        } else {
            std::vector<GridEnd> ended;
            const SimulatedTime reached = run(next, ended);
            for (Processor* const processor : processors_)
                for (const auto& [work, at] : processor->take_triggered())
                    if (items_.contains(work)) trigger(work, std::max(at, now_));
            for (GridEnd& grid : ended) {
                ends_.insert({std::max(grid.at, now_), grid.work});
                results_.emplace(grid.work, std::move(grid.result));
            }
            const SimulatedTime event = std::min(next_event(), until);
            now_ = std::max(now_, grids() != 0 ? std::min(reached, event) : event);
        }
        settle();
    } catch (...) {
        // The device is gone, and with it all that was submitted.
        items_.clear();
        ready_.clear();
        ends_.clear();
        results_.clear();
        for (auto& [id, stream] : streams_) stream.last = 0;
        throw;
    }
    return true;
}

void Scheduler::poll() {
    spend(HostAction::kCall);
    while (now_ < host_now_ && advance(host_now_)) {
    }
}

bool Scheduler::step() {
    return advance(kNever) || calls_ != 0;
}

void Scheduler::resume_host() {
    const SimulatedTime until = std::max(host_now_, now_ + host_.completion_latency);
    Processor& first = *processors_.front();
    if (first.is_traced()) first.trace("host", "wait", host_now_, until);
    host_now_ = until;
}

bool Scheduler::is_stuck() const {
    const auto spins = [](const Processor* p) { return p->grids() == 0 || p->spins(); };
    return calls_ == 0 && !items_.empty() && grids() != 0 &&
           std::all_of(processors_.begin(), processors_.end(), spins) && next_event() == kNever;
}

std::string Scheduler::explain_wait() const {
    std::string text;
    std::size_t lines = 0;
    for (const auto& [work, item] : items_) {
        if (lines++ == kLines) {
            text += fmt::format("  and {} more\n", items_.size() - kLines);
            break;
        }
        const std::string where =
            item.stream == kNoStream ? "of a graph" : fmt::format("in stream {}", item.stream);
        const bool is_ready = ready_.contains({item.ready, work});
        text += fmt::format("  {} {} {}\n", name_of(item.work), where,
                            item.waits != 0
                                ? fmt::format("waits for {} earlier pieces of work", item.waits)
                            : is_ready ? "waits for its turn"
                                       : "is under way");
    }
    for (const Processor* const processor : processors_) text += processor->explain_wait();
    return text;
}

}  // namespace lockstep::system
