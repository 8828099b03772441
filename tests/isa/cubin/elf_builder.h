// SPDX-License-Identifier: Apache-2.0
// Makes small ELF64 files for tests: named sections with contents, no program headers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace lockstep::cubin {

class ElfBuilder {
  public:
    static constexpr uint64_t kAlloc = 2;

    ElfBuilder(uint16_t type, uint16_t machine) : type_(type), machine_(machine) {}

    /// Returns the section's index.
    uint32_t add(const std::string& name, uint32_t type, std::vector<uint8_t> bytes,
                 uint32_t link = 0, uint64_t flags = 0) {
        sections_.push_back({name, type, std::move(bytes), link, flags});
        return static_cast<uint32_t>(sections_.size());
    }

    std::vector<uint8_t> build() {
        std::vector<uint8_t> names(1, 0);
        add(".shstrtab", 3, {});
        std::vector<uint32_t> name_offsets;
        for (const Section& section : sections_) {
            name_offsets.push_back(static_cast<uint32_t>(names.size()));
            names.insert(names.end(), section.name.begin(), section.name.end());
            names.push_back(0);
        }
        sections_.back().bytes = names;

        std::vector<uint8_t> file(64, 0), table(64, 0);
        for (size_t i = 0; i < sections_.size(); ++i) {
            const Section& section = sections_[i];
            const size_t row = table.size();
            table.resize(row + 64);
            put(table, row, name_offsets[i]);
            put(table, row + 4, section.type);
            put(table, row + 8, section.flags);
            put(table, row + 24, uint64_t{file.size()});
            put(table, row + 32, uint64_t{section.bytes.size()});
            put(table, row + 40, section.link);
            put(table, row + 48, uint64_t{1});
            file.insert(file.end(), section.bytes.begin(), section.bytes.end());
        }
        const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
        std::memcpy(file.data(), magic, sizeof(magic));
        put(file, 16, type_);
        put(file, 18, machine_);
        put(file, 40, uint64_t{file.size()});
        put(file, 58, uint16_t{64});
        put(file, 60, static_cast<uint16_t>(sections_.size() + 1));
        put(file, 62, static_cast<uint16_t>(sections_.size()));
        file.insert(file.end(), table.begin(), table.end());
        return file;
    }

    template <typename T>
    static void put(std::vector<uint8_t>& bytes, size_t at, T value) {
        std::memcpy(bytes.data() + at, &value, sizeof(T));
    }

  private:
    struct Section {
        std::string name;
        uint32_t type;
        std::vector<uint8_t> bytes;
        uint32_t link;
        uint64_t flags;
    };
    uint16_t type_, machine_;
    std::vector<Section> sections_;
};

}  // namespace lockstep::cubin
