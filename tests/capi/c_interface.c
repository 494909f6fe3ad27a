/* The C interface used as a C host would: no Kokkos or CUDA header, and expected values from plain
 * double loops. The argument names the backend. */

#include "support.h"

#include <pthread.h>

/* One row-major float32 problem with its memory, ready to execute. */
typedef struct layer {
  postlude_context* context;
  problem_data host;
  void* x;
  void* w;
  void* bias;
  postlude_problem problem;
  postlude_bindings bindings;
} layer;

static void open_layer(layer* self, postlude_backend backend) {
  self->context = create_context(backend);
  fill(&self->host);
  self->x = upload(self->context, self->host.x, sizeof self->host.x);
  self->w = upload(self->context, self->host.w, sizeof self->host.w);
  self->bias = upload(self->context, self->host.bias, sizeof self->host.bias);
  const postlude_tensor x =
      matrix_of(self->context, self->x, POSTLUDE_FLOAT32, M, K, POSTLUDE_ROW_MAJOR);
  const postlude_tensor w =
      matrix_of(self->context, self->w, POSTLUDE_FLOAT32, N, K, POSTLUDE_ROW_MAJOR);
  self->problem = (postlude_problem)POSTLUDE_PROBLEM_INIT;
  self->problem.x = x;
  self->problem.w = w;
  self->bindings = (postlude_bindings)POSTLUDE_BINDINGS_INIT;
  self->bindings.x = x;
  self->bindings.w = w;
}

static void close_layer(layer* self) {
  EXPECT_SUCCESS(postlude_free(self->context, self->x));
  EXPECT_SUCCESS(postlude_free(self->context, self->w));
  EXPECT_SUCCESS(postlude_free(self->context, self->bias));
  EXPECT_SUCCESS(postlude_context_destroy(self->context));
}

static postlude_operand declare(const char* name, postlude_operand_kind kind) {
  postlude_operand operand = POSTLUDE_OPERAND_INIT;
  operand.name = name;
  operand.kind = kind;
  return operand;
}

static postlude_operand_value scalar_value(double value) {
  postlude_operand_value operand = POSTLUDE_OPERAND_VALUE_INIT;
  operand.scalar = value;
  return operand;
}

static postlude_operand_value tensor_value(postlude_tensor tensor) {
  postlude_operand_value operand = POSTLUDE_OPERAND_VALUE_INIT;
  operand.tensor = tensor;
  return operand;
}

static postlude_operand_value bias_value(const layer* self) {
  return tensor_value(vector_of(self->context, self->bias, POSTLUDE_FLOAT32, N));
}

static postlude_plan* create_plan(const layer* self, const char* expression,
                                  const postlude_operand* operands, size_t operand_count,
                                  const postlude_plan_options* options) {
  postlude_plan* plan = NULL;
  REQUIRE(postlude_plan_create(self->context, &self->problem, expression, operands, operand_count,
                               options, &plan) == POSTLUDE_SUCCESS);
  REQUIRE(plan != NULL);
  return plan;
}

/* Executes with one output per tensor and waits. */
static void execute(const layer* self, const postlude_plan* plan,
                    const postlude_operand_value* operands, size_t operand_count,
                    const postlude_tensor* outputs, size_t output_count) {
  postlude_bindings bindings = self->bindings;
  bindings.operands = operands;
  bindings.operand_count = operand_count;
  bindings.outputs = outputs;
  bindings.output_count = output_count;
  EXPECT_SUCCESS(postlude_execute(plan, &bindings, NULL));
  EXPECT_SUCCESS(postlude_context_synchronize(self->context));
}

/* A row-major result of the problem with one expression and the operand bias. */
static void evaluate(const layer* self, const char* expression, int64_t rows, int64_t columns,
                     float* result) {
  const postlude_operand operand = declare("bias", POSTLUDE_ROW);
  postlude_plan* plan = create_plan(self, expression, &operand, 1, NULL);
  const size_t bytes = (size_t)(rows * columns) * sizeof(float);
  void* memory = upload(self->context, NULL, bytes);
  const postlude_operand_value value = bias_value(self);
  const postlude_tensor output =
      matrix_of(self->context, memory, POSTLUDE_FLOAT32, rows, columns, POSTLUDE_ROW_MAJOR);
  execute(self, plan, &value, 1, &output, 1);
  download(self->context, result, memory, bytes);
  EXPECT_SUCCESS(postlude_free(self->context, memory));
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
}

static double gelu(double value) { return value / 2 * (1 + erf(value / sqrt(2.0))); }

