// SPDX-License-Identifier: Apache-2.0
// Each operand is a stream of rows. A port holds the lines that it accessed last, so that rows that
// lie within a line, and windows that overlap, cost a line once. Counted over the first rows and
// scaled up: patterns repeat. Left out: the columns' parameters (bias, scales, tables) and indices,
// which are read once an instruction.
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

    /// The rows of `convolve`: of each line of the window, the bytes of its lanes.
    void windows() {
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
    const std::uint64_t size = size_of(i.type(kType));
    const auto result = [&](std::uint64_t rows, std::uint64_t columns) {
        counter.rows(i[kDestination], rows, i[kPitch], columns * size);
    };
    const auto operand_a = [&](DataType type) {
        counter.rows(i[kA], i[kRows], i[kAPitch], i[kColumns] * size_of(type));
    };
    // A fixed-function pipeline reads an image once; registers are loaded for each tap.
    const auto images = [&](std::uint64_t base, std::uint64_t bytes) {
        const std::uint64_t image = i[kOutHeight] * i[kOutWidth];
        if (image == 0) return;
        if (fixed_function)
            return counter.rows(base, i[kRows] * i[kHeight] * i[kWidth] / image, i[kPixelPitch],
                                bytes);
        const std::uint64_t taps = i[kKernelHeight] * i[kKernelWidth],
                            counted = std::min(taps, kSample);
        for (std::uint64_t tap = 0; tap < counted; ++tap)
            counter.rows(
                base + (tap / i[kKernelWidth] * i[kWidth] + tap % i[kKernelWidth]) * i[kPixelPitch],
                i[kRows], i[kStrideWidth] * i[kPixelPitch], bytes,
                static_cast<double>(taps) / static_cast<double>(counted));
    };
    switch (i.opcode()) {
        case Opcode::kReadHost:
        case Opcode::kLoad:
        case Opcode::kGather:
            counter.rows(i[kDestination], i[kRows], i[kDestinationPitch], i[kRowBytes]);
            break;
        case Opcode::kWriteHost:
        case Opcode::kStore:
            counter.rows(i[kSource], i[kRows], i[kSourcePitch], i[kRowBytes]);
            break;
        case Opcode::kReadWeights: {
            const bool transposed = i.flag(kTransposed);
            if (i.as<WeightSource>(kFrom) == WeightSource::kUnifiedBuffer)
                counter.rows(i[kAddress], transposed ? i[kColumns] : i[kLanes], i[kPitch],
                             (transposed ? i[kLanes] : i[kColumns]) * size_of(i.type(kWeightType)));
            break;
        }
        case Opcode::kMatrixMultiply:
            counter.rows(i[kSource], i[kRows], i[kPitch], i[kLanes] * size);
            break;
        case Opcode::kConvolve:
            counter.windows();
            break;
        case Opcode::kActivate:
            if (i.flag(kHasAddend))
                counter.rows(i[kAddend], i[kRows], i[kAddendPitch],
                             i[kColumns] * size_of(i.type(kAddendType)));
            result(activate_output_rows(i), i[kColumns]);
            break;
        case Opcode::kVector: {
            operand_a(i.type(kAType));
            const auto broadcast = i.as<Broadcast>(kBroadcast);
            const std::uint64_t b_size = size_of(i.type(kBType));
            if (is_binary(i.as<Function>(kFunction))) {
                if (broadcast == Broadcast::kNone)
                    counter.rows(i[kB], i[kRows], i[kBPitch], i[kColumns] * b_size);
                if (broadcast == Broadcast::kColumn)
                    counter.rows(i[kB], i[kRows], i[kBPitch], b_size);
            }
            result(i[kRows], i[kColumns]);
            break;
        }
        case Opcode::kReduce: {
            operand_a(i.type(kAType));
            const bool columns = i.as<Axis>(kAxis) == Axis::kColumns;
            result(columns ? i[kRows] : 1, columns ? 1 : i[kColumns]);
            break;
        }
        case Opcode::kPool:
            images(i[kA], i[kColumns] * size_of(i.type(kAType)));
            result(i[kRows], i[kColumns]);
            break;
        case Opcode::kTranspose:
            operand_a(i.type(kType));
            result(i[kColumns], i[kRows]);
            break;
        case Opcode::kDepthwise:
            images(i[kSource], i[kColumns] * size);
            break;
        case Opcode::kNop:
        case Opcode::kHalt:
        case Opcode::kSync:
        case Opcode::kInterruptHost:
        case Opcode::kSyncHost:
        case Opcode::kTag:
            break;
    }
    return counter.loads;
}

}  // namespace lockstep::tpu
