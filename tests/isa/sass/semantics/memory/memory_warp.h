// SPDX-License-Identifier: Apache-2.0
// A warp with global, shared, local and constant memory, to try memory instructions on.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <numeric>
#include <vector>

#include "isa/sass/global_memory.h"
#include "tests/isa/sass/semantics/test_warp.h"

namespace lockstep::sass {

/// Arrays at device addresses of the test's choice.
class FakeMemory : public GlobalMemory {
  public:
    std::vector<std::uint8_t>& add(std::uint64_t address, std::size_t bytes, bool writable = true) {
        Array& array = arrays_[address];
        array.bytes.resize(bytes);
        array.writable = writable;
        return array.bytes;
    }
    Extent find(std::uint64_t address) const override {
        ++lookups;
        for (const auto& [begin, array] : arrays_)
            if (address >= begin && address < begin + array.bytes.size())
                return {begin, begin + array.bytes.size(),
                        reinterpret_cast<std::byte*>(const_cast<std::uint8_t*>(array.bytes.data())),
                        array.writable};
        return {};
    }
    std::string describe(std::uint64_t address) const override {
        return fmt::format("{:#x} is nowhere", address);
    }
    mutable unsigned lookups = 0;

  private:
    struct Array {
        std::vector<std::uint8_t> bytes;
        bool writable = true;
    };
    std::map<std::uint64_t, Array> arrays_;
};

class MemoryWarp : public TestWarp {
  public:
    static constexpr std::uint64_t kGlobal = 0x2000'0000'0000;
    static constexpr unsigned kGlobalBytes = 8192, kSharedBytes = 4096, kLocalBytes = 1024;

    explicit MemoryWarp(Arch arch = 90)
        : TestWarp(arch),
          global(memory.add(kGlobal, kGlobalBytes)),
          shared(kSharedBytes),
          local(kLocalBytes * kWarpSize) {
        launch.arch = arch;
        launch.memory = &memory;
        launch.shared_bytes = kSharedBytes;
        launch.local_bytes = kLocalBytes;
        cta.launch = &launch;
        cta.shared = reinterpret_cast<std::byte*>(shared.data());
        cta.warps = {&warp};
        warp.cta = &cta;
        warp.local = reinterpret_cast<std::byte*>(local.data());
        warp.live = warp.lanes = warp.active = kAllLanes;
        for (std::size_t i = 0; i < global.size(); ++i)
            global[i] = static_cast<std::uint8_t>(i * 37 + (i >> 8));
        for (std::size_t i = 0; i < shared.size(); ++i)
            shared[i] = static_cast<std::uint8_t>(i * 53 + (i >> 7));
        std::iota(local.begin(), local.end(), std::uint8_t{0});
        for (unsigned r = 0; r < 64; ++r)
            for (unsigned l = 0; l < kWarpSize; ++l) (*this)[r].lane[l] = 0x01010101u * r + l;
    }

    Row& uniform(unsigned number) {
        return reinterpret_cast<Row*>(warp.bases[0])[kUniformRow + number];
    }
    void set_uniform64(unsigned number, std::uint64_t value) {
        for (unsigned l = 0; l < kWarpSize; ++l) {
            uniform(number).lane[l] = static_cast<std::uint32_t>(value);
            uniform(number + 1).lane[l] = static_cast<std::uint32_t>(value >> 32);
        }
    }
    /// Sets a 64-bit register to f(lane).
    template <typename F>
    void set_addresses(unsigned number, F&& f) {
        for (unsigned l = 0; l < kWarpSize; ++l) set64(number, l, f(l));
    }
    template <typename F>
    void set_lanes(unsigned number, F&& f) {
        for (unsigned l = 0; l < kWarpSize; ++l) (*this)[number].lane[l] = f(l);
    }
    static std::uint32_t word_at(const std::vector<std::uint8_t>& bytes, std::size_t offset) {
        std::uint32_t value = 0;
        std::memcpy(&value, bytes.data() + offset, 4);
        return value;
    }
    static void set_word(std::vector<std::uint8_t>& bytes, std::size_t offset,
                         std::uint32_t value) {
        std::memcpy(bytes.data() + offset, &value, 4);
    }
    /// The fault that executing the word raises.
    Fault fault_of(const Word& word, std::uint32_t mask = kAllLanes) {
        try {
            execute(word, mask);
        } catch (const Fault& fault) {
            return fault;
        }
        return {.kind = FaultKind::kLaunchFailure, .what = "no fault"};
    }

    FakeMemory memory;
    std::vector<std::uint8_t>& global;
    std::vector<std::uint8_t> shared, local;
    Launch launch;
    Cta cta;
};

/// Size field of loads and stores (bits 73-75).
enum SizeField : unsigned {
    kFieldU8,
    kFieldS8,
    kFieldU16,
    kFieldS16,
    kField32,
    kField64,
    kField128
};
constexpr unsigned kFieldBytes[] = {1, 1, 2, 2, 4, 8, 16};

}  // namespace lockstep::sass
