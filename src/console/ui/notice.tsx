import type { ComponentChildren } from 'preact'
import type { CallError } from '../api.ts'

interface NoticeProps {
  readonly kind?: 'info' | 'good' | 'bad'
  readonly children: ComponentChildren
}

/** A sentence that readers of screens hear when it comes. */
export const Notice = ({ kind = 'info', children }: NoticeProps) => (
  <p class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
    {children}
  </p>
)

/** What to do about refusals that have an answer. */
const advice: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'The credentials are not good any more: sign out, and sign in again.',
  RESOURCE_EXHAUSTED: 'Wait a moment, and try again.',
  UNAVAILABLE: 'The server is not ready: try again in a moment.',
  OFFLINE: 'Is it running?',
}

interface Issue {
  readonly path: string
  readonly message: string
}

const issuesOf = ({ details }: CallError): readonly Issue[] =>
  (details as { issues?: readonly Issue[] } | null)?.issues ?? []

export function Problem({ error }: { readonly error: CallError | null }) {
  if (error === null) return null
  return (
    <Notice kind="bad">
      {error.message}
      {issuesOf(error).map(({ path, message }) => ` ${path.replace(/^\/data\//, '')} ${message}.`)}
      {advice[error.status] !== undefined && ` ${advice[error.status]}`}
    </Notice>
  )
}

/** What came of an action: its problem, or the sentence that says what was done. */
export const Outcome = ({
  error,
  done,
}: {
  readonly error: CallError | null
  readonly done: string | null
}) => (
  <>
    <Problem error={error} />
    {done !== null && <Notice kind="good">{done}</Notice>}
  </>
)

export const Empty = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="empty">{children}</p>
)
