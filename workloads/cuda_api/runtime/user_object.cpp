// SPDX-License-Identifier: Apache-2.0
// Objects of the program that live as long as the graphs that use them.
#include "workloads/cuda_api/runtime/call.h"

namespace lockstep::cuda {

LOCKSTEP_CUDA Error cudaUserObjectCreate(UserObject** object, void* data, abi::HostFunction destroy,
                                         unsigned references, unsigned flags) {
    return call([&](Context&) {
        constexpr unsigned kNoDestructorSync = 1;
        if (!object || !destroy || references == 0 || flags != kNoDestructorSync)
            return Error::kInvalidValue;
        *object = new UserObject{data, destroy, references};
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaUserObjectRetain(UserObject* object, unsigned count) {
    return call([&](Context&) {
        if (!object || count == 0) return Error::kInvalidValue;
        object->references += count;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaUserObjectRelease(UserObject* object, unsigned count) {
    return call([&](Context& context) { return release_object(context, object, count); });
}
LOCKSTEP_CUDA Error cudaGraphRetainUserObject(Graph* handle, UserObject* object, unsigned count,
                                              unsigned flags) {
    return call([&](Context& context) {
        constexpr unsigned kMove = 1;
        const auto graph = context.graphs.find(handle);
        if (!graph || !object || count == 0 || flags > kMove) return Error::kInvalidValue;
        if (flags != kMove) object->references += count;
        graph->objects().emplace_back(object, count);
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphReleaseUserObject(Graph* handle, UserObject* object, unsigned count) {
    return call([&](Context& context) {
        const auto graph = context.graphs.find(handle);
        if (!graph) return Error::kInvalidValue;
        for (auto& [held, references] : graph->objects()) {
            if (held != object || references < count) continue;
            references -= count;
            return release_object(context, object, count);
        }
        return Error::kInvalidValue;
    });
}

}  // namespace lockstep::cuda
