import type { Parser } from './option-parsers.ts'

/** A rate limit: a sustained rate, and the amount that is accepted at once after a pause. */
export interface Rate {
  /** Calls (or bytes) per second; 0: unlimited. */
  readonly perSecond: number
  /** Calls (or bytes) in a burst after a pause. At least 1, unless the rate is unlimited. */
  readonly burst: number
}

export const unlimited: Rate = { perSecond: 0, burst: 0 }

/** Formats a rate as the option has it: `400:10000`, or `0` if it is unlimited. */
export const formatRate = ({ perSecond, burst }: Rate): string =>
  perSecond === 0 ? '0' : `${perSecond}:${burst}`

/**
 * Parses a rate: `400:10000` are 400 per second with a burst of 10,000, and `0` is unlimited. If the text has
 * no burst, the rate and its burst have the same ratio as in the default.
 * @param max maximum of the rate and of the burst
 */
export function rateWithBurst(defaultRate: Rate, max: number): Parser<Rate> {
  const ratio = defaultRate.burst / defaultRate.perSecond
  return {
    expected: `a rate per second, or rate:burst such as ${formatRate(defaultRate)}, each at most ${max} (0: unlimited)`,
    format: formatRate,
    parse(text) {
      const [, rateText, burstText] = /^(\d{1,15})(?::(\d{1,15}))?$/.exec(text) ?? []
      if (rateText === undefined) return undefined
      const perSecond = Number(rateText)
      if (perSecond === 0) return burstText === undefined ? unlimited : undefined
      const burst = burstText === undefined ? Math.min(max, Math.ceil(perSecond * ratio)) : Number(burstText)
      return perSecond <= max && burst >= 1 && burst <= max ? { perSecond, burst } : undefined
    },
  }
}
