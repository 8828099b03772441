// SPDX-License-Identifier: Apache-2.0
// Parses the lines; the file is ours, so a malformed one fails the test with an exception.
#include "tests/isa/sass/disassembler/listing.h"

#include <sstream>

#include "tests/isa/sass/tensor_core/xz.h"
#include "tests/paths.h"

namespace lockstep::sass {

std::vector<Line> read_listing(const std::string& name) {
    std::vector<Line> lines;
    for (const std::string& source : read_xz_lines(source_path("tests/isa/sass/data/") + name)) {
        std::istringstream in(source);
        in.exceptions(std::ios::failbit);
        Line line;
        in >> line.arch >> std::hex >> line.word.hi >> line.word.lo >> line.address;
        in.get();
        in.exceptions(std::ios::goodbit);
        std::getline(in, line.text);
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace lockstep::sass
