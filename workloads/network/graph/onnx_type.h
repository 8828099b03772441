// SPDX-License-Identifier: Apache-2.0
// ONNX's numbers of the element types: in its files, and in the attribute `to` of Cast.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/network/graph/element_type.h"

namespace lockstep::network {

inline constexpr std::int64_t kOnnxFp32 = 1, kOnnxFp16 = 10, kOnnxBf16 = 16;

/// A number of TensorProto.DataType as an element type; nothing where there is none here.
inline std::optional<ElementType> onnx_element_type(std::int64_t number) {
    switch (number) {
        case kOnnxFp32:
            return ElementType::kFp32;
        case 2:
            return ElementType::kUint8;
        case 3:
            return ElementType::kInt8;
        case 6:
            return ElementType::kInt32;
        case 7:
            return ElementType::kInt64;
        case 9:
            return ElementType::kBool;
        case kOnnxFp16:
            return ElementType::kFp16;
        case 11:
            return ElementType::kFp64;
        case kOnnxBf16:
            return ElementType::kBf16;
        default:
            return std::nullopt;
    }
}

/// The other way round; 0 where ONNX has no such type.
inline std::int64_t onnx_type_of(ElementType type) {
    for (std::int64_t number = 1; number <= kOnnxBf16; ++number)
        if (onnx_element_type(number) == type) return number;
    return 0;
}

}  // namespace lockstep::network
