import type { ComponentChildren } from 'preact'
import type { CallError } from '../api.ts'
import { sentencesOf } from './sentences.ts'

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

export function Problem({ error }: { readonly error: CallError | null }) {
  if (error === null) return null
  return <Notice kind="bad">{sentencesOf(error)}</Notice>
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
