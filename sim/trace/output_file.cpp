// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/output_file.h"

#include <cerrno>
#include <cstring>

#include "sim/error/error.h"

namespace lockstep::trace {

OutputFile::OutputFile(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) fail();
}

OutputFile::~OutputFile() {
    std::fwrite(buffer_.data(), 1, buffer_.size(), file_);
    std::fclose(file_);
}

void OutputFile::fail() const {
    throw InputError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

void OutputFile::flush() {
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) fail();
    buffer_.clear();
}

void OutputFile::end_with(std::string_view footer) {
    flush();
    if (std::fwrite(footer.data(), 1, footer.size(), file_) != footer.size() ||
        std::fflush(file_) != 0 ||
        std::fseek(file_, -static_cast<long>(footer.size()), SEEK_CUR) != 0)
        fail();
}

}  // namespace lockstep::trace
