#include "core/base/base64.h"
#include "core/definitions.h"
#include "core/jobs/jobs.h"
#include "core/packages/package.h"
#include "core/packages/tarball.h"
#include "tests/core/operations/terminology_fixture.h"
#include "tests/support/archives.h"
#include "tests/support/no_threads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace annals::core {
namespace {

using test::Answer;
using test::make_archive;
using test::make_package;

constexpr std::string_view kCodes = R"({"resourceType":"CodeSystem","id":"c","url":"http://p/codes",
    "version":"1.0","status":"active","content":"complete","concept":[{"code":"a"},{"code":"b"}]})";
constexpr std::string_view kSet =
    R"({"resourceType":"ValueSet","id":"v","url":"http://p/set","version":"1.0",
    "status":"active","text":{"status":"generated","div":"<div>long</div>"},
    "compose":{"include":[{"system":"http://p/codes"}]}})";
constexpr std::string_view kGuide =
    R"({"resourceType":"ImplementationGuide","id":"ig","url":"http://p/guide",
    "status":"active"})";
constexpr std::string_view kProfile =
    R"({"resourceType":"StructureDefinition","id":"named","url":"http://p/named",
    "status":"active","kind":"resource","abstract":false,"type":"Patient","derivation":"constraint","name":"Named",
    "baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient",
    "differential":{"element":[{"id":"Patient","path":"Patient"},
                               {"id":"Patient.name","path":"Patient.name","min":1}]}})";

class InstallPackage : public test::TerminologyFixture {
  protected:
    void reopen() { restart(Config()); }

    /// Puts an archive into packages_dir.
    void offer(std::string_view name, std::string_view archive) {
        std::filesystem::create_directories(service().config().data + "/packages");
        std::ofstream(service().config().data + "/packages/" + std::string(name), std::ios::binary)
            << archive;
    }

    Answer install(std::string_view parameters) {
        return send(
            "POST", "/$install-package",
            R"({"resourceType":"Parameters","parameter":[)" + std::string(parameters) + "]}");
    }

    Answer install_named(std::string_view name, std::string_view version,
                         std::string_view more = "") {
        return install(R"({"name":"name","valueString":")" + std::string(name) +
                       R"("},{"name":"version","valueString":")" + std::string(version) + R"("})" +
                       std::string(more));
    }

    Answer install_inline(std::string_view archive) {
        std::string text;
        append_base64(archive, text);
        return install(R"({"name":"package","valueBase64Binary":")" + text + R"("})");
    }

    static std::string outcome(const Answer& answer) { return codes_of(answer); }
};

