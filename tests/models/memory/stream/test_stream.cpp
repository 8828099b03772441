// SPDX-License-Identifier: Apache-2.0
// The streaming memory against all channels' controllers, burst by burst.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>

#include "models/memory/dram/address_map.h"
#include "models/memory/stream/stream_memory.h"
#include "models/memory/stream/stream_rates.h"
#include "sim/engine/simulation.h"

namespace lockstep::memory {
namespace {

using dram::Geometry;

Geometry geometry_of(const std::string& name) {
    if (name == "tpu_v1") return dram::make_geometry(dram::find_preset(name));
    // One core's share of the memory of a TPU v3.
    return dram::make_geometry(dram::find_standard("HBM2"), 2048, 878900, 1,
                               std::uint64_t{16} << 30);
}

/// Nanoseconds until the last byte of [base, base + bytes) has crossed the pins of some channel.
double controllers_ns(const Geometry& geometry, std::uint64_t base, std::uint64_t bytes,
                      bool write) {
    const dram::AddressMap map(geometry, {});
    dram::ControllerParameters parameters;
    if (geometry.timing.RFC_bank == 0) parameters.refresh = dram::RefreshPolicy::kAllBank;
    std::vector<std::vector<dram::Location>> requests(geometry.channels);
    const std::uint32_t burst = geometry.organisation.burst_bytes();
    for (std::uint64_t at = 0; at < bytes; at += burst) {
        const auto where = map.decode(base + at);
        requests[where.channel].push_back(where.location);
    }
    dram::Cycle last = 0;
    for (const auto& channel : requests) {
        dram::Controller controller(geometry, parameters);
        dram::Cycle now = 0;
        for (std::size_t i = 0; i < channel.size(); ++i)
            while (!controller.enqueue(write ? dram::Direction::kWrite : dram::Direction::kRead,
                                       channel[i], i, now)) {
                now = controller.next_event() + 1;
                controller.advance(now);
            }
        while (controller.next_event() != dram::kNever)
            controller.advance(controller.next_event() + 1);
        for (const auto& completion : controller.completions())
            last = std::max(last, completion.cycle);
    }
    return double(last) * 1e6 / double(geometry.clock_khz);
}

/// Calls the target directly, at SystemC's time 0.
class Stream {
  public:
    explicit Stream(const StreamParameters& parameters) : tile_(simulation_) {
        simulation_.build_inside(tile_, [&] {
            memory_ = std::make_unique<StreamMemory>("memory", parameters);
            socket_ = std::make_unique<tlm_utils::simple_initiator_socket<Stream>>("socket");
            socket_->bind(memory_->socket);
        });
        simulation_.run();
    }
    double transfer_ns(double at_ns, std::uint32_t bytes, bool write) {
        tlm::tlm_generic_payload payload;
        payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        payload.set_data_length(bytes);
        sc_core::sc_time delay(at_ns, sc_core::SC_NS);
        (*socket_)->b_transport(payload, delay);
        EXPECT_TRUE(payload.is_response_ok());
        return delay.to_seconds() * 1e9 - at_ns;
    }

  private:
    struct Idle : engine::Tile {
        explicit Idle(engine::Simulation& simulation)
            : Tile(simulation, "idle", engine::ClockDomain(1000)) {}
        engine::Cycle advance(engine::Cycle, engine::Cycle) override { return engine::kNever; }
        bool finished() const override { return true; }
    };
    engine::Simulation simulation_;
    Idle tile_;
    std::unique_ptr<StreamMemory> memory_;
    std::unique_ptr<tlm_utils::simple_initiator_socket<Stream>> socket_;
};

class StreamMemoryTest : public testing::TestWithParam<const char*> {};

TEST_P(StreamMemoryTest, ATransferTakesWhatTheControllersTake) {
    const Geometry geometry = geometry_of(GetParam());
    const StreamRates rates = measure_streams(geometry);
    EXPECT_GT(rates.read_gb_per_s, 0.88 * geometry.peak_gb_per_s());
    EXPECT_LT(rates.read_gb_per_s, geometry.peak_gb_per_s());
    for (const bool write : {false, true})
        for (const std::uint64_t kib : {64, 256, 1024, 4096}) {
            const std::uint64_t bytes = kib * 1024;
            const double ns = double(bytes) / (write ? rates.write_gb_per_s : rates.read_gb_per_s) +
                              rates.read_latency_ns;
            const double controllers = controllers_ns(geometry, 1 << 20, bytes, write);
            // A single refresh more or less in a short transfer, and uneven shares of the channels.
            const double slack = kib <= 256 ? 0.15 : 0.06;
            EXPECT_NEAR(ns / controllers, 1, slack)
                << GetParam() << (write ? " write " : " read ") << kib << " KiB: " << ns
                << " ns, controllers " << controllers;
        }
}

INSTANTIATE_TEST_SUITE_P(Memories, StreamMemoryTest, testing::Values("tpu_v1", "hbm2"));

TEST(StreamMemory, TransfersQueueForTheBusAndOverlapTheirLatencies) {
    Stream stream({.read_gb_per_s = 10, .write_gb_per_s = 5, .latency_ns = 100});
    EXPECT_NEAR(stream.transfer_ns(0, 1000, false), 200, 0.01);
    EXPECT_NEAR(stream.transfer_ns(50, 1000, false), 250, 0.01);  // from 100 to 200 on the bus
    EXPECT_NEAR(stream.transfer_ns(1000, 1000, true), 300, 0.01);
}

TEST(StreamMemory, ADuplexLinkReadsAndWritesAtOnce) {
    Stream stream({.read_gb_per_s = 10, .write_gb_per_s = 10, .latency_ns = 0, .duplex = true});
    EXPECT_NEAR(stream.transfer_ns(0, 1000, false), 100, 0.01);
    EXPECT_NEAR(stream.transfer_ns(0, 1000, true), 100, 0.01);
}

}  // namespace
}  // namespace lockstep::memory
