// SPDX-License-Identifier: Apache-2.0
// A fatbin: the container in which nvcc embeds one program's cubins and PTX for several machines.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cubin {

enum class ImageKind { kPtx, kElf };

/// One entry of a fatbin. The payload stays compressed until payload() is called.
struct Image {
    ImageKind kind;
    int arch;                  ///< 70 .. 121
    bool accelerated = false;  ///< compiled for sm_90a and the like
    bool family = false;       ///< compiled for sm_100f and the like
    bool relocatable = false;  ///< -rdc=true, not yet linked
    uint32_t version_major = 0, version_minor = 0;
    uint64_t flags = 0;
    std::string name;                 ///< identifier the compiler gave, may be empty
    std::string options;              ///< ptxas options of a PTX image
    std::span<const uint8_t> stored;  ///< as in the file; the fatbin's bytes must outlive it
    uint64_t size = 0;                ///< bytes once decompressed
    uint64_t file_offset = 0;         ///< of stored
};

/// Reads a blob of one or more concatenated fatbins (zero padding between them is skipped).
/// Throws InputError with file, offset and reason. `base` is the blob's own offset in the file.
std::vector<Image> parse_fatbin(std::span<const uint8_t> bytes, std::string_view file_name,
                                uint64_t base = 0);

/// The image's contents, decompressed (LZ4 block, zstd). PTX has no trailing zero byte.
std::vector<uint8_t> payload(const Image& image, std::string_view file_name);

/// The image the driver would take on a machine of `arch` (as 90), or nullptr: SASS of exactly this
/// arch (an accelerated image of it first), else of the same major version and the highest minor
/// below; else the highest PTX not above it.
const Image* choose_image(std::span<const Image> images, int arch);

/// The cubin to run on a machine of `arch`: the chosen image, PTX compiled by the ptxas found in
/// CUDA_PATH/bin, CUDA_HOME/bin, PATH or /usr/local/cuda/bin. Throws InputError that says which
/// machine (`--on`) or which `-arch` would do where there is none.
std::vector<uint8_t> cubin_for(std::span<const Image> images, int arch, std::string_view file_name);

/// Compiles PTX with the installed ptxas. Throws InputError where there is none or it fails.
std::vector<uint8_t> compile_ptx(std::span<const uint8_t> ptx, int arch, std::string_view options,
                                 std::string_view file_name);

}  // namespace lockstep::cubin
