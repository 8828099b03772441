// SPDX-License-Identifier: Apache-2.0
// Lockstep for other programs: machines, kernels, networks, statistics. Link with -llockstep, or by
// CMake: find_package(lockstep), target lockstep::lockstep. README.md beside this file has
// examples.
//
// What goes wrong is an Error with the text and the exit status of the lockstep program. Nothing is
// thread-safe: call from one thread at a time. In cycle mode SystemC simulates one chip at a time
// in a process: a second one, while a Device in cycle mode lives, is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#define LOCKSTEP_API __attribute__((visibility("default")))

namespace lockstep::api {

/// "0.1.0", and of which commit ("" where it is not known).
LOCKSTEP_API std::string version();
LOCKSTEP_API std::string commit();

/// what(): what the lockstep program would print.
class LOCKSTEP_API Error : public std::runtime_error {
  public:
    Error(int status, const std::string& text);
    ~Error() override;
    /// 2: the input is wrong; 3: the simulated program faulted; 4: an internal check failed.
    int status() const { return status_; }

  private:
    int status_;
};

struct Parameter {
    std::string path;      ///< "sm.count"
    std::string value;     ///< as text, in `unit`
    std::string unit;      ///< "1": a pure number
    std::string evidence;  ///< "measured: ...", "published: ..." or "assumed: ..."
    std::string meaning;
};

/// A modelled chip with its parameters. Cheap to copy.
class LOCKSTEP_API Machine {
  public:
    /// A built-in machine by name, or a file (.yaml). `overrides`: "path=value" each. Throws
    /// Error 2.
    explicit Machine(const std::string& name_or_file,
                     const std::vector<std::string>& overrides = {});
    static std::vector<std::string> names();

    std::string name() const;
    std::string kind() const;  ///< "gpu", "tpu", "npu", "systolic", "roofline", "host"
    std::string description() const;
    std::vector<Parameter> parameters() const;  ///< sorted by path
    /// A number in the parameter's unit. Throws Error 2 where there is no such number.
    double number(std::string_view path) const;
    /// Any parameter as text. Throws Error 2 where there is none.
    std::string text(std::string_view path) const;

    struct Impl;
    const Impl& impl() const { return *impl_; }

  private:
    std::shared_ptr<const Impl> impl_;
};

enum class Mode : std::uint8_t { kCycle, kEmulate };

using Metrics = std::map<std::string, double>;

/// A kernel launch, or a layer of a network.
struct Step {
    std::string name;
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::string mode;  ///< where it is not the run's: "emulate"
    Metrics metrics;   ///< of GPUs under Nsight Compute's names
};

/// What a run counted: what the program writes by --stats.
struct Statistics {
    std::string json;  ///< all of it; empty: a program that ended before it wrote any
    std::string machine, mode, workload;
    std::vector<Step> steps;
    Metrics totals;  ///< "cycles", "seconds", and what else the kind of machine has
    double cycles() const { return total("cycles"); }
    double seconds() const { return total("seconds"); }

