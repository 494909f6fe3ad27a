/* out = min(x w^T + bias, 2) - 2 in numbers that are exact in float32. */

#include <postlude.h>
#include <stdio.h>

static int failed(postlude_status status) {
  if (status != POSTLUDE_SUCCESS)
    fprintf(stderr, "%s: %s\n", postlude_status_name(status), postlude_last_error_message());
  return status != POSTLUDE_SUCCESS;
}

int main(void) {
  float x[2 * 2] = {1, 2, 0, 0.5f};
  float w[3 * 2] = {1, 1, -1, 0.5f, 4, -2};
  float bias[3] = {0, 0.25f, 1};
  float out[2 * 3] = {9, 9, 9, 9, 9, 9};
  const float expected[2 * 3] = {0, -1.75f, -1, -1.5f, -1.5f, -2};
  int i;

  postlude_context_options options = POSTLUDE_CONTEXT_OPTIONS_INIT;
  postlude_context* context;
  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  postlude_operand operand = POSTLUDE_OPERAND_INIT;
  postlude_plan* plan;
  postlude_operand_value value = POSTLUDE_OPERAND_VALUE_INIT;
  postlude_tensor output;
  postlude_bindings bindings = POSTLUDE_BINDINGS_INIT;

  options.backend = POSTLUDE_BACKEND_SERIAL;
  if (failed(postlude_context_create(&options, &context)) ||
      failed(postlude_tensor_matrix(&problem.x, x, POSTLUDE_FLOAT32, 2, 2, POSTLUDE_ROW_MAJOR,
                                    POSTLUDE_HOST)) ||
      failed(postlude_tensor_matrix(&problem.w, w, POSTLUDE_FLOAT32, 3, 2, POSTLUDE_ROW_MAJOR,
                                    POSTLUDE_HOST)) ||
      failed(postlude_tensor_matrix(&output, out, POSTLUDE_FLOAT32, 2, 3, POSTLUDE_ROW_MAJOR,
                                    POSTLUDE_HOST)) ||
      failed(postlude_tensor_vector(&value.tensor, bias, POSTLUDE_FLOAT32, 3, POSTLUDE_HOST)))
    return 1;
  operand.name = "bias";
  bindings.x = problem.x;
  bindings.w = problem.w;
  bindings.operands = &value;
  bindings.operand_count = 1;
  bindings.outputs = &output;
  bindings.output_count = 1;
  if (failed(postlude_plan_create(context, &problem, "min(y + bias, 2) - 2", &operand, 1, NULL,
                                  &plan)) ||
      failed(postlude_execute(plan, &bindings, NULL)) || failed(postlude_plan_destroy(plan)) ||
      failed(postlude_context_destroy(context)))
    return 1;

  for (i = 0; i < 2 * 3; ++i) {
    if (out[i] == expected[i]) continue;
    fprintf(stderr, "out[%d] is %g instead of %g\n", i, out[i], expected[i]);
    return 1;
  }
  printf("Postlude %s from C\n", postlude_version_string());
  return 0;
}
