// SPDX-License-Identifier: Apache-2.0
#include "sim/html/plot.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::html {

namespace {

constexpr double kLeft = 62, kRight = 16, kTop = 12, kBottom = 46;
/// Narrower, its letters would not be read.
constexpr double kLeast = 520;

/// 10 to the power of a whole number, as text.
std::string power(double exponent) {
    static constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴",
                                                   "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string text = "10";
    for (const char c : fmt::format("{:.0f}", exponent))
        text += c == '-' ? std::string_view("⁻") : kDigits[c - '0'];
    return text;
}

/// 1, 2 or 5 times a power of ten, so that a span has about five of them.
double round_step(double span) {
    const double wanted = span / 5, ten = std::pow(10, std::floor(std::log10(wanted)));
    for (const double digit : {1.0, 2.0, 5.0})
        if (digit * ten >= wanted * 0.999) return digit * ten;
    return 10 * ten;
}

}  // namespace

std::string escape(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '&')
            result += "&amp;";
        else if (c == '"')
            result += "&quot;";
        else
            result += c;
    }
    return result;
}

std::string mark(Mark mark, double x, double y, const char* style, const std::string& title) {
    const std::string ending = fmt::format("><title>{}</title></", escape(title));
    if (mark == Mark::kTriangle)
        return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}l4.5 8h-9z\"{}path>", style, x,
                           y - 5, ending);
    return fmt::format("<circle class=\"{}{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"{}circle>", style,
                       mark == Mark::kHollowCircle ? " hollow" : "", x, y, ending);
}

std::string picture(double width, double height, double least, std::string_view title,
                    std::string_view body) {
    return fmt::format(
        "<div class=\"plot\" tabindex=\"0\" role=\"group\"><svg viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "style=\"max-width:{0:.0f}px;min-width:{2:.0f}px\" role=\"img\" aria-label=\"{3}\">{4}"
        "</svg></div>\n",
        width, height, least, escape(title), body);
}

void Range::include(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
}

Plot::Side::Side(const Axis& axis) : is_log(axis.scale == Scale::kLogarithmic) {
    const Range& range = axis.range;
    if (is_log) {
        first = std::floor(std::log10(range.least) + 1e-9);
        last = std::ceil(std::log10(range.most) - 1e-9);
        if (last <= first) last = first + 1;
        return;
    }
    const double span = range.most - range.least;
    step = round_step(span > 0 ? span : std::max(std::abs(range.most), 1.0));
    first = std::floor(range.least / step + 1e-9) * step;
    last = std::ceil(range.most / step - 1e-9) * step;
    if (last <= first) last = first + step;
}

double Plot::Side::share(double value) const {
    return ((is_log ? std::log10(value) : value) - first) / (last - first);
}
double Plot::Side::from() const {
    return is_log ? std::pow(10, first) : first;
}
double Plot::Side::to() const {
    return is_log ? std::pow(10, last) : last;
}

Plot::Plot(Axis x, Axis y, double width, double height, const std::string& title)
    : x_(x), y_(y), width_(width), height_(height), title_(title) {
    draw_grid();
}

void Plot::draw_grid() {
    const auto vertical = [&](double at, const char* style) {
        body_ += fmt::format("<path class=\"{}\" d=\"M{:.1f} {}V{}\"/>", style, at, kTop,
                             height_ - kBottom);
    };
    const auto horizontal = [&](double at, const char* style) {
        body_ += fmt::format("<path class=\"{}\" d=\"M{} {:.1f}H{}\"/>", style, kLeft, at,
                             width_ - kRight);
    };
    const auto ticks = [](const Side& side, const auto& major, const auto& minor) {
        for (int i = 0; side.first + i * side.step <= side.last + side.step * 1e-6; ++i) {
            const double at = side.first + i * side.step;
            if (!side.is_log) {
                major(at, fmt::format("{:.6g}", at));
                continue;
            }
            major(std::pow(10, at), power(at));
            if (at < side.last)
                for (const int digit : {2, 5}) minor(digit * std::pow(10, at));
        }
    };
    ticks(
        x_,
        [&](double value, const std::string& text) {
            vertical(x(value), "grid");
            body_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                                 x(value), height_ - kBottom + 17, text);
        },
        [&](double value) { vertical(x(value), "grid minor"); });
    ticks(
        y_,
        [&](double value, const std::string& text) {
            horizontal(y(value), "grid");
            body_ += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                                 kLeft - 6, y(value) + 4, text);
        },
        [&](double value) { horizontal(y(value), "grid minor"); });
}

void Plot::point(double px, double py, Mark form, const char* style, const std::string& title) {
    body_ += mark(form, x(px), y(py), style, title);
}

void Plot::line(double ax, double ay, double bx, double by, const char* style) {
    body_ += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", style, x(ax),
                         y(ay), x(bx), y(by));
}

void Plot::label(double px, double py, const std::string& text) {
    constexpr double kLineHeight = 13, kLetterWidth = 6.5, kGap = 8;  // of 11.5 px text
    const bool is_at_right = x(px) < (kLeft + width_ - kRight) / 2;
    const double at = x(px) + (is_at_right ? kGap : -kGap);
    const double width = kLetterWidth * static_cast<double>(text.size());
    Box box{is_at_right ? at : at - width, is_at_right ? at + width : at, y(py) - 7};
    const auto overlaps = [&](const Box& other) {
        return box.left < other.right && other.left < box.right &&
               std::abs(box.bottom - other.bottom) < kLineHeight;
    };
    for (std::size_t i = 0; i < labels_.size() && std::ranges::any_of(labels_, overlaps); ++i)
        box.bottom += kLineHeight;
    labels_.push_back(box);
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>", at, box.bottom,
                         is_at_right ? "" : " text-anchor=\"end\"", escape(text));
}

std::string Plot::text(const std::string& x_label, const std::string& y_label) const {
    return picture(
        width_, height_, kLeast, title_,
        body_ + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text><text "
                            "transform=\"translate(14 {}) rotate(-90)\" "
                            "text-anchor=\"middle\">{}</text>",
                            (kLeft + width_ - kRight) / 2, height_ - 8, escape(x_label),
                            (kTop + height_ - kBottom) / 2, escape(y_label)));
}

double Plot::x(double value) const {
    return kLeft + (width_ - kLeft - kRight) * x_.share(value);
}

double Plot::y(double value) const {
    return height_ - kBottom - (height_ - kTop - kBottom) * y_.share(value);
}

}  // namespace lockstep::html
