import type { Api } from '../api.ts'
import { differences, lineDifferences, type Part } from './diff.ts'
import { comparable, type RootContent } from './forms.ts'
import type { EditorAddress } from './live/scene.ts'

/** A state of an editor: that of a version, or the present one. */
export const now = 'now'

export interface Comparison {
  readonly parts: readonly Part[]
  /** The texts are the same, and their formatting is not: that is what is compared. */
  readonly isOfFormatting: boolean
}

/** @param contentKey null: the root that the server finds @throws CallError */
export async function compare(
  api: Api,
  address: EditorAddress,
  contentKey: string | null,
  [from, to]: readonly [string, string],
): Promise<Comparison> {
  const root = contentKey === null ? {} : { contentKey }
  const read = (state: string, format: string) => readState(api, { ...address, ...root, format }, state)
  const [before, after] = await Promise.all([read(from, 'json'), read(to, 'json')])
  const [old, current] = [comparable(before), comparable(after)]
  if (before.type !== 'text' || after.type !== 'text')
    return { parts: lineDifferences(old, current), isOfFormatting: false }
  if (old !== current) return { parts: differences(old, current), isOfFormatting: false }
  const [oldDelta, delta] = await Promise.all([read(from, 'delta'), read(to, 'delta')])
  return { parts: lineDifferences(comparable(oldDelta), comparable(delta)), isOfFormatting: true }
}

/** @throws CallError */
async function readState(api: Api, request: object, state: string): Promise<RootContent> {
  if (state !== now) return api.call<RootContent>('/v2/crdt/versions/get', { ...request, versionId: state })
  const [content] = await api.call<readonly RootContent[]>('/v2/crdt/get', request)
  return content as RootContent
}
