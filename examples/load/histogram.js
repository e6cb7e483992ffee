/** Each bucket is 2 % wider than the one before: that is how exact the percentiles are. */
const growth = Math.log(1.02)
const smallestMs = 0.01

/** Times in milliseconds: any number of them in little memory. */
export class Histogram {
  #counts = []
  count = 0
  worst = 0

  add(ms) {
    const bucket = Math.max(0, Math.ceil(Math.log(ms / smallestMs) / growth))
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.count += 1
    this.worst = Math.max(this.worst, ms)
  }

  /** The time that so large a share of all did not exceed; null where there are none. */
  percentile(share) {
    let missing = Math.ceil(this.count * share)
    if (missing === 0) return null
    const bucket = this.#counts.findIndex((count = 0) => {
      missing -= count
      return missing <= 0
    })
    return Math.min(this.worst, smallestMs * Math.exp(bucket * growth))
  }

  summary() {
    const round = (ms) => (ms === null ? null : Math.round(ms * 100) / 100)
    const [p50, p99] = [0.5, 0.99].map((share) => round(this.percentile(share)))
    return { p50, p99, worst: round(this.worst), count: this.count }
  }
}
