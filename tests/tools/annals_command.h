// The real binary, for tests of its commands.

#pragma once

#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace annals {

inline const std::string kBinary = ANNALS_BINARY;

/// Runs the binary to its end.
inline test::Finished annals(const std::vector<std::string>& arguments) {
    return test::run_program(kBinary, arguments);
}

inline bool one_line(const std::string& text) {
    return !text.empty() && text.find('\n') == text.size() - 1;
}

/// The whole history of the store in `data`, which must not be in use.
inline std::string history_of(const std::string& data) {
    const test::TemporaryDirectory directory;
    const test::Finished done =
        annals({"export", "--data", data, "--to", directory.path(), "--history"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return test::read_whole_file(directory / "history.ndjson");
}

/// Four versions of two resources, one of them a deletion.
inline const std::string kHistory =
    R"({"fullUrl":"http://a/fhir/Patient/1/_history/1","resource":{"resourceType":"Patient","id":"1","meta":{"versionId":"1","lastUpdated":"2020-01-01T00:00:00.000Z"},"multipleBirthInteger":1},"request":{"method":"POST","url":"Patient/1"},"response":{"status":"201 Created","etag":"W/\"1\"","lastModified":"2020-01-01T00:00:00.000Z"}}
{"fullUrl":"http://a/fhir/Observation/o/_history/3","resource":{"resourceType":"Observation","id":"o","meta":{"versionId":"3","lastUpdated":"2020-01-01T00:00:01.000Z"},"status":"final","code":{"text":"x"},"valueQuantity":{"value":1.00}},"request":{"method":"PUT","url":"Observation/o"},"response":{"status":"200 OK","etag":"W/\"3\"","lastModified":"2020-01-01T00:00:01.000Z"}}
{"fullUrl":"http://a/fhir/Patient/1/_history/2","request":{"method":"DELETE","url":"Patient/1"},"response":{"status":"410 Gone","etag":"W/\"2\"","lastModified":"2020-01-01T00:00:02.123Z"}}
{"fullUrl":"http://a/fhir/Patient/1/_history/5","resource":{"resourceType":"Patient","id":"1","meta":{"versionId":"5","lastUpdated":"2020-01-01T00:00:03.000Z"},"active":true},"request":{"method":"PUT","url":"Patient/1"},"response":{"status":"200 OK","etag":"W/\"5\"","lastModified":"2020-01-01T00:00:03.000Z"}}
)";

/// Creates a store in `data` with the history kHistory.
inline void import_history(const std::string& data) {
    const test::TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    const test::Finished done = annals({"import", "--data", data, directory / "in.ndjson"});
    ASSERT_EQ(done.exit_code, 0) << done.errors;
}

}  // namespace annals
