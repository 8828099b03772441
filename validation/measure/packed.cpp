// SPDX-License-Identifier: Apache-2.0
#include "validation/measure/packed.h"

#include <zstd.h>

#include "sim/error/error.h"

namespace lockstep::validation {

namespace {
constexpr int kLevel = 12;
}

std::string pack(std::span<const std::byte> bytes) {
    std::string packed(ZSTD_compressBound(bytes.size()), '\0');
    const std::size_t size =
        ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kLevel);
    LOCKSTEP_CHECK(!ZSTD_isError(size), "zstd: {}", ZSTD_getErrorName(size));
    packed.resize(size);
    return packed;
}

std::vector<std::byte> unpack(std::string_view packed, std::uint64_t maximum_bytes,
                              const std::string& file_name) {
    const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (size > maximum_bytes)  // also what stands for an unknown size and for an error
        throw InputError(fmt::format("{}: not zstd of at most {} bytes", file_name, maximum_bytes));
    std::vector<std::byte> bytes(size);
    const std::size_t got =
        ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
    if (ZSTD_isError(got) || got != size)
        throw InputError(fmt::format("{}: {}", file_name,
                                     ZSTD_isError(got) ? ZSTD_getErrorName(got) : "is cut short"));
    return bytes;
}

std::filesystem::path output_path(const std::filesystem::path& folder, const std::string& sha256) {
    return folder / (sha256 + ".zst");
}

}  // namespace lockstep::validation
