import type { Clock } from '../clock.ts'
import type { DocumentLog, Health, Key } from '../engine/engine.ts'
import type { EditNotes } from '../events/windows.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { DocumentAddress } from '../model/address.ts'
import type { CompactionLimits } from './compaction.ts'
import type { DocumentMessage } from './document-news.ts'
import type { Presence } from './presence.ts'
import type { DamagedDocument } from './quarantine.ts'
import type { QueuedBytes } from './queued-bytes.ts'
import type { Threads } from './threads/pool.ts'
import type { Turns } from './turns.ts'

export interface RoomLimits extends CompactionLimits {
  /** Encoded size a document may reach. */
  readonly documentBytesMax: number
  /** Bytes of updates that wait for missing ones, a room. */
  readonly heldBytesMax: number
  /** Shortest time between two awareness messages of a room. */
  readonly awarenessWindowMs: number
}

/** Which room it is. */
export interface RoomName {
  readonly address: DocumentAddress
  readonly doc: Key
}

/** What a copy of a document needs, of which other nodes have copies too. */
export interface CopyTools {
  /** What waits in all of them to be appended. */
  readonly queued: QueuedBytes
  /** Tells the other nodes. */
  readonly tell: (doc: Key, message: DocumentMessage) => void
  /** Is this the node that should have the document? One node then does what one is enough for. */
  readonly isHome: (doc: Key) => boolean
}

/** What a room works with; the same for all rooms of a process. */
export interface RoomTools {
  readonly log: DocumentLog
  /** Can the store write? Changes by REST are refused while it can't, instead of waiting for it. */
  readonly health: () => Health
  readonly turns: Turns
  /** Where large changes are computed. */
  readonly threads: Threads
  readonly readers: Threads
  readonly presence: Presence
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Log
  readonly limits: RoomLimits
  /** Where other nodes write to the same documents; null where this process is the only one. */
  readonly copies: CopyTools | null
  /** Who edits is noted here. */
  readonly edits: EditNotes
  /** Called when there is something in the log of a document that goes once it is at rest. */
  readonly left: (doc: Key) => void
  /** What is stored of the document has turned out to be unreadable. */
  readonly damaged: (room: RoomName, error: DamagedDocument) => void
  /** Called once, when the room can't go on: it must be forgotten, the next visitor loads it anew. */
  readonly ended: (room: RoomName) => void
}
