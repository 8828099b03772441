// SPDX-License-Identifier: Apache-2.0
// Functions of elements by those that a vector unit has, and differences and quotients whose first
// operand is the smaller one. x = max(x, 0) + min(x, 0), one of which is 0, so that activations
// with two pieces are exact.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/error/error.h"
#include "workloads/network/compile/legalise.h"
#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::compile {

namespace {

using enum Operator;

class Elements {
  public:
    Elements(NodeWriter& w, Graph& graph, const Node& node)
        : w_(w),
          graph_(graph),
          node_(node),
          name_(node.name),
          x_(node.inputs.at(0)),
          y_(node.outputs.at(0)) {}

    bool write() {
        if (node_.op == kCast && graph_.value(y_).type == ElementType::kBool) return write_truth();
        if (node_.op == kSlice) return write_backwards();
        if (graph_.value(x_).type == ElementType::kBool) return write_logic();
        if (node_.op == kLessOrEqual || node_.op == kGreaterOrEqual) return write_or_equal();
        if (node_.op == kGreater) {
            w_.add(kLess, name_, {node_.inputs.at(1), x_}, {}, 1, y_);
            return true;
        }
        if (!is_floating(graph_.value(x_).type)) return false;
        switch (node_.op) {
            case kSub:
            case kDiv:
                return write_smaller_first();
            case kLeakyRelu:
                if (node_.real("alpha", 0.01f) == 0.01f) return false;
                return two_pieces(scaled("slope", lower_half(), node_.real("alpha", 0.01f)));
            case kPRelu:
                return two_pieces(
                    w_.add(kMul, name_ + ".sloped", {lower_half(), node_.inputs.at(1)}));
            case kElu: {
                const ValueId power = w_.add(kExp, name_ + ".power", {lower_half()});
                const ValueId less = w_.add(kSub, name_ + ".less", {power, scalar("one", 1)});
                return two_pieces(scaled("alpha", less, node_.real("alpha", 1)));
            }
            case kSoftsign: {
                const ValueId size = w_.add(kAbs, name_ + ".size", {x_});
                const ValueId more = w_.add(kAdd, name_ + ".more", {size, scalar("one", 1)});
                w_.add(kDiv, name_, {x_, more}, {}, 1, y_);
                return true;
            }
            case kCeil: {
                const ValueId below =
                    w_.add(kFloor, name_ + ".floor", {w_.add(kNeg, name_ + ".negated", {x_})});
                w_.add(kNeg, name_, {below}, {}, 1, y_);
                return true;
            }
            case kHardSigmoid: {
                const float alpha = node_.real("alpha", 0.2f), beta = node_.real("beta", 0.5f);
                if (alpha == 1.0f / 6 && beta == 0.5f) return false;
                const ValueId line = w_.add(kAdd, name_ + ".line",
                                            {scaled("alpha", x_, alpha), scalar("beta", beta)});
                w_.add(kClip, name_, {line, scalar("low", 0), scalar("high", 1)}, {}, 1, y_);
                return true;
            }
            case kSign: {
                const ValueId zero = scalar("zero", 0);
                const ElementType type = graph_.value(x_).type;
                const ValueId up = w_.add(kLess, name_ + ".up", {zero, x_}),
                              down = w_.add(kLess, name_ + ".down", {x_, zero});
                w_.add(kSub, name_,
                       {number(name_ + ".plus", up, type), number(name_ + ".minus", down, type)},
                       {}, 1, y_);
                return true;
            }
            case kTrilu:
                return write_triangle();
            case kTile:
                return write_tile();
            default:
                return false;
        }
    }

  private:
    ValueId scalar(const char* what, double value) {
        return w_.scalar(name_ + "." + what, graph_.value(x_).type, value);
    }
    ValueId scaled(const char* what, ValueId x, double factor) {
        return w_.add(kMul, name_ + "." + what + ".times", {x, scalar(what, factor)});
    }
    ValueId lower_half() { return w_.add(kMin, name_ + ".low", {x_, scalar("zero", 0)}); }
    bool two_pieces(ValueId low) {
        w_.add(kAdd, name_, {low, w_.add(kRelu, name_ + ".high", {x_})}, {}, 1, y_);
        return true;
    }

