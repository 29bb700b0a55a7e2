// Precompiled for every library: what most files use anyway, and what is slow to parse and included with it (roaring.h includes
// all of immintrin.h).

#pragma once

#include "core/base/digest.h"
#include "core/base/result.h"

#include <fmt/format.h>

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <coroutine>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
