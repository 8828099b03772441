// SPDX-License-Identifier: Apache-2.0
// Who may include whom (README, "What you add"): the layering of the source tree.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/include_line.h"
#include "tests/paths.h"

namespace {

namespace fs = std::filesystem;

/// A folder and the prefixes that its files may include besides their own. The longest folder
/// counts.
const std::map<std::string, std::vector<std::string>> kMayInclude = {
    {"sim/error", {}},
    {"sim/numerics", {"sim/error"}},
    {"sim/config", {"sim/error"}},
    {"sim/file", {"sim/error"}},
    {"sim/stats", {"sim/error", "sim/file"}},
    {"sim/trace", {"sim/error", "sim/file"}},
    {"sim/engine", {"sim/error"}},
    {"sim/process", {"sim/error"}},
    {"sim/html", {"sim/error"}},
    {"sim/http", {"sim/error"}},
    {"sim/terminal", {}},
    {"sim/docs", {"sim/error", "sim/html", "sim/http"}},
    {"sim/cli", {"sim", "isa", "models", "workloads", "validation"}},
    // Labs run the program itself; their pictures look into the models.
    {"sim/lab", {"sim", "isa", "models", "workloads", "validation"}},
    {"isa", {"sim/numerics", "sim/error"}},
    {"models",
     {"isa", "sim/numerics", "sim/error", "sim/config", "sim/stats", "sim/engine", "sim/trace"}},
    {"workloads",
     {"isa", "sim/numerics", "sim/error", "sim/config", "sim/stats", "models/device.h",
      "models/device_group.h", "models/launch_ranges.h", "models/timeline.h"}},
    // The APIs are shells over one state, which knows neither; the driver does by the runtime what
    // both have. What a program's report expects of its times is a table, not a suite.
    {"workloads/cuda_api/state",
     {"isa", "sim/numerics", "sim/error", "sim/config", "sim/stats", "sim/terminal",
      "models/device.h", "models/device_group.h", "models/energy/account.h", "models/timeline.h",
      "validation/accuracy"}},
    {"workloads/cuda_api/runtime",
     {"workloads/cuda_api/state", "isa", "sim/error", "sim/config", "sim/stats", "models/device.h",
      "models/device_group.h", "models/device_group.h", "models/timeline.h"}},
    {"workloads/cuda_api/driver",
     {"workloads/cuda_api/state", "workloads/cuda_api/runtime", "isa", "sim/error", "sim/config",
      "sim/stats", "models/device.h", "models/device_group.h", "models/timeline.h"}},
    // Loaded into every program apart from all else: it reads ELF files and nothing more.
    {"workloads/cuda_api/loader",
     {"isa/cubin", "sim/error", "workloads/cuda_api/runtime/runtime_functions.inc"}},
    // The one place of the workloads that sees every model: one row a kind of machine.
    {"workloads/run",
     {"isa", "sim/numerics", "sim/error", "sim/config", "sim/stats", "sim/trace", "models",
      "workloads"}},
    // The library for other programs: what workloads/run runs, in types of its own.
    {"workloads/api",
     {"isa", "sim/error", "sim/config", "sim/stats", "models/device.h", "models/device_group.h",
      "models/gpu/chip/tlm_edges.h", "models/system/host_link.h", "workloads/run",
      "workloads/network/graph"}},
    // Pages and texts about runs that are over: it knows their files alone.
    {"workloads/report", {"sim/error", "sim/config", "sim/stats", "sim/html", "models/data_sheet"}},
    // What data sheets, prices and published runs say of a network: no model runs.
    {"workloads/choose",
     {"sim/error", "sim/config", "models/data_sheet", "models/roofline", "workloads/network",
      "validation/published"}},
    // Jobs by the hundred: it knows what runs only by workloads/run.
    {"workloads/sweep",
     {"sim/numerics", "sim/error", "sim/config", "sim/stats", "sim/process", "sim/html",
      "workloads/run"}},
    {"validation",
     {"sim/numerics", "sim/error", "sim/config", "sim/stats", "sim/process", "sim/html", "isa",
      "models", "workloads"}},
};

bool starts_with_any(const std::string& path, const std::vector<std::string>& prefixes) {
    for (const std::string& prefix : prefixes)
        if (path.starts_with(prefix)) return true;
    return false;
}

const std::pair<const std::string, std::vector<std::string>>* rule_of(const std::string& path) {
    const std::pair<const std::string, std::vector<std::string>>* best = nullptr;
    for (const auto& rule : kMayInclude)
        if (path.starts_with(rule.first + "/") &&
            (best == nullptr || rule.first.size() > best->first.size()))
            best = &rule;
    return best;
}

bool is_ours(const std::string& include) {
    for (const char* room : {"sim/", "isa/", "models/", "workloads/", "validation/"})
        if (include.starts_with(room)) return true;
    return false;
}

TEST(IncludeRule, EveryFileIncludesOnlyWhatItsRoomMay) {
    const fs::path root = lockstep::source_path();
    int files = 0;
    for (const char* room : {"sim", "isa", "models", "workloads", "validation"}) {
        if (!fs::exists(root / room)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
            const std::string extension = entry.path().extension();
            if (extension != ".h" && extension != ".cpp") continue;
            if (lockstep::is_foreign(entry.path())) continue;
            const std::string path = fs::relative(entry.path(), root);
            const auto* rule = rule_of(path);
            ASSERT_NE(rule, nullptr) << path << " lies in a folder without a rule";
            ++files;
            std::ifstream file(entry.path());
            int number = 0;
            for (std::string line; std::getline(file, line);) {
                ++number;
                const std::string include = lockstep::included(line);
                if (!is_ours(include) || include.starts_with(rule->first + "/")) continue;
                EXPECT_TRUE(starts_with_any(include, rule->second))
                    << path << ":" << number << " includes " << include;
            }
        }
    }
    EXPECT_GT(files, 100);
}

TEST(SourceRule, ModelsNameOpcodesAndDoNotNumberThem) {
    const fs::path root = lockstep::source_path("models");
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        const std::string extension = entry.path().extension();
        if (extension != ".h" && extension != ".cpp") continue;
        ++files;
        std::ifstream file(entry.path());
        int number = 0;
        for (std::string line; std::getline(file, line);) {
            ++number;
            EXPECT_EQ(line.find("case 0x"), std::string::npos)
                << entry.path() << ":" << number << ": sass::Op has names for opcodes";
        }
    }
    EXPECT_GT(files, 50);
}

}  // namespace
