// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "sim/error/error.h"

namespace lockstep::lab {

namespace fs = std::filesystem;

namespace {

constexpr unsigned kMostWaiting = 64;
constexpr std::size_t kMostKept = std::size_t{64} << 20;
constexpr char kBetween = '\0';

std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

/// Without the program's name in front and the hint of the command line behind.
std::string message_of(std::string text) {
    if (const std::size_t at = text.rfind("lockstep: "); at != std::string::npos)
        text = text.substr(at + 10);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.empty() ? "the run failed" : text;
}

}  // namespace

/// Waits for one's turn to have a process.
class Service::Turn {
  public:
    explicit Turn(Service& service) : service_(service) {
        std::unique_lock lock(service.mutex_);
        if (service.waiting_ >= kMostWaiting) throw Busy();
        ++service.waiting_;
        service.turn_.wait(lock, [&] {
            return service.running_ < service.processes_ || service.is_stopped_.load();
        });
        --service.waiting_;
        ++service.running_;
    }
    ~Turn() {
        const std::lock_guard lock(service_.mutex_);
        --service_.running_;
        service_.turn_.notify_one();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    Service& service_;
};

Service::Service(std::string program, unsigned processes, ChildLimits limits)
    : program_(std::move(program)),
      processes_(processes > 0 ? processes : std::max(std::thread::hardware_concurrency(), 1u)),
      limits_(limits) {}

ChildResult Service::child(const std::vector<std::string>& words, const std::string& input,
                           const std::string& folder) {
    const Turn turn(*this);
    if (is_stopped_) throw InputError("the server ends");
    return run_child(program_, words, input, folder, limits_, is_stopped_);
}

RunAnswer Service::run(const RunRequest& request) {
    std::string key;
    for (const std::string& word : request.words()) key += word + kBetween;
    std::string kept;
    if (find(key, kept)) {
        const std::size_t end = kept.find(kBetween);
        return {kept.substr(0, end), kept.substr(end + 1)};
    }
    const ScratchFolder folder;
    std::vector<std::string> words = request.words();
    for (const char* word : {"--stats", "stats.json"}) words.emplace_back(word);
    const ChildResult result = child(words, "", folder.path());
    if (result.status != 0) throw InputError(message_of(result.errors));
    RunAnswer answer{result.output, contents(folder.path() + "/stats.json")};
    keep(key, answer.screen + kBetween + answer.statistics);
    return answer;
}

sweep::Result Service::metrics(const std::string& text) {
    return sweep::read_statistics(run(RunRequest::from_text(text)).statistics);
}

std::string Service::widget(const std::string& name, const std::string& request) {
    const std::string key = "widget " + name + kBetween + request;
    std::string kept;
    if (find(key, kept)) return kept;
    const ScratchFolder folder;
    const ChildResult result = child({"lab", "--widget", name}, request, folder.path());
    if (result.status != 0) throw InputError(message_of(result.errors));
    keep(key, result.output);
    return result.output;
}

ChildResult Service::command(const std::string& text) {
    // build/bin/lockstep of a checkout: the commands of labs name the repository's files from
    // there.
    const fs::path root = fs::path(program_).parent_path().parent_path().parent_path();
    const ScratchFolder folder;
    for (const char* name : {"workloads", "isa", "models", "validation"})
        if (fs::is_directory(root / name))
            fs::create_directory_symlink(root / name, fs::path(folder.path()) / name);
    return child(words_of(text), "", folder.path());
}

void Service::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
    }
    turn_.notify_all();
}

bool Service::find(const std::string& key, std::string& value) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(key);
    if (found == kept_.end()) return false;
    value = found->second;
    return true;
}

void Service::keep(const std::string& key, const std::string& value) {
    const std::lock_guard lock(mutex_);
    if (kept_bytes_ + key.size() + value.size() > kMostKept) {
        kept_.clear();
        kept_bytes_ = 0;
    }
    kept_bytes_ += key.size() + value.size();
    kept_[key] = value;
}

}  // namespace lockstep::lab
