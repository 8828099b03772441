// SPDX-License-Identifier: Apache-2.0
// Inline SVG, coloured by the page's style. Points of different kinds differ in their form too.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::validation {

/// Text for HTML and its attributes.
std::string escape(std::string_view text);

enum class Mark { kCircle, kHollowCircle, kTriangle };

/// A mark at a place in an SVG, with what is shown when it is pointed at.
std::string mark(Mark mark, double x, double y, const char* style, const std::string& title);

/// A plot with logarithmic axes over whole decades that hold the given ranges.
class LogPlot {
  public:
    struct Range {
        double least = 0, most = 0;  ///< above 0
    };
    /// `title` is read to those who do not see the plot.
    LogPlot(Range x, Range y, double width, double height, const std::string& title);

    void point(double x, double y, Mark mark, const char* style, const std::string& title);
    /// Within the axes, both ends of which are.
    void line(double ax, double ay, double bx, double by, const char* style);
    Range x_range() const;
    Range y_range() const;
    /// The whole picture.
    std::string text(const std::string& x_label, const std::string& y_label) const;

  private:
    double x(double value) const;
    double y(double value) const;

    double x0_, x1_, y0_, y1_;  // decades
    double width_, height_;
    std::string svg_;
};

}  // namespace lockstep::validation
