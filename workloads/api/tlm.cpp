// SPDX-License-Identifier: Apache-2.0
// Hardware: a GPU on a bus, with registers, a doorbell and a window onto its memory. Simplified:
// one command at a time, in place of queues in host memory; the window is one allocation of fixed
// size.
#include <lockstep/lockstep_tlm.h>

#include <array>
#include <cstring>
#include <map>

#include "models/gpu/chip/tlm_edges.h"
#include "models/system/host_link.h"
#include "workloads/api/impl.h"

namespace lockstep::api {

namespace {

constexpr std::uint64_t kRegisterBytes = 8, kRegisters = 0xa8;

bool is_writable(std::uint64_t offset) {
    return offset >= GpuTlm::kModuleOffset && offset <= GpuTlm::kSharedBytes;
}

sc_core::sc_time picoseconds(double count) {
    return sc_core::sc_time(count, sc_core::SC_PS);
}

}  // namespace

struct GpuTlm::Impl {
    Impl(const Machine& machine, const Options& options)
        : link(system::HostLink::of(*machine.impl().machine)),
          times(system::HostParameters::of(*machine.impl().machine)),
          device(machine, {.threads = options.threads,
                           .warm_l2 = options.warm_l2,
                           .signals = options.signals,
                           .first_sm = options.first_sm,
                           .last_sm = options.last_sm}),
          edges(*device.impl().device, options.dram_requests_per_cycle),
          memory(device.allocate(options.memory_bytes)),
          memory_bytes(options.memory_bytes) {
        reg(kIdRegister) = kId;
        reg(kMemoryAddress) = memory;
        reg(kMemoryBytes) = memory_bytes;
        for (const Register one : {kGridX, kGridY, kGridZ, kBlockX, kBlockY, kBlockZ}) reg(one) = 1;
    }

    std::uint64_t& reg(std::uint64_t offset) { return registers[offset / kRegisterBytes]; }

    /// A byte of the window. Throws InputError where `bytes` from there are not all in it.
    const std::byte* window(std::uint64_t offset, std::uint64_t bytes, const char* what) const {
        if (offset > memory_bytes || bytes > memory_bytes - offset)
            throw InputError(fmt::format("{}: {} bytes at {:#x} go beyond the window of {} bytes",
                                         what, bytes, offset, memory_bytes));
        return reinterpret_cast<const std::byte*>(memory + offset);
    }

    void load() {
        const std::uint64_t bytes = reg(kModuleBytes);
        const std::byte* const image = window(reg(kModuleOffset), bytes, "module");
        modules.push_back(device.load(std::span(image, bytes), "module in the window"));
        reg(kModule) = modules.size() - 1;
    }

    LaunchResult launch() {
        const std::uint64_t number = reg(kModule);
        if (number >= modules.size())
            throw InputError(fmt::format("module {}: there are {}", number, modules.size()));
        const std::uint64_t name_offset = reg(kKernelOffset);
        const auto* const first =
            reinterpret_cast<const char*>(window(name_offset, 1, "kernel's name"));
        const std::string_view name(first, strnlen(first, memory_bytes - name_offset));
        const std::vector<std::uint32_t> offsets = modules[number].parameter_offsets(name);
        const std::vector<std::uint32_t> bytes = modules[number].parameter_bytes(name);
        std::vector<Argument> arguments;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const std::byte* const value =
                window(reg(kParameterOffset) + offsets[i], bytes[i], "parameters");
            arguments.emplace_back(std::vector<std::byte>(value, value + bytes[i]));
        }
        const auto dimension = [this](std::uint64_t offset) {
            if (reg(offset) > ~0u) throw InputError("a dimension has more than 32 bits");
            return static_cast<std::uint32_t>(reg(offset));
        };
        const LaunchShape shape{{dimension(kGridX), dimension(kGridY), dimension(kGridZ)},
                                {dimension(kBlockX), dimension(kBlockY), dimension(kBlockZ)},
                                dimension(kSharedBytes)};
        return device.launch(modules[number], name, shape, arguments);
    }

    void fail(const std::string& text) {
        reg(kStatus) = kFailed;
        error = text.substr(0, kErrorBytes);
        reg(kErrorLength) = error.size();
    }

