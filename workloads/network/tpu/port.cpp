// SPDX-License-Identifier: Apache-2.0
// Tensors of the reference executor to and from the bytes of a program's buffers.
#include "sim/error/error.h"
#include "sim/numerics/bf16.h"
#include "workloads/network/tpu/compile.h"

#include <cstring>

namespace lockstep::network {

namespace {

/// `f(i, offset)`: element i of the tensor lies at this byte offset.
template <class F>
void each_element(const TpuPort& port, F&& f) {
    const int64_t count = element_count(port.shape);
    const auto size = static_cast<int64_t>(tpu::size_of(port.type));
    std::vector<int64_t> index(port.shape.size(), 0);
    for (int64_t i = 0; i < count; ++i) {
        int64_t offset = 0;
        for (size_t d = 0; d < index.size(); ++d) {
            int64_t at = index[d];
            if (d + 1 == index.size() && !port.image.empty()) {
                const int64_t area = port.image[1] * port.image[2];
                at = at % area * port.image[0] + at / area;
            }
            offset += at * port.strides[d];
        }
        f(i, static_cast<size_t>(static_cast<int64_t>(port.offset) + offset * size));
        for (size_t d = index.size(); d-- > 0;) {
            if (++index[d] < port.shape[d]) break;
            index[d] = 0;
        }
    }
}

bool is_integer(ElementType type) {
    return type != ElementType::kFp32 && type != ElementType::kFp64 && type != ElementType::kBf16 &&
           type != ElementType::kFp16;
}

}  // namespace

void write_port(const TpuPort& port, const Tensor& tensor, std::span<uint8_t> contents) {
    if (is_integer(tensor.type)) {
        const std::vector<int64_t> values = to_integers(tensor);
        each_element(port, [&](int64_t i, size_t at) {
            const int64_t v = values[static_cast<size_t>(i)];
            LOCKSTEP_CHECK(!tpu::is_float(port.type), "integers for a floating buffer");
            std::memcpy(&contents[at], &v, tpu::size_of(port.type));
        });
        return;
    }
    const std::vector<float> values = to_floats(tensor);
    each_element(port, [&](int64_t i, size_t at) {
        const float v = values[static_cast<size_t>(i)];
        if (port.type == tpu::DataType::kBf16) {
            const uint16_t bits = numerics::fp32_to_bf16(v);
            std::memcpy(&contents[at], &bits, 2);
        } else {
            LOCKSTEP_CHECK(port.type == tpu::DataType::kFp32, "floats for an integer buffer");
            std::memcpy(&contents[at], &v, 4);
        }
    });
}

Tensor read_port(const TpuPort& port, ElementType type, std::span<const uint8_t> contents) {
    Tensor tensor;
    const auto count = static_cast<size_t>(element_count(port.shape));
    if (tpu::is_float(port.type)) {
        std::vector<float> values(count);
        each_element(port, [&](int64_t i, size_t at) {
            float v = 0;
            if (port.type == tpu::DataType::kBf16) {
                uint16_t bits = 0;
                std::memcpy(&bits, &contents[at], 2);
                v = numerics::bf16_to_fp32(bits);
            } else {
                std::memcpy(&v, &contents[at], 4);
            }
            values[static_cast<size_t>(i)] = v;
        });
        return from_floats(type, port.shape, values);
    }
    std::vector<int64_t> values(count);
    each_element(port, [&](int64_t i, size_t at) {
        int64_t v = 0;
        switch (port.type) {
            case tpu::DataType::kInt8:
                v = static_cast<int8_t>(contents[at]);
                break;
            case tpu::DataType::kUint8:
                v = contents[at];
                break;
            case tpu::DataType::kInt16: {
                int16_t word = 0;
                std::memcpy(&word, &contents[at], 2);
                v = word;
                break;
            }
            default: {
                int32_t word = 0;
                std::memcpy(&word, &contents[at], 4);
                v = word;
            }
        }
        values[static_cast<size_t>(i)] = v;
    });
    return from_integers(type, port.shape, values);
}

}  // namespace lockstep::network
