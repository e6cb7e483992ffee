/** Each bucket is 2 % wider than the previous one, which is the accuracy of the percentiles. */
const growth = Math.log(1.02)
const smallestMs = 0.01

/** Stores any number of times in milliseconds in little memory. */
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

  /** Returns the time that this share of all times did not exceed; null if there are none. */
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
