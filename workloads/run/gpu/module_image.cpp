// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/gpu/module_image.h"

#include "isa/cubin/executable.h"
#include "isa/cubin/fatbin.h"
#include "sim/error/error.h"

namespace lockstep::run {

ModuleImage::ModuleImage(std::vector<std::uint8_t> bytes, const std::string& name,
                         const config::Machine& machine)
    : image_(std::move(bytes)) {
    const auto arch = static_cast<int>(machine.integer("arch"));
    if (cubin::identify(image_) == cubin::FileKind::kFatbin)
        image_ =
            cubin::cubin_for(cubin::parse_fatbin(image_, name), arch, name, config::Machine::gpus);
    cubin_ = cubin::parse(image_, name);
    if (cubin_.arch / 10 != arch / 10 || cubin_.arch > arch ||
        (cubin_.accelerated && cubin_.arch != arch))
        throw InputError(fmt::format("{} is code for sm_{}, which {} (sm_{}) does not run", name,
                                     cubin_.arch, machine.name(), arch));
}

}  // namespace lockstep::run
