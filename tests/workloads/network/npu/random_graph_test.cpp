// SPDX-License-Identifier: Apache-2.0
// Random graphs of several operators, on random machines, to the bit against the integer reference
// executor. LOCKSTEP_RANDOM_GRAPHS=N runs so many; LOCKSTEP_RANDOM_SEED=S begins there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "sim/error/error.h"
#include "sim/numerics/random.h"
#include "tests/workloads/network/npu/run_on.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network {
namespace {

using Integers = std::vector<std::int64_t>;

class RandomGraph {
  public:
    explicit RandomGraph(std::uint64_t seed) : random_(seed), b_("random", seed) {}

    Graph make() {
        images_.push_back(b_.input(name("x"), ElementType::kFp32,
                                   {pick({1, 1, 2}), pick({1, 3, 8, 16, 24, 40}),
                                    pick({1, 4, 7, 12, 19}), pick({1, 5, 8, 13, 22})}));
        // A product first, for what follows to be integers.
        images_.push_back(convolution(images_.back()));
        for (std::int64_t i = pick({1, 2, 3, 5}); i > 0; --i) add_node();
        std::vector<ValueId> outputs = {images_.back()};
        if (flip()) outputs.push_back(rows());
        return b_.finish(outputs);
    }

    NpuSettings settings() {
        const auto bits = [&] { return static_cast<int>(pick({8, 8, 4, 2})); };
        NpuSettings settings;
        const char* const machines[] = {"npu_mobile", "npu_edge", "npu_auto", "nvdla_large",
                                        "nvdla_small"};
        settings.machine = machines[pick({0, 0, 1, 2, 3, 4})];
        settings.overrides = {"sram.size=" +
                              std::to_string(pick({4096, 6144, 16384, 65536, 524288, 524288}))};
        if (settings.machine != "nvdla_small") {
            if (pick({0, 0, 0, 1}) != 0) settings.overrides.push_back("array.winograd=true");
            if (pick({0, 0, 0, 1}) != 0) settings.overrides.push_back("array.zero_skipping=true");
        }
        settings.precision.bits = {bits(), bits()};
        settings.precision.per_channel = flip();
        const Requantisation ways[] = {Requantisation::kTfLite, Requantisation::kTfLite,
                                       Requantisation::kTfLiteAway, Requantisation::kTfLiteEven};
        settings.requantisation = ways[pick({0, 1, 2, 3})];
        settings.host = true;
        settings.keeps_values = flip();
        settings.cascades = flip();
        return settings;
    }

  private:
    std::int64_t pick(std::initializer_list<std::int64_t> values) {
        return values.begin()[random_.integer(0, static_cast<int>(values.size()) - 1)];
    }
    bool flip() { return random_.integer(0, 1) != 0; }
    std::string name(const char* what) { return fmt::format("{}{}", what, names_++); }

    ValueId image() {
        const auto last = static_cast<int>(images_.size()) - 1;
        return images_[static_cast<std::size_t>(flip() ? last : random_.integer(0, last))];
    }

    ValueId convolution(ValueId x) {
        const Shape s = b_.shape(x);
        const std::int64_t groups = pick({0, 0, 0, 1, 2});
        std::int64_t group = 1, filters = pick({1, 2, 8, 10, 17, 32, 48});
        if (groups == 1) {  // depthwise, maybe several channels of one
            group = s[1];
            filters = s[1] * pick({1, 1, 2});
        } else if (groups == 2) {
            for (const std::int64_t g : {2, 4, 3})
                if (s[1] % g == 0) group = g;
            filters = group * pick({1, 4, 8, 20});
        }
        const std::int64_t kh = pick({1, 1, 2, 3, 3, 5}), kw = pick({0, 0, 0, 1, 3}) != 0 ? 1 : kh;
        const std::int64_t dh = pick({1, 1, 1, 2}), dw = pick({1, 1, 1, 2});
        Integers upsample = {1, 1}, stride = {pick({1, 1, 2, 3}), pick({1, 1, 2, 3})};
        if (pick({0, 0, 0, 1}) != 0) {
            upsample = {pick({1, 2, 3}), pick({1, 2, 4})};
            stride = {1, 1};
        }
        const auto pads = [&](std::int64_t k, std::int64_t d) {
            const std::int64_t reach = (k - 1) * d;
            return std::min(reach, pick({0, 1, 2, reach}));
        };
        const Integers around = {pads(kh, dh), pads(kw, dw), pads(kh, dh), pads(kw, dw)};
        const auto fits = [&](std::size_t i, std::int64_t k, std::int64_t d) {
            return (s[i + 2] - 1) * upsample[i] + 1 + around[i] + around[i + 2] >= (k - 1) * d + 1;
        };
        if (!fits(0, kh, dh) || !fits(1, kw, dw)) return x;
        std::vector<ValueId> operands = {
            x, b_.weight(name("w"), {filters, s[1] / group, kh, kw}, 0.3f)};
        if (flip()) operands.push_back(b_.weight(name("b"), {filters}, 0.5f));
        const ValueId y = b_.node(Operator::kConv, name("conv"), operands,
                                  {{"pads", around},
                                   {"strides", stride},
                                   {"dilations", Integers{dh, dw}},
                                   {"upsample", upsample},
                                   {"group", group}});
        return element_count(b_.shape(y)) > 60000 ? x : y;
    }

