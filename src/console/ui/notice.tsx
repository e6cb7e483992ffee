import type { ComponentChildren } from 'preact'
import type { ApiCallError } from '../api/client.ts'
import { describeError } from './format.ts'

interface NoticeProps {
  readonly kind?: 'info' | 'good' | 'bad'
  readonly children: ComponentChildren
}

/** Shows a sentence that screen readers announce when it appears. */
export const Notice = ({ kind = 'info', children }: NoticeProps) => (
  <p class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
    {children}
  </p>
)

export function ErrorNotice({ error }: { readonly error: ApiCallError | null }) {
  if (error === null) return null
  return <Notice kind="bad">{describeError(error)}</Notice>
}

interface OutcomeProps {
  readonly error: ApiCallError | null
  readonly done: string | null
}

/** Shows the outcome of an action: the error, or the sentence that describes the result. */
export const ActionOutcome = ({ error, done }: OutcomeProps) => (
  <>
    <ErrorNotice error={error} />
    {done !== null && <Notice kind="good">{done}</Notice>}
  </>
)

export const Reading = () => <p class="hint">Reading…</p>

interface ReadStateProps {
  readonly error: ApiCallError | null
  readonly loading: boolean
}

/** Shows that data is being read, or why it could not be read. */
export const ReadState = ({ error, loading }: ReadStateProps) => (
  <>
    <ErrorNotice error={error} />
    {loading && <Reading />}
  </>
)

export const EmptyNotice = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="empty">{children}</p>
)