static void test_names(void) {
  EXPECT(postlude_version() >= 100);
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", postlude_version() / 10000,
           postlude_version() / 100 % 100, postlude_version() % 100);
  EXPECT(strcmp(version, postlude_version_string()) == 0);
  EXPECT(postlude_abi_version() == 0);

  EXPECT(strcmp(postlude_status_name(POSTLUDE_SUCCESS), "success") == 0);
  EXPECT(strcmp(postlude_status_name(POSTLUDE_SHAPE_MISMATCH), "shape mismatch") == 0);
  EXPECT(strcmp(postlude_status_name(-1), "unknown status") == 0);
  EXPECT(strcmp(postlude_status_name(1000), "unknown status") == 0);

  EXPECT(strcmp(postlude_backend_name(POSTLUDE_BACKEND_SERIAL), "serial") == 0);
  EXPECT(strcmp(postlude_backend_name(POSTLUDE_BACKEND_CUDA), "cuda") == 0);
  EXPECT(strcmp(postlude_backend_name(99), "unknown backend") == 0);
  EXPECT(postlude_backend_available(99) == 0);
  EXPECT(postlude_backend_available(POSTLUDE_BACKEND_DEFAULT) == 0);
  EXPECT(postlude_last_error_message() != NULL);
}

static void test_context(postlude_backend backend) {
  postlude_context* named = create_context(backend);
  postlude_backend found = 0;
  EXPECT_SUCCESS(postlude_context_backend(named, &found));
  EXPECT(postlude_backend_available(found) == 1);
  if (backend != POSTLUDE_BACKEND_DEFAULT) EXPECT(found == backend);

  postlude_context* plain = NULL;
  EXPECT_SUCCESS(postlude_context_create(NULL, &plain));
  EXPECT(plain != NULL && plain != named);
  EXPECT_SUCCESS(postlude_context_synchronize(plain));
  EXPECT_SUCCESS(postlude_context_destroy(named));
  EXPECT_SUCCESS(postlude_context_synchronize(plain));
  EXPECT_SUCCESS(postlude_context_destroy(plain));
  EXPECT_SUCCESS(postlude_context_destroy(NULL));

  /* A program that was compiled for a later version passes a longer struct. */
  struct {
    postlude_context_options known;
    char later[24];
  } longer = {POSTLUDE_CONTEXT_OPTIONS_INIT, {0}};
  longer.known.size = sizeof longer;
  longer.known.backend = backend;
  postlude_context* later = NULL;
  EXPECT_SUCCESS(postlude_context_create(&longer.known, &later));
  EXPECT_SUCCESS(postlude_context_destroy(later));
}

static void test_memory(postlude_backend backend) {
  postlude_context* context = create_context(backend);
  postlude_context* other = create_context(backend);
  unsigned char sent[1000];
  unsigned char received[1000];
  for (size_t i = 0; i < sizeof sent; ++i) sent[i] = (unsigned char)(i * 37);
  memset(received, 0, sizeof received);
  for (size_t bytes = 1; bytes <= sizeof sent; bytes += 333) {
    void* memory = NULL;
    EXPECT_SUCCESS(postlude_allocate(context, bytes, &memory));
    EXPECT(memory != NULL && (uintptr_t)memory % 256 == 0);
    EXPECT_SUCCESS(postlude_copy_to_backend(context, memory, sent, bytes));
    EXPECT_SUCCESS(postlude_copy_to_host(context, received, memory, bytes));
    EXPECT(memcmp(sent, received, bytes) == 0);
    EXPECT_SUCCESS(postlude_free(other, memory));
  }
  void* nothing = sent;
  EXPECT_SUCCESS(postlude_allocate(context, 0, &nothing));
  EXPECT(nothing == NULL);
  EXPECT_SUCCESS(postlude_free(context, NULL));
  EXPECT_SUCCESS(postlude_copy_to_backend(context, NULL, NULL, 0));
  EXPECT_SUCCESS(postlude_copy_to_host(context, NULL, NULL, 0));
  EXPECT_SUCCESS(postlude_context_destroy(other));
  EXPECT_SUCCESS(postlude_context_destroy(context));
}

static void test_tensor(void) {
  double data[6];
  postlude_tensor tensor; /* Deliberately not set up: the functions fill all of it. */
  memset(&tensor, 0x5a, sizeof tensor);
  EXPECT_SUCCESS(postlude_tensor_matrix(&tensor, data, POSTLUDE_FLOAT64, 3, 2, POSTLUDE_ROW_MAJOR,
                                        POSTLUDE_HOST));
  EXPECT(tensor.size == sizeof tensor && tensor.data == data && tensor.reserved == 0);
  EXPECT(tensor.dtype == POSTLUDE_FLOAT64 && tensor.rank == 2);
  EXPECT(tensor.extent[0] == 3 && tensor.extent[1] == 2);
  EXPECT(tensor.stride[0] == 2 && tensor.stride[1] == 1);
  EXPECT(tensor.memory_space == POSTLUDE_HOST);
  EXPECT_SUCCESS(postlude_tensor_matrix(&tensor, data, POSTLUDE_FLOAT64, 3, 2,
                                        POSTLUDE_COLUMN_MAJOR, POSTLUDE_DEVICE));
  EXPECT(tensor.stride[0] == 1 && tensor.stride[1] == 3);
  EXPECT(tensor.memory_space == POSTLUDE_DEVICE);
  EXPECT_SUCCESS(postlude_tensor_vector(&tensor, data, POSTLUDE_FLOAT32, 6, POSTLUDE_SHARED));
  EXPECT(tensor.rank == 1 && tensor.extent[0] == 6 && tensor.stride[0] == 1);
}