TEST_F(InstallPackage, MakesWhatItDefinesKnownAndKeepsItOverARestart) {
    offer("p.test#1.0.0.tgz",
          make_package("p.test", "1.0.0",
                       {std::string(kCodes), std::string(kSet), std::string(kGuide),
                        std::string(kProfile), test::patient("example")}));
    const std::string before = send("GET", "/_history?_count=0").body;
    EXPECT_EQ(codes("url=http://p/set"), "404 not-found");
    const Answer installed = install_named("p.test", "1.0.0");
    ASSERT_EQ(installed.status, 200) << installed.body;
    EXPECT_TRUE(installed.says(
        R"([{"name":"name","valueString":"p.test"},{"name":"version","valueString":"1.0.0"},)"
        R"({"name":"installed","valueInteger":4},{"name":"skipped","valueInteger":1}])"))
        << installed.body;
    for (int turn = 0; turn < 2; ++turn) {
        EXPECT_EQ(codes("url=http://p/set"), "a b");
        EXPECT_TRUE(send("GET", "/metadata").says(R"("implementationGuide":["http://p/guide"])"));
        const Answer report = send("POST", "/Patient/$validate?profile=http://p/named",
                                   R"({"resourceType":"Patient"})");
        EXPECT_TRUE(report.says("at least 1 of name")) << report.body;
        EXPECT_TRUE(
            send("GET", "/CodeSystem/$lookup?system=http://p/codes&code=a").says("display"));
        EXPECT_EQ(send("GET", "/Observation?code:in=http://p/set").status, 200);
        EXPECT_EQ(send("GET", "/Observation/$lastn?patient=p&code:in=http://p/set").status, 200);
        const Answer begun = send(
            "GET", "/$export?_type=Observation&_typeFilter=Observation%3Fcode:in%3Dhttp://p/set",
            {}, {{"Prefer", "respond-async"}});
        ASSERT_EQ(begun.status, 202) << begun.body;
        service().jobs().wait_until_idle();
        EXPECT_EQ(send("GET", begun.content_location.substr(kBaseUrl.size())).status, 200);
        EXPECT_EQ(send("GET", "/_history?_count=0").body.substr(0, 60), before.substr(0, 60))
            << "nobody wrote anything";
        reopen();
    }
    const Answer again = install_named("p.test", "1.0.0");
    EXPECT_TRUE(again.says(R"({"name":"installed","valueInteger":0})")) << again.body;
    EXPECT_TRUE(again.says(R"({"name":"skipped","valueInteger":5})")) << again.body;
}

TEST_F(InstallPackage, WaitsForAnotherTimeWhereThereIsNoThreadForIt) {
    const std::string package = make_package("q", "2.0.0", {std::string(kCodes)});
    {
        const test::NoThreads none;
        EXPECT_EQ(outcome(install_inline(package)), "503 transient");
    }
    EXPECT_EQ(install_inline(package).status, 200);
}

TEST_F(InstallPackage, LeavesTheDirectoryOfAReadOnlyServerAsItIs) {
    const std::string package =
        make_package("q", "2.0.0", {std::string(kCodes), std::string(kSet)});
    Config config;
    config.read_only = true;
    store_options_.read_only = true;
    restart(config);
    EXPECT_EQ(outcome(install_inline(package)), "503 no-store");
    EXPECT_EQ(codes("url=http://p/set"), "404 not-found");
    EXPECT_FALSE(std::filesystem::exists(service().config().data + "/packages"));
}

TEST_F(InstallPackage, TakesAnArchiveAndPutsWhatIsStoredFirst) {
    ASSERT_EQ(
        install_inline(make_package("q", "2.0.0", {std::string(kCodes), std::string(kSet)})).status,
        200);
    EXPECT_EQ(codes("url=http://p/set"), "a b");
    put("CodeSystem/own",
        R"({"resourceType":"CodeSystem","id":"own","url":"http://p/codes","status":"active",
        "content":"complete","concept":[{"code":"own"}]})");
    EXPECT_EQ(codes("url=http://p/set"), "own");
    EXPECT_EQ(outcome(install_inline(make_package("q", "2.0.0", {std::string(kCodes)}))),
              "409 conflict");
}

TEST_F(InstallPackage, PutsAnArchiveBackWhoseFolderIsGone) {
    const std::string archive =
        make_package("q", "2.0.0", {std::string(kCodes), std::string(kSet)});
    const std::string installed = service().config().data + "/packages/installed";
    ASSERT_EQ(install_inline(archive).status, 200);
    std::filesystem::remove_all(installed);
    EXPECT_EQ(outcome(install_inline(make_package("q", "2.0.0", {std::string(kCodes)}))),
              "409 conflict");
    EXPECT_FALSE(std::filesystem::exists(installed));
    const Answer again = install_inline(archive);
    ASSERT_EQ(again.status, 200) << again.body;
    EXPECT_TRUE(again.says(R"({"name":"installed","valueInteger":0})")) << again.body;
    reopen();
    EXPECT_EQ(codes("url=http://p/set"), "a b");
}

TEST_F(InstallPackage, SaysNoPathOfWhatIsOfferedAndNotThere) {
    const std::string offered = service().config().data + "/packages";
    std::filesystem::create_directories(offered);
    std::filesystem::create_symlink(offered + "/nowhere", offered + "/lost#1.0.0.tgz");
    const Answer answer = install_named("lost", "1.0.0");
    EXPECT_EQ(outcome(answer), "404 not-found");
    EXPECT_FALSE(answer.says(offered)) << answer.body;
}

TEST_F(InstallPackage, TellsOfWhatWasInstalledAndCannotBeRead) {
    ASSERT_EQ(install_inline(make_package("q", "2.0.0", {std::string(kCodes)})).status, 200);
    reopen();
    EXPECT_TRUE(service().definitions().packages().loaded());
    const std::string path = service().config().data + "/packages/installed/q#2.0.0.tgz";
    std::filesystem::resize_file(path, 100);
    reopen();
    const Result<void>& loaded = service().definitions().packages().loaded();
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Errc::corrupt);
    EXPECT_TRUE(loaded.error().detail.starts_with(path)) << loaded.error().detail;
}

