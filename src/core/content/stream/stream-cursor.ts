import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { StreamWriter } from './stream-writing.ts'

/** Returns the position at which a stream inserts its next content. Clients draw the caret of the writer there. */
export function streamCursor(doc: Y.Doc, { place, client }: StreamWriter): Y.RelativePosition {
  const { contentKey } = place
  const last = doc.store.clients
    .get(client)
    ?.findLast((item): item is Y.Item => item instanceof Y.Item && item.content instanceof Y.ContentString)
  if (last !== undefined && last.parent instanceof Y.AbstractType)
    return positionAfter(last.parent, contentKey, last.lastId)
  if (place.as === 'text') return Y.decodeRelativePosition(Buffer.from(place.position, 'base64'))
  const parent = place.parent === null ? null : Y.createID(place.parent.client, place.parent.clock)
  const left = place.left === null ? null : Y.createID(place.left.client, place.left.clock)
  return new Y.RelativePosition(parent, parent === null ? contentKey : null, left, -1)
}

const positionAfter = ({ _item: item }: SharedRoot, contentKey: string, id: Y.ID): Y.RelativePosition =>
  new Y.RelativePosition(item === null ? null : item.id, item === null ? contentKey : null, id, -1)
