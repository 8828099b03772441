// SPDX-License-Identifier: Apache-2.0
// SHA-256 as FIPS 180-4 defines it; its constants are computed from the primes they stand for, the
// fractional parts of square and cube roots, which a double-double is not needed for: 32 bits.
#include "sim/stats/sha256.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace lockstep::stats {

namespace {

using State = std::array<std::uint32_t, 8>;

std::uint32_t fraction_bits(long double root) {
    return static_cast<std::uint32_t>((root - std::floor(root)) * 0x1p32L);
}

struct Constants {
    std::array<std::uint32_t, 64> k;
    State start;
    Constants() {
        unsigned found = 0;
        for (unsigned n = 2; found < 64; ++n) {
            bool is_prime = true;
            for (unsigned d = 2; d * d <= n; ++d) is_prime = is_prime && n % d != 0;
            if (!is_prime) continue;
            k[found] = fraction_bits(std::cbrt(static_cast<long double>(n)));
            if (found < 8) start[found] = fraction_bits(std::sqrt(static_cast<long double>(n)));
            ++found;
        }
    }
};

void add_block(State& state, const std::uint8_t* block, const Constants& constants) {
    std::array<std::uint32_t, 64> w;
    for (int i = 0; i < 16; ++i) {
        std::uint32_t word;
        std::memcpy(&word, block + 4 * i, 4);
        w[i] = __builtin_bswap32(word);
    }
    for (int i = 16; i < 64; ++i) {
        const std::uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (int i = 0; i < 64; ++i) {
        const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                 ((e & f) ^ (~e & g)) + constants.k[i] + w[i];
        const std::uint32_t t2 =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const State add = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state[i] += add[i];
}

}  // namespace

std::string sha256(std::span<const std::byte> bytes) {
    static const Constants constants;
    State state = constants.start;
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const std::size_t whole = bytes.size() / 64, rest = bytes.size() % 64;
    for (std::size_t i = 0; i < whole; ++i) add_block(state, data + 64 * i, constants);
    std::array<std::uint8_t, 128> tail{};
    if (rest > 0) std::memcpy(tail.data(), data + 64 * whole, rest);
    tail[rest] = 0x80;
    const std::size_t tail_bytes = rest < 56 ? 64 : 128;
    const std::uint64_t bits = __builtin_bswap64(std::uint64_t{bytes.size()} * 8);
    std::memcpy(tail.data() + tail_bytes - 8, &bits, 8);
    for (std::size_t i = 0; i < tail_bytes; i += 64) add_block(state, tail.data() + i, constants);
    std::string text;
    for (const std::uint32_t word : state) text += fmt::format("{:08x}", word);
    return text;
}

}  // namespace lockstep::stats
