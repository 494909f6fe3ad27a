/* A linear layer with a fused epilogue, out = min(x w^T + bias, c) - c, from plain C arrays. */

#include <math.h>
#include <postlude.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 5, N = 7, K = 300 };

static void require(postlude_status status) {
  if (status == POSTLUDE_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", postlude_status_name(status), postlude_last_error_message());
  exit(1);
}

static postlude_tensor matrix(float* data, int64_t rows, int64_t columns) {
  postlude_tensor tensor;
  require(postlude_tensor_matrix(&tensor, data, POSTLUDE_FLOAT32, rows, columns, POSTLUDE_ROW_MAJOR,
                                 POSTLUDE_HOST));
  return tensor;
}

static void linear_min_subtract(float* x, float* w, float* bias, float c, float* out) {
  postlude_context_options options = POSTLUDE_CONTEXT_OPTIONS_INIT;
  options.backend = POSTLUDE_BACKEND_SERIAL; /* or _OPENMP, or _CUDA with memory of the device */
  postlude_context* context;
  require(postlude_context_create(&options, &context));

  /* A plan is made once for its shapes, and may be executed many times. */
  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  problem.x = matrix(x, M, K);
  problem.w = matrix(w, N, K);
  const postlude_operand operands[] = {{sizeof(postlude_operand), "bias", POSTLUDE_ROW, 0},
                                       {sizeof(postlude_operand), "c", POSTLUDE_SCALAR, 0}};
  postlude_plan* plan;
  require(
      postlude_plan_create(context, &problem, "min(y + bias, c) - c", operands, 2, NULL, &plan));

  postlude_operand_value values[] = {POSTLUDE_OPERAND_VALUE_INIT, POSTLUDE_OPERAND_VALUE_INIT};
  values[0].tensor = matrix(bias, 1, N);
  values[1].scalar = c;
  const postlude_tensor output = matrix(out, M, N);
  postlude_bindings bindings = POSTLUDE_BINDINGS_INIT;
  bindings.x = problem.x;
  bindings.w = problem.w;
  bindings.operands = values;
  bindings.operand_count = 2;
  bindings.outputs = &output;
  bindings.output_count = 1;
  require(postlude_execute(plan, &bindings, NULL));

  require(postlude_plan_destroy(plan));
  require(postlude_context_destroy(context));
}

static void fill(float* values, int count, float low, float high) {
  for (int i = 0; i < count; ++i) values[i] = low + (high - low) * (float)(i * 37 % 101) / 101;
}

int main(void) {
  static float x[M * K], w[N * K], bias[N], out[M * N];
  fill(x, M * K, 0, 1);
  fill(w, N * K, -1, 1);
  fill(bias, N, -1, 1);
  const float c = 2;
  linear_min_subtract(x, w, bias, c, out);

  int wrong = 0;
  for (int i = 0; i < M * N; ++i) {
    double y = bias[i % N];
    for (int k = 0; k < K; ++k) y += (double)x[i / N * K + k] * w[i % N * K + k];
    const double expected = fmin(y, c) - c;
    if (!(fabs(out[i] - expected) <= 1e-4 + 1e-4 * fabs(expected))) ++wrong;
  }
  printf("the last element is %g, %d of %d elements are wrong\n", out[M * N - 1], wrong, M * N);
  return wrong != 0;
}
