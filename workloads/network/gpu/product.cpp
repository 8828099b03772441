// SPDX-License-Identifier: Apache-2.0
// Conv, Gemm and MatMul as one kind of product, whose sums pass through an epilogue: bias, residual
// and activation, as far as their operands lie along rows and columns.
#include <algorithm>
#include <limits>

#include "sim/numerics/integer.h"
#include "workloads/network/gpu/chain.h"
#include "workloads/network/gpu/choose.h"
#include "workloads/network/gpu/lowering.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/quantise/fp8.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network::gpu {

namespace {

using numerics::divide_up;

/// How the dimensions of a product's result are rows, columns and batches of it.
struct Axes {
    std::vector<std::size_t> rows;
    std::size_t column = 0;
    std::vector<std::size_t> batches;
};

/// A product without its epilogue's steps.
struct Problem {
    kernels::Product p;
    std::vector<std::int64_t> out;  ///< strides of the result
    Axes axes;
    std::vector<std::int64_t> batches;  ///< extents of the batch dimensions
    std::uint64_t macs = 0;
    bool is_matrix = true;  ///< A is a matrix, not an image with a window
};

void set_batches(kernels::Product& p, const Loops& loops) {
    put_last(p.batch, loops.extents);
    put_last(p.a_batch, loops.strides[1], 0);
    put_last(p.b_batch, loops.strides[2], 0);
    put_last(p.epilogue.batch, loops.strides[0], 0);
}

bool all_multiples(std::initializer_list<std::int64_t> numbers, std::int64_t of) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [of](std::int64_t number) { return number % of == 0; });
}

/// 16 bytes along k can be fetched at once.
void find_vectors(kernels::Product& p, const Place& a, const Place& b) {
    const auto wide = static_cast<std::int64_t>(16 / size_of(a.type));
    const std::int64_t channels = p.channels.divisor;
    p.a_vector =
        p.a_k == 1 && channels % wide == 0 &&
        all_multiples({a.offset, p.a_image, p.a_y, p.a_x, p.a_batch[0], p.a_batch[1], p.a_batch[2]},
                      wide);
    p.b_vector =
        p.b_k == 1 && channels % wide == 0 &&
        all_multiples({b.offset, p.b_n, p.b_tap, p.b_batch[0], p.b_batch[1], p.b_batch[2]}, wide);
}

