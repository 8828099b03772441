// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "isa/cubin/cubin.h"
#include "models/timeline.h"
#include "sim/error/error.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"
#include "workloads/cuda/kernel_images.h"
#include "workloads/network/gpu/executable.h"
#include "workloads/network/reference/array.h"

namespace lockstep::network::gpu {

namespace {

template <class T>
T* data_at(DevicePointer address) {
    return reinterpret_cast<T*>(address);
}

/// Calls f(i, byte offset) for each element of a place, in row-major order.
template <class F>
void each_element(const Place& place, F&& f) {
    const auto size = static_cast<std::int64_t>(size_of(place.type));
    reference::for_each(
        place.shape, place.strides, place.offset,
        [&](std::size_t i, std::size_t at) { f(i, static_cast<std::int64_t>(at) * size); });
}

/// The values as the place's type, row-major.
Tensor converted(const Tensor& tensor, ElementType type) {
    if (tensor.type == type) return tensor;
    if (is_floating(type)) return from_doubles(type, tensor.shape, to_doubles(tensor));
    return from_integers(type, tensor.shape, to_integers(tensor));
}

void write(const Place& place, const Tensor& given, DevicePointer address) {
    const Tensor tensor = converted(given, place.type);
    const std::size_t size = size_of(place.type);
    auto* const to = data_at<std::byte>(address);
    if (place.strides == compile::dense_strides(place.shape)) {
        std::copy(tensor.bytes.begin(), tensor.bytes.end(),
                  to + place.offset * static_cast<std::int64_t>(size));
        return;
    }
    each_element(place, [&](std::size_t i, std::int64_t at) {
        std::memcpy(to + at, tensor.bytes.data() + i * size, size);
    });
}

Tensor read(const Place& place, DevicePointer address) {
    Tensor tensor(place.type, place.shape);
    const std::size_t size = size_of(place.type);
    const auto* const from = data_at<std::byte>(address);
    each_element(place, [&](std::size_t i, std::int64_t at) {
        std::memcpy(tensor.bytes.data() + i * size, from + at, size);
    });
    return tensor;
}

}  // namespace

Session::Session(const Executable& code, Device& device)
    : code_(code), device_(device), own_(code.buffers.size(), 0) {
    const auto allocate = [&](std::uint64_t bytes) {
        const DevicePointer pointer = device_.allocate(std::max<std::uint64_t>(bytes, 1));
        if (pointer == 0)
            throw InputError(
                fmt::format("{} bytes do not fit into the memory of machine '{}' ({} "
                            "free)",
                            bytes, device_.machine().name(), device_.free_bytes()));
        return pointer;
    };
    between_ = allocate(code.shared_memory);
    device_.note_host_write(between_, code.shared_memory);
    for (std::size_t i = 0; i < own_.size(); ++i) {
        const Buffer& buffer = code.buffers[i];
        if (buffer.use == BufferUse::kBetween) continue;
        own_[i] = allocate(buffer.bytes);
        device_.note_host_write(own_[i], buffer.bytes);
    }
    for (const auto& [id, place] : code.given) {
        const Value& value = code.graph.value(id);
        if (!value.is_known())
            throw InputError(fmt::format("{} has no values: a GPU computes with them", value.name));
        write(place, *value.data, own_[place.buffer]);
    }
    for (const auto& [place, tensor] : code.tables) write(place, tensor, own_[place.buffer]);
}

Session::~Session() {
    for (const auto& [file, handle] : modules_) device_.unload_module(handle);
    for (const DevicePointer pointer : own_)
        if (pointer != 0) device_.free(pointer);
    device_.free(between_);
}

DevicePointer Session::address(BufferId buffer) const {
    return own_[buffer] != 0 ? own_[buffer] : between_ + code_.buffers[buffer].address;
}

ModuleHandle Session::module(std::string_view file) {
    if (const auto found = modules_.find(file); found != modules_.end()) return found->second;
    const std::span<const std::uint8_t> image = cuda::kernel_image(file, code_.target.arch);
    if (image.empty())
        throw InputError(
            fmt::format("machine '{}' has compute capability {}.{}, which kernels of "
                        "networks are not compiled for (7.5, 8.x and 9.0)",
                        code_.target.name, code_.target.arch / 10, code_.target.arch % 10));
    const ModuleHandle handle =
        device_.load_module(cubin::parse(image, fmt::format("{}.cubin (built in)", file)));
    modules_.emplace(file, handle);
    return handle;
}

void Session::set_input(std::size_t index, const Tensor& tensor) {
    const Place& place = code_.inputs.at(index);
    if (tensor.shape != place.shape)
        throw InputError(fmt::format("input {} is {}, not {}",
                                     code_.graph.value(code_.graph.inputs[index]).name,
                                     to_string(place.shape), to_string(tensor.shape)));
    write(place, tensor, address(place.buffer));
}

Tensor Session::input(std::size_t index) const {
    const Place& place = code_.inputs.at(index);
    return read(place, address(place.buffer));
}

Tensor Session::output(std::size_t index) const {
    const Place& place = code_.outputs.at(index);
    return read(place, address(place.buffer));
}

Session::Prepared Session::prepared(const Launch& launch) {
    Prepared made;
    made.parameters = launch.parameters;
    for (const Relocation& pointer : launch.pointers) {
        const std::uint64_t value = address(pointer.buffer) + pointer.offset;
        // As far as is known: all of the buffer behind it.
        const std::uint64_t bytes = code_.buffers[pointer.buffer].bytes;
        made.ranges.push_back({value, bytes - std::min(bytes, pointer.offset)});
        std::memcpy(made.parameters.data() + pointer.at, &value, sizeof value);
    }
    LaunchRequest& request = made.request;
    request.module = module(launch.kernel.file);
    request.kernel = launch.kernel.kernel;
    const cubin::Function* const function = device_.find_kernel(request.module, request.kernel);
    LOCKSTEP_CHECK(function != nullptr, "no kernel {} in {}.cubin", launch.kernel.kernel,
                   launch.kernel.file);
    LOCKSTEP_CHECK(function->parameter_bytes == made.parameters.size(),
                   "{} takes {} bytes of parameters, {} given", launch.kernel.kernel,
                   function->parameter_bytes, made.parameters.size());
    request.grid = launch.grid;
    request.block = launch.block;
    request.dynamic_shared_bytes = launch.shared_bytes;
    return made;
}

void Session::run(const Observer& observer) {
    auto* const listener = dynamic_cast<LaunchRanges*>(&device_);
    if (listener != nullptr) listener->sample_on_parts();
    for (std::size_t i = 0; i < code_.launches.size(); ++i) {
        Prepared launch = prepared(code_.launches[i]);
        launch.request.parameters = launch.parameters;
        if (listener != nullptr) listener->next_launch_uses(std::move(launch.ranges));
        const LaunchResult result = device_.launch(launch.request);
        if (observer) observer(i, result);
    }
    throw_of_fault();
}

double Session::run(Submission submission, const Observer& observer) {
    constexpr double kPicosecond = 1e-12;
    Timeline* const line = device_.timeline();
    LOCKSTEP_CHECK(line != nullptr, "an emulated device has no time line");
    const auto dependences = dependences_of(code_);
    const bool by_graph = submission == Submission::kGraph;
    std::vector<LaunchResult> results(code_.launches.size());
    std::vector<WorkId> works;
    const SimulatedTime begin = line->now();
    if (by_graph) line->spend(HostAction::kGraphLaunch);
    const StreamId stream = submission == Submission::kStream ? line->open_stream({}) : kNoStream;
    for (std::size_t i = 0; i < code_.launches.size(); ++i) {
        Prepared launch = prepared(code_.launches[i]);
        KernelWork kernel;
        kernel.request = launch.request;
        kernel.parameters = std::move(launch.parameters);
        kernel.ended = [&results, i](const LaunchResult& result) { results[i] = result; };
        std::vector<WorkId> after;
        if (submission != Submission::kStream)
            for (const std::size_t earlier : dependences[i]) after.push_back(works[earlier]);
        works.push_back(line->submit(
            stream, std::move(kernel), after,
            by_graph ? lockstep::Submission::kByGraph : lockstep::Submission::kByItself));
    }
    while (!line->is_idle(kNoStream))
        LOCKSTEP_CHECK(line->step(), "launches of a network wait: {}", line->explain_wait());
    line->resume_host();
    for (std::size_t i = 0; i < results.size(); ++i)
        if (observer) observer(i, results[i]);
    throw_of_fault();
    return static_cast<double>(line->now() - begin) * kPicosecond;
}

void Session::throw_of_fault() {
    std::int32_t& fault = *data_at<std::int32_t>(own_[code_.faults]);
    if (fault == 0) return;
    const Node& node = code_.graph.nodes.at(static_cast<std::size_t>(fault - 1));
    fault = 0;
    throw InputError(
        fmt::format("node {} ({}): an index is out of range", node.name, name_of(node.op)));
}

}  // namespace lockstep::network::gpu
