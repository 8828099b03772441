// SPDX-License-Identifier: Apache-2.0
// Any bytes as the tables of a process image: InputError, or tables that are in order. The hash is
// made right, for no fuzzer guesses it; nothing is entered.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "sim/error/error.h"
#include "sim/process/image_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace lockstep;
    process::ImageHeader header{};
    if (size < sizeof header) return 0;
    std::vector<std::byte> tables(size);
    std::memcpy(tables.data(), data, size);
    std::memcpy(&header, data, sizeof header);
    std::memcpy(header.magic, process::kImageMagic, sizeof header.magic);
    header.table_hash = process::mixed(0, std::span(tables).subspan(sizeof header));
    std::memcpy(tables.data(), &header, sizeof header);
    const std::uint64_t file_bytes = header.data_hash;  // any
    try {
        const process::Image image = process::parse_image(tables, file_bytes, "input");
        std::uint64_t bytes = image.header.data_offset;
        for (const process::Chunk& chunk : image.chunks) bytes += chunk.bytes;
        if (bytes != file_bytes) std::abort();
    } catch (const InputError&) {
    }
    return 0;
}
