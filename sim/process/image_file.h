// SPDX-License-Identifier: Apache-2.0
// The file of a process image: what was mapped, and the pages' contents. Everything is checked
// before any of it is used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::process {

inline constexpr std::uint64_t kPage = 4096;

struct ImageHeader {
    char magic[8];                                ///< kImageMagic
    std::uint64_t identity_bytes;                 ///< the text of what the image is of
    std::uint64_t mappings, chunks;               ///< how many; the tables follow the identity
    std::uint64_t context, resumed;               ///< addresses: where it goes on; what tells it so
    std::uint64_t heap_end, thread_base, kernel;  ///< kernel: where its code for processes lies
    std::uint64_t data_hash, table_hash;
    std::uint64_t data_offset;  ///< in the file, a multiple of kPage
};
inline constexpr char kImageMagic[8] = {'L', 'S', 'I', 'M', 'A', 'G', 'E', '1'};

enum class MappingKind : std::uint64_t { kAnonymous, kHeap, kStack, kFile };

struct Mapping {
    std::uint64_t begin, end;  ///< addresses
    std::uint64_t protection;  ///< of mmap
    MappingKind kind;
    std::uint64_t name;  ///< hash of a file's name and the offset in it
    bool operator==(const Mapping&) const = default;
};

/// Contents, at the next place in the file.
struct Chunk {
    std::uint64_t address, bytes;
};

/// Mixes bytes into a hash, 8 at a time (of the rest, with zeros): against accidents alone.
std::uint64_t mixed(std::uint64_t hash, std::span<const std::byte> bytes);

struct Image {
    ImageHeader header;
    std::string identity;
    std::vector<Mapping> mappings;
    std::vector<Chunk> chunks;
};

/// Bytes that the header says the tables have, with the header; for reading them. Throws
/// InputError.
std::uint64_t table_bytes(const ImageHeader& header, std::uint64_t file_bytes,
                          const std::string& name);

/// `tables`: the file up to table_bytes(). Throws InputError with what is wrong: mappings that
/// overlap or lie where no process has memory, contents outside of what is mapped or of the file.
Image parse_image(std::span<const std::byte> tables, std::uint64_t file_bytes,
                  const std::string& name);

}  // namespace lockstep::process
