// SPDX-License-Identifier: Apache-2.0
// Devices of one kind, each with its memory in a region of its own, so that addresses are unified.
// Emulated ones run what they are given at once; in cycles they share a Simulation and a time line.
#include <algorithm>
#include <optional>
#include <vector>

#include "models/device_group.h"
#include "models/gpu/device/simulator.h"
#include "models/system/host_link.h"

namespace lockstep {

namespace gpu {

namespace {

class GpuGroup final : public DeviceGroup {
  public:
    GpuGroup(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options,
             bool in_cycles);
    ~GpuGroup() override {
        if (chips_ != nullptr) chips_->clear();  // they look at all devices' parameters
    }

    const config::Machine& machine() const override { return *machine_; }
    DevicePointer allocate(std::uint64_t bytes, MemoryKind kind) override {
        return own().allocate(bytes, kind);
    }
    bool free(DevicePointer pointer) override { return at(pointer).free(pointer); }
    bool clear(DevicePointer begin, std::uint64_t bytes) override {
        return at(begin).clear(begin, bytes);
    }
    bool register_host(void* pointer, std::uint64_t bytes) override {
        return devices_.front()->register_host(pointer, bytes);
    }
    std::uint32_t add_texture(sass::Texture texture) override {
        return own().add_texture(std::move(texture));
    }
    AddressSpace* address_space() override { return own().address_space(); }
    void note_host_write(DevicePointer pointer, std::uint64_t bytes) override {
        at(pointer).note_host_write(pointer, bytes);
    }
    void note_transfer(DevicePointer pointer, std::uint64_t bytes, Transfer transfer) override {
        at(pointer).note_transfer(pointer, bytes, transfer);
    }
    std::uint64_t findings() const override;
    AllocationInfo find(DevicePointer address) const override {
        return devices_[owner(address)]->find(address);
    }
    std::uint64_t free_bytes() const override { return own().free_bytes(); }
    std::uint64_t total_bytes() const override { return own().total_bytes(); }
    ModuleHandle load_module(const cubin::Cubin& cubin) override;
    void unload_module(ModuleHandle module) override {
        for (const auto& device : devices_) device->unload_module(module);
    }
    std::pair<DevicePointer, std::uint64_t> find_variable(ModuleHandle module,
                                                          std::string_view name) override {
        return own().find_variable(module, name);
    }
    const cubin::Function* find_kernel(ModuleHandle module, std::string_view name) override {
        return devices_.front()->find_kernel(module, name);
    }
    std::uint64_t active_clusters(std::uint32_t ctas, std::uint32_t by_sm) const override {
        return own().active_clusters(ctas, by_sm);
    }
    LaunchResult launch(const LaunchRequest& request) override { return own().launch(request); }
    Timeline* timeline() override;
    void set_printf_output(std::function<void(std::string_view)> output) override {
        for (const auto& device : devices_) device->set_printf_output(output);
    }
    void set_heap_bytes(std::uint64_t bytes) override { own().set_heap_bytes(bytes); }
    void set_stack_bytes(std::uint64_t bytes) override { own().set_stack_bytes(bytes); }

    unsigned count() const override { return static_cast<unsigned>(devices_.size()); }
    unsigned owner(DevicePointer address) const override;
    bool can_access_peer(unsigned device, unsigned peer) const override {
        return device != peer && link_.exists;
    }
    bool has_peer_access(unsigned device, unsigned peer) const override {
        return devices_[device]->memory().has_access(devices_[peer]->memory());
    }
    void set_peer_access(unsigned device, unsigned peer, bool is_enabled) override {
        devices_[device]->memory().enable_peer(devices_[peer]->memory(), is_enabled);
    }

  private:
    GpuDevice& own() const { return *devices_[std::min(current(), count() - 1)]; }
    GpuDevice& at(DevicePointer address) const { return *devices_[owner(address)]; }

    const std::shared_ptr<const config::Machine> machine_;
    const system::PeerLink link_;
    std::shared_ptr<ChipSystem> chips_;           ///< null: emulated
    std::vector<system::Processor*> processors_;  ///< none: emulated
    std::vector<std::unique_ptr<GpuDevice>> devices_;
    std::unique_ptr<system::Scheduler> scheduler_;
};

/// Each device's trace is a file of its own: trace.json, trace.gpu1.json, ...
std::string trace_file(const std::string& file, unsigned device) {
    if (file.empty() || device == 0) return file;
    const std::size_t dot = std::min(file.rfind('.'), file.size());
    return file.substr(0, dot) + fmt::format(".gpu{}", device) + file.substr(dot);
}

GpuGroup::GpuGroup(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options,
                   bool in_cycles)
    : machine_(std::move(machine)), link_(system::PeerLink::of(*machine_)) {
    const auto count = static_cast<unsigned>(machine_->integer("system.devices"));
    if (in_cycles) chips_ = std::make_shared<ChipSystem>();
    for (unsigned i = 0; i < count; ++i) {
        DeviceOptions own_options = options;
        own_options.trace.file = trace_file(options.trace.file, i);
        if (in_cycles) {
            auto simulator = std::make_unique<Simulator>(machine_, own_options, chips_);
            processors_.push_back(simulator.get());
            devices_.push_back(std::move(simulator));
        } else {
            devices_.push_back(std::make_unique<Emulator>(machine_, own_options));
        }
    }
    for (const auto& device : devices_)
        for (const auto& peer : devices_)
            if (peer != device) device->memory().add_peer(peer->memory());
}

std::uint64_t GpuGroup::findings() const {
    std::uint64_t sum = 0;
    for (const auto& device : devices_) sum += device->findings();
    return sum;
}

unsigned GpuGroup::owner(DevicePointer address) const {
    for (unsigned i = 0; i < count(); ++i)
        if (devices_[i]->find(address).bytes != 0) return i;
    return std::min(current(), count() - 1);
}

ModuleHandle GpuGroup::load_module(const cubin::Cubin& cubin) {
    std::optional<ModuleHandle> handle;
    for (const auto& device : devices_) {
        const ModuleHandle loaded = device->load_module(cubin);
        LOCKSTEP_CHECK(handle.value_or(loaded) == loaded, "modules differ from device to device");
        handle = loaded;
    }
    return *handle;
}

Timeline* GpuGroup::timeline() {
    if (processors_.empty()) return nullptr;
    if (scheduler_ == nullptr)
        scheduler_ = std::make_unique<system::Scheduler>(*machine_, processors_);
    return scheduler_.get();
}

}  // namespace

}  // namespace gpu

std::unique_ptr<DeviceGroup> make_device_group(std::shared_ptr<const config::Machine> machine,
                                               const DeviceOptions& options, bool in_cycles) {
    return std::make_unique<gpu::GpuGroup>(std::move(machine), options, in_cycles);
}

}  // namespace lockstep
