// SPDX-License-Identifier: Apache-2.0
// A bounds-checked view of a file: every read outside of it is the user's error, with its offset.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "sim/error/error.h"

namespace lockstep::cubin {

/// Throws InputError "file: offset 0x..: reason".
[[noreturn]] inline void malformed(std::string_view file_name, uint64_t offset,
                                   const std::string& reason) {
    throw InputError(fmt::format("{}: offset {:#x}: {}", file_name, offset, reason));
}

/// A part of a file. Little-endian; offsets are relative to the part, messages to the file.
class Reader {
  public:
    Reader(std::span<const uint8_t> bytes, std::string_view file_name, uint64_t base = 0)
        : bytes_(bytes), file_name_(file_name), base_(base) {}

    uint64_t size() const { return bytes_.size(); }
    uint64_t base() const { return base_; }
    std::string_view file_name() const { return file_name_; }

    [[noreturn]] void fail(uint64_t offset, const std::string& reason) const {
        malformed(file_name_, base_ + offset, reason);
    }

    /// The `size` bytes at `offset`; `what` names them in the message.
    std::span<const uint8_t> bytes(uint64_t offset, uint64_t size, std::string_view what) const {
        if (offset > bytes_.size() || size > bytes_.size() - offset)
            fail(offset,
                 fmt::format("{} needs {} bytes, the file ends {} bytes after this offset", what,
                             size, offset > bytes_.size() ? 0 : bytes_.size() - offset));
        return bytes_.subspan(offset, size);
    }

    template <typename T>
    T read(uint64_t offset, std::string_view what) const {
        T value;
        std::memcpy(&value, bytes(offset, sizeof(T), what).data(), sizeof(T));
        return value;
    }
    uint8_t u8(uint64_t offset, std::string_view what) const { return read<uint8_t>(offset, what); }
    uint16_t u16(uint64_t offset, std::string_view what) const {
        return read<uint16_t>(offset, what);
    }
    uint32_t u32(uint64_t offset, std::string_view what) const {
        return read<uint32_t>(offset, what);
    }
    uint64_t u64(uint64_t offset, std::string_view what) const {
        return read<uint64_t>(offset, what);
    }

    /// The zero-terminated string at `offset`.
    std::string_view string(uint64_t offset, std::string_view what) const {
        if (offset >= bytes_.size())
            fail(offset, fmt::format("{} lies outside of its table", what));
        const auto* begin = reinterpret_cast<const char*>(bytes_.data() + offset);
        const void* end = std::memchr(begin, 0, bytes_.size() - offset);
        if (end == nullptr) fail(offset, fmt::format("{} does not end", what));
        return {begin, static_cast<const char*>(end)};
    }

  private:
    std::span<const uint8_t> bytes_;
    std::string_view file_name_;
    uint64_t base_;
};

}  // namespace lockstep::cubin
