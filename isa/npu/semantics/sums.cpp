// SPDX-License-Identifier: Apache-2.0
#include "isa/npu/semantics/sums.h"

#include "sim/error/error.h"

namespace lockstep::npu {

using enum Field;

Sums::Sums(const Instruction& i, State& state)
    : i_(i),
      kept_(state.kept[i[kCore]]),
      output_(i, state),
      width_(result_of(i).width),
      channels_(result_of(i).channels) {
    const std::uint64_t pixels = result_of(i).height * width_;
    if (i.flag(kAccumulate) && (kept_.pixels != pixels || kept_.channels != channels_))
        throw ProgramFault(
            fmt::format("goes on with sums of {} pixels of {} channels, but core {} keeps {} of {}",
                        pixels, channels_, i[kCore], kept_.pixels, kept_.channels));
    if (!i.flag(kKeep)) return;
    kept_.pixels = pixels;
    kept_.channels = channels_;
    kept_.values.resize(pixels * channels_);
}

void Sums::begin(std::uint64_t pixel, std::int32_t* sums) const {
    const std::int32_t* from =
        i_.flag(kAccumulate) ? kept_.values.data() + pixel * channels_ : output_.biases().data();
    for (std::uint64_t c = 0; c < channels_; ++c)
        sums[c] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[c]) +
                                            static_cast<std::uint32_t>(from[c]));
}

void Sums::put(std::uint64_t pixel, std::int32_t* sums) {
    if (i_.flag(kKeep))
        std::copy_n(sums, channels_, kept_.values.data() + pixel * channels_);
    else
        output_.put_sums(pixel / width_, pixel % width_, {sums, channels_});
}

void Sums::finish() {
    if (i_.flag(kKeep)) return;
    output_.finish();
    kept_.pixels = 0;
}

}  // namespace lockstep::npu
