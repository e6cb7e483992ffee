import type { ApiCallError } from '../api/client.ts'

/** What to do about refusals that have an answer. */
const advice: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'Sign in with others: these are not good, or not any more.',
  RESOURCE_EXHAUSTED: 'Wait a moment, and try again.',
  UNAVAILABLE: 'The server is not ready: try again in a moment.',
  OFFLINE: 'Is it running?',
}

interface Issue {
  readonly path: string
  readonly message: string
}

/** What a call was refused for, and what to do, as sentences. */
export function describeError({ status, message, details }: Omit<ApiCallError, 'name'>): string {
  const issues = (details as { readonly issues?: readonly Issue[] } | null)?.issues ?? []
  const sentences = issues.map((issue) => `${issue.path.replace(/^\/data\//, '')} ${issue.message}`)
  // The message is that of the first of them.
  const all = sentences.length > 0 ? sentences : [message]
  return [...all.map(ended), ...[advice[status] ?? []].flat()].join(' ')
}

const ended = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`)
