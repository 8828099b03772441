// SPDX-License-Identifier: Apache-2.0
// DWARF 2 line programs, as ptxas writes them (DWARF Debugging Information Format, version 2,
// section 6.2): a machine whose registers are address, file and line, and whose opcodes append
// rows. A sequence begins at the function that a relocation puts into DW_LNE_set_address.
#include "isa/cubin/line_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace lockstep::cubin {

namespace {

/// Bytes read one after the other; past the end it reads zeros and says so.
class Cursor {
  public:
    explicit Cursor(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    bool is_at_end() const { return at_ >= bytes_.size() || has_failed_; }
    bool has_failed() const { return has_failed_; }
    std::size_t at() const { return at_; }

    std::uint64_t integer(unsigned count) {
        if (!take(count)) return 0;
        std::uint64_t value = 0;
        for (unsigned i = 0; i < count; ++i)
            value |= std::uint64_t{bytes_[at_ - count + i]} << (8 * i);
        return value;
    }
    std::uint64_t unsigned_leb() { return leb(false); }
    std::int64_t signed_leb() { return static_cast<std::int64_t>(leb(true)); }
    std::string_view string() {
        const std::size_t begin = at_;
        while (at_ < bytes_.size() && bytes_[at_] != 0) ++at_;
        if (!take(1)) return {};
        return {reinterpret_cast<const char*>(bytes_.data()) + begin, at_ - 1 - begin};
    }
    void skip_to(std::size_t at) {
        if (at < at_ || at > bytes_.size())
            has_failed_ = true;
        else
            at_ = at;
    }

  private:
    bool take(std::size_t count) {
        if (has_failed_ || count > bytes_.size() - at_) {
            has_failed_ = true;
            return false;
        }
        at_ += count;
        return true;
    }
    std::uint64_t leb(bool is_signed) {
        std::uint64_t value = 0;
        unsigned shift = 0;
        while (take(1)) {
            const std::uint8_t byte = bytes_[at_ - 1];
            if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
            shift += 7;
            if (byte & 0x80) continue;
            if (is_signed && (byte & 0x40) && shift < 64) value |= ~0ull << shift;
            break;
        }
        return value;
    }

    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
    bool has_failed_ = false;
};

enum StandardOpcode : std::uint8_t {
    kExtended = 0,
    kCopy = 1,
    kAdvancePc = 2,
    kAdvanceLine = 3,
    kSetFile = 4,
    kConstantAddPc = 8,
    kFixedAdvancePc = 9,
};
enum ExtendedOpcode : std::uint8_t { kEndSequence = 1, kSetAddress = 2 };

}  // namespace

/// Reads one unit after the other into a LineTable.
class LineProgram {
  public:
    LineProgram(LineTable& table, const Cubin& cubin, std::uint32_t section)
        : table_(table), cursor_(cubin.sections[section].bytes) {
        for (const Relocation& relocation : cubin.relocations)
            if (relocation.section == section) {
                const Symbol& symbol = cubin.symbols[relocation.symbol];
                starts_[relocation.offset] = {
                    symbol.section, symbol.offset + static_cast<std::uint64_t>(relocation.addend)};
            }
    }

    bool read_unit() {
        if (cursor_.is_at_end()) return false;
        const std::uint64_t length = cursor_.integer(4);
        const std::uint64_t end = cursor_.at() + length;
        const std::uint64_t version = cursor_.integer(2);
        const std::uint64_t header_length = cursor_.integer(4);
        const std::uint64_t code = cursor_.at() + header_length;
        if (cursor_.has_failed() || version < 2 || version > 3) return false;
        minimum_length_ = cursor_.integer(1);
        cursor_.integer(1);  // default_is_stmt
        line_base_ = static_cast<std::int8_t>(cursor_.integer(1));
        line_range_ = static_cast<std::uint8_t>(cursor_.integer(1));
        opcode_base_ = static_cast<std::uint8_t>(cursor_.integer(1));
        if (cursor_.has_failed() || line_range_ == 0 || opcode_base_ == 0) return false;
        operands_.assign(opcode_base_, 0);
        for (unsigned i = 1; i < opcode_base_; ++i)
            operands_[i] = static_cast<std::uint8_t>(cursor_.integer(1));
        read_files();
        cursor_.skip_to(code);
        while (cursor_.at() < end && !cursor_.is_at_end()) step();
        return !cursor_.has_failed();
    }

