// SPDX-License-Identifier: Apache-2.0
// Something for every byte range of a large, sparsely used address space.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace lockstep::gpu::check {

/// Pages of kBytes bytes of the address space, made when they are first asked for.
template <typename Page, std::uint64_t kBytes>
class Paged {
  public:
    static constexpr std::uint64_t kPageBytes = kBytes;

    Page& page(std::uint64_t address) {
        const std::uint64_t number = address / kBytes;
        Recent& recent = recent_[number % recent_.size()];
        if (recent.page != nullptr && recent.number == number) [[likely]]
            return *recent.page;
        auto& page = pages_[number];
        if (page == nullptr) page = std::make_unique<Page>();
        recent = {number, page.get()};
        return *page;
    }
    /// nullptr where nobody has asked for it.
    Page* find(std::uint64_t address) {
        const auto found = pages_.find(address / kBytes);
        return found == pages_.end() ? nullptr : found->second.get();
    }
    void clear() {
        pages_.clear();
        recent_ = {};
    }

  private:
    struct Recent {
        std::uint64_t number = 0;
        Page* page = nullptr;
    };
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::array<Recent, 1024> recent_{};
};

}  // namespace lockstep::gpu::check
