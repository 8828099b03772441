// SPDX-License-Identifier: Apache-2.0
// Parameter lists of all lengths and alignments (data/parameters): kernels get each of their bytes,
// above all the last ones, where the list is no whole number of words.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "isa/cubin/cubin.h"
#include "models/device.h"
#include "sim/config/machine.h"
#include "tests/isa/sass/tensor_core/xz.h"
#include "tests/paths.h"

namespace lockstep {
namespace {

struct Build {
    int sm;
    const char* machine;
    int level;  ///< of ptxas's optimisation
    bool in_cycles;

    std::string name() const {
        return fmt::format("sm_{}_O{}_{}", sm, level, in_cycles ? "cycle" : "emulate");
    }
    friend void PrintTo(const Build& build, std::ostream* out) { *out << build.name(); }
};

class Parameters : public testing::TestWithParam<Build> {
  protected:
    Parameters()
        : device_(
              GetParam().in_cycles
                  ? make_simulator(config::Machine::load(GetParam().machine, {"sm.count=2"}), {})
                  : make_emulator(config::Machine::load(GetParam().machine), {})) {
        const std::string path =
            source_path(fmt::format("tests/models/gpu/data/parameters/cubin/O{}.sm_{}.cubin.xz",
                                    GetParam().level, GetParam().sm));
        const std::string bytes = read_xz(path);
        cubin_ =
            cubin::parse({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, path);
        module_ = device_->load_module(cubin_);
        result_ = reinterpret_cast<std::uint8_t*>(device_->allocate(kResultBytes));
    }

    /// The kernel's parameter area with the result's address first and any bytes behind it.
    std::vector<std::byte> any_parameters(const cubin::Function& kernel) {
        std::vector<std::byte> area(kernel.parameter_bytes);
        std::generate(area.begin(), area.end(), [&] { return static_cast<std::byte>(random_()); });
        std::memcpy(area.data(), &result_, sizeof result_);
        return area;
    }

    void launch(const cubin::Function& kernel, std::span<const std::byte> area, unsigned threads) {
        std::fill_n(result_, kResultBytes, std::uint8_t{0});
        LaunchRequest request;
        request.module = module_;
        request.kernel = kernel.name;
        request.block = {threads};
        request.parameters = area;
        device_->launch(request);
    }

    static constexpr std::size_t kResultBytes = 256;
    std::unique_ptr<Device> device_;
    cubin::Cubin cubin_;
    ModuleHandle module_ = 0;
    std::uint8_t* result_ = nullptr;
    std::mt19937 random_{11};
};

/// What a tail_T_P kernel adds to byte P - 1 times 2^32: the number of this type at these bytes.
std::int64_t widened(const std::string& type, const std::byte* at) {
    const auto read = [&](auto value) {
        std::memcpy(&value, at, sizeof value);
        return static_cast<std::int64_t>(value);
    };
    if (type == "s8") return read(std::int8_t{});
    if (type == "u8") return read(std::uint8_t{});
    if (type == "s16") return read(std::int16_t{});
    if (type == "s32") return read(std::int32_t{});
    if (type == "s64") return read(std::int64_t{});
    return read(std::uint16_t{});
}

TEST_P(Parameters, StructuresArriveWhole) {
    int kernels = 0;
    for (const cubin::Function& kernel : cubin_.functions) {
        const bool is_structure = kernel.name.starts_with("bytes_") ||
                                  kernel.name.starts_with("indexed_") ||
                                  kernel.name.starts_with("address_");
        if (!is_structure) continue;
        const cubin::Parameter& structure = kernel.parameters.at(1);
        const std::vector<std::byte> area = any_parameters(kernel);
        launch(kernel, area, kernel.name.starts_with("indexed_") ? structure.size : 1);
        EXPECT_EQ(std::memcmp(result_, area.data() + structure.offset, structure.size), 0)
            << kernel.name;
        ++kernels;
    }
    EXPECT_EQ(kernels, 3 * 16);
}

TEST_P(Parameters, LastNumbersArriveWithTheirSigns) {
    int kernels = 0;
    for (const cubin::Function& kernel : cubin_.functions) {
        if (!kernel.name.starts_with("tail_")) continue;
        const std::string type = kernel.name.substr(5, kernel.name.rfind('_') - 5);
        const cubin::Parameter &lead = kernel.parameters.at(1), &number = kernel.parameters.at(2);
        std::vector<std::byte> area = any_parameters(kernel);
        area[number.offset + number.size - 1] |= std::byte{0x80};
        // Twice a half is its exponent plus 1 where neither is subnormal or infinite.
        if (type == "f16") area[number.offset + number.size - 1] = std::byte{0xc1};
        launch(kernel, area, 1);
        const std::int64_t sum =
            widened(type, area.data() + number.offset) + (type == "f16" ? 1 << 10 : 0) +
            (std::to_integer<std::int64_t>(area[lead.offset + lead.size - 1]) << 32);
        std::int64_t result = 0;
        std::memcpy(&result, result_, sizeof result);
        EXPECT_EQ(result, sum) << kernel.name;
        ++kernels;
    }
    EXPECT_EQ(kernels, 5 * 4 + 2 + 6);
}

TEST_P(Parameters, FlagAloneDecides) {
    for (const char* name : {"flag", "flag_after_200"})
        for (const bool is_set : {false, true}) {
            const cubin::Function& kernel = *cubin_.find_function(name);
            std::vector<std::byte> area = any_parameters(kernel);
            area.at(kernel.parameters.back().offset) = static_cast<std::byte>(is_set);
            launch(kernel, area, 1);
            EXPECT_EQ(result_[0], is_set ? 7 : 0) << name;
        }
}

std::vector<Build> builds() {
    std::vector<Build> all;
    for (const auto& [sm, machine] :
         {std::pair{75, "t4"}, std::pair{80, "a100"}, std::pair{86, "rtx3090"},
          std::pair{87, "rtx4090"}, std::pair{88, "rtx4090"}, std::pair{89, "rtx4090"},
          std::pair{90, "h200"}})
        for (const int level : {0, 3})
            for (const bool in_cycles : {false, true})
                all.push_back({sm, machine, level, in_cycles});
    return all;
}

INSTANTIATE_TEST_SUITE_P(Builds, Parameters, testing::ValuesIn(builds()),
                         [](const auto& build) { return build.param.name(); });

}  // namespace
}  // namespace lockstep