    ValueId pool(ValueId x) {
        const Shape s = b_.shape(x);
        const std::int64_t kh = std::min(s[2], pick({1, 2, 3})),
                           kw = std::min(s[3], pick({1, 2, 3}));
        const Integers around = {std::min(kh - 1, pick({0, 1})), std::min(kw - 1, pick({0, 1})),
                                 std::min(kh - 1, pick({0, 1})), std::min(kw - 1, pick({0, 1}))};
        Attributes attributes = {{"kernel_shape", Integers{kh, kw}},
                                 {"strides", Integers{pick({1, 2}), pick({1, 2, 3})}},
                                 {"pads", around}};
        if (flip()) return b_.node(Operator::kMaxPool, name("max"), {x}, attributes);
        attributes["count_include_pad"] = pick({0, 1});
        return b_.node(Operator::kAveragePool, name("average"), {x}, attributes);
    }

    /// Another image of this one's shape, or one made to be.
    ValueId like(ValueId x) {
        std::vector<ValueId> fit;
        for (const ValueId id : images_)
            if (b_.shape(id) == b_.shape(x)) fit.push_back(id);
        return fit[static_cast<std::size_t>(random_.integer(0, static_cast<int>(fit.size()) - 1))];
    }

    void add_node() {
        const ValueId x = image();
        const Shape s = b_.shape(x);
        ValueId y = x;
        switch (random_.integer(0, 11)) {
            case 0:
            case 1:
                y = convolution(x);
                break;
            case 2: {
                const Operator functions[] = {Operator::kRelu,      Operator::kSigmoid,
                                              Operator::kTanh,      Operator::kLeakyRelu,
                                              Operator::kHardSwish, Operator::kElu};
                y = b_.node(functions[random_.integer(0, 5)], name("act"), {x});
                break;
            }
            case 3: {
                const Operator two[] = {Operator::kAdd, Operator::kSub, Operator::kMul};
                y = b_.node(two[random_.integer(0, 2)], name("two"), {x, like(x)});
                break;
            }
            case 4: {
                const Shape shapes[] = {{1, s[1], 1, 1},    {s[1], 1, 1},       {1},
                                        {1, 1, s[2], s[3]}, {s[1], s[2], s[3]}, s};
                const Operator two[] = {Operator::kAdd, Operator::kMul};
                y = b_.node(two[random_.integer(0, 1)], name("constant"),
                            {x, b_.weight(name("c"), shapes[random_.integer(0, 5)], 0.7f, 0.2f)});
                break;
            }
            case 5:
                y = pool(x);
                break;
            case 6: {
                const std::int64_t corners = pick({0, 0, 1});
                y = b_.node(Operator::kResizeBilinear, name("resize"), {x},
                            {{"size", Integers{pick({1, 3, 9, 20}), pick({1, 4, 11, 17})}},
                             {"align_corners", corners},
                             {"half_pixel_centers", corners != 0 ? 0 : pick({0, 1})}});
                break;
            }
            case 7:
                y = b_.node(Operator::kConcat, name("concat"), {x, like(x)},
                            {{"axis", pick({1, 1, 2, 3})}});
                break;
            case 8: {
                const Integers by = {0, 0, pick({0, 1}), pick({0, 2}),
                                     0, 0, pick({0, 3}), pick({0, 1})};
                y = b_.node(Operator::kPad, name("pad"), {x, integers({8}, by)});
                break;
            }
            case 9: {
                const std::int64_t axis = pick({1, 2, 3});
                const std::int64_t extent = s[static_cast<std::size_t>(axis)];
                const std::int64_t from = random_.integer(0, static_cast<int>(extent) - 1);
                y = b_.node(Operator::kSlice, name("slice"),
                            {x, integers({1}, {from}),
                             integers({1}, {random_.integer(static_cast<int>(from) + 1,
                                                            static_cast<int>(extent))}),
                             integers({1}, {axis})});
                break;
            }
            case 10:
                y = b_.node(Operator::kLRN, name("lrn"), {x},
                            {{"size", pick({1, 3, 5, 9, 16})},
                             {"alpha", static_cast<float>(pick({0, 1, 10})) / 4},
                             {"bias", static_cast<float>(pick({1, 2}))}});
                break;
            default:
                y = flip() ? b_.node(Operator::kGlobalAveragePool, name("mean"), {x})
                           : b_.node(Operator::kSoftmax, name("softmax"), {x},
                                     {{"axis", std::int64_t{1}}});
        }
        if (y != x && element_count(b_.shape(y)) <= 60000) images_.push_back(y);
    }

