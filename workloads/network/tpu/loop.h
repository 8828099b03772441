// SPDX-License-Identifier: Apache-2.0
// Operations on the same rows and columns as loops of the vector unit, as XLA fuses them: each
// operand is loaded once, what an operation makes for the next stays in registers, the last result
// is stored.
#pragma once

#include <vector>

#include "workloads/network/tpu/vector.h"

namespace lockstep::network::lowering {

class Loop {
  public:
    Loop(Compilation& c, const BufferRows& first, std::int64_t rows, std::int64_t columns)
        : c_(c), first_(first), rows_(rows), columns_(columns) {}

    /// What flows goes on as then(function(it)) ...
    void apply(tpu::Function function, tpu::Function then = tpu::Function::kIdentity);
    void apply(tpu::Function function, float immediate,
               tpu::Function then = tpu::Function::kIdentity);
    /// ... or as then(function(it, b)), with `flows_second` then(function(b, it)).
    void apply(tpu::Function function, const BufferRows& b, tpu::Broadcast broadcast,
               tpu::Function then = tpu::Function::kIdentity, bool flows_second = false);

    /// Ends the loop. Instructions are emitted here, so that all operands must be there at once;
    /// nothing may be added after.
    void store(const BufferRows& out);
    /// Joins what flows along the axis.
    void reduce(tpu::Reduction reduction, const BufferRows& out,
                tpu::Axis axis = tpu::Axis::kColumns);

  private:
    struct Operation {
        tpu::Function function = tpu::Function::kIdentity, then = tpu::Function::kIdentity;
        tpu::Broadcast broadcast = tpu::Broadcast::kNone;
        float immediate = 0;
        std::optional<BufferRows> b;
        bool flows_second = false;

        /// Whether it needs a register of its own all the while.
        bool holds_constant() const;
    };

    bool fills_half(const BufferRows& out) const;
    /// The operations in as many loops as registers allow; the last result to `out`, or kept.
    void emit(const BufferRows* out);
    void emit(const Operation& operation, const BufferRows* from, const BufferRows* to);

    Compilation& c_;
    BufferRows first_;
    std::int64_t rows_, columns_;
    std::vector<Operation> operations_;
};

}  // namespace lockstep::network::lowering