    bool write_smaller_first() {
        const ValueId other = node_.inputs.at(1);
        if (graph_.shape(x_) == graph_.shape(y_) || graph_.shape(other) != graph_.shape(y_))
            return false;
        if (node_.op == kSub) {
            const ValueId negative = w_.add(kSub, name_ + ".negative", {other, x_});
            w_.add(kNeg, name_, {negative}, {}, 1, y_);
        } else {
            const ValueId inverse = w_.add(kReciprocal, name_ + ".inverse", {other});
            w_.add(kMul, name_, {inverse, x_}, {}, 1, y_);
        }
        return true;
    }

    /// Truth values as 1 and 0.
    ValueId number(const std::string& name, ValueId x, ElementType type) {
        const std::int64_t to = type == ElementType::kBf16 ? kOnnxBf16 : kOnnxFp32;
        return w_.add(kCast, name, {x}, {{"to", to}});
    }
    ValueId is_zero(const std::string& name, ValueId x, ValueId into) {
        return w_.add(kEqual, name, {x, w_.scalar(name + ".zero", ElementType::kFp32, 0)}, {}, 1,
                      into);
    }

    /// Not is "equals 0", Or "the sum does not", And "the product does not".
    bool write_logic() {
        const auto operand = [&](std::size_t i) {
            return number(fmt::format("{}.{}", name_, i), node_.inputs.at(i), ElementType::kFp32);
        };
        switch (node_.op) {
            case kNot:
                is_zero(name_, operand(0), y_);
                return true;
            case kAnd:
            case kOr:
            case kXor: {
                const Operator op = node_.op == kAnd ? kMul : node_.op == kOr ? kAdd : kSub;
                const ValueId joined = w_.add(op, name_ + ".joined", {operand(0), operand(1)});
                const ValueId none = is_zero(name_ + ".none", joined, kNoValue);
                is_zero(name_, number(name_ + ".number", none, ElementType::kFp32), y_);
                return true;
            }
            case kWhere:
                return write_choice();
            default:
                return false;
        }
    }

    /// A number is true where it is not 0.
    bool write_truth() {
        const ElementType type = graph_.value(x_).type;
        if (type == ElementType::kBool) {
            w_.give(x_, y_);
            return true;
        }
        const ValueId zero = w_.scalar(name_ + ".zero", type, 0);
        const ValueId none = w_.add(kEqual, name_ + ".none", {x_, zero});
        is_zero(name_, number(name_ + ".number", none, ElementType::kFp32), y_);
        return true;
    }

    /// A slice that goes backwards, by its indices.
    bool write_backwards() {
        const std::vector<SliceRange> ranges = slice_ranges(graph_, node_);
        const auto turns = [](const SliceRange& r) { return r.step < 0 && r.count > 1; };
        if (std::none_of(ranges.begin(), ranges.end(), turns)) return false;
        ValueId x = x_;
        for (std::size_t d = 0; d < ranges.size(); ++d) {
            std::vector<std::int64_t> indices;
            for (std::int64_t i = 0; i < ranges[d].count; ++i)
                indices.push_back(ranges[d].start + i * ranges[d].step);
            if (ranges[d].count == graph_.shape(x_)[d] && ranges[d].step == 1) continue;
            const std::string name = fmt::format("{}.axis{}", name_, d);
            x = w_.add(kGather, name, {x, w_.integers(name + ".indices", indices)},
                       {{"axis", static_cast<std::int64_t>(d)}});
        }
        w_.give(x, y_);
        return true;
    }

    /// Not a comparison the other way round: a NaN is neither.
    bool write_or_equal() {
        const ValueId a = x_, b = node_.inputs.at(1);
        const bool less = node_.op == kLessOrEqual;
        const ValueId strictly = w_.add(kLess, name_ + ".less", {less ? a : b, less ? b : a});
        w_.add(kOr, name_, {strictly, w_.add(kEqual, name_ + ".equal", {a, b})}, {}, 1, y_);
        return true;
    }

    /// An infinite constant times 0 would be none: the largest number stands for it.
    ValueId finite(const char* suffix, ValueId id) {
        const Value& value = graph_.value(id);
        if (!value.is_known()) return id;
        std::vector<double> values = to_doubles(*value.data);
        constexpr double kLargest = std::numeric_limits<float>::max();
        bool changed = false;
        for (double& v : values) {
            changed |= std::isinf(v);
            if (std::isinf(v)) v = v > 0 ? kLargest : -kLargest;
        }
        return changed ? w_.reals(name_ + suffix, value.type, *value.shape, values) : id;
    }

