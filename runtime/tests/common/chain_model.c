/* A hand-written host.so of a model on a device: y = affine(affine(x)) by way of the workspace, and z a copy of y; x, y and z
 * have n elements. Of one element there is one launch. TEST_FAIL_AT=k: the call number k, from 0, launches a kernel that the
 * manifest has not. TEST_CONSTANT: x is the first constant, of 100 elements, and the input tells how long it is. */
#include "sutura_abi.h"

#ifdef TEST_CONSTANT
#define CONSTANTS " f32[100]"
#else
#define CONSTANTS ""
#endif

uint32_t sutura_abi_version(void) { return SUTURA_ABI_VERSION; }

const char sutura_interface[] =
    "symbols 1; inputs f32[s0]; outputs f32[s0] f32[s0]; constants" CONSTANTS "; checks 0; data_checks 0; kernels 64";

int32_t sutura_shapes(const int64_t *input_dims, int64_t *symbols, int64_t *output_dims, int64_t *workspace_bytes,
                      int64_t *detail) {
  (void)detail;
  symbols[0] = output_dims[0] = output_dims[1] = input_dims[0];
  *workspace_bytes = 4 * input_dims[0];
  return 0;
}

int32_t sutura_run(const SuturaRt *rt, const int64_t *symbols, const void *const *inputs, void *const *outputs,
                   const void *const *constants, void *workspace) {
  int64_t n = symbols[0];
  if (n == 0) return 0;
#ifdef TEST_CONSTANT
  const void *x = constants[0];
  (void)inputs;
#else
  const void *x = inputs[0];
  (void)constants;
#endif
  uint64_t first[] = {(uint64_t)x, (uint64_t)workspace, (uint64_t)n};
  uint64_t second[] = {(uint64_t)workspace, (uint64_t)outputs[0], (uint64_t)n};
  rt->launch(rt->ctx, 0, first, 3, n);
  if (n > 1) rt->launch(rt->ctx, 0, second, 3, n);
#ifdef TEST_FAIL_AT
  static int calls;
  if (calls++ == TEST_FAIL_AT) rt->launch(rt->ctx, 5, second, 3, n);
#endif
  rt->copy(rt->ctx, n > 1 ? outputs[0] : workspace, outputs[1], 4 * n);
  return 0;
}
