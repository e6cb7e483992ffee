/** Returns a quantile of the values; NaN if there are no values. @param share which quantile, such as 0.99 */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
