// SPDX-License-Identifier: Apache-2.0
// Digits as a pen draws them: each is a few strokes (polylines and arcs of ellipses in a unit
// square, y down), in one or more styles. An image is one of them under a random affine map with a
// smooth wobble, drawn with a round pen of random width, anti-aliased by distance, blurred by
// noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sim/numerics/random.h"
#include "workloads/cuda/digits/digits.h"

namespace lockstep::cuda {
namespace {

struct Point {
    float x, y;
};
using Stroke = std::vector<Point>;
using Glyph = std::vector<Stroke>;

constexpr int kSide = 28;

// Part of an ellipse; angles in degrees, 0 to the right, 90 down.
Stroke arc(float x, float y, float radius_x, float radius_y, float from, float to) {
    Stroke stroke;
    const int steps = std::max(4, static_cast<int>(std::abs(to - from) / 15.0f));
    for (int i = 0; i <= steps; ++i) {
        const float degrees =
            from + (to - from) * static_cast<float>(i) / static_cast<float>(steps);
        const float angle = degrees * std::numbers::pi_v<float> / 180.0f;
        stroke.push_back({x + radius_x * std::cos(angle), y + radius_y * std::sin(angle)});
    }
    return stroke;
}

Stroke operator+(Stroke a, const Stroke& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// The styles of each digit.
const std::array<std::vector<Glyph>, 10>& glyphs() {
    static const std::array<std::vector<Glyph>, 10> all = {{
        {{arc(0.5f, 0.5f, 0.3f, 0.45f, -90, 270)}, {arc(0.5f, 0.5f, 0.22f, 0.45f, -70, 300)}},
        {{{{0.5f, 0.05f}, {0.5f, 0.95f}}},
         {{{0.3f, 0.25f}, {0.52f, 0.05f}, {0.5f, 0.95f}}},
         {{{0.32f, 0.25f}, {0.5f, 0.05f}, {0.5f, 0.95f}}, {{0.3f, 0.95f}, {0.7f, 0.95f}}}},
        {{arc(0.48f, 0.3f, 0.28f, 0.25f, -165, 35) + Stroke{{0.2f, 0.93f}, {0.82f, 0.93f}}},
         {arc(0.48f, 0.28f, 0.27f, 0.23f, -150, 50) + Stroke{{0.36f, 0.75f}} +
          arc(0.3f, 0.82f, 0.12f, 0.1f, -60, -300) + Stroke{{0.6f, 0.9f}, {0.85f, 0.88f}}}},
        {{arc(0.45f, 0.28f, 0.27f, 0.22f, -150, 90) + arc(0.45f, 0.72f, 0.31f, 0.23f, -90, 150)},
         {Stroke{{0.2f, 0.06f}, {0.75f, 0.06f}, {0.45f, 0.42f}} +
          arc(0.45f, 0.68f, 0.3f, 0.26f, -80, 150)}},
        {{{{0.62f, 0.05f}, {0.15f, 0.65f}, {0.85f, 0.65f}}, {{0.62f, 0.05f}, {0.62f, 0.95f}}},
         {{{0.25f, 0.08f}, {0.2f, 0.5f}, {0.75f, 0.5f}}, {{0.75f, 0.08f}, {0.7f, 0.95f}}}},
        {{Stroke{{0.78f, 0.06f}, {0.3f, 0.06f}, {0.25f, 0.45f}} +
          arc(0.46f, 0.66f, 0.32f, 0.28f, -130, 140)},
         {Stroke{{0.3f, 0.08f}, {0.27f, 0.45f}} + arc(0.45f, 0.67f, 0.3f, 0.26f, -120, 140),
          {{0.3f, 0.08f}, {0.8f, 0.05f}}}},
        {{Stroke{{0.68f, 0.05f}, {0.4f, 0.3f}, {0.24f, 0.6f}} +
          arc(0.5f, 0.7f, 0.26f, 0.25f, 180, -180)},
         {arc(0.62f, 0.5f, 0.38f, 0.45f, -100, -180) + arc(0.48f, 0.7f, 0.24f, 0.24f, 180, -170)}},
        {{{{0.18f, 0.08f}, {0.82f, 0.08f}, {0.42f, 0.95f}}},
         {{{0.18f, 0.08f}, {0.82f, 0.08f}, {0.42f, 0.95f}}, {{0.35f, 0.5f}, {0.75f, 0.5f}}},
         {{{0.2f, 0.2f}, {0.2f, 0.08f}, {0.8f, 0.08f}, {0.55f, 0.5f}, {0.48f, 0.95f}}}},
        {{arc(0.5f, 0.27f, 0.22f, 0.21f, 90, 450), arc(0.5f, 0.71f, 0.28f, 0.23f, -90, 270)},
         {Stroke{{0.72f, 0.15f}} + arc(0.5f, 0.26f, 0.23f, 0.2f, -40, -240) +
          arc(0.5f, 0.72f, 0.26f, 0.22f, -60, 240) + Stroke{{0.72f, 0.15f}}}},
        {{arc(0.48f, 0.3f, 0.27f, 0.25f, 0, -360) + Stroke{{0.74f, 0.5f}, {0.68f, 0.95f}}},
         {arc(0.5f, 0.3f, 0.25f, 0.24f, 10, -350) + arc(0.42f, 0.55f, 0.33f, 0.4f, 0, 110)}},
    }};
    return all;
}

float distance(Point p, Point a, Point b) {
    const float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    float t = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0.0f;
    t = std::clamp(t, 0.0f, 1.0f);
    return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// A random hand: from the unit square to pixels.
class Hand {
  public:
    explicit Hand(numerics::Random& random)
        : angle_(random.uniform(-0.2f, 0.2f)),
          slant_(random.uniform(-0.1f, 0.35f)),
          width_(random.uniform(15.0f, 21.0f)),
          height_(random.uniform(17.0f, 21.0f)),
          x_(random.uniform(-1.5f, 1.5f)),
          y_(random.uniform(-1.5f, 1.5f)),
          wobble_(random.uniform(0.0f, 0.035f)),
          phase_x_(random.uniform(0.0f, 6.28f)),
          phase_y_(random.uniform(0.0f, 6.28f)) {}

    Point operator()(Point p) const {
        const float wave_x = p.x + wobble_ * std::sin(9.0f * p.y + phase_x_);
        const float wave_y = p.y + wobble_ * std::sin(9.0f * p.x + phase_y_);
        const float y = (wave_y - 0.5f) * height_;
        const float x = (wave_x - 0.5f) * width_ - slant_ * y;
        constexpr float kCentre = kSide / 2.0f - 0.5f;
        return {kCentre + x_ + x * std::cos(angle_) - y * std::sin(angle_),
                kCentre + y_ + x * std::sin(angle_) + y * std::cos(angle_)};
    }

  private:
    float angle_, slant_, width_, height_, x_, y_, wobble_, phase_x_, phase_y_;
};

void draw(int digit, numerics::Random& random, std::span<std::uint8_t> image) {
    const std::vector<Glyph>& styles = glyphs()[digit];
    Glyph glyph = styles[random.integer(0, static_cast<int>(styles.size()) - 1)];
    const Hand hand(random);
    for (Stroke& stroke : glyph) {
        for (Point& point : stroke) {
            point.x += random.uniform(-0.02f, 0.02f);
            point.y += random.uniform(-0.02f, 0.02f);
            point = hand(point);
        }
    }
    const float radius = random.uniform(0.8f, 1.7f);
    const float noise = random.uniform(0.0f, 0.12f);
    for (int y = 0; y < kSide; ++y) {
        for (int x = 0; x < kSide; ++x) {
            float nearest = kSide;
            for (const Stroke& stroke : glyph) {
                for (std::size_t i = 1; i < stroke.size(); ++i) {
                    nearest =
                        std::min(nearest, distance({float(x), float(y)}, stroke[i - 1], stroke[i]));
                }
            }
            // Full inside the pen, falling to nothing over a pixel and a half at its edge.
            float ink = std::clamp((radius + 0.75f - nearest) / 1.5f, 0.0f, 1.0f);
            ink *= 1.0f - random.uniform(0.0f, noise);
            ink += random.uniform(0.0f, noise) * random.uniform(0.0f, 1.0f) * 0.5f;
            image[y * kSide + x] = static_cast<std::uint8_t>(std::min(ink, 1.0f) * 255.0f + 0.5f);
        }
    }
}

}  // namespace

Digits draw_digits(int count, std::uint64_t seed) {
    Digits digits;
    digits.pixels.resize(std::size_t(count) * kSide * kSide);
    numerics::Random random(seed);
    for (int i = 0; i < count; ++i) {
        const int digit = random.integer(0, 9);
        digits.labels.push_back(static_cast<std::uint8_t>(digit));
        draw(digit, random,
             std::span(digits.pixels).subspan(std::size_t(i) * kSide * kSide, kSide * kSide));
    }
    return digits;
}

}  // namespace lockstep::cuda
