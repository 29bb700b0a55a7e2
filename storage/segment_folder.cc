#include "storage/segment_folder.h"

#include "storage/format.h"

#include <algorithm>

namespace annals::storage {

Result<std::vector<std::uint64_t>> segment_numbers(FileSystem& fs, const std::string& segments) {
    ANNALS_TRY(const std::vector<std::string> names, fs.list(segments));
    std::vector<std::uint64_t> numbers;
    for (const std::string& name : names) {
        if (const auto number = parse_segment_name(name)) {
            numbers.push_back(*number);
        }
    }
    std::ranges::sort(numbers);
    return numbers;
}

Result<void> check_format(FileSystem& fs, const std::string& segments) {
    ANNALS_TRY(const std::vector<std::uint64_t> numbers, segment_numbers(fs, segments));
    for (const std::uint64_t number : numbers) {
        const std::string path = segments + "/" + segment_name(number);
        ANNALS_TRY(const auto file, fs.open(path, FileSystem::Mode::read));
        char bytes[kSegmentHeaderBytes];
        ANNALS_TRY(const std::size_t size, file->read(0, bytes));
        if (auto header = decode_segment_header({bytes, size}, path);
            !header && header.error().code == Errc::usage) {
            return std::move(header.error());
        }
    }
    return {};
}

}  // namespace annals::storage
