// SPDX-License-Identifier: Apache-2.0
// To resume, a few pages out of the image's way hold a stack from which everything else is
// replaced, by bare system calls: the C library's own state is replaced, too.
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "sim/error/error.h"
#include "sim/process/image.h"
#include "sim/process/image_file.h"
#include "sim/process/mapping_table.h"

namespace lockstep::process {

void fix_addresses() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    throw InputError("--checkpoint, --resume: not in a build with sanitizers");
#endif
    const int now = personality(0xffffffff);
    if (now >= 0 && (now & ADDR_NO_RANDOMIZE) != 0) return;
    if (now < 0 || personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) < 0)
        throw InputError(
            "--checkpoint, --resume: this system does not let programs have fixed addresses "
            "(personality(2), in containers often forbidden)");
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    std::string words = text.str();
    std::vector<char*> arguments;
    for (std::size_t at = 0; at < words.size(); at += std::strlen(&words[at]) + 1)
        arguments.push_back(&words[at]);
    arguments.push_back(nullptr);
    execv("/proc/self/exe", arguments.data());
    throw InputError(fmt::format("--checkpoint: cannot start anew: {}", std::strerror(errno)));
}

namespace {

/// What the last steps need, on pages of their own.
struct Plan {
    std::uint64_t removals, mappings, chunks;
    const Mapping* removed;
    const Mapping* made;
    const Chunk* contents;
    std::uint64_t data_offset, heap_begin, heap_end;
    volatile std::uint64_t* resumed;
    const ucontext_t* context;
    std::uint64_t rseq;  ///< where the kernel writes which CPU the thread is on; 0: nowhere
    long file;
};

long call(long number, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0,
          std::uint64_t d = 0, std::uint64_t e = 0, std::uint64_t f = 0) {
    long result;
    register std::uint64_t r10 asm("r10") = d;
    register std::uint64_t r8 asm("r8") = e;
    register std::uint64_t r9 asm("r9") = f;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
}

[[noreturn]] void give_up() {
    constexpr int kInternal = static_cast<int>(ExitStatus::kInternalError);
    call(SYS_exit_group, kInternal);
    __builtin_unreachable();
}

/// The thread's restartable sequences: the kernel writes there whenever it moves the thread, and
/// ends a process whose area is not mapped then.
void set_rseq(const Plan* plan, std::uint64_t flags) {
    constexpr std::uint64_t kBytes = 32;  // of the first version, as the C library registers it
    if (plan->rseq != 0) call(SYS_rseq, plan->rseq, kBytes, flags, RSEQ_SIG);
}

/// Replaces this process's memory by the image's. Nothing of the C library may be used.
void replace(const Plan* plan) {
    set_rseq(plan, RSEQ_FLAG_UNREGISTER);
    for (std::uint64_t i = 0; i < plan->removals; ++i)
        call(SYS_munmap, plan->removed[i].begin, plan->removed[i].end - plan->removed[i].begin);
    // Down to nothing first: pages that the image does not have are zero.
    call(SYS_brk, plan->heap_begin);
    if (call(SYS_brk, plan->heap_end) != static_cast<long>(plan->heap_end)) give_up();
    for (std::uint64_t i = 0; i < plan->mappings; ++i) {
        const Mapping& mapping = plan->made[i];
        if (mapping.kind != MappingKind::kAnonymous) continue;
        const std::uint64_t at = static_cast<std::uint64_t>(
            call(SYS_mmap, mapping.begin, mapping.end - mapping.begin,
                 mapping.protection == PROT_NONE ? PROT_NONE : PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                 static_cast<std::uint64_t>(-1)));
        if (at != mapping.begin) give_up();
    }
    std::uint64_t offset = plan->data_offset;
    for (std::uint64_t i = 0; i < plan->chunks; ++i) {
        const Chunk& chunk = plan->contents[i];
        for (std::uint64_t done = 0; done < chunk.bytes;) {
            const long got = call(SYS_pread64, static_cast<std::uint64_t>(plan->file),
                                  chunk.address + done, chunk.bytes - done, offset + done);
            if (got <= 0) give_up();
            done += static_cast<std::uint64_t>(got);
        }
        offset += chunk.bytes;
    }
    for (std::uint64_t i = 0; i < plan->mappings; ++i) {
        const Mapping& mapping = plan->made[i];
        if (mapping.kind == MappingKind::kAnonymous && mapping.protection != PROT_NONE &&
            mapping.protection != (PROT_READ | PROT_WRITE))
            call(SYS_mprotect, mapping.begin, mapping.end - mapping.begin, mapping.protection);
    }
    call(SYS_close, static_cast<std::uint64_t>(plan->file));
    set_rseq(plan, 0);
    *plan->resumed = 1;
    setcontext(plan->context);
    give_up();
}

void run_plan(unsigned low, unsigned high) {
    replace(reinterpret_cast<const Plan*>(std::uint64_t{high} << 32 | low));
}

std::string first_difference(const std::string& image, const std::string& ours) {
    std::istringstream a(image), b(ours);
    for (std::string theirs, mine;;) {
        const bool has_a = static_cast<bool>(std::getline(a, theirs));
        const bool has_b = static_cast<bool>(std::getline(b, mine));
        if (!has_a && !has_b) return "nothing";
        if (!has_a) theirs = "nothing";
        if (!has_b) mine = "nothing";
        if (theirs != mine) return fmt::format("'{}'; this one has '{}'", theirs, mine);
    }
}

void check_hash(int file, const Image& image, const std::string& path) {
    std::vector<std::byte> buffer(1 << 20);
    std::uint64_t hash = 0, at = image.header.data_offset;
    for (const Chunk& chunk : image.chunks)
        for (std::uint64_t done = 0; done < chunk.bytes;) {
            const std::uint64_t bytes = std::min<std::uint64_t>(buffer.size(), chunk.bytes - done);
            if (pread(file, buffer.data(), bytes, static_cast<off_t>(at)) !=
                static_cast<ssize_t>(bytes))
                throw InputError(fmt::format("{}: cannot be read", path));
            hash = mixed(hash, std::span(buffer).first(bytes));
            done += bytes;
            at += bytes;
        }
    if (hash != image.header.data_hash)
        throw InputError(fmt::format("{}: damaged: the contents' hash differs", path));
}

/// Files, among them the program, must lie where they lay.
void check_layout(const Image& image, std::span<const Mapping> now, const std::string& path) {
    const auto refuse = [&](const char* what) {
        throw InputError(fmt::format("{}: {}", path, what));
    };
    if (image.header.thread_base != thread_base() ||
        image.header.kernel != getauxval(AT_SYSINFO_EHDR))
        refuse("of a process with another layout (another kernel, or another ulimit -s?)");
    for (const Mapping& mapping : image.mappings)
        if (mapping.kind == MappingKind::kFile &&
            std::find(now.begin(), now.end(), mapping) == now.end())
            refuse("of a process with other libraries, or with them at other addresses");
}

}  // namespace

