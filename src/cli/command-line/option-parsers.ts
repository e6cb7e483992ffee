import { InvalidArgumentError } from 'commander'
import { systemClock } from '../../core/base/clock.ts'
import { idProblem } from '../../core/model/address.ts'

/** Returns a text that is a valid id. @throws InvalidArgumentError */
export function parseIdOption(id: string): string {
  const problem = idProblem(id)
  if (problem !== null) throw new InvalidArgumentError(`It ${problem}.`)
  return id
}

const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Parses a date, or an age such as `24h`. Returns the time in epoch milliseconds.
 * @throws InvalidArgumentError
 */
export function parseTimeOption(text: string): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const ms = unitsMs[unit ?? '']
  const at = ms === undefined ? Date.parse(text) : systemClock.now() - Number(count) * ms
  if (Number.isNaN(at))
    throw new InvalidArgumentError('Expected a date such as 2026-11-21T08:00Z, or 30m, 24h, 7d.')
  return at
}
