// SPDX-License-Identifier: Apache-2.0
#include "validation/measure/provenance.h"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <fstream>

#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "validation/measure/nvml.h"

namespace lockstep::validation {

namespace {

/// In small letters, apart at everything that is neither letter nor digit.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words(1);
    for (const char letter : text) {
        const auto c = static_cast<unsigned char>(letter);
        if (std::isalnum(c))
            words.back() += static_cast<char>(std::tolower(c));
        else if (!words.back().empty())
            words.emplace_back();
    }
    return words;
}

/// `card`: what the management library says, or nothing.
std::string driver_version(const std::string& card) {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string line;
    if (file && std::getline(file, line)) return line;
    return card.empty() ? "unknown" : card;  // containers may not show the file
}

std::string now() {
    const std::time_t time = std::time(nullptr);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
    return text;
}

}  // namespace

std::string machine_of(const std::string& gpu) {
    const std::vector<std::string> words = words_of(gpu);
    std::string best;
    for (const auto& [name, arch] : config::Machine::gpus())
        for (std::size_t first = 0; first < words.size(); ++first) {
            std::string joined;
            for (std::size_t i = first; i < words.size() && joined.size() < name.size(); ++i)
                joined += words[i];
            if (joined == name && name.size() > best.size()) best = name;
        }
    if (best.empty())
        throw InputError(
            fmt::format("there is no machine file for this GPU ({}); --machine names "
                        "one of its architecture",
                        gpu));
    return best;
}

Provenance provenance_of(const Driver& driver, const std::string& management_library,
                         const std::string& machine) {
    CuDevice device = 0;
    driver.check(driver.device(&device, 0), "cuDeviceGet");
    char name[256] = {}, address[32] = {};
    driver.check(driver.device_name(name, sizeof name - 1, device), "cuDeviceGetName");
    Provenance p;
    p.gpu = name;
    p.machine = machine.empty() ? machine_of(name) : machine;
    if (driver.pci_address(address, sizeof address - 1, device) == 0)
        p.card = card_state(management_library, address);
    p.driver = driver_version(p.card_value("driver"));
    driver.check(driver.driver_version(&p.cuda_version), "cuDriverGetVersion");
    p.date = now();
    p.sm_mhz_rated = driver.attribute_or_0(kCuClockRate, device) / 1000.0;
    p.memory_mhz_rated = driver.attribute_or_0(kCuMemoryClockRate, device) / 1000.0;
    return p;
}

std::vector<std::string> doubts(const Provenance& provenance) {
    const auto value = [&](const char* name) { return provenance.card_value(name); };
    std::vector<std::string> list;
    if (const std::string count = value("processes"); !count.empty() && count != "0")
        list.push_back(count + " other processes compute on the GPU");
    if (value("mig") == "on") list.push_back("the GPU is divided (MIG)");
    if (value("ecc") == "off") list.push_back("ECC is off");
    if (const std::string why = value("clocks_low_by");
        !why.empty() && why != "nothing" && why != "idle")
        list.push_back("clocks are kept low by: " + why);
    return list;
}

}  // namespace lockstep::validation
