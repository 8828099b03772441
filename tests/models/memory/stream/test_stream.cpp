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

constexpr auto kRefresh = dram::RefreshPolicy::kAllBank;
constexpr std::uint64_t kChunk = 64 << 10;

struct Piece {
    std::uint64_t base, bytes;
    bool write;
};

/// Nanoseconds until the last byte of the pieces, which are asked for one after the other, has
/// crossed the pins of some channel.
double controllers_ns(const Geometry& geometry, const std::vector<Piece>& pieces) {
    const dram::AddressMap map(geometry, {});
    dram::ControllerParameters parameters;
    parameters.refresh = kRefresh;
    struct Request {
        dram::Location location;
        dram::Direction direction;
    };
    std::vector<std::vector<Request>> requests(geometry.channels);
    const std::uint32_t burst = geometry.organisation.burst_bytes();
    for (const Piece& piece : pieces)
        for (std::uint64_t at = 0; at < piece.bytes; at += burst) {
            const auto where = map.decode(piece.base + at);
            requests[where.channel].push_back(
                {where.location, piece.write ? dram::Direction::kWrite : dram::Direction::kRead});
        }
    dram::Cycle last = 0;
    for (const auto& channel : requests) {
        dram::Controller controller(geometry, parameters);
        dram::Cycle now = 0;
        for (std::size_t i = 0; i < channel.size(); ++i)
            while (!controller.enqueue(channel[i].direction, channel[i].location, i, now)) {
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
    double transfer_ns(double at_ns, std::uint32_t bytes, bool write, std::uint64_t address = 0) {
        tlm::tlm_generic_payload payload;
        payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        payload.set_data_length(bytes);
        payload.set_address(address);
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
    const StreamRates rates = measure_streams(geometry, kRefresh, kChunk);
    EXPECT_GT(rates.read_gb_per_s, 0.88 * geometry.peak_gb_per_s());
    EXPECT_LT(rates.read_gb_per_s, geometry.peak_gb_per_s());
    for (const bool write : {false, true})
        for (const std::uint64_t kib : {64, 256, 1024, 4096}) {
            const std::uint64_t bytes = kib * 1024;
            const double ns = double(bytes) / (write ? rates.write_gb_per_s : rates.read_gb_per_s) +
                              rates.read_latency_ns;
            const double controllers = controllers_ns(geometry, {{1 << 20, bytes, write}});
            // Uneven shares of the channels, and a single refresh more or less: while all banks
            // are refreshed, a stream stands still.
            const double refresh =
                double(geometry.timing.RFC) * 1e6 / double(geometry.clock_khz) / controllers;
            const double slack = (kib <= 256 ? 0.05 : 0.03) + refresh;
            EXPECT_NEAR(ns / controllers, 1, slack)
                << GetParam() << (write ? " write " : " read ") << kib << " KiB: " << ns
                << " ns, controllers " << controllers;
        }
}

INSTANTIATE_TEST_SUITE_P(Memories, StreamMemoryTest, testing::Values("tpu_v1", "hbm2"));

/// Two streams in turns of a chunk.
double in_turns_ns(const Geometry& geometry, bool second_writes) {
    std::vector<Piece> pieces;
    for (std::uint64_t i = 0; i < 64; ++i)
        pieces.push_back({(i % 2) * (std::uint64_t{300} << 20) + i / 2 * kChunk, kChunk,
                          i % 2 == 1 && second_writes});
    return controllers_ns(geometry, pieces);
}

TEST(StreamRates, StreamsInTurnsTakeWhatTheControllersTake) {
    const Geometry geometry = geometry_of("hbm2");
    const StreamRates rates = measure_streams(geometry, kRefresh, kChunk);
    const double reads = 64 * double(kChunk) / rates.read_gb_per_s,
                 copies = reads / 2 + 32 * double(kChunk) / rates.write_gb_per_s;
    EXPECT_NEAR((reads + 64 * rates.jump_ns) / in_turns_ns(geometry, false), 1, 0.08);
    EXPECT_NEAR((copies + 64 * rates.turn_ns) / in_turns_ns(geometry, true), 1, 0.08);
    EXPECT_GT(rates.jump_ns, 5);
    EXPECT_GT(rates.turn_ns, rates.jump_ns);
    // Longer turns cost less in all.
    const StreamRates longer = measure_streams(geometry, kRefresh, 16 * kChunk);
    EXPECT_LT(longer.turn_ns, 16 * rates.turn_ns / 4);
    // Refresh bank by bank hides behind other banks.
    const StreamRates hidden = measure_streams(geometry, dram::RefreshPolicy::kPerBank, kChunk);
    EXPECT_GT(hidden.read_gb_per_s, 1.05 * rates.read_gb_per_s);
}

TEST(StreamMemory, StreamsThatShareTheBusTakeTurns) {
    const StreamParameters parameters{
        .read_gb_per_s = 10, .write_gb_per_s = 10, .latency_ns = 0, .jump_ns = 20, .turn_ns = 50};
    Stream stream(parameters);
    EXPECT_NEAR(stream.transfer_ns(0, 1000, false, 0), 100, 0.01);
    EXPECT_NEAR(stream.transfer_ns(0, 1000, false, 1000), 200, 0.01) << "it goes on";
    EXPECT_NEAR(stream.transfer_ns(0, 1000, false, 8000), 320, 0.01) << "another stream";
    EXPECT_NEAR(stream.transfer_ns(0, 1000, true, 0), 470, 0.01) << "the other way";
    EXPECT_NEAR(stream.transfer_ns(0, 1000, true, 1000), 620, 0.01)
        << "reads were still waiting when it came";
    EXPECT_NEAR(stream.transfer_ns(400, 1000, true, 2000), 320, 0.01) << "reads are done";
    EXPECT_NEAR(stream.transfer_ns(2000, 1000, false, 0), 100, 0.01) << "the bus stood idle";
}

TEST(StreamMemory, ShortTransfersPayTheirShareOfATurn) {
    Stream stream({.read_gb_per_s = 10,
                   .write_gb_per_s = 10,
                   .latency_ns = 0,
                   .jump_ns = 20,
                   .turn_ns = 50,
                   .chunk = 1000});
    EXPECT_NEAR(stream.transfer_ns(0, 2000, false, 0), 200, 0.01);
    EXPECT_NEAR(stream.transfer_ns(0, 500, false, 8000), 260, 0.01);
    EXPECT_NEAR(stream.transfer_ns(0, 100, true, 0), 275, 0.01);
    EXPECT_NEAR(stream.transfer_ns(0, 2000, false, 0), 525, 0.01) << "none pays more than one";
}

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
