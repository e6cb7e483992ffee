import { type QueryState, useQuery } from '../../api/hooks.ts'
import type { EditorAddress } from '../live/live-view.ts'

/** Properties of an editor, without its content. */
export interface EditorInfo {
  readonly id: string
  readonly version: string
  readonly lastUpdate: string
  /** Id of the user of the last edit; '' if the user is not known. */
  readonly lastUpdatedBy: string
  readonly sizeBytes: number
  /** Name of the attached schema; absent if there is none. */
  readonly schema?: string
}

export const useEditorInfo = (address: EditorAddress): QueryState<readonly EditorInfo[]> =>
  useQuery<readonly EditorInfo[]>('/v2/crdt/get', { ...address, format: 'roots' })
