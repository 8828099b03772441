// SPDX-License-Identifier: Apache-2.0
// A row is one 32-bit register of all 32 lanes of a warp: the unit that semantics work on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::sass {

constexpr unsigned kWarpSize = 32;
constexpr std::uint32_t kAllLanes = 0xffffffffu;

/// 32 lanes of a 32-bit register. 64-bit values lie in two consecutive rows, low half first.
struct alignas(128) Row {
    std::uint32_t lane[kWarpSize];
};

/// Rows of a warp, in this order. RZ reads kZeroRow.. (up to 8 consecutive rows of zeros, so that a
/// vector operand RZ works too) and writes kSinkRow.. (never read).
constexpr unsigned kZeroRow = 0;
constexpr unsigned kSinkRow = 8;
constexpr unsigned kUniformRow = 16;                // UR0..UR62, each broadcast to all lanes
constexpr unsigned kBarrierRow = kUniformRow + 64;  // B0..B15: convergence barriers, per lane
constexpr unsigned kReturnRow = kBarrierRow + 16;   // Rpc, 64 bits
constexpr unsigned kRegisterRow = kReturnRow + 2;   // R0..R254
constexpr unsigned kRegisterRZ = 255;
constexpr unsigned kUniformURZ = 63;

/// A reference to one row: of the warp, or of the launch's table of literals (immediates and
/// constant-bank words, broadcast to all lanes). Bit 0 tells which; the rest is the byte offset.
class Operand {
  public:
    constexpr Operand() : bits_(kZeroRow * sizeof(Row)) {}
    static constexpr Operand of_warp(unsigned row) {
        return Operand(row * static_cast<std::uint32_t>(sizeof(Row)));
    }
    static constexpr Operand of_literal(unsigned row) {
        return Operand(row * static_cast<std::uint32_t>(sizeof(Row)) | 1);
    }
    constexpr bool is_literal() const { return bits_ & 1; }
    constexpr std::uint32_t offset() const { return bits_ & ~1u; }
    constexpr unsigned row() const { return offset() / sizeof(Row); }
    friend constexpr bool operator==(Operand, Operand) = default;

  private:
    constexpr explicit Operand(std::uint32_t bits) : bits_(bits) {}
    std::uint32_t bits_;
};

}  // namespace lockstep::sass
