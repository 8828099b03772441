// SPDX-License-Identifier: Apache-2.0
// ONNX has two forms of a quantised model: operators of their own (QLinearConv), and QuantizeLinear
// and DequantizeLinear around ordinary ones (QDQ). Both are taken back to the network in real
// numbers and the scale of each value, which quantise_with() then turns into integer nodes. Source:
// the ONNX operator reference; onnxruntime.ai/docs, "Quantize ONNX models".
#include "workloads/network/quantise/from_onnx.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/graph/uses.h"

namespace lockstep::network {

namespace {

bool same(const Quantisation& a, const Quantisation& b) {
    return a.scale == b.scale && a.zero_point == b.zero_point && a.axis == b.axis;
}

class Reader {
  public:
    explicit Reader(const Graph& graph)
        : graph_(graph), uses_(graph), real_(graph.values.size()), scales_(graph.values.size()) {
        for (std::size_t i = 0; i < real_.size(); ++i) real_[i] = static_cast<ValueId>(i);
    }

    Graph read(const QuantiseOptions& options) {
        result_ = graph_;
        result_.nodes.clear();
        for (const std::size_t n : topological_order(graph_)) {
            try {
                read_node(graph_.nodes[n]);
            } catch (const InputError& error) {
                problems_.push_back(error.what());
            }
        }
        if (!problems_.empty())
            throw InputError(fmt::format("not supported:\n  {}", fmt::join(problems_, "\n  ")));
        for (ValueId& id : result_.outputs) id = real_[id];
        scales_.resize(result_.values.size());
        return quantise_with(result_, scales_, options);
    }

  private:
    [[noreturn]] static void fail(const Node& node, const std::string& reason) {
        throw InputError(fmt::format("node {} ({}): {}", node.name, name_of(node.op), reason));
    }

    /// The scale and zero point inputs of stored values of `type`; int8 stays, uint8 is shifted.
    Quantisation scale_of(const Node& node, std::size_t scale, std::size_t zero, ElementType type,
                          std::optional<std::int64_t> axis) const {
        const auto known = [&](std::size_t i) -> const Tensor& {
            const Value& value = graph_.value(node.inputs.at(i));
            if (!value.is_known()) fail(node, value.name + " is not constant");
            return *value.data;
        };
        Quantisation q;
        q.scale = to_floats(known(scale));
        q.zero_point.assign(q.scale.size(), 0);
        if (node.input(zero) != kNoValue) {
            const std::vector<std::int64_t> zeros = to_integers(known(zero));
            q.zero_point.assign(zeros.begin(), zeros.end());
        }
        if (q.zero_point.size() != q.scale.size()) fail(node, "zero points do not fit the scales");
        if (type == ElementType::kUint8)
            for (std::int32_t& z : q.zero_point) z -= 128;
        if (q.scale.size() > 1) q.axis = axis;
        return q;
    }

    void set_scale(const Node& node, ValueId id, const Quantisation& q) {
        if (id >= scales_.size()) scales_.resize(id + 1);
        if (scales_[id] && !same(*scales_[id], q))
            fail(node, fmt::format("{} has two scales", result_.value(id).name));
        scales_[id] = q;
    }

    void make_real(ValueId id) {
        Value& value = result_.values[id];
        value.type = ElementType::kFp32;
        value.quantisation.reset();
    }

    /// A constant in real numbers; a bias, which has more digits than fp32, in fp64.
    ValueId real_constant(ValueId id, const Quantisation& q) {
        const Value& old = graph_.value(id);
        const bool wide = old.type == ElementType::kInt32;
        const std::vector<std::int64_t> stored = to_integers(*old.data);
        const std::int64_t shift = old.type == ElementType::kUint8 ? 128 : 0;
        std::size_t after = 1;
        if (q.axis)
            for (std::size_t d = static_cast<std::size_t>(*q.axis) + 1; d < old.shape->size(); ++d)
                after *= static_cast<std::size_t>((*old.shape)[d]);
        std::vector<double> values(stored.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t s = i / after % q.scale.size();
            values[i] =
                double{q.scale[s]} * static_cast<double>(stored[i] - shift - q.zero_point[s]);
        }
        const ElementType type = wide ? ElementType::kFp64 : ElementType::kFp32;
        Value value{old.name + ".real", old.kind, type, old.shape};
        value.data = std::make_shared<const Tensor>(from_doubles(type, *old.shape, values));
        const ValueId made = result_.add(std::move(value));
        scales_.resize(result_.values.size());
        if (!wide) scales_[made] = q;
        return made;
    }

    /// A stored operand of a node, in real numbers with its scale.
    ValueId operand(const Node& node, ValueId id, const Quantisation& q) {
        if (graph_.value(id).is_known()) return real_constant(id, q);
        const ValueId real = real_[id];
        if (graph_.value(id).kind == ValueKind::kInput) make_real(id);
        set_scale(node, real, q);
        return real;
    }

