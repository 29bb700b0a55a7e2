// Precompiled for the store, with what most of its files include and what seldom changes.

#pragma once

#include "core/base/pch.h"
#include "storage/file_system.h"
#include "storage/search_run.h"
#include "storage/types.h"
