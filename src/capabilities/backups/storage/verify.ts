import * as Y from 'yjs'
import { errorMessage } from '../../../core/base/errors.ts'
import { noGuid } from '../../../core/content/yjs/create-doc.ts'
import type { CheckOptions, Damage, LiveLog, StoreCheck } from '../../../core/store/damage.ts'
import { MalformedUpdateError } from '../../../core/update/malformed.ts'
import { readUpdate } from '../../../core/update/read-update.ts'
import { expectedEntries, pendingRemovalOf } from './expected-entries.ts'
import { checkOfflineStore } from './offline-store.ts'
import type { Progress } from './storage-error.ts'

/**
 * Number of updates that are applied in one transaction. With fewer updates, the fixed cost of a transaction
 * would dominate. With more updates, Yjs takes longer, because it joins lists of values pairwise.
 */
const updatesPerTurn = 64

/**
 * Applies the stored updates of a document to a Y.Doc. The checksums of the updates must be correct. Returns
 * the problem if Yjs cannot read an update, or if updates are missing; otherwise returns null.
 */
async function findContentDamage({ snapshot, entries }: LiveLog): Promise<string | null> {
  const doc = new Y.Doc(noGuid)
  try {
    if (snapshot !== null) Y.applyUpdate(doc, snapshot)
    for (let start = 0; start < entries.length; start += updatesPerTurn) {
      const problem = applied(doc, entries.slice(start, start + updatesPerTurn))
      if (problem !== null) return problem
      await new Promise((resolve) => setImmediate(resolve))
    }
    const { pendingStructs, pendingDs } = doc.store
    return pendingStructs === null && pendingDs === null ? null : 'it builds on updates that are missing'
  } catch (error) {
    return `Yjs cannot read its snapshot: ${errorMessage(error)}`
  } finally {
    doc.destroy()
  }
}

function applied(doc: Y.Doc, entries: LiveLog['entries']): string | null {
  let at = 0
  try {
    doc.transact(() => {
      for (const { seq, bytes } of entries) {
        at = seq
        readUpdate(bytes)
        Y.applyUpdate(doc, bytes)
      }
    })
    return null
  } catch (error) {
    const reader = error instanceof MalformedUpdateError ? 'is malformed' : 'cannot be read by Yjs'
    return `update ${at} ${reader}: ${errorMessage(error)}`
  }
}

type DamageWithHelp = Damage & { readonly help: string }

export interface Verification extends Omit<StoreCheck, 'damages'> {
  readonly damages: readonly DamageWithHelp[]
}

/** The remedy that the operator is shown, for each kind of damage. */
const help: Readonly<Record<Damage['kind'], string>> = {
  store: 'the server does not start on it: restore the newest backup into an empty directory',
  file: 'the content of the damaged part is lost for the documents and records named here; if none is named, the newest changes may be missing: compare with the newest backup',
  document:
    'clients cannot open this document: restore it from a backup, or delete it (if a block of a table is damaged, only a backup helps)',
  version: 'the document is served; its older versions that need the damaged part cannot be read',
  attribution:
    'the document is served; the authors of its changes before its newest snapshot are shown as unknown',
  record: 'calls that read this record fail with INTERNAL: restore the newest backup',
  index:
    'the record and its index entry do not match: write the named record again by REST, or restore the newest backup',
  job: 'the server drops this background job when it is due',
  object:
    'these saved versions cannot be read, and no backup is possible: return the object to its place from a copy, or delete the versions',
}

export const withHelp = (damage: Damage): DamageWithHelp => ({ ...damage, help: help[damage.kind] })

/**
 * Checks all stored data of a stopped server, and loads each document.
 * @throws StorageError; EngineOpenError if the store cannot be read for a reason other than damage
 */
export async function verify(
  directory: string,
  onProgress: Progress,
  entryProblem: CheckOptions['entryProblem'] = () => null,
): Promise<Verification> {
  const { damages, ...counts } = await checkOfflineStore(directory, {
    contentProblem: findContentDamage,
    expected: expectedEntries,
    removed: pendingRemovalOf,
    entryProblem,
    onProgress,
  })
  return { ...counts, damages: damages.map(withHelp) }
}
