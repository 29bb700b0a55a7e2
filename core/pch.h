// Precompiled for the libraries that know coroutines, with what most of their files include and what seldom changes.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "codec/json/document.h"
#include "core/base/pch.h"
#include "core/exchange.h"
#include "core/search/execute.h"
#include "core/service.h"
#include "storage/store.h"

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/steady_timer.hpp>

#include <filesystem>
