// SPDX-License-Identifier: Apache-2.0
// The IDX format of MNIST (http://yann.lecun.com/exdb/mnist): two zero bytes, the element type (8:
// unsigned byte), the number of dimensions, each dimension as a big-endian 32-bit integer, the
// data.
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "sim/error/error.h"
#include "workloads/cuda/digits/digits.h"

namespace lockstep::cuda {
namespace {

using Bytes = std::span<const std::uint8_t>;

std::uint32_t big_endian(Bytes bytes, std::size_t offset) {
    return std::uint32_t{bytes[offset]} << 24 | std::uint32_t{bytes[offset + 1]} << 16 |
           std::uint32_t{bytes[offset + 2]} << 8 | bytes[offset + 3];
}

struct IdxFile {
    std::vector<std::uint32_t> dimensions;
    Bytes data;
    std::size_t data_offset;
};

IdxFile parse_idx(Bytes bytes, std::string_view name, unsigned dimensions) {
    const auto fail = [&](std::size_t offset, const std::string& why) {
        throw InputError(fmt::format("{}: offset {}: {}", name, offset, why));
    };
    const std::size_t header = 4 + 4 * dimensions;
    if (bytes.size() < 4) fail(bytes.size(), "the file ends within the IDX magic number");
    if (bytes[0] == 0x1f && bytes[1] == 0x8b) fail(0, "this is a gzip file: decompress it first");
    if (bytes[0] != 0 || bytes[1] != 0) fail(0, "not an IDX file: it must begin with two zeros");
    if (bytes[2] != 8) fail(2, fmt::format("element type {}, expected 8, unsigned byte", bytes[2]));
    if (bytes[3] != dimensions) {
        fail(3, fmt::format("{} dimensions, expected {}", bytes[3], dimensions));
    }
    if (bytes.size() < header) fail(bytes.size(), "the file ends within the dimensions");
    IdxFile file{{}, bytes.subspan(header), header};
    std::uint64_t size = 1;
    for (unsigned i = 0; i < dimensions; ++i) {
        file.dimensions.push_back(big_endian(bytes, 4 + 4 * i));
        if (__builtin_mul_overflow(size, file.dimensions.back(), &size)) {
            fail(4 + 4 * i, "the product of the dimensions exceeds 64 bits");
        }
    }
    if (size != file.data.size()) {
        fail(header, fmt::format("the dimensions say {} bytes of data, the file has {}", size,
                                 file.data.size()));
    }
    return file;
}

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(fmt::format("{}: cannot be opened", path.string()));
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& path, std::initializer_list<std::uint32_t> dimensions,
                Bytes data) {
    std::ofstream file(path, std::ios::binary);
    std::string header{0, 0, 8, static_cast<char>(dimensions.size())};
    for (const std::uint32_t size : dimensions) {
        for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(size >> shift);
    }
    file << header;
    file.write(reinterpret_cast<const char*>(data.data()),
               static_cast<std::streamsize>(data.size()));
    if (!file.flush()) throw InputError(fmt::format("{}: cannot be written", path.string()));
}

}  // namespace

Digits parse_digits(Bytes images, std::string_view images_name, Bytes labels,
                    std::string_view labels_name) {
    const IdxFile image_file = parse_idx(images, images_name, 3);
    const IdxFile label_file = parse_idx(labels, labels_name, 1);
    const std::uint32_t rows = image_file.dimensions[1], cols = image_file.dimensions[2];
    constexpr std::uint32_t kMaxSide = 4096;
    if (rows == 0 || cols == 0 || rows > kMaxSide || cols > kMaxSide) {
        throw InputError(
            fmt::format("{}: offset 8: images of {}x{} pixels, expected 1 to {} a side",
                        images_name, rows, cols, kMaxSide));
    }
    if (image_file.dimensions[0] != label_file.dimensions[0]) {
        throw InputError(fmt::format("{}: offset 4: {} labels for the {} images of {}", labels_name,
                                     label_file.dimensions[0], image_file.dimensions[0],
                                     images_name));
    }
    for (std::size_t i = 0; i < label_file.data.size(); ++i) {
        if (label_file.data[i] > 9) {
            throw InputError(fmt::format("{}: offset {}: label {}, expected 0 to 9", labels_name,
                                         label_file.data_offset + i, label_file.data[i]));
        }
    }
    Digits digits;
    digits.rows = static_cast<int>(rows);
    digits.cols = static_cast<int>(cols);
    digits.pixels.assign(image_file.data.begin(), image_file.data.end());
    digits.labels.assign(label_file.data.begin(), label_file.data.end());
    return digits;
}

Digits read_digits(const std::filesystem::path& images, const std::filesystem::path& labels) {
    return parse_digits(read_file(images), images.string(), read_file(labels), labels.string());
}

void write_digits(const Digits& digits, const std::filesystem::path& images,
                  const std::filesystem::path& labels) {
    const auto count = static_cast<std::uint32_t>(digits.count());
    write_file(images, {count, std::uint32_t(digits.rows), std::uint32_t(digits.cols)},
               digits.pixels);
    write_file(labels, {count}, digits.labels);
}

}  // namespace lockstep::cuda
