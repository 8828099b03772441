// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "workloads/network/gpu/lowering.h"

namespace lockstep::network::gpu {

namespace {

bool touches(const Launch& launch, BufferId buffer) {
    return std::ranges::count(launch.pointers, buffer, &Relocation::buffer) != 0;
}

/// Whether a map kernel reads each element of `input` only to write the one in its place.
template <class Map>
bool stays_in_place(const Launch& launch, BufferId input) {
    Map p;
    if (launch.parameters.size() != sizeof p) return false;
    std::memcpy(static_cast<void*>(&p), launch.parameters.data(), sizeof p);
    for (int i = 0; i < p.operands; ++i) {
        const auto at = static_cast<std::uint32_t>(reinterpret_cast<const char*>(&p.in[i].data) -
                                                   reinterpret_cast<const char*>(&p));
        const auto pointer = std::ranges::find(launch.pointers, at, &Relocation::at);
        if (pointer == launch.pointers.end() || pointer->buffer != input) continue;
        if (pointer->offset != 0 || p.in[i].type != p.out.type ||
            !std::ranges::equal(p.in[i].stride, p.out.stride))
            return false;
    }
    return true;
}

/// Whether `output` can be the same memory as `input`: who reads the old value comes before the
/// launch that writes the new one, or is it.
bool can_share(const Executable& code, BufferId output, BufferId input) {
    const auto writer = std::ranges::find_if(
        code.launches, [&](const Launch& launch) { return touches(launch, output); });
    if (writer == code.launches.end()) return false;
    if (std::any_of(writer + 1, code.launches.end(),
                    [&](const Launch& launch) { return touches(launch, input); }))
        return false;
    if (!touches(*writer, input)) return true;
    return writer->kernel.file == "map" && (stays_in_place<kernels::Map>(*writer, input) ||
                                            stays_in_place<kernels::IntegerMap>(*writer, input));
}

}  // namespace

void place_updates(Lowering& l) {
    Executable& code = l.code();
    for (const Update& update : code.options.updates) {
        Place& output = code.outputs[update.output];
        const Place& input = code.inputs[update.input];
        if (!can_share(code, output.buffer, input.buffer)) {
            l.set_layer(code.graph.value(code.graph.inputs[update.input]).name);
            l.copy(output, input);
            continue;
        }
        for (Launch& launch : code.launches)
            for (Relocation& pointer : launch.pointers)
                if (pointer.buffer == output.buffer) pointer.buffer = input.buffer;
        code.buffers[output.buffer].bytes = 0;
        output.buffer = input.buffer;
    }
}

}  // namespace lockstep::network::gpu
