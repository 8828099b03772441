// SPDX-License-Identifier: Apache-2.0
// The dynamic linker calls these functions (rtld-audit(7)) for everything that it loads, before any
// constructor runs, also at dlopen: the place to hand out our libraries under the names of
// NVIDIA's, to send a static CUDA runtime's functions to ours, and to refuse what cannot work
// before anything else fails. This library has a namespace and a C library of its own, apart from
// the program's.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "sim/error/error.h"
#include "workloads/cuda_api/loader/redirect.h"
#include "workloads/cuda_api/loader/static_runtime.h"
#include "workloads/cuda_api/loader/vendor_library.h"

#define LOCKSTEP_AUDIT extern "C" __attribute__((visibility("default")))

namespace lockstep::cuda {
namespace {

struct Object {
    std::string path;
    std::uintptr_t base = 0;
};

/// A library of ours, by the names that programs know it by.
struct Library {
    std::string_view name, alias;
    int runtime;  ///< version of CUDA; 0: not a runtime library
    Object object{};
};

std::array<Library, 4> libraries = {{{"libcudart.so.13", "libcudart.so", 13},
                                     {"libcudart.so.12", "", 12},
                                     {"libcudart.so.11.0", "", 11},
                                     {"libcuda.so.1", "libcuda.so", 0}}};
Object core;                  ///< liblockstep_cuda.so
std::vector<Object> arrived;  ///< loaded, their functions not looked at yet
bool running = false;         ///< the program has begun

std::string_view name_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == path.npos ? path : path.substr(slash + 1);
}

const std::string& folder() {
    static const std::string path = [] {
        Dl_info info{};
        dladdr(reinterpret_cast<const void*>(&folder), &info);
        const std::string file = info.dli_fname ? info.dli_fname : "";
        return file.substr(0, file.rfind('/') + 1);
    }();
    return path;
}

/// A file's bytes as long as this lives.
class Mapped {
  public:
    explicit Mapped(const std::string& path) {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) return;
        struct stat status {};
        if (fstat(file, &status) == 0 && status.st_size > 0) {
            bytes_ = static_cast<std::size_t>(status.st_size);
            data_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
            if (data_ == MAP_FAILED) data_ = nullptr;
        }
        close(file);
    }
    ~Mapped() {
        if (data_) munmap(data_, bytes_);
    }
    Mapped(const Mapped&) = delete;
    Mapped& operator=(const Mapped&) = delete;

    std::span<const std::uint8_t> bytes() const {
        if (!data_) return {};
        return {static_cast<const std::uint8_t*>(data_), bytes_};
    }

