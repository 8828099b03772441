// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/output_difference.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "sim/error/error.h"
#include "sim/stats/sha256.h"
#include "validation/measure/packed.h"

namespace lockstep::validation {

namespace {

namespace fs = std::filesystem;

std::vector<std::byte> from_hexadecimal(const std::string& text) {
    std::vector<std::byte> bytes(text.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        unsigned value = 0;
        std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, value, 16);
        bytes[i] = static_cast<std::byte>(value);
    }
    return bytes;
}

/// Nothing where they were not kept.
std::vector<std::byte> bytes_of(const Output& measured, const std::string& folder) {
    if (!measured.value.empty()) return from_hexadecimal(measured.value);
    const fs::path path = output_path(folder, measured.sha256);
    if (folder.empty() || !fs::exists(path)) return {};
    std::ifstream file(path, std::ios::binary);
    const std::string packed{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::byte> bytes = unpack(packed, measured.bytes, path.string());
    if (bytes.size() != measured.bytes || stats::sha256(bytes) != measured.sha256)
        throw InputError(
            fmt::format("{}: does not have the hash that it is named by", path.string()));
    return bytes;
}

std::uint32_t word_at(const std::vector<std::byte>& bytes, std::size_t index) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + 4 * index,
                std::min<std::size_t>(sizeof word, bytes.size() - 4 * index));
    return word;
}

}  // namespace

std::string output_difference(const Output& measured, const Output& ours,
                              const std::string& folder) {
    if (measured.bytes != ours.data.size())
        return fmt::format("{} bytes, ours are {}", measured.bytes, ours.data.size());
    const std::vector<std::byte> silicon = bytes_of(measured, folder);
    if (silicon.empty())
        return fmt::format(
            "other bits; the silicon's were not kept (lockstep_measure --keep-outputs {})",
            measured.bytes);
    if (silicon.size() != ours.data.size())
        return fmt::format("{} bytes, ours are {}", silicon.size(), ours.data.size());
    const std::size_t words = (silicon.size() + 3) / 4;
    std::size_t different = 0, first = words;
    for (std::size_t i = 0; i < words; ++i) {
        if (word_at(silicon, i) == word_at(ours.data, i)) continue;
        if (different++ == 0) first = i;
    }
    if (different == 0) return "equal bytes under another hash";
    const auto show = [](std::uint32_t word) {
        return fmt::format("{:#010x} ({:.9g}, {})", word, std::bit_cast<float>(word),
                           static_cast<std::int32_t>(word));
    };
    return fmt::format("{} of {} words differ, first [{}]: silicon {}, ours {}", different, words,
                       first, show(word_at(silicon, first)), show(word_at(ours.data, first)));
}

}  // namespace lockstep::validation
