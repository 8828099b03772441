// SPDX-License-Identifier: Apache-2.0
#include "tests/isa/sass/tensor_core/xz.h"

#include <lzma.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "sim/error/error.h"

namespace lockstep {

std::string read_xz(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string packed{std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>()};
    std::string text(64 << 20, '\0');
    uint64_t memory_limit = UINT64_MAX;
    size_t in = 0;
    size_t out = 0;
    const lzma_ret result = lzma_stream_buffer_decode(
        &memory_limit, 0, nullptr, reinterpret_cast<const uint8_t*>(packed.data()), &in,
        packed.size(), reinterpret_cast<uint8_t*>(text.data()), &out, text.size());
    if (result != LZMA_OK) throw InputError(path + ": not an xz file that can be read");
    text.resize(out);
    return text;
}

std::vector<std::string> read_xz_lines(const std::string& path) {
    std::istringstream stream(read_xz(path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

}  // namespace lockstep
