// SPDX-License-Identifier: Apache-2.0
// A fatbin: the container in which nvcc embeds one program's cubins and PTX for several machines.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::cubin {

enum class ImageKind { kPtx, kElf, kOther };
enum class Compression { kNone, kLz4, kZstd };

/// One entry of a fatbin. The payload stays compressed until payload() is called.
struct Image {
    ImageKind kind = ImageKind::kOther;
    int arch = 0;              ///< 90 for sm_90, sm_90a, compute_90
    bool accelerated = false;  ///< for sm_90a and the like: exactly this machine
    bool family = false;       ///< for sm_100f and the like: same major version
    int version_major = 0;     ///< of a kPtx: PTX ISA version
    int version_minor = 0;
    uint64_t flags = 0;
    Compression compression = Compression::kNone;
    std::string name;                 ///< identifier the compiler gave, may be empty
    std::string options;              ///< ptxas options of a kPtx
    std::span<const uint8_t> stored;  ///< as in the file; the fatbin's bytes must outlive it
    uint64_t size = 0;                ///< bytes once decompressed
    uint64_t file_offset = 0;         ///< of stored
};

inline constexpr uint64_t kFatbinHeaderBytes = 16;

/// Length of the fatbin whose first 16 bytes these are: for a fatbin that lies in memory with
/// nothing else to say where it ends. Throws InputError.
uint64_t fatbin_bytes(std::span<const uint8_t, kFatbinHeaderBytes> header,
                      std::string_view file_name);

/// Reads one or more concatenated fatbins (zero padding between them is skipped).
/// Throws InputError with file, offset and reason. `base` is the blob's own offset in the file.
std::vector<Image> parse_fatbin(std::span<const uint8_t> bytes, std::string_view file_name,
                                uint64_t base = 0);

/// The image's contents, decompressed. PTX has no trailing zero bytes. Throws InputError.
std::vector<uint8_t> payload(const Image& image, std::string_view file_name);

/// The image the driver would take on a machine of `arch` (as 90), or nullptr: SASS of exactly this
/// arch (an accelerated image of it first), else of the same major version and the highest minor
/// below; else the highest PTX not above it. Accelerated images serve their own arch only.
const Image* choose_image(std::span<const Image> images, int arch);

/// Name and arch of a machine that a message may propose; made where it is needed.
using Targets = std::vector<std::pair<std::string, int>>;

/// The cubin to run on a machine of `arch`: the chosen image; PTX is compiled by compile_ptx().
/// Throws InputError that says which -arch and which of `machines` would do where there is none.
std::vector<uint8_t> cubin_for(std::span<const Image> images, int arch, std::string_view file_name,
                               const std::function<Targets()>& machines = nullptr);

}  // namespace lockstep::cubin
