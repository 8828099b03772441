// SPDX-License-Identifier: Apache-2.0
// An SM without cores: sends a list of requests as fast as its port takes them, notes the replies.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/gpu/memory/memory_system.h"

namespace lockstep::gpu {

/// Every built-in GPU.
inline std::vector<std::string> gpu_names() {
    std::vector<std::string> names;
    for (const std::string& name : config::Machine::names())
        if (config::Machine::load(name)->kind() == "gpu") names.push_back(name);
    return names;
}

class SyntheticSm final : public engine::Tile {
  public:
    struct Answer {
        engine::Cycle sent, answered;
        std::uint8_t sectors;
    };

    SyntheticSm(engine::Simulation& simulation, engine::ClockDomain clock, std::uint16_t sm,
                std::uint8_t gpc)
        : Tile(simulation, fmt::format("sm{}", sm), clock), port(*this, sm, gpc) {}

    CrossbarPort port;
    std::vector<MemoryRequest> requests;  ///< ids are given here: positions
    std::vector<Answer> answers;          ///< by request
    std::uint32_t window = 1u << 30;      ///< requests under way at one time

    engine::Cycle advance(engine::Cycle from, engine::Cycle until) override {
        engine::Cycle now = from;
        while (true) {
            for (; port.next_reply() <= now; ++answered_) {
                const MemoryReply reply = port.receive(now);
                answers[reply.id].answered = now;
                answers[reply.id].sectors |= reply.sectors;
            }
            const bool may = sent_ < requests.size() && sent_ - answered_ < window;
            engine::Cycle next = port.next_reply();
            if (may) {
                requests[sent_].id = static_cast<std::uint32_t>(sent_);
                if (port.send(now, requests[sent_])) {
                    answers.push_back({now, 0, 0});
                    ++sent_;
                    continue;
                }
                next = std::min(next, port.next_send(now, requests[sent_]));
            }
            if (next >= until) return next;
            now = next;
        }
    }
    bool finished() const override { return answered_ == requests.size(); }
    std::string explain_wait() const override {
        return fmt::format("{} sent, {} answered", sent_, answered_);
    }

  private:
    std::size_t sent_ = 0, answered_ = 0;
};

/// A machine's memory side with so many synthetic SMs.
struct MemoryBench {
    explicit MemoryBench(const std::string& name, std::uint16_t sms = 1,
                         const std::vector<std::string>& overrides = {},
                         engine::SimulationOptions options = {})
        : machine(config::Machine::load(name, overrides)), simulation(std::move(options)) {
        const auto clock = engine::ClockDomain::from_megahertz(machine->number("clock.sm"));
        std::vector<CrossbarPort*> ports;
        for (std::uint16_t i = 0; i < sms; ++i) {
            const auto gpc = static_cast<std::uint8_t>(i / 2 % machine->integer("gpc.count"));
            this->sms.push_back(std::make_unique<SyntheticSm>(simulation, clock, i, gpc));
            ports.push_back(&this->sms.back()->port);
        }
        system = std::make_unique<MemorySystem>(simulation, *machine, ports);
    }

    /// Runs until all is answered; the cycle of the last answer of the requests from `first` on.
    engine::Cycle run() {
        for (auto& sm : sms) sm->wake(0);
        simulation.run();
        engine::Cycle last = 0;
        for (auto& sm : sms)
            for (const auto& answer : sm->answers) last = std::max(last, answer.answered);
        return last;
    }

    /// The latency of one request of SM 0, sent when nothing else is under way.
    engine::Cycle latency(const MemoryRequest& request) {
        sms[0]->requests.push_back(request);
        run();
        return sms[0]->answers.back().answered - sms[0]->answers.back().sent;
    }

    std::shared_ptr<const config::Machine> machine;
    engine::Simulation simulation;
    std::vector<std::unique_ptr<SyntheticSm>> sms;
    std::unique_ptr<MemorySystem> system;
};

}  // namespace lockstep::gpu
