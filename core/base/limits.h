// Limits on everything that comes from outside and is not configurable.
//
// Layer:   core/base.

#pragma once

#include <cstddef>

namespace annals {

inline constexpr std::size_t kJsonDepthMax = 64;  ///< nested objects and arrays of a resource
/// The same for what contains resources: a Bundle, Parameters, an entry. So large that a resource beyond its own limit is
/// refused alone, not with everything beside it.
inline constexpr std::size_t kJsonWrappedDepthMax = 4 * kJsonDepthMax;
inline constexpr std::size_t kJsonBytesMax = 0xffff'0000;  ///< offsets are 32 bits
inline constexpr std::size_t kRequestTargetBytesMax = 8 << 10;
/// The same for a link to a page, whose query begins with `_cursor=`: a search by POST may be longer than a URL.
inline constexpr std::size_t kPageTargetBytesMax = 64 << 10;
inline constexpr std::size_t kHeaderBytesMax = 32 << 10;  ///< request line and all headers
/// A Bundle of one entry may exceed limits.max_body by this much, so that whatever is stored can be sent on in one.
inline constexpr std::size_t kBundleWrapBytes = 8 << 10;
inline constexpr std::size_t kHeaderCountMax = 100;
inline constexpr std::size_t kPipelinedRequestsMax = 64;     ///< answered per turn of a connection
inline constexpr std::size_t kUnsyncedBytesMax = 256 << 20;  ///< gathered but not yet on the device
inline constexpr std::size_t kCommitRecordsMax = 1 << 20;    ///< records of one commit
inline constexpr std::size_t kRequestIdBytesMax = 128;       ///< of an X-Request-Id
inline constexpr std::size_t kTermsPerVersionMax = 1024;     ///< in a record of the log
inline constexpr std::size_t kPatchOperationsMax = 1000;     ///< operations of one patch

}  // namespace annals
