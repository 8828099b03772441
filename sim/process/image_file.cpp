// SPDX-License-Identifier: Apache-2.0
#include "sim/process/image_file.h"

#include <algorithm>
#include <cstring>

#include "sim/error/error.h"

namespace lockstep::process {

namespace {

constexpr std::uint64_t kHighest = 1ull << 47;  // addresses of x86-64 programs end here
constexpr std::uint64_t kMost = 1 << 20;        // mappings, chunks, bytes of the identity

[[noreturn]] void fail(const std::string& name, const std::string& what) {
    throw InputError(fmt::format("{}: {}", name, what));
}

bool is_on_pages(std::uint64_t value) {
    return value % kPage == 0;
}

void check_mappings(const Image& image, const std::string& name) {
    constexpr std::uint64_t kAllProtections = 7;
    std::uint64_t end = kPage;  // nothing is mapped at 0
    for (const Mapping& mapping : image.mappings) {
        if (mapping.begin < end || mapping.end <= mapping.begin || mapping.end > kHighest ||
            !is_on_pages(mapping.begin) || !is_on_pages(mapping.end))
            fail(name, fmt::format("malformed: a mapping from {:#x} to {:#x}", mapping.begin,
                                   mapping.end));
        if (mapping.protection > kAllProtections || mapping.kind > MappingKind::kFile)
            fail(name, fmt::format("malformed: the mapping at {:#x}", mapping.begin));
        end = mapping.end;
    }
}

/// The mapping that holds all of the range, or nullptr.
const Mapping* mapping_of(const Image& image, std::uint64_t begin, std::uint64_t bytes) {
    const auto after = std::upper_bound(
        image.mappings.begin(), image.mappings.end(), begin,
        [](std::uint64_t address, const Mapping& mapping) { return address < mapping.begin; });
    if (after == image.mappings.begin()) return nullptr;
    const Mapping& mapping = *std::prev(after);
    return begin < mapping.end && bytes <= mapping.end - begin ? &mapping : nullptr;
}

void check_chunks(const Image& image, std::uint64_t file_bytes, const std::string& name) {
    std::uint64_t at = image.header.data_offset, end = 0;
    for (const Chunk& chunk : image.chunks) {
        if (chunk.bytes == 0 || !is_on_pages(chunk.address) || !is_on_pages(chunk.bytes) ||
            chunk.address < end || mapping_of(image, chunk.address, chunk.bytes) == nullptr)
            fail(name, fmt::format("malformed: contents of {} bytes at {:#x}", chunk.bytes,
                                   chunk.address));
        if (chunk.bytes > file_bytes - at)
            fail(name, fmt::format("cut off: contents at {:#x} are missing", chunk.address));
        at += chunk.bytes;
        end = chunk.address + chunk.bytes;
    }
    if (at != file_bytes) fail(name, fmt::format("{} bytes too many", file_bytes - at));
}

template <typename T>
void take(std::span<const std::byte>& from, std::vector<T>& into, std::uint64_t count) {
    into.resize(count);
    if (count != 0) std::memcpy(into.data(), from.data(), count * sizeof(T));
    from = from.subspan(count * sizeof(T));
}

}  // namespace

std::uint64_t mixed(std::uint64_t hash, std::span<const std::byte> bytes) {
    constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ull;  // splitmix64's, 2^64 / golden ratio
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
        hash = (hash ^ word) * kFactor;
        hash ^= hash >> 32;
    }
    return hash;
}

std::uint64_t table_bytes(const ImageHeader& header, std::uint64_t file_bytes,
                          const std::string& name) {
    if (std::memcmp(header.magic, kImageMagic, sizeof kImageMagic) != 0)
        fail(name, "no checkpoint of a run, or another version's");
    if (header.identity_bytes > kMost || header.mappings > kMost || header.chunks > kMost)
        fail(name, "malformed: its tables are too large");
    const std::uint64_t bytes = sizeof header + header.identity_bytes +
                                header.mappings * sizeof(Mapping) + header.chunks * sizeof(Chunk);
    if (bytes > header.data_offset || !is_on_pages(header.data_offset) ||
        header.data_offset > file_bytes)
        fail(name, "cut off: its tables are not all there");
    return bytes;
}

Image parse_image(std::span<const std::byte> tables, std::uint64_t file_bytes,
                  const std::string& name) {
    Image image;
    if (tables.size() < sizeof image.header) fail(name, "no checkpoint of a run: too short");
    std::memcpy(&image.header, tables.data(), sizeof image.header);
    if (table_bytes(image.header, file_bytes, name) != tables.size())
        fail(name, "malformed: its tables have another size");
    std::span<const std::byte> left = tables.subspan(sizeof image.header);
    if (mixed(0, left) != image.header.table_hash) fail(name, "damaged: the tables' hash differs");
    image.identity.assign(reinterpret_cast<const char*>(left.data()), image.header.identity_bytes);
    left = left.subspan(image.header.identity_bytes);
    take(left, image.mappings, image.header.mappings);
    take(left, image.chunks, image.header.chunks);
    check_mappings(image, name);
    check_chunks(image, file_bytes, name);
    for (const std::uint64_t address : {image.header.context, image.header.resumed}) {
        const Mapping* mapping = mapping_of(image, address, kPage / 2);
        if (mapping == nullptr || (mapping->protection & 2) == 0)
            fail(name, "malformed: it does not say where it goes on");
    }
    return image;
}

}  // namespace lockstep::process
