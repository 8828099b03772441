// SPDX-License-Identifier: Apache-2.0
// Images of handwritten-style digits with their labels: from MNIST's IDX files, or drawn.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep::cuda {

/// Grey images (0 background, 255 ink), one after another, row-major, and a label 0..9 for each.
struct Digits {
    int rows = 28, cols = 28;
    std::vector<std::uint8_t> pixels;
    std::vector<std::uint8_t> labels;

    int count() const { return static_cast<int>(labels.size()); }
    std::span<const std::uint8_t> image(int i) const {
        const std::size_t size = std::size_t(rows) * cols;
        return std::span(pixels).subspan(i * size, size);
    }
};

/// IDX files as MNIST's (big-endian header, unsigned bytes, not compressed). Throws InputError with
/// file, offset and reason on anything malformed: wrong type or dimensions, a size that is not the
/// header's, labels over 9, counts that differ.
Digits parse_digits(std::span<const std::uint8_t> images, std::string_view images_name,
                    std::span<const std::uint8_t> labels, std::string_view labels_name);
Digits read_digits(const std::filesystem::path& images, const std::filesystem::path& labels);

/// Writes both files in the same format. Throws InputError where a file cannot be written.
void write_digits(const Digits& digits, const std::filesystem::path& images,
                  const std::filesystem::path& labels);

/// Draws `count` digits, 28x28: strokes with random slant, size, place, wobble, width and noise.
/// The labels are in random order; the same seed gives the same bytes.
Digits draw_digits(int count, std::uint64_t seed);

}  // namespace lockstep::cuda
