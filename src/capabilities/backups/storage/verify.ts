import type { CheckOptions, Damage, StoreCheck } from '../../../core/store/damage.ts'
import { findContentDamage } from './content-damage.ts'
import { expectedEntries, pendingRemovalOf } from './expected-entries.ts'
import { checkOfflineStore } from './offline-store.ts'
import type { Progress } from './storage-error.ts'

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
