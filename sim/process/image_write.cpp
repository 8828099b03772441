// SPDX-License-Identifier: Apache-2.0
// A timer of the process's CPU time interrupts it wherever it is; the handler writes what the
// kernel says is mapped and present. Its frame, with all registers, lies on the stack that is
// written, so that returning from it in another process goes on there.
#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "sim/error/error.h"
#include "sim/process/image.h"
#include "sim/process/image_file.h"
#include "sim/process/mapping_table.h"

namespace lockstep::process {

namespace {

constexpr std::size_t kMostChunks = 1 << 19, kPathBytes = 4096;

/// What the handler works with, in memory of its own that no image has.
struct Scratch : MappingTable {
    ImageHeader header;
    Chunk chunks[kMostChunks];
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

}  // namespace lockstep::process
