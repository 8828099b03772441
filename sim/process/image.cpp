// SPDX-License-Identifier: Apache-2.0
// A timer of the process's CPU time interrupts it wherever it is; the handler writes what the
// kernel says is mapped and present. Its frame, with all registers, lies on the stack that is
// written, so that returning from it in another process goes on there. To resume, a few pages out
// of the image's way hold a stack from which everything else is replaced, by bare system calls: the
// C library's own state is replaced, too.
#include "sim/process/image.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
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
#include "sim/process/image_file.h"

namespace lockstep::process {

namespace {

constexpr std::size_t kMostMappings = 16384, kMostChunks = 1 << 19;
constexpr std::size_t kTextBytes = 4 << 20, kPathBytes = 4096;

/// What the handler works with, in memory of its own that no image has.
struct Scratch {
    ImageHeader header;
    Mapping mappings[kMostMappings];
    Chunk chunks[kMostChunks];
    char text[kTextBytes];
    std::uint64_t pages[kPage / sizeof(std::uint64_t)];
};

// In the image.
Scratch* scratch = nullptr;
char path_of_image[kPathBytes], path_of_part[kPathBytes];
char* identity_text = nullptr;
std::size_t identity_size = 0;
unsigned interval = 0;
alignas(64) ucontext_t context;
alignas(kPage) volatile std::uint64_t is_resumed[kPage / sizeof(std::uint64_t)];

std::uint64_t thread_base() {
    std::uint64_t base = 0;
    syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
    return base;
}

/// Reads a line of /proc/self/maps; answers whether it was one.
bool parse_line(char*& at, Mapping& mapping, bool& is_shared) {
    const auto number = [&at](int base) {
        std::uint64_t value = 0;
        for (;; ++at) {
            const int digit = *at >= '0' && *at <= '9'                 ? *at - '0'
                              : base == 16 && *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                                                                       : -1;
            if (digit < 0) return value;
            value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
        }
    };
    if (*at == 0) return false;
    mapping.begin = number(16);
    ++at;
    mapping.end = number(16);
    ++at;
    mapping.protection = (at[0] == 'r' ? PROT_READ : 0u) | (at[1] == 'w' ? PROT_WRITE : 0u) |
                         (at[2] == 'x' ? PROT_EXEC : 0u);
    is_shared = at[3] == 's';
    at += 5;
    const std::uint64_t offset = number(16);
    for (int field = 0; field < 2; ++field) {
        ++at;
        while (*at != ' ' && *at != '\n') ++at;
    }
    while (*at == ' ') ++at;
    const char* const name = at;
    while (*at != '\n' && *at != 0) ++at;
    const auto size = static_cast<std::size_t>(at - name);
    if (*at == '\n') ++at;
    const auto is = [&](const char* what) {
        return size == std::strlen(what) && std::memcmp(name, what, size) == 0;
    };
    mapping.kind = size == 0       ? MappingKind::kAnonymous
                   : is("[heap]")  ? MappingKind::kHeap
                   : is("[stack]") ? MappingKind::kStack
                                   : MappingKind::kFile;
    mapping.name = mapping.kind == MappingKind::kFile
                       ? mixed(offset, std::as_bytes(std::span(name, size)))
                       : 0;
    return true;
}

/// The mappings of this process, in the scratch's buffers; nothing where they do not fit.
std::size_t read_mappings(Scratch& s, bool& has_shared) {
    has_shared = false;
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    std::size_t size = 0;
    for (ssize_t got;
         size < kTextBytes - 1 && (got = read(file, s.text + size, kTextBytes - 1 - size)) > 0;)
        size += static_cast<std::size_t>(got);
    close(file);
    s.text[size] = 0;
    std::size_t count = 0;
    char* at = s.text;
    bool is_shared = false;
    while (count < kMostMappings && parse_line(at, s.mappings[count], is_shared)) {
        has_shared |= is_shared && (s.mappings[count].protection & PROT_WRITE) != 0;
        if (s.mappings[count].begin < (1ull << 47)) ++count;  // not the kernel's own page
    }
    return count < kMostMappings && size < kTextBytes - 1 ? count : 0;
}

/// Whether the mapping's contents are not those of a file.
bool is_written(const Mapping& mapping) {
    const bool is_scratch = mapping.begin == reinterpret_cast<std::uint64_t>(scratch);
    if (is_scratch || (mapping.protection & PROT_READ) == 0) return false;
    return (mapping.protection & PROT_WRITE) != 0 || mapping.kind == MappingKind::kAnonymous;
}

/// Adds the pages of a mapping that are there; of a file's all of them. False where they do not
/// fit.
bool add_chunks(Scratch& s, const Mapping& mapping, int pagemap, std::size_t& count) {
    const bool takes_all = mapping.kind == MappingKind::kFile;
    constexpr std::uint64_t kThere = 3ull << 62;  // present or swapped
    for (std::uint64_t at = mapping.begin; at < mapping.end;) {
        const std::uint64_t pages =
            std::min<std::uint64_t>(std::size(s.pages), (mapping.end - at) / kPage);
        const auto bytes = pages * sizeof(std::uint64_t);
        if (pread(pagemap, s.pages, bytes, static_cast<off_t>(at / kPage * 8)) !=
            static_cast<ssize_t>(bytes))
            return false;
        for (std::uint64_t i = 0; i < pages; ++i, at += kPage) {
            if (!takes_all && (s.pages[i] & kThere) == 0) continue;
            if (count != 0 && s.chunks[count - 1].address + s.chunks[count - 1].bytes == at &&
                at != mapping.begin) {
                s.chunks[count - 1].bytes += kPage;
                continue;
            }
            if (count == kMostChunks) return false;
            s.chunks[count++] = {at, kPage};
        }
    }
    return true;
}

bool write_all(int file, const void* data, std::uint64_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes != 0) {
        const ssize_t done = write(file, at, std::min<std::uint64_t>(bytes, 1 << 30));
        if (done <= 0) return false;
        at += done;
        bytes -= static_cast<std::uint64_t>(done);
    }
    return true;
}

std::span<const std::byte> bytes_of(const void* data, std::uint64_t bytes) {
    return {static_cast<const std::byte*>(data), bytes};
}

/// Writes the image; on failure the one before it stays.
bool write_image(Scratch& s) {
    bool has_shared = false;
    const std::size_t mappings = read_mappings(s, has_shared);
    if (mappings == 0 || has_shared) return false;
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0) return false;
    std::size_t chunks = 0;
    bool is_good = true;
    for (std::size_t i = 0; i < mappings && is_good; ++i)
        if (is_written(s.mappings[i])) is_good = add_chunks(s, s.mappings[i], pagemap, chunks);
    close(pagemap);
    if (!is_good) return false;

