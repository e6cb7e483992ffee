/** Advice for the user, by error status. */
const advice: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'The credentials are invalid or expired. Sign in again.',
  RESOURCE_EXHAUSTED: 'Wait a moment, then try again.',
  UNAVAILABLE: 'The server is not ready. Try again in a moment.',
  OFFLINE: 'Check that the server is running.',
}

interface Issue {
  readonly path: string
  readonly message: string
}

/** The members of an `ApiCallError` that describe it. */
interface CallProblem {
  readonly status: string
  readonly message: string
  readonly details: unknown
}

/** Describes the error of a call in sentences. Adds advice if there is any for the status. */
export function describeError({ status, message, details }: CallProblem): string {
  const hasIssues = typeof details === 'object' && details !== null && 'issues' in details
  const issues: readonly Issue[] = hasIssues && Array.isArray(details.issues) ? details.issues : []
  const sentences = issues.map((issue) => `${issue.path.replace(/^\/data\//, '')} ${issue.message}`)
  // The message repeats the first issue, so it is left out if there are issues.
  const all = sentences.length > 0 ? sentences : [message]
  return [...all.map(ended), ...[advice[status] ?? []].flat()].join(' ')
}

const ended = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`)

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** Formats a size in bytes. For example, 1,536 is `1.5 KB`. */
export function formatBytes(size: number): string {
  const power = Math.min(units.length - 1, size < 1 ? 0 : Math.floor(Math.log2(size) / 10))
  const shown = size / 1024 ** power
  return `${shown.toLocaleString(undefined, { maximumFractionDigits: power === 0 || shown >= 100 ? 0 : 1 })} ${units[power]}`
}

/** Formats a count. Numbers below ten have one decimal, because they can be rates. */
export const formatCount = (value: number): string =>
  value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 })

/** Formats a number of things with their noun, for example `1 document` or `2 documents`. */
export const formatCounted = (count: number, thing: string): string =>
  `${count.toLocaleString()} ${thing}${count === 1 ? '' : 's'}`

const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Formats a time in the local format; '' if it is null. @param at time in epoch milliseconds or as ISO 8601 */
export const formatTime = (at: number | string | null): string =>
  at === null ? '' : times.format(new Date(at))
