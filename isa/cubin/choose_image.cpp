// SPDX-License-Identifier: Apache-2.0
// Which image of a fatbin runs on a machine. SASS runs on its own machine and on later minor
// versions of the same major one; PTX on everything newer, through a compiler. Images for
// architecture-accelerated targets (sm_90a) run on their own machine only, those for families
// (sm_100f) on the later minor versions. Source: CUDA C++ Programming Guide, "Compute Capabilities"
// and "Application Compatibility".
#include <tuple>

#include "isa/cubin/fatbin.h"
#include "isa/cubin/ptxas.h"
#include "sim/error/error.h"

namespace lockstep::cubin {

namespace {

bool runs_on(const Image& image, int arch) {
    if (image.kind == ImageKind::kOther || image.arch > arch) return false;
    if (image.accelerated) return image.arch == arch;
    if (image.kind == ImageKind::kPtx && !image.family) return true;
    return image.arch / 10 == arch / 10;
}

// What the driver prefers comes last: SASS, then closeness, then the more special target.
auto preference(const Image& image) {
    return std::tuple(image.kind == ImageKind::kElf, image.arch, image.accelerated, image.family);
}

std::string target_name(const Image& image) {
    return fmt::format("{}_{}{}", image.kind == ImageKind::kPtx ? "compute" : "sm", image.arch,
                       image.accelerated ? "a"
                       : image.family    ? "f"
                                         : "");
}

/// What to say of the machines that have code here.
std::string proposal(std::span<const Image> images, const Targets& machines) {
    std::string names;
    for (const auto& [name, arch] : machines)
        if (choose_image(images, arch) != nullptr) names += (names.empty() ? "" : " or ") + name;
    return names.empty() ? "" : ", or choose a machine that it has code for: --on " + names;
}

}  // namespace

const Image* choose_image(std::span<const Image> images, int arch) {
    const Image* best = nullptr;
    for (const Image& image : images)
        if (runs_on(image, arch) && (best == nullptr || preference(image) > preference(*best)))
            best = &image;
    return best;
}

std::vector<uint8_t> cubin_for(std::span<const Image> images, int arch, std::string_view file_name,
                               const std::function<Targets()>& machines) {
    const Image* image = choose_image(images, arch);
    if (image == nullptr) {
        std::string held;
        for (const Image& other : images)
            if (other.kind != ImageKind::kOther)
                held += (held.empty() ? "" : ", ") + target_name(other);
        throw InputError(
            fmt::format("{}: no code for sm_{} (it has {}); compile with -arch=sm_{}{}", file_name,
                        arch, held.empty() ? "none at all" : held, arch,
                        proposal(images, machines ? machines() : Targets{})));
    }
    std::vector<uint8_t> bytes = payload(*image, file_name);
    if (image->kind == ImageKind::kElf) return bytes;
    const char* suffix = image->accelerated ? "a" : image->family ? "f" : "";
    return compile_ptx(bytes, fmt::format("sm_{}{}", arch, suffix), image->options, file_name);
}

}  // namespace lockstep::cubin
