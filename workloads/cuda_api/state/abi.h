// SPDX-License-Identifier: Apache-2.0
// The binary interface of the CUDA runtime, declared anew: the types that cross it, with the names
// CUDA's documentation gives their fields. A test compares layouts with the toolkit's headers.
#pragma once

#include <cstddef>
#include <cstdint>

/// Marks a function that the library exports.
#define LOCKSTEP_CUDA extern "C" __attribute__((visibility("default")))

namespace lockstep::cuda {

class Stream;
class Event;
class Graph;
class GraphExec;
class GraphNode;
class MemoryPool;
class Module;
struct Kernel;
struct UserObject;

/// cudaError_t. errors.txt has every code with its name and text; these are the ones returned here.
enum class Error : int {
    kSuccess = 0,
    kInvalidValue = 1,
    kMemoryAllocation = 2,
    kInvalidConfiguration = 9,
    kInvalidPitchValue = 12,
    kInvalidSymbol = 13,
    kInvalidChannelDescriptor = 20,
    kInvalidMemcpyDirection = 21,
    kInvalidFilterSetting = 26,
    kInvalidNormSetting = 27,
    kMissingConfiguration = 52,
    kInvalidDeviceFunction = 98,
    kInvalidDevice = 101,
    kInvalidKernelImage = 200,
    kNoKernelImageForDevice = 209,
    kUnsupportedLimit = 215,
    kPeerAccessUnsupported = 217,
    kFileNotFound = 301,
    kInvalidResourceHandle = 400,
    kOperatingSystem = 304,
    kIllegalState = 401,
    kSymbolNotFound = 500,
    kNotReady = 600,
    kIllegalAddress = 700,
    kLaunchOutOfResources = 701,
    kLaunchTimeout = 702,
    kPeerAccessAlreadyEnabled = 704,
    kPeerAccessNotEnabled = 705,
    kAssert = 710,
    kHostMemoryAlreadyRegistered = 712,
    kHostMemoryNotRegistered = 713,
    kIllegalInstruction = 715,
    kMisalignedAddress = 716,
    kInvalidAddressSpace = 717,
    kInvalidPc = 718,
    kLaunchFailure = 719,
    kCooperativeLaunchTooLarge = 720,
    kNotPermitted = 800,
    kNotSupported = 801,
    kStreamCaptureUnsupported = 900,
    kStreamCaptureInvalidated = 901,
    kStreamCaptureMerge = 902,
    kStreamCaptureUnmatched = 903,
    kStreamCaptureUnjoined = 904,
    kStreamCaptureIsolation = 905,
    kStreamCaptureImplicit = 906,
    kCapturedEvent = 907,
    kGraphExecUpdateFailure = 910,
    kInvalidClusterSize = 912,
};

namespace abi {

struct Dim3 {
    unsigned x, y, z;
};

struct Extent {
    std::size_t width, height, depth;  ///< width in bytes where no array takes part
};
struct Position {
    std::size_t x, y, z;
};
struct ChannelFormatDesc {
    int x, y, z, w;  ///< bits of each component
    int f;           ///< cudaChannelFormatKind
};
struct PitchedPointer {
    void* ptr;
    std::size_t pitch, xsize, ysize;
};

enum MemcpyKind : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault };

/// cudaMemcpy3DParms
struct Memcpy3D {
    void* srcArray;
    Position srcPos;
    PitchedPointer srcPtr;
    void* dstArray;
    Position dstPos;
    PitchedPointer dstPtr;
    Extent extent;
    MemcpyKind kind;
};
/// cudaMemcpy3DPeerParms
struct Memcpy3DPeer {
    void* srcArray;
    Position srcPos;
    PitchedPointer srcPtr;
    int srcDevice;
    void* dstArray;
    Position dstPos;
    PitchedPointer dstPtr;
    int dstDevice;
    Extent extent;
};
/// cudaMemsetParams
struct MemsetParams {
    void* dst;
    std::size_t pitch;
    unsigned value, elementSize;
    std::size_t width, height;  ///< in elements, in rows
};

using HostFunction = void (*)(void*);
using StreamCallback = void (*)(Stream*, Error, void*);

struct HostNodeParams {
    HostFunction fn;
    void* userData;
};
struct KernelNodeParams {
    void* func;
    Dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void** kernelParams;
    void** extra;
};

enum MemoryType : int { kUnregistered, kHost, kDevice, kManaged };

/// cudaPointerAttributes; CUDA 11 and 12 have no reserved part.
struct PointerAttributes {
    MemoryType type;
    int device;
    void *devicePointer, *hostPointer;
    long reserved[8];
};

/// cudaFuncAttributes; CUDA 11 ends before clusterDimMustBeSet.
struct FuncAttributes {
    std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
    int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
    int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
    int reserved[16];
};

enum FuncAttribute : int {
    kMaxDynamicSharedMemorySize = 8,
    kPreferredSharedMemoryCarveout = 9,
    kClusterDimMustBeSet = 10,
    kRequiredClusterWidth = 11,
    kRequiredClusterHeight = 12,
    kRequiredClusterDepth = 13,
    kNonPortableClusterSizeAllowed = 14,
    kClusterSchedulingPolicyPreference = 15,
};

enum Limit : int {
    kLimitStackSize,
    kLimitPrintfFifoSize,
    kLimitMallocHeapSize,
    kLimitDevRuntimeSyncDepth,
    kLimitDevRuntimePendingLaunchCount,
    kLimitMaxL2FetchGranularity,
    kLimitPersistingL2CacheSize,
    kLimitCount,
};

struct MemLocation {
    int type, id;
};
struct MemAccessDesc {
    MemLocation location;
    int flags;
};
/// CUmemAllocationProp
struct MemAllocationProp {
    int type, requestedHandleTypes;
    MemLocation location;
    void* win32HandleMetaData;
    unsigned char compressionType, gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
};
/// cudaMemPoolProps
struct MemPoolProps {
    int allocType, handleTypes;
    MemLocation location;
    void* win32SecurityAttributes;
    std::size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};
struct MemAllocNodeParams {
    MemPoolProps poolProps;
    const MemAccessDesc* accessDescs;
    std::size_t accessDescCount, bytesize;
    void* dptr;
};
enum MemPoolAttribute : int {
    kReuseFollowEventDependencies = 1,
    kReuseAllowOpportunistic,
    kReuseAllowInternalDependencies,
    kReleaseThreshold,
    kReservedMemCurrent,
    kReservedMemHigh,
    kUsedMemCurrent,
    kUsedMemHigh,
};

enum LaunchAttributeId : int {
    kLaunchAttributeIgnore = 0,
    kLaunchAttributeAccessPolicyWindow = 1,
    kLaunchAttributeCooperative = 2,
    kLaunchAttributeSynchronizationPolicy = 3,
    kLaunchAttributeClusterDimension = 4,
    kLaunchAttributeProgrammaticStreamSerialization = 6,
    kLaunchAttributeProgrammaticEvent = 7,
    kLaunchAttributePriority = 8,
    kLaunchAttributePreferredClusterDimension = 11,
    kLaunchAttributeLaunchCompletionEvent = 12,
};
union LaunchAttributeValue {
    char pad[64];
    int cooperative;
    int priority;
    int programmaticStreamSerializationAllowed;
    Dim3 clusterDim;
    struct {
        Event* event;
        int flags, triggerAtBlockStart;
    } programmaticEvent;
};
struct LaunchAttribute {
    LaunchAttributeId id;
    int unused;
    LaunchAttributeValue val;
};
/// cudaLaunchConfig_t
struct LaunchConfig {
    Dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes;
    Stream* stream;
    LaunchAttribute* attrs;
    unsigned numAttrs;
};

enum CaptureStatus : int { kCaptureNone, kCaptureActive, kCaptureInvalidated };
enum CaptureMode : int { kCaptureGlobal, kCaptureThreadLocal, kCaptureRelaxed };

enum GraphNodeType : int {
    kNodeKernel = 0,
    kNodeMemcpy = 1,
    kNodeMemset = 2,
    kNodeHost = 3,
    kNodeGraph = 4,
    kNodeEmpty = 5,
    kNodeWaitEvent = 6,
    kNodeEventRecord = 7,
    kNodeMemAlloc = 10,
    kNodeMemFree = 11,
    kNodeConditional = 13,
};
struct GraphEdgeData {
    unsigned char from_port, to_port, type, reserved[5];
};
struct MemcpyNodeParams {
    int flags, reserved[3];
    Memcpy3D copyParams;
};
/// cudaGraphNodeParams (CUDA 12 and later)
struct GraphNodeParams {
    GraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        KernelNodeParams kernel;
        MemcpyNodeParams memcpy;
        MemsetParams memset;
        HostNodeParams host;
        Graph* graph;
        Event* event;
        MemAllocNodeParams alloc;
        void* free;
    };
    long long reserved2;
};
struct GraphInstantiateParams {
    unsigned long long flags;
    Stream* uploadStream;
    GraphNode* errNode_out;
    int result_out;
};
enum GraphExecUpdateResult : int {
    kUpdateSuccess = 0,
    kUpdateError = 1,
    kUpdateTopologyChanged = 2,
    kUpdateNodeTypeChanged = 3,
    kUpdateNotSupported = 6,
};
struct GraphExecUpdateResultInfo {
    GraphExecUpdateResult result;
    GraphNode *errorNode, *errorFromNode;
};

/// What nvcc embeds for every fatbin (fatbinary_section.h).
struct FatbinWrapper {
    int magic, version;
    const void* data;
    void* filename_or_fatbins;
};
inline constexpr int kFatbinWrapperMagic = 0x466243b1;

}  // namespace abi
}  // namespace lockstep::cuda
