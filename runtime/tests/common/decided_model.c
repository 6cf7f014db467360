/* A hand-written host.so whose data decide a size: y: f32[k] are the numbers of x: f32[n] that are above 0. Macros make it
 * misbehave:
 *   TEST_FOUND=n    says that it found n             TEST_DIM=n     says that the output has n elements
 *   TEST_FAIL       reports its check and returns it  TEST_NO_DIMS   no sutura_output_dims
 */
#include "sutura_abi.h"

uint32_t sutura_abi_version(void) { return SUTURA_ABI_VERSION; }

const char sutura_interface[] =
    "symbols 2; inputs f32[s0]; outputs f32[s1]; constants; checks 1; data_checks 0; kernels; decided s1";

int32_t sutura_shapes(const int64_t *input_dims, int64_t *symbols, int64_t *output_dims, int64_t *workspace_bytes,
                      int64_t *detail) {
  symbols[0] = input_dims[0];
  symbols[1] = input_dims[0];
  output_dims[0] = input_dims[0];
  *workspace_bytes = 0;
  return 0;
}

int32_t sutura_run(const SuturaRt *rt, const int64_t *symbols, const void *const *inputs, void *const *outputs,
                   const void *const *constants, void *workspace) {
  const float *x = inputs[0];
  float *y = outputs[0];
  int64_t found = 0;
  for (int64_t i = 0; i < symbols[0]; i++)
    if (x[i] > 0) y[found++] = x[i];
#ifdef TEST_FOUND
  found = TEST_FOUND;
#endif
#ifdef TEST_FAIL
  rt->report(rt->ctx, -1, 0, found, 7);
  return 1;
#endif
  ((int64_t *)symbols)[1] = found;
  return 0;
}

#ifndef TEST_NO_DIMS
void sutura_output_dims(const int64_t *symbols, int64_t *output_dims) {
  output_dims[0] = symbols[1];
#ifdef TEST_DIM
  output_dims[0] = TEST_DIM;
#endif
}
#endif
