// SPDX-License-Identifier: Apache-2.0
// What a product computes: its operands as k x n weights in memory, and what happens on the way out
// of the accumulators. Constant weights are laid out for the array when the network is compiled.
#include "workloads/network/tpu/product.h"

#include <algorithm>
#include <cstring>

#include "sim/error/error.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/tpu/attention.h"
#include "workloads/network/tpu/copies.h"

namespace lockstep::network::lowering {

std::vector<std::int64_t> strides_of_product(const Compilation& c, ValueId result) {
    const Shape& out = c.shape(result);
    // The context of attention is joined again right after: then it is written as it will lie.
    if (const Node* next = c.places.only_reader(result);
        next != nullptr && next->op == Operator::kTranspose && out.size() == 4 &&
        next->integers("perm") == std::vector<std::int64_t>{0, 2, 1, 3})
        return {out[1] * out[2] * out[3], out[3], out[1] * out[3], 1};
    return dense_strides(out);
}

Place matrix_of(const Place& place, const Shape& batches, std::int64_t index) {
    Place p = place;
    const std::size_t outer = place.shape.size() - 2, skip = batches.size() - outer;
    std::int64_t offset = 0;
    for (std::size_t d = batches.size(); d-- > 0;) {
        const std::int64_t i = index % batches[d];
        index /= batches[d];
        if (d >= skip && place.shape[d - skip] != 1) offset += i * place.strides[d - skip];
    }
    p.address += p.bytes_of(offset);
    p.shape.assign(place.shape.end() - 2, place.shape.end());
    p.strides.assign(place.strides.end() - 2, place.strides.end());
    return p;
}

const Node* ProductLowering::softmax_to_fuse() const {
    if (!c_.has_memory() || integer_ || epilogue_.addend != kNoValue ||
        epilogue_.function != tpu::Function::kIdentity || has_constant_weights(c_.graph, node_))
        return nullptr;
    const Node* softmax = c_.places.only_reader(epilogue_.result);
    if (softmax == nullptr || softmax->op != Operator::kSoftmax ||
        reason_softmax({c_.graph, c_.target, *softmax}))
        return nullptr;
    const ValueId made = softmax->outputs[0];
    const Node* reader = c_.places.only_reader(made);
    const bool is_left = reader != nullptr && reader->op == Operator::kMatMul &&
                         reader->inputs[0] == made && reader->inputs[1] != made &&
                         !has_constant_weights(c_.graph, *reader);
    return is_left && c_.shape(made).rbegin()[1] <= Softmax::kMostRows ? softmax : nullptr;
}

std::optional<Place> ProductLowering::addend_place() const {
    return epilogue_.addend == kNoValue ? std::nullopt
                                        : std::optional(c_.places.of(epilogue_.addend));
}

void ProductLowering::run() {
    const Value& out = c_.value(node_.outputs.at(0));
    integer_ = out.quantisation.has_value();
    epilogue_ = EpilogueFinder(c_, node_).find();
    if (integer_) input_zero_ = scaling_of(c_.value(node_.inputs[0])).zero;
    if (node_.op == Operator::kConv)
        convolution();
    else
        dense();
}

void ProductLowering::prepare_parameters(const std::vector<std::int64_t>& column_sums) {
    const ValueId bias = node_.input(2);
    epilogue_.has_bias = bias != kNoValue || (integer_ && input_zero_ != 0);
    if (epilogue_.parameter_words() == 0) return;
    const std::int64_t columns = sets_.back().first_column + sets_.back().columns;
    std::vector<double> values(static_cast<std::size_t>(columns), 0);
    bool known = true;
    if (bias != kNoValue) {
        const Value& b = c_.value(bias);
        known = b.is_known();
        if (known) {
            const std::vector<double> given = to_doubles(*b.data);
            for (std::size_t c = 0; c < values.size(); ++c)
                values[c] = given.at(given.size() == 1 ? 0 : c);
        }
    }
    std::vector<std::uint32_t> words;
    const std::int64_t step = c_.target.limits.array_columns;
    for (const GroupSet& set : sets_)
        for (std::int64_t first = 0; first < set.columns; first += step) {
            const std::int64_t count = std::min(step, set.columns - first);
            for (std::int64_t c = set.first_column + first; c < set.first_column + first + count;
                 ++c) {
                if (!epilogue_.has_bias) break;
                const auto i = static_cast<std::size_t>(c);
                const std::int64_t sum = column_sums.empty() ? 0 : column_sums[i];
                words.push_back(integer_
                                    ? static_cast<std::uint32_t>(
                                          static_cast<std::int64_t>(values[i]) - input_zero_ * sum)
                                    : std::bit_cast<std::uint32_t>(static_cast<float>(values[i])));
            }
            for (std::int64_t c = set.first_column + first; c < set.first_column + first + count;
                 ++c)
                if (!epilogue_.scales.empty())
                    words.push_back(std::bit_cast<std::uint32_t>(
                        epilogue_.scales[static_cast<std::size_t>(c)]));
            for (const auto part :
                 {&numerics::FixedPointScale::multiplier, &numerics::FixedPointScale::shift})
                for (std::int64_t c = set.first_column + first;
                     c < set.first_column + first + count && !epilogue_.fixed.empty(); ++c)
                    words.push_back(static_cast<std::uint32_t>(
                        epilogue_
                            .fixed[epilogue_.fixed.size() == 1 ? 0 : static_cast<std::size_t>(c)].*
                        part));
        }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
    parameters_ = c_.places.add_constant(
        node_.name + ".parameters", c_.places.backing(), tpu::DataType::kFp32, words.size() * 4,
        known ? std::span(bytes, words.size() * 4) : std::span<const std::uint8_t>());
}

Place ProductLowering::result_place(std::vector<std::int64_t> strides) {
    // An addend is read where and when its sum is written.
    return !integer_ || epilogue_.addend == kNoValue
               ? c_.places.make(epilogue_.result, std::move(strides))
               : c_.places.make_over(epilogue_.result, epilogue_.addend, std::move(strides));
}

void ProductLowering::convolution() {
    const ValueId x = node_.inputs[0], w = node_.inputs[1];
    const Shape &in = c_.shape(x), &filter = c_.shape(w);
    Convolving conv;
    conv.height = in[2];
    conv.width = in[3];
    conv.channels = in[1];
    conv.window = window_of(node_, in, &filter);
    const std::int64_t groups = conv.window.group, group_channels = filter[1],
                       group_filters = filter[0] / groups,
                       taps = conv.window.kernel[0] * conv.window.kernel[1];
    const Place image = image_of(c_, x, node_.name);
    m_ = in[0] * conv.out_height() * conv.out_width();
    // As many groups together as the array has rows and columns for.
    std::int64_t together = 1;
    if (groups > 1 && is_given(c_.value(w)))
        together = std::clamp<std::int64_t>(
            std::min(c_.target.limits.array_rows / (taps * group_channels),
                     c_.target.limits.array_columns / std::max<std::int64_t>(1, group_filters)),
            1, groups);
    std::int64_t weights = 0;
    for (std::int64_t g = 0; g < groups; g += together) {
        const std::int64_t count = std::min(together, groups - g);
        GroupSet set{g * group_channels,    count * group_channels,        g * group_filters,
                     count * group_filters, taps * count * group_channels, weights};
        weights += set.k * set.columns;
        sets_.push_back(set);
    }
    conv_ = conv;

    if (!is_given(c_.value(w))) {
        take_computed_filters();
        return finish_convolution(image);
    }
    const Value& filters = c_.value(w);
    const std::size_t size = tpu::size_of(c_.type_of(w));
    std::vector<std::uint8_t> packed;
    std::vector<std::int64_t> sums;
    if (filters.is_known()) {
        packed.resize(static_cast<std::size_t>(weights) * size);
        sums.resize(static_cast<std::size_t>(filter[0]));
        const auto* from = reinterpret_cast<const std::uint8_t*>(filters.data->bytes.data());
        for (const GroupSet& set : sets_)
            for (std::int64_t f = 0; f < set.columns; ++f) {
                const std::int64_t group = f / group_filters;  // within the set
                for (std::int64_t c = 0; c < group_channels; ++c)
                    for (std::int64_t tap = 0; tap < taps; ++tap) {
                        const std::int64_t k = tap * set.channels + group * group_channels + c;
                        const std::int64_t source =
                            ((set.first_column + f) * group_channels + c) * taps + tap;
                        std::memcpy(
                            packed.data() +
                                static_cast<std::size_t>(set.weights + k * set.columns + f) * size,
                            from + static_cast<std::size_t>(source) * size, size);
                        if (integer_)
                            sums[static_cast<std::size_t>(set.first_column + f)] +=
                                static_cast<std::int8_t>(from[source]);
                    }
            }
    }
    weights_.type = c_.type_of(w);
    weights_.address = c_.places.add_constant(filters.name, tpu::Space::kMemory, weights_.type,
                                              static_cast<std::uint64_t>(weights) * size, packed);
    prepare_parameters(sums);
    finish_convolution(image);
}

void ProductLowering::take_computed_filters() {
    const ValueId w = node_.inputs[1];
    const Shape& filter = c_.shape(w);
    const std::int64_t groups = conv_->window.group;
    const std::optional<Place> apart = compile::reshaped(
        c_.places.of(w), {groups, filter[0] / groups, filter[1], filter[2], filter[3]});
    if (!apart) throw compile::Refusal("filters that do not lie apart");
    Place packed = compile::permuted(*apart, {0, 3, 4, 2, 1});
    const std::vector<std::int64_t> wanted = dense_strides(packed.shape);
    if (packed.strides != wanted) {
        c_.steps.begin(node_.name + ".filters");
        packed = copy_as(c_, packed, wanted, node_.name + ".filters");
    }
    filters_owner_ = packed.owner;
    weights_.space = packed.space;
    weights_.address = packed.address;
    weights_.type = packed.type;
    weights_.pitch = 0;  // each set's own
    prepare_parameters({});
}

void ProductLowering::finish_convolution(const Place& image) {
    const Shape &in = c_.shape(node_.inputs[0]), &filter = c_.shape(node_.inputs[1]);
    const Convolving& conv = *conv_;
    n_ = filter[0];
    k_ = conv.window.kernel[0] * conv.window.kernel[1] * filter[1];
    c_.steps.begin(epilogue_.name, m_ * n_ * k_, true);
    Place result = epilogue_.addend == kNoValue
                       ? c_.places.make_image(epilogue_.result)
                       : result_place(image_strides(c_.shape(epilogue_.result)));
    Matrix rows{image.space,
                image.address,
                image.type,
                in[0] * conv.height,
                conv.width * conv.channels,
                conv.width * conv.channels};
    run_product({rows}, weights_, result, addend_place());
    c_.places.set(epilogue_.result, std::move(result));
}

void ProductLowering::pack_dense(ValueId weight, bool transposed) {
    // Constant weights, as k x n, with k in the order in which the input lies.
    const Value& w = c_.value(weight);
    const Place& x = c_.places.of(node_.inputs[0]);
    weights_.type = c_.type_of(weight);
    weights_.pitch = n_;
    const std::size_t size = tpu::size_of(weights_.type);
    std::vector<std::uint8_t> packed;
    std::vector<std::int64_t> sums;
    if (w.is_known()) {
        packed.resize(static_cast<std::size_t>(k_ * n_) * size);
        sums.resize(static_cast<std::size_t>(n_));
        const auto* from = reinterpret_cast<const std::uint8_t*>(w.data->bytes.data());
        const std::int64_t area = x.image.empty() ? 1 : x.image[1] * x.image[2];
        const std::int64_t channels = x.image.empty() ? k_ : x.image[0];
        for (std::int64_t k = 0; k < k_; ++k) {
            const std::int64_t lies = x.image.empty() ? k : k % area * channels + k / area;
            for (std::int64_t n = 0; n < n_; ++n) {
                const std::int64_t source = transposed ? n * k_ + k : k * n_ + n;
                std::memcpy(packed.data() + static_cast<std::size_t>(lies * n_ + n) * size,
                            from + static_cast<std::size_t>(source) * size, size);
                if (integer_)
                    sums[static_cast<std::size_t>(n)] += static_cast<std::int8_t>(from[source]);
            }
        }
    }
    weights_.address = c_.places.add_constant(w.name, tpu::Space::kMemory, weights_.type,
                                              static_cast<std::uint64_t>(k_ * n_) * size, packed);
    prepare_parameters(sums);
}

void ProductLowering::dense() {
    const ValueId a = node_.inputs[0], b = node_.inputs[1];
    const bool gemm = node_.op == Operator::kGemm;
    const bool transposed = gemm && node_.integer("transB", 0) != 0;
    const Shape &left = c_.shape(a), &out = c_.shape(epilogue_.result);
    k_ = left.back();
    n_ = out.back();
    if (!matrices_of(c_.places.of(a))) {
        c_.steps.begin(node_.name + ".rows");
        c_.places.move(a, dense_copy(c_, c_.places.of(a), node_.name + ".rows"));
    }
    const auto source = matrices_of(c_.places.of(a));
    sets_ = {{0, k_, 0, n_, k_, 0}};
    if (has_constant_weights(c_.graph, node_)) {
        m_ = element_count(left) / k_;
        pack_dense(b, transposed);
        c_.steps.begin(epilogue_.name, m_ * n_ * k_, true);
        Place result = result_place(dense_strides(out));
        run_product(*source, weights_, result, addend_place());
        c_.places.set(epilogue_.result, std::move(result));
        return;
    }
    // A product for each matrix of the right operand, whose batches are those of the result.
    Place x = c_.places.of(a), y = c_.places.of(b);
    weights_.transposed = transposed;
    const auto runs = [](const Place& place, std::size_t from_last) {
        return place.shape.rbegin()[from_last] == 1 || place.strides.rbegin()[from_last] == 1;
    };
    if (!runs(y, 0) && !runs(y, 1)) {
        c_.steps.begin(node_.name + ".columns");
        y = dense_copy(c_, y, node_.name + ".columns");
    }
    if (!runs(y, 0)) {
        std::swap(y.strides[y.strides.size() - 1], y.strides[y.strides.size() - 2]);
        std::swap(y.shape[y.shape.size() - 1], y.shape[y.shape.size() - 2]);
        weights_.transposed = !transposed;
    }
    prepare_parameters({});
    c_.steps.begin(epilogue_.name, element_count(out) * k_, true);
    Place result = c_.places.make(epilogue_.result, strides_of_product(c_, epilogue_.result));
    const Shape batches(out.begin(), out.end() - 2);
    m_ = out[out.size() - 2];
    const auto part = [&](const Place& place, std::int64_t index) {
        return matrix_of(place, batches, index);
    };
    const std::int64_t count = element_count(batches);
    c_.steps.layer().products = count;
    const Node* softmax = softmax_to_fuse();
    if (softmax != nullptr) {
        std::vector<Matrix> matrices;
        for (std::int64_t i = 0; i < count; ++i) {
            const auto matrix = matrices_of(part(result, i));
            LOCKSTEP_CHECK(matrix && matrix->size() == 1, "{}", node_.name);
            matrices.push_back((*matrix)[0]);
        }
        taken_ = std::make_shared<Softmax>(
            c_, softmax->name, std::move(matrices),
            is_along_rows(c_.graph, *softmax) ? tpu::Axis::kRows : tpu::Axis::kColumns);
    }
    if (const auto found = c_.unmade.find(a); found != c_.unmade.end()) made_ = found->second;
    holds_results_ = made_ != nullptr && count > 1 &&
                     c_.target.limits.dataflow == tpu::Dataflow::kWeightStationary;
    const Batch batch{x, y, result, batches};
    if (const std::int64_t together = products_together(batch); together > 1) {
        run_together(batch, together);
    } else {
        for (std::int64_t i = 0; i < count; ++i) {
            part_ = static_cast<std::size_t>(i);
            std::optional<Place> addend = addend_place();
            if (addend) addend = part(*addend, i);
            run_one(part(x, i), part(y, i), part(result, i), addend);
        }
    }
    c_.builder.release_all();
    if (softmax != nullptr) {
        c_.steps.begin(softmax->name);
        taken_->sums_kernel();
        c_.fused.insert(softmax);
        c_.unmade[softmax->outputs[0]] = taken_;
        c_.places.set(softmax->outputs[0], result);
    }
    c_.places.set(epilogue_.result, std::move(result));
}

void ProductLowering::run_one(const Place& left, const Place& right, const Place& result,
                              const std::optional<Place>& addend) {
    const auto rows = matrices_of(left);
    if (!rows || rows->size() != 1)
        throw compile::Refusal("its left operand does not lie row by row");
    weights_.space = right.space;
    weights_.address = right.address;
    weights_.pitch = right.strides[0];
    weights_.type = right.type;
    run_product(*rows, weights_, result, addend);
}

compile::Reason reason_product(const Asked& a) {
    const Value &out = a.graph.value(a.node.outputs.at(0)), &w = a.graph.value(a.node.inputs.at(1));
    const tpu::CoreLimits& limits = a.target.limits;
    if (!out.quantisation && out.type != ElementType::kBf16 && out.type != ElementType::kFp32)
        return fmt::format("computes in {}; the array takes int8, bf16 and fp32",
                           name_of(out.type));
    if (w.quantisation)
        for (const std::int32_t zero : w.quantisation->zero_point)
            if (zero != 0) return "weights with a zero point";
    const std::size_t left = a.graph.shape(a.node.inputs[0]).size(), right = w.shape->size();
    if (a.node.op == Operator::kConv) {
        if (left != 4) return "a convolution that is not over two dimensions";
        if (!is_given(w) && a.target.generation == 1) return "filters that are computed";
    } else {
        if (a.node.integer("transA", 0) != 0) return "transA";
        if (left < 2 || right < 2) return "a product with a vector";
        if (a.target.generation == 1 && right != 2)
            return "a product with weights of several matrices";
    }
    if (a.node.input(2) != kNoValue && !is_given(a.graph.value(a.node.input(2))))
        return "a bias that is computed";
    if (a.node.real("beta", 1) != 1 || a.node.real("alpha", 1) != 1) return "factors alpha or beta";
    // Each of a tile's columns leaves the array as a row of accumulators.
    if (limits.dataflow == tpu::Dataflow::kInputStationary &&
        limits.array_columns > limits.accumulator_rows)
        return fmt::format(
            "an array of {} columns that holds inputs; there are {} rows of accumulators",
            limits.array_columns, limits.accumulator_rows);
    return std::nullopt;
}

bool has_constant_weights(const Graph& graph, const Node& node) {
    const Value& w = graph.value(node.inputs.at(1));
    return is_given(w) && w.shape->size() == 2;
}

void lower_product(Compilation& c, const Node& node) {
    if (!lower_attention_in_blocks(c, node)) ProductLowering(c, node).run();
}

}  // namespace lockstep::network::lowering
