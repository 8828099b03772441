// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "isa/cubin/executable.h"
#include "sim/config/nearest.h"
#include "sim/error/error.h"
#include "workloads/run/built_in.h"
#include "workloads/run/npu/program.h"
#include "workloads/run/tpu/program.h"

namespace lockstep::run {

namespace {

bool is_cuda_source(std::string_view file) {
    return file.ends_with(".cu") || file.ends_with(".cpp") || file.ends_with(".cc");
}

/// The file that X names, or "" where X is the name of something built in. What stands behind the
/// name of an .onnx are the extents of its symbolic dimensions, of an .mlir the number of weights.
std::string file_of(const std::string& what) {
    for (const char* ending : {".onnx", ".mlir"})
        if (const std::size_t at = what.find(ending); at != std::string::npos)
            return what.substr(0, what.find(':', at));
    const bool is_file = what.find('/') != std::string::npos || what.ends_with(".cubin") ||
                         what.ends_with(".tpu") || what.ends_with(".tflite") ||
                         what.ends_with(".npu") || is_cuda_source(what) ||
                         std::filesystem::is_regular_file(what);
    return is_file ? what : "";
}

/// The file beside `file` whose name is most like it, or "".
std::string nearest_file(const std::filesystem::path& file) {
    std::vector<std::string> names;
    std::error_code error;
    const std::filesystem::path folder = file.parent_path();
    for (const auto& entry :
         std::filesystem::directory_iterator(folder.empty() ? "." : folder, error))
        if (entry.is_regular_file(error)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    const std::string near = config::nearest(file.filename().string(), names);
    return near.empty() ? "" : (folder / near).string();
}

/// "; did you mean X?" where there is such a file or something built in.
std::string did_you_mean(const std::string& what) {
    const std::string name = std::filesystem::path(what.substr(0, what.find(':'))).filename();
    std::string near = nearest_built_in(name);
    if (const std::string file = nearest_file(what); !file.empty() && near != name) near = file;
    return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

SubjectKind kind_of_file(const std::string& file, const std::vector<std::uint8_t>& bytes) {
    if (is_tpu_program(file, bytes)) return SubjectKind::kTpuProgram;
    if (is_npu_program(file, bytes)) return SubjectKind::kNpuProgram;
    switch (cubin::identify(bytes)) {
        case cubin::FileKind::kExecutable:
            return SubjectKind::kExecutable;
        case cubin::FileKind::kCubin:
        case cubin::FileKind::kFatbin:
            return SubjectKind::kCubin;
        case cubin::FileKind::kPtx:
            throw InputError(fmt::format(
                "{}: PTX; assemble it first (ptxas -arch=sm_90 -o x.cubin {})", file, file));
        default:
            throw InputError(
                is_cuda_source(file)
                    ? fmt::format("{}: CUDA source; compile it first (nvcc -arch=sm_90 -o {} {}), "
                                  "then run what was compiled",
                                  file, std::filesystem::path(file).stem().string(), file)
                    : fmt::format("{}: neither a CUDA executable nor a cubin or fatbin (nor a "
                                  ".onnx, .tflite, .mlir, .tpu or .npu by its name)",
                                  file));
    }
}

std::vector<SubjectKind> kinds_of_name(const std::string& what) {
    const std::string_view name = std::string_view(what).substr(0, what.find(':'));
    std::vector<SubjectKind> kinds;
    if (is_gpu_workload(name) && !needs_network(what)) kinds.push_back(SubjectKind::kKernel);
    if (is_network(name)) kinds.push_back(SubjectKind::kNetwork);
    if (!kinds.empty()) return kinds;
    const std::string near = did_you_mean(what);
    throw InputError(fmt::format("'{}' is neither a file nor a built-in workload{}", what,
                                 near.empty() ? " (lockstep workloads lists them)" : near));
}

}  // namespace

std::string_view phrase_of(SubjectKind kind) {
    switch (kind) {
        case SubjectKind::kExecutable:
            return "an executable";
        case SubjectKind::kCubin:
            return "a cubin";
        case SubjectKind::kKernel:
            return "a built-in kernel";
        case SubjectKind::kNetwork:
            return "a network";
        case SubjectKind::kTpuProgram:
            return "a TPU program";
        case SubjectKind::kNpuProgram:
            return "an NPU program";
    }
    throw InternalError("a kind of subject without a name");
}

bool Subject::is(SubjectKind kind) const {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

Subject identify(const std::string& what) {
    const std::string file = file_of(what);
    if (file.empty()) return {.kinds = kinds_of_name(what)};
    if (!std::filesystem::exists(file))
        throw InputError(fmt::format("{}: no such file{}", file, did_you_mean(file)));
    if (!std::filesystem::is_regular_file(file))
        throw InputError(fmt::format("{}: not a file", file));
    if (file.ends_with(".onnx") || file.ends_with(".tflite") || file.ends_with(".mlir"))
        return {.kinds = {SubjectKind::kNetwork}, .file = file};
    std::vector<std::uint8_t> bytes = read_file(file);
    const SubjectKind kind = kind_of_file(file, bytes);
    return {.kinds = {kind}, .file = file, .bytes = std::move(bytes)};
}

std::vector<std::uint8_t> read_file(const std::string& path) {
    if (std::filesystem::is_directory(path))
        throw InputError(fmt::format("{}: is a folder, not a file", path));
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(fmt::format("{}: cannot be read", path));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace lockstep::run