  private:
    double total(const char* name) const {
        const auto at = totals.find(name);
        return at == totals.end() ? 0 : at->second;
    }
};

/// Values of a network's input or output, row-major.
struct Tensor {
    std::string name;
    std::string type;  ///< "fp32", "fp64", "fp16", "bf16", "int8", "uint8", "int16", "int32",
                       ///< "int64", "bool"
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;  ///< little-endian
};

struct RunOptions {
    Mode mode = Mode::kCycle;
    unsigned threads = 1;    ///< of the host; results never depend on it
    std::uint64_t seed = 0;  ///< of generated inputs
    bool verify = false;     ///< compare results with the reference
    bool energy = false;     ///< count energy
    bool no_values = false;  ///< TPU, NPU, systolic: only time
    bool sample = false;     ///< GPU: estimate the time
    bool host = false;       ///< NPU: what it lacks runs on the host
    std::string l2;          ///< GPU: "cold" or "warm"; "": as the program does
    std::string precision;   ///< of a network: "fp16", "int8", "4", ...; "": the machine's default
    std::vector<std::string> arguments;  ///< of an executable
    // Of a .cubin (and of TPU and NPU programs the arguments).
    std::string kernel, grid = "1", block = "1";
    std::vector<std::string> kernel_arguments;  ///< as --arg: "42", "random:4096", "out:64:FILE"
    std::uint32_t dynamic_shared_bytes = 0;
};

struct RunResult {
    /// 0; 5: verify found a mismatch; of an executable its own.
    int status = 0;
    std::string report;  ///< what the program would have shown; of an executable empty
    Statistics statistics;
    std::vector<Tensor> outputs;  ///< of run_network()
};

/// Runs what `lockstep run X --on MACHINE` runs. An executable runs in a process of its own, with
/// this one's standard streams. Throws Error.
LOCKSTEP_API RunResult run(const std::string& what, const Machine& machine,
                           const RunOptions& options = {});

/// The same of a network (built in, .onnx, .tflite) with its inputs given, in its own order; none:
/// seeded ones. Floats are converted to the type that the machine computes in; where that is
/// integers, scales are those of the seeded inputs, as of the program. Outputs of integers come
/// back as fp32. Throws Error 2 where an input does not fit, or where a kind of machine gives no
/// outputs (systolic, roofline).
LOCKSTEP_API RunResult run_network(const std::string& what, const Machine& machine,
                                   const std::vector<Tensor>& inputs = {},
                                   const RunOptions& options = {});

/// The inputs that a network takes: names, types, shapes; no values.
LOCKSTEP_API std::vector<Tensor> network_inputs(const std::string& what);

/// An address in a GPU's memory.
using Address = std::uint64_t;

/// A kernel's argument: any value whose bytes are its meaning, as an int, a float, an Address, a
/// struct.
class Argument {
  public:
    template <typename T>
    requires std::is_trivially_copyable_v<T> Argument(const T& value)
        : bytes_(reinterpret_cast<const std::byte*>(&value),
                 reinterpret_cast<const std::byte*>(&value) + sizeof value) {}
    /// Bytes as they are.
    explicit Argument(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;
};

struct LaunchShape {
    Dim3 grid, block;
    std::uint32_t dynamic_shared_bytes = 0;
    Dim3 cluster{0, 0, 0};  ///< zeros: as the kernel says
};

/// What a launch did.
struct LaunchResult {
    std::uint64_t warp_instructions = 0, thread_instructions = 0;
    std::uint64_t cycles = 0;  ///< of the SMs; 0 in emulation, which has no time
    double seconds = 0;        ///< simulated
    Metrics metrics;           ///< all of that and more, under Nsight Compute's names
};

struct DeviceOptions {
    Mode mode = Mode::kCycle;
    unsigned threads = 1;
    std::uint64_t max_instructions = 0;  ///< of a launch; 0: no limit
    bool warm_l2 = false;                ///< what kernels leave in L2 is there for the next one
    bool sample = false;                 ///< estimate the time of large launches
    /// In a SystemC program: Channels are sc_objects, and the state of these SMs, of L2 and of DRAM
    /// is signals (sim/engine/systemc.md), at the cost of some speed.
    bool signals = false;
    unsigned first_sm = 0, last_sm = 0;  ///< with signals
};

/// A loaded module. Lives as long as its Device.
class LOCKSTEP_API Module {
  public:
    std::vector<std::string> kernels() const;
    /// Bytes of each of a kernel's parameters, and where each lies in the area that CUDA packs them
    /// into. Throw Error 2 where there is no such kernel.
    std::vector<std::uint32_t> parameter_bytes(std::string_view kernel) const;
    std::vector<std::uint32_t> parameter_offsets(std::string_view kernel) const;
    /// Address and bytes of a __device__ or __constant__ variable. Throws Error 2 where it has
    /// none.
    std::pair<Address, std::uint64_t> variable(std::string_view name) const;

  private:
    friend class Device;
    struct Impl;
    std::shared_ptr<const Impl> impl_;
};

/// A GPU: memory, modules, launches.
class LOCKSTEP_API Device {
  public:
    /// Throws Error 2 where the machine is no GPU.
    explicit Device(const Machine& machine, const DeviceOptions& options = {});
    ~Device();
    Device(Device&&) noexcept;
    Device& operator=(Device&&) noexcept;

    /// Zeroed memory. Throws Error 2 where the machine has no more.
    Address allocate(std::uint64_t bytes);
    /// Throws Error 2 where no allocation begins there.
    void free(Address address);
    /// Throw Error 2 where the bytes are not all in one allocation.
    void write(Address to, const void* from, std::size_t bytes);
    void read(void* to, Address from, std::size_t bytes) const;

    /// A .cubin, or a .fatbin with code for this machine. Throws Error 2.
    Module load(const std::string& file);
    /// The same of bytes; `name`: for messages.
    Module load(std::span<const std::byte> image, const std::string& name = "module");

    /// Runs a kernel to its end. Throws Error 2 where the kernel, its arguments or the shape are
    /// wrong, 3 where the kernel faults: what() is the whole report.
    LaunchResult launch(const Module& module, std::string_view kernel, const LaunchShape& shape,
                        const std::vector<Argument>& arguments);

    struct Impl;
    Impl& impl() { return *impl_; }

  private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::api
