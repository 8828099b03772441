// SPDX-License-Identifier: Apache-2.0
// Damaged files: whatever is cut off or changed, the readers return or throw InputError.
#include <cstring>
#include <random>

#include "isa/cubin/cubin.h"
#include "isa/cubin/fatbin.h"
#include "sim/error/error.h"
#include "tests/isa/cubin/test_data.h"

namespace lockstep::cubin {
namespace {

/// True where the file is read; false where InputError is thrown, which must name file and offset.
template <typename Read>
bool reads(Read read) {
    try {
        read();
        return true;
    } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).rfind("x: offset 0x", 0), 0u) << error.what();
        return false;
    }
}

bool reads_cubin(std::span<const uint8_t> bytes) {
    return reads([&] { parse(bytes, "x"); });
}

bool reads_fatbin(std::span<const uint8_t> bytes) {
    return reads([&] {
        for (const Image& image : parse_fatbin(bytes, "x")) {
            const std::vector<uint8_t> contents = payload(image, "x");
            if (image.kind == ImageKind::kElf) parse(contents, "x");
        }
    });
}

TEST(Hostile, CubinCutAnywhere) {
    const std::vector<uint8_t> file = read_data("tiny_sm90.cubin");
    ASSERT_TRUE(reads_cubin(file));
    int read = 0;
    for (size_t size = 0; size < file.size(); ++size) {
        // A copy of its own, so that a sanitizer sees any read past the end.
        const std::vector<uint8_t> cut(file.begin(),
                                       file.begin() + static_cast<std::ptrdiff_t>(size));
        read += reads_cubin(cut);
    }
    // The section table is not last in the file; what follows it are program headers.
    EXPECT_LT(read, 400);
}

TEST(Hostile, FatbinCutAnywhere) {
    const std::vector<uint8_t> file = read_data("tiny_size.fatbin");
    ASSERT_TRUE(reads_fatbin(file));
    for (size_t size = 0; size < file.size(); ++size) {
        const std::vector<uint8_t> cut(file.begin(),
                                       file.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(reads_fatbin(cut)) << size;
    }
}

template <typename Read>
void flip_bits(const std::string& name, int rounds, Read read) {
    const std::vector<uint8_t> file = read_data(name);
    std::mt19937_64 random(1);
    for (int round = 0; round < rounds; ++round) {
        std::vector<uint8_t> damaged = file;
        const uint64_t flips = 1 + random() % 8;
        for (uint64_t i = 0; i < flips; ++i) {
            uint8_t& byte = damaged[random() % damaged.size()];
            if (random() % 4 == 0)
                byte = static_cast<uint8_t>(random() % 2 ? 0xff : 0x7f);
            else
                byte = static_cast<uint8_t>(byte ^ 1u << random() % 8);
        }
        read(damaged);
    }
}

TEST(Hostile, CubinsWithFlippedBits) {
    for (const char* name : {"tiny_sm90.cubin", "linked_sm80.cubin", "caller_sm80_object.cubin"})
        flip_bits(name, 5000, reads_cubin);
    flip_bits("zoo_sm70_cuda11.cubin", 1000, reads_cubin);
}

TEST(Hostile, FatbinsWithFlippedBits) {
    for (const char* name : {"tiny_none.fatbin", "tiny_speed.fatbin", "tiny_size.fatbin"})
        flip_bits(name, 3000, reads_fatbin);
}

// What the second one says of the parameters could contradict the first.
TEST(Hostile, CubinWithTwoAttributeSectionsOfOneFunction) {
    std::vector<uint8_t> file = read_data("zoo_sm90.cubin");
    uint64_t table;
    uint16_t count, names;
    std::memcpy(&table, file.data() + 40, 8);
    std::memcpy(&count, file.data() + 60, 2);
    std::memcpy(&names, file.data() + 62, 2);
    uint64_t names_offset;
    std::memcpy(&names_offset, file.data() + table + names * 64u + 24, 8);
    uint32_t name_of_first = 0;
    for (uint64_t row = table; row < table + count * 64u; row += 64) {
        uint32_t name;
        std::memcpy(&name, file.data() + row, 4);
        const std::string text = reinterpret_cast<const char*>(file.data() + names_offset + name);
        if (text.rfind(".nv.info.", 0) != 0) continue;
        if (name_of_first == 0) {
            name_of_first = name;
            continue;
        }
        std::memcpy(file.data() + row, &name_of_first, 4);
        uint32_t other_function = 0;
        std::memcpy(file.data() + row + 44, &other_function, 4);
        EXPECT_FALSE(reads_cubin(file));
        return;
    }
    FAIL() << "no second section";
}

// Every 4-byte field of the section table and the ELF header with the values that overflow sums.
TEST(Hostile, CubinWithExtremeHeaderFields) {
    const std::vector<uint8_t> file = read_data("tiny_sm90.cubin");
    uint64_t table;
    uint16_t count;
    std::memcpy(&table, file.data() + 40, 8);
    std::memcpy(&count, file.data() + 60, 2);
    std::vector<uint64_t> places;
    for (uint64_t at = 0; at < 64; at += 4) places.push_back(at);
    for (uint64_t at = table; at < table + count * 64u; at += 4) places.push_back(at);
    for (const uint64_t place : places) {
        for (const uint64_t value :
             {uint64_t{0}, uint64_t{1}, uint64_t{0x7fffffff}, uint64_t{0x80000000},
              uint64_t{0xffffffff}, ~uint64_t{0}, uint64_t{1} << 63, file.size()}) {
            for (const size_t width : {4, 8}) {
                std::vector<uint8_t> damaged = file;
                std::memcpy(damaged.data() + place, &value, width);
                reads_cubin(damaged);
            }
        }
    }
}

}  // namespace
}  // namespace lockstep::cubin
