import { useState } from 'preact/hooks'
import { ApiCallError, type ApiClient } from '../../api/client.ts'
import { useApi, useAsync } from '../../api/hooks.ts'
import { Button, Select } from '../../ui/controls.tsx'
import { FocusedCard } from '../../ui/focused-card.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { type EditableContent, toComparableLines } from '../content/content-text.ts'
import type { DiffPart } from '../diff/diff-part.ts'
import { DiffView } from '../diff/diff-view.tsx'
import { diffByLines, diffByWords } from '../diff/text-diff.ts'
import type { EditorAddress } from '../live/live-view.ts'
import { type VersionSummary, versionTitle } from './version-summary.ts'

/** Id that stands for the current content, in addition to the ids of versions. */
const currentState = 'now'

interface StateComparison {
  readonly parts: readonly DiffPart[]
  /** True if the texts are equal, but their formatting is different. The parts then show the formatting. */
  readonly isOfFormatting: boolean
}

/**
 * Compares two states of an editor.
 * @param contentKey name of the root to compare; null for the root that the server chooses
 * @throws ApiCallError
 */
async function compareStates(
  api: ApiClient,
  address: EditorAddress,
  contentKey: string | null,
  [from, to]: readonly [string, string],
): Promise<StateComparison> {
  const root = contentKey === null ? {} : { contentKey }
  const read = (state: string, format: string) => readState(api, { ...address, ...root, format }, state)
  const [before, after] = await Promise.all([read(from, 'json'), read(to, 'json')])
  const [old, current] = [toComparableLines(before), toComparableLines(after)]
  if (before.type !== 'text' || after.type !== 'text')
    return { parts: diffByLines(old, current), isOfFormatting: false }
  if (old !== current) return { parts: diffByWords(old, current), isOfFormatting: false }
  const [oldDelta, delta] = await Promise.all([read(from, 'delta'), read(to, 'delta')])
  return { parts: diffByLines(toComparableLines(oldDelta), toComparableLines(delta)), isOfFormatting: true }
}

/**
 * Reads the content of a root in one state of an editor. If the state does not have the root, the content is
 * empty.
 * @throws ApiCallError
 */
async function readState(api: ApiClient, request: object, state: string): Promise<EditableContent> {
  try {
    if (state !== currentState)
      return await api.call<EditableContent>('/v2/crdt/versions/get', { ...request, versionId: state })
    const [content] = await api.call<readonly [EditableContent]>('/v2/crdt/get', request)
    return content
  } catch (error) {
    if (isRootMissing(error)) return { type: 'text', contentKey: '', data: '' }
    throw error
  }
}

const isRootMissing = (error: unknown): boolean =>
  error instanceof ApiCallError &&
  error.status === 'NOT_FOUND' &&
  typeof error.details === 'object' &&
  error.details !== null &&
  'roots' in error.details

interface CompareProps {
  readonly address: EditorAddress
  readonly roots: readonly string[]
  readonly version: VersionSummary
  readonly versions: readonly VersionSummary[]
  readonly onClose: () => void
}

/**
 * Shows the differences between a version and another state, which is the current content or another version.
 */
export function CompareView({ address, roots, version, versions, onClose }: CompareProps) {
  const api = useApi()
  const [to, setTo] = useState(currentState)
  const [root = null, setRoot] = useState(roots[0])
  const [count, setCount] = useState(0)
  const { data, error, loading } = useAsync(
    () => compareStates(api, address, root, [version.versionId, to]),
    JSON.stringify([root, to, count]),
  )
  const others = versions.filter(({ versionId }) => versionId !== version.versionId)
  const states = [
    [currentState, 'the present content'],
    ...others.map((each) => [each.versionId, versionTitle(each)] as const),
  ] as const
  return (
    <FocusedCard label="Comparison">
      <h3>From {versionTitle(version)}</h3>
      <div class="row">
        <Select label="To" value={to} options={states} onChange={setTo} />
        {roots.length > 1 && (
          <Select
            label="Root"
            value={root ?? ''}
            options={roots.map((name) => [name, name] as const)}
            onChange={setRoot}
          />
        )}
        <Button onClick={() => setCount(count + 1)}>Compare again</Button>
        <Button onClick={onClose}>Close</Button>
      </div>
      <ErrorNotice error={error} />
      {loading && <p class="hint">Reading…</p>}
      {data?.isOfFormatting && data.parts.length > 1 && <p>The text is the same; its formatting differs:</p>}
      {data !== null && error === null && <DiffView parts={data.parts} />}
    </FocusedCard>
  )
}
