// SPDX-License-Identifier: Apache-2.0
// A SystemC virtual platform with a GPU in it: a host that knows nothing but the GPU's registers
// (see lockstep_tlm.h), and, where asked for, a DRAM of the platform's own behind the GPU's L2.
//   virtual_platform CUBIN [NANOSECONDS [WAVES]]   NANOSECONDS: latency of the platform's DRAM, 0:
//   the machine's; WAVES: writes WAVES.vcd with signals of SM 0
#include <lockstep/lockstep_tlm.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

namespace {

namespace ls = lockstep::api;
using sc_core::sc_time;

/// A DRAM with a latency, whose ports each move 32 bytes in a nanosecond.
class Memory : public sc_core::sc_module {
  public:
    Memory(const sc_core::sc_module_name& name, double nanoseconds)
        : sc_core::sc_module(name), latency_(nanoseconds, sc_core::SC_NS) {
        ports.register_b_transport(this, &Memory::b_transport);
    }
    tlm_utils::multi_passthrough_target_socket<Memory> ports{"ports"};
    std::uint64_t reads = 0, writes = 0;

  private:
    void b_transport(int port, tlm::tlm_generic_payload& payload, sc_time& delay) {
        (payload.is_write() ? writes : reads) += 1;
        free_.resize(std::max(free_.size(), std::size_t(port) + 1));
        sc_time& free = free_[std::size_t(port)];
        const sc_time now = sc_core::sc_time_stamp(), begin = std::max(now + delay, free);
        free = begin + sc_time(payload.get_data_length() / 32.0, sc_core::SC_NS);
        delay = free + latency_ - now;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    const sc_time latency_;
    std::vector<sc_time> free_;
};

/// Writes a program and its data, rings the doorbell, polls, and checks what came of it.
class Host : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Host);
    Host(const sc_core::sc_module_name& name, std::vector<char> module)
        : sc_core::sc_module(name), module_(std::move(module)) {
        SC_THREAD(run);
    }
    tlm_utils::simple_initiator_socket<Host> gpu{"gpu"};
    bool is_right = false;
    std::uint64_t cycles = 0;
    unsigned polls = 0;

  private:
    using Gpu = ls::GpuTlm;
    static constexpr std::uint64_t kModule = 0, kName = 1 << 20, kParameters = kName + 64,
                                   kData = 2 << 20;
    static constexpr std::uint32_t kElements = 10000, kBytes = kElements * sizeof(float);

    void transfer(tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(static_cast<unsigned char*>(data));
        payload.set_data_length(unsigned(bytes));
        payload.set_streaming_width(unsigned(bytes));
        sc_time delay = sc_core::SC_ZERO_TIME;
        gpu->b_transport(payload, delay);
        wait(delay);
        if (!payload.is_response_ok())
            SC_REPORT_ERROR("host", payload.get_response_string().c_str());
    }
    void write(std::uint64_t address, const void* data, std::size_t bytes) {
        transfer(tlm::TLM_WRITE_COMMAND, address, const_cast<void*>(data), bytes);
    }
    void set(std::uint64_t reg, std::uint64_t value) { write(reg, &value, sizeof value); }
    std::uint64_t get(std::uint64_t reg) {
        std::uint64_t value = 0;
        transfer(tlm::TLM_READ_COMMAND, reg, &value, sizeof value);
        return value;
    }
    bool command(std::uint64_t number) {
        set(Gpu::kCommand, number);
        std::uint64_t status = 0;
        for (; (status = get(Gpu::kStatus)) == Gpu::kBusy; ++polls) wait(200, sc_core::SC_NS);
        if (status == Gpu::kDone) return true;
        std::vector<char> text(get(Gpu::kErrorLength) + 1);
        transfer(tlm::TLM_READ_COMMAND, Gpu::kErrorText, text.data(), text.size() - 1);
        std::fprintf(stderr, "%s\n", text.data());
        return false;
    }

