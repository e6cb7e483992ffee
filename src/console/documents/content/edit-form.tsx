import { useState } from 'preact/hooks'
import { useAction, useApi } from '../../api/hooks.ts'
import { Button, Select, TextField } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { consoleUser } from '../console-user.ts'
import { DiffView } from '../diff/diff-view.tsx'
import type { EditorAddress } from '../live/live-view.ts'
import type { EditableContent } from './content-text.ts'
import { DryRunResult } from './dry-run-result.tsx'
import {
  type DraftOutcome,
  type EditDraft,
  editActions,
  formatsFor,
  newEditDraft,
  partsOfEdit,
  targetProblemOf,
  toEdit,
  withCandidate,
} from './edit-draft.ts'
import { type EditSummary, formatEditSummary } from './edit-summary.ts'
import type { EditorInfo } from './editor-info.ts'

interface EditFormProps {
  readonly address: EditorAddress
  /** Content of the editor at the time of the last read. */
  readonly base: EditorInfo & EditableContent
  /**
   * Called when the content must be read again.
   * @param done sentence that describes the edits; null if nothing was edited
   */
  readonly onReadAgain: (done: string | null) => void
}

interface EditPreview extends EditSummary {
  /** One result for each edit, in the same order. */
  readonly edits: readonly DraftOutcome[]
}

/** Lets the user edit parts of the content. Before an edit, the user must see the result of a dry run. */
export function EditForm({ address, base, onReadAgain }: EditFormProps) {
  const api = useApi()
  const { type, contentKey, version } = base
  const [drafts, setDrafts] = useState<readonly EditDraft[]>(() => [newEditDraft(type)])
  /** The drafts of the last call. Its outcome is shown until the user changes a draft. */
  const [sent, setSent] = useState<readonly EditDraft[] | null>(null)
  const [preview, setPreview] = useState<EditPreview | null>(null)
  /** Applies the edits. If `dryRun` is true, only makes a dry run and shows its results. */
  const { run, busy, error } = useAction(async (dryRun: boolean) => {
    setPreview(null)
    setSent(drafts)
    const edits = drafts.map(toEdit)
    const request = {
      ...address,
      contentKey,
      edits,
      baseVersion: version,
      onOverlap: 'fail',
      dryRun,
      userId: consoleUser.id,
    }
    const results = await api.call<EditPreview>('/v2/crdt/edit', request)
    if (dryRun) return setPreview(results)
    setDrafts([newEditDraft(type)])
    onReadAgain(`Edited: ${formatEditSummary(results)}.`)
  })
  const readAgain = () => {
    setSent(null)
    onReadAgain(null)
  }
  const isCurrent = sent === drafts
  const problem = isCurrent && error !== null ? targetProblemOf(error.details) : null
  const draft = drafts[problem?.edit ?? 0]
  const change = (index: number, draft: EditDraft) => setDrafts(drafts.with(index, draft))
  return (
    <>
      {drafts.map((draft, index) => (
        <DraftFields
          key={index}
          {...{ draft, index, type }}
          onChange={(changed) => change(index, changed)}
          onRemove={drafts.length === 1 ? null : () => setDrafts(drafts.toSpliced(index, 1))}
        />
      ))}
      <p class="row">
        <Button busy={busy} onClick={() => void run(true)}>
          Preview
        </Button>
        <Button onClick={() => setDrafts([...drafts, newEditDraft(type)])}>Add an edit</Button>
        <Button onClick={readAgain}>Read again</Button>
      </p>
      <ErrorNotice error={isCurrent ? error : null} />
      {problem !== null && draft !== undefined && (
        <section class="row" aria-label="Suggested places">
          {problem.candidates.map(({ before = '', quote = '', after = '' }, index) => (
            <Button key={index} onClick={() => change(problem.edit, withCandidate(draft, problem, index))}>
              {before}
              <strong>{quote}</strong>
              {after}
            </Button>
          ))}
        </section>
      )}
      {isCurrent && preview !== null && (
        <DryRunResult written={preview} action="Apply" busy={busy} onApply={() => void run(false)}>
          {drafts.map((draft, index) => (
            <DiffView key={index} parts={partsOfEdit(draft, preview.edits[index])} />
          ))}
        </DryRunResult>
      )}
    </>
  )
}

interface DraftFieldsProps {
  readonly draft: EditDraft
  readonly index: number
  readonly type: string
  readonly onChange: (draft: EditDraft) => void
  /** Called when the user removes the edit; null if the user cannot remove it. */
  readonly onRemove: (() => void) | null
}

function DraftFields({ draft, index, type, onChange, onRemove }: DraftFieldsProps) {
  const { action, find, content, format, selected } = draft
  const formats = formatsFor(type)
  const set = (changed: Partial<EditDraft>) => onChange({ ...draft, ...changed })
  return (
    <section class="card" aria-label={`Edit ${index + 1}`}>
      <Select
        label="Action"
        value={action}
        options={editActions}
        onChange={(chosen) => set({ action: chosen, selected: null })}
      />
      {(action === 'replace' || action === 'section') && (
        <TextField
          label={action === 'section' ? 'Heading' : 'Text to find'}
          value={find}
          onInput={(text) => set({ find: text, selected: null })}
          {...(selected !== null && { hint: 'The selected place.' })}
        />
      )}
      <TextField label="New text" rows={4} value={content} onInput={(text) => set({ content: text })} />
      {formats.length > 1 && (
        <Select
          label="Format"
          value={format}
          options={formats.map((name) => [name, name] as const)}
          onChange={(chosen) => set({ format: chosen })}
        />
      )}
      {onRemove !== null && (
        <p>
          <Button label={`Remove edit ${index + 1}`} onClick={onRemove}>
            Remove
          </Button>
        </p>
      )}
    </section>
  )
}
