// SPDX-License-Identifier: Apache-2.0
// Registers that a warpgroup's products (wgmma) still use when the program touches them: results
// read or overwritten before their group has been waited for, operands overwritten with other
// values (ptxas sets an operand again where its value stays).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "isa/sass/program.h"
#include "isa/sass/row.h"
#include "isa/sass/table/op.h"
#include "models/gpu/check/sync.h"

namespace lockstep::gpu::check {

/// Of a warp: products that no wait has covered.
struct WarpProducts {
    struct Held {
        std::uint32_t pc = 0;     ///< of the product
        std::uint32_t group = 0;  ///< that it belongs to
        std::uint8_t first = 0, count = 0;
        bool is_result = false;  ///< else A
    };
    /// Registers of an operand that the last instruction wrote.
    struct Doubt {
        Misuse misuse;
        unsigned first = 0;
        std::vector<sass::Row> before;
    };
    std::vector<Held> held;
    std::vector<Doubt> doubts;
    std::uint32_t group = 0;  ///< the one that is open
};

/// True of the instructions that wgmma.mma_async becomes.
bool is_product(sass::Op op);

/// How many committed groups a wait (WARPGROUP.DEPBAR) leaves under way; of others, as many as
/// there may be.
std::uint32_t groups_left(const sass::Word& word);

class ProductCheck {
  public:
    using Report = std::function<void(const Misuse&)>;

    explicit ProductCheck(Report report) : report_(std::move(report)) {}

    /// Before an instruction that the warp executes for some of its lanes. Products may follow each
    /// other on the same accumulators; everything else waits for WARPGROUP.DEPBAR.
    void before(const sass::Program& program, const sass::Warp& warp, std::uint32_t pc,
                WarpProducts& products) const;

  private:
    /// Reports what the instruction before this one has changed.
    void settle(const sass::Warp& warp, WarpProducts& products) const;

    Report report_;
};

}  // namespace lockstep::gpu::check