/* What a plan chose for its GEMM serves another plan for the same problem, and no other problem. */
static void test_gemm_choice(layer* self, const postlude_plan* plan,
                             const postlude_operand* operands, size_t count) {
  const char* choice = NULL;
  const char* again = NULL;
  EXPECT_SUCCESS(postlude_plan_gemm_choice(plan, &choice));
  EXPECT_SUCCESS(postlude_plan_gemm_choice(plan, &again));
  EXPECT(choice != NULL && choice == again && strchr(choice, '\n') == NULL);

  postlude_plan_options options = POSTLUDE_PLAN_OPTIONS_INIT;
  options.gemm_choice = choice;
  options.autotune = 1; /* Nothing is left to be timed. */
  postlude_plan* other = NULL;
  EXPECT_SUCCESS(postlude_plan_create(self->context, &self->problem, "min(y + bias, c) - c",
                                      operands, count, &options, &other));
  EXPECT_SUCCESS(postlude_plan_gemm_choice(other, &again));
  EXPECT(again != NULL && strcmp(choice, again) == 0);
  EXPECT_SUCCESS(postlude_plan_destroy(other));

  postlude_problem narrower = self->problem;
  narrower.w.extent[0] -= 1;
  EXPECT_STATUS(postlude_plan_create(self->context, &narrower, "y", NULL, 0, &options, &other),
                POSTLUDE_INVALID_ARGUMENT);
  EXPECT(strstr(postlude_last_error_message(), "gemm_choice is for") != NULL);
  EXPECT(other == NULL);
  options.gemm_choice = NULL;
  EXPECT_SUCCESS(postlude_plan_create(self->context, &self->problem, "min(y + bias, c) - c",
                                      operands, count, &options, &other));
  EXPECT_SUCCESS(postlude_plan_destroy(other));
}

/* S1: min(y + bias, c) - c. */
static void test_pointwise(postlude_backend backend) {
  layer self;
  open_layer(&self, backend);
  const postlude_operand operands[] = {declare("c", POSTLUDE_SCALAR),
                                       declare("bias", POSTLUDE_ROW)};
  postlude_plan* plan = create_plan(&self, "min(y + bias, c) - c", operands, 2, NULL);

  size_t count = 0;
  EXPECT_SUCCESS(postlude_plan_result_count(plan, &count));
  EXPECT(count == 1);
  postlude_result_info info = POSTLUDE_RESULT_INFO_INIT;
  EXPECT_SUCCESS(postlude_plan_result(plan, 0, &info));
  EXPECT(info.name != NULL && info.name[0] != '\0');
  EXPECT(info.dtype == POSTLUDE_FLOAT32);
  EXPECT(info.extent[0] == 1 && info.extent[1] == M && info.extent[2] == N);

  double flops = 0;
  double bytes = 0;
  EXPECT_SUCCESS(postlude_plan_work(plan, &flops, &bytes));
  EXPECT(flops == 2.0 * M * N * K);
  EXPECT(bytes == 4.0 * (M * K + N * K + N + M * N));

  const char* text = NULL;
  const char* again = NULL;
  EXPECT_SUCCESS(postlude_plan_explain(plan, &text));
  EXPECT_SUCCESS(postlude_plan_explain(plan, &again));
  EXPECT(text != NULL && text == again);
  EXPECT(text != NULL && strstr(text, "kokkos_kernels") != NULL);
  EXPECT_SUCCESS(postlude_plan_explain_json(plan, &text));
  EXPECT_SUCCESS(postlude_plan_explain_json(plan, &again));
  EXPECT(text != NULL && text == again);
  EXPECT(text != NULL && text[0] == '{' && strstr(text, "\"kokkos_kernels\"") != NULL);
  test_gemm_choice(&self, plan, operands, 2);

  float result[M * N];
  void* memory = upload(self.context, NULL, sizeof result);
  const postlude_tensor output =
      matrix_of(self.context, memory, POSTLUDE_FLOAT32, M, N, POSTLUDE_ROW_MAJOR);
  /* A plan is reusable: the scalar differs between executions. */
  for (double c = -0.5; c <= 2; c += 1.25) {
    const postlude_operand_value values[] = {scalar_value(c), bias_value(&self)};
    execute(&self, plan, values, 2, &output, 1);
    download(self.context, result, memory, sizeof result);
    for (int m = 0; m < M; ++m)
      for (int n = 0; n < N; ++n)
        EXPECT((double)result[m * N + n] ==
               fmin(self.host.y[m * N + n] + (double)self.host.bias[n], c) - c);
  }
  EXPECT_SUCCESS(postlude_free(self.context, memory));
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  EXPECT_SUCCESS(postlude_plan_destroy(NULL));
  close_layer(&self);
}

