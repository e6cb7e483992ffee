import { useState } from 'preact/hooks'
import { ApiCallError } from '../../api/client.ts'
import { useAction, useApi } from '../../api/hooks.ts'
import { Button, TextField } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { consoleUser } from '../console-user.ts'
import type { DiffPart } from '../diff/diff-part.ts'
import { DiffView } from '../diff/diff-view.tsx'
import { diffByLines, diffByWords } from '../diff/text-diff.ts'
import type { EditorAddress } from '../live/live-view.ts'
import { contentToText, type EditableContent, textToContent, toComparableLines } from './content-text.ts'
import { DryRunResult } from './dry-run-result.tsx'
import { type EditSummary, formatEditSummary } from './edit-summary.ts'
import type { EditorInfo } from './editor-info.ts'

interface ReplaceBoxProps {
  readonly address: EditorAddress
  /** Content of the editor at the time of the last read. */
  readonly base: EditorInfo & EditableContent
  /**
   * Called when the content must be read again.
   * @param done sentence that describes the replacement; null if nothing was replaced
   */
  readonly onReadAgain: (done: string | null) => void
}

/** Changes that a dry run has returned. `of` is the text for which the dry run was made. */
interface Foreseen {
  readonly of: string
  readonly written: EditSummary
  readonly parts: readonly DiffPart[]
}

/**
 * Lets the user edit the content that was read. Before a replacement, the user must see the changes that a
 * dry run returns.
 */
export function ReplaceEditor({ address, base, onReadAgain }: ReplaceBoxProps) {
  const { type } = base
  const [text, setText] = useState(() => contentToText(base))
  const [foreseen, setForeseen] = useState<Foreseen | null>(null)
  const update = useUpdate(address, base)
  /** Replaces the content. If `isDry` is true, only makes a dry run and shows its changes. */
  const { run, busy, error } = useAction(async (isDry: boolean) => {
    setForeseen(null)
    const answer = await update(text, isDry)
    if (isDry) setForeseen({ of: text, written: answer, parts: partsOf(base, text) })
    else onReadAgain(`Replaced: ${formatEditSummary(answer)}.`)
  })
  const isCurrent = foreseen?.of === text
  return (
    <section class="card" aria-label="New content">
      <TextField label={`Content (${hints[type] ?? 'JSON'})`} rows={14} value={text} onInput={setText} />
      <p class="row">
        <Button busy={busy} onClick={() => void run(true)}>
          See what would change
        </Button>
        <Button onClick={() => onReadAgain(null)}>Read again</Button>
      </p>
      <ErrorNotice error={error} />
      {error?.status === 'FAILED_PRECONDITION' && (
        <p>The version that you read is too old. Read the content again, and repeat your change.</p>
      )}
      {isCurrent && (
        <DryRunResult written={foreseen.written} action="Replace" busy={busy} onApply={() => void run(false)}>
          <DiffView parts={foreseen.parts} />
        </DryRunResult>
      )}
    </section>
  )
}

const hints: Readonly<Record<string, string>> = { text: 'text', xml: 'XML' }

function useUpdate(address: EditorAddress, { type, contentKey, version }: EditorInfo & EditableContent) {
  const api = useApi()
  return async (text: string, dryRun: boolean): Promise<EditSummary> =>
    api.call<EditSummary>('/v2/crdt/update', {
      ...address,
      contentKey,
      type,
      data: read(type, text),
      baseVersion: version,
      onOverlap: 'fail',
      dryRun,
      userId: consoleUser.id,
    })
}

/** Parses the edited text. @throws ApiCallError if the text must be JSON, but is not valid */
function read(type: string, text: string): unknown {
  try {
    return textToContent(type, text)
  } catch (error) {
    throw new ApiCallError(
      'INVALID_ARGUMENT',
      `This is not JSON: ${error instanceof Error ? error.message : String(error)}.`,
    )
  }
}

function partsOf(base: EditableContent, text: string): readonly DiffPart[] {
  const [before, after] = [
    toComparableLines(base),
    toComparableLines({ type: base.type, data: textToContent(base.type, text) }),
  ]
  return base.type === 'text' ? diffByWords(before, after) : diffByLines(before, after)
}
