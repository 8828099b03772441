// SPDX-License-Identifier: Apache-2.0
// The ONNX reader on PyTorch's files (data/make.py) and on models written here with the same
// message definitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx.pb.h>

#include <fstream>
#include <functional>
#include <map>

#include "sim/error/error.h"
#include "tests/paths.h"
#include "workloads/network/onnx/reader.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const fs::path kData = fs::path(source_path()) / "tests/workloads/network/data";

std::vector<std::uint8_t> bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// y = x + w, two elements; `change` makes it what a test needs.
lockstep_onnx::ModelProto model() {
    lockstep_onnx::ModelProto m;
    m.set_ir_version(8);
    m.add_opset_import()->set_version(17);
    auto* graph = m.mutable_graph();
    graph->set_name("sum");
    for (auto* value : {graph->add_input(), graph->add_output()}) {
        auto* type = value->mutable_type()->mutable_tensor_type();
        type->set_elem_type(1);
        type->mutable_shape()->add_dim()->set_dim_value(2);
    }
    graph->mutable_input(0)->set_name("x");
    graph->mutable_output(0)->set_name("y");
    auto* w = graph->add_initializer();
    w->set_name("w");
    w->set_data_type(1);
    w->add_dims(2);
    w->add_float_data(1.5f);
    w->add_float_data(-2);
    auto* node = graph->add_node();
    node->set_name("add");
    node->set_op_type("Add");
    node->add_input("x");
    node->add_input("w");
    node->add_output("y");
    return m;
}

