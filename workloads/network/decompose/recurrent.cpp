// SPDX-License-Identifier: Apache-2.0
// Recurrent layers as products and gates, step after step. GRU, gates in the order update z, reset
// r, hidden n: n = tanh(x Wn' + Wbn + r (h Rn' + Rbn)) where linear_before_reset is set (PyTorch
// sets it), else tanh(x Wn' + Wbn + (r h) Rn' + Rbn); h = n + z (h - n). RNN: h = f(x W' + h R' +
// b), f = tanh or relu. Source: the ONNX operator reference.
#include "workloads/network/decompose/parts.h"

namespace lockstep::network::decomposing {

namespace {

class Recurrent {
  public:
    Recurrent(NodeWriter& w, const Node& node) : w_(w), node_(node) {
        const Shape &x = w.shape(node.inputs.at(0)), &weight = w.shape(node.inputs.at(1)),
                    &recurrence = w.shape(node.inputs.at(2));
        const std::string direction = node.text("direction", "forward");
        directions_ = direction == "bidirectional" ? 2 : 1;
        reverse_ = direction == "reverse";
        gru_ = node.op == Operator::kGRU;
        const std::int64_t gates = gru_ ? 3 : 1;
        if (directions_ == 1 && !reverse_ && direction != "forward")
            fail(node, "direction " + direction);
        if (x.size() != 3 || weight.size() != 3 || recurrence.size() != 3)
            fail(node, fmt::format("X is {}, W is {}, R is {}", to_string(x), to_string(weight),
                                   to_string(recurrence)));
        seq_ = x[0], batch_ = x[1], hidden_ = recurrence[2];
        if (seq_ == 0) fail(node, "a sequence without steps");
        if (seq_ > kMaximumSteps) fail(node, fmt::format("more than {} steps", kMaximumSteps));
        const bool fits = hidden_ < (std::int64_t{1} << 30) &&
                          weight == Shape{directions_, gates * hidden_, x[2]} &&
                          recurrence == Shape{directions_, gates * hidden_, hidden_} &&
                          node.integer("hidden_size", hidden_) == hidden_;
        if (!fits)
            fail(node, fmt::format("W is {}, R is {}", to_string(weight), to_string(recurrence)));
        if (has(3) && w.shape(node.inputs[3]) != Shape{directions_, 2 * gates * hidden_})
            fail(node, "B is " + to_string(w.shape(node.inputs[3])));
        if (has(4)) fail(node, "sequence_lens are not supported");
        if (has(5) && w.shape(node.inputs[5]) != Shape{directions_, batch_, hidden_})
            fail(node, "initial_h is " + to_string(w.shape(node.inputs[5])));
        read_activations();
    }

    void run() {
        const ValueId rows = w_.reshape(node_.name + ".rows", node_.inputs[0],
                                        {seq_ * batch_, w_.shape(node_.inputs[0])[2]});
        std::vector<ValueId> states, last;
        for (std::int64_t d = 0; d < directions_; ++d) {
            name_ = node_.name + (directions_ == 2 ? d == 0 ? ".forward" : ".backward" : "");
            run_direction(rows, d, reverse_ || d == 1);
            const auto joined =
                w_.add(Operator::kConcat, name_ + ".states", states_, {{"axis", std::int64_t{0}}});
            states.push_back(w_.reshape(name_ + ".output0", joined, {seq_, 1, batch_, hidden_}));
            last.push_back(w_.reshape(name_ + ".output1", last_, {1, batch_, hidden_}));
        }
        finish(0, states, 1);
        finish(1, last, 0);
    }

  private:
    static constexpr std::int64_t kMaximumSteps = 1 << 14;

    bool has(std::size_t i) const { return node_.input(i) != kNoValue; }

    void read_activations() {
        if (!gru_) activations_.assign(static_cast<std::size_t>(directions_), Operator::kTanh);
        const auto found = node_.attributes.find("activations");
        if (found == node_.attributes.end()) return;
        const auto& given = std::get<std::vector<std::string>>(found->second);
        for (std::size_t i = 0; i < given.size(); ++i) {
            const bool known = gru_ ? given[i] == (i % 2 == 0 ? "Sigmoid" : "Tanh")
                                    : given[i] == "Tanh" || given[i] == "Relu";
            if (!known) fail(node_, "activation " + given[i] + " is not supported");
            if (!gru_ && i < activations_.size() && given[i] == "Relu")
                activations_[i] = Operator::kRelu;
        }
    }

    /// Slice d of an input.
    ValueId part(std::size_t input, std::int64_t d, const char* suffix) {
        const std::string name = name_ + suffix;
        const ValueId index = w_.constant(name + ".index", make_tensor({}, std::span(&d, 1)));
        return w_.add(Operator::kGather, name, {node_.inputs[input], index},
                      {{"axis", std::int64_t{0}}});
    }
    ValueId range(const std::string& name, ValueId x, std::int64_t axis, std::int64_t from,
                  std::int64_t to) {
        return w_.add(Operator::kSlice, name,
                      {x, w_.integers(name + ".from", {from}), w_.integers(name + ".to", {to}),
                       w_.integers(name + ".axis", {axis})});
    }
    ValueId product(const std::string& name, ValueId x, ValueId weight, ValueId bias) {
        std::vector<ValueId> operands = {x, weight};
        if (bias != kNoValue) operands.push_back(bias);
        return w_.add(Operator::kGemm, name, operands, {{"transB", std::int64_t{1}}});
    }
    ValueId both(Operator op, const std::string& name, ValueId a, ValueId b) {
        return w_.add(op, name, {a, b});
    }
    ValueId split(const std::string& name, ValueId x, std::int64_t parts, std::int64_t extent,
                  std::int64_t axis) {
        const std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), extent);
        return w_.add(Operator::kSplit, name, {x, w_.integers(name + ".sizes", sizes)},
                      {{"axis", axis}}, parts);
    }

