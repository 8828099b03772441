// SPDX-License-Identifier: Apache-2.0
// What a core's memory sustains on the streams of its DMA. Includes SystemC.
#pragma once

#include "models/memory/stream/stream_memory.h"
#include "models/tpu/parameters.h"

namespace lockstep::tpu {

memory::StreamParameters memory_stream(const MemoryParameters& parameters,
                                       const DmaParameters& dma);

}  // namespace lockstep::tpu
