// SPDX-License-Identifier: Apache-2.0
// A CUDA executable: this process becomes the program, with our CUDA runtime library in front of
// the real one. What the run was asked for travels in environment variables.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "sim/cli/run_request.h"
#include "sim/config/machine.h"

namespace lockstep::cli {

namespace {

/// Folder of the runtime libraries: lib/cudart beside the folder of this program.
std::filesystem::path runtime_folder() {
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    return program.parent_path().parent_path() / "lib" / "cudart";
}

}  // namespace

int run_executable(const RunRequest& request, std::span<const std::uint8_t> bytes) {
    // Errors in machine and overrides are found before the program starts.
    cuda::device_options(request.options);
    cuda::load_machine(request.options);
    for (const auto& [name, value] : request.options.to_environment())
        setenv(name.c_str(), value.c_str(), 1);
    std::string path = runtime_folder();
    if (!std::filesystem::is_directory(path))
        throw InternalError(fmt::format("{}: the CUDA runtime library is not there", path));
    // LD_LIBRARY_PATH gives way to an RPATH in the executable; LD_PRELOAD does not.
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (const char* version : {"libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"}) {
        if (text.find(std::string(version) + '\0') != std::string_view::npos) {
            const char* before = std::getenv("LD_PRELOAD");
            // Spaces and colons end an entry of LD_PRELOAD: a name alone is looked up as usual.
            const bool has_separator = path.find_first_of(" :") != std::string::npos;
            const std::string preload = (has_separator ? version : path + "/" + version) +
                                        (before != nullptr ? std::string(":") + before : "");
            setenv("LD_PRELOAD", preload.c_str(), 1);
            break;
        }
    }
    const char* before = std::getenv("LD_LIBRARY_PATH");
    if (before != nullptr && *before != '\0') path += std::string(":") + before;
    setenv("LD_LIBRARY_PATH", path.c_str(), 1);

    std::vector<char*> arguments;
    std::string name = request.what;  // a program sees its name as it was typed
    arguments.push_back(name.data());
    for (const std::string& argument : request.arguments)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const std::string program = std::filesystem::absolute(request.what);
    execv(program.c_str(), arguments.data());
    throw InputError(fmt::format("{}: cannot be run: {}", request.what, std::strerror(errno)));
}

}  // namespace lockstep::cli
