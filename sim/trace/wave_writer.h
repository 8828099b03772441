// SPDX-License-Identifier: Apache-2.0
// Tracks as variables over time: the base of the forms that want changes in the order of time.
#pragma once

#include <queue>
#include <string>
#include <vector>

#include "sim/trace/writer.h"

namespace lockstep::trace {

/// What a variable shows: nothing, a text (slices, values) or a number (counters).
struct WaveValue {
    enum class Kind : std::uint8_t { kIdle, kText, kNumber };
    Kind kind = Kind::kIdle;
    Label label;
    double number = 0;
    bool operator==(const WaveValue&) const = default;
};

/// Slices become the value of their track while they last; where they nest, the inner one's. Of
/// several changes of a variable in a cycle the last one counts, and one to the value that it has
/// is none.
class WaveWriter : public Writer {
  public:
    bool shows_tracks() const override { return true; }
    bool shows_waves() const override { return true; }
    void add_track(TrackId id, std::string_view group, std::string_view name,
                   TrackKind kind) override;
    void add_name(NameId id, std::string_view text) override;
    void write(const Event& event) override;
    void advance(Cycle horizon) override;

  protected:
    struct Variable {
        std::string group, name;
        TrackKind kind;
        std::vector<Label> open{};  ///< slices, the innermost last
        WaveValue value{}, shown{};
        bool is_touched = false;
    };

    /// The variable's value from a cycle on; cycles never decrease.
    virtual void change(Cycle at, std::size_t variable, const WaveValue& value) = 0;

    const std::vector<Variable>& variables() const { return variables_; }
    std::string text_of(const Label& label) const;

  private:
    enum class Act : std::uint8_t { kEnd, kBegin, kSet };  ///< in a cycle, ends come first
    struct Change {
        Cycle at;
        Act act;
        std::uint64_t arrival;
        std::size_t variable;
        WaveValue value;
        bool operator>(const Change& other) const {
            const bool begins = act != Act::kEnd, other_begins = other.act != Act::kEnd;
            if (at != other.at) return at > other.at;
            return begins != other_begins ? begins : arrival > other.arrival;
        }
    };

    void add(Cycle at, Act act, TrackId track, const WaveValue& value);
    void apply(const Change& change);
    void show();

    std::vector<std::string> names_;
    std::vector<Variable> variables_;
    std::vector<std::size_t> touched_;
    std::priority_queue<Change, std::vector<Change>, std::greater<>> waiting_;
    std::uint64_t arrivals_ = 0;
    Cycle now_ = 0;
};

}  // namespace lockstep::trace