TEST_F(InstallPackage, LeavesNothingOfAnInstallationThatWasCutOff) {
    ASSERT_EQ(install_inline(make_package("q", "2.0.0", {std::string(kCodes)})).status, 200);
    const std::string left = service().config().data + "/packages/installed/p#1.0.0.tgz.tmp";
    std::ofstream(left) << "half of it";
    Config config;
    config.read_only = true;
    restart(config);
    EXPECT_TRUE(std::filesystem::exists(left)) << "another process may be writing it";
    reopen();
    EXPECT_FALSE(std::filesystem::exists(left));
    EXPECT_TRUE(service().definitions().packages().loaded());
    EXPECT_EQ(service().definitions().packages().installed().size(), 1U);
}

TEST_F(InstallPackage, InstallsWhatAPackageNeeds) {
    offer("base#1.0.1.tgz", make_package("base", "1.0.1", {std::string(kCodes)}));
    offer("base#1.0.10.tgz", make_package("base", "1.0.10", {std::string(kCodes)}));
    offer("top#1.0.0.tgz", make_package("top", "1.0.0", {std::string(kSet)},
                                        R"({"hl7.fhir.r4.core":"4.0.1","base":"1.0.x"})"));
    offer("lost#1.0.0.tgz", make_package("lost", "1.0.0", {}, R"({"nowhere":"1.0.0"})"));
    constexpr std::string_view kAll = R"(,{"name":"includeDependencies","valueBoolean":true})";
    const Answer top = install_named("top", "1.0.0", kAll);
    ASSERT_EQ(top.status, 200) << top.body;
    EXPECT_TRUE(top.says(R"({"name":"installed","valueInteger":2})")) << top.body;
    EXPECT_TRUE(top.says(R"({"name":"dependency","valueString":"base#1.0.x"})")) << top.body;
    EXPECT_EQ(codes("url=http://p/set"), "a b");
    EXPECT_TRUE(
        std::filesystem::exists(service().config().data + "/packages/installed/base#1.0.10.tgz"));
    EXPECT_EQ(outcome(install_named("lost", "1.0.0", kAll)), "422 not-supported");
    EXPECT_EQ(install_named("lost", "1.0.0").status, 200) << "they were not asked for";
}

TEST_F(InstallPackage, InstallsEachDependencyBeforeAllThatNeedIt) {
    constexpr std::string_view kOtherCodes =
        R"({"resourceType":"CodeSystem","id":"codes","url":"http://p/codes","status":"active",
            "content":"complete","concept":[{"code":"c"}]})";
    offer("base#1.0.0.tgz",
          make_package("base", "1.0.0", {std::string(kCodes)}, R"({"top":"1.0.0"})"));
    offer("middle#1.0.0.tgz",
          make_package("middle", "1.0.0", {std::string(kOtherCodes)}, R"({"base":"1.0.0"})"));
    offer("top#1.0.0.tgz", make_package("top", "1.0.0", {std::string(kSet)},
                                        R"({"base":"1.0.0","middle":"1.0.0"})"));
    const Answer top =
        install_named("top", "1.0.0", R"(,{"name":"includeDependencies","valueBoolean":true})");
    ASSERT_EQ(top.status, 200) << top.body;
    EXPECT_EQ(codes("url=http://p/set"), "c") << "what needs others goes before them";
}