Problem convolution(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Shape &sx = graph.shape(node.inputs[0]), &sw = graph.shape(node.inputs[1]);
    const SlidingWindow window = window_of(node, sx, &sw);
    const Place& x = l.place(node.inputs[0]);
    // Taps outside, channels inside: consecutive as the channels of an image are.
    const std::int64_t taps = sw[2] * sw[3];
    const Place& w = l.place(node.inputs[1], {taps * sw[1], 1, sw[3] * sw[1], sw[1]});
    Problem made;
    kernels::Product& p = made.p;
    const std::int64_t group = window.group, filters = sw[0] / group;
    const std::int64_t area = window.output[0] * window.output[1];
    p.m = static_cast<std::int32_t>(sx[0] * area);
    p.n = static_cast<std::int32_t>(filters);
    p.k = static_cast<std::int32_t>(sw[1] * taps);
    const auto narrow = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
    p.a_image = narrow(x.strides[0]), p.a_k = narrow(x.strides[1]);
    p.a_y = narrow(x.strides[2]), p.a_x = narrow(x.strides[3]);
    p.pixels = divider_of(area), p.width = divider_of(window.output[1]);
    p.channels = divider_of(sw[1]), p.taps_x = divider_of(sw[3]);
    p.step_y = narrow(window.stride[0]), p.step_x = narrow(window.stride[1]);
    p.dilation_y = narrow(window.dilation[0]), p.dilation_x = narrow(window.dilation[1]);
    p.pad_y = narrow(window.pad_begin[0]), p.pad_x = narrow(window.pad_begin[1]);
    p.in_y = narrow(sx[2]), p.in_x = narrow(sx[3]);
    p.b_n = narrow(w.strides[0]), p.b_k = narrow(w.strides[1]);
    // The weights of a network in training lie as their graph has them.
    p.b_tap = narrow(w.strides[3]);
    LOCKSTEP_CHECK(sw[2] == 1 || w.strides[2] == w.strides[3] * sw[3], "{}: its weight's rows",
                   node.name);
    if (taps == 1) p.b_tap = 0;
    const bool moves_by_one = p.step_y == 1 && p.step_x == 1 && p.pad_y == 0 && p.pad_x == 0;
    const auto pixels =
        single_stride({sx[0], sx[2], sx[3]}, {x.strides[0], x.strides[2], x.strides[3]});
    if (taps == 1 && moves_by_one && area == sx[2] * sx[3] && pixels) {
        p.pixels = p.width = divider_of(1);
        p.a_image = narrow(*pixels);
        p.a_y = p.a_x = 0;
        p.in_y = p.in_x = 1;
    } else {
        made.is_matrix = false;
    }
    const Shape& shape = graph.shape(node.outputs[0]);
    made.out = compile::image_strides(shape);
    p.epilogue.row = narrow(sw[0]);
    Loops batches{{group}, {}};
    batches.add({filters});
    batches.add({sw[1] * x.strides[1]});
    batches.add({filters * w.strides[0]});
    made.batches = {group};
    set_batches(p, batches);
    find_vectors(p, x, w);
    made.axes = {{0, 2, 3}, 1, {}};
    made.macs = static_cast<std::uint64_t>(p.m) * static_cast<std::uint64_t>(p.k) *
                static_cast<std::uint64_t>(sw[0]);
    return made;
}

/// A product of matrices, given the strides of rows, k and columns.
struct Matrices {
    std::int64_t m = 1, n = 1, k = 1;
    std::int64_t a_m = 0, a_k = 0, b_k = 0, b_n = 0;
};

void set_matrices(Problem& made, const Matrices& s, const Place& a, const Place& b) {
    kernels::Product& p = made.p;
    const auto narrow = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
    p.m = narrow(s.m), p.n = narrow(s.n), p.k = narrow(s.k);
    p.a_image = narrow(s.a_m), p.a_k = narrow(s.a_k);
    p.b_k = narrow(s.b_k), p.b_n = narrow(s.b_n);
    p.pixels = p.width = p.taps_x = divider_of(1);
    p.channels = divider_of(s.k);
    find_vectors(p, a, b);
    std::int64_t count = 1;
    for (const std::int64_t extent : made.batches) count *= extent;
    made.macs = static_cast<std::uint64_t>(count * s.m * s.n * s.k);
}

Problem gemm(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Shape &sa = graph.shape(node.inputs[0]), &sb = graph.shape(node.inputs[1]);
    const bool ta = node.integer("transA", 0) != 0, tb = node.integer("transB", 0) != 0;
    const Place& a = l.place(node.inputs[0]);
    const Place& b = l.place(node.inputs[1], tb ? std::vector<std::int64_t>{sb[1], 1}
                                                : std::vector<std::int64_t>{1, sb[0]});
    Problem made;
    Matrices s;
    s.m = sa[ta ? 1 : 0], s.k = sa[ta ? 0 : 1], s.n = sb[tb ? 0 : 1];
    s.a_m = a.strides[ta ? 1 : 0], s.a_k = a.strides[ta ? 0 : 1];
    s.b_n = b.strides[tb ? 0 : 1], s.b_k = b.strides[tb ? 1 : 0];
    set_matrices(made, s, a, b);
    made.out = {s.n, 1};
    made.p.epilogue.row = static_cast<std::int32_t>(s.n);
    made.p.epilogue.factor = node.real("alpha", 1);
    made.axes = {{0}, 1, {}};
    return made;
}