  private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

std::uintptr_t find(std::span<const EntryPoint> exports, const Object& object,
                    std::string_view name) {
    const auto entry = std::lower_bound(
        exports.begin(), exports.end(), name,
        [](const EntryPoint& e, std::string_view wanted) { return e.name < wanted; });
    return entry != exports.end() && entry->name == name ? object.base + entry->address : 0;
}

/// Ends the process: 2 before the program begins, 3 where it has done so by its own fault. What it
/// printed lies in its own C library, so the last step is taken there.
[[noreturn]] void refuse(const std::string& message) {
    const auto status = running ? ExitStatus::kProgramFault : ExitStatus::kInputError;
    if (running && core.base != 0) {
        const Mapped file(core.path);
        const auto exports = exported_functions(file.bytes(), core.path);
        if (const std::uintptr_t end = find(exports, core, "lockstep_end_process"))
            reinterpret_cast<void (*)(int, const char*)>(end)(static_cast<int>(status),
                                                              message.c_str());
    }
    const std::string line = "lockstep: " + message + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    _exit(static_cast<int>(status));
}

void send_to_ours(const Object& object, const RuntimeLinkage& linkage) {
    const auto library = std::find_if(libraries.begin(), libraries.end(), [&](const Library& l) {
        return l.runtime == linkage.version;
    });
    if (library == libraries.end() || library->object.base == 0)
        refuse(
            fmt::format("{}: it has its own copy of the runtime of CUDA {}, and ours is not "
                        "loaded; start the program with `lockstep run`",
                        object.path, linkage.version));
    const Mapped file(library->object.path);
    const auto exports = exported_functions(file.bytes(), library->object.path);
    std::vector<Redirection> redirections;
    for (const EntryPoint& entry : linkage.entries) {
        const std::uintptr_t to = find(exports, library->object, entry.name);
        if (to == 0 || entry.room < kJumpBytes)
            refuse(
                fmt::format("{}: its copy of {} cannot be replaced ({}); link it with `nvcc "
                            "-cudart shared`",
                            object.path, entry.name,
                            to == 0 ? fmt::format("CUDA {} has none", linkage.version)
                                    : fmt::format("{} bytes are too few", entry.room)));
        redirections.push_back({object.base + entry.address, to});
    }
    if (!redirect(redirections))
        refuse(fmt::format("{}: its code cannot be changed; link it with `nvcc -cudart shared`",
                           object.path));
}

/// A program or library that has just been loaded: its constructors have not run.
void look_at(const Object& object) {
    const Mapped file(object.path);
    if (file.bytes().empty()) return;  // the kernel's own object has no file
    try {
        const RuntimeLinkage linkage = examine(file.bytes(), object.path);
        if (linkage.linkage == Linkage::kStatic) send_to_ours(object, linkage);
        if (linkage.linkage == Linkage::kStripped && !works_partly(object.path))
            check_replaceable(file.bytes(), object.path);
    } catch (const InputError& error) {
        refuse(error.what());
    }
}

/// The library of ours that stands for a file's name, or nullptr.
const Library* ours_for(std::string_view name) {
    for (const Library& library : libraries)
        if (name == library.name || (!library.alias.empty() && name == library.alias))
            return &library;
    return nullptr;
}

std::string program_path() {
    char path[4096];
    const ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path));
    return bytes > 0 ? std::string(path, static_cast<std::size_t>(bytes)) : "the program";
}

}  // namespace

LOCKSTEP_AUDIT unsigned la_version(unsigned) {
    return LAV_CURRENT;
}

LOCKSTEP_AUDIT char* la_objsearch(const char* path, std::uintptr_t*, unsigned flag) {
    if (flag != LA_SER_ORIG) return const_cast<char*>(path);
    const std::string_view name = name_of(path);
    if (!vendor_library(name).empty()) refuse(vendor_library_message(name, program_path()));
    const Library* const library = ours_for(name);
    if (!library) return const_cast<char*>(path);
    static std::array<std::string, libraries.size()> paths;
    std::string& ours = paths[static_cast<std::size_t>(library - libraries.data())];
    ours = folder() + std::string(library->name);
    return access(ours.c_str(), R_OK) == 0 ? ours.data() : const_cast<char*>(path);
}

LOCKSTEP_AUDIT unsigned la_objopen(link_map* map, Lmid_t, std::uintptr_t*) {
    const std::string path = *map->l_name ? map->l_name : program_path();
    const std::string_view name = name_of(path);
    if (name == "liblockstep_cuda.so") {
        core = {path, map->l_addr};
    } else if (const Library* library = ours_for(name)) {
        libraries[static_cast<std::size_t>(library - libraries.data())].object = {path,
                                                                                  map->l_addr};
    } else {
        arrived.push_back({path, map->l_addr});
    }
    return 0;  // bindings are not watched
}

LOCKSTEP_AUDIT void la_activity(std::uintptr_t*, unsigned flag) {
    if (flag != LA_ACT_CONSISTENT) return;
    const std::vector<Object> objects = std::move(arrived);
    arrived.clear();
    for (const Object& object : objects) look_at(object);
}

LOCKSTEP_AUDIT void la_preinit(std::uintptr_t*) {
    running = true;
}

}  // namespace lockstep::cuda
