// SPDX-License-Identifier: Apache-2.0
#include "isa/npu/weights.h"

#include <algorithm>
#include <bit>

#include "sim/error/error.h"

namespace lockstep::npu {

namespace {

class BitReader {
  public:
    explicit BitReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    bool has(std::uint64_t bits) const { return at_ + bits <= 8 * std::uint64_t{bytes_.size()}; }
    /// At most 32, which must be there.
    std::uint32_t take(std::uint32_t bits) {
        std::uint64_t value = 0;
        const std::uint64_t first = at_ / 8, last = (at_ + bits + 7) / 8;
        for (std::uint64_t i = first; i < last; ++i)
            value |= std::uint64_t{bytes_[i]} << (8 * (i - first));
        value >>= at_ % 8;
        at_ += bits;
        return static_cast<std::uint32_t>(value & ((std::uint64_t{1} << bits) - 1));
    }
    std::uint64_t position() const { return at_; }

  private:
    std::span<const std::uint8_t> bytes_;
    std::uint64_t at_ = 0;
};

class BitWriter {
  public:
    void put(std::uint32_t value, std::uint32_t bits) {
        for (std::uint32_t i = 0; i < bits; ++i, ++at_) {
            if (at_ % 8 == 0) bytes_.push_back(0);
            bytes_.back() |= static_cast<std::uint8_t>((value >> i & 1) << at_ % 8);
        }
    }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

  private:
    std::vector<std::uint8_t> bytes_;
    std::uint64_t at_ = 0;
};

std::int16_t value_of(std::uint32_t bits, ElementType type) {
    const std::uint32_t width = bits_of(type);
    if (!is_signed(type)) return static_cast<std::int16_t>(bits);
    const auto shifted = static_cast<std::int32_t>(bits << (32 - width));
    return static_cast<std::int16_t>(shifted >> (32 - width));
}

constexpr std::uint32_t kRunBits = 4;

/// The bits that count so many entries.
std::uint32_t index_bits(std::size_t entries) {
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::bit_width(entries - 1)));
}

bool has_palette(WeightFormat format) {
    return format == WeightFormat::kPalette || format == WeightFormat::kPaletteRuns;
}
bool has_runs(WeightFormat format) {
    return format == WeightFormat::kZeroRuns || format == WeightFormat::kPaletteRuns;
}

class Decoder {
  public:
    Decoder(std::span<const std::uint8_t> stream, ElementType type, WeightFormat format,
            std::uint64_t count)
        : stream_(stream), bits_(stream), type_(type), format_(format), count_(count) {}

    DecodedWeights run() {
        // No record of any format stands for more values than this.
        constexpr std::uint64_t kMostOfByte = 32;
        if (count_ > kMostOfByte * stream_.size()) return fail();
        result_.values.reserve(count_);
        width_ = bits_of(type_);
        if (has_palette(format_) && !read_palette()) return std::move(result_);
        if (format_ == WeightFormat::kMask) return masks();
        return has_runs(format_) ? runs() : plain();
    }

  private:
    DecodedWeights fail() {
        result_.values.clear();
        result_.error = "the weight stream ends before its last value";
        return std::move(result_);
    }
    bool read_palette() {
        if (!bits_.has(8)) return fail_palette("the weight stream has no palette");
        const std::size_t entries = bits_.take(8) + 1;
        if (entries > kMaxPalette) return fail_palette("a palette of more than 32 entries");
        if (!bits_.has(8 * entries)) return fail_palette("the weight stream ends in its palette");
        for (std::size_t i = 0; i < entries; ++i)
            palette_.push_back(value_of(bits_.take(8) & ((1u << width_) - 1), type_));
        width_ = index_bits(entries);
        return true;
    }
    bool fail_palette(const char* why) {
        result_.error = why;
        return false;
    }
    /// One value; false: an index past the palette.
    bool take_value() {
        const std::uint32_t bits = bits_.take(width_);
        if (!has_palette(format_)) {
            result_.values.push_back(value_of(bits, type_));
            return true;
        }
        if (bits >= palette_.size()) return fail_palette("an index past the end of the palette");
        result_.values.push_back(palette_[bits]);
        return true;
    }
    DecodedWeights done() {
        result_.bits = bits_.position();
        return std::move(result_);
    }
    DecodedWeights failed() {
        result_.values.clear();
        return std::move(result_);
    }

    DecodedWeights plain() {
        if (!bits_.has(count_ * width_)) return fail();
        result_.records = count_;
        if (format_ == WeightFormat::kRaw && width_ == 8) {  // most streams
            result_.values.resize(count_);
            if (is_signed(type_))
                std::transform(stream_.begin(), stream_.begin() + std::ptrdiff_t(count_),
                               result_.values.begin(), [](std::uint8_t byte) {
                                   return std::int16_t{static_cast<std::int8_t>(byte)};
                               });
            else
                std::copy_n(stream_.begin(), count_, result_.values.begin());
            result_.bits = 8 * count_;
            return std::move(result_);
        }
        while (result_.values.size() < count_)
            if (!take_value()) return failed();
        return done();
    }

