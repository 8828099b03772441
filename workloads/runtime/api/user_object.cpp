// SPDX-License-Identifier: Apache-2.0
// Objects of the program that live as long as the graphs that use them.
#include <utility>

#include "workloads/runtime/runtime.h"

namespace lockstep::cuda {
namespace {

/// Gives up references and destroys the object with its last one.
Error release(Runtime& runtime, UserObject* object, unsigned count) {
    if (!object || count == 0 || count > object->references) return Error::kInvalidValue;
    object->references -= count;
    if (object->references != 0) return Error::kSuccess;
    runtime.run_unlocked([&] { object->destroy(object->data); });
    delete object;
    return Error::kSuccess;
}

}  // namespace

LOCKSTEP_CUDA Error cudaUserObjectCreate(UserObject** object, void* data, abi::HostFunction destroy,
                                         unsigned references, unsigned flags) {
    return call([&](Runtime&) {
        constexpr unsigned kNoDestructorSync = 1;
        if (!object || !destroy || references == 0 || flags != kNoDestructorSync)
            return Error::kInvalidValue;
        *object = new UserObject{data, destroy, references};
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaUserObjectRetain(UserObject* object, unsigned count) {
    return call([&](Runtime&) {
        if (!object || count == 0) return Error::kInvalidValue;
        object->references += count;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaUserObjectRelease(UserObject* object, unsigned count) {
    return call([&](Runtime& runtime) { return release(runtime, object, count); });
}
LOCKSTEP_CUDA Error cudaGraphRetainUserObject(Graph* handle, UserObject* object, unsigned count,
                                              unsigned flags) {
    return call([&](Runtime& runtime) {
        constexpr unsigned kMove = 1;
        const auto graph = runtime.graphs.find(handle);
        if (!graph || !object || count == 0 || flags > kMove) return Error::kInvalidValue;
        if (flags != kMove) object->references += count;
        graph->objects().emplace_back(object, count);
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphReleaseUserObject(Graph* handle, UserObject* object, unsigned count) {
    return call([&](Runtime& runtime) {
        const auto graph = runtime.graphs.find(handle);
        if (!graph) return Error::kInvalidValue;
        for (auto& [held, references] : graph->objects()) {
            if (held != object || references < count) continue;
            references -= count;
            return release(runtime, object, count);
        }
        return Error::kInvalidValue;
    });
}

void release_objects(Runtime& runtime, std::vector<std::pair<UserObject*, unsigned>>& objects) {
    for (auto& [object, references] : objects)
        if (references != 0) release(runtime, object, references);
    objects.clear();
}

}  // namespace lockstep::cuda