    void read_node(const Node& node) {
        switch (node.op) {
            case Operator::kQuantizeLinear:
                return read_quantise(node);
            case Operator::kDequantizeLinear:
                return read_dequantise(node);
            case Operator::kQLinearConv:
            case Operator::kQLinearMatMul:
                return read_product(node);
            case Operator::kConvInteger:
            case Operator::kDynamicQuantizeLinear:
            case Operator::kMatMulInteger:
                fail(node, "quantises at run time");
            default:
                break;
        }
        Node copy = node;
        for (ValueId& id : copy.inputs)
            if (id != kNoValue) id = real_[id];
        const bool moves_bytes =
            !copy.inputs.empty() && copy.inputs[0] != kNoValue && scales_[copy.inputs[0]];
        for (const ValueId id : copy.outputs) {
            if (id == kNoValue || graph_.value(id).type == ElementType::kFp32) continue;
            // Bytes that are moved (MaxPool, Reshape) keep their scale.
            const ElementType type = graph_.value(id).type;
            if (!moves_bytes || (type != ElementType::kInt8 && type != ElementType::kUint8))
                continue;
            make_real(id);
            set_scale(node, id, *scales_[copy.inputs[0]]);
        }
        result_.nodes.push_back(std::move(copy));
    }

    void read_quantise(const Node& node) {
        const ValueId from = node.inputs[0], to = node.outputs[0];
        const auto params = [&](const Node& n) {
            return scale_of(n, 1, 2, graph_.value(n.outputs[0]).type, n.integer("axis", 1));
        };
        const Quantisation q = params(node);
        if (q.axis) fail(node, "an activation with a scale a slice");
        const bool alone = std::ranges::all_of(uses_.readers(from), [&](std::size_t n) {
            const Node& other = graph_.nodes[n];
            return other.op == Operator::kQuantizeLinear && same(params(other), q);
        });
        if (alone && !uses_.is_result(from) && !graph_.value(from).is_known() &&
            (!scales_[real_[from]] || same(*scales_[real_[from]], q))) {
            real_[to] = real_[from];
            return set_scale(node, real_[to], q);
        }
        // Others read the value as it is: a value of its own for those that read the stored one.
        make_real(to);
        set_scale(node, to, q);
        result_.nodes.push_back({node.name, Operator::kIdentity, {real_[from]}, {to}, {}});
    }

    void read_dequantise(const Node& node) {
        const ValueId from = node.inputs[0], to = node.outputs[0];
        const Quantisation q =
            scale_of(node, 1, 2, graph_.value(from).type, node.integer("axis", 1));
        real_[to] = operand(node, from, q);
    }

    void read_product(const Node& node) {
        const bool convolves = node.op == Operator::kQLinearConv;
        const ValueId x = node.inputs[0], w = node.inputs[3], y = node.outputs[0];
        const auto type = [&](ValueId id) { return graph_.value(id).type; };
        const std::int64_t axis =
            convolves ? 0 : static_cast<std::int64_t>(graph_.shape(w).size()) - 1;
        const Quantisation qx = scale_of(node, 1, 2, type(x), std::nullopt),
                           qw = scale_of(node, 4, 5, type(w), axis),
                           qy = scale_of(node, 6, 7, type(y), std::nullopt);
        Node made{node.name,
                  convolves ? Operator::kConv : Operator::kMatMul,
                  {operand(node, x, qx), operand(node, w, qw)},
                  {y},
                  node.attributes};
        if (node.input(8) != kNoValue) {
            if (!graph_.value(node.inputs[8]).is_known()) fail(node, "the bias is not constant");
            Quantisation sums{qw.scale, std::vector<std::int32_t>(qw.scale.size(), 0),
                              std::nullopt};
            for (float& scale : sums.scale) scale *= qx.scale[0];
            if (sums.scale.size() > 1) sums.axis = 0;
            made.inputs.push_back(real_constant(node.inputs[8], sums));
        }
        make_real(y);
        set_scale(node, y, qy);
        result_.nodes.push_back(std::move(made));
    }

    const Graph& graph_;
    const Uses uses_;
    Graph result_;
    std::vector<ValueId> real_;  ///< what stands for a value of the model
    Scales scales_;              ///< of the new graph's values
    std::vector<std::string> problems_;
};

}  // namespace

bool is_stored_graph(const Graph& graph) {
    const auto has_scale = [&](ValueId id) {
        return id == kNoValue || graph.value(id).quantisation.has_value();
    };
    return !graph.nodes.empty() &&
           std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
               return node.op != Operator::kQuantizeLinear &&
                      std::all_of(node.outputs.begin(), node.outputs.end(), has_scale);
           });
}

bool is_quantised_model(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
        return node.op == Operator::kQuantizeLinear || node.op == Operator::kDequantizeLinear ||
               node.op == Operator::kQLinearConv || node.op == Operator::kQLinearMatMul;
    });
}

Graph integers_from_onnx(const Graph& graph, const QuantiseOptions& options) {
    return Reader(graph).read(options);
}

}  // namespace lockstep::network
