// SPDX-License-Identifier: Apache-2.0
// A TLM-2.0 memory model behind L2 in place of the built-in controllers.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include "sim/engine/tlm_memory_port.h"
#include "tests/models/gpu/memory/synthetic_sm.h"

namespace lockstep::gpu {
namespace {

class FixedLatencyMemory : public sc_core::sc_module {
  public:
    explicit FixedLatencyMemory(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        socket.register_b_transport(this, &FixedLatencyMemory::b_transport);
    }
    static constexpr engine::Time kLatency = 100'000;  // ps
    tlm_utils::simple_target_socket<FixedLatencyMemory> socket{"socket"};
    std::vector<std::pair<std::uint64_t, bool>> accesses;  ///< address, write

  private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        accesses.emplace_back(payload.get_address(), payload.is_write());
        delay += sc_core::sc_time::from_value(kLatency);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

TEST(TlmDram, AnswersInPlaceOfTheControllers) {
    MemoryBench bench("a100", 1, {"l2.size=320KiB", "l2.ways=2"});
    std::vector<std::unique_ptr<engine::TlmMemoryPort>> ports;
    std::vector<std::unique_ptr<FixedLatencyMemory>> memories;
    for (std::size_t i = 0; i < bench.system->partitions(); ++i) {
        ports.push_back(std::make_unique<engine::TlmMemoryPort>(
            bench.simulation, "dram" + std::to_string(i), bench.sms[0]->clock(), 4));
        memories.push_back(
            std::make_unique<FixedLatencyMemory>(("memory" + std::to_string(i)).c_str()));
        ports[i]->socket().bind(memories[i]->socket);
        bench.system->bind_dram(i, ports[i]->requests, ports[i]->responses);
    }
    const MemoryParameters& parameters = bench.system->parameters();
    const engine::Cycle hit =
        parameters.request_latency + parameters.slice_latency + parameters.reply_latency;
    const engine::Cycle memory = parameters.dram_request_latency + parameters.dram_reply_latency +
                                 parameters.clock.first_cycle_from(FixedLatencyMemory::kLatency);
    std::uint64_t line = 0;
    while (bench.system->map().find(line).l2_partition != 0) ++line;
    EXPECT_EQ(bench.latency({.line = line, .sectors = 1}), hit + memory);
    EXPECT_EQ(bench.latency({.line = line, .sectors = 1}), hit);

    // More than L2 holds is written, so that most of it goes to memory.
    for (std::uint64_t i = 0; i < 10000; ++i)
        bench.sms[0]->requests.push_back({.line = i, .kind = RequestKind::kWrite, .sectors = 0xf});
    bench.run();
    std::size_t writes = 0;
    for (const auto& at : memories)
        for (const auto& [address, write] : at->accesses) {
            writes += write;
            EXPECT_LT(address, 10000 * kLineBytes);
        }
    EXPECT_EQ(writes, bench.system->counters().write_backs);
    EXPECT_GT(writes, 20000u);
    EXPECT_EQ(bench.system->counters().dram_bytes_written, 0u);
}

}  // namespace
}  // namespace lockstep::gpu
