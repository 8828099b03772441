// SPDX-License-Identifier: Apache-2.0
// Chrome's trace event format, which Perfetto and chrome://tracing open.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sim/trace/output_file.h"
#include "sim/trace/writer.h"

namespace lockstep::trace {

class ChromeWriter final : public Writer {
  public:
    ChromeWriter(const std::string& path, const std::string& title);

    bool shows_tracks() const override { return true; }
    void add_track(TrackId id, std::string_view group, std::string_view name,
                   TrackKind kind) override;
    void add_name(NameId id, std::string_view text) override;
    void write(const Event& event) override;
    void advance(Cycle) override {}
    void complete() override;

  private:
    struct Track {
        unsigned process, thread;
        std::string name;  ///< escaped
    };
    std::string text_of(const Label& label) const;
    void next();

    OutputFile file_;
    bool is_first_ = true;
    std::unordered_map<std::string, unsigned> processes_;
    std::vector<Track> tracks_;
    std::vector<std::string> names_;  ///< escaped
};

}  // namespace lockstep::trace