    DecodedWeights runs() {
        while (result_.values.size() < count_) {
            if (!bits_.has(kRunBits + width_)) return fail();
            const std::uint32_t zeros = bits_.take(kRunBits);
            if (zeros + 1 > count_ - result_.values.size()) {
                result_.error = "a run past the last weight";
                return failed();
            }
            result_.values.insert(result_.values.end(), zeros, 0);
            ++result_.records;
            if (!take_value()) return failed();
        }
        return done();
    }

    DecodedWeights masks() {
        while (result_.values.size() < count_) {
            const auto here = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(kMaskValues, count_ - result_.values.size()));
            if (!bits_.has(here)) return fail();
            const std::uint32_t mask = bits_.take(here);
            if (!bits_.has(std::uint64_t{width_} * std::uint32_t(std::popcount(mask))))
                return fail();
            ++result_.records;
            for (std::uint32_t i = 0; i < here; ++i)
                if ((mask >> i & 1) == 0)
                    result_.values.push_back(0);
                else
                    take_value();
        }
        return done();
    }

    std::span<const std::uint8_t> stream_;
    BitReader bits_;
    ElementType type_;
    WeightFormat format_;
    std::uint64_t count_;
    std::uint32_t width_ = 8;  // of a value, or an index
    std::vector<std::int16_t> palette_;
    DecodedWeights result_;
};

/// Calls put(zeros before, value) for each record.
template <typename Put>
void for_each_run(std::span<const std::int16_t> values, const Put& put) {
    std::uint32_t zeros = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool last = i + 1 == values.size();
        if (values[i] == 0 && zeros < kLongestZeroRun && !last) {
            ++zeros;
            continue;
        }
        put(zeros, values[i]);
        zeros = 0;
    }
}

}  // namespace

DecodedWeights decode_weights(std::span<const std::uint8_t> stream, ElementType type,
                              WeightFormat format, std::uint64_t count) {
    return Decoder(stream, type, format, count).run();
}

std::optional<std::vector<std::uint8_t>> encode_weights(std::span<const std::int16_t> values,
                                                        ElementType type, WeightFormat format) {
    const std::uint32_t width = bits_of(type);
    for (const std::int16_t value : values)
        LOCKSTEP_CHECK(
            value_of(static_cast<std::uint16_t>(value) & ((1u << width) - 1), type) == value,
            "a weight of {} in {} bits", value, width);
    BitWriter bits;
    const auto stored = [&](std::int16_t value) {
        return static_cast<std::uint16_t>(value) & ((1u << width) - 1);
    };
    std::vector<std::int16_t> palette;
    if (has_palette(format)) {
        palette.assign(values.begin(), values.end());
        std::sort(palette.begin(), palette.end());
        palette.erase(std::unique(palette.begin(), palette.end()), palette.end());
        if (palette.empty()) palette.push_back(0);
        if (palette.size() > kMaxPalette) return std::nullopt;
        bits.put(static_cast<std::uint32_t>(palette.size() - 1), 8);
        for (const std::int16_t entry : palette) bits.put(stored(entry), 8);
    }
    const auto put_value = [&](std::int16_t value) {
        if (palette.empty()) return bits.put(stored(value), width);
        const auto at = std::lower_bound(palette.begin(), palette.end(), value);
        bits.put(static_cast<std::uint32_t>(at - palette.begin()), index_bits(palette.size()));
    };
    if (has_runs(format)) {
        for_each_run(values, [&](std::uint32_t zeros, std::int16_t value) {
            bits.put(zeros, kRunBits);
            put_value(value);
        });
    } else if (format == WeightFormat::kMask) {
        for (std::size_t i = 0; i < values.size(); i += kMaskValues) {
            const std::span<const std::int16_t> here =
                values.subspan(i, std::min(kMaskValues, values.size() - i));
            for (const std::int16_t value : here) bits.put(value != 0, 1);
            for (const std::int16_t value : here)
                if (value != 0) put_value(value);
        }
    } else {
        for (const std::int16_t value : values) put_value(value);
    }
    return bits.take();
}

std::pair<WeightFormat, std::vector<std::uint8_t>> compress_weights(
    std::span<const std::int16_t> values, ElementType type) {
    std::pair best{WeightFormat::kRaw, *encode_weights(values, type, WeightFormat::kRaw)};
    for (const WeightFormat format : {WeightFormat::kZeroRuns, WeightFormat::kMask,
                                      WeightFormat::kPalette, WeightFormat::kPaletteRuns}) {
        auto stream = encode_weights(values, type, format);
        if (stream && stream->size() < best.second.size()) best = {format, std::move(*stream)};
    }
    return best;
}

std::vector<std::int16_t> order_weights(std::span<const std::int16_t> values, std::uint64_t outputs,
                                        std::uint64_t taps, std::uint64_t inputs,
                                        std::uint64_t group) {
    LOCKSTEP_CHECK(values.size() == outputs * taps * inputs && group != 0,
                   "{} weights for {} x {} x {} in groups of {}", values.size(), outputs, taps,
                   inputs, group);
    std::vector<std::int16_t> ordered;
    ordered.reserve(values.size());
    for (std::uint64_t first = 0; first < outputs; first += group)
        for (std::uint64_t lane = 0; lane < taps * inputs; ++lane)
            for (std::uint64_t k = first; k < std::min(outputs, first + group); ++k)
                ordered.push_back(values[k * taps * inputs + lane]);
    return ordered;
}

}  // namespace lockstep::npu
