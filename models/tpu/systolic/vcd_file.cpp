// SPDX-License-Identifier: Apache-2.0
// SystemC writes the file under a name of its own and puts the date in; the section is left out
// when the file takes its name.
#include "models/tpu/systolic/vcd_file.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

[[noreturn]] void cannot_write(const std::string& path) {
    throw InputError(fmt::format("{}: cannot be written", path));
}

}  // namespace

VcdFile::VcdFile(const std::string& path)
    : path_(path), stem_(fmt::format("{}.{}", path, getpid())) {
    if (!std::ofstream(stem_ + ".vcd")) cannot_write(path_);
    // It reports the unit of time on stdout, which is the program's.
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    file_ = sc_core::sc_create_vcd_trace_file(stem_.c_str());
    file_->set_time_unit(100, sc_core::SC_PS);
}

VcdFile::~VcdFile() {
    if (file_ != nullptr) sc_core::sc_close_vcd_trace_file(file_);
    std::remove((stem_ + ".vcd").c_str());
    std::remove((stem_ + ".part").c_str());
}

void VcdFile::finish() {
    sc_core::sc_close_vcd_trace_file(file_);
    file_ = nullptr;
    {
        std::ifstream in(stem_ + ".vcd");
        std::ofstream out(stem_ + ".part");
        bool in_date = false;
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with("$date")) in_date = true;
            if (!in_date) out << line << '\n';
            if (line.starts_with("$end")) in_date = false;
        }
        if (!out.flush()) cannot_write(path_);
    }
    if (std::rename((stem_ + ".part").c_str(), path_.c_str()) != 0) cannot_write(path_);
}

}  // namespace lockstep::tpu
