// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/train/optimiser.h"

#include <cmath>

#include "sim/error/error.h"

namespace lockstep::network {

namespace {

using enum Operator;
using Kind = Optimiser::Kind;

class Update {
  public:
    Update(NodeWriter& w, const std::string& name, ElementType type)
        : w_(w), name_(name), type_(type) {}

    ValueId times(const char* part, ValueId a, ValueId b) { return op(kMul, part, a, b); }
    ValueId times(const char* part, ValueId a, double b) {
        return b == 1 ? a : op(kMul, part, a, number(part, b));
    }
    ValueId plus(const char* part, ValueId a, ValueId b) { return op(kAdd, part, a, b); }
    ValueId plus(const char* part, ValueId a, double b) {
        return op(kAdd, part, a, number(part, b));
    }
    ValueId op(Operator op, const char* part, ValueId a, ValueId b) {
        return w_.add(op, name_ + "." + part, {a, b});
    }
    ValueId op(Operator op, const char* part, ValueId a) {
        return w_.add(op, name_ + "." + part, {a});
    }

  private:
    ValueId number(const char* part, double value) {
        return w_.scalar(name_ + "." + part + ".factor", type_, value);
    }

    NodeWriter& w_;
    std::string name_;
    ElementType type_;
};

}  // namespace

std::string_view name_of(Scalar scalar) {
    constexpr std::string_view kNames[] = {"learning_rate", "decay", "root_correction",
                                           "loss_scale", "inverse_loss_scale"};
    return kNames[static_cast<std::size_t>(scalar)];
}

std::vector<Scalar> scalars_of(const Optimiser& optimiser) {
    if (optimiser.kind == Kind::kSgd) return {Scalar::kRate};
    return {Scalar::kRate, Scalar::kDecay, Scalar::kRootCorrection};
}

double value_of(Scalar scalar, const Optimiser& o, double rate, std::uint64_t step) {
    const auto t = static_cast<double>(step);
    switch (scalar) {
        case Scalar::kRate:
            return o.kind == Kind::kSgd ? rate : rate / (1 - std::pow(o.beta1, t));
        case Scalar::kDecay:
            return 1 - rate * o.weight_decay;
        case Scalar::kRootCorrection:
            return 1 / std::sqrt(1 - std::pow(o.beta2, t));
        case Scalar::kLossScale:
        case Scalar::kInverseLossScale:
            return 1;
    }
    throw InternalError("a scalar without a value");
}

std::vector<std::string_view> states_of(const Optimiser& optimiser) {
    if (optimiser.kind == Kind::kAdamW) return {"mean", "square"};
    if (optimiser.momentum == 0) return {};
    return {"momentum"};
}

ValueId write_update(NodeWriter& w, const Optimiser& o, const std::string& name, ValueId weight,
                     ValueId g, std::vector<ValueId>& state, const std::vector<ValueId>& scalars) {
    Update u(w, name + ".update", w.type(weight));
    if (o.kind == Kind::kSgd) {
        if (o.weight_decay != 0) g = u.plus("decayed", g, u.times("decay", weight, o.weight_decay));
        ValueId step = g;
        if (!state.empty()) {
            state[0] = u.plus("momentum", u.times("kept", state[0], o.momentum), g);
            step = o.nesterov ? u.plus("ahead", g, u.times("further", state[0], o.momentum))
                              : state[0];
        }
        return u.op(kSub, "weight", weight, u.times("step", step, scalars.at(0)));
    }
    state.at(0) = u.plus("mean", u.times("mean.kept", state[0], o.beta1),
                         u.times("mean.share", g, 1 - o.beta1));
    state.at(1) = u.plus("square", u.times("square.kept", state[1], o.beta2),
                         u.times("square.share", u.times("g.square", g, g), 1 - o.beta2));
    const ValueId root = u.times("root.corrected", u.op(kSqrt, "root", state[1]), scalars.at(2));
    const ValueId share = u.op(kDiv, "share", state[0], u.plus("padded", root, o.epsilon));
    const ValueId kept = o.weight_decay == 0 ? weight : u.times("kept", weight, scalars.at(1));
    return u.op(kSub, "weight", kept, u.times("step", share, scalars.at(0)));
}

ValueId write_clip_factor(NodeWriter& w, const std::vector<ValueId>& gradients, double clip_norm) {
    ValueId total = kNoValue;
    for (const ValueId g : gradients) {
        const std::string name = "clip." + std::to_string(g);
        const ValueId squares = w.add(kReduceSumSquare, name, {g}, {{"keepdims", std::int64_t{0}}});
        total = total == kNoValue ? squares : w.add(kAdd, name + ".total", {total, squares});
    }
    LOCKSTEP_CHECK(total != kNoValue, "no gradients to clip");
    Update u(w, "clip", w.type(total));
    const ValueId norm = w.reshape("clip.norm", u.op(kSqrt, "root", total), {1});
    const ValueId most = w.reals("clip.most", w.type(total), {1}, std::span(&clip_norm, 1));
    const double one = 1;
    return u.op(kMin, "factor", u.op(kDiv, "share", most, u.plus("padded", norm, 1e-6)),
                w.reals("clip.one", w.type(total), {1}, std::span(&one, 1)));
}

}  // namespace lockstep::network
