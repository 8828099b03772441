// SPDX-License-Identifier: Apache-2.0
// Values that stay on the device, memory that is shared and memory that does not suffice.
#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "tests/workloads/network/gpu/run_on.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::network::gpu {
namespace {

using enum Operator;

Tensor floats(Shape shape, std::initializer_list<float> values) {
    return make_tensor(std::move(shape), std::vector<float>(values));
}

/// w - x as the new w, and their product.
Graph step_graph() {
    Builder b("step", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 2}),
                  w = b.input("w", ElementType::kFp32, {2, 2});
    return b.finish({b.node(kSub, "new w", {w, x}), b.node(kMatMul, "product", {x, w})});
}

TEST(Session, holds_what_is_updated_between_runs) {
    const auto machine = config::Machine::load("h200");
    const Executable code =
        compile(step_graph(), target_of(*machine), {.updates = {{.output = 0, .input = 1}}});
    const auto device = make_emulator(machine, {});
    Session session(code, *device);
    session.set_input(0, floats({2, 2}, {1, 0, 0, 2}));
    session.set_input(1, floats({2, 2}, {10, 20, 30, 40}));
    session.run();
    // The product read the old w, though the new one takes its place.
    EXPECT_EQ(session.output(1), floats({2, 2}, {10, 20, 60, 80}));
    EXPECT_EQ(session.input(1), floats({2, 2}, {9, 20, 30, 38}));
    session.run();
    EXPECT_EQ(session.output(1), floats({2, 2}, {9, 20, 60, 76}));
    EXPECT_EQ(session.input(1), floats({2, 2}, {8, 20, 30, 36}));
}

TEST(Session, computes_an_update_in_place_where_the_old_value_is_read_no_more) {
    const auto kernels = [](Graph graph, std::vector<Update> updates) {
        return kernels_of(compile(std::move(graph), target_named("h200"), {.updates = updates}));
    };
    Builder b("sgd", 1);
    const ValueId g = b.input("g", ElementType::kFp32, {8, 8}),
                  w = b.input("w", ElementType::kFp32, {8, 8});
    EXPECT_EQ(kernels(b.finish({b.node(kSub, "new w", {w, g})}), {{0, 1}}), "map_real4");
    // Transposed, the old value is read where the new one is written.
    Builder c("transposed", 1);
    const ValueId x = c.input("x", ElementType::kFp32, {8, 8});
    const ValueId t = c.transpose("t", x, {1, 0});
    EXPECT_EQ(kernels(c.finish({c.node(kAdd, "new x", {x, t})}), {{0, 0}}), "map_real4 map_real4");
}

TEST(Session, refuses_an_input_of_another_shape) {
    const auto machine = config::Machine::load("h200");
    const Executable code = compile(step_graph(), target_of(*machine));
    const auto device = make_emulator(machine, {});
    Session session(code, *device);
    EXPECT_THROW(session.set_input(0, floats({4}, {1, 2, 3, 4})), InputError);
}

TEST(Session, names_the_node_whose_index_is_out_of_range) {
    Builder b("lookup", 1);
    const ValueId table = b.weight("table", {4, 3}, 1);
    const ValueId ids = b.input("ids", ElementType::kInt64, {2});
    const auto machine = config::Machine::load("h200");
    const Executable code =
        compile(b.finish({b.node(kGather, "lookup", {table, ids})}), target_of(*machine));
    const auto device = make_emulator(machine, {});
    Session session(code, *device);
    const std::vector<std::int64_t> good = {-1, 3}, bad = {1, 4};
    session.set_input(0, make_tensor({2}, good));
    EXPECT_NO_THROW(session.run());
    session.set_input(0, make_tensor({2}, bad));
    try {
        session.run();
        FAIL() << "it ran";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "node lookup (Gather): an index is out of range");
    }
    session.set_input(0, make_tensor({2}, good));
    EXPECT_NO_THROW(session.run());
}

TEST(Memory, is_shared_by_values_that_do_not_live_at_the_same_time) {
    const Ran ran = run_on(builtin("digits_cnn"));
    std::uint64_t alone = 0;
    const auto& buffers = ran.code.buffers;
    for (const Buffer& a : buffers) {
        if (a.use != BufferUse::kBetween) continue;
        alone += a.bytes;
        for (const Buffer& b : buffers) {
            if (&a == &b || b.use != BufferUse::kBetween) continue;
            const bool live = a.first <= b.last && b.first <= a.last;
            const bool meet = a.address < b.address + b.bytes && b.address < a.address + a.bytes;
            EXPECT_FALSE(live && meet) << a.name << " and " << b.name;
        }
    }
    EXPECT_LT(ran.code.shared_memory, alone);
}

