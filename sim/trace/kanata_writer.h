// SPDX-License-Identifier: Apache-2.0
// The Kanata log, which the pipeline viewer Konata opens.
#pragma once

#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/trace/output_file.h"
#include "sim/trace/writer.h"

namespace lockstep::trace {

class KanataWriter final : public Writer {
  public:
    explicit KanataWriter(const std::string& path);

    bool shows_tracks() const override { return false; }
    void add_track(TrackId, std::string_view, std::string_view, TrackKind) override {}
    void add_name(NameId id, std::string_view text) override;
    void write(const Event& event) override;
    void advance(Cycle horizon) override;
    void complete() override;

  private:
    struct Waiting {
        Event event;
        std::uint64_t order;  ///< of arrival
    };
    struct IsLater {
        bool operator()(const Waiting& a, const Waiting& b) const {
            return a.event.at != b.event.at ? a.event.at > b.event.at : a.order > b.order;
        }
    };
    struct Instruction {
        std::uint64_t number;  ///< in the file
        bool has_stage = false;
        NameId stage{};
    };
    const std::string& text(NameId name) const { return names_[static_cast<std::size_t>(name)]; }
    void put(const Event& event);
    void end_stage(Instruction& instruction);

    OutputFile file_;
    std::vector<std::string> names_;
    std::priority_queue<Waiting, std::vector<Waiting>, IsLater> waiting_;
    std::uint64_t arrivals_ = 0;
    std::unordered_map<InstructionId, Instruction> in_flight_;
    std::uint64_t instructions_ = 0, retired_ = 0;
    Cycle now_ = kForever;  ///< of the last line; kForever: none yet
};

}  // namespace lockstep::trace
