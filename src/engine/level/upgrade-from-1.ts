import { decodeNumber, rangeOf } from '../keys.ts'
import { type Marks, noSnapshots } from '../marks.ts'
import { DamagedRecord } from '../named-damage.ts'
import { DocumentKeys } from './documents.ts'
import { decodeSnapshot, encodeHead, encodeSnapshot, type StoredSnapshot, unseal } from './records.ts'
import { inSpace, spaces } from './spaces.ts'
import type { Operation, Store } from './store.ts'
import type { UpgradeStep } from './upgrade-step.ts'

/** In format 1 a head was epoch (8 bytes), base (8) and whether it is deleted (1): no head of format 2 is as long. */
const oldHeadBytes = 17
/** A commit is made when there are as many documents, or bytes, in it. */
const documentsPerCommit = 100
const bytesPerCommit = 4 * 1024 * 1024

/**
 * Format 1 kept one snapshot a document, under the document's key alone, and a head that named the number it covers.
 * Format 2 keeps several, with their numbers in their keys, and the head says number and time of each. What is damaged
 * stays damaged: its document is refused as before, and nothing else waits for it.
 */
export const upgradeFrom1: UpgradeStep = async (store, onShare) => {
  const total = await countHeads(store)
  let operations: Operation[] = []
  let [done, documents, bytes] = [0, 0, 0]
  const commit = async () => {
    if (operations.length > 0) await store.write(operations, true)
    operations = []
    documents = 0
    bytes = 0
    onShare(done / total)
  }
  for await (const page of store.pages(rangeOf(spaces.heads))) {
    for (const [key, value] of page) {
      const changes = await upgraded(store, key, value)
      for (const change of changes) bytes += change.value?.length ?? 0
      operations.push(...changes)
      done += 1
      documents += 1
      if (documents >= documentsPerCommit || bytes >= bytesPerCommit) await commit()
    }
  }
  await commit()
}

async function countHeads(store: Store): Promise<number> {
  let count = 0
  for await (const page of store.pages(rangeOf(spaces.heads), { values: false })) count += page.length
  return count
}

/** What has to be written for one document, in one commit; nothing where it has been. */
async function upgraded(store: Store, key: Buffer, value: Buffer): Promise<Operation[]> {
  const head = readOldHead(key, value)
  if (head.state === 'new') return []
  const encoded = key.subarray(spaces.heads.length)
  const moved = await movedSnapshot(store, encoded, head)
  if (head.state === 'damaged') return moved.operations
  const { epoch } = head
  const marks: Marks = head.base === 0 ? noSnapshots : [{ seq: head.base, at: moved.at }]
  const after = head.isDeleted
    ? ({ state: 'deleted', epoch } as const)
    : ({ state: 'live', epoch, marks } as const)
  return [...moved.operations, { key, value: encodeHead(key, after) }]
}

type OldHead =
  | { readonly state: 'old'; readonly epoch: number; readonly base: number; readonly isDeleted: boolean }
  | { readonly state: 'new' }
  | { readonly state: 'damaged' }

function readOldHead(key: Buffer, value: Buffer): OldHead {
  try {
    const record = unseal(key, value)
    if (record.length !== oldHeadBytes) return { state: 'new' }
    const [epoch, base] = [decodeNumber(record, 0), decodeNumber(record, 8)]
    return { state: 'old', epoch, base, isDeleted: record[16] === 1 }
  } catch (error) {
    if (error instanceof DamagedRecord) return { state: 'damaged' }
    throw error
  }
}

/**
 * A snapshot that cannot be read moves as it is: under its new key its checksum is wrong, too. Without a head that can
 * be read it moves all the same, so that the document can be deleted.
 */
async function movedSnapshot(
  store: Store,
  encoded: Buffer,
  head: OldHead,
): Promise<{ at: number; operations: Operation[] }> {
  const from = inSpace(spaces.snapshots, encoded)
  const stored = await store.get(from)
  if (stored === undefined) return { at: 0, operations: [] }
  const snapshot = readSnapshot(from, stored)
  const to = new DocumentKeys(encoded).snapshot(head.state === 'old' ? head.base : (snapshot?.seq ?? 0))
  const value = snapshot === null ? stored : encodeSnapshot(to, snapshot)
  const operations = [
    { key: from, value: null },
    { key: to, value },
  ]
  return { at: snapshot?.changed.at ?? 0, operations }
}

/** Null when it is damaged. */
function readSnapshot(key: Buffer, stored: Buffer): StoredSnapshot | null {
  try {
    return decodeSnapshot(key, stored)
  } catch (error) {
    if (error instanceof DamagedRecord) return null
    throw error
  }
}
