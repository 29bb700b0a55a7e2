#include "core/search/terms.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <vector>

namespace annals::core::search {
namespace {

TEST(Terms, DifferByColumnKindAndText) {
    const Column a = column_of("code");
    const Column b = column_of("status");
    const std::vector<Term> terms = {
        present(a),
        present(b),
        token(a, "x"),
        token(b, "x"),
        token(a, "y"),
        token(a, "s", "x"),
        token(a, "x", "s"),
        token(a, "", "x"),
        token_system(a, "x"),
        token_of_type(a, "s", "t", "x"),
        token_of_type(a, "t", "s", "x"),
        exact(a, "x"),
        reference(a, 7),
        reference(b, 7),
        identity(7),
    };
    EXPECT_EQ(std::set<Term>(terms.begin(), terms.end()).size(), terms.size());
}

TEST(Terms, AreTheSameForATextAndItsHash) {
    const Column column = column_of("code");
    EXPECT_EQ(token(column, "x"), token(column, text_hash("x")));
    EXPECT_EQ(token(column, "s", "x"), token(column, text_hash("s"), text_hash("x")));
    EXPECT_EQ(token_system(column, "s"), token_system(column, text_hash("s")));
}

TEST(Terms, AreTheSameInEveryProgram) {
    EXPECT_EQ(column_of("birthdate"), 16859496711504425123u);
    EXPECT_EQ(beside(1, ":text"), 707164434874922141u);
    EXPECT_EQ(token(1, "s", "x"), 2940274834735009749u);
    EXPECT_EQ(exact(1, "x"), 698919778618981089u);
}

TEST(Terms, OrderNumbersAsTheyAreOrdered) {
    const std::vector<double> ascending = {std::numeric_limits<double>::lowest(),
                                           -1e10,
                                           -1.5,
                                           -1,
                                           -std::numeric_limits<double>::denorm_min(),
                                           0,
                                           std::numeric_limits<double>::denorm_min(),
                                           0.1,
                                           1,
                                           1e300,
                                           std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < ascending.size(); ++i) {
        EXPECT_EQ(number_of(ordered(ascending[i])), ascending[i]);
        if (i > 0) {
            EXPECT_LT(ordered(ascending[i - 1]), ordered(ascending[i])) << ascending[i];
        }
    }
    EXPECT_EQ(ordered(-0.0), ordered(0.0));
    EXPECT_EQ(ordered(0.0), 0);
}

}  // namespace
}  // namespace annals::core::search