/* S2 with both dimensions: m = max(y + bias, dim=d); gelu(m - mean(m, dim=1)). */
static void test_reductions(postlude_backend backend) {
  layer self;
  open_layer(&self, backend);

  float rows[M];
  evaluate(&self, "m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))", M, 1, rows);
  for (int m = 0; m < M; ++m) EXPECT(rows[m] == 0.0f);

  float largest[M];
  evaluate(&self, "max(y + bias, dim=1)", M, 1, largest);
  for (int m = 0; m < M; ++m) {
    double expected = -HUGE_VAL;
    for (int n = 0; n < N; ++n)
      expected = fmax(expected, self.host.y[m * N + n] + (double)self.host.bias[n]);
    EXPECT((double)largest[m] == expected);
  }

  float columns[N];
  evaluate(&self, "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))", 1, N, columns);
  double maximum[N];
  double mean = 0;
  for (int n = 0; n < N; ++n) {
    maximum[n] = -HUGE_VAL;
    for (int m = 0; m < M; ++m)
      maximum[n] = fmax(maximum[n], self.host.y[m * N + n] + (double)self.host.bias[n]);
    mean += maximum[n] / N;
  }
  /* The arguments of gelu are below 16: one rounding of the mean, of the difference and of the
   * result, each at most 16 * 2^-24, and a few units of the formula. */
  for (int n = 0; n < N; ++n)
    EXPECT(fabs((double)columns[n] - gelu(maximum[n] - mean)) <= 8 * 16 * ldexp(1, -24));
  close_layer(&self);
}

static void test_two_results(postlude_backend backend) {
  layer self;
  open_layer(&self, backend);
  const postlude_operand operand = declare("bias", POSTLUDE_ROW);
  postlude_plan* plan =
      create_plan(&self, "z = y + bias; return sum(relu(z), dim=1), z", &operand, 1, NULL);
  size_t count = 0;
  EXPECT_SUCCESS(postlude_plan_result_count(plan, &count));
  EXPECT(count == 2);
  postlude_result_info info = POSTLUDE_RESULT_INFO_INIT;
  EXPECT_SUCCESS(postlude_plan_result(plan, 0, &info));
  EXPECT(info.extent[1] == M && info.extent[2] == 1);
  EXPECT_SUCCESS(postlude_plan_result(plan, 1, &info));
  EXPECT(info.extent[1] == M && info.extent[2] == N);
  EXPECT(strcmp(info.name, "z") == 0);

  float sums[M];
  float z[M * N];
  void* sums_memory = upload(self.context, NULL, sizeof sums);
  void* z_memory = upload(self.context, NULL, sizeof z);
  const postlude_tensor outputs[] = {
      matrix_of(self.context, sums_memory, POSTLUDE_FLOAT32, M, 1, POSTLUDE_ROW_MAJOR),
      matrix_of(self.context, z_memory, POSTLUDE_FLOAT32, M, N, POSTLUDE_ROW_MAJOR)};
  const postlude_operand_value value = bias_value(&self);
  execute(&self, plan, &value, 1, outputs, 2);
  download(self.context, sums, sums_memory, sizeof sums);
  download(self.context, z, z_memory, sizeof z);
  for (int m = 0; m < M; ++m) {
    double sum = 0;
    for (int n = 0; n < N; ++n) {
      const double expected = self.host.y[m * N + n] + (double)self.host.bias[n];
      EXPECT((double)z[m * N + n] == expected);
      sum += fmax(expected, 0);
    }
    EXPECT((double)sums[m] == sum);
  }
  EXPECT_SUCCESS(postlude_free(self.context, sums_memory));
  EXPECT_SUCCESS(postlude_free(self.context, z_memory));
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  close_layer(&self);
}

/* Every kind of operand in one expression, each value different. */
static void test_operand_kinds(postlude_backend backend) {
  layer self;
  open_layer(&self, backend);
  const postlude_operand operands[] = {
      declare("bias", POSTLUDE_ROW), declare("gain", POSTLUDE_COLUMN),
      declare("residual", POSTLUDE_MATRIX), declare("offset", POSTLUDE_ELEMENT),
      declare("c", POSTLUDE_SCALAR)};
  postlude_plan* plan =
      create_plan(&self, "(y + bias) * gain + residual + offset - c", operands, 5, NULL);
  const float offset = 0.75f;
  void* gain = upload(self.context, self.host.gain, sizeof self.host.gain);
  void* residual = upload(self.context, self.host.residual, sizeof self.host.residual);
  void* element = upload(self.context, &offset, sizeof offset);
  float result[M * N];
  void* memory = upload(self.context, NULL, sizeof result);
  const postlude_operand_value values[] = {
      bias_value(&self), tensor_value(vector_of(self.context, gain, POSTLUDE_FLOAT32, M)),
      tensor_value(matrix_of(self.context, residual, POSTLUDE_FLOAT32, M, N, POSTLUDE_ROW_MAJOR)),
      tensor_value(vector_of(self.context, element, POSTLUDE_FLOAT32, 1)), scalar_value(1.25)};
  const postlude_tensor output =
      matrix_of(self.context, memory, POSTLUDE_FLOAT32, M, N, POSTLUDE_ROW_MAJOR);
  execute(&self, plan, values, 5, &output, 1);
  download(self.context, result, memory, sizeof result);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      const double value =
          (self.host.y[m * N + n] + (double)self.host.bias[n]) * (double)self.host.gain[m] +
          (double)self.host.residual[m * N + n] + (double)offset - 1.25;
      EXPECT((double)result[m * N + n] == value);
    }
  EXPECT_SUCCESS(postlude_free(self.context, gain));
  EXPECT_SUCCESS(postlude_free(self.context, residual));
  EXPECT_SUCCESS(postlude_free(self.context, element));
  EXPECT_SUCCESS(postlude_free(self.context, memory));
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  close_layer(&self);
}

