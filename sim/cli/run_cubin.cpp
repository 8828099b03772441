// SPDX-License-Identifier: Apache-2.0
// A kernel of a cubin or fatbin: arguments come from the command line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "isa/cubin/cubin.h"
#include "isa/cubin/executable.h"
#include "isa/cubin/fatbin.h"
#include "sim/cli/run_request.h"
#include "sim/cli/summary.h"
#include "sim/config/machine.h"
#include "sim/config/nearest.h"

namespace lockstep::cli {

namespace {

sass::Dim3 parse_dim3(const std::string& option, const std::string& text) {
    std::uint32_t value[3] = {1, 1, 1};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::uint32_t& dimension : value) {
        const auto [next, error] = std::from_chars(at, end, dimension);
        if (error != std::errc{}) break;
        at = next;
        if (at == end) return {value[0], value[1], value[2]};
        if (*at != ',' && *at != 'x') break;
        ++at;
    }
    throw InputError(fmt::format("{} {}: wanted x[,y[,z]]", option, text));
}

/// A buffer argument that is written to a file after the run.
struct Output {
    DevicePointer address;
    std::uint64_t bytes;
    std::string file;
};

class Arguments {
  public:
    Arguments(const cubin::Function& kernel, Device& device, std::uint64_t seed)
        : kernel_(kernel),
          device_(device),
          random_(seed * 2 + 1),
          packed_(kernel.parameter_bytes) {}

    void add(std::size_t index, const std::string& text);
    std::span<const std::byte> packed() const { return packed_; }
    void write_outputs() const;

  private:
    [[noreturn]] void fail(std::size_t index, const std::string& text,
                           const std::string& why) const {
        throw InputError(fmt::format("--arg {} (argument {}): {}", text, index + 1, why));
    }
    std::uint64_t byte_count(std::size_t index, const std::string& text,
                             std::string_view digits) const;
    void put(std::size_t index, const std::string& text, const void* value, std::size_t bytes);
    DevicePointer buffer(std::size_t index, const std::string& text, std::uint64_t bytes);

    const cubin::Function& kernel_;
    Device& device_;
    std::uint64_t random_;
    std::vector<std::byte> packed_;
    std::vector<Output> outputs_;
};

std::uint64_t Arguments::byte_count(std::size_t index, const std::string& text,
                                    std::string_view digits) const {
    std::uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    if (error != std::errc{} || end != digits.data() + digits.size() || bytes == 0)
        fail(index, text, fmt::format("'{}' is not a number of bytes", digits));
    return bytes;
}

void Arguments::put(std::size_t index, const std::string& text, const void* value,
                    std::size_t bytes) {
    const cubin::Parameter& parameter = kernel_.parameters[index];
    if (parameter.size != bytes)
        fail(index, text,
             fmt::format("the kernel's parameter has {} bytes, not {}", parameter.size, bytes));
    std::memcpy(packed_.data() + parameter.offset, value, bytes);
}

DevicePointer Arguments::buffer(std::size_t index, const std::string& text, std::uint64_t bytes) {
    const DevicePointer address = device_.allocate(bytes);
    if (address == 0) fail(index, text, "the machine's memory is exhausted");
    put(index, text, &address, sizeof address);
    return address;
}

void Arguments::add(std::size_t index, const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon != std::string::npos) {
        const std::string kind = text.substr(0, colon);
        const std::string rest = text.substr(colon + 1);
        const std::size_t second = rest.find(':');
        const std::string first = rest.substr(0, second);
        const std::string last = second == std::string::npos ? "" : rest.substr(second + 1);
        if (kind == "zeros" || kind == "iota" || kind == "random") {
            const std::uint64_t bytes = byte_count(index, text, rest);
            auto* const to = reinterpret_cast<std::byte*>(buffer(index, text, bytes));
            for (std::uint64_t at = 0; kind != "zeros" && at < bytes; at += sizeof(std::uint32_t)) {
                random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
                const auto word = static_cast<std::uint32_t>(
                    kind == "iota" ? at / sizeof(std::uint32_t) : random_ >> 32);
                std::memcpy(to + at, &word, std::min<std::uint64_t>(sizeof word, bytes - at));
            }
        } else if (kind == "in" || kind == "inout") {
            const std::vector<std::uint8_t> contents = read_file(first);
            if (contents.empty()) fail(index, text, "the file is empty");
            const DevicePointer address = buffer(index, text, contents.size());
            std::memcpy(reinterpret_cast<void*>(address), contents.data(), contents.size());
            if (kind == "inout") outputs_.push_back({address, contents.size(), last});
        } else if (kind == "out") {
            const std::uint64_t bytes = byte_count(index, text, first);
            outputs_.push_back({buffer(index, text, bytes), bytes, last});
        } else {
            fail(index, text, "wanted a number, or zeros:, iota:, random:, in:, out: or inout:");
        }
        if (!outputs_.empty() && outputs_.back().file.empty())
            fail(index, text, "the name of the file to write is missing");
        if (!outputs_.empty()) stats::check_writable(outputs_.back().file);
        return;
    }
    const std::uint32_t bytes = kernel_.parameters[index].size;
    const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const char* const end = text.data() + text.size();
    if (!is_hexadecimal && text.find_first_of(".eEnN") != std::string::npos) {
        double number = 0;
        const auto [at, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc{} || at != end) fail(index, text, "is not a number");
        const auto narrow = static_cast<float>(number);
        if (bytes == sizeof narrow)
            put(index, text, &narrow, sizeof narrow);
        else
            put(index, text, &number, sizeof number);
        return;
    }
    std::int64_t number = 0;
    const auto [at, error] =
        is_hexadecimal
            ? std::from_chars(text.data() + 2, end, reinterpret_cast<std::uint64_t&>(number), 16)
            : std::from_chars(text.data(), end, number);
    if (error != std::errc{} || at != end) fail(index, text, "is not a number");
    if (bytes > sizeof number)
        fail(index, text, fmt::format("the kernel's parameter has {} bytes", bytes));
    // Signed or not is the kernel's to say: what neither reading holds would lose its upper bytes.
    const unsigned bits = 8 * bytes;
    if (bits < 64 && (number < -(std::int64_t{1} << (bits - 1)) || number >> bits > 0))
        fail(index, text,
             fmt::format("does not fit the {} byte{} of the kernel's parameter", bytes,
                         bytes == 1 ? "" : "s"));
    put(index, text, &number, bytes);
}