Problem matmul(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Shape &sa = graph.shape(node.inputs[0]), &sb = graph.shape(node.inputs[1]),
                &so = graph.shape(node.outputs[0]);
    const std::size_t ra = sa.size(), rb = sb.size(), ro = so.size();
    // A weight lies with k consecutive.
    std::vector<std::int64_t> columns_first = compile::dense_strides(sb);
    columns_first[rb - 2] = 1, columns_first[rb - 1] = sb[rb - 2];
    const Place a = l.place(node.inputs[0]);
    const Place& b = l.place(node.inputs[1], columns_first);
    Problem made;
    made.out = compile::dense_strides(so);
    Matrices s;
    s.m = so[ro - 2], s.n = so[ro - 1], s.k = sa[ra - 1];
    s.a_m = a.strides[ra - 2], s.a_k = a.strides[ra - 1];
    s.b_k = b.strides[rb - 2], s.b_n = b.strides[rb - 1];
    const Shape outer(so.begin(), so.end() - 2);
    const auto outer_strides = [&](const Place& place) {
        compile::View view = place;
        view.shape.resize(view.shape.size() - 2);
        view.strides.resize(view.strides.size() - 2);
        return broadcast_strides(view, outer);
    };
    const std::vector<std::int64_t> a_outer = outer_strides(a), b_outer = outer_strides(b);
    made.axes.column = ro - 1;
    // Batches that share B and whose rows follow each other are more rows.
    const bool shares_b =
        std::all_of(b_outer.begin(), b_outer.end(), [](std::int64_t x) { return x == 0; });
    Shape rows = outer;
    rows.push_back(s.m);
    std::vector<std::int64_t> row_strides = a_outer;
    row_strides.push_back(s.a_m);
    const auto all_rows = single_stride(rows, row_strides);
    made.p.epilogue.row = static_cast<std::int32_t>(s.n);
    if (shares_b && all_rows) {
        s.m = element_count(rows);
        s.a_m = *all_rows;
        for (std::size_t d = 0; d + 1 < ro; ++d) made.axes.rows.push_back(d);
    } else {
        made.axes.rows = {ro - 2};
        for (std::size_t d = 0; d + 2 < ro; ++d) made.axes.batches.push_back(d);
        Loops loops{outer, {}};
        loops.add({made.out.begin(), made.out.end() - 2});
        loops.add(a_outer);
        loops.add(b_outer);
        if (loops.joined().extents.size() <= kernels::kBatchDims) loops = loops.joined();
        if (loops.extents.size() > kernels::kBatchDims)
            throw InputError(fmt::format("node {} (MatMul): more than {} dimensions of batches",
                                         node.name, kernels::kBatchDims));
        made.batches = loops.extents;
        set_batches(made.p, loops);
        // Operands of the epilogue are found by the dimensions of the result.
        if (made.batches.size() != outer.size()) made.axes.batches.clear();
    }
    set_matrices(made, s, a, b);
    return made;
}

/// Whether an operand of the epilogue lies along rows, columns and batches; sets how.
bool place_operand(const Problem& made, const Place& place, const Shape& shape,
                   kernels::ProductOperand& operand) {
    const std::vector<std::int64_t> strides = broadcast_strides(place, shape);
    Shape rows;
    std::vector<std::int64_t> row_strides;
    for (const std::size_t d : made.axes.rows) {
        rows.push_back(shape[d]);
        row_strides.push_back(strides[d]);
    }
    const auto row = single_stride(rows, row_strides);
    if (!row) return false;
    operand.row = static_cast<std::int32_t>(*row);
    operand.column = static_cast<std::int32_t>(strides[made.axes.column]);
    const bool is_convolution = made.axes.rows.size() == 3;
    if (is_convolution) {
        // Groups are batches of columns.
        const std::int64_t group = made.batches[0];
        operand.batch[kernels::kBatchDims - 1] =
            static_cast<std::int32_t>(shape[made.axes.column] / group * operand.column);
    } else if (!made.batches.empty()) {
        std::vector<std::int64_t> batch;
        if (made.axes.batches.size() == made.batches.size()) {
            for (const std::size_t d : made.axes.batches) batch.push_back(strides[d]);
        } else {
            // The dimensions were joined: the operand must follow them.
            for (const std::int64_t stride :
                 std::vector<std::int64_t>(strides.begin(), strides.end() - 2))
                if (stride != 0) return false;
            batch.assign(made.batches.size(), 0);
        }
        put_last(operand.batch, batch, 0);
    }
    operand.type = type_of(place.type);
    const bool consecutive = operand.column == 1 && place.offset % 4 == 0 && operand.row % 4 == 0;
    operand.vector =
        consecutive && all_multiples({operand.batch[0], operand.batch[1], operand.batch[2]}, 4);
    return true;
}

