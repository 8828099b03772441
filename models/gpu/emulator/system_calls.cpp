// SPDX-License-Identifier: Apache-2.0
// Functions get numbers in the order in which modules name them.
#include "models/gpu/emulator/system_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <vector>

#include "isa/sass/program.h"

namespace lockstep::gpu {

namespace {

std::vector<std::string>& names() {
    static std::vector<std::string> list;
    return list;
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
      output_([](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }) {}

void SystemCalls::call(unsigned number, sass::Warp& warp) {
    throw sass::Fault{.kind = sass::FaultKind::kIllegalInstruction,
                      .what = fmt::format("call of the device function {}, which is not provided",
                                          number < names().size() ? names()[number] : "?"),
                      .lane = static_cast<unsigned>(std::countr_zero(warp.mask))};
}

}  // namespace lockstep::gpu