TEST_F(InstallPackage, RefusesOneTooManyButNotWhatIsInstalled) {
    constexpr int kMost = 500;
    const auto package = [](int i) { return make_package(fmt::format("p{}", i), "1.0.0", {}); };
    const std::string folder = service().config().data + "/packages/installed";
    std::filesystem::create_directories(folder);
    for (int i = 1; i < kMost; ++i) {
        std::ofstream(fmt::format("{}/p{}#1.0.0.tgz", folder, i), std::ios::binary) << package(i);
    }
    reopen();
    EXPECT_EQ(install_inline(package(kMost)).status, 200);
    EXPECT_EQ(outcome(install_inline(package(kMost + 1))), "422 too-costly");
    EXPECT_EQ(install_inline(package(1)).status, 200);
    EXPECT_EQ(install_inline(package(kMost)).status, 200);
    reopen();
    EXPECT_EQ(outcome(install_inline(package(kMost + 1))), "422 too-costly");
}

TEST_F(InstallPackage, LooksForNoMoreThanMayBeInstalled) {
    constexpr int kMost = 500;
    for (int i = 0; i < kMost; ++i) {
        offer(fmt::format("p{}#1.0.0.tgz", i),
              make_package(fmt::format("p{}", i), "1.0.0", {},
                           fmt::format(R"({{"p{}":"1.0.0"}})", i + 1)));
    }
    constexpr std::string_view kAll = R"(,{"name":"includeDependencies","valueBoolean":true})";
    EXPECT_EQ(outcome(install_named("p0", "1.0.0", kAll)), "422 too-costly");
    // The last one that it may need is not offered.
    EXPECT_EQ(outcome(install_named("p1", "1.0.0", kAll)), "422 not-supported");
    EXPECT_FALSE(std::filesystem::exists(service().config().data + "/packages/installed"));
}

TEST_F(InstallPackage, TakesTheNewestOfWhatIsOffered) {
    const auto newest = [&](std::vector<std::string> versions, std::string_view asked) {
        const std::string folder = service().config().data + "/packages";
        std::filesystem::remove_all(folder);
        for (const std::string& version : versions) {
            offer("v#" + version + ".tgz", make_package("v", version, {}));
        }
        reopen();
        const Answer answer = install_named("v", asked);
        const std::string_view mark = R"("version","valueString":")";
        const std::size_t at = answer.body.find(mark);
        return at == std::string::npos
                   ? answer.body
                   : answer.body.substr(at + mark.size(),
                                        answer.body.find('"', at + mark.size()) - at - mark.size());
    };
    EXPECT_EQ(newest({"1.9.0", "1.10.0", "1.2.0"}, "latest"), "1.10.0");
    EXPECT_EQ(newest({"1.9.0", "1.10.0", "1.2.0"}, "current"), "1.10.0");
    EXPECT_EQ(newest({"1.0.0-ballot", "1.0.0"}, "latest"), "1.0.0") << "a label makes it older";
    EXPECT_EQ(newest({"1.0.0", "1.0.0-ballot"}, "latest"), "1.0.0");
    EXPECT_EQ(newest({"1.0", "1.0.1"}, "latest"), "1.0.1");
    EXPECT_EQ(newest({"1.0.alpha", "1.0.0"}, "latest"), "1.0.0");
    EXPECT_EQ(newest({"1.0.0-alpha", "1.0.0-beta"}, "latest"), "1.0.0-beta");
    EXPECT_EQ(newest({"1.0.3", "1.1.0", "1.10.0"}, "1.1.x"), "1.1.0");
}

TEST_F(InstallPackage, FindsInSeveralPackagesTheLastOneInstalled) {
    const auto named = [](std::string_view type, std::string_view more) {
        return fmt::format(
            R"({{"resourceType":"{}","id":"x","url":"http://p/x","status":"active"{}}})", type,
            more);
    };
    ASSERT_EQ(install_inline(
                  make_package("a", "1",
                               {std::string(kCodes), named("ValueSet", R"(,"compose":{"include":[
        {"system":"http://p/codes","concept":[{"code":"a"}]}]})")}))
                  .status,
              200);
    ASSERT_EQ(install_inline(make_package("b", "1",
                                          {named("ValueSet", R"(,"compose":{"include":[
        {"system":"http://p/codes","concept":[{"code":"b"}]}]})"),
                                           named("ConceptMap", "")}))
                  .status,
              200);
    EXPECT_EQ(codes("url=http://p/x"), "b");
    reopen();
    EXPECT_EQ(codes("url=http://p/x"), "b");
}

