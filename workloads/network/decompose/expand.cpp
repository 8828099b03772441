// SPDX-License-Identifier: Apache-2.0
// A recurrent layer is matrix products with one weight, step after step; accelerators run it so
// (the TPU paper's LSTMs are sequences of fully connected and vector layers). Source: the ONNX
// operator reference, LSTM: gates in the order input, output, forget, cell.
#include "workloads/network/decompose/expand.h"

#include <algorithm>

#include "workloads/network/decompose/node_writer.h"

namespace lockstep::network {

namespace {

class LstmExpander : NodeWriter {
  public:
    LstmExpander(Graph& graph, const Node& node)
        : NodeWriter(graph), node_(node), x_shape_(graph.shape(node.inputs.at(0))) {
        seq_ = x_shape_.at(0);
        batch_ = x_shape_.at(1);
        hidden_ = graph.shape(node.inputs.at(2)).at(2);
    }

    /// The nodes that stand for the LSTM.
    std::vector<Node> run() {
        const std::string direction = node_.text("direction", "forward");
        const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
        std::vector<ValueId> y, h, c;
        const ValueId x =
            reshape(node_.name + ".rows", node_.inputs[0], {seq_ * batch_, x_shape_.at(2)});
        for (std::int64_t d = 0; d < directions; ++d) {
            name_ = node_.name + (directions == 2 ? d == 0 ? ".forward" : ".backward" : "");
            run_direction(x, d, direction == "reverse" || d == 1, y, h, c);
        }
        finish(0, y, {seq_, 1, batch_, hidden_}, 1);
        finish(1, h, {1, batch_, hidden_}, 0);
        finish(2, c, {1, batch_, hidden_}, 0);
        return take();
    }

  private:
    /// Slice d of a weight [directions, rows, columns].
    ValueId matrix(ValueId weight, std::int64_t d, const char* suffix) {
        const Value old = graph_.value(weight);
        const Shape shape = {old.shape->at(1), old.shape->at(2)};
        Value value{name_ + suffix, old.kind, old.type, shape};
        if (old.is_known()) {
            Tensor slice(old.type, shape);
            std::copy_n(old.data->bytes.begin() + d * static_cast<std::int64_t>(slice.bytes.size()),
                        slice.bytes.size(), slice.bytes.begin());
            value.data = std::make_shared<const Tensor>(std::move(slice));
        }
        return graph_.add(std::move(value));
    }

    /// Wb + Rb of direction d, rounded once.
    ValueId bias(std::int64_t d) {
        const Value old = graph_.value(node_.inputs[3]);
        const std::int64_t gates = 4 * hidden_;
        Value value{name_ + ".B", old.kind, old.type, Shape{gates}};
        if (old.is_known()) {
            const std::vector<double> all = to_doubles(*old.data);
            std::vector<double> sum(static_cast<std::size_t>(gates));
            for (std::int64_t i = 0; i < gates; ++i)
                sum[static_cast<std::size_t>(i)] =
                    all.at(static_cast<std::size_t>((2 * d) * gates + i)) +
                    all.at(static_cast<std::size_t>((2 * d + 1) * gates + i));
            value.data = std::make_shared<const Tensor>(from_doubles(old.type, *value.shape, sum));
        }
        return graph_.add(std::move(value));
    }

    /// Input 5 or 6 of direction d; nothing where it is zero.
    ValueId initial(std::size_t i, std::int64_t d) {
        const ValueId id = node_.input(i);
        if (id == kNoValue) return kNoValue;
        if (graph_.value(id).is_known()) {
            const std::vector<double> values = to_doubles(*graph_.value(id).data);
            if (std::all_of(values.begin(), values.end(), [](double x) { return x == 0; }))
                return kNoValue;
        }
        const std::string name = name_ + (i == 5 ? ".initial_h" : ".initial_c");
        const ValueId slice = add(Operator::kSlice, name + ".slice",
                                  {id, integers(name + ".from", {d}),
                                   integers(name + ".to", {d + 1}), integers(name + ".axis", {0})});
        return reshape(name, slice, {batch_, hidden_});
    }

