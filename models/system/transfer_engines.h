// SPDX-License-Identifier: Apache-2.0
// The copy engines of a device: one for each direction of the host link and of the link to peers,
// one for the device's own memory, and the host's own hand for what does not leave it. Each does
// one transfer at a time.
#pragma once

#include <array>
#include <optional>

#include "models/system/host_link.h"
#include "models/system/processor.h"

namespace lockstep::system {

class TransferEngines {
  public:
    TransferEngines(const HostLink& link, const HostParameters& host, Processor& processor)
        : link_(link), host_(host), processor_(processor) {}

    /// When the engine that such transfers take is free.
    SimulatedTime free_at(TransferKind kind) const { return free_[engine(kind)]; }
    /// Starts a transfer on its engine, which is free; when it ends.
    SimulatedTime start(const TransferWork& transfer, SimulatedTime at);

    /// The same between devices: this one's way out, the other's way in.
    SimulatedTime free_at(const TransferWork& transfer, const TransferEngines& to) const;
    SimulatedTime start(const TransferWork& transfer, TransferEngines& to, SimulatedTime at);

    /// Such a transfer is under way until then.
    void occupy(const TransferWork& transfer, SimulatedTime until) {
        free_[engine(transfer.kind)] = until;
    }
    void occupy(const TransferWork& transfer, TransferEngines& to, SimulatedTime until) {
        free_[way_out(transfer)] = to.free_[to.way_in(transfer)] = until;
    }

    /// Of an engine, for traces.
    static const char* name(TransferKind kind);

    /// What the host does itself before the call that submits a transfer returns.
    SimulatedTime host_time(const TransferWork& transfer) const;
    /// True where the data goes to the device within the command.
    bool is_inline(const TransferWork& transfer) const {
        return transfer.kind == TransferKind::kHostToDevice && transfer.is_pageable &&
               transfer.bytes <= host_.inline_bytes;
    }

  private:
    static constexpr unsigned kEngines = 6;
    static unsigned engine(TransferKind kind);
    unsigned way_out(const TransferWork& transfer) const;
    unsigned way_in(const TransferWork& transfer) const;
    SimulatedTime duration(const TransferWork& transfer) const;

    const HostLink& link_;
    const HostParameters& host_;
    Processor& processor_;
    std::array<SimulatedTime, kEngines> free_{};
};

}  // namespace lockstep::system
