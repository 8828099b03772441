// SPDX-License-Identifier: Apache-2.0
// A VCD that SystemC writes, made to our rules: whole or not at all, and the same bytes every time.
#pragma once

#include <cstdio>
#include <string>
#include <systemc>

#include "sim/trace/output_file.h"

namespace lockstep::netlist {

class VcdFile {
  public:
    /// Throws InputError where `path` cannot be written.
    explicit VcdFile(const std::string& path);
    ~VcdFile();
    VcdFile(const VcdFile&) = delete;
    VcdFile& operator=(const VcdFile&) = delete;

    sc_core::sc_trace_file* get() const { return file_; }
    /// After time has gone on: SystemC has opened its file then, and nothing is left of it where
    /// the process is killed.
    void opened() const;
    /// Ends the trace and gives the file its name.
    void finish();

  private:
    trace::OutputFile output_;
    const std::string stem_;
    std::FILE* raw_ = nullptr;  ///< what SystemC writes; it has no name
    sc_core::sc_trace_file* file_ = nullptr;
};

}  // namespace lockstep::netlist
