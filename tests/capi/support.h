#ifndef POSTLUDE_TESTS_CAPI_SUPPORT_H
#define POSTLUDE_TESTS_CAPI_SUPPORT_H

/* What the C tests share: checks that print what failed and go on, and a problem whose numbers are
 * small multiples of 1/4, so that float32 sums of products are exact in any order. */

#include <postlude.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failure_count = 0;

static inline void report_failure(const char* file, int line, const char* what) {
  ++failure_count;
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  if (postlude_last_error_message()[0] != '\0')
    fprintf(stderr, "  last error: %s\n", postlude_last_error_message());
}

/* Prints the failed condition and goes on. */
#define EXPECT(condition) ((condition) ? (void)0 : report_failure(__FILE__, __LINE__, #condition))

static inline void expect_status(const char* file, int line, const char* call,
                                 postlude_status found, postlude_status expected) {
  if (found == expected) return;
  ++failure_count;
  fprintf(stderr, "%s:%d: failed: %s\n  found '%s', expected '%s'\n  message: %s\n", file, line,
          call, postlude_status_name(found), postlude_status_name(expected),
          postlude_last_error_message());
}

#define EXPECT_STATUS(call, expected) expect_status(__FILE__, __LINE__, #call, (call), (expected))
#define EXPECT_SUCCESS(call) EXPECT_STATUS(call, POSTLUDE_SUCCESS)

/* The status and a part of the message of a call that is refused. */
static inline void refused(postlude_status found, postlude_status expected, const char* mention,
                           const char* call) {
  if (found == expected && strstr(postlude_last_error_message(), mention) != NULL) return;
  ++failure_count;
  fprintf(stderr, "%s:\n  found '%s', expected '%s'\n  expected a message with '%s', found: %s\n",
          call, postlude_status_name(found), postlude_status_name(expected), mention,
          postlude_last_error_message());
}
#define REFUSED(call, status, mention) refused((call), (status), (mention), #call)

/* For what a test cannot go on without. */
#define REQUIRE(condition)                                          \
  do {                                                              \
    if (!(condition)) {                                             \
      report_failure(__FILE__, __LINE__, #condition " (required)"); \
      exit(1);                                                      \
    }                                                               \
  } while (0)

static inline int finish(const char* program) {
  if (failure_count != 0) {
    fprintf(stderr, "%s: %d checks failed\n", program, failure_count);
    return 1;
  }
  printf("%s: all checks passed\n", program);
  return 0;
}

/* The backend named by the first argument, the default one without arguments. */
static inline postlude_backend backend_of_arguments(int argc, char** argv) {
  if (argc < 2) return POSTLUDE_BACKEND_DEFAULT;
  for (postlude_backend backend = POSTLUDE_BACKEND_SERIAL; backend <= POSTLUDE_BACKEND_SYCL;
       ++backend)
    if (strcmp(argv[1], postlude_backend_name(backend)) == 0) return backend;
  fprintf(stderr, "unknown backend '%s'\n", argv[1]);
  exit(2);
}

static inline postlude_context* create_context(postlude_backend backend) {
  postlude_context_options options = POSTLUDE_CONTEXT_OPTIONS_INIT;
  options.backend = backend;
  postlude_context* context = NULL;
  REQUIRE(postlude_context_create(&options, &context) == POSTLUDE_SUCCESS);
  REQUIRE(context != NULL);
  return context;
}

static inline postlude_memory_space space_of(const postlude_context* context) {
  postlude_memory_space space = 0;
  REQUIRE(postlude_context_memory_space(context, &space) == POSTLUDE_SUCCESS);
  return space;
}

/* Backend memory with a copy of `values`, or whatever was there when `values` is NULL. */
static inline void* upload(postlude_context* context, const void* values, size_t bytes) {
  void* memory = NULL;
  REQUIRE(postlude_allocate(context, bytes, &memory) == POSTLUDE_SUCCESS);
  if (values != NULL)
    REQUIRE(postlude_copy_to_backend(context, memory, values, bytes) == POSTLUDE_SUCCESS);
  return memory;
}

static inline void download(postlude_context* context, void* values, const void* memory,
                            size_t bytes) {
  REQUIRE(postlude_copy_to_host(context, values, memory, bytes) == POSTLUDE_SUCCESS);
}

static inline postlude_tensor matrix_of(const postlude_context* context, void* data,
                                        postlude_dtype dtype, int64_t rows, int64_t columns,
                                        postlude_layout layout) {
  postlude_tensor tensor = POSTLUDE_TENSOR_INIT;
  REQUIRE(postlude_tensor_matrix(&tensor, data, dtype, rows, columns, layout, space_of(context)) ==
          POSTLUDE_SUCCESS);
  return tensor;
}

static inline postlude_tensor vector_of(const postlude_context* context, void* data,
                                        postlude_dtype dtype, int64_t elements) {
  postlude_tensor tensor = POSTLUDE_TENSOR_INIT;
  REQUIRE(postlude_tensor_vector(&tensor, data, dtype, elements, space_of(context)) ==
          POSTLUDE_SUCCESS);
  return tensor;
}

/* Not square in any two dimensions, so that no layout is mistaken for another. */
enum { M = 5, N = 7, K = 3 };

typedef struct problem_data {
  float x[M * K];
  float w[N * K];
  float bias[N]; /* a row */
  float gain[M]; /* a column */
  float residual[M * N];
  double y[M * N]; /* x w^T */
} problem_data;

static inline float quarter(int seed) { return (float)(seed * 7 % 23 - 11) / 4.0f; }

static inline void fill(problem_data* data) {
  for (int i = 0; i < M * K; ++i) data->x[i] = quarter(i + 1);
  for (int i = 0; i < N * K; ++i) data->w[i] = quarter(3 * i + 2);
  for (int i = 0; i < N; ++i) data->bias[i] = quarter(5 * i + 3);
  for (int i = 0; i < M; ++i) data->gain[i] = quarter(2 * i + 9);
  for (int i = 0; i < M * N; ++i) data->residual[i] = quarter(11 * i + 4);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      double sum = 0;
      for (int k = 0; k < K; ++k) sum += (double)data->x[m * K + k] * (double)data->w[n * K + k];
      data->y[m * N + n] = sum;
    }
}

#endif
