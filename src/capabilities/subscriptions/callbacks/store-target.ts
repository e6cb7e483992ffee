import { createHash } from 'node:crypto'
import type { QueuedEvent } from '../../../core/events/outbound-event.ts'
import { storeTargetIds } from '../event-recipient.ts'

/** An editor whose content the callback `store` gets. */
interface StoredEditor {
  /** Name of the editor, which is unique among the editors of an API key. */
  readonly name: string
  /** Id of the target that sends the content of this editor. */
  readonly targetId: string
}

/**
 * Returns the editor that an event reports. An editor always has the same target, which sends one request at a
 * time, so the versions of an editor stay in order.
 */
export function storedEditorOf({
  scope,
  documentId,
  data,
}: Pick<QueuedEvent, 'scope' | 'documentId' | 'data'>): StoredEditor {
  const address = JSON.stringify([scope.organizationId, documentId, data.editorId])
  const hash = createHash('sha256').update(address).digest()
  const targetId = storeTargetIds[hash.readUInt8(0) % storeTargetIds.length] as string
  return { name: hash.toString('hex').slice(0, 32), targetId }
}