TEST_F(InstallPackage, IsNotTheSamePackageIfItsFileDiffers) {
    const auto entries = [](std::string_view more) {
        return make_archive({{"package/package.json", R"({"name":"q","version":"1"})"},
                             {"package/c.json", std::string(kCodes)},
                             {"package/other/readme.json", std::string(more)}});
    };
    ASSERT_EQ(install_inline(entries("{}")).status, 200);
    EXPECT_EQ(outcome(install_inline(entries("[]"))), "409 conflict");
}

TEST_F(InstallPackage, TakesR4sOwnPackageSoThatSearchesFindIt) {
    constexpr std::string_view kSearch = "/CodeSystem?url=http://p/codes";
    EXPECT_TRUE(send("GET", kSearch).says(R"("total":0)"));
    const Answer answer =
        install_inline(make_package("hl7.fhir.r4.core", "4.0.1", {std::string(kCodes)}));
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_TRUE(send("GET", kSearch).says(R"("total":1)"));
}

TEST_F(InstallPackage, RefusesWhatIsNoPackageAsAWhole) {
    const std::string codes_text(kCodes);
    EXPECT_EQ(outcome(install_inline("rubbish")), "400 invalid");
    EXPECT_EQ(outcome(install_inline("")), "400 invalid");
    EXPECT_EQ(outcome(install_inline(make_archive({{"package/0.json", codes_text}}))),
              "400 invalid")
        << "there is no manifest";
    const std::string whole = make_package("cut", "1.0.0", {codes_text});
    EXPECT_EQ(outcome(install_inline(std::string_view(whole).substr(0, whole.size() / 2))),
              "400 invalid");
    EXPECT_EQ(outcome(install_inline(make_package("broken", "1.0.0", {codes_text, "{"}))),
              "400 invalid");
    const Answer list = install_inline(make_archive({{"package/package.json", "[]"}}));
    EXPECT_TRUE(list.says("The package's file 'package.json' is not a JSON object\"")) << list.body;
    EXPECT_EQ(outcome(install_inline(make_package("../up", "1.0.0", {codes_text}))), "400 invalid");
    EXPECT_EQ(codes("url=http://p/set"), "404 not-found");
    EXPECT_EQ(outcome(install_named("none", "1.0.0")), "404 not-found");
    EXPECT_EQ(outcome(install_named("../x", "1.0.0")), "400 invalid");
    EXPECT_EQ(outcome(install("")), "400 required");
    EXPECT_EQ(outcome(install(R"({"name":"package","valueBase64Binary":"?"})")), "400 invalid");
    offer("liar#1.0.0.tgz", make_package("honest", "1.0.0", {codes_text}));
    EXPECT_EQ(outcome(install_named("liar", "1.0.0")), "400 invalid");
    EXPECT_EQ(send("GET", "/CodeSystem/$lookup?system=http://p/codes&code=a").status, 404)
        << "nothing of any of them is installed";
}

TEST(Package, ReadsItsManifest) {
    const auto fault = [](std::string_view manifest) {
        const auto read = packages::Package::read(
            make_archive({{"package/package.json", std::string(manifest)}}));
        return read ? Errc::usage : read.error().code;
    };
    const auto named = [](std::size_t chars) {
        return fmt::format(R"({{"name":"{}","version":"1"}})", std::string(chars, 'a'));
    };
    EXPECT_EQ(fault(named(128)), Errc::usage);
    EXPECT_EQ(fault(named(129)), Errc::invalid);
    const auto needing = [](std::string_view dependencies) {
        return fmt::format(R"({{"name":"a","version":"1","dependencies":{{{}}}}})", dependencies);
    };
    EXPECT_EQ(fault(needing(R"("b":"1.0.x")")), Errc::usage);
    EXPECT_EQ(fault(needing(R"("../b":"1.0.0")")), Errc::invalid);
    EXPECT_EQ(fault(needing(R"("b":"../1")")), Errc::invalid);
    std::string many;
    for (int i = 0; i < 200; ++i) {
        many += fmt::format(R"({}"b{}":"1")", i == 0 ? "" : ",", i);
    }
    EXPECT_EQ(fault(needing(many)), Errc::usage);
    EXPECT_EQ(fault(needing(many + R"(,"c":"1")")), Errc::answer_too_costly);
}

