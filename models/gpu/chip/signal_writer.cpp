// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/chip/signal_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::gpu {

void SignalWriter::add_track(trace::TrackId id, std::string_view group, std::string_view name,
                             trace::TrackKind kind) {
    WaveWriter::add_track(id, group, name, kind);
    auto& signal = signals_.emplace_back();
    if (has_begun_ || kind == trace::TrackKind::kReal) return;
    std::string path = fmt::format("{}.{}", group, name);
    std::replace(path.begin(), path.end(), ' ', '_');
    signal = simulation_.add_signal(path);
}

void SignalWriter::advance(trace::Cycle horizon) {
    has_begun_ = true;
    WaveWriter::advance(horizon);
}

void SignalWriter::change(trace::Cycle at, std::size_t variable, const trace::WaveValue& value) {
    if (!signals_[variable]) return;
    constexpr std::uint64_t kNone = ~std::uint64_t{0};
    const auto number = [&]() -> std::uint64_t {
        switch (value.kind) {
            case trace::WaveValue::Kind::kIdle:
                return variables()[variable].kind == trace::TrackKind::kText ? 0 : kNone;
            case trace::WaveValue::Kind::kText:
                return static_cast<std::uint64_t>(value.label.name) + 1;
            case trace::WaveValue::Kind::kNumber:
                break;
        }
        return static_cast<std::uint64_t>(value.number);
    };
    simulation_.set_signal(*signals_[variable], clock_.start_of(at), number());
}

}  // namespace lockstep::gpu
