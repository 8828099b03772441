// SPDX-License-Identifier: Apache-2.0
// A VCD that SystemC writes, made to our rules: whole or not at all, and the same bytes every time.
#pragma once

#include <string>
#include <systemc>

namespace lockstep::tpu {

class VcdFile {
  public:
    /// Throws InputError where `path` cannot be written.
    explicit VcdFile(const std::string& path);
    ~VcdFile();
    VcdFile(const VcdFile&) = delete;
    VcdFile& operator=(const VcdFile&) = delete;

    sc_core::sc_trace_file* get() const { return file_; }
    /// Ends the trace and gives the file its name.
    void finish();

  private:
    const std::string path_, stem_;
    sc_core::sc_trace_file* file_ = nullptr;
};

}  // namespace lockstep::tpu
