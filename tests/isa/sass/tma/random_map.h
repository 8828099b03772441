// SPDX-License-Identifier: Apache-2.0
// Random tensor maps, and what a box of one holds, element by element: a reference that shares
// nothing with BoxRows.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <vector>

#include "isa/sass/tma/tensor_map.h"

namespace lockstep::sass {

class RandomMap {
  public:
    explicit RandomMap(unsigned seed) : random_(seed) {}

    std::uint64_t pick(std::uint64_t count) { return random_() % count; }

    /// A map whose box takes at most `most` bytes; its tensor's extent is bytes_of().
    TensorMap map(std::uint64_t address, std::uint32_t most) {
        while (true) {
            TensorMap map;
            map.address = address;
            map.is_im2col = pick(4) == 0;
            map.rank = static_cast<unsigned>(map.is_im2col ? 3 + pick(3) : 1 + pick(5));
            map.type = static_cast<TensorType>(pick(static_cast<unsigned>(TensorType::kCount)));
            map.swizzle = static_cast<TensorSwizzle>(pick(4));
            map.fills_nan = is_float(map.type) && pick(2) == 0;
            const unsigned element = element_bytes(map.type);
            const std::uint32_t span = map.swizzle == TensorSwizzle::kNone
                                           ? 256
                                           : 16u << static_cast<unsigned>(map.swizzle);
            map.box[0] = static_cast<std::uint32_t>(16 * (1 + pick(span / 16)) / element);
            map.step[0] = 1;
            std::uint64_t pitch = 0;
            for (unsigned i = 0; i < map.rank; ++i) {
                map.size[i] = 1 + pick(i == 0 ? 100 : 9);
                if (i != 0) {
                    map.stride[i - 1] = pitch;
                    map.box[i] = static_cast<std::uint32_t>(1 + pick(8));
                    map.step[i] = static_cast<std::uint32_t>(pick(3) == 0 ? 1 + pick(8) : 1);
                }
                const std::uint64_t bytes = i == 0 ? map.size[0] * element : map.size[i] * pitch;
                pitch = (bytes + 15) / 16 * 16 + 16 * pick(3);
            }
            if (map.is_im2col) make_im2col(map);
            if (map.box[0] > 256 || tile_elements(map) * element > most) continue;
            return map;
        }
    }

    std::array<std::int32_t, kMaxTensorRank> coordinates(const TensorMap& map) {
        std::array<std::int32_t, kMaxTensorRank> at{};
        for (unsigned i = 0; i < map.rank; ++i) {
            const auto size = static_cast<std::int32_t>(map.size[i]);
            at[i] =
                static_cast<std::int32_t>(pick(static_cast<unsigned>(2 * size + 4))) - size / 2 - 2;
        }
        if (!map.is_im2col) return at;
        for (unsigned i = 1; i + 1 < map.rank; ++i) {  // within the box of positions
            const std::int32_t end = static_cast<std::int32_t>(map.size[i]) + map.upper[i - 1];
            at[i] = map.lower[i - 1] +
                    static_cast<std::int32_t>(pick(static_cast<unsigned>(end - map.lower[i - 1])));
        }
        return at;
    }

    std::array<std::int32_t, 3> offsets() {
        return {static_cast<std::int32_t>(pick(4)), static_cast<std::int32_t>(pick(4)),
                static_cast<std::int32_t>(pick(4))};
    }

    static std::uint64_t tile_elements(const TensorMap& map) {
        std::uint64_t count = map.box[0];
        if (map.is_im2col) return count * map.pixels;
        for (unsigned i = 1; i < map.rank; ++i)
            count *= (map.box[i] + map.step[i] - 1) / map.step[i];
        return count;
    }

    static std::uint64_t bytes_of(const TensorMap& map) {
        std::uint64_t last = (map.size[0] - 1) * element_bytes(map.type);
        for (unsigned i = 1; i < map.rank; ++i) last += (map.size[i] - 1) * map.stride[i - 1];
        return last + element_bytes(map.type);
    }

