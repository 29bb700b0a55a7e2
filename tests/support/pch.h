// Precompiled for every test executable.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/pch.h"