void Arguments::write_outputs() const {
    for (const Output& output : outputs_) {
        stats::write_whole(output.file,
                           {reinterpret_cast<const char*>(output.address), output.bytes});
    }
}

const cubin::Function& choose_kernel(const cubin::Cubin& cubin, const RunRequest& request) {
    std::vector<std::string> kernels;
    for (const cubin::Function& function : cubin.functions)
        if (function.is_kernel) kernels.push_back(function.name);
    if (request.options.kernel.empty()) {
        if (kernels.size() == 1) return *cubin.find_function(kernels.front());
        throw InputError(fmt::format("{} has {} kernels; choose one with --kernel: {}",
                                     request.what, kernels.size(), fmt::join(kernels, " ")));
    }
    const cubin::Function* kernel = cubin.find_function(request.options.kernel);
    if (kernel == nullptr || !kernel->is_kernel) {
        const std::string near = config::nearest(request.options.kernel, kernels);
        throw InputError(
            fmt::format("{}: no kernel named {}{}", request.what, request.options.kernel,
                        near.empty() ? fmt::format("; it has: {}", fmt::join(kernels, " "))
                                     : fmt::format("; did you mean {}?", near)));
    }
    return *kernel;
}

}  // namespace

int run_cubin(const RunRequest& request, std::span<const std::uint8_t> bytes) {
    cuda::RunOptions options = request.options;
    options.kernel.clear();  // here a name, and it is simulated whatever it is
    const std::unique_ptr<Device> device = cuda::make_device(options);
    const auto arch = static_cast<int>(device->machine().integer("arch"));
    std::vector<std::uint8_t> image(bytes.begin(), bytes.end());
    if (cubin::identify(bytes) == cubin::FileKind::kFatbin)
        image = cubin::cubin_for(cubin::parse_fatbin(bytes, request.what), arch, request.what,
                                 config::Machine::gpus);
    const cubin::Cubin cubin = cubin::parse(image, request.what);
    if (cubin.arch / 10 != arch / 10 || cubin.arch > arch ||
        (cubin.accelerated && cubin.arch != arch))
        throw InputError(fmt::format("{} is code for sm_{}, which {} (sm_{}) does not run",
                                     request.what, cubin.arch, device->machine().name(), arch));
    const cubin::Function& kernel = choose_kernel(cubin, request);
    if (kernel.parameters.size() != request.kernel_arguments.size())
        throw InputError(fmt::format("{}: kernel {} has {} parameters, but {} --arg are given",
                                     request.what, kernel.name, kernel.parameters.size(),
                                     request.kernel_arguments.size()));
    Arguments arguments(kernel, *device, request.options.seed);
    for (std::size_t i = 0; i < request.kernel_arguments.size(); ++i)
        arguments.add(i, request.kernel_arguments[i]);

    LaunchRequest launch;
    launch.module = device->load_module(cubin);
    launch.kernel = kernel.name;
    launch.grid = parse_dim3("--grid", request.grid);
    launch.block = parse_dim3("--block", request.block);
    launch.dynamic_shared_bytes = request.dynamic_shared_bytes;
    launch.parameters = arguments.packed();
    Summary summary(request, device->machine());
    const LaunchResult result = device->launch(launch);
    summary.add(kernel.name, launch.grid, launch.block, result);
    summary.finish();
    arguments.write_outputs();
    return static_cast<int>(ExitStatus::kDone);
}

}  // namespace lockstep::cli
