// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda/digits/digits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "sim/error/error.h"

namespace lockstep::cuda {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::HasSubstr;

// Two images of 1x2 and their labels.
const Bytes kImages = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 10, 20, 30, 40};
const Bytes kLabels = {0, 0, 8, 1, 0, 0, 0, 2, 7, 9};

std::string error_of(const Bytes& images, const Bytes& labels) {
    try {
        parse_digits(images, "images", labels, "labels");
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

Bytes with(Bytes bytes, std::size_t offset, std::uint8_t value) {
    bytes[offset] = value;
    return bytes;
}

TEST(Idx, ReadsImagesAndLabels) {
    const Digits digits = parse_digits(kImages, "images", kLabels, "labels");
    EXPECT_EQ(digits.count(), 2);
    EXPECT_EQ(digits.rows, 1);
    EXPECT_EQ(digits.cols, 2);
    EXPECT_THAT(digits.image(1), testing::ElementsAre(30, 40));
    EXPECT_THAT(digits.labels, testing::ElementsAre(7, 9));
}

TEST(Idx, RefusesEveryTruncation) {
    for (std::size_t size = 0; size < kImages.size(); ++size) {
        EXPECT_THAT(error_of(Bytes(kImages.begin(), kImages.begin() + size), kLabels),
                    HasSubstr("images: offset "));
    }
    for (std::size_t size = 0; size < kLabels.size(); ++size) {
        EXPECT_THAT(error_of(kImages, Bytes(kLabels.begin(), kLabels.begin() + size)),
                    HasSubstr("labels: offset "));
    }
}

TEST(Idx, SaysWhatIsWrongAndWhere) {
    EXPECT_THAT(error_of(with(kImages, 0, 1), kLabels), HasSubstr("images: offset 0: not an IDX"));
    EXPECT_THAT(error_of(with(with(kImages, 0, 0x1f), 1, 0x8b), kLabels), HasSubstr("gzip"));
    EXPECT_THAT(error_of(with(kImages, 2, 13), kLabels), HasSubstr("offset 2: element type 13"));
    EXPECT_THAT(error_of(with(kImages, 3, 1), kLabels), HasSubstr("offset 3: 1 dimensions"));
    EXPECT_THAT(error_of(kLabels, kImages), HasSubstr("expected 3"));
    EXPECT_THAT(error_of(with(kImages, 7, 3), kLabels), HasSubstr("say 6 bytes"));
    EXPECT_THAT(error_of(kImages, with(kLabels, 9, 10)), HasSubstr("labels: offset 9: label 10"));
    const Bytes one_label = {0, 0, 8, 1, 0, 0, 0, 1, 7};
    EXPECT_THAT(error_of(kImages, one_label), HasSubstr("1 labels for the 2 images"));
    Bytes longer = kImages;
    longer.push_back(0);
    EXPECT_THAT(error_of(longer, kLabels), HasSubstr("the file has 5"));
}

TEST(Idx, RefusesHostileSizes) {
    Bytes huge = kImages;
    std::fill(huge.begin() + 4, huge.begin() + 16, 0xff);
    EXPECT_THAT(error_of(huge, kLabels), HasSubstr("exceeds 64 bits"));
    // No images of an absurd size: nothing to read, and nothing to allocate by.
    const Bytes empty_images = {0, 0, 8, 3, 0, 0, 0, 0, 0x7f, 0, 0, 0, 0x7f, 0, 0, 0};
    const Bytes empty_labels = {0, 0, 8, 1, 0, 0, 0, 0};
    EXPECT_THAT(error_of(empty_images, empty_labels), HasSubstr("offset 8: images of"));
    EXPECT_THAT(error_of(with(empty_images, 8, 0), empty_labels), HasSubstr("images of 0x"));
}

TEST(Idx, MissingFileIsAnInputError) {
    EXPECT_THROW(read_digits("/nonexistent/images", "/nonexistent/labels"), InputError);
    EXPECT_THROW(write_digits({}, "/nonexistent/images", "/nonexistent/labels"), InputError);
}

TEST(Idx, WritesWhatItReads) {
    const std::filesystem::path folder = testing::TempDir();
    const Digits digits = draw_digits(5, 3);
    write_digits(digits, folder / "lockstep_images", folder / "lockstep_labels");
    const Digits again = read_digits(folder / "lockstep_images", folder / "lockstep_labels");
    EXPECT_EQ(again.pixels, digits.pixels);
    EXPECT_EQ(again.labels, digits.labels);
    EXPECT_EQ(again.rows, 28);
    std::filesystem::remove(folder / "lockstep_images");
    std::filesystem::remove(folder / "lockstep_labels");
}

TEST(DrawDigits, TheSeedDecides) {
    const Digits a = draw_digits(50, 1), b = draw_digits(50, 1), c = draw_digits(50, 2);
    EXPECT_EQ(a.pixels, b.pixels);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_NE(a.pixels, c.pixels);
}

TEST(DrawDigits, EveryImageHasInkInsideAndEveryDigitOccurs) {
    const Digits digits = draw_digits(1000, 1);
    std::array<int, 10> seen{};
    for (int i = 0; i < digits.count(); ++i) {
        ++seen[digits.labels[i]];
        const auto image = digits.image(i);
        const auto ink = std::count_if(image.begin(), image.end(), [](auto p) { return p > 128; });
        EXPECT_GT(ink, 20) << "image " << i;
        EXPECT_LT(ink, 300) << "image " << i;
    }
    EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 60);
}

}  // namespace
}  // namespace lockstep::cuda