    bool is_zero_constant(ValueId id) const {
        const Value& value = graph_.value(id);
        if (!value.is_known()) return false;
        const std::vector<double> values = to_doubles(*value.data);
        return std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
    }

    /// The compiler's own form: a known mask, and one number in place of what is masked.
    bool is_mask_of_one(ValueId condition, ValueId a, ValueId b) const {
        if (!graph_.value(condition).is_known()) return false;
        const auto is_number = [&](ValueId id) {
            return graph_.value(id).is_known() && element_count(graph_.shape(id)) == 1;
        };
        return (is_number(b) && graph_.shape(a) == graph_.shape(y_)) ||
               (is_number(a) && graph_.shape(b) == graph_.shape(y_));
    }

    /// condition a + (1 - condition) b
    bool write_choice() {
        const ValueId condition = node_.inputs[0], a = node_.inputs.at(1), b = node_.inputs.at(2);
        const ElementType type = graph_.value(a).type;
        if (!is_floating(type) || is_mask_of_one(condition, a, b)) return false;
        const ValueId chosen = number(name_ + ".chosen", condition, type);
        const ValueId other =
            number(name_ + ".other", w_.add(kNot, name_ + ".not", {condition}), type);
        std::vector<ValueId> parts;
        if (!is_zero_constant(a))
            parts.push_back(w_.add(kMul, name_ + ".a", {chosen, finite(".a.finite", a)}));
        if (!is_zero_constant(b))
            parts.push_back(w_.add(kMul, name_ + ".b", {other, finite(".b.finite", b)}));
        if (parts.empty()) return false;
        // Every part may be smaller than the result.
        while (parts.size() < 2) parts.push_back(w_.scalar(name_ + ".zero", type, 0));
        const ValueId sum = w_.add(kAdd, name_, parts);
        if (graph_.shape(sum) == graph_.shape(y_)) {
            w_.give(sum, y_);
        } else {
            w_.add(kExpand, name_ + ".spread",
                   {sum, w_.integers(name_ + ".extents", graph_.shape(y_))}, {}, 1, y_);
        }
        return true;
    }

    bool write_triangle() {
        const Shape& in = graph_.shape(x_);
        const std::int64_t rows = in[in.size() - 2], columns = in.back();
        if (rows * columns > (std::int64_t{1} << 22)) return false;
        const bool upper = node_.integer("upper", 1) != 0;
        const std::int64_t k =
            node_.input(1) == kNoValue
                ? 0
                : std::clamp(known_integers(graph_, node_, 1).at(0), -rows - 1, columns + 1);
        std::vector<std::int64_t> kept;
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < columns; ++c)
                kept.push_back(upper ? c >= r + k : c <= r + k);
        const ValueId mask =
            w_.constant(name_ + ".mask", from_integers(ElementType::kBool, {rows, columns}, kept));
        w_.add(kWhere, name_, {mask, x_, scalar("zero", 0)}, {}, 1, y_);
        return true;
    }

    /// Copies of a dimension are a dimension of their own.
    bool write_tile() {
        const Shape in = graph_.shape(x_), out = graph_.shape(y_);
        Shape apart, spread;
        for (std::size_t d = 0; d < in.size(); ++d) {
            if (in[d] == 0) return false;
            apart.insert(apart.end(), {1, in[d]});
            spread.insert(spread.end(), {out[d] / in[d], in[d]});
        }
        const ValueId parts = w_.reshape(name_ + ".apart", x_, apart);
        const ValueId copies =
            w_.add(kExpand, name_, {parts, w_.integers(name_ + ".copies", spread)});
        w_.reshape(name_ + ".shape", copies, out, y_);
        return true;
    }

    NodeWriter& w_;
    Graph& graph_;
    const Node& node_;
    const std::string& name_;
    const ValueId x_, y_;
};

}  // namespace

bool write_elements(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.inputs.empty() || node.inputs[0] == kNoValue || node.outputs.size() != 1) return false;
    return Elements(w, graph, node).write();
}

}  // namespace lockstep::network::compile
