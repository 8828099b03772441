// SPDX-License-Identifier: Apache-2.0
// Functions get numbers in the order in which modules name them. Arguments and results are in
// registers from R4 on, as compiled code passes them. Each device malloc is an allocation of its
// own, so that its bounds are checked like any other's; it counts against the heap's size, not the
// machine's memory.
#include "models/gpu/execution/system_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <vector>

#include "isa/sass/program.h"
#include "models/gpu/execution/device_printf.h"
#include "models/gpu/execution/generic_memory.h"

namespace lockstep::gpu {

namespace {

std::vector<std::string>& names() {
    static std::vector<std::string> list;
    return list;
}

constexpr unsigned kFirstArgument = 4;  ///< R4

/// A 64-bit argument, by the number of its first register counted from R4.
std::uint64_t argument64(sass::Warp& warp, unsigned index, unsigned lane) {
    return warp.register_row(kFirstArgument + index).lane[lane] |
           std::uint64_t{warp.register_row(kFirstArgument + index + 1).lane[lane]} << 32;
}

template <typename F>
void for_each_lane(std::uint32_t mask, F&& f) {
    for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

}  // namespace

std::uint64_t system_call_address(std::string_view name) {
    auto& list = names();
    auto it = std::find(list.begin(), list.end(), name);
    if (it == list.end()) it = list.insert(list.end(), std::string(name));
    return sass::Program::kSystemCallBase +
           static_cast<std::uint64_t>(it - list.begin()) * sass::Word::kBytes;
}

SystemCalls::SystemCalls(memory::DeviceMemory& memory)
    : memory_(memory),
      output_([](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }),
      error_output_(
          [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }) {}

void SystemCalls::print(sass::Warp& warp) {
    std::string text;
    for_each_lane(warp.mask, [&](unsigned lane) {
        const std::uint64_t format = argument64(warp, 0, lane);
        const std::uint64_t buffer = argument64(warp, 2, lane);
        std::int32_t used = -1;
        if (format != 0) {
            const PrintfArguments arguments{
                [&](std::uint64_t offset, unsigned bytes) {
                    std::uint64_t value = 0;
                    read_generic(warp, lane, buffer + offset, &value, bytes, "printf argument");
                    return value;
                },
                [&](std::uint64_t address) {
                    return read_string(warp, lane, address, "string that printf prints");
                }};
            used =
                format_printf(read_string(warp, lane, format, "format of printf"), arguments, text);
        }
        warp.register_row(kFirstArgument).lane[lane] = static_cast<std::uint32_t>(used);
    });
    output_(text);
}

void SystemCalls::allocate(sass::Warp& warp) {
    // What a block costs besides its bytes; the real allocator's overhead is not known.
    constexpr std::uint64_t kOverhead = 16;
    for_each_lane(warp.mask, [&](unsigned lane) {
        const std::uint64_t bytes = argument64(warp, 0, lane);
        std::uint64_t address = 0;
        const std::uint64_t left = heap_bytes_ > heap_used_ ? heap_bytes_ - heap_used_ : 0;
        if (bytes != 0 && bytes <= left && (bytes + 15) / 16 * 16 + kOverhead <= left) {
            const std::uint64_t charged = (bytes + 15) / 16 * 16 + kOverhead;
            address = memory_.allocate(bytes, memory::Kind::kManaged);
            if (address != 0) {
                heap_used_ += charged;
                heap_blocks_[address] = charged;
                allocated_(address, bytes);
            }
        }
        warp.register_row(kFirstArgument).lane[lane] = static_cast<std::uint32_t>(address);
        warp.register_row(kFirstArgument + 1).lane[lane] =
            static_cast<std::uint32_t>(address >> 32);
    });
}

void SystemCalls::release(sass::Warp& warp) {
    for_each_lane(warp.mask, [&](unsigned lane) {
        const std::uint64_t address = argument64(warp, 0, lane);
        if (address == 0) return;
        const auto block = heap_blocks_.find(address);
        if (block == heap_blocks_.end())
            throw sass::Fault{
                .kind = sass::FaultKind::kIllegalAddress,
                .what = fmt::format("free of {:#x}, which device malloc has not returned or which "
                                    "is free already",
                                    address),
                .lane = lane,
                .address = address};
        heap_used_ -= block->second;
        heap_blocks_.erase(block);
        memory_.free(address);
        ++frees_;  // CTAs may remember the extent of what is gone: the machine sees to that
    });
}

void SystemCalls::fail_assertion(sass::Warp& warp) {
    std::string text, first;
    for_each_lane(warp.mask, [&](unsigned lane) {
        const auto string = [&](unsigned index) {
            return read_string(warp, lane, argument64(warp, index, lane), "text of an assertion");
        };
        const sass::Dim3& block = warp.cta->index;
        const sass::Dim3 thread = warp.thread_index(lane);
        const std::string line =
            fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.",
                        string(2), warp.register_row(kFirstArgument + 4).lane[lane], string(6),
                        block.x, block.y, block.z, thread.x, thread.y, thread.z, string(0));
        if (first.empty()) first = line;
        text += line + "\n";
    });
    error_output_(text);
    throw sass::Fault{.kind = sass::FaultKind::kAssert,
                      .what = first,
                      .lane = static_cast<unsigned>(std::countr_zero(warp.mask))};
}

void SystemCalls::call(unsigned number, sass::Warp& warp) {
    const std::string name = number < names().size() ? names()[number] : "?";
    if (name == "vprintf") return print(warp);
    if (name == "malloc") return allocate(warp);
    if (name == "free") return release(warp);
    if (name == "__assertfail") return fail_assertion(warp);
    // The device runtime's functions to launch a kernel from a kernel.
    const bool launches = name.starts_with("__cuda_syscall_cnp") ||
                          name.starts_with("cudaLaunch") ||
                          name.starts_with("cudaGetParameterBuffer");
    throw sass::Fault{
        .kind = sass::FaultKind::kNotExecuted,
        .what = fmt::format("call of the device function {}, which is not provided{}", name,
                            launches ? ": kernels cannot launch kernels here" : ""),
        .lane = static_cast<unsigned>(std::countr_zero(warp.mask))};
}

}  // namespace lockstep::gpu
