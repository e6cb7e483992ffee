import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { CrdtGetDataItem, CrdtUpdateData } from '../../../client/api/operation-types.ts'
import { useAction, useApi, useQuery } from '../../api/hooks.ts'
import { Button, Select, TextField } from '../../ui/controls.tsx'
import { ActionOutcome, ErrorNotice } from '../../ui/notice.tsx'
import type { DiffPart } from '../diff/diff-part.ts'
import { DiffView } from '../diff/diff-view.tsx'
import { diffTexts } from '../diff/text-diff.ts'
import { consoleUser, type EditorAddress, type EditorViewProps } from '../editor.ts'
import { useRoot } from '../fields.tsx'
import { contentToText, type EditableContent, textToContent, toComparableLines } from './content-text.ts'
import { DryRunResult, type EditSummary, formatEditSummary } from './dry-run-result.tsx'
import { emptyContent, type RootType, rootTypes } from './root-types.ts'

/** Lets the user replace the content of one root. */
export function ReplaceView({ address, roots }: EditorViewProps) {
  const [contentKey, rootField] = useRoot(roots)
  const { data, error, reload } = useQuery<readonly CrdtGetDataItem[]>('/v2/crdt/get', {
    ...address,
    contentKey,
  })
  const [done, setDone] = useState<string | null>(null)
  const [kind, setKind] = useState<RootType>('text')
  const read = data?.[0]
  const content = read?.contentKey === (contentKey ?? read?.contentKey) ? read : undefined
  // An empty root without a stored type can get any type. The server returns the type `text` for such a root.
  const isEmpty = content?.type === 'text' && content.data === ''
  const base = isEmpty ? { ...content, type: kind, data: emptyContent[kind] } : content
  return (
    <>
      <h2>Replace content</h2>
      <p>
        Weft applies only the differences that you make here. Concurrent edits of other users stay, and
        connected users see your change at once.
      </p>
      {rootField}
      <ActionOutcome error={error} done={done} />
      {isEmpty && (
        <Select label="Content of the empty root" value={kind} options={rootTypes} onChange={setKind} />
      )}
      {base !== undefined && (
        // The key creates a new form whenever the content has been read again. The old form stays until then.
        <Fragment key={content}>
          <ReplaceForm
            key={base.type}
            address={address}
            base={base}
            onReadAgain={(replaced) => {
              setDone(replaced)
              reload()
            }}
          />
        </Fragment>
      )}
    </>
  )
}

interface ReplaceFormProps {
  readonly address: EditorAddress
  readonly base: CrdtGetDataItem
  /**
   * Called when the content must be read again.
   * @param replaced sentence that describes the replacement; null if nothing was replaced
   */
  readonly onReadAgain: (replaced: string | null) => void
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
function ReplaceForm({ address, base, onReadAgain }: ReplaceFormProps) {
  const api = useApi()
  const { type, contentKey, version } = base
  const [text, setText] = useState(() => contentToText(base))
  const [foreseen, setForeseen] = useState<Foreseen | null>(null)
  /** Replaces the content. If `dryRun` is true, only makes a dry run and shows its changes. */
  const { run, busy, error } = useAction(async (dryRun: boolean) => {
    setForeseen(null)
    const data = textToContent(type, text)
    const answer = await api.call<CrdtUpdateData>('/v2/crdt/update', {
      ...address,
      contentKey,
      type,
      data,
      baseVersion: version,
      onOverlap: 'fail',
      dryRun,
      userId: consoleUser.id,
    })
    if (dryRun) setForeseen({ of: text, written: answer, parts: partsOf(base, data) })
    else onReadAgain(`Replaced: ${formatEditSummary(answer)}.`)
  })
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
      {foreseen?.of === text && (
        <DryRunResult written={foreseen.written} action="Replace" busy={busy} onApply={() => void run(false)}>
          <DiffView parts={foreseen.parts} />
        </DryRunResult>
      )}
    </section>
  )
}

const hints: Readonly<Record<string, string>> = { text: 'text', xml: 'XML' }

const partsOf = (base: EditableContent, data: unknown): readonly DiffPart[] =>
  diffTexts(toComparableLines(base), toComparableLines({ type: base.type, data }))
