// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/output_file.h"

#include <cstdio>

namespace lockstep::trace {

OutputFile::~OutputFile() {
    std::fwrite(buffer_.data(), 1, buffer_.size(), file_.stream());
}

void OutputFile::flush() {
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.stream()) != buffer_.size())
        file_.fail();
    buffer_.clear();
}

void OutputFile::end_with(std::string_view footer) {
    flush();
    if (std::fwrite(footer.data(), 1, footer.size(), file_.stream()) != footer.size()) file_.fail();
    file_.publish();
    if (std::fseek(file_.stream(), -static_cast<long>(footer.size()), SEEK_CUR) != 0) file_.fail();
}

}  // namespace lockstep::trace