    void run_direction(ValueId x, std::int64_t d, bool backward, std::vector<ValueId>& y,
                       std::vector<ValueId>& last_h, std::vector<ValueId>& last_c) {
        const ValueId w = matrix(node_.inputs[1], d, ".W"), r = matrix(node_.inputs[2], d, ".R");
        std::vector<ValueId> operands = {x, w};
        if (node_.input(3) != kNoValue) operands.push_back(bias(d));
        const ValueId products =
            add(Operator::kGemm, name_ + ".input", operands, {{"transB", std::int64_t{1}}});
        // The outputs of one node have consecutive numbers.
        const ValueId step = add(
            Operator::kSplit, name_ + ".steps",
            {products, integers(name_ + ".steps.sizes",
                                std::vector<std::int64_t>(static_cast<std::size_t>(seq_), batch_))},
            {{"axis", std::int64_t{0}}}, seq_);
        const ValueId sizes =
            integers(name_ + ".gates.sizes", std::vector<std::int64_t>(4, hidden_));
        ValueId h = initial(5, d), c = initial(6, d);
        std::vector<ValueId> states(static_cast<std::size_t>(seq_));
        for (std::int64_t i = 0; i < seq_; ++i) {
            const std::int64_t t = backward ? seq_ - 1 - i : i;
            const std::string name = name_ + ".t" + std::to_string(t);
            ValueId gates = step + static_cast<ValueId>(t);
            if (h != kNoValue) {
                const ValueId product =
                    add(Operator::kGemm, name + ".state", {h, r}, {{"transB", std::int64_t{1}}});
                gates = add(Operator::kAdd, name + ".gates", {product, gates});
            }
            const ValueId gate = add(Operator::kSplit, name + ".split", {gates, sizes},
                                     {{"axis", std::int64_t{1}}}, 4);
            const ValueId in = add(Operator::kSigmoid, name + ".i", {gate}),
                          out = add(Operator::kSigmoid, name + ".o", {gate + 1}),
                          cell = add(Operator::kTanh, name + ".g", {gate + 3});
            ValueId next = add(Operator::kMul, name + ".ig", {in, cell});
            if (c != kNoValue) {
                const ValueId forget = add(Operator::kSigmoid, name + ".f", {gate + 2});
                const ValueId kept = add(Operator::kMul, name + ".fc", {forget, c});
                next = add(Operator::kAdd, name + ".c", {kept, next});
            }
            c = next;
            h = add(Operator::kMul, name + ".h", {out, add(Operator::kTanh, name + ".tanh", {c})});
            states[static_cast<std::size_t>(t)] = h;
        }
        y.push_back(add(Operator::kConcat, name_ + ".states", states, {{"axis", std::int64_t{0}}}));
        last_h.push_back(h);
        last_c.push_back(c);
    }

    /// One output from those of the directions, which are reshaped and joined along `axis`.
    void finish(std::size_t output, const std::vector<ValueId>& parts, const Shape& shape,
                std::int64_t axis) {
        if (output >= node_.outputs.size() || node_.outputs[output] == kNoValue) return;
        const ValueId into = node_.outputs[output];
        const std::string name = node_.name + ".output" + std::to_string(output);
        if (parts.size() == 1) {
            reshape(name, parts[0], shape, into);
            return;
        }
        std::vector<ValueId> shaped;
        for (std::size_t d = 0; d < parts.size(); ++d)
            shaped.push_back(reshape(name + "." + std::to_string(d), parts[d], shape));
        add(Operator::kConcat, name, shaped, {{"axis", axis}}, 1, into);
    }

    const Node& node_;
    const Shape x_shape_;
    std::int64_t seq_ = 0, batch_ = 0, hidden_ = 0;
    std::string name_;
};

}  // namespace

int expand_lstm(Graph& graph) {
    std::vector<Node> nodes;
    int count = 0;
    for (const Node& node : std::vector<Node>(graph.nodes)) {
        // A sequence without steps has no last state.
        if (node.op != Operator::kLSTM || graph.shape(node.inputs.at(0)).at(0) == 0) {
            nodes.push_back(node);
            continue;
        }
        for (Node& part : LstmExpander(graph, node).run()) nodes.push_back(std::move(part));
        ++count;
    }
    graph.nodes = std::move(nodes);
    return count;
}

}  // namespace lockstep::network
