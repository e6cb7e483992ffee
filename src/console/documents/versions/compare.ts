import { ApiCallError, type ApiClient } from '../../api/client.ts'
import { type EditableContent, toComparableLines } from '../content/content-text.ts'
import type { DiffPart } from '../diff/diff-part.ts'
import { diffByLines, diffByWords } from '../diff/text-diff.ts'
import type { EditorAddress } from '../live/live-view.ts'

/** Id that stands for the current content, in addition to the ids of versions. */
export const currentState = 'now'

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
export async function compareStates(
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
