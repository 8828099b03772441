// SPDX-License-Identifier: Apache-2.0
// What a module's code says of its kernels beyond their attributes.
#include "models/gpu/device/module.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/paths.h"

namespace lockstep::gpu {
namespace {

class Loaded {
  public:
    explicit Loaded(const std::string& file) : module_(read(source_path(file)), memory_) {}

    const cubin::Function& kernel(const std::string& name) const {
        return *module_.find_kernel(name);
    }
    bool has_unknown_stack(const std::string& name) {
        std::uint32_t first = 0;
        module_.bind(kernel(name), first);
        return module_.has_unknown_stack(kernel(name));
    }

  private:
    static cubin::Cubin read(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file),
                                              std::istreambuf_iterator<char>()};
        return cubin::parse(bytes, path);
    }

    memory::DeviceMemory memory_{1 << 20};
    Module module_;
};

TEST(Module, StackIsUnknownWhereCodeMovesThePointer) {
    Loaded recursive("tests/models/gpu/data/control_flow_sm_90.cubin");
    EXPECT_TRUE(recursive.kernel("recursion").unbounded_stack);
    EXPECT_TRUE(recursive.has_unknown_stack("recursion"));
    Loaded taking("tests/models/gpu/data/alloca_sm_90.cubin");
    EXPECT_TRUE(taking.has_unknown_stack("sum_of_squares"));
}

TEST(Module, StackIsKnownWhereNoCodeMovesThePointer) {
    Loaded plain("workloads/cuda/cubin/sm_90/vector_add.cubin");
    EXPECT_TRUE(plain.kernel("vector_add").unbounded_stack) << "to its attributes";
    EXPECT_FALSE(plain.has_unknown_stack("vector_add"));
    // A division is a call within the kernel.
    Loaded divides("workloads/cuda/cubin/sm_90/batch_norm.cubin");
    EXPECT_FALSE(divides.has_unknown_stack("batch_norm"));
}

}  // namespace
}  // namespace lockstep::gpu
