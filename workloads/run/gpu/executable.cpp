// SPDX-License-Identifier: Apache-2.0
// A CUDA executable: this process becomes the program, with our CUDA runtime library in front of
// the real one. What the run was asked for travels in environment variables.
#include "isa/cubin/executable.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "workloads/cuda_api/loader/static_runtime.h"
#include "workloads/cuda_api/state/make_device.h"
#include "workloads/run/gpu/device.h"
#include "workloads/run/gpu/gpu.h"

namespace lockstep::run {

namespace {

/// Folder of the runtime libraries: cudart beside liblockstep.so where this code is part of it,
/// else lib/cudart beside the folder of this program.
std::filesystem::path runtime_folder() {
    Dl_info here;
    if (dladdr(reinterpret_cast<const void*>(&runtime_folder), &here) != 0 &&
        std::string_view(here.dli_fname).find(".so") != std::string_view::npos)
        return std::filesystem::canonical(here.dli_fname).parent_path() / "cudart";
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    return program.parent_path().parent_path() / "lib" / "cudart";
}

/// Puts entries before those of a list in the environment.
void put_first(const char* variable, const std::string& entries) {
    const char* const before = std::getenv(variable);
    const bool alone = before == nullptr || *before == '\0';
    setenv(variable, (alone ? entries : entries + ":" + before).c_str(), 1);
}

/// The dynamic linker finds our libraries for the names of NVIDIA's, asks our loader about all that
/// it loads, and has the runtime libraries at hand for what carries a static one.
void put_our_libraries_first(std::span<const std::uint8_t> bytes, const std::string& program) {
    cuda::check_replaceable(bytes, program);
    const std::string folder = runtime_folder();
    if (!std::filesystem::is_directory(folder))
        throw InternalError(fmt::format("{}: the CUDA runtime library is not there", folder));
    // Spaces and colons end an entry of LD_PRELOAD: a name alone is looked up as usual.
    const bool has_separator = folder.find_first_of(" :") != std::string::npos;
    const std::string prefix = has_separator ? "" : folder + "/";
    put_first("LD_LIBRARY_PATH", folder);
    put_first("LD_AUDIT", prefix + "liblockstep_loader.so");
    std::string preload;
    for (const char* library : {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"})
        preload += (preload.empty() ? "" : ":") + prefix + library;
    put_first("LD_PRELOAD", preload);
    if (cuda::examine(bytes, program).linkage == cuda::Linkage::kNone)
        setenv("LOCKSTEP_PRELOADED", "1", 1);
}

}  // namespace

Outcome run_executable(const Job& job, const Subject& subject, const MachinePtr&, Screen&) {
    cubin::check_runnable(subject.bytes, job.what);
    const cuda::RunOptions options = cuda_options(job);
    cuda::device_options(options);  // errors are found before the program starts
    for (const auto& [name, value] : options.to_environment())
        setenv(name.c_str(), value.c_str(), 1);
    put_our_libraries_first(subject.bytes, job.what);

    std::vector<char*> arguments;
    std::string name = job.what;  // a program sees its name as it was typed
    arguments.push_back(name.data());
    for (const std::string& argument : job.arguments)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const std::string program = std::filesystem::absolute(job.what);
    execv(program.c_str(), arguments.data());
    throw InputError(fmt::format("{}: cannot be run: {}", job.what, std::strerror(errno)));
}

}  // namespace lockstep::run
