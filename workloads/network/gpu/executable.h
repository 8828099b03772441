// SPDX-License-Identifier: Apache-2.0
// A network as launches of our kernels on a GPU, and how it runs.
//
//     simplify(graph);                                              // shapes, constants
//     const gpu::Executable code = gpu::compile(graph, gpu::target_of(*machine), options);
//     gpu::Session session(code, *device);                          // weights are on the device
//     now session.set_input(0, images);                                 // stays until it is set
//     again session.run(); const Tensor scores = session.output(0);
//
// What stays on the device between runs (the weights of a network in training, its optimiser's
// state, a cache of keys) is an input that some output takes the place of: Options::updates. A run
// computes the output in the input's own memory where all who read the old value come before, else
// it is copied there at the end: run() again reads the new value. session.input(i) reads it back.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/device.h"
#include "models/launch_ranges.h"
#include "workloads/cuda/kernel_name.h"
#include "workloads/network/compile/view.h"
#include "workloads/network/gpu/target.h"
#include "workloads/network/graph/graph.h"

namespace lockstep::network::gpu {

/// What products multiply. Sums are FP32 (int32 of integers).
enum class Precision : std::uint8_t {
    kFp32,  ///< on CUDA cores
    kTf32,  ///< FP32 tensors, operands rounded to 10 bits of mantissa on Tensor Cores
    kFp16,  ///< FP16 tensors on Tensor Cores
    kBf16,
    kInt8,  ///< quantised values (Value::quantisation); what has no scale is FP32
    kFp8,   ///< FP16 tensors; products of weights in e4m3, each operand with a scale
};
std::string_view name_of(Precision precision);

/// graph.inputs[input] holds graph.outputs[output] after each run; both have one shape and type.
struct Update {
    std::size_t output = 0, input = 0;
};

struct Options {
    Precision precision = Precision::kFp32;
    std::vector<Update> updates;
    /// Launches that may run beside each other, as their dependences allow: memory is not used
    /// again so soon that this alone would put them in a row.
    bool beside = false;
};

/// Numbers buffers of an executable.
using BufferId = std::uint32_t;

enum class BufferUse : std::uint8_t { kInput, kOutput, kGiven, kBetween };

struct Buffer {
    std::string name;  ///< of the value
    BufferUse use = BufferUse::kBetween;
    std::uint64_t bytes = 0;
    std::uint64_t address = 0;  ///< of one of kBetween: in the memory that they share
    int first = -1, last = -1;  ///< launches that use it
};

/// Where a value is: a view of a buffer, whose first element is `offset` elements from its begin.
struct Place : compile::View {
    BufferId buffer = 0;
    std::int64_t offset = 0;
    ElementType type = ElementType::kFp32;
};

/// A pointer among a launch's parameters.
struct Relocation {
    std::uint32_t at = 0;  ///< its place in the parameters
    BufferId buffer = 0;
    std::uint64_t offset = 0;  ///< bytes
    bool is_written = false;   ///< what it points to
};

struct Launch {
    std::string layer;  ///< names of the nodes
    cuda::KernelName kernel;
    sass::Dim3 grid, block;
    std::uint32_t shared_bytes = 0;
    std::vector<std::byte> parameters;
    std::vector<Relocation> pointers;
    std::uint64_t macs = 0, bytes = 0;  ///< useful products; operands and results
    std::string choice;                 ///< why this kernel; empty where there is no other
    double cycles = 0;                  ///< by the model that chose it; 0: nothing was chosen
};

struct Executable {
    Graph graph;  ///< the one that was compiled
    Options options;
    Target target;
    std::vector<Buffer> buffers;
    std::vector<Launch> launches;
    std::vector<Place> inputs, outputs;            ///< as graph's
    std::map<ValueId, Place> given;                ///< weights and constants
    std::vector<std::pair<Place, Tensor>> tables;  ///< constants of the compiler's own
    std::uint64_t shared_memory = 0;  ///< bytes of the memory that values between share
    BufferId faults = 0;              ///< int32: 1 + the node whose index was out of range
    /// Bytes of all on the device.
    std::uint64_t bytes() const;
};

/// A graph whose shapes are inferred and which is simplified; prepare.h does both, rewrites what
/// has no kernel of its own, and casts to the precision. InputError that lists all nodes that have
/// no kernel, or the largest tensors where memory is too small.
Executable compile(Graph graph, const Target& target, const Options& options = {});

/// By launch, those that it must follow, because of what one of both writes: the direct ones, in
/// ascending order.
std::vector<std::vector<std::size_t>> dependences_of(const Executable& code);

/// How launches come to a simulated device, on the time line of host and device.
enum class Submission : std::uint8_t {
    kStream,   ///< a call each, one after the other
    kStreams,  ///< a call each, ordered by their dependences alone
    kGraph,    ///< one call; likewise
};

/// An executable on a device, with its weights. Both must outlive it.
class Session {
  public:
    /// InputError where weights have no data or memory is too small.
    Session(const Executable& code, Device& device);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Of the input's shape; converted to its type.
    void set_input(std::size_t index, const Tensor& tensor);
    Tensor input(std::size_t index) const;
    Tensor output(std::size_t index) const;

    /// Called after each launch.
    using Observer = std::function<void(std::size_t launch, const LaunchResult&)>;
    /// InputError that names the node where an index is out of range.
    void run(const Observer& observer = {});
    /// The same on the device's time line, which it must have: seconds from the first call until
    /// the host knows of the end. The observer is called at the end.
    double run(Submission submission, const Observer& observer);

  private:
    struct Prepared {
        LaunchRequest request;  ///< but its parameters, which are these:
        std::vector<std::byte> parameters;
        std::vector<MemoryRange> ranges;  ///< behind its pointers, as far as is known
    };
    Prepared prepared(const Launch& launch);
    void throw_of_fault();
    DevicePointer address(BufferId buffer) const;
    ModuleHandle module(std::string_view file);

    const Executable& code_;
    Device& device_;
    std::vector<DevicePointer> own_;  ///< by buffer; 0: in shared memory
    DevicePointer between_ = 0;
    std::map<std::string, ModuleHandle, std::less<>> modules_;
};

}  // namespace lockstep::network::gpu