Graph parse(const lockstep_onnx::ModelProto& m, const fs::path& folder = {},
            const OnnxOptions& options = {}) {
    const std::string text = m.SerializeAsString();
    return parse_onnx({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "m.onnx",
                      folder, options);
}

TEST(Onnx, ReadsWhatPytorchWrites) {
    Graph graph = read_onnx(kData / "cnn_11.onnx");
    infer_shapes(graph);
    EXPECT_EQ(graph.shape(graph.outputs.at(0)), (Shape{2, 5}));
    // 3*8*9 + 2*8, 8*9 + 8, 8*8 + 8, 8*5 + 5: running statistics are no parameters.
    EXPECT_EQ(parameter_count(graph), 216 + 16 + 80 + 72 + 45);
    EXPECT_THAT(dump(graph), HasSubstr("BatchNormalization("));
}

TEST(Onnx, AsksForSymbolicDimensions) {
    EXPECT_THAT([] { read_onnx(kData / "mlp.onnx"); },
                ThrowsMessage<InputError>(HasSubstr("dimension without an extent (batch)")));
    Graph graph = read_onnx(kData / "mlp.onnx", {.dimensions = {{"batch", 5}}});
    infer_shapes(graph);
    EXPECT_EQ(graph.shape(graph.outputs.at(0)), (Shape{5, 3}));
}

TEST(Onnx, ReadsEveryPlaceOfValues) {
    lockstep_onnx::ModelProto m = model();
    const auto weight = [&](const fs::path& folder = {}) {
        const Graph graph = parse(m, folder);
        return to_floats(*graph.value(graph.nodes.at(0).inputs.at(1)).data);
    };
    const std::vector<float> expected = {1.5f, -2};
    EXPECT_EQ(weight(), expected);

    auto* w = m.mutable_graph()->mutable_initializer(0);
    w->clear_float_data();
    w->set_raw_data(expected.data(), 8);
    EXPECT_EQ(weight(), expected);

    const fs::path folder = fs::path(::testing::TempDir()) / "onnx_external";
    fs::create_directories(folder / "sub");
    std::ofstream(folder / "sub/w.bin", std::ios::binary)
        << "four" << std::string(reinterpret_cast<const char*>(expected.data()), 8);
    w->clear_raw_data();
    w->set_data_location(1);
    std::map<std::string, std::string> where;
    const auto set = [&](const std::string& key, const std::string& value) {
        where[key] = value;
        w->clear_external_data();
        for (const auto& [k, v] : where) {
            auto* entry = w->add_external_data();
            entry->set_key(k);
            entry->set_value(v);
        }
    };
    set("location", "sub/w.bin");
    set("offset", "4");
    set("length", "8");
    EXPECT_EQ(weight(folder), expected);
    EXPECT_THAT([&] { weight(); }, ThrowsMessage<InputError>(HasSubstr("without a folder")));
    set("offset", "5");
    EXPECT_THAT([&] { weight(folder); }, ThrowsMessage<InputError>(HasSubstr("beyond the end")));
    set("offset", "-4");
    EXPECT_THAT([&] { weight(folder); }, ThrowsMessage<InputError>(HasSubstr("is no number")));
    set("offset", "4");

    // No path of the file's leads out of its folder.
    fs::remove(folder / "sub/link");
    fs::create_symlink(folder / "sub/w.bin", folder / "sub/link");
    for (const char* location : {"../onnx_external/sub/w.bin", "/etc/passwd", "sub/../../x", ""}) {
        set("location", location);
        EXPECT_THAT([&] { weight(folder); },
                    ThrowsMessage<InputError>(HasSubstr("leads out of the model's folder")))
            << location;
    }
    EXPECT_EQ((set("location", "sub/link"), weight(folder)), expected);
    set("location", "link");
    fs::create_directories(folder / "model");
    fs::remove(folder / "model/link");
    fs::create_symlink(folder / "sub/w.bin", folder / "model/link");
    EXPECT_THAT([&] { weight(folder / "model"); },
                ThrowsMessage<InputError>(HasSubstr("leads out of the model's folder")));
}

TEST(Onnx, ListsAllThatIsNotSupported) {
    lockstep_onnx::ModelProto m = model();
    auto* graph = m.mutable_graph();
    auto* einsum = graph->add_node();
    einsum->set_name("mix");
    einsum->set_op_type("GridSample");
    einsum->add_output("e");
    auto* custom = graph->add_node();
    custom->set_op_type("Add");
    custom->set_domain("com.example");
    auto* attribute = graph->mutable_node(0)->add_attribute();
    attribute->set_name("axis");
    attribute->set_type(2);
    auto* pool = graph->add_node();
    pool->set_name("pool");
    pool->set_op_type("MaxPool");
    pool->add_input("x");
    pool->add_output("p");
    pool->add_output("indices");
    auto* training = graph->add_initializer();
    training->set_name("training");
    training->set_data_type(9);
    training->add_int32_data(1);
    auto* drop = graph->add_node();
    drop->set_name("drop");
    drop->set_op_type("Dropout");
    for (const char* input : {"x", "", "training"}) drop->add_input(input);
    drop->add_output("d");
    EXPECT_THAT([&] { parse(m); },
                ThrowsMessage<InputError>("m.onnx: not supported:\n"
                                          "  node add: attribute axis of Add\n"
                                          "  node mix: operator GridSample\n"
                                          "  node Add_2: operator com.example.Add\n"
                                          "  node pool: output 1 of MaxPool\n"
                                          "  node drop: training_mode=1 of Dropout"));
}

TEST(Onnx, RejectsMalformedModels) {
    const auto message = [](const std::function<void(lockstep_onnx::ModelProto&)>& change) {
        lockstep_onnx::ModelProto m = model();
        change(m);
        try {
            parse(m);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    using M = lockstep_onnx::ModelProto;
    EXPECT_EQ(message([](M&) {}), "");
    EXPECT_THAT(message([](M& m) { m.clear_graph(); }), HasSubstr("holds no ONNX graph"));
    EXPECT_THAT(message([](M& m) { m.mutable_opset_import(0)->set_version(10); }),
                HasSubstr("opset 10 is not supported (11 to 17 are)"));
    EXPECT_THAT(message([](M& m) { m.mutable_graph()->mutable_node(0)->set_input(1, "v"); }),
                HasSubstr("value v is used but never written"));
    EXPECT_THAT(message([](M& m) { m.mutable_graph()->mutable_node(0)->set_output(0, "w"); }),
                HasSubstr("value w is written twice"));
    EXPECT_THAT(message([](M& m) { m.mutable_graph()->mutable_node(0)->set_input(0, "y"); }),
                HasSubstr("cycle"));
    EXPECT_THAT(message([](M& m) { m.mutable_graph()->mutable_initializer(0)->set_dims(0, 3); }),
                HasSubstr("tensor w: 2 values, not 3"));
    EXPECT_THAT(message([](M& m) { m.mutable_graph()->mutable_initializer(0)->set_dims(0, -1); }),
                HasSubstr("negative extent"));
    EXPECT_THAT(message([](M& m) { m.mutable_graph()->mutable_initializer(0)->set_data_type(14); }),
                HasSubstr("element type 14 is not supported"));
}

TEST(Onnx, EndsEveryTruncatedFileWithAnInputError) {
    const std::vector<std::uint8_t> whole = bytes_of(kData / "cnn_11.onnx");
    ASSERT_GT(whole.size(), 1000u);
    for (std::size_t size = 0; size < whole.size(); size += 7)
        EXPECT_THROW(parse_onnx(std::span(whole).first(size), "cut.onnx"), InputError) << size;
    EXPECT_THAT([&] { parse_onnx(std::span(whole).first(500), "cut.onnx"); },
                ThrowsMessage<InputError>(HasSubstr("cut.onnx: malformed ONNX file at offset 5")));
    EXPECT_THAT([] { read_onnx("none.onnx"); },
                ThrowsMessage<InputError>("none.onnx: cannot be read"));
}

}  // namespace
}  // namespace lockstep::network
