// SPDX-License-Identifier: Apache-2.0
// Any bytes at all are read as a machine file; the lines that follow its end ("...") are overrides,
// as --set has them. Only InputError may come out, and what is accepted has all its parameters.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sim/config/machine.h"
#include "sim/error/error.h"

using namespace lockstep;

namespace {

/// A machine file of this process.
class File {
  public:
    explicit File(std::string_view text) { std::ofstream(path(), std::ios::binary) << text; }
    static const std::string& path() {
        static const std::string path =
            std::filesystem::temp_directory_path() / ("fuzz_" + std::to_string(getpid()) + ".yaml");
        return path;
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    constexpr std::string_view kEnd = "\n...\n";
    std::vector<std::string> overrides;
    const std::size_t end = std::min(text.find(kEnd), text.size());
    for (std::string_view rest = text.substr(std::min(end + kEnd.size(), text.size()));
         !rest.empty();) {
        const std::size_t line = std::min(rest.find('\n'), rest.size());
        overrides.emplace_back(rest.substr(0, line));
        rest.remove_prefix(std::min(line + 1, rest.size()));
    }
    const File file(text.substr(0, end));
    try {
        config::Machine::load(file.path(), overrides)->parameters();
    } catch (const InputError&) {
    }
    return 0;
}