    /// A matrix, and attention's products over it.
    ValueId rows() {
        const ValueId x = image();
        const Shape s = b_.shape(x);
        ValueId y = b_.node(Operator::kFlatten, name("flat"), {x}, {{"axis", std::int64_t{1}}});
        if (b_.shape(y)[1] > 4096)
            y = b_.node(Operator::kFlatten, name("mean.flat"),
                        {b_.node(Operator::kGlobalAveragePool, name("mean"), {x})},
                        {{"axis", std::int64_t{1}}});
        y = b_.linear(name("linear"), y, pick({24, 48}));
        if (flip()) return b_.node(Operator::kSoftmax, name("p"), {y});
        const std::int64_t columns = b_.shape(y)[1], heads = pick({2, 3, 4});
        y = b_.reshape(name("heads"), y, {s[0], 2, heads, columns / heads / 2});
        const ValueId left = b_.transpose(name("left"), y, {0, 2, 1, 3}),
                      right = b_.transpose(name("right"), y, {0, 2, 3, 1});
        return b_.node(Operator::kMatMul, name("scores"), {left, right});
    }

    ValueId integers(Shape shape, const Integers& values) {
        return b_.constant(name("i"),
                           make_tensor(std::move(shape), std::span<const std::int64_t>(values)));
    }

    numerics::Random random_;
    Builder b_;
    std::vector<ValueId> images_;
    int names_ = 0;
};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(NpuRandomGraphs, AreTheReferenceToTheBit) {
    const std::uint64_t first = number_from("LOCKSTEP_RANDOM_SEED", 1),
                        count = number_from("LOCKSTEP_RANDOM_GRAPHS", 60);
    std::uint64_t ran_to_the_end = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        RandomGraph random(seed);
        const Graph graph = random.make();
        const NpuSettings settings = random.settings();
        const auto about = [&] {
            return fmt::format("seed {}: {} {} w{} a{}\n{}", seed, settings.machine,
                               settings.overrides[0], settings.precision.bits.weights,
                               settings.precision.bits.activations, dump(graph));
        };
        try {
            const RanOnNpu ran = run_on_npu(graph, settings);
            ++ran_to_the_end;
            std::string layers;
            for (const NpuLayer& layer : ran.compiled.layers)
                layers += fmt::format("{}: {} {}\n", layer.name, layer.shape, layer.note);
            for (const compile::Check& check : ran.checks)
                EXPECT_TRUE(check.passed) << check.output << ": " << check.message << "\n"
                                          << about() << layers;
        } catch (const InputError& error) {
            // A row and its weights do not fit.
            EXPECT_NE(std::string(error.what()).find("bytes of SRAM are too few"),
                      std::string::npos)
                << error.what() << "\n"
                << about();
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what() << "\n" << about();
        }
    }
    EXPECT_GT(ran_to_the_end, count * 2 / 3);
}

}  // namespace
}  // namespace lockstep::network
