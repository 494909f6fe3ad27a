#ifndef POSTLUDE_TESTS_SUPPORT_CASE_COUNT_HPP
#define POSTLUDE_TESTS_SUPPORT_CASE_COUNT_HPP

#include <string>

namespace postlude {
namespace test {

/// Counts one generated case of a suite; the numbers are printed when the tests have run.
void count_case(const std::string& suite);

}  // namespace test
}  // namespace postlude

#endif
