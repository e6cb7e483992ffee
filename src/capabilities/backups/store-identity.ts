import { identifyingWorkspacesMax } from '../../core/directory/tenants/tenant-store.ts'
import { workspaceKeys, workspacesPart } from '../../core/directory/tenants/workspace-keys.ts'
import type { Key, StoredPage } from '../../core/store/engine.ts'
import { decodeKey, encodeKey } from '../../core/store/key-encoding.ts'
import { keyspaces, under } from '../../core/store/pairs/keyspaces.ts'

const partition = under(keyspaces.kv, encodeKey(workspacesPart))
const start = Buffer.concat([partition, encodeKey(workspaceKeys.workspaces)])

/** Returns the ids of the workspaces that a page of a store creates. */
export function workspacesIn(pairs: StoredPage): readonly string[] {
  const found: string[] = []
  for (const [key] of pairs) {
    if (Buffer.compare(key.subarray(0, start.length), start) !== 0) continue
    const [, id, ...rest] = decodedOrNone(key.subarray(partition.length))
    if (id !== undefined && rest.length === 0) found.push(id)
  }
  return found
}

/** A damaged store may contain keys that cannot be decoded. */
function decodedOrNone(key: Uint8Array): Key {
  try {
    return decodeKey(key)
  } catch {
    return []
  }
}

/** The workspaces of one store. Workspaces are created and deleted, so two moments of a store share only some. */
export class StoreIdentity {
  readonly #ids = new Set<string>()

  get ids(): readonly string[] {
    return [...this.#ids]
  }

  add(ids: readonly string[]): void {
    for (const id of ids) if (this.#ids.size < identifyingWorkspacesMax) this.#ids.add(id)
  }

  /** Returns whether the store is the one with these workspaces: it has one of them, or neither has any. */
  isOf(ids: readonly string[]): boolean {
    return ids.some((id) => this.#ids.has(id)) || (ids.length === 0 && this.#ids.size === 0)
  }
}