    /// Reads or writes; answers whether that may be.
    tlm::tlm_response_status access(bool is_write, std::uint64_t address, unsigned char* data,
                                    std::uint64_t bytes) {
        if (address >= kMemory) {
            const std::uint64_t offset = address - kMemory;
            if (offset > memory_bytes || bytes > memory_bytes - offset)
                return tlm::TLM_ADDRESS_ERROR_RESPONSE;
            if (is_write)
                device.write(memory + offset, data, bytes);
            else
                device.read(data, memory + offset, bytes);
            return tlm::TLM_OK_RESPONSE;
        }
        if (address >= kErrorText && address < kErrorText + kErrorBytes) {
            if (is_write) return tlm::TLM_COMMAND_ERROR_RESPONSE;
            if (bytes > kErrorText + kErrorBytes - address) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
            for (std::uint64_t i = 0; i < bytes; ++i) {
                const std::uint64_t at = address - kErrorText + i;
                data[i] = at < error.size() ? static_cast<unsigned char>(error[at]) : 0;
            }
            return tlm::TLM_OK_RESPONSE;
        }
        if (address >= kRegisters || address % kRegisterBytes != 0)
            return tlm::TLM_ADDRESS_ERROR_RESPONSE;
        if (bytes != kRegisterBytes) return tlm::TLM_BURST_ERROR_RESPONSE;
        if (!is_write) {
            std::memcpy(data, &reg(address), bytes);
            return tlm::TLM_OK_RESPONSE;
        }
        std::uint64_t value = 0;
        std::memcpy(&value, data, bytes);
        if (address == kCommand) {
            if (reg(kStatus) == kBusy || (value != kLoad && value != kLaunch))
                return tlm::TLM_COMMAND_ERROR_RESPONSE;
            command = value;
            reg(kStatus) = kBusy;
            return tlm::TLM_OK_RESPONSE;
        }
        if (!is_writable(address)) return tlm::TLM_COMMAND_ERROR_RESPONSE;
        reg(address) = value;
        return tlm::TLM_OK_RESPONSE;
    }

    const system::HostLink link;
    const system::HostParameters times;
    Device device;
    gpu::TlmEdges edges;
    const Address memory;
    const std::uint64_t memory_bytes;
    std::array<std::uint64_t, kRegisters / kRegisterBytes> registers{};
    std::vector<Module> modules;
    std::string error;
    std::uint64_t command = 0;
    bool is_lost = false;
    sc_core::sc_event doorbell{"doorbell"}, lower{"lower"};
};

GpuTlm::GpuTlm(const sc_core::sc_module_name& name, const Machine& machine, const Options& options)
    : sc_core::sc_module(name),
      impl_(guarded([&] { return std::make_unique<Impl>(machine, options); })) {
    host.register_b_transport(this, &GpuTlm::b_transport);
    host.register_transport_dbg(this, &GpuTlm::transport_dbg);
    SC_THREAD(run_commands);
}

GpuTlm::~GpuTlm() = default;

std::size_t GpuTlm::dram_ports() const {
    return impl_->edges.dram_ports();
}

tlm::tlm_initiator_socket<>& GpuTlm::dram_port(std::size_t i) {
    return impl_->edges.dram_port(i);
}

void GpuTlm::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_byte_enable_ptr() != nullptr) {
        payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        return;
    }
    if (payload.get_streaming_width() < payload.get_data_length()) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return;
    }
    if (payload.is_read() || payload.is_write()) {
        const bool is_write = payload.is_write();
        const std::uint64_t bytes = payload.get_data_length();
        const auto status =
            impl_->access(is_write, payload.get_address(), payload.get_data_ptr(), bytes);
        payload.set_response_status(status);
        const system::LinkDirection& way = is_write ? impl_->link.to_device : impl_->link.to_host;
        constexpr double kPicoseconds = 1e12;
        delay += picoseconds(double(impl_->link.to_device.latency) +
                             (is_write ? 0 : double(way.latency)) +
                             kPicoseconds * double(bytes) / way.bytes_per_second);
        if (status != tlm::TLM_OK_RESPONSE) return;
        if (is_write && payload.get_address() == kCommand)
            impl_->doorbell.notify(delay + picoseconds(double(impl_->times.launch_latency)));
        if ((is_write && payload.get_address() == kCommand) || payload.get_address() == kStatus)
            interrupt.write(false);
        return;
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);  // TLM_IGNORE_COMMAND
}

unsigned GpuTlm::transport_dbg(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const bool is_memory = address >= kMemory && address - kMemory <= impl_->memory_bytes;
    if (!is_memory || payload.get_command() == tlm::TLM_IGNORE_COMMAND) return 0;
    const auto bytes = static_cast<unsigned>(std::min<std::uint64_t>(
        payload.get_data_length(), impl_->memory_bytes - (address - kMemory)));
    impl_->access(payload.is_write(), address, payload.get_data_ptr(), bytes);
    return bytes;
}

void GpuTlm::run_commands() {
    for (;;) {
        sc_core::wait(impl_->doorbell);
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        std::uint64_t status = kDone;
        try {
            guarded([&] {
                if (impl_->is_lost)
                    throw InputError("the GPU stopped at a fault: no command is taken any more");
                if (impl_->command == kLoad) {
                    impl_->load();
                    return;
                }
                const LaunchResult result = impl_->launch();
                // Windows end before the last cycles of the kernel do.
                const sc_core::sc_time end =
                    begin + picoseconds(double(result.cycles) * double(impl_->edges.cycle()));
                if (end > sc_core::sc_time_stamp()) sc_core::wait(end - sc_core::sc_time_stamp());
                impl_->reg(kCycles) = result.cycles;
                impl_->reg(kLaunches) += 1;
            });
        } catch (const Error& error) {
            impl_->fail(error.what());
            // The chip is gone, and SystemC makes no new one while it runs.
            impl_->is_lost |= error.status() != static_cast<int>(ExitStatus::kInputError);
            status = kFailed;
        }
        impl_->reg(kStatus) = status;
        interrupt.write(true);
    }
}

}  // namespace lockstep::api