  private:
    struct Place {
        std::uint32_t section = kNone;
        std::uint64_t offset = 0;
    };

    void read_files() {
        while (!cursor_.has_failed() && !cursor_.string().empty()) {  // folders
        }
        first_file_ = table_.files_.size();
        while (!cursor_.has_failed()) {
            const std::string_view name = cursor_.string();
            if (name.empty()) break;
            for (int i = 0; i < 3; ++i) cursor_.unsigned_leb();  // folder, time, size
            table_.files_.emplace_back(name.substr(name.rfind('/') + 1));
        }
    }

    void append(std::uint64_t line) {
        if (at_.section == kNone) return;
        const std::uint64_t file = first_file_ + file_ - 1;
        const bool is_known =
            file_ != 0 && file < table_.files_.size() && line != 0 && line <= UINT32_MAX;
        table_.rows_.push_back({at_.section, at_.offset,
                                is_known ? static_cast<std::uint32_t>(file) : 0,
                                is_known ? static_cast<std::uint32_t>(line) : 0});
    }

    void advance(std::uint64_t operations) { at_.offset += operations * minimum_length_; }

    void restart() {
        at_ = {};
        file_ = 1;
        line_ = 1;
    }

    void extended() {
        const std::uint64_t length = cursor_.unsigned_leb();
        const std::uint64_t end = cursor_.at() + length;
        if (length == 0) return;
        const auto opcode = cursor_.integer(1);
        if (opcode == kEndSequence) {
            append(0);
            restart();
        } else if (opcode == kSetAddress) {
            const auto start = starts_.find(cursor_.at());
            at_ = start == starts_.end() ? Place{} : start->second;
        }
        cursor_.skip_to(end);
    }

    void step() {
        const auto opcode = static_cast<std::uint8_t>(cursor_.integer(1));
        if (opcode >= opcode_base_) {
            const unsigned special = opcode - opcode_base_;
            advance(special / line_range_);
            line_ +=
                static_cast<std::uint64_t>(line_base_ + static_cast<int>(special % line_range_));
            return append(line_);
        }
        switch (opcode) {
            case kExtended:
                return extended();
            case kCopy:
                return append(line_);
            case kAdvancePc:
                return advance(cursor_.unsigned_leb());
            case kAdvanceLine:
                line_ += static_cast<std::uint64_t>(cursor_.signed_leb());
                return;
            case kSetFile:
                file_ = cursor_.unsigned_leb();
                return;
            case kConstantAddPc:
                return advance((255u - opcode_base_) / line_range_);
            case kFixedAdvancePc:
                at_.offset += cursor_.integer(2);
                return;
            default:
                for (unsigned i = 0; i < operands_[opcode]; ++i) cursor_.unsigned_leb();
        }
    }

    LineTable& table_;
    Cursor cursor_;
    std::map<std::uint64_t, Place> starts_;  ///< by offset in .debug_line
    std::vector<std::uint8_t> operands_;
    std::uint64_t minimum_length_ = 1;
    int line_base_ = 0;
    std::uint8_t line_range_ = 1, opcode_base_ = 1;
    std::size_t first_file_ = 0;
    Place at_;
    std::uint64_t file_ = 1;
    std::uint64_t line_ = 1;
};

LineTable::LineTable(const Cubin& cubin) {
    for (std::uint32_t i = 0; i < cubin.sections.size(); ++i) {
        if (cubin.sections[i].name != ".debug_line") continue;
        LineProgram program(*this, cubin, i);
        while (program.read_unit()) {
        }
    }
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
        return std::tie(a.section, a.offset) < std::tie(b.section, b.offset);
    });
}

std::string LineTable::find(std::uint32_t section, std::uint64_t offset) const {
    const auto after = std::upper_bound(
        rows_.begin(), rows_.end(), std::tie(section, offset),
        [](const auto& key, const Row& row) { return key < std::tie(row.section, row.offset); });
    if (after == rows_.begin()) return "";
    const Row& row = *std::prev(after);
    if (row.section != section || row.line == 0) return "";
    return fmt::format("{}:{}", files_[row.file], row.line);
}

}  // namespace lockstep::cubin
