// SPDX-License-Identifier: Apache-2.0
// A requester, the TLM port and a loopback memory behind its socket.
#include "sim/engine/tlm_memory_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstring>

namespace lockstep::engine {
namespace {

/// A TLM-2.0 memory that answers after a fixed time.
class LoopbackMemory : public sc_core::sc_module {
  public:
    LoopbackMemory(const sc_core::sc_module_name& name, sc_core::sc_time latency)
        : sc_core::sc_module(name), latency_(latency) {
        socket.register_b_transport(this, &LoopbackMemory::b_transport);
    }
    tlm_utils::simple_target_socket<LoopbackMemory> socket{"socket"};
    std::vector<Time> arrivals;

  private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        arrivals.push_back((sc_core::sc_time_stamp() + delay).value());
        if (payload.get_address() + payload.get_data_length() > bytes_.size()) {
            payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        std::uint8_t* cell = bytes_.data() + payload.get_address();
        if (payload.is_write()) {
            std::memcpy(cell, payload.get_data_ptr(), payload.get_data_length());
        } else {
            std::memcpy(payload.get_data_ptr(), cell, payload.get_data_length());
        }
        delay += latency_;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    const sc_core::sc_time latency_;
    std::array<std::uint8_t, 256> bytes_{};
};

/// Sends its requests one a cycle; notes the cycle of each response.
class Requester : public Tile {
  public:
    Requester(Simulation& simulation, std::vector<MemoryRequest> list)
        : Tile(simulation, "requester", ClockDomain(500)), list_(std::move(list)) {}
    Sender<MemoryRequest> requests{*this, "requests"};
    Receiver<MemoryResponse> responses{*this, "responses"};
    std::vector<std::pair<Cycle, std::uint64_t>> answered;

    Cycle advance(Cycle from, Cycle until) override {
        for (Cycle now = from; now < until; ++now) {
            while (responses.ready(now)) answered.emplace_back(now, responses.receive(now).tag);
            if (sent_ < list_.size() && requests.credits(now) > 0)
                requests.send(now, list_[sent_++]);
        }
        return sent_ < list_.size() ? until : kNever;
    }
    bool finished() const override { return answered.size() == list_.size(); }

  private:
    std::vector<MemoryRequest> list_;
    std::size_t sent_ = 0;
};

struct Bench {
    Bench(unsigned threads, std::vector<MemoryRequest> list)
        : simulation({.threads = threads}), requester(simulation, std::move(list)) {
        simulation.connect(requester.requests, port.requests,
                           {.latency = 10, .capacity = 16, .credit_latency = 8, .width = 1});
        simulation.connect(port.responses, requester.responses,
                           {.latency = 10, .capacity = 16, .credit_latency = 10});
        port.socket().bind(memory.socket);
    }
    Simulation simulation;
    Requester requester;
    TlmMemoryPort port{simulation, "port", ClockDomain(700)};
    LoopbackMemory memory{"memory", sc_core::sc_time(35, sc_core::SC_NS)};
};

TEST(TlmMemoryPort, CarriesDataAndTime) {
    for (const unsigned threads : {1u, 2u}) {
        std::array<std::uint8_t, 32> written, read{};
        for (int i = 0; i < 32; ++i) written[i] = static_cast<std::uint8_t>(3 * i + 1);
        Bench bench(threads,
                    {{.address = 64, .bytes = 32, .write = true, .tag = 7, .data = written.data()},
                     {.address = 64, .bytes = 32, .tag = 8, .data = read.data()},
                     {.address = 0, .bytes = 128, .tag = 9}});
        EXPECT_EQ(bench.simulation.run(), StopReason::kFinished);
        EXPECT_EQ(read, written);
        // Sent at 0, 0.5, 1 ns, 5 ns under way, taken at the next cycle of 0.7 ns.
        EXPECT_THAT(bench.memory.arrivals, testing::ElementsAre(5600, 6300, 7000));
        // 35 ns are 50 cycles of 0.7 ns; the way back is 7 ns, to the next cycle of 0.5 ns.
        EXPECT_THAT(bench.requester.answered,
                    testing::ElementsAre(std::pair(96, 7), std::pair(97, 8), std::pair(98, 9)));
    }
}

TEST(TlmMemoryPort, AnErrorResponseEndsTheRun) {
    Bench bench(1, {{.address = 250, .bytes = 32}});
    EXPECT_THROW(bench.simulation.run(), InternalError);
}

TEST(TlmMemoryPort, ItsSocketStandsInTheHierarchy) {
    const Bench bench(1, {});
    EXPECT_NE(sc_core::sc_find_object("chip.port.socket"), nullptr);
}

}  // namespace
}  // namespace lockstep::engine
