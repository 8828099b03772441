// SPDX-License-Identifier: Apache-2.0
#include "models/system/usage.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::system {

namespace {

constexpr double kMicrosecond = 1e6;  // in picoseconds

constexpr const char* kTransferNames[] = {"copies, host to device",   "copies, device to host",
                                          "copies, device to device", "copies, host to host",
                                          "sets of device memory",    "copies to other devices"};
static_assert(std::size(kTransferNames) == kTransferKinds);

}  // namespace

void Usage::Kind::begin(SimulatedTime at, std::uint64_t size) {
    ++count;
    bytes += size;
    if (under_way++ == 0) since = at;
}

void Usage::Kind::end(SimulatedTime at) {
    if (--under_way == 0) busy += at - since;
}

std::string Usage::report(SimulatedTime total, int device) const {
    std::uint64_t all = kernels_.count;
    for (const Kind& kind : transfers_) all += kind.count;
    if (all == 0 || total == 0) return "";
    std::string text;
    if (device <= 0)
        text = fmt::format("Time of the whole program: {:.2f} us on the host's clock\n",
                           static_cast<double>(total) / kMicrosecond);
    if (device >= 0) text += fmt::format(" Device {}\n", device);
    const auto row = [&](const char* name, const Kind& kind) {
        if (kind.count == 0) return;
        text += fmt::format("  {:<26}{:>8}{:>14.2f} us{:>7.1f}%", name, kind.count,
                            static_cast<double>(kind.busy) / kMicrosecond,
                            100 * static_cast<double>(kind.busy) / static_cast<double>(total));
        if (kind.bytes != 0 && kind.busy != 0)
            text += fmt::format("{:>12.2f} GB/s", static_cast<double>(kind.bytes) * 1e3 /
                                                      static_cast<double>(kind.busy));
        text += "\n";
    };
    row("kernels", kernels_);
    for (unsigned i = 0; i < kTransferKinds; ++i) row(kTransferNames[i], transfers_[i]);
    if (host_ != 0 || device < 0)
        text += fmt::format("  {:<26}{:>8}{:>14.2f} us{:>7.1f}%\n", "the host, in calls", "",
                            static_cast<double>(host_) / kMicrosecond,
                            100 * static_cast<double>(host_) / static_cast<double>(total));
    return text;
}

}  // namespace lockstep::system