/* NaN in x reaches its row and no other, through min and through max over each dimension. */
static void test_nan(postlude_backend backend) {
  layer self;
  open_layer(&self, backend);
  const int spoiled_row = 3;
  self.host.x[spoiled_row * K + 1] = NAN;
  REQUIRE(postlude_copy_to_backend(self.context, self.x, self.host.x, sizeof self.host.x) ==
          POSTLUDE_SUCCESS);
  float result[M * N];
  evaluate(&self, "min(y + bias, 2) - 2", M, N, result);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) EXPECT(!!isnan(result[m * N + n]) == (m == spoiled_row));
  float rows[M];
  evaluate(&self, "m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))", M, 1, rows);
  for (int m = 0; m < M; ++m) EXPECT(m == spoiled_row ? !!isnan(rows[m]) : rows[m] == 0.0f);
  float columns[N];
  evaluate(&self, "max(y + bias, dim=0)", 1, N, columns);
  for (int n = 0; n < N; ++n) EXPECT(isnan(columns[n]));
  close_layer(&self);
}

/* Column-major x, w and result, float64: what a Fortran or Julia host has. */
static void test_column_major(postlude_backend backend) {
  postlude_context* context = create_context(backend);
  problem_data host;
  fill(&host);
  double x[K * M];
  double w[K * N];
  for (int k = 0; k < K; ++k) {
    for (int m = 0; m < M; ++m) x[k * M + m] = (double)host.x[m * K + k];
    for (int n = 0; n < N; ++n) w[k * N + n] = (double)host.w[n * K + k];
  }
  void* x_memory = upload(context, x, sizeof x);
  void* w_memory = upload(context, w, sizeof w);
  double result[M * N];
  void* memory = upload(context, NULL, sizeof result);

  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  problem.x = matrix_of(context, x_memory, POSTLUDE_FLOAT64, M, K, POSTLUDE_COLUMN_MAJOR);
  problem.w = matrix_of(context, w_memory, POSTLUDE_FLOAT64, N, K, POSTLUDE_COLUMN_MAJOR);
  problem.compute = POSTLUDE_COMPUTE_F64;
  postlude_plan_options options = POSTLUDE_PLAN_OPTIONS_INIT;
  options.layout = POSTLUDE_COLUMN_MAJOR;
  options.engine = "kokkos_kernels";
  postlude_plan* plan = NULL;
  REQUIRE(postlude_plan_create(context, &problem, "relu(y)", NULL, 0, &options, &plan) ==
          POSTLUDE_SUCCESS);
  postlude_result_info info = POSTLUDE_RESULT_INFO_INIT;
  EXPECT_SUCCESS(postlude_plan_result(plan, 0, &info));
  EXPECT(info.dtype == POSTLUDE_FLOAT64);

  const postlude_tensor output =
      matrix_of(context, memory, POSTLUDE_FLOAT64, M, N, POSTLUDE_COLUMN_MAJOR);
  postlude_bindings bindings = POSTLUDE_BINDINGS_INIT;
  bindings.x = problem.x;
  bindings.w = problem.w;
  bindings.outputs = &output;
  bindings.output_count = 1;
  EXPECT_SUCCESS(postlude_execute(plan, &bindings, NULL));
  download(context, result, memory, sizeof result);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) EXPECT(result[n * M + m] == fmax(host.y[m * N + n], 0));

  EXPECT_SUCCESS(postlude_free(context, x_memory));
  EXPECT_SUCCESS(postlude_free(context, w_memory));
  EXPECT_SUCCESS(postlude_free(context, memory));
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  EXPECT_SUCCESS(postlude_context_destroy(context));
}

/* Two problems that share w, each with a bias of its own, given as 2 x N. */
static void test_batch(postlude_backend backend) {
  layer self;
  open_layer(&self, backend);
  float x[2 * M * K];
  float bias[2 * N];
  for (int i = 0; i < M * K; ++i) {
    x[i] = self.host.x[i];
    x[M * K + i] = -2 * self.host.x[i];
  }
  for (int n = 0; n < N; ++n) {
    bias[n] = self.host.bias[n];
    bias[N + n] = 8 - self.host.bias[n];
  }
  void* x_memory = upload(self.context, x, sizeof x);
  void* bias_memory = upload(self.context, bias, sizeof bias);
  float result[2 * M * N];
  void* memory = upload(self.context, NULL, sizeof result);
  postlude_tensor tensor =
      matrix_of(self.context, x_memory, POSTLUDE_FLOAT32, M, K, POSTLUDE_ROW_MAJOR);
  tensor.rank = 3;
  tensor.extent[0] = 2, tensor.extent[1] = M, tensor.extent[2] = K;
  tensor.stride[0] = M * K, tensor.stride[1] = K, tensor.stride[2] = 1;
  self.problem.x = tensor;
  postlude_operand operand = declare("bias", POSTLUDE_ROW);
  operand.is_batched = 1;
  postlude_plan_options options = POSTLUDE_PLAN_OPTIONS_INIT;
  options.compilation = POSTLUDE_COMPILATION_NEVER;
  postlude_plan* plan = NULL;
  REQUIRE(postlude_plan_create(self.context, &self.problem, "y + bias", &operand, 1, &options,
                               &plan) == POSTLUDE_SUCCESS);
  const postlude_operand_value value = tensor_value(
      matrix_of(self.context, bias_memory, POSTLUDE_FLOAT32, 2, N, POSTLUDE_ROW_MAJOR));
  postlude_tensor output = tensor;
  output.data = memory;
  output.extent[2] = N;
  output.stride[0] = M * N, output.stride[1] = N;
  self.bindings.x = tensor;
  execute(&self, plan, &value, 1, &output, 1);
  download(self.context, result, memory, sizeof result);
  for (int b = 0; b < 2; ++b)
    for (int m = 0; m < M; ++m)
      for (int n = 0; n < N; ++n)
        EXPECT((double)result[(b * M + m) * N + n] ==
               (b == 0 ? 1 : -2) * self.host.y[m * N + n] + (double)bias[b * N + n]);
  EXPECT_SUCCESS(postlude_free(self.context, x_memory));
  EXPECT_SUCCESS(postlude_free(self.context, bias_memory));
  EXPECT_SUCCESS(postlude_free(self.context, memory));
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  close_layer(&self);
}

