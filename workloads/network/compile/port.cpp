// SPDX-License-Identifier: Apache-2.0
// Tensors of the reference executor to and from the bytes of a program's buffers.
#include "workloads/network/compile/port.h"

#include <cstring>

#include "sim/error/error.h"
#include "sim/numerics/bf16.h"

namespace lockstep::network::compile {

namespace {

/// `f(i, offset)`: element i of the tensor lies at this byte offset.
template <class F>
void each_element(const Port& port, F&& f) {
    const std::int64_t count = element_count(port.view.shape);
    const auto size = static_cast<std::int64_t>(size_of(port.type));
    std::vector<std::int64_t> index(port.view.shape.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < index.size(); ++d) {
            std::int64_t at = index[d];
            if (d + 1 == index.size() && !port.view.image.empty()) {
                const std::int64_t area = port.view.image[1] * port.view.image[2];
                at = at % area * port.view.image[0] + at / area;
            }
            offset += at * port.view.strides[d];
        }
        f(i, static_cast<std::size_t>(static_cast<std::int64_t>(port.offset) + offset * size));
        for (std::size_t d = index.size(); d-- > 0;) {
            if (++index[d] < port.view.shape[d]) break;
            index[d] = 0;
        }
    }
}

/// Of a packed integer.
struct Bits {
    std::size_t byte;
    std::uint32_t shift;
};
Bits bits_at(const Packing& packing, std::size_t element) {
    const auto at = static_cast<std::int64_t>(element);
    const auto bit = static_cast<std::uint32_t>(at % packing.row) * packing.bits;
    return {static_cast<std::size_t>(at / packing.row * packing.row_bytes) + bit / 8, bit % 8};
}

void write_packed(const Port& port, const std::vector<std::int64_t>& values,
                  std::span<std::uint8_t> contents) {
    const std::uint32_t mask = (1u << port.packing.bits) - 1;
    each_element(port, [&](std::int64_t i, std::size_t at) {
        const auto [byte, shift] = bits_at(port.packing, at);
        const std::uint32_t value =
            static_cast<std::uint32_t>(values[static_cast<std::size_t>(i)]) & mask;
        contents[byte] =
            static_cast<std::uint8_t>((contents[byte] & ~(mask << shift)) | value << shift);
    });
}

std::vector<std::int64_t> read_packed(const Port& port, std::size_t count,
                                      std::span<const std::uint8_t> contents) {
    const std::int64_t span = std::int64_t{1} << port.packing.bits;
    std::vector<std::int64_t> values(count);
    each_element(port, [&](std::int64_t i, std::size_t at) {
        const auto [byte, shift] = bits_at(port.packing, at);
        const std::int64_t value = contents[byte] >> shift & (span - 1);
        values[static_cast<std::size_t>(i)] = value < span / 2 ? value : value - span;
    });
    return values;
}

}  // namespace

void write_port(const Port& port, const Tensor& tensor, std::span<std::uint8_t> contents) {
    if (!is_floating(tensor.type)) {
        const std::vector<std::int64_t> values = to_integers(tensor);
        if (port.packing.bits != 0) return write_packed(port, values, contents);
        each_element(port, [&](std::int64_t i, std::size_t at) {
            const std::int64_t v = values[static_cast<std::size_t>(i)];
            LOCKSTEP_CHECK(!is_floating(port.type), "integers for a floating buffer");
            std::memcpy(&contents[at], &v, size_of(port.type));
        });
        return;
    }
    const std::vector<float> values = to_floats(tensor);
    each_element(port, [&](std::int64_t i, std::size_t at) {
        const float v = values[static_cast<std::size_t>(i)];
        if (port.type == ElementType::kBf16) {
            const std::uint16_t bits = numerics::fp32_to_bf16(v);
            std::memcpy(&contents[at], &bits, 2);
        } else {
            LOCKSTEP_CHECK(port.type == ElementType::kFp32, "floats for an integer buffer");
            std::memcpy(&contents[at], &v, 4);
        }
    });
}

Tensor read_port(const Port& port, ElementType type, std::span<const std::uint8_t> contents) {
    Tensor tensor;
    const auto count = static_cast<std::size_t>(element_count(port.view.shape));
    if (is_floating(port.type)) {
        std::vector<float> values(count);
        each_element(port, [&](std::int64_t i, std::size_t at) {
            float v = 0;
            if (port.type == ElementType::kBf16) {
                std::uint16_t bits = 0;
                std::memcpy(&bits, &contents[at], 2);
                v = numerics::bf16_to_fp32(bits);
            } else {
                std::memcpy(&v, &contents[at], 4);
            }
            values[static_cast<std::size_t>(i)] = v;
        });
        return from_floats(type, port.view.shape, values);
    }
    if (port.packing.bits != 0)
        return from_integers(type, port.view.shape, read_packed(port, count, contents));
    std::vector<std::int64_t> values(count);
    each_element(port, [&](std::int64_t i, std::size_t at) {
        std::int64_t v = 0;
        switch (port.type) {
            case ElementType::kInt8:
                v = static_cast<std::int8_t>(contents[at]);
                break;
            case ElementType::kUint8:
                v = contents[at];
                break;
            case ElementType::kInt16: {
                std::int16_t word = 0;
                std::memcpy(&word, &contents[at], 2);
                v = word;
                break;
            }
            default: {
                std::int32_t word = 0;
                std::memcpy(&word, &contents[at], 4);
                v = word;
            }
        }
        values[static_cast<std::size_t>(i)] = v;
    });
    return from_integers(type, port.view.shape, values);
}

}  // namespace lockstep::network::compile
