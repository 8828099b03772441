// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/plot.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::validation {

namespace {

constexpr double kLeft = 62, kRight = 16, kTop = 12, kBottom = 46;

/// 10 to the power of a whole number, as text.
std::string power(double exponent) {
    static constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴",
                                                   "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string text = "10";
    for (const char c : fmt::format("{:.0f}", exponent))
        text += c == '-' ? std::string_view("⁻") : kDigits[c - '0'];
    return text;
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

LogPlot::LogPlot(Range x_range, Range y_range, double width, double height,
                 const std::string& title)
    : x0_(std::floor(std::log10(x_range.least) + 1e-9)),
      x1_(std::ceil(std::log10(x_range.most) - 1e-9)),
      y0_(std::floor(std::log10(y_range.least) + 1e-9)),
      y1_(std::ceil(std::log10(y_range.most) - 1e-9)),
      width_(width),
      height_(height) {
    if (x1_ <= x0_) x1_ = x0_ + 1;
    if (y1_ <= y0_) y1_ = y0_ + 1;
    svg_ = fmt::format(
        "<div class=\"plot\"><svg viewBox=\"0 0 {0} {1}\" style=\"max-width:{0}px\" role=\"img\" "
        "aria-label=\"{2}\">",
        width, height, escape(title));
    const auto vertical = [&](double at, const char* style) {
        svg_ += fmt::format("<path class=\"{}\" d=\"M{:.1f} {}V{}\"/>", style, at, kTop,
                            height_ - kBottom);
    };
    const auto horizontal = [&](double at, const char* style) {
        svg_ += fmt::format("<path class=\"{}\" d=\"M{} {:.1f}H{}\"/>", style, kLeft, at,
                            width_ - kRight);
    };
    for (double e = x0_; e <= x1_; ++e) {
        const double at = x(std::pow(10, e));
        vertical(at, "grid");
        svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", at,
                            height_ - kBottom + 17, power(e));
        if (e < x1_)
            for (const int digit : {2, 5}) vertical(x(digit * std::pow(10, e)), "grid minor");
    }
    for (double e = y0_; e <= y1_; ++e) {
        const double at = y(std::pow(10, e));
        horizontal(at, "grid");
        svg_ += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft - 6,
                            at + 4, power(e));
        if (e < y1_)
            for (const int digit : {2, 5}) horizontal(y(digit * std::pow(10, e)), "grid minor");
    }
}

void LogPlot::point(double px, double py, Mark form, const char* style, const std::string& title) {
    svg_ += mark(form, x(px), y(py), style, title);
}

void LogPlot::line(double ax, double ay, double bx, double by, const char* style) {
    svg_ += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", style, x(ax),
                        y(ay), x(bx), y(by));
}

LogPlot::Range LogPlot::x_range() const {
    return {std::pow(10, x0_), std::pow(10, x1_)};
}

LogPlot::Range LogPlot::y_range() const {
    return {std::pow(10, y0_), std::pow(10, y1_)};
}

std::string LogPlot::text(const std::string& x_label, const std::string& y_label) const {
    return svg_ + fmt::format(
                      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text><text "
                      "transform=\"translate(14 {}) rotate(-90)\" "
                      "text-anchor=\"middle\">{}</text></svg></div>\n",
                      (kLeft + width_ - kRight) / 2, height_ - 8, escape(x_label),
                      (kTop + height_ - kBottom) / 2, escape(y_label));
}

double LogPlot::x(double value) const {
    return kLeft + (width_ - kLeft - kRight) * (std::log10(value) - x0_) / (x1_ - x0_);
}

double LogPlot::y(double value) const {
    return height_ - kBottom - (height_ - kTop - kBottom) * (std::log10(value) - y0_) / (y1_ - y0_);
}

}  // namespace lockstep::validation
