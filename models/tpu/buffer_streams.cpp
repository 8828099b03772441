// SPDX-License-Identifier: Apache-2.0
// Which streams an instruction has, its footprint says: each operand is one of rows or of windows.
// A port holds the lines that it accessed last, so that rows that
// lie within a line, and windows that overlap, cost a line once. Counted over the first rows and
// scaled up: patterns repeat. Left out: what is read once an instruction (bias, scales, tables,
// indices, a row that is operand b of all).
#include "models/tpu/buffer_streams.h"

#include <algorithm>

#include "isa/tpu/footprint.h"

namespace lockstep::tpu {

namespace {

using enum Field;

constexpr std::uint64_t kSample = 64;  ///< rows that are counted, at least

class Counter {
  public:
    Counter(const Instruction& instruction, const UnifiedBufferParameters& parameters)
        : i(instruction),
          p_(parameters),
          sample_(std::max(kSample, std::uint64_t{4} * parameters.banks)) {}

    BankLoads loads{};

    /// `rows` rows of `bytes`, `pitch` apart; as often as `factor` says.
    void rows(std::uint64_t base, std::uint64_t rows, std::uint64_t pitch, std::uint64_t bytes,
              double factor = 1) {
        if (rows == 0 || bytes == 0) return;
        const std::uint64_t counted = std::min(rows, sample_);
        Stream stream;
        for (std::uint64_t row = 0; row < counted; ++row) lines(stream, base + row * pitch, bytes);
        add(stream, factor * static_cast<double>(rows) / static_cast<double>(counted));
    }

    /// The rows that enter an array: of each line of the window, the bytes of its lanes.
    void lanes() {
        const std::uint64_t size = size_of(i.type(kType)), channels = i[kChannels],
                            kernel_width = i[kKernelWidth], run = kernel_width * channels;
        if (run == 0) return;
        const std::uint64_t end = i[kFirstLane] + i[kLanes];
        for (std::uint64_t lane = i[kFirstLane]; lane < end;) {
            const std::uint64_t ky = lane / run, first = lane % run;
            const std::uint64_t last = std::min(run, first + end - lane) - 1;
            segment(ky, first / channels, last / channels, channels * size);
            lane += last - first + 1;
        }
    }

    /// Whole pixels, tap by tap. A fixed-function pipeline reads an image once; registers are
    /// loaded for each tap.
    void taps(std::uint64_t base, std::uint64_t bytes, bool fixed_function) {
        const std::uint64_t image = i[kOutHeight] * i[kOutWidth];
        if (image == 0) return;
        if (fixed_function)
            return rows(base, i[kRows] * i[kHeight] * i[kWidth] / image, i[kPixelPitch], bytes);
        const std::uint64_t taps = i[kKernelHeight] * i[kKernelWidth],
                            counted = std::min(taps, kSample);
        for (std::uint64_t tap = 0; tap < counted; ++tap)
            rows(
                base + (tap / i[kKernelWidth] * i[kWidth] + tap % i[kKernelWidth]) * i[kPixelPitch],
                i[kRows], i[kStrideWidth] * i[kPixelPitch], bytes,
                static_cast<double>(taps) / static_cast<double>(counted));
    }

  private:
    struct Stream {
        BankLoads loads{};
        std::uint64_t first = 1, last = 0;  ///< lines that the port holds
    };

    void add(const Stream& stream, double factor) {
        for (std::uint32_t bank = 0; bank < p_.banks; ++bank)
            loads[bank] += stream.loads[bank] * factor;
    }

    void lines(Stream& stream, std::uint64_t address, std::uint64_t bytes) {
        std::uint64_t first = address / p_.width;
        const std::uint64_t last = (address + bytes - 1) / p_.width;
        const std::uint64_t begin = first;
        if (first >= stream.first && first <= stream.last) first = stream.last + 1;
        stream.first = begin;
        stream.last = last;
        if (first > last) return;
        std::uint64_t count = last - first + 1;
        if (const std::uint64_t rounds = count / p_.banks; rounds != 0) {
            for (std::uint32_t bank = 0; bank < p_.banks; ++bank)
                stream.loads[bank] += static_cast<double>(rounds);
            count %= p_.banks;
        }
        for (std::uint64_t line = first; line < first + count; ++line)
            stream.loads[line % p_.banks] += 1;
    }

    /// Pixels kx0 to kx1 of line `ky` of the window, over the output pixels.
    void segment(std::uint64_t ky, std::uint64_t kx0, std::uint64_t kx1, std::uint64_t bytes) {
        const auto height = static_cast<std::int64_t>(i[kHeight]),
                   width = static_cast<std::int64_t>(i[kWidth]);
        const std::uint64_t image = i[kOutHeight] * i[kOutWidth];
        if (image == 0) return;
        const auto dilation = [&](Field field) {
            return static_cast<std::int64_t>(std::max<std::uint64_t>(1, i[field]));
        };
        const std::uint64_t counted = std::min(i[kRows], sample_);
        Stream stream;
        for (std::uint64_t row = 0; row < counted; ++row) {
            const std::uint64_t at = i[kFirstRow] + row, pixel = at % image;
            const auto y = static_cast<std::int64_t>(pixel / i[kOutWidth] * i[kStrideHeight]) +
                           static_cast<std::int64_t>(ky) * dilation(kDilationHeight) -
                           static_cast<std::int64_t>(i[kPadTop]);
            const auto left = static_cast<std::int64_t>(pixel % i[kOutWidth] * i[kStrideWidth]) -
                              static_cast<std::int64_t>(i[kPadLeft]);
            std::int64_t x0 = left + static_cast<std::int64_t>(kx0) * dilation(kDilationWidth),
                         x1 = left + static_cast<std::int64_t>(kx1) * dilation(kDilationWidth);
            if (y < 0 || y >= height || x1 < 0 || x0 >= width) continue;
            x0 = std::max<std::int64_t>(x0, 0);
            x1 = std::min(x1, width - 1);
            const auto line = static_cast<std::uint64_t>(
                (static_cast<std::int64_t>(at / image) * height + y) * width);
            lines(stream, i[kSource] + (line + static_cast<std::uint64_t>(x0)) * i[kPixelPitch],
                  static_cast<std::uint64_t>(x1 - x0) * i[kPixelPitch] + bytes);
        }
        if (counted != 0) add(stream, static_cast<double>(i[kRows]) / static_cast<double>(counted));
    }

    const Instruction& i;
    const UnifiedBufferParameters& p_;
    const std::uint64_t sample_;
};

}  // namespace

BankLoads bank_accesses(const Instruction& i, const UnifiedBufferParameters& parameters,
                        bool fixed_function) {
    Counter counter(i, parameters);
    const Footprint touched = footprint(i);
    for (const Access& access : touched.accesses()) {
        if (access.space != Space::kUnifiedBuffer) continue;
        if (access.pattern == Pattern::kRows)
            counter.rows(access.base, access.rows, access.pitch, access.bytes);
        if (access.pattern != Pattern::kWindows) continue;
        if (time_of(i.opcode()) == Time::kStream)
            counter.lanes();
        else
            counter.taps(access.base, access.bytes, fixed_function);
    }
    return counter.loads;
}

}  // namespace lockstep::tpu