    /// Where element `number` of a tile lies in global memory; nullopt: outside of the tensor.
    static std::optional<std::uint64_t> address(
        const TensorMap& map, const std::array<std::int32_t, kMaxTensorRank>& coordinate,
        const std::array<std::int32_t, 3>& offset, std::uint64_t number) {
        std::array<std::int64_t, kMaxTensorRank> at{};
        at[0] = coordinate[0] + static_cast<std::int64_t>(number % map.box[0]);
        std::uint64_t rest = number / map.box[0];
        if (map.is_im2col) {
            const unsigned spatial = map.rank - 2;
            at = step_pixels(map, coordinate, rest);
            at[0] = coordinate[0] + static_cast<std::int64_t>(number % map.box[0]);
            for (unsigned i = 0; i < spatial; ++i) at[i + 1] += offset[i];
        } else {
            for (unsigned i = 1; i < map.rank; ++i) {
                const std::uint64_t count = (map.box[i] + map.step[i] - 1) / map.step[i];
                at[i] = coordinate[i] + static_cast<std::int64_t>(rest % count * map.step[i]);
                rest /= count;
            }
        }
        std::uint64_t address = map.address;
        for (unsigned i = 0; i < map.rank; ++i) {
            if (at[i] < 0 || at[i] >= static_cast<std::int64_t>(map.size[i])) return std::nullopt;
            address += static_cast<std::uint64_t>(at[i]) *
                       (i == 0 ? element_bytes(map.type) : map.stride[i - 1]);
        }
        return address;
    }

    /// CuTe's Swizzle<B, 4, 3> on a byte address.
    static std::uint64_t swizzle(std::uint64_t address, TensorSwizzle swizzle) {
        const auto bits = static_cast<unsigned>(swizzle);
        const std::uint64_t rows = ((1ull << bits) - 1) << 7;
        return address ^ (address & rows) >> 3;
    }

  private:
    void make_im2col(TensorMap& map) {
        map.pixels = static_cast<std::uint32_t>(1 + pick(64));
        for (unsigned i = 0; i + 2 < map.rank; ++i) {
            map.lower[i] = static_cast<std::int32_t>(pick(4)) - 2;
            map.upper[i] = static_cast<std::int32_t>(pick(4)) - 2;
            const auto extent =
                static_cast<std::int64_t>(map.size[i + 1]) + map.upper[i] - map.lower[i];
            if (extent < 1) map.upper[i] = map.lower[i];
        }
    }

    /// The positions of a column, one by one, as nested loops would go through them.
    static std::array<std::int64_t, kMaxTensorRank> step_pixels(
        const TensorMap& map, const std::array<std::int32_t, kMaxTensorRank>& coordinate,
        std::uint64_t pixel) {
        const unsigned samples = map.rank - 1;
        const auto end = [&](unsigned i) {
            return static_cast<std::int64_t>(map.size[i]) + map.upper[i - 1];
        };
        std::uint64_t seen = 0;
        bool is_first = true;
        const auto from = [&](unsigned i) {
            return is_first ? std::int64_t{coordinate[i]} : std::int64_t{map.lower[i - 1]};
        };
        for (std::int64_t n = coordinate[samples];; ++n) {
            const std::int64_t d0 = samples > 3 ? from(3) : 0, d1 = samples > 3 ? end(3) : 1;
            for (std::int64_t d = d0; d<d1; d += samples> 3 ? map.step[3] : 1) {
                const std::int64_t h0 = samples > 2 ? from(2) : 0, h1 = samples > 2 ? end(2) : 1;
                for (std::int64_t h = h0; h<h1; h += samples> 2 ? map.step[2] : 1)
                    for (std::int64_t w = from(1); w < end(1); w += map.step[1]) {
                        is_first = false;
                        if (seen++ != pixel) continue;
                        std::array<std::int64_t, kMaxTensorRank> at{};
                        at[1] = w;
                        if (samples > 2) at[2] = h;
                        if (samples > 3) at[3] = d;
                        at[samples] = n;
                        return at;
                    }
            }
        }
    }

    std::mt19937_64 random_;
};

}  // namespace lockstep::sass
