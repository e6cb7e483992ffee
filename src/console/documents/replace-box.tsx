import { useState } from 'preact/hooks'
import { CallError } from '../api.ts'
import { useAction, useApi } from '../calls.ts'
import { Button, Field } from '../ui/controls.tsx'
import { Notice, Problem } from '../ui/notice.tsx'
import { differences, lineDifferences, type Part } from './diff.ts'
import { Difference } from './difference.tsx'
import { comparable, parsed, type RootContent, written } from './forms.ts'
import type { Head } from './head.ts'
import type { EditorAddress } from './live/scene.ts'
import { consoleUser } from './user.ts'
import { summary, type Written } from './written.ts'

interface ReplaceBoxProps {
  readonly address: EditorAddress
  /** What was there when it was read. */
  readonly base: Head & RootContent
  /** @param done what was replaced; null: nothing */
  readonly onReadAgain: (done: string | null) => void
}

/** What would change, and the text that it would be changed to. */
interface Foreseen {
  readonly of: string
  readonly written: Written
  readonly parts: readonly Part[]
}

/** The content that was read, to be edited; what would change is shown before it can be sent. */
export function ReplaceBox({ address, base, onReadAgain }: ReplaceBoxProps) {
  const { type } = base
  const [text, setText] = useState(() => written(base))
  const [foreseen, setForeseen] = useState<Foreseen | null>(null)
  const update = useUpdate(address, base)
  /** A replacement, or only a look at what it would change. */
  const { run, busy, error } = useAction(async (isDry: boolean) => {
    setForeseen(null)
    const answer = await update(text, isDry)
    if (isDry) setForeseen({ of: text, written: answer, parts: partsOf(base, text) })
    else onReadAgain(`Replaced: ${summary(answer)}.`)
  })
  const isCurrent = foreseen?.of === text
  return (
    <section class="card" aria-label="New content">
      <Field label={`Content (${hints[type] ?? 'JSON'})`} rows={14} value={text} onInput={setText} />
      <p class="row">
        <Button busy={busy} onClick={() => void run(true)}>
          See what would change
        </Button>
        <Button onClick={() => onReadAgain(null)}>Read again</Button>
      </p>
      <Problem error={error} />
      {error?.status === 'FAILED_PRECONDITION' && (
        <p>
          If the version that you have read is too old by now, read the content again, and repeat your change.
        </p>
      )}
      {isCurrent && !foreseen.written.changed && <Notice>This would change nothing.</Notice>}
      {isCurrent && foreseen.written.changed && (
        <>
          <Notice>This would be changed: {summary(foreseen.written)}.</Notice>
          <Difference parts={foreseen.parts} />
          <p>
            <Button kind="primary" busy={busy} onClick={() => void run(false)}>
              Replace
            </Button>
          </p>
        </>
      )}
    </section>
  )
}

const hints: Readonly<Record<string, string>> = { text: 'text', xml: 'XML' }

function useUpdate(address: EditorAddress, { type, contentKey, version }: Head & RootContent) {
  const api = useApi()
  return async (text: string, dryRun: boolean): Promise<Written> =>
    api.call<Written>('/v2/crdt/update', {
      ...address,
      contentKey,
      type,
      data: read(type, text),
      baseVersion: version,
      dryRun,
      userId: consoleUser.id,
    })
}

/** @throws CallError when it is no JSON where it should be */
function read(type: string, text: string): unknown {
  try {
    return parsed(type, text)
  } catch (error) {
    throw new CallError('INVALID_ARGUMENT', `This is no JSON: ${(error as Error).message}.`)
  }
}

function partsOf(base: RootContent, text: string): readonly Part[] {
  const [before, after] = [comparable(base), comparable({ type: base.type, data: parsed(base.type, text) })]
  return base.type === 'text' ? differences(before, after) : lineDifferences(before, after)
}
