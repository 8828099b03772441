// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "isa/cubin/demangle.h"
#include "sim/config/value.h"
#include "workloads/api/impl.h"
#include "workloads/run/gpu/module_image.h"
#include "workloads/run/subject.h"

namespace lockstep::api {

namespace {

bool chip_is_simulated = false;

/// Throws where the bytes do not all belong to one allocation.
void check_range(const lockstep::Device& device, Address begin, std::size_t bytes) {
    const AllocationInfo found = device.find(begin);
    const std::uint64_t end = found.begin + found.bytes;
    if (found.bytes != 0 && bytes <= end - begin) return;
    throw InputError(found.bytes == 0
                         ? fmt::format("{:#x}: no allocation is there", begin)
                         : fmt::format("{} bytes at {:#x} go beyond the allocation of {} bytes at "
                                       "{:#x}",
                                       bytes, begin, found.bytes, found.begin));
}

/// Arguments where the kernel's parameters lie.
std::vector<std::byte> packed(const cubin::Function& kernel,
                              const std::vector<Argument>& arguments) {
    const std::string name = cubin::demangled(kernel.name);
    if (arguments.size() != kernel.parameters.size())
        throw InputError(fmt::format("kernel {} has {} parameters, but {} arguments are given",
                                     name, kernel.parameters.size(), arguments.size()));
    std::vector<std::byte> area(kernel.parameter_bytes);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const cubin::Parameter& parameter = kernel.parameters[i];
        const std::span<const std::byte> bytes = arguments[i].bytes();
        if (bytes.size() != parameter.size)
            throw InputError(
                fmt::format("kernel {}: argument {} has {} bytes; the parameter has {}", name,
                            i + 1, bytes.size(), parameter.size));
        std::memcpy(area.data() + parameter.offset, bytes.data(), bytes.size());
    }
    return area;
}

InputError no_kernel(std::string_view name, const std::vector<std::string>& kernels) {
    return InputError(
        fmt::format("the module has no kernel {}{}", name, config::did_you_mean(name, kernels)));
}

}  // namespace

void ChipTurn::take() {
    if (chip_is_simulated)
        throw InputError("another chip is being simulated in this process: one at a time");
    chip_is_simulated = true;
}

void ChipTurn::give() {
    chip_is_simulated = false;
}

Metrics metrics_of(const stats::Metrics& metrics) {
    Metrics made;
    for (const auto& [name, value] : metrics) made[name] = value.as_double();
    return made;
}

struct Module::Impl {
    Impl(std::shared_ptr<run::ModuleImage> code, lockstep::Device& owner)
        : image(std::move(code)), device(owner), handle(owner.load_module(image->cubin())) {}
    const std::shared_ptr<run::ModuleImage> image;
    lockstep::Device& device;
    const ModuleHandle handle;
};

std::vector<std::string> Module::kernels() const {
    std::vector<std::string> names;
    for (const cubin::Function& function : impl_->image->cubin().functions)
        if (function.is_kernel) names.push_back(function.name);
    return names;
}

namespace {

/// One number of each of a kernel's parameters.
template <typename Number>
std::vector<std::uint32_t> of_parameters(const Module& module, lockstep::Device& device,
                                         ModuleHandle handle, std::string_view kernel,
                                         Number cubin::Parameter::*number) {
    return guarded([&] {
        const cubin::Function* function = device.find_kernel(handle, kernel);
        if (function == nullptr) throw no_kernel(kernel, module.kernels());
        std::vector<std::uint32_t> list;
        for (const cubin::Parameter& parameter : function->parameters)
            list.push_back(parameter.*number);
        return list;
    });
}

}  // namespace

std::vector<std::uint32_t> Module::parameter_bytes(std::string_view kernel) const {
    return of_parameters(*this, impl_->device, impl_->handle, kernel, &cubin::Parameter::size);
}

std::vector<std::uint32_t> Module::parameter_offsets(std::string_view kernel) const {
    return of_parameters(*this, impl_->device, impl_->handle, kernel, &cubin::Parameter::offset);
}

std::pair<Address, std::uint64_t> Module::variable(std::string_view name) const {
    return guarded([&] {
        const auto found = impl_->device.find_variable(impl_->handle, name);
        if (found.second == 0) throw InputError(fmt::format("the module has no variable {}", name));
        return std::pair<Address, std::uint64_t>(found);
    });
}

