// SPDX-License-Identifier: Apache-2.0
// Reads FlatBuffers: tables with optional fields, vectors and strings by offsets. Nothing is
// trusted: each access checks its range, and InputError says the offset. Format: FlatBuffers
// internals (flatbuffers.dev); little-endian.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "sim/error/error.h"

namespace lockstep::network::tflite {

struct Bytes {
    std::span<const std::uint8_t> data;
    std::string name;  ///< of the file, for messages

    [[noreturn]] void fail(std::size_t offset, const std::string& reason) const {
        throw InputError(fmt::format("{}: offset {:#x}: {}", name, offset, reason));
    }
    void check(std::size_t offset, std::size_t size) const {
        if (offset > data.size() || size > data.size() - offset)
            fail(offset,
                 fmt::format("{} bytes beyond the end of the file ({})", size, data.size()));
    }
    template <class T>
    T read(std::size_t offset) const {
        check(offset, sizeof(T));
        T value;
        std::memcpy(&value, data.data() + offset, sizeof(T));
        return value;
    }
    /// Where the offset that lies here points to.
    std::size_t follow(std::size_t offset) const {
        const std::size_t to = offset + read<std::uint32_t>(offset);
        if (to == offset) fail(offset, "an offset to itself");
        check(to, 4);
        return to;
    }
};

class Vector;

class Table {
  public:
    Table(const Bytes& bytes, std::size_t at) : bytes_(&bytes), at_(at) {
        const std::int64_t vtable = static_cast<std::int64_t>(at) - bytes.read<std::int32_t>(at);
        if (vtable < 0) bytes.fail(at, "a table without fields' places");
        vtable_ = static_cast<std::size_t>(vtable);
        size_ = bytes.read<std::uint16_t>(vtable_);
        if (size_ < 4) bytes.fail(vtable_, "too few fields' places");
        bytes.check(vtable_, size_);
    }

    template <class T>
    T scalar(std::size_t field, T default_value) const {
        const std::optional<std::size_t> place = place_of(field);
        return place ? bytes_->read<T>(*place) : default_value;
    }
    std::optional<Table> table(std::size_t field) const {
        const std::optional<std::size_t> place = place_of(field);
        if (!place) return std::nullopt;
        return Table(*bytes_, bytes_->follow(*place));
    }
    Vector vector(std::size_t field, std::size_t element_bytes) const;
    std::string text(std::size_t field) const;
    std::size_t offset() const { return at_; }

  private:
    std::optional<std::size_t> place_of(std::size_t field) const {
        const std::size_t slot = 4 + 2 * field;
        if (slot + 2 > size_) return std::nullopt;
        const std::size_t offset = bytes_->read<std::uint16_t>(vtable_ + slot);
        if (offset == 0) return std::nullopt;
        return at_ + offset;
    }

    const Bytes* bytes_;
    std::size_t at_, vtable_ = 0, size_ = 0;
};

/// A missing vector is empty.
class Vector {
  public:
    Vector() = default;
    Vector(const Bytes& bytes, std::size_t at, std::size_t element_bytes) : bytes_(&bytes) {
        size_ = bytes.read<std::uint32_t>(at);
        begin_ = at + 4;
        if (size_ > bytes.data.size()) bytes.fail(at, fmt::format("a vector of {}", size_));
        bytes.check(begin_, size_ * element_bytes);
    }
    std::size_t size() const { return size_; }
    template <class T>
    T scalar(std::size_t i) const {
        return bytes_->read<T>(begin_ + i * sizeof(T));
    }
    Table table(std::size_t i) const { return Table(*bytes_, bytes_->follow(begin_ + 4 * i)); }
    std::span<const std::uint8_t> bytes() const {
        return size_ == 0 ? std::span<const std::uint8_t>() : bytes_->data.subspan(begin_, size_);
    }

  private:
    const Bytes* bytes_ = nullptr;
    std::size_t begin_ = 0, size_ = 0;
};

inline Vector Table::vector(std::size_t field, std::size_t element_bytes) const {
    const std::optional<std::size_t> place = place_of(field);
    return place ? Vector(*bytes_, bytes_->follow(*place), element_bytes) : Vector();
}

inline std::string Table::text(std::size_t field) const {
    const std::span<const std::uint8_t> bytes = vector(field, 1).bytes();
    return {bytes.begin(), bytes.end()};
}

}  // namespace lockstep::network::tflite