/// Adds steps to an epilogue as long as their operands fit.
class EpilogueWriter {
  public:
    EpilogueWriter(Lowering& l, Problem& problem, const Shape& shape)
        : l_(l), problem_(problem), epilogue_(problem.p.epilogue), shape_(shape) {}

    /// False, and nothing is added, where they do not.
    bool add(const std::vector<ChainStep>& steps) {
        const kernels::Epilogue before = epilogue_;
        const int operands = operands_;
        for (const ChainStep& step : steps)
            if (!add(step)) {
                epilogue_ = before;
                operands_ = operands;
                return false;
            }
        return true;
    }

  private:
    bool add(const ChainStep& from) {
        if (epilogue_.steps == kernels::kProductSteps) return false;
        kernels::Step step;
        step.function = from.function;
        step.a = static_cast<float>(from.a);
        step.b = static_cast<float>(from.b);
        if (!slot(from.x, from.axis, step.x) || !slot(from.y, from.axis, step.y)) return false;
        epilogue_.step[epilogue_.steps++] = step;
        return true;
    }
    bool slot(ValueId value, std::optional<std::size_t> axis, std::int8_t& slot) {
        if (value == kNoValue) return true;
        if (operands_ == kernels::kProductOperands) return false;
        Place place = l_.place(value);
        if (axis) static_cast<compile::View&>(place) = along_axis(place, *axis, shape_);
        kernels::ProductOperand operand;
        if (!place_operand(problem_, place, shape_, operand)) return false;
        operand.data = l_.pointer(place);
        slot = static_cast<std::int8_t>(operands_);
        epilogue_.operand[operands_++] = operand;
        return true;
    }

    Lowering& l_;
    Problem& problem_;
    kernels::Epilogue& epilogue_;
    const Shape& shape_;
    int operands_ = 0;
};

/// Whether the steps are bias, residual and limits, in that order and all in fours; sets which.
bool find_simple(kernels::Epilogue& e, std::int64_t columns) {
    using kernels::Function;
    if (columns % 4 != 0 || e.vector == 0) return false;
    e.bias = e.residual = -1;
    e.low = -std::numeric_limits<float>::infinity();
    e.high = std::numeric_limits<float>::infinity();
    for (int s = 0; s < e.steps; ++s) {
        const kernels::Step& step = e.step[s];
        const bool is_last = s + 1 == e.steps;
        if (step.function == Function::kAdd && step.x >= 0) {
            const kernels::ProductOperand& operand = e.operand[step.x];
            if (operand.vector == 0 || operand.type != e.type || e.residual >= 0) return false;
            if (operand.row == 0 && e.bias < 0)
                e.bias = step.x;
            else
                e.residual = step.x;
        } else if (step.function == Function::kRelu && is_last) {
            e.low = 0;
        } else if (step.function == Function::kClip && is_last) {
            e.low = step.a;
            e.high = step.b;
        } else {
            return false;
        }
    }
    return true;
}

/// The bias of the product itself.
std::vector<ChainStep> bias_steps(const Node& node) {
    if (node.input(2) == kNoValue || node.real("beta", 1) == 0) return {};
    ChainStep step{.function = kernels::Function::kAdd, .x = node.inputs[2]};
    if (node.op == Operator::kConv) step.axis = 1;
    return {step};
}