TEST(Package, TakesTheDefinitionsBesideItsManifestOnly) {
    constexpr std::string_view kLogical =
        R"({"resourceType":"StructureDefinition","url":"http://p/l","kind":"resource",
            "type":"Patient","derivation":"specialization"})";
    const auto package = packages::Package::read(make_archive(
        {{"package/package.json", R"({"name":"a","version":"1"})"},
         {"package/c.json", "\xef\xbb\xbf" + std::string(kCodes)},
         {"package/g.json", std::string(kGuide)},
         {"package/h.json", R"({"resourceType":"ImplementationGuide","url":"http://p/other"})"},
         {"package/l.json", std::string(kLogical)},
         {"package/p.json", std::string(kProfile)},
         {"package/example/v.json", std::string(kSet)},
         {"package/.index.json", "{}"}}));
    ASSERT_TRUE(package) << package.error().detail;
    std::string urls;
    for (const packages::Package::Resource& resource : (*package)->resources()) {
        urls += resource.url + resource.profile_of + " ";
    }
    EXPECT_EQ(urls,
              "http://p/codes http://p/guide http://p/other http://p/l "
              "http://p/namedPatient ");
    EXPECT_EQ((*package)->skipped(), 1U);
    EXPECT_EQ((*package)->guide(), "http://p/guide");
}

Errc fault_of(std::string_view archive, const packages::TarballLimits& limits = {}) {
    const auto read = packages::Package::read(archive, limits);
    return read ? Errc::usage : read.error().code;
}

TEST(Tarball, RefusesPathsThatClimbAndLinks) {
    const test::ArchiveEntry manifest{"package/package.json", R"({"name":"a","version":"1"})"};
    EXPECT_EQ(fault_of(make_archive({manifest})), Errc::usage);
    EXPECT_EQ(fault_of(make_archive({manifest, {"package/", ""}})), Errc::usage);
    EXPECT_EQ(fault_of(make_archive({manifest, {"package/../../x.json", "{}"}})), Errc::invalid);
    EXPECT_EQ(fault_of(make_archive({manifest, {"/etc/x.json", "{}"}})), Errc::invalid);
    EXPECT_EQ(fault_of(make_archive({manifest, {"package\\x.json", "{}"}})), Errc::invalid);
    EXPECT_EQ(fault_of(make_archive({manifest, {"package/x.json", "", "/etc/passwd"}})),
              Errc::invalid);
    EXPECT_EQ(
        fault_of(make_archive({manifest, {"package/x.json", "", "", "package/package.json"}})),
        Errc::invalid);
}

// A kilobyte that was compressed twice can become gigabytes that no limit covers.
TEST(Tarball, IsPackedOnce) {
    const std::string archive =
        make_archive({{"package/package.json", R"({"name":"a","version":"1"})"}});
    EXPECT_EQ(fault_of(archive), Errc::usage);
    EXPECT_EQ(fault_of(test::gzipped(archive)), Errc::invalid);
    EXPECT_EQ(fault_of(test::gzipped(test::gzipped(archive))), Errc::invalid);
}

TEST(Tarball, HoldsToItsLimits) {
    const std::vector<test::ArchiveEntry> entries{
        {"package/package.json", R"({"name":"a","version":"1"})"},
        {"package/bomb.bin", std::string(1 << 20, '\0')}};
    const std::string archive = make_archive(entries);
    EXPECT_LT(archive.size(), 10'000U);
    EXPECT_EQ(fault_of(archive), Errc::usage);
    EXPECT_EQ(fault_of(archive, {.file_bytes_max = 1 << 19}), Errc::answer_too_costly);
    EXPECT_EQ(fault_of(archive, {.bytes_max = 1 << 20}), Errc::answer_too_costly);
    EXPECT_EQ(fault_of(archive, {.files_max = 1}), Errc::answer_too_costly);
    EXPECT_EQ(fault_of(archive, {.path_bytes_max = 15}), Errc::invalid);
}

}  // namespace
}  // namespace annals::core
