import { type Reading, useCall } from '../calls.ts'
import type { EditorAddress } from './live/scene.ts'

/** A root that no document has: what there is of editors is answered without their content. */
export const noRoot = 'weft-console:none'

/** What the server says of an editor besides its content. */
export interface Head {
  readonly id: string
  readonly version: string
  readonly lastUpdate: string
  /** '' when nobody is known. */
  readonly lastUpdatedBy: string
  readonly sizeBytes: number
}

export const useHead = (address: EditorAddress): Reading<readonly Head[]> =>
  useCall<readonly Head[]>('/v2/crdt/get', { ...address, contentKey: noRoot })
