import {
  type ClientRecord,
  mergeRestRecords,
  type NodeUserRecord,
  type PresenceRecord,
  parseRecordName,
  type RestUserRecord,
} from './presence-records.ts'
import type { PresenceStateEntry } from './state-log.ts'

/** The users and clients on other nodes whose states have changed. */
export interface RemoteChanges {
  readonly userIds: Set<string>
  /** Client ids by editor. */
  readonly clients: Map<string, Set<number>>
}

/** The presence states of one document that the other nodes have published, by user and by client. */
export class RemotePresence {
  readonly #users = new Map<string, Map<string, NodeUserRecord>>()
  readonly #restRecords = new Map<string, Map<string, RestUserRecord>>()
  /** Client records by editor, client id and node. */
  readonly #editors = new Map<string, Map<number, Map<string, ClientRecord>>>()

  /** Returns the ids of the users with a socket on another node. */
  userIds(): Iterable<string> {
    return this.#users.keys()
  }

  /** Returns the records of a user: one for each node on which the user has sockets. */
  userRecords(userId: string): readonly NodeUserRecord[] {
    return [...(this.#users.get(userId)?.values() ?? [])]
  }

  restRecord(userId: string): RestUserRecord | null {
    let found: RestUserRecord | null = null
    for (const record of this.#restRecords.get(userId)?.values() ?? [])
      found = found === null ? record : mergeRestRecords(found, record)
    return found
  }

  clients(editorId: string): Iterable<number> {
    return this.#editors.get(editorId)?.keys() ?? []
  }

  /** Returns the records of a client id: one for each node that claims the id. */
  client(editorId: string, clientId: number): readonly ClientRecord[] {
    return [...(this.#editors.get(editorId)?.get(clientId)?.values() ?? [])]
  }

  /** Applies changed states of a node. Returns the users and clients to which these states belong. */
  apply(node: string, entries: readonly PresenceStateEntry<PresenceRecord>[]): RemoteChanges {
    const changes: RemoteChanges = { userIds: new Set(), clients: new Map() }
    for (const [name, record] of entries) {
      const named = parseRecordName(name)
      if ('editorId' in named) {
        const { editorId, clientId } = named
        const editor = this.#editors.get(editorId) ?? new Map<number, Map<string, ClientRecord>>()
        setOfNode(editor, clientId, node, record?.kind === 'client' ? record : null)
        if (editor.size === 0) this.#editors.delete(editorId)
        else this.#editors.set(editorId, editor)
        changes.clients.set(editorId, (changes.clients.get(editorId) ?? new Set()).add(clientId))
      } else {
        const { kind, userId } = named
        changes.userIds.add(userId)
        if (kind === 'user') setOfNode(this.#users, userId, node, record?.kind === 'user' ? record : null)
        else setOfNode(this.#restRecords, userId, node, record?.kind === 'rest' ? record : null)
      }
    }
    return changes
  }
}

function setOfNode<Name, Value>(
  all: Map<Name, Map<string, Value>>,
  name: Name,
  node: string,
  value: Value | null,
): void {
  const byNode = all.get(name) ?? new Map<string, Value>()
  if (value === null) byNode.delete(node)
  else byNode.set(node, value)
  if (byNode.size === 0) all.delete(name)
  else all.set(name, byNode)
}