Device::Impl::~Impl() {
    device.reset();
    if (has_chip) ChipTurn::give();
}

Device::Device(const Machine& machine, const DeviceOptions& options) : impl_(new Impl) {
    guarded([&] {
        impl_->machine = machine.impl().machine;
        if (impl_->machine->kind() != "gpu")
            throw InputError(fmt::format("{} is a {}: devices are GPUs (run() runs on any machine)",
                                         machine.name(), machine.kind()));
        lockstep::DeviceOptions made;
        made.threads = options.threads;
        made.max_instructions = options.max_instructions;
        if (options.mode == Mode::kEmulate) {
            impl_->device = make_emulator(impl_->machine, made);
            return;
        }
        made.l2 = options.warm_l2 ? L2Start::kWarm : L2Start::kCold;
        made.samples = options.sample;
        made.trace.signals = options.signals;
        made.trace.first_sm = options.first_sm;
        made.trace.last_sm = options.last_sm;
        ChipTurn::take();
        impl_->has_chip = true;
        impl_->device = make_simulator(impl_->machine, made);
    });
}

Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

Address Device::allocate(std::uint64_t bytes) {
    return guarded([&] {
        const DevicePointer address = impl_->device->allocate(bytes);
        if (address == 0)
            throw InputError(fmt::format("{} bytes: {} has {} of {} bytes left", bytes,
                                         impl_->machine->name(), impl_->device->free_bytes(),
                                         impl_->device->total_bytes()));
        return address;
    });
}

void Device::free(Address address) {
    guarded([&] {
        if (!impl_->device->free(address))
            throw InputError(fmt::format("{:#x}: no allocation begins there", address));
    });
}

void Device::write(Address to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    guarded([&] {
        check_range(*impl_->device, to, bytes);
        std::memcpy(reinterpret_cast<void*>(to), from, bytes);
        impl_->device->note_transfer(to, bytes, Transfer::kWrite);
    });
}

void Device::read(void* to, Address from, std::size_t bytes) const {
    if (bytes == 0) return;
    guarded([&] {
        check_range(*impl_->device, from, bytes);
        std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
        impl_->device->note_transfer(from, bytes, Transfer::kRead);
    });
}

Module Device::load(const std::string& file) {
    return guarded([&] {
        const std::vector<std::uint8_t> bytes = run::read_file(file);
        return load(std::as_bytes(std::span(bytes)), file);
    });
}

Module Device::load(std::span<const std::byte> image, const std::string& name) {
    return guarded([&] {
        const auto* const first = reinterpret_cast<const std::uint8_t*>(image.data());
        auto code = std::make_shared<run::ModuleImage>(
            std::vector<std::uint8_t>(first, first + image.size()), name, *impl_->machine);
        Module module;
        module.impl_ = std::make_shared<const Module::Impl>(std::move(code), *impl_->device);
        return module;
    });
}

LaunchResult Device::launch(const Module& module, std::string_view kernel, const LaunchShape& shape,
                            const std::vector<Argument>& arguments) {
    return guarded([&] {
        const ModuleHandle handle = module.impl_->handle;
        const cubin::Function* function = &module.impl_->device == impl_->device.get()
                                              ? impl_->device->find_kernel(handle, kernel)
                                              : throw InputError("the module is another device's");
        if (function == nullptr) throw no_kernel(kernel, module.kernels());
        LaunchRequest request;
        request.module = handle;
        request.kernel = function->name;
        request.grid = dim3_of(shape.grid);
        request.block = dim3_of(shape.block);
        if (shape.cluster.x != 0)
            request.cluster = dim3_of(shape.cluster);
        else if (function->cluster[0] != 0)  // __cluster_dims__
            request.cluster = {function->cluster[0], function->cluster[1], function->cluster[2]};
        request.dynamic_shared_bytes = shape.dynamic_shared_bytes;
        const std::vector<std::byte> parameters = packed(*function, arguments);
        request.parameters = parameters;
        const lockstep::LaunchResult result = impl_->device->launch(request);
        return LaunchResult{result.warp_instructions, result.thread_instructions, result.cycles,
                            result.seconds, metrics_of(result.metrics)};
    });
}

}  // namespace lockstep::api
