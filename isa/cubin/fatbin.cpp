// SPDX-License-Identifier: Apache-2.0
// A fatbin is a 16-byte header (magic, version, header size, size) and entries: a header of at
// least 64 bytes that says kind, machine, flags and sizes, then the payload padded to 8 bytes, as
// it is or compressed (LZ4 block, zstd). Kinds other than PTX and ELF (link-time-optimisation IR)
// are listed, never run. Source: blobs of nvcc 11.8 to 13.0 in every -compress-mode.
#include "isa/cubin/fatbin.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "isa/cubin/reader.h"

namespace lockstep::cubin {

namespace {

constexpr uint32_t kMagic = 0xba55ed50;
constexpr uint16_t kKindPtx = 1, kKindElf = 2;
constexpr uint64_t kEntryHeader = 64;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000, kFlagAccelerated = 0x100000,
                   kFlagFamily = 0x200000;

// A hostile file must not make us allocate much more than it is long.
constexpr uint64_t kSmallPayload = 16u << 20, kLargestRatio = 256;

constexpr std::string_view kEntry = "fatbin entry header";

// A {u32 offset in the header, u32 length} pair at `at` names a text in the entry's header.
std::string header_text(const Reader& header, uint64_t offset, uint64_t length) {
    const auto bytes = header.bytes(offset, length, "text of the fatbin entry");
    std::string text(bytes.begin(), bytes.end());
    while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
    return text;
}

Image read_entry(const Reader& blob, uint64_t at, uint64_t end, uint64_t& next) {
    const uint64_t header_size = blob.u32(at + 4, kEntry), stored = blob.u64(at + 8, kEntry);
    if (header_size < kEntryHeader || header_size > end - at)
        blob.fail(at + 4, fmt::format("fatbin entry header of {} bytes", header_size));
    if (stored > end - at - header_size)
        blob.fail(at + 8, fmt::format("fatbin entry of {} bytes, {} are left", stored,
                                      end - at - header_size));
    next = at + header_size + stored;

    const Reader header(blob.bytes(at, header_size, kEntry), blob.file_name(), blob.base() + at);
    Image image;
    const uint16_t kind = header.u16(0, kEntry);
    if (kind == kKindPtx) image.kind = ImageKind::kPtx;
    if (kind == kKindElf) image.kind = ImageKind::kElf;
    const uint64_t compressed = header.u32(16, kEntry), options = header.u32(20, kEntry);
    image.version_minor = header.u16(24, kEntry);
    image.version_major = header.u16(26, kEntry);
    image.arch = static_cast<int>(std::min<uint32_t>(header.u32(28, kEntry), 9999));
    const uint64_t name = header.u32(32, kEntry), name_size = header.u32(36, kEntry);
    if (name != 0 && name_size != 0) image.name = header_text(header, name, name_size);
    image.flags = header.u64(40, kEntry);
    image.accelerated = image.flags & kFlagAccelerated;
    image.family = image.flags & kFlagFamily;
    if (options != 0 && image.kind == ImageKind::kPtx)
        image.options =
            header_text(header, header.u32(options, kEntry), header.u32(options + 4, kEntry));
    if (image.flags & kFlagLz4) image.compression = Compression::kLz4;
    if (image.flags & kFlagZstd) image.compression = Compression::kZstd;
    image.size = image.compression == Compression::kNone ? stored : header.u64(56, kEntry);
    const uint64_t used = image.compression == Compression::kNone ? stored : compressed;
    if (used > stored)
        header.fail(16, fmt::format("{} compressed bytes in an entry of {}", used, stored));
    image.stored = blob.bytes(at + header_size, used, "fatbin entry");
    image.file_offset = blob.base() + at + header_size;
    return image;
}

// Reads the fatbin at `at` and returns where it ends.
uint64_t read_fatbin(const Reader& blob, uint64_t at, std::vector<Image>& images) {
    const auto header = blob.bytes(at, kFatbinHeaderBytes, "fatbin header");
    if (blob.u32(at, "fatbin header") != kMagic)
        blob.fail(at, fmt::format("not a fatbin: magic {:#010x} instead of {:#010x}",
                                  blob.u32(at, "fatbin header"), kMagic));
    const uint64_t size = fatbin_bytes(header.first<kFatbinHeaderBytes>(), blob.file_name());
    blob.bytes(at, size, "fatbin");
    const uint64_t end = at + size;
    for (uint64_t entry = at + blob.u16(at + 6, "fatbin header"); entry < end;) {
        // What a linker adds to align the next one.
        if (end - entry < kEntryHeader) {
            const auto rest = blob.bytes(entry, end - entry, "fatbin");
            if (std::all_of(rest.begin(), rest.end(), [](uint8_t b) { return b == 0; })) break;
            blob.fail(entry, fmt::format("{} bytes where an entry should be", end - entry));
        }
        images.push_back(read_entry(blob, entry, end, entry));
    }
    return end;
}

std::vector<uint8_t> decompress_lz4(const Image& image, std::string_view file_name) {
    std::vector<uint8_t> result(image.size);
    const int size = LZ4_decompress_safe(
        reinterpret_cast<const char*>(image.stored.data()), reinterpret_cast<char*>(result.data()),
        static_cast<int>(image.stored.size()), static_cast<int>(image.size));
    if (size < 0 || static_cast<uint64_t>(size) != image.size)
        malformed(file_name, image.file_offset,
                  fmt::format("the LZ4 data do not give the {} bytes they should", image.size));
    return result;
}

std::vector<uint8_t> decompress_zstd(const Image& image, std::string_view file_name) {
    std::vector<uint8_t> result(image.size);
    const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                     ZSTD_freeDCtx);
    const size_t size = ZSTD_decompressDCtx(context.get(), result.data(), result.size(),
                                            image.stored.data(), image.stored.size());
    if (ZSTD_isError(size))
        malformed(file_name, image.file_offset, fmt::format("zstd: {}", ZSTD_getErrorName(size)));
    if (size != image.size)
        malformed(file_name, image.file_offset,
                  fmt::format("the zstd data give {} bytes, not {}", size, image.size));
    return result;
}

}  // namespace

