#ifndef POSTLUDE_TESTS_SUPPORT_CATCH_HPP
#define POSTLUDE_TESTS_SUPPORT_CATCH_HPP

/// Catch2 in either of its two major versions.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#endif
