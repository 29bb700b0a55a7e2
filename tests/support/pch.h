// Precompiled for every test executable.

#pragma once

#include "core/pch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