    void run_direction(ValueId rows, std::int64_t d, bool backward) {
        const std::int64_t width = (gru_ ? 3 : 1) * hidden_;
        const ValueId weight = part(1, d, ".W");
        recurrence_ = part(2, d, ".R");
        ValueId input_bias = kNoValue;
        recurrence_bias_ = kNoValue;
        if (has(3)) {
            const ValueId bias = part(3, d, ".B");
            input_bias = range(name_ + ".Wb", bias, 0, 0, width);
            recurrence_bias_ = range(name_ + ".Rb", bias, 0, width, 2 * width);
        }
        const ValueId inputs = product(name_ + ".input", rows, weight, input_bias);
        const ValueId steps = split(name_ + ".steps", inputs, seq_, batch_, 0);
        ValueId h = has(5) ? part(5, d, ".initial_h")
                           : w_.constant(name_ + ".zero",
                                         Tensor(w_.type(node_.inputs[0]), {batch_, hidden_}));
        states_.assign(static_cast<std::size_t>(seq_), kNoValue);
        for (std::int64_t i = 0; i < seq_; ++i) {
            const std::int64_t t = backward ? seq_ - 1 - i : i;
            const std::string name = name_ + ".t" + std::to_string(t);
            const ValueId x = steps + static_cast<ValueId>(t);
            h = gru_ ? gru_step(name, x, h) : rnn_step(name, x, h, d);
            states_[static_cast<std::size_t>(t)] = h;
        }
        last_ = h;
    }

    ValueId rnn_step(const std::string& name, ValueId x, ValueId h, std::int64_t d) {
        const ValueId state = product(name + ".state", h, recurrence_, recurrence_bias_);
        return w_.add(activations_[static_cast<std::size_t>(d)], name + ".h",
                      {both(Operator::kAdd, name + ".sum", state, x)});
    }

    ValueId gru_step(const std::string& name, ValueId x, ValueId h) {
        using enum Operator;
        const bool linear = node_.integer("linear_before_reset", 0) != 0;
        const ValueId from_x = split(name + ".x", x, 3, hidden_, 1);
        ValueId z, r, inner;
        if (linear) {
            const ValueId state = product(name + ".state", h, recurrence_, recurrence_bias_);
            const ValueId from_h = split(name + ".h", state, 3, hidden_, 1);
            z = w_.add(kSigmoid, name + ".z", {both(kAdd, name + ".zs", from_h, from_x)});
            r = w_.add(kSigmoid, name + ".r", {both(kAdd, name + ".rs", from_h + 1, from_x + 1)});
            inner = both(kMul, name + ".reset", r, from_h + 2);
        } else {
            const auto rows = [&](const char* suffix, ValueId from, std::int64_t first,
                                  std::int64_t last) {
                return from == kNoValue
                           ? from
                           : range(name + suffix, from, 0, first * hidden_, last * hidden_);
            };
            const ValueId state = product(name + ".state", h, rows(".Rzr", recurrence_, 0, 2),
                                          rows(".Rbzr", recurrence_bias_, 0, 2));
            const ValueId from_h = split(name + ".h", state, 2, hidden_, 1);
            z = w_.add(kSigmoid, name + ".z", {both(kAdd, name + ".zs", from_h, from_x)});
            r = w_.add(kSigmoid, name + ".r", {both(kAdd, name + ".rs", from_h + 1, from_x + 1)});
            inner = product(name + ".reset", both(kMul, name + ".rh", r, h),
                            rows(".Rn", recurrence_, 2, 3), rows(".Rbn", recurrence_bias_, 2, 3));
        }
        const ValueId n = w_.add(kTanh, name + ".n", {both(kAdd, name + ".ns", inner, from_x + 2)});
        const ValueId kept = both(kMul, name + ".kept", z, both(kSub, name + ".change", h, n));
        return both(kAdd, name + ".new", n, kept);
    }

    void finish(std::size_t output, const std::vector<ValueId>& parts, std::int64_t axis) {
        if (output >= node_.outputs.size() || node_.outputs[output] == kNoValue) return;
        w_.add(Operator::kConcat, fmt::format("{}.output{}", node_.name, output), parts,
               {{"axis", axis}}, 1, node_.outputs[output]);
    }

    NodeWriter& w_;
    const Node& node_;
    std::int64_t directions_ = 1, seq_ = 0, batch_ = 0, hidden_ = 0;
    bool reverse_ = false, gru_ = false;
    std::vector<Operator> activations_;
    std::string name_;
    ValueId recurrence_ = kNoValue, recurrence_bias_ = kNoValue, last_ = kNoValue;
    std::vector<ValueId> states_;
};

}  // namespace

void write_recurrent(NodeWriter& w, const Graph&, const Node& node) {
    Recurrent(w, node).run();
}

}  // namespace lockstep::network::decomposing
