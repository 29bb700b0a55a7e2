// Precompiled for the libraries that know coroutines.

#pragma once

#include "core/base/pch.h"

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/steady_timer.hpp>
