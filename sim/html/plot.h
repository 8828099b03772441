// SPDX-License-Identifier: Apache-2.0
// Inline SVG, coloured by the page's style. Points of different kinds differ in their form too.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::html {

/// Text for HTML and its attributes.
std::string escape(std::string_view text);

enum class Mark { kCircle, kHollowCircle, kTriangle };

/// A mark at a place in an SVG, with what is shown when it is pointed at.
std::string mark(Mark mark, double x, double y, const char* style, const std::string& title);

/// An SVG that takes the width it gets up to `width`, and scrolls where there is less than `least`.
/// `title` is read to those who do not see it.
std::string picture(double width, double height, double least, std::string_view title,
                    std::string_view body);

enum class Scale { kLogarithmic, kLinear };

/// What an axis shows.
struct Range {
    double least = INFINITY, most = -INFINITY;
    void include(double value);
    bool is_empty() const { return most < least; }
};

/// A plot with axes that hold the given ranges: logarithmic over whole decades, linear between
/// round numbers.
class Plot {
  public:
    /// Of a logarithmic axis, both ends of the range are above 0.
    struct Axis {
        Range range;
        Scale scale = Scale::kLogarithmic;
    };
    Plot(Axis x, Axis y, double width, double height, const std::string& title);

    void point(double x, double y, Mark mark, const char* style, const std::string& title);
    /// Within the axes, both ends of which are.
    void line(double ax, double ay, double bx, double by, const char* style);
    /// Beside a point of the plot; at the right where there is room, lower where another one
    /// stands.
    void label(double x, double y, const std::string& text);
    Range x_range() const { return {x_.from(), x_.to()}; }
    Range y_range() const { return {y_.from(), y_.to()}; }
    /// The whole picture.
    std::string text(const std::string& x_label, const std::string& y_label) const;

  private:
    /// An axis between two round values, in decades where it is logarithmic.
    class Side {
      public:
        explicit Side(const Axis& axis);
        double share(double value) const;
        double from() const;
        double to() const;
        double first = 0, last = 1, step = 1;
        bool is_log;
    };
    double x(double value) const;
    double y(double value) const;
    void draw_grid();

    struct Box {
        double left, right, bottom;
    };

    Side x_, y_;
    std::vector<Box> labels_;
    double width_, height_;
    std::string title_, body_;
};

}  // namespace lockstep::html
