#include "storage/file_system.h"
#include "tests/support/no_descriptors.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

namespace {

/// The number of entries that readdir() still returns before it fails; none: it doesn't.
thread_local std::optional<int> entries_found;

/// What fsync() is called for.
thread_local std::vector<std::string> synced;

}  // namespace

/// Replaces the system's readdir(), which can't be made to fail on any file system here.
extern "C" dirent* readdir(DIR* directory) {
    if (entries_found && (*entries_found)-- == 0) {
        errno = EIO;
        return nullptr;
    }
    static const auto system = reinterpret_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
    return system(directory);
}

/// Takes down what the system's fsync() is called for.
extern "C" int fsync(int fd) {
    synced.push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)));
    static const auto system = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fsync"));
    return system(fd);
}

namespace annals::storage {
namespace {

using Mode = FileSystem::Mode;

class PosixFileSystemTest : public testing::Test {
  protected:
    std::unique_ptr<File> open(const std::string& name, Mode mode) {
        auto file = fs_.open(directory_ / name, mode);
        EXPECT_TRUE(file) << file.error().detail;
        return *std::move(file);
    }

    FileSystem& fs_ = posix_file_system();
    test::TemporaryDirectory directory_;
};

TEST_F(PosixFileSystemTest, ReadsBackWhatItWrote) {
    auto file = open("f", Mode::create);
    ASSERT_TRUE(file->write(5, "hello"));
    ASSERT_TRUE(file->sync());
    EXPECT_EQ(*file->size(), 10U);
    char bytes[20];
    EXPECT_EQ(*open("f", Mode::read)->read(3, bytes), 7U);
    EXPECT_EQ(std::string_view(bytes, 7), std::string_view("\0\0hello", 7));
}

TEST_F(PosixFileSystemTest, CallsAFileByTheNameThatItHas) {
    const auto made = open("new.tmp", Mode::create);
    const auto file = open("new.tmp", Mode::read);
    ASSERT_TRUE(fs_.rename(directory_ / "new.tmp", directory_ / "named"));
    EXPECT_NE(file->write(0, "x").error().detail.find("/named: "), std::string::npos);
    ASSERT_TRUE(fs_.remove(directory_ / "named"));
    EXPECT_NE(file->write(0, "x").error().detail.find("/new.tmp: "), std::string::npos);
}

TEST_F(PosixFileSystemTest, TakesTooFewDescriptorsForAShortage) {
    const test::NoDescriptors none;
    EXPECT_EQ(fs_.open(directory_ / "f", Mode::create).error().code, Errc::no_store);
    EXPECT_EQ(fs_.sync_directory(directory_ / "").error().code, Errc::no_store);
}

TEST_F(PosixFileSystemTest, ShowsLaterWritesThroughAMappingThatOutlivesItsFile) {
    auto file = open("f", Mode::create);
    ASSERT_TRUE(file->allocate(8192));
    EXPECT_EQ(*file->size(), 8192U);
    auto map = *file->map(8192);
    ASSERT_TRUE(file->write(4096, "later"));
    file.reset();
    EXPECT_EQ(std::string_view(map.get() + 4096, 5), "later");
    EXPECT_EQ(map.get()[0], '\0');
}

TEST_F(PosixFileSystemTest, ReadsZerosWhereNothingCanBeRead) {
    auto file = open("f", Mode::create);
    ASSERT_TRUE(file->write(0, std::string(4 * kPageBytes, 'x')));
    auto map = *file->map(4 * kPageBytes);
    auto other = *file->map(4 * kPageBytes);
    ASSERT_TRUE(file->resize(kPageBytes));
    EXPECT_EQ(map.get()[0], 'x');
    EXPECT_EQ(map.get()[kPageBytes], '\0');
    EXPECT_EQ(map.get()[4 * kPageBytes - 1], '\0');
    map.reset();
    EXPECT_EQ(other.get()[2 * kPageBytes], '\0');
}

TEST_F(PosixFileSystemTest, TrustsNoZerosInThePlaceOfWhatWasVerified) {
    auto file = open("f", Mode::create);
    ASSERT_TRUE(file->write(0, std::string(2 * kPageBytes, 'x')));
    const auto last = [](const char* mapped) {
        return const_cast<const volatile char*>(mapped)[kPageBytes];
    };
    const auto trusted =
        file->map_trusted(2 * kPageBytes, [&](const char* mapped) { return last(mapped) == 'x'; });
    ASSERT_TRUE(trusted);
    ASSERT_TRUE(file->resize(kPageBytes));
    char seen = 'x';
    const auto cut = file->map_trusted(2 * kPageBytes, [&](const char* mapped) {
        seen = last(mapped);
        return false;
    });
    EXPECT_EQ(seen, '\0');
    EXPECT_EQ(cut.error().code, Errc::corrupt);
    EXPECT_DEATH(static_cast<void>(last(trusted->get())), "can no longer be read");
}

TEST_F(PosixFileSystemTest, WritesZerosToTheEndOfTheLastPage) {
    auto file = open("f", Mode::create);
    ASSERT_TRUE(file->write(0, std::string(3 * kPageBytes, 'x')));
    ASSERT_TRUE(file->write_pages(10, std::string(kPageBytes, 'y')));
    ASSERT_TRUE(file->write_pages(2 * kPageBytes, std::string(kPageBytes, 'z')));
    std::string bytes(3 * kPageBytes + 1, '?');
    ASSERT_EQ(*file->read(0, bytes), 3 * kPageBytes);
    EXPECT_EQ(bytes.substr(0, 3 * kPageBytes), std::string(10, 'x') + std::string(kPageBytes, 'y') +
                                                   std::string(kPageBytes - 10, '\0') +
                                                   std::string(kPageBytes, 'z'));
}

TEST_F(PosixFileSystemTest, ForgetsWhatNobodyReads) {
    constexpr std::size_t kPages = 2048;
    auto file = open("f", Mode::create);
    std::string bytes(kPages * kPageBytes, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<char>(i * 7 + i / kPageBytes);
    }
    ASSERT_TRUE(file->write(0, bytes));
    ASSERT_TRUE(file->sync());
    const auto map = *file->map(bytes.size());
    const auto there = [&] {
        std::vector<unsigned char> pages(kPages);
        EXPECT_EQ(::mincore(const_cast<char*>(map.get()), bytes.size(), pages.data()), 0);
        std::ranges::for_each(pages, [](unsigned char& page) { page &= 1; });
        return pages;
    };
    ASSERT_EQ(map.get()[kPageBytes], bytes[kPageBytes]);
    open("f", Mode::read)->forget(0, bytes.size());
    struct statfs info{};
    ASSERT_EQ(::statfs((directory_ / "f").c_str(), &info), 0);
    const std::vector<unsigned char> left = there();
    EXPECT_EQ(left[1], 1);             // it was read
    if (info.f_type != TMPFS_MAGIC) {  // a tmpfs keeps everything in memory
        EXPECT_LT(std::ranges::count(left, 1), static_cast<std::ptrdiff_t>(kPages / 2));
    }
    EXPECT_EQ(std::string_view(map.get(), bytes.size()), bytes);
}

TEST_F(PosixFileSystemTest, ZerosAreSeenByWhoeverReads) {
    constexpr std::uint64_t kBytes = (2 << 20) + 3 * kPageBytes;  // more than one call writes
    auto file = open("f", Mode::create);
    ASSERT_TRUE(file->write(0, std::string(kBytes + 2 * kPageBytes, 'x')));
    auto map = *file->map(kBytes + 2 * kPageBytes);
    ASSERT_TRUE(fs_.rename(directory_ / "f", directory_ / "renamed"));
    auto other = open("f", Mode::create);  // takes over the name
    ASSERT_TRUE(other->write(0, std::string(kBytes, 'o')));

    ASSERT_TRUE(file->write_zeros(kPageBytes, kBytes));
    ASSERT_TRUE(file->sync());
    const std::string_view bytes(map.get(), kBytes + 2 * kPageBytes);
    EXPECT_EQ(bytes.find('\0'), kPageBytes);
    EXPECT_EQ(bytes.find('x', kPageBytes), kPageBytes + kBytes);
    ASSERT_TRUE(file->write_zeros(kPageBytes + kBytes + 1, 3));
    EXPECT_EQ(bytes.substr(kPageBytes + kBytes, 5), std::string_view("x\0\0\0x", 5));
    char first = '?';
    ASSERT_TRUE(other->read(kPageBytes, {&first, 1}));
    EXPECT_EQ(first, 'o');
}

TEST_F(PosixFileSystemTest, CutsAndExtends) {
    auto file = open("f", Mode::create);
    ASSERT_TRUE(file->write(0, "abcdef"));
    ASSERT_TRUE(file->resize(3));
    ASSERT_TRUE(file->resize(5));
    char bytes[8];
    EXPECT_EQ(*file->read(0, bytes), 5U);
    EXPECT_EQ(std::string_view(bytes, 5), std::string_view("abc\0\0", 5));
}

TEST_F(PosixFileSystemTest, CreatesOnlyWhatIsNotThere) {
    open("f", Mode::create);
    EXPECT_FALSE(fs_.open(directory_ / "f", Mode::create));
    auto missing = fs_.open(directory_ / "g", Mode::read);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Errc::not_found);
}

TEST_F(PosixFileSystemTest, OpensNothingButFiles) {
    ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
    ASSERT_TRUE(fs_.make_directory(directory_ / "folder"));
    EXPECT_FALSE(fs_.open("/dev/null", Mode::read));
    for (const std::string& path : {directory_ / "pipe", directory_ / "folder"}) {
        for (const Mode mode : {Mode::read, Mode::read_write}) {
            const auto opened = fs_.open(path, mode);
            ASSERT_FALSE(opened) << path;
            EXPECT_EQ(opened.error().code, Errc::io) << path;
        }
    }
}

TEST_F(PosixFileSystemTest, ListsRenamesAndRemoves) {
    ASSERT_TRUE(fs_.make_directory(directory_ / "a/b"));
    ASSERT_TRUE(fs_.make_directory(directory_ / "a/b"));
    open("a/b/one", Mode::create);
    open("a/b/two", Mode::create);
    ASSERT_TRUE(fs_.rename(directory_ / "a/b/one", directory_ / "a/b/three"));
    ASSERT_TRUE(fs_.remove(directory_ / "a/b/two"));
    ASSERT_TRUE(fs_.sync_directory(directory_ / "a/b"));
    EXPECT_EQ(*fs_.list(directory_ / "a/b"), std::vector<std::string>{"three"});
    EXPECT_TRUE(fs_.exists(directory_ / "a/b/three"));
    EXPECT_FALSE(fs_.exists(directory_ / "a/b/one"));
    EXPECT_EQ(fs_.list(directory_ / "none").error().code, Errc::not_found);
}

TEST_F(PosixFileSystemTest, KnowsFilesOfAnyTime) {
    open("f", Mode::create);
    const auto origin_at = [&](std::int64_t seconds) {
        const timespec time{.tv_sec = seconds, .tv_nsec = 0};
        const timespec times[] = {time, time};
        EXPECT_EQ(::utimensat(AT_FDCWD, (directory_ / "f").c_str(), times, 0), 0);
        const auto facts = fs_.facts(directory_ / "f");
        EXPECT_TRUE(facts);
        return facts ? facts->origin() : 0;
    };
    // The later one is beyond what 64 bits of nanoseconds can hold.
    EXPECT_NE(origin_at(1'000'000'000), origin_at(12'000'000'000));
}

TEST_F(PosixFileSystemTest, MakesDirectoriesThatNotEverybodyMayLookInto) {
    const std::string path = directory_ / "made/inside/";
    ASSERT_TRUE(fs_.make_directory(path));
    for (const char* const name : {"made", "made/inside"}) {
        struct stat info{};
        ASSERT_EQ(::stat((directory_ / name).c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 07U, 0U) << name;
    }
    open("file", Mode::create);
    for (const char* const name : {"file", "file/inside"}) {
        EXPECT_EQ(fs_.make_directory(directory_ / name).error().code, Errc::io) << name;
    }
}

TEST_F(PosixFileSystemTest, MakesEachDirectoryDurableBeforeTheNextWhoeverMadeIt) {
    const std::string root = std::filesystem::canonical(directory_.path());
    synced.clear();
    ASSERT_TRUE(fs_.make_directory(root + "/a/b"));
    EXPECT_EQ(synced, (std::vector{root.substr(0, root.rfind('/')), root, root + "/a"}));
    // The process before was killed after the mkdir().
    synced.clear();
    ASSERT_TRUE(fs_.make_directory(root + "/a/b"));
    EXPECT_EQ(synced, (std::vector{root + "/a"}));
    for (const char* const ending : {"/", "//", "/.", "/./"}) {
        synced.clear();
        ASSERT_TRUE(fs_.make_directory(root + "/a/b" + ending));
        EXPECT_EQ(synced, (std::vector{root + "/a"})) << ending;
    }
    synced.clear();
    ASSERT_TRUE(fs_.make_directory(root + "/a/./d"));
    EXPECT_EQ(synced, (std::vector{root, root + "/a"}));
    synced.clear();
    ASSERT_TRUE(fs_.make_directory(root + "/a/b/c"));
    EXPECT_EQ(synced, (std::vector{root + "/a", root + "/a/b"}));
}

TEST_F(PosixFileSystemTest, ListsAllNamesOrNone) {
    open("one", Mode::create);
    open("two", Mode::create);
    for (int found = 0; found < 4; ++found) {  // "." and ".." included
        entries_found = found;
        const auto names = fs_.list(directory_.path());
        entries_found.reset();
        ASSERT_FALSE(names) << found;
        EXPECT_EQ(names.error().code, Errc::io);
    }
    errno = EIO;  // left over from an earlier call
    EXPECT_EQ(fs_.list(directory_.path())->size(), 2U);
}

TEST_F(PosixFileSystemTest, CallsNothingAbsentThatItCannotLookAt) {
    open("file", Mode::create);
    std::filesystem::create_symlink("loop", directory_ / "loop");
    EXPECT_FALSE(fs_.exists(directory_ / "none"));
    EXPECT_FALSE(fs_.exists(directory_ / "file/none"));
    EXPECT_TRUE(fs_.exists(directory_ / "loop/none"));
    EXPECT_FALSE(fs_.open(directory_ / "loop/none", Mode::read));
}

TEST_F(PosixFileSystemTest, RemovesADirectoryOnceItIsEmpty) {
    ASSERT_TRUE(fs_.make_directory(directory_ / "a/b"));
    open("a/b/one", Mode::create);
    EXPECT_EQ(*fs_.list(directory_ / "a"), std::vector<std::string>{"b"});
    EXPECT_FALSE(fs_.remove_directory(directory_ / "a/b"));
    ASSERT_TRUE(fs_.remove(directory_ / "a/b/one"));
    EXPECT_TRUE(fs_.remove_directory(directory_ / "a/b"));
    EXPECT_FALSE(fs_.exists(directory_ / "a/b"));
    EXPECT_EQ(fs_.remove_directory(directory_ / "a/b").error().code, Errc::not_found);
}

TEST_F(PosixFileSystemTest, LocksADirectoryOnce) {
    auto first = fs_.lock(directory_.path());
    ASSERT_TRUE(first);
    auto second = fs_.lock(directory_.path());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::usage);
    EXPECT_NE(second.error().detail.find(directory_.path()), std::string::npos);
    (*first).reset();
    EXPECT_TRUE(fs_.lock(directory_.path()));
}

TEST_F(PosixFileSystemTest, KeepsADirectoryLockedThoughSomebodyRemovesTheFile) {
    auto first = fs_.lock(directory_.path());
    ASSERT_TRUE(first);
    ASSERT_TRUE(fs_.remove(directory_ / "LOCK"));
    EXPECT_FALSE(fs_.lock(directory_.path()));
    (*first).reset();
    EXPECT_TRUE(fs_.lock(directory_.path()));
}

TEST_F(PosixFileSystemTest, LeavesAloneADirectoryThatHasTakenTheNameOfALockedOne) {
    const std::string path = directory_ / "data";
    ASSERT_TRUE(fs_.make_directory(path));
    auto lock = fs_.lock(path);
    ASSERT_TRUE(lock);
    open("data/one", Mode::create);
    std::filesystem::rename(path, directory_ / "moved");
    EXPECT_EQ(fs_.open(path + "/one", Mode::read).error().code, Errc::not_found);
    std::filesystem::create_directories(path + "/sub");
    std::filesystem::copy_file(directory_ / "moved/one", path + "/one");
    EXPECT_EQ(fs_.open(path + "/one", Mode::read).error().code, Errc::io);
    EXPECT_EQ(fs_.open(path + "/two", Mode::create).error().code, Errc::io);
    EXPECT_EQ(fs_.list(path + "/sub").error().code, Errc::io);
    EXPECT_EQ(fs_.make_directory(path + "/sub/b").error().code, Errc::io);
    EXPECT_EQ(fs_.rename(directory_ / "moved/one", path + "/one").error().code, Errc::io);
    EXPECT_EQ(fs_.link(path + "/one", directory_ / "three").error().code, Errc::io);
    EXPECT_EQ(fs_.link(directory_ / "moved/one", path + "/three").error().code, Errc::io);
    EXPECT_EQ(fs_.remove(path + "/one").error().code, Errc::io);
    EXPECT_TRUE(fs_.open(path + "-2", Mode::create));
    (*lock).reset();
    EXPECT_TRUE(fs_.remove(path + "/one"));
}

TEST_F(PosixFileSystemTest, TellsAFullDeviceFromOtherErrors) {
    if (!fs_.exists("/dev/full")) {
        GTEST_SKIP() << "no /dev/full";
    }
    auto full = fs_.open("/dev/full", Mode::read_write);
    ASSERT_TRUE(full);
    auto written = (*full)->write(0, "x");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Errc::no_store);
}

}  // namespace
}  // namespace annals::storage
