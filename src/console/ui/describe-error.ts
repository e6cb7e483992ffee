import type { ApiCallError } from '../api/client.ts'

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

/** Describes the error of a call in sentences. Adds advice if there is any for the status. */
export function describeError({ status, message, details }: Omit<ApiCallError, 'name'>): string {
  const hasIssues = typeof details === 'object' && details !== null && 'issues' in details
  const issues: readonly Issue[] = hasIssues && Array.isArray(details.issues) ? details.issues : []
  const sentences = issues.map((issue) => `${issue.path.replace(/^\/data\//, '')} ${issue.message}`)
  // The message repeats the first issue, so it is left out if there are issues.
  const all = sentences.length > 0 ? sentences : [message]
  return [...all.map(ended), ...[advice[status] ?? []].flat()].join(' ')
}

const ended = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`)
