// GraphQL's language: what is read as what, and what is refused where.

#include "core/graphql/parser.h"

#include "codec/json/document.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace annals::core::graphql {
namespace {

void write(const Value& value, std::string& out) {
    switch (value.kind) {
        case Value::Kind::null:
            out += "null";
            return;
        case Value::Kind::string:
            json::append_quoted(out, value.text);
            return;
        case Value::Kind::variable:
            out += '$';
            [[fallthrough]];
        case Value::Kind::boolean:
        case Value::Kind::integer:
        case Value::Kind::real:
        case Value::Kind::name:
            out += value.text;
            return;
        case Value::Kind::list:
            out += '[';
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                out += i == 0 ? "" : ",";
                write(value.items[i], out);
            }
            out += ']';
            return;
        case Value::Kind::object:
            out += '{';
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                out.append(i == 0 ? "" : ",").append(value.names[i]).append(":");
                write(value.items[i], out);
            }
            out += '}';
            return;
    }
}

/// Approximately its JSON.
std::string written(const Value& value) {
    std::string out;
    write(value, out);
    return out;
}

std::string told(const std::vector<Argument>& arguments) {
    std::string out;
    for (const Argument& argument : arguments) {
        out +=
            fmt::format("{}{}:{}", out.empty() ? "" : ",", argument.name, written(argument.value));
    }
    return out.empty() ? out : "(" + out + ")";
}

std::string told(const std::vector<Selection>& selections) {
    std::string out;
    for (const Selection& selection : selections) {
        out += out.empty() ? "" : " ";
        if (selection.kind == Selection::Kind::field) {
            out += selection.alias == selection.name ? selection.name
                                                     : selection.alias + ":" + selection.name;
        } else {
            out += selection.kind == Selection::Kind::spread ? "..." : "...on ";
            out += selection.name;
        }
        out += told(selection.arguments);
        for (const Directive& directive : selection.directives) {
            out += "@" + directive.name + told(directive.arguments);
        }
        out += selection.selections.empty() ? "" : "{" + told(selection.selections) + "}";
    }
    return out;
}

/// The first operation's selections, or "line:column" where it is refused.
std::string read(std::string_view text) {
    Location fault;
    const Result<Document> document = parse(text, fault);
    if (!document) {
        return fmt::format("{}:{}", fault.line, fault.column);
    }
    return document->operations.empty() ? "" : told(document->operations.front().selections);
}

/// The value of an argument, or where it is refused.
std::string value(std::string_view text) {
    Location fault;
    const Result<Document> document = parse(fmt::format("{{a(b:{})}}", text), fault);
    if (!document) {
        return fmt::format("refused at {}", fault.column);
    }
    return written(document->operations[0].selections[0].arguments[0].value);
}

TEST(GraphqlParser, ReadsSelectionsWithAliasesArgumentsAndDirectives) {
    EXPECT_EQ(read("{a}"), "a");
    EXPECT_EQ(read("query Q { a, b\n c { d } }"), "a b c{d}");
    EXPECT_EQ(read("{x: a(b: 1, c: [2 three], d: {e: $f}) @skip(if: true) @flatten {g}}"),
              "x:a(b:1,c:[2,three],d:{e:$f})@skip(if:true)@flatten{g}");
    EXPECT_EQ(read("{...F ...on T{a} ...{b} ...@include(if:$c){d}}"),
              "...F ...on T{a} ...on {b} ...on @include(if:$c){d}");
    EXPECT_EQ(read("# a comment\n{a # another\n}"), "a");
    EXPECT_EQ(read("\xef\xbb\xbf{a}"), "a");
}

TEST(GraphqlParser, ReadsOperationsFragmentsAndVariables) {
    Location fault;
    const Result<Document> document = parse(
        "query A($a: ID!, $b: [String!] = [\"x\"], $c: Int = null) {a} mutation B {b} "
        "fragment F on T {c}",
        fault);
    ASSERT_TRUE(document) << document.error().detail;
    ASSERT_EQ(document->operations.size(), 2);
    const OperationDefinition& a = document->operations[0];
    EXPECT_EQ(a.name, "A");
    ASSERT_EQ(a.variables.size(), 3);
    EXPECT_TRUE(a.variables[0].type.required);
    EXPECT_EQ(a.variables[0].type.name, "ID");
    ASSERT_EQ(a.variables[1].type.item.size(), 1);
    EXPECT_TRUE(a.variables[1].type.item[0].required);
    EXPECT_EQ(written(a.variables[1].default_value), R"(["x"])");
    EXPECT_TRUE(a.variables[2].has_default);
    EXPECT_EQ(document->operations[1].kind, "mutation");
    ASSERT_NE(document->fragment("F"), nullptr);
    EXPECT_EQ(document->fragment("F")->type, "T");
    EXPECT_EQ(document->fragment("G"), nullptr);
}

