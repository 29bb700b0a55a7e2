#include "core/base/cores.h"

#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace annals {
namespace {

TEST(Cores, AQuotaIsRoundedUp) {
    EXPECT_EQ(cores_of_quota("100000 100000\n"), 1);
    EXPECT_EQ(cores_of_quota("150000 100000\n"), 2);
    EXPECT_EQ(cores_of_quota("400000 100000"), 4);
    EXPECT_EQ(cores_of_quota("5000 100000\n"), 1);
    EXPECT_EQ(cores_of_quota("18446744073709551615 1\n"), 8192);
}

TEST(Cores, WhatIsNoQuotaLeavesAllCores) {
    for (const char* text : {"max 100000\n", "", "100000", "100000 ", "100000 0", "-1 100000",
                             "100000,100000", "18446744073709551616 1"}) {
        EXPECT_EQ(cores_of_quota(text), std::nullopt) << text;
    }
}

TEST(Cores, TheSmallestQuotaOfAGroupAndThoseAboveItCounts) {
    const test::TemporaryDirectory directory;
    const std::string root = directory.path();
    std::filesystem::create_directories(root + "/system.slice/annals.service");
    const auto write = [&](const std::string& group, const char* text) {
        std::ofstream(root + group + "/cpu.max") << text;
    };
    const std::string self = "4:cpu,cpuacct:/other\n0::/system.slice/annals.service\n";
    EXPECT_EQ(cores_of_group(root, self), std::nullopt);
    write("/system.slice/annals.service", "max 100000\n");
    EXPECT_EQ(cores_of_group(root, self), std::nullopt);
    write("/system.slice", "300000 100000\n");
    EXPECT_EQ(cores_of_group(root, self), 3);
    write("/system.slice/annals.service", "120000 100000\n");
    EXPECT_EQ(cores_of_group(root, self), 2);
    write("", "50000 100000\n");  // as seen from inside a container
    EXPECT_EQ(cores_of_group(root, self), 1);
    EXPECT_EQ(cores_of_group(root, "0::/\n"), 1);
    EXPECT_EQ(cores_of_group(root, "4:cpu,cpuacct:/other\n"), std::nullopt);
    EXPECT_EQ(cores_of_group(root, ""), std::nullopt);
}

TEST(Cores, AProcessHeldToOneCoreHasOne) {
    unsigned counted = 0;
    std::thread([&] {
        cpu_set_t all;
        ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
        cpu_set_t one;
        CPU_ZERO(&one);
        for (unsigned core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
            if (CPU_ISSET(core, &all)) {
                CPU_SET(core, &one);
            }
        }
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);  // of this thread only
        counted = available_cores();
    }).join();
    EXPECT_EQ(counted, 1);
}

}  // namespace
}  // namespace annals
