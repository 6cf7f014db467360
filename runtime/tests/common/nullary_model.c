/* A host.so of a model without inputs: s: f32[] = 42, e: f32[0]. */
#include "sutura_abi.h"

uint32_t sutura_abi_version(void) { return SUTURA_ABI_VERSION; }

const char sutura_interface[] = "symbols 0; inputs; outputs f32[] f32[0]; constants; checks 0; data_checks 0; kernels";

int32_t sutura_shapes(const int64_t *input_dims, int64_t *symbols, int64_t *output_dims, int64_t *workspace_bytes,
                      int64_t *detail) {
  output_dims[0] = 0;
  *workspace_bytes = 0;
  return 0;
}

int32_t sutura_run(const SuturaRt *rt, const int64_t *symbols, const void *const *inputs, void *const *outputs,
                   const void *const *constants, void *workspace) {
  *(float *)outputs[0] = 42;
  return 0;
}