TEST(GraphqlParser, ReadsEveryKindOfValue) {
    for (const std::string_view same :
         {"0", "-0", "12", "-7", "1.5", "-0.25e+10", "1E5", "true", "false", "null", "name", "[]",
          "[1,[2]]", "{}", R"({a:1,b:[x]})", R"("text")", "$v"}) {
        EXPECT_EQ(value(same), same);
    }
    EXPECT_EQ(value(R"("a\"\\\/\b\f\n\r\tAé")"), R"("a\"\\/\b\f\n\r\tAé")");
    EXPECT_EQ(value(R"("😀 \u{1F600} é")"), R"("😀 😀 é")");
    EXPECT_EQ(value("\"\"\"\n    one\n      two \\\"\"\"\n\n  \n\"\"\""), R"("one\n  two \"\"\"")");
    EXPECT_EQ(value("\"\"\"a\r\n  b\r  c\"\"\""), R"("a\nb\nc")");
    EXPECT_EQ(value(R"("")"), R"("")");
}

TEST(GraphqlParser, RefusesMalformedValues) {
    for (const std::string_view bad : {"01",
                                       "-",
                                       "1.",
                                       ".5",
                                       "1e",
                                       "1x",
                                       "1.5.2",
                                       "+1",
                                       R"("open)",
                                       "\"a\nb\"",
                                       R"("\x")",
                                       R"("\u12")",
                                       R"("\ud83d")",
                                       R"("\ude00")",
                                       R"("\ud83dA")",
                                       R"("\ud83d\u0041")",
                                       R"("\u{d83d}\ude00")",
                                       R"("\u{110000}")",
                                       R"("\u{d800}")",
                                       R"("\u{}")",
                                       R"("\u{0000000041}")",
                                       R"("""open)",
                                       "\"\x01\"",
                                       "\"\"\"\x01\"\"\"",
                                       "\"\xff\"",
                                       "[1x]",
                                       "[1",
                                       "{a}",
                                       "{1:2}",
                                       "&",
                                       "%",
                                       "\xff"}) {
        EXPECT_TRUE(value(bad).starts_with("refused")) << bad << value(bad);
    }
}

TEST(GraphqlParser, SaysWhereItRefuses) {
    EXPECT_EQ(read(""), "1:1");
    EXPECT_EQ(read("{a"), "1:3");
    EXPECT_EQ(read("{a\n  b(}"), "2:5");
    EXPECT_EQ(read("{a\r\n  b(}"), "2:5");
    EXPECT_EQ(read("{a(b:\"\"\"\n\n\"\"\") c(}"), "3:8");
    EXPECT_EQ(read("{a()}"), "1:4");
    EXPECT_EQ(read("{a(b:1 b:2)}"), "1:11");
    EXPECT_EQ(read("query ($a: Int @c) {a}"), "1:18");
    EXPECT_EQ(read("{}"), "1:2");
    EXPECT_EQ(read("type T {a: Int}"), "1:1");
    EXPECT_EQ(read("fragment on on T {a}"), "1:10");
    EXPECT_EQ(read("query ($a: Int = $b) {a}"), "1:18");
    EXPECT_EQ(read("{a} }"), "1:5");
    EXPECT_EQ(read("{\"\"\"\n\n\"\"\"}"), "1:2");
}

std::string repeated(std::string_view text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) {
        out += text;
    }
    return out;
}

Errc refusal(const std::string& text) {
    Location fault;
    const Result<Document> document = parse(text, fault);
    return document ? Errc::usage : document.error().code;
}

TEST(GraphqlParser, BoundsWhatIsNestedNotWhatFollowsEachOther) {
    EXPECT_EQ(refusal("{" + repeated("a{b} ", kDepthMax) + "}"), Errc::usage);
    EXPECT_EQ(refusal("{" + repeated("a(b:[1]) ", kDepthMax) + "}"), Errc::usage);
    EXPECT_EQ(refusal("query(" + repeated("$a:[Int] ", kDepthMax) + "){a}"), Errc::usage);
}

TEST(GraphqlParser, BoundsEverything) {
    EXPECT_EQ(refusal(repeated("{a", kDepthMax) + repeated("}", kDepthMax)), Errc::usage);
    EXPECT_EQ(refusal(repeated("{a", kDepthMax + 1) + repeated("}", kDepthMax + 1)),
              Errc::too_costly);
    EXPECT_EQ(refusal("{a(b:" + repeated("[", 10'000)), Errc::too_costly);
    EXPECT_EQ(refusal("{a(b:" + repeated("{c:", 10'000)), Errc::too_costly);
    EXPECT_EQ(refusal("query($a:" + repeated("[", 10'000)), Errc::too_costly);
    EXPECT_EQ(refusal("{" + repeated("a ", kTokensMax - 2) + "}"), Errc::usage);
    EXPECT_EQ(refusal("{" + repeated("a ", kTokensMax - 1) + "}"), Errc::too_costly);
    EXPECT_EQ(refusal(repeated("fragment F on T{a}", kDefinitionsMax)), Errc::usage);
    EXPECT_EQ(refusal(repeated("fragment F on T{a}", kDefinitionsMax + 1)), Errc::too_costly);
    EXPECT_EQ(refusal("query(" + repeated("$a:A ", kDefinitionsMax) + "){a}"), Errc::usage);
    EXPECT_EQ(refusal("query(" + repeated("$a:A ", kDefinitionsMax + 1) + "){a}"),
              Errc::too_costly);
    EXPECT_EQ(refusal("{a(" +
                      [] {
                          std::string out;
                          for (std::size_t i = 0; i <= kArgumentsMax; ++i) {
                              out += fmt::format("a{}:1 ", i);
                          }
                          return out;
                      }() +
                      ")}"),
              Errc::too_costly);
    EXPECT_EQ(refusal(repeated("query{a}", kDefinitionsMax + 1)), Errc::too_costly);
    EXPECT_EQ(refusal("{a}" + std::string(kDocumentBytesMax, ' ')), Errc::too_costly);
}

}  // namespace
}  // namespace annals::core::graphql
