/** Returns a quantile of the values; NaN if there are none. @param share such as 0.99 */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
