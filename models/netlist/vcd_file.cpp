// SPDX-License-Identifier: Apache-2.0
// SystemC writes to a file without a name, through a link that is there only until it has opened
// it, and puts the date in; the section is left out when the text is copied.
#include "models/netlist/vcd_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/error/error.h"

namespace lockstep::netlist {

namespace {

[[noreturn]] void cannot_write(const std::string& path) {
    throw InputError(fmt::format("{}: cannot be written", path));
}

std::string name_of(std::FILE* file) {
    return fmt::format("/proc/self/fd/{}", fileno(file));
}

}  // namespace

VcdFile::VcdFile(const std::string& path)
    : output_(path), stem_(fmt::format("{}.{}", path, getpid())), raw_(file::open_scratch(path)) {
    std::error_code error;
    if (raw_ != nullptr) std::filesystem::create_symlink(name_of(raw_), stem_ + ".vcd", error);
    if (raw_ == nullptr || error) {
        if (raw_ != nullptr) std::fclose(raw_);
        cannot_write(path);
    }
    // It reports the unit of time on stdout, which is the program's.
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    file_ = sc_core::sc_create_vcd_trace_file(stem_.c_str());
    file_->set_time_unit(100, sc_core::SC_PS);
}

VcdFile::~VcdFile() {
    if (file_ != nullptr) sc_core::sc_close_vcd_trace_file(file_);
    opened();
    std::fclose(raw_);
}

void VcdFile::opened() const {
    std::remove((stem_ + ".vcd").c_str());
}

void VcdFile::finish() {
    sc_core::sc_close_vcd_trace_file(file_);
    file_ = nullptr;
    std::ifstream in(name_of(raw_));
    bool in_date = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("$date")) in_date = true;
        if (!in_date) output_.print("{}\n", line);
        if (line.starts_with("$end")) in_date = false;
    }
    output_.end_with("");
}

}  // namespace lockstep::netlist
