// SPDX-License-Identifier: Apache-2.0
// The built-in networks have the published numbers of parameters and output shapes.
#include "workloads/network/builtin/builtin.h"

#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "workloads/network/graph/products.h"

namespace lockstep::network {
namespace {

Graph shapes_of(std::string_view name, std::map<std::string, std::int64_t> parameters = {}) {
    return build_network(name, {.parameters = std::move(parameters), .with_values = false});
}

// Sources: torchvision's model pages (AlexNet, ResNet, MobileNetV2); Hugging Face's model cards and
// num_parameters() of bert-base-uncased and gpt2.
TEST(Builtin, HasThePublishedParameterCount) {
    EXPECT_EQ(parameter_count(shapes_of("alexnet")), 61'100'840);
    EXPECT_EQ(parameter_count(shapes_of("alexnet_2012")), 60'965'224);  // Caffe's bvlc_alexnet
    EXPECT_EQ(parameter_count(shapes_of("resnet18")), 11'689'512);
    EXPECT_EQ(parameter_count(shapes_of("resnet50")), 25'557'032);
    EXPECT_EQ(parameter_count(shapes_of("mobilenet_v2")), 3'504'872);
    EXPECT_EQ(parameter_count(shapes_of("bert_base")), 109'482'240);
    EXPECT_EQ(parameter_count(shapes_of("gpt2_small")), 124'439'808);
}

TEST(Builtin, HasThePublishedOutputShapes) {
    for (const char* name : {"alexnet", "resnet18", "resnet50", "mobilenet_v2"}) {
        const Graph graph = shapes_of(name, {{"batch", 8}});
        EXPECT_EQ(graph.shape(graph.outputs.at(0)), (Shape{8, 1000})) << name;
    }
    const Graph bert = shapes_of("bert_base", {{"seq", 64}});
    EXPECT_EQ(bert.shape(bert.outputs.at(0)), (Shape{1, 64, 768}));
    EXPECT_EQ(bert.shape(bert.outputs.at(1)), (Shape{1, 768}));
    const Graph gpt2 = shapes_of("gpt2_small", {{"seq", 16}, {"batch", 2}});
    EXPECT_EQ(gpt2.shape(gpt2.outputs.at(0)), (Shape{2, 16, 50257}));
    const Graph lstm = shapes_of("lstm", {{"seq", 5}, {"hidden", 7}});
    EXPECT_EQ(lstm.shape(lstm.outputs.at(0)), (Shape{5, 1, 7}));
}

TEST(Builtin, SingleOperatorsHaveTheirShapes) {
    const auto output = [](std::string_view text) {
        BuiltinRequest request = parse_builtin(text);
        request.options.with_values = false;
        const Graph graph = build_network(request.name, request.options);
        return graph.shape(graph.outputs.at(0));
    };
    EXPECT_EQ(output("gemm:m=64,n=32,k=16"), (Shape{64, 32}));
    EXPECT_EQ(output("gemm:m=64,n=32,k=16,steps=3"), (Shape{64, 32}));
    EXPECT_EQ(output("conv2d:n=2,h=56,w=28,c=3,k=8,r=3,s=5,stride=2,pad=1"), (Shape{2, 8, 28, 13}));
    EXPECT_EQ(output("conv2d:h=7,w=7,pad=0"), (Shape{1, 64, 5, 5}));
    EXPECT_EQ(output("layernorm:rows=5,cols=7"), (Shape{5, 7}));
    EXPECT_EQ(output("softmax:rows=5,cols=7"), (Shape{5, 7}));
    EXPECT_EQ(output("attention:heads=3,seq=5,d=7"), (Shape{1, 3, 5, 7}));
    EXPECT_EQ(output("sums:rows=5,cols=7,inputs=2,steps=3"), (Shape{1, 1}));
    // Heads that share keys are rows of one matrix.
    EXPECT_EQ(output("attention:batch=2,heads=6,kv_heads=3,seq=5,queries=4,d=7"),
              (Shape{2, 3, 8, 7}));
    EXPECT_EQ(output("bert_block:hidden=32,heads=4,seq=9,batch=2"), (Shape{2, 9, 32}));
    EXPECT_EQ(output("resnet50:batch=8"), (Shape{8, 1000}));
    EXPECT_EQ(output("resnet50:v1=1"), (Shape{1, 1000}));
    EXPECT_EQ(output("alexnet_2012:batch=2"), (Shape{2, 1000}));
    EXPECT_THROW(output("bert_block:hidden=32,heads=5"), InputError);
    // One layer of twelve: 4 projections, the feed-forward pair, two normalisations.
    EXPECT_EQ(parameter_count(shapes_of("bert_block")), 7'087'872);
}

// Source: Jouppi et al. (2017), Table 1.
TEST(Builtin, TheTpuPapersApplicationsHaveTable1sNumbers) {
    struct Row {
        const char* name;
        int connected, convolutions, vectors, pools;
        double weights, operations_per_byte;
    };
    for (const Row& row : {Row{"mlp0", 5, 0, 0, 0, 20e6, 200},
                           {"mlp1", 4, 0, 0, 0, 5e6, 168},
                           {"lstm0", 24, 0, 34, 0, 52e6, 64},
                           {"lstm1", 37, 0, 19, 0, 34e6, 96},
                           {"cnn0", 0, 16, 0, 0, 8e6, 2888},
                           {"cnn1", 4, 72, 0, 13, 100e6, 1750 / 2.0}}) {
        SCOPED_TRACE(row.name);
        const Graph graph = shapes_of(row.name);
        int connected = 0, convolutions = 0, vectors = 0, pools = 0;
        for (const Node& node : graph.nodes) {
            connected += node.op == Operator::kGemm;
            convolutions += node.op == Operator::kConv;
            pools += node.op == Operator::kMaxPool || node.op == Operator::kGlobalAveragePool;
            // Sums and nonlinearities of a gate belong to it. LSTM0's operations are counted one
            // by one, LSTM1's as two of each cell.
            const auto is = [&](const char* part) {
                return node.name.find(part) != node.name.npos;
            };
            const bool operation =
                (node.op == Operator::kMul || node.op == Operator::kAdd || is(".tanh")) &&
                !is(".sum");
            const bool joined = is(".kept") || is(".added") || is(".tanh");
            vectors += operation && !(joined && graph.name == "lstm1");
        }
        EXPECT_EQ(connected, row.connected);
        EXPECT_EQ(convolutions, row.convolutions);
        EXPECT_EQ(vectors, row.vectors);
        EXPECT_EQ(pools, row.pools);
        EXPECT_NEAR(static_cast<double>(parameter_count(graph)) / row.weights, 1, 0.02);
        double macs = 0;
        for (const MatrixProduct& product : matrix_products(graph))
            macs += static_cast<double>(product.macs());
        // A multiplication with its addition counts as one here; CNN1's as two.
        EXPECT_NEAR(macs / static_cast<double>(parameter_count(graph)) / row.operations_per_byte, 1,
                    0.02);
    }
}

TEST(Builtin, RequestsAreTakenApart) {
    const BuiltinRequest request = parse_builtin("gemm:m=64,dtype=int8,k=3");
    EXPECT_EQ(request.name, "gemm");
    EXPECT_EQ(request.dtype, ElementType::kInt8);
    EXPECT_EQ(request.options.parameters,
              (std::map<std::string, std::int64_t>{{"m", 64}, {"k", 3}}));
    EXPECT_EQ(parse_builtin("resnet50").options.parameters.size(), 0u);
    for (const char* text : {"gemm:m", "gemm:=1", "gemm:m=", "gemm:m=1x", "gemm:m=1,m=2",
                             "gemm:dtype=int9", "gemm:m=99999999999999999999", "gemm:,m=1"})
        EXPECT_THROW(parse_builtin(text), InputError) << text;
}

TEST(Builtin, WeightsDependOnTheSeedOnly) {
    const auto weights = [](std::uint64_t seed) {
        const Graph graph = build_network("mlp", {.seed = seed});
        return to_floats(*graph.value(graph.nodes.at(0).inputs.at(1)).data);
    };
    EXPECT_EQ(weights(1), weights(1));
    EXPECT_NE(weights(1), weights(2));
    double sum = 0, squares = 0;
    for (const float w : weights(1)) {
        sum += w;
        squares += double{w} * w;
    }
    const double count = 784 * 512;
    EXPECT_NEAR(sum / count, 0, 1e-3);
    EXPECT_NEAR(squares / count * 784, 1, 0.02);
}

TEST(Builtin, NamesWhatIsWrong) {
    const auto message = [](std::string_view name, std::map<std::string, std::int64_t> parameters) {
        try {
            shapes_of(name, std::move(parameters));
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(message("mlp", {{"width", 3}}),
              "mlp has no parameter width (it has batch, input, hidden, layers, classes, dtype)");
    EXPECT_EQ(
        message("mlp", {{"bacth", 3}}),
        "mlp has no parameter bacth (it has batch, input, hidden, layers, classes, dtype); did you "
        "mean batch?");
    EXPECT_EQ(message("mlp", {{"batch", 0}}), "mlp: batch=0 is not in 1 to 65536");
    EXPECT_EQ(message("conv2d", {{"pad", -1}}), "conv2d: pad=-1 is not in 0 to 65536");
    EXPECT_EQ(message("bert_base", {{"seq", 513}}), "seq=513 is more than 512");
    EXPECT_EQ(message("attention", {{"heads", 6}, {"kv_heads", 4}}),
              "attention: heads=6, of which kv_heads=4 cannot each serve as many");
    EXPECT_EQ(message("attention", {{"seq", 6}, {"queries", 7}}),
              "attention: queries=7; they are the last of seq=6");
    EXPECT_EQ(message("attention", {{"page", 16}}),
              "attention: page: keys in pages are of a fused kernel, with block=");
    EXPECT_EQ(message("attention", {{"page", 16}, {"block", 64}, {"seq", 100}}),
              "attention: page=16; seq=100 and block=64 are whole pages");
    EXPECT_EQ(message("attention", {{"kv_heads", 6}, {"axis", -2}}),
              "attention: kv_heads: heads that share keys have their softmax along axis=-1");
    EXPECT_NE(message("resnet51", {}).find("resnet18, resnet50"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::network
