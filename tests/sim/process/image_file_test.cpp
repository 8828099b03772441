// SPDX-License-Identifier: Apache-2.0
#include "sim/process/image_file.h"

#include <gmock/gmock.h>

#include <cstring>

#include "sim/error/error.h"

namespace lockstep::process {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kReadWrite = 3;

/// An image of two mappings, one of them with a page.
struct Made {
    ImageHeader header{};
    std::string identity = "word run\n";
    std::vector<Mapping> mappings{{0x10000, 0x14000, kReadWrite, MappingKind::kAnonymous, 0},
                                  {0x20000, 0x21000, 1, MappingKind::kFile, 5}};
    std::vector<Chunk> chunks{{0x11000, kPage}};
    std::uint64_t file_bytes = 2 * kPage;

    Made() {
        std::memcpy(header.magic, kImageMagic, sizeof header.magic);
        header.context = 0x10000;
        header.resumed = 0x11000;
        header.data_offset = kPage;
    }
    std::vector<std::byte> bytes() {
        header.identity_bytes = identity.size();
        header.mappings = mappings.size();
        header.chunks = chunks.size();
        std::vector<std::byte> all(sizeof header);
        const auto add = [&all](const void* from, std::size_t count) {
            const auto* const first = static_cast<const std::byte*>(from);
            all.insert(all.end(), first, first + count);
        };
        add(identity.data(), identity.size());
        add(mappings.data(), mappings.size() * sizeof(Mapping));
        add(chunks.data(), chunks.size() * sizeof(Chunk));
        header.table_hash = mixed(0, std::span(all).subspan(sizeof header));
        std::memcpy(all.data(), &header, sizeof header);
        return all;
    }
    std::string error() {
        try {
            parse_image(bytes(), file_bytes, "image");
        } catch (const InputError& caught) {
            return caught.what();
        }
        return "no error";
    }
};

TEST(ImageFile, IsReadAsItWasWritten) {
    Made made;
    const Image image = parse_image(made.bytes(), made.file_bytes, "image");
    EXPECT_EQ(image.identity, made.identity);
    EXPECT_EQ(image.mappings, made.mappings);
    ASSERT_EQ(image.chunks.size(), 1u);
    EXPECT_EQ(image.chunks[0].address, 0x11000u);
}

TEST(ImageFile, MalformedOnesAreRefused) {
    const auto refused = [](auto change, const char* what) {
        Made made;
        change(made);
        EXPECT_THAT(made.error(), HasSubstr(what));
    };
    refused([](Made& m) { m.header.magic[0] = 'x'; }, "no checkpoint of a run");
    refused([](Made& m) { m.mappings[0].begin += 1; }, "a mapping from");
    refused([](Made& m) { m.mappings[1].begin = 0x13000; }, "a mapping from");
    refused([](Made& m) { m.mappings[1].end = 1ull << 48; }, "a mapping from");
    refused([](Made& m) { m.mappings[0].begin = 0; }, "a mapping from");
    refused([](Made& m) { m.mappings[0].protection = 8; }, "the mapping at 0x10000");
    refused([](Made& m) { m.mappings[0].kind = MappingKind(9); }, "the mapping at 0x10000");
    refused([](Made& m) { m.chunks[0].address = 0x15000; }, "contents of 4096 bytes at 0x15000");
    refused([](Made& m) { m.chunks[0].bytes = 4 * kPage; }, "contents of 16384 bytes");
    refused([](Made& m) { m.chunks[0].bytes = ~0ull - kPage + 1; }, "contents of");
    refused([](Made& m) { m.chunks.push_back(m.chunks[0]); }, "contents of");
    refused([](Made& m) { m.chunks.push_back({0x12000, kPage}); }, "cut off");
    refused([](Made& m) { m.file_bytes += kPage; }, "too many");
    refused([](Made& m) { m.header.data_offset = 8; }, "cut off");
    refused([](Made& m) { m.header.data_offset = 4 * kPage; }, "cut off");
    refused([](Made& m) { m.header.context = 0x20000; }, "where it goes on");
    refused([](Made& m) { m.header.resumed = 0x30000; }, "where it goes on");
}

TEST(ImageFile, DamageIsFound) {
    Made made;
    std::vector<std::byte> bytes = made.bytes();
    bytes.back() ^= std::byte{1};
    EXPECT_THROW(parse_image(bytes, made.file_bytes, "image"), InputError);
    bytes.pop_back();
    EXPECT_THROW(parse_image(bytes, made.file_bytes, "image"), InputError);
    EXPECT_THROW(parse_image({}, 0, "image"), InputError);
}

}  // namespace
}  // namespace lockstep::process
