// Precompiled for every test executable.

#pragma once

#include "core/base/pch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
