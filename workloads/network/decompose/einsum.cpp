// SPDX-License-Identifier: Apache-2.0
// Einsum of two operands is a matrix product: the letters of both that the result has are batches,
// those of both that it has not are summed over, the others are rows and columns. More operands are
// taken two by two from the left. Source: the ONNX operator reference, Einsum.
#include <algorithm>
#include <map>
#include <numeric>

#include "workloads/network/decompose/parts.h"

namespace lockstep::network::decomposing {

namespace {

bool has(const std::string& letters, char letter) {
    return letters.find(letter) != std::string::npos;
}

class Einsum {
  public:
    Einsum(NodeWriter& w, const Node& node) : w_(w), node_(node) {
        std::string equation;
        for (const char c : node.text("equation", ""))
            if (c != ' ') equation += c;
        const std::size_t arrow = equation.find("->");
        std::string left = equation.substr(0, arrow);
        if (equation.find('.') != std::string::npos) refuse(equation, "an ellipsis");
        terms_.emplace_back();
        for (const char c : left) {
            if (c == ',')
                terms_.emplace_back();
            else
                terms_.back() += c;
        }
        if (terms_.size() != node.inputs.size())
            refuse(equation, fmt::format("{} operands", node.inputs.size()));
        std::map<char, int> uses;
        for (std::size_t i = 0; i < terms_.size(); ++i) read_extents(i, equation, uses);
        if (arrow != std::string::npos) {
            result_ = equation.substr(arrow + 2);
        } else {
            for (const auto& [letter, count] : uses)
                if (count == 1) result_ += letter;
        }
        for (const char c : result_)
            if (!extents_.contains(c) || std::count(result_.begin(), result_.end(), c) != 1)
                refuse(equation, fmt::format("{} in the result", c));
    }

    void run() {
        ValueId x = node_.inputs[0];
        std::string letters = terms_[0];
        for (std::size_t i = 1; i < terms_.size(); ++i) {
            // What the result or a later operand still needs.
            std::string later = result_;
            for (std::size_t j = i + 1; j < terms_.size(); ++j) later += terms_[j];
            x = multiply(i, x, letters, later);
        }
        x = sum_out(node_.name + ".sum", x, letters, result_);
        x = order(node_.name + ".order", x, letters, result_);
        w_.give(x, node_.outputs.at(0));
    }

  private:
    [[noreturn]] void refuse(const std::string& equation, const std::string& reason) const {
        fail(node_, fmt::format("equation {}: {} is not supported", equation, reason));
    }

    void read_extents(std::size_t i, const std::string& equation, std::map<char, int>& uses) {
        const Shape& shape = w_.shape(node_.inputs[i]);
        if (shape.size() != terms_[i].size())
            refuse(equation, fmt::format("operand {} of shape {}", i, to_string(shape)));
        for (std::size_t d = 0; d < shape.size(); ++d) {
            const char c = terms_[i][d];
            ++uses[c];
            if (std::count(terms_[i].begin(), terms_[i].end(), c) != 1)
                refuse(equation, fmt::format("{} twice in an operand", c));
            const auto [found, is_new] = extents_.try_emplace(c, shape[d]);
            if (!is_new && found->second != shape[d])
                refuse(equation, fmt::format("{} of {} and {}", c, found->second, shape[d]));
        }
    }

    /// Sums over the letters that nobody needs.
    ValueId sum_out(const std::string& name, ValueId x, std::string& letters,
                    const std::string& needed) {
        std::vector<std::int64_t> axes;
        std::string kept;
        for (std::size_t d = 0; d < letters.size(); ++d) {
            if (has(needed, letters[d]))
                kept += letters[d];
            else
                axes.push_back(static_cast<std::int64_t>(d));
        }
        if (axes.empty()) return x;
        letters = kept;
        return w_.add(Operator::kReduceSum, name, {x, w_.integers(name + ".axes", axes)},
                      {{"keepdims", std::int64_t{0}}});
    }

    ValueId order(const std::string& name, ValueId x, const std::string& from,
                  const std::string& to) {
        if (from == to) return x;
        std::vector<std::int64_t> perm;
        for (const char c : to) perm.push_back(static_cast<std::int64_t>(from.find(c)));
        return w_.transpose(name, x, perm);
    }

    std::int64_t product(const std::string& letters) const {
        Shape shape;
        for (const char c : letters) shape.push_back(extents_.at(c));
        return element_count(shape);
    }

    ValueId multiply(std::size_t i, ValueId x, std::string& letters, const std::string& later) {
        const std::string name = fmt::format("{}.product{}", node_.name, i);
        std::string other = terms_[i];
        ValueId y = node_.inputs[i];
        x = sum_out(name + ".left.sum", x, letters, later + other);
        y = sum_out(name + ".right.sum", y, other, later + letters);
        std::string batch, inner, rows, columns;
        for (const char c : letters) (!has(other, c) ? rows : has(later, c) ? batch : inner) += c;
        for (const char c : other)
            if (!has(letters, c)) columns += c;
        Shape batches;
        for (const char c : batch) batches.push_back(extents_.at(c));
        const auto as_matrices = [&](const char* side, ValueId value, const std::string& from,
                                     const std::string& first, const std::string& second) {
            Shape shape = batches;
            shape.insert(shape.end(), {product(first), product(second)});
            value = order(name + side + ".order", value, from, batch + first + second);
            return w_.reshape(name + side, value, shape);
        };
        x = as_matrices(".left", x, letters, rows, inner);
        y = as_matrices(".right", y, other, inner, columns);
        x = w_.add(Operator::kMatMul, name, {x, y});
        letters = batch + rows + columns;
        Shape apart;
        for (const char c : letters) apart.push_back(extents_.at(c));
        return w_.reshape(name + ".apart", x, apart);
    }

    NodeWriter& w_;
    const Node& node_;
    std::vector<std::string> terms_;
    std::string result_;
    std::map<char, std::int64_t> extents_;
};

}  // namespace

void write_einsum(NodeWriter& w, const Graph&, const Node& node) {
    Einsum(w, node).run();
}

}  // namespace lockstep::network::decomposing
