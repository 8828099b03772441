// SPDX-License-Identifier: Apache-2.0
// Several devices of one system, as a program sees them: it works on the one that its thread has
// chosen; addresses tell by themselves whose memory they are.
#pragma once

#include <memory>

#include "models/device.h"

namespace lockstep {

/// A Device that hands what it is asked to the calling thread's device. Modules are loaded on all.
class DeviceGroup : public Device {
  public:
    static constexpr unsigned kMostDevices = 16;

    /// The calling thread's device; 0 until it chooses.
    static unsigned current() { return chosen(); }
    static void select(unsigned device) { chosen() = device; }

    virtual unsigned count() const = 0;
    /// Whose memory holds an address; the calling thread's device where nobody's does.
    virtual unsigned owner(DevicePointer address) const = 0;
    /// Whether a link between the two carries a kernel's accesses.
    virtual bool can_access_peer(unsigned device, unsigned peer) const = 0;
    virtual bool has_peer_access(unsigned device, unsigned peer) const = 0;
    /// Kernels of a device may access the peer's memory, or no longer.
    virtual void set_peer_access(unsigned device, unsigned peer, bool is_enabled) = 0;

  private:
    static unsigned& chosen() {
        static thread_local unsigned device = 0;
        return device;
    }
};

/// `system.devices` devices of a machine, emulated or in cycles; these share one clock and one
/// time line. Throws InputError.
std::unique_ptr<DeviceGroup> make_device_group(std::shared_ptr<const config::Machine> machine,
                                               const DeviceOptions& options, bool in_cycles);

}  // namespace lockstep