uint64_t fatbin_bytes(std::span<const uint8_t, kFatbinHeaderBytes> header,
                      std::string_view file_name) {
    const Reader reader(header, file_name);
    if (reader.u32(0, "fatbin header") != kMagic) reader.fail(0, "not a fatbin");
    const uint64_t version = reader.u16(4, "fatbin header");
    const uint64_t header_size = reader.u16(6, "fatbin header");
    const uint64_t size = reader.u64(8, "fatbin header");
    if (version != 1) reader.fail(4, fmt::format("fatbin version {} is not supported", version));
    if (header_size < kFatbinHeaderBytes || size > uint64_t{1} << 40)
        reader.fail(6,
                    fmt::format("fatbin header of {} bytes, {} bytes follow", header_size, size));
    return header_size + size;
}

std::vector<Image> parse_fatbin(std::span<const uint8_t> bytes, std::string_view file_name,
                                uint64_t base) {
    const Reader blob(bytes, file_name, base);
    std::vector<Image> images;
    uint64_t at = 0;
    do {
        at = read_fatbin(blob, at, images);
        while (at < bytes.size() && bytes[at] == 0) ++at;
    } while (at < bytes.size());
    return images;
}

std::vector<uint8_t> payload(const Image& image, std::string_view file_name) {
    if (image.size > kSmallPayload + kLargestRatio * image.stored.size() ||
        image.size > 0x7fffffff || image.stored.size() > 0x7fffffff)
        malformed(file_name, image.file_offset,
                  fmt::format("{} bytes compressed to {}: more than any compiler achieves",
                              image.size, image.stored.size()));
    std::vector<uint8_t> result;
    switch (image.compression) {
        case Compression::kNone:
            result.assign(image.stored.begin(), image.stored.end());
            break;
        case Compression::kLz4:
            result = decompress_lz4(image, file_name);
            break;
        case Compression::kZstd:
            result = decompress_zstd(image, file_name);
            break;
    }
    if (image.kind == ImageKind::kPtx)
        while (!result.empty() && result.back() == 0) result.pop_back();
    return result;
}

}  // namespace lockstep::cubin