/* With the library's workspace and with the caller's, results are the same bits. */
static void test_workspace(postlude_backend backend) {
  layer self;
  open_layer(&self, backend);
  const postlude_operand operand = declare("bias", POSTLUDE_ROW);
  postlude_plan* plan =
      create_plan(&self, "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))", &operand, 1, NULL);
  size_t bytes = 0;
  EXPECT_SUCCESS(postlude_plan_workspace_size(plan, &bytes));
  float without[N];
  float with[N];
  void* memory = upload(self.context, NULL, sizeof with);
  const postlude_operand_value value = bias_value(&self);
  const postlude_tensor output =
      matrix_of(self.context, memory, POSTLUDE_FLOAT32, 1, N, POSTLUDE_ROW_MAJOR);
  execute(&self, plan, &value, 1, &output, 1);
  download(self.context, without, memory, sizeof without);

  postlude_bindings bindings = self.bindings;
  bindings.operands = &value;
  bindings.operand_count = 1;
  bindings.outputs = &output;
  bindings.output_count = 1;
  bindings.workspace = upload(self.context, NULL, bytes + 256);
  bindings.workspace_bytes = bytes + 256;
  EXPECT_SUCCESS(postlude_execute(plan, &bindings, NULL));
  download(self.context, with, memory, sizeof with);
  EXPECT(memcmp(with, without, sizeof with) == 0);

  EXPECT_SUCCESS(postlude_free(self.context, bindings.workspace));
  EXPECT_SUCCESS(postlude_free(self.context, memory));
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  close_layer(&self);
}

static void test_check(postlude_backend backend) {
  layer self;
  open_layer(&self, backend);
  const postlude_operand operand = declare("bias", POSTLUDE_ROW);
  const char* expression = "z = gelu(y + bias); return z, sum(z, dim=0)";
  postlude_plan* plan = create_plan(&self, expression, &operand, 1, NULL);
  float z[M * N];
  float sums[N];
  void* z_memory = upload(self.context, NULL, sizeof z);
  void* sums_memory = upload(self.context, NULL, sizeof sums);
  const postlude_operand_value value = bias_value(&self);
  const postlude_tensor outputs[] = {
      matrix_of(self.context, z_memory, POSTLUDE_FLOAT32, M, N, POSTLUDE_ROW_MAJOR),
      matrix_of(self.context, sums_memory, POSTLUDE_FLOAT32, 1, N, POSTLUDE_ROW_MAJOR)};
  execute(&self, plan, &value, 1, outputs, 2);
  download(self.context, z, z_memory, sizeof z);
  download(self.context, sums, sums_memory, sizeof sums);

  /* The same on the host. */
  postlude_bindings bindings = self.bindings;
  bindings.x.data = self.host.x;
  bindings.x.memory_space = POSTLUDE_HOST;
  bindings.w.data = self.host.w;
  bindings.w.memory_space = POSTLUDE_HOST;
  postlude_operand_value host_value = value;
  host_value.tensor.data = self.host.bias;
  host_value.tensor.memory_space = POSTLUDE_HOST;
  postlude_tensor host_outputs[] = {outputs[0], outputs[1]};
  host_outputs[0].data = z;
  host_outputs[0].memory_space = POSTLUDE_HOST;
  host_outputs[1].data = sums;
  host_outputs[1].memory_space = POSTLUDE_HOST;
  bindings.operands = &host_value;
  bindings.operand_count = 1;
  bindings.outputs = host_outputs;
  bindings.output_count = 2;
  postlude_check_result results[] = {POSTLUDE_CHECK_RESULT_INIT, POSTLUDE_CHECK_RESULT_INIT};
  EXPECT_SUCCESS(postlude_check(plan, &bindings, 0, results, 2));
  EXPECT(results[0].elements == M * N && results[0].violations == 0);
  EXPECT(results[1].elements == N && results[1].violations == 0);
  EXPECT(results[0].largest_absolute_error < 1e-4);
  EXPECT(results[0].tolerance == 1e-4 && results[1].tolerance == 1e-4);

  z[4 * N + 2] += 1.0f;
  z[1] = NAN;
  EXPECT_SUCCESS(postlude_check(plan, &bindings, 0, results, 2));
  EXPECT(results[0].violations == 2 && results[1].violations == 0);
  EXPECT(postlude_check(plan, &bindings, 10, results, 2) == POSTLUDE_SUCCESS);
  EXPECT(results[0].tolerance == 10);
  EXPECT(results[0].violations == 1); /* A NaN is never within a tolerance. */

  EXPECT_SUCCESS(postlude_free(self.context, z_memory));
  EXPECT_SUCCESS(postlude_free(self.context, sums_memory));
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  close_layer(&self);
}

