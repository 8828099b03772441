// SPDX-License-Identifier: Apache-2.0
// Gathers the families of semantics into one table by base opcode, checked for overlap.
#include <array>
#include <vector>

#include "isa/sass/binder.h"
#include "sim/error/error.h"

namespace lockstep::sass {

namespace {

class Registry {
  public:
    Registry() {
        for (const auto family :
             {integer_semantics(),    integer_add_semantics(), integer_multiply_semantics(),
              logic_semantics(),      shift_semantics(),       bit_field_semantics(),
              video_semantics(),      dpx_semantics(),         predicate_semantics(),
              warp_semantics(),       uniform_semantics(),     float_semantics(),
              half_semantics(),       double_semantics(),      conversion_semantics(),
              mufu_semantics(),       memory_semantics(),      atomic_semantics(),
              async_copy_semantics(), tensor_semantics(),      control_flow_semantics(),
              jump_semantics(),       barrier_semantics(),     special_register_semantics(),
              cluster_semantics(),    texture_semantics()}) {
            for (const BindEntry& entry : family) {
                for (const BindEntry* other : entries_[entry.base_opcode])
                    LOCKSTEP_CHECK(
                        other->last_arch < entry.first_arch || entry.last_arch < other->first_arch,
                        "two semantics for base opcode {:#x}", entry.base_opcode);
                entries_[entry.base_opcode].push_back(&entry);
            }
        }
    }

    const BindEntry* find(unsigned base_opcode, Arch arch) const {
        for (const BindEntry* entry : entries_[base_opcode])
            if (entry->first_arch <= arch && arch <= entry->last_arch) return entry;
        return nullptr;
    }

  private:
    std::array<std::vector<const BindEntry*>, 512> entries_;
};

}  // namespace

const BindEntry* find_bind_entry(const Word& word, Arch arch) {
    static const Registry registry;
    return registry.find(word.base_opcode(), arch);
}

}  // namespace lockstep::sass