    ImageHeader& header = s.header;
    std::memcpy(header.magic, kImageMagic, sizeof header.magic);
    header.identity_bytes = identity_size;
    header.mappings = mappings;
    header.chunks = chunks;
    header.context = reinterpret_cast<std::uint64_t>(&context);
    header.resumed = reinterpret_cast<std::uint64_t>(&is_resumed);
    header.heap_end = static_cast<std::uint64_t>(syscall(SYS_brk, 0));
    header.thread_base = thread_base();
    header.kernel = getauxval(AT_SYSINFO_EHDR);
    const std::uint64_t tables =
        sizeof header + identity_size + mappings * sizeof(Mapping) + chunks * sizeof(Chunk);
    header.data_offset = (tables + kPage - 1) / kPage * kPage;
    // The hash is of the tables as they follow each other; so they are laid out so in the text.
    std::uint64_t size = 0;
    const auto lay = [&](const void* data, std::uint64_t bytes) {
        if (size + bytes > kTextBytes) return;
        std::memcpy(s.text + size, data, bytes);
        size += bytes;
    };
    if (tables - sizeof header > kTextBytes) return false;
    lay(identity_text, identity_size);
    lay(s.mappings, mappings * sizeof(Mapping));
    lay(s.chunks, chunks * sizeof(Chunk));
    header.table_hash = mixed(0, bytes_of(s.text, size));

    const int file = open(path_of_part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return false;
    is_good = lseek(file, static_cast<off_t>(header.data_offset), SEEK_SET) >= 0;
    header.data_hash = 0;
    for (std::size_t i = 0; i < chunks && is_good; ++i) {
        // What is hashed is what is written: nothing but this stack changes meanwhile, whose live
        // part is above.
        const auto* const data = reinterpret_cast<const void*>(s.chunks[i].address);
        constexpr std::uint64_t kStep = 1 << 20;
        for (std::uint64_t at = 0; at < s.chunks[i].bytes && is_good; at += kStep) {
            const std::uint64_t bytes = std::min(kStep, s.chunks[i].bytes - at);
            std::memcpy(s.text + size, static_cast<const char*>(data) + at, bytes);
            header.data_hash = mixed(header.data_hash, bytes_of(s.text + size, bytes));
            is_good = write_all(file, s.text + size, bytes);
        }
    }
    is_good = is_good && lseek(file, 0, SEEK_SET) == 0 && write_all(file, &header, sizeof header) &&
              write_all(file, s.text, size) && fsync(file) == 0;
    close(file);
    return is_good && rename(path_of_part, path_of_image) == 0;
}

void arm();

void on_timer(int) {
    const int error = errno;
    is_resumed[0] = 0;
    getcontext(&context);
    if (is_resumed[0] != 0) {
        arm();
    } else if (!write_image(*scratch)) {
        constexpr char kText[] = "lockstep: the checkpoint cannot be written\n";
        [[maybe_unused]] const ssize_t done = write(STDERR_FILENO, kText, sizeof kText - 1);
        unlink(path_of_part);
    }
    errno = error;
}

void arm() {
    struct sigaction action = {};
    action.sa_handler = on_timer;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
    const timeval step{static_cast<time_t>(interval), 0};
    const itimerval timer{step, step};
    setitimer(ITIMER_PROF, &timer, nullptr);
}

Scratch* make_scratch() {
    // Between pages without access, so that it is a mapping by itself.
    constexpr std::uint64_t kBytes = (sizeof(Scratch) + kPage - 1) / kPage * kPage;
    void* const made = mmap(nullptr, kBytes + 2 * kPage, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) throw std::bad_alloc();
    auto* const inside = static_cast<std::byte*>(made) + kPage;
    if (mprotect(inside, kBytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    return reinterpret_cast<Scratch*>(inside);
}

}  // namespace

void fix_addresses() {
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

void keep_images(const std::string& path, unsigned seconds, const std::string& identity) {
    LOCKSTEP_CHECK(scratch == nullptr, "images are kept already");
    const std::string part = path + ".part";
    if (part.size() >= kPathBytes) throw InputError(fmt::format("{}: too long a name", path));
    std::strcpy(path_of_image, path.c_str());
    std::strcpy(path_of_part, part.c_str());
    identity_size = identity.size();
    identity_text = new char[identity_size + 1];
    std::memcpy(identity_text, identity.c_str(), identity_size + 1);
    interval = seconds;
    scratch = make_scratch();
    arm();
}

void stop_images() {
    const itimerval none{};
    setitimer(ITIMER_PROF, &none, nullptr);
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
    const std::unique_ptr<Scratch> own = std::make_unique<Scratch>();
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
