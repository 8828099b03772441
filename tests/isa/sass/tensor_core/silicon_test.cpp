// SPDX-License-Identifier: Apache-2.0
// Every recorded output of a real Tensor Core, bit for bit.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <sstream>

#include "isa/sass/tensor_core/dot_product.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"
#include "sim/numerics/fp8.h"
#include "tests/isa/sass/tensor_core/xz.h"
#include "tests/paths.h"

namespace lockstep::sass {
namespace {

std::vector<uint32_t> hex_numbers(const std::string& text) {
    std::vector<uint32_t> numbers;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');) {
        numbers.push_back(static_cast<uint32_t>(std::stoul(item, nullptr, 16)));
    }
    return numbers;
}

uint32_t encode(TensorType type, uint32_t fp32_bits) {
    const float value = std::bit_cast<float>(fp32_bits);
    switch (type) {
        case TensorType::kFp16:
            return numerics::fp32_to_fp16(value);
        case TensorType::kBf16:
            return numerics::fp32_to_bf16(value);
        case TensorType::kTf32:
            return fp32_bits;
        case TensorType::kE4m3:
            return numerics::fp32_to_e4m3(value, false);
        case TensorType::kE5m2:
            return numerics::fp32_to_e5m2(value, false);
    }
    return 0;
}

struct DataSet {
    int sm;
    TensorType type;
    bool half;
};

// One recorded dot product, computed in a row of a tile that is otherwise zero.
uint32_t compute(const DataSet& set, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b,
                 uint32_t c, int row) {
    const int depth = static_cast<int>(a.size());
    static DecodedTile tile_a, tile_b;
    std::fill_n(tile_a.bits, 16 * depth, 0);
    std::fill_n(tile_b.bits, 16 * depth, 0);
    for (int k = 0; k < depth; ++k) {
        tile_a.bits[k * 16 + row] = encode(set.type, a[k]);
        tile_b.bits[k] = encode(set.type, b[k]);
    }
    tile_a.decode(set.type, 16 * depth);
    tile_b.decode(set.type, 16 * depth);
    uint32_t column[16] = {};
    column[row] = set.half ? numerics::fp32_to_fp16(std::bit_cast<float>(c)) : c;
    accumulate_column(dot_product_rule(set.sm, set.type, set.half), depth, tile_a, tile_b, 0,
                      column);
    if (!set.half) return column[row];
    return std::bit_cast<uint32_t>(numerics::fp16_to_fp32(static_cast<uint16_t>(column[row])));
}

// sm_90 has no fp8 mma.sync: ptxas unpacks each register's lower and upper pair of fp8 to fp16,
// issues an HMMA.16816.F16 for either, and adds C with HADD2. The recorded fp8 outputs in fp16 are
// of that.
uint32_t compute_unpacked(const DataSet& set, const std::vector<uint32_t>& a,
                          const std::vector<uint32_t>& b, uint32_t c, int row) {
    uint32_t sum = 0;
    for (const size_t pair : {0, 2}) {
        std::vector<uint32_t> x, y;
        for (size_t k = 0; k < a.size(); ++k) {
            if (k % 4 / 2 * 2 != pair) continue;
            x.push_back(a[k]);
            y.push_back(b[k]);
        }
        sum = compute({set.sm, TensorType::kFp16, true}, x, y, sum, row);
    }
    const float addend = numerics::fp16_to_fp32(numerics::fp32_to_fp16(std::bit_cast<float>(c)));
    const float total = std::bit_cast<float>(sum) + addend;
    return std::bit_cast<uint32_t>(numerics::fp16_to_fp32(numerics::fp32_to_fp16(total)));
}

TEST(Silicon, EveryRecordedOutputMatches) {
    const std::map<std::string, int> architectures = {
        {"V100", 70}, {"A100", 80}, {"L40S", 89}, {"H100", 90}, {"H200", 90}};
    const std::map<std::string, TensorType> types = {{"fp16", TensorType::kFp16},
                                                     {"bf16", TensorType::kBf16},
                                                     {"tf32", TensorType::kTf32},
                                                     {"E4M3", TensorType::kE4m3},
                                                     {"E5M2", TensorType::kE5m2}};
    const std::vector<std::string> lines =
        read_xz_lines(source_path("tests/isa/sass/tensor_core/data/tensor_core_vectors.tsv.xz"));
    std::map<std::string, int> compared, mismatched;
    for (size_t at = 1; at < lines.size(); ++at) {
        std::istringstream line(lines[at]);
        std::string gpu, input, output, a, b, c, d;
        line >> gpu >> input >> output >> a >> b >> c >> d;
        const DataSet set{architectures.at(gpu), types.at(input), output == "fp16"};
        const bool fp8 = set.type == TensorType::kE4m3 || set.type == TensorType::kE5m2;
        // The fp32 outputs of fp8 on sm_90 are of wgmma, run with C = 0 whatever the file says.
        const uint32_t addend = fp8 && set.sm == 90 && !set.half ? 0 : hex_numbers(c)[0];
        const auto unit = fp8 && set.sm == 90 && set.half ? compute_unpacked : compute;
        const uint32_t result =
            unit(set, hex_numbers(a), hex_numbers(b), addend, static_cast<int>(at % 16));
        const std::string name = gpu + " " + input + " " + output;
        ++compared[name];
        mismatched[name] += result != hex_numbers(d)[0];
    }
    EXPECT_EQ(compared.size(), 28u);
    for (const auto& [name, count] : compared) {
        EXPECT_EQ(count, 1200) << name;
        EXPECT_EQ(mismatched[name], 0) << name;
    }
}

}  // namespace
}  // namespace lockstep::sass