/* Cases 17 and 21 of "cases that have gone wrong elsewhere". */
static void test_cases(postlude_backend backend) {
  postlude_context* context = create_context(backend);
  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  postlude_bindings bindings = POSTLUDE_BINDINGS_INIT;
  postlude_plan* plan = NULL;

  /* M=2, N=3, K=0, bias [1,-2,3], relu: both rows are [1,0,3]; x and w are null. */
  problem.x = matrix_of(context, NULL, POSTLUDE_FLOAT32, 2, 0, POSTLUDE_ROW_MAJOR);
  problem.w = matrix_of(context, NULL, POSTLUDE_FLOAT32, 3, 0, POSTLUDE_ROW_MAJOR);
  const postlude_operand operand = declare("bias", POSTLUDE_ROW);
  REQUIRE(postlude_plan_create(context, &problem, "relu(y + bias)", &operand, 1, NULL, &plan) ==
          POSTLUDE_SUCCESS);
  const float bias[] = {1, -2, 3};
  void* bias_memory = upload(context, bias, sizeof bias);
  float rows[6];
  void* rows_memory = upload(context, NULL, sizeof rows);
  const postlude_operand_value value =
      tensor_value(vector_of(context, bias_memory, POSTLUDE_FLOAT32, 3));
  postlude_tensor output =
      matrix_of(context, rows_memory, POSTLUDE_FLOAT32, 2, 3, POSTLUDE_ROW_MAJOR);
  bindings.x = problem.x;
  bindings.w = problem.w;
  bindings.operands = &value;
  bindings.operand_count = 1;
  bindings.outputs = &output;
  bindings.output_count = 1;
  EXPECT_SUCCESS(postlude_execute(plan, &bindings, NULL));
  download(context, rows, rows_memory, sizeof rows);
  const float expected_rows[] = {1, 0, 3, 1, 0, 3};
  for (int i = 0; i < 6; ++i) EXPECT(rows[i] == expected_rows[i]);
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  EXPECT_SUCCESS(postlude_free(context, bias_memory));
  EXPECT_SUCCESS(postlude_free(context, rows_memory));

  /* [[1,2],[3,4],[5,6]] times [1,2] is 5, 11, 17. */
  const float x[] = {1, 2, 3, 4, 5, 6};
  const float w[] = {1, 2};
  void* x_memory = upload(context, x, sizeof x);
  void* w_memory = upload(context, w, sizeof w);
  float column[3];
  void* column_memory = upload(context, NULL, sizeof column);
  problem.x = matrix_of(context, x_memory, POSTLUDE_FLOAT32, 3, 2, POSTLUDE_ROW_MAJOR);
  problem.w = matrix_of(context, w_memory, POSTLUDE_FLOAT32, 1, 2, POSTLUDE_ROW_MAJOR);
  REQUIRE(postlude_plan_create(context, &problem, "y", NULL, 0, NULL, &plan) == POSTLUDE_SUCCESS);
  output = matrix_of(context, column_memory, POSTLUDE_FLOAT32, 3, 1, POSTLUDE_ROW_MAJOR);
  bindings.x = problem.x;
  bindings.w = problem.w;
  bindings.operands = NULL;
  bindings.operand_count = 0;
  EXPECT_SUCCESS(postlude_execute(plan, &bindings, NULL));
  download(context, column, column_memory, sizeof column);
  EXPECT(column[0] == 5 && column[1] == 11 && column[2] == 17);
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  EXPECT_SUCCESS(postlude_free(context, x_memory));
  EXPECT_SUCCESS(postlude_free(context, w_memory));
  EXPECT_SUCCESS(postlude_free(context, column_memory));
  EXPECT_SUCCESS(postlude_context_destroy(context));
}

