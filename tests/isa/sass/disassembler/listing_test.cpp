// SPDX-License-Identifier: Apache-2.0
// Agreement with nvdisasm, instruction by instruction. Where a row cannot be matched, it stands in
// known_differences.txt (arch, opcode with u for bit 91, mnemonic, reason); a row that is not
// listed there must agree on every word, and a row that is listed must still disagree somewhere.
#include "tests/isa/sass/disassembler/listing.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "isa/sass/disassembler/disassembler.h"
#include "tests/paths.h"

namespace lockstep::sass {
namespace {

using Key = std::pair<Arch, std::string>;  // "981u"

Key key_of(const Line& line) {
    std::ostringstream opcode;
    opcode << std::hex << line.word.opcode() << (line.word.uniform() ? "u" : "");
    return {line.arch, opcode.str()};
}

std::set<Key> known_differences() {
    std::ifstream in(source_path("tests/isa/sass/data/known_differences.txt"));
    std::set<Key> keys;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        Key key;
        words >> key.first >> key.second;
        keys.insert(key);
    }
    return keys;
}

struct Count {
    std::size_t lines = 0, equal = 0;
};

TEST(Listing, EveryInstructionOfRealKernelsAgrees) {
    std::map<Arch, Count> counts;
    const auto differences = known_differences();
    std::size_t excused = 0;
    for (const Line& line : read_listing("kernels.xz")) {
        Count& count = counts[line.arch];
        ++count.lines;
        const std::string ours = disassemble(line.word, line.arch, line.address);
        if (ours == line.text)
            ++count.equal;
        else if (differences.contains(key_of(line)))
            ++excused;
        else
            ADD_FAILURE() << "sm_" << line.arch << " " << key_of(line).second << "\n  nvdisasm  "
                          << line.text << "\n  lockstep  " << ours;
    }
    for (const auto& [arch, count] : counts)
        std::cout << "sm_" << arch << ": " << count.equal << " of " << count.lines
                  << " distinct instructions agree\n";
    std::cout << excused << " lie in rows of known_differences.txt\n";
}

TEST(Listing, RandomWordsAgreeRowByRow) {
    std::map<Key, Count> counts;
    std::map<Key, std::string> example;
    for (const Line& line : read_listing("random.xz")) {
        Count& count = counts[key_of(line)];
        ++count.lines;
        const std::string ours = disassemble(line.word, line.arch, line.address);
        if (ours == line.text)
            ++count.equal;
        else
            example.try_emplace(key_of(line),
                                "\n  nvdisasm  " + line.text + "\n  lockstep  " + ours);
    }
    const auto differences = known_differences();
    std::map<Arch, std::pair<Count, Count>> totals;  // rows, words
    for (const auto& [key, count] : counts) {
        auto& [rows, words] = totals[key.first];
        ++rows.lines;
        rows.equal += count.equal == count.lines;
        words.lines += count.lines;
        words.equal += count.equal;
        EXPECT_TRUE(count.equal == count.lines || differences.contains(key))
            << "sm_" << key.first << " " << key.second << " " << count.equal << "/" << count.lines
            << example[key];
        EXPECT_TRUE(count.equal < count.lines || !differences.contains(key))
            << "sm_" << key.first << " " << key.second
            << " agrees: take it out of known_differences.txt";
    }
    for (const auto& [arch, total] : totals)
        std::cout << "sm_" << arch << ": " << total.second.equal << " of " << total.second.lines
                  << " random words agree; all words of " << total.first.equal << " of "
                  << total.first.lines << " opcodes\n";
}

}  // namespace
}  // namespace lockstep::sass
