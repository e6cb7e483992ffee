import { Command } from 'commander'
import {
  type CheckedObjects,
  ObjectInventory,
  type UncheckedObjects,
  verifyObjects,
} from '../../capabilities/backups/objects/verify-objects.ts'
import type { Progress } from '../../capabilities/backups/storage/storage-error.ts'
import { type Verification, verify, withHelp } from '../../capabilities/backups/storage/verify.ts'
import { printResult, showProgress } from '../command-line/command-io.ts'
import { exitCodes } from '../command-line/run-command.ts'
import { configuredObjects } from '../location/store-location.ts'

interface Found extends Verification {
  /** null: the store names no object, and no object storage is configured. */
  readonly versionObjects: Omit<CheckedObjects, 'damages'> | UncheckedObjects | null
}

/**
 * Creates the command `weft verify`. Exit code 0: no damage; 1: damage; 2: the store, or the object storage of its
 * saved versions, cannot be read.
 */
export function verifyCommand(): Command {
  return new Command('verify')
    .description(
      'Check the store of a stopped server: all records, the content of all documents, and the objects of saved versions (with WEFT_VERSIONS_TO and WEFT_VERSIONS_KEY of the server).',
    )
    .argument('<directory>', 'Data directory.')
    .option('--json', 'Print JSON.')
    .action(async (directory: string, { json }: { json?: true }) => {
      const progress = showProgress('verify', json ? 'json' : 'text')
      const found = await verifyAll(directory, progress.at).finally(progress.end)
      const isUnchecked = found.versionObjects?.state === 'unchecked'
      const ok = found.damages.length === 0 && !isUnchecked
      printResult(json ? JSON.stringify({ ok, ...found }) : asText(directory, found))
      if (isUnchecked) process.exitCode = exitCodes.operator
      if (found.damages.length > 0) process.exitCode = exitCodes.fault
    })
}

async function verifyAll(directory: string, onProgress: Progress): Promise<Found> {
  const objects = await configuredObjects()
  const inventory = new ObjectInventory()
  const store = await verify(directory, onProgress, (entry) => inventory.add(entry))
  const isStoreSound = store.damages.length === 0
  const checked = await verifyObjects(inventory, objects, isStoreSound, onProgress)
  if (checked?.state !== 'checked') return { ...store, versionObjects: checked }
  const { damages, ...versionObjects } = checked
  return { ...store, damages: [...store.damages, ...damages.map(withHelp)], versionObjects }
}

function asText(directory: string, { damages, records, documents, bytes, versionObjects }: Found): string {
  const read = `${records} records (${bytes} bytes), ${documents} documents`
  const lines = [
    ...damages.map(({ kind, what, problem, help }) => `${kind} ${what}: ${problem}\n  ${help}`),
    ...objectsText(versionObjects),
  ]
  const result =
    damages.length === 0
      ? `${directory} is sound: ${read}`
      : `${directory} is damaged in ${damages.length} places; read: ${read}`
  return [...lines, result].join('\n')
}

function objectsText(found: Found['versionObjects']): readonly string[] {
  if (found === null) return []
  if (found.state === 'unchecked') return [`the objects of saved versions were not checked: ${found.problem}`]
  const { place, objects, bytes, unnamed } = found
  const lines = [`${objects} objects of saved versions in ${place} (${bytes} bytes read)`]
  if (unnamed === null)
    lines.push('objects that no record names were not counted, because the store is damaged')
  else if (unnamed.isOfOtherStore)
    lines.push(
      `${place} belongs to another store: ${unnamed.objects} objects (${unnamed.bytes} bytes), which that store may need`,
    )
  else if (unnamed.objects > 0)
    lines.push(`no record names ${unnamed.objects} objects in ${place} (${unnamed.bytes} bytes)`)
  return lines
}
