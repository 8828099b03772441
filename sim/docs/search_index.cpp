// SPDX-License-Identifier: Apache-2.0
// The weight of a word in a section is that of BM25 (Robertson and Zaragoza, 2009) over three
// fields: a word of the section's heading counts as several of the text, one of the page's title
// less. Rarity is left to the browser, which knows it by the length of a term's list.
#include "sim/docs/search_index.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace lockstep::docs {

namespace {

constexpr double kHeading = 3, kTitle = 1.5;  // in saturated occurrences of the text
constexpr double kSaturation = 1.2, kLength = 0.75;
constexpr double kScale = 20;  // weights are whole numbers

using Json = nlohmann::json;

class Index {
  public:
    void add(const Page& page, const std::string& room) {
        const auto number = pages_.size();
        pages_.push_back({page.url, page.title, room});
        for (const Section& section : page.sections) {
            sections_.push_back({number, section.anchor, section.title, one_line(section.text)});
            entries_.push_back(
                {words_of(page.title), words_of(section.title), words_of(section.text)});
            total_words_ += entries_.back().text.size();
        }
    }

    std::string script() const {
        std::map<std::string, std::vector<int>> postings;
        for (std::size_t i = 0; i < entries_.size(); ++i)
            for (const auto& [word, weight] : weights(entries_[i])) {
                postings[word].push_back(static_cast<int>(i));
                postings[word].push_back(static_cast<int>(std::lround(kScale * weight)));
            }
        Json terms = Json::array(), lists = Json::array();
        for (const auto& [word, list] : postings) {
            terms.push_back(word);
            lists.push_back(list);
        }
        const Json index = {
            {"pages", pages_}, {"sections", sections_}, {"terms", terms}, {"postings", lists}};
        return "window.lockstepIndex=" +
               index.dump(-1, ' ', false, Json::error_handler_t::replace) + ";\n";
    }

  private:
    struct Entry {
        std::vector<std::string> title, heading, text;
    };

    static std::string one_line(const std::string& text) {
        std::string line;
        for (const char c : text) {
            const bool is_space = c == ' ' || c == '\n' || c == '\t';
            if (!is_space)
                line += c;
            else if (!line.empty() && line.back() != ' ')
                line += ' ';
        }
        return line;
    }

    std::map<std::string, double> weights(const Entry& entry) const {
        const double average =
            static_cast<double>(total_words_) / static_cast<double>(entries_.size());
        const double length =
            1 - kLength + kLength * static_cast<double>(entry.text.size()) / std::max(average, 1.0);
        std::map<std::string, double> count, weights;
        for (const std::string& word : entry.text) ++count[word];
        for (const auto& [word, n] : count)
            weights[word] = n * (kSaturation + 1) / (n + kSaturation * length);
        // A heading of one word is about that word; of ten, about something else too.
        const auto add = [&](const std::vector<std::string>& words, double weight) {
            std::vector<std::string> once = words;
            std::sort(once.begin(), once.end());
            once.erase(std::unique(once.begin(), once.end()), once.end());
            for (const std::string& word : once)
                weights[word] += weight * (1 + 1 / static_cast<double>(once.size()));
        };
        add(entry.heading, kHeading);
        add(entry.title, kTitle);
        return weights;
    }

    Json pages_ = Json::array(), sections_ = Json::array();
    std::vector<Entry> entries_;
    std::size_t total_words_ = 0;
};

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    const auto add = [&](const std::string& word) {
        words.push_back(word);
        if (word.find('_') == std::string::npos) return;
        for (std::size_t at = 0; at < word.size();) {
            const std::size_t end = std::min(word.find('_', at), word.size());
            if (end > at) words.push_back(word.substr(at, end - at));
            at = end + 1;
        }
    };
    std::string word;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80 && (std::isalnum(byte) != 0 || c == '_')) {
            word += static_cast<char>(std::tolower(byte));
        } else if (!word.empty()) {
            add(word);
            word.clear();
        }
    }
    if (!word.empty()) add(word);
    return words;
}

std::string search_index(std::span<const Room> rooms) {
    Index index;
    for (const Room& room : rooms)
        for (const Page* const page : room.pages) index.add(*page, room.name);
    return index.script();
}

}  // namespace lockstep::docs
