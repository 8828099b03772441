// SPDX-License-Identifier: Apache-2.0
// Value change dump (IEEE 1364, section 18), which GTKWave and Surfer open. Texts are variables of
// type string, which those know beyond the standard; one unit of time, 1 ns, is one cycle.
#pragma once

#include <memory>

#include "sim/trace/output_file.h"
#include "sim/trace/wave_writer.h"

namespace lockstep::trace {

class VcdWriter final : public WaveWriter {
  public:
    /// Throws InputError where the file cannot be made; later, where it grows beyond `most_bytes`:
    /// then it is not completed any more.
    VcdWriter(const std::string& path, const std::string& title,
              std::uint64_t most_bytes = kMostBytes);
    ~VcdWriter() override;

    void complete() override;

    /// The largest file that is written: viewers do not open larger ones.
    static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

  private:
    void change(Cycle at, std::size_t variable, const WaveValue& value) override;
    std::string header() const;
    void flush();
    [[noreturn]] void fail() const;

    const std::string path_, title_;
    const std::uint64_t most_bytes_;
    std::unique_ptr<OutputFile> file_;
    /// What follows the header, which grows as long as tracks do; a file without a name.
    std::FILE* body_;
    std::string buffer_;
    std::uint64_t body_bytes_ = 0, copied_ = 0;
    std::string written_header_;
    bool has_begun_ = false, is_too_large_ = false;
    Cycle first_ = 0, last_ = 0;
};

}  // namespace lockstep::trace