bool is_depthwise(const Graph& graph, const Node& node) {
    if (node.op != Operator::kConv) return false;
    const std::int64_t group = node.integer("group", 1);
    return group > 1 && graph.shape(node.inputs[1])[1] == 1;
}

/// Each channel by itself. Only how its result's dimensions are rows and columns is a product's.
void launch_depthwise(Lowering& l, const Node& node, const Problem& problem, const Place& out) {
    const Graph& graph = l.graph();
    const Shape &sx = graph.shape(node.inputs[0]), &sw = graph.shape(node.inputs[1]);
    const SlidingWindow window = window_of(node, sx, &sw);
    const Place& x = l.place(node.inputs[0]);
    const std::vector<std::int64_t> by_tap = {1, sw[0] * sw[2] * sw[3], sw[3] * sw[0], sw[0]};
    Place w = l.place(node.inputs[1], by_tap);
    if (w.strides != by_tap) {
        const Place ordered = l.scratch(node.name + ".weight", w.type, sw, by_tap);
        l.copy(w, ordered);
        w = ordered;
    }
    const auto narrow = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
    kernels::Depthwise p;
    p.x = l.pointer(x);
    p.w = l.pointer(w);
    const std::int64_t area = window.output[0] * window.output[1];
    p.rows = narrow(sx[0] * area);
    p.channels = narrow(sw[0]);
    p.multiplier = narrow(sw[0] / sx[1]);
    p.pixels = divider_of(area), p.width = divider_of(window.output[1]);
    p.x_image = narrow(x.strides[0]), p.x_channel = narrow(x.strides[1]);
    p.x_y = narrow(x.strides[2]), p.x_x = narrow(x.strides[3]);
    p.taps_y = narrow(sw[2]), p.taps_x = narrow(sw[3]);
    p.step_y = narrow(window.stride[0]), p.step_x = narrow(window.stride[1]);
    p.dilation_y = narrow(window.dilation[0]), p.dilation_x = narrow(window.dilation[1]);
    p.pad_y = narrow(window.pad_begin[0]), p.pad_x = narrow(window.pad_begin[1]);
    p.in_y = narrow(sx[2]), p.in_x = narrow(sx[3]);
    p.epilogue = problem.p.epilogue;
    const bool integers = x.type == ElementType::kInt8;
    const bool fours = !integers && p.multiplier == 1 && p.x_channel == 1 &&
                       all_multiples({p.channels, p.x_image, p.x_y, p.x_x, x.offset}, 4);
    p.units = divider_of(fours ? sw[0] / 4 : sw[0]);
    static constexpr std::string_view kNames[3][2] = {{"depthwise_fp32_1", "depthwise_fp32_4"},
                                                      {"depthwise_fp16_1", "depthwise_fp16_4"},
                                                      {"depthwise_bf16_1", "depthwise_bf16_4"}};
    const int type = x.type == ElementType::kFp32 ? 0 : x.type == ElementType::kFp16 ? 1 : 2;
    const std::int64_t count = std::int64_t{p.rows} * p.units.divisor;
    const cuda::KernelName kernel =
        integers ? cuda::KernelName{"quantised", "depthwise_int8"}
                 : cuda::KernelName{"depthwise", kNames[type][fours ? 1 : 0]};
    Launch& launch = l.emit(kernel, Lowering::threads_for(count), p);
    const std::int64_t taps = sw[2] * sw[3];
    launch.macs = static_cast<std::uint64_t>(p.rows) * static_cast<std::uint64_t>(sw[0] * taps);
    launch.bytes =
        static_cast<std::uint64_t>(element_count(sx) + element_count(sw)) * size_of(x.type) +
        static_cast<std::uint64_t>(element_count(out.shape)) * size_of(out.type);
}

}  // namespace

