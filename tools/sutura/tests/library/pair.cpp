// Two models in one program, in C++.
#include "first.h"
#include "second.h"

#include <cstdio>
#include <vector>

int main() {
  std::vector<float> x(2 * 5, 1.0f), y(2 * 5);
  const int64_t dims[2] = {2, 5};
  if (first_run(x.data(), dims, y.data(), dims, nullptr, 0) != first_OK) return 1;
  std::printf("%.2f\n", y[3]);
  const int64_t wrong[2] = {2, 0};
  std::printf("%d %s\n", first_run(x.data(), wrong, y.data(), wrong, nullptr, 0), first_last_error());
  // Each has its own last error.
  std::printf("'%s'\n", second_last_error());
  std::vector<int64_t> constant(2);
  const int64_t two[1] = {2};
  if (second_run(constant.data(), two, nullptr, 0) != second_OK) return 1;
  std::printf("%d %d\n", int(constant[0]), int(constant[1]));
}