/* A plan keeps what it needs of its context. */
static void test_plan_outlives_context(postlude_backend backend) {
  layer self;
  open_layer(&self, backend);
  postlude_context* other = create_context(backend);
  const postlude_operand operand = declare("bias", POSTLUDE_ROW);
  postlude_plan* plan = NULL;
  REQUIRE(postlude_plan_create(other, &self.problem, "y + bias", &operand, 1, NULL, &plan) ==
          POSTLUDE_SUCCESS);
  EXPECT_SUCCESS(postlude_context_destroy(other));
  float result[M * N];
  void* memory = upload(self.context, NULL, sizeof result);
  postlude_bindings bindings = self.bindings;
  const postlude_operand_value value = bias_value(&self);
  const postlude_tensor output =
      matrix_of(self.context, memory, POSTLUDE_FLOAT32, M, N, POSTLUDE_ROW_MAJOR);
  bindings.operands = &value;
  bindings.operand_count = 1;
  bindings.outputs = &output;
  bindings.output_count = 1;
  EXPECT_SUCCESS(postlude_execute(plan, &bindings, NULL));
  /* Destroying the plan waits for its work: no context is left that could be asked to. */
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  download(self.context, result, memory, sizeof result);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n)
      EXPECT((double)result[m * N + n] == self.host.y[m * N + n] + (double)self.host.bias[n]);
  EXPECT_SUCCESS(postlude_free(self.context, memory));
  close_layer(&self);
}

static void* fail_in_thread(void* argument) {
  (void)argument;
  EXPECT(postlude_last_error_message()[0] == '\0');
  EXPECT_STATUS(postlude_context_create(NULL, NULL), POSTLUDE_INVALID_ARGUMENT);
  EXPECT(strstr(postlude_last_error_message(), "context") != NULL);
  return NULL;
}

static void test_last_error(void) {
  EXPECT_STATUS(postlude_tensor_vector(NULL, NULL, POSTLUDE_FLOAT32, 1, POSTLUDE_HOST),
                POSTLUDE_INVALID_ARGUMENT);
  char message[256];
  snprintf(message, sizeof message, "%s", postlude_last_error_message());
  EXPECT(strstr(message, "tensor") != NULL);
  postlude_tensor tensor = POSTLUDE_TENSOR_INIT;
  EXPECT_SUCCESS(postlude_tensor_vector(&tensor, NULL, POSTLUDE_FLOAT32, 1, POSTLUDE_HOST));
  EXPECT(strcmp(message, postlude_last_error_message()) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, fail_in_thread, NULL) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  EXPECT(strcmp(message, postlude_last_error_message()) == 0);
}

enum { thread_count = 4, executions_per_thread = 50 };

typedef struct thread_work {
  const layer* self;
  const postlude_plan* plan;
  double c;
  void* memory;
  int failures;
} thread_work;

/* Each thread has its own scalar and its own output; the plan is shared. */
static void* execute_in_thread(void* argument) {
  thread_work* work = argument;
  const layer* self = work->self;
  const postlude_operand_value values[] = {scalar_value(work->c), bias_value(self)};
  const postlude_tensor output =
      matrix_of(self->context, work->memory, POSTLUDE_FLOAT32, 1, N, POSTLUDE_ROW_MAJOR);
  postlude_bindings bindings = self->bindings;
  bindings.operands = values;
  bindings.operand_count = 2;
  bindings.outputs = &output;
  bindings.output_count = 1;
  for (int i = 0; i < executions_per_thread; ++i)
    if (postlude_execute(work->plan, &bindings, NULL) != POSTLUDE_SUCCESS) ++work->failures;
  return NULL;
}

static void test_threads(postlude_backend backend) {
  layer self;
  open_layer(&self, backend);
  const postlude_operand operands[] = {declare("c", POSTLUDE_SCALAR),
                                       declare("bias", POSTLUDE_ROW)};
  postlude_plan* plan = create_plan(&self, "sum(relu(y + bias), dim=0) + c", operands, 2, NULL);
  thread_work work[thread_count];
  pthread_t threads[thread_count];
  for (int i = 0; i < thread_count; ++i) {
    void* memory = upload(self.context, NULL, N * sizeof(float));
    work[i] = (thread_work){&self, plan, 0.25 * i, memory, 0};
    REQUIRE(pthread_create(&threads[i], NULL, execute_in_thread, &work[i]) == 0);
  }
  for (int i = 0; i < thread_count; ++i) REQUIRE(pthread_join(threads[i], NULL) == 0);
  EXPECT_SUCCESS(postlude_context_synchronize(self.context));
  for (int i = 0; i < thread_count; ++i) {
    EXPECT(work[i].failures == 0);
    float result[N];
    download(self.context, result, work[i].memory, sizeof result);
    for (int n = 0; n < N; ++n) {
      double sum = work[i].c;
      for (int m = 0; m < M; ++m)
        sum += fmax(self.host.y[m * N + n] + (double)self.host.bias[n], 0);
      EXPECT((double)result[n] == sum);
    }
    EXPECT_SUCCESS(postlude_free(self.context, work[i].memory));
  }
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  close_layer(&self);
}

int main(int argc, char** argv) {
  const postlude_backend backend = backend_of_arguments(argc, argv);
  test_names();
  test_last_error();
  test_context(backend);
  test_memory(backend);
  test_tensor();
  test_pointwise(backend);
  test_reductions(backend);
  test_two_results(backend);
  test_operand_kinds(backend);
  test_batch(backend);
  test_nan(backend);
  test_column_major(backend);
  test_workspace(backend);
  test_check(backend);
  test_cases(backend);
  test_plan_outlives_context(backend);
  test_threads(backend);
  return finish("c_interface");
}