namespace {

/// The product of both operands' scales, where they are of e4m3.
std::optional<float> e4m3_scales(const Graph& graph, const Node& product) {
    float scale = 1;
    int rounded = 0;
    for (const Node& node : graph.nodes)
        for (const std::size_t i : {0, 1})
            if (node.outputs[0] == product.inputs[i])
                if (const auto own = e4m3_scale_of(node)) {
                    scale *= *own;
                    ++rounded;
                }
    if (rounded == 0) return std::nullopt;
    LOCKSTEP_CHECK(rounded == 2, "{}: one operand of e4m3", product.name);
    return scale;
}

}  // namespace

void lower_product(Lowering& l, const Group& nodes) {
    const Graph& graph = l.graph();
    const Node& node = graph.nodes[nodes.front()];
    const Shape& shape = graph.shape(node.outputs[0]);
    const bool depthwise = is_depthwise(graph, node);
    Problem problem;
    if (depthwise) {
        problem.out = compile::image_strides(shape);
        problem.axes = {{0, 2, 3}, 1, {}};
        problem.batches = {1};
        problem.p.epilogue.row = static_cast<std::int32_t>(shape[1]);
    } else {
        problem = node.op == Operator::kConv   ? convolution(l, node)
                  : node.op == Operator::kGemm ? gemm(l, node)
                                               : matmul(l, node);
    }
    const bool integers = is_quantised(graph, node);
    EpilogueWriter writer(l, problem, shape);
    std::size_t taken = 1;
    ValueId last = node.outputs[0];
    if (integers) {
        const bool is_relu = nodes.size() > 1 && is_limit_at_zero(graph, graph.nodes[nodes[1]]);
        if (is_relu) last = graph.nodes[nodes[taken++]].outputs[0];
        set_integer_epilogue(l, node, is_relu, problem.p.epilogue);
    } else {
        LOCKSTEP_CHECK(writer.add(bias_steps(node)), "{}: its bias", node.name);
    }
    for (; taken < nodes.size() && !integers; ++taken) {
        const Node& next = graph.nodes[nodes[taken]];
        if (std::ranges::count(next.inputs, last) != 1 ||
            !is_floating(graph.value(next.outputs[0]).type) ||
            graph.shape(next.outputs[0]) != shape)
            break;
        const auto from =
            static_cast<std::size_t>(std::ranges::find(next.inputs, last) - next.inputs.begin());
        const auto steps = chain_steps(graph, next, from);
        if (!steps || !writer.add(*steps)) break;
        last = next.outputs[0];
    }
    const Place out = l.create(last, problem.out);
    kernels::Epilogue& epilogue = problem.p.epilogue;
    epilogue.out = l.pointer(out);
    epilogue.type = type_of(out.type);
    epilogue.vector = out.offset % 4 == 0 && epilogue.row % 4 == 0 &&
                      all_multiples({epilogue.batch[0], epilogue.batch[1], epilogue.batch[2]}, 4);
    const std::optional<float> scale = e4m3_scales(graph, node);
    if (scale) epilogue.factor *= *scale;
    // Of e4m3, results are fp16.
    const bool own_type =
        !integers && out.type == (scale ? ElementType::kFp16 : l.place(node.inputs[0]).type);
    epilogue.is_simple = own_type && find_simple(epilogue, problem.p.n) ? 1 : 0;
    if (depthwise) {
        launch_depthwise(l, node, problem, out);
    } else {
        std::int64_t batches = 1;
        for (const std::int64_t extent : problem.batches) batches *= extent;
        const Place &a = l.place(node.inputs[0]), &b = l.place(node.inputs[1]);
        problem.p.a = l.pointer(a);
        problem.p.b = l.pointer(b);
        launch_product(l, problem.p,
                       {.batches = batches,
                        .is_matrix = problem.is_matrix,
                        .type = a.type,
                        .result = out.type,
                        .macs = problem.macs});
    }
    for (; taken < nodes.size() && is_quantised(graph, graph.nodes[nodes[taken]]); ++taken)
        lower_quantised(l, graph.nodes[nodes[taken]]);
    if (taken < nodes.size())
        lower_chain(l, Group(nodes.begin() + static_cast<std::ptrdiff_t>(taken), nodes.end()));
}

}  // namespace lockstep::network::gpu