void resume_image(const std::string& path, const std::string& identity) {
    const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about = {};
    if (opened < 0 || fstat(opened, &about) != 0 || !S_ISREG(about.st_mode))
        throw InputError(fmt::format("{}: cannot be read", path));
    const auto size = static_cast<std::uint64_t>(about.st_size);
    ImageHeader header = {};
    if (pread(opened, &header, sizeof header, 0) != sizeof header)
        throw InputError(fmt::format("{}: no checkpoint of a run: too short", path));
    std::vector<std::byte> tables(table_bytes(header, size, path));
    if (pread(opened, tables.data(), tables.size(), 0) != static_cast<ssize_t>(tables.size()))
        throw InputError(fmt::format("{}: cannot be read", path));
    const Image image = parse_image(tables, size, path);
    if (image.identity != identity)
        throw InputError(fmt::format("{}: the checkpoint is of another run: it has {}", path,
                                     first_difference(image.identity, identity)));
    check_hash(opened, image, path);
    const auto own = std::make_unique<MappingTable>();
    bool has_shared = false;
    const std::size_t count = read_mappings(*own, has_shared);
    const std::span<const Mapping> now(own->mappings, count);
    check_layout(image, now, path);

    // Pages that neither process uses, with the plan and a stack.
    constexpr std::uint64_t kStack = 1 << 16;
    const std::uint64_t bytes = kStack + sizeof(Plan) +
                                (count + image.mappings.size()) * sizeof(Mapping) +
                                image.chunks.size() * sizeof(Chunk) + kPage;
    std::byte* area = nullptr;
    for (std::uint64_t at = 1ull << 40; area == nullptr && at < 1ull << 44; at += 1ull << 40) {
        const bool is_free =
            std::none_of(image.mappings.begin(), image.mappings.end(),
                         [&](const Mapping& m) { return m.begin < at + bytes && at < m.end; });
        void* const got = !is_free
                              ? MAP_FAILED
                              : mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got != MAP_FAILED) area = static_cast<std::byte*>(got);
    }
    LOCKSTEP_CHECK(area != nullptr, "no place for {} bytes", bytes);
    std::byte* free = area + kStack;
    const auto place = [&free](const auto* from, std::size_t items) {
        using Item = std::remove_cvref_t<decltype(*from)>;
        auto* const to = reinterpret_cast<Item*>(free);
        if (items != 0) std::memcpy(to, from, items * sizeof(Item));
        free += items * sizeof(Item);
        return to;
    };
    std::vector<Mapping> removed;
    for (const Mapping& mapping : now)
        if (mapping.kind == MappingKind::kAnonymous &&
            mapping.begin != reinterpret_cast<std::uint64_t>(area))
            removed.push_back(mapping);
    std::uint64_t heap_begin = header.heap_end;
    for (const Mapping& mapping : image.mappings)
        if (mapping.kind == MappingKind::kHeap) heap_begin = mapping.begin;
    Plan plan{};
    plan.removals = removed.size();
    plan.mappings = image.mappings.size();
    plan.chunks = image.chunks.size();
    plan.data_offset = header.data_offset;
    plan.heap_begin = heap_begin;
    plan.heap_end = header.heap_end;
    plan.resumed = reinterpret_cast<volatile std::uint64_t*>(header.resumed);
    plan.context = reinterpret_cast<const ucontext_t*>(header.context);
    plan.rseq = __rseq_size == 0 ? 0 : thread_base() + static_cast<std::uint64_t>(__rseq_offset);
    plan.file = opened;
    plan.removed = place(removed.data(), removed.size());
    plan.made = place(image.mappings.data(), image.mappings.size());
    plan.contents = place(image.chunks.data(), image.chunks.size());
    const Plan* const placed = place(&plan, 1);

    static ucontext_t last;
    getcontext(&last);
    last.uc_stack.ss_sp = area;
    last.uc_stack.ss_size = kStack;
    last.uc_link = nullptr;
    const auto address = reinterpret_cast<std::uint64_t>(placed);
    makecontext(&last, reinterpret_cast<void (*)()>(run_plan), 2, static_cast<unsigned>(address),
                static_cast<unsigned>(address >> 32));
    std::fflush(nullptr);
    setcontext(&last);
    throw InternalError("the checkpoint could not be entered");
}

}  // namespace lockstep::process
