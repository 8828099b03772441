// SPDX-License-Identifier: Apache-2.0
// Any bytes at all are read as fatbins; every image is decompressed, and chosen for each machine.
// Only InputError may come out.
#include "isa/cubin/fatbin.h"
#include "sim/error/error.h"

using namespace lockstep;
using namespace lockstep::cubin;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    try {
        const std::vector<Image> images = parse_fatbin({data, size}, "x");
        for (int arch : {70, 75, 80, 86, 89, 90}) choose_image(images, arch);
        for (const Image& image : images) {
            try {
                payload(image, "x");
            } catch (const InputError&) {
            }
        }
    } catch (const InputError&) {
    }
    return 0;
}
