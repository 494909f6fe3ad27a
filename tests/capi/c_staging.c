/* Host memory on a context that stages it: on an accelerator tensors are copied there and results
 * back; on a CPU nothing changes. The argument names the backend. */

#include "support.h"

static postlude_context* staging_context(postlude_backend backend, int32_t stages) {
  postlude_context_options options = POSTLUDE_CONTEXT_OPTIONS_INIT;
  options.backend = backend;
  options.stages_host_memory = stages;
  postlude_context* context = NULL;
  REQUIRE(postlude_context_create(&options, &context) == POSTLUDE_SUCCESS);
  return context;
}

static postlude_tensor host_matrix(void* data, int64_t rows, int64_t columns, int64_t leading) {
  postlude_tensor tensor = POSTLUDE_TENSOR_INIT;
  REQUIRE(postlude_tensor_matrix(&tensor, data, POSTLUDE_FLOAT32, rows, columns, POSTLUDE_ROW_MAJOR,
                                 POSTLUDE_HOST) == POSTLUDE_SUCCESS);
  tensor.stride[0] = leading;
  return tensor;
}

typedef struct staged {
  problem_data host;
  float results[M][2 * N]; /* z, and its double beside it: two outputs in one array */
  postlude_operand_value bias;
  postlude_tensor outputs[2];
  postlude_bindings bindings;
  postlude_plan* plan;
} staged;

static void open_staged(staged* self, postlude_context* context) {
  memset(self, 0, sizeof *self);
  fill(&self->host);
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < 2 * N; ++n) self->results[m][n] = -1;
  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  problem.x = host_matrix(self->host.x, M, K, K);
  problem.w = host_matrix(self->host.w, N, K, K);
  postlude_operand operand = POSTLUDE_OPERAND_INIT;
  operand.name = "bias";
  REQUIRE(postlude_plan_create(context, &problem,
                               "z = relu(y + bias); twice = 2 * z; return z, twice", &operand, 1,
                               NULL, &self->plan) == POSTLUDE_SUCCESS);
  self->bias = (postlude_operand_value)POSTLUDE_OPERAND_VALUE_INIT;
  /* Backwards: the address is that of the last element. */
  self->bias.tensor = host_matrix(&self->host.bias[N - 1], 1, N, N);
  self->bias.tensor.stride[1] = -1;
  self->outputs[0] = host_matrix(&self->results[0][0], M, N, 2 * N);
  self->outputs[1] = host_matrix(&self->results[0][N], M, N, 2 * N);
  self->bindings = (postlude_bindings)POSTLUDE_BINDINGS_INIT;
  self->bindings.x = problem.x;
  self->bindings.w = problem.w;
  self->bindings.operands = &self->bias;
  self->bindings.operand_count = 1;
  self->bindings.outputs = self->outputs;
  self->bindings.output_count = 2;
}

static int is_untouched(const staged* self) {
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < 2 * N; ++n)
      if (self->results[m][n] != -1.0f) return 0;
  return 1;
}

static void test_results(postlude_context* context) {
  staged self;
  open_staged(&self, context);
  EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, NULL));
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      const double z = fmax(self.host.y[m * N + n] + (double)self.host.bias[N - 1 - n], 0);
      EXPECT((double)self.results[m][n] == z);
      EXPECT((double)self.results[m][N + n] == 2 * z);
    }
  EXPECT_SUCCESS(postlude_plan_destroy(self.plan));
}

/* Columns of a wider array: what lies between them stays. */
static void test_gaps(postlude_context* context) {
  staged self;
  open_staged(&self, context);
  float wide[M][N + 3];
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N + 3; ++n) wide[m][n] = -7;
  self.outputs[0] = host_matrix(&wide[0][2], M, N, N + 3);
  EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, NULL));
  for (int m = 0; m < M; ++m) {
    EXPECT(wide[m][0] == -7.0f && wide[m][1] == -7.0f && wide[m][N + 2] == -7.0f);
    EXPECT((double)wide[m][2] == fmax(self.host.y[m * N] + (double)self.host.bias[N - 1], 0));
  }
  EXPECT_SUCCESS(postlude_plan_destroy(self.plan));
}