    void run() {
        std::vector<float> a(kElements), b(kElements, 0.5f), sum(kElements);
        for (std::uint32_t i = 0; i < kElements; ++i) a[i] = float(i);
        write(Gpu::kMemory + kModule, module_.data(), module_.size());
        write(Gpu::kMemory + kData, a.data(), kBytes);
        write(Gpu::kMemory + kData + kBytes, b.data(), kBytes);
        set(Gpu::kModuleOffset, kModule);
        set(Gpu::kModuleBytes, module_.size());
        if (!command(Gpu::kLoad)) return sc_core::sc_stop();

        const char name[] = "vector_add";
        write(Gpu::kMemory + kName, name, sizeof name);
        const std::uint64_t first = get(Gpu::kMemoryAddress) + kData;
        const std::uint64_t pointers[] = {first, first + kBytes, first + 2 * kBytes};
        write(Gpu::kMemory + kParameters, pointers, sizeof pointers);
        write(Gpu::kMemory + kParameters + sizeof pointers, &kElements, sizeof kElements);
        set(Gpu::kKernelOffset, kName);
        set(Gpu::kParameterOffset, kParameters);
        set(Gpu::kGridX, 40);
        set(Gpu::kBlockX, 256);
        for (int launch = 0; launch < 2; ++launch) {
            if (!command(Gpu::kLaunch)) return sc_core::sc_stop();
            cycles = get(Gpu::kCycles);
            std::printf("launch %d: %llu cycles; the platform is at %s\n", launch,
                        static_cast<unsigned long long>(cycles),
                        sc_core::sc_time_stamp().to_string().c_str());
        }
        transfer(tlm::TLM_READ_COMMAND, Gpu::kMemory + kData + 2 * kBytes, sum.data(), kBytes);
        is_right = get(Gpu::kLaunches) == 2;
        for (std::uint32_t i = 0; i < kElements; ++i) is_right &= sum[i] == a[i] + b[i];
        sc_core::sc_stop();
    }

    const std::vector<char> module_;
};

int simulate(int argc, char** argv) {
    const double nanoseconds = argc > 2 ? std::atof(argv[2]) : 0;
    std::ifstream file(argc > 1 ? argv[1] : "vector_add.cubin", std::ios::binary);
    std::vector<char> module{std::istreambuf_iterator<char>(file), {}};
    ls::GpuTlm::Options options;
    options.dram_requests_per_cycle = nanoseconds > 0 ? 2 : 0;
    options.signals = argc > 3;
    ls::GpuTlm gpu("gpu", ls::Machine("h200", {"sm.count=8"}), options);
    Host host("host", std::move(module));
    host.gpu.bind(gpu.host);
    std::unique_ptr<Memory> memory;
    if (gpu.dram_ports() != 0) memory = std::make_unique<Memory>("memory", nanoseconds);
    for (std::size_t i = 0; i < gpu.dram_ports(); ++i) gpu.dram_port(i).bind(memory->ports);
    sc_core::sc_trace_file* const waves =
        argc > 3 ? sc_core::sc_create_vcd_trace_file(argv[3]) : nullptr;
    if (waves != nullptr)
        for (const char* const name : {"sub_core0.warp", "sub_core0.stall", "L1_misses"}) {
            const std::string path = std::string("gpu.h200.sm0.") + name;
            auto* const signal = dynamic_cast<sc_core::sc_signal<sc_dt::uint64>*>(
                sc_core::sc_find_object(path.c_str()));
            if (signal == nullptr) throw ls::Error(1, path + ": no such signal");
            sc_core::sc_trace(waves, *signal, path);
        }
    sc_core::sc_start();
    if (waves != nullptr) sc_core::sc_close_vcd_trace_file(waves);
    std::printf("%s after %u polls\n", host.is_right ? "right" : "WRONG", host.polls);
    if (memory != nullptr)
        std::printf("the platform's DRAM saw %llu reads, %llu writes\n",
                    static_cast<unsigned long long>(memory->reads),
                    static_cast<unsigned long long>(memory->writes));
    return host.is_right ? 0 : 1;
}

}  // namespace

int sc_main(int argc, char** argv) {
    try {
        return simulate(argc, argv);
    } catch (const ls::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return error.status();
    }
}