TEST(Memory, that_does_not_suffice_is_refused_with_the_largest_tensors) {
    BuiltinRequest request = parse_builtin("mlp:batch=40000,hidden=40000");
    request.options.with_values = false;
    Graph graph = build_network(request.name, request.options);
    simplify(graph);
    try {
        compile(graph, target_named("t4"));
        FAIL() << "it fits";
    } catch (const InputError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("mlp needs"), std::string::npos) << text;
        EXPECT_NE(text.find("6400.0 MB"), std::string::npos) << text;
    }
}

TEST(Memory, is_found_too_small_before_inputs_are_made) {
    // An input of 17 GB.
    EXPECT_THROW(run_on(builtin("mlp:batch=65536,input=65536,hidden=1,layers=1"), "t4"),
                 InputError);
}

TEST(Compile, refuses_tensors_of_more_elements_than_kernels_count) {
    Builder b("long", 1);
    const ValueId x = b.input("x", ElementType::kFp16, {65536, 65536});
    try {
        compile(b.finish({b.node(kRelu, "relu", {x})}), target_named("h200"));
        FAIL() << "it compiles";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("kernels count to 2^31"), std::string::npos)
            << error.what();
    }
}

TEST(Memory, that_no_plan_could_do_with_is_named_before_kernels_limits) {
    Builder b("large", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {9'000'000, 8, 9, 7});
    const Graph graph = b.finish({b.convolution("conv", x, 8, 3, {.pad = 1})});
    try {
        prepare(graph, target_named("t4"), Precision::kFp32, 1);
        FAIL();
    } catch (const InputError& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("large needs at least 36288.0 MB of memory, t4 has"),
                  std::string::npos)
            << message;
        EXPECT_NE(message.find("x: 18144.0 MB"), std::string::npos) << message;
    }
}

TEST(Memory, counts_what_products_by_weights_make) {
    // The input has 7.2 GB, the first product's result 28.8 GB.
    Builder b("wide", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {900'000, 250, 8});
    const Graph graph = b.finish({b.linear("up", x, 32)});
    try {
        prepare(graph, target_named("t4"), Precision::kFp32, 1);
        FAIL();
    } catch (const InputError& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("wide needs at least 36000.0 MB of memory, t4 has"),
                  std::string::npos)
            << message;
    }
}

/// Three products of one input, and what joins them.
Graph branches() {
    Builder b("branches", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {16, 64});
    std::vector<ValueId> parts;
    for (const char* name : {"a", "b", "c"}) parts.push_back(b.linear(name, x, 64));
    return b.finish({b.node(Operator::kConcat, "join", parts, {{"axis", std::int64_t{1}}})});
}

TEST(Dependences, are_of_what_is_read_and_of_memory_that_is_used_again) {
    const Target target = target_named("h200");
    Graph graph = branches();
    simplify(graph);
    const Executable code = compile(graph, target, {.beside = true});
    const auto dependences = dependences_of(code);
    ASSERT_EQ(dependences.size(), code.launches.size());
    std::size_t free = 0;
    for (const std::vector<std::size_t>& after : dependences) free += after.empty() ? 1 : 0;
    EXPECT_EQ(free, 3U) << "each branch begins by itself";
    for (std::size_t i = 0; i < dependences.size(); ++i)
        for (const std::size_t earlier : dependences[i]) EXPECT_LT(earlier, i);
    // A chain is one.
    Graph chain = builtin("mlp:batch=8,hidden=64");
    simplify(chain);
    const auto in_a_row = dependences_of(compile(chain, target, {.beside = true}));
    for (std::size_t i = 1; i < in_a_row.size(); ++i)
        EXPECT_EQ(in_a_row[i], std::vector<std::size_t>{i - 1});
}

TEST(Session, launches_by_streams_and_graphs_with_the_same_results) {
    const auto machine = config::Machine::load("h200");
    const Target target = target_of(*machine);
    const compile::Prepared prepared = prepare(branches(), target, Precision::kFp32, 1);
    std::map<Submission, double> seconds;
    for (const Submission submission :
         {Submission::kStream, Submission::kStreams, Submission::kGraph}) {
        const Executable code =
            compile(prepared.graph, target, {.beside = submission != Submission::kStream});
        const auto device = make_simulator(machine, {});
        Session session(code, *device);
        session.set_input(0, prepared.inputs[0]);
        std::size_t launches = 0;
        seconds[submission] =
            session.run(submission, [&](std::size_t, const LaunchResult&) { ++launches; });
        EXPECT_EQ(launches, code.launches.size());
        for (const compile::Check& check : verify(prepared, Precision::kFp32, {session.output(0)}))
            EXPECT_TRUE(check.passed) << check.message;
    }
    EXPECT_LT(seconds[Submission::kStreams], seconds[Submission::kStream]);
    EXPECT_LT(seconds[Submission::kGraph], seconds[Submission::kStreams]);
}

}  // namespace
}  // namespace lockstep::network::gpu