/* What is refused for memory of the backend is refused for staged memory, before anything moves. */
static void test_refusals(postlude_context* context) {
  staged self;
  open_staged(&self, context);
  const staged good = self;
  self.outputs[1].data = &self.results[0][N - 1];
  EXPECT_STATUS(postlude_execute(self.plan, &self.bindings, NULL), POSTLUDE_OVERLAP);
  self = good;
  self.outputs[0].data = self.host.x;
  EXPECT_STATUS(postlude_execute(self.plan, &self.bindings, NULL), POSTLUDE_OVERLAP);
  self = good;
  self.outputs[0].data = (char*)self.outputs[0].data + 2;
  EXPECT_STATUS(postlude_execute(self.plan, &self.bindings, NULL), POSTLUDE_INVALID_ARGUMENT);
  self = good;
  self.bindings.x.data = NULL;
  EXPECT_STATUS(postlude_execute(self.plan, &self.bindings, NULL), POSTLUDE_INVALID_ARGUMENT);
  self = good;
  self.bias.tensor.extent[1] = N - 1;
  EXPECT_STATUS(postlude_execute(self.plan, &self.bindings, NULL), POSTLUDE_SHAPE_MISMATCH);
  self = good;
  self.outputs[0].extent[0] = INT64_MAX / 2;
  EXPECT(postlude_execute(self.plan, &self.bindings, NULL) != POSTLUDE_SUCCESS);
  self = good;
  self.outputs[0].stride[0] = INT64_MAX;
  EXPECT(postlude_execute(self.plan, &self.bindings, NULL) != POSTLUDE_SUCCESS);
  EXPECT(is_untouched(&self));
  self = good;
  EXPECT_SUCCESS(postlude_plan_destroy(self.plan));
}

static int right_results(const staged* self) {
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n)
      if ((double)self->results[m][n] !=
          fmax(self->host.y[m * N + n] + (double)self->host.bias[N - 1 - n], 0))
        return 0;
  return 1;
}

/* Weights are prepared from host memory, which executions then need not name any more. */
static void test_weights(postlude_context* context) {
  staged self;
  open_staged(&self, context);
  const postlude_tensor w = self.bindings.w;
  postlude_weights* weights = NULL;
  EXPECT_SUCCESS(postlude_weights_create(context, self.plan, &w, &weights));
  self.bindings.weights = weights;
  EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, NULL));
  EXPECT(right_results(&self));
  if (space_of(context) != POSTLUDE_HOST) {
    self.bindings.w.data = NULL;
    self.results[0][0] = -1;
    EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, NULL));
    EXPECT(right_results(&self));
  }

  float moved[N * K];
  memcpy(moved, self.host.w, sizeof moved);
  self.bindings.w = w;
  self.bindings.w.data = moved;
  const float before = self.results[0][0];
  self.results[0][0] = -1;
  EXPECT_STATUS(postlude_execute(self.plan, &self.bindings, NULL), POSTLUDE_INVALID_ARGUMENT);
  EXPECT(strstr(postlude_last_error_message(), "stale") != NULL);
  EXPECT(self.results[0][0] == -1.0f);
  EXPECT_SUCCESS(postlude_weights_refresh(weights, &self.bindings.w, NULL));
  EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, NULL));
  EXPECT(self.results[0][0] == before && right_results(&self));

  for (int i = 0; i < N * K; ++i) moved[i] = 0;
  EXPECT_SUCCESS(postlude_weights_refresh(weights, &self.bindings.w, NULL));
  EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, NULL));
  for (int n = 0; n < N; ++n)
    EXPECT((double)self.results[0][n] == fmax((double)self.host.bias[N - 1 - n], 0));
  EXPECT_SUCCESS(postlude_weights_destroy(weights));
  EXPECT_SUCCESS(postlude_plan_destroy(self.plan));
}

/* Without the option an accelerator refuses host memory, and says what memory it wants. */
static void test_without(postlude_backend backend) {
  postlude_context* context = staging_context(backend, 0);
  staged self;
  open_staged(&self, context);
  if (space_of(context) == POSTLUDE_HOST) {
    EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, NULL));
  } else {
    EXPECT_STATUS(postlude_execute(self.plan, &self.bindings, NULL), POSTLUDE_WRONG_MEMORY_SPACE);
    EXPECT(strstr(postlude_last_error_message(), "x is in memory that backend") != NULL);
    EXPECT(strstr(postlude_last_error_message(), "expected device memory") != NULL);
    EXPECT(is_untouched(&self));
    /* A label that is a lie is found out. */
    self.bindings.x.memory_space = POSTLUDE_DEVICE;
    EXPECT_STATUS(postlude_execute(self.plan, &self.bindings, NULL), POSTLUDE_WRONG_MEMORY_SPACE);
  }
  EXPECT_SUCCESS(postlude_plan_destroy(self.plan));
  EXPECT_SUCCESS(postlude_context_destroy(context));
}

int main(int argc, char** argv) {
  const postlude_backend backend = backend_of_arguments(argc, argv);
  postlude_context* context = staging_context(backend, 1);
  test_results(context);
  test_gaps(context);
  test_refusals(context);
  test_weights(context);
  EXPECT_SUCCESS(postlude_context_destroy(context));
  test_without(backend);
  return finish("c_staging");
}
