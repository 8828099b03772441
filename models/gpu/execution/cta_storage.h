// SPDX-License-Identifier: Apache-2.0
// The memory of a CTA's warps, shared and local memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "isa/sass/async_engine.h"
#include "isa/sass/state.h"

namespace lockstep::gpu {

/// A CTA with the memory of its warps, shared and local memory. Worth keeping from launch to
/// launch: the host's memory is touched for the first time once.
class CtaStorage {
  public:
    CtaStorage() = default;
    explicit CtaStorage(sass::Launch& launch) { prepare(launch); }
    CtaStorage(const CtaStorage&) = delete;
    CtaStorage& operator=(const CtaStorage&) = delete;

    /// For CTAs of this launch from now on; start() must follow.
    void prepare(sass::Launch& launch);
    /// Sets the CTA to its initial state: registers zero, all threads at the kernel's entry.
    void start(std::uint64_t linear_index);
    sass::Cta& cta() { return cta_; }
    std::span<sass::Warp> warps() { return warps_; }
    /// Who performs the CTA's asynchronous copies from now on.
    template <typename Engine>
    Engine& perform_copies_by(std::unique_ptr<Engine> engine) {
        Engine& performer = *engine;
        async_ = std::move(engine);
        cta_.async = &performer;
        return performer;
    }

  private:
    /// What decides where everything lies.
    struct Shape {
        std::uint32_t threads = 0, rows = 0, local_bytes = 0, shared_bytes = 0;
        bool operator==(const Shape&) const = default;
    };
    void lay_out();

    sass::Launch* launch_ = nullptr;
    Shape shape_;
    sass::Cta cta_;
    std::unique_ptr<sass::AsyncEngine> async_;
    std::vector<sass::Warp> warps_;
    /// Rows that hold anything until they are set.
    class Rows {
      public:
        sass::Row* data() { return rows_.get(); }
        void at_least(std::size_t count) {
            if (count <= count_) return;
            rows_ = std::make_unique_for_overwrite<sass::Row[]>(count);
            count_ = count;
        }

      private:
        std::unique_ptr<sass::Row[]> rows_;
        std::size_t count_ = 0;
    };
    // Never shorter than a launch before needed them.
    Rows rows_, local_;
    std::vector<sass::Row> shared_;  ///< may be read beyond what the launch has
};

/// Storage that waits for a launch in emulation.
class CtaPool {
  public:
    std::unique_ptr<CtaStorage> take(sass::Launch& launch);
    /// Beyond what launches take at a time as a rule, storage goes back to the host.
    void give_back(std::unique_ptr<CtaStorage> storage);

  private:
    std::vector<std::unique_ptr<CtaStorage>> spare_;
};

}  // namespace lockstep::gpu
