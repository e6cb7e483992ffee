import type { Parser } from './option-parsers.ts'

/** Numbers of days, weeks, months and years of which the newest backup is kept. */
export interface KeepRule {
  readonly d: number
  readonly w: number
  readonly m: number
  readonly y: number
}

const none: KeepRule = { d: 0, w: 0, m: 0, y: 0 }

/** Parses a rule such as `7d,4w,12m`. Returns `undefined` for an invalid text. */
export function readKeepRule(text: string): KeepRule | undefined {
  const terms = text.split(',').map((term) => /^([1-9]\d{0,3})([dwmy])$/.exec(term.trim()))
  const found = terms.flatMap((match) => (match === null ? [] : [[match[2], Number(match[1])] as const]))
  const rule: KeepRule = { ...none, ...Object.fromEntries(found) }
  const isValid =
    found.length === terms.length && Object.values(rule).filter((count) => count > 0).length === found.length
  return isValid ? rule : undefined
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const everyMsMax = 366 * unitMs.d

/** Parses an interval such as `30m`, `24h` or `7d`. Returns milliseconds, or `undefined` for an invalid text. */
export function readInterval(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? []
  const ms = Number(count) * unitMs[unit as keyof typeof unitMs]
  return ms <= everyMsMax ? ms : undefined
}

/** Returns whether a text is a backup key: 64 hexadecimal digits. */
export const isBackupKeyText = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text.trim())

/** The scheme of a URL. One letter is the drive of a Windows path. */
const scheme = /^([a-z][a-z0-9+.-]+):\/\//i

/** Parsers of options whose values are their texts. */
const textIf = (expected: string, isValid: (text: string) => boolean): Parser<string> => ({
  expected,
  parse: (text) => (isValid(text) ? text : undefined),
})

export const backupPlace = textIf(
  'the path of a folder, or s3://bucket/prefix',
  (text) => text.trim() !== '' && !text.includes('\0') && (scheme.exec(text)?.[1] ?? 's3') === 's3',
)

export const backupInterval = textIf(
  'minutes, hours or days, such as 24h, at most 366d',
  (text) => readInterval(text) !== undefined,
)

export const backupRetention = textIf(
  'numbers of days, weeks, months and years, such as 7d,4w,12m',
  (text) => readKeepRule(text) !== undefined,
)

export const backupKeyText = textIf(
  '64 hexadecimal digits (`weft backups key` creates them)',
  isBackupKeyText,
)
