// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lockstep::npu {

/// sum / count, ties away from zero (TensorFlow Lite's average of integers); of nothing: 0.
inline std::int32_t average_of(std::int64_t sum, std::int64_t count) {
    if (count == 0) return 0;
    return static_cast<std::int32_t>(sum > 0 ? (sum + count / 2) / count
                                             : (sum - count / 2) / count);
}

}  // namespace lockstep::npu
