/* Times of calls. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdlib.h>
#include <time.h>

static inline double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The value below which this part of the times is; sorts them. */
static inline double quantile(double *times, size_t n, double part) {
  qsort(times, n, sizeof *times, by_value);
  return times[(size_t)((double)(n - 1) * part)];
}

#endif
