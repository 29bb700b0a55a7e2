#include "core/base/digest.h"
#include "core/base/ids.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/base/resource_types.h"
#include "core/base/result.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace annals {
namespace {

TEST(ResourceId, FollowsFhirsPattern) {
    EXPECT_TRUE(is_resource_id("a"));
    EXPECT_TRUE(is_resource_id("A-1.b"));
    EXPECT_TRUE(is_resource_id(std::string(64, 'x')));
    for (const std::string& text :
         {std::string(), std::string(65, 'x'), std::string("a b"), std::string("a/b"),
          std::string("a_b"), std::string("\xc3\xa4"), std::string("a\0", 2)}) {
        EXPECT_FALSE(is_resource_id(text)) << text;
    }
}

TEST(ResourceId, IsJudgedByEachOfItsCharacters) {
    const auto is_allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '.';
    };
    for (std::size_t size = 1; size <= 64; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            for (int value = 0; value < 256; ++value) {
                std::string text(size, 'x');
                text[at] = static_cast<char>(value);
                ASSERT_EQ(is_resource_id(text), is_allowed(text[at])) << size << ' ' << at;
            }
        }
    }
}

TEST(ResourceTypes, AreFoundByTheirExactName) {
    EXPECT_EQ(resource_type_names().size(), kResourceTypeCount);
    for (std::uint16_t i = 0; i < kResourceTypeCount; ++i) {
        const auto found = find_resource_type(resource_type_names()[i]);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->value, i);
        EXPECT_EQ(resource_type_name(*found), resource_type_names()[i]);
    }
    for (const char* name : {"", "patient", "Patients", "Resource", "DomainResource", "Nonsense"}) {
        EXPECT_FALSE(find_resource_type(name)) << name;
    }
}

TEST(ResourceTypes, AreNotFoundByAnotherName) {
    const auto names = resource_type_names();
    const std::set<std::string_view> known(names.begin(), names.end());
    const auto expect_unknown = [&](const std::string& name) {
        EXPECT_TRUE(known.contains(name) || !find_resource_type(name)) << name;
    };
    for (const std::string_view name : names) {
        for (std::size_t at = 0; at < name.size(); ++at) {
            std::string other(name);
            other[at] ^= 1;
            expect_unknown(other);
            expect_unknown(std::string(name).insert(at, 1, 'x'));
            expect_unknown(std::string(name).erase(at, 1));
            expect_unknown(std::string(name.substr(0, at)));
        }
    }
}

TEST(Digest, AgreesWithPublishedVectors) {
    EXPECT_EQ(sha1("abc"),
              "\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e\x25\x71\x78\x50\xc2\x6c\x9c\xd0\xd8\x9d");
    EXPECT_EQ(sha256_hex("abc"),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hash64(""), 0x2d06800538d394c2U);
    EXPECT_NE(hash64("a", 1), hash64("a", 2));
    EXPECT_EQ(hash128("Patient/1", 7), hash128("Patient/1", 7));
    EXPECT_NE(hash128("Patient/1", 7), hash128("Patient/2", 7));
}

TEST(Digest, OfBytesInPartsIsThatOfTheWhole) {
    std::string bytes(5000, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<char>(i * i >> 3);
    }
    Hash64Stream stream(9);
    for (const std::size_t part : {1U, 7U, 100U, 240U, 256U, 1000U, 5000U}) {
        stream.restart();
        for (std::size_t at = 0; at < bytes.size(); at += part) {
            stream.add(std::string_view(bytes).substr(at, part));
            const std::size_t end = std::min(at + part, bytes.size());
            ASSERT_EQ(stream.value(), hash64(std::string_view(bytes).substr(0, end), 9));
        }
    }
    EXPECT_EQ(Hash64Stream().value(), hash64(""));
}

TEST(Uuid, IsVersionFourAndNeverTheSame) {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        const std::string uuid = make_uuid();
        ASSERT_EQ(uuid.size(), 36U);
        EXPECT_TRUE(is_resource_id(uuid));
        EXPECT_EQ(uuid[14], '4');
        EXPECT_NE(std::string_view("89ab").find(uuid[19]), std::string_view::npos);
        EXPECT_TRUE(seen.insert(uuid).second);
    }
}

TEST(RandomHex, IsLowerCaseAndNeverTheSame) {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        std::string digits(17, 'x');
        write_random_hex(digits.data());
        EXPECT_EQ(digits.find_first_not_of("0123456789abcdef"), 16U);
        EXPECT_TRUE(seen.insert(digits).second);
    }
}

Result<int> half(int value) {
    if (value % 2 != 0) {
        return Error{Errc::value, "odd", {}};
    }
    return value / 2;
}

Result<int> quarter(int value) {
    ANNALS_TRY(const int once, half(value));
    ANNALS_TRY(const int twice, half(once));
    return twice;
}

TEST(Result, CarriesTheValueOrTheFirstError) {
    EXPECT_EQ(*quarter(8), 2);
    ASSERT_FALSE(quarter(6));
    EXPECT_EQ(quarter(6).error().detail, "odd");
}

TEST(ResultDeathTest, AbortsWhenTheWrongSideIsRead) {
    EXPECT_DEATH(static_cast<void>(*quarter(6)), "check failed.*odd");
    EXPECT_DEATH(static_cast<void>(quarter(8).error()), "check failed");
}

TEST(Log, HasOneLineOfAnEventWhateverIsToldInIt) {
    testing::internal::CaptureStderr();
    log_warning("Subscription/a: criteria: 'x\r\n2026-01-01T00:00:00.000+00:00 error \x1b[2J\x7f'");
    const std::string told = testing::internal::GetCapturedStderr();
    ASSERT_TRUE(told.ends_with('\n')) << told;
    EXPECT_EQ(std::ranges::count_if(told, [](unsigned char c) { return c < 0x20 || c == 0x7f; }), 1)
        << told;
    EXPECT_NE(told.find("'x  2026-01-01T00"), std::string::npos) << told;
}

// If the reader of the log hangs, a server whose threads waited for it would hang, too.
TEST(Log, WaitsForNoReaderThatStandsStill) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    ASSERT_GT(::fcntl(pipe[1], F_SETPIPE_SZ, 4096), 0);
    const int before = ::dup(STDERR_FILENO);
    ASSERT_EQ(::dup2(pipe[1], STDERR_FILENO), STDERR_FILENO);
    for (int n = 0; n < 100; ++n) {
        log_warning(std::string(200, 'x'));
    }
    std::array<char, 8192> read{};
    EXPECT_GT(::read(pipe[0], read.data(), read.size()), 0);
    log_warning("again");
    const ssize_t size = ::read(pipe[0], read.data(), read.size());
    ::dup2(before, STDERR_FILENO);
    for (const int fd : {before, pipe[0], pipe[1]}) {
        ::close(fd);
    }
    ASSERT_GT(size, 0);
    const std::string later(read.data(), static_cast<std::size_t>(size));
    EXPECT_NE(later.find("lines were dropped"), std::string::npos) << later;
    EXPECT_NE(later.find("again"), std::string::npos) << later;
}

}  // namespace
}  // namespace annals
