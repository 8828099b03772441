// SPDX-License-Identifier: Apache-2.0
// Of an image the lines of its pixels are counted where they lie, then scaled to what is read of it
// in all: each is read as often as any other, but for the borders. Neighbouring pixels in a line
// cost one access, for the input buffer holds the line that it read last.
#include "models/npu/sram_streams.h"

#include <algorithm>

namespace lockstep::npu {

namespace {

using enum Field;
using memory::BankLoads;

/// Rows that are counted, at most: patterns repeat.
constexpr std::uint64_t kSample = 512;

class Lines {
  public:
    explicit Lines(const SramParameters& sram) : sram_(sram) {}

    /// `bytes` in a row from an address on.
    void run(std::uint64_t address, std::uint64_t bytes) {
        if (bytes == 0) return;
        std::uint64_t first = address / sram_.width;
        const std::uint64_t last = (address + bytes - 1) / sram_.width;
        if (first == latest_) ++first;
        latest_ = last;
        if (last - first >= 4 * std::uint64_t{sram_.banks} && last >= first) {
            // Long runs: all banks alike.
            const double each = double(last - first + 1) / sram_.banks;
            for (std::uint32_t bank = 0; bank < sram_.banks; ++bank) loads_[bank] += each;
            return;
        }
        for (std::uint64_t line = first; line <= last; ++line) loads_[line % sram_.banks] += 1;
    }
    /// Runs `pitch` apart.
    void rows(std::uint64_t address, std::uint64_t count, std::uint64_t pitch,
              std::uint64_t bytes) {
        if (count != 0 && pitch == bytes) return run(address, count * bytes);
        const std::uint64_t some = std::min(count, kSample);
        const BankLoads before = loads_;
        for (std::uint64_t i = 0; i < some; ++i) run(address + i * pitch, bytes);
        if (some == count) return;
        const double scale = double(count) / double(some);
        for (std::uint32_t bank = 0; bank < sram_.banks; ++bank)
            loads_[bank] = before[bank] + (loads_[bank] - before[bank]) * scale;
    }
    void image(const Image& image) {
        if (image.empty()) return;
        if (image.pixel == image.run())
            return rows(image.address, image.height, image.row, image.width * image.pixel);
        const std::uint64_t some =
            std::min(image.height, std::max<std::uint64_t>(1, kSample / image.width));
        for (std::uint64_t y = 0; y < some; ++y)
            rows(image.address + y * image.row, image.width, image.pixel, image.run());
        for (double& load : loads_) load *= double(image.height) / double(some);
    }
    const BankLoads& loads() const { return loads_; }

  private:
    const SramParameters& sram_;
    BankLoads loads_{};
    std::uint64_t latest_ = ~std::uint64_t{0} - 1;
};

/// Adds lines that hold `once` bytes, so that they come to those of `bytes`.
void add(BankLoads& all, const Lines& lines, double once, double bytes) {
    if (once == 0) return;
    const double scale = bytes / once;
    for (std::size_t bank = 0; bank < all.size(); ++bank) all[bank] += lines.loads()[bank] * scale;
}

void add_image(BankLoads& all, const Image& image, std::uint64_t bytes,
               const SramParameters& sram) {
    if (image.empty() || bytes == 0) return;
    Lines lines(sram);
    lines.image(image);
    add(all, lines, double(image.bytes()), double(bytes));
}

void add_run(BankLoads& all, std::uint64_t address, std::uint64_t once, std::uint64_t bytes,
             const SramParameters& sram) {
    if (once == 0) return;
    Lines lines(sram);
    lines.run(address, once);
    add(all, lines, double(once), double(bytes));
}

void add_planes(BankLoads& all, const Instruction& i, std::uint64_t address, Field pitch,
                Field plane, const SramParameters& sram) {
    const std::uint64_t some = std::min<std::uint64_t>(i[kPlanes], kSample);
    if (some == 0) return;
    Lines lines(sram);
    for (std::uint64_t p = 0; p < some; ++p)
        lines.rows(address + p * i[plane], i[kRows], i[pitch], i[kRowBytes]);
    add(all, lines, double(some), double(i[kPlanes]));
}

}  // namespace

BankLoads command_lines(const Instruction& i, const CommandTime& time, const SramParameters& sram) {
    BankLoads all{};
    if (time_of(i.opcode()) == Time::kMove) {
        if (i.opcode() == Opcode::kCopy)
            add_planes(all, i, i[kSource], kSourcePitch, kSourcePlane, sram);
        add_planes(all, i, i[kDestination], kDestinationPitch, kDestinationPlane, sram);
        return all;
    }
    add_image(all, input_of(i), time.input_bytes, sram);
    if (i.opcode() == Opcode::kMatrixMultiply)
        add_image(all, operand_of(i), time.weight_bytes, sram);
    else
        add_run(all, i[kWeights], i[kWeightBytes], time.weight_bytes, sram);
    if (time.operand_bytes != 0) add_image(all, operand_of(i), time.operand_bytes, sram);
    add_run(all, i[kParameters], parameter_bytes(i), time.parameter_bytes, sram);
    if (time.output_bytes != 0) add_image(all, output_of(i), time.output_bytes, sram);
    return all;
}

BankLoads transfer_lines(const Instruction& i, const SramParameters& sram) {
    BankLoads all{};
    if (has_field(i.opcode(), kDestination))
        add_planes(all, i, i[kDestination], kDestinationPitch, kDestinationPlane, sram);
    else
        add_planes(all, i, i[kSource], kSourcePitch, kSourcePlane, sram);
    return all;
}

}  // namespace lockstep::npu
